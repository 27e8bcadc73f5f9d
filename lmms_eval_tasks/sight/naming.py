"""Frames that name themselves, and flat gray ones: what a probe shows, and how it is read back.

A frame's number is drawn as 2 x 4 black or white blocks, which survive lossy coding, resizing and
any mean and scale of the colors. A ladder is a video of flat gray frames, each a step brighter than
the one before it: their brightness is read back from any layout of patches or tiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

SIDE = 224
"""Width and height of the frames: a multiple of 28 and 32, which Qwen's readers do not resize."""
DARKEST = 16
"""Gray level of a ladder's first frame; darker is black."""
STEP = 3
"""Gray levels between two frames of a ladder."""
BLACK = 0
"""What a black frame reads as; no probe has a frame of this number."""
UNKNOWN = -1
"""What a picture reads as that is not a frame of a probe."""

_ROWS, _COLUMNS = 2, 4


def draw(number: int) -> Any:
    """Return a frame that shows its number, 0 to 255; shape (SIDE, SIDE), 0 or 255."""
    import numpy as np

    bits = np.array([(number >> place) & 1 for place in range(8)], dtype=np.uint8)
    blocks = np.ones((SIDE // _ROWS, SIDE // _COLUMNS), dtype=np.uint8)
    return np.kron(255 * bits.reshape(_ROWS, _COLUMNS), blocks)


def draw_gray(place: int) -> Any:
    """Return a ladder's frame, from place 0 on; shape (SIDE, SIDE), one level."""
    import numpy as np

    return np.full((SIDE, SIDE), DARKEST + STEP * place, dtype=np.uint8)


def number_of(image: Any) -> int:
    """Return which frame a picture is.

    Args:
        image: A PIL image.

    Raises:
        ValueError: It is not a frame that names itself.
    """
    import numpy as np

    gray = np.asarray(image.convert("L"), dtype=float)
    # The middle of each block: its borders blur.
    blocks = [
        block[
            block.shape[0] // 4 : -block.shape[0] // 4, block.shape[1] // 4 : -block.shape[1] // 4
        ]
        for row in np.array_split(gray, _ROWS, axis=0)
        for block in np.array_split(row, _COLUMNS, axis=1)
    ]
    levels = [float(block.mean()) for block in blocks]
    if any(60 < level < 195 for level in levels):
        raise ValueError(f"not a frame that names itself: {levels}")
    return _number([level > 128 for level in levels])


def number_in(cells: Sequence[float], black: float, white: float) -> int:
    """Return which frame a picture is, from the brightness of its 4 x 4 parts in any unit.

    Args:
        cells: Rows from top to bottom, 16 numbers.
        black: What black is in that unit.
        white: What white is in it.

    Returns:
        Its number, :data:`BLACK`, or :data:`UNKNOWN` if it is not a frame that names itself.
    """
    light = [(value - black) / (white - black) for value in cells]
    if any(0.3 < value < 0.7 for value in light):
        return UNKNOWN
    bits = [value > 0.5 for value in light]
    upper, lower = bits[:4], bits[8:12]
    if bits[4:8] != upper or bits[12:] != lower:
        return UNKNOWN
    return _number([*upper, *lower])


def place_of(level: float, frames: int) -> int | None:
    """Return the place of a ladder's frame with this gray level.

    Args:
        level: 0..255.
        frames: How many frames the ladder has.

    Returns:
        Its place from 0 on; -1 if it is black, None if it is not a frame of the ladder.
    """
    if level < DARKEST / 2:
        return -1
    place = round((level - DARKEST) / STEP)
    return place if 0 <= place < frames else None


def _number(bits: Iterable[bool]) -> int:
    return sum(bit << place for place, bit in enumerate(bits))


def write_video(path: Path, pictures: Iterable[Any], rate: int) -> Path:
    """Write gray pictures of SIDE x SIDE as a video of so many frames a second."""
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=rate)
        stream.width, stream.height, stream.pix_fmt = SIDE, SIDE, "yuv420p"
        stream.options = {"crf": "1", "preset": "ultrafast"}
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(picture, format="gray")
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode())
    return path
