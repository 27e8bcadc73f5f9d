import math

import numpy as np
import pytest

from video_reasoning.metrics.paired import paired_accuracy, unpaired_accuracy


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
