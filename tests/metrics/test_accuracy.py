import math

import numpy as np
import pytest

from video_reasoning.metrics.accuracy import (
    Accuracy,
    Stratum,
    accuracy,
    accuracy_by,
    causalvqa_aggregates,
    combine,
    combine_by,
    count_correct,
    unparsed_rate,
)
from video_reasoning.metrics.published import published


def test_items_without_a_score_leave_the_denominator_and_are_counted():
    # 3 of 4 scored items; one missing, one withheld.
    correct = [True, None, True, False, math.nan, True]
    assert accuracy(correct) == 0.75
    assert count_correct(correct) == Accuracy(0.75, n=4, n_correct=3, n_unscored=2)
    assert str(count_correct(correct)) == "75.0% (3/4)"
    assert accuracy(np.array([1, 0, 0, 0])) == 0.25


def test_nothing_is_not_zero():
    assert math.isnan(accuracy([]))
    assert math.isnan(accuracy([None]))
    assert math.isnan(unparsed_rate([]))
    assert math.isnan(combine([]).value)
    assert math.isnan(combine([Stratum(0, math.nan)]).value)
    assert str(count_correct([])) == "n/a (0/0)"


def test_one_right_and_nine_empty_responses_are_a_tenth():
    answers = ["A", *[None] * 9]
    assert accuracy([answer == "A" for answer in answers]) == 0.1
    assert unparsed_rate(answers) == 0.9


def test_breakdown_adds_up():
    groups = ["easy", "hard", "easy", "medium", "hard"]
    correct = [True, False, False, None, True]
    parts = accuracy_by(groups, correct)
    assert list(parts) == ["easy", "hard", "medium"]
    assert parts["easy"] == Accuracy(0.5, 2, 1)
    assert (parts["medium"].n, parts["medium"].n_unscored) == (0, 1)
    assert combine(list(parts.values())) == Stratum(4, accuracy(correct))
    with pytest.raises(ValueError, match="groups 5, correct 1"):
        accuracy_by(groups, [True])


def test_combine_weighs_items():
    # (30 * 0.5 + 10 * 0.9) / 40 = 24 / 40; the mean of the parts would be 0.7.
    assert combine([Stratum(30, 0.5), Stratum(0, math.nan), Stratum(10, 0.9)]).value == 0.6
    by_first = combine_by({"ax": Stratum(1, 1.0), "ay": Stratum(3, 0.0)}, lambda name: name[0])
    assert by_first == {"a": Stratum(4, 0.25)}
    assert combine_by({"ax": Stratum(1, 1.0)}, lambda name: None) == {}
    for part in (Stratum(-1, 0.5), Stratum(3, math.nan)):
        with pytest.raises(ValueError, match="cannot be weighed"):
            combine([part])


AGGREGATES = ("anticipation", "counterfactual", "descriptive", "hypothetical", "planning")


@pytest.mark.parametrize("name", ["paired", "unpaired", "ablations"])
def test_causalvqa_aggregates_of_every_model_follow_from_its_strata(name):
    table = published("causalvqa").tables[name]
    strata = [column for column in table.columns if "/" in column]
    assert len(strata) == 15
    for model in table.rows:
        parts = {
            tuple(column.split("/")): Stratum(table.count(column), table.value(model, column))
            for column in strata
        }
        rows = causalvqa_aggregates(parts)
        assert list(rows) == [*AGGREGATES, "reasoning", "all"]
        for row, combined in rows.items():
            assert combined.n == table.count(row)
            # Each human number of table 13 is a bootstrap estimate of its own.
            tolerance = 0.15 if model == "single_frame Human" else 0.06
            printed = table.value(model, row)
            assert combined.value == pytest.approx(printed, abs=tolerance), (model, row)


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
        if abs(
            combine([Stratum(table.count(task), table.value(model, task)) for task in tasks]).value
            - table.value(model, "all")
        )
        > 0.06
    }
    assert differing == exceptions
