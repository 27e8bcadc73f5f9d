"""Dask and ray: the same work on the workers of a cluster, or of one started on this machine.

A cluster's worker does each item in a child of its own, so that it outlives a decoder that dies.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import itertools
import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from video_reasoning.preprocessing.children import Children, Reply, deaf
from video_reasoning.preprocessing.files import atomic_path

_DISTRIBUTIONS = {"distributed": "'dask[distributed]'", "ray": "ray"}
# A folder of another machine may show a new file late: its list of names is kept for a while.
_SEEN_TRIES = 4
_CHILDREN = Children()  # of a cluster's worker; they end with it


class EngineError(Exception):
    """The engine cannot be used; the message is one sentence that says what to do."""


class Cluster(Protocol):
    """Where calls are sent to."""

    def replies(
        self, function: Callable[..., Reply], calls: Sequence[tuple[Any, ...]]
    ) -> Generator[tuple[int, Reply], None, None]:
        """Call a function with each of the arguments; yields positions and replies as they come.

        Raises:
            EngineError: The cluster is gone.
        """


def do_remotely(function: Callable[[Any], Any], task: Any, witness: str, tries: int) -> Reply:
    """Do one item in a child of a cluster's worker, if the worker sees the witness."""
    for number in range(tries):
        if not witness or Path(witness).exists():
            return _CHILDREN.do(function, task)
        if number < tries - 1:
            time.sleep(0.5)
            with contextlib.suppress(OSError):
                os.listdir(Path(witness).parent)  # noqa: PTH208 - makes the client look again
    return Reply("unseen", socket.gethostname())


@contextlib.contextmanager
def connected(
    engine: str, count: int, address: str | None, shared: Path | None
) -> Iterator[Callable[..., Generator[tuple[int, Reply], None, None]]]:
    """Connect to a cluster (`dask` or `ray`), or start one of `count` processes on this machine.

    Without an address, the one that the environment names counts, if any. All workers must see
    the shared folder, if there is one.

    Yields:
        A function that is given a function and tasks, and yields positions and replies.

    Raises:
        EngineError: The engine is not installed, or no cluster answers.
    """
    with contextlib.ExitStack() as stack:
        witness = str(stack.enter_context(_witness(shared))) if shared is not None else ""
        start = _dask if engine == "dask" else _ray
        cluster: Cluster = stack.enter_context(start(count, address))

        def replies(
            function: Callable[[Any], Any], tasks: Sequence[Any]
        ) -> Generator[tuple[int, Reply], None, None]:
            calls = [(function, task, witness, _SEEN_TRIES) for task in tasks]
            return cluster.replies(do_remotely, calls)

        yield replies


class _NotKept(Exception):
    """Ends the block of `_witness` without leaving a file."""


@contextlib.contextmanager
def _witness(folder: Path) -> Iterator[Path]:
    """Make a file by which a worker sees that it is on the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(_NotKept), atomic_path(folder.absolute() / "witness") as path:
        path.touch()
        yield path
        raise _NotKept


def _imported(package: str) -> Any:
    if importlib.util.find_spec(package) is None:
        raise EngineError(
            f"This engine needs {package}, which is not installed: "
            f"pip install {_DISTRIBUTIONS[package]}"
        )
    return importlib.import_module(package)


def _gone(engine: str, error: BaseException) -> EngineError:
    text = " ".join(str(error).split()) or type(error).__name__
    return EngineError(
        f"The {engine} cluster failed ({text}); what was done is kept, run the same command "
        "again when the cluster is back."
    )


class _Dask:
    def __init__(self, client: Any) -> None:
        self._distributed = _imported("distributed")
        self.client = client

    def replies(
        self, function: Callable[..., Reply], calls: Sequence[tuple[Any, ...]]
    ) -> Generator[tuple[int, Reply], None, None]:
        futures = {
            self.client.submit(function, *call, pure=False): place
            for place, call in enumerate(calls)
        }
        try:
            for future in self._distributed.as_completed(list(futures), loop=self.client.loop):
                try:
                    reply: Reply = future.result()
                except self._distributed.KilledWorker:
                    reply = Reply("died", "died")
                except BaseException as error:
                    if isinstance(error, KeyboardInterrupt | SystemExit):
                        raise
                    raise _gone("dask", error) from error
                yield futures.pop(future), reply
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(futures))


@contextlib.contextmanager
def _dask(count: int, address: str | None) -> Iterator[Cluster]:
    distributed = _imported("distributed")
    dask = importlib.import_module("dask")
    address = address or dask.config.get("scheduler-address", None)
    with contextlib.ExitStack() as stack, deaf():
        place: Any = address
        if address is None:
            # Decoders die in children of the workers; a worker that dies twice means more.
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1}))
            # Loopback only, and no page: nobody else has any business here.
            place = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=50,
                )
            )
        try:
            client = stack.enter_context(distributed.Client(place, set_as_default=False))
            if address is not None:
                client.wait_for_workers(1, timeout=60)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"No dask scheduler with workers answers at {address} ({error}); start it, or "
                "name another with --engine-address."
            ) from error
        connection = stack.pop_all()
    with connection:
        yield _Dask(client)


class _Ray:
    def __init__(self, ray: Any) -> None:
        self._ray = ray
        # Few calls wait: `ray.wait` looks at each of them.
        self._most = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def replies(
        self, function: Callable[..., Reply], calls: Sequence[tuple[Any, ...]]
    ) -> Generator[tuple[int, Reply], None, None]:
        ray, errors = self._ray, self._ray.exceptions
        remote = ray.remote(function).options(max_retries=0)
        left = iter(enumerate(calls))
        waiting: dict[Any, int] = {}
        try:
            while True:
                for place, call in itertools.islice(left, self._most - len(waiting)):
                    waiting[remote.remote(*call)] = place
                if not waiting:
                    return
                try:
                    (ready,), _ = ray.wait(list(waiting), num_returns=1)
                    reply: Reply = ray.get(ready)
                except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError):
                    reply = Reply("died", "died")
                except Exception as error:
                    raise _gone("ray", error) from error
                yield waiting.pop(ready), reply
        finally:
            with contextlib.suppress(Exception):
                for call in waiting:
                    ray.cancel(call)


@contextlib.contextmanager
def _ray(count: int, address: str | None) -> Iterator[Cluster]:
    ray = _imported("ray")
    address = address or os.environ.get("RAY_ADDRESS")
    with contextlib.ExitStack() as stack:
        if not ray.is_initialized():
            settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
            if address:
                settings["address"] = address
            else:
                # The loopback alone: a scheduler runs whatever it is sent.
                settings.update(
                    num_cpus=count, include_dashboard=False, _node_ip_address="127.0.0.1"
                )
            try:
                ray.init(**settings)
            except Exception as error:  # ray has no narrower class for this
                what = f"No ray cluster answers at {address}" if address else "Ray does not start"
                text = " ".join(str(error).split()).rstrip(".")
                raise EngineError(
                    f"{what} ({text}); name the address of a running one with --engine-address."
                ) from error
            stack.callback(ray.shutdown)
        yield _Ray(ray)
