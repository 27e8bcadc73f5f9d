"""Whether an item is right, from whatever a task returns."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from video_reasoning.tasks.audit.scores import ItemScore, Metric, read_scores


def mean(items: list[Any]) -> float:
    return sum(item["parsed"] == item["key"] for item in items) / len(items)


def read(
    value: Any, aggregation: Callable[..., Any] | None = None, score_key: str = "score"
) -> ItemScore:
    return read_scores({"acc": value}, [Metric("acc", aggregation)], score_key)["acc"]


@pytest.mark.parametrize(
    ("value", "score"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, 1.0),
        (False, 0.0),
        (100, 100.0),
        (np.float32(1), 1.0),
        (np.bool_(True), 1.0),
        (np.int64(0), 0.0),
    ],
)
def test_numbers(value: Any, score: float) -> None:
    assert read(value) == ItemScore(score, "number")


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ({"score": 1.0, "rating": 0}, "key score"),
        ({"hits": 3, "rating": 1}, "key rating"),
        ({"id": "q", "correct": True}, "key correct"),
        ({"MRA:.5:.95:.05": 0.4, "id": 3}, "key MRA:.5:.95:.05"),
        ({"text_gt": "up", "judge_result": False}, "key judge_result"),
    ],
)
def test_dicts_with_a_score(value: dict[str, Any], rule: str) -> None:
    assert read(value).rule == rule


def test_the_tasks_own_key_comes_first() -> None:
    assert read({"score": 0.0, "points": 1.0}, None, "points") == ItemScore(1.0, "key points")


def pair_of(items: list[Any]) -> tuple[float, float]:
    return (mean(items), mean(items))


def with_arguments(items: list[Any], args: Any) -> float:
    return mean(items)


def two_numbers(items: list[Any]) -> tuple[float, float]:
    return (mean(items), 0.5)


def writes(items: list[Any], args: Any) -> float:
    generate_submission_file("x.json", args)
    return mean(items)


def generate_submission_file(name: str, args: Any) -> None:
    """As the harness's; not called."""
    raise AssertionError


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [(pair_of, 1.0), (with_arguments, 1.0), (two_numbers, None), (writes, None)],
)
def test_aggregations_of_other_forms(aggregation: Callable[..., Any], value: float | None) -> None:
    """Equal numbers are one; the run's arguments are needed only to write a file."""
    assert read({"parsed": "A", "key": "A"}, aggregation).value == value


def test_answers_for_a_submission_are_not_compared() -> None:
    answered = {"pred": "up", "answer": "up"}
    assert read(answered, writes).value is None
    assert read(answered, lambda items: None).value == 1.0


def test_the_aggregation_over_one_item() -> None:
    right, wrong = {"parsed": "A", "key": "A"}, {"parsed": "B", "key": "A"}
    assert read(right, mean) == ItemScore(1.0, "aggregation over the one item")
    assert read(wrong, mean).value == 0.0


def macro(items: list[Any]) -> float:
    """A mean over seven kinds, as MLVU's: one right question is a seventh."""
    return 100 * sum(item["pred_answer"] == item["answer"] for item in items) / 7


def test_an_aggregation_counts_only_if_a_right_item_gives_its_maximum() -> None:
    right, wrong = ({"pred_answer": said, "answer": "A", "kind": "ego"} for said in "AB")
    assert read(right, macro).value == 1.0 and read(wrong, macro).value == 0.0
    assert read(right, macro).rule == "pred_answer equals answer, as its aggregation counts"

    def share(items: list[Any]) -> float:
        return macro(items) * 7

    assert read(right, share) == ItemScore(100.0, "aggregation over the one item")


@pytest.mark.parametrize(
    ("value", "score"),
    [({"verdict": "Yes"}, 1.0), ({"Correctness": "no"}, 0.0), ({"correct": "incorrect"}, 0.0)],
)
def test_verdicts_in_words(value: dict[str, Any], score: float) -> None:
    assert read(value).value == score


def test_what_was_answered_beside_what_is_right() -> None:
    def needs_the_run(items: list[Any], args: Any) -> float:
        raise AssertionError("it writes a submission file")

    assert read({"pred": 1, "ground_truth": "1"}, needs_the_run) == (
        ItemScore(1.0, "pred equals ground_truth")
    )
    assert read({"pred": -1, "ground_truth": "1"}, needs_the_run).value == 0.0


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ({"index": 1, "pred": "A"}, "a dict with index, pred"),
        ("A", "a value of type str"),
        ([1, 0], "a value of type list"),
        (-1.0, "a value of type float"),
        (math.nan, "a value of type float"),
        ({str(number): "x" for number in range(20)}, "7, ..."),
    ],
)
def test_what_cannot_be_read_is_named(value: Any, seen: str) -> None:
    found = read(value)
    assert found.value is None and seen in found.rule


def test_nothing_is_no_score() -> None:
    assert read(None) == read({}) == ItemScore(None, "nothing")
    assert read_scores({"other": 1}, [Metric("acc")]) == {}


def test_an_aggregation_that_cannot_take_one_item_says_nothing() -> None:
    def exits(items: list[Any]) -> float:
        sys.exit("all pairs, please")

    def raises(items: list[Any]) -> float:
        raise KeyError("pair")

    for aggregation in (exits, raises, lambda items: (0.1, 0.2), lambda: 1.0):
        assert read({"index": 1}, aggregation).value is None
