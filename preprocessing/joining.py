"""The parts of a video put together again, with the middle shown or hidden.

BlackSwanSuite (section 5 and appendix E) hides the unexpected event by showing one video with
black frames in place of the middle part.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av.error

from video_reasoning.preprocessing.encoding import PartEncoder
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.preprocessing.pictures import Converter, black_frame
from video_reasoning.preprocessing.sound import Sound, join
from video_reasoning.preprocessing.video import VideoError, check_longest, open_video, probe

VERSION = 3
"""Part of every name that `joined_name` gives; another number makes all clips again."""

_CLOCK = 90_000
"""Ticks a second if some frames are shown longer than others; else a frame is one tick."""


@dataclass(frozen=True)
class JoinInfo:
    """What a joined clip contains.

    Attributes:
        frames: Number of frames, the sum of the parts'.
        parts: Number of frames of each part, in order.
        black: First and last + 1 of the black frames; equal if there are none.
        width: Width in pixels.
        height: Height in pixels.
        fps: Frames per second, constant unless a part's are shown for different times.
        has_audio: Whether the sound was kept.
        notes: What had to be changed in a part, and what was left out, in words.
    """

    frames: int
    parts: tuple[int, ...]
    black: tuple[int, int]
    width: int
    height: int
    fps: Fraction
    has_audio: bool
    notes: tuple[str, ...]


def joined_name(part_ids: Sequence[str], *, black_frames: int | None = None) -> str:
    """Return a file name for a joined clip that changes whenever its content would.

    Args:
        part_ids: `content_id` of each part, in order.
        black_frames: The number of black frames in place of a middle part that is not there; 0 for
            a middle part that is blacked out; None for one that is shown.

    Returns:
        A name with the suffix `.mp4`.
    """
    text = "\x00".join([*part_ids, str(black_frames)])
    digest = hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
    kind = "joined" if black_frames is None else "blackout"
    return f"{digest}-{kind}-v{VERSION}.mp4"


def join_parts(
    before: Path, middle: Path | int, after: Path, target: Path, *, blackout: bool
) -> JoinInfo:
    """Join the three parts of a video into one clip.

    Every frame of every part is there once, at the rate of the middle part (of the first, if
    the middle is a number), but with its own times in a part of a variable rate: H.264,
    `yuv420p`, a key frame at least once a second and at both cuts, so that nothing of one part
    shows in another. Black is Y = 16 in every pixel.

    Args:
        before: The first part, V_pre.
        middle: The second part, V_main, or the number of black frames in its place.
        after: The last part, V_post.
        target: The file to write; it appears when it is complete.
        blackout: Show black frames, as many as the middle part has, instead of it. A clip with
            black frames has no sound: the sound of the middle would give away what is hidden.

    Returns:
        What the clip contains. A part of another size is scaled into the size of the middle (or
        first) part with its shape kept; one of another rate is played at the common one; both
        are noted.

    Raises:
        VideoError: A part cannot be decoded to its end.
        ValueError: The number of frames is negative, or a number is given without `blackout`.
        OSError: The target cannot be written.
    """
    if isinstance(middle, int):
        if not blackout:
            raise ValueError("A full join needs the middle part itself, not a number of frames.")
        if middle < 0:
            raise ValueError(f"The number of black frames must not be negative: {middle}.")
    base = before if isinstance(middle, int) else middle
    return _join([before, middle, after], base, target, hidden=1 if blackout else None)


def is_joined(clip: Path, before: Path, middle: Path | int, after: Path, *, blackout: bool) -> bool:
    """Return whether a clip is certainly what `join_parts` would show, without encoding again.

    Certain means: the encoded frames of each part that is shown are in the clip byte for byte, in
    order, under the same decoder settings; hidden frames are black and as many as the middle part
    has; the rate is the same and constant; and there is sound only if `join_parts` keeps it.

    Args:
        clip: The joined clip in question.
        before: The first part.
        middle: The second part, or the number of black frames in its place.
        after: The last part.
        blackout: Whether the middle is hidden.

    Returns:
        False also if a file cannot be read.
    """
    try:
        whole, first, last = _Encoded.read(clip), _Encoded.read(before), _Encoded.read(after)
        hidden = None if isinstance(middle, int) else _Encoded.read(middle)
        count = middle if isinstance(middle, int) else len(_Encoded.read(middle).packets)
        parts = [part for part in (first, hidden, last) if part is not None]
        start, end = len(first.packets), len(first.packets) + count
        shown = hidden.packets if hidden is not None and not blackout else whole.packets[start:end]
        if whole.packets != first.packets + shown + last.packets or len(shown) != count:
            return False
        if not whole.even or any(part.settings != whole.settings for part in parts):
            return False
        if whole.has_audio != (not blackout and all(part.has_audio for part in parts)):
            return False
        return not blackout or _is_black(clip, start, end)
    except VideoError:
        return False


@dataclass(frozen=True)
class _Encoded:
    """A video's frames as they are encoded, and what they need to be decoded and timed."""

    packets: list[bytes]
    settings: tuple[bytes, Fraction, int, int]
    even: bool
    has_audio: bool

    @classmethod
    def read(cls, path: Path) -> _Encoded:
        info = probe(path)
        with open_video(path) as (container, stream):
            found = [packet for packet in container.demux(stream) if packet.size]
            settings = bytes(stream.codec_context.extradata or b"")
        times = [packet.pts for packet in found if packet.pts is not None]
        steps = [later - earlier for earlier, later in itertools.pairwise(times)]
        return cls(
            [bytes(packet) for packet in found],
            (settings, info.fps, info.width, info.height),
            # Times that were rounded to ticks differ by one.
            len(times) == len(found) and max(steps, default=0) - min(steps, default=0) <= 1,
            info.has_audio,
        )


