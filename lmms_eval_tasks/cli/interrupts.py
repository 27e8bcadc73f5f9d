"""Ctrl-C, SIGTERM and faults of the disk: one sentence that says what is kept, no traceback."""

from __future__ import annotations

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

_KEPT = {
    "prepare": "What was unpacked, checked and built is kept in the store; "
    "run the same command again to go on.",
    "split": "Clips and records made so far are kept; run the same command again to go on.",
    "sample": "Run the same command again; what was prepared is kept, videos are drawn anew.",
    "handpick": "The decisions made so far are kept in the picks file; "
    "run the same command again to go on.",
}
_KEPT_BY_DEFAULT = "Nothing half-written was left; run the same command again."

# Between two tries to end what swallowed the first.
_AGAIN_SECONDS = 0.05


class Interrupted(KeyboardInterrupt):
    """A signal asked the command to end."""


class Signals:
    """What was heard.

    Attributes:
        number: The signal that came first, or 0.
    """

    def __init__(self) -> None:
        self.number = 0

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Ends the command in good order at the first signal, and at once at another one."""
        if self.number:
            os._exit(128 + number)
        self.number = number
        raise Interrupted

    def _raise_again(self, number: int, frame: FrameType | None) -> None:
        raise Interrupted

    def swallowed(self, unraisable: Any) -> None:
        """Raises an interrupt anew that came while an object was taken down."""
        if not self.number:
            sys.__unraisablehook__(unraisable)
        elif isinstance(unraisable.exc_value, Interrupted):
            # Python only prints what is raised in such a place, and goes on.
            signal.signal(signal.SIGINT, self._raise_again)
            threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT)).start()

    @property
    def sentence(self) -> str:
        """How the command ended, in words."""
        if self.number == signal.SIGINT:
            return "interrupted."
        return f"ended by {signal.Signals(self.number).name}."


@contextlib.contextmanager
def heard() -> Iterator[Signals]:
    """Hears Ctrl-C and SIGTERM for the time of the block, each as :class:`Interrupted`.

    What was told to be ignored (``nohup``, a shell's background) is left ignored. After a signal
    the rest of the process is not disturbed by a second one, but ended.
    """
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    former = {}
    hook = sys.unraisablehook
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:
            former[number] = signal.signal(number, signals.hear)
    sys.unraisablehook = signals.swallowed
    try:
        yield signals
    finally:
        # After a signal the process only ends: no more is to be raised.
        if not signals.number:
            sys.unraisablehook = hook
            for number, handler in former.items():
                signal.signal(number, handler)


def kept(command: str) -> str:
    """What is kept of a command that did not come to its end, and how to go on."""
    return _KEPT.get(command, _KEPT_BY_DEFAULT)


def storage_problem(error: OSError) -> str:
    """A sentence for a fault of the disk: what could not be written, and what to do."""
    name = os.fspath(error.filename) if error.filename is not None else ""
    what = os.fsdecode(name) or "a file"
    number = error.errno
    if number == errno.ENOSPC:
        return (
            f"{what} cannot be written: the disk is full{_free(what)}. Make room there, or "
            "choose another place."
        )
    if number == getattr(errno, "EDQUOT", -1):
        return (
            f"{what} cannot be written: your quota of that file system is used up. Make room "
            "there, or choose another place."
        )
    if number == errno.EFBIG:
        return (
            f"{what} cannot be written: it would be larger than files may be there "
            "(see `ulimit -f`)."
        )
    if number == errno.EROFS:
        return f"{what} cannot be written: the file system is read-only. Choose another place."
    if number == errno.EIO:
        return f"{what} cannot be written or read: the disk reports an error; have it looked at."
    if number in (errno.EACCES, errno.EPERM):
        return (
            f"{what} cannot be used: you have no right to it. Mend that, or choose another place."
        )
    return f"{str(error).rstrip('.')}."


def is_storage_problem(error: OSError) -> bool:
    """Whether the place is full or fails, so that what was made before is worth a word."""
    return error.errno in {errno.ENOSPC, getattr(errno, "EDQUOT", -1), errno.EFBIG, errno.EIO}


def _free(what: str) -> str:
    """How much room there is where a file was to go."""
    place = Path(what).absolute()
    for folder in place.parents:
        with contextlib.suppress(OSError):
            return f" ({shutil.disk_usage(folder).free / 2**20:,.1f} MiB free in {folder})"
    return ""
