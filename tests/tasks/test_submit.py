from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from tests.tasks.harness_logs import judged_line, missing_line, write_run
from video_reasoning.metrics.paired import paired_accuracy, unpaired_accuracy
from video_reasoning.tasks.benchmarks import BENCHMARKS, Leaderboard
from video_reasoning.tasks.cli import submit as command
from video_reasoning.tasks.leaderboards.blackswan import BlackSwan
from video_reasoning.tasks.leaderboards.causalvqa import CausalVQA
from video_reasoning.tasks.leaderboards.predictions import (
    Format,
    Predictions,
    SubmissionError,
    collect,
    write_text,
)
from video_reasoning.tasks.results.items import Questions
from video_reasoning.tasks.results.logs import find_runs, read_samples

Question = dict[str, Any]
DETECTIVE, REPORTER = "blackswan_test_detective_mcq", "blackswan_test_reporter_mcq"


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions that a run names are read only in the store."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))


def blackswan_questions(count: int = 4) -> list[Question]:
    rows = []
    for number in range(count):
        for place, task in enumerate(("detective_mcq", "reporter_mcq", "detective_yn")):
            question_id = str(100 * place + number)
            rows.append(
                {
                    "id": f"{task}/{question_id}",
                    "question_id": question_id,
                    "task": task,
                    "options": [] if task.endswith("yn") else ["one", "two", "three"],
                    "answer": "",
                    "video": f"clips/{number}.mp4",
                }
            )
    return rows


def causalvqa_questions(count: int = 6) -> list[Question]:
    kinds = ("planning", "descriptive")
    return [
        {
            "id": f"q{number}/{variant}",
            "task": kinds[number % 2],
            "type": kinds[number % 2],
            "qid": f"q{number}",
            "variant": variant,
            "options": ["one", "two", "three", "four", "five"],
            "answer": "ABCDE"[(number + 2 * variant) % 5],
            "video": f"videos/test/{number}.mp4",
        }
        for number in range(count)
        for variant in (1, 2)
    ]


