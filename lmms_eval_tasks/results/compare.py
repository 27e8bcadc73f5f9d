"""Runs compared two by two, item by item: is the difference real?

Right and wrong answers of two runs to the same questions are paired. If every question has a
video of its own, McNemar's exact test gives the p-value; questions that share videos are not
independent, and the interval of the difference gives it, as it does for generation scores. The
p-values of all comparisons of a call are corrected for their number (Holm).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path

from video_reasoning.metrics.accuracy import finite, mean
from video_reasoning.metrics.audits import detectable, holm, p_two_sided
from video_reasoning.metrics.intervals import difference_interval, mcnemar
from video_reasoning.metrics.paired import complete_groups
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.results.items import (
    GENERATION,
    Item,
    Questions,
    Seen,
    TaskLog,
    frames_seen,
    read_task,
)
from video_reasoning.tasks.results.logs import Run, find_runs
from video_reasoning.tasks.results.numbers import LEVEL
from video_reasoning.tasks.results.signature import signature

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
        difference: b - a, with the ends of its interval.
        only_a_right: Items that only the first run got right; None for scores.
        p: Two-sided p-value; None over no item.
        test: Where it is from: "McNemar" (exact) or "bootstrap" (the interval: questions that
            share videos, generation scores).
        different: Whether the difference is real: the corrected p-value is below 1 - level; None
            over no item.
        verdict: The same as a sentence.
        name_a: The first run's name in sentences: its model, and more if two would share it.
        p_corrected: The p-value times the number of comparisons that Holm's method demands.
        detectable: The smallest difference that this many items show with 80% power; None over
            no item.
        seen_a: What reached the first run's model of the shared items.
        prompts_differ: Shared items that were asked in other words.
        log_a: The first run's sample log.
        signature_a: What identifies the first run's numbers.
        level: Coverage of the interval.
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
    name_a: str = ""
    name_b: str = ""
    p_corrected: float | None = None
    detectable: float | None = None
    seen_a: Seen | None = None
    seen_b: Seen | None = None
    level: float = LEVEL


def compare(
    *paths: Path,
    models: Sequence[str] = (),
    tasks: Sequence[str] = (),
    shared_only: bool = False,
    level: float = LEVEL,
) -> list[Comparison]:
    """Compare runs two by two over the tasks that both have.

    Args:
        paths: Output folders, results files or sample logs. Several paths of one model each are a
            run each; one path is taken apart by its models.
        models: Which models of the paths, by checkpoint or by the harness's name. Empty: all.
        tasks: Which tasks; "X:Y" compares X of the first run with Y of the second. Empty: all
            that both runs have.
        shared_only: Whether to go on, over what is shared, if the runs' items differ.
        level: Coverage of the intervals, between 0 and 1.

    Returns:
        A comparison for each two runs, task, condition and measure.

    Raises:
        CompareError: There are not two runs, a path has several models none of which is named,
            two runs have no task in common, or the items of a task differ and `shared_only` is
            not set.
    """
    found: list[Comparison] = []
    cache: dict[Path, Questions] = {}
    for first, second in combinations(_sides(paths, models), 2):
        pairs = [_named(name, first, second) for name in tasks]
        if not tasks:
            pairs = [(name, name) for name in first.tasks if name in second.tasks]
        if not pairs:
            raise CompareError(
                f"The runs have no logged task in common: {first.name} has "
                f"{', '.join(first.tasks) or 'none'}, {second.name} has "
                f"{', '.join(second.tasks) or 'none'}; name two with --task A:B."
            )
        for name_a, name_b in pairs:
            log_a = read_task(first.tasks[name_a], name_a, cache)
            log_b = read_task(second.tasks[name_b], name_b, cache)
            for each in compare_logs(log_a, log_b, shared_only=shared_only, level=level):
                found.append(replace(each, name_a=first.name, name_b=second.name))
    return judged(found)


@dataclass(frozen=True)
class _Side:
    """What is compared: a model's logged tasks, each with its run.

    Attributes:
        name: What sentences call it.
        path: Where it was found.
        tasks: Task -> the latest run that logged it.
    """

    name: str
    path: Path
    tasks: Mapping[str, Run]

    @property
    def run(self) -> Run:
        return next(iter(self.tasks.values()))


def _sides(paths: Sequence[Path], models: Sequence[str]) -> list[_Side]:
    """Return the runs to compare, in the order of the models named, else of the paths."""
    found = [side for path in paths for side in _models(path)]
    if models:
        found = [side for name in models for side in _of_model(name, found)]
    elif len(paths) > 1 and len(found) > len(paths):
        path = next(side.path for side in found if len(list(_models(side.path))) > 1)
        names = ", ".join(dict.fromkeys(side.name for side in found if side.path == path))
        raise CompareError(
            f"{path} has runs of several models ({names}), so it is not clear which to compare; "
            "name them with --models."
        )
    if len(found) < 2:
        names = ", ".join(side.name for side in found) or "none"
        raise CompareError(f"A comparison needs two runs; there are: {names}.")
    named = [side.name for side in found]
    if len(set(named)) < len(named):
        # One model twice: what tells the runs apart is where they are, or their arguments.
        by_path = len({side.path for side in found}) == len(found)
        return [
            replace(side, name=str(side.path) if by_path else f"{side.name} ({_arguments(side)})")
            for side in found
        ]
    return found


def _arguments(side: _Side) -> str:
    return side.run.model_args or "no arguments"


def _of_model(name: str, sides: Sequence[_Side]) -> Iterator[_Side]:
    matches = [side for side in sides if name in (side.name, side.run.model)]
    if not matches:
        names = ", ".join(dict.fromkeys(side.name for side in sides)) or "none"
        raise CompareError(f"There is no run of the model {name}; there are: {names}.")
    yield from matches


def _models(path: Path) -> Iterator[_Side]:
    """Yield the models below a path, each with its logged tasks."""
    logged = [
        run for run in find_runs([path]) if any(result.samples for result in run.tasks.values())
    ]
    if not logged:
        raise CompareError(f"{path} has no sample logs; evaluate with --log_samples.")
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in logged:
        groups.setdefault((run.model, run.checkpoint, run.model_args), []).append(run)
    for runs in groups.values():
        tasks = {task: run for run in runs for task, result in run.tasks.items() if result.samples}
        yield _Side(runs[0].label, path, tasks)


def _named(name: str, first: _Side, second: _Side) -> tuple[str, str]:
    one, colon, other = name.partition(":")
    pair = (one, other if colon else one)
    for task, side in zip(pair, (first, second), strict=True):
        if task not in side.tasks:
            raise CompareError(
                f"{side.path} has no logged run of {task!r} by {side.name}; it has "
                f"{', '.join(side.tasks) or 'none'}."
            )
    return pair


def compare_logs(
    log_a: TaskLog, log_b: TaskLog, *, shared_only: bool = False, level: float = LEVEL
) -> list[Comparison]:
    """Compare two logs of one task, without names and verdicts: see :func:`judged`.

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
    pair = _Pair(name, log_a, log_b, extra, level)
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
    """Two logs of one task, how many items only the one or the other has, and the coverage."""

    name: str
    log_a: TaskLog
    log_b: TaskLog
    extra: tuple[int, int]
    level: float

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
        estimate = difference_interval(a, b, videos, level=self.level)
        binary = measure not in GENERATION
        test = mcnemar(a, b) if binary else None
        independent = test is not None and len(set(videos)) == len(videos)
        p = test.p_exact if test and independent else p_two_sided(estimate)
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
            p=p if both else None,
            test="McNemar" if independent else "bootstrap",
            different=None,
            verdict="",
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
            detectable=finite(detectable(estimate)),
            seen_a=frames_seen(one.sight for one, _ in items),
            seen_b=frames_seen(other.sight for _, other in items),
            level=self.level,
        )


