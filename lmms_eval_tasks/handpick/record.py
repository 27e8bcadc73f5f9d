"""The picks file: JSON Lines that are only ever appended to.

Every decision is one line, written and flushed to the disk before the page is told that it is
saved. The last line of an annotator for an item counts. A line is one of::

    {"benchmark": "tvbench", "annotator": "ana", "id": "direction/5",
     "frame": 37, "n_frames": 120, "seconds": 1.48, "at": "2025-01-31T09:30:00+00:00"}
    {..., "skip": "all frames look alike", "at": ...}
    {..., "cleared": true, "undo": true, "at": ...}

``undo`` marks a line that takes back the annotator's decision before it; it restores what was
there then, so that the rule of the last line holds for it as well. A line that cannot be read
(the last one of a machine that lost power, or one edited by hand) is left out and counted.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import lock
from video_reasoning.tasks.store.picks import AUTOMATIC, PicksError, is_automatic
from video_reasoning.tasks.store.text_files import is_regular

LONGEST_NAME = 64
"""Characters of an annotator's name."""

LONGEST_REASON = 300
"""Characters of the reason for a skip."""


@dataclass(frozen=True)
class Decision:
    """What an annotator decided for an item: a frame, a skip, or nothing (any more).

    Attributes:
        annotator: who decided.
        id: the question's id.
        frame: picked frame, an index into the video from 0; None for a skip or nothing.
        n_frames: number of frames of the video that was looked at; None without a frame.
        seconds: time of the frame in the video; None where it is not known.
        skip: why the item was skipped; None where it was not.
    """

    annotator: str
    id: str
    frame: int | None = None
    n_frames: int | None = None
    seconds: float | None = None
    skip: str | None = None

    @property
    def state(self) -> str:
        """``picked``, ``skipped`` or ``open``."""
        if self.frame is not None:
            return "picked"
        return "open" if self.skip is None else "skipped"


def clean_annotator(name: str) -> str:
    """An annotator's name with single spaces.

    Raises:
        PicksError: if it is empty, too long, has characters that no file or table should hold,
            or stands for a model.
    """
    text = " ".join(name.split())
    # A leading letter or digit also keeps a spreadsheet from taking the name for a formula.
    if not text or not text[0].isalnum() or not text.isprintable() or "+" in text:
        raise PicksError(
            f"{name!r} is no name for an annotator: it must begin with a letter or digit and "
            "hold neither control characters nor '+'."
        )
    if len(text) > LONGEST_NAME:
        raise PicksError(f"An annotator's name may have {LONGEST_NAME} characters at most.")
    if is_automatic(text.lower()):
        raise PicksError(f"Names that begin with {AUTOMATIC!r} are kept for models.")
    return text


def clean_reason(reason: str) -> str:
    """The reason for a skip with single spaces.

    Raises:
        PicksError: if it is empty or too long.
    """
    text = " ".join(reason.split())
    if not text:
        raise PicksError("A skip needs a reason.")
    if len(text) > LONGEST_REASON:
        raise PicksError(f"The reason for a skip may have {LONGEST_REASON} characters at most.")
    return text


