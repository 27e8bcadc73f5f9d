"""What a report says of a task, as numbers that each know where they come from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

from video_reasoning.metrics.accuracy import DESCRIPTIVE, finite, guessing_accuracy
from video_reasoning.metrics.intervals import Estimate, accuracy_interval, mean_interval
from video_reasoning.metrics.paired import complete_groups, consistency, decompose, score_groups
from video_reasoning.metrics.principles import CONDITIONS, GAINS
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.results.items import GENERATION, Item, Seen, TaskLog, frames_seen
from video_reasoning.tasks.results.principles import evaluate_items
from video_reasoning.tasks.results.signature import signature
from video_reasoning.tasks.states import LEFT_OUT

LEVEL = 0.95
"""Coverage of intervals, unless another is asked for."""

BREAKDOWNS = tuple(
    dict.fromkeys(
        name for each in BENCHMARKS.values() for name in each.breakdowns if name != "task"
    )
)

RATIOS = tuple(GAINS)

UNITS: Mapping[str, str] = {"llm_match": "1..5", "clip_score": "-1..1"}
"""Units of the generation metrics that are not shares."""

_ORDER = {name: place for place, name in enumerate(("easy", "medium", "hard", "no", "yes"))}


@dataclass(frozen=True)
class Number:
    """A number of the report.

    Attributes:
        name: What was measured, e.g. "accuracy", "tau".
        value: As a share or ratio; None if it is undefined.
        low: Lower end of the interval, or None.
        high: Upper end, or None; an infinite end is None and `unbounded` says so.
        n: Items (pairs, questions) that it rests on.
        n_clusters: Videos that these fall into.
        method: How the interval was made.
        task: The task's name.
        model: The run's model.
        run: The run's date.
        file: The sample log that it was computed from.
        group: Breakdown -> value, empty for all items.
        condition: The frames shown, empty if the task shows its videos in one way.
        unit: "share", "ratio" (the paper prints both x100), "1..5" or "-1..1".
        harness: The harness's own value of the same quantity, or None.
        unbounded: Whether the interval has no upper end.
        level: Coverage of the interval.
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
    level: float = LEVEL


@dataclass
class TaskNumbers:
    """All numbers of one task of one run.

    Attributes:
        log: The items.
        numbers: Everything with an interval.
        counts: Status -> items, and "items", "scored", "short videos", "odd lines", "skipped
            rows", "complete pairs", "incomplete pairs", "left out questions".
        rules: Rule -> how many answers it found.
        chance: Expected accuracy of guessing among the options, 0..1, or None.
        chance_paired: The same for whole pairs.
        paired: Further figures of paired scoring, by name; empty if there are no pairs.
        frames: Condition (the empty text if the task has one way only) -> what reached the model.
        level: Coverage of the intervals.
    """

    log: TaskLog
    numbers: list[Number] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    rules: dict[str, int] = field(default_factory=dict)
    chance: float | None = None
    chance_paired: float | None = None
    paired: dict[str, float | int | None] = field(default_factory=dict)
    frames: dict[str, Seen] = field(default_factory=dict)
    level: float = LEVEL

    def seen(self, number: Number) -> str:
        """Say what reached the model of what a number shows; the empty text if nobody knows.

        A ratio rests on several conditions.
        """
        roles = GAINS.get(number.name, ())
        names = [CONDITIONS[role] for role in roles] or [number.condition]
        texts = {name: self.frames[name].text for name in names if name in self.frames}
        if len(set(texts.values())) > 1:
            return ", ".join(f"{name} {text}" for name, text in texts.items())
        return next(iter(texts.values()), "")

    def find(
        self, name: str, group: Mapping[str, str] | None = None, condition: str | None = None
    ) -> Number | None:
        """Find a number by name and group; of any condition if none is named."""
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
            "signature": signature(log),
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
            "frames_seen": {name: asdict(seen) for name, seen in self.frames.items()},
            "numbers": [asdict(number) for number in self.numbers],
            "harness_table": dict(log.result.metrics),
            "odd_lines": log.odd.reasons,
        }


