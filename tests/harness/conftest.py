"""Running the whole harness in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

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
    launcher: tuple[str, ...] = (sys.executable, "-m", "video_reasoning.tasks"),
    **environment: str,
) -> Run:
    """Runs `lmms_eval` (or another launcher) on a store, from a folder that is not ours."""
    results = folder / "results"
    result = subprocess.run(
        [*launcher, *arguments, "--output_path", str(results), "--log_samples"],
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
            "VIDEO_REASONING_HOME": str(home),
            "HF_HOME": str(folder / "hf"),
            "OMP_NUM_THREADS": "1",
            **environment,
        },
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
        check=False,
    )
    return Run(result.returncode, result.stdout, results, home)


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """Runs the harness in the test's own folder."""
    return partial(run_harness, tmp_path)
