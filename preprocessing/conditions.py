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
import os
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, cast, get_args

import av
import av.error
import platformdirs

from video_reasoning.preprocessing.files import atomic_path, content_id, lock
from video_reasoning.preprocessing.pictures import Converter, black_frame
from video_reasoning.preprocessing.sampling import random_index, shuffled, uniform_indices
from video_reasoning.preprocessing.video import VideoError, check_file, open_video, reported

Kind = Literal["ordered", "shuffled", "random", "handpicked", "last", "blind"]

VERSION = 1
"""Part of every clip's name; another number makes all clips anew."""

_NAME = re.compile(r"(?P<kind>[a-z]+)(?P<m>[1-9][0-9]*)?")
# No library version, no time and no bit rate of the template in the file: the same bytes for
# the same frames.
_MUXER_OPTIONS = {"fflags": "+bitexact", "write_btrt": "0"}
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# Larger files are read from the disk twice.
_KEPT_BYTES = 256 * 1024 * 1024

# Codecs of which a packet in MP4 or Matroska is one frame shown.
_ONE_PACKET_A_FRAME = ("h264", "hevc", "vp8", "vp9", "av1", "libdav1d", "libvpx-vp9", "mjpeg")

# More are of use only where decoding takes no time.
_ENCODERS = min(
    4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)

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

Span = tuple[float, float]
"""A part of a video in seconds from its first frame, the end excluded; the end may be infinite."""


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


def clip_name(
    source_id: str,
    condition: Condition,
    key: str,
    pick: int | None = None,
    span: Span | None = None,
) -> str:
    """Return the file name of a condition's clip.

    Args:
        source_id: `content_id` of the source.
        condition: What is shown; not `blind`, which has no clip.
        key: Names the draw of `shuffled` and `random`; no part of the name of other clips.
        pick: The handpicked frame.
        span: The part of the video that frames are taken from; None for all of it.

    Returns:
        The name, the same for the same frames of the same source, with the suffix `.mp4`.
    """
    detail = ""
    if span is not None and condition.kind != "handpicked":
        detail = "-" + "to".join(f"{1000 * seconds:.0f}" for seconds in span)
    if condition.kind in ("shuffled", "random"):
        text = f"{condition.seed}\x00{key}".encode("utf-8", "surrogatepass")
        detail += "-" + hashlib.blake2b(text, digest_size=8).hexdigest()
    elif condition.kind == "handpicked":
        detail = f"-{pick}"
    return f"{source_id}-{condition.name}{detail}-v{VERSION}.mp4"


def make_conditions(
    source: Path, requests: Iterable[Request], clips: Path, *, span: Span | None = None
) -> list[ConditionClip]:
    """Make all clips of one video that are not there yet, from one decode of it.

    Frames that no clip needs are not converted, and not even decoded where no other frame
    depends on them; each distinct frame is encoded once, whatever the number of clips it is in.
    The bytes of a clip do not depend on what else is made with it.

    Args:
        source: The video.
        requests: Condition, key and picked frame (or None) of each clip.
        clips: Folder of made clips. Where it cannot be written, clips go to the user's cache
            folder. Many processes may work on one folder.
        span: The part of the video that frames are taken from; None for all of it. A handpicked
            frame is a frame of the whole video.

    Returns:
        One record a request, in their order.

    Raises:
        VideoError: The source cannot be read.
        ValueError: A picked frame is missing or outside the video, or no frame lies in `span`.
        OSError: A clip cannot be written, e.g. because the disk is full.
    """
    requests = list(requests)
    source = Path(source)
    source_id = _identify(source)
    names = [
        None if condition.kind == "blind" else clip_name(source_id, condition, key, pick, span)
        for condition, key, pick in requests
    ]
    folder = _writable_folder(Path(clips), source_id)

    def find(name: str) -> Path | None:
        places = (Path(clips) / name, folder / name)
        return next((place for place in places if place.exists()), None)

    def missing() -> set[str]:
        return {name for name in names if name is not None and find(name) is None}

    conversion = None
    with ExitStack() as stack:
        video = stack.enter_context(_Video(source))
        if not video.is_certain:
            video.recount()
        plan = _plan(requests, video, span)
        if missing():
            # One lock for all clips of a video: whoever waits finds them made.
            stack.enter_context(lock(folder / source_id))
        if wanted := missing():
            bank = stack.enter_context(_Bank())
            if not video.encode(_needed(plan, names, wanted), bank):
                # The index promised other frames than the decoder gives.
                bank = stack.enter_context(_Bank())
                video.recount()
                plan = _plan(requests, video, span)
                video.encode(_needed(plan, names, wanted), bank)
            conversion = bank.conversion
            for name, indices in zip(names, plan, strict=True):
                if name in wanted:
                    wanted.remove(name)
                    with atomic_path(folder / name) as temporary:
                        bank.write(indices if len(indices) > 1 else indices * 2, temporary)
        if conversion is None:
            conversion = video.conversion()
        return [
            ConditionClip(
                condition=condition,
                key=key,
                path=None if name is None else find(name),
                indices=tuple(indices),
                n_frames=video.n_frames,
                repeated=len(indices) - len(set(indices)),
                conversion=conversion,
            )
            for (condition, key, _), name, indices in zip(requests, names, plan, strict=True)
        ]


