"""Videos of one unexpected event cut into before, event and after (BlackSwanSuite, appendix B.1).

The arithmetic (`event_time`, `keep_scene`, `plan_split`, `split_points`) is apart from the work on
videos (`split_video`, `split_folder`). Two variants are known everywhere:

- `paper`: Algorithm 1 and section 4.1 as printed.
- `release`: what the authors' published script does where the paper is silent or differs, for
  who wants to build the published clips anew.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import math
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from video_reasoning.preprocessing.encoding import Part, PartEncoder
from video_reasoning.preprocessing.files import atomic_path, content_id, exclusive, remove_leftovers
from video_reasoning.preprocessing.pictures import Converter, black_frame
from video_reasoning.preprocessing.scenes import SceneFinder
from video_reasoning.preprocessing.sound import Sound
from video_reasoning.preprocessing.video import VideoError, decode_strictly, open_video, probe
from video_reasoning.preprocessing.workers import Lost, Workers

Variant = Literal["paper", "release"]
Interval = tuple[float, float]
Points = tuple[Interval, Interval, Interval]

VERSION = 1
"""Part of every record; videos split by another version are split anew."""

TRIM_SECONDS = 0.17
"""Cut off both ends, where pictures of a neighbouring scene may remain."""

CUT_SHARE = 0.8
"""V_pre ends at this share of the event's time, V_main at this share of the length."""

MIN_PART_SECONDS = 1.0
"""A video of which a part is shorter is discarded."""

MAX_SCENES = 3
"""A video with more scenes is discarded."""

COINCIDENCE_SECONDS = 0.5
"""A scene change as near as this to the event is part of the event."""

MAX_TIME_DEVIATION = 3.0
"""Annotators disagree when their times deviate by more than this (standard deviation, s)."""

MANIFEST = "manifest.jsonl"

SUFFIXES = {
    "preevent": "A_preevent",
    "event": "B_event",
    "postevent": "C_postevent",
    "blackout": "D_merged",
    "merged": "E_merged",
}
"""Names of the five clips as released, without number and suffix."""

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".flv", ".mpg", ".mpeg", ".gif")

# Decoded frames up to this size wait in memory for their encoding; larger videos are decoded
# twice. 256 MiB are 10 s of 848x480 at 40 frames a second.
_KEPT_BYTES = 256 * 1024 * 1024

_Entry = TypeVar("_Entry")

# A packet's duration is a 32-bit number.
_MOST_TICKS = 2**31 - 1

# Guards comparisons of seconds that were computed in different ways.
_EPSILON = 1e-6


@dataclass(frozen=True)
class EventTime:
    """The time of the event: seconds, or None and the reason."""

    seconds: float | None
    reason: str = ""


@dataclass(frozen=True)
class KeptScene:
    """What remains of a video of several scenes: begin and end in seconds, or a reason."""

    begin: float
    end: float
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SplitPlan:
    """Three intervals in seconds, or None and the reason."""

    points: Points | None
    reason: str = ""


def event_time(times: Sequence[float], variant: Variant = "paper") -> float | None:
    """Return the time of the main event from the annotators' times, or None.

    See `plan_event_time`, which also gives the reason.
    """
    return plan_event_time(times, variant).seconds


def plan_event_time(times: Sequence[float], variant: Variant = "paper") -> EventTime:
    """Return the time of the main event from the annotators' times.

    `paper`: the mean of the times (appendix B.1); times of 0 or less mean that the annotator
    found no event. Videos whose annotators disagree are left out (section 4.1); the paper gives
    no number, so that a standard deviation above 3 s counts as disagreement, as in the script.

    `release`: times up to 0.1 s are dropped. Above a standard deviation of 3 s one pair that
    deviates by at most 4 s is kept, if any; of several, the script keeps the last first time's
    earliest partner. The result is the mean where the deviation is at most 0.5 s, else the
    earliest time above 1 s.

    Args:
        times: Seconds from the beginning of the video.
        variant: `paper` or `release`.

    Returns:
        The time, or the reason why there is none.
    """
    _check_variant(variant)
    finite = [float(time) for time in times if math.isfinite(time)]
    found = [time for time in finite if time > (0 if variant == "paper" else 0.1)]
    if not found:
        return EventTime(None, "no annotator found the event")
    deviation = statistics.pstdev(found)
    if deviation > MAX_TIME_DEVIATION:
        pair = _last_pair(found) if variant == "release" else None
        if pair is None:
            return EventTime(
                None, f"the annotators disagree: their times deviate by {deviation:.2f} s"
            )
        found = pair
    if variant == "paper" or statistics.pstdev(found) <= 0.5:
        return EventTime(statistics.fmean(found))
    # There is one: times up to 1 s cannot deviate by more than 0.45 s.
    return EventTime(min(time for time in found if time > 1))


