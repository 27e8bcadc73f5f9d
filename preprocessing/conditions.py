"""What a model is shown of a video: frames in order, shuffled, a single one, or nothing.

The three principles of TVBench (TOMATO, section 3) compare a model's answers under such
conditions. Each condition is handed over as a small clip that holds exactly its frames: H.264
without loss, one frame a second, every frame a key frame, so that any reader and any sampler
gets these frames bit for bit as it would read them from the source.

Clips are named by what they hold (content of the source, condition, version of this module), and
all clips of a video come from one decode.

What changes the pixels, once and the same everywhere: sources that are not 8-bit 4:2:0 are
converted to it, a rotation that the file only notes is carried out, and odd sizes are filled up to
even ones by repeating the last row or column.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast, get_args

import av
import av.error
import platformdirs

from .files import atomic_path, content_id, lock
from .pictures import Converter, black_frame
from .sampling import random_index, shuffled, uniform_indices
from .video import VideoError, open_video

Kind = Literal["ordered", "shuffled", "random", "handpicked", "last", "blind"]

VERSION = 1
"""Part of every clip's name; another number makes all clips anew."""

_NAME = re.compile(r"(?P<kind>[a-z]+)(?P<m>[1-9][0-9]*)?")
# No library version, no time and no bit rate of the template in the file: the same bytes for
# the same frames.
_MUXER_OPTIONS = {"fflags": "+bitexact", "write_btrt": "0"}
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# Decoders that leave out the frames they are told to, and need none of those for the others.
_SKIPPING = ("h264", "hevc")


@dataclass(frozen=True, order=True)
class Condition:
    """What is shown of a video.

    Attributes:
        kind: `ordered` and `shuffled` show m frames at equal intervals; `random`, `handpicked`
            and `last` show one frame; `blind` shows nothing.
        m: Number of frames shown: 0 for `blind`, 1 for the kinds of one frame.
        seed: Changes what `shuffled` and `random` draw; nothing else.
    """

    kind: Kind
    m: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"There is no condition '{self.kind}'; known are {', '.join(get_args(Kind))}."
            )
        if self.kind == "blind" and self.m != 0:
            raise ValueError("The condition 'blind' shows no frame: m must be 0.")
        if self.kind in ("random", "handpicked", "last") and self.m != 1:
            raise ValueError(f"The condition '{self.kind}' shows one frame: m must be 1.")
        if self.kind in ("ordered", "shuffled") and self.m < 1:
            raise ValueError(f"The condition '{self.kind}' needs at least one frame.")

    @classmethod
    def parse(cls, text: str, seed: int = 0) -> Condition:
        """Read a condition's name.

        Args:
            text: For example `ordered16`, `shuffled8`, `random1`, `handpicked1`, `last1`,
                `blind`.
            seed: The condition's seed.

        Returns:
            The condition.

        Raises:
            ValueError: The text names none.
        """
        match = _NAME.fullmatch(text.strip())
        if match is None or match["kind"] not in get_args(Kind):
            raise ValueError(
                f"'{text}' is no condition; write for example ordered16, shuffled16, random1, "
                "handpicked1, last1 or blind."
            )
        kind = cast(Kind, match["kind"])
        if match["m"] is None and kind in ("ordered", "shuffled"):
            raise ValueError(
                f"The condition '{text}' lacks its number of frames; write for example {kind}16."
            )
        return cls(kind, int(match["m"] or (0 if kind == "blind" else 1)), seed)

    @property
    def name(self) -> str:
        """The condition's name, e.g. `ordered16`; the seed is no part of it."""
        return self.kind if self.kind == "blind" else f"{self.kind}{self.m}"


@dataclass(frozen=True)
class ConditionClip:
    """One condition of one video, made.

    Attributes:
        condition: What is shown.
        key: What the draw of frames was made for.
        path: The clip; None for `blind`.
        indices: The frames shown, as indices into the source, in the order shown.
        n_frames: Number of frames of the source.
        repeated: How many of the frames shown had been shown before, because the source has
            fewer frames than the condition asks for. A single frame that the clip holds twice
            does not count.
        conversion: What had to change in the pixels, e.g. `yuv420p10le to yuv420p`, or the
            empty text where they are the source's own.
    """

    condition: Condition
    key: str
    path: Path | None
    indices: tuple[int, ...]
    n_frames: int
    repeated: int
    conversion: str


Request = tuple[Condition, str, int | None]
"""A condition, the key of its draw (e.g. a question's id), and the handpicked frame, if any."""


