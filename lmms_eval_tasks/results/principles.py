"""Kappa, tau and rho of logged runs, with intervals, and the paper's rows beside them.

The harness's own table gives each principle as one number. Here they come from the sample log of
the same run with a 95% interval: a paired bootstrap over questions that redraws whole videos
(:func:`video_reasoning.metrics.intervals.principles_intervals`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from video_reasoning.metrics.intervals import Estimate, principles_intervals
from video_reasoning.metrics.principles import evaluate_principles, format_ratio
from video_reasoning.metrics.published import published
from video_reasoning.tasks import tvbench
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.llm import extractor
from video_reasoning.tasks.results.logs import OddLines, Run, find_runs, read_samples
from video_reasoning.tasks.store.picks import PicksError, read_installed
from video_reasoning.tasks.store.questions import load_questions, questions_of
from video_reasoning.tasks.tvbench.principles import PRINCIPLES

__all__ = ["PAPER_MODELS", "TASK", "Part", "PrinciplesError", "PrinciplesRun", "evaluate", "render"]

TASK = "tvbench_tomato_principles"

ALL = "all"
"""The part that holds every question."""

RATIOS = ("kappa_random", "kappa_handpicked", "tau", "rho")

_TITLES = {
    "kappa_random": "kappa random",
    "kappa_handpicked": "kappa handpicked",
    "tau": "tau",
    "rho": "rho",
}

# Measure -> condition above and below the line.
_TERMS = {
    "kappa_random": ("ordered16", "random1"),
    "kappa_handpicked": ("ordered16", "handpicked1"),
    "tau": ("ordered16", "shuffled16"),
    "rho": ("handpicked1", "random1"),
}

# Measure -> the paper's table and its column; accuracies as printed beside kappa and tau, so over
# all questions, and the handpicked one over the 200 questions with a pick.
_PAPER = {
    "acc_ordered16": ("multi_frame_gain_random", "TVBench/acc_16"),
    "acc_shuffled16": ("frame_order_sensitivity", "TVBench/acc_16_shuffled"),
    "acc_random1": ("multi_frame_gain_random", "TVBench/acc_1"),
    "acc_handpicked1": ("multi_frame_gain_handpicked", "TVBench/acc_1_handpicked"),
    "kappa_random": ("multi_frame_gain_random", "TVBench/kappa"),
    "kappa_handpicked": ("multi_frame_gain_handpicked", "TVBench/kappa"),
    "tau": ("frame_order_sensitivity", "TVBench/tau"),
    "rho": ("frame_information_disparity", "TVBench/rho"),
}

PAPER_MODELS = ("GPT-4o", "Qwen2-VL-72B")
"""The models that the paper prints the principles of (tables 1 to 4)."""


class PrinciplesError(UserError):
    """No principles can be computed from the logs."""


@dataclass(frozen=True)
class Part:
    """The principles over one part of the questions.

    Attributes:
        name: "all", or the evidence that the part's questions need.
        measures: measure (``acc_ordered16`` ... ``rho``) -> value and interval; ratios and
            shares, not x100.
        undefined: measure -> why it has no value; those that have one are absent.
        questions: how many questions the log holds of the part.
        picked: how many of them the terms with a handpicked frame rest on.
        left_out: questions that lack a condition, so that they count in no term.
        unparsed: condition -> responses that name no option (counted as wrong).
        missing: condition -> items without a video that could be shown.
    """

    name: str
    measures: Mapping[str, Estimate]
    undefined: Mapping[str, str]
    questions: int
    picked: int
    left_out: int
    unparsed: Mapping[str, int]
    missing: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The part for machines: NaN becomes null, an open upper end the text "infinity"."""
        return {
            "part": self.name,
            "questions": self.questions,
            "questions_picked": self.picked,
            "questions_left_out": self.left_out,
            "unparsed": dict(self.unparsed),
            "missing": dict(self.missing),
            "measures": {
                name: {
                    "value": _json_number(found.value),
                    "low": _json_number(found.low),
                    "high": _json_number(found.high),
                    "level": found.level,
                    "questions": found.n,
                    "videos": found.n_clusters,
                    "undefined": self.undefined.get(name),
                }
                for name, found in self.measures.items()
            },
        }


@dataclass(frozen=True)
class PrinciplesRun:
    """The principles of one logged run.

    Attributes:
        run: the run.
        parts: all questions, then each kind of evidence where the questions name it.
        annotators: who picked the frames of the handpicked condition -> for how many questions.
        llm_extracted: how many answers a language model read from a response.
        notes: what a reader has to know beside.
    """

    run: Run
    parts: Sequence[Part]
    annotators: Mapping[str, int] = field(default_factory=dict)
    llm_extracted: int = 0
    notes: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """The run for machines."""
        return {
            "model": self.run.label,
            "model_args": self.run.model_args,
            "date": self.run.date,
            "folder": str(self.run.folder),
            "annotators": dict(self.annotators),
            "llm_extracted": self.llm_extracted,
            "notes": list(self.notes),
            "parts": [part.as_json() for part in self.parts],
        }


