"""Clips of conditions: found by their names, or made.

A clip contains exactly the frames of its condition (see `lossless`), on the clock of the source or
one a second. It is named by its content (the source's content, the condition, the clock, the
version of this module), and all clips of a video come from one decode.
"""

from __future__ import annotations

import errno
import hashlib
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import platformdirs

from video_reasoning.preprocessing.conditions import (
    Clock,
    Condition,
    condition_indices,
    condition_times,
)
from video_reasoning.preprocessing.files import atomic_path, lock, make_once, noted_content_id
from video_reasoning.preprocessing.frames import NumberedFrames
from video_reasoning.preprocessing.lossless import Bank
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError, check_file, check_longest, reported
from video_reasoning.preprocessing.wanted import Span, Wanted, gather, need

VERSION = 2  # part of every clip's name; another number makes all clips again
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)

Request = tuple[Condition, str, int | None]
"""A condition, the key of its draw (e.g. a question's id), and the handpicked frame, if any."""


@dataclass(frozen=True)
class Clip:
    """The clip of one condition of one video.

    Attributes:
        condition: What is shown.
        path: The clip; None for `blind`.
        indices: The frames shown, as indices into the source, in the order shown.
        n_frames: Number of frames of the source; if the condition asks for more, some are shown
            more than once.
    """

    condition: Condition
    path: Path | None
    indices: tuple[int, ...]
    n_frames: int


def clip_for(
    source: Path,
    condition: Condition,
    key: str,
    clips: Path,
    *,
    pick: int | None = None,
    span: Span | None = None,
    together: Sequence[Condition] = (),
    make: bool = True,
    clock: Clock = "source",
) -> Path | None:
    """Return the clip of a condition, making it first if it is not there.

    A clip that is there is found by its name: the video is not opened, and not even read again
    if it has not changed since an earlier call, of this process or another.

    Args:
        source: The video.
        condition: What is shown.
        key: Names the draw of the conditions that draw, e.g. the question's id.
        clips: Folder of clips. If it cannot be written, clips go to the user's cache folder.
        pick: The handpicked frame, an index into the video.
        span: The part of the video that frames are taken from; None for all of it.
        together: Conditions that will be asked for as well: their clips are made from the same
            decode. `handpicked` is made only if there is a pick.
        make: Make the clip; otherwise nothing is written.
        clock: When its frames are shown. On the source's clock time 0 is the first frame of the
            video (of the span); shuffled, reversed, frozen and black frames get the times of the
            ordered ones in their places, and a single frame keeps its own time.

    Returns:
        The clip's path; None for `blind`, or if the clip is not there and must not be made. In a
        block of `wanted.gathered` nothing is made, and the path is the source's.

    Raises:
        VideoError: The source cannot be read.
        ValueError: `pick` is missing or outside the video, or no frame is in `span`.
        OSError: The clip cannot be written, e.g. because the disk is full.
    """
    if condition.kind == "blind":
        return None
    source, clips = Path(source), Path(clips)
    wanted = Wanted(source, condition, key, clips, pick, span, tuple(together), clock)
    if make and gather(wanted):
        return source
    name = _name(_identify(source, clips, make), condition, key, pick, span, clock)
    found = _existing(name, clips)
    if make:
        need(wanted, missing=found is None)
    if found is not None or not make:
        return found
    requests = _requests(wanted)
    try:
        made = make_conditions(source, requests, clips, span=span, clock=clock)
    except ValueError:
        if len(requests) == 1:
            raise
        # A pick outside the video is the fault of one condition, not of all.
        made = make_conditions(source, requests[:1], clips, span=span, clock=clock)
    return made[0].path


def make_wanted(wanted: Sequence[Wanted]) -> tuple[str, ...]:
    """Make clips that are not there yet: those of one video, span and clock from one decode.

    Args:
        wanted: The clips.

    Returns:
        Why some of them cannot be made, a sentence for each reason.

    Raises:
        OSError: A clip cannot be written, e.g. because the disk is full.
    """
    groups: dict[tuple[Path, Path, Span | None, Clock], list[Wanted]] = {}
    for each in wanted:
        groups.setdefault((each.source, each.clips, each.span, each.clock), []).append(each)
    problems: list[str] = []
    for group in groups.values():
        try:
            problems += _make_group(group)
        except VideoError as error:
            problems.append(str(error))
    return tuple(dict.fromkeys(problems))


