"""Clips of single frames, encoded without loss: H.264, all key frames.

Any reader and any sampler gets these frames bit for bit as it would read them from the source.

What changes the pixels, once and the same everywhere: sources that are not 8-bit 4:2:0 are
converted to it, a rotation that the file only notes is carried out, and odd sizes are filled up to
even ones by repeating the last row or column.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error

from video_reasoning.preprocessing.pictures import Converter, black_frame

# No library version, no time and no bit rate of the template in the file: the same bytes for
# the same frames.
_MUXER_OPTIONS = {"fflags": "+bitexact", "write_btrt": "0"}

_TICKS = 90_000
# Units of time in a second: the usual rates, 30000/1001 too, are whole numbers of them.

# More are of use only if decoding takes no time.
_ENCODERS = min(
    4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)


class Bank:
    """Frames of one video, each encoded once by itself, from which clips are put together.

    Encoding a frame without loss costs more than decoding several, so that it goes on in a few
    threads while the next frames are decoded. Which of the encoders takes a frame does not show
    in its bytes. Use it as a context manager.
    """

    def __init__(self) -> None:
        self._encoders: list[_Encoder] = []
        self._pending: deque[Future[None]] = deque()
        self._convert: Converter | None = None
        self._packets: list[bytes] = []
        self._count = 0

    def __enter__(self) -> Bank:
        return self

    def __exit__(self, *_: object) -> None:
        for encoder in self._encoders:
            encoder.close()

    def add(self, frame: Any) -> int:
        """Encode a frame of the source, and return its number in the bank: 0, 1, 2, ..."""
        if self._convert is None:
            self._convert = Converter(frame, keep_range=True)
        return self._submit(self._convert(frame))

    def add_black(self) -> int:
        """Encode a black frame of the size of those before it, and return its number."""
        if not self._encoders:
            raise ValueError("The bank has no frame whose size a black one could have.")
        stream = self._encoders[0].stream
        picture = black_frame(stream.width, stream.height, stream.pix_fmt)
        picture.color_range = stream.codec_context.color_range
        picture.colorspace = stream.codec_context.colorspace
        return self._submit(picture)

    def _submit(self, picture: Any) -> int:
        place = self._count % _ENCODERS
        self._count += 1
        if place == len(self._encoders):
            self._encoders.append(_Encoder(picture))
        if len(self._pending) >= 2 * _ENCODERS:
            # Frames must not pile up: each takes megabytes.
            self._pending.popleft().result()
        self._pending.append(self._encoders[place].submit(picture))
        return self._count - 1

    def finish(self) -> None:
        """End encoding; from now on clips can be written."""
        while self._pending:
            self._pending.popleft().result()
        self._packets = [b""] * self._count
        for place, encoder in enumerate(self._encoders):
            self._packets[place::_ENCODERS] = encoder.finish()

    def write(
        self, numbers: Sequence[int], path: Path, times: Sequence[float] | None = None
    ) -> None:
        """Write a clip of some frames of the bank.

        Args:
            numbers: The frames, in the order shown.
            path: The file to write.
            times: When each frame is shown and, last, when the clip ends, in seconds, ascending;
                one frame a second if it is None.

        Raises:
            OSError: The file cannot be written, e.g. because the disk is full.
        """
        unit = Fraction(1, 1 if times is None else _TICKS)
        ticks = _ascending(range(len(numbers) + 1) if times is None else times, unit)
        # Written in memory first: a full disk is then an error of Python's own, at one place.
        file = io.BytesIO()
        with av.open(file, "w", format="mp4", options=_MUXER_OPTIONS) as container:
            template = self._encoders[0].stream
            stream: Any = container.add_stream_from_template(template, opaque=True)
            stream.time_base = unit
            for position, number in enumerate(numbers):
                packet = av.Packet(_renumbered(self._packets[number], position))
                packet.stream = stream
                packet.pts = packet.dts = ticks[position]
                packet.duration = ticks[position + 1] - ticks[position]
                packet.time_base = unit
                packet.is_keyframe = True
                container.mux(packet)
        path.write_bytes(file.getbuffer())


class _Encoder:
    """One encoder of pictures of one shape, in a thread of its own.

    Attributes:
        stream: After `finish`, the encoded stream, as a template for others.
    """

    def __init__(self, picture: Any) -> None:
        self._file = io.BytesIO()
        self._thread = ThreadPoolExecutor(1, "encoder")
        self._count = 0
        self._container: Any = av.open(self._file, "w", format="mp4")
        stream: Any = self._container.add_stream("libx264", rate=1)
        stream.width, stream.height = picture.width, picture.height
        stream.pix_fmt = picture.format.name
        context = stream.codec_context
        context.color_range = picture.color_range
        context.colorspace = picture.colorspace
        # One thread and one slice: the same bytes on a machine of any size.
        context.thread_count = 1
        stream.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "qp": "0",
            "g": "1",
            "x264-params": "aud=1:threads=1:sliced-threads=0",
        }
        self.stream = stream
        self._filler = black_frame(picture.width, picture.height, picture.format.name)

    def submit(self, picture: Any) -> Future[None]:
        """Encode a picture some time later."""
        return self._thread.submit(self._encode, picture)

    def _encode(self, picture: Any) -> None:
        # The encoder numbers its key frames 0, 1, 0, 1, ...: an empty picture before each frame
        # gives all frames the same number, so that their bytes do not depend on their place.
        for image in (self._filler, picture):
            image.pts, image.time_base = self._count, Fraction(1)
            image.pict_type = 0
            self._count += 1
            self._container.mux(self.stream.encode(image))

    def finish(self) -> list[bytes]:
        """End encoding and return the bytes of the pictures, in their order."""
        self._thread.shutdown()
        self._container.mux(self.stream.encode())
        self._container.close()
        self._file.seek(0)
        self._container = av.open(self._file)
        self.stream = self._container.streams.video[0]
        encoded = [bytes(packet) for packet in self._container.demux(self.stream) if packet.size]
        return encoded[1::2]

    def close(self) -> None:
        """Free what is held; more cannot be encoded, and the stream is gone."""
        self._thread.shutdown(cancel_futures=True)
        # Left to the garbage collector, libav's memory could be freed in the wrong order.
        with contextlib.suppress(av.error.FFmpegError, OSError, ValueError):
            self._container.close()


def _ascending(seconds: Sequence[float], unit: Fraction) -> list[int]:
    """Return times in units, each later than the one before, as a container asks for."""
    ticks: list[int] = []
    for each in seconds:
        ticks.append(max(round(each / unit), ticks[-1] + 1 if ticks else 0))
    return ticks


def _renumbered(packet: bytes, position: int) -> bytes:
    """Give a key frame the number that its place in the clip calls for.

    Two key frames in a row must differ in idr_pic_id (H.264, 7.4.3), or a strict decoder may take
    them for parts of one picture. The encoder wrote 1 into all of them, which is the code 010; in
    every second one it becomes 011, which is 2.
    """
    if position % 2 == 0:
        return packet
    start = 0
    while start + 4 < len(packet):
        size = int.from_bytes(packet[start : start + 4], "big")
        # 65 is the unit of a key frame; 88 its first slice, of intra type; then come one bit of
        # parameter set 0, four of frame number 0 and the three bits wanted.
        if packet[start + 4 : start + 7] == b"\x65\x88\x82":
            return packet[: start + 6] + b"\x83" + packet[start + 7 :]
        start += 4 + size
    return packet
