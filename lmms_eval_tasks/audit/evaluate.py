"""From the logs of an audit to its numbers and its verdict.

Accuracies, kappa, tau and rho are those of TVBench (TOMATO, section 3), all over the same items:
those that the task scored under every condition that was run, the handpicked frame aside. The
intervals are paired bootstraps that redraw whole videos.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from video_reasoning.metrics.intervals import (
    Estimate,
    accuracy_interval,
    difference_interval,
    gain_interval,
)
from video_reasoning.tasks.audit.hooks import AUDIT, DOCUMENTS, PROBLEMS
from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.audit.scores import EQUALS
from video_reasoning.tasks.audit.variants import ORIGINAL, AuditError, Variant
from video_reasoning.tasks.results.logs import (
    LogError,
    OddLines,
    Run,
    Sample,
    find_runs,
    read_samples,
)

__all__ = ["AuditResult", "Item", "judge", "judge_part", "judge_task"]

_PERCENT = 100.0

_AGREES = 5e-3
"""How far the mean of the items' scores may be from the task's own number, as a share."""


@dataclass
class Item:
    """One question of an audited task.

    Attributes:
        row: its place among the task's documents, from 0.
        id: its id.
        video: the video it is about.
        prompt: what the model was sent.
        target: the right answer as logged.
        options: how many options it has; 0 where they were not found.
        shape: what the task shows, in words; empty where that is not known.
        source: path of the video's file; empty where the task names none that a condition read.
        scores: condition -> 0..1; None where it was not scored.
        responses: condition -> what the model said.
        problems: condition -> why it could not be shown or scored.
        unparsed: conditions under which the response names no option, for tasks that say so.
    """

    row: int
    id: str
    video: str
    prompt: str = ""
    target: str = ""
    options: int = 0
    shape: str = ""
    source: str = ""
    scores: dict[str, float | None] = field(default_factory=dict)
    responses: dict[str, str] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unparsed: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class AuditResult:
    """The audit of one task, or of a group of tasks together.

    Attributes:
        name: the task or group.
        tasks: the tasks that it is made of; one for a task.
        metric: the metric that says which items are right.
        rule: how an item's score was read from it.
        own: condition -> the task's own aggregated number.
        accuracies: condition -> accuracy, 0..1, over the shared items.
        ratios: ``kappa_random1``, ``kappa_last1``, ``kappa_handpicked1``, ``kappa_blind``,
            ``tau`` and ``rho``, as ratios; those that can be computed.
        paired: for each other order of options, the share of items right in both orders.
        chance: accuracy of guessing among the options; NaN where their number is not known.
        n: shared items.
        asked: condition -> items asked.
        missing: condition -> items that could not be shown.
        unparsed: condition -> responses that name no option, for tasks that say so.
        unscored: condition -> items that the task did not score.
        left_out: items that lack a condition.
        shapes: what the task shows -> for how many items.
        items: the items, by their place.
        verdict: sentences.
        notes: what a reader has to know beside.
        refused: why there is no audit, or the empty text.
    """

    name: str
    tasks: tuple[str, ...]
    metric: str = ""
    rule: str = ""
    own: Mapping[str, float | None] = field(default_factory=dict)
    accuracies: Mapping[str, Estimate] = field(default_factory=dict)
    ratios: Mapping[str, Estimate] = field(default_factory=dict)
    paired: Mapping[str, Estimate] = field(default_factory=dict)
    chance: float = math.nan
    n: int = 0
    asked: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    unparsed: Mapping[str, int] = field(default_factory=dict)
    unscored: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0
    shapes: Mapping[str, int] = field(default_factory=dict)
    items: Sequence[Item] = ()
    verdict: Sequence[str] = ()
    notes: Sequence[str] = ()
    refused: str = ""

    def as_json(self) -> dict[str, Any]:
        """The result for machines, without the items; NaN becomes null."""
        return {
            "name": self.name,
            "tasks": list(self.tasks),
            "refused": self.refused or None,
            "metric": self.metric,
            "rule": self.rule,
            "items": self.n,
            "left_out": self.left_out,
            "chance": _json(self.chance),
            "asked": dict(self.asked),
            "missing": dict(self.missing),
            "unparsed": dict(self.unparsed),
            "unscored": dict(self.unscored),
            "shapes": dict(self.shapes),
            "own": {name: _json(value) for name, value in self.own.items()},
            "accuracies": {name: estimate_json(found) for name, found in self.accuracies.items()},
            "ratios": {name: estimate_json(found) for name, found in self.ratios.items()},
            "paired": {name: estimate_json(found) for name, found in self.paired.items()},
            "verdict": list(self.verdict),
            "notes": list(self.notes),
        }


def _json(value: float | None) -> float | str | None:
    if value is None or math.isnan(value):
        return None
    return "infinity" if math.isinf(value) else value


def estimate_json(found: Estimate) -> dict[str, Any]:
    """An estimate for machines: NaN becomes null, an open upper end the text "infinity"."""
    return {
        "value": _json(found.value),
        "low": _json(found.low),
        "high": _json(found.high),
        "level": found.level,
        "items": found.n,
        "videos": found.n_clusters,
    }


def judge(
    plan: Plan,
    folder: Path,
    logs: Path,
    *,
    metric: str = "",
    level: float = 0.95,
    draws: int = 10_000,
) -> tuple[Run, list[AuditResult]]:
    """Judges the newest run of an audit.

    Args:
        plan: the audit.
        folder: where its tasks were generated.
        logs: the run's ``--output_path``.
        metric: which of a task's metrics says what is right; the empty text to find it.
        level: coverage of the intervals, between 0 and 1.
        draws: bootstrap draws.

    Returns:
        The run, and a result for each task and, where several tasks of one group were audited,
        one for the group before them.

    Raises:
        AuditError: if no run of the audit is there.
        LogError: if a log cannot be read.
    """
    if not 0 < level < 1:
        raise AuditError(f"The level {level} is not between 0 and 1; the usual one is 0.95.")
    names = {task.variant_name(variant) for task in plan.tasks for variant in plan.asked(task)}
    runs = [run for run in find_runs([logs], every=True) if names & set(run.tasks)]
    if not runs:
        raise AuditError(
            f"There is no run of this audit's tasks in {logs}; run it again, or evaluate them "
            f"with --include_path {folder} --output_path {logs} --log_samples."
        )
    run = runs[-1]
    judged = [
        judge_task(plan, task, run, folder, metric=metric, level=level, draws=draws)
        for task in plan.tasks
    ]
    groups: dict[str, list[AuditResult]] = {}
    for task, result in zip(plan.tasks, judged, strict=True):
        if task.group and not result.refused:
            groups.setdefault(task.group, []).append(result)
    together = [
        _together(plan, group, members, level, draws)
        for group, members in groups.items()
        if len(members) > 1
    ]
    refused = [AuditResult(name, (name,), refused=why) for name, why in plan.refused.items()]
    return run, [*together, *judged, *refused]


def judge_part(
    plan: Plan,
    result: AuditResult,
    name: str,
    keep: Callable[[Item], bool],
    *,
    level: float = 0.95,
    draws: int = 10_000,
) -> AuditResult:
    """Judges some of the questions of an audited task for themselves.

    Args:
        plan: the audit.
        result: the whole task's.
        name: what to call the part.
        keep: which questions belong to it.
        level: coverage of the intervals, between 0 and 1.
        draws: bootstrap draws.
    """
    items = [item for item in result.items if keep(item)]
    names = list(result.accuracies)
    return _evaluate(
        plan, name, result.tasks, names, items, result.metric, result.rule, {}, [], level, draws
    )


@dataclass
class _Answers:
    """What the log of one variant says."""

    samples: dict[int, Sample] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    own: Mapping[str, float | None] = field(default_factory=dict)

    def own_number(self, metric: str) -> float | None:
        """The task's own aggregated number, under the first filter where it has several."""
        names = [name for name in self.own if name == metric or name.startswith(f"{metric},")]
        return self.own[names[0]] if names else None

    def id_at(self, row: int) -> str:
        """The id of the question at a place, or the empty text where the log has none."""
        audited = self.samples[row].values.get(AUDIT)
        logged = audited.get("id") if isinstance(audited, Mapping) else None
        return str(self.ids.get(row) or logged or "")


