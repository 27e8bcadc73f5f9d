import math
import time

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.proportion import proportion_confint

from video_reasoning.metrics.intervals import (
    accuracy_interval,
    difference_interval,
    gain_interval,
    mcnemar,
    mean_interval,
    principles_intervals,
    wilson,
)
from video_reasoning.metrics.principles import evaluate_principles


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 7), (7, 7), (1, 3), (15, 20), (560, 1484)])
def test_wilson_is_that_of_statsmodels(k, n, level):
    estimate = wilson(k, n, level)
    expected = proportion_confint(k, n, alpha=1 - level, method="wilson")
    assert (estimate.low, estimate.high) == pytest.approx(expected)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_wilson_of_nothing_and_of_the_impossible():
    assert math.isnan(wilson(0, 0).value)
    assert math.isnan(wilson(0, 0).low)
    with pytest.raises(ValueError, match="5 correct of 4"):
        wilson(5, 4)
    with pytest.raises(ValueError, match="level is 95"):
        wilson(1, 4, 95)


@pytest.mark.parametrize(
    ("only_a", "only_b"), [(0, 0), (1, 0), (5, 5), (3, 12), (40, 61), (900, 1)]
)
def test_mcnemar_is_that_of_statsmodels(only_a, only_b):
    a = [1] * only_a + [0] * only_b + [1] * 10 + [0] * 4 + [None, 1]
    b = [0] * only_a + [1] * only_b + [1] * 10 + [0] * 4 + [1, None]
    test = mcnemar(a, b)
    assert (test.only_a, test.only_b, test.n) == (only_a, only_b, only_a + only_b + 14)
    reference = reference_mcnemar([[10, only_a], [only_b, 4]], exact=True)
    assert test.p_exact == pytest.approx(reference.pvalue)
    # Fagerland, Lydersen, Laake (2013): mid-p is the exact p less the point probability.
    if only_a != only_b:
        seen = stats.binom.pmf(only_a, only_a + only_b, 0.5)
        assert test.p_mid == pytest.approx(reference.pvalue - seen)
    else:
        assert test.p_mid == 1.0


def test_mcnemar_by_hand():
    # 4 questions only b got right: exact 2 * (1/2)^4 = 1/8, mid-p 1/8 - 1/16.
    test = mcnemar([0, 0, 0, 0, 1], [1, 1, 1, 1, 1])
    assert (test.p_exact, test.p_mid) == pytest.approx((1 / 8, 1 / 16))
    assert math.isnan(mcnemar([], []).p_exact)
    with pytest.raises(ValueError, match="a 2, b 1"):
        mcnemar([1, 0], [1])


def test_bootstrap_of_a_mean_is_that_of_scipy():
    values = np.random.default_rng(1).random(300) < 0.3
    estimate = mean_interval(values.astype(float), draws=20_000)
    reference = stats.bootstrap(
        (values.astype(float),), np.mean, n_resamples=20_000, method="percentile", rng=2
    ).confidence_interval
    # 300 items: the interval's ends lie on a grid of 1/300, and both are random.
    assert estimate.low == pytest.approx(reference.low, abs=1.5 / 300)
    assert estimate.high == pytest.approx(reference.high, abs=1.5 / 300)
    assert (estimate.value, estimate.n, estimate.n_clusters) == (values.mean(), 300, 300)


def test_values_that_are_all_different_are_drawn_too():
    values = np.random.default_rng(3).normal(2, 1, 500)
    estimate = mean_interval(values.tolist(), draws=4000)
    half = 1.96 * values.std() / math.sqrt(500)
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.08)


def test_clusters_widen_the_interval():
    # 40 videos with 5 questions each that are all right or all wrong: as sure as 40 questions.
    by_video = np.random.default_rng(4).random(40) < 0.5
    values = np.repeat(by_video, 5).astype(float)
    videos = [f"v{position // 5}" for position in range(200)]
    single = mean_interval(values)
    clustered = mean_interval(values, videos)
    assert (clustered.n, clustered.n_clusters) == (200, 40)
    assert (clustered.high - clustered.low) / (single.high - single.low) == pytest.approx(
        math.sqrt(5), rel=0.15
    )


