"""The same work on many items, in processes: of this machine, or of a dask or ray cluster.

A video can end the process that decodes it: the decoder is C code, and the system kills what
takes too much memory. So the parent only hands out work and gathers results. On this machine each
worker has one item at a time, so that a worker that dies names its item; that item gets a
second chance at the end, alone, and is reported as `Lost` if it does the same again.

Workers do not hear Ctrl-C and SIGTERM: the parent does, and ends them. They end by themselves
when the parent is gone, however it went.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import pickle
import queue
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from video_reasoning.preprocessing.files import atomic_path

Engine = Literal["local", "dask", "ray"]
"""Where the work is done: processes of this machine, or a cluster's workers."""

ENGINES: tuple[str, ...] = get_args(Engine)

_THREAD = "hands out work"
"""Name of the threads that feed the workers, one each."""

LIMIT_SECONDS = 3600.0
"""A worker of this machine that takes longer than this for one item is ended."""

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")

_INSTALL = "pip install 'lmms-eval-video-reasoning[cluster]'"
_HEADER = struct.Struct("<Q")
# The child must find what the parent can import, wherever it was started.
_BOOT = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from video_reasoning.preprocessing.workers import _serve; _serve()"
)
# How a cluster says that the worker died that had an item, again and again.
_DEATHS = frozenset(
    {"KilledWorker", "WorkerCrashedError", "OutOfMemoryError", "ActorDiedError", "RayActorError"}
)
_PATIENCE_SECONDS = 10.0
# A folder of another machine may show a new file late: its list of names is kept for a while.
_SEEN_TRIES = 4


class EngineError(Exception):
    """The engine cannot be used; the message is one sentence that says what to do."""


@dataclass(frozen=True)
class Lost:
    """An item without an outcome: its worker died, took too long, or met an unexpected error."""

    reason: str


@dataclass(frozen=True)
class _Reply:
    """What a worker says of one item."""

    kind: Literal["outcome", "raised", "lost", "unseen"]
    value: Any


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
        shared: A folder that all workers must see under the same path; where one does not, the
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
        self._isolate = isolate
        self._shared = shared
        self._witness = ""
        self._stack = contextlib.ExitStack()
        self._joblib: dict[str, Any] = {}

    def __enter__(self) -> Workers:
        """Connect to the cluster, or start one."""
        if self.engine != "local":
            with contextlib.ExitStack() as stack:
                if self._shared is not None:
                    self._witness = str(stack.enter_context(_witness(self._shared)))
                start = _start_dask if self.engine == "dask" else _start_ray
                self._joblib = start(stack, self.count, self._address)
                self._stack = stack.pop_all()
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
        if not tasks:
            return
        if self.engine != "local":
            replies = self._on_cluster(function, tasks)
        elif self.count == 1 and not self._isolate:
            replies = ((place, _run(function, task)) for place, task in enumerate(tasks))
        else:
            replies = _in_processes(function, tasks, self.count)
        with contextlib.closing(replies):
            for place, reply in replies:
                if reply.kind == "raised":
                    raise reply.value
                if reply.kind == "unseen":
                    raise EngineError(
                        f"The worker on {reply.value} does not see {self._shared}: mount the "
                        "folder under the same path on every machine."
                    )
                yield place, Lost(reply.value) if reply.kind == "lost" else reply.value

    def _on_cluster(
        self, function: Callable[[Task], Outcome], tasks: Sequence[Task]
    ) -> Generator[tuple[int, _Reply], None, None]:
        import joblib

        def parallel(**settings: Any) -> Any:
            with joblib.parallel_config(**self._joblib):
                return joblib.Parallel(n_jobs=-1, batch_size=1, **settings)

        settings = {"return_as": "generator_unordered"}
        portion = len(tasks)
        try:
            parallel(**settings)
        except ValueError:
            # Some backends give their results only at the end: small portions lose little.
            settings = {}
            with joblib.parallel_config(**self._joblib):
                portion = 4 * max(1, joblib.effective_n_jobs(-1))
        left = list(range(len(tasks)))
        job = joblib.delayed(_run_remotely)
        while left:
            now, left = left[:portion], left[portion:]
            sent: list[int] = []

            def jobs(now: Sequence[int] = now, sent: list[int] = sent) -> Iterator[Any]:
                for place in now:
                    sent.append(place)
                    yield job(place, function, tasks[place], self._witness)

            waiting = set(now)
            results: Any = None
            try:
                while True:
                    try:
                        # Without a generator, all the work is done in this call.
                        results = results or iter(parallel(**settings)(jobs()))
                        place, reply = next(results)
                    except StopIteration:
                        break
                    except Exception as error:
                        self._judge(error)
                        # One of those under way did it: each alone, to know which.
                        suspects = [place for place in sent if place in waiting]
                        left = [place for place in now if place in waiting - set(suspects)] + left
                        for place in suspects:
                            one = job(place, function, tasks[place], "")
                            yield place, self._alone(parallel(), one)
                        break
                    waiting.discard(place)
                    yield place, reply
            finally:
                with warnings.catch_warnings():
                    # Where the work is broken off, joblib advises to ask for less of it.
                    warnings.simplefilter("ignore")
                    if hasattr(results, "close"):
                        results.close()
                    del results

    def _alone(self, parallel: Any, job: Any) -> _Reply:
        try:
            _, reply = parallel([job])[0]
        except Exception as error:
            self._judge(error)
            return _Reply("lost", "the process that worked on it died, and again when it was tried")
        return reply  # type: ignore[no-any-return]

    def _judge(self, error: Exception) -> None:
        """Raise unless an error is the death of a worker."""
        if type(error).__name__ not in _DEATHS:
            text = " ".join(str(error).split()) or type(error).__name__
            raise EngineError(
                f"The {self.engine} cluster failed ({text}); what was done is kept, run the same "
                "command again when the cluster is back."
            ) from error


