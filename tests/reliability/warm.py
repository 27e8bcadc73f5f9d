"""Imported by a server before it forks evaluations: what each of them would do first, once.

Reading the harness's 2,000 YAMLs takes most of the processor time of an evaluation of the sample.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

import lmms_eval.__main__ as harness
from lmms_eval.tasks import TaskManager

from tests.reliability import quick_yaml
from video_reasoning.tasks import launcher, media, registry

__all__ = ["media"]

with suppress(ImportError):  # what it imports before spacy, for standard errors of any task
    import_module("lmms_eval.tasks.amber_g.utils")
quick_yaml.install()
_PATHS = launcher.with_ours(None)
_MANAGER = TaskManager("INFO", include_path=_PATHS, model_name="")
registry.our_tasks()


def _manager(verbosity: str, include_path: Any = None, model_name: str | None = None) -> Any:
    if include_path != _PATHS:
        return TaskManager(verbosity, include_path=include_path, model_name=model_name)
    _MANAGER.model_name = model_name
    return _MANAGER


harness.TaskManager = _manager