def _plan(requests: Sequence[Request], video: _Video, span: Span | None) -> list[list[int]]:
    first, n_frames = (0, video.n_frames) if span is None else video.part(span)
    return [
        condition_indices(condition, video.n_frames, key, pick)
        if condition.kind == "handpicked"
        else [first + index for index in condition_indices(condition, n_frames, key)]
        for condition, key, pick in requests
    ]


def _needed(
    plan: Sequence[Sequence[int]], names: Sequence[str | None], wanted: Collection[str]
) -> set[int]:
    return {
        frame
        for name, indices in zip(names, plan, strict=True)
        if name in wanted
        for frame in indices
    }


class _Video:
    """A video whose frames are counted without decoding them, and that is then decoded once.

    Attributes:
        n_frames: Number of frames: packets that are shown, until `recount` counts frames.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stack = ExitStack()
        self._stream: Any = None
        self._packets: list[Any] | None = None
        # The time of each frame in display order, where frames can be found by it.
        self._times: list[int] | None = None
        self.n_frames = 0

    def __enter__(self) -> _Video:
        keep = self._path.stat().st_size <= _KEPT_BYTES
        with ExitStack() as stack:
            container, self._stream = stack.enter_context(open_video(self._path))
            packets = []
            facts = []
            for packet in container.demux(self._stream):
                if keep:
                    packets.append(packet)
                if packet.size:
                    sound = not packet.is_corrupt and not packet.is_discard
                    facts.append((packet.pts, sound, packet.is_keyframe))
            if not facts:
                raise VideoError(f"{self._path} holds no frame that can be decoded.")
            if keep:
                self._packets = packets
            self.n_frames = len(facts)
            times = [time for time, _, _ in facts]
            # Every packet must be one frame with a time of its own, and the first one must not
            # depend on others; if not, frames are counted as they come.
            if (
                container.format.name.startswith(("mov", "matroska"))
                and self._stream.codec_context.name in _ONE_PACKET_A_FRAME
                and None not in times
                and len(set(times)) == len(times)
                and times[0] == min(times)
                and facts[0][2]
                and all(sound for _, sound, _ in facts)
            ):
                self._times = sorted(times)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._packets = None
        # Closed without the error of the block, which need not be one of this video.
        self._stack.close()

    @property
    def is_certain(self) -> bool:
        """Whether the number of frames can be trusted before they are decoded."""
        return self._times is not None

    def recount(self) -> None:
        """Count the frames by decoding them, and find them by their number from now on."""
        self._times = None
        self.n_frames = sum(1 for _ in self._decode(None))
        if self.n_frames == 0:
            raise VideoError(f"{self._path} holds no frame that can be decoded.")

    def part(self, span: Span) -> tuple[int, int]:
        """The first frame of a part of the video, and how many frames it has.

        Raises:
            ValueError: No frame lies in it.
        """
        times = self._times
        if times is None:
            times = sorted(frame.pts or 0 for frame in self._decode(None))
        seconds = [float((time - times[0]) * self._stream.time_base) for time in times]
        # Half a microsecond, as a start in decimals may lie just after its own frame.
        first, end = (bisect_left(seconds, edge - 5e-7) for edge in span)
        if first >= end:
            raise ValueError(
                f"No frame of {self._path} lies between {span[0]:g} and {span[1]:g} seconds; it "
                f"ends at {seconds[-1]:.2f}."
            )
        return first, end - first

    def encode(self, numbers: Collection[int], bank: _Bank) -> bool:
        """Decode the video and encode frames of it.

        Args:
            numbers: Which frames; at least one.
            bank: Where to.

        Returns:
            Whether all of them came.
        """
        missing = set(numbers)
        if self._times is None:
            found: Iterable[tuple[int, Any]] = enumerate(self._decode(None))
        else:
            by_time = {self._times[number]: number for number in numbers}
            decoded = self._decode(by_time)
            found = ((by_time.get(frame.pts, -1), frame) for frame in decoded)
        for number, frame in found:
            if number in missing:
                missing.remove(number)
                bank.add(number, frame)
        if not missing:
            bank.close()
        return not missing

    def conversion(self) -> str:
        """What has to change in the pixels, told by the first frame."""
        for frame in self._decode(None):
            return ", ".join(Converter(frame, keep_range=True).changes)
        raise VideoError(f"{self._path} holds no frame that can be decoded.")

    def _decode(self, needed: Container[int] | None) -> Iterator[Any]:
        """Yield the frames; of those whose time is not needed, the ones that cost nothing more.

        Frames on which no other depends are left out by the decoder where it can do so; that
        changes nothing in the others.
        """
        packets: Iterable[Any] | None = self._packets
        stream = self._stream
        self._packets = None
        with ExitStack() as stack:
            stack.enter_context(reported(self._path))
            if packets is None:
                container, stream = stack.enter_context(open_video(self._path))
                packets = container.demux(stream)
            context = stream.codec_context
            skips = False
            can_skip = needed is not None and context.name in _SKIPPING
            for packet in packets:
                skip = can_skip and bool(packet.size) and packet.pts not in (needed or ())
                if skip != skips:
                    context.skip_frame = "NONREF" if skip else "DEFAULT"
                    skips = skip
                yield from packet.decode()


class _Bank:
    """Frames of one video, each encoded once by itself, from which clips are put together.

    Encoding a frame without loss costs more than decoding several, so that it goes on in a few
    threads while the next frames are decoded. Which of the encoders takes a frame does not show
    in its bytes.
    """

    def __init__(self) -> None:
        self._encoders: list[_Encoder] = []
        self._pending: deque[Future[None]] = deque()
        self._convert: Converter | None = None
        self._stream: Any = None
        self._packets: dict[int, bytes] = {}
        self._count = 0
        self.conversion = ""

    def add(self, number: int, frame: Any) -> None:
        """Encode a frame of the source; each number once."""
        if self._convert is None:
            self._convert = Converter(frame, keep_range=True)
            self.conversion = ", ".join(self._convert.changes)
        picture = self._convert(frame)
        place = self._count % _ENCODERS
        self._count += 1
        if place == len(self._encoders):
            self._encoders.append(_Encoder(picture))
        if len(self._pending) >= 2 * _ENCODERS:
            # Frames must not pile up: each takes megabytes.
            self._pending.popleft().result()
        self._pending.append(self._encoders[place].submit(number, picture))

    def __enter__(self) -> _Bank:
        return self

    def __exit__(self, *_: object) -> None:
        for encoder in self._encoders:
            encoder.close()

    def close(self) -> None:
        """End encoding; from now on clips can be written."""
        while self._pending:
            self._pending.popleft().result()
        for encoder in self._encoders:
            self._packets.update(encoder.finish())
        self._stream = self._encoders[0].stream

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


class _Encoder:
    """One encoder of pictures of one shape, in a thread of its own.

    Attributes:
        stream: after `finish`, the encoded stream, as a template for others.
    """

    def __init__(self, picture: Any) -> None:
        self._file = io.BytesIO()
        self._thread = ThreadPoolExecutor(1, "encoder")
        self._numbers: list[int] = []
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

    def submit(self, number: int, picture: Any) -> Future[None]:
        """Encode a picture some time later."""
        return self._thread.submit(self._encode, number, picture)

    def _encode(self, number: int, picture: Any) -> None:
        # The encoder numbers its key frames 0, 1, 0, 1, ...: an empty picture before each frame
        # gives all frames the same number, so that their bytes do not depend on their place.
        for image in (self._filler, picture):
            image.pts, image.time_base = len(self._numbers), Fraction(1)
            image.pict_type = 0
            self._numbers.append(-1 if image is self._filler else number)
            self._container.mux(self.stream.encode(image))

    def finish(self) -> Mapping[int, bytes]:
        """End encoding and return the frames' bytes by their numbers."""
        self._thread.shutdown()
        self._container.mux(self.stream.encode())
        self._container.close()
        self._file.seek(0)
        self._container = av.open(self._file)
        self.stream = self._container.streams.video[0]
        encoded = (packet for packet in self._container.demux(self.stream) if packet.size)
        return {
            number: bytes(packet)
            for number, packet in zip(self._numbers, encoded, strict=True)
            if number >= 0
        }

    def close(self) -> None:
        """Free what is held; more cannot be encoded, and the stream is gone."""
        self._thread.shutdown(cancel_futures=True)
        # Left to the garbage collector, libav's memory could be freed in the wrong order.
        with contextlib.suppress(av.error.FFmpegError, OSError, ValueError):
            self._container.close()


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
    check_file(source)
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
