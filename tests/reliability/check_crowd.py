"""Many processes on one store: what is made twice, what is lost, and what stale locks do.

Run as ``python -m tests.reliability.check_crowd [--processes N] [--rounds N]``.
"""

from __future__ import annotations

import argparse
import errno
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import filelock

from tests.reliability import no_flock
from tests.reliability.runs import (
    COMMAND,
    MAKER,
    Running,
    hidden,
    run,
    tree,
    write_event_videos,
    write_release,
)
from video_reasoning.preprocessing import files
from video_reasoning.preprocessing.files import lock, make_once


def same_clips(work: Path, processes: int) -> list[str]:
    """All processes make the same clips in the same folder, at the same time."""
    videos = work / "videos"
    if not videos.exists():
        write_event_videos(videos, 4, seconds=3)
        run([*MAKER, videos, work / "whole"], work / "log")
    whole = tree(work / "whole")
    clips, log = work / "clips", work / "made"
    shutil.rmtree(clips, ignore_errors=True)
    log.unlink(missing_ok=True)
    crowd = [
        Running([*MAKER, videos, clips, log], work / f"log{number}") for number in range(processes)
    ]
    losses = [ended.output for one in crowd if (ended := one.end()).code != 0]
    made = Counter(line.split()[1] for line in log.read_text().splitlines())
    losses += [f"{name} was made {times} times" for name, times in made.items() if times != 1]
    if set(made) != set(whole):
        losses.append(f"{len(made)} clips were made, {len(whole)} are wanted")
    if tree(clips) != whole:
        losses.append("the clips differ from those of one process alone")
    if left := hidden(clips):
        losses.append(f"left over: {left}")
    return losses


def without_flock(work: Path, name: str, processes: int) -> list[str]:
    """The same, on a file system whose `flock` fails; each process may take a few seconds."""
    environment = no_flock.environment(work, getattr(errno, name))
    if environment is None:
        return ["not tried: needs Linux and a C compiler"]
    begin = time.monotonic()
    with mock.patch.dict(os.environ, environment):
        losses = same_clips(work, processes)
    if (seconds := time.monotonic() - begin) > 120:
        losses.append(f"it took {seconds:.0f} s")
    return losses


def killed_holder(work: Path) -> list[str]:
    """The process that holds a lock is killed; the next one must not wait, and tidies up."""
    target = work / "locks" / "clip.mp4"
    holder = multiprocessing.get_context("spawn").Process(target=_hold, args=(target,))
    holder.start()
    signs = work / "locks" / "holding"
    while not signs.exists():
        time.sleep(0.01)
    assert holder.pid is not None
    os.kill(holder.pid, signal.SIGKILL)
    holder.join()
    losses = []
    if not (left := hidden(target.parent)):
        losses.append("the killed process left nothing: nothing was tried")
    begin = time.monotonic()
    make_once(target, lambda temporary: temporary.write_text("whole") and None)
    if time.monotonic() - begin > 5:
        losses.append("the lock of a killed process was waited for")
    if remains := hidden(target.parent):
        losses.append(f"of {left}, {remains} are left")
    return losses


