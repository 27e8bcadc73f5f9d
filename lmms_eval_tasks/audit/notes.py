"""What the generated tasks note about their documents while the harness runs them.

The hooks write it and the evaluation reads it: under ``audit`` in each line of the sample log,
and in files beside the generated tasks for what has no such line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from video_reasoning.tasks.audit.files import reason, write_json
from video_reasoning.tasks.results.logs import LogError

AUDIT = "audit"
"""Key of a sample log's line under which its note is."""

_ROWS = "rows.json"
_DOCUMENTS = "documents.json"
_PROBLEMS = "problems.jsonl"


@dataclass(frozen=True, slots=True)
class Note:
    """What an audit needs to know about one logged document.

    Attributes:
        id: The question's id.
        video: The video it is about.
        key: What its draws depend on; "" for the id.
        shape: What the task shows, in words; "" if that is not known.
        options: How many options it has; 0 if they were not found.
        right: Letter of the right option; "" if the options were not found.
        chosen: Letter of the option that the response chooses; "" if it chooses none.
        groups: What its groups of questions are called -> the group that it is in.
        problem: Why it could not be shown or scored, or "".
        unseen: Whether the process that scored it did not show it, so that it came from a cache.
        frames_shown: Different frames that were shown; None if that is not known.
        frames_seen: Different frames that reached the model; None if that is not known.
        frames_in_order: Whether they came in order; None if that was not checked.
        scores: Metric -> the score as the metric counts, and how it was read; None if the harness
            scores the task itself.
    """

    id: str = ""
    video: str = ""
    key: str = ""
    shape: str = ""
    options: int = 0
    right: str = ""
    chosen: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    unseen: bool = False
    frames_shown: int | None = None
    frames_seen: int | None = None
    frames_in_order: bool | None = None
    scores: Mapping[str, tuple[float | None, str]] | None = None

    def as_logged(self) -> dict[str, Any]:
        """Return the note for a line of the sample log, without what is not known."""
        return dict(_NOTE.dump_python(self, mode="json", exclude_defaults=True))


_NOTE = TypeAdapter(Note)
_PLACES = TypeAdapter(dict[str, list[tuple[int, str]]])
_NOTED = TypeAdapter(list[tuple[str, str, str]])
_PROBLEM = TypeAdapter(dict[str, str])


def read_note(values: Mapping[str, Any]) -> Note:
    """Read the note in a line of a sample log; an empty one if the line has none."""
    try:
        return _NOTE.validate_python(values.get(AUDIT))
    except ValidationError:
        return Note()


def write_places(folder: Path, task: str, places: Sequence[tuple[int, str]]) -> None:
    """Write which of its documents a generated task asks: row and id of each."""
    write_json(folder / f"{task}.{_ROWS}", {"rows": places})


def read_places(folder: Path, task: str) -> list[tuple[int, str]]:
    """Read which of its documents a generated task asked.

    Raises:
        LogError: If the file is absent or cannot be read.
    """
    path = folder / f"{task}.{_ROWS}"
    try:
        return _PLACES.validate_json(path.read_bytes())["rows"]
    except (OSError, ValidationError, KeyError) as error:
        raise LogError(
            f"Which questions were asked cannot be read from {path} ({reason(error)}); run the "
            "audit again."
        ) from error


def write_documents(folder: Path, task: str, documents: Sequence[tuple[str, str, str]]) -> None:
    """Write id, video and key of each document of a task that the harness scores itself."""
    write_json(folder / f"{task}.{_DOCUMENTS}", documents)


def add_problem(folder: Path, task: str, key: str, problem: str) -> None:
    """Add why a document of such a task could not be shown."""
    with (folder / f"{task}.{_PROBLEMS}").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "problem": problem}) + "\n")


def read_documents(folder: Path, task: str) -> list[Note]:
    """Read the notes of a task that the harness scores itself, in the order of its documents.

    Returns:
        Nothing for all other tasks: their sample log has the notes.
    """
    problems: dict[str, str] = {}
    try:
        documents = _NOTED.validate_json((folder / f"{task}.{_DOCUMENTS}").read_bytes())
        path = folder / f"{task}.{_PROBLEMS}"
        for line in path.read_bytes().splitlines() if path.exists() else ():
            entry = _PROBLEM.validate_json(line)
            problems[entry["key"]] = entry["problem"]
    except (OSError, ValidationError, KeyError):
        return []
    counts = Counter(name for name, _, _ in documents)
    return [
        Note(name, video or key, key if counts[name] > 1 else "", problem=problems.get(key, ""))
        for name, video, key in documents
    ]
