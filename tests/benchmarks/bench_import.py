"""How long the packages take to import and the command takes to answer, in fresh processes.

Run: python -m tests.benchmarks.bench_import [--repeats N]

The least of the repeats counts, as the one least disturbed by other work; the median stands beside.
On a busy machine the clock also counts the waiting, the processors' seconds do not.
"""

from __future__ import annotations

import argparse
import os
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


def cost(command: list[str]) -> tuple[float, float]:
    """Seconds on the clock and of all processors."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed.")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    print(machine())
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in PROGRAMS}
    # In turn, so that what disturbs one disturbs all.
    for _ in range(arguments.repeats):
        for name, (command, _) in PROGRAMS.items():
            measured[name].append(cost(command))
    for name, (_, aim) in PROGRAMS.items():
        clock, work = zip(*measured[name], strict=True)
        median = statistics.median(clock)
        figure(f"{name}, clock", min(clock), f"s, median {median:.2f}", most=aim)
        figure("  processors", min(work), f"s, median {statistics.median(work):.2f}", most=aim)
    every, numpy = (
        min(work for _, work in measured[name])
        for name in ("import all modules of video_reasoning.metrics", "import numpy")
    )
    figure("all modules, processors, less numpy's", every - numpy, "s", most=0.3)
    figure("peak memory of the largest of these", peak_memory(children=True), "MiB")


if __name__ == "__main__":
    main()
