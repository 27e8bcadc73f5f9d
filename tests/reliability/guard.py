"""Running something that may crash, hang or fill the memory, and telling what it did.

The function runs in a forked process, so that what is imported already need not be imported
again: a fault costs milliseconds instead of a second.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 60.0
"""After so long a command counts as hanging."""

MOST_BYTES = 4 << 30
"""More memory than this is a loss."""


@dataclass
class Outcome:
    """What became of a guarded call.

    Attributes:
        value: what the function gave.
        loss: why it is a loss: a traceback, a signal, the time or the memory; else empty.
        output: what it printed.
        seconds: how long it took.
        peak: most memory that it held, in bytes.
        code: exit code, where the function was a command.
    """

    value: Any = None
    loss: str = ""
    output: str = ""
    seconds: float = 0.0
    peak: int = 0
    code: int | None = None


def guarded(
    function: Callable[[], Any],
    *,
    seconds: float = SECONDS,
    environment: Mapping[str, str] | None = None,
    user: int | None = None,
) -> Outcome:
    """Call a function in a process of its own.

    Args:
        function: what to call; its result must be picklable.
        seconds: how long it may take.
        environment: variables to set.
        user: number of the user to become first (only root can).
    """
    outcome = Outcome()
    began = time.monotonic()
    # On a machine that others work on, everything takes longer.
    seconds *= max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    with tempfile.TemporaryFile() as printed:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            _child(function, write, printed.fileno(), environment or {}, user)
        os.close(write)
        answer = bytearray()
        while True:
            left = began + seconds - time.monotonic()
            ready, _, _ = select.select([read], [], [], max(0.0, left))
            if not ready:
                # The whole group: workers of a pool must not live on.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                outcome.loss = f"it hung: not done after {seconds:.0f} s"
                break
            block = os.read(read, 1 << 20)
            if not block:
                break
            answer += block
        os.close(read)
        _, status, usage = os.wait4(pid, 0)
        printed.seek(0)
        outcome.output = printed.read().decode("utf-8", "replace")
    outcome.seconds = time.monotonic() - began
    outcome.peak = usage.ru_maxrss * 1024
    if outcome.loss:
        return outcome
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        outcome.loss = f"the process ended by {name}: {outcome.output[-300:]}"
    elif not answer:
        outcome.loss = f"the process ended without a result: {outcome.output[-300:]}"
    else:
        outcome.value, outcome.code, outcome.loss = pickle.loads(bytes(answer))
    if not outcome.loss and "Traceback (most recent call last)" in outcome.output:
        outcome.loss = outcome.output[outcome.output.index("Traceback") :][-800:]
    if not outcome.loss and outcome.peak > MOST_BYTES:
        outcome.loss = f"it held {outcome.peak / 2**30:.1f} GiB of memory"
    return outcome


def _child(
    function: Callable[[], Any],
    write: int,
    printed: int,
    environment: Mapping[str, str],
    user: int | None,
) -> None:
    code, value, loss = None, None, ""
    try:
        os.setpgid(0, 0)
        for stream in (1, 2):
            os.dup2(printed, stream)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        os.environ.update(environment)
        # A runaway must not take the machine with it: it gets a MemoryError, which is a loss.
        resource.setrlimit(resource.RLIMIT_AS, (2 * MOST_BYTES, 2 * MOST_BYTES))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        try:
            value = function()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        loss = traceback.format_exc()[-1500:]
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    try:
        answer = pickle.dumps((value, code, loss))
    except Exception:
        answer = pickle.dumps((None, code, f"no picklable result: {value!r}"[:500]))
    with open(write, "wb") as pipe:
        pipe.write(answer)
    os._exit(0)


def command(
    *arguments: str | Path,
    home: Path | None = None,
    seconds: float = SECONDS,
    user: int | None = None,
) -> Outcome:
    """Run ``video-reasoning`` with some arguments; a code but 0, 1 and 2 is a loss."""
    from video_reasoning.tasks.cli.main import main

    def call() -> None:
        sys.argv = ["video-reasoning", *map(str, arguments)]
        main()

    environment = {"VIDEO_REASONING_HOME": str(home)} if home else {}
    outcome = guarded(call, seconds=seconds, environment=environment, user=user)
    if outcome.code is None:
        outcome.code = 0
    if not outcome.loss and outcome.code not in (0, 1, 2):
        outcome.loss = f"exit code {outcome.code}: {outcome.output[-300:]}"
    if not outcome.loss and outcome.code and not outcome.output.strip():
        outcome.loss = f"exit code {outcome.code} without a word"
    return outcome


@dataclass
class Tally:
    """What was tried and what was lost.

    Attributes:
        tried: family of cases -> number of meetings of a case with a command.
        losses: what, and why.
        fates: family -> what became of its cases, counted.
    """

    tried: dict[str, int] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)
    fates: dict[str, dict[str, int]] = field(default_factory=dict)

    def met(self, family: str, what: str, loss: str = "", count: int = 1) -> None:
        """Count a meeting, and the loss if there is one."""
        self.tried[family] = self.tried.get(family, 0) + count
        if loss:
            self.losses.append(f"{family} / {what}: {loss}")
            print("LOSS", self.losses[-1].replace("\n", "\n     "), flush=True)

    def fate(self, family: str, word: str) -> None:
        """Count what became of a case."""
        counts = self.fates.setdefault(family, {})
        counts[word] = counts.get(word, 0) + 1

    @contextlib.contextmanager
    def expecting(self, family: str, what: str) -> Iterator[None]:
        """Count a meeting whose body asserts what must hold."""
        try:
            yield
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = str(error) or last.line or ""
            self.met(family, what, f"{type(error).__name__}: {reason[:600]}")
        else:
            self.met(family, what)


def chosen(names: Sequence[str], only: str) -> list[str]:
    """Those names that hold a text."""
    return [name for name in names if only in name]
