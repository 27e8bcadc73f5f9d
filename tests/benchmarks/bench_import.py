"""How long the packages take to import and the command takes to answer, in fresh processes.

Run: python -m tests.benchmarks.bench_import [--repeats N]

The least of the repeats counts, as the one least disturbed by other work; the median stands beside.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.figures import figure, machine, peak_memory

METRICS = ("accuracy", "answers", "generation", "intervals", "models", "paired", "principles")
COMMAND = Path(sys.executable).with_name("video-reasoning")

PROGRAMS: dict[str, tuple[list[str], float | None]] = {
    "python itself": ([sys.executable, "-c", "pass"], None),
    "import numpy": ([sys.executable, "-c", "import numpy"], None),
    "import video_reasoning.metrics": (
        [sys.executable, "-c", "import video_reasoning.metrics"],
        0.3,
    ),
    "import video_reasoning.metrics.answers": (
        [sys.executable, "-c", "import video_reasoning.metrics.answers"],
        0.3,
    ),
    "import all modules of video_reasoning.metrics": (
        [
            sys.executable,
            "-c",
            "import " + ", ".join(f"video_reasoning.metrics.{name}" for name in METRICS),
        ],
        None,
    ),
    "video-reasoning --help": ([str(COMMAND), "--help"], 1.0),
}


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    print(machine())
    measured: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    # In turn, so that what disturbs one disturbs all.
    for _ in range(arguments.repeats):
        for name, (command, _) in PROGRAMS.items():
            measured[name].append(seconds(command))
    for name, (_, aim) in PROGRAMS.items():
        median = statistics.median(measured[name])
        figure(name, min(measured[name]), f"s (median {median:.2f})", most=aim)
    own = min(measured["import all modules of video_reasoning.metrics"])
    figure("  of which without numpy", own - min(measured["import numpy"]), "s", most=0.3)
    figure("peak memory of the largest of these", peak_memory(children=True), "MiB")


if __name__ == "__main__":
    main()
