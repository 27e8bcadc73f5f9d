"""The line under a table that says what its numbers can be compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from video_reasoning.tasks.results.logs import TaskResult

__all__ = ["condition_of", "signature"]


def signature(name: str, parts: Iterable[TaskResult]) -> str:
    """Return what a number depends on, in one line.

    Numbers of two models can be compared if their signatures are equal.

    Args:
        name: The task, or the group.
        parts: What the run says of the task, or of each task of the group.

    Returns:
        Task, version, condition, seed of the condition, who read the answers ("rules", "llm" if a
        language model read some, "text" if answers are free text) and the digest of the store,
        as in ``tvbench_tomato|v1.0|ordered16|seed0|rules|store 3f2a91``. Values in which the
        tasks of a group differ are joined by "+"; what the log does not say is "unknown".
    """
    parts = list(parts)
    metadata = [_metadata(part.config) for part in parts]
    return "|".join(
        (
            name,
            _joined(f"v{each.get('version', ' unknown')}" for each in metadata),
            _joined(condition_of(part.config) or "video" for part in parts),
            _joined(f"seed{_seed(each)}" for each in metadata),
            _joined(_reader(part.metrics) for part in parts),
            "store " + _joined(str(each.get("store") or "unknown") for each in metadata),
        )
    )


def condition_of(config: Mapping[str, Any]) -> str:
    """Return the frames that a task shows of every video; empty if it shows the video itself.

    Args:
        config: The task's configuration as the harness recorded it.
    """
    settings = config.get("lmms_eval_specific_kwargs")
    default = settings.get("default") if isinstance(settings, Mapping) else None
    for each in (settings, default):
        if isinstance(each, Mapping) and each.get("condition"):
            named = str(each["condition"])
            break
    else:
        named = str(config.get("dataset_name") or "")
    return "" if named == "video" else named


def _metadata(config: Mapping[str, Any]) -> Mapping[str, Any]:
    found = config.get("metadata")
    entries = found if isinstance(found, list) else [found]
    return {k: v for entry in entries if isinstance(entry, Mapping) for k, v in entry.items()}


def _seed(metadata: Mapping[str, Any]) -> int:
    """Return the seed of the frames' draws: an audit's own, else our tasks' 0."""
    audit = metadata.get("audit")
    return int(audit.get("seed", 0)) if isinstance(audit, Mapping) else 0


def _reader(metrics: Mapping[str, float | None]) -> str:
    if "llm_extracted" not in metrics:
        return "text"
    return "llm" if metrics["llm_extracted"] else "rules"


def _joined(values: Iterable[str]) -> str:
    return "+".join(dict.fromkeys(values)) or "unknown"
