"""Frames of a video by their number: for clips, and as pictures for people."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from video_reasoning.preprocessing.pictures import rotation_of
from video_reasoning.preprocessing.video import VideoError, open_video, reported

# Larger files are read from the disk twice.
_KEPT_BYTES = 256 * 1024 * 1024

# Codecs whose packets in MP4 or Matroska are one shown frame each.
_ONE_PACKET_A_FRAME = ("h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "libvpx-vp9", "mjpeg")

# Decoders that leave out frames on request, and do not need those for the others.
_SKIPPING = ("h264", "hevc")

Picture = TypeVar("Picture")


class NumberedFrames:
    """The frames of a video by their number in display order, from 0.

    They are counted without decoding if every packet of the file is one frame with a time of its
    own, otherwise by decoding. Use it as a context manager.

    Args:
        path: The video.

    Attributes:
        path: The video.
        seconds: Time of each frame, counted from the first one.

    Raises:
        VideoError: The video cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stack = ExitStack()
        self._stream: Any = None
        self._packets: list[Any] | None = None
        # The time of each frame in display order, if frames can be found by it.
        self._times: list[int] | None = None
        self.seconds: list[float] = []

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.seconds)

    def __enter__(self) -> NumberedFrames:
        with ExitStack() as stack:
            container, self._stream = stack.enter_context(open_video(self.path))
            keep = self.path.stat().st_size <= _KEPT_BYTES
            packets = []
            facts = []
            for packet in container.demux(self._stream):
                if keep:
                    packets.append(packet)
                if packet.size:
                    sound = not packet.is_corrupt and not packet.is_discard
                    facts.append((packet.pts, sound, packet.is_keyframe))
            if keep:
                self._packets = packets
            times = [time for time, _, _ in facts]
            # The first frame must not depend on others either; if anything is in doubt, frames
            # are counted as they come.
            if (
                container.format.name.startswith(("mov", "matroska"))
                and self._stream.codec_context.name in _ONE_PACKET_A_FRAME
                and facts
                and None not in times
                and len(set(times)) == len(times)
                and times[0] == min(times)
                and facts[0][2]
                and all(sound for _, sound, _ in facts)
            ):
                self._times = sorted(times)
                unit = float(self._stream.time_base)
                self.seconds = [(time - times[0]) * unit for time in self._times]
            else:
                self.recount()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._packets = None
        # Closed without the error of the block, which need not be one of this video.
        self._stack.close()

    def recount(self) -> None:
        """Count the frames by decoding them, and find them by their number from now on.

        Raises:
            VideoError: The video has no frame that can be decoded.
        """
        self._times = None
        rate = float(self._stream.average_rate or self._stream.guessed_rate or 25)
        times = [frame.time for frame in self.decode()]
        if not times:
            raise VideoError(f"{self.path} does not contain a frame that can be decoded.")
        self.seconds = [
            number / rate if time is None or times[0] is None else float(time - times[0])
            for number, time in enumerate(times)
        ]

    def read(
        self, choose: Callable[[int], Collection[int]], make: Callable[[Any], Picture]
    ) -> dict[int, Picture]:
        """Decode the video and make something of some of its frames.

        Args:
            choose: Number of frames -> numbers of the frames wanted. Called again if decoding
                shows that the file promised another number of frames.
            make: Turns a frame (of PyAV) into what is wanted.

        Returns:
            What was made, by the number of the frame.

        Raises:
            VideoError: The video cannot be decoded.
        """
        for _ in range(2):
            wanted = set(choose(self.n_frames))
            found = {number: make(frame) for number, frame in self._numbered(wanted)}
            if len(found) == len(wanted):
                return found
            self.recount()
        raise VideoError(
            f"{self.path} gives another number of frames each time that it is decoded."
        )

    def _numbered(self, wanted: Collection[int]) -> Iterator[tuple[int, Any]]:
        if self._times is None:
            yield from (pair for pair in enumerate(self.decode()) if pair[0] in wanted)
        else:
            by_time = {self._times[number]: number for number in wanted}
            for frame in self.decode(by_time):
                if frame.pts in by_time:
                    yield by_time[frame.pts], frame

    def decode(self, times: Container[int] | None = None) -> Iterator[Any]:
        """Yield the frames in display order.

        Args:
            times: The times of frames that are needed; None for all. Other frames on which no
                frame depends may be left out, which changes nothing in the rest.

        Yields:
            PyAV video frames.
        """
        packets: Iterable[Any] | None = self._packets
        stream = self._stream
        self._packets = None
        with ExitStack() as stack:
            stack.enter_context(reported(self.path))
            if packets is None:
                container, stream = stack.enter_context(open_video(self.path))
                packets = container.demux(stream)
            context = stream.codec_context
            skips = False
            can_skip = times is not None and context.name in _SKIPPING
            for packet in packets:
                skip = can_skip and bool(packet.size) and packet.pts not in (times or ())
                if skip != skips:
                    context.skip_frame = "NONREF" if skip else "DEFAULT"
                    skips = skip
                yield from packet.decode()


@dataclass(frozen=True)
class Frames(Generic[Picture]):
    """Some frames of a video.

    Attributes:
        n_frames: Number of frames of the video.
        indices: The frames' indices in the video, in the order chosen.
        seconds: Their times from the video's first frame.
        pictures: What was made of each.
    """

    n_frames: int
    indices: tuple[int, ...]
    seconds: tuple[float, ...]
    pictures: tuple[Picture, ...]


def read_frames(
    path: Path, choose: Callable[[int], Sequence[int]], make: Callable[[Any], Picture]
) -> Frames[Picture]:
    """Make pictures of some frames of a video, upright as a player shows them.

    Args:
        path: The video.
        choose: Number of frames -> indices of the frames wanted.
        make: Turns a PIL image into what is wanted, e.g. `jpeg`.

    Returns:
        The frames.

    Raises:
        VideoError: The video cannot be decoded.
    """
    with NumberedFrames(path) as video:
        found = video.read(choose, lambda frame: make(upright(frame)))
        indices = tuple(choose(video.n_frames))
        return Frames(
            video.n_frames,
            indices,
            tuple(round(video.seconds[index], 3) for index in indices),
            tuple(found[index] for index in indices),
        )


def count_frames(path: Path) -> int:
    """Return the number of frames of a video.

    Raises:
        VideoError: The video cannot be read.
    """
    with NumberedFrames(path) as video:
        return video.n_frames


def upright(frame: Any) -> Any:
    """Return a frame as a PIL image, turned as a player turns it."""
    rotation = rotation_of(frame)
    image = frame.to_image()
    return image.rotate(rotation, expand=True) if rotation else image


def jpeg(image: Any, longest: int = 960, quality: int = 85) -> bytes:
    """Return a PIL image as JPEG.

    Args:
        image: The image; it is made smaller in place.
        longest: Longer side of the result in pixels, at most.
        quality: Quality of the compression, 1..95.
    """
    image.thumbnail((longest, longest))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=quality, optimize=True)
    return data.getvalue()