def condition_indices(
    condition: Condition, n_frames: int, key: str, pick: int | None = None
) -> list[int]:
    """Return the frames that a condition shows, in the order shown.

    Args:
        condition: What is shown.
        n_frames: Number of frames of the video, at least 1.
        key: Names the draw of `shuffled` and `random`, e.g. the question's id.
        pick: The handpicked frame, an index into the video.

    Returns:
        m indices in 0..n_frames - 1, none for `blind`.

    Raises:
        ValueError: The video has no frame, or `pick` is missing or outside the video.
    """
    if condition.kind == "blind":
        return []
    if condition.kind == "ordered":
        return uniform_indices(n_frames, condition.m)
    if condition.kind == "shuffled":
        return shuffled(uniform_indices(n_frames, condition.m), key, condition.seed)
    if condition.kind == "random":
        return [random_index(n_frames, key, condition.seed)]
    if condition.kind == "last":
        return [uniform_indices(n_frames, 2)[1]]
    if pick is None:
        raise ValueError(f"The condition '{condition.name}' of '{key}' needs a picked frame.")
    if not 0 <= pick < n_frames:
        raise ValueError(
            f"The frame picked for '{key}' is {pick}, but the video's frames are 0 to "
            f"{n_frames - 1}."
        )
    return [pick]


def visuals(
    source: Path,
    condition: Condition,
    key: str,
    *,
    clips: Path,
    pick: int | None = None,
) -> list[str]:
    """Return what a model is to see of a video, making the clip first if it is not there.

    Args:
        source: The video.
        condition: What is shown.
        key: Names the draw of `shuffled` and `random`, e.g. the question's id.
        clips: Folder of made clips. Where it cannot be written, the clip goes to the user's
            cache folder.
        pick: The handpicked frame, an index into the video.

    Returns:
        The path of one clip, or nothing for `blind`.

    Raises:
        VideoError: The source cannot be read.
        ValueError: `pick` is missing or outside the video.
    """
    if condition.kind == "blind":
        return []
    name = clip_name(_identify(source), condition, key, pick)
    for folder in (Path(clips), _local_folder()):
        if (folder / name).exists():
            return [str(folder / name)]
    made = make_conditions(source, [(condition, key, pick)], clips)
    return [str(clip.path) for clip in made]


def clip_name(source_id: str, condition: Condition, key: str, pick: int | None = None) -> str:
    """Return the file name of a condition's clip.

    Args:
        source_id: `content_id` of the source.
        condition: What is shown; not `blind`, which has no clip.
        key: Names the draw of `shuffled` and `random`; no part of the name of other clips.
        pick: The handpicked frame.

    Returns:
        The name, the same for the same frames of the same source, with the suffix `.mp4`.
    """
    detail = ""
    if condition.kind in ("shuffled", "random"):
        text = f"{condition.seed}\x00{key}".encode("utf-8", "surrogatepass")
        detail = "-" + hashlib.blake2b(text, digest_size=8).hexdigest()
    elif condition.kind == "handpicked":
        detail = f"-{pick}"
    return f"{source_id}-{condition.name}{detail}-v{VERSION}.mp4"


def make_conditions(source: Path, requests: Iterable[Request], clips: Path) -> list[ConditionClip]:
    """Make all clips of one video that are not there yet, from one decode of it.

    Frames that no clip needs are not converted, and not even decoded where no other frame
    depends on them; each distinct frame is encoded once, whatever the number of clips it is in.
    The bytes of a clip do not depend on what else is made with it.

    Args:
        source: The video.
        requests: Condition, key and picked frame (or None) of each clip.
        clips: Folder of made clips. Where it cannot be written, clips go to the user's cache
            folder. Many processes may work on one folder.

    Returns:
        One record a request, in their order.

    Raises:
        VideoError: The source cannot be read.
        ValueError: A picked frame is missing or outside the video.
        OSError: A clip cannot be written, e.g. because the disk is full.
    """
    requests = list(requests)
    source = Path(source)
    source_id = _identify(source)
    names = [
        None if condition.kind == "blind" else clip_name(source_id, condition, key, pick)
        for condition, key, pick in requests
    ]
    folder = _writable_folder(Path(clips), source_id)

    def find(name: str) -> Path | None:
        places = (Path(clips) / name, folder / name)
        return next((place for place in places if place.exists()), None)

    def missing() -> set[str]:
        return {name for name in names if name is not None and find(name) is None}

    index = _read_index(source)
    plan = _plan(requests, index.n_frames)
    conversion = None
    if missing():
        # One lock for all clips of a video: whoever waits finds them made.
        with ExitStack() as stack:
            stack.enter_context(lock(folder / source_id))
            if wanted := missing():
                bank, index = _encode_planned(source, index, requests, names, wanted, stack)
                plan = _plan(requests, index.n_frames)
                conversion = bank.conversion
                for name, indices in zip(names, plan, strict=True):
                    if name in wanted:
                        wanted.remove(name)
                        with atomic_path(folder / name) as temporary:
                            bank.write(indices if len(indices) > 1 else indices * 2, temporary)
    if conversion is None:
        conversion = _first_conversion(source)
    return [
        ConditionClip(
            condition=condition,
            key=key,
            path=None if name is None else find(name),
            indices=tuple(indices),
            n_frames=index.n_frames,
            repeated=len(indices) - len(set(indices)),
            conversion=conversion,
        )
        for (condition, key, _), name, indices in zip(requests, names, plan, strict=True)
    ]


