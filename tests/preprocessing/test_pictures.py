"""What a file says beside its pictures: how they are turned, mirrored, and colored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.preprocessing.conftest import turn, write_video
from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.preprocessing.frames import read_frames
from video_reasoning.preprocessing.joining import join_parts
from video_reasoning.preprocessing.pictures import Converter

CORNERS = np.array([[220, 140], [60, 100]])


def corners(number: int, width: int, height: int) -> np.ndarray:
    """A picture with another grey in each quarter."""
    del number
    return np.kron(CORNERS, np.ones((height // 2, width // 2))).astype(np.uint8)


def read_corners(grey: np.ndarray) -> list[list[int]]:
    height, width = grey.shape

    def nearest(value: int) -> int:
        return min(CORNERS.ravel().tolist(), key=lambda each: abs(each - value))

    rows, columns = (height // 4, 3 * height // 4), (width // 4, 3 * width // 4)
    return [[nearest(int(grey[row, column])) for column in columns] for row in rows]


@pytest.fixture(scope="module")
def quarters(media: Path) -> Path:
    return write_video(media / "quarters.mp4", 4, draw=corners)


@pytest.mark.parametrize(
    ("matrix", "seen"),
    [
        ((-1, 0, 0, 1), CORNERS[:, ::-1]),  # a selfie
        ((1, 0, 0, -1), CORNERS[::-1]),
        ((0, 1, 1, 0), CORNERS.T),
        ((0, -1, -1, 0), CORNERS[::-1, ::-1].T),
        ((-1, 0, 0, -1), CORNERS[::-1, ::-1]),
        ((0, -1, 1, 0), np.rot90(CORNERS, 1)),
        ((0, 1, -1, 0), np.rot90(CORNERS, -1)),
    ],
)
def test_a_picture_is_shown_as_a_player_shows_it(
    media: Path, quarters: Path, matrix: tuple[int, int, int, int], seen: np.ndarray
) -> None:
    path = turn(quarters, media / "matrix.mp4", 0, matrix=matrix)
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        assert read_corners(Converter(frame)(frame).to_ndarray(format="gray")) == seen.tolist()
    (image,) = read_frames(
        path, lambda n: [0], lambda image: np.asarray(image.convert("L"))
    ).pictures
    assert read_corners(image) == seen.tolist()


def test_pictures_of_another_size_are_turned_as_well(media: Path, quarters: Path) -> None:
    larger = write_video(media / "larger.mp4", 1, width=192, height=128, draw=corners)
    frames = []
    for source, size in ((quarters, (96, 64)), (larger, (192, 128))):
        path = turn(source, media / f"turned {source.name}", 90, *size)
        with av.open(str(path)) as container:
            frames.append(next(container.decode(video=0)))
    convert = Converter(frames[0])
    for frame in (*frames, frames[0]):
        picture = convert(frame)
        assert (picture.width, picture.height) == (64, 96)
        assert read_corners(picture.to_ndarray(format="gray")) == np.rot90(CORNERS, 1).tolist()


BT709 = 1


FULL = 2


def tagged(media: Path, name: str, pixel_format: str, codec: str = "libx264") -> Path:
    path = media / f"{name}.mp4"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 96, 64, pixel_format
        stream.codec_context.colorspace = BT709
        if codec != "libx264":
            stream.codec_context.color_range = FULL
        for number in range(8):
            picture = np.full((64, 96, 3), number * 20, np.uint8)
            frame = av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format=pixel_format)
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def tags(path: Path) -> tuple[int, int]:
    with av.open(str(path)) as container:
        frame = next(container.decode(video=0))
        return int(frame.colorspace), int(frame.color_range)


@pytest.mark.parametrize("kind", ["plain", "444", "10 bit", "turned"])
def test_clips_keep_the_color_matrix(media: Path, tmp_path: Path, kind: str) -> None:
    formats = {"444": "yuv444p", "10 bit": "yuv420p10le"}
    source = tagged(media, f"tagged {kind}", formats.get(kind, "yuv420p"))
    if kind == "turned":
        source = turn(source, media / "tagged and turned.mp4", 90)
    assert tags(source)[0] == BT709
    clip = clip_for(source, Condition.parse("ordered4"), "key", tmp_path)
    assert tags(clip)[0] == BT709
    join_parts(source, source, source, tmp_path / "joined.mp4", blackout=False)
    assert tags(tmp_path / "joined.mp4")[0] == BT709


def test_clips_keep_the_range(media: Path, tmp_path: Path) -> None:
    # The decoder of H.264 shows a full range by the pixel format, that of VP9 by a tag alone.
    for source in (
        write_video(media / "full.mp4", 8, pixel_format="yuvj420p"),
        tagged(media, "full VP9", "yuv420p", "libvpx-vp9"),
    ):
        clip = clip_for(source, Condition.parse("ordered4"), "key", tmp_path)
        assert tags(clip)[1] == tags(source)[1] == FULL


def test_rgb_is_not_tagged_as_such(media: Path, tmp_path: Path) -> None:
    source = write_video(media / "rgb.mkv", 8, codec="libx264rgb", pixel_format="rgb24", options={})
    assert tags(source)[0] == 0
    join_parts(source, source, source, tmp_path / "joined.mp4", blackout=False)
    assert tags(tmp_path / "joined.mp4")[0] != 0
    clip = clip_for(source, Condition.parse("ordered4"), "key", tmp_path)
    assert tags(clip)[0] != 0
