"""Evaluations that are killed at random moments, and the logs with which they end.

Run as ``python -m tests.reliability.check_evaluations [--kills N] [--minutes M] [--seed N]``. It
evaluates the sample benchmark, kills the whole process group (SIGKILL) at moments drawn from the
time in which the model is asked, and starts the same command again until it comes to its end; with
one process and with two in turn, and with batches of one and of four requests.

Each sample log must then be that of the harness alone, uninterrupted, item by item, and so must
the numbers of the results; nothing may be left beside them. A kill may make the model answer one
batch a second time, in each process, and no more; the sampled responses to one question are in one
batch.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability.evaluations import Evaluation, Plan, asked

SAMPLED = 3
"""Most responses that a task asks for to one question."""

SECONDS = 0.05
"""Time that the model takes for a response, so that most kills meet it at work."""


@dataclass
class Count:
    """What was tried."""

    kills: int = 0
    at_work: int = 0
    chains: int = 0
    twice: int = 0
    losses: list[str] = field(default_factory=list)


def chain(count: Count, whole: Evaluation, folder: Path, plan: Plan, draw: random.Random) -> None:
    """Kills one evaluation several times, then lets it come to its end."""
    ranks = 1 + count.chains % 2
    killed = Evaluation(folder, whole.home, ranks)
    count.chains += 1
    requests, kills, ended = sum(asked(Plan(whole.folder / "asked")).values()), 0, False
    for _ in range(draw.randint(2, 6)):
        before = sum(asked(plan).values())
        killed.start(plan)
        # From the first request on, the moment is random; until then the harness starts.
        end = time.monotonic() + 600
        while sum(asked(plan).values()) == before and not killed.wait(0.05):
            if time.monotonic() > end:
                count.losses.append(f"nothing happens: {killed.output[-500:]}")
                break
        ended = killed.wait(draw.uniform(0, 0.5 * requests * SECONDS / ranks))
        if ended:
            break
        killed.kill()
        kills += 1
        count.at_work += sum(asked(plan).values()) > before
    count.kills += kills
    # An evaluation that has ended forgets its responses; the command would ask for all again.
    code = int(killed.processes[0].exitcode) if ended else killed.run(plan)
    times = asked(plan)
    again = sum(times.values()) - len(times)
    count.twice += again
    if code:
        count.losses.append(f"exit code {code}: {killed.output[-500:]}")
    if killed.logged() != whole.logged():
        count.losses.append(f"{folder}: the sample logs differ")
    if ranks == 1 and killed.metrics() != whole.metrics():
        count.losses.append(f"{folder}: the results differ")
    if killed.left():
        count.losses.append(f"{folder}: left over: {killed.left()}")
    if again > (plan.batch + SAMPLED - 1) * ranks * kills:
        count.losses.append(f"{folder}: {again} requests were asked again")


def main() -> int:
    """Kills evaluations and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=60.0, help="end after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--store", type=Path, help="a store with the sample benchmark")
    given = parser.parse_args()
    end, draw = time.monotonic() + 60 * given.minutes, random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="video-reasoning-") as temporary:
        work = Path(temporary)
        home = given.store or _sample(work / "sample")
        whole = Evaluation(work / "whole", home)
        if whole.run(Plan(work / "whole/asked", harness_alone=True)):
            print(whole.output[-2000:], file=sys.stderr)
            return 1
        count = Count()
        while count.kills < given.kills and time.monotonic() < end:
            folder = work / f"killed{count.chains}"
            batch = 1 if count.chains % 4 < 2 else 4
            chain(count, whole, folder, Plan(folder / "asked", SECONDS, batch=batch), draw)
            print(
                f"{count.kills} kills ({count.at_work} while the model was asked) of "
                f"{count.chains} evaluations, {count.twice} requests asked again, "
                f"{len(count.losses)} losses",
                flush=True,
            )
    for loss in count.losses:
        print(f"LOST {loss}")
    return 1 if count.losses else 0


def _sample(folder: Path) -> Path:
    from video_reasoning.tasks.prepare.build import prepare
    from video_reasoning.tasks.sample import write_releases

    write_releases(folder, workers=2)
    for benchmark in ("blackswan", "tvbench", "causalvqa"):
        prepare(benchmark, folder / "releases" / benchmark, store_home=folder / "store")
    return folder / "store"


if __name__ == "__main__":
    raise SystemExit(main())
