"""What the numbers over 100,000 items cost: accuracies, paired scores, principles and intervals.

Run: python -m tests.benchmarks.bench_metrics [--items N]

Each is computed in a process of its own, so that its peak memory is its own; that of one which
only makes the items stands in the first line.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.figures import figure, machine, peak_memory
from video_reasoning.metrics.accuracy import accuracy
from video_reasoning.metrics.intervals import (
    accuracy_interval,
    difference_interval,
    mcnemar,
    mean_interval,
    principles_intervals,
)
from video_reasoning.metrics.paired import consistency, score_groups
from video_reasoning.metrics.principles import evaluate_principles

CONDITIONS = {"ordered16": 0.55, "shuffled16": 0.4, "random1": 0.35, "handpicked1": 0.45}


class Items:
    """Drawn items: four conditions, videos with a few questions each, pairs."""

    def __init__(self, n: int) -> None:
        draw = np.random.default_rng(7)
        self.n = n
        self.correct = {
            name: (draw.random(n) < share).astype(float).tolist()
            for name, share in CONDITIONS.items()
        }
        self.first, self.second = self.correct["ordered16"], self.correct["shuffled16"]
        self.videos = [f"video{number}" for number in draw.integers(0, n // 3 + 1, n)]
        self.pairs = [f"pair{number // 2}" for number in range(n)]
        self.chosen = ["ABCDE"[number] for number in draw.integers(0, 5, n)]


# What is computed, and the aim in seconds for 100,000 items.
WORK: dict[str, tuple[Callable[[Items], Any], float | None]] = {
    "the items alone": (lambda items: None, None),
    "accuracy": (lambda items: accuracy(items.first), 0.1),
    "interval of an accuracy, by video": (
        lambda items: accuracy_interval(items.first, items.videos),
        0.5,
    ),
    "paired and unpaired scores": (lambda items: score_groups(items.pairs, items.first), 1),
    "consistency of pairs": (lambda items: consistency(items.pairs, items.chosen), 1),
    "the principles": (lambda items: evaluate_principles(items.correct), 2),
    "McNemar's test": (lambda items: mcnemar(items.first, items.second), 2),
    "bootstrap of a mean": (lambda items: mean_interval(items.first), 2),
    "bootstrap of a mean, by video": (
        lambda items: mean_interval(items.first, clusters=items.videos),
        2,
    ),
    "bootstrap of a difference, by video": (
        lambda items: difference_interval(items.first, items.second, clusters=items.videos),
        2,
    ),
    "bootstrap of the principles, by video": (
        lambda items: principles_intervals(items.correct, dict(enumerate(items.videos))),
        5,
    ),
}


def run(job: tuple[str, int]) -> tuple[float, float]:
    """Seconds of processor time, and the process's peak memory in MiB."""
    name, n = job
    items = Items(n)
    work = WORK[name][0]
    # What is imported at first use is no part of the work.
    work(Items(20))
    begin = time.process_time()
    work(items)
    return time.process_time() - begin, peak_memory()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    arguments = parser.parse_args()
    print(machine())
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name, (_, aim) in WORK.items():
            half, whole = (
                pool.map(run, [(name, n)], chunksize=1)[0]
                for n in (arguments.items // 2, arguments.items)
            )
            seconds, memory = whole
            growth = f", {seconds / half[0]:.1f} times half's" if half[0] > 0.01 else ""
            scaled = None if aim is None else aim * arguments.items / 100_000
            figure(f"{name}, {arguments.items:,} items", seconds, f"s{growth}", most=scaled)
            if aim is None or memory > 200:
                figure("  peak memory", memory, "MiB")


if __name__ == "__main__":
    main()
