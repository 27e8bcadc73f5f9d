"""The picks file: JSON Lines that are only ever appended to.

Every decision is one line, written and flushed to the disk before the page hears that it is
saved. The last line of an annotator for an item counts. A line is one of::

    {"benchmark": "tvbench", "annotator": "ana", "id": "direction/5",
     "frame": 37, "n_frames": 120, "seconds": 1.48, "at": "2025-01-31T09:30:00+00:00"}
    {..., "skip": "all frames look alike", "at": ...}
    {..., "cleared": true, "undo": true, "at": ...}

``undo`` marks a line that takes back the annotator's previous decision; it restores what counted
before, so that the rule of the last line applies to it as well. A line that cannot be read (the
last one of a machine that lost power, or one edited by hand) is left out and counted.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from video_reasoning.preprocessing.files import lock
from video_reasoning.tasks.store.picks import AUTOMATIC, PicksError
from video_reasoning.tasks.store.text_files import is_regular

LONGEST_NAME = 64  # characters of an annotator's name
LONGEST_REASON = 300  # characters of the reason for a skip


@dataclass(frozen=True)
class Decision:
    """What an annotator decided for an item: a frame, a skip, or nothing (any more).

    Attributes:
        frame: The picked frame, an index into the video from 0; None for a skip or nothing.
        n_frames: Number of frames of the video that was looked at; None without a frame.
        seconds: Time of the frame in the video; None if it is not known.
        skip: Why the item was skipped; None if it was not.
    """

    annotator: str
    id: str
    frame: int | None = None
    n_frames: int | None = None
    seconds: float | None = None
    skip: str | None = None

    @property
    def state(self) -> Literal["picked", "skipped", "open"]:
        """What kind of decision it is; ``open`` is none (any more)."""
        if self.frame is not None:
            return "picked"
        return "open" if self.skip is None else "skipped"


class _Line(BaseModel):
    """One line of the file: a decision, and how it came about."""

    model_config = ConfigDict(strict=True)

    benchmark: str | None = None
    annotator: str = Field(min_length=1)
    id: str = Field(min_length=1)
    frame: int | None = Field(default=None, ge=0)
    n_frames: int | None = None
    seconds: float | None = Field(default=None, allow_inf_nan=False)
    skip: str | None = Field(default=None, min_length=1)
    cleared: bool = False
    undo: bool = False
    imported: bool = False
    at: str | None = None

    @model_validator(mode="after")
    def _decides(self) -> _Line:
        picked = self.frame is not None and self.frame < (self.n_frames or 0)
        if not (self.cleared or self.skip or picked):
            raise ValueError("a line clears, skips, or picks a frame of the video")
        return self

    @property
    def decision(self) -> Decision:
        if self.cleared:
            return Decision(self.annotator, self.id)
        if self.skip:
            return Decision(self.annotator, self.id, skip=self.skip)
        return Decision(self.annotator, self.id, self.frame, self.n_frames, self.seconds)


def clean_annotator(name: str) -> str:
    """Return an annotator's name with single spaces.

    Raises:
        PicksError: If it is empty or too long, has characters that do not belong in a file or
            table, or marked a model's picks in earlier versions.
    """
    text = " ".join(name.split())
    # A leading letter or digit also keeps a spreadsheet from taking the name for a formula.
    if not text or not text[0].isalnum() or not text.isprintable() or "+" in text:
        raise PicksError(
            f"{name!r} is not a name for an annotator: it must begin with a letter or digit and "
            "contain neither control characters nor '+'."
        )
    if len(text) > LONGEST_NAME:
        raise PicksError(f"An annotator's name may have {LONGEST_NAME} characters at most.")
    if text.lower().startswith(AUTOMATIC):
        raise PicksError(
            f"{text!r} is not a name for an annotator: {AUTOMATIC!r} marked the picks of models, "
            "which are not handpicked."
        )
    return text


def clean_reason(reason: str) -> str:
    """Return the reason for a skip with single spaces.

    Raises:
        PicksError: If it is empty or too long.
    """
    text = " ".join(reason.split())
    if not text:
        raise PicksError("A skip needs a reason.")
    if len(text) > LONGEST_REASON:
        raise PicksError(f"The reason for a skip may have {LONGEST_REASON} characters at most.")
    return text


class PickLog:
    """One picks file, as it is on the disk.

    Several threads, and several processes with one file each, may record at the same time: what
    others appended is read before every answer.

    Args:
        path: The file; it is made with the first decision.
        benchmark: The benchmark that it is about.

    Raises:
        PicksError: If the file exists and is not a picks file, or is one of another benchmark.
    """

    _tail: Decision | None

    def __init__(self, path: Path, benchmark: str) -> None:
        self.path = path
        self.benchmark = benchmark
        self._mutex = threading.RLock()
        self._forget()
        self.refresh()
        if self.damaged and not self._seen and self._tail is None:
            raise PicksError(
                f"{path} is not a picks file: none of its {len(self.damaged)} lines is a pick; "
                "name another file with --out."
            )

    def refresh(self) -> None:
        """Read what was appended since the last time.

        A last line without its end counts if it can be read, and is looked at again the next
        time: another process may be writing it.

        Raises:
            PicksError: If the file cannot be read, or has picks for another benchmark.
        """
        with self._mutex:
            if self.path.exists() and not is_regular(self.path):
                raise PicksError(f"{self.path} cannot be read: it is not a regular file.")
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
                raise PicksError(f"{self.path} cannot be read: {error.strerror}.") from None
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
    def decisions(self) -> dict[tuple[str, str], Decision]:
        """What counts now, by annotator and id, without what was taken back."""
        with self._mutex:
            latest = dict(self._decisions)
            if self._tail is not None:
                latest[self._tail.annotator, self._tail.id] = self._tail
            return {key: found for key, found in latest.items() if found.state != "open"}

    def annotators(self) -> list[str]:
        """Return everyone who decided anything, in order of name."""
        return sorted({annotator for annotator, _ in self.decisions})

    def of(self, annotator: str) -> dict[str, Decision]:
        """Return what one annotator decided, by id."""
        return {name: found for (who, name), found in self.decisions.items() if who == annotator}

    def record(self, decisions: Iterable[Decision], *, imported: bool = False) -> int:
        """Append decisions, wait until the disk has them, and return how many are new.

        A decision that counts already is not written again; imported ones are not for `undo`.

        Raises:
            OSError: If the file cannot be written.
        """
        with self._mutex:
            self.refresh()
            entries = [
                self._entry(decision, imported=imported)
                for decision in decisions
                if decision != self._decisions.get((decision.annotator, decision.id))
            ]
            self._append(entries)
            return len(entries)

    def undo(self, annotator: str) -> Decision | None:
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
            self._append([self._entry(before, undo=True)])
            return before

    def _forget(self) -> None:
        self._offset = 0
        self._lines = 0
        self._seen = 0
        self._damaged: list[int] = []
        self._torn = False
        self._tail = None
        self._decisions: dict[tuple[str, str], Decision] = {}
        # Per annotator, what counted for the item before each decision.
        self._history: dict[str, list[Decision]] = {}

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
        key = (decision.annotator, decision.id)
        history = self._history.setdefault(decision.annotator, [])
        if parsed.undo:
            if history:
                history.pop()
        elif not parsed.imported:
            history.append(self._decisions.get(key, Decision(*key)))
        self._decisions[key] = decision

    def _parse(self, line: bytes) -> _Line | None:
        try:
            parsed = _Line.model_validate_json(line)
        except ValidationError:
            return None
        if parsed.benchmark not in (None, self.benchmark):
            raise PicksError(
                f"{self.path} has picks for {parsed.benchmark}, not for {self.benchmark}; "
                "name another file with --out."
            )
        return parsed

    def _entry(
        self, decision: Decision, *, undo: bool = False, imported: bool = False
    ) -> dict[str, Any]:
        line = _Line(
            benchmark=self.benchmark,
            **asdict(decision),
            cleared=decision.state == "open",
            undo=undo,
            imported=imported,
            at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )
        return line.model_dump(exclude_defaults=True)

    def _append(self, entries: Iterable[dict[str, Any]]) -> None:
        data = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        if not data:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock(self.path):
            new = not self.path.exists()
            with self.path.open("ab+", buffering=0) as file:
                _write_all(file.fileno(), _gap(file) + data.encode("utf-8", "replace"))
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


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


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


def by_item(decisions: Iterable[Decision]) -> Iterator[tuple[str, list[Decision]]]:
    """Group decisions by item, in order of id; within an item by annotator."""
    groups: dict[str, list[Decision]] = {}
    for decision in decisions:
        groups.setdefault(decision.id, []).append(decision)
    for name in sorted(groups):
        yield name, sorted(groups[name], key=lambda decision: decision.annotator)
