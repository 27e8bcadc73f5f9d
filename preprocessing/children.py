"""Work on one item in a process of its own, which the item may kill.

A video can end the process that decodes it: the decoder is C code, and the system kills what
takes too much memory. Each child therefore has one item at a time, so that a child that dies
names its item.

Pebble's pool was tried for this. Its workers share two pipes: the death of a worker that has not
yet confirmed its item ends the whole pool ("All workers expired") or leaves items that never end.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

LIMIT_SECONDS = 3600.0  # a child that takes longer than this for one item is ended
_PATIENCE_SECONDS = 10.0
# The child must find what the parent can import, wherever it was started.
_BOOT = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from video_reasoning.preprocessing.children import serve; serve()"
)


@dataclass(frozen=True)
class Reply:
    """What became of one item.

    Attributes:
        kind: `outcome`; `raised` (a fault of the place); `lost` (without an outcome for good);
            `died` (its process ended); `unseen` (the worker does not see the shared folder).
        value: The outcome, the error, the reason, how the process ended, or the worker's machine.
    """

    kind: Literal["outcome", "raised", "lost", "died", "unseen"]
    value: Any


def run(function: Callable[[Any], Any], task: Any) -> Reply:
    """Do one item in this process."""
    try:
        return Reply("outcome", function(task))
    except OSError as error:
        return Reply("raised", error)
    except Exception as error:
        text = " ".join(str(error).split())
        return Reply(
            "lost", f"an unexpected {type(error).__name__}" + (f": {text}" if text else "")
        )


class _Child:
    """One child process, and the pipes to it."""

    def __init__(self) -> None:
        self._expired = False
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _BOOT, *map(os.fspath, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, function: Callable[[Any], Any], task: Any) -> Reply:
        """Give the child an item and wait for the reply."""
        popen = self._popen
        assert popen.stdin is not None and popen.stdout is not None
        data = pickle.dumps((function, task))
        clock = threading.Timer(LIMIT_SECONDS, self._expire)
        clock.daemon = True
        clock.start()
        try:
            pickle.dump(data, popen.stdin)
            popen.stdin.flush()
            reply: Reply = pickle.load(popen.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            # It closed its end before it was gone, and how it went is of interest.
            with contextlib.suppress(subprocess.TimeoutExpired):
                popen.wait(_PATIENCE_SECONDS)
            code = self.end()
            if self._expired:
                text = f"it was not done after {LIMIT_SECONDS:,.0f} s and was ended"
                return Reply("lost", text)
            return Reply("died", _ending(code))
        finally:
            clock.cancel()
        return reply

    def _expire(self) -> None:
        self._expired = True
        self.kill()

    @property
    def usable(self) -> bool:
        """Whether the child can be given another item."""
        return not self._expired and self._popen.returncode is None

    def kill(self) -> None:
        """End the process; the thread that waits for its reply tidies up."""
        self._popen.kill()

    def end(self) -> int:
        """End the process, whatever it does, and return its exit status."""
        self.kill()
        code = self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        return code


def _ending(code: int) -> str:
    """Say in words how a process ended."""
    if code == -getattr(signal, "SIGKILL", 9):
        return "was killed (SIGKILL: often the system, for lack of memory)"
    if code < 0:
        try:
            return f"died ({signal.Signals(-code).name})"
        except ValueError:
            return f"died (signal {-code})"
    return f"ended (exit code {code})"


class Children:
    """A child process for each thread that asks for one, until they are stopped."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._lock = threading.Lock()
        self._stopped = False
        self._children: set[_Child] = set()

    def do(self, function: Callable[[Any], Any], task: Any) -> Reply:
        """Do one item in this thread's child."""
        child = getattr(self._own, "child", None) or self._start()
        reply = child.ask(function, task)
        self._own.child = child if child.usable else None
        if not child.usable:
            child.end()
            with self._lock:
                self._children.discard(child)
        return reply

    def _start(self) -> _Child:
        with self._lock:
            if self._stopped:
                raise RuntimeError("The work was broken off.")
            child = _Child()
            self._children.add(child)
        return child

    def stop(self) -> None:
        """End all children, whatever they do."""
        with self._lock:
            self._stopped = True
        for child in self._children.copy():
            child.kill()

    def close(self) -> None:
        """Free what the children held, when no thread asks any more."""
        for child in self._children:
            child.end()


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Keep Ctrl-C and SIGTERM from the threads and processes that are started in the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def serve() -> None:
    """Answer, as a child, until the parent closes the pipe or is gone."""
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as target:
        # Nothing that is printed may get between the replies.
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

        def listen() -> None:
            with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
                while True:
                    requests.put(pickle.load(source))
            # The parent is gone, or wants nothing more; what is half done is of no use.
            os._exit(0)

        threading.Thread(target=listen, daemon=True).start()
        while True:
            target.write(_answer(requests.get()))
            target.flush()


def _answer(request: bytes) -> bytes:
    try:
        function, task = pickle.loads(request)
    except Exception as error:
        reply = Reply("raised", TypeError(f"the worker cannot load what it was given ({error})"))
    else:
        reply = run(function, task)
    try:
        data = pickle.dumps(reply)
        pickle.loads(data)
    except Exception as error:
        data = pickle.dumps(Reply("lost", f"its outcome cannot be sent ({error})"))
    return data
