"""How temporal a benchmark is: the three principles of TVBench (TOMATO, section 3).

All three are relative gains between accuracies over the same questions, as ratios (the paper
prints them x100). Higher kappa and tau and lower rho mean a more temporal benchmark. The paper adds
a small positive epsilon to each denominator, without its value. A gain over an accuracy of zero is
undefined here and NaN, and epsilon is zero unless a caller sets it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from video_reasoning.metrics._align import Aligned, Scores, align
from video_reasoning.metrics.published import published

CONDITIONS: Mapping[str, str] = {
    "ordered": "ordered16",
    "shuffled": "shuffled16",
    "random": "random1",
    "handpicked": "handpicked1",
}
"""Role in the principles -> name of the condition: m frames in order, the same shuffled, one random
frame, one handpicked frame (only for questions with a pick)."""

GAINS: Mapping[str, tuple[str, str]] = {
    "kappa_random": ("ordered", "random"),
    "kappa_handpicked": ("ordered", "handpicked"),
    "tau": ("ordered", "shuffled"),
    "rho": ("handpicked", "random"),
}
"""Ratio -> the roles above and below the line."""

LABELS: Mapping[str, str] = {
    "kappa_random": "κ (random frame)",
    "kappa_handpicked": "κ (handpicked frame)",
    "tau": "τ (order)",
    "rho": "ρ (disparity)",  # noqa: RUF001
}
"""Ratio -> how a report names it."""

PAPER_COLUMNS: Mapping[str, tuple[str, str]] = {
    "random": ("multi_frame_gain_random", "acc_1"),
    "handpicked": ("multi_frame_gain_handpicked", "acc_1_handpicked"),
    "shuffled": ("frame_order_sensitivity", "acc_16_shuffled"),
    "ordered": ("frame_order_sensitivity", "acc_16"),
    "kappa_random": ("multi_frame_gain_random", "kappa"),
    "kappa_handpicked": ("multi_frame_gain_handpicked", "kappa"),
    "tau": ("frame_order_sensitivity", "tau"),
    "rho": ("frame_information_disparity", "rho"),
}
"""Role or ratio -> the paper's table (`published`) and its column, in the order of a report."""


def paper_value(model: str, measure: str, benchmark: str = "TVBench") -> float | None:
    """Return what the paper prints in its tables 1 to 4, x100; None where it prints none.

    Args:
        model: Model as the paper names it, e.g. "GPT-4o".
        measure: A key of `PAPER_COLUMNS`.
        benchmark: Benchmark as the paper names it, e.g. "MVBench".

    Raises:
        KeyError: The paper has no such model, measure or benchmark.

    Example:
        >>> paper_value("GPT-4o", "kappa_random")
        78.0
    """
    table, column = PAPER_COLUMNS[measure]
    return published("tvbench").tables[table].value(model, f"{benchmark}/{column}")


def multi_frame_gain(acc_m: float, acc_1: float, *, epsilon: float = 0.0) -> float:
    """Multi-Frame Gain, kappa = Acc(m frames) / (Acc(1 frame) + epsilon) - 1 (section 3.1).

    Args:
        acc_m: Accuracy with m frames, 0 or more; both may be shares or both percent.
        acc_1: Accuracy with one frame, random or handpicked, over the same questions.
        epsilon: Added to the denominator, 0 or more.

    Returns:
        A ratio of -1 or more (0.78 where the paper prints 78.0); NaN, "undefined", if the
        denominator is zero or an accuracy is NaN.

    Raises:
        ValueError: An accuracy or epsilon is negative or infinite.

    Example:
        >>> round(multi_frame_gain(0.377, 0.212), 2)
        0.78
    """
    return _relative_gain(epsilon, acc_m=acc_m, acc_1=acc_1)


def frame_order_sensitivity(acc_m: float, acc_shuffled: float, *, epsilon: float = 0.0) -> float:
    """Frame Order Sensitivity, tau = Acc(m) / (Acc(shuffled m) + epsilon) - 1 (section 3.2).

    Args:
        acc_m: Accuracy with m frames in order.
        acc_shuffled: Accuracy with the same m frames shuffled, over the same questions.
        epsilon: Units, result and errors are as for `multi_frame_gain`.

    Example:
        >>> round(frame_order_sensitivity(0.377, 0.258), 3)
        0.461
    """
    return _relative_gain(epsilon, acc_m=acc_m, acc_shuffled=acc_shuffled)


def frame_information_disparity(
    acc_handpicked: float, acc_random: float, *, epsilon: float = 0.0
) -> float:
    """Frame Information Disparity, rho = Acc(handpicked) / (Acc(random) + epsilon) - 1.

    Section 3.3; both accuracies are with a single frame.

    Args:
        acc_handpicked: Accuracy with the frame that a person picked as the most informative.
        acc_random: Accuracy with one random frame, over the same questions: those with a pick.
        epsilon: Units, result and errors are as for `multi_frame_gain`.

    Example:
        >>> round(frame_information_disparity(0.215, 0.205), 3)
        0.049
    """
    return _relative_gain(epsilon, acc_handpicked=acc_handpicked, acc_random=acc_random)


