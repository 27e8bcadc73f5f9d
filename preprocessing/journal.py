"""A journal: JSON Lines that are added to while work goes on, and survive a kill."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import write_all


@contextlib.contextmanager
def journal(path: Path) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Open a journal; what it yields adds an entry, which a kill right after does not lose.

    An entry that cannot be written whole is an OSError that names the journal.
    """
    with path.open("ab", buffering=0) as file:
        # A line that was cut off would swallow the next one.
        if file.tell() and not path.read_bytes().endswith(b"\n"):
            file.write(b"\n")

        def write(entry: Mapping[str, Any]) -> None:
            line = (json.dumps(entry) + "\n").encode()
            try:
                write_all(file.fileno(), line)
            except OSError as error:
                number = error.errno or errno.EIO
                raise OSError(number, os.strerror(number), str(path)) from None

        yield write


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """Read the entries of a journal; a line that was being written at a kill is passed over."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                yield entry
