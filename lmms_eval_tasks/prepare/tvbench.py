"""TVBench (TOMATO): from the authors' repository layout to items.

The layout: ``data/<task>.json``, each an object id -> question, and
``videos/<demonstration_type>/<key>.mp4``. The folder of the annotation files alone is read as
well; every question then lacks its video and says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare.records import (
    Footage,
    Item,
    OddRow,
    Parsed,
    index,
    text,
    texts,
)
from video_reasoning.tasks.prepare.source import Release

TASK_FILES: Mapping[str, str] = {
    "rotation": "rotation.json",
    "direction": "direction.json",
    "velocity_frequency": "velocity&frequency.json",
    "shape_trend": "shape&trend.json",
    "visual_cues": "visual_cues.json",
    "action_count": "count.json",
}
"""Task -> its annotation file."""

PUBLISHED_QUESTIONS: Mapping[str, int] = {
    "rotation": 286,
    "direction": 403,
    "velocity_frequency": 210,
    "shape_trend": 223,
    "visual_cues": 70,
    "action_count": 292,
}
"""Questions per task in the paper (Table 5); 1,484 in all."""

PUBLISHED_VIDEOS = 1417
"""Videos in the paper (Table 9)."""

VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")

SPLIT = "test"

COLUMNS: Mapping[str, pa.DataType] = {
    "key": pa.string(),
    "demonstration_type": pa.string(),
    "motion_type": pa.string(),
    "video_source_url": pa.string(),
    "note": pa.string(),
    **{variation: pa.bool_() for variation in VARIATIONS},
}
"""Columns of ``questions.parquet`` beyond those that every benchmark has."""


def read(release: Release) -> Parsed:
    """Reads every question of the six tasks.

    Raises:
        ReleaseError: if there is none of the six files, or one that is not a JSON object.
    """
    parsed = Parsed()
    files = {path.name: path for path in reversed(release.annotations(".json"))}
    absent = [name for name in TASK_FILES.values() if name not in files]
    if len(absent) == len(TASK_FILES):
        raise ReleaseError(
            f"{release.source} holds none of TVBench's annotation files "
            f"({', '.join(TASK_FILES.values())}); name the folder of the authors' repository."
        )
    for name in absent:
        parsed.notes.append(f"The release has no {name}.")
    for task, name in TASK_FILES.items():
        if name in files:
            _read_task(task, files[name], release, parsed)
    _compare_with_paper(parsed)
    return parsed


def _read_task(task: str, path: Path, release: Release, parsed: Parsed) -> None:
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} is not readable JSON ({error}); fetch it again.") from error
    if not isinstance(rows, dict):
        raise ReleaseError(f"{path} does not hold an object id -> question; fetch it again.")
    for number, row in rows.items():
        try:
            if not isinstance(row, dict):
                raise OddRow("it is not an object")
            parsed.items.append(_item(task, str(number), row, release))
        except OddRow as reason:
            parsed.skip(SPLIT, task, f"{path.name} {number}", str(reason))


def _item(task: str, number: str, row: Mapping[str, Any], release: Release) -> Item:
    options = texts(row.get("options"), "options", least=2)
    answer = chr(ord("A") + index(row.get("answer"), len(options), "answer"))
    key = text(row, "key")
    demonstration_type = text(row, "demonstration_type")
    variation = row.get("variation")
    if not isinstance(variation, dict):
        variation = {}
    name = f"{demonstration_type}/{key}.mp4"
    if ".." in name.split("/") or name.startswith("/"):
        raise OddRow(f"{name} leads outside the videos folder")
    try:
        shows = Footage(name, release.locate(name, anywhere=False))
    except LookupError as reason:
        shows = Footage(name, None, str(reason))
    return Item(
        split=SPLIT,
        values={
            "id": f"{task}/{number}",
            "task": task,
            "question": text(row, "question"),
            "options": options,
            "answer": answer,
            "evidence": text(row, "evidence", default=""),
            "key": key,
            "demonstration_type": demonstration_type,
            "motion_type": text(row, "motion_type", default=""),
            "video_source_url": text(row, "video_source_url", default=""),
            "note": text(row, "note", default=""),
            **{name: bool(variation.get(name, 0)) for name in VARIATIONS},
        },
        shows=shows,
    )


def _compare_with_paper(parsed: Parsed) -> None:
    """Notes each difference from the paper's counts; any release but the full one has some."""
    counts = dict.fromkeys(TASK_FILES, 0)
    for item in parsed.items:
        counts[item.values["task"]] += 1
    for task, published in PUBLISHED_QUESTIONS.items():
        if counts[task] != published:
            parsed.notes.append(f"{task}: {counts[task]:,} questions, the paper has {published}.")
    videos = len({item.shows.name for item in parsed.items if isinstance(item.shows, Footage)})
    if videos != PUBLISHED_VIDEOS:
        parsed.notes.append(f"{videos:,} distinct videos, the paper has {PUBLISHED_VIDEOS:,}.")
