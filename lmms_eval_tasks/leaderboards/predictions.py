"""Leaderboard files from a run's sample logs, checked against the prepared questions.

BlackSwanSuite takes one JSON object, question id -> index of the option from 0, and -1 for a
response that names none. CausalVQA takes JSON Lines, one row per variant of a question::

    {"data_name": "causalvqa", "task": "planning", "row_id": "q17_1", "model_answer": "C"}

How ``row_id`` tells the two variants of a question apart is not published; see :data:`ROW_ID`.

An answer to a placeholder (the question's video could not be shown) is no answer: such a
question is incomplete, like one that was not asked.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_reasoning.metrics.paired import paired_accuracy, unpaired_accuracy
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.results.logs import OddLines, Run, find_runs, read_samples
from video_reasoning.tasks.store.questions import load_questions, questions_of
from video_reasoning.tasks.store.text_files import loads, read_text

__all__ = [
    "NO_OPTION",
    "ROW_ID",
    "Predictions",
    "SubmissionError",
    "blackswan_answers",
    "causalvqa_rows",
    "collect",
    "score_submission",
    "write_blackswan",
    "write_causalvqa",
]

NO_OPTION = -1
"""What BlackSwanSuite's users write for a response that names no option."""

ROW_ID = "{qid}_{variant}"
"""Default format of CausalVQA's ``row_id``. Fields: ``qid`` (as in the metadata), ``variant`` (1
or 2, as in ``choices1`` and ``choices2``), ``type``, ``split``."""

DATA_NAME = "causalvqa"

_SHOWN = 5
"""How many questions a message names."""


class SubmissionError(UserError):
    """A submission that cannot be written as asked."""


@dataclass
class Predictions:
    """What a model answered to the questions of a leaderboard.

    Attributes:
        benchmark: "blackswan" or "causalvqa".
        split: name of the split.
        model: what the model is called in the log.
        questions: id -> row of ``questions.parquet``, all that the leaderboard asks for.
        choices: id -> letter, or None for a response that names no option.
        absent: id -> why there is no prediction.
    """

    benchmark: str
    split: str
    model: str
    questions: Mapping[str, Mapping[str, Any]]
    choices: dict[str, str | None] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def unparsed(self) -> list[str]:
        """The ids whose responses name no option."""
        return [id_ for id_, choice in self.choices.items() if choice is None]

    def require_complete(self) -> None:
        """Refuses predictions that do not cover every question.

        Raises:
            SubmissionError: naming how many are lacking, which, and why.
        """
        if not self.absent:
            return
        reasons: dict[str, list[str]] = {}
        for id_, reason in self.absent.items():
            reasons.setdefault(reason, []).append(id_)
        listed = "; ".join(f"{reason}: {_some(ids)}" for reason, ids in reasons.items())
        raise SubmissionError(
            f"{len(self.absent):,} of {len(self.questions):,} questions of {self.benchmark} "
            f"({self.split} split) have no prediction ({listed}); run what is lacking, or write "
            "the file all the same with --allow-incomplete."
        )


def collect(
    benchmark: str,
    paths: Iterable[Path],
    *,
    split: str = "test",
    model: str = "",
    tasks: Sequence[str] = (),
) -> Predictions:
    """Gathers one model's predictions from logged runs.

    Args:
        benchmark: "blackswan" (the Detective's and the Reporter's MCQ) or "causalvqa".
        paths: output folders of the harness, results files or sample logs.
        split: of BlackSwanSuite "test" or "validation", of CausalVQA "test" or "debug".
        model: checkpoint or harness name of the model; needed where the logs hold several.
        tasks: which tasks to read, for a variant such as ``_cot``; empty for the plain ones.

    Returns:
        The predictions; they need not be complete.

    Raises:
        SubmissionError: if there is no such run, more than one model, an odd line in a log, an
            answer to a question that is not there, or two answers to one.
    """
    runs = list(find_runs(paths))
    wanted = _wanted(benchmark, split, tasks, runs)
    chosen = [(run, task) for run in runs for task in wanted if task in run.tasks]
    if model:
        chosen = [(run, task) for run, task in chosen if model in (run.label, run.model)]
    if not chosen:
        raise SubmissionError(
            f"The logs hold no run of {' or '.join(wanted)}"
            f"{f' by {model}' if model else ''}; evaluate with --tasks {wanted[0]} "
            "--log_samples, and name its --output_path."
        )
    models = sorted({(run.label, run.model_args) for run, _ in chosen})
    if len(models) > 1:
        named = ", ".join(f"{label} ({args})" if args else label for label, args in models)
        raise SubmissionError(
            f"The logs hold several models: {named}; name one with --model, "
            "or name its results files instead of the folder."
        )
    predictions = Predictions(benchmark, split, models[0][0], {})
    source: dict[str, str] = {}
    for run, task in chosen:
        _add(predictions, run, task, source)
    for id_ in predictions.questions:
        if id_ not in predictions.choices and id_ not in predictions.absent:
            predictions.absent[id_] = "not asked"
    return predictions


