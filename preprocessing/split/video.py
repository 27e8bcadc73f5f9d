"""One video: its scenes found, its frames cut into three parts, its five clips written."""

from __future__ import annotations

import contextlib
import itertools
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from video_reasoning.preprocessing.encoding import Part, PartEncoder
from video_reasoning.preprocessing.files import atomic_path, content_id
from video_reasoning.preprocessing.pictures import Converter, black_frame
from video_reasoning.preprocessing.scenes import SceneFinder
from video_reasoning.preprocessing.sound import Sound
from video_reasoning.preprocessing.split.plan import (
    EPSILON,
    Variant,
    keep_scene,
    plan_event_time,
    plan_split,
)
from video_reasoning.preprocessing.video import VideoError, decode_strictly, open_video, probe

VERSION = 1  # part of every record; videos split by another version are split again

SUFFIXES = {
    "preevent": "A_preevent",
    "event": "B_event",
    "postevent": "C_postevent",
    "blackout": "D_merged",
    "merged": "E_merged",
}
"""Names of the five clips as released, without number and suffix."""

# Decoded frames up to this size wait in memory for their encoding; larger videos are decoded
# twice. 256 MiB are 10 s of 848x480 at 40 frames a second.
_KEPT_BYTES = 256 * 1024 * 1024

# A packet's duration is a 32-bit number.
_MOST_TICKS = 2**31 - 1


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
        """Return the first frame that is shown at or after a time."""
        return bisect_left(range(self.frames), seconds - EPSILON, key=self.seconds)


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
        source: A video file.
        times: The annotators' times of the event, in seconds.
        out: Folder to write to.
        index: The video's number, from which the clips' names are made.
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
            return discard(f"a part contains no frame at {float(info.fps):.3g} frames a second")
        notes = [*kept.notes, *info.notes]
        if clock.irregular:
            notes.append("variable frame rate")
        files, changed, has_audio = _write(
            source, frames, clock, edges, info.fps, info.has_audio, out, index
        )
    except VideoError as error:
        # The manifest is the same wherever the videos are.
        return discard(str(error).replace(str(source), facts["name"]))
    if info.has_audio and not has_audio:
        notes.append("its sound cannot be read and is left out")
    facts.update(files=files, notes=(*notes, *changed), has_audio=has_audio)
    return SplitRecord(status="split", **facts)


def _watch(source: Path, rate: Fraction) -> tuple[_Clock, list[int], list[Any] | None]:
    """Decode a video: times of the frames, first frames of new scenes, frames unless too large."""
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
    # The last frame's own length is not always known, and sometimes absurd.
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
    """Encode the frames between the edges, decoding again if need be, and write the five clips."""
    with contextlib.ExitStack() as stack:
        encoder: PartEncoder | None = None
        convert: Converter | None = None
        shown: Iterable[Any] = frames or ()
        if frames is None:
            container, stream = stack.enter_context(open_video(source))
            shown = container.decode(stream)
        for number, frame in enumerate(itertools.islice(shown, edges[-1])):
            if convert is None:
                convert = Converter(frame)
                width, height = convert.size
                encoder = stack.enter_context(
                    PartEncoder(width, height, rate, clock.tick, like=frame)
                )
            if number < edges[0] or encoder is None:
                continue
            if number in edges:
                encoder.begin()
            encoder.add(convert(frame), clock.ticks[number + 1] - clock.ticks[number])
        if encoder is None or convert is None:
            raise VideoError(f"{source} contains no frame that can be decoded.")
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
            # The sound of the event would give away what is hidden.
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
