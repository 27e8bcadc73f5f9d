"""Pictures of a video for the page: the 16 frames, and the video as a browser can play it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import make_once
from video_reasoning.preprocessing.frames import Frames, Picture, jpeg, read_frames
from video_reasoning.preprocessing.pictures import Converter
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError, open_video

GRID = 16  # frames that an annotator sees, 4 x 4 (TVBench, section 3)
LONGEST_SIDE = 960  # pixels of the longer side of a converted video, at most
GRIDS = 32  # grids that are kept in memory, at most; one takes about two megabytes
CONVERTED_VIDEOS = 16  # converted videos that are kept at a time, at most
_MILLISECOND = Fraction(1, 1000)

Rule = Callable[[int], Sequence[int]]
"""Number of a video's frames -> indices of those shown; equal rules are equal objects."""


def read_grid(path: Path, make: Callable[[Any], Picture]) -> Frames[Picture]:
    """Make pictures of the frames that an annotator sees; see `read_frames`."""
    return read_frames(path, lambda n_frames: uniform_indices(n_frames, GRID), make)


class FrameCache:
    """The grids of the videos looked at last, as JPEG.

    A grid that is being made is waited for, not made again.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._kept: OrderedDict[tuple[Path, Rule | None], Future[Frames[bytes]]] = OrderedDict()

    def get(self, path: Path, rule: Rule | None = None) -> Frames[bytes]:
        """Return frames of a video: its grid if no rule is given.

        Raises:
            VideoError: The video cannot be decoded; that is not kept.
        """
        key = path, rule
        with self._mutex:
            future = self._kept.get(key)
            mine = future is None
            if future is None:
                future = self._kept[key] = Future()
            self._kept.move_to_end(key)
            while len(self._kept) > GRIDS:
                self._kept.popitem(last=False)
        if mine:
            try:
                future.set_result(read_frames(path, rule, jpeg) if rule else read_grid(path, jpeg))
            except BaseException as error:
                with self._mutex:
                    self._kept.pop(key, None)
                future.set_exception(error)
        return future.result()


class Player:
    """Videos in a form that browsers play: as they are, or converted to H.264.

    Converted videos are in a temporary folder until `close`.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._mutex = threading.Lock()

    def file(self, path: Path, *, convert: bool = False) -> tuple[Path, str]:
        """Return a file to play and its media type, converted if need be or if that is asked for.

        Raises:
            VideoError: The video cannot be decoded.
        """
        kind = media_type(path)
        if kind and not convert:
            return path, kind
        name = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()
        with self._mutex:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="video-reasoning-"))
            made = make_once(self._folder / f"{name}.mp4", lambda target: _convert(path, target))
            made.touch()
            others = sorted(self._folder.glob("*.mp4"), key=lambda file: file.stat().st_mtime_ns)
            for file in others[:-CONVERTED_VIDEOS]:
                file.unlink(missing_ok=True)
        return made, "video/mp4"

    def check(self, path: Path) -> None:
        """Make sure that a video can be opened.

        Raises:
            VideoError: It cannot.
        """
        media_type(path)

    def close(self) -> None:
        """Remove the converted videos."""
        with self._mutex:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None


def media_type(path: Path) -> str:
    """Return the media type of a video that browsers play, or the empty text.

    Raises:
        VideoError: The file is not a video that can be opened.
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


def _convert(path: Path, target: Path) -> None:
    """Write a video as H.264 at its own times, without sound."""
    import av

    with open_video(path) as (source, stream), av.open(str(target), "w") as container:
        out: Any = None
        last = -1
        rate = stream.average_rate or stream.guessed_rate or 25
        for number, frame in enumerate(source.decode(stream)):
            if out is None:
                start = frame.time or 0.0
                convert = _fitting(frame)
                out = container.add_stream("libx264", rate=rate)
                (out.width, out.height), out.pix_fmt = convert.size, convert.format
                out.options = {"preset": "veryfast", "crf": "20"}
                out.codec_context.time_base = _MILLISECOND
            time = number / float(rate) if frame.time is None else frame.time - start
            picture = convert(frame)
            last = max(last + 1, round(time * 1000))
            picture.pts, picture.time_base, picture.pict_type = last, _MILLISECOND, 0
            container.mux(out.encode(picture))
        if out is None:
            raise VideoError(f"{path} does not contain a frame that can be decoded.")
        container.mux(out.encode())


def _fitting(frame: Any) -> Converter:
    """Brings frames to a size that the page can show."""
    convert = Converter(frame)
    scale = LONGEST_SIDE / max(convert.size)
    if scale >= 1:
        return convert
    width, height = (max(2, round(side * scale / 2) * 2) for side in convert.size)
    return Converter(frame, (width, height))