def _plan(requests: Sequence[Request], n_frames: int) -> list[list[int]]:
    return [condition_indices(condition, n_frames, key, pick) for condition, key, pick in requests]


def _encode_planned(
    source: Path,
    index: _Index,
    requests: Sequence[Request],
    names: Sequence[str | None],
    wanted: Collection[str],
    stack: ExitStack,
) -> tuple[_Bank, _Index]:
    """Encode the frames of the wanted clips, and correct the index where the decoder does."""
    for _ in range(2):
        plan = _plan(requests, index.n_frames)
        needed = {
            frame
            for name, indices in zip(names, plan, strict=True)
            if name in wanted
            for frame in indices
        }
        bank, n_frames = _encode(source, index, needed, stack)
        if n_frames == index.n_frames:
            return bank, index
        # Some formats do not list their frames, or list some that are never shown.
        index = _Index(n_frames, None)
    raise VideoError(f"{source} gives another number of frames each time it is decoded.")


@dataclass(frozen=True)
class _Index:
    """Number of frames, and the time of each in display order where that is safe to use."""

    n_frames: int
    times: tuple[int, ...] | None


def _read_index(source: Path) -> _Index:
    """Count a video's frames without decoding them."""
    with open_video(source) as (container, stream):
        packets = [
            (packet.pts, packet.is_discard, packet.is_corrupt, packet.is_keyframe)
            for packet in container.demux(stream)
            if packet.size
        ]
        if not packets:
            raise VideoError(f"{source} holds no frame that can be decoded.")
        shown = [pts for pts, discard, _, _ in packets if not discard]
        # A frame is found by its time only where every packet is one frame with a time of its
        # own and the first can be decoded by itself; otherwise frames are counted as they come.
        listed = (
            container.format.name.startswith(("mov", "matroska"))
            and stream.codec_context.name in _SKIPPING
            and len(shown) == len(packets) == len(set(shown))
            and None not in shown
            and not any(corrupt for _, _, corrupt, _ in packets)
            and packets[0][3]
            and shown[0] == min(shown)
        )
        return _Index(max(1, len(shown)), tuple(sorted(shown)) if listed else None)


def _encode(
    source: Path, index: _Index, needed: Collection[int], stack: ExitStack
) -> tuple[_Bank, int]:
    """Decode a video once and encode the needed frames; return them and the frames counted."""
    if index.times is not None:
        bank = stack.enter_context(_Bank())
        if _encode_by_time(source, {index.times[number]: number for number in needed}, bank):
            return bank, index.n_frames
    bank = stack.enter_context(_Bank())
    count = 0
    with open_video(source) as (container, stream):
        for frame in container.decode(stream):
            if count in needed:
                bank.add(count, frame)
            count += 1
    if count == 0:
        raise VideoError(f"{source} holds no frame that can be decoded.")
    if count == index.n_frames:
        bank.close()
    return bank, count


def _encode_by_time(source: Path, numbers: dict[int, int], bank: _Bank) -> bool:
    """Encode the frames of these times (time -> number); return whether all of them came.

    Frames on which no other depends are left out by the decoder unless they are needed; that
    changes nothing in the others.
    """
    with open_video(source) as (container, stream):
        needed = set(numbers)
        context = stream.codec_context
        context.skip_frame = "NONREF"
        skips = True
        for packet in container.demux(stream):
            skip = bool(packet.size) and packet.pts not in needed
            if skip != skips:
                context.skip_frame = "NONREF" if skip else "DEFAULT"
                skips = skip
            for frame in packet.decode():
                if frame.pts in numbers:
                    bank.add(numbers.pop(frame.pts), frame)
    if numbers:
        return False
    bank.close()
    return True


