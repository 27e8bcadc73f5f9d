"""Responses kept on the disk as they come, so that a killed evaluation goes on.

They are in ``<output_path>/.responses``, in a folder that is named after the command: the model and
its arguments, the checkpoint's files, the tasks, the seeds, and the versions of the packages. The
same command finds them there. What asks for them is :mod:`.resuming`.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import hashlib
import json
import math
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import write_all
from video_reasoning.tasks.models import quirks, software

FRESH_VARIABLE = "VIDEO_REASONING_FRESH"
"""Environment variable; anything but the empty text forgets what is kept (``--fresh``)."""

PARTIAL_VARIABLE = "VIDEO_REASONING_PARTIAL"
"""Environment variable; anything but the empty text evaluates what is kept (``--partial``)."""

OPTIONS = {"--fresh": FRESH_VARIABLE, "--partial": PARTIAL_VARIABLE}
"""Options of ``lmms_eval`` that the harness does not have."""

RESPONSES, PARTIAL = ".responses", "partial"
"""Folders in ``--output_path``: what is kept, and results of the tasks that have ended."""

OF_COMMAND = (
    *("model", "tasks", "limit", "offset", "num_fewshot", "gen_kwargs", "repeats", "seed"),
    *("system_instruction", "apply_chat_template", "fewshot_as_multiturn", "force_simple"),
)
"""Options of the harness that change what is asked of which model, beside ``--model_args``."""

SUFFIX = ".jsonl"

_SYNC_SECONDS = 1.0
"""Between two waits for the disk, at least."""

_PACKAGES = ("lmms-eval", "lmms-eval-video-reasoning", "transformers")
_SECRET = re.compile(r"(?i)(api_key|token|secret|password)$")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

ended: list[tuple[argparse.Namespace, float]] = []
# Runs that were evaluated in this process, each with the time when that began.

kept_only: list[Path] = []
# The folder with the responses, if results are wanted from them alone.


def nothing_kept(run: argparse.Namespace) -> str:
    """Say in a sentence that no response of a run is kept; empty if there are some."""
    if run.output_path and Journal(folder_of(run, RESPONSES)).found:
        return ""
    return (
        f"No response of this command is kept in {run.output_path or 'an --output_path'}: give "
        "--partial with all options of an evaluation that has begun and not ended."
    )


@contextlib.contextmanager
def partial(run: argparse.Namespace) -> Iterator[None]:
    """Evaluate what is kept of a run, without its model, into the folder of partial results."""
    kept_only.append(folder_of(run, RESPONSES))
    run.output_path = str(folder_of(run, PARTIAL) / "all")
    try:
        yield
    finally:
        kept_only.clear()


def finish(run: argparse.Namespace, *, saved: bool) -> None:
    """Remove what was kept of a run whose results have been saved."""
    ended.clear()
    if not saved or not run.output_path or os.environ.get("RANK", "0") != "0":
        return
    for name in (RESPONSES, PARTIAL):
        folder = folder_of(run, name)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()


@atexit.register
def _finish_at_exit() -> None:
    """Do the same for runs of plain ``lmms-eval``, whose end nobody else sees."""
    for run, began in list(ended):
        files = Path(run.output_path).rglob("*_results.json")
        finish(run, saved=any(f.stat().st_mtime > began for f in files if PARTIAL not in f.parts))


def folder_of(run: argparse.Namespace, name: str) -> Path:
    """Return a run's folder among the :data:`RESPONSES` or the :data:`PARTIAL` results."""
    return Path(run.output_path) / name / name_of(run)


def name_of(run: argparse.Namespace) -> str:
    """Return 12 hexadecimal digits that name what is asked of which model."""
    given = vars(run)
    facts = {
        **{name: given.get(name) for name in OF_COMMAND},
        "tasks": ",".join(dict.fromkeys(str(given.get("tasks")).split(","))),
        "model_args": _model_arguments(given.get("model_args") or ""),
        "versions": [software.version_of(name) for name in _PACKAGES],
        **{name: os.environ.get(name) for name in (quirks.VARIABLE, quirks.CLOCK_VARIABLE)},
    }
    return digest(facts)[:12]


