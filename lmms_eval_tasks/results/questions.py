"""The questions that a logged run has read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.results.logs import Run


def questions_of(run: Run, task: str) -> Path:
    """Find the questions file that a task's run has read.

    The file that the run recorded counts if it is in the store; otherwise (a run from another
    machine, or one that somebody else wrote) the store's own of the same benchmark and split. A
    results file could name any file of this machine.

    Raises:
        StoreError: There is neither.
    """
    result = run.tasks.get(task)
    config: Mapping[str, Any] = result.config if result else {}
    kwargs = config.get("dataset_kwargs")
    files = kwargs.get("data_files") if isinstance(kwargs, Mapping) else None
    recorded = list(files.values()) if isinstance(files, Mapping) else []
    for name in recorded:
        if isinstance(name, str) and _in_store(name):
            return Path(name)
    ours = registry.our_tasks().get(task)
    for benchmark, split in ours.needs if ours else ():
        problem = store.missing_data(benchmark, split)
        if problem:
            raise StoreError(problem)
        return store.questions_file(benchmark, split)
    raise StoreError(
        f"The questions of {task} were not found: the run recorded "
        f"{', '.join(map(str, recorded)) or 'no file'}, which is not in the store {store.home()}, "
        f"and no task of that name is known here; {store.HOME_VARIABLE} names another store."
    )


def _in_store(name: str) -> bool:
    path = Path(name).absolute()
    home = store.home().resolve()
    return path.is_file() and path.resolve().is_relative_to(home)
