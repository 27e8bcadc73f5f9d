"""Small stores, as `prepare` writes them, for the tests of handpicking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.tasks.releases import write_video
from video_reasoning.tasks import store

FRAMES = 40
"""Frames of the videos, at 10 a second: the 16 shown are 0, 2, 5, 7, 10, 13, ... 36, 39."""

SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "task": pa.string(),
        "question": pa.string(),
        "options": pa.list_(pa.string()),
        "answer": pa.string(),
        "video": pa.string(),
        "problem": pa.string(),
        "evidence": pa.string(),
    }
)


def row(number: int, **changes: Any) -> dict[str, Any]:
    """One question, as `questions.parquet` has it."""
    return {
        "id": f"direction/{number}",
        "task": "direction",
        "question": f"Which way does object {number} move?",
        "options": ["Up.", "Down.", "Left.", "Right."],
        "answer": "ABCD"[number % 4],
        "video": f"videos/object/{number % 4}.mp4",
        "problem": "",
        "evidence": "",
        **changes,
    }


def write_store(
    home: Path, rows: list[dict[str, Any]], *, videos: bool = True, benchmark: str = "tvbench"
) -> Path:
    """Writes the questions, and a small video for each that they name inside the store."""
    path = store.questions_file(benchmark, "test", home)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
    for name in {entry["video"] for entry in rows if videos and not entry["problem"]}:
        if name and ".." not in name and not name.startswith("/"):
            write_video(home / benchmark / name, FRAMES, size=(160, 96))
    return home
