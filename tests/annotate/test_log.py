"""From answers to a run of the harness, and what reads runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.annotate import stores
from tests.harness.conftest import forked
from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.pages.annotate.agreement import agreements
from video_reasoning.tasks.pages.annotate.answers import Answer, AnswerLog
from video_reasoning.tasks.pages.annotate.log import people
from video_reasoning.tasks.pages.annotate.questions import Question, load_questions, tasks_named
from video_reasoning.tasks.pages.annotate.server import Workplace
from video_reasoning.tasks.results.items import gather

TEXT = "The ball rolls off the table and hits the floor"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for benchmark in ("blackswan", "tvbench", "causalvqa"):
        stores.write(tmp_path / "store", benchmark, getattr(stores, benchmark)(), videos=False)
    stores.write(tmp_path / "store", "tvbench", stores.tvbench())
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "store"))
    return tmp_path / "store"


def asked(name: str, show: str = "") -> list[Question]:
    return [each for task in tasks_named([name]) for each in load_questions(task, show)]


def answered(
    log: AnswerLog, who: str, questions: list[Question], say: Callable[[int], tuple[str, ...]]
) -> None:
    place = Workplace(questions, log, "", who)
    log.record([place.answer(q, who, responses=say(n)) for n, q in enumerate(questions)])


@pytest.mark.harness
def test_people_are_measured_like_models(home: Path, tmp_path: Path) -> None:
    stores.write(home, "blackswan", stores.blackswan(1))
    log = AnswerLog(tmp_path / "answers.jsonl")
    frames, whole = (asked("tvbench_tomato_direction", show) for show in ("", "video"))
    # Ana is right about three of the first five questions, and skips the sixth.
    answered(log, "ana, the first", frames[:5], lambda n: ("A" if n < 3 else "D",))
    skipped = Workplace(frames, log, "", "").skipped(frames[5], "ana, the first", "odd")
    log.record([skipped])
    answered(log, "ana, the first", asked("blackswan_forecaster_gen")[:1], lambda n: tuple(
        f"{TEXT} {k}" for k in range(3)))  # fmt: skip
    answered(log, "ana, the first", whole[6:], lambda n: ("A",))
    out = tmp_path / "runs"
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "VIDEO_REASONING_SIGHT": "off"}
    code, output = forked(
        "video_reasoning.tasks.cli.main",
        ["annotate", "log", str(log.path), "--out", str(out)],
        tmp_path,
        {name: value for name, value in environment.items() if not name.startswith("PYTEST")},
    )
    assert code == 0, output
    assert "Human (ana the first) 16 frames: 5 answers scored" in output
    assert "1 skipped questions are left out" in output
    found = {(log.run.label, log.task): log for log in gather([out])}
    frames_run = found["Human (ana the first) 16 frames", "tvbench_tomato_direction"]
    assert frames_run.result.metrics["accuracy"] == pytest.approx(0.6)
    assert [item.id for item in frames_run.items] == [f"direction/{n}" for n in range(5)]
    assert [item.score for item in frames_run.items] == [1, 1, 1, 0, 0]
    assert "16 separate frames" in frames_run.example  # the task's own prompt
    video_run = found["Human (ana the first)", "tvbench_tomato_direction"]
    assert video_run.result.metrics["accuracy"] == 1.0 and len(video_run.items) == 2
    (written,) = found["Human (ana the first)", "blackswan_forecaster_gen"].items
    assert (
        written.responses == tuple(f"{TEXT} {k}" for k in range(3)) and written.values["bleu"] < 1
    )


def test_one_answer_a_question_of_all(home: Path, tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")
    questions = asked("tvbench_tomato_direction")
    for who, letter in zip("abc", "ABC", strict=True):
        answered(log, who, questions, lambda n, letter=letter: (letter,))  # type: ignore[misc]
    (everybody,) = people(log.decisions.values(), together=True)
    drawn = {name: found.annotator for name, found in _only(everybody.answers).items()}
    assert everybody.label == "Human (all) 16 frames" and set(drawn) == {q.id for q in questions}
    assert len(set(drawn.values())) > 1
    backwards = list(log.decisions.values())[::-1]
    (again,) = people(backwards, together=True)
    assert {name: found.annotator for name, found in _only(again.answers).items()} == drawn
    # Answers to questions that are others now are left out, and counted.
    rows = stores.tvbench()
    rows[2]["options"].reverse()
    stores.write(home, "tvbench", rows, videos=False)
    (a, *_) = people(log.decisions.values())
    assert (a.n_answers, a.changed) == (7, 1)


def _only(answers: dict[str, dict[str, Answer]]) -> dict[str, Answer]:
    (found,) = answers.values()
    return found


def test_agreement_is_corrected_for_chance(home: Path, tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")
    questions = asked("tvbench_tomato_direction")
    answered(log, "a", questions, lambda n: ("A",))
    answered(log, "b", questions[:6], lambda n: ("A" if n < 4 else "B",))
    answered(log, "a", asked("blackswan_reporter_gen"), lambda n: (TEXT,))
    answered(log, "b", asked("blackswan_reporter_gen"), lambda n: (TEXT,))
    (pair,) = agreements(log.decisions.values())  # free text is not compared
    assert pair.items == 6 and pair.agreement.same.value == pytest.approx(4 / 6)
    assert pair.agreement.corrected.value == pytest.approx((4 / 6 - 1 / 4) / (3 / 4))
    assert pair.agreement.corrected.n_clusters == 4  # four videos
    result = CliRunner().invoke(app, ["annotate", "agreement", str(log.path)])
    assert "a, b: 6 questions" in result.output and "by chance 25.0%" in result.output
    answered(log, "c", questions, lambda n: ("C",))
    people_of = [found.people for found in agreements(log.decisions.values())]
    assert people_of == [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]


def test_nobody_of_that_name(home: Path, tmp_path: Path) -> None:
    log = AnswerLog(tmp_path / "answers.jsonl")
    answered(log, "a", asked("tvbench_tomato_direction"), lambda n: ("A",))
    words = ["annotate", "log", str(log.path), "--out", str(tmp_path), "--annotator", "z"]
    result = CliRunner().invoke(app, words)
    assert "it has those of a." in str(result.exception)
