"""How hard questions are for people."""

from __future__ import annotations

import math

import pytest

from video_reasoning.metrics.difficulty import Agreement, agree, is_modal, variants_differ


@pytest.mark.parametrize(
    ("n_right", "difficulty"),
    # The paper's thresholds, 86.67, 70 and 36.67%, are 26, 21 and 11 of 30.
    [(30, "easy"), (27, "easy"), (26, "medium"), (21, "medium"), (20, "hard"), (11, "hard"),
     (10, ""), (0, "")],
)  # fmt: skip
def test_the_thresholds_of_30_people(n_right: int, difficulty: str) -> None:
    assert Agreement(30, n_right).difficulty == difficulty


def test_no_responses_say_nothing() -> None:
    none = agree([], "A")
    assert none.difficulty == "" and math.isnan(none.share)
    assert not is_modal([], "A") and math.isnan(variants_differ(none, Agreement(1, 1)))


@pytest.mark.parametrize(
    ("choices", "modal"), [("AAB", True), ("AABB", False), ("ABB", False), ("BC", False)]
)
def test_the_right_answer_is_the_only_mode(choices: str, modal: bool) -> None:
    assert is_modal(list(choices), "A") is modal


def test_variants_are_compared_exactly() -> None:
    assert variants_differ(Agreement(15, 15), Agreement(15, 14)) == pytest.approx(1.0)
    # 15 of 15 against 10 of 15: 2 * C(15, 5) * C(15, 0) / C(30, 5)
    wanted = 2 * math.comb(15, 5) / math.comb(30, 5)
    assert variants_differ(Agreement(15, 15), Agreement(15, 10)) == pytest.approx(wanted)
