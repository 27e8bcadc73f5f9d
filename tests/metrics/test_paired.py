import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from video_reasoning.metrics.paired import (
    GroupScores,
    consistency,
    decompose,
    detectable_effect,
    expected_by_guessing,
    paired_accuracy,
    score_groups,
    unpaired_accuracy,
)


def test_a_pair_counts_only_with_both_variants_right():
    # q1 both right, q2 one right, q3 none: 1 of 3 pairs, 3 of 6 items.
    ids = ["q1", "q2", "q3", "q1", "q2", "q3"]
    correct = [True, True, False, True, False, False]
    assert paired_accuracy(ids, correct) == pytest.approx(1 / 3)
    assert unpaired_accuracy(correct) == pytest.approx(1 / 2)


def test_a_lone_member_is_left_out_and_not_wrong():
    assert paired_accuracy(["q1", "q1", "q2"], [True, True, False]) == 1.0
    assert paired_accuracy(["q1", "q1", "q2", "q2"], [1, 1, 0, None]) == 1.0
    assert paired_accuracy(["q1", "q1", "q2", "q2"], [1, 1, math.nan, 0]) == 1.0


def test_nothing_complete_is_nan():
    assert math.isnan(paired_accuracy([], []))
    assert math.isnan(paired_accuracy(["q1", "q2"], [True, True]))
    assert math.isnan(unpaired_accuracy([]))
    assert math.isnan(unpaired_accuracy([None]))


def test_numbers_of_any_type():
    assert paired_accuracy(np.array([7, 7, 8, 8]), np.array([1.0, 1.0, 1.0, 0.0])) == 0.5
    assert paired_accuracy((7, 7), np.array([True, True])) == 1.0
    assert unpaired_accuracy(np.array([True, False])) == 0.5


def test_groups_of_three():
    ids = ["a"] * 3 + ["b"] * 3 + ["c"] * 2
    correct = [1, 1, 1, 1, 1, 0, 1, 0]
    assert paired_accuracy(ids, correct) == pytest.approx(1 / 3)
    # With three variants a group, c is incomplete.
    assert paired_accuracy(ids, correct, variants=3) == 0.5


@pytest.mark.parametrize(
    ("ids", "correct", "variants", "message"),
    [
        (["a", "a"], [True], None, "pair_ids 2, correct 1"),
        (["a", None], [True, True], None, r"pair_ids\[1\] is None"),
        (["a", "a"], [True, 0.5], None, r"correct\[1\] is 0.5"),
        (["a", "a"], [True, "no"], None, r"correct\[1\] is 'no'"),
        (["a", "a", "a"], [1, 1, 1], 2, "'a' has 3 items"),
        (["a"], [1], 1, "at least 2 variants"),
    ],
)
def test_what_cannot_be_scored_is_refused(ids, correct, variants, message):
    with pytest.raises(ValueError, match=message):
        paired_accuracy(ids, correct, variants=variants)


def test_counts_of_a_run_with_incomplete_groups():
    # a: both right, b: one right, c: none, d: alone, e: one without a score.
    ids = ["a", "a", "b", "b", "c", "c", "d", "e", "e"]
    correct = [1, 1, 0, 1, 0, 0, 1, 1, None]
    assert score_groups(ids, correct) == GroupScores(
        all_correct=pytest.approx(1 / 3),
        any_correct=pytest.approx(2 / 3),
        unpaired_of_complete=0.5,
        unpaired=pytest.approx(5 / 8),
        n_complete=3,
        n_incomplete=2,
        n_items=8,
        n_unscored=1,
    )
    nothing = score_groups([], [])
    assert math.isnan(nothing.all_correct)
    assert nothing.n_complete == 0


def test_consistency_compares_the_text_and_not_the_letter():
    ids = ["a", "b", "c", "d", "a", "b", "c", "d", "e"]
    chosen = ["Left.", "Left", None, "Up", " left", "Right", None, None, "Left"]
    # a agrees; b does not; c and d chose nothing at least once; e has one variant only.
    assert consistency(ids, chosen) == 1 / 4
    assert math.isnan(consistency(["a"], ["Left"]))


def test_guessing():
    guessing = expected_by_guessing(5)
    assert guessing.unpaired == 0.2
    assert guessing.all_correct == pytest.approx(0.04)
    assert guessing.any_correct == pytest.approx(0.36)
    assert expected_by_guessing(3, variants=3).all_correct == pytest.approx(1 / 27)
    with pytest.raises(ValueError, match="0 options"):
        expected_by_guessing(0)


def test_a_random_guesser_scores_what_is_expected():
    generator = np.random.default_rng(0)
    ids = np.repeat(np.arange(20_000), 2)
    correct = generator.random(40_000) < 0.2
    scores = score_groups(ids, correct)
    # Standard errors: sqrt(.04 * .96 / 20000) = 0.0014 and sqrt(.16 / 40000) = 0.002.
    assert scores.all_correct == pytest.approx(0.04, abs=0.006)
    assert scores.unpaired == pytest.approx(0.2, abs=0.008)


