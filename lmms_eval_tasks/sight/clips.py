"""What a clip shows, for comparison with what a model got of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.video import VideoError, open_video
from video_reasoning.tasks.sight.seen import Picture

GRID = 4
"""Parts of a picture, across and down, whose brightness is kept."""
SAME = 2.0
"""Levels of 255 that separate a picture's parts from those of the same picture made smaller."""
SMALL = 64
"""Pixels across and down of the pictures whose difference is looked at."""
CLEAR = 4
"""Levels of 255 by which a pixel of two small pictures differs if a model can tell them apart."""


def cells(picture: Any) -> tuple[float, ...]:
    """Return the mean of each color in 4x4 parts of a picture: 48 numbers, 0..255.

    Args:
        picture: Shape (height, width, 3), 0..255.
    """
    import numpy as np

    def pooled(values: Any, axis: int) -> Any:
        size = values.shape[axis]
        parts = [(i * size // GRID, -(-(i + 1) * size // GRID)) for i in range(GRID)]
        sums = [np.take(values, range(*ends), axis).sum(axis) for ends in parts]
        return np.stack([s / (b - a) for s, (a, b) in zip(sums, parts, strict=True)], axis)

    means = pooled(pooled(np.asarray(picture, dtype=np.float64), 0), 1)
    return tuple(means.transpose(2, 0, 1).ravel().tolist())


@dataclass(frozen=True)
class Clip:
    """What is compared.

    Attributes:
        cells: See :func:`cells`, of each frame in order.
        small: Each frame made small; shape (64, 64, 3), 0..255.
    """

    cells: Sequence[tuple[float, ...]]
    small: Sequence[Any]


def read_clip(path: Path) -> Clip | None:
    """Read the frames of a clip; None if it cannot be read."""
    try:
        with open_video(path) as (container, stream):
            pictures = [
                (
                    cells(frame.to_ndarray(format="rgb24")),
                    frame.reformat(SMALL, SMALL, "rgb24", interpolation="AREA").to_ndarray(),
                )
                for frame in container.decode(stream)
            ]
    except (VideoError, OSError):
        return None
    return Clip(*zip(*pictures, strict=True)) if pictures else None


def frames_shown(clip: Clip, shown: int, seen: int) -> int:
    """Return how many different frames a condition's clip shows.

    Frames of a still video are the same, and two frames that hardly differ may become the same
    when a model's processor makes them smaller; they count once if the model got them once.

    Args:
        clip: The condition's clip.
        shown: Frames that the condition shows.
        seen: Different frames that the model got.
    """
    if seen >= shown:
        return shown
    import numpy as np

    kept: list[Any] = []
    for frame in np.asarray(clip.small, dtype=np.int16):
        if all(np.abs(frame - other).max() > CLEAR for other in kept):
            kept.append(frame)
    return min(shown, max(seen, len(kept)))


def in_order(pictures: Sequence[Picture], clip: Sequence[tuple[float, ...]]) -> bool | None:
    """Tell whether a model got a clip's frames in the clip's order.

    The brightness of 4x4 parts is compared. What a processor does to it (mean and scale of each
    color) is fitted to all parts of all frames without looking at their order.

    Args:
        pictures: What the model got.
        clip: Cells of the clip's frames.

    Returns:
        Whether each picture is the frame in its place; None if that cannot be told: another
        number of pictures, frames too alike, or a processor that crops.
    """
    import numpy as np

    got = [picture.cells for picture in pictures]
    if len(got) != len(clip) or len(clip) < 2 or not all(got):
        return None
    # (frames, colors, parts)
    seen, true = (np.asarray(each).reshape(len(clip), 3, -1) for each in (got, clip))
    fitted = np.empty_like(true)
    for color in range(3):
        x, y = np.sort(seen[:, color].ravel()), np.sort(true[:, color].ravel())
        if x[-1] - x[0] <= 0:
            return None
        line = np.polyfit(x, y, 1)
        if np.abs(np.polyval(line, x) - y).max() > 2 * SAME:
            return None
        fitted[:, color] = np.polyval(line, seen[:, color])
    far = np.abs(fitted[:, None] - true[None]).max((2, 3))
    apart = np.abs(np.diff(true, axis=0)).max((1, 2))
    own = np.diag(far)
    moved = (own > 2 * SAME) & (far.min(1) < SAME)
    if moved.any():
        return False
    return True if (own <= 2 * SAME).all() and (apart > SAME).any() else None
