"""Frames of a video by their number: for clips, and as pictures for people."""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from video_reasoning.preprocessing.pictures import is_mirrored, rotation_of
from video_reasoning.preprocessing.video import VideoError, open_video

# Codecs whose packets in MP4 or Matroska are one shown frame each.
_ONE_PACKET_A_FRAME = ("h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "libvpx-vp9", "mjpeg")

# Decoders that leave out frames on request, and do not need those for the others.
_SKIPPING = ("h264", "hevc")

# Frames that are decoded rather than passed over by seeking to the key frame behind them.
_WORTH_SEEKING = 16

Picture = TypeVar("Picture")


class NumberedFrames:
    """The frames of a video by their number in display order, from 0, and the time of each.

    They are counted without decoding if every packet of the file is one frame with a time of its
    own, otherwise by decoding. Times count from the first frame, in seconds.

    Raises:
        VideoError: The video cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: list[float] = []
        # The time of each frame in display order, if frames can be found by it.
        self._times: list[int] | None = None
        self._keys: list[int] = []  # of those, the key frames'
        with open_video(path) as (container, stream):
            facts = [
                (packet.pts, packet.is_keyframe, packet.is_corrupt or packet.is_discard)
                for packet in container.demux(stream)
                if packet.size
            ]
            times = [time for time, _, _ in facts]
            # The first frame must not depend on others either; if anything is in doubt, frames
            # are counted as they come.
            if (
                container.format.name.startswith(("mov", "matroska"))
                and stream.codec_context.name in _ONE_PACKET_A_FRAME
                and facts
                and None not in times
                and len(set(times)) == len(times)
                and times[0] == min(times)
                and facts[0][1]
                and not any(hidden for _, _, hidden in facts)
            ):
                self._times = sorted(times)
                self._keys = sorted(time for time, key, _ in facts if key)
                unit = float(stream.time_base)
                self.seconds = [(time - times[0]) * unit for time in self._times]
        if self._times is None:
            self.recount()

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.seconds)

    def recount(self) -> None:
        """Count the frames by decoding them, and find them by their number from now on.

        Raises:
            VideoError: The video has no frame that can be decoded.
        """
        self._times = None
        times = []
        with open_video(self.path) as (container, stream):
            rate = float(stream.average_rate or stream.guessed_rate or 25)
            for frame in container.decode(stream):
                times.append(frame.time)
        if not times:
            raise VideoError(f"{self.path} does not contain a frame that can be decoded.")
        self.seconds = [
            number / rate if time is None or times[0] is None else float(time - times[0])
            for number, time in enumerate(times)
        ]

    def read(
        self, choose: Callable[[int], Collection[int]], make: Callable[[Any], Picture]
    ) -> dict[int, Picture]:
        """Decode the video and make something of some of its frames, which are PyAV's, by number.

        The frames are chosen by the number of all; again if decoding shows that the file promised
        another number.

        Raises:
            VideoError: The video cannot be decoded.
        """
        for _ in range(2):
            wanted = set(choose(self.n_frames))
            found = {number: make(frame) for number, frame in self._decode(wanted)}
            if len(found) == len(wanted):
                return found
            self.recount()
        raise VideoError(
            f"{self.path} gives another number of frames each time that it is decoded."
        )

    def _decode(self, wanted: Collection[int]) -> Iterator[tuple[int, Any]]:
        """Yield the wanted frames by number, skipping what nothing depends on if possible."""
        if self._times is not None:
            yield from self._decode_by_time({self._times[number]: number for number in wanted})
            return
        with open_video(self.path) as (container, stream):
            for number, frame in enumerate(container.decode(stream)):
                if number in wanted:
                    yield number, frame

    def _decode_by_time(self, by_time: Mapping[int, int]) -> Iterator[tuple[int, Any]]:
        with open_video(self.path) as (container, stream):
            context = stream.codec_context
            for place, (start, times) in enumerate(self._stretches(sorted(by_time))):
                if place or start != self._keys[0]:
                    container.seek(start, stream=stream)
                left = set(times)
                for packet in container.demux(stream):
                    if context.name in _SKIPPING:
                        skip = packet.size and packet.pts not in left
                        context.skip_frame = "NONREF" if skip else "DEFAULT"
                    for frame in packet.decode():
                        # One that lacks a frame before the key frame is not taken: without it,
                        # all frames are decoded.
                        if frame.pts in left and not (start and frame.is_corrupt):
                            left.remove(frame.pts)
                            yield by_time[frame.pts], frame
                    if not left:
                        break

    def _stretches(self, times: Sequence[int]) -> list[tuple[int, list[int]]]:
        """Part wanted frames into those that are decoded in one go, each from a key frame on."""
        assert self._times is not None
        found: list[tuple[int, list[int]]] = []
        for time in times:
            key = self._keys[bisect_right(self._keys, time) - 1]
            last = found[-1][1][-1] if found else self._times[0]
            passed = bisect_left(self._times, key) - bisect_left(self._times, last)
            if not found or passed >= _WORTH_SEEKING:
                start = key if passed >= _WORTH_SEEKING else self._keys[0]
                found.append((start, [time]))
            else:
                found[-1][1].append(time)
        return found


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
    video = NumberedFrames(path)
    found = video.read(choose, lambda frame: make(_upright(frame)))
    indices = tuple(choose(video.n_frames))
    seconds = tuple(round(video.seconds[index], 3) for index in indices)
    return Frames(video.n_frames, indices, seconds, tuple(found[index] for index in indices))


def count_frames(path: Path) -> int:
    """Return the number of frames of a video.

    Raises:
        VideoError: The video cannot be read.
    """
    return NumberedFrames(path).n_frames


def _upright(frame: Any) -> Any:
    """Return a frame as a PIL image, turned as a player turns it."""
    rotation = rotation_of(frame)
    image = frame.to_image()
    from PIL import ImageOps

    turned = image.rotate(rotation, expand=True) if rotation else image
    return ImageOps.mirror(turned) if is_mirrored(frame) else turned


def jpeg(image: Any, longest: int = 960, quality: int = 85) -> bytes:
    """Return a PIL image as JPEG of a quality of 1..95; it is made smaller in place."""
    image.thumbnail((longest, longest))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=quality, optimize=True)
    return data.getvalue()
