"""Reading texts that somebody else wrote: never a hang, and one kind of error per fault."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_BYTES = 2**31
"""A larger text file is refused; the largest that a benchmark has is a few megabytes."""

MOST_NAME = 1000  # characters of a question's id, at most

# The library's own limit (128 KiB) would refuse a table for one long cell of it.
_LARGEST_CELL = 2**30


def is_regular(path: Path) -> bool:
    """Tell whether a path leads to a file with an end: not to a pipe, device or folder."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: It is absent, too large, or not a regular file (a pipe could be waited for
            forever, and some devices never end).
    """
    status = os.stat(path)  # noqa: PTH116 - a loop of links is an OSError here in every Python
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if status.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return path.read_bytes()


def read_text(path: Path) -> str:
    """Return a file's text, UTF-8 with or without a byte order mark.

    Raises:
        OSError: As :func:`read_bytes`.
        UnicodeDecodeError: It is not UTF-8.
    """
    return read_bytes(path).decode("utf-8-sig")


def loads(text: str | bytes) -> Any:
    """Read JSON.

    Raises:
        ValueError: It is not JSON, or is nested too deeply to be read.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def is_text(value: str) -> bool:
    """Tell whether a text can be written as UTF-8: JSON may contain halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shortened(written: object, most: int = 120) -> str:
    """Return a value as a message quotes it: a cell may have megabytes, or not even be text."""
    found = str(written)
    if len(found) > most:
        found = f"{found[: most - 20]}... ({len(found):,} characters)"
    return found.encode("utf-8", "backslashreplace").decode()


def table(content: str) -> tuple[list[str], list[tuple[int, dict[str, Any] | str]]]:
    """Read CSV with a first line of names: the names, and the rows with their numbers from 1.

    A row is an object, or the reason why it could not be read.
    """
    # Python 3.10 stops at a null character; no column of ours has a use for one.
    reader = csv.reader(io.StringIO(content.replace("\0", ""), newline=""))
    # The limit is the whole process's: others keep theirs.
    usual = csv.field_size_limit(_LARGEST_CELL)
    try:
        try:
            names = [name.strip() for name in next(reader, [])]
        except csv.Error:
            names = []
        return names, list(_rows(reader, names))
    finally:
        csv.field_size_limit(usual)


def _rows(reader: Any, names: list[str]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    number = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield number, f"it is not readable CSV ({error})"
            continue
        if not cells:
            continue
        number += 1
        row: dict[str, Any] = dict(zip(names, cells, strict=False))
        for name in names[len(cells) :]:
            row[name] = None
        yield number, row
