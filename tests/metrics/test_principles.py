import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from video_reasoning.metrics.principles import (
    CONDITIONS,
    evaluate_principles,
    format_ratio,
    frame_information_disparity,
    frame_order_sensitivity,
    multi_frame_gain,
)
from video_reasoning.metrics.published import published

# Table of the paper -> the ratio, and the columns above and below its line.
RATIOS = {
    "multi_frame_gain_random": (multi_frame_gain, "acc_16", "acc_1", "kappa"),
    "multi_frame_gain_handpicked": (multi_frame_gain, "acc_16", "acc_1_handpicked", "kappa"),
    "frame_order_sensitivity": (frame_order_sensitivity, "acc_16", "acc_16_shuffled", "tau"),
    "frame_information_disparity": (
        frame_information_disparity,
        "acc_1_handpicked",
        "acc_1_random",
        "rho",
    ),
}
BENCHMARKS = ("VITATECS", "MVBench", "TempCompass", "ReXTime", "TVBench")


def _printed():
    for name, (ratio, above, below, value) in RATIOS.items():
        table = published("tvbench").tables[name]
        for model in table.rows:
            for benchmark in BENCHMARKS:
                numbers = [
                    table.value(model, f"{benchmark}/{column}") for column in (above, below, value)
                ]
                # Table 3 prints no value where both accuracies of Qwen2-VL-72B are equal.
                if numbers[2] is not None:
                    yield pytest.param(ratio, *numbers, id=f"{name}-{model}-{benchmark}")


PRINTED = list(_printed())


def test_all_printed_values_are_here():
    assert len(PRINTED) == 39


@pytest.mark.parametrize(("ratio", "above", "below", "printed"), PRINTED)
def test_the_papers_values_follow_from_its_accuracies(ratio, above, below, printed):
    # The paper's accuracies are rounded to 0.1, its ratios were printed from unrounded ones: the
    # printed ratio must lie between the extremes that this rounding allows.
    lowest = 100 * ratio(above - 0.05, below + 0.05) - 0.05
    highest = 100 * ratio(above + 0.05, below - 0.05) + 0.05
    assert lowest <= printed <= highest
    assert 100 * ratio(above / 100, below / 100) == pytest.approx(printed, abs=0.6)


@pytest.mark.parametrize(
    "ratio", [multi_frame_gain, frame_order_sensitivity, frame_information_disparity]
)
def test_ratios(ratio):
    assert ratio(0.6, 0.4) == pytest.approx(0.5)
    assert ratio(0.3, 0.3) == 0.0
    assert ratio(0.0, 0.5) == -1.0
    assert math.isnan(ratio(0.5, 0.0))
    assert math.isnan(ratio(0.5, 0.0, epsilon=1e-6))
    assert math.isnan(ratio(math.nan, 0.5))
    assert math.isnan(ratio(0.5, math.nan))
    assert ratio(0.6, 0.4, epsilon=0.1) == pytest.approx(0.2)
    for bad in ((-0.1, 0.5), (0.5, -0.1), (math.inf, 0.5)):
        with pytest.raises(ValueError, match="must be a finite number"):
            ratio(*bad)


def test_format_ratio():
    assert format_ratio(0.7783) == "77.8"
    assert format_ratio(-0.097) == "-9.7"
    assert format_ratio(-0.0001) == "0.0"
    assert format_ratio(0.12345, digits=2) == "12.35"
    assert format_ratio(math.nan) == "undefined"


# Six questions, by hand; q6 was never asked shuffled, q1 to q3 have a pick.
#            ordered  shuffled  random  handpicked
# q1            1        1         0        1
# q2            1        0         1        0
# q3            1        0         0        1
# q4            0        1         0        -
# q5            1        0         1        -
# q6            0        -         1        1
BY_ID = {
    "ordered16": {"q1": 1, "q2": 1, "q3": 1, "q4": 0, "q5": 1, "q6": 0},
    "shuffled16": {"q1": 1, "q2": 0, "q3": 0, "q4": 1, "q5": 0},
    "random1": {"q1": 0, "q2": 1, "q3": 0, "q4": 0, "q5": 1, "q6": 1},
    "handpicked1": {"q1": 1, "q2": 0, "q3": 1, "q6": 1},
}
none = math.nan
IN_ORDER = {
    "ordered16": [1, 1, 1, 0, 1, 0],
    "shuffled16": [1, 0, 0, 1, 0, None],
    "random1": np.array([0.0, 1, 0, 0, 1, 1]),
    "handpicked1": [1, 0, 1, none, none, 1],
}


