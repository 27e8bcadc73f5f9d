import math

import numpy as np
import pytest

from video_reasoning.metrics.accuracy import (
    DESCRIPTIVE,
    accuracy,
    difference,
    finite,
    guessing_accuracy,
    mean,
    standard_error,
    weighted_mean,
)
from video_reasoning.metrics.published import published


def test_items_without_a_score_leave_the_denominator():
    # 3 of 4 scored items; one missing, one withheld.
    assert accuracy([True, None, True, False, math.nan, True]) == 0.75
    assert accuracy(np.array([1, 0, 0, 0])) == 0.25
    assert mean([0.5, None, math.nan, True]) == 0.75
    assert weighted_mean([None, 0.5, math.nan], [5, 1, 5]) == 0.5


def test_nothing_is_not_zero():
    for nothing in (
        accuracy([]),
        accuracy([None]),
        mean([]),
        standard_error([1]),
        weighted_mean([], []),
        weighted_mean([0.5], [0]),
        guessing_accuracy([]),
    ):
        assert math.isnan(nothing)


def test_a_weighted_mean_weighs_items():
    # (30 * 0.5 + 10 * 0.9) / 40 = 24 / 40; the mean of the parts would be 0.7.
    assert weighted_mean([0.5, math.nan, 0.9], [30, 0, 10]) == 0.6
    with pytest.raises(ValueError, match="negative: -1"):
        weighted_mean([0.5], [-1])
    with pytest.raises(ValueError, match="values 1, weights 2"):
        weighted_mean([0.5], [1, 2])


def test_standard_error_is_that_of_numpy():
    values = np.random.default_rng(1).random(40)
    assert standard_error(values) == pytest.approx(values.std(ddof=1) / math.sqrt(40))
    assert standard_error([0, None, 1]) == pytest.approx(0.5)


def test_a_difference_is_marked_minus_unmarked():
    # Marked: 1, 0; not marked: 1, 1, 0, 1, the one without a score left out.
    assert difference([1, 0, 1, 1, None, 0, 1], [True, True, *[False] * 5]) == 0.5 - 0.75
    assert math.isnan(difference([1, 0], [True, True]))
    with pytest.raises(ValueError, match="shorter"):
        difference([1, 0], [True])


def test_what_is_not_a_number_is_none():
    assert [finite(value) for value in (0.5, math.nan, math.inf, 0.0)] == [0.5, None, None, 0.0]


def test_guessing_among_options():
    assert guessing_accuracy([5, 5, 2]) == pytest.approx(0.3)


def _joined(table, model, columns):
    return weighted_mean(
        [table.value(model, column) for column in columns],
        [table.count(column) for column in columns],
    )


@pytest.mark.parametrize("name", ["paired", "unpaired", "ablations"])
def test_causalvqa_aggregates_of_every_model_follow_from_its_strata(name):
    table = published("causalvqa").tables[name]
    strata = [column for column in table.columns if "/" in column]
    assert len(strata) == 15
    kinds = {column.split("/")[0] for column in strata}
    parts = {kind: [c for c in strata if c.split("/")[0] == kind] for kind in kinds}
    parts["reasoning"] = [column for column in strata if not column.startswith(DESCRIPTIVE)]
    parts["all"] = strata
    assert set(parts) == set(table.columns) - set(strata)
    exact = 0
    for model in table.rows:
        for row, columns in parts.items():
            assert sum(map(table.count, columns)) == table.count(row)
            # Each human number of table 13 is a bootstrap estimate of its own.
            tolerance = 0.127 if model == "single_frame Human" else 0.0441
            difference = abs(_joined(table, model, columns) - table.value(model, row))
            assert difference <= tolerance, (model, row)
            exact += difference <= 0.0105
    # The numbers of docs/causalvqa.md: what rounding explains, of 49, 49 and 21.
    assert exact == {"paired": 37, "unpaired": 35, "ablations": 20}[name]


def test_the_unweighted_mean_over_strata_would_not_do():
    table = published("causalvqa").tables["paired"]
    strata = [column for column in table.columns if "/" in column]
    unweighted = sum(table.value("GPT-4o", column) for column in strata) / 15
    assert abs(unweighted - table.value("GPT-4o", "all")) > 2.5


def test_tvbench_overall_is_over_questions():
    table = published("tvbench").tables["accuracy"]
    tasks = table.columns[:-1]
    # Two rows of the paper do not follow from their own tasks: LLaVA-Video-7B (24.7 from its
    # tasks, printed 24.9) and AuroraCap (19.9, printed 20.6).
    exceptions = {"LLaVA-Video-7B", "AuroraCap-7B-VID"}
    differing = {
        model
        for model in table.rows
        if abs(_joined(table, model, tasks) - table.value(model, "all")) > 0.06
    }
    assert differing == exceptions
