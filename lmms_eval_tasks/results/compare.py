"""Two runs, item by item: is the difference real?

Right and wrong answers of two runs to the same questions are paired. If every question has a
video of its own, McNemar's exact test decides; questions that share videos are not independent,
and the interval of the difference decides, as it does for generation scores.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from video_reasoning.metrics.accuracy import finite, mean
from video_reasoning.metrics.intervals import Estimate, difference_interval, mcnemar
from video_reasoning.metrics.paired import complete_groups
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.results.items import GENERATION, Item, Questions, TaskLog, read_task
from video_reasoning.tasks.results.logs import Run, find_runs
from video_reasoning.tasks.results.signature import signature

LEVEL = 0.95
_SHOWN = 5
_FEW_VIDEOS = 10
_SCALES = {"llm_match": 1.0, "clip_score": 1.0}
"""Factor with which a measure is printed; 100 for all that are shares."""

Both = tuple[Item, Item]  # one item in both runs


class CompareError(UserError):
    """Runs that cannot be compared as asked."""


@dataclass(frozen=True)
class Flip:
    """An item that one run got right and the other wrong, with its lines in both logs.

    The condition is empty if the task has one way only; an answer is None for nothing.
    """

    id: str
    condition: str
    target: str
    a: str | None
    b: str | None
    better: str
    line_a: int
    line_b: int


@dataclass(frozen=True)
class Comparison:
    """One measure of one task.

    Attributes:
        task: The task; "A / B" if the runs' tasks have two names.
        measure: "accuracy", "paired accuracy", or a generation metric.
        condition: The frames shown, or the empty text.
        n: Items (pairs) with a score in both runs, which fall into `n_clusters` videos.
        unscored: Shared items that lack a score in a run.
        only_a_logged: Items that only the first run has; left out, like `only_b_logged`.
        a: The first run's mean over the items, as a share or score; None over no item.
        difference: b - a, with the ends of its 95% interval.
        only_a_right: Items that only the first run got right; None for scores.
        p: McNemar's exact two-sided p-value; None if it does not apply (questions that share
            videos, generation scores).
        test: What decided: "McNemar" or "bootstrap".
        different: Whether the difference is real, at the 5% level; None over no item.
        verdict: The same as a sentence.
        prompts_differ: Shared items that were asked in other words.
        log_a: The first run's sample log.
        signature_a: What identifies the first run's numbers.
    """

    task: str
    measure: str
    condition: str
    n: int
    n_clusters: int
    unscored: int
    only_a_logged: int
    only_b_logged: int
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    only_a_right: int | None
    only_b_right: int | None
    p: float | None
    test: str
    different: bool | None
    verdict: str
    flips: tuple[Flip, ...]
    prompts_differ: int
    log_a: str
    log_b: str
    signature_a: str = ""
    signature_b: str = ""


def compare(
    a: Path, b: Path, *, tasks: Sequence[str] = (), shared_only: bool = False
) -> list[Comparison]:
    """Compare two runs over the tasks that both have.

    Args:
        a: Output folder, results file or sample log of the first run.
        b: The same of the second.
        tasks: Which tasks; "X:Y" compares X of the first run with Y of the second. Empty: all
            that both runs have.
        shared_only: Whether to go on, over what is shared, if the runs' items differ.

    Returns:
        A comparison for each task, condition and measure.

    Raises:
        CompareError: A path has several models, the runs have no task in common, or the items of
            a task differ and `shared_only` is not set.
    """
    first, second = _tasks_of(a), _tasks_of(b)
    pairs = [_named(name, first, second, a, b) for name in tasks]
    if not tasks:
        pairs = [(name, name) for name in first if name in second]
    if not pairs:
        raise CompareError(
            f"The runs have no logged task in common: {a} has {', '.join(first) or 'none'}, "
            f"{b} has {', '.join(second) or 'none'}; name two with --task A:B."
        )
    found: list[Comparison] = []
    cache: dict[Path, Questions] = {}
    for name_a, name_b in pairs:
        log_a = read_task(first[name_a], name_a, cache)
        log_b = read_task(second[name_b], name_b, cache)
        found += compare_logs(log_a, log_b, shared_only=shared_only)
    return found


def _tasks_of(path: Path) -> dict[str, Run]:
    """Task -> its run, of the one model below a path."""
    runs = find_runs([path])
    logged = [run for run in runs if any(result.samples for result in run.tasks.values())]
    models = {(run.model, run.checkpoint, run.model_args) for run in logged}
    if len(models) > 1:
        listed = "; ".join(f"{run.label}: {run.results or run.folder}" for run in logged[:_SHOWN])
        raise CompareError(
            f"{path} has runs of {len(models)} models, so it is not clear which to compare; "
            f"name one of their results files ({listed})."
        )
    if not logged:
        raise CompareError(f"{path} has no sample logs; evaluate with --log_samples.")
    return {task: run for run in logged for task, result in run.tasks.items() if result.samples}


def _named(
    name: str, first: Mapping[str, Run], second: Mapping[str, Run], a: Path, b: Path
) -> tuple[str, str]:
    one, colon, other = name.partition(":")
    pair = (one, other if colon else one)
    for task, tasks, path in ((pair[0], first, a), (pair[1], second, b)):
        if task not in tasks:
            raise CompareError(
                f"{path} has no logged run of {task!r}; it has {', '.join(tasks) or 'none'}."
            )
    return pair


def compare_logs(log_a: TaskLog, log_b: TaskLog, *, shared_only: bool = False) -> list[Comparison]:
    """Compare two logs of one task; see :func:`compare`.

    Raises:
        CompareError: The items differ and `shared_only` is not set, or none is shared.
    """
    items_a, items_b = (
        {(item.id, item.condition): item for item in log.items} for log in (log_a, log_b)
    )
    joined = [(item, items_b[key]) for key, item in items_a.items() if key in items_b]
    # Items of one id may be different questions; a withheld answer says nothing.
    shared = [(x, y) for x, y in joined if not x.target or not y.target or x.target == y.target]
    name = log_a.task if log_a.task == log_b.task else f"{log_a.task} / {log_b.task}"
    extra = len(items_a) - len(shared), len(items_b) - len(shared)
    if any(extra) and not shared_only:
        changed = len(joined) - len(shared)
        why = f" ({changed:,} have one id and another right answer)" if changed else ""
        raise CompareError(
            f"The runs of {name} are over different items: {len(shared):,} are shared, "
            f"{extra[0]:,} only the first run has, {extra[1]:,} only the second{why}. Run both "
            "over the same items, or compare what is shared with --shared-only."
        )
    if not shared:
        raise CompareError(f"The runs of {name} share no item; there is nothing to compare.")
    pair = _Pair(name, log_a, log_b, extra)
    if log_a.generated or log_b.generated:
        return _compare_texts(pair, shared)
    by_condition: dict[str, list[Both]] = {}
    for both in shared:
        by_condition.setdefault(both[0].condition, []).append(both)
    found = [
        pair.measure("accuracy", condition, part, [(x.score, y.score) for x, y in part])
        for condition, part in by_condition.items()
    ]
    return [*_paired(pair, shared), *found]


def _compare_texts(pair: _Pair, shared: Sequence[Both]) -> list[Comparison]:
    """Return the generation metrics that both runs have scores of."""
    found = []
    for metric in GENERATION:
        values = [(x.values.get(metric), y.values.get(metric)) for x, y in shared]
        if any(None not in both for both in values):
            found.append(pair.measure(metric, "", shared, values))
    if not found:
        raise CompareError(
            f"The runs of {pair.name} have no scores of single questions; compute them with "
            "`video-reasoning score` for both runs."
        )
    return found


def _paired(pair: _Pair, shared: Sequence[Both]) -> list[Comparison]:
    """Both variants of a question as one item, right if both are; nothing without variants."""
    if not all("qid" in one.groups for one, _ in shared):
        return []
    ids = [one.groups["qid"] for one, _ in shared]
    firsts = dict(zip(reversed(ids), reversed(shared), strict=True))
    counts = Counter(ids)
    whole = {qid: firsts[qid] for qid in dict.fromkeys(ids) if counts[qid] == 2}
    scores_a = complete_groups(ids, [one.score for one, _ in shared], variants=2)
    scores_b = complete_groups(ids, [other.score for _, other in shared], variants=2)
    values = [(scores_a.get(qid), scores_b.get(qid)) for qid in whole]
    return [pair.measure("paired accuracy", "", list(whole.values()), values)]


@dataclass(frozen=True)
class _Pair:
    """Two logs of one task, and how many items only the one or the other has."""

    name: str
    log_a: TaskLog
    log_b: TaskLog
    extra: tuple[int, int]

    def measure(
        self,
        measure: str,
        condition: str,
        items: Sequence[Both],
        values: Sequence[tuple[float | None, float | None]],
    ) -> Comparison:
        """Compare two values of each item."""
        both = [
            (one, other, x, y)
            for (one, other), (x, y) in zip(items, values, strict=True)
            if x is not None and y is not None
        ]
        a, b = [x for *_, x, _ in both], [y for *_, y in both]
        videos = [one.video for one, *_ in both]
        estimate = difference_interval(a, b, videos, level=LEVEL)
        binary = measure not in GENERATION
        test = mcnemar(a, b) if binary else None
        p = test.p_exact if test and both and len(set(videos)) == len(videos) else None
        different: bool | None = None
        if both:
            excludes_zero = estimate.low > 0 or estimate.high < 0
            different = excludes_zero if p is None else p < 1 - LEVEL
        return Comparison(
            task=self.name,
            measure=measure,
            condition=condition,
            n=len(both),
            n_clusters=estimate.n_clusters,
            unscored=len(items) - len(both),
            only_a_logged=self.extra[0],
            only_b_logged=self.extra[1],
            a=finite(mean(a)),
            b=finite(mean(b)),
            difference=finite(estimate.value),
            low=finite(estimate.low),
            high=finite(estimate.high),
            only_a_right=test.only_a if test else None,
            only_b_right=test.only_b if test else None,
            p=p,
            test="bootstrap" if p is None else "McNemar",
            different=different,
            verdict=_verdict(measure, estimate, p, different),
            flips=tuple(
                Flip(
                    id=one.id,
                    condition=one.condition,
                    target=one.target,
                    a=one.choice,
                    b=other.choice,
                    better="A" if x > y else "B",
                    line_a=one.line,
                    line_b=other.line,
                )
                for one, other, x, y in both
                if measure == "accuracy" and x != y
            ),
            prompts_differ=sum(one.prompt != other.prompt for one, other in items),
            log_a=str(self.log_a.log),
            log_b=str(self.log_b.log),
            signature_a=signature(self.log_a, condition),
            signature_b=signature(self.log_b, condition),
        )


def _verdict(measure: str, estimate: Estimate, p: float | None, different: bool | None) -> str:
    """Whether the difference is real, in a sentence."""
    if different is None:
        return "No item has a score in both runs: nothing can be said."
    scale = _SCALES.get(measure, 100.0)
    unit, digits = (" points", 1) if scale == 100 else ("", 2)
    low, high = (f"{scale * end:+.{digits}f}" for end in (estimate.low, estimate.high))
    reason = f"95% interval {low} to {high}" + (f"; p = {p:.3g}" if p is not None else "")
    if estimate.value == 0:
        return f"No difference: the runs are level ({reason})."
    better = "B" if estimate.value > 0 else "A"
    size = f"{scale * abs(estimate.value):.{digits}f}{unit}"
    if different:
        return f"{better} is better by {size}, and the difference is real ({reason})."
    return (
        f"{better} is ahead by {size}, but that is within what chance alone gives ({reason}): "
        "it cannot be said which is better."
    )


def text(
    found: Sequence[Comparison], names: tuple[str, str], *, most: int = 10, markdown: bool = False
) -> str:
    """Write the comparisons for a reader, with at most so many flipped items for each task."""
    between = [""] if markdown else []
    lines = [f"A: {names[0]}", *between, f"B: {names[1]}", ""]
    for each in found:
        lines += _lines(each, most, markdown)
    if len(found) > 1:
        lines.append(
            f"{len(found)} comparisons were made; of so many, about one in twenty looks real by "
            "chance alone."
        )
    return "\n".join(lines).rstrip() + "\n"


def _lines(each: Comparison, most: int, markdown: bool) -> list[str]:
    """One comparison, a line each of what it says."""
    title = f"{each.task}: {each.measure}" + (f", {each.condition}" if each.condition else "")
    indent, inner = ("- ", "  - ") if markdown else ("  ", "    ")
    scale = _SCALES.get(each.measure, 100.0)
    digits = 1 if scale == 100 else 3
    said = []
    if each.a is not None and each.b is not None and each.difference is not None:
        kind = "pairs" if each.measure == "paired accuracy" else "items"
        said.append(
            f"A {scale * each.a:.{digits}f}, B {scale * each.b:.{digits}f}, "
            f"B - A {scale * each.difference:+.{digits}f} over {each.n:,} {kind} in "
            f"{each.n_clusters:,} videos"
        )
    if each.only_a_right is not None:
        said.append(f"only A right: {each.only_a_right:,}; only B right: {each.only_b_right:,}")
    said += [each.verdict, *_notes(each)]
    same = each.signature_a == each.signature_b
    said.append(each.signature_a if same else f"A {each.signature_a}; B {each.signature_b}")
    lines = [f"## {title}", ""] if markdown else [title]
    lines += [f"{indent}{sentence}" for sentence in said]
    if each.flips and most:
        lines.append(f"{indent}flipped:")
        lines += [f"{inner}{_flip(flip)}" for flip in each.flips[:most]]
        if len(each.flips) > most:
            lines.append(f"{inner}... and {len(each.flips) - most:,} more")
    return [*lines, ""]


def _flip(flip: Flip) -> str:
    shown = f" ({flip.condition})" if flip.condition else ""
    return (
        f"{flip.id}{shown}: right {flip.target}, A {flip.a or 'none'}, B {flip.b or 'none'} "
        f"(log lines {flip.line_a} and {flip.line_b})"
    )


def _notes(each: Comparison) -> list[str]:
    notes = []
    if each.only_a_logged or each.only_b_logged:
        notes.append(
            f"Over the shared items only: {each.only_a_logged:,} of the first run and "
            f"{each.only_b_logged:,} of the second are left out."
        )
    if each.test == "bootstrap" and 0 < each.n_clusters < _FEW_VIDEOS:
        notes.append(f"Over {each.n_clusters} videos the interval is rough.")
    if each.unscored:
        notes.append(f"{each.unscored:,} shared items lack a score in a run and are left out.")
    if each.prompts_differ:
        notes.append(f"{each.prompts_differ:,} of the items were asked with another prompt.")
    return notes


def as_json(found: Sequence[Comparison], names: tuple[str, str]) -> str:
    """Write the comparisons with all flipped items as JSON."""
    content = {
        "format": 1,
        "a": names[0],
        "b": names[1],
        "level": LEVEL,
        "comparisons": [asdict(each) for each in found],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