# On this machine.


class _Died(Exception):
    """A worker ended before it answered."""


class _Process(Generic[Task, Outcome]):
    """One worker process, and the pipes to it."""

    def __init__(self) -> None:
        self._expired = False
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _BOOT, *map(os.fspath, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, function: Callable[[Task], Outcome], task: Task, limit: float) -> _Reply:
        """Give it a task and wait for the answer; `_Died` where none comes."""
        popen = self._popen
        assert popen.stdin is not None and popen.stdout is not None
        data = pickle.dumps((function, task))
        clock = threading.Timer(limit, self._expire)
        clock.daemon = True
        clock.start()
        try:
            _send(popen.stdin, data)
            reply: _Reply = pickle.loads(_receive(popen.stdout))
        except (EOFError, OSError, pickle.UnpicklingError):
            # It closed its end before it was gone, and how it went is of interest.
            with contextlib.suppress(subprocess.TimeoutExpired):
                popen.wait(_PATIENCE_SECONDS)
            code = self.end()
            if self._expired:
                return _Reply("lost", f"it was not done after {limit:,.0f} s and was ended")
            raise _Died(_ending(code)) from None
        finally:
            clock.cancel()
        return reply

    def _expire(self) -> None:
        self._expired = True
        self._popen.kill()

    def end(self) -> int:
        """End the process, whatever it does, and give its exit status."""
        # Closing before killing: a reader in another thread then meets the end of the file.
        self._popen.kill()
        code = self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        return code

    @property
    def lives(self) -> bool:
        """Whether it can be given another task."""
        return not self._expired

    def kill(self) -> None:
        """End the process; the thread that waits for its answer tidies up."""
        self._popen.kill()


def _ending(code: int) -> str:
    """In words, how a process ended."""
    if code == -getattr(signal, "SIGKILL", 9):
        return "was killed (SIGKILL: often the system, for want of memory)"
    if code < 0:
        try:
            return f"died ({signal.Signals(-code).name})"
        except ValueError:
            return f"died (signal {-code})"
    return f"ended (exit code {code})"