def evaluate(
    paths: Iterable[Path], *, task: str = TASK, level: float = 0.95, draws: int = 10_000
) -> list[PrinciplesRun]:
    """Computes the principles of every run of the task below some paths.

    Args:
        paths: output folders of the harness, results files or sample logs.
        task: the task that was run; another name for a YAML of one's own that includes ours.
        level: coverage of the intervals, between 0 and 1.
        draws: bootstrap draws.

    Returns:
        One entry a run, oldest first.

    Raises:
        PrinciplesError: if there is no such run, or its log holds nothing of this task.
        LogError: if a log cannot be read.
    """
    if not 0 < level < 1:
        raise PrinciplesError(f"The level {level} is not between 0 and 1; the usual one is 0.95.")
    runs = [run for run in find_runs(paths) if task in run.tasks]
    if not runs:
        raise PrinciplesError(
            f"The logs hold no run of {task}; evaluate with --tasks {task} --log_samples, and "
            "name its --output_path."
        )
    return [_evaluate(run, task, level, draws) for run in runs]


@dataclass
class _Answers:
    """What a sample log says, per question and condition."""

    correct: dict[str, dict[Hashable, float | None]] = field(default_factory=dict)
    videos: dict[Hashable, Hashable] = field(default_factory=dict)
    unparsed: dict[str, set[str]] = field(default_factory=dict)
    missing: dict[str, set[str]] = field(default_factory=dict)
    llm_extracted: int = 0

    def only(self, wanted: set[str]) -> _Answers:
        """The answers to some of the questions."""
        return _Answers(
            {
                name: {id_: score for id_, score in scores.items() if id_ in wanted}
                for name, scores in self.correct.items()
            },
            {id_: video for id_, video in self.videos.items() if id_ in wanted},
            {name: ids & wanted for name, ids in self.unparsed.items()},
            {name: ids & wanted for name, ids in self.missing.items()},
        )


def _evaluate(run: Run, task: str, level: float, draws: int) -> PrinciplesRun:
    notes: list[str] = []
    answers = _read(run, task, notes)
    groups: dict[str, set[str]] = {}
    home: Path | None = None
    try:
        questions = questions_of(run, task)
        home = questions.parents[2]
        for id_, row in load_questions(questions, ["id", "evidence"]).items():
            if id_ in answers.videos and row.get("evidence"):
                groups.setdefault(row["evidence"], set()).add(id_)
    except StoreError as error:
        notes.append(f"No parts by evidence: {error}")
    parts = [_part(ALL, answers, level, draws)]
    parts += [_part(name, answers.only(ids), level, draws) for name, ids in groups.items()]
    asked = {str(id_) for id_ in answers.correct.get("handpicked1", ())}
    annotators = _annotators(asked, home, notes)
    if answers.llm_extracted:
        notes.append(f"{answers.llm_extracted:,} answers were read by a language model.")
    limit = run.config.get("limit")
    if limit:
        notes.append(f"The run was cut short with --limit {limit:g}.")
    return PrinciplesRun(run, parts, annotators, answers.llm_extracted, notes)


def _read(run: Run, task: str, notes: list[str]) -> _Answers:
    """Reads the sample log."""
    path, odd, strange = run.samples(task), OddLines(), 0
    answers = _Answers()
    for sample in read_samples(path, odd):
        condition = sample.group("condition")
        if not sample.id or condition not in PRINCIPLES:
            strange += 1
            continue
        answers.correct.setdefault(condition, {})[sample.id] = sample.score
        answers.videos[sample.id] = sample.group("video") or sample.id
        for status, ids in (("unparsed", answers.unparsed), ("missing", answers.missing)):
            of_condition = ids.setdefault(condition, set())
            if sample.status == status:
                of_condition.add(sample.id)
        answers.llm_extracted += sample.rule.startswith(extractor.FOUND)
    if not answers.videos:
        raise PrinciplesError(
            f"{path} holds no answer under {', '.join(PRINCIPLES)}; it is no log of {TASK}."
        )
    if odd.count:
        notes.append(odd.sentence(path))
    if strange:
        notes.append(f"{strange:,} lines of the log name no question or another condition.")
    return answers


