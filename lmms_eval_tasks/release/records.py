"""What a release reader hands to `prepare`, and how it reads a row."""

from __future__ import annotations

import ast
import io
import math
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from string import ascii_uppercase
from typing import Any

from video_reasoning.tasks.errors import ReleaseError, cause
from video_reasoning.tasks.store.text_files import (
    MOST_NAME,
    is_text,
    loads,
    read_text,
    shortened,
)

MOST_OPTIONS = len(ascii_uppercase)
"""An option needs a letter."""

_LABEL = re.compile(r"\s*[(\[]?(\d{1,2}|[A-Za-z])[)\].:](?!\d)[^\S\n]*")


@dataclass(frozen=True)
class Footage:
    """A video file of the release.

    Attributes:
        name: Its path below the store's ``videos`` folder.
        file: Where it is in the release; None if the release lacks it.
        problem: Why it is missing, else the empty text.
    """

    name: str
    file: Path | None
    problem: str = ""


@dataclass(frozen=True)
class Joined:
    """A clip to be built from parts: before + middle (or black in its place) + after.

    Attributes:
        before: The first part.
        middle: The hidden part; None if the release does not ship it: then ``blackout`` is set
            and its length follows from the lengths of the other two.
        after: The last part.
        blackout: Whether black frames take the middle's place.
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
        items: What is asked, in the order of the questions file.
        skipped: Rows that could not be read: split, task (empty if unknown), row and reason.
        notes: Whatever else a user should know, a sentence each.
        found_elsewhere: Clips taken from another folder than their rows name: the path that a
            row has -> the path of the file that was taken.
    """

    items: list[Item] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    found_elsewhere: dict[str, str] = field(default_factory=dict)

    def skip(self, split: str, task: str, row: str, reason: str) -> None:
        """Record a row that could not be read."""
        row, reason = shortened(row), shortened(reason, 400)
        self.skipped.append({"split": split, "task": task, "row": row, "reason": reason})

    def note_elsewhere(self) -> None:
        """Note the clips that were taken from another folder, if any."""
        if self.found_elsewhere:
            named, taken = next(iter(self.found_elsewhere.items()))
            self.notes.append(
                f"{len(self.found_elsewhere):,} clips were taken from another folder than their "
                f"rows name, because the name occurs once in the release (such as "
                f"{shortened(named)} from {shortened(taken)}; manifest.json lists all under "
                "found_elsewhere)."
            )


class OddRow(ValueError):
    """A row that cannot be read; the message is the reason."""


def annotation_text(path: Path) -> str:
    """Read the text of a file of annotations.

    Raises:
        ReleaseError: If it cannot be read, or is not UTF-8.
    """
    try:
        return read_text(path)
    except UnicodeDecodeError as error:
        raise ReleaseError(f"{path} is not UTF-8 text ({error}); fetch it again.") from error
    except OSError as error:
        raise ReleaseError(f"{path} cannot be read: {cause(error)}.") from error


def json_lines(content: str) -> Iterator[tuple[str, object]]:
    """Read JSON Lines.

    Args:
        content: The whole file's text.

    Yields:
        Where each entry is ("line 3"), and what it is; a text says why it is unreadable.
    """
    # Only "\n" ends a line of JSON Lines: a text may contain other line separators.
    for number, line in enumerate(content.split("\n"), start=1):
        if line.strip():
            try:
                yield f"line {number}", loads(line)
            except ValueError as error:
                yield f"line {number}", f"it is not readable JSON ({error})"


def posix(written: str) -> PurePosixPath:
    """Return a path as an annotation has it, on whichever system that was written."""
    return PurePosixPath(written.replace("\\", "/"))


def name_of(row: Mapping[str, Any], column: str) -> str:
    """Return the text of a column that names the row: :func:`text`, not too long for a name.

    Raises:
        OddRow: As :func:`text`, or if it is too long.
    """
    found = text(row, column)
    if len(found) > MOST_NAME:
        raise OddRow(f"{column} is {len(found):,} characters long, too long for a name")
    return found


def path_of(written: str) -> str:
    """Return a path from the release that could be the name of a file below a folder.

    Raises:
        OddRow: If it leads outside, or no file can be called so.
    """
    parts = written.replace("\\", "/").split("/")
    if ".." in parts or written.startswith(("/", "\\")):
        raise OddRow(f"{shortened(written)} leads outside the release")
    if "\0" in written or any(len(part.encode()) > 255 for part in parts) or len(written) > 2000:
        raise OddRow(f"no file can be called {shortened(written)!r}")
    return written


