"""Frames by their number, and as pictures for people."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from tests.preprocessing.conftest import read_number, write_video
from video_reasoning.preprocessing import frames
from video_reasoning.preprocessing.frames import (
    NumberedFrames,
    count_frames,
    jpeg,
    read_frames,
)
from video_reasoning.preprocessing.video import VideoError, open_video


def number(image: Image.Image) -> int:
    return read_number(np.asarray(image.convert("L")))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.mp4", {}),
        ("b.mp4", {"options": {"bf": "3", "b-pyramid": "normal"}}),
        ("a.gif", {"codec": "gif", "pixel_format": "gray", "rate": 10, "options": {}}),
        ("a.avi", {"codec": "mpeg4", "options": {}}),
    ],
)
def test_frames_are_those_asked_for(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    path = write_video(tmp_path / name, 40, **options)
    read = read_frames(path, lambda n: [n - 1, 0, 7, 7], number)
    assert read.n_frames == count_frames(path) == 40
    assert read.pictures == read.indices == (39, 0, 7, 7)
    rate = options.get("rate", 25)
    assert read.seconds == tuple(round(index / rate, 3) for index in read.indices)


def test_a_wrong_count_is_corrected_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_video(tmp_path / "a.mp4", 12)
    video = NumberedFrames(path)
    video._times, video.seconds = list(range(-1, -21, -1)), [0.0] * 20
    assert set(video.read(lambda n: [n - 1], lambda frame: None)) == {11}
    video._times, video.seconds = None, [0.0] * 20
    monkeypatch.setattr(video, "recount", lambda: None)
    with pytest.raises(VideoError, match="another number"):
        video.read(lambda n: [n - 1], lambda frame: None)


@pytest.mark.parametrize("function", [count_frames, lambda path: read_frames(path, range, jpeg)])
def test_a_broken_video_is_an_error(tmp_path: Path, function: Callable[[Path], Any]) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"a text")
    with pytest.raises(VideoError, match="cannot be decoded"):
        function(path)


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_turned_videos_are_upright(angle: int, rotated: Callable[[int], Path]) -> None:
    capture = cv2.VideoCapture(str(rotated(angle)))
    expected = [capture.read()[1][..., 0] for _ in range(12)]
    read = read_frames(rotated(angle), lambda _: [3, 11], lambda image: image.convert("L"))
    for index, picture in zip(read.indices, read.pictures, strict=True):
        assert np.asarray(picture).shape == expected[index].shape
        np.testing.assert_allclose(np.asarray(picture, float), expected[index], atol=12)


def test_a_turn_is_counterclockwise() -> None:
    class Turned:
        rotation = -90

        def to_image(self) -> Image.Image:
            image = Image.new("RGB", (40, 20))
            image.paste((255, 255, 255), (0, 0, 20, 20))  # left half white
            return image

    turned = np.asarray(frames._upright(Turned()).convert("L"))
    # Minus 90 degrees counterclockwise: what was left is now on top.
    assert turned.shape == (40, 20)
    assert turned[:20].min() == 255 and turned[20:].max() == 0


def test_pictures_are_small_jpegs() -> None:
    image = Image.open(io.BytesIO(jpeg(Image.new("RGB", (1920, 1080), (200, 40, 40)))))
    assert image.format == "JPEG" and image.size == (960, 540)
    assert Image.open(io.BytesIO(jpeg(Image.new("RGB", (60, 40))))).size == (60, 40)


@pytest.mark.parametrize(
    ("codec", "options"),
    [
        ("libx264", {"g": "24", "bf": "3"}),
        ("libx264", {"g": "24", "bf": "3", "x264-params": "open-gop=1:b-pyramid=normal"}),
        ("libx264", {"g": "24", "x264-params": "intra-refresh=1"}),
        ("libx265", {"g": "24", "x265-params": "log-level=none:open-gop=1"}),
        ("libvpx-vp9", {"g": "24", "cpu-used": "8"}),
    ],
    ids=["closed", "open", "refreshed", "hevc", "vp9"],
)
def test_a_frame_that_is_sought_is_the_same(
    tmp_path: Path, codec: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NumberedFrames, "recount", None)
    path = write_video(tmp_path / "long.mp4", 200, codec=codec, options=options)
    with av.open(str(path)) as container:
        decoded = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
    for wanted in ([0, 90, 91, 130, 199], [199], [95, 96, 97], list(range(0, 200, 7))):
        found = NumberedFrames(path).read(
            lambda _, wanted=wanted: wanted, lambda frame: frame.to_ndarray(format="gray")
        )
        assert sorted(found) == wanted
        for number, picture in found.items():
            assert np.array_equal(picture, decoded[number]), number


def test_only_what_is_needed_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_video(
        tmp_path / "long.mp4", 240, options={"g": "10", "bf": "0", "sc_threshold": "0"}
    )
    video = NumberedFrames(path)
    assert video._times is not None
    times = [video._times[number] for number in (3, 12, 101, 105, 239)]
    assert [video._times.index(start) for start, _ in video._stretches(times)] == [0, 100, 230]

    packets: list[int] = []
    monkeypatch.setattr(frames, "open_video", lambda path: counted(open_video(path), packets))
    monkeypatch.setattr(NumberedFrames, "recount", None)
    found = video.read(lambda _: (3, 101, 239), lambda frame: read_number(frame.to_ndarray()[:64]))
    assert found == {number: number for number in found}
    assert len(packets) < 80


@contextmanager
def counted(opened: Any, packets: list[int]) -> Iterator[Any]:
    """A video whose packets are counted as they are read."""
    with opened as (container, stream):

        def demux(stream: Any) -> Iterator[Any]:
            for packet in container.demux(stream):
                packets.append(packet.pts)
                yield packet

        yield SimpleNamespace(demux=demux, seek=container.seek), stream
