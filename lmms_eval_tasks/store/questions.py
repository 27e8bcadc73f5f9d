"""The store's questions, joined to what a run logged about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.results.logs import Run

__all__ = ["load_questions", "questions_of"]


def load_questions(path: Path, columns: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Reads a questions file.

    Args:
        path: a ``questions.parquet`` of the store.
        columns: what to read of it; None for all. Those that the file lacks are left out.

    Returns:
        Id -> row, in the order of the file.

    Raises:
        StoreError: if the file is absent or unreadable, or has no ids.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            present = file.schema_arrow.names
            wanted = None if columns is None else [name for name in columns if name in present]
            rows = file.read(columns=wanted).to_pylist()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(
            f"The questions {path} cannot be read ({error}); run `video-reasoning prepare` again."
        ) from error
    if rows and "id" not in rows[0]:
        raise StoreError(f"{path} has no ids; run `video-reasoning prepare` again.")
    return {row["id"]: row for row in rows}


def questions_of(run: Run, task: str) -> Path:
    """The questions file that a task's run has read.

    The one that the run recorded counts; where that has gone (a run from another machine), the
    store's own of the same benchmark and split.

    Raises:
        StoreError: if there is neither.
    """
    result = run.tasks.get(task)
    config: Mapping[str, Any] = result.config if result else {}
    kwargs = config.get("dataset_kwargs")
    files = kwargs.get("data_files") if isinstance(kwargs, Mapping) else None
    recorded = list(files.values()) if isinstance(files, Mapping) else []
    for name in recorded:
        if isinstance(name, str) and Path(name).is_file():
            return Path(name)
    ours = registry.our_tasks().get(task)
    for benchmark, split in ours.needs if ours else ():
        problem = store.missing_data(benchmark, split)
        if problem:
            raise StoreError(problem)
        return store.questions_file(benchmark, split)
    raise StoreError(
        f"The questions of {task} are not there: the run recorded "
        f"{', '.join(map(str, recorded)) or 'no file'}, and no task of that name is known here."
    )
