"""Running the whole harness in processes of their own.

Starting the harness takes 10 s of imports. A server process that has done them once forks a fresh
process for each run; a run with a launcher of its own starts from nothing, as a user's does.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.reliability.evaluations import free_port

THREE_TASKS = "blackswan_detective_mcq,tvbench_tomato_direction,causalvqa_debug"


@dataclass(frozen=True)
class Run:
    """What a run of the harness left."""

    returncode: int
    output: str
    folder: Path
    home: Path

    @property
    def results(self) -> dict[str, dict[str, Any]]:
        """Task -> metric -> value, without the filter's name."""
        (path,) = self.folder.rglob("*_results.json")
        loaded = json.loads(path.read_text())["results"]
        return {
            task: {name.removesuffix(",none"): value for name, value in metrics.items()}
            for task, metrics in loaded.items()
        }

    def samples(self, task: str) -> list[dict[str, Any]]:
        """The logged samples of a task, each with its row of the questions as `doc`."""
        (path,) = self.folder.rglob(f"*_samples_{task}.jsonl")
        logged = [json.loads(line) for line in path.read_text().splitlines()]
        questions = {
            row["id"]: row
            for file in self.home.glob("*/*/questions.parquet")
            for row in pq.read_table(file).to_pylist()
        }
        return [{**sample, "doc": questions[sample["id"]]} for sample in logged]


Harness = Callable[..., Run]


def run_harness(
    folder: Path,
    *arguments: str,
    home: Path,
    launcher: tuple[str, ...] = (),
    module: str = "video_reasoning.tasks.launcher",
    ranks: int = 1,
    **environment: str,
) -> Run:
    """Runs `lmms_eval` (or another launcher) on a store, from a folder that is not ours.

    With several ranks it is started as `torchrun` starts it, whose variables tell each process
    which one it is.
    """
    results = folder / "results"
    words = [*arguments, "--output_path", str(results), "--log_samples"]
    variables = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        "VIDEO_REASONING_HOME": str(home),
        "HF_HOME": str(folder / "hf"),
        "OMP_NUM_THREADS": "1",
        **environment,
    }
    if launcher:
        result = subprocess.run(
            [*launcher, *words],
            env=variables,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return Run(result.returncode, result.stdout, results, home)
    if ranks == 1:
        return Run(*forked(module, words, folder, variables), results, home)
    together = {
        "WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    each = [
        {**variables, **together, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        for rank in range(ranks)
    ]
    return Run(*forked(module, words, folder, *each), results, home)


def forked(
    module: str, words: list[str], folder: Path, *environments: Mapping[str, str]
) -> tuple[int, str]:
    """Calls a module's `main` in a process that has the harness imported, one per environment.

    Returns:
        The first exit code that is not 0, or 0, and what was printed.
    """
    processes, outputs = [], []
    for number, environment in enumerate(environments):
        outputs.append(folder / f"output-{number}.txt")
        arguments = (module, words, folder, environment, outputs[-1])
        processes.append(_server().Process(target=_main, args=arguments))
        processes[-1].start()
    end = time.monotonic() + 600
    for process in processes:
        process.join(timeout=max(0.0, end - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join()
    codes = [process.exitcode for process in processes if process.exitcode]
    printed = "".join(output.read_text(errors="replace") for output in outputs)
    return (codes[0] if codes else 0), printed


@cache
def _server() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lmms_eval.evaluator", "tests.reliability.warm"])
    return context


def _main(
    module: str, words: list[str], folder: Path, environment: Mapping[str, str], output: Path
) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    with output.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    sys.argv = [module, *words]
    # An exit code, or an error whose traceback multiprocessing prints.
    raise SystemExit(importlib.import_module(module).main())


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """Runs the harness in the test's own folder."""
    return partial(run_harness, tmp_path)


@pytest.fixture(autouse=True)
def _sample_at_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads a run in this process finds the store that the run has read."""
    if "sample_store" in request.fixturenames:
        home = request.getfixturevalue("sample_store")
        monkeypatch.setenv("VIDEO_REASONING_HOME", str(home))
