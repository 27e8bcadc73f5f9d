"""What a video file is, and whether it can be decoded."""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error

from video_reasoning.preprocessing.pictures import rotation_of

MOST_PIXELS = 8192 * 8192
"""A picture with more is refused: a file of a kilobyte may claim one that fills the memory."""

MOST_RATE = 1000
"""Frames per second; a mean rate above is believed only if the frames' times say the same."""

_DAMAGED = "its data is damaged or cut off, or it is not a video"
_FALLBACK_RATE = Fraction(25)

# These never have three zero bytes in a row, unless start codes, padded with zeros, part them.
_WITHOUT_ZEROS = ("h264", "hevc")
_HOLE = bytes(64)
_BEHIND = 2  # packets that the demuxer has finished before it sees that its counters jump

_HDR = {16: "PQ", 18: "HLG"}

# Only formats that contain their own pictures: playlists (hls, concat, dash) would read other files
# and a plain text would be drawn as a picture (tty).
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,m4v,h264,hevc,h263,av1,obu,"
    "ivf,flv,asf,gif,apng,ogg,mjpeg,mxf,nut,dv,rm,swf,yuv4mpegpipe,wtv,png_pipe,jpeg_pipe,"
    "webp_pipe,bmp_pipe,mp3,wav,aac,flac"
)


class VideoError(Exception):
    """A video cannot be used; the message is one sentence that names the file and the reason."""


LONGEST_FRAME_SECONDS = 3600
"""For which a frame may be shown; MP4 counts the ticks of a frame in 32 bits."""


def check_longest(path: Path, seconds: float) -> None:
    """Refuse a frame that lasts longer than a clip's clock can count.

    Args:
        path: The video.
        seconds: How long its longest frame is shown.

    Raises:
        VideoError: That is more than an hour.
    """
    if seconds > LONGEST_FRAME_SECONDS:
        raise VideoError(
            f"{path} shows one frame for more than {LONGEST_FRAME_SECONDS // 60} minutes, so that "
            "no clip can be encoded."
        )


@dataclass(frozen=True)
class VideoInfo:
    """Facts about the first video stream of a file.

    Attributes:
        width: Width in pixels as displayed, that is after rotation.
        height: Height in pixels as displayed.
        frames: Number of frames: exact from `verify`; from `probe` what the header says or, if it
            does not, duration times rate (0 if neither is known).
        fps: Mean frames per second (25 if the file does not say).
        duration: Length in seconds of the video stream.
        codec: Name of the codec, e.g. `h264`.
        pixel_format: Name of the pixel format, e.g. `yuv420p`.
        rotation: Degrees by which a player turns the picture counterclockwise: 0, 90, 180, 270
            or, for the rare others, any number in 0..359.
        has_audio: Whether the file has an audio stream.
        notes: What others may see differently, in words: HDR, pixels that are not square, other
            video streams and, from `verify`, times that begin again.
    """

    width: int
    height: int
    frames: int
    fps: Fraction
    duration: float
    codec: str
    pixel_format: str
    rotation: int
    has_audio: bool
    notes: tuple[str, ...] = ()