class PickLog:
    """One picks file, as it stands on the disk.

    Several threads, and several processes with one file each, may record at the same time: what
    others appended is read before every answer.

    Args:
        path: the file; it is made with the first decision.
        benchmark: the benchmark that it is about.

    Raises:
        PicksError: if the file is there and is no picks file, or one of another benchmark.
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
                f"{path} is there and is no picks file: none of its {len(self.damaged)} lines is "
                "a pick; name another file with --out."
            )

    def refresh(self) -> None:
        """Reads what was appended since the last time.

        A last line without its end counts if it can be read, and is looked at again the next
        time: another process may be writing it.

        Raises:
            PicksError: if the file cannot be read, or holds picks of another benchmark.
        """
        with self._mutex:
            if self.path.exists() and not is_regular(self.path):
                raise PicksError(f"{self.path} cannot be read: it is no regular file.")
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
            self._tail = parsed and parsed[0]
            self._torn = bool(rest.strip()) and parsed is None

    @property
    def damaged(self) -> list[int]:
        """Numbers of the lines that cannot be read, from 1."""
        with self._mutex:
            return [*self._damaged, self._lines + 1] if self._torn else list(self._damaged)

    @property
    def decisions(self) -> dict[tuple[str, str], Decision]:
        """What counts now, by annotator and id; what was taken back is not in it."""
        with self._mutex:
            latest = dict(self._decisions)
            if self._tail is not None:
                latest[self._tail.annotator, self._tail.id] = self._tail
            return {key: found for key, found in latest.items() if found.state != "open"}

    def annotators(self) -> list[str]:
        """Everyone who decided anything, in order of name."""
        return sorted({annotator for annotator, _ in self.decisions})

    def of(self, annotator: str) -> dict[str, Decision]:
        """What one annotator decided, by id."""
        return {name: found for (who, name), found in self.decisions.items() if who == annotator}

    def record(self, decisions: Iterable[Decision], *, imported: bool = False) -> int:
        """Appends decisions and waits until the disk has them.

        Args:
            decisions: what was decided.
            imported: whether they come from a file; such lines are not what `undo` takes back.

        Returns:
            How many lines were written: a decision that stands already is not written again.

        Raises:
            OSError: if the file cannot be written.
        """
        with self._mutex:
            self.refresh()
            entries = []
            for decision in decisions:
                known = self._decisions.get((decision.annotator, decision.id))
                if decision != known:
                    marks = {"imported": True} if imported else {}
                    entries.append(self._entry(decision, marks))
            self._append(entries)
            return len(entries)

    def undo(self, annotator: str) -> Decision | None:
        """Takes back the annotator's latest decision that has not been taken back.

        Returns:
            What counts for that item now, or None where there is nothing to take back.

        Raises:
            OSError: if the file cannot be written.
        """
        with self._mutex:
            self.refresh()
            history = self._history.get(annotator)
            if not history:
                return None
            before = history[-1]
            self._append([self._entry(before, {"undo": True})])
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
        """Takes one whole line into account."""
        self._lines += 1
        if not line.strip():
            return
        parsed = self._parse(line)
        if parsed is None:
            self._damaged.append(self._lines)
            return
        decision, marks = parsed
        self._seen += 1
        key = (decision.annotator, decision.id)
        history = self._history.setdefault(decision.annotator, [])
        if marks.get("undo"):
            if history:
                history.pop()
        elif not marks.get("imported"):
            history.append(
                self._decisions.get(key, Decision(annotator=decision.annotator, id=decision.id))
            )
        self._decisions[key] = decision

    def _parse(self, line: bytes) -> tuple[Decision, Mapping[str, Any]] | None:
        try:
            entry = json.loads(line)
            if not isinstance(entry, Mapping):
                return None
            decision = _decision(entry)
        except (ValueError, TypeError, RecursionError):
            return None
        if decision is not None and entry.get("benchmark", self.benchmark) != self.benchmark:
            raise PicksError(
                f"{self.path} holds picks of {entry['benchmark']}, not of {self.benchmark}; "
                "name another file with --out."
            )
        return None if decision is None else (decision, entry)

    def _entry(self, decision: Decision, marks: Mapping[str, Any]) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "benchmark": self.benchmark,
            "annotator": decision.annotator,
            "id": decision.id,
        }
        if decision.frame is not None:
            entry["frame"] = decision.frame
            entry["n_frames"] = decision.n_frames
            if decision.seconds is not None:
                entry["seconds"] = decision.seconds
        elif decision.skip is not None:
            entry["skip"] = decision.skip
        else:
            entry["cleared"] = True
        at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return {**entry, **marks, "at": at}

    def _append(self, entries: Iterable[Mapping[str, Any]]) -> None:
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


def _decision(entry: Mapping[str, Any]) -> Decision | None:
    """The decision that a line holds; None for a line that is none."""
    annotator, name = entry.get("annotator"), entry.get("id")
    if not (isinstance(annotator, str) and annotator and isinstance(name, str) and name):
        return None
    if entry.get("cleared") is True:
        return Decision(annotator, name)
    skip = entry.get("skip")
    if isinstance(skip, str) and skip:
        return Decision(annotator, name, skip=skip)
    frame, n_frames, seconds = entry.get("frame"), entry.get("n_frames"), entry.get("seconds")
    if type(frame) is not int or type(n_frames) is not int or not 0 <= frame < n_frames:
        return None
    if seconds is not None:
        seconds = float(seconds)
        if not math.isfinite(seconds):
            return None
    return Decision(annotator, name, frame, n_frames, seconds)


def _gap(file: Any) -> bytes:
    """A line's end where the last line has none: it was cut off and must not swallow the next."""
    if file.seek(0, os.SEEK_END) == 0:
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: Path) -> None:
    """Makes a new file's name last; not every system can open a folder for that."""
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
    """Groups decisions by item, in order of id; within an item by annotator."""
    groups: dict[str, list[Decision]] = {}
    for decision in decisions:
        groups.setdefault(decision.id, []).append(decision)
    for name in sorted(groups):
        yield name, sorted(groups[name], key=lambda decision: decision.annotator)
