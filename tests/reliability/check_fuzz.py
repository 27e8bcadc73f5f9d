"""Random input by the million: no exception, an option or None, no more than linear time.

Run: python -m tests.reliability.check_fuzz [--examples 1000000] [--seed 0] [--patterns 6000]

Prints what was tried and what was lost, and exits with 1 after a loss. One seed always tries the
same inputs, whatever the number of processes; a loss is printed with what shows it again.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.metrics.option_sets import OPTION_SETS
from tests.reliability import random_input
from tests.reliability.random_input import TOKENS, StoreFiles
from video_reasoning.metrics.answers import parse_choice, parse_yes_no
from video_reasoning.tasks.release.records import OddRow, parse_options

SHARES = {"choice": 0.74, "yes or no": 0.1, "cells": 0.1, "metrics": 0.03, "files": 0.03}
"""What part of the examples tries what."""

WHAT = {
    "choice": "responses to options, read twice",
    "yes or no": "responses to yes-no questions, read twice",
    "cells": "cells of annotation tables",
    "metrics": "calls of metrics with odd values",
    "files": "damaged files of a store and of logs",
}

CHUNK = 2000
_SIZES = (2_000, 12_000)
_GROWTH = _SIZES[1] / _SIZES[0]
SLACK = 2.5
"""So many times the growth of the text may the time grow before a pattern is looked at closely."""


@dataclass
class Tally:
    """What one chunk tried, what it cost, and its first losses."""

    kind: str
    tried: int = 0
    seconds: float = 0.0
    losses: list[str] = field(default_factory=list)
    lost: int = 0


def run_chunk(job: tuple[str, int, int, int]) -> Tally:
    """Try one chunk of one kind: (kind, seed, number of the chunk, examples)."""
    kind, seed, chunk, examples = job
    tally = Tally(kind)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        checks: dict[str, Callable[[random.Random], int | None]] = {
            "choice": random_input.check_choice,
            "yes or no": random_input.check_yes_no,
            "cells": random_input.check_cells,
            "metrics": random_input.check_metrics,
        }
        check = checks.get(kind) or StoreFiles(Path(folder)).check
        number = 0
        while tally.tried < examples:
            name = f"{seed} {kind} {chunk} {number}"
            number += 1
            try:
                tally.tried += check(random.Random(name)) or 1
            except Exception as error:
                tally.tried += 1
                tally.lost += 1
                if len(tally.losses) < 3:
                    frame = traceback.extract_tb(error.__traceback__)[-1]
                    where = f"{Path(frame.filename).name}:{frame.lineno}"
                    loss = f"{type(error).__name__} at {where}: {str(error)[:300]}"
                    tally.losses.append(f"{loss} (random.Random({name!r}))")
    tally.seconds = time.process_time() - began
    return tally


# --- Time ---------------------------------------------------------------------------------------


def patterns(seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """(before, repeated, after): every token, every pair, then triples and framed ones by lot."""
    rng = random.Random(f"{seed} patterns")
    given = [*((token,) for token in TOKENS), *itertools.product(TOKENS, repeat=2)]
    if count < len(given):
        given = rng.sample(given, count)
    for pieces in given:
        yield "", _joined(rng, pieces), ""
    for _ in range(count - len(given)):
        before, after = rng.choices((*TOKENS, "", ""), k=2)
        yield before, _joined(rng, rng.choices(TOKENS, k=rng.randint(1, 4))), after


def _joined(rng: random.Random, pieces: Sequence[str]) -> str:
    joint = rng.choice((" ", "", "\n"))
    return joint.join(pieces) + joint


OPTIONS = {name: OPTION_SETS[name] for name in ("nested directions", "sentences", "counts from 1")}


def _readers() -> tuple[tuple[str, Callable[[str], object]], ...]:
    def cell(text: str) -> object:
        try:
            return parse_options(text)
        except OddRow:
            return None

    choices = tuple(
        (f"choice of {name}", lambda text, options=options: parse_choice(text, options))  # type: ignore[misc]
        for name, options in OPTIONS.items()
    )
    return (*choices, ("yes or no", parse_yes_no), ("cell of options", cell))


def _seconds(read: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def _grown(pattern: tuple[str, str, str], size: int) -> str:
    before, repeated, after = pattern
    return f"{before} {repeated * max(1, size // max(1, len(repeated)))} {after}"


@dataclass(frozen=True)
class Timing:
    """How the time for one repeated pattern grows with the text.

    Attributes:
        growth: times the growth of the text by which the time grew: 1 is linear.
        rate: seconds for a megabyte, from the longest text measured.
    """

    growth: float
    rate: float
    reader: str
    pattern: tuple[str, str, str]


def measure(reader: str, read: Callable[[str], object], pattern: tuple[str, str, str]) -> Timing:
    """Time two lengths; where that looks more than linear, longer ones, several times over."""
    short, long = (_grown(pattern, size) for size in _SIZES)
    before = max(min(_seconds(read, short) for _ in range(2)), 5e-5)
    after = _seconds(read, long)
    rate = after / len(long) * 1e6
    growth = after / before / _GROWTH
    if growth > SLACK:
        middle, longest = (_grown(pattern, size) for size in (_SIZES[1], _SIZES[1] * 8))
        before = max(min(_seconds(read, middle) for _ in range(3)), 5e-5)
        after = min(_seconds(read, longest) for _ in range(2))
        growth, rate = after / before / 8, after / len(longest) * 1e6
    return Timing(growth, rate, reader, pattern)


def run_patterns(chosen: list[tuple[str, str, str]]) -> list[Timing]:
    """Time the reading of patterns; each by one of the readers of choices and all others."""
    readers = _readers()
    timings = []
    for place, pattern in enumerate(chosen):
        several = (readers[place % len(OPTIONS)], *readers[len(OPTIONS) :])
        timings += [measure(name, read, pattern) for name, read in several]
    # All above the bar, and the slowest, which main lets grow to a megabyte.
    timings.sort(key=lambda timing: -timing.rate)
    return [t for t in timings if t.growth > SLACK] + timings[:3]


def _show(timing: Timing) -> str:
    before, repeated, after = timing.pattern
    shown = repr(repeated) + (f" between {before!r} and {after!r}" if before or after else "")
    return f"{timing.reader}: {shown}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Try everything; the number of losses decides the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--patterns", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    chosen = parser.parse_args(arguments)
    jobs = [
        (kind, chosen.seed, chunk, min(CHUNK, count - chunk * CHUNK))
        for kind, share in SHARES.items()
        for count in [round(chosen.examples * share)]
        for chunk in range(-(-count // CHUNK))
    ]
    repeated = list(patterns(chosen.seed, chosen.patterns))
    parts = [repeated[start : start + 50] for start in range(0, len(repeated), 50)]
    tried: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    spent: Counter[str] = Counter()
    losses: list[str] = []
    with multiprocessing.get_context("spawn").Pool(chosen.jobs) as pool:
        for tally in pool.imap_unordered(run_chunk, jobs):
            tried[tally.kind] += tally.tried
            lost[tally.kind] += tally.lost
            spent[tally.kind] += tally.seconds  # type: ignore[assignment]
            losses += tally.losses
        timings = [timing for part in pool.imap_unordered(run_patterns, parts) for timing in part]
    print(f"{'inputs':45} {'tried':>10} {'lost':>6} {'CPU':>8}")
    for kind, what in WHAT.items():
        print(f"{what:45} {tried[kind]:10,} {lost[kind]:6,} {spent[kind]:6.0f} s")
    print(f"{'together':45} {tried.total():10,} {lost.total():6,} {sum(spent.values()):6.0f} s")
    for loss in losses[:20]:
        print(f"  lost: {loss}")
    more = sorted({t for t in timings if t.growth > SLACK}, key=lambda t: -t.growth)
    print(f"repeated patterns: {len(repeated):,}, {len(more)} with more than linear time")
    for timing in more[:20]:
        print(f"  {timing.growth:.1f} times the text's growth: {_show(timing)}")
    readers = dict(_readers())
    slowest = sorted(set(timings) - set(more), key=lambda t: -t.rate)[:5]
    for timing in slowest:
        # A machine that is busy for a moment makes one of 30,000 timings slow: once more, in full.
        text = _grown(timing.pattern, 1 << 20)
        seconds = _seconds(readers[timing.reader], text)
        print(f"  slowest: 1 MB in {seconds:5.1f} s of {_show(timing)}")
    return int(bool(lost.total() or more))


if __name__ == "__main__":
    sys.exit(main())
