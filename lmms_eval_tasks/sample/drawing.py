"""Small drawn videos: a textured background, shaded colored things, some sensor noise.

Colors carry the meaning: things are saturated, everything else (background, table, skin) is
not. That is the drawing style that ``sample_observer`` relies on.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_reasoning.preprocessing.files import atomic_path

WIDTH, HEIGHT, FPS = 320, 240, 25

RGB = {
    "red": (222, 42, 44),
    "yellow": (236, 202, 34),
    "green": (44, 172, 74),
    "blue": (42, 84, 222),
    "purple": (164, 52, 192),
    "skin": (216, 182, 162),
    "grey": (150, 150, 148),
    "dark": (74, 74, 78),
    "white": (232, 232, 228),
    "wood": (158, 136, 118),
}

Image = NDArray[np.uint8]

# cv2 draws between pixels with coordinates in 1/16 pixel.
_SHIFT = 4


@dataclass(frozen=True)
class Actor:
    """A thing in the video with its path.

    Attributes:
        shape: What to draw: ball, block, cone, car, hand, bird, disk, lamp, card, stack,
            rubble, cushion, post, table, cloth, palm or instrument.
        color: Key of ``RGB``.
        size: Radius, or half the edge, in pixels.
        times: Increasing fractions of the video's length, 0 to 1.
        xs: Horizontal center at each of these times, in pixels.
        ys: Vertical center at each of these times, in pixels.
        scales: Factor on the size at each of these times; empty for 1 throughout.
        shown: (begin, end) fractions between which it is there at all.
        count: Number of parts, for cards (dots) and stacks (blocks).
    """

    shape: str
    color: str
    size: float
    times: Sequence[float] = (0.0,)
    xs: Sequence[float] = (WIDTH / 2,)
    ys: Sequence[float] = (HEIGHT / 2,)
    scales: Sequence[float] = ()
    shown: tuple[float, float] = (0.0, 1.0)
    count: int = 1


@dataclass(frozen=True)
class Video:
    """A video to draw.

    Attributes:
        path: Where to write it (a folder if it is cut into parts).
        frames: Number of frames.
        seed: Seed of background and noise.
        actors: What is drawn, in this order.
        clean: A plain, computer-made look in place of the textured one.
        zoom: Camera scale at the beginning and at the end (moving camera), 1 is still.
        cuts: (path, first frame, end frame) of each part; empty for one file.
    """

    path: Path
    frames: int
    seed: int
    actors: Sequence[Actor] = field(default_factory=tuple)
    clean: bool = False
    zoom: tuple[float, float] = (1.0, 1.0)
    cuts: Sequence[tuple[Path, int, int]] = ()


def _background(rng: np.random.Generator, clean: bool) -> Image:
    import cv2

    tone = rng.uniform(120, 175)
    ramp = np.linspace(-14, 14, HEIGHT, dtype=np.float32)[:, None] * rng.choice([-1, 1])
    grey = np.full((HEIGHT, WIDTH), tone, np.float32) + ramp
    for cells, strength in ((5, 12.0), (24, 5.0), (90, 0.0 if clean else 4.0)):
        grid = rng.normal(0, strength, (cells, cells)).astype(np.float32)
        grey += cv2.resize(grid, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    tint = rng.uniform(0.94, 1.06, 3).astype(np.float32)
    image = grey[..., None] * tint
    if clean:
        image[::24] -= 8
        image[:, ::24] -= 8
    drawn: Image = np.clip(image, 0, 255).astype(np.uint8)
    return drawn


def _fixed(*values: float) -> tuple[int, ...]:
    return tuple(round(value * (1 << _SHIFT)) for value in values)


def _shade(color: tuple[int, int, int], amount: float) -> tuple[int, int, int]:
    """Mix with white (amount > 0) or black (amount < 0)."""
    target = 255 if amount > 0 else 0
    red, green, blue = (round(part + abs(amount) * (target - part)) for part in color)
    return red, green, blue


def _disc(image: Image, x: float, y: float, radius: float, color: tuple[int, int, int]) -> None:
    import cv2

    center = _fixed(x, y)
    cv2.circle(image, center, _fixed(radius)[0], color, -1, cv2.LINE_AA, _SHIFT)


def _polygon(image: Image, points: Any, color: tuple[int, int, int]) -> None:
    import cv2

    corners = np.round(np.asarray(points, np.float64) * (1 << _SHIFT)).astype(np.int32)
    cv2.fillPoly(image, [corners], color, cv2.LINE_AA, _SHIFT)


def _box(
    image: Image, x: float, y: float, half_w: float, half_h: float, color: tuple[int, int, int]
) -> None:
    left, right, top, bottom = x - half_w, x + half_w, y - half_h, y + half_h
    _polygon(image, [(left, top), (right, top), (right, bottom), (left, bottom)], color)


def _block(image: Image, x: float, y: float, half: float, color: tuple[int, int, int]) -> None:
    _box(image, x, y, half, half, color)
    _box(image, x, y - 0.72 * half, half, 0.28 * half, _shade(color, 0.15))
    _box(image, x + 0.85 * half, y, 0.15 * half, half, _shade(color, -0.15))


def _draw(image: Image, actor: Actor, at: float, scale: float) -> None:
    if not actor.shown[0] <= at <= actor.shown[1]:
        return
    import cv2

    x = float(np.interp(at, actor.times, actor.xs))
    y = float(np.interp(at, actor.times, actor.ys))
    size = actor.size * scale
    if actor.scales:
        size *= float(np.interp(at, actor.times, actor.scales))
    x, y = (x - WIDTH / 2) * scale + WIDTH / 2, (y - HEIGHT / 2) * scale + HEIGHT / 2
    color = RGB[actor.color]
    shape = actor.shape
    if shape == "ball":
        _disc(image, x, y, size, color)
        _disc(image, x - 0.3 * size, y - 0.35 * size, 0.3 * size, _shade(color, 0.25))
    elif shape == "block":
        _block(image, x, y, size, color)
    elif shape == "cone":
        _polygon(image, [(x, y - size), (x + size, y + size), (x - size, y + size)], color)
    elif shape == "car":
        _box(image, x, y, 1.4 * size, 0.5 * size, color)
        _box(image, x, y - 0.7 * size, 0.7 * size, 0.4 * size, _shade(color, 0.2))
        for side in (-0.8, 0.8):
            _disc(image, x + side * size, y + 0.6 * size, 0.35 * size, RGB["dark"])
    elif shape == "hand":
        start, end = _fixed(WIDTH / 2, HEIGHT + 60), _fixed(x, y)
        width = max(3, round(0.7 * size))
        cv2.line(image, start, end, RGB["skin"], width, cv2.LINE_AA, _SHIFT)
        _disc(image, x, y, size, color)
        _disc(image, x + 0.85 * size, y - 0.1 * size, 0.4 * size, color)
    elif shape == "palm":
        wrist, elbow = 0.5 * size, 0.8 * size
        arm = [(x - wrist, y), (x + wrist, y), (x + elbow, HEIGHT), (x - elbow, HEIGHT)]
        _polygon(image, arm, _shade(RGB["skin"], -0.06))
        for finger in range(4):
            offset = (finger - 1.5) * 0.3 * size
            _disc(image, x + offset, y - 0.15 * size, 0.18 * size, RGB["skin"])
        _disc(image, x, y + 0.15 * size, 0.55 * size, RGB["skin"])
    elif shape == "bird":
        wing = 0.9 * size * np.sin(40 * at * np.pi)
        body = _fixed(x, y), _fixed(1.3 * size, 0.6 * size)
        cv2.ellipse(image, body[0], body[1], 0, 0, 360, color, -1, cv2.LINE_AA, _SHIFT)
        _polygon(image, [(x - 0.5 * size, y), (x + 0.5 * size, y), (x, y - wing)], color)
        _disc(image, x, y - 0.1 * size, 0.12 * size, RGB["white"])
    elif shape == "disk":
        _disc(image, x, y, size, RGB["white"])
        _disc(image, x, y, 0.9 * size, RGB["grey"])
        _disc(image, x, y, 0.12 * size, RGB["dark"])
    elif shape == "lamp":
        _disc(image, x, y, size + 4, RGB["dark"])
        _disc(image, x, y, size, color)
    elif shape == "card":
        _box(image, x, y, 9.5 * actor.count + 4, 14, RGB["white"])
        for dot in range(actor.count):
            _disc(image, x + 19 * (dot - (actor.count - 1) / 2), y, size, color)
    elif shape == "stack":
        for level in range(actor.count):
            _block(image, x, y - (2 * level + 1) * size, size, color)
    elif shape == "rubble":
        for place in range(actor.count):
            _block(image, x + 2 * (place - (actor.count - 1) / 2) * size, y - size, size, color)
    elif shape == "cushion":
        axes = _fixed(2.0 * size, 0.9 * size)
        cv2.ellipse(image, _fixed(x, y), axes, 0, 0, 360, color, -1, cv2.LINE_AA, _SHIFT)
    elif shape == "post":
        _box(image, x, y, 0.35 * size, size, RGB["dark"])
        _box(image, x - 0.1 * size, y, 0.1 * size, size, RGB["grey"])
    elif shape == "table":
        _box(image, x, y + 6, size, 6, RGB["wood"])
        for side in (-0.85, 0.85):
            _box(image, x + side * size, (y + 12 + 226) / 2, 5, (226 - y - 12) / 2, RGB["wood"])
    elif shape == "cloth":
        _disc(image, x, y, size, RGB["white"])
        _disc(image, x + 0.4 * size, y - 0.3 * size, 0.6 * size, _shade(RGB["white"], -0.1))
    elif shape == "instrument":
        _box(image, x, y, 0.5 * size, size, RGB["wood"])
        _box(image, x, y - 1.3 * size, 0.12 * size, 0.5 * size, RGB["dark"])
        for string in (-0.2, 0.0, 0.2):
            _box(image, x + string * size, y, 0.6, size, RGB["white"])
    else:
        raise ValueError(f"There is no drawing of a {shape!r}.")


def render(video: Video) -> Iterator[Image]:
    """Draw the frames of a video: (240, 320, 3) RGB, 0 to 255."""
    import cv2

    cv2.setNumThreads(1)
    rng = np.random.default_rng(video.seed)
    background = _background(rng, video.clean)
    strength = 1.0 if video.clean else 2.2
    # One frame of noise, moved about: as good to the eye as fresh noise and far cheaper.
    noise = rng.normal(0, strength, (HEIGHT + 64, WIDTH + 64, 1)).astype(np.int8)
    # As what is added and what is taken away, in all three colors, which OpenCV does at once.
    brighter, darker = (
        np.repeat(np.maximum(part, 0).astype(np.uint8), 3, axis=2) for part in (noise, -noise)
    )
    for number in range(video.frames):
        at = number / (video.frames - 1)
        scale = float(np.interp(at, (0, 1), video.zoom))
        if video.zoom == (1.0, 1.0):
            image = background.copy()
        else:
            matrix = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0, scale)
            image = cv2.warpAffine(
                background, matrix, (WIDTH, HEIGHT), borderMode=cv2.BORDER_REFLECT
            )
        for actor in video.actors:
            _draw(image, actor, at, scale)
        down, along = rng.integers(0, 64, 2)
        window = slice(down, down + HEIGHT), slice(along, along + WIDTH)
        drawn: Image = cv2.subtract(cv2.add(image, brighter[window]), darker[window])
        yield drawn


def write_frames(path: Path, frames: Sequence[Image]) -> None:
    """Encode RGB images of one size (at least one) as H.264 in an MP4 file, 25 frames a second."""
    import av

    # Written in memory first: a full disk is then an error of Python's own, at one place.
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=Fraction(FPS))
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        # Looking ahead (for B-frames, weights and the macroblock tree), x264 does not decide
        # the same each time; without it, and with one thread, it writes the same bytes.
        stream.options = {
            "preset": "veryfast",
            "crf": "20",
            "x264-params": "bframes=0:weightp=0:mbtree=0:rc-lookahead=0",
        }
        stream.codec_context.thread_count = 1
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    with atomic_path(path) as temporary:
        temporary.write_bytes(file.getbuffer())


def write_video(video: Video) -> None:
    """Draw a video and write it, whole or cut into its parts."""
    frames = list(render(video))
    if not video.cuts:
        write_frames(video.path, frames)
    for path, begin, end in video.cuts:
        write_frames(path, frames[begin:end])


def write_text(path: Path, text: str) -> None:
    """Write a file of the release; line ends are those of the text on every system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
