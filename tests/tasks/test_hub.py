"""Fetching from the hub, with the hub's client replaced."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import errors
from typer.testing import CliRunner

from tests.tasks.releases import (
    blackswan_row,
    tvbench_question,
    write_blackswan,
    write_tvbench,
    write_video,
)
from video_reasoning.tasks import store
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.cli.main import main
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.release.hub import REPOSITORIES, fetch

Writer = Callable[[str, Path], None]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[Writer], list[dict[str, Any]]]:
    """Puts a function in the place of the hub's download, and gives the calls it gets."""

    def install(write: Writer) -> list[dict[str, Any]]:
        calls: list[dict[str, Any]] = []

        def snapshot_download(repo_id: str, **arguments: Any) -> str:
            calls.append({"repo_id": repo_id, **arguments})
            folder = Path(arguments["local_dir"])
            folder.mkdir(parents=True, exist_ok=True)
            write(repo_id, folder)
            return str(folder)

        monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
        return calls

    return install


def http_error(kind: type[errors.HfHubHTTPError], status: int) -> errors.HfHubHTTPError:
    response: Any = SimpleNamespace(status_code=status, headers={}, request=None)
    return kind("refused", response=response)


def raising(error: BaseException) -> Writer:
    def write(repository: str, folder: Path) -> None:
        raise error

    return write


def write_suite(repository: str, folder: Path) -> None:
    """One of the three data sets, each with the clips of its own questions."""
    kind = repository.rpartition("-")[2]
    plain = {k: v for k, v in blackswan_row().items() if not k.startswith("mcq")}
    rows = {
        "MCQ": [blackswan_row()],
        "YN": [{**plain, "hypothesis": "It tips over.", "yn_gt": "No"}],
        "Gen": [{**plain, "q_id": 1, "task": "Forecaster", "gt_ref_ans": ["It falls."]}],
    }[kind]
    parts = ("3_A_preevent", "3_C_postevent")
    write_blackswan(folder, rows, f"BlackSwanSuite_{kind}_Val.jsonl", parts=parts)
    write_blackswan(
        folder, [{**rows[0], "q_id": 900}], f"BlackSwanSuite_{kind}_Test.jsonl", parts=()
    )
    record = folder / ".cache/huggingface/download/table.jsonl.metadata"
    record.parent.mkdir(parents=True)
    record.write_text("0123456789abcdef0123\netag\n1.0\n")


def test_all_three_data_sets_are_fetched_and_prepared(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    calls = hub(write_suite)
    manifest = prepare("blackswan", store_home=tmp_path / "s", workers=1, revision="v1")
    assert [call["repo_id"] for call in calls] == [r.name for r in REPOSITORIES["blackswan"]]
    assert all(call["repo_type"] == "dataset" and call["revision"] == "v1" for call in calls)
    assert "*.jsonl" in calls[0]["allow_patterns"] and "*.mp4" in calls[0]["allow_patterns"]
    for split in ("validation", "test"):
        assert manifest["splits"][split]["tasks"] == {
            "detective_mcq": 1, "detective_yn": 1, "forecaster_gen": 1,
        }  # fmt: skip
        assert manifest["splits"][split]["missing"] == []
    # The same clips under the same names in all three: they are kept once.
    assert manifest["videos"] == 2
    assert "UBC-ViL/BlackSwanSuite-MCQ@0123456789ab" in manifest["source"]
    assert not (tmp_path / "s/blackswan/.prepare").exists()


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (http_error(errors.GatedRepoError, 403), "request it at https://huggingface.co/datasets/"),
        (http_error(errors.RepositoryNotFoundError, 401), "or it is private"),
        (http_error(errors.RevisionNotFoundError, 404), "has no revision v9"),
        (http_error(errors.HfHubHTTPError, 401), "request access at"),
        (http_error(errors.HfHubHTTPError, 503), "status 503"),
        (errors.LocalEntryNotFoundError("not in the cache"), "cannot be reached"),
        (errors.OfflineModeIsEnabled("offline"), "cannot be reached"),
        (ConnectionError("no route"), "cannot be reached"),
        (TimeoutError("too slow"), "cannot be reached"),
        (OSError(errno.ENOSPC, "No space left on device"), "no space left"),
    ],
)
def test_a_refusal_is_one_sentence_that_says_what_to_do(
    tmp_path: Path,
    hub: Callable[[Writer], list[dict[str, Any]]],
    error: Exception,
    sentence: str,
) -> None:
    hub(raising(error))
    with pytest.raises(ReleaseError) as refused:
        fetch("blackswan", tmp_path, revision="v9")
    message = str(refused.value)
    assert sentence in message
    assert "UBC-ViL/BlackSwanSuite-MCQ" in message
    assert "\n" not in message