def judge_task(
    plan: Plan,
    task: AuditedTask,
    run: Run,
    folder: Path,
    *,
    metric: str = "",
    level: float = 0.95,
    draws: int = 10_000,
) -> AuditResult:
    """Judges one task; a task whose items have no score is refused with what was seen."""
    notes: list[str] = []
    answers: dict[str, _Answers] = {}
    for variant in plan.asked(task):
        try:
            answers[variant.name] = _read(task, variant, run, folder, notes)
        except LogError as error:
            notes.append(str(error))
    if not answers:
        return AuditResult(task.name, (task.name,), notes=notes, refused="its run left no log")
    try:
        _align(answers, notes)
        chosen, rule, scale = _metric(answers, metric, notes)
    except AuditError as error:
        return AuditResult(task.name, (task.name,), notes=notes, refused=str(error))
    items = _items(answers, chosen, scale)
    _tell_apart(items, notes)
    if any(variant.kind == "handpicked" for variant in plan.variants) and not task.picks:
        notes.append("No question has a handpicked frame: rho is not known.")
    own = {name: found.own_number(chosen) for name, found in answers.items()}
    return _evaluate(
        plan, task.name, (task.name,), list(answers), items, chosen, rule, own, notes, level, draws
    )


def _together(
    plan: Plan, group: str, members: Sequence[AuditResult], level: float, draws: int
) -> AuditResult:
    """All items of a group's tasks as one."""
    items = [item for member in members for item in member.items]
    names = [v.name for v in plan.variants if any(v.name in item.scores for item in items)]
    metrics = dict.fromkeys(member.metric for member in members)
    rules = dict.fromkeys(member.rule for member in members)
    tasks = tuple(member.name for member in members)
    return _evaluate(
        plan, group, tasks, names, items, ", ".join(metrics), ", ".join(rules), {}, [], level, draws
    )


