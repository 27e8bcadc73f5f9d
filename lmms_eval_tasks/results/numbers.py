"""What a report says of a task, as numbers that each know where they come from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from video_reasoning.metrics.accuracy import DESCRIPTIVE
from video_reasoning.metrics.intervals import (
    DRAWS,
    Estimate,
    accuracy_interval,
    mean_interval,
    principles_intervals,
)
from video_reasoning.metrics.paired import consistency, decompose, score_groups
from video_reasoning.metrics.principles import evaluate_principles
from video_reasoning.tasks.results.items import GENERATION, Item, TaskLog
from video_reasoning.tasks.tvbench.principles import PRINCIPLES

__all__ = ["LEVEL", "Number", "TaskNumbers", "measure"]

LEVEL = 0.95
"""Coverage of every interval in a report."""

BREAKDOWNS = (
    "type",
    "difficulty",
    "demonstration_type",
    "counterfactual",
    "composite",
    "zoom",
    "first_person",
)

_ORDER = {name: place for place, name in enumerate(("easy", "medium", "hard", "no", "yes"))}

RATIOS = ("kappa_random", "kappa_handpicked", "tau", "rho")


@dataclass(frozen=True)
class Number:
    """A number of the report.

    Attributes:
        name: what was measured, e.g. "accuracy", "tau".
        value: as a share or ratio; None where it is undefined.
        low: lower end of the interval, or None.
        high: upper end, or None; an infinite end is None and ``unbounded`` says so.
        n: items (pairs, questions) that it rests on.
        n_clusters: videos that these fall into.
        method: how the interval was made.
        group: breakdown -> value, empty for all items.
        condition: frames shown, empty where the task shows its videos in one way.
        unit: "share", "ratio" (the paper prints both x100), "1..5" or "-1..1".
        harness: what the harness's own table says of the same quantity, or None.
        unbounded: whether the interval has no upper end.
        task: the task's name.
        model: the run's model.
        run: the run's date.
        file: the sample log that it was computed from.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    n_clusters: int
    method: str
    task: str
    model: str
    run: str
    file: str
    group: Mapping[str, str] = field(default_factory=dict)
    condition: str = ""
    unit: str = "share"
    harness: float | None = None
    unbounded: bool = False


@dataclass
class TaskNumbers:
    """All numbers of one task of one run.

    Attributes:
        log: the items.
        numbers: everything with an interval.
        counts: status -> items, and "items", "scored", "short", "odd lines", "skipped rows",
            "incomplete pairs", "left out questions".
        rules: rule -> how many answers it found.
        chance: expected accuracy of guessing among the options, 0..1, or None.
        chance_paired: the same for whole pairs.
        paired: further figures of paired scoring, by name; empty where there are no pairs.
    """

    log: TaskLog
    numbers: list[Number] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    chance: float | None = None
    chance_paired: float | None = None
    paired: dict[str, float | int | None] = field(default_factory=dict)

    def find(
        self, name: str, group: Mapping[str, str] | None = None, condition: str | None = None
    ) -> Number | None:
        """The number of that name over that group; of any condition where none is named."""
        for number in self.numbers:
            if (
                number.name == name
                and dict(number.group) == dict(group or {})
                and (condition is None or number.condition == condition)
            ):
                return number
        return None

    def as_json(self) -> dict[str, Any]:
        """Plain values for the JSON format."""
        log = self.log
        return {
            "task": log.task,
            "benchmark": log.benchmark,
            "split": log.split,
            "model": log.run.label,
            "model_args": log.run.model_args,
            "run": log.run.date,
            "log": str(log.log),
            "results": str(log.run.results) if log.run.results else None,
            "questions": str(log.questions_file) if log.questions_file else None,
            "counts": self.counts,
            "rules": self.rules,
            "chance": self.chance,
            "chance_paired": self.chance_paired,
            "paired": self.paired,
            "numbers": [asdict(number) for number in self.numbers],
            "harness_table": dict(log.result.metrics),
            "odd_lines": log.odd.reasons,
        }


def measure(log: TaskLog) -> TaskNumbers:
    """Computes everything that a report says of one task of one run."""
    found = TaskNumbers(log)
    _count(found)
    if log.generated:
        _generation(found)
        return found
    conditions = log.conditions()
    if {"ordered16", "shuffled16"} <= set(conditions) or "kappa_random" in log.result.metrics:
        _principles(found)
    for condition, items in conditions.items():
        _accuracies(found, items, condition)
    if any("qid" in item.groups for item in log.items):
        _pairs(found)
    return found