@contextmanager
def open_video(path: Path) -> Iterator[tuple[Any, Any]]:
    """Open a video file for decoding, with every fault as a `VideoError`.

    Args:
        path: The file.

    Yields:
        The container and its first video stream (PyAV objects), decoding set to use threads.

    Raises:
        VideoError: The file is missing, empty or not a video, or its data has a fault.
    """
    path = Path(path)
    check_file(path)
    with ExitStack() as stack:
        stack.enter_context(reported(path))
        # An absolute path is never taken for a protocol ("a:b.mp4"), whatever the file is called.
        container = av.open(
            os.path.abspath(path),  # noqa: PTH100 - keeps links, as the user named them
            # Not `options`: those go to the streams as well, and a format that declares its streams
            # only later (FLV) then takes the whole process down.
            container_options={"format_whitelist": _FORMATS},
            metadata_errors="ignore",
        )
        stack.callback(container.close)
        streams = _streams(container)
        if not streams and not container.streams.audio:
            raise VideoError(f"{path} cannot be decoded: {_DAMAGED}.")
        if not streams:
            raise VideoError(f"{path} has no video stream.")
        stream = streams[0]
        if len(streams) > 1 and container.streams.best("video") not in (stream, None):
            raise VideoError(
                f"{path} has {len(streams)} video streams, and readers differ in which they show; "
                "write a copy with one of them."
            )
        # A stream of a codec that this build cannot decode has no codec context.
        if stream.codec_context is None or not stream.codec_context.name:
            raise VideoError(f"{path} contains video in a codec that cannot be decoded.")
        context = stream.codec_context
        if context.width * context.height > MOST_PIXELS:
            raise VideoError(
                f"{path} is too large: {context.width}x{context.height} pixels; at "
                f"most {MOST_PIXELS:,} are accepted."
            )
        # The decoder may find another size than the header gives.
        context.options = {"max_pixels": str(MOST_PIXELS)}
        stream.thread_type = "AUTO"
        yield container, stream


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Turn what libav raises over a file into a `VideoError`.

    Args:
        path: The file that the body reads.

    Yields:
        Nothing.

    Raises:
        VideoError: The body found a fault in the file.
    """
    try:
        yield
    except (av.error.FFmpegError, ValueError, EOFError) as error:
        raise VideoError(f"{path} cannot be decoded: {_reason(error)}.") from None
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {_reason(error)}.") from None


def decode_strictly(path: Path, container: Any, stream: Any) -> Iterator[Any]:
    """Yield the decoded frames of a stream in display order, if all of its data is there.

    Args:
        path: The file, for messages.
        container: The open container, at its beginning.
        stream: The video stream.

    Yields:
        PyAV video frames, at least one.

    Raises:
        VideoError: Data is missing, or there is no frame.
    """
    frames = packets = 0
    doubtful = 0  # the packet at which data seems to be missing
    last: Any = None

    def lacking() -> VideoError:
        return VideoError(f"{path} is truncated or damaged: data is missing after {frames} frames.")

    for packet in container.demux(stream):
        if packet.size:
            packets += 1
            if doubtful and _begins_again(container, last, packet):
                doubtful = 0
            last = packet
            doubtful = doubtful or (packets if packet.is_corrupt else 0)
        late = container.format.name != "mpegts" or packets - doubtful >= _BEHIND
        if (doubtful and late) or _has_hole(packet, stream):
            raise lacking()
        for frame in packet.decode():
            frames += 1
            yield frame
    if doubtful:
        raise lacking()
    if frames == 0:
        raise VideoError(f"{path} does not contain a frame that can be decoded.")
    if container.format.name.startswith("matroska"):
        missing = _missing_bytes(path)
        if missing > 0:
            raise VideoError(
                f"{path} is truncated: its header promises {missing:,} bytes more than it has."
            )
        if missing < 0:
            raise VideoError(f"{path} is damaged: there is no data at byte {-missing:,}.")
    # Only this family of formats lists every packet in its header. An edit list may hide some of
    # them on purpose, as in a video that was trimmed on a telephone: then all must be counted.
    if container.format.name.startswith("mov") and packets < stream.frames:
        packets = max(packets, _count_stored(path, stream.index))
        if packets < stream.frames:
            raise VideoError(
                f"{path} is truncated: its header promises {stream.frames} frames, but it "
                f"contains {packets}."
            )


def _begins_again(container: Any, last: Any, packet: Any) -> bool:
    """Tell whether a recording ends and another begins, as in MPEG-TS files put end to end.

    The counters in the packets then jump as they do if data is lost.
    """
    if container.format.name != "mpegts" or None in (last.dts, packet.dts):
        return False
    return bool(packet.is_keyframe and packet.dts <= last.dts)


def _has_hole(packet: Any, stream: Any) -> bool:
    """Tell whether a part of a frame was overwritten with zeros, as by a download that failed."""
    context = stream.codec_context
    # With sizes in place of start codes, the setup begins with its version, 1.
    if context.name not in _WITHOUT_ZEROS or bytes(context.extradata or b"")[:1] != b"\x01":
        return False
    return _HOLE in bytes(packet)


def _count_stored(path: Path, index: int) -> int:
    """Return the number of packets in a stream of an MP4 file, hidden ones too."""
    options = {"format_whitelist": _FORMATS, "ignore_editlist": "1"}
    with (
        reported(path),
        av.open(
            os.path.abspath(path),  # noqa: PTH100 - as in `open_video`
            container_options=options,
            metadata_errors="ignore",
        ) as container,
    ):
        packets = container.demux(container.streams[index])
        return sum(bool(packet.size) and not packet.is_corrupt for packet in packets)


def _missing_bytes(path: Path) -> int:
    """Return how many bytes a Matroska or WebM file lacks of what its header promises.

    The file is two elements: a header, and a segment with everything else, whose size is written
    when the file is finished (all ones in a stream, whose end nobody knew). The segment is made of
    clusters, and these of blocks, each with its size before it.

    Returns:
        The number of bytes; or, negative, the place at which there is no element, as in a hole
        of zeros.
    """
    with path.open("rb") as file:

        def element(place: int) -> tuple[bytes, int, int, bool]:
            """Return an element's name, where its content begins and ends, and if that is known."""
            file.seek(place)
            head = file.read(12)
            length = 9 - head[0].bit_length()
            size, begin, known = _number(head, length)
            return head[:length], place + begin, place + begin + size, known

        def gap(place: int, end: int) -> int:
            """Return the first place between two at which there is no element, or 0."""
            while place < end:
                name, begin, after, known = element(place)
                if len(name) > 4 or after > end:
                    return place
                if not known:
                    return 0
                if name == b"\x1f\x43\xb6\x75" and (inside := gap(begin, after)):
                    return inside
                place = after
            return 0

        try:
            _, _, place, _ = element(0)
            name, begin, end, known = element(place)
            if name != b"\x18\x53\x80\x67" or not known:
                return 0
            lacking = end - path.stat().st_size
            return lacking if lacking > 0 else -gap(begin, end)
        except IndexError:
            return 0


