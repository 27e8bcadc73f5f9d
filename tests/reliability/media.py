"""Drawing videos for the corpus of faults, and changing bytes of files that hold them."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error
import numpy as np

# SVT-AV1 otherwise tells of itself on stderr.
os.environ.setdefault("SVT_LOG", "1")

FRAMES = 70
RATE = 10
SIZE = (64, 48)


class Unavailable(Exception):
    """This build of PyAV, or this file system, cannot make the input."""


def picture(number: int, width: int, height: int) -> np.ndarray:
    """A grey gradient with a bright bar that moves by a pixel a frame: no scene ever changes."""
    ramp = np.linspace(60, 120, width * height, dtype=np.float32).reshape(height, width)
    image = np.repeat(ramp[:, :, None], 3, axis=2).astype(np.uint8)
    place = number % width
    image[:, place : place + max(1, width // 8)] = (200, 180, 40)
    return image


def draw(
    path: Path,
    codec: str = "libx264",
    *,
    frames: int = FRAMES,
    size: tuple[int, int] = SIZE,
    rate: Fraction | int = RATE,
    pixels: str = "yuv420p",
    form: str = "mp4",
    options: dict[str, str] | None = None,
    muxer: dict[str, str] | None = None,
    times: Callable[[int], int] | None = None,
    time_base: Fraction | None = None,
    sound: bool = False,
    second: bool = False,
    header_first: bool = False,
    key_interval: int = 10,
    draws: Callable[[int, int, int], np.ndarray] = picture,
) -> Path:
    """Write a video, under any name, in any container, with any times."""
    if codec not in av.codecs_available:
        raise Unavailable(f"no encoder {codec}")
    kept = io.BytesIO()
    with av.open(kept, "w", format=form, options=muxer or {}) as container:
        streams = [container.add_stream(codec, rate=Fraction(rate)) for _ in range(1 + second)]
        for stream in streams:
            stream.width, stream.height, stream.pix_fmt = *size, pixels
            stream.codec_context.gop_size = key_interval
            if time_base is not None:
                stream.codec_context.time_base = time_base
            stream.options = options or {}
        voice: Any = container.add_stream("aac", rate=44100, layout="mono") if sound else None
        for number in range(frames):
            for place, stream in enumerate(streams):
                image = draws(number + 9 * place, *size)
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                frame = frame.reformat(format=pixels)
                if times is not None:
                    frame.pts = times(number)
                    frame.time_base = time_base or 1 / Fraction(rate)
                container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode())
        if voice is not None:
            _hum(container, voice, frames / float(rate))
    path.write_bytes(_header_first(kept.getvalue()) if header_first else kept.getvalue())
    return path


def _header_first(data: bytes) -> bytes:
    """The same MP4 file with its header before its data, as a player of a stream wants it."""
    size = struct.unpack(">I", data[:4])[0]
    begin = data.index(b"moov") - 4
    header = bytearray(data[begin:])
    for first, _ in list(boxes(bytes(header), *STBL, "stco")):
        for place in range(struct.unpack(">I", header[first + 4 : first + 8])[0]):
            at = first + 8 + 4 * place
            offset = struct.unpack(">I", header[at : at + 4])[0]
            header[at : at + 4] = number(offset + len(header))
    return data[:size] + bytes(header) + data[size:begin]


def hum(path: Path, codec: str = "aac", form: str = "mp4", cover: bool = False) -> Path:
    """Write a sound without pictures, or with a cover picture."""
    if codec not in av.codecs_available:
        raise Unavailable(f"no encoder {codec}")
    kept = io.BytesIO()
    with av.open(kept, "w", format=form) as container:
        voice: Any = container.add_stream(codec, rate=44100, layout="mono")
        image: Any = None
        if cover:
            image = container.add_stream("mjpeg", rate=1)
            image.width, image.height, image.pix_fmt = *SIZE, "yuvj420p"
            image.disposition = 0x400
        _hum(container, voice, 3.0)
        if cover:
            frame = av.VideoFrame.from_ndarray(picture(0, *SIZE), format="rgb24")
            container.mux(image.encode(frame))
            container.mux(image.encode())
    path.write_bytes(kept.getvalue())
    return path


def _hum(container: Any, voice: Any, seconds: float) -> None:
    wave = (0.2 * np.sin(np.arange(int(44100 * seconds)) / 40)).astype(np.float32)
    size = voice.codec_context.frame_size or 1024
    for start in range(0, len(wave) - size, size):
        form = voice.codec_context.format.name
        piece = wave[start : start + size][None]
        if not form.startswith("flt"):
            kind = np.int32 if form.startswith("s32") else np.int16
            piece = (piece * (np.iinfo(kind).max // 2)).astype(kind)
        frame = av.AudioFrame.from_ndarray(piece, format=form, layout="mono")
        frame.sample_rate, frame.pts = 44100, start
        container.mux(voice.encode(frame))
    container.mux(voice.encode())


def packets(path: Path) -> tuple[Any, list[Any]]:
    """The packets of a video's first stream, and the container that must be kept open."""
    container = av.open(str(path))
    stream = container.streams.video[0]
    return container, [packet for packet in container.demux(stream) if packet.size]


