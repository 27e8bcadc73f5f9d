"""TVBench (TOMATO): from the authors' repository, or from the Hub's tables, to items.

The authors' layout: ``data/<task>.json``, each an object id -> question, and
``videos/<demonstration_type>/<key>.mp4``. The folder of the annotation files alone is read as
well; every question then lacks its video and says so.

The Hub has the questions as parquet tables in two forms. yale-nlp/TOMATO: one table per task,
``data/<task>-*.parquet`` or ``<task>/<split>-*.parquet``, with the columns of the authors' files
and no videos.
lmms-eval/TOMATO: one table with ``id``, ``reason_type`` (the task) and ``video_path``, and the
videos in archives; it lacks the motion type and the variations. If a release has both, the
questions come from the first and the videos from the second.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from string import ascii_uppercase
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import (
    MOST_OPTIONS,
    Footage,
    Item,
    OddRow,
    Parsed,
    index,
    listed,
    parquet_rows,
    path_of,
    posix,
    text,
    texts,
)
from video_reasoning.tasks.release.source import Release
from video_reasoning.tasks.store.text_files import is_text, loads, read_text, shortened

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

TABLE_COLUMNS = ("question", "options", "answer", "demonstration_type")
"""Columns that a parquet table of either form has."""

VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")

SIMULATED = "synthetic human; "
"""Precedes, in the note of a question about a simulated person, the note of its human twin."""

SPLIT = "test"

COLUMNS: Mapping[str, pa.DataType] = {
    "key": pa.string(),
    "demonstration_type": pa.string(),
    "motion_type": pa.string(),
    "video_source_url": pa.string(),
    "note": pa.string(),
    "twin": pa.string(),
    **{variation: pa.bool_() for variation in VARIATIONS},
}
"""Columns of ``questions.parquet`` beyond those that every benchmark has."""


def read(release: Release) -> Parsed:
    """Read every question of the six tasks.

    Raises:
        ReleaseError: If there are none of the six files and no table of the Hub's, or one that
            cannot be read.
    """
    files = {path.name: path for path in reversed(release.annotations(".json"))}
    known = {path for path in files.values() if path.name in TASK_FILES.values()}
    absent = [name for name in TASK_FILES.values() if name not in files]
    if len(absent) == len(TASK_FILES):
        parsed = _read_tables(release)
        parsed.notes += release.unread(release.annotations(".parquet"))
    else:
        parsed = Parsed(notes=release.unread(known))
        for name in absent:
            parsed.notes.append(f"The release has no {name}.")
        for task, name in TASK_FILES.items():
            if name in files:
                _read_task(task, files[name], release, parsed)
    _mark_twins(parsed)
    _compare_with_paper(parsed)
    return parsed


def _read_tables(release: Release) -> Parsed:
    """Read the Hub's parquet tables."""
    by_task: dict[str, list[Path]] = {}
    together: list[Path] = []
    seen: list[str] = []
    for path in release.annotations(".parquet"):
        columns = _columns(path)
        named = _task_named(path.name.partition("-")[0]) or _task_named(path.parent.name)
        if {*TABLE_COLUMNS, "key"} <= columns and named:
            by_task.setdefault(named, []).append(path)
        elif {*TABLE_COLUMNS, "reason_type", "video_path"} <= columns:
            together.append(path)
        else:
            seen.append(f"{path.name} ({', '.join(sorted(columns)) or 'no columns'})")
    if not by_task and not together:
        found = f" Its tables are {'; '.join(seen[:3])}." if seen else ""
        raise ReleaseError(
            f"{release.source} has none of TVBench's annotation files "
            f"({', '.join(TASK_FILES.values())}) and no table of the Hub's with the columns "
            f"{', '.join(TABLE_COLUMNS)}; name the folder of the authors' repository.{found}"
        )
    parsed = _read_by_task(by_task, release)
    if together and not any(_has_video(item) for item in parsed.items):
        # Questions without a single video are worth less than those with fewer columns.
        other = _read_together(together, release)
        if any(_has_video(item) for item in other.items) or not by_task:
            return other
    return parsed


def _read_by_task(tables: Mapping[str, list[Path]], release: Release) -> Parsed:
    """Read tables that have the questions of one task each."""
    parsed = Parsed()
    for task in TASK_FILES:
        if task not in tables:
            parsed.notes.append(f"The release has no table of {task}.")
        rows = (row for path in tables.get(task, []) for row in _table_rows(path))
        for number, (where, row) in enumerate(rows):
            # The authors' files count their questions from 0, in the same order.
            _add(parsed, task, str(number), where, row, release)
    return parsed


def _read_together(tables: list[Path], release: Release) -> Parsed:
    """Read tables that have the questions of all tasks."""
    parsed = Parsed()
    seen: set[tuple[str, str]] = set()
    for path in tables:
        for where, row in _table_rows(path):
            task = _task_named(str(row.get("reason_type") or "")) or ""
            number = str(row["id"]) if row.get("id") is not None else where.rpartition(" ")[2]
            if task and (task, number) in seen:
                parsed.skip(SPLIT, task, where, f"duplicate id {number}")
                continue
            seen.add((task, number))
            _add(parsed, task, number, where, row, release)
    parsed.notes.append(
        "The table has neither motion types nor variations: there are no accuracies by variation."
    )
    return parsed


