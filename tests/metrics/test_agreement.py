"""Agreement corrected for chance."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from video_reasoning.metrics.agreement import alpha, chance_corrected, share_of_pairs

_ = math.nan
RATERS = (
    [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
    [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
    [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
)
"""Krippendorff's published example, whose alpha of interval data is 0.811."""


def by_item(raters: tuple[list[float], ...]) -> dict[int, list[float]]:
    return {
        n: [value for value in values if not math.isnan(value)]
        for n, values in enumerate(zip(*raters, strict=True))
    }


def test_alpha_of_the_published_example() -> None:
    found = alpha(by_item(RATERS))
    assert found.value == pytest.approx(0.811, abs=5e-4) and found.n == 12
    assert found.low < found.value <= found.high <= 1


def test_alpha_is_its_definition() -> None:
    """One minus observed over expected disagreement, by going through every pair."""
    generator = np.random.default_rng(1)
    for _n in range(20):
        ratings = {n: generator.integers(1, 6, generator.integers(2, 5)).tolist() for n in range(9)}
        pooled = [value for values in ratings.values() for value in values]
        observed = sum(
            2 * sum((a - b) ** 2 for a, b in combinations(values, 2)) / (len(values) - 1)
            for values in ratings.values()
        ) / len(pooled)
        pairs = list(combinations(pooled, 2))
        expected = sum((a - b) ** 2 for a, b in pairs) / len(pairs)
        assert alpha(ratings, draws=10).value == pytest.approx(1 - observed / expected)


def test_alpha_of_nothing() -> None:
    for ratings in ({}, {1: [3]}, {1: [2, 2], 2: [2, 2]}):
        assert math.isnan(alpha(ratings).value) and math.isnan(alpha(ratings).low)


def test_videos_are_redrawn_whole() -> None:
    ratings = {n: [n % 5, n % 5 + (n // 5) % 2] for n in range(40)}
    alone, together = alpha(ratings), alpha(ratings, {n: n // 5 for n in range(40)})
    assert together.n_clusters == 8 and together.high - together.low > alone.high - alone.low


def test_blind_choices_are_at_zero_and_equal_ones_at_one() -> None:
    generator = np.random.default_rng(0)
    covered = 0
    for _n in range(200):
        found = chance_corrected(generator.integers(0, 4, (60, 3)).tolist(), [1 / 4] * 60)
        covered += found.corrected.low < 0 < found.corrected.high
    assert covered >= 185
    assert chance_corrected([["A", "A"]] * 5, [0.5] * 5).corrected.value == 1
    assert chance_corrected([["A", "B"]] * 5, [0.5] * 5).corrected.value == -1
    mixed = chance_corrected([["A", "A"], ["A", "B"], ["C"]], [1 / 2, 1 / 4, 1 / 9])
    assert mixed.chance == pytest.approx(3 / 8) and mixed.same.n == 2


def test_odd_input() -> None:
    assert math.isnan(share_of_pairs(["A"])) and share_of_pairs("AAB") == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="2 items and 1 chances"):
        chance_corrected([["A", "A"], ["B", "B"]], [0.5])
    assert math.isnan(chance_corrected([], []).corrected.value)
