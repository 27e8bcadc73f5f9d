"""The file behind a page: JSON Lines that are only ever appended to.

Every decision is one line, written and flushed to the disk before the page hears that it is
saved. The last line of an annotator for an item counts. ``undo`` marks a line that takes back the
annotator's previous decision; it restores what counted before, so that the rule of the last line
applies to it as well. A line that cannot be read (the last one of a machine that lost power, or
one edited by hand) is left out and counted.
"""

from __future__ import annotations

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from video_reasoning.preprocessing.files import lock, write_all
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.store.picks import AUTOMATIC
from video_reasoning.tasks.store.text_files import is_regular

LONGEST_NAME = 64  # characters of an annotator's name
LONGEST_REASON = 300  # characters of the reason for a skip


class PageError(UserError):
    """Something that a page, its file or its command cannot go on with."""


class Decided(Protocol):
    """What a person decided for an item, or nothing (any more)."""

    @property
    def annotator(self) -> str:
        """Who decided."""

    @property
    def key(self) -> Hashable:
        """What was decided on, and by whom: the last decision of a key counts."""

    @property
    def state(self) -> str:
        """What kind of decision it is; ``open`` is none (any more)."""


D = TypeVar("D", bound=Decided)


@dataclass(frozen=True)
class Line(Generic[D]):
    """One line of a journal: a decision, and how it came about."""

    decision: D
    undo: bool = False
    imported: bool = False


def clean_annotator(name: str) -> str:
    """Return an annotator's name with single spaces.

    Raises:
        PageError: If it is empty or too long, has characters that do not belong in a file or
            table, or marked a model's picks in earlier versions.
    """
    text = " ".join(name.split())
    # A leading letter or digit also keeps a spreadsheet from taking the name for a formula.
    if not text or not text[0].isalnum() or not text.isprintable() or "+" in text:
        raise PageError(
            f"{name!r} is not a name for an annotator: it must begin with a letter or digit and "
            "contain neither control characters nor '+'."
        )
    if len(text) > LONGEST_NAME:
        raise PageError(f"An annotator's name may have {LONGEST_NAME} characters at most.")
    if text.lower().startswith(AUTOMATIC):
        raise PageError(
            f"{text!r} is not a name for an annotator: {AUTOMATIC!r} marked the picks of models, "
            "which are not handpicked."
        )
    return text


def clean_reason(reason: str) -> str:
    """Return the reason for a skip with single spaces.

    Raises:
        PageError: If it is empty or too long.
    """
    text = " ".join(reason.split())
    if not text:
        raise PageError("A skip needs a reason.")
    if len(text) > LONGEST_REASON:
        raise PageError(f"The reason for a skip may have {LONGEST_REASON} characters at most.")
    return text


