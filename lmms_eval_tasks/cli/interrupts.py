"""Ctrl-C, SIGTERM and faults of the disk: one sentence that says what is kept, no traceback."""

from __future__ import annotations

import _thread
import contextlib
import errno
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from video_reasoning.tasks.errors import cause

_KEPT = {
    "prepare": "What was unpacked, checked and built is kept in the store; "
    "run the same command again to go on.",
    "clips": "Clips made so far are kept; run the same command again to go on.",
    "split": "Clips and records made so far are kept; run the same command again to go on.",
    "sample": "Run the same command again; what was prepared is kept, videos are drawn again.",
    "make-pairs": "Every reply so far is kept in OUT/replies.jsonl; "
    "run the same command again to go on.",
    "annotate": "The answers and ratings made so far are kept in their file; "
    "run the same command again to go on.",
    "handpick": "The decisions made so far are kept in the picks file; "
    "run the same command again to go on.",
}
_KEPT_BY_DEFAULT = "Nothing half-written was left; run the same command again."

_QUOTA = getattr(errno, "EDQUOT", -1)
_ROOM = "Make room there, or choose another place."
_FAULTS = {
    errno.ENOSPC: f"cannot be written: the disk is full{{free}}. {_ROOM}",
    _QUOTA: f"cannot be written: your quota of that file system is used up. {_ROOM}",
    errno.EFBIG: "cannot be written: it would be larger than files may be there (see `ulimit -f`).",
    errno.EROFS: "cannot be written: the file system is read-only. Choose another place.",
    errno.EIO: "cannot be written or read: the disk reports an error; have it looked at.",
    errno.EACCES: "cannot be used: you have no right to it. Fix that, or choose another place.",
    errno.EPERM: "cannot be used: you have no right to it. Fix that, or choose another place.",
}

# Between an interrupt that was swallowed and the next try.
_AGAIN_SECONDS = 0.05


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end."""


class Signals:
    """What was heard: the signal that came (or 0), and what each did before."""

    def __init__(self) -> None:
        self.number = 0
        self.previous: dict[int, Any] = {}

    def hear(self, number: int, frame: FrameType | None) -> None:
        """End the command in good order; a second signal ends it at once."""
        self.number = number
        for each in self.previous:
            signal.signal(each, signal.SIG_DFL)
        raise Interrupted

    def swallowed(self, unraisable: Any) -> None:
        """Raise an interrupt again that came while an object was taken down."""
        if isinstance(unraisable.exc_value, KeyboardInterrupt) and self.number:
            # Python only prints what is raised in such a place, and goes on.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            threading.Timer(_AGAIN_SECONDS, _thread.interrupt_main).start()
        else:
            sys.__unraisablehook__(unraisable)

    @property
    def sentence(self) -> str:
        """How the command ended, in words."""
        if self.number == signal.SIGINT:
            return "interrupted."
        return f"ended by {signal.Signals(self.number).name}."


@contextlib.contextmanager
def heard() -> Iterator[Signals]:
    """Hear Ctrl-C and SIGTERM for the time of the block, each as `Interrupted`.

    What is to be ignored (`nohup`, a shell's background) stays ignored.
    """
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    hook, sys.unraisablehook = sys.unraisablehook, signals.swallowed
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signals.previous[number] = signal.signal(number, signals.hear)
    try:
        yield signals
    finally:
        # After a signal the process only ends.
        if not signals.number:
            sys.unraisablehook = hook
            for each, handler in signals.previous.items():
                signal.signal(each, handler)


def kept(command: str) -> str:
    """Say what is kept of a command that did not come to its end, and how to go on."""
    return _KEPT.get(command, _KEPT_BY_DEFAULT)


def storage_problem(error: OSError) -> str:
    """Say in a sentence what could not be written because of the disk, and what to do."""
    # Of a renaming the second name is the one that was meant; the first is a temporary one.
    meant = error.filename2 if error.filename2 is not None else error.filename
    name = os.fspath(meant) if meant is not None else ""
    what = os.fsdecode(name) or "a file"
    if error.errno in _FAULTS:
        return f"{what} {_FAULTS[error.errno].format(free=_free(what))}"
    return f"{os.fsdecode(name)}: {cause(error)}." if name else f"{cause(error)}."


def is_storage_problem(error: OSError) -> bool:
    """Return whether the place is full or fails, so that what was made before is worth a word."""
    return error.errno in {errno.ENOSPC, _QUOTA, errno.EFBIG, errno.EIO}


def _free(what: str) -> str:
    """Say how much room there is where a file was to go."""
    for folder in Path(what).absolute().parents:
        with contextlib.suppress(OSError):
            return f" ({shutil.disk_usage(folder).free / 2**20:,.1f} MiB free in {folder})"
    return ""
