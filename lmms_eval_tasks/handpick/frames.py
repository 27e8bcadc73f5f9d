"""Pictures of a video for the page: the 16 frames, and the video as a browser can play it."""

from __future__ import annotations

import hashlib
import io
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic, TypeVar

from video_reasoning.preprocessing.files import make_once
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError, open_video

GRID = 16
"""Frames that an annotator sees, 4 x 4 (TVBench, section 3)."""

LONGEST_SIDE = 960
"""Pixels of the longer side of a picture or converted video in the page, at most."""

CACHE_BYTES = 96 * 1024 * 1024
"""Bytes of pictures that are kept in memory, at most."""

CONVERTED_VIDEOS = 16
"""Converted videos that are kept at a time, at most."""

_MILLISECOND = Fraction(1, 1000)

Picture = TypeVar("Picture")


@dataclass(frozen=True)
class Frames(Generic[Picture]):
    """Frames at equal intervals of one video.

    Attributes:
        n_frames: number of frames of the video, as decoded.
        indices: the frames' indices in the video, m of them, never falling.
        seconds: their times from the video's first frame.
        pictures: what was made of each.
    """

    n_frames: int
    indices: tuple[int, ...]
    seconds: tuple[float, ...]
    pictures: tuple[Picture, ...]


def read_frames(path: Path, make: Callable[[Any], Picture], m: int = GRID) -> Frames[Picture]:
    """Decodes a video and makes a picture of each of `uniform_indices(n_frames, m)`.

    Args:
        path: the video.
        make: turns a PIL image, upright, into what is wanted.
        m: number of frames.

    Returns:
        The frames.

    Raises:
        VideoError: if the video cannot be decoded.
    """
    n_frames = _listed(path)
    # What a file lists and what a decoder gives differ in a few formats; the decoder is right.
    for _ in range(2):
        wanted = uniform_indices(n_frames, m)
        made, count = _decode(path, make, frozenset(wanted))
        if count == n_frames:
            times, pictures = zip(*(made[index] for index in wanted), strict=True)
            return Frames(n_frames, tuple(wanted), times, pictures)
        n_frames = count
    raise VideoError(f"{path} gives another number of frames each time it is decoded.")


def count_frames(path: Path) -> int:
    """Number of frames of a video, as decoded.

    Raises:
        VideoError: if the video cannot be decoded.
    """
    return read_frames(path, lambda image: None, 1).n_frames


def has_frames(path: Path, n_frames: int) -> bool:
    """Whether a video has so many frames; it is decoded only where its index says otherwise.

    Raises:
        VideoError: if the video cannot be decoded.
    """
    return _listed(path) == n_frames or count_frames(path) == n_frames


def jpeg(image: Any) -> bytes:
    """A PIL image as JPEG, made smaller where it is large."""
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=85)
    return data.getvalue()


class FrameCache:
    """The grids of the videos looked at last, at most `limit` bytes of them.

    A grid that is being made is waited for, not made again.

    Args:
        limit: bytes of JPEG to keep. One grid is kept even if it alone is larger.
    """

    def __init__(self, limit: int = CACHE_BYTES) -> None:
        self.limit = limit
        self._mutex = threading.Lock()
        self._kept: OrderedDict[Path, Future[Frames[bytes]]] = OrderedDict()

    def get(self, path: Path) -> Frames[bytes]:
        """The grid of a video.

        Raises:
            VideoError: if the video cannot be decoded; that is not kept.
        """
        with self._mutex:
            future = self._kept.get(path)
            mine = future is None
            if future is None:
                future = self._kept[path] = Future()
            self._kept.move_to_end(path)
        if mine:
            try:
                future.set_result(read_frames(path, jpeg))
            except BaseException as error:
                with self._mutex:
                    self._kept.pop(path, None)
                future.set_exception(error)
            else:
                self._shrink()
        return future.result()

    @property
    def size(self) -> int:
        """Bytes of JPEG that are kept."""
        with self._mutex:
            return sum(map(_size, self._kept.values()))

    def _shrink(self) -> None:
        with self._mutex:
            total = sum(map(_size, self._kept.values()))
            for path in list(self._kept)[:-1]:
                if total <= self.limit:
                    return
                if self._kept[path].done():
                    total -= _size(self._kept.pop(path))


