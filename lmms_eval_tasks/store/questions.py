"""Reading the store's questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from video_reasoning.tasks.errors import StoreError, cause


def read_table(path: Path, columns: Sequence[str] | None = None) -> Any:
    """Read a questions file as a table of Arrow's; columns that it lacks are left out.

    Raises:
        StoreError: The file is absent or unreadable.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            present = file.schema_arrow.names
            wanted = None if columns is None else [name for name in columns if name in present]
            return file.read(columns=wanted)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(
            f"The questions {path} cannot be read ({cause(error)}); run `video-reasoning prepare` "
            "again."
        ) from error


def of_sample_benchmark(path: Path) -> bool:
    """Tell whether questions are the sample benchmark's: only they say what settles them.

    Raises:
        StoreError: The file is absent or unreadable.
    """
    return any(
        text for column in read_table(path, ["evidence"]).columns for text in column.to_pylist()
    )


def load_questions(path: Path, columns: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Read a questions file as id -> row, in its order; columns that it lacks are left out.

    Raises:
        StoreError: The file is absent or unreadable, or has no ids.
    """
    rows = read_table(path, columns).to_pylist()
    if rows and "id" not in rows[0]:
        raise StoreError(f"{path} has no ids; run `video-reasoning prepare` again.")
    return {row["id"]: row for row in rows}