def _number(data: bytes, place: int) -> tuple[int, int, bool]:
    """Read a number of EBML, whose first bits say how long it is.

    Returns:
        The number, the place after it, and whether it says anything (not all ones).
    """
    length = 9 - data[place].bit_length()
    bits = 7 * length
    value = int.from_bytes(data[place : place + length], "big") & ((1 << bits) - 1)
    return value, place + length, value != (1 << bits) - 1


def probe(path: Path) -> VideoInfo:
    """Read a video's header and its first frame.

    Args:
        path: The file.

    Returns:
        The facts; `frames` is what the header says.

    Raises:
        VideoError: The file cannot be used, and why.
    """
    with open_video(path) as (container, stream):
        frame = next(container.decode(stream), None)
        if frame is None:
            raise VideoError(f"{path} does not contain a frame that can be decoded.")
        return _info(container, stream, frame)


def verify(path: Path) -> VideoInfo:
    """Decode every frame of a video.

    Args:
        path: The file.

    Returns:
        The facts; `frames` is the number of frames decoded.

    Raises:
        VideoError: The file cannot be used, or data is missing or damaged anywhere in it.
    """
    first, frames = None, 0
    previous, again = None, False
    with open_video(path) as (container, stream):
        for frame in decode_strictly(path, container, stream):
            first = first or frame
            frames += 1
            time = frame.time
            again = again or (previous is not None and time is not None and time < previous)
            previous = time
        info = replace(_info(container, stream, first), frames=frames)
    if not again:
        return info
    # The end's time less the beginning's is then not the length.
    length = float(frames / info.fps)
    return replace(info, duration=length, notes=(*info.notes, "times that begin again"))


def check(path: Path) -> str:
    """Say whether a video can be opened and its first frame decoded.

    The answer is kept for as long as the file's size and time of change stay the same.

    Args:
        path: The file.

    Returns:
        The empty text, or the reason in one sentence.
    """
    try:
        status = os.stat(path)  # noqa: PTH116 - follows links, accepts any path-like value
    except OSError:
        return _check(os.fspath(path), -1, -1)
    return _check(os.fspath(path), status.st_size, status.st_mtime_ns)


