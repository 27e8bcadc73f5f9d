"""Commands that are killed at random moments, and what is left of their work.

Run as ``python -m tests.reliability.check_kills [--kills N] [--seed N]``. It

- kills the whole process group (SIGKILL) of `prepare` (of a folder, and of an archive), of `split`
  and of a process that makes clips, at moments drawn from the length of an uninterrupted run, and
  starts them again on the same folder until they come to their end;
- kills single workers, and lets a video crash the decoder;
- sends SIGINT and SIGTERM to the whole group of `prepare`, `split`, `sample` and `report`.

After each kill every file under a final name must be whole, that is equal to the one of the
uninterrupted run; in the end the trees must be equal, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.reliability.runs import (
    COMMAND,
    MAKER,
    Running,
    half_written,
    hidden,
    run,
    tree,
    tree_hash,
    write_event_videos,
    write_release,
)

SIGNALS = {signal.SIGINT: "interrupted.", signal.SIGTERM: "ended by SIGTERM."}


@dataclass
class Subject:
    """Work that is killed.

    Attributes:
        name: What the table calls it.
        command: The command line without the folder that it writes.
        option: What stands before that folder.
        written: Where below the folder its files lie.
    """

    name: str
    command: Sequence[str | Path]
    option: str = ""
    written: str = "."
    whole: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def line(self, out: Path) -> list[str | Path]:
        """The command line that writes to a folder."""
        return [*self.command, *([self.option] if self.option else []), out]


@dataclass
class Count:
    """What was tried on one subject."""

    kills: int = 0
    starts: int = 0
    chains: int = 0
    losses: list[str] = field(default_factory=list)


def measure(subject: Subject, work: Path) -> None:
    """The uninterrupted run: what it writes, and how long it takes."""
    ended = run(subject.line(work / "whole"), work / "log")
    if ended.code != 0:
        raise RuntimeError(f"{subject.name}: {ended.output}")
    subject.whole = tree(work / "whole")
    subject.seconds = ended.seconds


def kill_and_resume(subject: Subject, work: Path, kills: int, draw: random.Random) -> Count:
    """Kills one store again and again until it is complete; then the next one."""
    count = Count()
    while count.kills < kills:
        count.chains += 1
        out = work / f"out{count.chains}"
        while True:
            count.starts += 1
            running = Running(subject.line(out), work / "log")
            # The first three kills of a store are spread over the whole run; then the rest of
            # the work gets the time that it needs.
            share = 1.0 if count.starts % 6 else 3.0
            if running.wait(draw.uniform(0, subject.seconds * share)):
                ended = running.end()
                if ended.code != 0:
                    count.losses.append(f"exit code {ended.code}: {ended.output[-500:]}")
                break
            running.send(signal.SIGKILL)
            running.end()
            count.kills += 1
            if found := running.survivors():
                count.losses.append(f"processes are left: {found}")
            count.losses += [f"half-written: {name}" for name in half_written(out, subject.whole)]
        if tree(out) != subject.whole:
            count.losses.append(f"{out} differs from the uninterrupted run")
        if subject.option and (left := hidden(out)):
            count.losses.append(f"left over: {left}")
        shutil.rmtree(out)
    return count


def kill_workers(subject: Subject, work: Path, kills: int, draw: random.Random) -> Count:
    """Kills single workers, as the system does where memory ends."""
    count = Count()
    while count.kills < kills:
        count.chains += 1
        count.starts += 1
        out = work / f"workers{count.chains}"
        running = Running(subject.line(out), work / "log")
        begin, own = time.perf_counter(), 0
        while not running.wait(draw.uniform(0.3, 1.0)):
            workers = running.workers()
            # Twice the same item would rightly be given up: one kill at a time, few a run.
            if workers and own < 2 and time.perf_counter() - begin < 0.7 * subject.seconds:
                try:
                    os.kill(draw.choice(workers), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                own += 1
                count.kills += 1
        ended = running.end()
        if ended.code != 0 or "Traceback" in ended.output:
            count.losses.append(f"exit code {ended.code}: {ended.output[-500:]}")
        if tree(out) != subject.whole:
            count.losses.append(f"{out} differs from the uninterrupted run")
        shutil.rmtree(out)
    return count


def poison(work: Path) -> Count:
    """Videos that crash the decoder, hang in it or break it, each in the same run as good ones."""
    from tests.reliability import poison
    from video_reasoning.preprocessing import children
    from video_reasoning.preprocessing.split import folder as split
    from video_reasoning.tasks.prepare import build as prepare

    count = Count(kills=6, starts=2)
    release = write_release(work / "poisoned")
    limit, children.LIMIT_SECONDS = children.LIMIT_SECONDS, 8.0
    check_video, prepare.check_video = prepare.check_video, poison.check_video
    try:
        manifest = prepare.prepare("blackswan", release, store_home=work / "poison", workers=2)
    finally:
        children.LIMIT_SECONDS, prepare.check_video = limit, check_video
    told = {entry["id"]: entry["reason"] for entry in manifest["splits"]["validation"]["missing"]}
    for text in ("died (SIGABRT), twice", "not done after 8 s", "ZeroDivisionError"):
        if sum(text in reason for reason in told.values()) != 1:
            count.losses.append(f"'{text}' is not told of just one question: {told}")
    if len(told) != 3:
        count.losses.append(f"three questions must miss their video: {told}")

    times = write_event_videos(work / "poisoned-falls", 3)
    job, split._split_job = split._split_job, poison.split_one
    try:
        records = split.split_folder(work / "poisoned-falls", times, work / "cut", workers=2)
    finally:
        split._split_job = job
    if [record.status for record in records] != ["split", "discarded", "split"]:
        count.losses.append(f"of three videos the second one is lost: {records}")
    again = split.split_folder(work / "poisoned-falls", times, work / "cut", workers=2)
    if [record.status for record in again] != ["split"] * 3:
        count.losses.append("the next run does not try the lost one again")
    return count


def interrupt(
    name: str,
    command: Sequence[str | Path],
    seconds: float,
    work: Path,
    times: int,
    draw: random.Random,
    fresh: Path | None = None,
) -> Count:
    """Sends SIGINT or SIGTERM to the group, and reads what the command says."""
    count = Count()
    scratch = work / "tmp"
    for position in range(times):
        if fresh is not None:
            shutil.rmtree(fresh, ignore_errors=True)
        scratch.mkdir(exist_ok=True)
        number = list(SIGNALS)[position % 2]
        running = Running(command, work / "log", TMPDIR=str(scratch))
        count.starts += 1
        # Python itself takes some 0.1 s before the first line of the command is run.
        if running.wait(draw.uniform(0.3, max(0.5, seconds))):
            ended = running.end()
            if ended.code != 0:
                count.losses.append(f"{name}: exit code {ended.code}: {ended.output[-300:]}")
            continue
        running.send(number)
        ended = running.end(60)
        count.kills += 1
        lines = [line for line in ended.output.splitlines() if line.startswith("video-reasoning:")]
        finished = ended.code == 0 and "Traceback" not in ended.output
        told = len(lines) == 1 and SIGNALS[number] in lines[0]
        if not finished and (ended.code != 128 + number or not told):
            count.losses.append(f"{name}: exit code {ended.code}: {ended.output[-700:]}")
        if "Traceback" in ended.output or "resource_tracker" in ended.output:
            count.losses.append(f"{name}: {ended.output[-1500:]}")
        if found := running.survivors():
            count.losses.append(f"{name}: processes are left: {found}")
        if left := [path.name for path in scratch.iterdir()]:
            count.losses.append(f"{name}: left in the folder for temporary files: {left}")
            shutil.rmtree(scratch)
    return count


def subjects(work: Path, releases: Path | None) -> list[Subject]:
    """What is killed: `prepare` of releases and of an archive, `split`, the making of clips."""
    if releases is None:
        write_release(work / "releases/blackswan")
        found = [work / "releases/blackswan"]
    else:
        found = [releases / name for name in ("blackswan", "tvbench", "causalvqa")]
    last = found[-1]
    archive = shutil.make_archive(str(work / last.name), "gztar", last)
    times = write_event_videos(work / "falls")
    split = [*COMMAND, "split", "--videos", work / "falls", "--transition-times", times]
    return [
        *(
            Subject(
                f"prepare {release.name}",
                [*COMMAND, "prepare", release.name, "--source", release],
                "--home",
            )
            for release in found
        ),
        Subject(
            f"prepare {last.name}, archive",
            [*COMMAND, "prepare", last.name, "--source", archive],
            "--home",
        ),
        Subject("split", split, "--out"),
        Subject("clip making", [*MAKER, work / "falls"]),
    ]


def main() -> None:
    """Runs the check and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="SIGKILLs of whole groups, in all")
    parser.add_argument("--signals", type=int, default=40, help="SIGINT and SIGTERM, in all")
    parser.add_argument("--worker-kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--small", action="store_true", help="a small release in place of the sample benchmark"
    )
    parser.add_argument("--releases", type=Path, help="the sample's releases, drawn before")
    options = parser.parse_args()
    # A background shell ignores Ctrl-C, and the commands would, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        releases = options.releases and options.releases.absolute()
        if releases is None and not options.small:
            from video_reasoning.tasks.sample import write_releases

            write_releases(work / "sample")
            releases = work / "sample/releases"
        losses = check(work, releases, options.kills, options.worker_kills, options.signals, draw)
    sys.exit(1 if losses else 0)