def measure(log: TaskLog, level: float = LEVEL) -> TaskNumbers:
    """Compute everything that a report says of one task of one run."""
    found = TaskNumbers(log, level=level)
    _count(found)
    found.frames = {
        name: frames_seen(item.sight for item in items) for name, items in log.conditions().items()
    }
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
        **{
            name: counts[name] for name in ("answered", "unparsed", "missing", "failed", "withheld")
        },
        "short videos": sum(item.short for item in log.items),
        "odd lines": log.odd.count,
    }
    skipped = log.result.metrics.get("skipped_rows")
    if skipped is not None:
        found.counts["skipped rows"] = int(skipped)
    asked = [item for item in log.items if item.status not in LEFT_OUT and item.rule]
    found.rules = dict(Counter(item.rule for item in asked).most_common())
    if not log.generated:
        found.chance = guessing(log.items)


def guessing(items: Sequence[Item]) -> float | None:
    """Expect this accuracy of guessing on the scored items; None if no question is known."""
    counts = [item.n_options for item in items if item.score is not None]
    return finite(guessing_accuracy(count for count in counts if count))


def number_of(log: TaskLog, name: str, estimate: Estimate, **more: Any) -> Number:
    """Make an estimate a number of a report; `more` are fields in place of the log's."""
    known = {
        "value": finite(estimate.value),
        "low": finite(estimate.low),
        "high": finite(estimate.high),
        "n": estimate.n,
        "n_clusters": estimate.n_clusters,
        "method": estimate.method,
        "task": log.task,
        "model": log.run.label,
        "run": log.run.date,
        "file": str(log.log),
        "unbounded": math.isinf(estimate.high),
        "level": estimate.level,
    }
    return Number(name=name, **{**known, **more})


def accuracy_of(items: Sequence[Item], level: float = LEVEL) -> Estimate:
    """Return the accuracy over the items with a score, with its interval."""
    scored = [item for item in items if item.score is not None]
    return accuracy_interval(
        [item.score or 0.0 for item in scored], [item.video for item in scored], level=level
    )


def _accuracies(found: TaskNumbers, items: Sequence[Item], condition: str) -> None:
    """Return the accuracy over all scored items and over each part of them."""
    own = found.log.result.metrics
    paired = "accuracy_unpaired" in own
    scored = [item for item in items if item.score is not None]
    benchmark = BENCHMARKS.get(found.log.benchmark)
    for group, part in _parts(scored, benchmark.breakdowns if benchmark else BREAKDOWNS):
        if not condition:
            harness = _harness_name(group, "unpaired" if paired else "")
        elif not group and "kappa_random" not in own:
            harness = f"acc_{condition}"
        else:  # the principles' own accuracies are over shared questions
            harness = ""
        _add(
            found,
            "accuracy",
            accuracy_of(part, found.level),
            harness,
            group=group,
            condition=condition,
        )


def _add(found: TaskNumbers, name: str, estimate: Estimate, harness: str = "", **more: Any) -> None:
    """Add a number, with the harness's own value of that metric where it has one."""
    own = found.log.result.metrics.get(harness)
    found.numbers.append(number_of(found.log, name, estimate, harness=own, **more))


def _harness_name(group: Mapping[str, str], kind: str) -> str:
    """Return the task's metric of the same quantity: "paired", "unpaired" or plain accuracy."""
    if not group:
        return f"accuracy_{kind}".rstrip("_")
    if len(group) > 1:
        return ""
    ((name, value),) = group.items()
    part = {"yes": name, "no": f"not_{name}"}.get(value, value)
    # Only breakdowns by difficulty and reasoning are paired.
    of_pairs = kind if name in ("type", "difficulty") else ""
    return f"acc_{of_pairs}_{part}".replace("__", "_")