def _read(
    task: AuditedTask, variant: Variant, run: Run, folder: Path, notes: list[str]
) -> _Answers:
    """Reads one variant's log; items stand at their place among the task's own documents."""
    name = task.variant_name(variant)
    path = run.samples(name)
    places: list[tuple[int, str]] | None = None
    if variant.kind in ("handpicked", "reordered"):
        places = _places(folder / f"{name}.rows.json")
    odd, found = OddLines(), _Answers(own=run.tasks[name].metrics)
    documents, problems = _noted(folder, name)
    for sample in read_samples(path, odd):
        row = sample.doc_id
        if places is not None:
            if row >= len(places):
                continue  # asked only so that the harness has a document
            row, found.ids[row] = places[row]
        noted = documents[sample.doc_id] if sample.doc_id < len(documents) else None
        found.samples[row] = _with_note(sample, noted, problems) if noted else sample
    unseen = sum(_says(sample, "unseen") for sample in found.samples.values())
    if unseen:
        notes.append(
            f"{unseen:,} responses under {variant.name} come from a cache: whether their videos "
            "could be shown was not seen."
        )
    filters = {metric.rpartition(",")[2] for metric in found.own if "," in metric}
    if len(filters) > 1 and odd.count == (len(filters) - 1) * len(found.samples):
        told = f"The task reads responses in several ways ({', '.join(sorted(filters))}); here the "
        told += "first counts."
        notes += [told] if told not in notes else []
    elif odd.count:
        notes.append(odd.sentence(path))
    return found


def _noted(folder: Path, name: str) -> tuple[list[list[str]], dict[str, str]]:
    """What was noted of the documents of a task that the harness scores itself.

    Returns:
        Id, video and key of each document, and key -> why it could not be shown.
    """
    documents: list[list[str]] = []
    problems: dict[str, str] = {}
    try:
        documents = json.loads((folder / f"{name}.{DOCUMENTS}").read_text(encoding="utf-8"))
        for line in (folder / f"{name}.{PROBLEMS}").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            problems[entry["key"]] = entry["problem"]
    except (OSError, ValueError, KeyError, TypeError):
        pass  # most tasks score their responses themselves, and say it there
    return documents, problems


