"""How sure a number is: one policy for every interval, and McNemar's test.

Questions about one video are not independent, so every interval takes the video of each item.

- `accuracy_interval`, for a mean of scores from 0 to 1: Wilson's score interval over the effective
  number of independent questions. It needs no draws. In simulations (2 to 40 questions per video,
  3 to 100 videos, correlated or not) it covers the truth more often than a percentile bootstrap
  over videos: that one falls to 87% for 10 to 15 videos and has no width at 0% and 100%.
- `mean_interval`, for a mean on any other scale: percentile bootstrap that redraws whole videos.
- `difference_interval` and `gain_interval`, for two conditions over the same items (kappa, tau and
  rho are gains): the same bootstrap with the two scores of an item drawn together, widened by the
  room for losses or wins that the items do not show.

The seed of the draws is fixed: one log always gives one interval. Nothing measured gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from video_reasoning.metrics._align import Scores, align
from video_reasoning.metrics._records import same_length
from video_reasoning.metrics.principles import (
    CONDITIONS,
    GAINS,
    evaluate_principles,
    shared_questions,
)

Floats = npt.NDArray[np.float64]
Clusters = Mapping[Hashable, Hashable] | Sequence[Hashable]
"""What belongs together, e.g. the video of each question: by question id, or in their order."""

DRAWS = 10_000
"""Bootstrap draws of every interval."""

_CHUNK = 4_000_000  # numbers of one block of resampling weights: 32 MB
_DISTINCT_PER_CLUSTER = 16  # a multinomial count costs about as much as drawing 16 clusters


@dataclass(frozen=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: The number as measured; NaN where it is undefined.
        low: Lower end of the interval; NaN with no value.
        high: Upper end; infinite where a ratio's denominator may well be zero.
        level: Coverage that the interval aims at, e.g. 0.95.
        n: Items it rests on.
        n_clusters: Independent units (videos) that the items fall into.
        method: How the interval was made: "Wilson", "Wilson over videos" (its effective number of
            questions), "bootstrap over videos", or "" without one.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    n_clusters: int
    method: str = ""


def wilson(n_correct: float, n: float, level: float = 0.95) -> Estimate:
    """Wilson score interval of an accuracy over independent questions.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). Unlike p ± z sqrt(p(1-p)/n) it stays
    within 0..1 and has a width at 0% and 100%.

    Args:
        n_correct: Questions answered correctly, 0..n.
        n: Questions scored.
        level: Coverage, between 0 and 1.

    Returns:
        Shares, 0..1; NaN where n is 0.

    Raises:
        ValueError: The counts do not fit or the level is outside (0, 1).

    Example:
        >>> estimate = wilson(15, 20)
        >>> round(estimate.low, 3), round(estimate.high, 3)
        (0.531, 0.888)
    """
    if not 0 <= n_correct <= n:
        raise ValueError(f"{n_correct} correct of {n} questions is impossible.")
    value = n_correct / n if n else math.nan
    low, high = _wilson(value, n, level)
    return Estimate(value, low, high, level, int(n), int(n), "Wilson" if n else "")


def accuracy_interval(
    scores: Sequence[float], clusters: Sequence[Hashable] | None = None, *, level: float = 0.95
) -> Estimate:
    """Mean of scores from 0 to 1 with Wilson's interval over the effective number of questions.

    The effective number is p(1-p) / v with v the variance of the mean between videos, or between
    items if that is larger. Over K videos it is multiplied by (z / t)², t being Student's quantile
    with K - 1 degrees of freedom, because v is an estimate (Korn and Graubard, 1998; Dean and
    Pagano, 2015). If every item has a video of its own and is right or wrong, it is the number of
    items; if the scores do not vary (all right, all wrong, one video), that of the videos.

    Args:
        scores: One score per item, 0..1; NaN is left out.
        clusters: What each item belongs to, e.g. its video. Without it all are independent.
        level: Coverage, between 0 and 1.

    Raises:
        ValueError: Lengths differ, a score is outside 0..1 or the level is out of range.

    Example:
        >>> found = accuracy_interval([1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"])
        >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), found.n_clusters
        (0.67, 0.09, 0.97, 3)
    """
    _check(level)
    values, labels = _scored(scores, clusters)
    if ((values < 0) | (values > 1)).any():
        raise ValueError("A score is outside 0..1; use mean_interval for other scales.")
    if not len(values):
        return _nothing(level)
    size = len(np.unique(labels))
    value = float(values.mean())
    effective = _effective_number(values, labels, level)
    low, high = _wilson(value, effective, level)
    method = "Wilson" if size == len(values) else "Wilson over videos"
    return Estimate(value, low, high, level, len(values), size, method)


def mean_interval(
    scores: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Estimate:
    """Mean of scores on any scale with a percentile bootstrap over clusters.

    Args:
        scores: One score per item; NaN is left out.
        clusters: As in `accuracy_interval`; whole clusters are redrawn.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws, at least 1.

    Raises:
        ValueError: Lengths differ or a parameter is out of range.
    """
    _check(level, draws)
    values, labels = _scored(scores, clusters)
    if not len(values):
        return _nothing(level)
    sums = _cluster_sums(np.column_stack([values, np.ones(len(values))]), labels)
    drawn = _resample(sums, draws)
    means = drawn[:, 0] / drawn[:, 1]
    return _percentile(float(values.mean()), means, level, len(values), len(sums))


def difference_interval(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Estimate:
    """Mean of b minus mean of a over the same items, with a paired bootstrap interval.

    If no item loses, a bootstrap cannot show that some might: the interval is widened by Wilson's
    upper end of 0 losses in as many questions as there are videos, and likewise if none wins; an
    unseen one is taken to be as large as the largest seen. The squares of the two margins add up
    (the method of variance estimates recovery; Zou and Donner, 2008). One video shows nothing
    about others. Scores from 0 to 1 keep the interval within -1..1.

    Args:
        a: One score per item of the first run; an item without both (NaN) is left out.
        b: One score per item of the second run, in the same order.
        clusters: As in `mean_interval`.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws.

    Raises:
        ValueError: Lengths differ or a parameter is out of range.
    """
    same_length(a=a, b=b)
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    difference = second - first
    found = mean_interval(difference.tolist(), clusters, draws=draws, level=level)
    both = np.concatenate([first, second])
    bound = math.inf if ((both < 0) | (both > 1)).any() else 1.0
    if found.n_clusters <= 1:
        return replace(found, low=-bound, high=bound) if found.n else found
    low, high = _widened(found, difference, 1.0)
    return replace(found, low=max(-bound, low), high=min(bound, high))


def gain_interval(
    above: Sequence[float],
    below: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Estimate:
    """Relative gain mean(above) / mean(below) - 1 with a paired bootstrap interval.

    The form of kappa, tau and rho (TVBench, section 3) for any two conditions over the same
    items. Widened like `difference_interval`. A draw whose denominator is zero counts as infinite,
    so that an interval which reaches that far shows it; 0/0 is left out.

    Args:
        above: Score of each item above the line, 0 or more; one without both (NaN) is left out.
        below: Score of the same items below the line.
        clusters: As in `mean_interval`.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws.

    Returns:
        A ratio of -1 or more; NaN if the scores below the line are all zero.

    Raises:
        ValueError: Lengths differ, a score is negative or a parameter is out of range.

    Example:
        >>> round(gain_interval([1, 1, 1, 0], [1, 0, 1, 0]).value, 2)
        0.5
    """
    same_length(above=above, below=below)
    _check(level, draws)
    scores = np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)])
    if (scores < 0).any():
        raise ValueError("A score is negative; a gain is between scores of 0 or more.")
    kept = ~np.isnan(scores).any(axis=1)
    labels = _codes(clusters, len(scores))[kept]
    scores = scores[kept]
    sums = _cluster_sums(scores, labels)
    means = scores.mean(axis=0) if len(scores) else [0.0, 0.0]
    if not means[1]:
        return replace(_nothing(level), n=len(scores), n_clusters=len(sums))
    drawn = _resample(sums, draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = drawn[:, 0] / drawn[:, 1] - 1
    value = float(means[0] / means[1] - 1)
    found = _percentile(value, gains, level, len(scores), len(sums))
    if len(sums) == 1:
        return replace(found, low=-1.0, high=math.inf)
    low, high = _widened(found, scores[:, 0] - scores[:, 1], 1 / float(means[1]))
    return replace(found, low=max(-1.0, low), high=high)


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two runs over the same questions.

    Attributes:
        only_a: Questions that only the first run got right.
        only_b: Questions that only the second run got right.
        n: Questions that both runs have a score for.
        p_exact: Two-sided exact p-value: 2 P(X <= min(only_a, only_b)) with X binomial over
            the differing questions with chance 1/2, at most 1. NaN over 0 questions.
        p_mid: Two-sided mid-p value: less the chance of exactly what was seen, before the cap.
    """

    only_a: int
    only_b: int
    n: int
    p_exact: float
    p_mid: float


def mcnemar(a: Sequence[float], b: Sequence[float]) -> McNemar:
    """Test whether two runs differ in accuracy on the same questions.

    Only questions that one run got right and the other wrong tell them apart.

    Args:
        a: 1 right, 0 wrong, per question of the first run; NaN where it has no score.
        b: The same questions in the second run.

    Raises:
        ValueError: Lengths differ or an entry is neither 0, 1 nor NaN.

    Example:
        >>> test = mcnemar([1, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 1])
        >>> test.only_a, test.only_b, test.p_exact
        (3, 0, 0.25)
    """
    same_length(a=a, b=b)
    table = align({"a": list(a), "b": list(b)}).scores
    table = table[~np.isnan(table).any(axis=1)]
    only_a = int(((table[:, 0] == 1) & (table[:, 1] == 0)).sum())
    only_b = int(((table[:, 0] == 0) & (table[:, 1] == 1)).sum())
    if not len(table):
        return McNemar(0, 0, 0, math.nan, math.nan)
    from scipy.stats import binom

    fewer, differing = min(only_a, only_b), only_a + only_b
    twice_tail = 2 * float(binom.cdf(fewer, differing, 0.5))
    seen = float(binom.pmf(fewer, differing, 0.5))
    return McNemar(only_a, only_b, len(table), min(1.0, twice_tail), min(1.0, twice_tail - seen))


@dataclass(frozen=True)
class PrinciplesIntervals:
    """kappa, tau and rho with intervals (see `principles_intervals`).

    Attributes:
        kappa_random: Multi-Frame Gain over one random frame.
        kappa_handpicked: Multi-Frame Gain over the handpicked frame.
        tau: Frame Order Sensitivity.
        rho: Frame Information Disparity.
        accuracies: Condition -> accuracy, 0..1, over the questions that `evaluate_principles`
            takes it over.
    """

    kappa_random: Estimate
    kappa_handpicked: Estimate
    tau: Estimate
    rho: Estimate
    accuracies: Mapping[str, Estimate] = field(default_factory=dict)


def principles_intervals(
    correct: Scores,
    clusters: Clusters | None = None,
    *,
    conditions: Mapping[str, str] = CONDITIONS,
    level: float = 0.95,
    draws: int = DRAWS,
) -> PrinciplesIntervals:
    """kappa, tau and rho as `gain_interval`, their accuracies as `accuracy_interval`.

    Args:
        correct: As in `evaluate_principles`.
        clusters: The video of each question, by question id or in the order of the questions;
            without it all questions are independent.
        conditions: As in `evaluate_principles`.
        level: Coverage, between 0 and 1.
        draws: Number of bootstrap draws.

    Raises:
        ValueError: As in `evaluate_principles`, a question has no cluster, or a parameter is out
            of range.
    """
    evaluate_principles(correct, conditions)  # checks the arguments
    names = [name for name in conditions.values() if name in correct]
    table = align({name: correct[name] for name in names})
    labels = _codes(_in_order(clusters, table.ids), len(table.ids))
    shared, picked = shared_questions(table, conditions["handpicked"])

    def over(*roles: str) -> tuple[list[Sequence[float]], Sequence[Hashable]]:
        rows = picked if "handpicked" in roles else shared
        columns = [table.column(conditions[role])[rows].tolist() for role in roles]
        return columns, labels[rows].tolist()

    def gain(name: str) -> Estimate:
        (above, below), videos = over(*GAINS[name])
        return gain_interval(above, below, videos, level=level, draws=draws)

    accuracies = {}
    for role, name in conditions.items():
        if name in correct:
            (scores,), videos = over(role)
            accuracies[name] = accuracy_interval(scores, videos, level=level)
    return PrinciplesIntervals(**{name: gain(name) for name in GAINS}, accuracies=accuracies)


def _nothing(level: float) -> Estimate:
    return Estimate(math.nan, math.nan, math.nan, level, 0, 0)


def _wilson(value: float, n: float, level: float) -> tuple[float, float]:
    _check(level)
    if not n:
        return math.nan, math.nan
    z = NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / n
    center = (value + z * z / (2 * n)) / scale
    half = z * math.sqrt(value * (1 - value) / n + z * z / (4 * n * n)) / scale
    return 0.0 if value == 0 else center - half, 1.0 if value == 1 else center + half


def _effective_number(values: Floats, labels: npt.NDArray[np.int64], level: float) -> float:
    """Independent questions that are as informative as these (see `accuracy_interval`)."""
    n, mean = len(values), float(values.mean())
    residuals = _cluster_sums((values - mean)[:, None], labels)
    n_clusters = len(residuals)
    of_items = float(((values - mean) ** 2).sum())
    if n_clusters == 1 or not of_items:
        return n_clusters
    if n_clusters == n:
        return round(mean * (1 - mean) * n * n / of_items, 9)  # n, for right and wrong
    from scipy.special import stdtrit

    of_clusters = float((residuals**2).sum()) * n_clusters / (n_clusters - 1)
    effective = mean * (1 - mean) * n * n / max(of_items, of_clusters)
    z = NormalDist().inv_cdf((1 + level) / 2)
    return max(1.0, effective * (z / float(stdtrit(n_clusters - 1, (1 + level) / 2))) ** 2)


def _widened(found: Estimate, differences: Floats, scale: float) -> tuple[float, float]:
    """Return ends with room for losses and wins that no item shows (`difference_interval`)."""
    known = differences[~np.isnan(differences)]
    largest = float(abs(known).max()) or 1.0
    room = scale * largest * _wilson(0.0, found.n_clusters, found.level)[1]
    down, up = room * bool((known >= 0).all()), room * bool((known <= 0).all())
    low = found.value - math.hypot(found.value - found.low, down)
    return low, found.value + math.hypot(found.high - found.value, up)


def _percentile(value: float, drawn: Floats, level: float, n: int, n_clusters: int) -> Estimate:
    """Percentile interval; an order statistic, as interpolation fails next to infinity."""
    drawn = np.sort(drawn[~np.isnan(drawn)])
    tail = (1 - level) / 2
    low, high = math.nan, math.nan
    if len(drawn):
        low = float(drawn[math.floor(tail * (len(drawn) - 1))])
        high = float(drawn[math.ceil((1 - tail) * (len(drawn) - 1))])
    return Estimate(value, low, high, level, n, n_clusters, "bootstrap over videos")


def _resample(sums: Floats, draws: int) -> Floats:
    """Totals of redrawn clusters, shape (draws, columns of sums).

    Rows of right and wrong have few distinct ones: one multinomial draw of how often each comes
    is a small part of the work. If most rows are distinct, the clusters themselves are drawn.
    """
    generator = np.random.default_rng(0)
    totals = np.zeros((draws, sums.shape[1]))
    rows, counts = np.unique(sums, axis=0, return_counts=True)
    n = len(sums)
    few = len(rows) * _DISTINCT_PER_CLUSTER < n
    step = max(1, _CHUNK // (len(rows) if few else n))
    for start in range(0, draws, step):
        block = totals[start : start + step]
        if few:
            weights = generator.multinomial(n, counts / n, size=len(block))
            block += weights.astype(np.float64) @ rows
        else:
            drawn = generator.integers(0, n, (len(block), n))
            for column in range(sums.shape[1]):
                block[:, column] = sums[:, column][drawn].sum(axis=1)
    return totals


def _scored(
    scores: Sequence[float], clusters: Sequence[Hashable] | None
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Scores without NaN, and the number of each one's cluster."""
    values = np.asarray(scores, dtype=np.float64)
    kept = ~np.isnan(values)
    return values[kept], _codes(clusters, len(values))[kept]


def _cluster_sums(values: Floats, labels: npt.NDArray[np.int64]) -> Floats:
    """Sum rows by label."""
    distinct, position = np.unique(labels, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]))
    np.add.at(sums, position, values)
    return sums


def _codes(labels: Sequence[Hashable] | None, n: int) -> npt.NDArray[np.int64]:
    """Assign numbers to labels from 0 on; without labels every item is its own."""
    if labels is None:
        return np.arange(n)
    if len(labels) != n:
        raise ValueError(f"There are {len(labels)} cluster labels for {n} items.")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def _in_order(clusters: Clusters | None, ids: Sequence[Hashable]) -> Sequence[Hashable] | None:
    if not isinstance(clusters, Mapping):
        return clusters
    missing = [question for question in ids if question not in clusters]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(ids)} questions have no cluster, the first is "
            f"{missing[0]!r}; name the video of every question."
        )
    return [clusters[question] for question in ids]


def _check(level: float, draws: int = 1) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must be between 0 and 1, e.g. 0.95.")
    if draws < 1:
        raise ValueError(f"draws is {draws}; at least one is needed.")
