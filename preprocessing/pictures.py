"""Decoded frames brought to the shape that a clip needs."""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import Any

import av
import av.filter

_TURNS = {90: "transpose=cclock", 180: "hflip,vflip", 270: "transpose=clock"}
RGB = 0
"""The color matrix of pictures that are not stored as luma and chroma."""
_EXACT = "bicubic+full_chroma_inp+accurate_rnd+bitexact"


class Converter:
    """Brings frames to upright 8-bit 4:2:0 of an even size.

    Most frames are like that already and pass untouched. The others go through filters that give
    the same result on every processor.

    Args:
        frame: The first frame of the video.
        size: Width and height of the result, both even; the picture is scaled into it with its
            shape kept, and black fills the rest. Without it the picture keeps its size, and an
            odd row or column is repeated.
        keep_range: Leave full-range video (`yuvj420p`) as it is; otherwise its values are
            brought to the usual 16..235.

    Attributes:
        size: Width and height of the result.
        format: Pixel format of the result: `yuv420p`, or `yuvj420p` if that is kept.
        changes: What has to change in this video, in words; empty if nothing does.
    """

    def __init__(
        self, frame: Any, size: tuple[int, int] | None = None, *, keep_range: bool = False
    ) -> None:
        kind = frame.format.name
        full = kind == "yuvj420p" or (
            kind == "yuv420p" and frame.color_range == av.video.reformatter.ColorRange.JPEG
        )
        self._shape = (frame.width, frame.height, kind)
        self._rotation = rotation_of(frame)
        self._mirrored = is_mirrored(frame)
        self._narrow = full and not keep_range
        self._graphs: dict[tuple[int, int, str], tuple[Any, Any, Any]] = {}
        self.format = "yuvj420p" if kind == "yuvj420p" and keep_range else "yuv420p"
        width, height = frame.width, frame.height
        if self._rotation in (90, 270):
            width, height = height, width
        self._upright = (width, height)
        self.size = size or (width + width % 2, height + height % 2)
        changes = []
        if kind not in ("yuv420p", "yuvj420p"):
            changes.append(f"{kind} to yuv420p")
        if self._narrow:
            changes.append("full range to limited range")
        if self._rotation in _TURNS:
            changes.append(f"rotated by {self._rotation} degrees")
        if self._mirrored:
            changes.append("mirrored")
        if self.size != self._upright:
            odd = size is None
            fitted = "filled up to even sizes" if odd else "scaled to {}x{}".format(*self.size)
            changes.append(f"{frame.width}x{frame.height} {fitted}")
        self.changes: tuple[str, ...] = tuple(changes)
        self._padded = size is None

    def __call__(self, frame: Any) -> Any:
        """Return the frame in the new shape (the frame itself if nothing changes)."""
        shape = (frame.width, frame.height, frame.format.name)
        if not self.changes and shape == self._shape:
            return frame
        if shape not in self._graphs:
            self._graphs[shape] = self._build(frame)
        _, entry, end = self._graphs[shape]
        entry.push(frame)
        picture = end.pull()
        # The filters know nothing of the matrix; readers that follow tags need it.
        if frame.colorspace != RGB:
            picture.colorspace = frame.colorspace
        return picture

    def _build(self, frame: Any) -> tuple[Any, Any, Any]:
        width, height = self._upright
        steps = []
        if self._rotation in _TURNS:
            steps += _TURNS[self._rotation].split(",")
        if self._mirrored:
            steps.append("hflip")
        limited = ":out_range=limited" if self._narrow else ""
        if self._padded:
            steps.append(f"scale={width}:{height}:flags={_EXACT}{limited}")
            steps.append(f"format={self.format}")
            if self.size != (width, height):
                right, bottom = self.size[0] - width, self.size[1] - height
                steps.append("pad={}:{}".format(*self.size))
                steps.append(f"fillborders=right={right}:bottom={bottom}:mode=smear")
        else:
            steps.append(
                "scale={}:{}:force_original_aspect_ratio=decrease:force_divisible_by=2"
                ":flags={}{}".format(*self.size, _EXACT, limited)
            )
            steps.append(f"format={self.format}")
            steps.append("pad={}:{}:(ow-iw)/2:(oh-ih)/2".format(*self.size))
        graph = av.filter.Graph()
        entry: Any = graph.add_buffer(
            width=frame.width,
            height=frame.height,
            format=frame.format,
            time_base=frame.time_base or Fraction(1, 1000),
        )
        last = entry
        for step in steps:
            name, _, arguments = step.partition("=")
            node = graph.add(name, arguments or None)
            last.link_to(node)
            last = node
        end = graph.add("buffersink")
        last.link_to(end)
        graph.configure()
        return graph, entry, end


def rotation_of(frame: Any) -> int:
    """Return by how many degrees, counterclockwise, a player turns the frame: 0..359."""
    angle = round(getattr(frame, "rotation", 0) or 0)
    # The angle is that of the matrix's first column; a mirrored one is to be turned the other way.
    return (180 - angle if is_mirrored(frame) else angle) % 360


def is_mirrored(frame: Any) -> bool:
    """Tell whether a player shows a frame mirrored, left for right, after turning it."""
    data = frame.side_data.get("DISPLAYMATRIX") if hasattr(frame, "side_data") else None
    if data is None:
        return False
    a, b, _, c, d = struct.unpack("=5i", bytes(data)[:20])
    return bool(a * d - b * c < 0)


def black_frame(width: int, height: int, pixel_format: str = "yuv420p") -> Any:
    """Return a black picture: Y = 16 and both colors 128 (limited range).

    Args:
        width: Width in pixels, even.
        height: Height in pixels, even.
        pixel_format: `yuv420p` or a format of the same planes.

    Returns:
        A PyAV video frame.
    """
    frame: Any = av.VideoFrame(width, height, pixel_format)
    for plane, value in zip(frame.planes, (16, 128, 128), strict=True):
        plane.update(bytes([value]) * plane.buffer_size)
    return frame
