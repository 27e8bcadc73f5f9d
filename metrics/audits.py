"""What an audit of a benchmark concludes from its numbers: effects, margins, luck.

Effects are differences of accuracy between two conditions over the same questions. Two margins say
what a size means (`margins`): an effect *matters* if it is surely above the first, and is
*negligible* if it is surely below the second. Each is a one-sided test (Schuirmann, 1987, "A
comparison of the two one-sided tests procedure"), whose p-values `holm` corrects for the tasks of
one audit. `answerable` is about single questions: how sure is it that a question which was answered
right without what it claims to need was not answered by luck?
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from video_reasoning.metrics._records import same_length
from video_reasoning.metrics.accuracy import mean
from video_reasoning.metrics.intervals import (
    DRAWS,
    Estimate,
    Floats,
    _check,
    _cluster_sums,
    _codes,
    _nothing,
    _percentile,
    _resample,
)

__all__ = [
    "Answerable",
    "Margins",
    "answerable",
    "detectable",
    "discoveries",
    "holm",
    "margins",
    "p_above",
    "p_below",
    "p_two_sided",
    "questions_needed",
    "share_above_guessing",
]

MATTERS = (0.02, 0.10)
"""An effect matters above this accuracy, or this share of what is above guessing if less."""

NEGLIGIBLE = (0.05, 0.25)
"""An effect is negligible below this accuracy, or this share of what is above guessing."""

_STEPS = 500
_CLOSE = 1e-9


@dataclass(frozen=True)
class Margins:
    """Sizes of an effect, as differences of accuracy, 0..1.

    Attributes:
        matters: An effect that is surely larger matters.
        negligible: An effect that is surely smaller is negligible.
    """

    matters: float
    negligible: float


def margins(accuracy: float, chance: float) -> Margins:
    """Return the margins for a model's accuracy: 2 and 5 points, or 10% and 25% above guessing.

    The smaller of the two counts: of 4 points above guessing, 4 points are everything.

    Args:
        accuracy: With all frames in order, 0..1.
        chance: Of guessing, 0..1; NaN if it is not known, which is taken as 0.

    Example:
        >>> margins(0.60, 0.25)
        Margins(matters=0.02, negligible=0.05)
    """
    above = max(0.0, accuracy - (0.0 if math.isnan(chance) else chance))
    return Margins(*(min(points, share * above) for points, share in (MATTERS, NEGLIGIBLE)))


def p_above(found: Estimate, bound: float) -> float:
    """Test one-sidedly whether a number is above a bound.

    p = 1 - Phi((value - bound) / s), with s the distance from the lower end of the interval to the
    value over z: p is (1 - level) / 2 where the lower end is the bound.

    Args:
        found: The number and its interval.
        bound: The bound.

    Returns:
        The p-value, 0..1; 1 if the number is undefined.
    """
    return _p(found.value - bound, found.value - found.low, found.level)


def p_below(found: Estimate, bound: float) -> float:
    """Test one-sidedly whether a number is below a bound, as `p_above` does by the upper end."""
    return _p(bound - found.value, found.high - found.value, found.level)


def p_two_sided(found: Estimate) -> float:
    """Test whether a number differs from 0: twice the smaller of the one-sided p-values, at most 1.

    It is below 1 - level exactly if the interval leaves out 0.

    Returns:
        0..1; 1 if the number is undefined.

    Example:
        >>> round(p_two_sided(Estimate(0.10, 0.02, 0.18, 0.95, 50, 50)), 3)
        0.014
    """
    return min(1.0, 2 * min(p_above(found, 0.0), p_below(found, 0.0)))


def detectable(found: Estimate, *, power: float = 0.80) -> float:
    """Return the smallest difference that as many questions show, from the width of an interval.

    d = s (z_level + z_power), with s half of the interval's width over z_level: a true difference
    of d has an interval without 0 with the chance `power`.

    Returns:
        In the unit of the number; NaN if its interval is undefined.

    Example:
        >>> round(detectable(Estimate(0.01, -0.07, 0.09, 0.95, 50, 50)), 3)
        0.114
    """
    z_level = NormalDist().inv_cdf((1 + found.level) / 2)
    return (found.high - found.low) / 2 * (1 + NormalDist().inv_cdf(power) / z_level)


def _p(distance: float, half: float, level: float) -> float:
    if math.isnan(distance) or math.isnan(half) or math.isinf(half):
        return 1.0
    if not half:
        return 0.0 if distance > 0 else 1.0
    return 1 - NormalDist().cdf(distance / half * NormalDist().inv_cdf((1 + level) / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number (Holm, 1979): the chance of any false claim is controlled.

    The k-th smallest of m is multiplied by m - k + 1; none is less than a smaller one.

    Returns:
        The corrected p-values in their order, at most 1.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    corrected = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda n: p_values[n])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = highest
    return corrected


def questions_needed(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None,
    distance: float,
    *,
    level: float = 0.95,
    power: float = 0.80,
) -> float:
    """Return how many questions a one-sided test of a paired difference would take.

    n = (z_level + z_power)^2 V / distance^2, V being the variance of one question's difference; for
    right and wrong that is the share of discordant pairs less the square of the difference. With
    several questions a video V is that between videos, as many questions a video assumed. If no
    pair is discordant, one is taken to be.

    Args:
        a: Score of each question under one condition.
        b: Score of the same questions under the other.
        clusters: The video of each question; without it all are independent.
        distance: From the difference to the bound that is tested, as accuracy.
        level: Coverage of the interval whose end is compared with the bound.
        power: Chance that the test succeeds if the difference is what was seen.

    Returns:
        A number of questions; infinite if the distance is not above 0 or nothing was measured.
    """
    same_length(a=a, b=b)
    _check(level)
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    n = len(difference)
    if not n or not distance > 0:
        return math.inf
    residuals = (difference - difference.mean())[:, None]
    sums = _cluster_sums(residuals, _codes(clusters, n))
    variance = max(float((sums**2).sum()), 1.0) / n
    normal = NormalDist()
    z = normal.inv_cdf((1 + level) / 2) + normal.inv_cdf(power)
    return float(math.ceil(z * z * variance / distance**2))


def share_above_guessing(
    above: Sequence[float],
    below: Sequence[float],
    chance: float,
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Estimate:
    """Return which share of what is above guessing another condition leaves.

    (mean(below) - chance) / (mean(above) - chance): 1 / (1 + kappa) corrected for guessing. With
    two options, .58 against .50 leaves 86% of the accuracy and 0% of what is above guessing.

    Args:
        above: Score of each question with all frames.
        below: Score of the same questions under the other condition.
        chance: Accuracy of guessing, 0..1.
        clusters: The video of each question; whole videos are redrawn.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws.

    Returns:
        A share, below 0 if the other condition is below guessing; NaN if the first is not above it.
        An end is infinite if the first may well be at guessing.
    """
    same_length(above=above, below=below)
    _check(level, draws)
    scores = (
        np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)]) - chance
    )
    means: Floats = scores.mean(axis=0) if len(scores) else np.zeros(2)
    if math.isnan(chance) or not means[0] > 0:
        return replace(_nothing(level), n=len(scores))
    sums = _cluster_sums(scores, _codes(clusters, len(scores)))
    drawn = _resample(sums, draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = drawn[:, 1] / drawn[:, 0]
    lost = drawn[:, 0] <= 0
    shares[lost] = np.where(np.arange(int(lost.sum())) % 2, math.inf, -math.inf)  # either way
    return _percentile(float(means[1] / means[0]), shares, level, len(scores), len(sums))


@dataclass(frozen=True)
class Answerable:
    """Which questions can be answered without what they claim to need.

    Attributes:
        posterior: Of each question, the chance that it can be answered, 0..1; 0 if not asked.
        share: Share of the questions that can be answered.
        power: Chance that such a question is answered right once.
        lucky: How many questions were right at least once and are expected to be so by luck.
    """

    posterior: tuple[float, ...]
    share: float
    power: float
    lucky: float


def answerable(right: Sequence[int], asked: Sequence[int], chance: Sequence[float]) -> Answerable:
    """Tell answered questions from lucky ones: a mixture of knowing and guessing.

    Of a question asked r times without what it needs, each time with other options' order, k
    answers are right. With probability `share` it can be answered, and each answer is right with
    probability `power`; else each is right with the probability of guessing. Both are fitted by
    expectation and maximization; `power` is kept above the largest chance. The posterior of a
    question follows from Bayes' rule. With r = 1 the two cannot be told apart question by question:
    `power` is then set to 1, which makes the posterior as small as the share of right answers
    allows (a share of (accuracy - chance) / (1 - chance) is answerable).

    Args:
        right: Of each question, how often it was right.
        asked: How often it was asked.
        chance: Of guessing right, 0..1.

    Raises:
        ValueError: Lengths or counts do not fit.

    Example:
        >>> found = answerable([6] * 20 + [1] * 80, [6] * 100, [0.25] * 100)
        >>> round(found.share, 2), round(found.posterior[0], 3), round(found.posterior[-1], 3)
        (0.2, 0.999, 0.0)
    """
    if not len(right) == len(asked) == len(chance):
        raise ValueError("Counts of right answers, of answers and chances differ in length.")
    k, r, c = (np.asarray(each, np.float64) for each in (right, asked, chance))
    if (k > r).any() or (k < 0).any():
        raise ValueError("A question was right more often than it was asked.")
    known = (r > 0) & ~np.isnan(c)
    posterior = np.zeros(len(k))
    k, r, c = k[known], r[known], np.clip(c[known], _CLOSE, 1 - _CLOSE)
    if not len(k):
        return Answerable(tuple(posterior.tolist()), math.nan, math.nan, math.nan)
    once = bool((r <= 1).all())
    share, power = 0.5, 1 - _CLOSE if once else 0.9
    least = float(c.max())
    by_luck = k * np.log(c) + (r - k) * np.log1p(-c)
    for _ in range(_STEPS):
        by_power = k * math.log(power) + (r - k) * math.log1p(-power)
        odds = np.clip(by_power - by_luck, -500, 500) + math.log(share) - math.log1p(-share)
        weights: Floats = 1 / (1 + np.exp(-odds))
        fitted = min(max(mean(weights.tolist()), _CLOSE), 1 - _CLOSE)
        if not once and weights.sum() > _CLOSE:
            ratio = float((weights * k).sum() / (weights * r).sum())
            power = min(max(ratio, (1 + least) / 2), 1 - _CLOSE)
        if abs(fitted - share) < _CLOSE:
            break
        share = fitted
    posterior[known] = weights
    ever = 1 - (1 - c) ** r
    lucky = float(((1 - share) * ever).sum())
    return Answerable(tuple(posterior.tolist()), share, power, min(lucky, float((k > 0).sum())))


def discoveries(posterior: Sequence[float], rate: float) -> list[int]:
    """Return the questions to throw out so that few of them are innocent.

    The most certain ones, as many as keep the mean of (1 - posterior), which is the expected share
    of innocents among them (the Bayesian false discovery rate; Newton et al., 2004), at most
    `rate`.

    Args:
        posterior: Of each question, the chance that it is to be thrown out.
        rate: Expected share of innocents, between 0 and 1.

    Returns:
        Places of the questions, from 0, the most certain first.

    Example:
        >>> discoveries([0.99, 0.2, 0.9], 0.1)
        [0, 2]
    """
    if not 0 < rate < 1:
        raise ValueError(f"rate is {rate}; it must be between 0 and 1, e.g. 0.1.")
    order = sorted(range(len(posterior)), key=lambda place: -posterior[place])
    innocent = [1 - posterior[place] for place in order]
    # The mean grows with their number.
    numbers = range(1, len(order) + 1)
    return order[: bisect_right(numbers, rate, key=lambda number: mean(innocent[:number]))]
