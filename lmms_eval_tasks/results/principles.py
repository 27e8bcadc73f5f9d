"""Kappa, tau and rho of logged runs, with intervals, and the paper's rows beside them.

The harness's own table gives each principle as one number. Here they come from the sample log of
the same run with an interval: a paired bootstrap over questions that redraws whole videos
(:func:`video_reasoning.metrics.intervals.principles_intervals`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from video_reasoning.metrics.intervals import Estimate, principles_intervals
from video_reasoning.metrics.principles import (
    CONDITIONS,
    GAINS,
    evaluate_principles,
    format_ratio,
    paper_value,
)
from video_reasoning.tasks import tvbench
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.llm import extractor
from video_reasoning.tasks.results.items import Item, TaskLog, read_task
from video_reasoning.tasks.results.logs import Run, find_runs
from video_reasoning.tasks.results.signature import signature
from video_reasoning.tasks.store.picks import PicksError, read_installed
from video_reasoning.tasks.tvbench.principles import PRINCIPLES

TASK = "tvbench_tomato_principles"

ALL = "all"  # the part with every question


MEASURES: Mapping[str, str] = {
    **{f"acc_{name}": role for role, name in CONDITIONS.items()},
    **{ratio: ratio for ratio in GAINS},
}
"""Accuracies, then ratios -> what :mod:`video_reasoning.metrics.principles` calls them."""

PAPER_MODELS = ("GPT-4o", "Qwen2-VL-72B")
"""The models that the paper prints the principles of (tables 1 to 4)."""


class PrinciplesError(UserError):
    """No principles can be computed from the logs."""


@dataclass(frozen=True)
class PrinciplesPart:
    """The principles over one part of the questions: "all", or those that need some evidence.

    Attributes:
        measures: Name in :data:`MEASURES` -> value and interval; ratios and shares, not x100.
        undefined: Measure -> why it has no value; those that have one are absent.
        picked: How many questions the terms with a handpicked frame rest on.
        left_out: Questions that lack a condition, so that they count in no term.
        unparsed: Condition -> responses that name no option (counted as wrong).
        missing: Condition -> items without a video that could be shown.
        failed: Condition -> items whose request failed.
    """

    name: str
    measures: Mapping[str, Estimate]
    undefined: Mapping[str, str]
    questions: int
    picked: int
    left_out: int
    unparsed: Mapping[str, int]
    missing: Mapping[str, int]
    failed: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """Plain values: NaN becomes null, an open upper end the text "infinity"."""
        return {
            "part": self.name,
            "questions": self.questions,
            "questions_picked": self.picked,
            "questions_left_out": self.left_out,
            "unparsed": dict(self.unparsed),
            "missing": dict(self.missing),
            "failed": dict(self.failed),
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
    """The principles of one logged run, over all questions and by the evidence that they name.

    Attributes:
        annotators: Who picked the frames of the handpicked condition -> for how many questions.
        llm_extracted: How many answers a language model read from a response.
        notes: What else a reader has to know.
    """

    log: TaskLog
    parts: Sequence[PrinciplesPart]
    annotators: Mapping[str, int] = field(default_factory=dict)
    llm_extracted: int = 0
    notes: Sequence[str] = ()

    @property
    def run(self) -> Run:
        """The run."""
        return self.log.run

    def as_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "model": self.run.label,
            "model_args": self.run.model_args,
            "date": self.run.date,
            "folder": str(self.run.folder),
            "signature": signature(self.log),
            "annotators": dict(self.annotators),
            "llm_extracted": self.llm_extracted,
            "notes": list(self.notes),
            "parts": [part.as_json() for part in self.parts],
        }


def evaluate(
    paths: Iterable[Path], *, task: str = TASK, level: float = 0.95
) -> list[PrinciplesRun]:
    """Compute the principles of every run of the task below some paths.

    Args:
        paths: Output folders of the harness, results files or sample logs.
        task: The task that was run; another name for a YAML of one's own that includes ours.
        level: Coverage of the intervals, between 0 and 1.

    Returns:
        One entry per run, oldest first.

    Raises:
        PrinciplesError: There is no such run, or its log is not one of this task.
        LogError: A log cannot be read.
    """
    runs = [run for run in find_runs(paths) if task in run.tasks]
    if not runs:
        raise PrinciplesError(
            f"The logs have no run of {task}; evaluate with --tasks {task} --log_samples, and "
            "name its --output_path."
        )
    return [_evaluate(read_task(run, task), level) for run in runs]


def _evaluate(log: TaskLog, level: float) -> PrinciplesRun:
    items = [item for item in log.items if item.condition in PRINCIPLES]
    if not items:
        raise PrinciplesError(
            f"{log.log} has no answer under {', '.join(PRINCIPLES)}; it is not a log of {TASK}."
        )
    notes = [log.odd.sentence(log.log)] if log.odd.count else []
    strange = len(log.items) - len(items)
    if strange:
        notes.append(f"{strange:,} lines of the log name another condition or none.")
    groups: dict[str, list[Item]] = {}
    for item in items:
        if item.question.get("evidence"):
            groups.setdefault(item.question["evidence"], []).append(item)
    if log.problem:
        notes.append(f"No parts by evidence: {log.problem}")
    parts = [evaluate_items(part, name, level) for name, part in {ALL: items, **groups}.items()]
    annotators = _annotators(log, notes)
    llm_extracted = sum(item.rule.startswith(extractor.FOUND) for item in items)
    if llm_extracted:
        notes.append(f"{llm_extracted:,} answers were read by a language model.")
    if log.run.limit:
        notes.append(f"The run was cut short with --limit {log.run.limit}.")
    return PrinciplesRun(log, parts, annotators, llm_extracted, notes)


def evaluate_items(items: Sequence[Item], name: str = ALL, level: float = 0.95) -> PrinciplesPart:
    """Compute the principles over some items; those under other conditions are left out.

    Raises:
        ValueError: No item is under a condition of the principles.
    """
    of_condition = {c: [item for item in items if item.condition == c] for c in PRINCIPLES}
    of_condition = {condition: part for condition, part in of_condition.items() if part}
    given: dict[str, dict[Hashable, float | None]] = {
        condition: {item.id: item.score for item in part}
        for condition, part in of_condition.items()
    }
    videos: dict[Hashable, Hashable] = {
        item.id: item.video for part in of_condition.values() for item in part
    }
    point = evaluate_principles(given)
    found = principles_intervals(given, videos, level=level)
    lost = {condition: why for condition, part in of_condition.items() if (why := _lost(part))}
    spoiled = {
        ratio: "; ".join(lost[each] for each in conditions if each in lost)
        for ratio, roles in GAINS.items()
        if set(conditions := [CONDITIONS[role] for role in roles]) & set(lost)
    }
    measures = {
        **{f"acc_{condition}": found.accuracies[condition] for condition in given},
        **{
            ratio: _without_value(getattr(found, ratio))
            if ratio in spoiled
            else getattr(found, ratio)
            for ratio in GAINS
        },
    }

    def count(status: str) -> dict[str, int]:
        return {c: sum(item.status == status for item in part) for c, part in of_condition.items()}

    return PrinciplesPart(
        name=name,
        measures=measures,
        undefined={
            measure: spoiled.get(measure) or _why_undefined(measure, estimate, given)
            for measure, estimate in measures.items()
            if math.isnan(estimate.value)
        },
        questions=len(videos),
        picked=point.n_picked,
        left_out=point.n_left_out,
        unparsed=count("unparsed"),
        missing=count("missing"),
        failed=count("failed"),
    )


def _lost(items: Sequence[Item]) -> str:
    """Say if a model did not get the frames of a condition; empty if it did or nobody knows."""
    wrong = [item for item in items if item.sight.differs]
    if not wrong:
        return ""
    counts = [item.seen for item in wrong if item.seen is not None and item.seen != item.shown]
    how = f"{min(counts)} at least" if counts else "in another order"
    part = f"{len(wrong):,} of {len(items):,} items ({how})"
    return f"{wrong[0].condition}: frames not as shown in {part}"


def _without_value(estimate: Estimate) -> Estimate:
    return replace(estimate, value=math.nan, low=math.nan, high=math.nan)


def _why_undefined(measure: str, estimate: Estimate, given: Mapping[str, object]) -> str:
    roles = GAINS.get(measure, (MEASURES[measure],))
    conditions = [CONDITIONS[role] for role in roles]
    absent = [name for name in conditions if name not in given]
    if "handpicked1" in absent:
        return "no picks"
    if absent:
        return f"no {' and '.join(absent)}"
    if not estimate.n:
        return "no question has all"
    return f"Acc {conditions[-1]} is 0"


def _annotators(log: TaskLog, notes: list[str]) -> dict[str, int]:
    """Who picked for the questions that were asked with a handpicked frame."""
    asked = {item.id for item in log.items if item.condition == "handpicked1"}
    if not asked:
        return {}
    try:
        picks = read_installed(tvbench.BENCHMARK, log.folder.parent if log.folder else None)
    except PicksError as error:
        notes.append(f"Who picked the frames is not known: {error}")
        return {}
    known = Counter(picks[id_].annotator for id_ in asked if id_ in picks)
    unknown = len(asked) - known.total()
    if unknown:
        notes.append(
            f"The store no longer has the picks of {unknown:,} of the {len(asked):,} questions "
            "that were asked with one; who picked those frames is not known."
        )
    return dict(sorted(known.items()))


def render(found: PrinciplesRun) -> Group:
    """Return the run as a table in the paper's unit (x100), for 80 columns or more."""
    run = found.run
    level = next(iter(found.parts[0].measures.values())).level
    arguments = f" ({run.model_args})" if run.model_args else ""
    table = Table(
        title=Text(f"{run.label}{arguments}, {run.begun}; x100"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("part")
    table.add_column("measure", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column(f"{100 * level:g}% interval", justify="right")
    table.add_column("n", justify="right")
    for model in PAPER_MODELS:
        table.add_column("paper:\n" + model.replace("-VL-", "-\nVL-"), justify="right")
    for part in found.parts:
        for place, (measure, estimate) in enumerate(part.measures.items()):
            why = part.undefined.get(measure)
            table.add_row(
                Text("" if place else part.name),
                measure.replace("acc_", "Acc ").replace("_", " "),
                "undefined" if why else format_ratio(estimate.value),
                why or _interval(estimate),
                f"{estimate.n:,}",
                *(_printed(model, measure) if part.name == ALL else "" for model in PAPER_MODELS),
            )
        table.add_section()
    who = ", ".join(f"{name} ({count:,})" for name, count in found.annotators.items())
    picked_by = f"Handpicked frames by: {who}." if who else "Handpicked frames: none known."
    lines = [signature(found.log), *map(_counts, found.parts), picked_by, *found.notes]
    return Group(table, *map(Text, lines))


def _printed(model: str, measure: str) -> str:
    value = paper_value(model, MEASURES[measure])
    return "-" if value is None else f"{value:.1f}"


def _interval(estimate: Estimate) -> str:
    high = "infinity" if math.isinf(estimate.high) else format_ratio(estimate.high)
    return f"{format_ratio(estimate.low)} to {high}"


def _counts(part: PrinciplesPart) -> str:
    def listed(counts: Mapping[str, int]) -> str:
        some = [f"{name} {count:,}" for name, count in counts.items() if count]
        return f"{sum(counts.values()):,}" + (f" ({', '.join(some)})" if some else "")

    return (
        f"{part.name}: questions {part.questions:,}, with a pick {part.picked:,}, "
        f"left out {part.left_out:,}, unparsed {listed(part.unparsed)}, "
        f"missing {listed(part.missing)}, failed {listed(part.failed)}"
    )


def _json_number(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return "infinity" if math.isinf(value) else value
