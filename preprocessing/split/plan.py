"""The arithmetic of the split: the event's time, the scene that is kept, and where it is cut."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Variant = Literal["paper", "release"]
Interval = tuple[float, float]
Points = tuple[Interval, Interval, Interval]

TRIM_SECONDS = 0.17  # cut off both ends, where pictures of a neighboring scene may remain
CUT_SHARE = 0.8  # V_pre ends at this share of the event's time, V_main at this share of the length
MIN_PART_SECONDS = 1.0  # a video with a shorter part is discarded
MAX_SCENES = 3  # a video with more scenes is discarded
MAX_TRIMMED_SECONDS = 1.5
"""Other scenes are trimmed off the beginning and the end up to this length each: the authors'
script has the number, the paper says "in the beginning and/or the end"."""

COINCIDENCE_SECONDS = 0.5  # a scene change as near as this to the event is part of the event
MAX_TIME_DEVIATION = 3.0
"""Annotators disagree when their times deviate by more than this (standard deviation, s)."""

EPSILON = 1e-6  # guards comparisons of seconds that were computed in different ways


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
    no number, so a standard deviation above 3 s counts as disagreement, as in the script.

    `release`: times up to 0.1 s are dropped. Above a standard deviation of 3 s one pair that
    deviates by at most 4 s is kept, if any; of several, the script keeps the last first time's
    earliest partner. The result is the mean if the deviation is at most 0.5 s, else the
    earliest time above 1 s.

    Args:
        times: Seconds from the beginning of the video.
        variant: `paper` or `release`.

    Returns:
        The time, or the reason why it is missing.
    """
    check_variant(variant)
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
    of the event are trimmed, up to 1.5 s at either end; a longer one is not in the beginning or
    the end, and the video is discarded. A change within 0.5 s of the event is part of it and kept.

    `release`: a first or last scene under 1 s does not count if there are more than two, but
    stays in the video; three that count are too many. Of two, the first is cut off if it
    ends before the event and by 1.5 s, the last if it begins after the event and is at most
    1.5 s long; otherwise the change must be within 0.5 s of the event.

    Args:
        duration: Length of the video in seconds.
        changes: Times of the scene changes in seconds, rising.
        event_time: Time of the main event in seconds.
        variant: `paper` or `release`.

    Returns:
        Begin and end of what is kept, in seconds, or the reason why nothing is.
    """
    check_variant(variant)
    if variant == "release":
        return _keep_scene_as_released(duration, changes, event_time)
    if len(changes) + 1 > MAX_SCENES:
        return KeptScene(0.0, duration, f"it has {len(changes) + 1} scenes")
    begin, end = 0.0, duration
    notes = []
    for change in changes:
        if abs(change - event_time) <= COINCIDENCE_SECONDS + EPSILON:
            notes.append(f"the scene change at {change:.2f} s is part of the event")
        elif change < event_time:
            begin = change
        else:
            end = min(end, change)
    if max(begin, duration - end) > MAX_TRIMMED_SECONDS + EPSILON:
        change = begin if begin > MAX_TRIMMED_SECONDS + EPSILON else end
        return KeptScene(0.0, duration, f"the scene changes in the middle, at {change:.2f} s")
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
    if event_time > change and change <= MAX_TRIMMED_SECONDS:
        note = f"the first {change:.2f} s show another scene"
        return KeptScene(change, duration, notes=(note,))
    if event_time < change and scenes[1][1] - scenes[1][0] <= MAX_TRIMMED_SECONDS:
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
    check_variant(variant)
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
        if part < MIN_PART_SECONDS - EPSILON:
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
        if the video is discarded; `split_reason` then says why.
    """
    return plan_split(duration, event_time, variant).points


def split_reason(duration: float, event_time: float, variant: Variant = "paper") -> str:
    """Return why `split_points` gives None, or the empty text if it does not."""
    return plan_split(duration, event_time, variant).reason


def check_variant(variant: str) -> None:
    """Refuse a variant that is not known."""
    if variant not in get_args(Variant):
        raise ValueError(f"There is no variant '{variant}': use 'paper' or 'release'.")