def write_questions(folder: Path, rows: list[Question]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "questions.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def lines(rows: list[Question], answer: Callable[[Question], str | None]) -> list[dict[str, Any]]:
    return [
        judged_line(
            number, row, answer(row), qid=row.get("qid", ""), variant=str(row.get("variant", ""))
        )
        for number, row in enumerate(rows)
    ]


def blackswan_run(
    folder: Path, answer: Callable[[Question], str | None], **options: Any
) -> tuple[Path, list[Question]]:
    rows = blackswan_questions()
    path = write_questions(folder, rows)
    tasks = {
        name: lines([row for row in rows if row["task"] == kind], answer)
        for name, kind in ((DETECTIVE, "detective_mcq"), (REPORTER, "reporter_mcq"))
    }
    write_run(folder / "out", tasks, questions={DETECTIVE: path, REPORTER: path}, **options)
    return folder / "out", rows


def causalvqa_run(
    folder: Path, answer: Callable[[Question], str | None], task: str = "causalvqa_debug"
) -> tuple[Path, dict[str, Question]]:
    rows = causalvqa_questions()
    path = write_questions(folder, rows)
    write_run(folder / "out", {task: lines(rows, answer)}, questions={task: path})
    return folder / "out", {row["id"]: row for row in rows}


def answers(row: Question) -> str | None:
    """Right on q0, q2 and q5, on one variant of q1, unparsed on one of q3, wrong elsewhere."""
    if row["qid"] in ("q0", "q2", "q5") or row["id"] == "q1/1":
        return str(row["answer"])
    if row["id"] == "q3/2":
        return None
    return "ABCDE"["ABCDE".index(row["answer"]) - 1]


def test_blackswan_is_one_object_of_indices(tmp_path: Path) -> None:
    given = {
        "0": "A",
        "1": "B",
        "2": "C",
        "3": None,
        "100": "C",
        "101": "C",
        "102": "A",
        "103": "B",
    }
    out, _ = blackswan_run(tmp_path, lambda row: given[row["question_id"]])
    predictions = collect("blackswan", [out])
    predictions.require_complete()
    (file,) = BlackSwan().write(predictions, tmp_path / "deep" / "file.json")
    assert json.loads(file.read_text()) == {
        "0": 0, "1": 1, "2": 2, "3": -1, "100": 2, "101": 2, "102": 0, "103": 1,
    }  # fmt: skip
    assert predictions.unparsed == ["detective_mcq/3"]
    assert [path.name for path in file.parent.iterdir()] == ["file.json"]


def test_the_two_tasks_may_come_from_two_runs(tmp_path: Path) -> None:
    rows = blackswan_questions()
    path = write_questions(tmp_path, rows)
    for name, kind, date in (
        (DETECTIVE, "detective_mcq", "20260101_000000"),
        (REPORTER, "reporter_mcq", "20260102_000000"),
    ):
        part = [row for row in rows if row["task"] == kind]
        log = {name: lines(part, lambda row: "B")}
        write_run(tmp_path / "out", log, date=date, questions={name: path})
    predictions = collect("blackswan", [tmp_path / "out"])
    predictions.require_complete()
    assert set(BlackSwan().answers(predictions).values()) == {1}


def test_an_incomplete_submission_is_refused_and_says_what_is_lacking(tmp_path: Path) -> None:
    rows = blackswan_questions()
    path = write_questions(tmp_path, rows)
    part = [row for row in rows if row["task"] == "detective_mcq"]
    log = [judged_line(0, part[0], "A"), missing_line(1, part[1]), judged_line(2, part[2], None)]
    write_run(tmp_path / "out", {DETECTIVE: log}, questions={DETECTIVE: path})
    predictions = collect("blackswan", [tmp_path / "out"])
    assert predictions.unparsed == ["detective_mcq/2"]
    with pytest.raises(SubmissionError) as refused:
        predictions.require_complete()
    message = str(refused.value)
    assert "6 of 8 questions" in message
    assert "not asked: reporter_mcq/100, reporter_mcq/101, reporter_mcq/102" in message
    assert "no video to show (the release holds no clip.mp4): detective_mcq/1" in message
    # An answer to a placeholder is not handed in.
    assert BlackSwan().answers(predictions) == {
        "0": 0, "1": -1, "2": -1, "3": -1, "100": -1, "101": -1, "102": -1, "103": -1,
    }  # fmt: skip


def test_an_id_for_two_questions_is_refused(tmp_path: Path) -> None:
    rows = [{**row, "question_id": "7"} for row in blackswan_questions(1)]
    path = write_questions(tmp_path, rows)
    tasks = {
        DETECTIVE: lines(rows[:1], lambda row: "A"),
        REPORTER: lines(rows[1:2], lambda row: "B"),
    }
    write_run(tmp_path / "out", tasks, questions={DETECTIVE: path, REPORTER: path})
    with pytest.raises(SubmissionError, match="Two questions have the q_id 7"):
        BlackSwan().answers(collect("blackswan", [tmp_path / "out"]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"choice": "D"}, "the answer 'D' to a question with 3 options"),
        ({"choice": "yes"}, "the answer 'yes'"),
        ({"accuracy": {"id": "detective_mcq/99"}}, r"does not have \(detective_mcq/99\)"),
        ({"doc_id": None}, "it has no doc_id"),
    ],
)
def test_a_log_that_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    rows = blackswan_questions(1)
    path = write_questions(tmp_path, rows)
    log = {DETECTIVE: [{**judged_line(0, rows[0], "A"), **changes}]}
    write_run(tmp_path / "out", log, questions={DETECTIVE: path})
    with pytest.raises(SubmissionError, match=message):
        collect("blackswan", [tmp_path / "out"])


