"""From pixels to colored blobs: the eyes of ``sample_observer``.

Nothing here knows a question, an annotation or a file's name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAX_FRAMES = 64
_SIZE = (320, 240)  # width, height that the drawing style is known in
# Hues, as OpenCV counts them (0 to 179), of the colors that things have.
_HUES = {"red": 0, "yellow": 25, "green": 67, "blue": 113, "purple": 144}
_HUE_TOLERANCE = 13
_SATURATION, _VALUE = 110, 60  # things are above, background, wood and skin below
_MIN_AREA = 40  # pixels
_BLACK = 20.0  # mean gray level below which a frame is blacked out


@dataclass(frozen=True)
class Blob:
    """A connected patch of one color: center and size of its bounding box, and area, in pixels.

    ``fill`` is the area of the convex hull relative to the bounding box, 0 to 1.
    """

    color: str
    x: float
    y: float
    w: float
    h: float
    area: float
    fill: float


@dataclass(frozen=True)
class Footage:
    """What was seen.

    Attributes:
        frames: The blobs of each frame, largest first; empty for a black frame.
        black: Whether each frame is blacked out.
        still: Whether all frames are the same picture, bit for bit.
        digest: Text that depends on the pixels, for seeded guesses.
    """

    frames: tuple[tuple[Blob, ...], ...]
    black: tuple[bool, ...]
    still: bool
    digest: str

    @property
    def empty(self) -> bool:
        """Whether nothing could be seen at all."""
        return not self.frames or all(self.black)


@cache
def _colors_of_hues() -> NDArray[np.uint8]:
    """Return the colors of each hue, a bit for each color in their order."""
    hues = np.arange(256)
    found = np.zeros(256, np.uint8)
    for number, center in enumerate(_HUES.values()):
        apart = np.abs(hues - center)
        found[np.minimum(apart, 180 - apart) <= _HUE_TOLERANCE] |= 1 << number
    return found


def _blobs(image: NDArray[np.uint8]) -> tuple[Blob, ...]:
    import cv2

    hsv = cv2.cvtColor(cv2.medianBlur(image, 3), cv2.COLOR_RGB2HSV)
    hue, saturation, value = cv2.split(hsv)
    vivid = (saturation > _SATURATION) & (value > _VALUE)
    colors = cv2.LUT(hue, _colors_of_hues()) * vivid
    found = []
    for number, color in enumerate(_HUES):
        mask = colors & (1 << number)
        if cv2.countNonZero(mask) < _MIN_AREA:
            continue
        # Only where the color is: looking for parts takes nearly all of the time.
        begin, top, width, height = cv2.boundingRect(mask)
        mask = mask[top : top + height, begin : begin + width]
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
        for label in range(1, count):
            across, down, w, h, area = (int(value) for value in stats[label])
            if area < _MIN_AREA:
                continue
            own = (labels[down : down + h, across : across + w] == label).astype(np.uint8)
            edges, _ = cv2.findContours(own, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
            hull = cv2.contourArea(cv2.convexHull(max(edges, key=len)))
            fill = float(hull) / max(1, (w - 1) * (h - 1))
            x, y = begin + across + (w - 1) / 2, top + down + (h - 1) / 2
            found.append(Blob(color, x, y, float(w), float(h), float(area), fill))
    return tuple(sorted(found, key=lambda blob: -blob.area))


def _look(images: Sequence[NDArray[np.uint8]]) -> Footage:
    import cv2

    frames, black = [], []
    digest = hashlib.sha256()
    still = True
    previous: NDArray[np.uint8] | None = None
    for picture in images:
        still = still and (previous is None or np.array_equal(picture, previous))
        previous = image = picture
        if (image.shape[1], image.shape[0]) != _SIZE:
            image = cv2.resize(image, _SIZE, interpolation=cv2.INTER_AREA).astype(np.uint8)
        digest.update(np.ascontiguousarray(image[::16, ::16]).tobytes())
        dark = float(image.mean()) < _BLACK
        black.append(dark)
        frames.append(() if dark else _blobs(image))
    return Footage(tuple(frames), tuple(black), still, digest.hexdigest())


@lru_cache(maxsize=1024)  # tasks show the same clips
def _watch(path: str, size: int, modified: int) -> Footage:
    """Read a video; size and time of change are there for the cache."""
    import decord

    reader = decord.VideoReader(path, num_threads=1)
    count = len(reader)
    if count <= _MAX_FRAMES:
        indices = list(range(count))
    else:
        indices = [int(index) for index in np.linspace(0, count - 1, _MAX_FRAMES)]
    images = reader.get_batch(indices).asnumpy()
    return _look(list(images))


def _is_video(visual: Any) -> bool:
    pictures = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
    return isinstance(visual, (str, Path)) and Path(visual).suffix.lower() not in pictures


def _one(visual: Any) -> Footage:
    if isinstance(visual, (str, Path)) and not _is_video(visual):
        from PIL import Image

        with Image.open(visual) as picture:
            return _look([np.asarray(picture.convert("RGB"))])
    if _is_video(visual):
        state = Path(visual).stat()
        return _watch(str(visual), state.st_size, state.st_mtime_ns)
    return _look([np.asarray(visual.convert("RGB"))])


def observe(visuals: Sequence[Any]) -> Footage:
    """Look at all that a request shows, in its order; what cannot be read is left out.

    Videos and images are given as paths, images also as PIL images. Between two videos, something
    is missing: that counts as a black frame.
    """
    parts: list[Footage] = []
    for visual in visuals:
        try:
            seen = _one(visual)
        except Exception:  # decord raises its own error, OSError or IndexError alike
            continue
        if not seen.frames:
            continue
        if parts and _is_video(visual):
            parts.append(Footage(((),), (True,), True, "cut"))
        parts.append(seen)
    if len(parts) == 1:
        return parts[0]
    digests = {part.digest for part in parts}
    return Footage(
        tuple(frame for part in parts for frame in part.frames),
        tuple(dark for part in parts for dark in part.black),
        all(part.still for part in parts) and len(digests) <= 1,
        hashlib.sha256("".join(part.digest for part in parts).encode()).hexdigest(),
    )
