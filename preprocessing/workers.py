"""The same work on many items, in processes: of this machine, or of a dask or ray cluster.

The parent only hands out work and gathers results. An item that ended its process gets a second
chance at the end, alone, and is reported as `Lost` if it does the same again.

Workers do not hear Ctrl-C and SIGTERM: the parent does, and ends them. They end by themselves
when the parent is gone, however it went.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from video_reasoning.preprocessing.children import Children, Reply, deaf, run
from video_reasoning.preprocessing.clusters import EngineError, connected

__all__ = ["ENGINES", "Engine", "EngineError", "Lost", "Workers"]

Engine = Literal["local", "dask", "ray"]
"""Where the work is done: processes of this machine, or a cluster's workers."""

ENGINES: tuple[str, ...] = get_args(Engine)

_THREAD = "hands out work"

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")
_Replies = Generator[tuple[int, Reply], None, None]


@dataclass(frozen=True)
class Lost:
    """An item without an outcome: its worker died, took too long, or met an unexpected error."""

    reason: str


class Workers:
    """Processes that work on items, for as long as the block runs.

    Args:
        count: Number of processes; None for as many as this machine has cores. A cluster at an
            address has its own number.
        engine: `local`, `dask` or `ray`.
        address: Of the cluster's scheduler, e.g. `tcp://host:8786`. None for the one that
            DASK_SCHEDULER_ADDRESS or RAY_ADDRESS names, or else for a cluster of `count`
            processes on this machine.
        isolate: Whether one process is still a process of its own. Without it, `count=1` works
            in this process, where a decoder that dies ends everything.
        shared: A folder that all workers must see under the same path; if one does not, the
            work is refused.

    Raises:
        EngineError: There is no such engine, it is not installed, or no cluster answers.
    """

    def __init__(
        self,
        count: int | None = None,
        engine: str = "local",
        address: str | None = None,
        *,
        isolate: bool = True,
        shared: Path | None = None,
    ) -> None:
        if engine not in ENGINES:
            raise EngineError(
                f"There is no engine '{engine}'; the engines are {', '.join(ENGINES)}."
            )
        if engine == "local" and address is not None:
            raise EngineError(
                f"The engine 'local' has no address ({address}); name --engine dask or ray."
            )
        self.count = count or os.cpu_count() or 1
        self.engine = engine
        self._address = address
        self._shared = shared
        self._stack = contextlib.ExitStack()
        self._replies: Callable[[Callable[[Any], Any], Sequence[Any]], _Replies] = self._locally
        if self.count == 1 and not isolate:
            self._replies = _here

    def __enter__(self) -> Workers:
        """Connect to the cluster, or start one."""
        if self.engine != "local":
            self._replies = self._stack.enter_context(
                connected(self.engine, self.count, self._address, self._shared)
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the cluster."""
        self._stack.close()

    def each(
        self, function: Callable[[Task], Outcome], tasks: Sequence[Task]
    ) -> Generator[tuple[int, Outcome | Lost], None, None]:
        """Run a function over tasks.

        Args:
            function: A function of an importable module.
            tasks: What to give it, one at a time.

        Yields:
            The position of a task and its outcome, as they come; every position once.

        Raises:
            OSError: The function raised it: a fault of the place, not of the item. What was not
                yielded is left undone.
            EngineError: The cluster is gone, or its workers do not see the folder.
        """
        suspects = []
        with contextlib.closing(self._replies(function, tasks)) as replies:
            for place, reply in replies:
                if reply.kind == "died":
                    suspects.append(place)
                else:
                    yield place, self._outcome(reply)
        # Alone, with all of the memory; a process that was killed for another's sake gets through.
        for place in suspects:
            with contextlib.closing(self._replies(function, [tasks[place]])) as replies:
                for _, reply in replies:
                    yield place, self._outcome(reply)

    def _outcome(self, reply: Reply) -> Any:
        if reply.kind == "raised":
            raise reply.value
        if reply.kind == "unseen":
            raise EngineError(
                f"The worker on {reply.value} does not see {self._shared}: mount the folder "
                "under the same path on every machine."
            )
        if reply.kind == "died":
            return Lost(f"the process that worked on it {reply.value}, twice")
        return Lost(reply.value) if reply.kind == "lost" else reply.value

    def _locally(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> _Replies:
        if not tasks:
            return
        children = Children()
        threads = ThreadPoolExecutor(min(self.count, len(tasks)), _THREAD)
        try:
            with deaf():
                futures = {
                    threads.submit(children.do, function, task): place
                    for place, task in enumerate(tasks)
                }
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            children.stop()
            threads.shutdown(cancel_futures=True)
            children.close()


def _here(function: Callable[[Any], Any], tasks: Sequence[Any]) -> _Replies:
    """Do the work in this process."""
    for place, task in enumerate(tasks):
        yield place, run(function, task)
