"""The line that says what a number can be compared with."""

from __future__ import annotations

from typing import Any

import pytest

from video_reasoning.tasks.results.logs import TaskResult
from video_reasoning.tasks.results.signature import condition_of, signature


def part(condition: str = "ordered16", extracted: float = 0.0, **metadata: Any) -> TaskResult:
    return TaskResult(
        metrics={"accuracy": 0.5, "llm_extracted": extracted},
        config={
            "dataset_name": condition,
            "metadata": {"version": 1.0, "store": "3f2a91", **metadata},
        },
    )


def test_a_group_has_one_line() -> None:
    assert (
        signature("tvbench_tomato", [part(), part()])
        == "tvbench_tomato|v1.0|ordered16|seed0|rules|store 3f2a91"
    )


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (part("shuffled8"), "t|v1.0|ordered16+shuffled8|seed0|rules|store 3f2a91"),
        (part(extracted=2.0), "t|v1.0|ordered16|seed0|rules+llm|store 3f2a91"),
        (part(version=2.0), "t|v1.0+v2.0|ordered16|seed0|rules|store 3f2a91"),
        (part(store="aaaaaa"), "t|v1.0|ordered16|seed0|rules|store 3f2a91+aaaaaa"),
        (part(audit={"seed": 7}), "t|v1.0|ordered16|seed0+seed7|rules|store 3f2a91"),
    ],
)
def test_whatever_changes_a_number_changes_the_line(other: TaskResult, expected: str) -> None:
    assert signature("t", [part(), other]) == expected


def test_a_log_of_an_older_version_says_what_it_knows() -> None:
    old = TaskResult(
        metrics={"bleu": 0.1},
        config={
            "metadata": {"version": 1.0},
            "lmms_eval_specific_kwargs": {"default": {"condition": "ordered8"}},
        },
    )
    assert signature("t", [old]) == "t|v1.0|ordered8|seed0|text|store unknown"
    assert signature("t", [TaskResult()]) == "t|v unknown|video|seed0|text|store unknown"


def test_the_yamls_own_settings_win() -> None:
    settings = {"default": {"condition": "ordered8"}, "condition": "ordered8"}
    assert condition_of({"dataset_name": "blind", "lmms_eval_specific_kwargs": settings}) == (
        "ordered8"
    )
    assert condition_of({"dataset_name": "video"}) == ""
