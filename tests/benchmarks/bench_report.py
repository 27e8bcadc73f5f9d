"""What a report and a viewer over many logged items cost in time, memory and size.

Run: python -m tests.benchmarks.bench_report [--items 10000] [--response 2000]

Writes a store and a log with that many items (60% TVBench questions under three frame conditions,
40% CausalVQA pairs) and responses of about that many characters, then builds the page in a
separate process.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.report.runs import (
    causal_lines,
    causal_questions,
    condition_lines,
    tomato_questions,
    write_questions,
    write_run,
)

CONDITIONS = ("ordered16", "shuffled16", "random1")
BUILD = """
import resource, sys
from pathlib import Path
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.page import page
text = page(build([Path(sys.argv[1])]))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, len(text.encode()) / 1e6)
"""

VIEW = """
import json, resource, sys
from pathlib import Path
from video_reasoning.tasks.report.viewer.collection import Collection
text = json.dumps(Collection([Path(sys.argv[1])]).state().content)
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, len(text.encode()) / 1e6)
"""


def write_items(folder: Path, items: int, letters: int) -> int:
    """Write a store and a log; return its number of items."""
    draw = random.Random(0)
    asked = {
        "tvbench_tomato_principles": tomato_questions(items * 6 // 10 // len(CONDITIONS)),
        "causalvqa_debug": causal_questions(items * 4 // 10 // 2),
    }
    files = {}
    for task, questions in asked.items():
        benchmark = task.partition("_")[0]
        for number, question in enumerate(questions):
            question["video"] = f"videos/{number % 40}.mp4"
        split = "test" if benchmark == "tvbench" else "debug"
        files[task] = write_questions(folder / "store", benchmark, split, questions)

    def choose(question: dict[str, Any], *_: str) -> str | None:
        return draw.choice([question["answer"], question["answer"], "C", None])

    tomato, causal = asked.values()
    tasks = {
        "tvbench_tomato_principles": condition_lines(tomato, choose, CONDITIONS),
        "causalvqa_debug": causal_lines(causal, choose),
    }
    for lines in tasks.values():
        for number, line in enumerate(lines):
            line["filtered_resps"] = [
                "Look at <b>this</b>. " * (letters // 20) + str(line["choice"])
            ]
            line["accuracy"]["video"] = f"videos/{number // 4}.mp4"  # as many as a release has
    write_run(folder / "results", tasks, questions=files)
    return sum(map(len, tasks.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--response", type=int, default=2_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_items(folder, arguments.items, arguments.response)
        for script, what in ((BUILD, "a page"), (VIEW, "the viewer's items")):
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", script, str(folder / "results")],
                env={**os.environ, "VIDEO_REASONING_HOME": str(folder / "store")},
                check=True,
                capture_output=True,
                text=True,
            )
            seconds = time.perf_counter() - begin
            cpu, memory, size = map(float, done.stdout.split())
            print(
                f"{count:,} items: {seconds:.1f} s ({cpu:.1f} s of CPU), at most {memory:.0f} MiB "
                f"of memory, {what} of {size:.2f} MB"
            )


if __name__ == "__main__":
    main()