def _with_note(sample: Sample, noted: Sequence[str], problems: Mapping[str, str]) -> Sample:
    name, video, key = noted
    audited = {"id": name, "video": video or key, "problem": problems.get(key, "")}
    return replace(sample, values={**sample.values, AUDIT: audited})


def _says(sample: Sample, name: str) -> bool:
    audited = sample.values.get(AUDIT)
    return isinstance(audited, Mapping) and bool(audited.get(name))


def _align(answers: Mapping[str, _Answers], notes: list[str]) -> None:
    """Puts the questions into one order, where a task shuffles them anew for every condition.

    Raises:
        AuditError: if that cannot be done.
    """
    reference = next((found for found in answers.values() if found.samples), None)
    if reference is None:
        return
    places = {reference.id_at(row): row for row in reference.samples}
    for name, found in answers.items():
        ids = {row: found.id_at(row) for row in found.samples}
        if all(
            not known or row not in reference.samples or known == reference.id_at(row)
            for row, known in ids.items()
        ):
            continue
        if len(places) < len(reference.samples) or len(set(ids.values())) < len(ids):
            raise AuditError(
                "its documents come in another order under every condition, and their ids repeat, "
                "so that they cannot be put side by side"
            )
        spare = max(places.values()) + 1
        rows = {row: places.get(known, spare + row) for row, known in ids.items()}
        found.samples = {rows[row]: sample for row, sample in found.samples.items()}
        found.ids = {rows[row]: known for row, known in found.ids.items() if row in rows}
        notes.append(
            f"The task's documents come in another order under {name}; they are matched by their "
            "ids."
        )


def _tell_apart(items: Sequence[Item], notes: list[str]) -> None:
    """Adds the row to ids that repeat."""
    counts = Counter(item.id for item in items)
    repeated = [item for item in items if counts[item.id] > 1]
    for item in repeated:
        item.id = f"{item.id}#{item.row}"
    if repeated:
        notes.append(
            f"{len(repeated):,} questions share an id with another; their place in the dataset is "
            f"added, as in {repeated[0].id}."
        )


