"""Pictures and videos for the page."""

from __future__ import annotations

import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from tests.handpick.stores import FRAMES
from tests.preprocessing.conftest import turn
from tests.preprocessing.conftest import write_video as write_numbered
from tests.tasks.releases import write_video
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError, verify
from video_reasoning.tasks.pages import frames
from video_reasoning.tasks.pages.frames import FrameCache, Player, media_type, read_grid


def level(image: Image.Image) -> float:
    return float(np.asarray(image.convert("L")).mean())


def write_other(path: Path, codec: str, pixels: str = "yuv420p", size: int = 64) -> Path:
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=Fraction(10))
        stream.width, stream.height, stream.pix_fmt = size, size, pixels
        for number in range(12):
            picture = np.full((size, size, 3), 20 * number, dtype=np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def test_the_sixteen_frames_are_those_of_the_sampling_rule(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", FRAMES, rate=10)
    grid = read_grid(path, level)
    assert grid.n_frames == FRAMES
    assert grid.indices == tuple(uniform_indices(FRAMES, 16))
    assert grid.seconds == tuple(index / 10 for index in grid.indices)
    drawn = [40 + (index * 13) % 200 for index in grid.indices]
    assert grid.pictures == pytest.approx(drawn, abs=4)


def test_a_short_video_shows_frames_again(tmp_path: Path) -> None:
    grid = read_grid(write_video(tmp_path / "a.mp4", 3), level)
    assert grid.n_frames == 3 and set(grid.indices) == {0, 1, 2} and len(grid.pictures) == 16


def test_a_broken_video_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"a text")
    for function in (media_type, FrameCache().get, Player().file):
        with pytest.raises(VideoError):
            function(path)


def test_the_cache_is_bounded_and_decodes_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_video(tmp_path / f"{n}.mp4", 20) for n in range(4)]
    made: list[Path] = []
    read = frames.read_grid

    def count(path: Path, make: Any) -> Any:
        made.append(path)
        return read(path, make)

    monkeypatch.setattr(frames, "read_grid", count)
    monkeypatch.setattr(frames, "GRIDS", 2)
    cache = FrameCache()
    for path in paths[:2] * 2:
        cache.get(path)
    assert made == paths[:2]
    for path in paths[2:]:
        cache.get(path)
    cache.get(paths[3])
    assert made == paths
    cache.get(paths[0])
    assert made == [*paths, paths[0]]


def test_requests_at_the_same_time_share_one_decode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_video(tmp_path / "a.mp4", 20)
    made: list[Path] = []
    read = frames.read_grid
    everyone = threading.Barrier(8)

    def count(path: Path, make: Any) -> Any:
        made.append(path)
        return read(path, make)

    monkeypatch.setattr(frames, "read_grid", count)
    cache = FrameCache()

    def get() -> None:
        everyone.wait()
        cache.get(path)

    threads = [threading.Thread(target=get) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [path]


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    cache = FrameCache()
    with pytest.raises(VideoError):
        cache.get(path)
    write_video(path, 20)
    assert cache.get(path).n_frames == 20


def test_h264_is_played_as_it_is(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4")
    player = Player()
    assert player.file(path) == (path, "video/mp4")
    player.close()


@pytest.mark.parametrize(
    ("name", "codec", "pixels"),
    [("a.avi", "mpeg4", "yuv420p"), ("a.mp4", "libx264", "yuv444p"), ("a.gif", "gif", "rgb8")],
)
def test_other_videos_are_converted(tmp_path: Path, name: str, codec: str, pixels: str) -> None:
    path = write_other(tmp_path / name, codec, pixels)
    player = Player()
    made, kind = player.file(path)
    assert made != path and kind == "video/mp4" == media_type(made)
    assert verify(made).frames == 12
    assert read_grid(made, level).seconds == pytest.approx(read_grid(path, level).seconds)
    assert player.file(path)[0] == made
    player.close()
    assert not made.exists()


def test_converting_can_be_asked_for_and_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "CONVERTED_VIDEOS", 2)
    player = Player()
    made = [player.file(write_video(tmp_path / f"{n}.mp4", 4), convert=True)[0] for n in range(3)]
    assert [file.exists() for file in made] == [False, True, True]
    player.close()


def test_a_converted_video_is_upright_and_no_larger_than_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_numbered(tmp_path / "a.mp4", 4)
    monkeypatch.setattr(frames, "LONGEST_SIDE", 48)
    player = Player()
    made = verify(player.file(turn(source, tmp_path / "turned.mp4", 90), convert=True)[0])
    assert (made.width, made.height, made.rotation) == (32, 48, 0)
    player.close()


def test_odd_sizes_are_converted(tmp_path: Path) -> None:
    path = write_other(tmp_path / "a.gif", "gif", "rgb8", size=63)
    player = Player()
    assert verify(player.file(path)[0]).width == 64
    player.close()
