"""What an audit's numbers say, in plain words.

A sentence states a difference only where its interval leaves no doubt of the sign. Where it does
not, the sentence says so, and how large a difference the items at hand would still allow: few
items prove nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import format_ratio

if TYPE_CHECKING:
    from video_reasoning.tasks.audit.evaluate import AuditResult

SMALL = 0.25
"""A relative gain that cannot be told from zero counts as none where it is surely below this."""

_ONE_FRAME = {
    "random": "one random frame",
    "last": "the last frame alone",
    "handpicked": "one handpicked frame",
}


def verdict(
    result: AuditResult, by_kind: Mapping[str, str], differences: Mapping[str, Estimate]
) -> list[str]:
    """The sentences about one audited task, the summary first.

    Args:
        result: its numbers.
        by_kind: kind of condition -> the condition that was asked.
        differences: condition -> accuracy of the frames in order less that condition's.
    """
    reference = by_kind.get("ordered") or by_kind.get("original")
    if reference is None:
        return ["No verdict: neither ordered nor original was among the conditions."]
    if not result.n:
        return ["No verdict: no question was scored under every condition."]
    accuracy = result.accuracies[reference]
    if accuracy.value == 0:
        return [f"No verdict: the model got none of the {result.n:,} questions right."]
    sentences = [_summary(result, by_kind, differences)]
    sentences += [
        _one_frame(result, kind, by_kind[kind], reference) for kind in _ONE_FRAME if kind in by_kind
    ]
    if "shuffled" in by_kind:
        sentences.append(_order(result.ratios["tau"]))
    if "blind" in by_kind:
        sentences.append(_blind(result, by_kind["blind"], reference))
    if "rho" in result.ratios and result.ratios["rho"].n:
        sentences.append(_key_frame(result.ratios["rho"]))
    sentences += [_reordered(result, name, reference) for name in result.paired]
    return sentences


def _summary(
    result: AuditResult, by_kind: Mapping[str, str], differences: Mapping[str, Estimate]
) -> str:
    blind = differences.get(by_kind.get("blind", ""))
    if blind is not None and not blind.low > 0:
        return (
            "Undecided: this model answers no better with the video than without it, so that it "
            "cannot show what the questions need. Audit with a model that uses the video."
        )
    kappas = [
        result.ratios[f"kappa_{by_kind[kind]}"]
        for kind in ("random", "last")
        if kind in by_kind and f"kappa_{by_kind[kind]}" in result.ratios
    ]
    tau = result.ratios.get("tau")
    frames = [_sign(kappa) for kappa in kappas]
    order = _sign(tau) if tau is not None else "open"
    if "none" in frames or "less" in frames:
        return "Static: one frame is enough for what this model gets right."
    if not frames or "open" in frames:
        return (
            "Undecided: whether several frames are needed cannot be told from "
            f"{result.n:,} questions."
        )
    if order == "more":
        return "Temporal: it takes several frames, and their order."
    if order in ("none", "less"):
        return "It takes several frames, but in any order: a bag of frames is enough."
    return (
        "It takes several frames; whether their order matters cannot be told from "
        f"{result.n:,} questions."
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


def _one_frame(result: AuditResult, kind: str, name: str, reference: str) -> str:
    gain = result.ratios[f"kappa_{name}"]
    words = _ONE_FRAME[kind]
    if not gain.n:
        return f"No question was scored with {words}."
    if math.isnan(gain.value):
        return f"Nothing is right with {words}."
    left = 1 / (1 + gain.value) if gain.value > -1 else math.inf
    share = f"{_percent(left)} of its multi-frame accuracy is there with {words}"
    numbers = f"kappa {_with_interval(gain)}"
    meaning = {
        "more": "",
        "none": "; more frames add nothing that can be told from noise",
        "less": "; more frames only hurt",
        "open": f"; more frames add nothing that {gain.n:,} questions can tell from noise",
    }[_sign(gain)]
    return f"{share} ({numbers}){meaning}."


def _order(tau: Estimate) -> str:
    if not tau.n or math.isnan(tau.value):
        return "Frame order: with shuffled frames nothing is right."
    numbers = f"tau {_with_interval(tau)}"
    return {
        "more": f"Shuffling the frames costs {_percent(tau.value / (1 + tau.value))} of its "
        f"accuracy ({numbers}).",
        "less": f"It answers better with shuffled frames ({numbers}).",
        "none": f"Frame order adds nothing that can be told from noise ({numbers}).",
        "open": f"Frame order adds nothing that {tau.n:,} questions can tell from noise "
        f"({numbers}).",
    }[_sign(tau)]


def _blind(result: AuditResult, name: str, reference: str) -> str:
    blind, accuracy = result.accuracies[name], result.accuracies[reference]
    text = (
        f"Without any frame {_percent(blind.value / accuracy.value)} of its accuracy is there "
        f"({_percent(blind.value)} of the questions are answered right blind"
    )
    if math.isnan(result.chance):
        return f"{text})."
    text += f", guessing gets {_percent(result.chance)})"
    if blind.low > result.chance:
        return f"{text}: the text gives answers away."
    return f"{text}: no better than guessing." if blind.value <= result.chance else f"{text}."


def _key_frame(rho: Estimate) -> str:
    if not rho.n or math.isnan(rho.value):
        return "The handpicked frame: with a random one nothing is right."
    numbers = f"rho {_with_interval(rho)}"
    return {
        "more": f"A well-chosen single frame tells more than a random one ({numbers}).",
        "less": f"The handpicked frame tells less than a random one ({numbers}).",
        "none": f"The handpicked frame tells no more than a random one ({numbers}).",
        "open": f"Whether the handpicked frame tells more than a random one cannot be told from "
        f"{rho.n:,} questions ({numbers}).",
    }[_sign(rho)]


def _reordered(result: AuditResult, name: str, reference: str) -> str:
    both, once = result.paired[name], result.accuracies[name]
    if not both.n:
        return "No options were found that could stand in another order."
    return (
        f"With the options in another order {_percent(once.value)} are right, and "
        f"{_percent(both.value)} in both orders ({both.n:,} questions; in the task's own order "
        f"{_percent(result.accuracies[reference].value)} of all)."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if math.isfinite(share) else "more than all"


def _with_interval(found: Estimate) -> str:
    low, high = (
        "infinity" if math.isinf(end) else format_ratio(end) for end in (found.low, found.high)
    )
    return f"{format_ratio(found.value)}, {found.level:.0%} interval {low} to {high}"