class _Crew:
    """Threads, each of which keeps one worker process busy."""

    def __init__(
        self, function: Callable[[Any], Any], tasks: Sequence[Any], places: Sequence[int], size: int
    ) -> None:
        self._function = function
        self._tasks = tasks
        self._places = iter(places)
        self._lock = threading.Lock()
        self._stopped = False
        self._processes: set[_Process[Any, Any]] = set()
        self.results: queue.SimpleQueue[tuple[int, _Reply | _Died | BaseException]] = (
            queue.SimpleQueue()
        )
        self._threads = [
            threading.Thread(target=self._work, name=_THREAD, daemon=True) for _ in range(size)
        ]
        with _deaf():
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        process = None
        try:
            while (place := self._next()) >= 0:
                try:
                    if process is None:
                        process = self._start()
                    reply: Any = process.ask(self._function, self._tasks[place], LIMIT_SECONDS)
                    if not process.lives:
                        self._drop(process)
                        process = None
                except _Died as death:
                    reply = death
                    self._drop(process)
                    process = None
                except BaseException as error:
                    reply = error
                self.results.put((place, reply))
        finally:
            self._drop(process)

    def _next(self) -> int:
        with self._lock:
            return -1 if self._stopped else next(self._places, -1)

    def _start(self) -> _Process[Any, Any]:
        process: _Process[Any, Any] = _Process()
        with self._lock:
            self._processes.add(process)
            stopped = self._stopped
        if stopped:
            process.kill()
        return process

    def _drop(self, process: _Process[Any, Any] | None) -> None:
        if process is not None:
            with self._lock:
                self._processes.discard(process)
            process.end()

    def stop(self) -> None:
        """End all processes and wait for the threads."""
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()


def _in_processes(
    function: Callable[[Task], Outcome], tasks: Sequence[Task], count: int
) -> Generator[tuple[int, _Reply], None, None]:
    suspects: list[int] = []

    def run(places: Sequence[int], size: int) -> Generator[tuple[int, _Reply | _Died], None, None]:
        crew = _Crew(function, tasks, places, size)
        try:
            for _ in places:
                place, reply = crew.results.get()
                if not isinstance(reply, _Reply | _Died):
                    raise reply
                yield place, reply
        finally:
            crew.stop()

    with contextlib.closing(run(range(len(tasks)), min(count, len(tasks)))) as replies:
        for place, reply in replies:
            if isinstance(reply, _Died):
                suspects.append(place)
            else:
                yield place, reply
    # Alone, with all of the memory; a process that was killed for another's sake gets through.
    for suspect in suspects:
        with contextlib.closing(run([suspect], 1)) as replies:
            for place, reply in replies:
                if isinstance(reply, _Died):
                    text = f"the process that worked on it {reply}, twice"
                    yield place, _Reply("lost", text)
                else:
                    yield place, reply


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Threads and processes that are started in the block never hear Ctrl-C and SIGTERM."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _send(stream: Any, data: bytes) -> None:
    stream.write(_HEADER.pack(len(data)) + data)
    stream.flush()


def _receive(stream: Any) -> bytes:
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        raise EOFError
    (size,) = _HEADER.unpack(header)
    data: bytes = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _run(function: Callable[[Task], Outcome], task: Task) -> _Reply:
    """Do one item, in a worker."""
    try:
        return _Reply("outcome", function(task))
    except OSError as error:
        return _Reply("raised", error)
    except Exception as error:
        text = " ".join(str(error).split())
        return _Reply(
            "lost", f"an unexpected {type(error).__name__}" + (f": {text}" if text else "")
        )


def _serve() -> None:
    """What a worker process does: answer until the parent closes the pipe, or is gone."""
    with os.fdopen(os.dup(0), "rb") as source, os.fdopen(os.dup(1), "wb") as target:
        # Nothing that is printed may get between the answers.
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

        def listen() -> None:
            with contextlib.suppress(EOFError, OSError):
                while True:
                    requests.put(_receive(source))
            # The parent is gone, or wants nothing more; what is half done is of no use.
            os._exit(0)

        threading.Thread(target=listen, daemon=True).start()
        while True:
            try:
                function, task = pickle.loads(requests.get())
            except Exception as error:
                text = f"the worker cannot load what it was given ({error})"
                reply = _Reply("raised", TypeError(text))
            else:
                reply = _run(function, task)
            try:
                data = pickle.dumps(reply)
                pickle.loads(data)
            except Exception as error:
                data = pickle.dumps(_Reply("lost", f"its outcome cannot be sent ({error})"))
            _send(target, data)


# On a cluster.


