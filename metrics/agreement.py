"""How alike people decide, corrected for chance.

Two numbers, for two kinds of decisions. Where the options of each item are its own (an option's
letter means something else in the next question, a frame in the next video), what is expected by
chance is that people choose blindly among the options of the item: `chance_corrected`. Where all
items share one scale (ratings from 1 to 5), chance is the scale's own distribution: Krippendorff's
`alpha`. Both are 1 if everybody decides alike, 0 at chance, and below 0 under it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from video_reasoning.metrics.accuracy import mean
from video_reasoning.metrics.intervals import (
    DRAWS,
    Estimate,
    _cluster_sums,
    _codes,
    _nothing,
    _percentile,
    _resample,
    accuracy_interval,
)


@dataclass(frozen=True)
class Agreement:
    """How often people chose the same option, and what is left of it beyond chance.

    Attributes:
        same: Share of pairs of people who chose the same, averaged over items, 0..1.
        chance: The share expected if everybody chose blindly, 0..1.
        corrected: (same - chance) / (1 - chance): 1 alike, 0 at chance.
    """

    same: Estimate
    chance: float
    corrected: Estimate


def share_of_pairs(choices: Sequence[Hashable]) -> float:
    """Share of the pairs of people who chose the same, 0..1; NaN with fewer than two people.

    Example:
        >>> round(share_of_pairs(["A", "A", "B"]), 2)
        0.33
    """
    pairs = list(combinations(choices, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else math.nan


def chance_corrected(
    choices: Sequence[Sequence[Hashable]],
    chances: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
) -> Agreement:
    """Agreement of two or more people on items whose options are their own.

    (same - chance) / (1 - chance) with chance the mean of `chances` (Brennan and Prediger, 1981,
    with an item's own number of options). The interval is that of an accuracy
    (`accuracy_interval`) over the items' shares of agreeing pairs, on the corrected scale.

    Args:
        choices: Per item, what each person chose; items with fewer than two people are left out.
        chances: Per item, the chance that two people who choose blindly choose the same, 0..1:
            one divided by the number of options.
        clusters: The video of each item.
        level: Coverage, between 0 and 1.

    Raises:
        ValueError: Lengths differ or a parameter is out of range.

    Example:
        >>> found = chance_corrected([["A", "A"], ["B", "B"], ["A", "C"]], [0.25] * 3)
        >>> round(found.same.value, 2), round(found.corrected.value, 2)
        (0.67, 0.56)
    """
    if len(choices) != len(chances):
        raise ValueError(f"There are {len(choices)} items and {len(chances)} chances.")
    shares = [share_of_pairs(each) for each in choices]
    same = accuracy_interval(shares, clusters, level=level)
    chance = mean(c for c, share in zip(chances, shares, strict=True) if not math.isnan(share))

    def corrected(value: float) -> float:
        return (value - chance) / (1 - chance) if chance < 1 else math.nan

    ends = replace(
        same, value=corrected(same.value), low=corrected(same.low), high=corrected(same.high)
    )
    return Agreement(same, chance, ends)


def alpha(
    ratings: Mapping[Hashable, Sequence[float]],
    clusters: Mapping[Hashable, Hashable] | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Estimate:
    """Krippendorff's alpha for ratings on one scale, with distances squared (interval data).

    1 - observed / expected disagreement (Krippendorff, Content Analysis, 2004, section 11.3); any
    number of people per item. For two values (yes and no) it is the alpha of nominal data. The
    interval redraws whole videos, as `mean_interval` does.

    Args:
        ratings: Item -> the ratings of those who rated it; items with one rating are left out.
        clusters: Item -> its video; without it every item is its own.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws.

    Returns:
        1 or less; NaN if nothing was rated twice, or all ratings are the same.

    Example:
        >>> round(alpha({1: [1, 1], 2: [2, 3], 3: [5, 5], 4: [4, 4]}).value, 3)
        0.954
    """
    twice = {item: list(values) for item, values in ratings.items() if len(values) > 1}
    if not twice:
        return _nothing(level)
    labels = _codes(None if clusters is None else [clusters[item] for item in twice], len(twice))
    # Per item: its disagreement, and the count, sum and sum of squares that chance is made of.
    rows = [
        [
            sum((a - b) ** 2 for a, b in combinations(values, 2)) * 2 / (len(values) - 1),
            len(values),
            sum(values),
            sum(value**2 for value in values),
        ]
        for values in twice.values()
    ]
    sums = _cluster_sums(np.array(rows, dtype=np.float64), labels)

    def value(totals: np.ndarray) -> np.ndarray:
        within, n, total, squares = totals.T
        # The sum over all pairs of (a - b)^2 is 2 (n * squares - total^2).
        expected = 2 * (n * squares - total**2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(expected > 0, 1 - (n - 1) * within / expected, math.nan)

    measured = float(value(sums.sum(axis=0, keepdims=True))[0])
    found = _percentile(measured, value(_resample(sums, draws)), level, len(twice), len(sums))
    return found if not math.isnan(measured) else replace(found, low=math.nan, high=math.nan)
