"""What an audit's numbers say, in plain words.

A sentence states a difference only if its interval leaves no doubt about the sign. Otherwise it
says so, and how large a difference the questions at hand would still allow: few questions prove
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import format_ratio
from video_reasoning.tasks.audit.result import AuditResult
from video_reasoning.tasks.audit.variants import KINDS, Variant, reference_of

__all__ = ["SMALL", "verdict"]

SMALL = 0.25
"""A relative gain whose interval contains zero counts as none if all of it is below this."""


def verdict(
    numbers: AuditResult, by_kind: Mapping[str, Variant], over_blind: Estimate | None
) -> list[str]:
    """Return the sentences about one audited task, the summary first.

    Args:
        numbers: The task's numbers.
        by_kind: Kind of condition -> the condition that was asked.
        over_blind: Accuracy of the frames in order less that without frames; None if not asked.
    """
    reference = reference_of(by_kind.values())
    if reference is None:
        return ["No verdict: neither ordered nor original was among the conditions."]
    if not numbers.n:
        return ["No verdict: no question was scored under every condition."]
    accuracy = numbers.accuracies[reference.name]
    if accuracy.value == 0:
        return [f"No verdict: the model got none of the {numbers.n:,} questions right."]
    kappas = {
        variant: numbers.ratios[f"kappa_{variant.name}"]
        for variant in (by_kind[kind] for kind in KINDS if kind in by_kind)
        if variant.role == "frame"
    }
    whole = [kappa for variant, kappa in kappas.items() if not variant.partial]
    tau, rho = numbers.ratios.get("tau"), numbers.ratios.get("rho")
    sentences = [_summary(numbers.n, whole, tau, over_blind)]
    sentences += [_one_frame(KINDS[variant.kind].words, kappas[variant]) for variant in kappas]
    if tau is not None:
        sentences.append(_order(tau))
    if "blind" in by_kind:
        sentences.append(_blind(numbers, accuracy))
    if rho is not None and rho.n:
        sentences.append(_key_frame(rho))
    for name, both in numbers.paired.items():
        sentences.append(_reordered(numbers, name, both, accuracy))
    return sentences


def _summary(
    n: int, kappas: list[Estimate], tau: Estimate | None, over_blind: Estimate | None
) -> str:
    if over_blind is not None and not over_blind.low > 0:
        return (
            "Undecided: this model answers no better with the video than without it, so that it "
            "cannot show what the questions need. Audit with a model that uses the video."
        )
    frames = [_sign(kappa) for kappa in kappas]
    order = _sign(tau) if tau is not None else "open"
    if "none" in frames or "less" in frames:
        return "Static: one frame is enough for what this model gets right."
    if not frames or "open" in frames:
        return f"Undecided: whether several frames are needed cannot be told from {n:,} questions."
    if order == "more":
        return "Temporal: it takes several frames, and their order."
    if order in ("none", "less"):
        return "It takes several frames, but in any order: a bag of frames is enough."
    return (
        f"It takes several frames; whether their order matters cannot be told from {n:,} questions."
    )


def _sign(gain: Estimate) -> str:
    """``more``, ``less``, ``none`` (surely small) or ``open`` (the interval allows much)."""
    if math.isnan(gain.value):
        # Nothing is right below the line: the gain is as large as can be, if anything is above.
        return "more" if gain.n else "open"
    if gain.low > 0:
        return "more"
    if gain.high < 0:
        return "less"
    return "none" if gain.high < SMALL else "open"


def _one_frame(words: str, gain: Estimate) -> str:
    if not gain.n:
        return f"No question was scored {words}."
    if math.isnan(gain.value):
        return f"Nothing is right {words}."
    left = 1 / (1 + gain.value) if gain.value > -1 else math.inf
    share = f"{_percent(left)} of its multi-frame accuracy is there {words}"
    meaning = {
        "more": "",
        "none": "; more frames add nothing that can be told from noise",
        "less": "; more frames only hurt",
        "open": f"; more frames add nothing that {gain.n:,} questions can tell from noise",
    }[_sign(gain)]
    return f"{share} ({_with_interval('kappa', gain)}){meaning}."


def _order(tau: Estimate) -> str:
    if not tau.n or math.isnan(tau.value):
        return "Frame order: with shuffled frames nothing is right."
    words = {
        "more": f"Shuffling the frames costs {_percent(tau.value / (1 + tau.value))} of its "
        "accuracy",
        "less": "It answers better with shuffled frames",
        "none": "Frame order adds nothing that can be told from noise",
        "open": f"Frame order adds nothing that {tau.n:,} questions can tell from noise",
    }[_sign(tau)]
    return f"{words} ({_with_interval('tau', tau)})."


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
    words = {
        "more": "A well-chosen single frame tells more than a random one",
        "less": "The handpicked frame tells less than a random one",
        "none": "The handpicked frame tells no more than a random one",
        "open": f"Whether the handpicked frame tells more than a random one cannot be told from "
        f"{rho.n:,} questions",
    }[_sign(rho)]
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


def _with_interval(name: str, found: Estimate) -> str:
    ends = ("infinity" if math.isinf(end) else format_ratio(end) for end in (found.low, found.high))
    return f"{name} {format_ratio(found.value)}, {found.level:.0%} interval {' to '.join(ends)}"