def test_one_set_of_scores_has_one_interval():
    values = np.random.default_rng(8).normal(0, 1, 50).tolist()
    assert mean_interval(values, draws=200) == mean_interval(values, draws=200)


def _coverage(interval, videos, sizes, alike, share, repeats=300):
    """How often an interval contains the share that the scores were drawn with."""
    generator = np.random.default_rng(11)
    hits = 0
    for _ in range(repeats):
        n = generator.integers(*sizes, videos)
        labels = np.repeat(np.arange(videos), n)
        own = generator.beta(share * (1 - alike) / alike, (1 - share) * (1 - alike) / alike, videos)
        found = interval((generator.random(len(labels)) < own[labels]).astype(float), labels)
        hits += found.low <= share <= found.high
    return hits / repeats


class TestAccuracy:
    def test_independent_questions_get_wilsons_interval(self) -> None:
        assert accuracy_interval([1.0, 1.0, 1.0, 0.0], ["a", "b", "c", "d"]) == wilson(3, 4)
        assert accuracy_interval([1, 1, math.nan, 1, 0]) == wilson(3, 4)
        assert accuracy_interval([]).n == 0

    def test_videos_whose_questions_are_all_alike_count_once(self) -> None:
        scores = [float(video % 2) for video in range(40) for _ in range(5)]
        videos = [video for video in range(40) for _ in range(5)]
        found, once = accuracy_interval(scores, videos), wilson(20, 40)
        assert (found.n, found.n_clusters, found.method) == (200, 40, "Wilson over videos")
        # Wider than Wilson's by Student's quantile for a variance from 40 videos, and n - 1.
        assert 1 < (found.high - found.low) / (once.high - once.low) < 1.06

    def test_scores_without_variance_count_as_many_as_videos(self) -> None:
        for scores in ([1.0] * 9, [0.0] * 9):
            found = accuracy_interval(scores, list("aaabbbccc"))
            expected = wilson(int(scores[0]) * 3, 3)
            assert (found.low, found.high) == (expected.low, expected.high)
        one = accuracy_interval([1.0, 0.0, 1.0], ["v"] * 3)
        assert one.low < 0.1 and one.high > 0.95

    def test_partial_credit_is_narrower_than_right_and_wrong(self) -> None:
        scores = np.random.default_rng(2).uniform(0.4, 0.6, 200).tolist()
        found = accuracy_interval(scores)
        half = 1.96 * np.std(scores) / math.sqrt(200)
        assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)
        with pytest.raises(ValueError, match="outside 0"):
            accuracy_interval([2.0, 1.0])

    @pytest.mark.parametrize(("videos", "alike"), [(6, 0.3), (12, 0.3), (12, 0.9), (40, 0.5)])
    def test_covers_the_truth_more_often_than_a_bootstrap(self, videos, alike) -> None:
        covered = _coverage(accuracy_interval, videos, (1, 7), alike, 0.4)

        def bootstrap(scores, labels):
            return mean_interval(scores, labels, draws=400)

        assert covered >= 0.925
        assert covered >= _coverage(bootstrap, videos, (1, 7), alike, 0.4) - 0.01


def test_what_is_missing_is_left_out():
    assert math.isnan(mean_interval([]).low)
    assert math.isnan(mean_interval([math.nan]).value)
    assert mean_interval([1.0, math.nan, 0.0]).n == 2
    with pytest.raises(ValueError, match="3 cluster labels for 2 items"):
        mean_interval([1.0, 0.0], clusters=["a", "b", "c"])
    with pytest.raises(ValueError, match="draws is 0"):
        mean_interval([1.0], draws=0)