def _make_group(wanted: Sequence[Wanted]) -> list[str]:
    """Make clips of one video, span and clock, as `make_wanted` does."""
    first, problems = wanted[0], []
    requests = list(dict.fromkeys(request for each in wanted for request in _requests(each)))
    source_id = _identify(first.source, first.clips, note=True)
    names = [_name(source_id, *request, first.span, first.clock) for request in requests]
    missing = [
        request
        for request, name in zip(requests, names, strict=True)
        if name and not _existing(name, first.clips)
    ]

    def make(some: Sequence[Request]) -> None:
        make_conditions(first.source, some, first.clips, span=first.span, clock=first.clock)

    try:
        make(missing) if missing else None
    except ValueError as error:
        problems = [str(error)]
        for request in missing if len(missing) > 1 else ():
            try:
                make([request])
            except ValueError as reason:
                problems.append(str(reason))
    for each in wanted:
        if each.repeat > 1:
            own = (each.condition, each.key, each.pick, each.span, each.clock)
            clip = _existing(_name(source_id, *own), each.clips)
            repeated(clip, each.repeat) if clip else None
    return problems


def _requests(wanted: Wanted) -> list[Request]:
    """Return what is made for a clip: itself first, then those made together with it."""
    conditions = (
        each
        for each in (wanted.condition, *wanted.together)
        if each is wanted.condition or each.kind != "handpicked" or wanted.pick is not None
    )
    return [(each, wanted.key, wanted.pick) for each in dict.fromkeys(conditions)]


def repeated(clip: Path, times: int) -> Path:
    """Return a clip that contains each frame of another several times, made if it is not there.

    The copies of a frame divide its time.

    Args:
        clip: The clip.
        times: How often each frame is shown; 1 gives the clip itself.

    Raises:
        VideoError: The clip cannot be read.
        OSError: The clip cannot be written.
    """
    if times == 1:
        return clip

    def write(target: Path) -> None:
        video = NumberedFrames(clip)
        with Bank() as bank:
            banked = video.read(range, bank.add)
            bank.finish()
            again = [n for n in sorted(banked) for _ in range(times)]
            shown = condition_times(again, video.seconds)
            bank.write([banked[n] for n in again], target, shown)

    name = f"{clip.stem}-x{times}{clip.suffix}"
    try:
        return make_once(clip.with_name(name), write)
    except PermissionError:
        return make_once(_local_folder() / name, write)


def make_conditions(
    source: Path,
    requests: Iterable[Request],
    clips: Path,
    *,
    span: Span | None = None,
    clock: Clock = "source",
) -> list[Clip]:
    """Make all clips of one video that are not there yet, from one decode of it.

    Frames that no clip needs are not converted, and not even decoded if no other frame depends
    on them; each distinct frame is encoded once, whatever the number of clips it is in. The
    bytes of a clip do not depend on what else is made with it.

    Args:
        source: The video.
        requests: Condition, key and picked frame (or None) of each clip.
        clips: Folder of clips. If it cannot be written, clips go to the user's cache folder.
            Many processes may work on one folder.
        span: The part of the video that frames are taken from; None for all of it. A handpicked
            frame is a frame of the whole video.
        clock: When their frames are shown; see `clip_for`.

    Returns:
        One record per request, in their order.

    Raises:
        VideoError: The source cannot be read.
        ValueError: A picked frame is missing or outside the video, or no frame is in `span`.
        OSError: A clip cannot be written, e.g. because the disk is full.
    """
    requests, source, clips = list(requests), Path(source), Path(clips)
    source_id = _identify(source, clips)
    names = [_name(source_id, *request, span, clock) for request in requests]

    def missing() -> set[str]:
        return {name for name in names if name and not _existing(name, clips)}

    with ExitStack() as stack:
        video = NumberedFrames(source)
        plan = _plan(requests, video, span)
        if missing():
            folder = _writable_folder(clips)
            # One lock for all clips of a video: whoever waits finds them made.
            stack.enter_context(lock(folder / source_id))
        if wanted := missing():
            bank = stack.enter_context(Bank())

            def needed(_: int) -> set[int]:
                plan[:] = _plan(requests, video, span)
                return {
                    index
                    for name, (condition, _, _), indices in zip(names, requests, plan, strict=True)
                    if name in wanted
                    for index in (indices[:1] if condition.kind == "black" else indices)
                }

            banked = video.read(needed, bank.add)
            blank = any(condition.kind == "black" for condition, _, _ in requests)
            black = bank.add_black() if blank else 0
            bank.finish()
            for name, request, indices in zip(names, requests, plan, strict=True):
                if name in wanted:
                    wanted.remove(name)
                    shown = indices if len(indices) > 1 else indices * 2
                    times = _times(request[0], shown, video, span) if clock == "source" else None
                    with atomic_path(folder / name) as temporary:
                        hidden = request[0].kind == "black"
                        numbers = [black if hidden else banked[index] for index in shown]
                        bank.write(numbers, temporary, times)
    return [
        Clip(condition, _existing(name, clips), tuple(indices), video.n_frames)
        for (condition, _, _), name, indices in zip(requests, names, plan, strict=True)
    ]