def _hold(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with lock(target), files.atomic_path(target) as temporary:
        temporary.write_text("half")
        (target.parent / "holding").touch()
        time.sleep(600)


def dead_machine(work: Path) -> list[str]:
    """Lock files left by a machine that is gone.

    Where the file system knows locks, the file alone means nothing. Where it does not, the file
    is the lock: it is passed over after `LOCK_TIMEOUT_SECONDS`.
    """
    target = work / "dead" / "clip.mp4"
    target.parent.mkdir()
    stale = target.parent / f".{target.name}.lock"
    stale.write_text("4242\nanother-machine\n")
    begin = time.monotonic()
    make_once(target, lambda temporary: temporary.write_text("whole") and None)
    losses = []
    if time.monotonic() - begin > 5 or stale.exists():
        losses.append("a lock file without a lock held up the work, or stayed")

    target = work / "dead" / "other.mp4"
    stale = target.parent / f".{target.name}.lock-soft"
    for host, patience in (("another-machine", 1.0), (socket.gethostname(), 30.0)):
        stale.write_text(f"{_dead_pid()}\n{host}\n")
        target.unlink(missing_ok=True)
        begin = time.monotonic()
        with (
            mock.patch.object(files.filelock, "FileLock", _NoLocks),
            mock.patch.object(files, "LOCK_TIMEOUT_SECONDS", patience),
        ):
            make_once(target, lambda temporary: temporary.write_text("whole") and None)
        seconds = time.monotonic() - begin
        if host == "another-machine" and not patience <= seconds < patience + 5:
            losses.append(f"the lock of another machine was held for {seconds:.1f} s")
        if host != "another-machine" and seconds > 5:
            losses.append(f"the lock of a dead process of this machine: {seconds:.1f} s")
        stale.unlink(missing_ok=True)
    return losses


class _NoLocks(filelock.FileLock):
    """The lock of a file system that knows none."""

    def _acquire(self) -> None:
        raise NotImplementedError


def _dead_pid() -> int:
    process = multiprocessing.get_context("spawn").Process(target=os.getpid)
    process.start()
    process.join()
    assert process.pid is not None
    return process.pid


def two_commands(
    work: Path, name: str, command: Callable[[Path], list[str | Path]], refusal: str
) -> list[str]:
    """The same command twice at once: one does the work, the other one says so and ends."""
    whole = work / f"{name}-whole"
    if not whole.exists():
        run(command(whole), work / "log")
    out = work / name
    shutil.rmtree(out, ignore_errors=True)
    first = Running(command(out), work / "log1")
    second = Running(command(out), work / "log2")
    ends = [first.end(), second.end()]
    losses = []
    # Where one begins after the other's end, both do all of it.
    for ended in ends:
        if ended.code not in (0, 2) or "Traceback" in ended.output:
            losses.append(f"exit code {ended.code}: {ended.output[-500:]}")
        if ended.code == 2 and refusal not in ended.output:
            losses.append(f"not told that another one works: {ended.output}")
    if all(ended.code for ended in ends):
        losses.append("neither did the work")
    if tree(out) != tree(whole):
        losses.append("the result differs from that of one alone")
    if left := hidden(out):
        losses.append(f"left over: {left}")
    return losses


def prepare_command(release: Path) -> Callable[[Path], list[str | Path]]:
    """`prepare` of a release into a folder."""
    return lambda out: [*COMMAND, "prepare", "blackswan", "--source", release, "--home", out]


def split_command(videos: Path, times: Path) -> Callable[[Path], list[str | Path]]:
    """`split` of a folder into another one."""
    given = ["--videos", videos, "--transition-times", times]
    return lambda out: [*COMMAND, "split", *given, "--out", out]


def main() -> None:
    """Runs the check and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    losses: list[str] = []

    def show(label: str, found: list[str]) -> None:
        print(f"{label:58} {'lost' if found else 'held'}", flush=True)
        for loss in found:
            print(f"    {loss}")
        losses.extend(found)

    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for number in range(options.rounds):
            label = f"{options.processes} processes make the same 18 clips, round {number + 1}"
            show(label, same_clips(work, options.processes))
        for error in ("ENOSYS", "ENOLCK", "EOPNOTSUPP", "EINVAL", "EIO"):
            label = f"the same clips, where flock answers {error}"
            show(label, without_flock(work, error, options.processes))
        show("a lock whose holder was killed", killed_holder(work))
        show("lock files of a dead machine", dead_machine(work))
        release = write_release(work / "release")
        times = write_event_videos(work / "falls", 4)
        for _ in range(max(1, options.rounds // 2)):
            found = two_commands(
                work, "prepare", prepare_command(release), "Another process is preparing"
            )
            show("two `prepare` at once on one store", found)
            split = split_command(work / "falls", times)
            found = two_commands(work, "split", split, "Another process is splitting")
            show("two `split` at once on one folder", found)
    sys.exit(1 if losses else 0)


if __name__ == "__main__":
    main()