def test_several_models_must_be_told_apart(tmp_path: Path) -> None:
    out, _ = blackswan_run(tmp_path, lambda row: "A")
    blackswan_run(tmp_path, lambda row: "B", model="llava_vid", checkpoint="some/llava")
    with pytest.raises(SubmissionError, match=r"several models: random_choice, some/llava"):
        collect("blackswan", [out])
    chosen = collect("blackswan", [out], model="some/llava")
    assert set(BlackSwan().answers(chosen).values()) == {1}
    with pytest.raises(SubmissionError, match=r"no run of .* by nobody"):
        collect("blackswan", [out], model="nobody")


def test_no_run_of_the_tasks_says_which_to_evaluate(tmp_path: Path) -> None:
    write_run(tmp_path, {"other": []})
    with pytest.raises(SubmissionError, match="--tasks blackswan_test_detective_mcq --log_samples"):
        collect("blackswan", [tmp_path])
    with pytest.raises(SubmissionError, match="--tasks causalvqa_test "):
        collect("causalvqa", [tmp_path])
    with pytest.raises(SubmissionError, match="no split called 'train'"):
        collect("causalvqa", [tmp_path], split="train")


def test_causalvqa_is_json_lines_with_every_variant_once(tmp_path: Path) -> None:
    out, _ = causalvqa_run(tmp_path, answers, "causalvqa_test")
    predictions = collect("causalvqa", [out])
    predictions.require_complete()
    (file,) = CausalVQA().write(predictions, tmp_path / "file.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert rows[0] == {
        "data_name": "causalvqa",
        "task": "planning",
        "row_id": "q0_1",
        "model_answer": "C",
    }
    assert [row["row_id"] for row in rows] == [f"q{n}_{v}" for n in range(6) for v in (1, 2)]
    # q3/2 named no option: the empty text, unless the user knows better.
    assert [row["row_id"] for row in rows if row["model_answer"] == ""] == ["q3_2"]
    assert CausalVQA(unparsed="none").rows(predictions)[7]["model_answer"] == "none"
    with pytest.raises(SubmissionError, match="one of the options"):
        CausalVQA(unparsed="E").rows(predictions)


def test_causalvqa_by_type(tmp_path: Path) -> None:
    out, _ = causalvqa_run(tmp_path, answers, "causalvqa_test")
    predictions = collect("causalvqa", [out])
    files = CausalVQA(split_by_type=True).write(predictions, tmp_path / "file.jsonl")
    assert [file.name for file in files] == ["file_descriptive.jsonl", "file_planning.jsonl"]
    ids = [[json.loads(line)["row_id"] for line in file.read_text().splitlines()] for file in files]
    assert ids == [
        ["q1_1", "q1_2", "q3_1", "q3_2", "q5_1", "q5_2"],
        ["q0_1", "q0_2", "q2_1", "q2_2", "q4_1", "q4_2"],
    ]
    assert not (tmp_path / "file.jsonl").exists()


def test_the_five_types_do_for_the_whole(tmp_path: Path) -> None:
    rows = causalvqa_questions()
    path = write_questions(tmp_path, rows)
    tasks = {
        f"causalvqa_test_{kind}": lines([row for row in rows if row["type"] == kind], answers)
        for kind in ("planning", "descriptive")
    }
    write_run(tmp_path / "out", tasks, questions=dict.fromkeys(tasks, path))
    collect("causalvqa", [tmp_path / "out"]).require_complete()
    alone = collect("causalvqa", [tmp_path / "out"], tasks=["causalvqa_test_planning"])
    with pytest.raises(SubmissionError, match="6 of 12 questions"):
        alone.require_complete()
    assert len(CausalVQA().rows(alone)) == 6


def test_two_answers_to_one_question_are_refused(tmp_path: Path) -> None:
    rows = causalvqa_questions()
    path = write_questions(tmp_path, rows)
    tasks = {
        "causalvqa_test": lines(rows, answers),
        "causalvqa_test_blind": lines(rows, lambda row: "A"),
    }
    write_run(tmp_path / "out", tasks, questions=dict.fromkeys(tasks, path))
    collect("causalvqa", [tmp_path / "out"]).require_complete()  # the plain task alone
    with pytest.raises(SubmissionError, match="answered differently"):
        collect("causalvqa", [tmp_path / "out"], tasks=list(tasks))