class Player:
    """Videos in a form that browsers play: as they are, or converted to H.264.

    Converted videos lie in a temporary folder until `close`.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._mutex = threading.Lock()

    def file(self, path: Path, *, convert: bool = False) -> tuple[Path, str]:
        """A file to play and its media type.

        Args:
            path: the video.
            convert: convert it even if browsers should be able to play it.

        Raises:
            VideoError: if the video cannot be decoded.
        """
        kind = media_type(path)
        if kind and not convert:
            return path, kind
        name = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()
        with self._mutex:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="handpick-"))
            made = make_once(self._folder / f"{name}.mp4", lambda target: _convert(path, target))
            made.touch()
            others = sorted(self._folder.glob("*.mp4"), key=lambda file: file.stat().st_mtime_ns)
            for file in others[:-CONVERTED_VIDEOS]:
                file.unlink(missing_ok=True)
        return made, "video/mp4"

    def close(self) -> None:
        """Removes the converted videos."""
        with self._mutex:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None


def media_type(path: Path) -> str:
    """The media type of a video that browsers play, or the empty text.

    Raises:
        VideoError: if the file is no video that can be opened.
    """
    with open_video(path) as (container, stream):
        formats = container.format.name.split(",")
        codec, pixels = stream.codec_context.name, stream.codec_context.pix_fmt
    plain = pixels in ("yuv420p", "yuvj420p", None)
    if "mp4" in formats and codec in ("h264", "vp9", "libvpx-vp9", "av1", "libdav1d") and plain:
        return "video/mp4"
    # Matroska's own files share the format's name with WebM; their codec decides.
    webm = ("vp8", "libvpx", "vp9", "libvpx-vp9", "av1", "libdav1d")
    return "video/webm" if "webm" in formats and codec in webm and plain else ""


def _listed(path: Path) -> int:
    """Number of frames that a file lists, without decoding them."""
    with open_video(path) as (container, stream):
        packets = sum(
            bool(packet.size) and not packet.is_discard for packet in container.demux(stream)
        )
    return max(1, packets)


def _decode(
    path: Path, make: Callable[[Any], Picture], wanted: frozenset[int]
) -> tuple[dict[int, tuple[float, Picture]], int]:
    """Decodes a whole video; gives time and picture of the wanted frames, and the count."""
    made = {}
    count = 0
    start = None
    with open_video(path) as (container, stream):
        rate = float(stream.average_rate or stream.guessed_rate or 25)
        for frame in container.decode(stream):
            if start is None:
                start = frame.time
            if count in wanted:
                known = frame.time is not None and start is not None
                time = frame.time - start if known else count / rate
                made[count] = (round(float(time), 3), make(_upright(frame)))
            count += 1
    if not count:
        raise VideoError(f"{path} holds no frame that can be decoded.")
    return made, count


def _upright(frame: Any) -> Any:
    """A frame as a PIL image, turned as a player turns it."""
    image = frame.to_image()
    rotation = round(getattr(frame, "rotation", 0) or 0) % 360
    return image.rotate(rotation, expand=True) if rotation else image


def _convert(path: Path, target: Path) -> None:
    """Writes a video as H.264 at its own times, without sound."""
    import av

    with open_video(path) as (source, stream), av.open(str(target), "w") as container:
        out: Any = None
        last = -1
        rate = stream.average_rate or stream.guessed_rate or 25
        for number, frame in enumerate(source.decode(stream)):
            image = _upright(frame)
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            if out is None:
                start = frame.time or 0.0
                out = container.add_stream("libx264", rate=rate)
                # The encoder wants even sizes.
                size = tuple(max(2, side - side % 2) for side in image.size)
                out.width, out.height, out.pix_fmt = *size, "yuv420p"
                out.options = {"preset": "veryfast", "crf": "20"}
                out.codec_context.time_base = _MILLISECOND
            picture = av.VideoFrame.from_image(image.resize((out.width, out.height)))
            time = number / float(rate) if frame.time is None else frame.time - start
            last = max(last + 1, round(time * 1000))
            picture.pts, picture.time_base = last, _MILLISECOND
            container.mux(out.encode(picture))
        if out is None:
            raise VideoError(f"{path} holds no frame that can be decoded.")
        container.mux(out.encode())


def _size(future: Future[Frames[bytes]]) -> int:
    if not future.done() or future.exception() is not None:
        return 0
    return sum(map(len, future.result().pictures))