def test_decomposition_by_hand():
    # 10 groups: 5 both right, 2 one right, 3 none: paired 0.5, unpaired 0.6.
    ids = [group for group in range(10) for _ in range(2)]
    correct = [1, 1] * 5 + [1, 0] * 2 + [0, 0] * 3
    # Given p = 0.2: k = (0.5 - 0.04) / 0.96.
    given = decompose(ids, correct, 0.2)
    assert given.known == pytest.approx(0.46 / 0.96)
    # Estimated: p = (0.6 - 0.5) / (1 - 0.6) = 0.25, k = 1 - 0.4 / 0.75.
    estimated = decompose(ids, correct)
    assert estimated.guess_rate == pytest.approx(0.25)
    assert estimated.known == pytest.approx(1 - 0.4 / 0.75)
    # Both of the section's equations hold.
    k, p = estimated.known, estimated.guess_rate
    assert k + (1 - k) * p == pytest.approx(0.6)
    assert k + (1 - k) * p**2 == pytest.approx(0.5)


@pytest.mark.parametrize("variants", [2, 3, 4])
@pytest.mark.parametrize("guess_rate", [None, 0.3])
def test_decomposition_finds_a_known_share(variants, guess_rate):
    generator = np.random.default_rng(1)
    knows = generator.random(30_000) < 0.45
    correct = knows[:, None] | (generator.random((30_000, variants)) < 0.3)
    ids = np.repeat(np.arange(30_000), variants)
    result = decompose(ids, correct.ravel(), guess_rate, variants=variants)
    assert result.known == pytest.approx(0.45, abs=0.02)
    assert result.guess_rate == pytest.approx(0.3, abs=0.02)
    assert result.known + result.guessed == 1


def test_decomposition_at_its_ends():
    perfect = decompose(["a", "a"], [1, 1])
    assert (perfect.known, perfect.guessed) == (1.0, 0.0)
    assert math.isnan(perfect.guess_rate)
    hopeless = decompose(["a", "a"], [0, 0], 0.2)
    assert (hopeless.known, hopeless.guess_rate) == (0.0, 0.2)
    # Never more than one of two right: no guesser of a share k > 0 does that.
    worse = decompose(["a", "a", "b", "b"], [1, 0, 0, 1])
    assert (worse.known, worse.guess_rate) == (0.0, 0.5)
    assert math.isnan(decompose(["a"], [1]).known)
    with pytest.raises(ValueError, match="guess_rate is 1"):
        decompose(["a", "a"], [1, 1], 1)


def test_pairing_halves_the_detectable_effect():
    effect = detectable_effect(793)
    # Section 11: sigma 0.4 unpaired and 0.196 paired; Z = 1.960 + 0.842.
    assert effect.unpaired == pytest.approx(0.4 * 2.8016 * math.sqrt(2 / 793), rel=1e-4)
    assert effect.paired / effect.unpaired == pytest.approx(0.196 / 0.4, abs=0.001)
    # As if the benchmark had four times as many questions.
    assert detectable_effect(4 * 793).unpaired == pytest.approx(effect.paired, rel=0.03)
    assert detectable_effect(793, known=0.5).paired == pytest.approx(effect.paired / 2)
    with pytest.raises(ValueError, match="n is 0"):
        detectable_effect(0)
    with pytest.raises(ValueError, match="must be shares"):
        detectable_effect(10, guess_rate=20)


def test_texts_that_are_both_missing_are_not_consistent():
    assert consistency(["a", "a"], [None, None]) == 0.0
    assert consistency(["a", "a"], ["Up.", "up"]) == 1.0
    assert consistency(["a", "a"], ["up", None]) == 0.0


def test_the_smallest_and_largest_numbers_that_are_allowed():
    certain = expected_by_guessing(1)
    assert (certain.unpaired, certain.all_correct, certain.any_correct) == (1.0, 1.0, 1.0)
    single = expected_by_guessing(4, variants=1)
    assert (single.unpaired, single.all_correct, single.any_correct) == (0.25, 0.25, 0.25)
    for numbers in ((0, 2), (4, 0)):
        with pytest.raises(ValueError, match="too few"):
            expected_by_guessing(*numbers)
    alone = detectable_effect(1, variants=1)
    assert alone.paired == alone.unpaired > 0
    for numbers in ({"n": 0}, {"n": 9, "variants": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            detectable_effect(**numbers)
    for edge in (0.0, 1.0):
        assert detectable_effect(9, edge).unpaired == detectable_effect(9, known=1.0).paired == 0.0
    for name, wrong in {
        "guess_rate": (-0.1, 1.1),
        "known": (-0.1, 1.1),
        "alpha": (0, 1, -0.1, 1.1),
        "power": (0, 1, -0.1, 1.1),
    }.items():
        for share in wrong:
            with pytest.raises(ValueError, match="must be shares"):
                detectable_effect(9, **{name: share})
    ids, correct = ["a", "a", "b", "b"], [1, 1, 0, 0]
    assert decompose(ids, correct, 0.0).known == 0.5
    for rate in (-0.1, 1.5):
        with pytest.raises(ValueError, match="at least 0 and below 1"):
            decompose(ids, correct, rate)


@pytest.mark.parametrize(
    "result",
    [
        expected_by_guessing(5),
        decompose([], []),
        detectable_effect(9),
        score_groups(["a", "a"], [1, 1]),
    ],
)
def test_results_do_not_change(result):
    with pytest.raises(FrozenInstanceError):
        result.known = 1
