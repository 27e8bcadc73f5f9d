"""Two runs, item by item: is the difference real?

Right and wrong answers of two runs to the same questions are paired. Where every question has a
video of its own, McNemar's exact test decides; where questions share videos they are not
independent, and the paired bootstrap that redraws whole videos decides. Generation scores have
no right and wrong: the paired bootstrap of their mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from video_reasoning.metrics.intervals import difference_interval, mcnemar
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.results.items import GENERATION, Item, TaskLog, read_task
from video_reasoning.tasks.results.logs import Run, find_runs

__all__ = ["CompareError", "Comparison", "Flip", "compare", "text"]

LEVEL = 0.95
_SHOWN = 5
_FEW_VIDEOS = 10
_SCALES = {"llm_match": 1.0, "clip_score": 1.0}
"""Factor with which a measure is printed; 100 for all that are shares."""

Key = tuple[str, str]


class CompareError(UserError):
    """Runs that cannot be compared as asked."""


@dataclass(frozen=True)
class Flip:
    """An item that one run got right and the other wrong.

    Attributes:
        id: the question's id.
        condition: the frames shown; empty where the task has one way only.
        target: the right answer.
        a: what the first run answered, None for nothing.
        b: what the second run answered.
        better: "A" or "B", the run that was right.
        line_a: line of the item in the first run's log.
        line_b: line in the second's.
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
        task: the task; "A / B" where the runs' tasks have two names.
        measure: "accuracy", "paired accuracy", or a generation metric.
        condition: the frames shown, or the empty text.
        n: items (pairs) with a score in both runs.
        n_clusters: videos that they fall into.
        unscored: shared items that lack a score in a run.
        only_a_logged: items that only the first run has; left out.
        only_b_logged: items that only the second run has; left out.
        a: the first run's mean over the items, as a share or score; None over no item.
        b: the second run's.
        difference: b - a.
        low: lower end of its 95% interval (paired bootstrap over videos).
        high: upper end.
        only_a_right: items that only the first run got right; None for scores.
        only_b_right: the same of the second.
        p: McNemar's exact two-sided p-value; None where it does not hold (questions that share
            videos, generation scores).
        test: what decided: "McNemar" or "bootstrap".
        different: whether the difference is real, at the 5% level; None over no item.
        verdict: the same as a sentence.
        flips: the items on which the runs differ.
        prompts_differ: shared items that were asked in other words.
        log_a: the first run's sample log.
        log_b: the second's.
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


