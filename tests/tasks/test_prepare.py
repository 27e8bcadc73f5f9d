"""`prepare` over tiny releases: what is read, what is refused, and what is said about it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.preprocessing.conftest import write_video as write_numbered
from tests.tasks.releases import (
    blackswan_row,
    causalvqa_row,
    tvbench_question,
    write_blackswan,
    write_causalvqa,
    write_tvbench,
    write_video,
)
from video_reasoning.preprocessing.video import verify
from video_reasoning.tasks import store
from video_reasoning.tasks.blackswan.release import hidden_frames
from video_reasoning.tasks.causalvqa.release import parse_answer
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare import build
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.release.records import OddRow, parse_options


def questions(home: Path, benchmark: str, split: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        store.questions_file(benchmark, split, home)
    ).to_pylist()
    return rows


def run(benchmark: str, source: Path, home: Path) -> dict[str, Any]:
    return prepare(benchmark, source, store_home=home, workers=1)


# TVBench


def test_tvbench_questions_and_videos(tmp_path: Path) -> None:
    source = write_tvbench(
        tmp_path / "r", {"5": tvbench_question(), "6": tvbench_question(answer="1")}
    )
    manifest = run("tvbench", source, tmp_path / "s")
    first, second = questions(tmp_path / "s", "tvbench", "test")
    assert first["id"] == "direction/5"
    assert first["task"] == "direction"
    assert first["answer"] == "C"
    assert second["answer"] == "B"
    assert first["zoom"] is True and first["composite"] is False
    assert first["problem"] == ""
    assert verify(tmp_path / "s/tvbench" / first["video"]).frames == 12
    assert manifest["splits"]["test"]["tasks"] == {"direction": 2}
    assert manifest["videos"] == 1
    assert "direction: 2 questions, the paper has 403." in manifest["notes"]
    assert not (tmp_path / "s/tvbench/.prepare").exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": 4}, "answer is 4, not one of 0 to 3"),
        ({"answer": 1.5}, "answer is 1.5"),
        ({"answer": None}, "answer is None"),
        ({"answer": True}, "answer is True"),
        ({"options": ["only one"]}, "fewer than 2"),
        ({"options": "A, B"}, "options is not a list"),
        ({"options": ["a", ""]}, "empty or nested"),
        ({"question": "  "}, "question is missing"),
        ({"key": None}, "key is missing"),
        ({"key": "../../x"}, "leads outside"),
        ({"demonstration_type": ["object"]}, "demonstration_type is not a text"),
    ],
)
def test_an_odd_tvbench_row_is_skipped_and_recorded(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    rows = {"1": tvbench_question(), "2": tvbench_question(**changes), "3": "text"}
    write_tvbench(tmp_path / "r", {"1": rows["1"]})
    source = write_tvbench(tmp_path / "r", rows, videos=False)
    manifest = run("tvbench", source, tmp_path / "s")
    odd, text = manifest["splits"]["test"]["skipped"]
    assert odd["row"] == "direction.json 2"
    assert reason in odd["reason"]
    assert text["reason"] == "it is not an object"
    assert [row["id"] for row in questions(tmp_path / "s", "tvbench", "test")] == ["direction/1"]


def test_missing_and_broken_videos_are_recorded_and_the_rest_is_done(tmp_path: Path) -> None:
    rows = {str(n): tvbench_question(key=f"000{n}-00") for n in range(1, 5)}
    source = write_tvbench(tmp_path / "r", rows)
    videos = source / "videos/object"
    (videos / "0002-00.mp4").unlink()
    (videos / "0003-00.mp4").write_bytes(b"this is a text")
    whole = (videos / "0004-00.mp4").read_bytes()
    (videos / "0004-00.mp4").write_bytes(whole[: len(whole) // 2])
    manifest = run("tvbench", source, tmp_path / "s")
    problems = {row["id"]: row["problem"] for row in questions(tmp_path / "s", "tvbench", "test")}
    assert problems["direction/1"] == ""
    assert "has no object/0002-00.mp4" in problems["direction/2"]
    assert "0003-00.mp4" in problems["direction/3"]
    assert problems["direction/4"]
    assert len(manifest["splits"]["test"]["missing"]) == 3
    assert str(tmp_path) not in json.dumps(manifest)


def test_what_readers_may_show_otherwise_is_noted(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"5": tvbench_question()})
    (video,) = source.rglob("*.mp4")
    write_numbered(video, 12, options={"x264-params": "sar=4/3"})
    manifest = run("tvbench", source, tmp_path / "s")
    (note,) = [note for note in manifest["notes"] if "squares" in note]
    assert note.startswith("Videos with pixels of 4:3 shown as squares: 1, such as ")


def test_a_link_out_of_the_release_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    names = ("private", "hub/blobs/one", "repository/datasets--x/blobs/two", "inside")
    source = tmp_path / "repository/datasets--x/snapshots/main"
    rows = {
        str(n): tvbench_question(key=f"v{n}", demonstration_type="human") for n in range(len(names))
    }
    write_tvbench(source, rows)
    for number, name in enumerate(names):
        video = source / f"videos/human/v{number}.mp4"
        real = source / "elsewhere.mp4" if name == "inside" else tmp_path / name
        real.parent.mkdir(parents=True, exist_ok=True)
        video.rename(real)
        video.symlink_to(real)
    run("tvbench", source, tmp_path / "s")
    found = questions(tmp_path / "s", "tvbench", "test")
    assert "link to a file outside the release" in found[0]["problem"]
    assert [row["problem"] for row in found[1:]] == [""] * 3
    assert (tmp_path / "private").stat().st_nlink == 1


def test_annotations_alone_are_read(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()}, videos=False)
    manifest = run("tvbench", source / "data", tmp_path / "s")
    assert manifest["splits"]["test"]["questions"] == 1
    assert len(manifest["splits"]["test"]["missing"]) == 1


@pytest.mark.parametrize("content", ["[1, 2]", "{broken", ""])
def test_an_unreadable_tvbench_file_is_refused(tmp_path: Path, content: str) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()})
    (source / "data" / "direction.json").write_text(content)
    with pytest.raises(ReleaseError, match=r"direction\.json"):
        run("tvbench", source, tmp_path / "s")
    assert not store.questions_file("tvbench", "test", tmp_path / "s").exists()


def test_a_folder_without_tvbench_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "other.json").write_text("{}")
    with pytest.raises(ReleaseError, match="none of TVBench's annotation files"):
        run("tvbench", tmp_path / "r", tmp_path / "s")


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question(question="¿Qué gira?")})
    path = source / "data" / "direction.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    run("tvbench", source, tmp_path / "s")
    assert questions(tmp_path / "s", "tvbench", "test")[0]["question"] == "¿Qué gira?"


def test_preparing_again_changes_nothing_and_new_videos_are_taken(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()})
    run("tvbench", source, tmp_path / "s")
    manifest = store.manifest_file("tvbench", tmp_path / "s")
    questions_file = store.questions_file("tvbench", "test", tmp_path / "s")
    before = (manifest.read_bytes(), questions_file.read_bytes())
    run("tvbench", source, tmp_path / "s")
    assert (manifest.read_bytes(), questions_file.read_bytes()) == before
    video = source / "videos/object/0001-00.mp4"
    video.unlink()
    write_video(video, frames=20)
    run("tvbench", source, tmp_path / "s")
    assert verify(tmp_path / "s/tvbench/videos/object/0001-00.mp4").frames == 20


def test_an_interrupted_check_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {str(n): tvbench_question(key=f"000{n}-00") for n in range(1, 5)}
    source = write_tvbench(tmp_path / "r", rows)
    seen: list[int] = []

    def stop(step: str, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare("tvbench", source, store_home=tmp_path / "s", workers=1, progress=stop)
    assert not store.questions_file("tvbench", "test", tmp_path / "s").exists()

    def count(step: str, done: int, total: int) -> None:
        seen.append(total)

    prepare("tvbench", source, store_home=tmp_path / "s", workers=1, progress=count)
    assert seen[0] == 2  # the first two of four had been written down
    assert len(questions(tmp_path / "s", "tvbench", "test")) == 4


def checked_videos(source: Path, home: Path, **options: bool) -> int:
    """How many videos a run decodes."""
    totals = {"Checking videos": 0}
    prepare(
        "tvbench",
        source,
        store_home=home,
        workers=1,
        progress=lambda step, done, total: totals.update({step: total}),
        **options,
    )
    return totals["Checking videos"]


def four_videos(root: Path) -> tuple[Path, list[Path]]:
    rows = {str(n): tvbench_question(key=f"000{n}-00") for n in range(1, 5)}
    source = write_tvbench(root, rows)
    return source, sorted(source.rglob("*.mp4"))


def test_unchanged_videos_are_not_decoded_again(tmp_path: Path) -> None:
    source, (first, second, third, _) = four_videos(tmp_path / "r")
    home = tmp_path / "s"
    assert checked_videos(source, home) == 4
    before = store.manifest_file("tvbench", home).read_bytes()
    assert checked_videos(source, home) == 0
    assert store.manifest_file("tvbench", home).read_bytes() == before
    assert checked_videos(source, home, verify=True) == 4
    # Another time alone is not another content; another content or size is.
    os.utime(first, ns=(1, 1))
    write_video(second, frames=20)
    data = bytearray(third.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    third.write_bytes(data)
    os.utime(third, ns=(2, 2))
    assert checked_videos(source, home) == 2
    frames = {row["video"]: row["frames"] for row in questions(home, "tvbench", "test")}
    assert sorted(frames.values()) == [0, 12, 12, 20]
    # What could not be decoded is tried each time.
    assert checked_videos(source, home) == 1


def test_a_change_that_size_and_time_do_not_show_is_found_by_verify(tmp_path: Path) -> None:
    source, (first, *_) = four_videos(tmp_path / "r")
    home = tmp_path / "s"
    checked_videos(source, home)
    times = first.stat().st_mtime_ns
    first.write_bytes(bytes(first.stat().st_size))
    os.utime(first, ns=(times, times))
    assert checked_videos(source, home) == 0
    assert checked_videos(source, home, verify=True) == 4
    assert sum(bool(row["problem"]) for row in questions(home, "tvbench", "test")) == 1


@pytest.mark.parametrize(
    "line",
    [b'{"name": "object/0004-00.mp4", "sta', b"", b"[1]\n", b'{"name": "x", "check": 0}\n'],
)
def test_a_torn_line_of_the_journal_loses_only_itself(tmp_path: Path, line: bytes) -> None:
    source, _ = four_videos(tmp_path / "r")
    home = tmp_path / "s"
    checked_videos(source, home)
    file = home / "tvbench/.checked.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    file.write_bytes(b"".join(lines[:3]) + line)
    assert checked_videos(source, home) == 1
    assert checked_videos(source, home) == 0


def test_an_older_check_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, _ = four_videos(tmp_path / "r")
    checked_videos(source, tmp_path / "s")
    monkeypatch.setattr(build, "CHECK", build.CHECK + 1)
    assert checked_videos(source, tmp_path / "s") == 4


def test_a_store_can_be_moved(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()})
    run("tvbench", source, tmp_path / "s")
    shutil.move(tmp_path / "s", tmp_path / "elsewhere")
    shutil.rmtree(source)
    row = questions(tmp_path / "elsewhere", "tvbench", "test")[0]
    assert verify(tmp_path / "elsewhere/tvbench" / row["video"]).frames == 12


# CausalVQA


def test_causalvqa_pairs_stand_together(tmp_path: Path) -> None:
    rows = [causalvqa_row(), causalvqa_row(qid="q2", difficulty="hard", renamed_video="c2.mp4")]
    source = write_causalvqa(tmp_path / "r", rows)
    manifest = run("causalvqa", source, tmp_path / "s")
    items = questions(tmp_path / "s", "causalvqa", "debug")
    assert [item["id"] for item in items] == ["q1/1", "q1/2", "q2/1", "q2/2"]
    assert [item["answer"] for item in items[:2]] == ["C", "A"]
    assert items[0]["options"][2] == items[1]["options"][0] == "Wash it"
    assert items[0]["type"] == "anticipation" and items[0]["difficulty"] == "medium"
    assert manifest["splits"]["debug"]["withheld"] == 0


def test_withheld_answers_are_normal(tmp_path: Path) -> None:
    rows = [causalvqa_row(correct1="", correct2="nan")]
    manifest = run("causalvqa", write_causalvqa(tmp_path / "r", rows, "test"), tmp_path / "s")
    assert manifest["splits"]["test"]["withheld"] == 2
    assert manifest["splits"]["test"]["skipped"] == []
    assert [item["answer"] for item in questions(tmp_path / "s", "causalvqa", "test")] == ["", ""]


def test_causalvqa_from_a_zip(tmp_path: Path) -> None:
    write_causalvqa(tmp_path / "r", [causalvqa_row()])
    archive = shutil.make_archive(str(tmp_path / "CausalVQA"), "zip", tmp_path / "r")
    run("causalvqa", Path(archive), tmp_path / "s")
    item = questions(tmp_path / "s", "causalvqa", "debug")[0]
    assert verify(tmp_path / "s/causalvqa" / item["video"]).frames == 12


def test_one_readable_variant_is_kept_and_the_other_recorded(tmp_path: Path) -> None:
    rows = [
        causalvqa_row(choices2="1. a|3. b|4. c"),
        causalvqa_row(qid="q2", correct1="9", correct2="7"),
    ]
    manifest = run("causalvqa", write_causalvqa(tmp_path / "r", rows), tmp_path / "s")
    assert [item["id"] for item in questions(tmp_path / "s", "causalvqa", "debug")] == ["q1/1"]
    alone, neither = manifest["splits"]["debug"]["skipped"]
    assert "q1" in alone["row"] and "asked alone" in alone["reason"]
    assert "q2" in neither["row"] and "not one of the 5 options" in neither["reason"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"qid": ""}, "qid is missing"),
        ({"qid": "q1"}, "duplicate qid"),
        ({"type": "guessing"}, "type is 'guessing'"),
        ({"difficulty": "brutal"}, "difficulty is 'brutal'"),
        ({"question": ""}, "question is missing"),
        ({"renamed_video": ""}, "renamed_video is missing"),
    ],
)
def test_an_odd_causalvqa_row_is_skipped(
    tmp_path: Path, changes: dict[str, str], reason: str
) -> None:
    rows = [causalvqa_row(), causalvqa_row(**{"qid": "q2", **changes})]
    manifest = run("causalvqa", write_causalvqa(tmp_path / "r", rows), tmp_path / "s")
    assert [row["reason"] for row in manifest["splits"]["debug"]["skipped"]] == [reason] or (
        reason in manifest["splits"]["debug"]["skipped"][0]["reason"]
    )
    assert len(questions(tmp_path / "s", "causalvqa", "debug")) == 2


def test_causalvqa_without_a_column_names_those_there_are(tmp_path: Path) -> None:
    source = write_causalvqa(tmp_path / "r", [causalvqa_row()])
    path = source / "debug/debug_metadata.csv"
    path.write_text(path.read_text().replace("choices2", "choicesB"))
    with pytest.raises(ReleaseError, match=r"no column choices2; it has qid, .*choicesB"):
        run("causalvqa", source, tmp_path / "s")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ("1. a b|2. c|3. d", ["a b", "c", "d"]),
        ("1.Yes|2.No", ["Yes", "No"]),
        (" 1. a | 2. b ", ["a", "b"]),
        ("1) a|2) b", ["a", "b"]),
        ("(1) a|(2) b", ["a", "b"]),
        ("1: a|2: b", ["a", "b"]),
        ("A. x|B. y|C. z", ["x", "y", "z"]),
        ("a. x|b. y", ["x", "y"]),
        ("one|two|three", ["one", "two", "three"]),
        ("1. a\n2. b\r\n3. c", ["a", "b", "c"]),
        ("1. a|2. b\n3. c|4. d", ["a", "b", "c", "d"]),
        ("1. a|2. counts to 3. Then stops", ["a", "counts to 3. Then stops"]),
        ("1. 2 blocks|2. 3 blocks", ["2 blocks", "3 blocks"]),
        ("1. a|2. 3.5 cm|3. d", ["a", "3.5 cm", "d"]),
        ("1. He takes 2. then goes|2. b|3. c", ["He takes 2. then goes", "b", "c"]),
        ("|".join(f"{n}. option {n}" for n in range(1, 13)), [f"option {n}" for n in range(1, 13)]),
    ],
)
def test_options_are_read(written: str, options: list[str]) -> None:
    assert parse_options(written) == options


@pytest.mark.parametrize(
    "written",
    [
        "",
        "1. alone",
        "1. a|2. b|2. c",
        "1. a|3. c",
        "1. a|b|3. c",
        "1. a 2. b 3. c",
        "1. a|2. b 3. c|4. d",
        "1. a|2. b\n3. c",
        "2. a|3. b",
        "1. a|2. a",
        "1. a|2. ",
        "|".join(f"{place}. option {place}" for place in range(1, 28)),  # no letter for the last
    ],
)
def test_options_that_cannot_be_read_are_refused(written: str) -> None:
    with pytest.raises(OddRow):
        parse_options(written)


@pytest.mark.parametrize(
    ("written", "letter"),
    [("3", "C"), ("3.0", "C"), (3.0, "C"), (3, "C"), ("3.", "C"), ("c", "C"), ("(D)", "D"),
     ("mug", "B"), ("", ""), (None, ""), ("NaN", ""), (float("nan"), "")],
)  # fmt: skip
def test_answers_are_read(written: object, letter: str) -> None:
    assert parse_answer(written, ["cup", "mug", "jar", "pan"]) == letter


# BlackSwanSuite


def test_blackswan_hides_the_middle(tmp_path: Path) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row()])
    run("blackswan", source, tmp_path / "s")
    item = questions(tmp_path / "s", "blackswan", "validation")[0]
    assert item["id"] == "detective_mcq/7"
    assert item["answer"] == "B" and item["difficulty"] == "hard"
    assert item["video"].startswith("clips/")
    # 10 frames before, 14 black (the event's clip is in the release), 12 after.
    assert verify(tmp_path / "s/blackswan" / item["video"]).frames == 10 + 14 + 12


def test_a_hidden_part_that_is_not_shipped_gets_its_derived_length(tmp_path: Path) -> None:
    # D = 10 s and t = 5 s at 10 fps: cuts at 0.17, 4, 8 and 9.83 s.
    assert hidden_frames(before_frames=38, after_frames=18, rate=10.0) == 39
    assert hidden_frames(before_frames=3830, after_frames=1830, rate=1000.0) == 4000
    source = write_blackswan(
        tmp_path / "r", [blackswan_row()], parts=("3_A_preevent", "3_C_postevent")
    )
    manifest = run("blackswan", source, tmp_path / "s")
    item = questions(tmp_path / "s", "blackswan", "validation")[0]
    hidden = round((4 * (1.2 + 0.17) - (1.0 + 0.17)) * 10)
    assert verify(tmp_path / "s/blackswan" / item["video"]).frames == 10 + hidden + 12
    assert any("length was derived" in note for note in manifest["notes"])


def test_blackswan_in_the_authors_own_layout(tmp_path: Path) -> None:
    row = {
        "q_id": "a1", "task": "Reporter", "set_id": "oops_val_v2", "index": 3,
        "mcq_options": ["x", "y", "z"], "mcq_gt_option": 0,
    }  # fmt: skip
    source = write_blackswan(tmp_path / "r", [row], folder="clips/oops_val_v2")
    run("blackswan", source, tmp_path / "s")
    item = questions(tmp_path / "s", "blackswan", "validation")[0]
    assert item["problem"] == ""
    assert verify(tmp_path / "s/blackswan" / item["video"]).frames == 36


def test_all_kinds_and_both_splits(tmp_path: Path) -> None:
    parts = {"event_file_name": "videos/3_B_event.mp4"}
    root = write_blackswan(tmp_path / "r", [blackswan_row()])
    yes_no = {k: v for k, v in blackswan_row(hypothesis="It tips over.", yn_gt="No").items()
              if not k.startswith("mcq")}  # fmt: skip
    write_blackswan(root, [yes_no], "BlackSwanSuite_YN_Val.jsonl", parts=())
    gen = [
        {**yes_no, "q_id": 1, "task": "Forecaster", "gt_ref_ans": ["It falls.", "It slips."]},
        {**yes_no, "q_id": 2, "task": "Reporter", "gt_ref_ans": ["It fell."], **parts},
    ]
    write_blackswan(root, gen, "BlackSwanSuite_Gen_Val.jsonl", parts=())
    withheld = {k: v for k, v in blackswan_row().items() if k != "mcq_gt_option"}
    write_blackswan(root, [withheld], "BlackSwanSuite_MCQ_Test.jsonl", parts=())
    manifest = run("blackswan", root, tmp_path / "s")
    assert manifest["splits"]["validation"]["tasks"] == {
        "detective_mcq": 1, "detective_yn": 1, "forecaster_gen": 1, "reporter_gen": 1,
    }  # fmt: skip
    assert manifest["splits"]["test"]["withheld"] == 1
    items = {item["task"]: item for item in questions(tmp_path / "s", "blackswan", "validation")}
    assert items["detective_yn"]["answer"] == "no"
    assert items["forecaster_gen"]["references"] == ["It falls.", "It slips."]
    assert items["forecaster_gen"]["video"] == "videos/3_A_preevent.mp4"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"q_id": 1,', "not readable JSON"),
        ("[1]", "not an object"),
        (blackswan_row(q_id=8, task="Juror"), "no task juror_mcq"),
        (blackswan_row(q_id=8, mcq_options=["x"]), "fewer than 2"),
        (blackswan_row(q_id=8, mcq_gt_option=3), "not one of 0 to 2"),
        (blackswan_row(q_id=8, difficulty="odd"), "difficulty is 'odd'"),
        (blackswan_row(q_id=8, preevent_file_name=""), "no clip for the beginning"),
        (blackswan_row(q_id=8, postevent_file_name="../x.mp4"), "leads outside"),
        (blackswan_row(difficulty="easy"), "duplicate task and q_id"),
    ],
)
def test_an_odd_blackswan_row_is_skipped(tmp_path: Path, row: Any, reason: str) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row(), row])
    manifest = run("blackswan", source, tmp_path / "s")
    (skipped,) = manifest["splits"]["validation"]["skipped"]
    assert reason in skipped["reason"]
    assert len(questions(tmp_path / "s", "blackswan", "validation")) == 1


def test_a_missing_clip_is_named(tmp_path: Path) -> None:
    row = blackswan_row(postevent_file_name="videos/4_C_postevent.mp4")
    manifest = run("blackswan", write_blackswan(tmp_path / "r", [row]), tmp_path / "s")
    (missing,) = manifest["splits"]["validation"]["missing"]
    assert missing["id"] == "detective_mcq/7"
    assert "4_C_postevent.mp4" in missing["reason"]


def test_a_table_without_a_column_names_those_it_has(tmp_path: Path) -> None:
    row = {("identity" if k == "q_id" else k): v for k, v in blackswan_row().items()}
    with pytest.raises(
        ReleaseError, match=r"no column for the id \(accepted: q_id.*it has identity"
    ):
        run("blackswan", write_blackswan(tmp_path / "r", [row]), tmp_path / "s")