def check(
    work: Path,
    releases: Path | None,
    kills: int,
    worker_kills: int,
    signals: int,
    draw: random.Random,
) -> list[str]:
    """Everything; gives the losses."""
    losses: list[str] = []
    print(f"{'':28}{'kills':>6}{'starts':>8}{'folders':>9}{'losses':>8}  hash of the whole")

    def show(label: str, count: Count, digest: str = "") -> None:
        row = (count.kills, count.starts, count.chains or "-", len(count.losses))
        print(f"{label:28}{row[0]:6}{row[1]:8}{row[2]:>9}{row[3]:8}  {digest}", flush=True)
        losses.extend(count.losses)
        for loss in count.losses[:5]:
            print(f"    {loss}")

    tried = subjects(work, releases)
    for position, subject in enumerate(tried):
        place = work / f"subject{position}"
        place.mkdir()
        measure(subject, place)
        share = kills // len(tried) + (position < kills % len(tried))
        count = kill_and_resume(subject, place, share, draw)
        show(f"{subject.name} ({subject.seconds:.1f} s)", count, tree_hash(place / "whole"))
    for position in (0, len(tried) - 2):
        subject, place = tried[position], work / f"subject{position}"
        count = kill_workers(subject, place, worker_kills // 2, draw)
        show(f"one worker of {subject.name}", count)
    show("the decoder crashes, hangs", poison(work))
    plans = interruptible(work, tried)
    for label, command, seconds, fresh in plans:
        place = work / "signals"
        place.mkdir(exist_ok=True)
        show(
            f"Ctrl-C, SIGTERM: {label}",
            interrupt(label, command, seconds, place, max(1, signals // len(plans)), draw, fresh),
        )
    return losses


def interruptible(
    work: Path, tried: Sequence[Subject]
) -> list[tuple[str, list[str | Path], float, Path | None]]:
    """Commands to interrupt: name, command line, length in seconds, folder to empty before."""
    out = work / "interrupted"
    prepare, split = tried[0], tried[-2]
    plans: list[tuple[str, list[str | Path], float, Path | None]] = [
        ("prepare", prepare.line(out), prepare.seconds, out),
        ("split", split.line(out), split.seconds, out),
        ("sample", [*COMMAND, "sample", "--out", out], 8.0, out),
    ]
    results = write_results(work / "results")
    plans.append(
        ("report", [*COMMAND, "report", results, "--out", work / "report.html"], 3.0, None)
    )
    return plans


def write_results(folder: Path) -> Path:
    """A finished run, for the report."""
    from tests.report.runs import causal_lines, causal_questions
    from tests.tasks.harness_logs import write_run

    write_run(folder, {"causalvqa_debug": causal_lines(causal_questions(20), lambda question: "A")})
    return folder


if __name__ == "__main__":
    main()
