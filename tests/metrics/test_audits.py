"""Effects, margins and luck of audits, with numbers worked out by hand or known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from video_reasoning.metrics.audits import (
    answerable,
    discoveries,
    holm,
    margins,
    p_above,
    p_below,
    questions_needed,
    share_above_guessing,
)
from video_reasoning.metrics.intervals import Estimate


def test_margins_shrink_with_what_is_above_guessing() -> None:
    assert (margins(0.60, 0.25).matters, margins(0.60, 0.25).negligible) == (0.02, 0.05)
    assert margins(0.29, 0.25).negligible == pytest.approx(0.01)
    assert margins(0.20, 0.25).matters == 0.0
    assert margins(0.60, math.nan).negligible == 0.05


def test_one_sided_tests_agree_with_the_ends_of_the_interval() -> None:
    found = Estimate(0.10, 0.04, 0.18, 0.95, 300, 300)
    assert p_above(found, 0.04) == pytest.approx(0.025)
    assert p_below(found, 0.18) == pytest.approx(0.025)
    assert p_above(found, 0.10) == pytest.approx(0.5) and p_above(found, 0.02) < 0.025
    assert p_above(Estimate(math.nan, math.nan, math.nan, 0.95, 0, 0), 0.0) == 1.0


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_questions_needed_from_discordant_pairs() -> None:
    """20 of 100 lost, 10 won: V = .30 - .10^2; (1.96 + .8416)^2 * .29 / .10^2 = 227.6."""
    a = [1.0] * 20 + [0.0] * 10 + [1.0] * 70
    b = [0.0] * 20 + [1.0] * 10 + [1.0] * 70
    assert questions_needed(a, b, None, 0.10) == 228
    # Two of each question about one video are worth half.
    doubled = questions_needed(a * 2, b * 2, [*range(100)] * 2, 0.10)
    assert doubled == pytest.approx(2 * 228, abs=2)
    assert questions_needed(a, b, None, 0.0) == math.inf
    assert questions_needed([1.0] * 50, [1.0] * 50, None, 0.05) > 0


def test_a_share_above_guessing() -> None:
    """With 2 options .58 against .50 leaves 86% of the accuracy and nothing above guessing."""
    above, below = [1.0] * 580 + [0.0] * 420, [1.0] * 250 + [0.0] * 500 + [1.0] * 250
    found = share_above_guessing(above, below, 0.5, draws=2000)
    assert found.value == pytest.approx(0.0) and found.low < 0 < found.high < 1
    assert math.isnan(share_above_guessing([0.0, 0.0], [0.0, 0.0], 0.5).value)


@pytest.mark.parametrize(("options", "times"), [(2, 10), (4, 6)])
def test_the_mixture_finds_share_and_power(options: int, times: int) -> None:
    generator = np.random.default_rng(1)
    knows = generator.random(2000) < 0.2
    chance = 1 / options
    right = generator.binomial(times, np.where(knows, 0.9, chance))
    found = answerable(right.tolist(), [times] * 2000, [chance] * 2000)
    assert found.share == pytest.approx(0.2, abs=0.03)
    assert found.power == pytest.approx(0.9, abs=0.05)
    out = discoveries(found.posterior, 0.1)
    innocent = sum(not knows[place] for place in out) / len(out)
    assert innocent < 0.14 and len(out) > 0.7 * knows.sum()


def test_a_perfect_benchmark_keeps_its_questions() -> None:
    """Asked once blind, a quarter is right by luck; none is thrown out."""
    generator = np.random.default_rng(2)
    for times, options in ((1, 4), (1, 2), (6, 4)):
        right = generator.binomial(times, 1 / options, 1000)
        found = answerable(right.tolist(), [times] * 1000, [1 / options] * 1000)
        assert len(discoveries(found.posterior, 0.1)) <= 5
        assert found.lucky > 0.9 * (right > 0).sum()


def test_questions_are_thrown_out_in_time_that_grows_with_their_number() -> None:
    looked: list[object] = []

    class Counted(list[float]):
        def __getitem__(self, place: object) -> float:  # type: ignore[override]
            looked.append(place)
            return super().__getitem__(place)  # type: ignore[call-overload,no-any-return]

    assert len(discoveries(Counted([0.95] * 900 + [0.1] * 100), 0.1)) == 956
    assert len(looked) < 3 * 1000


def test_questions_that_were_not_asked() -> None:
    found = answerable([0, 1], [0, 1], [0.25, math.nan])
    assert found.posterior == (0.0, 0.0) and math.isnan(found.share)
    with pytest.raises(ValueError, match="more often than it was asked"):
        answerable([2], [1], [0.25])
    with pytest.raises(ValueError, match="between 0 and 1"):
        discoveries([0.5], 0)