def test_login_is_named_where_it_helps(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    hub(raising(http_error(errors.GatedRepoError, 403)))
    with pytest.raises(ReleaseError, match=r"run `hf auth login`.*--source FOLDER"):
        fetch("blackswan", tmp_path)


def test_the_cause_behind_another_error_counts(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    def write(repository: str, folder: Path) -> None:
        try:
            raise http_error(errors.GatedRepoError, 403)
        except errors.GatedRepoError as error:
            raise errors.LocalEntryNotFoundError("nothing in the cache") from error

    hub(write)
    with pytest.raises(ReleaseError, match="granted on request"):
        fetch("blackswan", tmp_path)


def test_an_error_that_is_not_the_hubs_is_not_hidden(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    hub(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        fetch("blackswan", tmp_path)


def test_causalvqa_is_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError) as refused:
        prepare("causalvqa", store_home=tmp_path)
    assert str(refused.value) == BENCHMARKS["causalvqa"].elsewhere


def test_the_command_prints_the_sentence_alone(
    tmp_path: Path,
    hub: Callable[[Writer], list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hub(raising(http_error(errors.GatedRepoError, 403)))
    monkeypatch.setattr(
        "sys.argv", ["video-reasoning", "prepare", "blackswan", "--home", str(tmp_path)]
    )
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert printed.err.strip().startswith("video-reasoning: Access to UBC-ViL/")
    assert "Traceback" not in printed.err + printed.out


def test_help_says_that_the_hub_is_the_default() -> None:
    result = CliRunner().invoke(app, ["prepare", "--help"], env={"COLUMNS": "200"})
    assert "fetched from the Hub" in " ".join(result.output.split())


# TVBench in the hub's tables


def together(**changes: Any) -> dict[str, Any]:
    """A row of the table that comes with the videos."""
    return {
        "id": "12",
        "question": "Which way does the kite drift?",
        "options": ["Up.", "Down.", "Left."],
        "answer": 2,
        "reason_type": "direction",
        "demonstration_type": "object",
        "video_path": "videos/object/0001-00.mp4",
        **changes,
    }


def write_together(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """The table, and its videos in an archive."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), folder / "data/test-00000-of-00001.parquet")
    build = folder.parent / f"{folder.name}-build"
    for row in rows:
        write_video(build / row["video_path"])
    shutil.make_archive(str(folder / "videos"), "zip", build)
    shutil.rmtree(build)
    return folder


def write_by_task(folder: Path, questions: list[dict[str, Any]]) -> Path:
    """The authors' columns, a table per task."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    pq.write_table(
        pa.Table.from_pylist(questions), folder / "data/direction-00000-of-00001-ab12.parquet"
    )
    return folder


def read_questions(home: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        store.questions_file("tvbench", "test", home)
    ).to_pylist()
    return rows


def test_the_table_with_the_videos_is_read(tmp_path: Path) -> None:
    rows = [
        together(),
        together(id="13", reason_type="shape&trend", video_path="videos/human/0002-00.mp4",
                 demonstration_type="human"),
        together(id="14", reason_type="count", answer=1),
        together(id="15", reason_type="velocity & frequency"),
    ]  # fmt: skip
    manifest = prepare(
        "tvbench", write_together(tmp_path / "r", rows), store_home=tmp_path / "s", workers=1
    )
    items = read_questions(tmp_path / "s")
    assert [item["id"] for item in items] == [
        "direction/12", "shape_trend/13", "action_count/14", "velocity_frequency/15",
    ]  # fmt: skip
    assert [item["answer"] for item in items] == ["C", "C", "B", "C"]
    assert items[1]["video"] == "videos/human/0002-00.mp4" and items[1]["key"] == "0002-00"
    assert all(item["problem"] == "" for item in items)
    assert manifest["videos"] == 2
    assert any("neither motion types nor variations" in note for note in manifest["notes"])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"reason_type": "colour"}, "reason_type is 'colour'"),
        ({"answer": 3}, "answer is 3, not one of 0 to 2"),
        ({"id": "12"}, "duplicate id 12"),
        ({"options": ["x"]}, "fewer than 2"),
        ({"question": ""}, "question is missing"),
    ],
)
def test_an_odd_row_of_a_table_is_recorded(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    source = write_together(tmp_path / "r", [together(), together(**{"id": "13", **changes})])
    manifest = prepare("tvbench", source, store_home=tmp_path / "s", workers=1)
    (skipped,) = manifest["splits"]["test"]["skipped"]
    assert reason in skipped["reason"]
    assert skipped["row"] == "test-00000-of-00001.parquet row 1"
    assert len(read_questions(tmp_path / "s")) == 1


def test_questions_with_all_columns_and_videos_from_another_data_set(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    def write(repository: str, folder: Path) -> None:
        if repository == "lmms-eval/TOMATO":
            write_together(folder, [together()])
        else:
            write_by_task(folder, [tvbench_question(), tvbench_question(answer=0)])

    hub(write)
    prepare("tvbench", store_home=tmp_path / "s", workers=1)
    items = read_questions(tmp_path / "s")
    assert [item["id"] for item in items] == ["direction/0", "direction/1"]
    assert [item["answer"] for item in items] == ["C", "A"]
    assert items[0]["zoom"] is True and items[0]["motion_type"] == "direction"
    assert all(item["problem"] == "" for item in items)


def test_videos_count_for_more_than_columns(tmp_path: Path) -> None:
    write_by_task(tmp_path / "r", [tvbench_question(key="9999-00")])
    source = write_together(tmp_path / "r", [together()])
    prepare("tvbench", source, store_home=tmp_path / "s", workers=1)
    assert [item["id"] for item in read_questions(tmp_path / "s")] == ["direction/12"]


def test_without_the_questions_data_set_the_other_does(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    def write(repository: str, folder: Path) -> None:
        if repository != "lmms-eval/TOMATO":
            raise http_error(errors.HfHubHTTPError, 503)
        write_together(folder, [together()])

    hub(write)
    manifest = prepare("tvbench", store_home=tmp_path / "s", workers=1)
    assert manifest["splits"]["test"]["questions"] == 1


def test_the_authors_files_come_first(tmp_path: Path) -> None:
    write_together(tmp_path / "r", [together()])
    source = write_tvbench(tmp_path / "r", {"5": tvbench_question()})
    prepare("tvbench", source, store_home=tmp_path / "s", workers=1)
    assert [item["id"] for item in read_questions(tmp_path / "s")] == ["direction/5"]


def test_a_table_without_the_columns_is_named(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    pq.write_table(pa.Table.from_pylist([{"text": "x", "label": 1}]), tmp_path / "r/t.parquet")
    with pytest.raises(ReleaseError, match=r"Its tables are t\.parquet \(label, text\)"):
        prepare("tvbench", tmp_path / "r", store_home=tmp_path / "s")


def test_a_broken_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/t.parquet").write_bytes(b"PAR1 no table PAR1")
    with pytest.raises(ReleaseError, match=r"t\.parquet is not a readable table"):
        prepare("tvbench", tmp_path / "r", store_home=tmp_path / "s")


def test_an_interrupted_download_keeps_what_it_has(
    tmp_path: Path, hub: Callable[[Writer], list[dict[str, Any]]]
) -> None:
    def stop(repository: str, folder: Path) -> None:
        (folder / "half.jsonl").write_text(json.dumps({}))
        raise ConnectionError("gone")

    hub(stop)
    with pytest.raises(ReleaseError):
        prepare("blackswan", store_home=tmp_path / "s")
    kept = tmp_path / "s/blackswan/.prepare/hub/UBC-ViL--BlackSwanSuite-MCQ/half.jsonl"
    assert kept.is_file()