def _last_pair(times: Sequence[float]) -> list[float] | None:
    pair = None
    for first in range(len(times)):
        for second in range(first + 1, len(times)):
            if statistics.pstdev([times[first], times[second]]) <= 4:
                pair = [times[first], times[second]]
                break
    return pair


def keep_scene(
    duration: float, changes: Sequence[float], event_time: float, variant: Variant = "paper"
) -> KeptScene:
    """Return the part of a video that shows the scene of the event.

    `paper`: four or more scenes are too many. Of two or three, those before and after the scene
    of the event are trimmed; a change within 0.5 s of the event is part of it and kept.

    `release`: a first or last scene under 1 s does not count where there are more than two, but
    stays in the video; three that count are too many. Of two, the first is cut off where it
    ends before the event and by 1.5 s, the last where it begins after the event and is at most
    1.5 s long; otherwise the change must be within 0.5 s of the event.

    Args:
        duration: Length of the video in seconds.
        changes: Times of the scene changes in seconds, rising.
        event_time: Time of the main event in seconds.
        variant: `paper` or `release`.

    Returns:
        Begin and end of what is kept, in seconds, or the reason why nothing is.
    """
    _check_variant(variant)
    if variant == "release":
        return _keep_scene_as_released(duration, changes, event_time)
    if len(changes) + 1 > MAX_SCENES:
        return KeptScene(0.0, duration, f"it has {len(changes) + 1} scenes")
    begin, end = 0.0, duration
    notes = []
    for change in changes:
        if abs(change - event_time) <= COINCIDENCE_SECONDS + _EPSILON:
            notes.append(f"the scene change at {change:.2f} s is part of the event")
        elif change < event_time:
            begin = change
        else:
            end = min(end, change)
    if begin > 0:
        notes.append(f"the first {begin:.2f} s show another scene")
    if end < duration:
        notes.append(f"the last {duration - end:.2f} s show another scene")
    return KeptScene(begin, end, notes=tuple(notes))


def _keep_scene_as_released(
    duration: float, changes: Sequence[float], event_time: float
) -> KeptScene:
    edges = [0.0, *changes, duration]
    scenes = list(itertools.pairwise(edges))
    if len(scenes) > 2:
        if scenes[0][1] - scenes[0][0] < 1:
            scenes.pop(0)
        if scenes[-1][1] - scenes[-1][0] < 1:
            scenes.pop()
        if len(scenes) > 2:
            return KeptScene(0.0, duration, f"it has {len(scenes)} scenes of 1 s and more")
    if len(scenes) < 2:
        return KeptScene(0.0, duration)
    change = scenes[0][1]
    if event_time > change and change <= 1.5:
        note = f"the first {change:.2f} s show another scene"
        return KeptScene(change, duration, notes=(note,))
    if event_time < change and scenes[1][1] - scenes[1][0] <= 1.5:
        note = f"the last {duration - change:.2f} s show another scene"
        return KeptScene(0.0, change, notes=(note,))
    if abs(event_time - change) < COINCIDENCE_SECONDS:
        note = f"the scene change at {change:.2f} s is part of the event"
        return KeptScene(0.0, duration, notes=(note,))
    return KeptScene(0.0, duration, f"the scene changes in the middle, at {change:.2f} s")