def _model_arguments(given: str | Mapping[str, Any]) -> list[Any]:
    """Return a model's arguments without secrets, and the state of the files that they name."""
    if isinstance(given, str):
        pairs = [each.partition("=")[::2] for each in given.split(",") if each]
    else:
        pairs = [(name, str(value)) for name, value in given.items()]
    return [
        (name, value, _files(Path(value)))
        for name, value in sorted(pairs)
        if not _SECRET.search(name)
    ]


def _files(path: Path) -> list[Any]:
    """Return name, size and time of a checkpoint's files; none for what is not there."""
    with contextlib.suppress(OSError, ValueError):
        files = sorted(path.iterdir()) if path.is_dir() else [path] if path.is_file() else []
        states = [(file.name, file.stat()) for file in files]
        return [(name, state.st_size, state.st_mtime_ns) for name, state in states]
    return []


def digest(value: Any) -> str:
    """Return 32 hexadecimal digits that name a value; functions in it are known by their names."""
    text = _ADDRESS.sub("", json.dumps(value, sort_keys=True, default=str))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


class Journal:
    """Records under keys, in files to which lines are appended.

    Each process appends to a file of its own, so that a line which a kill has torn is the last of
    its file and loses only itself. The files of all processes, of this run and of those before it,
    are read. Memory has a key and a place for each record, not the record.

    Args:
        folder: Where the files are; it need not exist.
        rank: Number of the process, for the name of its file.
    """

    def __init__(self, folder: Path, rank: int = 0) -> None:
        """Read the keys that are there."""
        self.folder = folder
        self._name = f"{rank}-{uuid.uuid4().hex[:12]}{SUFFIX}"
        self._places: dict[bytes, tuple[int, int, int]] = {}
        self._files: list[int] = []
        self._own: int | None = None
        self._synced = -math.inf
        for path in sorted(folder.glob(f"*{SUFFIX}"), key=lambda each: each.stat().st_mtime_ns):
            self._read(path)
        self.found = len(self._places)

    def __len__(self) -> int:
        """Count the records."""
        return len(self._places)

    def __contains__(self, key: str) -> bool:
        """Tell whether there is a record."""
        return bytes.fromhex(key) in self._places

    def __getitem__(self, key: str) -> dict[str, Any]:
        """Read a record; the one that was added last under its key."""
        file, start, length = self._places[bytes.fromhex(key)]
        record: dict[str, Any] = json.loads(os.pread(file, length, start))
        return record

    def records(self) -> Iterator[dict[str, Any]]:
        """Read all records."""
        for key in self._places:
            yield self[key.hex()]

    def add(self, records: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Append records, in one write.

        A kill loses none of them, and a machine that loses power a second's worth, those that
        followed the last wait for the disk: to wait each time would take longer than all else
        between two questions.

        Args:
            records: Key, in hexadecimal digits, and what is kept under it.

        Raises:
            OSError: The folder cannot be written. Nothing may be added after that.
        """
        lines = [(key, _line(key, record)) for key, record in records]
        if not lines:
            return
        if self._own is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
            self._own = os.open(self.folder / self._name, flags, 0o644)
            self._files.append(self._own)
        start = os.fstat(self._own).st_size
        write_all(self._own, b"".join(line for _, line in lines))
        if (now := time.monotonic()) - self._synced >= _SYNC_SECONDS:
            os.fsync(self._own)
            self._synced = now
        for key, line in lines:
            self._places[bytes.fromhex(key)] = self._own, start, len(line)
            start += len(line)

    def close(self) -> None:
        """Close the files; no record can be read after that."""
        if self._own is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._own)
        while self._files:
            os.close(self._files.pop())
        self._own = None
        self._places.clear()

    def _read(self, path: Path) -> None:
        file = os.open(path, os.O_RDONLY)
        self._files.append(file)
        with os.fdopen(file, "rb", closefd=False) as stream:
            for start, line, key in _keys(stream):
                self._places[key] = file, start, len(line)


def _line(key: str, record: Mapping[str, Any]) -> bytes:
    return json.dumps({"key": key, **record}).encode("ascii") + b"\n"


def _keys(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes, bytes]]:
    """Give each whole line with its place and its key; what is torn or is not a record is not."""
    start = 0
    for line in lines:
        try:
            key = bytes.fromhex(json.loads(line)["key"]) if line.endswith(b"\n") else b""
        except (ValueError, KeyError, TypeError):
            key = b""
        if key:
            yield start, line, key
        start += len(line)
