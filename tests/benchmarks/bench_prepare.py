"""What `prepare` costs over a release of BlackSwanSuite's size, and over half of it.

Run: python -m tests.benchmarks.bench_prepare [--videos N] [--workers N] [--profile]

Writes a release of 1,655 videos in BlackSwanSuite's layout: the beginning and the end of each,
small clips of which each file differs from the others, and one Detective question each. So
`prepare` reads 1,655 rows, decodes 3,310 files and joins 1,655 clips around black frames. A second
run finds all of that done.
"""

from __future__ import annotations

import argparse
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.figures import MEBIBYTE, figure, machine, processor_time
from tests.tasks.releases import blackswan_row, write_blackswan, write_video

COMMAND = str(Path(sys.executable).with_name("video-reasoning"))


@dataclass
class Cost:
    """Seconds on the clock and of all processors, and most memory of all processes together."""

    clock: float
    work: float
    memory: float


def write_release(folder: Path, videos: int) -> Path:
    """The release; files differ by a box of their own that players skip."""
    rows = [
        blackswan_row(
            q_id=number,
            preevent_file_name=f"videos/{number}_A_preevent.mp4",
            postevent_file_name=f"videos/{number}_C_postevent.mp4",
        )
        for number in range(videos)
    ]
    write_blackswan(folder, rows, parts=())
    (folder / "videos").mkdir()
    for letter, name, frames in (("A", "preevent", 40), ("C", "postevent", 48)):
        original = write_video(folder / f"{name}.mp4", frames, 10, (320, 240))
        content = original.read_bytes()
        original.unlink()
        for number in range(videos):
            box = struct.pack(">I4sQ", 16, b"free", number)
            (folder / "videos" / f"{number}_{letter}_{name}.mp4").write_bytes(content + box)
    return folder


def run(command: Sequence[str | Path], home: Path) -> Cost:
    """Run a command to its end, in a session of its own, and watch what all of it takes."""
    before = processor_time(children=True)
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*map(str, command)],
        env={**os.environ, "VIDEO_REASONING_HOME": str(home), "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    most = [0.0]
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.25):
            most[0] = max(most[0], _memory_of_session(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, complaints = process.communicate()
    ended.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed: {complaints.decode()[-500:]}")
    return Cost(time.perf_counter() - begin, processor_time(children=True) - before, most[0])


def _memory_of_session(session: int) -> float:
    """Memory of all processes of a session in MiB, what they share counted once (Linux)."""
    total = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if int((place / "stat").read_text().rpartition(")")[2].split()[3]) != session:
                continue
            for line in (place / "smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
        except (OSError, ValueError):
            continue  # it has just ended
    return total / MEBIBYTE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--videos", type=int, default=1655)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--profile", action="store_true", help="print where the first process is")
    arguments = parser.parse_args()
    print(machine())
    workers = [] if arguments.workers is None else ["--workers", str(arguments.workers)]
    costs = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for videos in (arguments.videos // 2, arguments.videos):
            release = write_release(folder / f"release{videos}", videos)
            home = folder / f"store{videos}"
            command = [COMMAND, "prepare", "blackswan", "--source", release, *workers]
            if arguments.profile:
                report = folder / "profile"
                command[:1] = [sys.executable, "-m", "cProfile", "-o", report, COMMAND]
            costs.append(run(command, home))
        again = run(command, home)
        if arguments.profile:
            import pstats

            pstats.Stats(str(report)).sort_stats("cumulative").print_stats(40)
    half, whole = costs
    figure(f"prepare, {arguments.videos // 2:,} videos", half.clock, "s by the clock")
    figure(f"prepare, {arguments.videos:,} videos", whole.clock, "s by the clock")
    figure("  processor time", whole.work, "s")
    figure("  of one video", whole.work / arguments.videos * 1000, "ms")
    # 2 is what is paid for videos alone; less, as starting costs the same for both.
    figure("  against half the videos, by the clock", whole.clock / half.clock, "times", most=2.2)
    figure("  most memory of all processes", whole.memory, "MiB")
    figure("  once more, with everything there", again.clock, "s by the clock")
    figure("  its processor time", again.work, "s")


if __name__ == "__main__":
    main()