@pytest.mark.parametrize(
    ("template", "row_id"),
    [
        ("{qid}_{variant}", "q0_1"),
        ("{split}/{type}/{qid}-{variant:02d}", "debug/planning/q0-01"),
    ],
)
def test_row_id_is_a_format_of_the_user(tmp_path: Path, template: str, row_id: str) -> None:
    out, key = causalvqa_run(tmp_path, answers)
    predictions = collect("causalvqa", [out], split="debug")
    format_ = CausalVQA(row_id=template)
    (file,) = format_.write(predictions, tmp_path / "file.jsonl")
    assert json.loads(file.read_text().splitlines()[0])["row_id"] == row_id
    scores = format_.score(file, key, "debug")
    assert scores["accuracy_paired"] == 0.5


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{qid}", r"gives 'q0' to both q0/1 and q0/2"),
        ("{qid}_{n}", "no field 'n'"),
        ("{qid", "not a format for row_id"),
        ("{}", "no field ''"),
        ("{qid.__class__}", "no field"),
        ("{qid:d}_{variant}", "not a format for row_id"),
    ],
)
def test_formats_that_cannot_work_are_refused(tmp_path: Path, template: str, message: str) -> None:
    out, _ = causalvqa_run(tmp_path, answers)
    predictions = collect("causalvqa", [out], split="debug")
    with pytest.raises(SubmissionError, match=message):
        CausalVQA(row_id=template).rows(predictions)


def test_round_trip_of_causalvqa(tmp_path: Path) -> None:
    """The file scored against the key, and the log through the metrics: identical numbers."""
    out, key = causalvqa_run(tmp_path, answers)
    (file,) = CausalVQA().write(collect("causalvqa", [out], split="debug"), tmp_path / "file.jsonl")
    (run,) = find_runs([out])
    samples = list(read_samples(run.samples("causalvqa_debug")))
    correct = [sample.score for sample in samples]
    assert CausalVQA().score(file, key) == {
        "accuracy_paired": paired_accuracy([s.group("qid") for s in samples], correct),
        "accuracy_unpaired": unpaired_accuracy(correct),
    }
    # By hand: q0, q2 and q5 of 6 pairs; their 6 items and q1/1 of 12.
    assert CausalVQA().score(file, key) == {"accuracy_paired": 3 / 6, "accuracy_unpaired": 7 / 12}


def test_round_trip_of_blackswan(tmp_path: Path) -> None:
    rows = [{**row, "answer": "B"} for row in blackswan_questions() if row["options"]]
    path = write_questions(tmp_path, rows)
    tasks = {
        "blackswan_detective_mcq": lines(
            [row for row in rows if row["task"] == "detective_mcq"],
            lambda row: {"0": "B", "1": "A", "2": "B"}.get(row["question_id"]),
        ),
        "blackswan_reporter_mcq": lines(
            [row for row in rows if row["task"] == "reporter_mcq"], lambda row: "B"
        ),
    }
    write_run(tmp_path / "out", tasks, questions=dict.fromkeys(tasks, path))
    predictions = collect("blackswan", [tmp_path / "out"], split="validation")
    (file,) = BlackSwan().write(predictions, tmp_path / "file.json")
    (run,) = find_runs([tmp_path / "out"])
    logged = {
        task: unpaired_accuracy([s.score for s in read_samples(run.samples(task))])
        for task in tasks
    }
    assert BlackSwan().score(file, {row["id"]: row for row in rows}) == {
        "accuracy": 6 / 8,
        "accuracy_detective": logged["blackswan_detective_mcq"],
        "accuracy_reporter": logged["blackswan_reporter_mcq"],
    }
    assert logged == {"blackswan_detective_mcq": 0.5, "blackswan_reporter_mcq": 1.0}