def _has_video(item: Item) -> bool:
    return isinstance(item.shows, Footage) and item.shows.file is not None


def _columns(path: Path) -> set[str]:
    try:
        return set(pq.read_schema(path).names)
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{path} is not a readable table ({error}); fetch it again.") from error


def _table_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the rows of a table with the place of each, from 0."""
    for number, row in enumerate(parquet_rows(path)):
        yield f"{path.name} row {number}", row


def _task_named(written: str) -> str | None:
    """Return the task that a table or a row means: "shape&trend", "Shape and Trend", "count"."""
    words = "".join(c if c.isalnum() else " " for c in written.lower()).split()
    name = "_".join(word for word in words if word != "and")
    return {"count": "action_count"}.get(name, name if name in TASK_FILES else None)


def _add(parsed: Parsed, task: str, number: str, where: str, row: object, release: Release) -> None:
    """Read one row, or record why it cannot be read."""
    try:
        if not isinstance(row, dict):
            raise OddRow("it is not an object")
        if not task:
            raise OddRow(
                f"reason_type is {shortened(row.get('reason_type'))!r}, none of {list(TASK_FILES)}"
            )
        parsed.items.append(_item(task, number, row, release))
    except OddRow as reason:
        parsed.skip(SPLIT, task, where, str(reason))


def _read_task(task: str, path: Path, release: Release, parsed: Parsed) -> None:
    try:
        rows = loads(read_text(path))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} is not readable JSON ({error}); fetch it again.") from error
    if not isinstance(rows, dict):
        raise ReleaseError(f"{path} is not an object id -> question; fetch it again.")
    for number, row in rows.items():
        _add(parsed, task, number, f"{path.name} {number}", row, release)


def _item(task: str, number: str, row: Mapping[str, Any], release: Release) -> Item:
    options = texts(listed(row.get("options"), "options"), "options", 2, MOST_OPTIONS)
    answer = ascii_uppercase[index(row.get("answer"), len(options), "answer")]
    video_path = posix(text(row, "video_path", default=""))
    key = text(row, "key", default=video_path.stem or None)
    demonstration_type = text(row, "demonstration_type")
    variation = row.get("variation")
    if not isinstance(variation, dict):
        variation = {}
    name = path_of(f"{demonstration_type}/{key}.mp4")
    if not is_text(number):
        raise OddRow("its id has half of a character (a lone surrogate)")
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
            "twin": "",
            **{n: bool(variation[n]) if n in variation else None for n in VARIATIONS},
        },
        shows=_locate(name, video_path, release),
    )


def _locate(name: str, video_path: PurePosixPath, release: Release) -> Footage:
    """Find the video by the path that a table names, else by demonstration type and key."""
    named = video_path.as_posix() if ".." not in video_path.parts else "."
    references = [named, name] if named != "." else [name]
    return release.footage(name, references)


def _mark_twins(parsed: Parsed) -> None:
    """Mark the questions about simulated people and their twins about real ones (figure 2b).

    The note of a simulated question quotes that of its twin. Several questions have one note; twins
    agree in task, question, right answer, zoom, composition and the recording that the key begins
    with. Among the 101 released pairs, there are then as many real as simulated ones of each kind.
    If there are not, the twins are not known and nothing is marked.
    """
    sides: dict[Hashable, tuple[list[int], list[int]]] = {}
    for place, item in enumerate(parsed.items):
        note, kind = item.values["note"], item.values["demonstration_type"]
        simulated = kind == "simulated" and note.startswith(SIMULATED)
        if simulated or (kind == "human" and note):
            alike = _kind_of_twin(item.values, note.removeprefix(SIMULATED))
            sides.setdefault(alike, ([], []))[simulated].append(place)
    unclear = 0
    for real, made in sides.values():
        if len(real) != len(made):
            unclear += len(made)
            continue
        for name, places in (("twin_real", real), ("twin_simulated", made)):
            for place in places:
                item = parsed.items[place]
                parsed.items[place] = replace(item, values={**item.values, "twin": name})
    if unclear:
        parsed.notes.append(
            f"{unclear:,} questions about simulated people have no twin about real people that the "
            "release identifies: they are in no comparison of the two."
        )


def _kind_of_twin(values: Mapping[str, Any], note: str) -> Hashable:
    right = values["options"][ord(values["answer"]) - ord("A")]
    recording = values["key"].partition("-")[0]
    parts = (values[name] for name in ("task", "question", "zoom", "composite"))
    return (*parts, note, right, recording)


def _compare_with_paper(parsed: Parsed) -> None:
    """Note each difference from the paper's counts; any release but the full one has some."""
    counts = dict.fromkeys(TASK_FILES, 0)
    for item in parsed.items:
        counts[item.values["task"]] += 1
    for task, published in PUBLISHED_QUESTIONS.items():
        if counts[task] != published:
            parsed.notes.append(f"{task}: {counts[task]:,} questions, the paper has {published}.")
    videos = len({item.shows.name for item in parsed.items if isinstance(item.shows, Footage)})
    if videos != PUBLISHED_VIDEOS:
        parsed.notes.append(f"{videos:,} distinct videos, the paper has {PUBLISHED_VIDEOS:,}.")
