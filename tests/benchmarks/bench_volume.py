"""What reading many logged items costs: a hundred times of today's benchmarks.

Run: python -m tests.benchmarks.bench_volume [--items N N] [--letters N] [--only STEP ...]

Writes logs of two sizes and reads each in a process of its own: the report, the viewer's items and
the principles over TVBench questions under three frame conditions, the questions of a task once
per condition, and the join of ten models' audits under five conditions. The cost
of one more item is the slope between the sizes.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.audit.logs import line, plan_of
from tests.audit.logs import write_run as write_audited
from tests.benchmarks.figures import figure, machine
from tests.report.runs import each_condition_line, tomato_questions, write_questions, write_run
from video_reasoning.tasks.audit.plan import write_plan

CONDITIONS = ("ordered16", "shuffled16", "random1")
MODELS = 10
TASK = "tvbench_tomato_principles"

_COST = """
import resource, sys
from pathlib import Path
folder = Path(sys.argv[1])
def cost():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
"""

_STEPS = {
    "report": """
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.page import page
before = cost()
page(build([folder / "results"]))
""",
    "view": """
import json
from video_reasoning.tasks.report.viewer.collection import Collection
before = cost()
json.dumps(Collection([folder / "results"]).state().content)
""",
    "principles": """
from video_reasoning.tasks.results.principles import evaluate
before = cost()
evaluate([folder / "results"])
""",
    "questions of a task": """
from datasets import load_dataset
from video_reasoning.tasks.tvbench.principles import principles_docs
files = {"test": str(folder / "store/tvbench/test/questions.parquet")}
given = load_dataset("parquet", data_files=files, cache_dir=str(folder / "cache"))["test"]
before = cost()
principles_docs(given)
""",
    "audit join": """
from video_reasoning.tasks.cli.main import main
import video_reasoning.tasks.audit.evaluate
before = cost()
sys.argv[1:] = ["audit", "join", *map(str, sorted(folder.glob("audit*")))]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
""",
}


def write_logs(folder: Path, items: int, letters: int) -> int:
    """Write a store and a log of the principles; return its number of items."""
    draw = random.Random(0)
    questions = tomato_questions(items // len(CONDITIONS))
    for number, question in enumerate(questions):
        question["video"] = f"videos/{number % 40}.mp4"  # as few are drawn
    file = write_questions(folder / "store", "tvbench", "test", questions)

    response = "Look at <b>this</b>. " * (letters // 20)

    def choose(question: dict[str, Any], condition: str) -> str | None:
        return draw.choice(["A", "A", "C", None])

    def lines() -> Iterator[dict[str, Any]]:
        for number, each in enumerate(each_condition_line(questions, choose, CONDITIONS)):
            each["filtered_resps"] = [f"{response}{number} {each['choice']}"]
            each["accuracy"]["video"] = f"videos/{number // 4}.mp4"  # as many as a release has
            yield each

    write_run(folder / "results", {TASK: lines()}, questions={TASK: file})
    return len(questions) * len(CONDITIONS)


def write_audits(folder: Path, items: int, letters: int) -> int:
    """Write the audits of ten models; return the number of their answers."""
    questions = items // (5 * MODELS)
    for model in range(MODELS):
        place, draw = folder / f"audit{model}", random.Random(model)
        plan = plan_of(place)
        write_plan(place / "tasks" / "plan.json", plan)
        write_audited(
            place / "runs",
            {
                plan.tasks[0].variant_name(variant): [
                    line(row, float(draw.random() < share), video=f"v{row // 3}")
                    for row in range(questions)
                ]
                for variant, share in zip(plan.variants, (0.6, 0.5, 0.4, 0.4, 0.3), strict=True)
            },
        )
    return questions * 5 * MODELS


def measure(step: str, folder: Path) -> tuple[float, float]:
    """Seconds of processors and MiB of one step, without what it imports."""
    code = f"{_COST}{_STEPS[step]}after = cost()\nprint(after[0] - before[0], after[1], before[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        env={**os.environ, "VIDEO_REASONING_HOME": str(folder / "store")},
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, memory, _ = map(float, done.stdout.splitlines()[-1].split())
    return seconds, memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, nargs=2, default=[20_000, 60_000])
    parser.add_argument("--letters", type=int, default=400, help="of a response")
    parser.add_argument("--only", choices=_STEPS, nargs="*", default=list(_STEPS))
    arguments = parser.parse_args()
    print(machine())
    writers: dict[bool, Callable[[Path, int, int], int]] = {False: write_logs, True: write_audits}
    for audits, write in writers.items():
        steps = [step for step in arguments.only if (step == "audit join") is audits]
        found: dict[str, list[tuple[int, float, float]]] = {step: [] for step in steps}
        for size in arguments.items if steps else ():
            with tempfile.TemporaryDirectory() as name:
                items = write(Path(name), size, arguments.letters)
                for step in steps:
                    found[step].append((items, *measure(step, Path(name))))
        for step, ((few, *less), (many, *more)) in found.items():
            seconds, memory = more
            figure(f"{step}, {many:,} items", seconds, "s of CPU")
            figure("  most memory", memory, "MiB")
            slope = (seconds - less[0]) / (many - few)
            figure("  one more item", 1e6 * slope, "µs")
            figure("  one more item", 1024 * (memory - less[1]) / (many - few), "KiB")
            growth = seconds / less[0] / (many / few)
            figure("  time per item against the fewer items", growth, "times", most=1.2)


if __name__ == "__main__":
    main()
