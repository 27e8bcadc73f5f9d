"""What a release reader hands to :func:`video_reasoning.tasks.prepare.prepare`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_reasoning.tasks.store.text_files import MOST_NAME, is_text, shortened


@dataclass(frozen=True)
class Footage:
    """A video file of the release.

    Attributes:
        name: its path below the store's ``videos`` folder.
        file: where it lies in the release; None where the release lacks it.
        problem: why it is lacking, else the empty text.
    """

    name: str
    file: Path | None
    problem: str = ""


@dataclass(frozen=True)
class Joined:
    """A clip to be built from parts: before + middle (or black in its place) + after.

    Attributes:
        before: the first part.
        middle: the hidden part; None where the release ships none, then ``blackout`` is set
            and its length follows from the lengths of the other two.
        after: the last part.
        blackout: whether black frames stand in the middle's place.
    """

    before: Footage
    middle: Footage | None
    after: Footage
    blackout: bool


@dataclass(frozen=True)
class Item:
    """One row of ``questions.parquet``, before its video has been looked at."""

    split: str
    values: Mapping[str, Any]
    shows: Footage | Joined


@dataclass
class Parsed:
    """A release's annotations, read.

    Attributes:
        items: what is asked, in the order of the questions file.
        skipped: rows that could not be read: split, task (empty if unknown), row and reason.
        notes: whatever else a user should know, a sentence each.
    """

    items: list[Item] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def skip(self, split: str, task: str, row: str, reason: str) -> None:
        """Records a row that could not be read."""
        row, reason = shortened(row), shortened(reason, 400)
        self.skipped.append({"split": split, "task": task, "row": row, "reason": reason})


class OddRow(ValueError):
    """A row that cannot be read; the message is the reason."""


def name_of(row: Mapping[str, Any], column: str) -> str:
    """A column's text where it names the row: :func:`text`, of a length that a name may have.

    Raises:
        OddRow: as :func:`text`, or if it is too long.
    """
    found = text(row, column)
    if len(found) > MOST_NAME:
        raise OddRow(f"{column} is {len(found):,} characters long, no name")
    return found


def path_of(written: str) -> str:
    """A path from the release, checked: it could be the name of a file below a folder.

    Raises:
        OddRow: if it leads outside, or no file can be called so.
    """
    parts = written.replace("\\", "/").split("/")
    if ".." in parts or written.startswith(("/", "\\")):
        raise OddRow(f"{shortened(written)} leads outside the release")
    if "\0" in written or any(len(part.encode()) > 255 for part in parts) or len(written) > 2000:
        raise OddRow(f"no file can be called {shortened(written)!r}")
    return written


def text(row: Mapping[str, Any], column: str, *, default: str | None = None) -> str:
    """A column's text, stripped; numbers are taken as text.

    Raises:
        OddRow: if it is absent or empty and there is no default, or holds a list or object.
    """
    value = row.get(column)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        value = ""
    if isinstance(value, (list, dict)):
        raise OddRow(f"{column} is not a text")
    stripped = str(value).strip()
    if not is_text(stripped):
        raise OddRow(f"{column} holds half of a character (a lone surrogate)")
    if stripped:
        return stripped
    if default is None:
        raise OddRow(f"{column} is missing")
    return default


def index(value: object, size: int, what: str) -> int:
    """A 0-based position, tolerant of ``3``, ``3.0`` and ``"3"``.

    Raises:
        OddRow: if it is no whole number, or outside 0..size-1.
    """
    try:
        number = float(str(value).strip())
    except ValueError:
        raise OddRow(f"{what} is {shortened(repr(value))}, not a number") from None
    if isinstance(value, bool) or not number.is_integer() or not 0 <= number < size:
        raise OddRow(f"{what} is {shortened(repr(value))}, not one of 0 to {size - 1}")
    return int(number)


def texts(value: object, what: str, least: int) -> list[str]:
    """A list of non-empty texts, all different; numbers are taken as text.

    Raises:
        OddRow: if it is no list, has too few entries, an empty one, or one twice.
    """
    if not isinstance(value, (list, tuple)):
        raise OddRow(f"{what} is not a list")
    entries = []
    for entry in value:
        if entry is None or isinstance(entry, (list, dict)) or not str(entry).strip():
            raise OddRow(f"{what} has an empty or nested entry")
        if not is_text(str(entry)):
            raise OddRow(f"{what} holds half of a character (a lone surrogate)")
        entries.append(str(entry).strip())
    if len(entries) < least:
        raise OddRow(f"{what} has {len(entries)} entries, fewer than {least}")
    return entries
