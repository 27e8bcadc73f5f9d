"""Our YAMLs with what they name, as the harness loads them, but without a store."""

from __future__ import annotations

from typing import Any

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.benchmarks import resolve


def config(task: str) -> dict[str, Any]:
    """A task's or group's configuration; `dataset_kwargs` stays the name of the data."""
    return {
        key: resolve(value) if _names_attribute(value) else value
        for key, value in registry._load(registry.our_tasks()[task].path).items()
    }


def _names_attribute(value: Any) -> bool:
    ours = isinstance(value, str) and value.startswith("video_reasoning.")
    return ours and not value.startswith(f"{store.__name__}.")


def aggregated(task: str, logged: list[dict[str, Any]]) -> dict[str, Any]:
    """The table of a task: metric -> value."""
    return {
        metric["metric"]: metric["aggregation"]([each[metric["metric"]] for each in logged])
        for metric in config(task)["metric_list"]
    }


def aggregation(task: str, metric: str) -> Any:
    """The function that makes one number of a task's table."""
    return next(m["aggregation"] for m in config(task)["metric_list"] if m["metric"] == metric)