def _wanted(benchmark: str, split: str, tasks: Sequence[str], runs: Sequence[Run]) -> list[str]:
    """The tasks that a leaderboard file is made of."""
    splits = {"blackswan": ("test", "validation"), "causalvqa": ("test", "debug")}
    if split not in splits[benchmark]:
        raise SubmissionError(
            f"{benchmark} has no split called {split!r}; "
            f"its splits are {' and '.join(splits[benchmark])}."
        )
    if tasks:
        return list(tasks)
    if benchmark == "blackswan":
        prefix = "blackswan_test" if split == "test" else "blackswan"
        return [f"{prefix}_detective_mcq", f"{prefix}_reporter_mcq"]
    whole = f"causalvqa_{split}"
    if any(whole in run.tasks for run in runs):
        return [whole]
    kinds = ("anticipation", "counterfactual", "descriptive", "hypothetical", "planning")
    parts = [f"{whole}_{kind}" for kind in kinds]
    found = [part for part in parts if any(part in run.tasks for run in runs)]
    return found or [whole]


def _add(predictions: Predictions, run: Run, task: str, source: dict[str, str]) -> None:
    """Reads one sample log into the predictions; `source` says which log gave which."""
    file = questions_of(run, task)
    asked = {
        id_: row
        for id_, row in load_questions(file).items()
        if predictions.benchmark != "blackswan" or row["task"].endswith("_mcq")
    }
    if predictions.questions and asked.keys() != predictions.questions.keys():
        raise SubmissionError(
            f"{task} was asked with other questions ({file}) than the tasks before it; "
            "run them over one store."
        )
    predictions.questions = asked
    path, odd, strangers = run.samples(task), OddLines(), []
    for sample in read_samples(path, odd):
        question = asked.get(sample.id)
        if question is None:
            strangers.append(sample.id or f"line {sample.line}")
            continue
        if sample.id in source:
            before = predictions.choices.get(sample.id)
            if sample.status == "missing" or before == sample.choice:
                continue
            raise SubmissionError(
                f"{sample.id} was answered differently in {source[sample.id]} and in {path}; "
                "name the tasks to read with --task."
            )
        if sample.status == "missing":
            predictions.absent[sample.id] = f"no video to show ({sample.problem})"
            continue
        source[sample.id] = str(path)
        predictions.absent.pop(sample.id, None)
        predictions.choices[sample.id] = _letter(sample.choice, question, path, sample.line)
    if odd.count:
        raise SubmissionError(f"{odd.sentence(path)} Run {task} again.")
    if strangers:
        raise SubmissionError(
            f"{path} answers {len(strangers):,} questions that {file} does not hold "
            f"({_some(strangers)}); run {task} again over the questions as they are now."
        )