def _part(name: str, answers: _Answers, level: float, draws: int) -> Part:
    given = {c: answers.correct[c] for c in PRINCIPLES if answers.correct.get(c)}
    point = evaluate_principles(given)
    found = principles_intervals(given, answers.videos, level=level, draws=draws)
    measures = {
        **{f"acc_{c}": found.accuracies[c] for c in PRINCIPLES if c in given},
        **{measure: getattr(found, measure) for measure in RATIOS},
    }
    return Part(
        name=name,
        measures=measures,
        undefined={
            measure: _why_undefined(measure, estimate, given)
            for measure, estimate in measures.items()
            if math.isnan(estimate.value)
        },
        questions=len(answers.videos),
        picked=point.n_picked,
        left_out=point.n_left_out,
        unparsed={c: len(answers.unparsed[c]) for c in given},
        missing={c: len(answers.missing[c]) for c in given},
    )


def _why_undefined(
    measure: str, estimate: Estimate, given: Mapping[str, Mapping[Hashable, float | None]]
) -> str:
    conditions = _TERMS.get(measure, (measure.removeprefix("acc_"),))
    absent = [name for name in conditions if name not in given]
    if "handpicked1" in absent:
        return "no picks"
    if absent:
        return f"no {' and '.join(absent)}"
    if not estimate.n:
        return "no question has all"
    return f"Acc {conditions[-1]} is 0"


def _annotators(asked: set[str], home: Path | None, notes: list[str]) -> dict[str, int]:
    """Who picked for the questions that were asked with a handpicked frame."""
    if not asked:
        return {}
    try:
        picks = read_installed(tvbench.BENCHMARK, home)
    except PicksError as error:
        notes.append(f"Who picked the frames is not known: {error}")
        return {}
    known = Counter(picks[id_].annotator for id_ in asked if id_ in picks)
    unknown = len(asked) - known.total()
    if unknown:
        notes.append(
            f"The store no longer holds the picks of {unknown:,} of the {len(asked):,} questions "
            "that were asked with one; who picked those frames is not known."
        )
    return dict(sorted(known.items()))


def paper_value(model: str, measure: str) -> float | None:
    """What the paper prints for TVBench, x100; None where it prints none.

    Raises:
        KeyError: the paper has no such model or measure.
    """
    table, column = _PAPER[measure]
    return published(tvbench.BENCHMARK).tables[table].value(model, column)


def render(found: PrinciplesRun) -> Group:
    """The run as a table, in the paper's unit (x100), for a terminal of 80 columns or more."""
    run = found.run
    level = next(iter(found.parts[0].measures.values())).level
    arguments = f" ({run.model_args})" if run.model_args else ""
    table = Table(
        title=Text(f"{run.label}{arguments}, {run.date}; x100"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("part")
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(f"{level:.0%} interval", justify="right")
    table.add_column("n", justify="right")
    for model in PAPER_MODELS:
        table.add_column("paper:\n" + model.replace("-VL-", "-\nVL-"), justify="right")
    for part in found.parts:
        name = part.name
        for measure, estimate in part.measures.items():
            printed = [
                _printed(paper_value(model, measure)) if part.name == ALL else ""
                for model in PAPER_MODELS
            ]
            why = part.undefined.get(measure)
            table.add_row(
                Text(name),
                _TITLES.get(measure) or f"Acc {measure.removeprefix('acc_')}",
                "undefined" if why else format_ratio(estimate.value),
                why or _interval(estimate),
                f"{estimate.n:,}",
                *printed,
            )
            name = ""
        table.add_section()
    lines = [_counts(part) for part in found.parts]
    lines.append(_picked_by(found))
    lines += found.notes
    return Group(table, *(Text(line) for line in lines))


def _printed(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _interval(estimate: Estimate) -> str:
    high = "infinity" if math.isinf(estimate.high) else format_ratio(estimate.high)
    return f"{format_ratio(estimate.low)} to {high}"


def _counts(part: Part) -> str:
    def listed(counts: Mapping[str, int]) -> str:
        some = [f"{name} {count:,}" for name, count in counts.items() if count]
        return f"{sum(counts.values()):,}" + (f" ({', '.join(some)})" if some else "")

    return (
        f"{part.name}: questions {part.questions:,}, with a pick {part.picked:,}, "
        f"left out {part.left_out:,}, unparsed {listed(part.unparsed)}, "
        f"missing {listed(part.missing)}"
    )


def _picked_by(found: PrinciplesRun) -> str:
    if not found.annotators:
        return "Handpicked frames: none known."
    who = ", ".join(f"{name} ({count:,})" for name, count in found.annotators.items())
    return f"Handpicked frames by: {who}."


def _json_number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return "infinity" if math.isinf(value) else value
