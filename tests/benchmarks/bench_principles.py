"""What the principles over a TVBench of full size cost, start of the harness included.

Run: python -m tests.benchmarks.bench_principles [--questions N] [--model NAME]

Writes a release of 1,484 questions, each with the same generated clip under a name of its own,
prepares it and asks a baseline all questions under the three conditions that need no picks; then
the same with half of them. `random_choice` does not look at what it is shown, so that no clip is
made; `sample_observer` reads every frame.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.bench_prepare import COMMAND, run
from tests.benchmarks.figures import figure, machine
from tests.tasks.releases import tvbench_question, write_tvbench, write_video

HARNESS = str(Path(sys.executable).with_name("lmms_eval"))
TASK = "tvbench_tomato_principles"


def write_release(folder: Path, questions: int) -> Path:
    """The annotations, and one clip of 230 frames linked under every name."""
    rows = {str(number): tvbench_question(key=f"{number:04d}") for number in range(questions)}
    write_tvbench(folder, rows, videos=False)
    clip = write_video(folder / "clip.mp4", 230, 25, (320, 240))
    place = folder / "videos" / "object"
    place.mkdir(parents=True)
    for row in rows.values():
        os.link(clip, place / f"{row['key']}.mp4")
    clip.unlink()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1484)
    parser.add_argument("--model", default="random_choice")
    arguments = parser.parse_args()
    print(machine())
    clocks = []
    with tempfile.TemporaryDirectory() as name:
        for questions in (arguments.questions // 2, arguments.questions):
            folder = Path(name) / str(questions)
            home = folder / "store"
            release = write_release(folder / "release", questions)
            prepared = run([COMMAND, "prepare", "tvbench", "--source", release], home)
            figure(f"prepare, {questions:,} questions", prepared.clock, "s by the clock")
            command = [HARNESS, "--model", arguments.model, "--tasks", TASK]
            asked = run([*command, "--output_path", folder / "results", "--log_samples"], home)
            clocks.append(asked.clock)
            figure(f"{TASK}, {questions:,} questions", asked.clock, "s by the clock")
            figure("  processor time", asked.work, "s")
            figure("  most memory of all processes", asked.memory, "MiB")
    figure("  against half the questions", clocks[1] / clocks[0], "times", most=2.2)


if __name__ == "__main__":
    main()
