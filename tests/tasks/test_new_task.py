"""A table of questions becomes a task that the harness loads, runs and audits."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.audit.test_plan import request
from tests.harness.conftest import run_harness
from tests.tasks.releases import write_video
from video_reasoning.tasks.audit.derive import derive, find_tasks
from video_reasoning.tasks.audit.harness import load_config, load_task, task_manager
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.preflight import preflight
from video_reasoning.tasks.audit.run import run_audit
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.release.new_task import NewTask, plan_task
from video_reasoning.tasks.release.questions import parse_columns

OPTIONS = ["It goes left.", "It goes right.", "It stays."]


def row(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "video": f"{number % 2}.mp4",
        "question": f"Where does ball {number} go?",
        "options": OPTIONS,
        "answer": "ABC"[number % 3],
        **changes,
    }


def spread(names: str, answer: Any) -> dict[str, Any]:
    """A row with a column for each option."""
    return {
        **row(1, answer=answer),
        "options": None,
        **dict(zip(names.split(), OPTIONS, strict=True)),
    }


def write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    rows = [{k: v for k, v in row.items() if v is not None} for row in rows]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            for each in rows:
                lists = {k: json.dumps(v) if isinstance(v, list) else v for k, v in each.items()}
                writer.writerow(lists)
    return path


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("videos")
    for number in range(2):
        write_video(folder / f"{number}.mp4")
    (folder / "broken.mp4").write_bytes(b"no video")
    return folder


def rows_of(task: NewTask) -> list[dict[str, Any]]:
    return [json.loads(line) for line in task.files["questions.jsonl"].splitlines()]


@pytest.mark.parametrize(
    ("kind", "change", "more"),
    [
        ("csv", row(1), {}),
        ("parquet", row(1), {}),
        ("jsonl", row(1, answer="It goes right."), {}),
        ("jsonl", row(1, answer="(B)"), {}),
        ("jsonl", row(1, options=["A. It goes left.", "B. It goes right.", "C. It stays."]), {}),
        ("jsonl", row(1, options=dict(zip("ABC", OPTIONS, strict=True))), {}),
        ("csv", row(1, options=json.dumps(dict(zip("ABC", OPTIONS, strict=True)))), {}),
        ("csv", spread("A B C", "b"), {}),
        ("csv", spread("option_0 option_1 option_2", 1), {"count_from": 0}),
        ("csv", spread("Choice1 Choice2 Choice3", 2), {"count_from": 1}),
        ("csv", spread("x y z", "B"), {"named": {"options": "x+y+z"}}),
        ("jsonl", row(1, video="1"), {}),
    ],
)
def test_a_table_becomes_rows(
    tmp_path: Path, videos: Path, kind: str, change: dict[str, Any], more: Mapping[str, Any]
) -> None:
    table = write_table(tmp_path / f"t.{kind}", [change])
    (found,) = rows_of(plan_task(tmp_path, table, videos, "moves_own", **more))
    assert found == {**row(1), "video": "1.mp4"}


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([row(0), row(1, video="gone.mp4")], "1 video cannot be shown.*gone.mp4 does not exist"),
        ([row(0), row(1, video="broken.mp4")], "broken.mp4 cannot be read"),
        ([row(0), row(1, video="../t.jsonl")], "is not in "),
        ([row(0), row(1, question=" ")], "1 row is not a question .line 2: question is missing"),
        ([row(0), row(0)], "line 2: duplicate id q0"),
        ([row(0), row(1, answer="D")], "'D' is not one of its 3 options"),
        ([row(0), row(1, options=["B", "A"], answer="A")], "could be the option or its letter"),
        ([row(0, answer=1), row(1, answer=2)], "from 0 or from 1; say which with --count-from"),
        ([{"id": "q0"}], "has no column for question, options, answer, video"),
    ],
)
def test_what_cannot_be_used_is_named(
    tmp_path: Path, videos: Path, rows: list[dict[str, Any]], sentence: str
) -> None:
    table = write_table(tmp_path / "t.jsonl", rows)
    with pytest.raises(UserError, match=sentence) as found:
        plan_task(tmp_path, table, videos, "moves_own")
    assert "\n" not in str(found.value)


def test_a_column_that_is_not_there_is_named(tmp_path: Path, videos: Path) -> None:
    table = write_table(tmp_path / "t.jsonl", [row(0)])
    with pytest.raises(UserError, match="has no column label; it has id, video"):
        plan_task(tmp_path, table, videos, "moves_own", named={"answer": "label"})
    with pytest.raises(UserError, match="what can be named is id, question"):
        parse_columns("frage=text")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, videos: Path) -> Path:
    """A task of three questions, of which one has no video, made by the command."""
    base = tmp_path_factory.mktemp("made")
    rows = [row(0), row(1), row(2, video="gone.mp4"), row(3, video="late.mp4")]
    write_video(videos / "late.mp4", frames=20)
    table, folder = write_table(base / "t.csv", rows), base / "moves_own"
    words = ["new-task", str(folder), "--questions", str(table), "--videos", str(videos)]
    refused = CliRunner().invoke(app, words)
    assert "gone.mp4" in str(refused.exception) and not folder.exists()
    found = CliRunner().invoke(app, [*words, "--leave-out"])
    assert found.exit_code == 0, found.output
    assert "3 questions about 3 videos." in found.output
    assert "q2: its video gone.mp4 does not exist" in found.output
    again = CliRunner().invoke(app, [*words, "--leave-out"])
    assert "give --overwrite" in str(again.exception)
    return folder


def test_a_name_of_the_harness_is_refused(tmp_path: Path, videos: Path) -> None:
    table = write_table(tmp_path / "t.jsonl", [row(0)])
    words = ["new-task", str(tmp_path / "tomato"), "--questions", str(table)]
    found = CliRunner().invoke(app, [*words, "--videos", str(videos)])
    assert "There is a task tomato already" in str(found.exception)


def test_the_harness_loads_and_scores_it(made: Path) -> None:
    index = task_manager([made], defaults=False).task_index
    config = load_config(Path(index["moves_own"]["yaml_path"]))
    task = load_task(dict(config))
    documents = list(task.eval_docs_no_media)
    assert [document["id"] for document in documents] == ["q0", "q1", "q3"]
    shown = [config["doc_to_visual"](document)[0] for document in documents]
    assert all(Path(path).is_file() for path in shown)
    prompt = config["doc_to_text"](documents[1])
    assert "Where does ball 1 go?\nA. It goes left.\nB." in prompt
    scores = [
        config["process_results"](documents[1], [said])
        for said in ("B", "It is C", "I do not know.", "[LMMS_EVAL_REQUEST_FAILED after 3 retries]")
    ]
    assert [each["score"] for each in scores] == [1.0, 0.0, 0.0, None]
    assert [each["unparsed_rate"] for each in scores] == [0.0, 0.0, 1.0, None]
    gone = config["process_results"]({**documents[1], "video": "gone.mp4"}, ["B"])
    assert gone["status"] == "missing" and "score" not in gone["accuracy"]
    totals = {each["metric"]: each["aggregation"] for each in config["metric_list"]}
    values = {
        name: total([each[name] for each in [*scores, gone]]) for name, total in totals.items()
    }
    assert values == {
        "accuracy": pytest.approx(1 / 3),
        "unparsed_rate": pytest.approx(1 / 3),
        "missing_items": 1,
        "failed_items": 1,
    }


@pytest.mark.harness
def test_it_runs_and_can_be_audited(made: Path, tmp_path: Path) -> None:
    words = ("--model", "random_choice", "--tasks", "moves_own", "--include_path", str(made))
    ran = run_harness(tmp_path, *words, home=tmp_path)
    assert ran.returncode == 0, ran.output[-2000:]
    found = ran.results["moves_own"]
    assert found["accuracy"] in [pytest.approx(right / 3) for right in range(4)]
    assert found["unparsed_rate"] == found["missing_items"] == found["failed_items"] == 0

    tasks = tuple(find_tasks(["moves_own"], [made])[0])
    plan = Plan(("ordered16", "blind"), tasks, tmp_path, 16)
    plan, checks = preflight(derive(plan, tmp_path / "tasks"))
    check = checks["moves_own"]
    assert (check.refused, check.questions, check.options) == ("", 3, 3)
    assert check.ranges == {"accuracy": (0.0, 1.0)} and not plan.refused


@pytest.mark.harness
def test_a_check_leaves_an_audit_as_it_is(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    more = {"include_path": (made,), "check": True, "judge_only": False}
    assert run_audit(request(out, tasks=("moves_own",), **more)) == 0
    assert not out.exists()
