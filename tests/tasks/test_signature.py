"""The line that says what a number can be compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from video_reasoning.tasks.results.items import TaskLog
from video_reasoning.tasks.results.logs import Run, TaskResult
from video_reasoning.tasks.results.signature import condition_of, signature


def log(condition: str = "ordered16", **metadata: Any) -> TaskLog:
    config = {
        "dataset_name": condition,
        "metadata": {"version": 1.0, "store": "3f2a91", **metadata},
    }
    result = TaskResult(config=config)
    run = Run("m", "", "", "20260101_000000", Path(), {"tvbench_tomato_direction": result})
    return TaskLog(run, "tvbench_tomato_direction", result, "tvbench", "test")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (log(), "v1.0|ordered16|seed0|rules|store 3f2a91"),
        (log("shuffled8"), "v1.0|shuffled8|seed0|rules|store 3f2a91"),
        (log("video"), "v1.0|rules|store 3f2a91"),
        (log(version=2.0), "v2.0|ordered16|seed0|rules|store 3f2a91"),
        (log(store="aaaaaa"), "v1.0|ordered16|seed0|rules|store aaaaaa"),
        (log(store=""), "v1.0|ordered16|seed0|rules|store unknown"),
        (log(audit={"seed": 7}), "v1.0|ordered16|seed7|rules|store 3f2a91"),
    ],
)
def test_whatever_changes_a_number_changes_the_line(given: TaskLog, expected: str) -> None:
    assert signature(given) == f"tvbench_tomato_direction|{expected}"


def test_the_yamls_own_settings_win() -> None:
    settings = {"default": {"condition": "ordered8"}, "condition": "ordered8"}
    old = {"dataset_name": "blind", "lmms_eval_specific_kwargs": settings}
    assert condition_of(old) == "ordered8"
    assert condition_of({"dataset_name": "video"}) == condition_of({}) == ""