def test_files_that_are_no_submission_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    pairs = {row["id"]: row for row in causalvqa_questions()}
    for format_, content, message in (
        (BlackSwan(), "{", "cannot be read as JSON"),
        (BlackSwan(), "[1]", "not a JSON object"),
        (BlackSwan(), '{"999": 1}', "the key does not have"),
        (CausalVQA(), "{", "cannot be read as JSON Lines"),
        (CausalVQA(), '{"model_answer": "A"}', "not JSON Lines with a row_id"),
        (CausalVQA(), '{"row_id": "q99_1", "model_answer": "A"}', "the key does not have"),
    ):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(SubmissionError, match=message):
            format_.score(file, pairs if isinstance(format_, CausalVQA) else {})
    with pytest.raises(SubmissionError, match="cannot be read"):
        BlackSwan().score(tmp_path / "gone.json", {})


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    command.register(app, "Results")
    return app


def test_the_command_lists_what_a_user_may_want_to_look_at(
    tmp_path: Path, app: typer.Typer
) -> None:
    out, _ = causalvqa_run(tmp_path, answers)
    file = tmp_path / "file.jsonl"
    arguments = ["submit", "causalvqa", str(out), "--out", str(file), "--split", "debug"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "11 of 12 questions answered with an option" in done.output
    assert "1 name no option, written as '':\n    q3/2" in done.output
    assert "accuracy_paired 0.5000" in done.output
    assert len(file.read_text().splitlines()) == 12


def test_the_command_refuses_the_incomplete_unless_told(tmp_path: Path, app: typer.Typer) -> None:
    rows = blackswan_questions()
    path = write_questions(tmp_path, rows)
    part = [row for row in rows if row["task"] == "detective_mcq"]
    write_run(
        tmp_path / "out", {DETECTIVE: lines(part, lambda row: "A")}, questions={DETECTIVE: path}
    )
    file = tmp_path / "file.json"
    arguments = ["submit", "blackswan", str(tmp_path / "out"), "--out", str(file)]
    refused = CliRunner().invoke(app, arguments)
    assert isinstance(refused.exception, SubmissionError)
    assert not file.exists()
    done = CliRunner().invoke(app, [*arguments, "--allow-incomplete"])
    assert done.exit_code == 0, done.output
    assert "4 without a prediction" in done.output
    assert "Scored" not in done.output  # the test split's answers are withheld
    assert len(json.loads(file.read_text())) == 8


def test_a_format_is_one_class_and_a_line_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Leaderboard(f"{__name__}.Plain", {"debug": ("causalvqa_debug",)})
    record = replace(BENCHMARKS["causalvqa"], leaderboard=board)
    monkeypatch.setattr(command, "BENCHMARKS", {"causalvqa": record})
    app = typer.Typer()
    command.register(app, "Results")
    out, _ = causalvqa_run(tmp_path, answers)
    file = tmp_path / "file.txt"
    done = CliRunner().invoke(
        app, ["submit", "causalvqa", str(out), "--out", str(file), "--none", "?"]
    )
    assert done.exit_code == 0, done.output
    rows = causalvqa_questions()
    assert file.read_text() == "".join(answers(row) or "?" for row in rows)
    assert "written as ?" in done.output and "answers 12.0000" in done.output


@dataclass(frozen=True)
class Plain(Format):
    """One letter per question."""

    suffix: ClassVar[str] = ".txt"
    none: Annotated[str, "What a response without an option is."] = "-"

    @property
    def unparsed_as(self) -> str:
        return self.none

    def write(self, predictions: Predictions, out: Path) -> list[Path]:
        letters = [choice or self.none for choice in predictions.choices.values()]
        return [write_text(out, "".join(letters))]

    def score(self, file: Path, key: Questions, split: str = "test") -> dict[str, float]:
        return {"answers": float(len(file.read_text()))}
