"""The picks file: what is appended, what counts, and what a damaged file does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_reasoning.tasks.handpick.record import Decision, PickLog
from video_reasoning.tasks.pages import journal
from video_reasoning.tasks.pages.journal import PageError, clean_annotator, clean_reason
from video_reasoning.tasks.store.picks import PicksError


def pick(frame: int, name: str = "direction/1", annotator: str = "ana") -> Decision:
    return Decision(annotator, name, frame, 40, frame / 10)


def skip(name: str = "direction/1", annotator: str = "ana") -> Decision:
    return Decision(annotator, name, skip="all alike")


def entries(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "picks.jsonl"


def test_the_last_line_of_an_annotator_for_an_item_counts(path: Path) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    log.record([pick(5), pick(7, "direction/2"), pick(9, annotator="ben")])
    assert len(entries(path)) == 4
    for known in (log, PickLog(path, "tvbench")):
        assert known.of("ana") == {"direction/1": pick(5), "direction/2": pick(7, "direction/2")}
        assert known.of("ben") == {"direction/1": pick(9, annotator="ben")}
        assert known.annotators() == ["ana", "ben"]


def test_a_line_says_what_was_picked(path: Path) -> None:
    PickLog(path, "tvbench").record([pick(3), skip("direction/2")])
    first, second = entries(path)
    assert first.pop("at") and second.pop("at")
    common = {"benchmark": "tvbench", "annotator": "ana"}
    assert first == {**common, "id": "direction/1", "frame": 3, "n_frames": 40, "seconds": 0.3}
    assert second == {**common, "id": "direction/2", "skip": "all alike"}


def test_every_decision_is_on_the_disk_before_it_is_confirmed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def fsync(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(journal.os, "fsync", fsync)
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    assert synced[0] == path.stat().st_size
    assert len(synced) == 2  # the file, and its name in the folder
    log.record([pick(4)])
    assert synced[2:] == [path.stat().st_size]


def test_what_stands_already_is_not_written_again(path: Path) -> None:
    log = PickLog(path, "tvbench")
    assert log.record([pick(3)]) == 1
    assert log.record([pick(3)]) == 0
    assert log.record([pick(3), pick(4)]) == 1
    assert len(entries(path)) == 2


def test_undo_goes_back_step_by_step_and_over_restarts(path: Path) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    log.record([pick(7, "direction/2")])
    log.record([skip("direction/1")])
    log.record([pick(1, annotator="ben")])
    assert log.undo("ana") == pick(3)
    log = PickLog(path, "tvbench")
    assert log.of("ana")["direction/1"] == pick(3)
    assert log.undo("ana") == Decision("ana", "direction/2")
    assert log.undo("ana") == Decision("ana", "direction/1")
    assert log.undo("ana") is None
    assert log.of("ana") == {} and log.annotators() == ["ben"]
    # Nothing was removed from the file, and the last lines say what counts.
    assert [entry.get("undo") for entry in entries(path)] == [None] * 4 + [True] * 3
    log.record([pick(9)])
    assert PickLog(path, "tvbench").of("ana") == {"direction/1": pick(9)}
    assert log.undo("ana") == Decision("ana", "direction/1")


def test_undo_leaves_imported_decisions(path: Path) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    log.record([pick(4, "direction/2")], imported=True)
    assert log.undo("ana") == Decision("ana", "direction/1")
    assert log.undo("ana") is None
    assert log.of("ana") == {"direction/2": pick(4, "direction/2")}


@pytest.mark.parametrize("missing", range(1, 135, 7))
def test_a_torn_last_line_costs_that_line_only(path: Path, missing: int) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3), pick(5, "direction/2")])
    whole = path.read_bytes()
    second = whole.index(b"\n") + 1
    torn = whole[: max(second, len(whole) - missing)]
    path.write_bytes(torn)
    log = PickLog(path, "tvbench")
    kept = {"direction/1": pick(3)}
    if missing == 1:  # nothing but the line's end is gone
        kept["direction/2"] = pick(5, "direction/2")
    assert log.of("ana") == kept
    assert log.damaged == ([2] if torn[second:] and missing > 1 else [])
    log.record([pick(8, "direction/3")])
    for known in (log, PickLog(path, "tvbench")):
        assert known.of("ana") == {**kept, "direction/3": pick(8, "direction/3")}
    assert path.read_bytes().startswith(torn)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[1, 2]",
        "null",
        '{"annotator": "ana"}',
        '{"annotator": "ana", "id": "x", "frame": 1}',
        '{"annotator": "ana", "id": "x", "frame": 40, "n_frames": 40}',
        '{"annotator": "ana", "id": "x", "frame": -1, "n_frames": 40}',
        '{"annotator": "ana", "id": "x", "frame": true, "n_frames": 40}',
        '{"annotator": "ana", "id": "x", "frame": "1", "n_frames": 40}',
        '{"annotator": "ana", "id": "x", "frame": 1, "n_frames": 40, "seconds": NaN}',
        '{"annotator": "ana", "id": "x", "frame": 1, "n_frames": 40, "seconds": [1]}',
        '{"annotator": 3, "id": "x", "frame": 1, "n_frames": 40}',
        '{"annotator": "ana", "id": ["x"], "frame": 1, "n_frames": 40}',
        "[" * 100_000,
        "\x00\x00\x00",
    ],
)
def test_an_odd_line_is_left_out_and_counted(path: Path, line: str) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    with path.open("a") as file:
        file.write(line + "\r\n")
    log.record([pick(5, "direction/2")])
    for known in (log, PickLog(path, "tvbench")):
        assert known.of("ana") == {"direction/1": pick(3), "direction/2": pick(5, "direction/2")}
        assert known.damaged == ([2] if line else [])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=5,
)
FIELDS = st.sampled_from(
    ["annotator", "id", "frame", "n_frames", "seconds", "skip", "cleared", "undo", "imported"]
)
LINES = st.binary() | st.dictionaries(FIELDS, JSON).map(lambda entry: json.dumps(entry).encode())


@settings(max_examples=200, deadline=None)
@given(st.lists(LINES, max_size=5))
def test_no_line_harms_the_others(lines: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picks.jsonl"
        log = PickLog(path, "tvbench")
        log.record([pick(3, "kept/1", "kept")])
        with path.open("ab") as file:
            file.write(b"\n".join(lines))
        log.record([pick(5, "kept/2", "kept")])
        for known in (log, PickLog(path, "tvbench")):
            assert known.of("kept") == {
                "kept/1": pick(3, "kept/1", "kept"),
                "kept/2": pick(5, "kept/2", "kept"),
            }


def test_a_file_that_is_not_a_picks_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "questions.parquet"
    path.write_bytes(b"PAR1\x00\xff\xfe\n\x15\x04")
    with pytest.raises(PicksError, match=r"questions\.parquet is not a picks file"):
        PickLog(path, "tvbench")
    assert path.read_bytes() == b"PAR1\x00\xff\xfe\n\x15\x04"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PicksError, match="cannot be read"):
        PickLog(tmp_path, "tvbench")


def test_picks_of_another_benchmark_are_refused(path: Path) -> None:
    PickLog(path, "causalvqa").record([pick(3)])
    with pytest.raises(PicksError, match="has picks for causalvqa, not for tvbench"):
        PickLog(path, "tvbench")


def test_two_processes_see_what_the_other_appends(path: Path) -> None:
    one, other = PickLog(path, "tvbench"), PickLog(path, "tvbench")
    one.record([pick(3)])
    other.record([pick(5, annotator="ben")])
    one.refresh()
    assert one.annotators() == other.annotators() == ["ana", "ben"]


def test_a_file_that_was_replaced_is_read_again(path: Path) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3), pick(5, "direction/2")])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[1])
    log.refresh()
    assert log.of("ana") == {"direction/2": pick(5, "direction/2")}
    path.unlink()
    log.refresh()
    assert log.of("ana") == {}


def test_many_writers_lose_nothing(path: Path) -> None:
    logs = [PickLog(path, "tvbench") for _ in range(4)]

    def work(number: int) -> None:
        for item in range(10):
            logs[number % 4].record([pick(item, f"direction/{item}", f"annotator {number}")])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    log = PickLog(path, "tvbench")
    assert len(log.decisions) == 80 and log.damaged == []
    assert all(len(log.of(f"annotator {number}")) == 10 for number in range(8))


def test_a_killed_writer_loses_nothing_that_was_confirmed(path: Path) -> None:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from video_reasoning.tasks.handpick.record import Decision, PickLog\n"
        "log = PickLog(Path(sys.argv[1]), 'tvbench')\n"
        "for number in range(100_000):\n"
        "    log.record([Decision('ana', f'direction/{number}', 1, 40)])\n"
        "    print(number, flush=True)\n"
    )
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.03)
        process.send_signal(signal.SIGKILL)
        confirmed = 1 + len([line for line in process.stdout if line.endswith("\n")])
        process.wait()
        process.stdout.close()
        decided = PickLog(path, "tvbench").of("ana")
        assert len(decided) >= confirmed
        path.unlink()


def test_a_full_disk_is_an_error_and_no_pick(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = PickLog(path, "tvbench")
    log.record([pick(3)])
    write = os.write
    calls: list[int] = []

    def full(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data)[:20])

    monkeypatch.setattr(journal.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        log.record([pick(5, "direction/2")])
    monkeypatch.undo()
    assert log.of("ana") == {"direction/1": pick(3)}
    log.record([pick(7, "direction/3")])
    assert set(PickLog(path, "tvbench").of("ana")) == {"direction/1", "direction/3"}


@pytest.mark.parametrize(
    "name", ["", "  ", "\ttab\x00", "=cmd()", "-1", "@x", "a+b", "x" * 65, "automatic:clip",
             "Automatic:clip", "a\u202eb", "\ud800"],
)  # fmt: skip
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(PageError):
        clean_annotator(name)


def test_names_and_reasons_are_tidied() -> None:
    assert clean_annotator("  Ána  María ") == "Ána María"
    assert clean_annotator("山田 2") == "山田 2"
    assert clean_reason(" all\n alike ") == "all alike"
    for reason in ("", " \n", "x" * 301):
        with pytest.raises(PageError):
            clean_reason(reason)