def _count(found: TaskNumbers) -> None:
    log = found.log
    counts = Counter(item.status for item in log.items)
    found.counts = {
        "items": len(log.items),
        "scored": sum(item.score is not None or bool(item.values) for item in log.items),
        **{name: counts[name] for name in ("answered", "unparsed", "missing", "withheld")},
        "short videos": sum(item.short for item in log.items),
        "odd lines": log.odd.count,
    }
    skipped = log.result.metrics.get("skipped_rows")
    if skipped is not None:
        found.counts["skipped rows"] = int(skipped)
    asked = [item for item in log.items if item.status != "missing" and item.rule]
    found.rules = dict(Counter(item.rule for item in asked).most_common())
    chances = [
        chance
        for item in log.items
        if item.score is not None and (chance := _chance(log, item)) is not None
    ]
    if chances and not log.generated:
        found.chance = math.fsum(chances) / len(chances)


def _chance(log: TaskLog, item: Item) -> float | None:
    question = log.questions.get(item.id)
    if question is None:
        return None
    options = question.get("options")
    return 1 / len(options) if options else 0.5


def share(scores: Sequence[float], clusters: Sequence[Hashable]) -> tuple[Estimate, str]:
    """An accuracy with its interval, and how that was made."""
    estimate = accuracy_interval(scores, clusters, level=LEVEL)
    return estimate, estimate.method


def _number(
    found: TaskNumbers,
    name: str,
    estimate: Estimate,
    method: str,
    *,
    group: Mapping[str, str] | None = None,
    condition: str = "",
    unit: str = "share",
    harness: str = "",
) -> Number:
    log = found.log
    number = Number(
        name=name,
        value=_finite(estimate.value),
        low=_finite(estimate.low),
        high=_finite(estimate.high),
        n=estimate.n,
        n_clusters=estimate.n_clusters,
        method=method,
        group=dict(group or {}),
        condition=condition,
        unit=unit,
        harness=log.result.metrics.get(harness) if harness else None,
        unbounded=math.isinf(estimate.high),
        task=log.task,
        model=log.run.label,
        run=log.run.date,
        file=str(log.log),
    )
    found.numbers.append(number)
    return number


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _accuracies(found: TaskNumbers, items: Sequence[Item], condition: str) -> None:
    """The accuracy over all scored items and over each part of them."""
    scored = [item for item in items if item.score is not None]
    own = set(found.log.result.metrics)

    def add(part: Sequence[Item], group: Mapping[str, str], harness: str) -> None:
        if part or not group:
            estimate, method = share(
                [item.score or 0.0 for item in part], [item.video for item in part]
            )
            _number(
                found,
                "accuracy",
                estimate,
                method,
                group=group,
                condition=condition,
                harness=harness if harness in own else "",
            )

    paired = "accuracy_unpaired" in own
    if condition:
        # The principles' own accuracies are over shared questions, and stand apart.
        whole = "" if "kappa_random" in own else f"acc_{condition}"
    else:
        whole = "accuracy_unpaired" if paired else "accuracy"
    add(scored, {}, whole)
    names = (*BREAKDOWNS, "task") if found.log.benchmark == "tvbench" else BREAKDOWNS
    for name in names:
        for value in _values(scored, name):
            if condition:
                harness = ""
            elif name == "difficulty":
                harness = f"acc_unpaired_{value}" if paired else f"acc_{value}"
            elif name == "demonstration_type":
                harness = f"acc_{value}"
            else:
                harness = f"acc_{name}" if value == "yes" else ""
            add([item for item in scored if item.groups.get(name) == value], {name: value}, harness)
    if any("type" in item.groups for item in scored):
        reasoning = [item for item in scored if item.groups.get("type") != DESCRIPTIVE]
        add(reasoning, {"type": "reasoning"}, "acc_unpaired_reasoning")
        for kind, difficulty in _strata(scored):
            part = [item for item in scored if _stratum(item) == (kind, difficulty)]
            add(part, {"type": kind, "difficulty": difficulty}, "")


def _values(items: Sequence[Item], name: str) -> list[str]:
    """The values of a breakdown; a yes-or-no one counts only where something is yes."""
    values = {item.groups[name] for item in items if name in item.groups}
    if values <= {"no"}:
        return []
    return sorted(values, key=lambda value: (_ORDER.get(value, 0), value))


def _stratum(item: Item) -> tuple[str, str]:
    return item.groups.get("type", ""), item.groups.get("difficulty", "")


def _strata(items: Sequence[Item]) -> list[tuple[str, str]]:
    return sorted(
        {_stratum(item) for item in items}, key=lambda each: (each[0], _ORDER.get(each[1], 0))
    )