def _is_black(path: Path, start: int, end: int) -> bool:
    with open_video(path) as (container, stream):
        for frame in itertools.islice(container.decode(stream), start, end):
            picture = frame.to_ndarray(format="yuv420p")
            if (picture[: frame.height] != 16).any() or (picture[frame.height :] != 128).any():
                return False
    return True


def _join(parts: Sequence[Path | int], base: Path, target: Path, hidden: int | None) -> JoinInfo:
    shape = probe(base)
    size = (shape.width + shape.width % 2, shape.height + shape.height % 2)
    rate = shape.fps
    files = {part for part in parts if not isinstance(part, int)}
    infos = {part: shape if part == base else probe(part) for part in files}
    steps = {part: _steps(part, infos[part].fps) for part in files}
    ticks_a_second = Fraction(_CLOCK) if any(steps.values()) else rate

    def length(number: int) -> int:
        """Return the ticks of a part's frame if all are equally long."""
        first, end = (round(edge * ticks_a_second / rate) for edge in (number, number + 1))
        return end - first

    counts: list[int] = []
    lengths: list[int] = []
    notes: list[str] = []
    sounds: list[Sound | None] = []
    with ExitStack() as stack:
        encoder = stack.enter_context(
            PartEncoder(*size, rate, 1 / ticks_a_second, like=_first_frame(base))
        )
        for number, part in enumerate(parts):
            if isinstance(part, int):
                shown = [length(number) for number in range(part)]
                encoder.add_still(black_frame(*size), shown)
                counts.append(part)
                lengths.append(sum(shown))
                continue
            black = number == hidden
            if not black:
                encoder.begin()
            info = infos[part]
            # A part of the common size is only made even, never scaled.
            same = (info.width, info.height) == (shape.width, shape.height)
            convert: Converter | None = None
            shown = []
            with open_video(part) as (container, stream):
                begin = _begin(stream)
                for frame in container.decode(stream):
                    shown.append(steps[part].get(frame.pts) or length(len(shown)))
                    if not black:
                        if convert is None:
                            convert = Converter(frame, None if same else size)
                            notes += [f"{part.name}: {change}" for change in convert.changes]
                        picture = convert(frame)
                        with _encoded_like(base):
                            encoder.add(picture, shown[-1])
            if not shown:
                raise VideoError(f"{part} contains no frame that can be decoded.")
            if black:
                encoder.add_still(black_frame(*size), shown)
            elif steps[part]:
                notes.append(f"{part.name}: its frames keep their times, of a variable rate")
            elif info.fps != rate:
                notes.append(
                    f"{part.name}: {_text(info.fps)} played at {_text(rate)} frames a second"
                )
            notes += [f"{part.name}: {note}" for note in info.notes]
            counts.append(len(shown))
            lengths.append(sum(shown))
            if hidden is None:
                sound = Sound.read(part, begin) if info.has_audio else None
                sounds.append(sound)
                if sound is not None:
                    stack.callback(sound.close)
        encoded = encoder.finish()
        track = _joined_sound(sounds, lengths, ticks_a_second) if hidden is None else None
        if track is None and any(sound is not None for sound in sounds):
            notes.append("sound left out: not all parts have it in the same coding")
        with atomic_path(target) as temporary:
            frames = encoder.write(encoded, temporary, track)
    start = sum(counts[:hidden]) if hidden is not None else 0
    return JoinInfo(
        frames=frames,
        parts=tuple(counts),
        black=(start, start + (counts[hidden] if hidden is not None else 0)),
        width=size[0],
        height=size[1],
        fps=rate,
        has_audio=track is not None,
        notes=tuple(notes),
    )


@contextmanager
def _encoded_like(base: Path) -> Iterator[None]:
    """Blame a fault of the encoder on the part that gave it its size and rate."""
    try:
        yield
    except (av.error.FFmpegError, ValueError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise VideoError(
            f"{base} has a size or rate with which no clip can be encoded: {reason}."
        ) from None


def _first_frame(path: Path) -> Any:
    with open_video(path) as (container, stream):
        for frame in container.decode(stream):
            return frame
    raise VideoError(f"{path} contains no frame that can be decoded.")


def _begin(stream: Any) -> Fraction:
    """When the first picture is shown, on the file's clock."""
    return Fraction((stream.start_time or 0) * (stream.time_base or 0))


def _joined_sound(
    sounds: Sequence[Sound | None], lengths: Sequence[int], ticks_a_second: Fraction
) -> Sound | None:
    begins = [sum(lengths[:number]) / ticks_a_second for number in range(len(lengths))]
    return join(sounds, begins)


def _steps(path: Path, rate: Fraction) -> dict[int, int]:
    """Return for how many ticks each frame is shown, by its time; nothing if all are the same.

    Only packets are read. The rate is the file's mean.

    A frame that was dropped once is not a variable rate: times are then off by a frame.

    Raises:
        VideoError: The file cannot be read, or shows a frame for more than an hour.
    """
    with open_video(path) as (container, stream):
        unit = Fraction(stream.time_base)
        times = sorted({packet.pts for packet in container.demux(stream) if packet.pts is not None})
    if all(abs((time - times[0]) * unit * rate - place) <= 1.5 for place, time in enumerate(times)):
        return {}
    ticks = [round((time - times[0]) * unit * _CLOCK) for time in times]
    steps = {
        time: max(1, end - begin)
        for time, (begin, end) in zip(times, itertools.pairwise(ticks), strict=False)
    }
    check_longest(path, max(steps.values()) / _CLOCK)
    return steps


def _text(rate: Fraction) -> str:
    return f"{float(rate):.3f}".rstrip("0").rstrip(".")
