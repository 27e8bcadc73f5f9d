from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from video_reasoning.preprocessing.sampling import (
    _below,
    random_index,
    shuffled,
    shuffled_order,
    uniform_indices,
)


def test_uniform_indices_are_numpys() -> None:
    for n_frames in (*range(1, 300), 1803, 21600):
        for m in (1, 2, 3, 7, 8, 16, 32, 100):
            expected = np.linspace(0, n_frames - 1, m).astype(int).tolist()
            assert uniform_indices(n_frames, m) == expected


def test_uniform_indices_worked_by_hand() -> None:
    # 99 / 15 = 6.6
    expected = [0, 6, 13, 19, 26, 33, 39, 46, 52, 59, 66, 72, 79, 85, 92, 99]
    assert uniform_indices(100, 16) == expected
    # Fewer frames than asked: 4 / 7 = 0.571...
    assert uniform_indices(5, 8) == [0, 0, 1, 1, 2, 2, 3, 4]
    assert uniform_indices(1, 3) == [0, 0, 0]


def test_known_values_hold_on_every_platform() -> None:
    assert shuffled_order(8, "question-1") == [1, 7, 6, 3, 4, 0, 2, 5]
    assert shuffled_order(8, "question-1", seed=1) == [2, 5, 1, 7, 6, 4, 3, 0]
    assert [random_index(1000, f"q{n}") for n in range(4)] == [624, 235, 862, 184]


@pytest.mark.parametrize("m", [2, 3, 4, 16])
def test_a_shuffle_is_a_permutation_and_never_the_identity(m: int) -> None:
    for number in range(300):
        order = shuffled_order(m, f"key {number}")
        assert sorted(order) == list(range(m))
        assert order != list(range(m))


def test_one_frame_has_one_order() -> None:
    assert shuffled_order(1, "x") == [0]


def test_all_other_orders_are_equally_likely() -> None:
    counts = Counter(tuple(shuffled_order(3, f"key {number}")) for number in range(5000))
    assert len(counts) == 5
    # 1,000 each expected, standard deviation 28.
    assert all(860 < count < 1140 for count in counts.values())


def test_shuffled_frames_differ_as_a_sequence() -> None:
    frames = [0, 0, 0, 0, 0, 0, 1]
    for number in range(300):
        result = shuffled(frames, f"key {number}")
        assert sorted(result) == frames
        assert result != frames


def test_shuffled_agrees_with_the_order_where_frames_differ() -> None:
    frames = [3, 14, 15, 92, 65]
    order = shuffled_order(5, "pi", seed=4)
    assert shuffled(frames, "pi", seed=4) == [frames[position] for position in order]


def test_equal_frames_come_back_as_they_are() -> None:
    assert shuffled([5, 5, 5], "x") == [5, 5, 5]


def test_random_index_covers_the_whole_video_evenly() -> None:
    counts = Counter(random_index(10, f"key {number}") for number in range(5000))
    assert set(counts) == set(range(10))
    # 500 each expected, standard deviation 21.
    assert all(390 < count < 610 for count in counts.values())


def test_a_word_above_the_last_full_multiple_is_drawn_again() -> None:
    # 2^64 is a multiple of 3, and 1 more: the last word belongs to no full multiple.
    assert _below(3, iter([2**64 - 1, 5])) == 2
    assert _below(3, iter([2**64 - 2, 5])) == 2
    assert _below(3, iter([2**64 - 3, 5])) == 1
    assert _below(4, iter([2**64 - 1, 5])) == 3


def test_key_and_seed_matter() -> None:
    assert len({random_index(10**9, f"key {number}") for number in range(100)}) == 100
    assert random_index(10**9, "a", seed=0) != random_index(10**9, "a", seed=1)
    assert random_index(5, "lone surrogate \udcff") in range(5)


@pytest.mark.parametrize("call", [(0, 16), (16, 0), (-1, 1)])
def test_nothing_to_sample_is_an_error(call: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        uniform_indices(*call)


def test_nothing_to_shuffle_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        shuffled([], "x")
    with pytest.raises(ValueError, match="at least 1"):
        random_index(0, "x")