def plan_split(duration: float, event_time: float, variant: Variant = "paper") -> SplitPlan:
    """Return where a clean video is cut, or the reason why it is discarded.

    `paper` is Algorithm 1, by its lines, with D the length of the clean video, and t as it is
    given, which no line of the algorithm moves:

    - Lines 2 and 3 trim 0.17 s off both ends: V* has the length D - 0.34, and its time 0 is 0.17
      on the clock of the clean video.
    - Line 5: V_pre is [0, 0.8 t] of V*, that is [0.17, 0.17 + 0.8 t] here.
    - Line 6: V_main is [0.8 t, 0.8 (D - 0.34)], here [0.17 + 0.8 t, 0.17 + 0.8 (D - 0.34)].
    - Line 7: V_post is [0.8 (D - 0.34), D - 0.34], here [0.17 + 0.8 (D - 0.34), D - 0.17].
    - Lines 8 to 11: a part shorter than 1 s discards the video.

    `release` cuts at 0.17, 0.8 t, 0.8 D and D - 0.17, all on the clock of the clean video, with
    the same 1 s for each part and D of at least 3 s.

    Args:
        duration: D, the length in seconds of the clean video: extra scenes are off, the 0.17 s
            at the ends are not.
        event_time: t, the time of the main event, in seconds on the clean video's clock.
        variant: `paper` or `release`.

    Returns:
        V_pre, V_main and V_post as (start, end) in seconds on the clean video's clock, each
        beginning where the one before ends; or None and the reason.

    Raises:
        ValueError: The variant is not known, or a number is negative or not finite.
    """
    _check_variant(variant)
    for name, value in (("duration", duration), ("event_time", event_time)):
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"{name} must be a number of seconds of at least 0, not {value}.")
    if variant == "paper":
        length = duration - 2 * TRIM_SECONDS
        lengths = (
            CUT_SHARE * event_time,
            CUT_SHARE * length - CUT_SHARE * event_time,
            length - CUT_SHARE * length,
        )
        first = TRIM_SECONDS + CUT_SHARE * event_time
        second = TRIM_SECONDS + CUT_SHARE * length
    else:
        if duration < 3:
            return SplitPlan(None, f"the video lasts {duration:.2f} s, less than 3 s")
        first, second = CUT_SHARE * event_time, CUT_SHARE * duration
        lengths = (first - TRIM_SECONDS, second - first, duration - TRIM_SECONDS - second)
    for name, part in zip(("V_pre", "V_main", "V_post"), lengths, strict=True):
        if part < MIN_PART_SECONDS - _EPSILON:
            return SplitPlan(None, f"{name} would last {part:.2f} s, less than 1 s")
    end = duration - TRIM_SECONDS
    return SplitPlan(((TRIM_SECONDS, first), (first, second), (second, end)))


def split_points(duration: float, event_time: float, variant: Variant = "paper") -> Points | None:
    """Return where a clean video is cut, or None; see `plan_split` for how each number follows.

    Args:
        duration: Length of the clean video in seconds.
        event_time: Time of the main event in seconds on the same clock.
        variant: `paper` or `release`.

    Returns:
        V_pre, V_main and V_post as (start, end) in seconds on the clean video's clock, or None
        where the video is discarded; `split_reason` then says why.
    """
    return plan_split(duration, event_time, variant).points


def split_reason(duration: float, event_time: float, variant: Variant = "paper") -> str:
    """Return why `split_points` gives None, or the empty text where it does not."""
    return plan_split(duration, event_time, variant).reason