def test_a_difference_is_paired():
    generator = np.random.default_rng(5)
    hard = generator.random(400) < 0.5
    a = np.where(hard, 0.0, 1.0)
    b = a.copy()
    b[:30] = 1.0  # thirty items that b gets right whatever a did, and ten that it loses
    b[-10:] = 0.0
    estimate = difference_interval(a.tolist(), b.tolist())
    assert estimate.value == pytest.approx(b.mean() - a.mean())
    # Paired standard error: that of the differences; unpaired it would be about 0.035.
    assert (estimate.high - estimate.low) / (2 * 1.96) == pytest.approx((b - a).std() / 20, rel=0.1)
    assert difference_interval([1.0, math.nan], [0.0, 1.0]).n == 1
    with pytest.raises(ValueError, match="a 1, b 2"):
        difference_interval([1.0], [1.0, 0.0])


def _run(n=1484, n_videos=1397, n_picked=200, seed=6):
    """Four conditions over questions of which some share a video and are alike."""
    generator = np.random.default_rng(seed)
    videos = np.concatenate([np.arange(n_videos), generator.integers(0, n_videos, n - n_videos)])
    ease = generator.random(n_videos)[videos]
    correct = {
        name: (0.5 * generator.random(n) + 0.5 * ease < threshold).astype(float)
        for name, threshold in (
            ("ordered16", 0.45),
            ("shuffled16", 0.38),
            ("random1", 0.32),
            ("handpicked1", 0.34),
        )
    }
    correct["handpicked1"][n_picked:] = math.nan
    return correct, videos.tolist()


def test_intervals_of_the_principles_are_those_of_a_plain_bootstrap():
    correct, videos = _run(n=300, n_videos=200, n_picked=120)
    result = principles_intervals(correct, videos, draws=8000)
    point = evaluate_principles(correct)
    for name in ("kappa_random", "kappa_handpicked", "tau", "rho"):
        estimate = getattr(result, name)
        assert estimate.value == getattr(point, name).value
        assert estimate.n == getattr(point, name).n
        assert estimate.low < estimate.value < estimate.high
    assert result.tau.n_clusters == 200
    assert result.rho.n_clusters == len(set(videos[:120]))

    # The same, written down naively: redraw the videos, join the rows of each, take the ratio.
    generator = np.random.default_rng(7)
    rows_of = [np.flatnonzero(np.array(videos) == video) for video in range(200)]
    drawn = {"tau": [], "rho": []}
    for _ in range(4000):
        rows = np.concatenate([rows_of[video] for video in generator.integers(0, 200, 200)])
        picked = rows[rows < 120]
        drawn["tau"].append(
            correct["ordered16"][rows].mean() / correct["shuffled16"][rows].mean() - 1
        )
        drawn["rho"].append(
            correct["handpicked1"][picked].mean() / correct["random1"][picked].mean() - 1
        )
    for name, values in drawn.items():
        low, high = np.quantile(values, [0.025, 0.975])
        width = high - low
        assert getattr(result, name).low == pytest.approx(low, abs=0.06 * width)
        assert getattr(result, name).high == pytest.approx(high, abs=0.06 * width)


def test_clusters_by_question_id():
    correct, videos = _run(n=60, n_videos=40, n_picked=30)
    ids = [f"q{position}" for position in range(60)]
    by_id = {
        name: {key: value for key, value in zip(ids, column, strict=True) if value == value}
        for name, column in correct.items()
    }
    same = principles_intervals(by_id, dict(zip(ids, videos, strict=True)), draws=500)
    assert same == principles_intervals(correct, videos, draws=500)
    with pytest.raises(ValueError, match="1 of 60 questions have no cluster, the first is 'q59'"):
        principles_intervals(by_id, dict(zip(ids[:59], videos, strict=False)))


def test_accuracies_have_intervals_over_the_questions_they_rest_on():
    correct, videos = _run(n=300, n_videos=200, n_picked=120)
    result = principles_intervals(correct, videos, draws=2000)
    assert list(result.accuracies) == ["ordered16", "shuffled16", "random1", "handpicked1"]
    ordered = result.accuracies["ordered16"]
    assert ordered.value == correct["ordered16"].mean()
    assert ordered == accuracy_interval(correct["ordered16"].tolist(), videos)
    assert result.accuracies["handpicked1"].n == 120