def _principles(found: TaskNumbers) -> None:
    """kappa, tau and rho with intervals, and the accuracies that they rest on."""
    correct: dict[str, dict[Hashable, float | None]] = {name: {} for name in PRINCIPLES}
    videos: dict[Hashable, Hashable] = {}
    for item in found.log.items:
        if item.condition in correct:
            correct[item.condition][item.id] = item.score
            videos[item.id] = item.video
    given: dict[str, Mapping[Hashable, float | None]] = {
        name: scores for name, scores in correct.items() if scores
    }
    if not given:
        return
    estimates = principles_intervals(given, videos, level=LEVEL)
    method = f"bootstrap over videos, conditions together, {DRAWS} draws"
    for name in RATIOS:
        estimate: Estimate = getattr(estimates, name)
        _number(found, name, estimate, method, unit="ratio", harness=name)
    for condition, estimate in estimates.accuracies.items():
        _number(
            found,
            "shared accuracy",
            estimate,
            estimate.method,
            condition=condition,
            harness=f"acc_{condition}",
        )
    point = evaluate_principles(given)
    found.counts["left out questions"] = point.n_left_out
    found.counts["questions"] = point.n
    found.counts["questions with a pick"] = point.n_picked


def _pairs(found: TaskNumbers) -> None:
    """Paired accuracy over all, each type, each difficulty, and their strata."""
    items = [item for item in found.log.items if "qid" in item.groups]
    metrics = found.log.result.metrics

    def add(part: Sequence[Item], group: Mapping[str, str], harness: str) -> None:
        pairs: dict[str, list[Item]] = {}
        for item in part:
            pairs.setdefault(item.groups["qid"], []).append(item)
        complete = [
            pair
            for pair in pairs.values()
            if len(pair) == 2 and all(item.score is not None for item in pair)
        ]
        if complete or not group:
            estimate, method = share(
                [min(item.score or 0.0 for item in pair) for pair in complete],
                [pair[0].video for pair in complete],
            )
            _number(
                found,
                "paired accuracy",
                estimate,
                method,
                group=group,
                harness=harness if harness in metrics else "",
            )

    add(items, {}, "accuracy_paired")
    for name in ("type", "difficulty"):
        for value in _values(items, name):
            harness = f"acc_paired_{value}" if name == "difficulty" else ""
            add([item for item in items if item.groups.get(name) == value], {name: value}, harness)
    if any("type" in item.groups for item in items):
        reasoning = [item for item in items if item.groups.get("type") != DESCRIPTIVE]
        add(reasoning, {"type": "reasoning"}, "acc_paired_reasoning")
        for kind, difficulty in _strata(items):
            part = [item for item in items if _stratum(item) == (kind, difficulty)]
            add(part, {"type": kind, "difficulty": difficulty}, "")
    ids = [item.groups["qid"] for item in items]
    scores = [item.score for item in items]
    groups = score_groups(ids, scores, variants=2)
    found.counts["complete pairs"] = groups.n_complete
    found.counts["incomplete pairs"] = groups.n_incomplete
    if groups.n_complete:
        known = decompose(ids, scores, found.chance, variants=2)
        found.paired = {
            "both right": groups.all_correct,
            "at least one right": groups.any_correct,
            "unpaired, over the same pairs": groups.unpaired_of_complete,
            "same option text in both": _none(consistency(ids, _texts(found.log, items))),
            "known, if the rest is guessed (k)": _none(known.known),
        }
    if found.chance is not None:
        found.chance_paired = found.chance**2


def _texts(log: TaskLog, items: Sequence[Item]) -> list[str | None]:
    """The text of the option that each item chose."""
    texts: list[str | None] = []
    for item in items:
        options = (log.questions.get(item.id) or {}).get("options") or []
        place = ord(item.choice) - ord("A") if item.choice and len(item.choice) == 1 else -1
        texts.append(options[place] if 0 <= place < len(options) else None)
    return texts


def _none(value: float) -> float | None:
    return None if math.isnan(value) else value


UNITS: Mapping[str, str] = {"llm_match": "1..5", "clip_score": "-1..1"}
"""Units of the generation metrics that are no shares."""


def _generation(found: TaskNumbers) -> None:
    """Means over questions, videos redrawn; from the harness's table where items have none."""
    log = found.log
    for name in GENERATION:
        items = [item for item in log.items if name in item.values]
        value, error = log.result.metrics.get(name), log.result.errors.get(name)
        unit = UNITS.get(name, "share")
        if items:
            estimate = mean_interval(
                [item.values[name] for item in items],
                [item.video for item in items],
                level=LEVEL,
            )
            method = f"bootstrap over videos, {DRAWS} draws"
            _number(found, name, estimate, method, unit=unit, harness=name)
        elif value is not None:
            half = 1.96 * error if error is not None else math.nan
            estimate = Estimate(value, value - half, value + half, LEVEL, len(log.items), 0)
            method = "1.96 standard errors of the harness" if error is not None else ""
            _number(found, name, estimate, method, unit=unit, harness=name)