@dataclass(frozen=True)
class SplitRecord:
    """What became of one video; one line of the manifest.

    Attributes:
        name: The video's path below the folder of videos.
        index: Its number, from 1, in the order of the names; the clips are called by it.
        status: `split` or `discarded`.
        reason: Why it was discarded, or the empty text.
        variant: `paper` or `release`.
        version: `VERSION`.
        source_id: `content_id` of the video, empty where it cannot be read.
        event_times: The annotators' times in seconds.
        event_time: The time used, in seconds from the beginning of the video.
        fps: Mean frames per second.
        frames: Number of frames of the video.
        duration: Length of the video in seconds.
        scene_changes: Seconds of the scene changes.
        kept: Begin and end, in seconds of the video, of the scene that was kept.
        points: The three parts in seconds of the video, before rounding to whole frames.
        parts: First frame and last + 1 of each part, as frames of the video.
        files: The clips by part: preevent, event, postevent, blackout (the middle black),
            merged (all three shown).
        has_audio: Whether the clips have sound (the one with the black middle has none).
        notes: What was changed or is remarkable, in words.
    """

    name: str
    index: int
    status: Literal["split", "discarded"]
    reason: str = ""
    variant: str = "paper"
    version: int = VERSION
    source_id: str = ""
    event_times: tuple[float, ...] = ()
    event_time: float | None = None
    fps: str = ""
    frames: int = 0
    duration: float = 0.0
    scene_changes: tuple[float, ...] = ()
    kept: tuple[float, ...] = ()
    points: tuple[tuple[float, ...], ...] = ()
    parts: tuple[tuple[int, ...], ...] = ()
    files: Mapping[str, str] | None = None
    has_audio: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Clock:
    """When each frame is shown: ticks from the first frame on, and the end of the last."""

    ticks: tuple[int, ...]
    tick: Fraction
    begin: Fraction
    irregular: bool

    @property
    def frames(self) -> int:
        return len(self.ticks) - 1

    def seconds(self, frame: int) -> float:
        return float(self.ticks[frame] * self.tick)

    def first_frame(self, seconds: float) -> int:
        """The first frame that is shown at or after a time."""
        low, high = 0, self.frames
        while low < high:
            middle = (low + high) // 2
            if self.seconds(middle) < seconds - _EPSILON:
                low = middle + 1
            else:
                high = middle
        return low


def split_video(
    source: Path,
    times: Sequence[float],
    out: Path,
    index: int,
    *,
    variant: Variant = "paper",
    name: str | None = None,
) -> SplitRecord:
    """Cut one video and write its five clips.

    The video is decoded once, or twice where its frames would fill more than 256 MiB: to find
    its scenes, and to encode. Every frame is encoded once; the joined clips are put together
    from the same encoded frames. Frames keep their times, so that a variable frame rate stays
    as it is. A frame belongs to the part in which it begins: put end to end, the parts are the
    frames of the trimmed video, none lost, none twice.

    Args:
        source: The video.
        times: The annotators' times of the event, in seconds.
        out: The folder to write to.
        index: The video's number, of which the clips' names are made.
        variant: `paper` or `release`.
        name: What the record calls the video; by default its file name.

    Returns:
        What was done, or why the video is discarded. Faults of the video are reasons, not
        errors.

    Raises:
        OSError: A clip cannot be written.
    """
    facts: dict[str, Any] = {
        "name": name or source.name,
        "index": index,
        "variant": variant,
        "event_times": tuple(float(time) for time in times),
    }

    def discard(reason: str) -> SplitRecord:
        return SplitRecord(status="discarded", reason=reason, **facts)

    time = plan_event_time(times, variant)
    if time.seconds is None:
        return discard(time.reason)
    facts["event_time"] = time.seconds
    try:
        info = probe(source)
        facts["source_id"] = content_id(source)
        facts["fps"] = str(info.fps)
        clock, cuts, frames = _watch(source, info.fps)
        duration = clock.seconds(clock.frames)
        changes = tuple(clock.seconds(cut) for cut in cuts)
        facts.update(frames=clock.frames, duration=duration, scene_changes=changes)
        longest = max(later - earlier for earlier, later in itertools.pairwise(clock.ticks))
        if longest > _MOST_TICKS:
            seconds = float(longest * clock.tick)
            return discard(f"one frame is shown for {seconds:,.0f} s, more than a clip can hold")
        kept = keep_scene(duration, changes, time.seconds, variant)
        if kept.reason:
            return discard(kept.reason)
        facts["kept"] = (kept.begin, kept.end)
        clean_time = time.seconds - kept.begin
        plan = plan_split(kept.end - kept.begin, max(0.0, clean_time), variant)
        if plan.points is None:
            return discard(plan.reason)
        points = tuple((kept.begin + start, kept.begin + end) for start, end in plan.points)
        edges = [clock.first_frame(start) for start, _ in points]
        edges.append(clock.first_frame(points[-1][1]))
        facts["points"] = points
        facts["parts"] = tuple(itertools.pairwise(edges))
        if any(first == last for first, last in facts["parts"]):
            return discard(f"a part holds no frame at {float(info.fps):.3g} frames a second")
        notes = list(kept.notes)
        if clock.irregular:
            notes.append("variable frame rate")
        files, changed, has_audio = _write(
            source, frames, clock, edges, info.fps, info.has_audio, out, index
        )
    except VideoError as error:
        # The manifest is the same wherever the videos lie.
        return discard(str(error).replace(str(source), facts["name"]))
    if info.has_audio and not has_audio:
        notes.append("its sound cannot be read and is left out")
    facts.update(files=files, notes=(*notes, *changed), has_audio=has_audio)
    return SplitRecord(status="split", **facts)