def _places(path: Path) -> list[tuple[int, str]]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        return [(int(row), str(name)) for row, name in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LogError(
            f"Which questions were asked cannot be read from {path} ({error!r}); run the audit "
            "again."
        ) from error


def _problem(sample: Sample) -> str:
    """Why an item could not be shown or scored, or the empty text."""
    audited = sample.values.get(AUDIT)
    told = audited.get("problem") if isinstance(audited, Mapping) else ""
    return str(told or sample.problem or "")


def _raw_scores(
    sample: Sample, own: Mapping[str, float | None]
) -> dict[str, tuple[float | None, str]]:
    """Metric -> the item's score as the metric counts, and how it was read."""
    audited = sample.values.get(AUDIT)
    if isinstance(audited, Mapping) and isinstance(audited.get("scores"), Mapping):
        return {str(name): (pair[0], str(pair[1])) for name, pair in audited["scores"].items()}
    # The harness's own metrics: a number each.
    return {
        name: (float(value), "number")
        for name, value in sample.values.items()
        if isinstance(value, (int, float)) and name in own
    }


def _metric(
    answers: Mapping[str, _Answers], wanted: str, notes: list[str]
) -> tuple[str, str, float]:
    """Which metric says what is right, how, and what it counts for a right item.

    Of the metrics with the most scored items the first whose mean is the task's own number;
    else the first of them, with a note.

    Raises:
        AuditError: if no metric has a score for its items.
    """
    seen: dict[str, Counter[str]] = {}
    values: dict[str, dict[str, list[float]]] = {}
    shown: set[str] = set()  # metrics with a score for an item that could be shown
    for name, found in answers.items():
        for sample in found.samples.values():
            for metric, (value, rule) in _raw_scores(sample, found.own).items():
                seen.setdefault(metric, Counter())[rule] += 1
                if value is not None:
                    if not _problem(sample):
                        shown.add(metric)
                    values.setdefault(metric, {}).setdefault(name, []).append(value)
    if wanted and wanted not in seen:
        raise AuditError(
            f"its items have no metric '{wanted}'; they have {', '.join(seen) or 'none'}"
        )
    candidates = [wanted] if wanted else list(seen)
    usable: list[tuple[str, float, bool]] = []
    odd: list[str] = []
    for metric in candidates:
        of_variant = values.get(metric, {})
        highest = max((max(scores) for scores in of_variant.values()), default=math.nan)
        scale = 1.0 if highest <= 1 else _PERCENT
        agrees = all(
            _agrees(of_variant.get(name, []), found.own_number(metric), scale)
            for name, found in answers.items()
            if found.samples  # one question is asked where a condition has none
        )
        if math.isnan(highest):
            rules = [rule for rule, _ in seen[metric].most_common(2)]
            odd.append(f"{metric}: {' and '.join(rules)}")
        elif metric not in shown:
            odd.append(f"{metric}: scores for items that could not be shown alone")
        elif 1 < highest <= 10 or highest > _PERCENT:
            odd.append(f"{metric}: values up to {highest:g}, which are no shares of right")
        elif not agrees and any(EQUALS in rule for rule in seen[metric]):
            odd.append(f"{metric}: answers beside their keys, whose comparison is not its number")
        else:
            usable.append((metric, scale, agrees))
    if not usable:
        raise AuditError(
            "the task has no score for each item; name a metric with --metric, or have its "
            f"process_results return one ({'; '.join(odd) or 'it returned no metric at all'})"
        )
    # A metric over all items before one over some, such as those of one kind.
    usable.sort(key=lambda found: -sum(map(len, values[found[0]].values())))
    most = sum(map(len, values[usable[0][0]].values()))
    widest = [found for found in usable if sum(map(len, values[found[0]].values())) == most]
    metric, scale, agrees = next((found for found in widest if found[2]), widest[0])
    if not agrees:
        notes.append(
            f"The mean of the items' scores is not the task's own {metric}, which may weigh or "
            "pair them; all numbers here are means over items."
        )
    rules = [rule for rule, _ in seen[metric].most_common() if rule != "nothing"]
    return metric, ", ".join(rules), scale


def _agrees(scores: Sequence[float], own: float | None, scale: float) -> bool:
    """Whether the mean of the items' scores is the number that the task itself reports."""
    if own is None or not scores:
        return own is None and not scores
    mean = math.fsum(scores) / len(scores) / scale
    return min(abs(mean - own), abs(mean - own / _PERCENT)) < _AGREES


def _items(answers: Mapping[str, _Answers], metric: str, scale: float) -> list[Item]:
    """One entry for each question, with what was said under every condition."""
    items: dict[int, Item] = {}
    # The task's own documents first: the others are some of them.
    for name, found in sorted(answers.items(), key=lambda pair: bool(pair[1].ids)):
        for row, sample in found.samples.items():
            audited = sample.values.get(AUDIT)
            audited = audited if isinstance(audited, Mapping) else {}
            known = str(found.ids.get(row) or audited.get("id") or row)
            item = items.setdefault(row, Item(row, known, str(audited.get("video") or known)))
            item.prompt = item.prompt or sample.prompt
            item.target = item.target or sample.target
            item.shape = item.shape or str(audited.get("shape") or "")
            if audited.get("shape") and Path(str(audited.get("video") or "")).is_absolute():
                item.source = item.source or str(audited["video"])
            item.options = item.options or int(audited.get("options") or 0)
            value, _ = _raw_scores(sample, found.own).get(metric, (None, ""))
            problem = _problem(sample)
            if sample.status == "unparsed":
                item.unparsed.add(name)
            item.scores[name] = None if value is None or problem else value / scale
            item.responses[name] = sample.responses[0] if sample.responses else ""
            if problem:
                item.problems[name] = problem
    return [items[row] for row in sorted(items)]


def _evaluate(
    plan: Plan,
    name: str,
    tasks: tuple[str, ...],
    variants: Sequence[str],
    items: Sequence[Item],
    metric: str,
    rule: str,
    own: Mapping[str, float | None],
    notes: list[str],
    level: float,
    draws: int,
) -> AuditResult:
    """The numbers over some items, and the verdict."""
    from video_reasoning.tasks.audit.verdict import verdict

    by_kind = {v.kind: v.name for v in plan.variants if v.name in variants and not v.order}
    part = {v.name for v in plan.variants if v.kind in ("handpicked", "reordered")}
    whole = [variant for variant in variants if variant not in part]
    shared = [item for item in items if all(_scored(item, variant) for variant in whole)]
    estimator = _Estimator(level, draws)
    accuracies, paired = {}, {}
    for variant in variants:
        over = [item for item in shared if _scored(item, variant)]
        accuracies[variant] = estimator.mean(over, [_score(item, variant) for item in over])
    reference = by_kind.get("ordered") or by_kind.get(ORIGINAL)
    pairs = {
        **{
            f"kappa_{by_kind[kind]}": (reference, by_kind[kind])
            for kind in ("random", "last", "handpicked", "blind")
            if kind in by_kind
        },
        "tau": (reference, by_kind.get("shuffled")),
        "rho": (by_kind.get("handpicked"), by_kind.get("random")),
    }
    ratios = {}
    for measure, (over_line, below) in pairs.items():
        if over_line and below:
            over = [item for item in shared if _scored(item, over_line) and _scored(item, below)]
            ratios[measure] = estimator.gain(over, over_line, below)
    for variant in (v.name for v in plan.variants if v.order and v.name in variants):
        if reference:
            over = [item for item in shared if _scored(item, variant)]
            both = [_score(item, reference) * _score(item, variant) for item in over]
            paired[variant] = estimator.mean(over, both)
    chances = [1 / item.options for item in shared if item.options]
    n_asked = Counter(variant for item in items for variant in item.scores)
    missing = Counter(variant for item in items for variant in item.problems)
    unparsed = Counter(variant for item in items for variant in item.unparsed)
    unscored = Counter(
        variant
        for item in items
        for variant, score in item.scores.items()
        if score is None and variant not in item.problems
    )
    if items and not shared:
        notes.append("No question was scored under every condition.")
    limit = f"Only the first {plan.limit:,} questions of a task were asked." if plan.limit else ""
    result = AuditResult(
        name=name,
        tasks=tasks,
        metric=metric,
        rule=rule,
        own=own,
        accuracies=accuracies,
        ratios=ratios,
        paired=paired,
        chance=math.fsum(chances) / len(chances) if len(chances) == len(shared) > 0 else math.nan,
        n=len(shared),
        asked={variant: n_asked[variant] for variant in variants},
        missing={variant: missing[variant] for variant in variants},
        unparsed={variant: unparsed[variant] for variant in variants},
        unscored={variant: unscored[variant] for variant in variants},
        left_out=len(items) - len(shared),
        shapes=dict(Counter(item.shape for item in items if item.shape)),
        items=items,
        notes=[*notes, limit] if limit else notes,
    )
    differences = estimator.differences(shared, reference, [*by_kind.values()])
    return replace(result, verdict=verdict(result, by_kind, differences))


def _scored(item: Item, variant: str) -> bool:
    return item.scores.get(variant) is not None


def _score(item: Item, variant: str) -> float:
    return float(item.scores[variant] or 0.0)


@dataclass(frozen=True)
class _Estimator:
    """Numbers over items with their intervals."""

    level: float
    draws: int

    def mean(self, items: Sequence[Item], scores: Sequence[float]) -> Estimate:
        """Mean of scores over items."""
        return accuracy_interval(scores, [item.video for item in items], level=self.level)

    def gain(self, items: Sequence[Item], above: str, below: str) -> Estimate:
        """Relative gain of one condition over another."""
        return gain_interval(
            [_score(item, above) for item in items],
            [_score(item, below) for item in items],
            [item.video for item in items],
            level=self.level,
            draws=self.draws,
        )

    def differences(
        self, items: Sequence[Item], reference: str | None, variants: Sequence[str]
    ) -> dict[str, Estimate]:
        """Accuracy of the reference less that of each other condition, on the same items."""
        found = {}
        for variant in variants:
            over = [item for item in items if _scored(item, variant)]
            if reference and variant != reference and over:
                found[variant] = difference_interval(
                    [_score(item, variant) for item in over],
                    [_score(item, reference) for item in over],
                    [item.video for item in over],
                    level=self.level,
                    draws=self.draws,
                )
        return found