@contextlib.contextmanager
def _witness(folder: Path) -> Iterator[Path]:
    """A file by which a worker sees that it is on the same folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(_NotKept), atomic_path(folder.absolute() / "witness") as path:
        path.touch()
        yield path
        raise _NotKept


class _NotKept(Exception):
    """Ends the block of `_witness` without leaving a file."""


def _run_remotely(
    place: int, function: Callable[[Any], Any], task: Any, witness: str
) -> tuple[int, _Reply]:
    """Do one item in a child of a cluster's worker, so that the worker outlives a dead decoder."""
    for tries in range(_SEEN_TRIES):
        if not witness or Path(witness).exists():
            break
        if tries == _SEEN_TRIES - 1:
            return place, _Reply("unseen", socket.gethostname())
        time.sleep(0.5)
        with contextlib.suppress(OSError):
            os.listdir(Path(witness).parent)  # noqa: PTH208 - makes the client look anew
    death: _Died | None = None
    for _ in range(2):
        child = getattr(_CHILDREN, "own", None) or _Process()
        _CHILDREN.own = None
        try:
            reply = child.ask(function, task, LIMIT_SECONDS)
        except _Died as error:
            death = error
            continue
        if child.lives:
            _CHILDREN.own = child
        return place, reply
    return place, _Reply("lost", f"the process that worked on it {death}, twice")


_CHILDREN = threading.local()
"""The child of each thread of a cluster's worker; it ends with the worker."""


def _need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        hint = _INSTALL if package == "distributed" else f"{_INSTALL} ray"
        raise EngineError(f"This engine needs {package}, which is not installed: {hint}")


def _start_dask(stack: contextlib.ExitStack, count: int, address: str | None) -> dict[str, Any]:
    """Connect to a dask scheduler, or start a cluster of processes here; joblib's settings."""
    _need("distributed")
    import dask

    distributed: Any = importlib.import_module("distributed")
    address = address or dask.config.get("scheduler-address", None)
    with contextlib.ExitStack() as started, _deaf():
        place: Any = address
        if address is None:
            # Loopback only, and no page: nobody else has any business here.
            # Decoders die in children of the workers; a worker that dies twice means more.
            started.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 1}))
            place = started.enter_context(
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
            client = started.enter_context(distributed.Client(place, set_as_default=False))
            if address is not None:
                client.wait_for_workers(1, timeout=60)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"No dask scheduler with workers answers at {address} ({error}); start it, or "
                "name another with --engine-address."
            ) from error
        stack.enter_context(started.pop_all())
    return {"backend": _dask_backend(client)}


def _dask_backend(client: Any) -> Any:
    """Joblib's backend, mended in two places.

    It waits for ever for an item whose workers have died. And where the cluster has one worker
    left, joblib would work in this process instead.
    """
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        def submit(self, func: Any, callback: Any = None) -> Any:
            future = super().submit(func, callback)

            def fail(done: Any) -> None:
                if callback is not None and done.exception() is not None:
                    callback(_Failure(done.exception()))

            future.add_done_callback(fail)
            return future

        def effective_n_jobs(self, n_jobs: int = 1) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, _Failure):
                raise out.error
            return super().retrieve_result_callback(out)

    return Backend(client=client)


@dataclass(frozen=True)
class _Failure:
    """In place of a result: what became of an item that has none."""

    error: BaseException


def _start_ray(stack: contextlib.ExitStack, count: int, address: str | None) -> dict[str, Any]:
    """Connect to a ray cluster, or start one here; joblib's settings."""
    _need("ray")
    ray: Any = importlib.import_module("ray")
    address = address or os.environ.get("RAY_ADDRESS")
    if not ray.is_initialized():
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address:
            settings["address"] = address
        else:
            # The loopback alone: a scheduler runs whatever it is sent.
            settings.update(num_cpus=count, include_dashboard=False, _node_ip_address="127.0.0.1")
        try:
            ray.init(**settings)
        except Exception as error:  # ray has no narrower class for a cluster that does not start
            what = f"No ray cluster answers at {address}" if address else "Ray does not start here"
            text = " ".join(str(error).split()).rstrip(".")
            raise EngineError(
                f"{what} ({text}); name the address of one that runs with --engine-address."
            ) from error
        stack.callback(ray.shutdown)
    importlib.import_module("ray.util.joblib").register_ray()
    return {"backend": "ray"}
