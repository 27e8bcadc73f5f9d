"""What an audit uses of the harness's own modules, all of it in this place."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.tasks.audit.variants import AuditError


def _of_harness(module: str, name: str) -> Any:
    try:
        return getattr(importlib.import_module(f"lmms_eval.{module}"), name)
    except (ImportError, AttributeError) as error:
        raise AuditError(
            f"This lmms-eval has no lmms_eval.{module}.{name} ({error}), which an audit needs; "
            "install lmms-eval 0.7.3."
        ) from error


def task_manager(folders: Iterable[Path], *, defaults: bool = True) -> Any:
    """Return the harness's index of tasks, groups and tags.

    Args:
        folders: Folders of tasks.
        defaults: Whether the harness's own tasks are in it too.
    """
    manager = _of_harness("tasks", "TaskManager")
    logger.disable("lmms_eval")  # it logs every base YAML, which is not a task
    try:
        return manager(include_path=[str(path) for path in folders], include_defaults=defaults)
    finally:
        logger.enable("lmms_eval")


def load_config(path: Path, *, functions: bool = True) -> dict[str, Any]:
    """Load a YAML with what it includes; without `functions`, each function in it is None."""
    load = _of_harness("utils", "load_yaml_config")
    return dict(load(str(path), mode="full" if functions else "simple"))


def load_task(config: dict[str, Any], model: str = "") -> Any:
    """Load a task with its documents, as the harness does for a run of a model."""
    task = _of_harness("api.task", "ConfigurableTask")
    logger.disable("lmms_eval")  # it logs where its cache is
    try:
        return task(config=config, model_name=model or None)
    finally:
        logger.enable("lmms_eval")


def answer_key(aggregation: Any, value: Any) -> str:
    """Return the right answer that an aggregation looks up outside of the documents.

    Args:
        aggregation: A metric's.
        value: What the task's ``process_results`` returned for a question.

    Returns:
        The letter, for Vinoground; "" for all other tasks.
    """
    if getattr(aggregation, "__name__", "") != "vinoground_aggregate_results":
        return ""
    texts, videos = _vinoground_keys(aggregation.__globals__["prep_data"])
    known = texts if value["question_type"] == "text" else videos
    return str(known[value["index"]]["GT"])


@lru_cache(maxsize=1)
def _vinoground_keys(read: Callable[[], Any]) -> Any:
    return read()


def settings_of_group(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a group's YAML sets for its tasks."""
    own = _of_harness("tasks", "GROUP_ONLY_KEYS")
    return {name: value for name, value in config.items() if name not in own}
