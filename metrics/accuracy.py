"""Plain averages of a run's scores.

One convention throughout: an item without a score (None or NaN) is neither right nor wrong and
leaves the denominator; an average over nothing is NaN, never 0. Averages weigh items, not groups:
the overall accuracies of TVBench (TOMATO, table 5) and CausalVQA (tables 6 and 12) do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import SupportsFloat

from video_reasoning.metrics._records import Correct, correctness, same_length

DESCRIPTIVE = "descriptive"
"""The only CausalVQA type that does not count as reasoning (section 3)."""


def mean(values: Iterable[SupportsFloat | None]) -> float:
    """Arithmetic mean.

    Args:
        values: One number per item; None or NaN is left out. Truth values count as 1 and 0, so
            that the mean of ``answer is None for answer in answers`` is a rate.

    Returns:
        The mean; NaN where nothing is left.

    Example:
        >>> mean([1, None, 0.5])
        0.75
    """
    kept = _kept(values)
    return math.fsum(kept) / len(kept) if kept else math.nan


def finite(value: float) -> float | None:
    """Return a number, or None for NaN and infinity, as tables and JSON have it."""
    return value if math.isfinite(value) else None


def standard_error(values: Iterable[SupportsFloat | None]) -> float:
    """Return the standard error of the mean of independent values: s / sqrt(n), s with n - 1.

    Args:
        values: One number per item; None or NaN is left out.

    Returns:
        0 or more; NaN for fewer than two values.

    Example:
        >>> standard_error([1, 0, 1, 0])
        0.28867513459481287
    """
    kept = _kept(values)
    if len(kept) < 2:
        return math.nan
    center = mean(kept)
    spread = math.fsum((value - center) ** 2 for value in kept) / (len(kept) - 1)
    return math.sqrt(spread / len(kept))


def difference(values: Sequence[SupportsFloat | None], marks: Sequence[bool]) -> float:
    """Return the mean over marked items minus the mean over the others.

    The "delta" of Black Swan's table 8, with hard questions marked: hard minus all that are not.

    Args:
        values: One number per item; None or NaN is left out.
        marks: For each item, on which side of the difference it is.

    Returns:
        The difference in the values' unit; NaN if either side has nothing.

    Raises:
        ValueError: The lengths differ.

    Example:
        >>> difference([1, 0, 1, 1], [True, True, False, False])
        -0.5
    """
    pairs = list(zip(values, marks, strict=True))
    return mean(value for value, mark in pairs if mark) - mean(
        value for value, mark in pairs if not mark
    )


def relative_change(after: float, before: float) -> float:
    """Return after / before - 1, such as the "delta %" of TVBench's table 7 (there x100).

    Args:
        after: Accuracy over one set of questions, 0 or more.
        before: Accuracy over another set.

    Returns:
        -1 or more; NaN if `before` is 0 or either is NaN.

    Example:
        >>> round(relative_change(24.0, 38.5), 3)
        -0.377
    """
    if not before or math.isnan(before):
        return math.nan
    return after / before - 1


def weighted_mean(values: Sequence[float | None], weights: Sequence[float]) -> float:
    """Join the accuracies of parts into one: sum(weight * value) / sum(weight).

    Weighed by the number of items, the 15 strata of CausalVQA's tables 6 and 12 give every
    aggregate that is printed there; the unweighted mean over strata, which the authors' harness
    tasks take, does not.

    Args:
        values: Accuracy of each part, all in one unit; None or NaN is left out.
        weights: Number of items of each part, 0 or more.

    Returns:
        The mean; NaN where no part with a value has a weight.

    Raises:
        ValueError: The lengths differ or a weight is negative.

    Example:
        >>> weighted_mean([0.5, None, 0.9], [30, 5, 10])
        0.6
    """
    same_length(values=values, weights=weights)
    if any(weight < 0 for weight in weights):
        raise ValueError(f"A weight is negative: {min(weights)}; give numbers of items.")
    known = [
        (value, weight)
        for value, weight in zip(values, weights, strict=True)
        if value is not None and not math.isnan(value)
    ]
    total = math.fsum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else math.nan


def accuracy(correct: Correct) -> float:
    """Share of the scored items that were answered correctly.

    Args:
        correct: One entry per item: True or False (1 or 0), None or NaN where the item was not
            scored. A response that names no option is False.

    Returns:
        0..1; NaN where no item was scored.

    Raises:
        ValueError: An entry is not a truth value.

    Example:
        >>> accuracy([True, False, None, True, True])
        0.75
    """
    return mean(correctness(correct))


def guessing_accuracy(n_options: Iterable[int]) -> float:
    """Accuracy that uniform guessing is expected to get.

    Args:
        n_options: Number of options of each question, 1 or more; 2 for yes or no.

    Returns:
        Mean of 1 / options, 0..1; NaN without questions.

    Raises:
        ZeroDivisionError: A question has no option.

    Example:
        >>> guessing_accuracy([4, 2])
        0.375
    """
    return mean(1 / options for options in n_options)


def _kept(values: Iterable[SupportsFloat | None]) -> list[float]:
    numbers = [float(value) for value in values if value is not None]
    return [value for value in numbers if not math.isnan(value)]