def _first_conversion(source: Path) -> str:
    with open_video(source) as (container, stream):
        for frame in container.decode(stream):
            return ", ".join(Converter(frame, keep_range=True).changes)
    raise VideoError(f"{source} holds no frame that can be decoded.")


class _Bank:
    """Frames of one video, each encoded once by itself, from which clips are put together."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self._container: Any = None
        self._stream: Any = None
        self._convert: Converter | None = None
        self._filler: Any = None
        self._numbers: list[int] = []
        self._packets: Mapping[int, bytes] = {}
        self.conversion = ""

    def add(self, number: int, frame: Any) -> None:
        """Encode a frame of the source; each number once."""
        if self._convert is None:
            self._convert = Converter(frame, keep_range=True)
            self.conversion = ", ".join(self._convert.changes)
        picture = self._convert(frame)
        if self._container is None:
            self._open(picture)
        # The encoder numbers its key frames 0, 1, 0, 1, ...: an empty picture before each frame
        # gives all frames the same number, so that their bytes do not depend on their place.
        for image in (self._filler, picture):
            image.pts, image.time_base = len(self._numbers), Fraction(1)
            image.pict_type = 0
            self._numbers.append(-1 if image is self._filler else number)
            self._container.mux(self._stream.encode(image))

    def __enter__(self) -> _Bank:
        return self

    def __exit__(self, *_: object) -> None:
        # Left to the garbage collector, libav's memory could be freed in the wrong order.
        if self._container is not None:
            with contextlib.suppress(av.error.FFmpegError, OSError, ValueError):
                self._container.close()

    def close(self) -> None:
        """End encoding; from now on clips can be written."""
        self._container.mux(self._stream.encode())
        self._container.close()
        self._file.seek(0)
        self._container = av.open(self._file)
        self._stream = self._container.streams.video[0]
        encoded = (packet for packet in self._container.demux(self._stream) if packet.size)
        self._packets = {
            number: bytes(packet)
            for number, packet in zip(self._numbers, encoded, strict=True)
            if number >= 0
        }

    def write(self, numbers: Sequence[int], path: Path) -> None:
        """Write a clip of these frames, in this order, one a second."""
        # Written in memory first: a full disk is then an error of Python's own, at one place.
        file = io.BytesIO()
        with av.open(file, "w", format="mp4", options=_MUXER_OPTIONS) as container:
            stream: Any = container.add_stream_from_template(self._stream, opaque=True)
            stream.time_base = Fraction(1)
            for position, number in enumerate(numbers):
                packet = av.Packet(_renumbered(self._packets[number], position))
                packet.stream = stream
                packet.pts = packet.dts = position
                packet.duration = 1
                packet.time_base = Fraction(1)
                packet.is_keyframe = True
                container.mux(packet)
        path.write_bytes(file.getbuffer())

    def _open(self, frame: Any) -> None:
        self._container = av.open(self._file, "w", format="mp4")
        stream: Any = self._container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, frame.format.name
        context = stream.codec_context
        context.color_range = frame.color_range
        context.colorspace = frame.colorspace
        # One thread and one slice: the same bytes on a machine of any size.
        context.thread_count = 1
        stream.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "qp": "0",
            "g": "1",
            "x264-params": "aud=1:threads=1:sliced-threads=0",
        }
        self._stream = stream
        self._filler = black_frame(frame.width, frame.height, frame.format.name)


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


def _identify(source: Path) -> str:
    try:
        return content_id(source)
    except FileNotFoundError:
        raise VideoError(f"{source} does not exist.") from None
    except OSError as error:
        raise VideoError(f"{source} cannot be read: {error.strerror}.") from None


def _local_folder() -> Path:
    return platformdirs.user_cache_path("video-reasoning", appauthor=False) / "clips"


def _writable_folder(clips: Path, name: str) -> Path:
    """The folder itself, or the user's cache where the folder cannot be written."""
    try:
        clips.mkdir(parents=True, exist_ok=True)
        # Trying is the only test that holds for every kind of mount and user.
        with atomic_path(clips / f"{name}.probe") as temporary:
            temporary.touch()
            raise _Writable
    except _Writable:
        return clips
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
    local = _local_folder()
    local.mkdir(parents=True, exist_ok=True)
    return local


class _Writable(Exception):
    """Ends the try of `_writable_folder` without leaving a file."""
