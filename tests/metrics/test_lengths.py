"""How long responses are."""

from __future__ import annotations

import math

import pytest

from video_reasoning.metrics.accuracy import relative_change
from video_reasoning.metrics.lengths import count_words, describe_lengths
from video_reasoning.metrics.published import published


def test_quantiles_are_lengths_that_occur() -> None:
    found = describe_lengths([*range(1, 11)])
    assert (found.n, found.mean, found.low, found.median, found.high, found.longest) == (
        10, 5.5, 1, 5, 9, 10,
    )  # fmt: skip
    assert count_words(" C.\n\nThe  answer ") == 3
    assert math.isnan(describe_lengths([]).mean)


@pytest.mark.parametrize(
    ("model", "variation", "delta"),
    [
        ("GPT-4o", "counterfactual", -37.7),
        ("GPT-4o", "first_person", 22.5),
        ("Qwen2-VL-72B", "first_person", 101.6),
        ("Qwen2-VL-7B", "zoom", 1.9),
        ("Video-CCAM-v1.1 14B", "zoom", -1.0),
    ],
)
def test_the_changes_of_table_7_follow_from_its_accuracies(
    model: str, variation: str, delta: float
) -> None:
    table = published("tvbench").tables["variations"]
    before, after = (table.value(model, f"{variation}_{side}") for side in ("false", "true"))
    assert before is not None and after is not None
    # Accuracies are printed to 0.05, so that the change moves by up to 0.35.
    assert 100 * relative_change(after, before) == pytest.approx(delta, abs=0.35)
    assert math.isnan(relative_change(after, 0.0))
