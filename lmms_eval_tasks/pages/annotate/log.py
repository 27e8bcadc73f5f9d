"""From people's answers to a run of the harness, scored by the tasks' own functions.

The harness itself evaluates a "model" that repeats what was answered, on the questions that were
answered: its results file and sample logs are those of any run, and whatever reads runs shows
people beside models. Needs the harness: ten seconds.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_reasoning.tasks import outcome, registry
from video_reasoning.tasks.benchmarks import resolve
from video_reasoning.tasks.models.base import Query, WeightlessModel
from video_reasoning.tasks.pages.annotate.answers import Answer
from video_reasoning.tasks.pages.annotate.questions import drawn_rank, load_questions, tasks_named
from video_reasoning.tasks.pages.journal import PageError

TOGETHER = "all"
"""Name of a run with one person's answer to each question."""

_SHOWN = {"video": "", "ordered16": " 16 frames"}


@dataclass
class Person:
    """What becomes one run.

    Attributes:
        annotator: Who answered, or :data:`TOGETHER`.
        shown: What they saw.
        answers: Task -> id -> answer.
        changed: Answers to questions that are others in the store now; left out.
        skipped: Questions that were skipped; left out.
    """

    annotator: str
    shown: str
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)
    changed: int = 0
    skipped: int = 0

    @property
    def label(self) -> str:
        """The model's name in tables."""
        # The harness reads the name up to a comma, and makes a folder of it.
        name = " ".join(re.sub(r"[,=;/\\]", " ", self.annotator).split())
        return f"Human ({name}){_SHOWN.get(self.shown, f' {self.shown}')}"

    @property
    def n_answers(self) -> int:
        """How many questions were answered."""
        return sum(map(len, self.answers.values()))


def people(decisions: Iterable[Answer], *, together: bool = False, seed: int = 0) -> list[Person]:
    """Group what was decided into runs, one for each person and way of showing.

    Args:
        decisions: The decisions that count.
        together: Whether to make one run of all: for each question the answer of one of those who
            answered it, drawn by the question's id and the seed.
        seed: Another seed draws other people's answers.

    Raises:
        PageError: A task is unknown now.
        StoreError: The questions cannot be read.
    """
    found: dict[tuple[str, str], Person] = {}
    digests = _digests(decisions := list(decisions))
    for decision in sorted(decisions, key=lambda each: _rank(each, seed)):
        who = TOGETHER if together else decision.annotator
        person = found.setdefault((who, decision.shown), Person(who, decision.shown))
        if decision.state == "skipped":
            person.skipped += 1
        elif digests[decision.task].get(decision.id) != decision.digest:
            person.changed += 1
        else:
            person.answers.setdefault(decision.task, {}).setdefault(decision.id, decision)
    return [person for _, person in sorted(found.items()) if person.answers or person.changed]


def _rank(answer: Answer, seed: int) -> bytes:
    return drawn_rank("together", seed, answer.task, answer.id, answer.annotator)


def _digests(decisions: Iterable[Answer]) -> Mapping[str, Mapping[str, str]]:
    """Return task -> id -> digest of the question as it is in the store now."""
    return {
        task.name: {question.id: question.digest for question in load_questions(task)}
        for name in sorted({decision.task for decision in decisions})
        for task in tasks_named([name])
    }


class Only:
    """A ``process_docs`` that keeps some of the questions that a task asks."""

    def __init__(self, base: Callable[[Any], Any], ids: Iterable[str]) -> None:
        self.base = base
        self.ids = frozenset(ids)

    def __call__(self, dataset: Any) -> Any:
        """Select the questions, in the task's order."""
        documents = self.base(dataset)
        return documents.select(
            [place for place, name in enumerate(documents["id"]) if name in self.ids]
        )

    def __str__(self) -> str:
        """Say what a results file records."""
        return f"{len(self.ids):,} questions that people answered"


class Human(WeightlessModel):
    """Repeats what people answered."""

    sees = False

    def __init__(self, answers: Mapping[str, Mapping[str, Answer]]) -> None:
        super().__init__()
        self.answers = answers

    def respond(self, query: Query) -> str:
        """Return the answer to a question."""
        document = self.task_dict[query.task][query.split][query.doc_id]
        responses = self.answers[query.task][str(document["id"])].responses
        return responses[query.repeat % len(responses)]


def write_run(person: Person, folder: Path) -> list[Path]:
    """Let the harness score and log one person's answers.

    Returns:
        The files that were written: results, then one sample log per task.

    Raises:
        PageError: There is nothing to score, or a file could not be saved.
    """
    if not person.answers:
        raise PageError(
            f"{person.label} answered questions that are others in the store now; prepare the "
            "release that they were shown."
        )
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker
    from lmms_eval.tasks import TaskManager
    from lmms_eval.utils import get_datetime_str

    manager = TaskManager("ERROR", include_path=str(registry.tasks_path()), model_name="human")
    tracker = EvaluationTracker(output_path=str(folder))
    counts = Counter({task: len(answers) for task, answers in person.answers.items()})
    results = simple_evaluate(
        model=Human(person.answers),
        model_args=f"model_name={person.label},questions={counts.total()}",
        tasks=[
            {"task": name, "process_docs": Only(_documents(name), answers)}
            for name, answers in sorted(person.answers.items())
        ],
        task_manager=manager,
        evaluation_tracker=tracker,
        cli_args=argparse.Namespace(
            output_path=str(folder), process_with_media=False, shown_to_people=person.shown
        ),
        bootstrap_iters=0,
        verbosity="ERROR",
        datetime_str=get_datetime_str(),
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples, results["date"])
    for task, logged in samples.items():
        tracker.save_results_samples(task, logged)
    unsaved = list(outcome.unsaved(folder, results, samples))
    if unsaved:
        raise PageError(unsaved[0])
    begin = folder / str(results["model_name_sanitized"]) / str(results["date"]).replace(":", "-")
    return [
        Path(f"{begin}_results.json"),
        *(Path(f"{begin}_samples_{task}.jsonl") for task in samples),
    ]


def _documents(task: str) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = resolve(registry.config_of(task)["process_docs"])
    return found
