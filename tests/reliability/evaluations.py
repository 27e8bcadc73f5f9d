"""Evaluations in processes of their own, which a model of the tests kills, or a check from outside.

A run is one process per rank, all in one group, forked from a server that has imported the harness.
Every request that reaches the model is written down.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TASKS = ("tvbench_tomato_direction", "blackswan_forecaster_gen", "causalvqa_debug")
"""Multiple choice, three sampled responses to each item, and pairs."""


@dataclass(frozen=True)
class Plan:
    """What the model of the tests does.

    Attributes:
        asked: File to which each request is written before it is answered.
        seconds: Time that each response takes.
        kill_after: Kill the whole group after so many responses of rank 0; 0 for never.
        harness_alone: Evaluate as the harness does, without keeping anything.
        batch: Requests that the model answers at a time.
    """

    asked: Path
    seconds: float = 0.0
    kill_after: int = 0
    harness_alone: bool = False
    batch: int = 1


@dataclass
class Evaluation:
    """A run of `lmms_eval` on the sample, in a folder of its own.

    Attributes:
        folder: For results and logs.
        home: The store.
        ranks: Number of processes.
    """

    folder: Path
    home: Path
    ranks: int = 1
    tasks: Sequence[str] = TASKS
    options: Sequence[str] = ()
    processes: list[Any] = field(default_factory=list)

    def start(self, plan: Plan, *more: str) -> None:
        """Starts all ranks."""
        self.folder.mkdir(parents=True, exist_ok=True)
        words = [
            *("--model", "random_choice", "--tasks", ",".join(self.tasks), "--log_samples"),
            *("--output_path", str(self.folder / "results"), *self.options, *more),
        ]
        environment = {
            **os.environ,
            "VIDEO_REASONING_HOME": str(self.home),
            "HF_HOME": str(self.folder / "hf"),
            "OMP_NUM_THREADS": "1",
        }
        if self.ranks > 1:
            environment |= {
                "WORLD_SIZE": str(self.ranks),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(free_port()),
            }
        self.processes = []
        for rank in range(self.ranks):
            own = {"RANK": str(rank), "LOCAL_RANK": str(rank)} if self.ranks > 1 else {}
            group = self.processes[0].pid if self.processes else 0
            process = _server().Process(
                target=_rank, args=(words, self.folder, {**environment, **own}, plan, group)
            )
            process.start()
            self.processes.append(process)

    def wait(self, seconds: float = 600) -> bool:
        """Waits for the end; whether it came."""
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0.0, end - time.monotonic()))
        return all(process.exitcode is not None for process in self.processes)

    def kill(self) -> None:
        """Kills the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.processes[0].pid, signal.SIGKILL)
        self.wait()

    def run(self, plan: Plan, *more: str) -> int:
        """Runs to the end, or until it is killed; the exit code of rank 0."""
        self.start(plan, *more)
        if not self.wait():
            self.kill()
        return int(self.processes[0].exitcode)

    @property
    def output(self) -> str:
        """What the last run printed."""
        files = sorted(self.folder.glob("output-*.txt"))
        return "".join(file.read_text(errors="replace") for file in files)

    def logged(self) -> dict[str, list[dict[str, Any]]]:
        """Task -> the newest sample log, an object for each item."""
        found = {}
        for task in self.tasks:
            files = sorted((self.folder / "results").glob(f"*_samples_{task}.jsonl"))
            if files:
                lines = files[-1].read_text().splitlines()
                found[task] = sorted(map(json.loads, lines), key=lambda line: line["doc_id"])
        return found

    def metrics(self) -> dict[str, dict[str, Any]]:
        """Task -> metric -> value, of the newest results."""
        file = sorted((self.folder / "results").glob("*_results.json"))[-1]
        found: dict[str, dict[str, Any]] = json.loads(file.read_text())["results"]
        return found

    def left(self) -> list[str]:
        """Names of what lies in the folder of results beside results and logs."""
        kept = ("_results.json", ".jsonl", "harness.log")
        files = (self.folder / "results").iterdir()
        return sorted(file.name for file in files if not file.name.endswith(kept))


def asked(plan: Plan) -> Counter[str]:
    """How often each request reached the model."""
    return Counter(plan.asked.read_text().splitlines()) if plan.asked.exists() else Counter()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@cache
def _server() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lmms_eval.evaluator", "tests.reliability.warm"])
    return context


def _rank(
    words: list[str], folder: Path, environment: Mapping[str, str], plan: Plan, group: int
) -> None:
    _join(group)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    rank = environment.get("RANK", "0")
    with (folder / f"output-{rank}.txt").open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    from video_reasoning.tasks import launcher
    from video_reasoning.tasks.models import resuming

    if plan.harness_alone:
        resuming.install = lambda: ""
    _replace_model(plan, rank)
    sys.argv = ["lmms_eval", *words]
    raise SystemExit(launcher.main())


def _join(group: int) -> None:
    """Joins the first process's group, which is there once that process has made it."""
    end = time.monotonic() + 60
    while True:
        try:
            return os.setpgid(0, group)
        except PermissionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _replace_model(plan: Plan, rank: str) -> None:
    from video_reasoning.tasks.models.base import Query
    from video_reasoning.tasks.models.baselines import RandomChoice

    original, answered = RandomChoice.respond, 0

    def respond(self: RandomChoice, query: Query) -> str:
        nonlocal answered
        if plan.kill_after and rank == "0" and answered == plan.kill_after:
            os.killpg(0, signal.SIGKILL)
        line = f"{query.task} {query.doc_id} {query.repeat}\n"
        file = os.open(plan.asked, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, line.encode())
        os.close(file)
        time.sleep(plan.seconds)
        answered += 1
        return original(self, query)

    RandomChoice.respond = respond
    RandomChoice.batch_size = property(lambda self: plan.batch)