@pytest.mark.parametrize("correct", [BY_ID, IN_ORDER], ids=["by id", "in order"])
def test_every_term_rests_on_its_own_questions(correct):
    result = evaluate_principles(correct)
    assert (result.n, result.n_picked, result.n_left_out) == (5, 3, 1)
    # Shared questions q1..q5: ordered 4/5, shuffled 2/5, random 2/5.
    assert result.tau.value == pytest.approx(1.0)
    assert (result.tau.numerator, result.tau.denominator, result.tau.n) == (0.8, 0.4, 5)
    assert result.kappa_random.value == pytest.approx(1.0)
    assert result.kappa_random.n == 5
    # With a pick q1..q3: ordered 3/3, handpicked 2/3, random 1/3.
    assert result.kappa_handpicked.value == pytest.approx(0.5)
    assert result.kappa_handpicked.numerator == 1.0
    assert result.rho.value == pytest.approx(1.0)
    assert result.rho.n == result.kappa_handpicked.n == 3
    assert result.accuracies == pytest.approx(
        {"ordered16": 0.8, "shuffled16": 0.4, "random1": 0.4, "handpicked1": 2 / 3}
    )


def test_conditions_that_were_not_run_leave_the_other_terms_alone():
    result = evaluate_principles(
        {"o": [1, 1, 0], "r": [1, 0, 0]}, conditions={**CONDITIONS, "ordered": "o", "random": "r"}
    )
    assert result.kappa_random.value == pytest.approx(1.0)
    assert math.isnan(result.tau.value)
    assert result.tau.n == result.rho.n == result.n_picked == 0
    # A question that one condition lacks counts in no term, whatever the condition is called.
    partial = evaluate_principles(
        {"a": [1, None, 0], "r": [1, 0, 0]},
        conditions={**CONDITIONS, "ordered": "a", "random": "r"},
    )
    assert (partial.n, partial.n_left_out) == (2, 1)
    # A column without a single score is the same as no column.
    empty = evaluate_principles(
        {"o": [1, 1, 0], "r": [1, 0, 0], "shuffled16": [None] * 3},
        conditions={**CONDITIONS, "ordered": "o", "random": "r"},
    )
    assert empty.n == 3
    assert math.isnan(empty.accuracies["shuffled16"])


def test_zero_and_nothing_are_undefined():
    zero = evaluate_principles({"ordered16": [1, 1], "random1": [0, 0]})
    assert math.isnan(zero.kappa_random.value)
    assert (zero.kappa_random.denominator, zero.kappa_random.n) == (0.0, 2)
    assert format_ratio(zero.kappa_random.value) == "undefined"
    nothing = evaluate_principles({"ordered16": [], "random1": []})
    assert nothing.n == 0
    assert math.isnan(nothing.kappa_random.value)


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match=r"None of the conditions ordered16.*given \(blind, x\)"):
        evaluate_principles({"blind": [1], "x": [1]})
    with pytest.raises(ValueError, match=r"given \(none\)"):
        evaluate_principles({})
    with pytest.raises(ValueError, match="ordered16 2, random1 1"):
        evaluate_principles({"ordered16": [1, 0], "random1": [1]})
    with pytest.raises(ValueError, match="mappings by question id and others are sequences"):
        evaluate_principles({"ordered16": [1, 0], "random1": {"a": 1}})
    with pytest.raises(ValueError, match=r"random1\[0\] is 2"):
        evaluate_principles({"ordered16": [1], "random1": [2]})


def test_results_do_not_change():
    result = evaluate_principles({"ordered16": [1], "random1": [0]})
    for record in (result, result.tau):
        with pytest.raises(FrozenInstanceError):
            record.n = 1