def _name(
    source_id: str,
    condition: Condition,
    key: str,
    pick: int | None,
    span: Span | None,
    clock: Clock,
) -> str:
    """Return the name of a condition's clip, the same for the same bytes; empty for `blind`."""
    if condition.kind == "blind":
        return ""
    detail = ""
    if span is not None and condition.kind != "handpicked":
        detail = "-" + "to".join(f"{1000 * seconds:.0f}" for seconds in span)
    if condition.is_drawn:
        text = f"{condition.seed}\x00{key}".encode("utf-8", "surrogatepass")
        detail += "-" + hashlib.blake2b(text, digest_size=8).hexdigest()
    elif condition.kind == "handpicked":
        detail = f"-{pick}"
    # One frame a second is what all clips had before there was a choice: those stay good.
    detail += "" if clock == "second" else f"-{clock}"
    return f"{source_id}-{condition.name}{detail}-v{VERSION}.mp4"


def _plan(requests: Sequence[Request], video: NumberedFrames, span: Span | None) -> list[list[int]]:
    """Return the frames of each request; a handpicked one is a frame of the whole video."""
    first, n_frames = (0, video.n_frames) if span is None else _part(video, span)
    return [
        condition_indices(condition, video.n_frames, key, pick)
        if condition.kind == "handpicked"
        else [first + index for index in condition_indices(condition, n_frames, key)]
        for condition, key, pick in requests
    ]


def _times(
    condition: Condition, indices: Sequence[int], video: NumberedFrames, span: Span | None
) -> list[float]:
    """Return when a clip shows its frames, from the first frame of the video or of the span.

    Raises:
        VideoError: A frame is shown for more than an hour.
    """
    seconds = sorted(video.seconds)
    if condition.kind == "handpicked":
        span = None  # a frame of the whole video
    place, n_frames = (0, video.n_frames) if span is None else _part(video, span)
    if condition.kind == "frozen":  # as long as the frames in order are shown
        indices = [place + index for index in uniform_indices(n_frames, len(indices))]
    times = condition_times(indices, [each - seconds[place] for each in seconds])
    check_longest(video.path, max(end - begin for begin, end in pairwise(times)))
    return times


def _part(video: NumberedFrames, span: Span) -> tuple[int, int]:
    """Return the first frame of a part of a video, and how many frames it has."""
    seconds = sorted(video.seconds)
    # Half a microsecond, as a start in decimals may be just after its own frame.
    first, end = (bisect_left(seconds, edge - 5e-7) for edge in span)
    if first >= end:
        raise ValueError(
            f"No frame of {video.path} is between {span[0]:g} and {span[1]:g} seconds; it ends "
            f"at {seconds[-1]:.2f}."
        )
    return first, end - first


def _identify(source: Path, clips: Path, note: bool = False) -> str:
    check_file(source)
    with reported(source):
        return noted_content_id(source, (clips, _local_folder()), write=note)


def _existing(name: str, clips: Path) -> Path | None:
    if not name or (place := clips / name).exists():
        return place if name else None
    place = _local_folder() / name
    return place if place.exists() else None


def _local_folder() -> Path:
    return platformdirs.user_cache_path("video-reasoning", appauthor=False) / "clips"


def _writable_folder(clips: Path) -> Path:
    """Return the folder itself, or the user's cache if the folder cannot be written."""
    try:
        clips.mkdir(parents=True, exist_ok=True)
        # Trying is the only test that is right for every kind of mount and user.
        with tempfile.TemporaryFile(dir=clips):
            return clips
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
    local = _local_folder()
    local.mkdir(parents=True, exist_ok=True)
    return local