def _parts(
    items: Sequence[Item], names: Sequence[str]
) -> Iterator[tuple[dict[str, str], list[Item]]]:
    """All items, then each part of them by each breakdown, with what the part is."""
    yield {}, list(items)
    for name in names:
        values = {item.groups[name] for item in items if name in item.groups}
        if not values <= {"no"}:  # a yes-or-no breakdown counts only if something is yes
            for value in sorted(values, key=lambda value: (_ORDER.get(value, 0), value)):
                yield {name: value}, [item for item in items if item.groups.get(name) == value]
    if any("type" in item.groups for item in items):
        reasoning = [item for item in items if item.groups.get("type") != DESCRIPTIVE]
        if reasoning:
            yield {"type": "reasoning"}, reasoning
        strata: dict[tuple[str, str], list[Item]] = {}
        for item in items:
            stratum = item.groups.get("type", ""), item.groups.get("difficulty", "")
            strata.setdefault(stratum, []).append(item)
        for kind, difficulty in sorted(strata, key=lambda each: (each[0], _ORDER.get(each[1], 0))):
            yield {"type": kind, "difficulty": difficulty}, strata[kind, difficulty]


def _principles(found: TaskNumbers) -> None:
    """kappa, tau and rho with intervals, and the accuracies that they rest on."""
    items = [item for item in found.log.items if item.condition in CONDITIONS.values()]
    if not items:
        return
    whole = evaluate_items(items, level=found.level)
    for name, estimate in whole.measures.items():
        if name in GAINS:
            _add(found, name, estimate, name, unit="ratio")
    for name, estimate in whole.measures.items():
        if name not in GAINS:
            condition = name.removeprefix("acc_")
            _add(found, "shared accuracy", estimate, name, condition=condition)
    found.counts["left out questions"] = whole.left_out
    found.counts["questions"] = whole.questions - whole.left_out
    found.counts["questions with a pick"] = whole.picked


def _pairs(found: TaskNumbers) -> None:
    """Paired accuracy over all, each type, each difficulty, and their strata."""
    items = [item for item in found.log.items if "qid" in item.groups]
    videos = {item.groups["qid"]: item.video for item in reversed(items)}
    for group, part in _parts(items, ("type", "difficulty")):
        whole = complete_groups(
            [item.groups["qid"] for item in part], [item.score for item in part], variants=2
        )
        if whole or not group:
            clusters = [videos[str(qid)] for qid in whole]
            estimate = accuracy_interval(list(whole.values()), clusters, level=found.level)
            _add(found, "paired accuracy", estimate, _harness_name(group, "paired"), group=group)
    ids, scores = [item.groups["qid"] for item in items], [item.score for item in items]
    groups = score_groups(ids, scores, variants=2)
    found.counts["complete pairs"] = groups.n_complete
    found.counts["incomplete pairs"] = groups.n_incomplete
    if groups.n_complete:
        known = decompose(ids, scores, found.chance, variants=2)
        found.paired = {
            "both right": groups.all_correct,
            "at least one right": groups.any_correct,
            "unpaired, over the same pairs": groups.unpaired_of_complete,
            "same option text in both": finite(consistency(ids, [_text(i) for i in items])),
            "known, if the rest is guessed (k)": finite(known.known),
        }
    if found.chance is not None:
        found.chance_paired = found.chance**2


def _text(item: Item) -> str | None:
    """Return the text of the option that was chosen."""
    options = item.question.get("options") or []
    place = ord(item.choice) - ord("A") if item.choice and len(item.choice) == 1 else -1
    return options[place] if 0 <= place < len(options) else None


def _generation(found: TaskNumbers) -> None:
    """Means over questions; the harness's own if the log has no scores of single questions."""
    log = found.log
    for name in GENERATION:
        items = [item for item in log.items if name in item.values]
        value, error = log.result.metrics.get(name), log.result.errors.get(name, math.nan)
        if items:
            values, videos = [item.values[name] for item in items], [item.video for item in items]
            estimate = mean_interval(values, videos, level=found.level)
        elif value is not None:
            z = NormalDist().inv_cdf((1 + found.level) / 2)
            method = "" if math.isnan(error) else f"{z:.2f} standard errors of the harness"
            ends = value - z * error, value + z * error
            estimate = Estimate(value, *ends, found.level, len(log.items), 0, method)
        else:
            continue
        _add(found, name, estimate, name, unit=UNITS.get(name, "share"))