class Journal(ABC, Generic[D]):
    """One file of decisions, as it is on the disk.

    Several threads, and several processes with one file each, may record at the same time: what
    others appended is read before every answer.

    Args:
        path: The file; it is made with the first decision.

    Raises:
        UserError: If the file exists and is not such a file, or belongs to something else.
    """

    kind = "journal"
    """What the file is called in messages."""
    decision = "decision"
    """What one of its lines is called."""
    error: type[UserError] = PageError
    """What is raised for a file that cannot be used."""

    _tail: D | None

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mutex = threading.RLock()
        self._forget()
        self.refresh()
        if self.damaged and not self._seen and self._tail is None:
            raise self.error(
                f"{path} is not a {self.kind}: none of its {len(self.damaged)} lines is a "
                f"{self.decision}; name another file with --out."
            )

    @abstractmethod
    def _parse(self, line: bytes) -> Line[D] | None:
        """Read one line; None if it cannot be read.

        Raises:
            UserError: The file belongs to something else.
        """

    @abstractmethod
    def _entry(self, decision: D, *, undo: bool, imported: bool) -> dict[str, Any]:
        """Return the line of a decision as JSON has it, without the time."""

    @abstractmethod
    def _nothing(self, decision: D) -> D:
        """Return no decision, on what the one given is about."""

    def refresh(self) -> None:
        """Read what was appended since the last time.

        A last line without its end counts if it can be read, and is looked at again the next
        time: another process may be writing it.

        Raises:
            UserError: If the file cannot be read, or belongs to something else.
        """
        with self._mutex:
            if self.path.exists() and not is_regular(self.path):
                raise self.error(f"{self.path} cannot be read: it is not a regular file.")
            try:
                with self.path.open("rb") as file:
                    if os.fstat(file.fileno()).st_size < self._offset:
                        self._forget()  # the file was replaced by another
                    file.seek(self._offset)
                    data = file.read()
            except FileNotFoundError:
                self._forget()
                return
            except OSError as error:
                raise self.error(f"{self.path} cannot be read: {error.strerror}.") from None
            whole, end, rest = data.rpartition(b"\n")
            if end:
                self._offset += len(whole) + 1
                for line in whole.split(b"\n"):
                    self._take(line)
            parsed = self._parse(rest)
            self._tail = parsed.decision if parsed else None
            self._torn = bool(rest.strip()) and parsed is None

    @property
    def damaged(self) -> list[int]:
        """Numbers of the lines that cannot be read, counted from 1."""
        with self._mutex:
            return [*self._damaged, self._lines + 1] if self._torn else list(self._damaged)

    @property
    def decisions(self) -> dict[Hashable, D]:
        """What counts now, by key, without what was taken back."""
        with self._mutex:
            latest = dict(self._decisions)
            if self._tail is not None:
                latest[self._tail.key] = self._tail
            return {key: found for key, found in latest.items() if found.state != "open"}

    def annotators(self) -> list[str]:
        """Return everyone who decided anything, in order of name."""
        return sorted({found.annotator for found in self.decisions.values()})

    def record(self, decisions: Iterable[D], *, imported: bool = False) -> int:
        """Append decisions, wait until the disk has them, and return how many are new.

        A decision that counts already is not written again; imported ones are not for `undo`.

        Raises:
            OSError: If the file cannot be written.
        """
        with self._mutex:
            self.refresh()
            entries = [
                self._entry(decision, undo=False, imported=imported)
                for decision in decisions
                if decision != self._decisions.get(decision.key)
            ]
            self._append(entries)
            return len(entries)

    def undo(self, annotator: str) -> D | None:
        """Take back the annotator's latest decision that has not been taken back.

        What counts for that item now is returned, or None if there is nothing to take back.

        Raises:
            OSError: If the file cannot be written.
        """
        with self._mutex:
            self.refresh()
            history = self._history.get(annotator)
            if not history:
                return None
            before = history[-1]
            self._append([self._entry(before, undo=True, imported=False)])
            return before

    def _forget(self) -> None:
        self._offset = 0
        self._lines = 0
        self._seen = 0
        self._damaged: list[int] = []
        self._torn = False
        self._tail = None
        self._decisions: dict[Hashable, D] = {}
        # Per annotator, what counted for the item before each decision.
        self._history: dict[str, list[D]] = {}

    def _take(self, line: bytes) -> None:
        """Take one whole line into account."""
        self._lines += 1
        if not line.strip():
            return
        parsed = self._parse(line)
        if parsed is None:
            self._damaged.append(self._lines)
            return
        decision = parsed.decision
        self._seen += 1
        history = self._history.setdefault(decision.annotator, [])
        if parsed.undo:
            if history:
                history.pop()
        elif not parsed.imported:
            history.append(self._decisions.get(decision.key, self._nothing(decision)))
        self._decisions[decision.key] = decision

    def _append(self, entries: Iterable[dict[str, Any]]) -> None:
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        data = "".join(
            json.dumps({**entry, "at": at}, ensure_ascii=False) + "\n" for entry in entries
        )
        if not data:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock(self.path):
            new = not self.path.exists()
            with self.path.open("ab+", buffering=0) as file:
                write_all(file.fileno(), _gap(file) + data.encode("utf-8", "replace"))
                os.fsync(file.fileno())
            if new:
                _sync_folder(self.path.parent)
        self.refresh()


def _gap(file: Any) -> bytes:
    """Return a line's end if the last line lacks it: cut off, it must not swallow the next."""
    if file.seek(0, os.SEEK_END) == 0:
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _sync_folder(folder: Path) -> None:
    """Make a new file's name last; not every system can open a folder for that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
