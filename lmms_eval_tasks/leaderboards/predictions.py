"""One model's predictions for a leaderboard, collected from logged runs.

A format is one module with a subclass of :class:`Format`. An answer to a placeholder (the
question's video could not be shown) is not an answer: such a question is incomplete, like one
that was not asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.states import LEFT_OUT

if TYPE_CHECKING:
    from video_reasoning.tasks.results.items import Item, Questions, Seen, TaskLog
    from video_reasoning.tasks.results.logs import Run
    from video_reasoning.tasks.sight import Sight

_SHOWN = 5  # how many questions a message names


class SubmissionError(UserError):
    """A submission that cannot be written or scored as asked."""


@dataclass
class Predictions:
    """What a model answered to the questions of a leaderboard.

    Attributes:
        questions: Id -> row of `questions.parquet`, all that the leaderboard asks for.
        choices: Id -> letter, or None for a response that names no option.
        absent: Id -> why there is no prediction.
        seen: What reached the model of the questions it answered; None if there are none.
    """

    benchmark: str
    split: str
    model: str
    questions: Questions = field(default_factory=dict)
    choices: dict[str, str | None] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    seen: Seen | None = None

    @property
    def unparsed(self) -> list[str]:
        """The ids whose responses name no option."""
        return [id_ for id_, choice in self.choices.items() if choice is None]

    def require_complete(self) -> None:
        """Refuse predictions that do not cover every question.

        Raises:
            SubmissionError: Some are lacking; says how many, which, and why.
        """
        if not self.absent:
            return
        reasons: dict[str, list[str]] = {}
        for id_, reason in self.absent.items():
            reasons.setdefault(reason, []).append(id_)
        listed = "; ".join(f"{reason}: {some(ids)}" for reason, ids in reasons.items())
        raise SubmissionError(
            f"{len(self.absent):,} of {len(self.questions):,} questions of {self.benchmark} "
            f"({self.split} split) have no prediction ({listed}); run what is lacking, or write "
            "the file all the same with --allow-incomplete."
        )


@dataclass(frozen=True)
class Format(ABC):
    """The file format of one leaderboard.

    The fields of a subclass are the user's options: `video-reasoning submit` offers each under
    its name, with the text of its `Annotated` type as help, and describes the command with the
    subclass's docstring.

    Attributes:
        suffix: How the names of such files end.
    """

    suffix: ClassVar[str]

    @property
    @abstractmethod
    def unparsed_as(self) -> str:
        """How the file shows a response that names no option, for a message."""

    @abstractmethod
    def write(self, predictions: Predictions, out: Path) -> list[Path]:
        """Write the file (or several) and return it; it appears whole or not at all.

        Raises:
            SubmissionError: The predictions cannot be written in this format.
        """

    @abstractmethod
    def score(self, file: Path, key: Questions, split: str = "test") -> dict[str, float]:
        """Score a file, written with the same options, as the leaderboard would.

        The accuracies, 0..1, are over the questions that have an answer in the file and in the key;
        NaN over none.

        Raises:
            SubmissionError: The file cannot be read, or answers other questions than the key's.
        """


def collect(
    benchmark: str,
    paths: Iterable[Path],
    *,
    split: str = "test",
    model: str = "",
    tasks: Sequence[str] = (),
) -> Predictions:
    """Collect one model's predictions from logged runs; they need not be complete.

    Args:
        benchmark: A benchmark with a leaderboard.
        paths: Output folders of the harness, results files or sample logs.
        split: One of the splits that the leaderboard's file can be made of.
        model: Checkpoint or harness name of the model; needed if the logs have several.
        tasks: Which tasks to read, for a variant such as `_cot`; empty for the plain ones.

    Raises:
        SubmissionError: There is no such run, more than one model, an unusable line in a log, an
            answer to a question that does not exist, or two answers to one.
        StoreError: The questions of a run are not there.
    """
    from video_reasoning.tasks.results.items import frames_seen, read_task
    from video_reasoning.tasks.results.logs import find_runs

    board = BENCHMARKS[benchmark].leaderboard
    if board is None or split not in board.tasks:
        splits = " and ".join(board.tasks) if board else "none"
        raise SubmissionError(
            f"{benchmark} has no split called {split!r} with a leaderboard file; its splits are "
            f"{splits}."
        )
    runs = find_runs(paths)
    logged = {task for run in runs for task in run.tasks}
    plain = board.tasks[split]
    instead = [task for task in board.instead.get(split, ()) if task in logged]
    wanted = tasks or (instead if instead and not logged & set(plain) else plain)
    chosen = [
        (run, task)
        for run in runs
        for task in wanted
        if task in run.tasks and model in ("", run.label, run.model)
    ]
    _require_one_model([run for run, _ in chosen], wanted, model)
    predictions = Predictions(benchmark, split, chosen[0][0].label)
    source: dict[str, Path] = {}
    answered: list[Sight] = []
    for run, task in chosen:
        log = read_task(run, task, check=False)
        _add(predictions, board.kinds, log, source)
        answered += [item.sight for item in log.items if source.get(item.id) == log.log]
    predictions.seen = frames_seen(answered)
    for id_ in predictions.questions:
        if id_ not in predictions.choices:
            predictions.absent.setdefault(id_, "not asked")
    return predictions


def _require_one_model(runs: Sequence[Run], wanted: Sequence[str], model: str) -> None:
    if not runs:
        raise SubmissionError(
            f"The logs have no run of {' or '.join(wanted)}"
            f"{f' by {model}' if model else ''}; evaluate with --tasks {wanted[0]} "
            "--log_samples, and name its --output_path."
        )
    models = sorted({(run.label, run.model_args) for run in runs})
    if len(models) > 1:
        named = ", ".join(f"{label} ({args})" if args else label for label, args in models)
        raise SubmissionError(
            f"The logs have several models: {named}; name one with --model, "
            "or name its results files instead of the folder."
        )


def _add(
    predictions: Predictions, kinds: Sequence[str], log: TaskLog, source: dict[str, Path]
) -> None:
    """Add one log's items to the predictions; `source` says which log gave which."""
    if log.problem:
        raise StoreError(log.problem)
    if log.odd.count:
        raise SubmissionError(f"{log.odd.sentence(log.log)} Run {log.task} again.")
    asked = {id_: row for id_, row in log.questions.items() if not kinds or row["task"] in kinds}
    strangers = [item.id for item in log.items if item.id not in asked]
    if strangers:
        raise SubmissionError(
            f"{log.log} answers {len(strangers):,} questions that {log.questions_file} does not "
            f"have ({some(strangers)}); run {log.task} again over the questions as they are now."
        )
    if predictions.questions and asked.keys() != predictions.questions.keys():
        raise SubmissionError(
            f"{log.task} was asked with other questions ({log.questions_file}) than the tasks "
            "before it; run them over one store."
        )
    predictions.questions = asked
    for item in log.items:
        if item.status in LEFT_OUT:
            if item.id not in source:
                why = "no video to show" if item.status == "missing" else "no response"
                predictions.absent[item.id] = f"{why} ({item.problem})"
        elif item.id not in source:
            source[item.id] = log.log
            predictions.absent.pop(item.id, None)
            predictions.choices[item.id] = _letter(item, log.log)
        elif predictions.choices[item.id] != item.choice:
            raise SubmissionError(
                f"{item.id} was answered differently in {source[item.id]} and in {log.log}; "
                "name the tasks to read with --task."
            )


def _letter(item: Item, path: Path) -> str | None:
    options = len(item.question["options"])
    choice = item.choice
    if choice is None or (len(choice) == 1 and 0 <= ord(choice) - ord("A") < options):
        return choice
    raise SubmissionError(
        f"{path} line {item.line} has the answer {choice!r} to a question with {options} options; "
        "it is not a log of this task."
    )


def some(ids: Sequence[str]) -> str:
    """List the first ids, and how many more there are."""
    more = len(ids) - _SHOWN
    return ", ".join(ids[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def write_text(target: Path, content: str) -> Path:
    """Write a file that appears whole or not at all."""
    from video_reasoning.preprocessing.files import atomic_path

    with atomic_path(target) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return target