def _watch(source: Path, rate: Fraction) -> tuple[_Clock, list[int], list[Any] | None]:
    """Decode a video: the time of every frame, and the first frame of every new scene.

    The frames themselves come too, unless they would fill too much memory.
    """
    finder = SceneFinder(rate)
    frames: list[Any] | None = []
    with open_video(source) as (container, stream):
        tick = Fraction(stream.time_base)
        usual = max(1, round(1 / (rate * tick)))
        times: list[int] = []
        last_duration = 0
        for frame in decode_strictly(source, container, stream):
            previous = times[-1] if times else None
            time = frame.pts
            if time is None:
                time = 0 if previous is None else previous + usual
            elif previous is not None and time <= previous:
                # Two frames at one time, or time running back: shown as soon as possible.
                time = previous + 1
            times.append(time)
            last_duration = int(getattr(frame, "duration", 0) or 0)
            finder.add(frame)
            if frames is not None:
                frames.append(frame)
                if len(frames) * sum(plane.buffer_size for plane in frame.planes) > _KEPT_BYTES:
                    frames = None
    begin = times[0]
    ticks = [time - begin for time in times]
    steps = [later - earlier for earlier, later in itertools.pairwise(ticks)]
    typical = sorted(steps)[len(steps) // 2] if steps else usual
    # The last frame's own length is not always told, and sometimes absurd.
    ends = last_duration if 0 < last_duration <= 2 * max(typical, usual) else typical
    # Times rounded to ticks differ by one; a frame left out or put in differs by more.
    irregular = any(abs(step - typical) > max(1, typical // 10) for step in steps)
    clock = _Clock((*ticks, ticks[-1] + ends), tick, begin * tick, irregular)
    return clock, finder.finish(), frames


def _write(
    source: Path,
    frames: Sequence[Any] | None,
    clock: _Clock,
    edges: Sequence[int],
    rate: Fraction,
    has_audio: bool,
    out: Path,
    index: int,
) -> tuple[dict[str, str], tuple[str, ...], bool]:
    """Encode the frames between the edges, decoding anew if need be, and write the five clips."""
    with contextlib.ExitStack() as stack:
        encoder: PartEncoder | None = None
        convert: Converter | None = None
        for number, frame in enumerate(_decode(source, edges[-1]) if frames is None else frames):
            if number >= edges[-1]:
                break
            if convert is None:
                convert = Converter(frame)
                encoder = stack.enter_context(_encoder(convert.size, rate, clock, frame))
            if number < edges[0] or encoder is None:
                continue
            if number in edges:
                encoder.begin()
            encoder.add(convert(frame), clock.ticks[number + 1] - clock.ticks[number])
        if encoder is None or convert is None:
            raise VideoError(f"{source} holds no frame that can be decoded.")
        hidden_ticks = clock.ticks[edges[1] : edges[2] + 1]
        steps = [later - earlier for earlier, later in itertools.pairwise(hidden_ticks)]
        encoder.add_still(black_frame(*convert.size), steps)
        before, event, after, hidden = encoder.finish()
        sound = Sound.read(source, clock.begin) if has_audio else None
        if sound is not None:
            stack.callback(sound.close)
        # What the parts of each clip are, and which frames of the sound go with them.
        plans: dict[str, tuple[list[Part], tuple[int, int] | None]] = {
            "preevent": ([before], (0, 1)),
            "event": ([event], (1, 2)),
            "postevent": ([after], (2, 3)),
            # The sound of the event would tell what is hidden.
            "blackout": ([before, hidden, after], None),
            "merged": ([before, event, after], (0, 3)),
        }
        files = {}
        for kind, (parts, span) in plans.items():
            target = out / f"{index}_{SUFFIXES[kind]}.mp4"
            piece = None
            if sound is not None and span is not None:
                piece = sound.cut(
                    clock.ticks[edges[span[0]]] * clock.tick,
                    clock.ticks[edges[span[1]]] * clock.tick,
                )
            with atomic_path(target) as temporary:
                encoder.write(parts, temporary, piece)
            files[kind] = target.name
        return files, convert.changes, sound is not None


def _decode(source: Path, count: int) -> Iterator[Any]:
    with open_video(source) as (container, stream):
        yield from itertools.islice(container.decode(stream), count)


def _encoder(size: tuple[int, int], rate: Fraction, clock: _Clock, frame: Any) -> PartEncoder:
    width, height = size
    return PartEncoder(width, height, rate, clock.tick, like=frame)


def find_videos(folder: Path) -> dict[int, Path]:
    """Number the videos of a folder and the folders below it, from 1.

    Numbers follow the sorted names (paths below the folder), so that they are the same on every
    machine and file system. They change where videos are added or removed.

    Args:
        folder: The folder.

    Returns:
        The videos by number.

    Raises:
        FileNotFoundError: There is no such folder, or no video in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no folder: give the folder that holds the videos.")
    found = sorted(
        (
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.suffix.lower() in VIDEO_SUFFIXES and not path.name.startswith(".")
        ),
    )
    if not found:
        raise FileNotFoundError(
            f"{folder} holds no video ({', '.join(VIDEO_SUFFIXES)}): give the folder with them."
        )
    return {number: folder / name for number, name in enumerate(found, start=1)}


def read_transition_times(
    source: Path | Mapping[str, Any], odd: dict[str, str] | None = None
) -> dict[str, tuple[float, ...]]:
    """Read the annotators' event times as Oops! publishes them.

    Args:
        source: The file `transition_times.json` (name -> {"t": [seconds, ...]}), or its content.
            A plain list of seconds in place of the inner object is understood too.
        odd: Filled with the names whose times cannot be read, and why; None to refuse the whole
            file because of one.

    Returns:
        Seconds by name, as they stand there (0 and less mean that no event was found).

    Raises:
        ValueError: The file is no JSON, or its content has another shape; the message names the
            entry.
        OSError: The file cannot be read.
    """
    content: Any = source
    place = "the event times"
    if isinstance(source, Path):
        place = str(source)
        if source.exists() and not source.is_file():
            raise ValueError(f"{source} is no regular file: give the file of the event times.")
        try:
            content = json.loads(source.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{source} is no JSON text: {error}.") from None
    if not isinstance(content, Mapping):
        raise ValueError(f"{place} must map each video's name to its times.")
    result = {}
    for name, entry in content.items():
        times = entry.get("t") if isinstance(entry, Mapping) else entry
        problem = ""
        if not isinstance(times, Sequence) or isinstance(times, str):
            problem = f"the entry '{name}' has no list of times under 't'"
        elif not all(isinstance(time, int | float) for time in times):
            problem = f"a time of '{name}' is no number"
        else:
            try:
                result[str(name)] = tuple(float(time) for time in times)
            except OverflowError:
                problem = f"a time of '{name}' is too large"
        if problem and odd is None:
            raise ValueError(f"{place}: {problem}.")
        if problem and odd is not None:
            odd[str(name)] = problem
    return result


def split_folder(
    videos: Path,
    transition_times: Path | Mapping[str, Any],
    out: Path,
    variant: Variant = "paper",
    workers: int = 1,
    resume: bool = True,
    progress: Callable[[SplitRecord, int, int], None] | None = None,
    *,
    engine: str = "local",
    engine_address: str | None = None,
    isolate: bool = False,
) -> list[SplitRecord]:
    """Split all videos of a folder.

    Clips are called `<number>_A_preevent.mp4`, `_B_event`, `_C_postevent`, `_D_merged` (the
    middle black) and `_E_merged`; numbers are those of `find_videos`. `manifest.jsonl` in the
    folder of clips has one line a video, in the order of the numbers. A run that was cut off
    goes on where it was: videos whose record and clips are there, made from the same content
    with the same times, variant and version, are not done again. Only this process writes the
    journal and the manifest, wherever the workers are. One run at a time works on a folder of
    clips.

    A video that ends the process that decodes it, twice, is discarded with that reason, and
    tried again by the next run.

    Args:
        videos: Folder of the videos, with or without folders below it.
        transition_times: See `read_transition_times`; names are those of the videos, with or
            without suffix.
        out: Folder to write clips and manifest to.
        variant: `paper` or `release`.
        workers: Number of processes.
        resume: Keep what a former run did; otherwise everything is made anew.
        progress: Called after each video with its record, the number of videos done and of all.
        engine: `local`, `dask` or `ray`, see `workers.Workers`. The folders must have the same
            path on every machine.
        engine_address: Of the cluster.
        isolate: Whether a single worker is a process of its own, which a decoder that dies
            cannot take along.

    Returns:
        The records in the order of the numbers.

    Raises:
        FileNotFoundError: There is no such folder, or no video in it.
        ValueError: The event times cannot be read, or the variant is not known.
        OSError: The folder of clips cannot be written, e.g. because the disk is full; what was
            done is kept.
        Busy: Another run works on the folder of clips.
        EngineError: The engine cannot be used.
    """
    _check_variant(variant)
    numbered = find_videos(videos)
    odd: dict[str, str] = {}
    times = read_transition_times(transition_times, odd)
    with exclusive(out / f".{MANIFEST}.lock", remove=True):
        remove_leftovers(out)
        team = Workers(workers, engine, engine_address, isolate=isolate, shared=out)
        entries: dict[str, tuple[float, ...] | str] = {**odd, **times}
        return _split_all(videos, numbered, entries, out, variant, team, resume, progress)


def _split_all(
    videos: Path,
    numbered: Mapping[int, Path],
    times: Mapping[str, tuple[float, ...] | str],
    out: Path,
    variant: Variant,
    team: Workers,
    resume: bool,
    progress: Callable[[SplitRecord, int, int], None] | None,
) -> list[SplitRecord]:
    journal = out / f".{MANIFEST}.journal"
    former = _read_records(out / MANIFEST) | _read_records(journal) if resume else {}
    if not resume:
        journal.unlink(missing_ok=True)
    done: dict[int, SplitRecord] = {}
    waiting = []
    for number, path in numbered.items():
        name = path.relative_to(videos).as_posix()
        annotated = _find(name, times)
        if isinstance(annotated, str):  # why its times cannot be read
            done[number] = SplitRecord(name, number, "discarded", annotated, variant=variant)
            continue
        record = former.get(number)
        if record is not None and _still_holds(record, name, path, annotated, variant, out):
            done[number] = record
        else:
            # Workers may have another current folder.
            job = (path.absolute(), annotated, out.absolute(), number, variant, name)
            waiting.append(job)
    if progress is not None:
        for count, record in enumerate(done.values(), start=1):
            progress(record, count, len(numbered))
    lost: dict[int, SplitRecord] = {}
    with contextlib.ExitStack() as stack:
        if waiting:
            # A cluster is only started for work.
            stack.enter_context(team)
        write = stack.enter_context(_journal(journal))
        for place, outcome in stack.enter_context(
            contextlib.closing(team.each(_split_job, waiting))
        ):
            _, annotated, _, number, _, name = waiting[place]
            if isinstance(outcome, Lost):
                # Not in the journal, and never held for done: it is tried again.
                record = lost[number] = SplitRecord(
                    name,
                    number,
                    "discarded",
                    outcome.reason,
                    variant=variant,
                    event_times=annotated or (),
                    event_time=plan_event_time(annotated or (), variant).seconds or 0.0,
                )
            else:
                record = done[number] = outcome
                write(_line(record))
            if progress is not None:
                progress(record, len(done) + len(lost), len(numbered))
    done |= lost
    records = [done[number] for number in sorted(done)]
    with atomic_path(out / MANIFEST) as temporary:
        temporary.write_text("".join(map(_line, records)), encoding="utf-8")
    journal.unlink(missing_ok=True)
    return records


def read_manifest(path: Path) -> list[SplitRecord]:
    """Read the manifest that `split_folder` wrote, in the order of the numbers."""
    return [record for _, record in sorted(_read_records(path).items())]


_Job = tuple[Path, tuple[float, ...] | None, Path, int, Variant, str]


def _split_job(job: _Job) -> SplitRecord:
    return _split_one(*job)


def _split_one(
    path: Path,
    times: tuple[float, ...] | None,
    out: Path,
    number: int,
    variant: Variant,
    name: str,
) -> SplitRecord:
    if times is None:
        return SplitRecord(
            name, number, "discarded", "its event time is not annotated", variant=variant
        )
    return split_video(path, times, out, number, variant=variant, name=name)


@contextlib.contextmanager
def _journal(path: Path) -> Iterator[Callable[[str], None]]:
    """Give a function that adds a line, which a kill right after it does not lose."""
    with path.open("ab", buffering=0) as file:
        # A line that was cut off would swallow the next one.
        if file.tell() and not path.read_bytes().endswith(b"\n"):
            file.write(b"\n")

        def write(line: str) -> None:
            data = line.encode()
            try:
                if file.write(data) == len(data):
                    return
                number = errno.ENOSPC
            except OSError as error:
                number = error.errno or errno.EIO
            raise OSError(number, os.strerror(number), str(path))

        yield write


def _find(name: str, entries: Mapping[str, _Entry]) -> _Entry | None:
    """What a file says of a video, whose name it may have with or without suffix and folder."""
    path = Path(name)
    keys = (name, path.name, str(path.with_suffix("")), path.stem)
    return next((entries[key] for key in keys if key in entries), None)


def _still_holds(
    record: SplitRecord,
    name: str,
    path: Path,
    times: tuple[float, ...] | None,
    variant: Variant,
    out: Path,
) -> bool:
    if (record.name, record.variant, record.version) != (name, variant, VERSION):
        return False
    if record.event_times != (times or ()):
        return False
    if record.source_id:
        try:
            if content_id(path) != record.source_id:
                return False
        except OSError:
            return False
    elif record.event_time is not None:
        # The video could not be read: it may have been replaced.
        return False
    return all((out / file).exists() for file in (record.files or {}).values())


def _line(record: SplitRecord) -> str:
    return json.dumps(asdict(record)) + "\n"


def _read_records(path: Path) -> dict[int, SplitRecord]:
    """Read records; a line that was not written to its end is passed over."""
    records = {}
    for entry in _read_lines(path):
        with contextlib.suppress(TypeError, KeyError):
            entry["points"] = tuple(map(tuple, entry["points"]))
            entry["parts"] = tuple(map(tuple, entry["parts"]))
            for key in ("event_times", "scene_changes", "kept", "notes"):
                entry[key] = tuple(entry[key])
            record = SplitRecord(**entry)
            records[record.index] = record
    return records


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            entry = json.loads(line)
            if isinstance(entry, dict):
                yield entry


def _check_variant(variant: str) -> None:
    if variant not in get_args(Variant):
        raise ValueError(f"There is no variant '{variant}': use 'paper' or 'release'.")
