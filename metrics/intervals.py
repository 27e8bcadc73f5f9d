"""How sure a number is: intervals and paired tests.

Accuracies over independent questions get a Wilson interval. Questions about one video are not
independent, and kappa, tau and rho are ratios of correlated accuracies: those get a percentile
bootstrap that redraws whole videos and keeps the conditions of a question together. Nothing
measured gives NaN.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from video_reasoning.metrics._align import Aligned, Scores, align
from video_reasoning.metrics.principles import Gain, evaluate_principles, shared_questions

Floats = npt.NDArray[np.float64]
Clusters = Mapping[Hashable, Hashable] | Sequence[Hashable]
"""What belongs together, e.g. the video of each question: by question id, or in their order."""

DRAWS = 10_000
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
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    n_clusters: int


def wilson(n_correct: int, n: int, level: float = 0.95) -> Estimate:
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
    _check_level(level)
    if not 0 <= n_correct <= n:
        raise ValueError(f"{n_correct} correct of {n} questions is impossible.")
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, 0)
    share = n_correct / n
    z = NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if n_correct == 0 else centre - half
    high = 1.0 if n_correct == n else centre + half
    return Estimate(share, low, high, level, n, n)


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean of scores with a bootstrap interval, clustered and stratified where asked.

    Args:
        values: One score per item, e.g. 1.0 right and 0.0 wrong; NaN is left out.
        clusters: What each item belongs to, e.g. its video; whole clusters are redrawn. Without
            it every item is drawn for itself.
        strata: The stratum of each item; each stratum keeps its number of clusters in every
            draw. All items of a cluster must lie in one stratum.
        draws: Number of bootstrap draws, at least 1.
        level: Coverage of the percentile interval.
        seed: Seed of the draws; the same seed gives the same interval.

    Raises:
        ValueError: Lengths differ, a cluster lies in two strata, or a parameter is out of range.
    """
    scores = np.asarray(values, dtype=np.float64)
    kept = ~np.isnan(scores)
    labels = _codes(clusters, len(scores))[kept]
    layers = _codes(strata, len(scores))[kept] if strata is not None else np.zeros_like(labels)
    scores = scores[kept]
    if not len(scores):
        _check_draws(draws, level)
        return Estimate(math.nan, math.nan, math.nan, level, 0, 0)
    sums, of_cluster = _cluster_sums(np.column_stack([scores, np.ones(len(scores))]), labels)
    layer = np.zeros(len(sums), dtype=np.int64)
    layer[of_cluster] = layers
    if (layer[of_cluster] != layers).any():
        raise ValueError("A cluster has items in two strata; each must lie in one.")
    resampled = _resample(sums, layer, draws, level, seed)
    means = resampled[:, 0] / resampled[:, 1]
    return _estimate(float(scores.mean()), means, level, len(scores), len(sums))