def test_a_denominator_that_may_be_zero_shows_in_the_interval():
    # One of three single-frame answers is right: (2/3)^3 = 30% of the draws hold none.
    correct = {"ordered16": [1, 1, 1], "random1": [1, 0, 0]}
    estimate = principles_intervals(correct).kappa_random
    assert estimate.value == pytest.approx(2.0)
    assert math.isinf(estimate.high)
    undefined = principles_intervals({"ordered16": [1, 1], "random1": [0, 0]})
    assert math.isnan(undefined.kappa_random.value)
    assert math.isnan(undefined.kappa_random.low)
    assert undefined.kappa_random.n == 2
    assert (undefined.tau.n, undefined.tau.n_clusters) == (0, 0)


@pytest.mark.bench
def test_ten_thousand_draws_over_a_whole_benchmark():
    correct, videos = _run()
    start = time.perf_counter()
    principles_intervals(correct, videos)
    seconds = time.perf_counter() - start

    # The same by drawing rows one draw after the other, for a fiftieth of the draws.
    generator = np.random.default_rng(9)
    columns = np.column_stack(list(correct.values()))
    start = time.perf_counter()
    for _ in range(200):
        np.nanmean(columns[generator.integers(0, len(columns), len(columns))], axis=0)
    loop = 50 * (time.perf_counter() - start)
    print(f"10,000 draws, 1,484 questions x 4 conditions: {seconds:.2f} s, as a loop {loop:.1f} s")
    assert seconds < loop


class TestGain:
    def test_is_the_ratio_of_the_means(self) -> None:
        found = gain_interval([1, 1, 1, 0, math.nan], [1, 0, 1, 0, 1])
        assert found.value == pytest.approx(0.5)
        assert found.n == 4

    def test_agrees_with_the_principles(self) -> None:
        generator = np.random.default_rng(3)
        above = generator.integers(0, 2, 300)
        below = generator.integers(0, 2, 300)
        videos = [f"video {number // 3}" for number in range(300)]
        mine = gain_interval(above.tolist(), below.tolist(), videos)
        theirs = principles_intervals(
            {"ordered16": above.tolist(), "shuffled16": below.tolist()}, videos
        ).tau
        assert mine == theirs
        assert mine.n_clusters == 100

    def test_partial_credit(self) -> None:
        assert gain_interval([0.6, 0.3], [0.5, 0.25]).value == pytest.approx(0.2)

    def test_nothing_below_the_line(self) -> None:
        assert math.isnan(gain_interval([1, 0], [0, 0]).value)

    def test_a_negative_score(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            gain_interval([1, -1], [0, 1])

    def test_losses_that_were_not_seen_have_room(self) -> None:
        # Eight of ten won, none lost: a bootstrap of the differences ends at 0.5.
        found = difference_interval([0] * 10, [1] * 8 + [0] * 2)
        assert 0 < found.low < 0.45 and found.high == pytest.approx(1.0)
        same = difference_interval([1, 0] * 50, [1, 0] * 50)
        room = wilson(0, 100).high
        assert (same.low, same.value, same.high) == pytest.approx((-room, 0, room))
        # An unseen loss is as large as the largest win.
        small = difference_interval([0.0] * 100, [0.1] * 100)
        assert small.low == pytest.approx(0.1 - 0.1 * room)
        gain = gain_interval([1, 0] * 50, [1, 0] * 50)
        assert (gain.low, gain.high) == pytest.approx((-2 * room, 2 * room))

    def test_one_video_shows_nothing_about_others(self) -> None:
        above, below, video = [1, 1, 0], [1, 0, 0], ["v"] * 3
        difference = difference_interval(below, above, video)
        assert (difference.low, difference.high) == (-1, 1)
        gain = gain_interval(above, below, video)
        assert (gain.value, gain.low, gain.high) == (1.0, -1.0, math.inf)

    def test_nothing_measured(self) -> None:
        for found in (gain_interval([], []), difference_interval([], []), mean_interval([])):
            assert math.isnan(found.value) and math.isnan(found.low) and found.n == 0