def compare(
    a: Path,
    b: Path,
    *,
    tasks: Sequence[str] = (),
    shared_only: bool = False,
) -> list[Comparison]:
    """Compares two runs over the tasks that both have.

    Args:
        a: output folder, results file or sample log of the first run.
        b: the same of the second.
        tasks: which tasks; "X:Y" compares X of the first run with Y of the second. None: all
            that both runs have.
        shared_only: whether to go on, over what is shared, where the runs' items differ.

    Returns:
        A comparison for each task, condition and measure.

    Raises:
        CompareError: if a path holds several models, the runs have no task in common, or the
            items of a task differ and `shared_only` is not set.
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
    cache: dict[Path, Mapping[str, Mapping[str, Any]]] = {}
    for name_a, name_b in pairs:
        log_a = read_task(first[name_a], name_a, cache)
        log_b = read_task(second[name_b], name_b, cache)
        found += _compare_task(log_a, log_b, shared_only)
    return found


def _tasks_of(path: Path) -> dict[str, Run]:
    """Task -> its run, of the one model below a path."""
    runs = find_runs([path])
    logged = [run for run in runs if any(result.samples for result in run.tasks.values())]
    models = {(run.model, run.checkpoint, run.model_args) for run in logged}
    if len(models) > 1:
        listed = "; ".join(f"{run.label}: {run.results or run.folder}" for run in logged[:_SHOWN])
        raise CompareError(
            f"{path} holds runs of {len(models)} models, so it is not clear which to compare; "
            f"name one of their results files ({listed})."
        )
    if not logged:
        raise CompareError(f"{path} holds no sample logs; evaluate with --log_samples.")
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


def _compare_task(log_a: TaskLog, log_b: TaskLog, shared_only: bool) -> list[Comparison]:
    items_a, items_b = _by_key(log_a), _by_key(log_b)
    shared = [key for key, item in items_a.items() if key in items_b and _same(item, items_b[key])]
    extra_a, extra_b = len(items_a) - len(shared), len(items_b) - len(shared)
    name = log_a.task if log_a.task == log_b.task else f"{log_a.task} / {log_b.task}"
    if (extra_a or extra_b) and not shared_only:
        changed = sum(key in items_b and key not in set(shared) for key in items_a)
        why = f" ({changed:,} have one id and another right answer)" if changed else ""
        raise CompareError(
            f"The runs of {name} are over different items: {len(shared):,} are shared, "
            f"{extra_a:,} only the first run has, {extra_b:,} only the second{why}. Run both over "
            "the same items, or compare what is shared with --shared-only."
        )
    if not shared:
        raise CompareError(f"The runs of {name} share no item; there is nothing to compare.")
    pairs = [(items_a[key], items_b[key]) for key in shared]
    found = []
    if log_a.generated or log_b.generated:
        for metric in GENERATION:
            values = [(x.values.get(metric), y.values.get(metric)) for x, y in pairs]
            if any(x is not None and y is not None for x, y in values):
                found.append(
                    _measure(name, metric, "", pairs, values, (log_a, log_b), (extra_a, extra_b))
                )
        if not found:
            raise CompareError(
                f"The runs of {name} have no scores of single questions; compute them with "
                "`video-reasoning score` for both runs."
            )
        return found
    by_condition: dict[str, list[tuple[Item, Item]]] = {}
    for pair in pairs:
        by_condition.setdefault(pair[0].condition, []).append(pair)
    for condition, part in by_condition.items():
        scores = [(x.score, y.score) for x, y in part]
        found.append(
            _measure(name, "accuracy", condition, part, scores, (log_a, log_b), (extra_a, extra_b))
        )
    if all("qid" in x.groups for x, _ in pairs):
        found.insert(0, _paired(name, pairs, (log_a, log_b), (extra_a, extra_b)))
    return found


def _by_key(log: TaskLog) -> dict[Key, Item]:
    return {(item.id, item.condition): item for item in log.items}


def _same(one: Item, other: Item) -> bool:
    """Whether two items of one id are the same question; a withheld answer says nothing."""
    return not one.target or not other.target or one.target == other.target


def _paired(
    name: str,
    pairs: Sequence[tuple[Item, Item]],
    logs: tuple[TaskLog, TaskLog],
    extra: tuple[int, int],
) -> Comparison:
    """Both variants of a question as one item, right where both are."""
    groups: dict[str, list[tuple[Item, Item]]] = {}
    for pair in pairs:
        groups.setdefault(pair[0].groups["qid"], []).append(pair)
    whole = {qid: group for qid, group in groups.items() if len(group) == 2}

    def both(items: Iterable[Item]) -> float | None:
        scores = [item.score for item in items]
        return None if None in scores else min(score for score in scores if score is not None)

    firsts, values = [], []
    for group in whole.values():
        firsts.append(group[0])
        values.append((both(x for x, _ in group), both(y for _, y in group)))
    return _measure(name, "paired accuracy", "", firsts, values, logs, extra, flips=False)


def _measure(
    name: str,
    measure: str,
    condition: str,
    pairs: Sequence[tuple[Item, Item]],
    values: Sequence[tuple[float | None, float | None]],
    logs: tuple[TaskLog, TaskLog],
    extra: tuple[int, int],
    *,
    flips: bool = True,
) -> Comparison:
    both = [
        (pair, x, y)
        for pair, (x, y) in zip(pairs, values, strict=True)
        if x is not None and y is not None
    ]
    a, b = [x for _, x, _ in both], [y for _, _, y in both]
    videos: list[Hashable] = [pair[0].video for pair, _, _ in both]
    estimate = difference_interval(a, b, videos, level=LEVEL)
    binary = measure in ("accuracy", "paired accuracy")
    test = mcnemar(a, b) if binary else None
    alone = len(set(videos)) == len(videos)
    p = test.p_exact if test and alone and both else None
    decided_by = "McNemar" if p is not None else "bootstrap"
    different: bool | None = None
    if both:
        outside = estimate.low > 0 or estimate.high < 0
        different = p < 1 - LEVEL if p is not None else outside
    mean_a = math.fsum(a) / len(a) if a else None
    mean_b = math.fsum(b) / len(b) if b else None
    only_a, only_b = (test.only_a, test.only_b) if test else (None, None)
    changed = tuple(
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
        for (one, other), x, y in both
        if flips and binary and x != y
    )
    return Comparison(
        task=name,
        measure=measure,
        condition=condition,
        n=len(both),
        n_clusters=estimate.n_clusters,
        unscored=len(pairs) - len(both),
        only_a_logged=extra[0],
        only_b_logged=extra[1],
        a=mean_a,
        b=mean_b,
        difference=_finite(estimate.value),
        low=_finite(estimate.low),
        high=_finite(estimate.high),
        only_a_right=only_a,
        only_b_right=only_b,
        p=p,
        test=decided_by,
        different=different,
        verdict=_verdict(measure, mean_a, mean_b, estimate.low, estimate.high, p, different),
        flips=changed,
        prompts_differ=sum(one.prompt != other.prompt for one, other in pairs),
        log_a=str(logs[0].log),
        log_b=str(logs[1].log),
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _verdict(
    measure: str,
    a: float | None,
    b: float | None,
    low: float,
    high: float,
    p: float | None,
    different: bool | None,
) -> str:
    """Whether the difference is real, in a sentence."""
    if a is None or b is None or different is None:
        return "No item has a score in both runs: nothing can be said."
    scale = _SCALES.get(measure, 100.0)
    unit = " points" if scale == 100 else ""
    digits = 1 if scale == 100 else 2
    span = f"95% interval {scale * low:+.{digits}f} to {scale * high:+.{digits}f}"
    reason = f"{span}; p = {p:.3g}" if p is not None else span
    if a == b:
        return f"No difference: the runs are level ({reason})."
    better = "B" if b > a else "A"
    size = f"{scale * abs(b - a):.{digits}f}{unit}"
    if different:
        return f"{better} is better by {size}, and the difference is real ({reason})."
    return (
        f"{better} is ahead by {size}, but that is within what chance alone gives ({reason}): "
        "it cannot be said which is better."
    )


def text(
    found: Sequence[Comparison], names: tuple[str, str], *, most: int = 10, markdown: bool = False
) -> str:
    """The comparisons for a reader.

    Args:
        found: what :func:`compare` gave.
        names: what to call the two runs.
        most: flipped items listed for each task, at most.
        markdown: whether headings are marked.
    """
    lines = (
        [f"A: {names[0]}", "", f"B: {names[1]}", ""]
        if markdown
        else [
            f"A: {names[0]}",
            f"B: {names[1]}",
            "",
        ]
    )
    for each in found:
        shown = f", {each.condition}" if each.condition else ""
        title = f"{each.task}: {each.measure}{shown}"
        lines += [f"## {title}", ""] if markdown else [title]
        indent = "- " if markdown else "  "
        scale = _SCALES.get(each.measure, 100.0)
        digits = 1 if scale == 100 else 3
        if each.a is not None and each.b is not None and each.difference is not None:
            lines.append(
                f"{indent}A {scale * each.a:.{digits}f}, B {scale * each.b:.{digits}f}, "
                f"B - A {scale * each.difference:+.{digits}f} over {each.n:,} "
                f"{'pairs' if each.measure == 'paired accuracy' else 'items'} "
                f"in {each.n_clusters:,} videos"
            )
        if each.only_a_right is not None:
            lines.append(
                f"{indent}only A right: {each.only_a_right:,}; only B right: {each.only_b_right:,}"
            )
        lines.append(f"{indent}{each.verdict}")
        lines += [f"{indent}{note}" for note in _notes(each)]
        if each.flips and most:
            lines.append(f"{indent}flipped:")
            inner = "  - " if markdown else "    "
            for flip in each.flips[:most]:
                lines.append(
                    f"{inner}{flip.id}{f' ({flip.condition})' if flip.condition else ''}: right "
                    f"{flip.target}, A {flip.a or 'none'}, B {flip.b or 'none'} "
                    f"(log lines {flip.line_a} and {flip.line_b})"
                )
            if len(each.flips) > most:
                lines.append(f"{inner}... and {len(each.flips) - most:,} more")
        lines.append("")
    if len(found) > 1:
        lines.append(
            f"{len(found)} comparisons were made; of so many, about one in twenty looks real by "
            "chance alone."
        )
    return "\n".join(lines).rstrip() + "\n"


def _notes(each: Comparison) -> list[str]:
    notes = []
    if each.only_a_logged or each.only_b_logged:
        notes.append(
            f"Over the shared items only: {each.only_a_logged:,} of the first run and "
            f"{each.only_b_logged:,} of the second are left out."
        )
    if each.test == "bootstrap" and 0 < each.n_clusters < _FEW_VIDEOS:
        notes.append(f"Over {each.n_clusters} videos the interval is rough, and rather too narrow.")
    if each.unscored:
        notes.append(f"{each.unscored:,} shared items lack a score in a run and are left out.")
    if each.prompts_differ:
        notes.append(f"{each.prompts_differ:,} of the items were asked with another prompt.")
    return notes


def as_json(found: Sequence[Comparison], names: tuple[str, str]) -> str:
    """The comparisons with all flipped items."""
    content = {
        "format": 1,
        "a": names[0],
        "b": names[1],
        "level": LEVEL,
        "comparisons": [asdict(each) for each in found],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
