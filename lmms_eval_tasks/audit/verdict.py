"""What an audit's numbers say, in plain words.

A verdict is about the size of an effect, and about how sure that is. An effect matters if it is
surely above one margin and is negligible if it is surely below another (`metrics.audits`); else the
sentence says how many questions would settle it. Few questions prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from video_reasoning.metrics.audits import MATTERS, NEGLIGIBLE, Margins, holm, p_above, p_below
from video_reasoning.metrics.audits import margins as margins_of
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import format_ratio
from video_reasoning.tasks.audit.result import AuditResult
from video_reasoning.tasks.audit.variants import KINDS, Variant, parse, reference_of

__all__ = ["FEW_VIDEOS", "corrected", "margins", "verdict"]

FEW_VIDEOS = 20
"""Below this number of videos intervals cover less than they state; simulated in docs/audit.md."""

_SOUGHT = 1_000_000
"""Questions that nobody will write."""


def margins(numbers: AuditResult, accuracy: float) -> Margins:
    """Return the sizes of an effect that matter and that are negligible for a task."""
    return margins_of(accuracy, numbers.chance)


def claims(numbers: AuditResult, variants: Iterable[Variant]) -> dict[str, float]:
    """Return what a summary may claim -> the p-value of its claim.

    Returns:
        ``text``, ``static``, ``frames``, ``temporal`` and ``bag``; nothing if no condition is there
        to compare with, or nothing was scored.
    """
    by_kind = _asked(numbers, variants)
    reference = reference_of(by_kind.values())
    if reference is None or not numbers.n:
        return {}
    sizes = margins(numbers, numbers.accuracies[reference.name].value)
    differences = {
        kind: numbers.differences[variant.name]
        for kind, variant in by_kind.items()
        if variant.name in numbers.differences and not variant.partial
    }
    found: dict[str, float] = {}
    if "blind" in differences:
        chance = 0.0 if math.isnan(numbers.chance) else numbers.chance
        guessing = p_above(numbers.accuracies["blind"], chance)
        found["text"] = max(p_below(differences["blind"], sizes.negligible), guessing)
    frames = [each for kind, each in differences.items() if KINDS[kind].role == "frame"]
    if frames:
        # One frame is enough if any single frame is: as many tries.
        static = min(p_below(each, sizes.negligible) for each in frames)
        found["static"] = min(1.0, len(frames) * static)
        found["frames"] = max(p_above(each, sizes.matters) for each in frames)
        if order := differences.get("shuffled"):
            found["temporal"] = max(found["frames"], p_above(order, sizes.matters))
            found["bag"] = max(found["frames"], p_below(order, sizes.negligible))
    return found


def _asked(numbers: AuditResult, variants: Iterable[Variant]) -> dict[str, Variant]:
    """Kind of condition -> the condition, of those under which the task was asked."""
    return {
        variant.kind: variant
        for variant in variants
        if not variant.order and variant.name in numbers.accuracies
    }


def corrected(results: Sequence[AuditResult], variants: Sequence[Variant]) -> list[AuditResult]:
    """Return the audited tasks of one call with verdicts corrected for their number (Holm)."""
    each = [claims(result, variants) for result in results]
    p_values: list[dict[str, float]] = [{} for _ in results]
    for claim in dict.fromkeys(name for one in each for name in one):
        places = [place for place, one in enumerate(each) if claim in one]
        for place, p_value in zip(places, holm([each[n][claim] for n in places]), strict=True):
            p_values[place][claim] = p_value
    return [
        replace(result, verdict=verdict(result, variants, p_values[place], len(results)))
        for place, result in enumerate(results)
    ]


def verdict(
    numbers: AuditResult,
    variants: Iterable[Variant],
    p_values: Mapping[str, float] | None = None,
    n_tasks: int = 1,
) -> list[str]:
    """Return the sentences about one audited task, the summary first.

    Args:
        numbers: The task's numbers.
        variants: The conditions that were asked.
        p_values: Claim -> its p-value, corrected for the tasks of the audit; None for one task.
        n_tasks: The number of those tasks.
    """
    by_kind = _asked(numbers, variants)
    reference = reference_of(by_kind.values())
    if reference is None:
        return ["No verdict: neither ordered nor original was among the conditions."]
    if not numbers.n:
        return ["No verdict: no question was scored under every condition."]
    accuracy = numbers.accuracies[reference.name]
    if accuracy.value == 0:
        return [f"No verdict: the model got none of the {numbers.n:,} questions right."]
    raw = claims(numbers, by_kind.values())
    sizes = margins(numbers, accuracy.value)
    alpha = (1 - accuracy.level) / 2
    sure = {name for name, p in (raw if p_values is None else p_values).items() if p <= alpha}
    sentences = [_summary(numbers, sizes, sure, by_kind)]
    lost = {name for name, p in raw.items() if p <= alpha} - sure
    if lost and sentences[0].startswith("Undecided"):
        sentences.append(
            f"By itself it would have a verdict; among {n_tasks} tasks (Holm) it is not sure "
            "enough."
        )
    if accuracy.n_clusters < FEW_VIDEOS:
        sentences.append(
            f"Caution: {accuracy.n_clusters} video{'s' * (accuracy.n_clusters > 1)}. With fewer "
            f"than {FEW_VIDEOS}, intervals miss the truth more often than they state."
        )
    for kind in (kind for kind in KINDS if kind in by_kind):
        variant = by_kind[kind]
        found = numbers.differences.get(variant.name)
        if found is None:
            continue
        if variant.role == "frame":
            sentences.append(_one_frame(numbers, variant, found, sizes))
        elif variant.role == "order":
            sentences.append(_order(numbers, variant, found, sizes))
        elif variant.role == "control":
            sentences.append(_control(numbers, variant, found, sizes))
    if "blind" in by_kind:
        sentences.append(_blind(numbers, accuracy))
    sentences += [_timed(numbers)] if numbers.timed else []
    rho = numbers.ratios.get("rho")
    if rho is not None and rho.n:
        sentences.append(_key_frame(rho))
    for name, both in numbers.paired.items():
        sentences.append(_reordered(numbers, name, both, accuracy))
    sentences += [*_all_rotations(numbers), *_letters(numbers), *_draws(numbers)]
    sentences += [_classes(numbers)] if numbers.classes else []
    sentences += _groups(numbers, reference.name)
    sentences.append(
        f"An effect matters above {_points(sizes.matters)} and is negligible below "
        f"{_points(sizes.negligible)} points ({_points(MATTERS[0])} and "
        f"{_points(NEGLIGIBLE[0])}, or {_percent(MATTERS[1])} and {_percent(NEGLIGIBLE[1])} of "
        "what is above guessing if that is less)."
    )
    return sentences


def _summary(
    numbers: AuditResult, sizes: Margins, sure: set[str], by_kind: Mapping[str, Variant]
) -> str:
    over_blind = numbers.differences.get("blind")
    if "text" in sure:
        return (
            "The text suffices: without any frame this model is as good as with the video, and "
            "better than guessing."
        )
    if over_blind is not None and not over_blind.low > 0:
        return (
            "Undecided: this model answers no better with the video than without it, so that it "
            "cannot show what the questions need. Audit with a model that uses the video."
        )
    if "static" in sure:
        return "Static: one frame is enough for what this model gets right."
    if "frames" not in sure:
        return (
            "Undecided: whether several frames are needed cannot be told from "
            f"{numbers.n:,} questions."
        )
    order = by_kind.get("shuffled")
    if {"temporal", "bag"} <= sure:
        return (
            "It takes several frames; their order is worth little "
            f"({_points(numbers.differences[order.name].value) if order else ''} points)."
        )
    if "temporal" in sure:
        return "Temporal: it takes several frames, and their order."
    if "bag" in sure:
        return "It takes several frames, but in any order: a bag of frames is enough."
    return (
        "It takes several frames; whether their order matters cannot be told from "
        f"{numbers.n:,} questions."
    )


def _one_frame(numbers: AuditResult, variant: Variant, lost: Estimate, sizes: Margins) -> str:
    words = KINDS[variant.kind].words
    if not lost.n:
        return f"No question was scored {words}."
    kappa = numbers.ratios[f"kappa_{variant.name}"]
    if math.isnan(kappa.value):
        return f"Nothing is right {words}."
    left = 1 / (1 + kappa.value) if kappa.value > -1 else math.inf
    share = f"{_percent(left)} of its multi-frame accuracy is there {words}"
    return (
        f"{share}{_above_guessing(numbers, variant)}: {_effect(lost)} "
        f"({_with_interval('kappa', kappa)}){_meaning(numbers, variant, lost, sizes)}"
        f"{_flips(numbers, variant, lost)}."
    )


def _order(numbers: AuditResult, variant: Variant, lost: Estimate, sizes: Margins) -> str:
    tau = numbers.ratios["tau"]
    if not lost.n or math.isnan(tau.value):
        return "Frame order: with shuffled frames nothing is right."
    kept = numbers.kept.get(variant.name)
    share = ""
    if kept is not None and not math.isnan(kept.value):
        share = f", {_percent(min(1.0, 1 - kept.value))} of what is above guessing"
    return (
        f"Shuffling the frames: {_effect(lost)}{share} ({_with_interval('tau', tau)})"
        f"{_meaning(numbers, variant, lost, sizes)}{_flips(numbers, variant, lost)}."
    )


def _control(numbers: AuditResult, variant: Variant, lost: Estimate, sizes: Margins) -> str:
    kind = KINDS[variant.kind]
    if not lost.n:
        return f"No question was scored {kind.words}."
    right = f"{_percent(numbers.accuracies[variant.name].value)} are right"
    return (
        f"{kind.subject}: {_effect(lost)}, and {right}{_meaning(numbers, variant, lost, sizes)}"
        f"{_flips(numbers, variant, lost)}."
    )


def _flips(numbers: AuditResult, variant: Variant, lost: Estimate) -> str:
    """Say how many answers change, if the accuracy does not show it."""
    found = numbers.measures.get("flips", {}).get(variant.name)
    if found is None or lost.low > 0 or lost.high < 0 or not found.value > abs(lost.value):
        return ""
    return f"; {_percent(found.value)} of the questions change between right and wrong"


def _timed(numbers: AuditResult) -> str:
    text = f"{numbers.timed:,} of {numbers.n:,} questions name times"
    costs = [
        f"without them {name} costs {_points(found.value)} points "
        f"({_points(found.low)} to {_points(found.high)})"
        for name, found in numbers.untimed.items()
        if found.n
    ]
    said = f", which frames in other places do not keep: {'; '.join(costs)}" if costs else ""
    return f"{text}{said}."


def _all_rotations(numbers: AuditResult) -> list[str]:
    return [
        f"{_percent(found.value)} of {found.n:,} questions are right in every rotation of their "
        f"options, {_interval(found)}."
        for found in numbers.measures.get("all rotations", {}).values()
    ]


def _letters(numbers: AuditResult) -> list[str]:
    """Name the letters that are surely chosen more or less often than they are right."""
    said = [
        f"{name} is chosen {_percent(used.chosen)} of the time and right {_percent(used.right)}"
        for name, used in numbers.letters.items()
        if used.excess.low > 0 or used.excess.high < 0
    ]
    return [f"Letters: {', '.join(said)}."] if said else []


def _draws(numbers: AuditResult) -> list[str]:
    return [
        f"{_percent(found.value)} of the questions are right in some draws of {name} and wrong in "
        f"others, {_interval(found)}."
        for name, found in numbers.measures.get("draws differ", {}).items()
    ]


def _classes(numbers: AuditResult) -> str:
    counts = [f"{name} {count:,}" for name, count in numbers.classes.items()]
    total = sum(numbers.classes.values())
    text = f"By what answers them, {total:,} questions are: {', '.join(counts)}"
    guessed = [f"{number:,.0f}" for number in numbers.guessed_classes.values()]
    return f"{text} (guessing: {', '.join(guessed)})." if guessed else f"{text}."


def _groups(numbers: AuditResult, reference: str) -> list[str]:
    """Say how many groups of questions are right as a whole, of each kind."""
    said = []
    for kind, by_condition in numbers.groups.items():
        found = by_condition[reference]
        shares = [
            f"{_percent(each.value)} {KINDS[parse(name).kind].words}"
            for name, each in by_condition.items()
            if name != reference and KINDS[parse(name).kind].words
        ]
        if kind in numbers.guessed_groups:
            shares.append(f"{_percent(numbers.guessed_groups[kind])} by guessing")
        rest = "".join(f", {each}" for each in shares)
        named = f"groups ({kind})" if kind else "groups"
        said.append(f"{_percent(found.value)} of {found.n:,} {named} are right as a whole{rest}.")
    return said


def _interval(found: Estimate) -> str:
    return f"{found.level:.0%} interval {_points(found.low)} to {_points(found.high)}"


def _above_guessing(numbers: AuditResult, variant: Variant) -> str:
    kept = numbers.kept.get(variant.name)
    if kept is None or math.isnan(kept.value):
        return ""
    return f", and {_percent(max(0.0, kept.value))} of what is above guessing"


def _effect(lost: Estimate) -> str:
    verb = "costs" if lost.value >= 0 else "gains"
    sign = math.copysign(1, lost.value)
    low, high = sorted((sign * lost.low, sign * lost.high))
    return (
        f"it {verb} {_points(abs(lost.value))} points of accuracy, {lost.level:.0%} interval "
        f"{_points(low)} to {_points(high)}"
    )


def _meaning(numbers: AuditResult, variant: Variant, lost: Estimate, sizes: Margins) -> str:
    if lost.high < sizes.negligible:
        little = "little, but surely something" if lost.low > 0 else "negligible"
        return f"; that is {little}"
    if lost.low > sizes.matters:
        return ""
    needed = numbers.needed.get(variant.name, math.inf)
    if not needed < _SOUGHT:
        return f"; {lost.n:,} questions do not settle whether that matters"
    return (
        f"; {lost.n:,} questions do not settle whether that matters, about "
        f"{max(int(needed), lost.n + 1):,} would (80% power)"
    )


def _blind(numbers: AuditResult, accuracy: Estimate) -> str:
    blind, chance = numbers.accuracies["blind"], numbers.chance
    score = "the mean score is {}" if numbers.graded else "{} of the questions are answered right"
    text = (
        f"Without any frame {_percent(blind.value / accuracy.value)} of its accuracy is there "
        f"({score.format(_percent(blind.value))} blind"
    )
    if math.isnan(chance):
        return f"{text})."
    text += f", guessing gets {_percent(chance)})"
    if blind.low > chance:
        return f"{text}: the text gives answers away."
    return f"{text}: no better than guessing." if blind.value <= chance else f"{text}."


def _key_frame(rho: Estimate) -> str:
    if math.isnan(rho.value):
        return "The handpicked frame: with a random one nothing is right."
    if rho.low > 0:
        words = "A well-chosen single frame tells more than a random one"
    elif rho.high < 0:
        words = "The handpicked frame tells less than a random one"
    else:
        words = (
            "Whether the handpicked frame tells more than a random one cannot be told from "
            f"{rho.n:,} questions"
        )
    return f"{words} ({_with_interval('rho', rho)})."


def _reordered(numbers: AuditResult, name: str, both: Estimate, accuracy: Estimate) -> str:
    if not both.n:
        return "No options were found that could be put in another order."
    once = numbers.accuracies[name]
    if numbers.graded:
        return (
            f"With the options in another order the mean score is {_percent(once.value)}, and that "
            f"of the worse order of each question {_percent(both.value)} ({both.n:,} questions; in "
            f"the task's own order {_percent(accuracy.value)} over all)."
        )
    return (
        f"With the options in another order {_percent(once.value)} are right, and "
        f"{_percent(both.value)} in both orders ({both.n:,} questions; in the task's own order "
        f"{_percent(accuracy.value)} of all)."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if math.isfinite(share) else "more than all"


def _points(difference: float) -> str:
    return f"{100 * difference:.1f}".replace("-0.0", "0.0")


def _with_interval(name: str, found: Estimate) -> str:
    ends = ("infinity" if math.isinf(end) else format_ratio(end) for end in (found.low, found.high))
    return f"{name} {format_ratio(found.value)}, {found.level:.0%} interval {' to '.join(ends)}"