def bootstrap_difference(
    a: Sequence[float],
    b: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean of b minus mean of a over the same items, with a paired bootstrap interval.

    Both scores of an item are drawn together, so that what makes an item hard for both does not
    widen the interval.

    Args:
        a: One score per item of the first run; NaN where it has none.
        b: One score per item of the second run, in the same order. Items that lack one of the
            two are left out.
        clusters: As in `bootstrap_mean`.
        draws: Number of bootstrap draws.
        level: Coverage of the percentile interval.
        seed: Seed of the draws.

    Raises:
        ValueError: Lengths differ or a parameter is out of range.
    """
    if len(a) != len(b):
        raise ValueError(f"Runs over {len(a)} and {len(b)} items cannot be paired item by item.")
    difference = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    return bootstrap_mean(difference.tolist(), clusters, draws=draws, level=level, seed=seed)


def bootstrap_gain(
    above: Sequence[float],
    below: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Relative gain mean(above) / mean(below) - 1 with a paired bootstrap interval.

    The form of kappa, tau and rho (TVBench, section 3) for any two conditions over the same
    items, and for scores that give partial credit. A draw whose denominator is zero counts as
    infinite, so that an interval which reaches that far says so; 0/0 is left out.

    Args:
        above: Score of each item above the line, 0 or more; NaN where it has none.
        below: Score of the same items below the line.
        clusters: What each item belongs to, e.g. its video; whole clusters are redrawn.
        draws: Number of bootstrap draws.
        level: Coverage of the percentile interval.
        seed: Seed of the draws.

    Returns:
        A ratio of -1 or more over the items that have both scores; NaN where the scores below
        the line are all zero.

    Raises:
        ValueError: Lengths differ, a score is negative or a parameter is out of range.

    Example:
        >>> round(bootstrap_gain([1, 1, 1, 0], [1, 0, 1, 0]).value, 2)
        0.5
    """
    if len(above) != len(below):
        raise ValueError(
            f"Runs over {len(above)} and {len(below)} items cannot be paired item by item."
        )
    _check_draws(draws, level)
    scores = np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)])
    if (scores < 0).any():
        raise ValueError("A score is negative; a gain is between scores of 0 or more.")
    kept = ~np.isnan(scores).any(axis=1)
    labels = _codes(clusters, len(scores))[kept]
    scores = scores[kept]
    totals = scores.sum(axis=0)
    if not len(scores) or not totals[1]:
        n_clusters = len(np.unique(labels))
        return Estimate(math.nan, math.nan, math.nan, level, len(scores), n_clusters)
    sums, _ = _cluster_sums(scores, labels)
    drawn = _resample(sums, np.zeros(len(sums), dtype=np.int64), draws, level, seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        gains = drawn[:, 0] / drawn[:, 1] - 1
    return _estimate(float(totals[0] / totals[1] - 1), gains, level, len(scores), len(sums))


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of two runs over the same questions.

    Attributes:
        only_a: Questions that only the first run got right.
        only_b: Questions that only the second run got right.
        n: Questions that both runs have a score for.
        p_exact: Two-sided exact p-value: 2 P(X <= min(only_a, only_b)) with X binomial over
            the differing questions with chance 1/2, at most 1. NaN over 0 questions, 1 where no
            question differs.
        p_mid: Two-sided mid-p value, p_exact less the chance of exactly what was seen (before
            the cap at 1); less conservative than the exact test.
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
    if len(a) != len(b):
        raise ValueError(f"Runs over {len(a)} and {len(b)} items cannot be paired item by item.")
    table = align({"a": list(a), "b": list(b)}).scores
    table = table[~np.isnan(table).any(axis=1)]
    only_a = int(((table[:, 0] == 1) & (table[:, 1] == 0)).sum())
    only_b = int(((table[:, 0] == 0) & (table[:, 1] == 1)).sum())
    if not len(table):
        return McNemar(0, 0, 0, math.nan, math.nan)
    if only_a + only_b == 0:
        return McNemar(0, 0, len(table), 1.0, 1.0)
    from scipy.stats import binom

    fewer, differing = min(only_a, only_b), only_a + only_b
    twice_tail = 2 * float(binom.cdf(fewer, differing, 0.5))
    seen = float(binom.pmf(fewer, differing, 0.5))
    return McNemar(only_a, only_b, len(table), min(1.0, twice_tail), min(1.0, twice_tail - seen))


@dataclass(frozen=True)
class PrinciplesIntervals:
    """kappa, tau and rho with bootstrap intervals (see `bootstrap_principles`).

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


def bootstrap_principles(
    correct: Scores,
    clusters: Clusters | None = None,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    seed: int = 0,
    ordered: str = "ordered16",
    shuffled: str = "shuffled16",
    random: str = "random1",
    handpicked: str = "handpicked1",
) -> PrinciplesIntervals:
    """Interval of kappa, tau and rho by a paired bootstrap over questions, clustered by video.

    In every draw all conditions of a question appear together and as often as its video was
    drawn; a ratio is taken from the accuracies of that draw. The handpicked kappa and rho redraw
    the videos that have a question with a pick. A draw whose denominator is zero counts as
    infinite, so that an interval which reaches that far says so; 0/0 is left out.

    Args:
        correct: As in `evaluate_principles`.
        clusters: The video of each question, by question id or in the order of the questions;
            without it every question is drawn for itself.
        draws: Number of bootstrap draws.
        level: Coverage of the percentile intervals.
        seed: Seed of the draws.
        ordered: Name of the condition with m frames in order.
        shuffled: Name of the condition with the same frames shuffled.
        random: Name of the condition with one random frame.
        handpicked: Name of the condition with the handpicked frame.

    Raises:
        ValueError: As in `evaluate_principles`, a question has no cluster, or a parameter is out
            of range.
    """
    point = evaluate_principles(
        correct, ordered=ordered, shuffled=shuffled, random=random, handpicked=handpicked
    )
    _check_draws(draws, level)
    names = [name for name in (ordered, shuffled, random, handpicked) if name in correct]
    table = align({name: correct[name] for name in names})
    labels = _codes(_in_order(clusters, table), len(table.ids))
    shared, picked = shared_questions(table, handpicked)

    def sums_of(rows: npt.NDArray[np.bool_]) -> tuple[Floats, int]:
        """Per draw: the correct answers of each condition, then the number of questions."""
        if not rows.any():
            return np.full((draws, len(names) + 1), math.nan), 0
        scores = np.nan_to_num(table.scores[rows])
        sums, _ = _cluster_sums(np.column_stack([scores, np.ones(len(scores))]), labels[rows])
        one_stratum = np.zeros(len(sums), dtype=np.int64)
        return _resample(sums, one_stratum, draws, level, seed), len(sums)

    over_shared = sums_of(shared)
    # Where every question has a pick, both are over the same questions and drawn alike.
    over_picked = over_shared if (picked == shared).all() else sums_of(picked)

    def ratio(gain: Gain, above: str, below: str, rows: tuple[Floats, int]) -> Estimate:
        if math.isnan(gain.value):
            return Estimate(math.nan, math.nan, math.nan, level, gain.n, rows[1] if gain.n else 0)
        numerator = rows[0][:, names.index(above)]
        denominator = rows[0][:, names.index(below)]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = numerator / denominator - 1
        return _estimate(gain.value, ratios, level, gain.n, rows[1])

    accuracies = {}
    for name in names:
        sums, n_clusters = over_picked if name == handpicked else over_shared
        n = (
            0
            if math.isnan(point.accuracies[name])
            else int((picked if name == handpicked else shared).sum())
        )
        shares = sums[:, names.index(name)] / sums[:, -1] if n else np.empty(0)
        accuracies[name] = _estimate(
            point.accuracies[name], shares, level, n, n_clusters if n else 0
        )
    return PrinciplesIntervals(
        kappa_random=ratio(point.kappa_random, ordered, random, over_shared),
        kappa_handpicked=ratio(point.kappa_handpicked, ordered, handpicked, over_picked),
        tau=ratio(point.tau, ordered, shuffled, over_shared),
        rho=ratio(point.rho, handpicked, random, over_picked),
        accuracies=accuracies,
    )


def _estimate(value: float, drawn: Floats, level: float, n: int, n_clusters: int) -> Estimate:
    """Percentile interval; an order statistic, as interpolation fails next to infinity."""
    drawn = np.sort(drawn[~np.isnan(drawn)])
    if not len(drawn):
        return Estimate(value, math.nan, math.nan, level, n, n_clusters)
    tail = (1 - level) / 2
    low = drawn[math.floor(tail * (len(drawn) - 1))]
    high = drawn[math.ceil((1 - tail) * (len(drawn) - 1))]
    return Estimate(value, float(low), float(high), level, n, n_clusters)


def _resample(
    sums: Floats, strata: npt.NDArray[np.int64], draws: int, level: float, seed: int
) -> Floats:
    """Totals of redrawn clusters, shape (draws, columns of sums).

    Drawing clusters with replacement and adding up their rows is drawing, for each distinct row,
    how often it comes: one multinomial draw over the distinct rows. Rows of right and wrong have
    few distinct ones, and that is a small part of the work; where most rows are distinct, the
    clusters themselves are drawn.
    """
    _check_draws(draws, level)
    generator = np.random.default_rng(seed)
    totals = np.zeros((draws, sums.shape[1]))
    for stratum in np.unique(strata):
        rows, counts = np.unique(sums[strata == stratum], axis=0, return_counts=True)
        n = int(counts.sum())
        few = len(rows) * _DISTINCT_PER_CLUSTER < n
        step = max(1, _CHUNK // (len(rows) if few else n))
        for start in range(0, draws, step):
            block = totals[start : start + step]
            if few:
                weights = generator.multinomial(n, counts / n, size=len(block))
                block += weights.astype(np.float64) @ rows
            else:
                members = sums[strata == stratum]
                drawn = generator.integers(0, n, (len(block), n))
                for column in range(sums.shape[1]):
                    block[:, column] += members[:, column][drawn].sum(axis=1)
    return totals


def _cluster_sums(
    values: Floats, labels: npt.NDArray[np.int64]
) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Sum rows by label; also the position of each row's label among the sums."""
    distinct, position = np.unique(labels, return_inverse=True)
    sums = np.zeros((len(distinct), values.shape[1]))
    np.add.at(sums, position, values)
    return sums, position


def _codes(labels: Sequence[Hashable] | None, n: int) -> npt.NDArray[np.int64]:
    """Number labels from 0 on; without labels every item is its own."""
    if labels is None:
        return np.arange(n)
    if len(labels) != n:
        raise ValueError(f"There are {len(labels)} cluster or stratum labels for {n} items.")
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def _in_order(clusters: Clusters | None, table: Aligned) -> Sequence[Hashable] | None:
    if not isinstance(clusters, Mapping):
        return clusters
    missing = [question for question in table.ids if question not in clusters]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(table.ids)} questions have no cluster, the first is "
            f"{missing[0]!r}; name the video of every question."
        )
    return [clusters[question] for question in table.ids]


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1, e.g. 0.95.")


def _check_draws(draws: int, level: float) -> None:
    _check_level(level)
    if draws < 1:
        raise ValueError(f"draws is {draws}; at least one is needed.")