def _letter(choice: str | None, question: Mapping[str, Any], path: Path, line: int) -> str | None:
    options = len(question["options"])
    if choice is None or (len(choice) == 1 and 0 <= ord(choice) - ord("A") < options):
        return choice
    raise SubmissionError(
        f"{path} line {line} has the answer {choice!r} to a question with {options} options; "
        "it is not a log of this task."
    )


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _SHOWN
    return ", ".join(ids[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def blackswan_answers(predictions: Predictions) -> dict[str, int]:
    """Question id -> index of the option from 0, or :data:`NO_OPTION`.

    Questions without a prediction (``absent``) get :data:`NO_OPTION` too: the leaderboard wants
    every question, and counts it as wrong either way.

    Raises:
        SubmissionError: if two questions share an id, so that one object cannot hold both.
    """
    answers: dict[str, int] = {}
    for id_, question in predictions.questions.items():
        name = str(question["question_id"])
        if name in answers:
            raise SubmissionError(
                f"Two questions have the q_id {name}; one JSON object cannot hold both answers. "
                "Look at the release's q_id column."
            )
        choice = predictions.choices.get(id_)
        answers[name] = NO_OPTION if choice is None else ord(choice) - ord("A")
    return answers


def causalvqa_rows(
    predictions: Predictions, *, row_id: str = ROW_ID, unparsed: str = ""
) -> list[dict[str, str]]:
    """The rows of the leaderboard file, in the order of the questions.

    Questions without a prediction (``absent``) have no row.

    Args:
        predictions: of CausalVQA.
        row_id: format string, see :data:`ROW_ID`.
        unparsed: ``model_answer`` for a response that names no option. The leaderboard's value
            for it is not published; the empty text is no letter, so it cannot be right by luck.

    Raises:
        SubmissionError: if the format names an unknown field, or gives one id to two rows, or
            ``unparsed`` is itself an option's letter.
    """
    rows = []
    used: dict[str, str] = {}
    for id_, question in predictions.questions.items():
        written = format_row_id(row_id, question, predictions.split)
        if written in used:
            raise SubmissionError(
                f"The row_id format {row_id!r} gives {written!r} to both {used[written]} and "
                f"{id_}; use {{qid}} and {{variant}} in it."
            )
        used[written] = id_
        if len(unparsed) == 1 and 0 <= ord(unparsed) - ord("A") < len(question["options"]):
            raise SubmissionError(
                f"{unparsed!r} cannot stand for a response that names no option: "
                f"it is one of the options of {id_}."
            )
        if id_ in predictions.choices:
            choice = predictions.choices[id_]
            rows.append(
                {
                    "data_name": DATA_NAME,
                    "task": str(question["type"]),
                    "row_id": written,
                    "model_answer": unparsed if choice is None else choice,
                }
            )
    return rows


def format_row_id(template: str, question: Mapping[str, Any], split: str) -> str:
    """Fills a ``row_id`` format for one variant of a question.

    Raises:
        SubmissionError: if the format is not a format string over the known fields.
    """
    fields = {
        "qid": str(question["qid"]),
        "variant": int(question["variant"]),
        "type": str(question["type"]),
        "split": split,
    }
    try:
        names = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
        # Attribute and index access ("{qid.x}", "{qid[0]}") is no field either.
        unknown = [name for name in names if name not in fields]
        if not unknown:
            return template.format(**fields)
        problem = f"it has no field {unknown[0]!r}"
    except (ValueError, IndexError, KeyError) as error:
        problem = str(error)
    raise SubmissionError(
        f"{template!r} is no format for row_id ({problem}); "
        f"the fields are {', '.join(f'{{{name}}}' for name in fields)}."
    )


def write_blackswan(predictions: Predictions, out: Path) -> list[Path]:
    """Writes the JSON object of BlackSwanSuite; the file appears whole or not at all.

    Returns:
        The file written.
    """
    written = json.dumps(blackswan_answers(predictions), indent=1, ensure_ascii=False)
    return [_write(out, written + "\n")]


def write_causalvqa(
    predictions: Predictions,
    out: Path,
    *,
    row_id: str = ROW_ID,
    unparsed: str = "",
    split_by_type: bool = False,
) -> list[Path]:
    """Writes the JSON Lines of CausalVQA; each file appears whole or not at all.

    Args:
        predictions: of CausalVQA.
        out: the file to write; with ``split_by_type``, ``_<type>`` is added to its stem.
        row_id: see :func:`causalvqa_rows`.
        unparsed: see :func:`causalvqa_rows`.
        split_by_type: whether to write a file per question type, instead of one.

    Returns:
        The files written.
    """
    rows = causalvqa_rows(predictions, row_id=row_id, unparsed=unparsed)
    if not split_by_type:
        return [_write(out, _lines(rows))]
    kinds = sorted({row["task"] for row in rows})
    return [
        _write(
            out.with_name(f"{out.stem}_{kind}{out.suffix}"),
            _lines(row for row in rows if row["task"] == kind),
        )
        for kind in kinds
    ]


def _lines(rows: Iterable[Mapping[str, str]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write(target: Path, content: str) -> Path:
    with atomic_path(target) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return target


def score_submission(
    file: Path,
    key: Mapping[str, Mapping[str, Any]],
    *,
    row_id: str = ROW_ID,
    split: str = "test",
) -> dict[str, float]:
    """Scores a leaderboard file against a key, as the leaderboard would.

    Args:
        file: as written by :func:`write_blackswan` or :func:`write_causalvqa`.
        key: id -> row of ``questions.parquet`` whose ``answer`` is known.
        row_id: the format with which CausalVQA's file was written.
        split: name of the split, for a format that holds it.

    Returns:
        BlackSwanSuite: ``accuracy``, ``accuracy_detective``, ``accuracy_reporter``. CausalVQA:
        ``accuracy_paired`` and ``accuracy_unpaired``. All 0..1, over the questions that have an
        answer in the file and in the key; NaN where there is none.

    Raises:
        SubmissionError: if the file cannot be read, or answers what the key does not hold.
    """
    try:
        content = read_text(file)
        lines = [loads(line) for line in content.split("\n") if line.strip()]
        rows = lines if lines and "row_id" in lines[0] else None
    except OSError as error:
        raise SubmissionError(f"{file} cannot be read ({error}).") from error
    except (ValueError, TypeError, RecursionError):
        rows = None
    if rows is None:
        return _score_blackswan(file, _object(file, content), key)
    return _score_causalvqa(file, rows, key, row_id, split)


def _object(file: Path, content: str) -> dict[str, Any]:
    try:
        answers = loads(content)
    except (ValueError, RecursionError) as error:
        raise SubmissionError(f"{file} is neither JSON nor JSON Lines ({error}).") from error
    if not isinstance(answers, dict):
        raise SubmissionError(f"{file} does not hold an object, question id -> option index.")
    return answers


def _score_blackswan(
    file: Path, answers: Mapping[str, Any], key: Mapping[str, Mapping[str, Any]]
) -> dict[str, float]:
    questions = {
        str(row["question_id"]): row for row in key.values() if row["task"].endswith("_mcq")
    }
    _refuse_unknown(file, answers, questions)
    right: dict[str, list[bool]] = {"": [], "detective": [], "reporter": []}
    for name, question in questions.items():
        if name in answers and question["answer"]:
            correct = answers[name] == ord(question["answer"]) - ord("A")
            right[""].append(correct)
            right[question["task"].removesuffix("_mcq")].append(correct)
    return {
        "accuracy" + (f"_{task}" if task else ""): unpaired_accuracy(scores)
        for task, scores in right.items()
    }


def _score_causalvqa(
    file: Path,
    rows: Sequence[Mapping[str, Any]],
    key: Mapping[str, Mapping[str, Any]],
    row_id: str,
    split: str,
) -> dict[str, float]:
    questions = {format_row_id(row_id, row, split): row for row in key.values()}
    answers = {str(row["row_id"]): row["model_answer"] for row in rows}
    _refuse_unknown(file, answers, questions)
    pairs, right = [], []
    for name, question in questions.items():
        if name in answers and question["answer"]:
            pairs.append(str(question["qid"]))
            right.append(answers[name] == question["answer"])
    return {
        "accuracy_paired": paired_accuracy(pairs, right) if pairs else math.nan,
        "accuracy_unpaired": unpaired_accuracy(right),
    }


def _refuse_unknown(file: Path, answers: Iterable[str], questions: Mapping[str, Any]) -> None:
    unknown = [name for name in answers if name not in questions]
    if unknown:
        raise SubmissionError(
            f"{file} answers {len(unknown):,} questions that the key does not hold "
            f"({_some(unknown)})."
        )