def format_ratio(ratio: float, digits: int = 1) -> str:
    """Write a ratio as the paper prints it: times 100, or "undefined".

    Args:
        ratio: kappa, tau or rho as the functions here return them.
        digits: Decimals, 0 or more.

    Example:
        >>> format_ratio(0.7783), format_ratio(-0.0001), format_ratio(math.nan)
        ('77.8', '0.0', 'undefined')
    """
    if not math.isfinite(ratio):
        return "undefined"
    text = f"{100 * ratio:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _relative_gain(epsilon: float, **accuracies: float) -> float:
    for name, value in {**accuracies, "epsilon": epsilon}.items():
        if value < 0 or math.isinf(value):
            raise ValueError(f"{name} is {value!r}; it must be a finite number, 0 or more.")
    numerator, denominator = (float(value) for value in accuracies.values())
    return numerator / (denominator + epsilon) - 1 if denominator else math.nan


@dataclass(frozen=True)
class Gain:
    """One principle's value and what it rests on.

    Attributes:
        value: The ratio, -1 or more; NaN where it is undefined.
        numerator: Accuracy above the line, 0..1; NaN where no question counts.
        denominator: Accuracy below the line over the same questions, 0..1.
        n: Questions that both accuracies rest on.
    """

    value: float
    numerator: float
    denominator: float
    n: int


@dataclass(frozen=True)
class Principles:
    """The three principles over one set of questions (see `evaluate_principles`).

    Attributes:
        accuracies: Condition -> accuracy, 0..1, over the shared questions; for the handpicked
            frame over the shared questions with a pick; NaN without questions.
        kappa_random: Multi-Frame Gain over one random frame, all shared questions.
        kappa_handpicked: Multi-Frame Gain over the handpicked frame, questions with a pick.
        tau: Frame Order Sensitivity, all shared questions.
        rho: Frame Information Disparity, questions with a pick.
        n: Shared questions: those scored under every condition that was run, the handpicked
            frame aside.
        n_picked: Shared questions that were scored with the handpicked frame too.
        n_left_out: Questions that lack a condition and count in no term.
    """

    accuracies: Mapping[str, float]
    kappa_random: Gain
    kappa_handpicked: Gain
    tau: Gain
    rho: Gain
    n: int
    n_picked: int
    n_left_out: int


def evaluate_principles(correct: Scores, conditions: Mapping[str, str] = CONDITIONS) -> Principles:
    """Compute kappa, tau and rho from per-question correctness (TVBench, sections 3 and 5).

    Every ratio compares accuracies over the same questions. A question that lacks one of the
    conditions ordered, shuffled and random is left out of all terms and counted. The handpicked
    frame exists for a part of the questions only (200 in the paper): rho and the handpicked
    kappa, numerator and denominator alike, rest on that part. A condition with no score at all
    counts as not run; the terms that need it are NaN over 0 questions, the others stay.

    Args:
        correct: Condition -> correctness, by question id (a question that is absent was not
            scored) or as sequences in one order with None or NaN for what was not scored.
        conditions: Role -> name of the condition, for other names than those of `CONDITIONS`.

    Raises:
        ValueError: None of the four conditions is there, they are not given alike, or an entry
            is not a truth value.
    """
    given = [name for name in conditions.values() if name in correct]
    if not given:
        raise ValueError(
            f"None of the conditions {', '.join(conditions.values())} is among those given "
            f"({', '.join(correct) or 'none'}); name them with conditions=."
        )
    table = align({name: correct[name] for name in given})
    shared, picked = shared_questions(table, conditions["handpicked"])

    def mean(role: str, rows: npt.NDArray[np.bool_]) -> float:
        return float(table.column(conditions[role])[rows].mean()) if rows.any() else math.nan

    def compare(above: str, below: str) -> Gain:
        rows = picked if "handpicked" in (above, below) else shared
        numerator, denominator = mean(above, rows), mean(below, rows)
        if math.isnan(numerator) or math.isnan(denominator):
            return Gain(math.nan, math.nan, math.nan, 0)
        value = _relative_gain(0.0, numerator=numerator, denominator=denominator)
        return Gain(value, numerator, denominator, int(rows.sum()))

    return Principles(
        accuracies={
            name: mean(role, picked if role == "handpicked" else shared)
            for role, name in conditions.items()
            if name in correct
        },
        **{name: compare(*roles) for name, roles in GAINS.items()},
        n=int(shared.sum()),
        n_picked=int(picked.sum()),
        n_left_out=int((~shared).sum()),
    )


def shared_questions(
    table: Aligned, handpicked: str
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which questions the terms rest on, as two masks of shape (questions,).

    Those scored under every condition that was run except the handpicked one, which only a part of
    the questions has; and those of them scored under the handpicked one too.
    """
    has_pick = ~np.isnan(table.column(handpicked))
    others = [name for name in table.conditions if name != handpicked]
    run = [
        column for column in (table.column(name) for name in others) if not np.isnan(column).all()
    ]
    shared: npt.NDArray[np.bool_] = np.all(~np.isnan(np.stack(run)), axis=0) if run else has_pick
    return shared, shared & has_pick