def difficulty_of(row: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return a row's difficulty by the names that are accepted, or the empty text without one.

    Raises:
        OddRow: If it is not one of the names.
    """
    found = text(row, "difficulty", default="").lower()
    if found and found not in names:
        raise OddRow(f"difficulty is {shortened(found)!r}, not easy, medium or hard")
    return names.get(found, "")


def text(row: Mapping[str, Any], column: str, *, default: str | None = None) -> str:
    """Return a column's text, stripped; numbers count as text.

    Raises:
        OddRow: If it is absent or empty and there is no default, or is a list or object.
    """
    value = row.get(column)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        value = ""
    if isinstance(value, (list, dict)):
        raise OddRow(f"{column} is not a text")
    stripped = str(value).strip()
    if not is_text(stripped):
        raise OddRow(f"{column} has half of a character (a lone surrogate)")
    if not stripped and default is None:
        raise OddRow(f"{column} is missing")
    return stripped or default or ""


def index(value: object, size: int, what: str) -> int:
    """Return a 0-based position, tolerant of ``3``, ``3.0`` and ``"3"``.

    Raises:
        OddRow: If it is not a whole number, or not in 0..size-1.
    """
    try:
        number = float(str(value).strip())
    except ValueError:
        raise OddRow(f"{what} is {shortened(repr(value))}, not a number") from None
    if isinstance(value, bool) or not number.is_integer() or not 0 <= number < size:
        raise OddRow(f"{what} is {shortened(repr(value))}, not one of 0 to {size - 1}")
    return int(number)


def listed(value: object, what: str) -> object:
    """Return a list that a table has as text as a list, and any other value as it is.

    Read are JSON, Python's notation and what pandas writes of an array with commas.

    Raises:
        OddRow: If it is in brackets and could be one text as well as several.
    """
    written = value.strip() if isinstance(value, str) else ""
    if not (written.startswith("[") and written.endswith("]")):
        return value
    try:
        return loads(written)
    except (ValueError, RecursionError):
        pass
    try:
        found = ast.literal_eval(written)
        tokens = tokenize.generate_tokens(io.StringIO(written).readline)
        # Two texts without a comma between them are one in Python, and two in an array's print.
        if sum(token.type == tokenize.STRING for token in tokens) <= len(found):
            return found
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError, TypeError):
        pass
    raise OddRow(
        f"{what} is {shortened(written, 60)!r}, which could be one text in brackets or a list "
        "that is not written as JSON"
    )


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a parquet table.

    Raises:
        ReleaseError: If it is not one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(f"{path} is not a readable table ({error}); fetch it again.") from error
    return rows


def texts(value: object, what: str, least: int, most: int | None = None) -> list[str]:
    """Return a list of non-empty texts; numbers count as text.

    Raises:
        OddRow: If it is not a list, has too few or too many entries, or an empty one.
    """
    if not isinstance(value, (list, tuple)):
        raise OddRow(f"{what} is not a list")
    entries = []
    for entry in value:
        if entry is None or isinstance(entry, (list, dict)) or not str(entry).strip():
            raise OddRow(f"{what} has an empty or nested entry")
        if not is_text(str(entry)):
            raise OddRow(f"{what} has half of a character (a lone surrogate)")
        entries.append(str(entry).strip())
    if len(entries) < least:
        raise OddRow(f"{what} has {len(entries)} entries, fewer than {least}")
    if most is not None and len(entries) > most:
        raise OddRow(f"{what} has {len(entries)} entries, more than {most}")
    return entries


def parse_options(written: str) -> list[str]:
    """Read options written as one text: ``1. first|2. second|...``.

    Numbers or letters, followed by a full stop, colon or closing bracket, with or without a
    space; any number of options. Options are separated by ``|``; if one is missing, by a line that
    begins with the label that is due. A text without any labels is split at ``|`` alone.

    Args:
        written: The cell's text.

    Returns:
        The options' texts, in order, at least two.

    Raises:
        OddRow: If the labels are out of sequence, a line could be an option or part of one, an
            option is empty or a duplicate, or there are more than letters.
    """
    pieces = written.split("|")
    if len(pieces) > 1 and not any(_LABEL.match(piece) for piece in pieces):
        options = [piece.strip() for piece in pieces]
    else:
        options = _labelled(pieces, written)
    if len(options) < 2:
        raise OddRow(f"fewer than two options in {written[:60]!r}")
    if not all(options):
        raise OddRow(f"an empty option in {written[:60]!r}")
    if len(options) > MOST_OPTIONS:
        raise OddRow(f"{len(options)} options, more than there are letters, in {written[:60]!r}")
    if len(set(options)) < len(options):
        raise OddRow(f"a duplicate option in {written[:60]!r}")
    return options


def _labelled(pieces: list[str], written: str) -> list[str]:
    """Options behind labels that count up from 1 or from A, one or more to a piece."""
    first = _LABEL.match(pieces[0])
    if first is None or first.group(1).upper() not in ("1", "A"):
        raise OddRow(f"no label 1 or A before the first option in {written[:60]!r}")
    start = first.group(1)

    def label(position: int) -> str:
        return str(position + 1) if start == "1" else chr(ord(start) + position)

    options: list[str] = []
    for piece in pieces:
        match = _LABEL.match(piece)
        if match is None:
            raise OddRow(f"no label behind a bar: {piece.strip()[:40]!r}")
        # Labels skipped over belong to options whose bar is missing: they begin a line of the
        # text so far. Within a line "2." may well be words.
        while options and match.group(1) != label(len(options)):
            if not _split_last(options, label(len(options))):
                raise OddRow(f"label {match.group(1)} where {label(len(options))} was due")
        options.append(piece[match.end() :].strip())
    last = options[-1]
    while _split_last(options, label(len(options))):
        if len(pieces) > 1:
            raise OddRow(
                f"{last[:60]!r} could be one option, since bars separate the others, or several, "
                "since a line in it begins with the next label"
            )
    return options


def _split_last(options: list[str], label: str) -> bool:
    """Split the last option before a line with a label, and tell whether there was one."""
    marker = re.search(rf"^[^\S\n]*[(\[]?{re.escape(label)}[)\].:](?!\d)", options[-1], re.M)
    if marker is None:
        return False
    last = options.pop()
    options += [last[: marker.start()].strip(), last[marker.end() :].strip()]
    return True