def judged(found: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with their p-values corrected for their number, and verdicts."""
    corrected = iter(holm([each.p for each in found if each.p is not None]))
    done = []
    for each in found:
        p = next(corrected) if each.p is not None else None
        one = replace(each, p_corrected=p, different=None if p is None else p < 1 - each.level)
        done.append(replace(one, verdict=_verdict(one, len(found))))
    return done


def _scale(measure: str) -> tuple[float, int, str]:
    """Return the factor with which a measure is printed, its digits, and its unit in a sentence."""
    scale = _SCALES.get(measure, 100.0)
    return (scale, 1, " points") if scale == 100 else (scale, 3, "")


def p_value(p: float) -> str:
    """Return what follows "p" in a sentence."""
    return f"= {p:.2g}" if p >= 0.0001 else "< 0.0001"


def _verdict(each: Comparison, comparisons: int) -> str:
    """Whether the difference is real, in a sentence; it and its interval are the leader's."""
    if each.difference is None or each.low is None or each.high is None or each.p is None:
        return "No item has a score in both runs: nothing can be said."
    scale, digits, unit = _scale(each.measure)
    leads = each.difference > 0
    leader, other = (each.name_b, each.name_a) if leads else (each.name_a, each.name_b)
    ends = (each.low, each.high) if leads else (-each.high, -each.low)
    low, high = (f"{scale * end + 0.0:.{digits}f}" for end in ends)
    found = f"{100 * each.level:g}% interval {low} to {high}; p {p_value(each.p)}"
    if each.p_corrected is not None and comparisons > 1:
        found += f", corrected for {comparisons} comparisons {p_value(each.p_corrected)}"
    size = f"{scale * abs(each.difference):.{digits}f}{unit}"
    if each.different:
        return f"{leader} is better than {other} by {size}, and the difference is real ({found})."
    shown = ""
    if each.detectable is not None:
        shown = (
            f" This many would show a difference of {scale * each.detectable:.{digits}f}{unit} "
            "(80% power)."
        )
    if not each.difference:
        return f"No difference: {leader} and {other} are level ({found}).{shown}"
    if each.p < 1 - each.level:
        return (
            f"{leader} is ahead of {other} by {size}; alone that would be real, but not among so "
            f"many comparisons ({found}).{shown}"
        )
    return (
        f"{leader} is ahead of {other} by {size}, which chance alone gives as well ({found}): it "
        f"cannot be said which is better.{shown}"
    )


def text(found: Sequence[Comparison], *, most: int = 10, markdown: bool = False) -> str:
    """Write the comparisons for a reader, with at most so many flipped items for each task."""
    lines: list[str] = []
    for each in found:
        lines += _lines(each, most, markdown)
    return "\n".join(lines).rstrip() + "\n"


def _lines(each: Comparison, most: int, markdown: bool) -> list[str]:
    """One comparison, a line each of what it says."""
    title = f"{each.task}: {each.measure}" + (f", {each.condition}" if each.condition else "")
    indent, inner = ("- ", "  - ") if markdown else ("  ", "    ")
    scale, digits, _ = _scale(each.measure)
    said = []
    if each.a is not None and each.b is not None:
        kind = "pairs" if each.measure == "paired accuracy" else "items"
        said.append(
            f"{each.name_a} {scale * each.a:.{digits}f}, {each.name_b} "
            f"{scale * each.b:.{digits}f}, over {each.n:,} {kind} in {each.n_clusters:,} videos"
        )
    if each.only_a_right is not None:
        said.append(
            f"right only by {each.name_a}: {each.only_a_right:,}; only by {each.name_b}: "
            f"{each.only_b_right:,}"
        )
    said += [each.verdict, *_notes(each)]
    same = each.signature_a == each.signature_b
    both = f"{each.name_a}: {each.signature_a}; {each.name_b}: {each.signature_b}"
    said.append(each.signature_a if same else both)
    lines = [f"## {title}", ""] if markdown else [title]
    lines += [f"{indent}{sentence}" for sentence in said]
    if each.flips and most:
        lines.append(f"{indent}right by one, wrong by the other:")
        lines += [f"{inner}{_flip(flip, each)}" for flip in each.flips[:most]]
        if len(each.flips) > most:
            lines.append(f"{inner}... and {len(each.flips) - most:,} more")
    return [*lines, ""]


def _flip(flip: Flip, of: Comparison) -> str:
    shown = f" ({flip.condition})" if flip.condition else ""
    return (
        f"{flip.id}{shown}: the answer is {flip.target}; {of.name_a} chose {flip.a or 'none'}, "
        f"{of.name_b} {flip.b or 'none'} (lines {flip.line_a} and {flip.line_b} of the logs)"
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
    if each.seen_a and each.seen_b and each.seen_a.known + each.seen_b.known:
        notes.append(
            f"Different frames seen per item: {each.name_a} "
            f"{each.seen_a.text or 'not known'}; {each.name_b} {each.seen_b.text or 'not known'}."
        )
    if each.prompts_differ:
        notes.append(f"{each.prompts_differ:,} of the items were asked with another prompt.")
    return notes


def as_json(found: Sequence[Comparison]) -> str:
    """Write the comparisons with all flipped items as JSON."""
    content = {
        "format": 2,
        "level": found[0].level if found else LEVEL,
        "comparisons": [asdict(each) for each in found],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