def remux(
    source: Path,
    target: Path,
    change: Callable[[int, Any], bool] = lambda number, packet: True,
    form: str = "mp4",
    muxer: dict[str, str] | None = None,
) -> Path:
    """Copy the coded frames that `change` wants, after it changed their times."""
    container, found = packets(source)
    kept = io.BytesIO()
    with av.open(kept, "w", format=form, options=muxer or {}) as out:
        stream = out.add_stream_from_template(container.streams.video[0], opaque=True)
        for number, packet in enumerate(found):
            if change(number, packet):
                packet.stream = stream
                out.mux(packet)
    container.close()
    target.write_bytes(kept.getvalue())
    return target


def boxes(data: bytes, *path: str) -> Iterator[tuple[int, int]]:
    """Begin and end of the content of each MP4 box of a path such as moov, trak, mdia, mdhd."""

    def look(begin: int, end: int, names: Sequence[str]) -> Iterator[tuple[int, int]]:
        while begin + 8 <= end:
            size = struct.unpack(">I", data[begin : begin + 4])[0]
            if size < 8:
                return
            if data[begin + 4 : begin + 8] == names[0].encode():
                inside = begin + 8, min(begin + size, end)
                if len(names) == 1:
                    yield inside
                else:
                    yield from look(*inside, names[1:])
            begin += size

    yield from look(0, len(data), path)


def patch(path: Path, changes: Iterable[tuple[tuple[str, ...], int, bytes]]) -> Path:
    """Overwrite bytes inside boxes: path of the box, offset in its content, new bytes."""
    data = bytearray(path.read_bytes())
    for box, offset, new in changes:
        found = list(boxes(bytes(data), *box))
        if not found:
            raise AssertionError(f"there is no box {box} in {path}")
        for begin, _ in found:
            data[begin + offset : begin + offset + len(new)] = new
    path.write_bytes(bytes(data))
    return path


MVHD = ("moov", "mvhd")
TKHD = ("moov", "trak", "tkhd")
MDHD = ("moov", "trak", "mdia", "mdhd")
STBL = ("moov", "trak", "mdia", "minf", "stbl")


def number(value: int) -> bytes:
    """Four bytes, most significant first."""
    return struct.pack(">I", value & 0xFFFFFFFF)


def durations(path: Path, length: int) -> Path:
    """Write a duration into all three headers (in their own units; version 0 boxes)."""
    return patch(path, [(MVHD, 16, number(length)), (TKHD, 20, number(length)),
                        (MDHD, 16, number(length))])  # fmt: skip


def turned(path: Path, matrix: Sequence[int]) -> Path:
    """Write a display matrix (nine 16.16 numbers) into the track's header."""
    return patch(path, [(TKHD, 40, b"".join(map(number, matrix)))])