def _check_uncached(path: str) -> str:
    try:
        probe(Path(path))
    except VideoError as error:
        return str(error)
    return ""


@functools.lru_cache(maxsize=65536)
def _check_cached(path: str, size: int, mtime_ns: int) -> str:
    return _check_uncached(path)


def _check(path: str, size: int, mtime_ns: int) -> str:
    # A missing file may appear later: that answer is not kept.
    return _check_uncached(path) if size < 0 else _check_cached(path, size, mtime_ns)


def check_file(path: Path) -> None:
    """Refuse what cannot be a video before anything opens it: a pipe would wait forever.

    Raises:
        VideoError: The path is missing, empty, or not a regular file.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise VideoError(f"{path} does not exist.") from None
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: a loop of links, before Python 3.13; ValueError: a null character.
        raise VideoError(f"{path} cannot be read: {_reason(error)}.") from None
    if stat.S_ISDIR(status.st_mode):
        raise VideoError(f"{path} is a folder, not a video file.")
    if not stat.S_ISREG(status.st_mode):
        raise VideoError(f"{path} is not a regular file.")
    if status.st_size == 0:
        raise VideoError(f"{path} is empty.")


def _is_cover(stream: Any, container: Any) -> bool:
    disposition = getattr(stream, "disposition", None)
    attached = getattr(type(disposition), "attached_pic", None)
    return bool(attached is not None and disposition & attached and container.streams.audio)


def _streams(container: Any) -> list[Any]:
    # A cover picture of a sound file is a video stream of one frame that no player plays.
    return [stream for stream in container.streams.video if not _is_cover(stream, container)]


def _notes(container: Any, stream: Any) -> tuple[str, ...]:
    """Say what others may see differently: the same words for all videos that have it."""
    notes = []
    if curve := _HDR.get(stream.codec_context.color_trc):
        notes.append(f"HDR ({curve}) that is not tone-mapped")
    if (shape := stream.sample_aspect_ratio) and shape != 1:
        notes.append(f"pixels of {shape.numerator}:{shape.denominator} shown as squares")
    if (count := len(_streams(container))) > 1:
        notes.append(f"{count} video streams, of which the first is shown")
    return tuple(notes)


def _info(container: Any, stream: Any, frame: Any) -> VideoInfo:
    rate = stream.average_rate or stream.guessed_rate or _FALLBACK_RATE
    # DV in AVI has the clock's ticks there.
    if rate > MOST_RATE and stream.guessed_rate and stream.guessed_rate < rate:
        rate = stream.guessed_rate
    fps = _standard(Fraction(rate))
    if stream.duration and stream.time_base:
        duration = float(stream.duration * stream.time_base)
    elif container.duration:
        duration = container.duration / av.time_base
    else:
        duration = float(stream.frames / fps)
    rotation = rotation_of(frame)
    width, height = frame.width, frame.height
    if rotation in (90, 270):
        width, height = height, width
    return VideoInfo(
        width=width,
        height=height,
        frames=stream.frames or round(duration * fps),
        fps=fps,
        duration=duration,
        codec=stream.codec_context.name,
        pixel_format=frame.format.name,
        rotation=rotation,
        has_audio=bool(container.streams.audio),
        notes=_notes(container, stream),
    )


def _standard(rate: Fraction) -> Fraction:
    """Return the usual rate that is meant if times rounded to milliseconds give one close to it."""
    for usual in (round(rate) * Fraction(1000, 1001), Fraction(round(rate))):
        if usual and abs(rate / usual - 1) < Fraction(1, 100_000):
            return usual
    return rate


def _reason(error: BaseException) -> str:
    """Return the words of an error, without number, path and full stop."""
    if isinstance(error, av.error.InvalidDataError | EOFError):
        return _DAMAGED
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).strip().rstrip(".").replace("\n", " ")
