"""From what a model got of a probe to a row of the table: shown, seen, order, size, time, marks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from video_reasoning.tasks.sight import naming
from video_reasoning.tasks.sight.asking import Asked
from video_reasoning.tasks.sight.caught import Look, names_in, time_told
from video_reasoning.tasks.sight.probes import (
    FIRST_PART,
    FRAMES,
    LADDER,
    NAMED,
    PART,
    PROBES,
    Probe,
)

HIDDEN = frozenset(range(FIRST_PART + PART, FIRST_PART + 2 * PART))
"""Numbers of the frames of the hidden middle."""


@dataclass(frozen=True)
class Row:
    """What a model got of one probe.

    Attributes:
        condition: The probe.
        task: The task that shows it.
        probes: Questions that were asked.
        shown: What is shown.
        seen: Different frames that arrived in each question; None if that cannot be told.
        frames_seen: What a run says of each question; None if that is N/A. Black frames count.
        order: Whether they came as shown, or how frames were chosen from a whole video.
        pictures: Pictures that arrived, repeats included, at most.
        size: Height x width of a picture that arrived.
        time: What the model was given of time.
        marks: Frames that the prompt numbers; 0 if it numbers none.
        how: Where it was read: generate, tower or request.
        problem: What is not as shown; empty if everything is.
    """

    condition: str
    task: str
    probes: int
    shown: str
    seen: tuple[int | None, ...]
    frames_seen: tuple[int | None, ...]
    order: str
    pictures: int
    size: str
    time: str
    marks: int
    how: str
    problem: str

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--format json``."""
        return asdict(self)


@dataclass(frozen=True)
class _Scale:
    """What black and white are in the model's own unit."""

    black: float
    white: float

    def level(self, value: float) -> float:
        return 255 * (value - self.black) / (self.white - self.black)


@dataclass(frozen=True)
class _Got:
    """What was read off one question: the numbers of its frames in order, repeats included."""

    asked: Asked
    numbers: list[int] | None
    looks: Sequence[Look]

    @property
    def frames(self) -> list[int]:
        """Without repeats next to each other."""
        return [number for number, _ in itertools.groupby(self.numbers or ())]


def rows(asked: Sequence[Asked], frames: int) -> list[Row]:
    """Return the table of a probe, without the conditions that were not asked.

    Args:
        asked: The questions.
        frames: Frames of a whole video that the user wants to be seen.
    """
    got = _read(asked)
    by_probe = [(probe, [each for each in got if each.asked.probe is probe]) for probe in PROBES]
    return [_row(probe, own, frames) for probe, own in by_probe if own]


def _read(asked: Sequence[Asked]) -> list[_Got]:
    """Read the frames' numbers: by their blocks, or by their brightness if there is no layout."""
    looks = {id(each): each.caught.looks.get(each.how, []) for each in asked}
    plain = [each for each in asked if each.known and each.kind == NAMED]
    parts = [v for each in plain for look in looks[id(each)] for v in look.values]
    laid_out = bool(parts) and all(
        len(look.values) > 1 for each in plain for look in looks[id(each)]
    )
    scale = _ladder_scale(asked)
    if laid_out:
        # Of pictures that are all one gray, none is a frame.
        scale = _Scale(min(parts), max(parts) if max(parts) > min(parts) else min(parts) + 1)
    got = []
    for each in asked:
        own = looks[id(each)]
        readable = scale is not None and (each.known or each.kind == LADDER or not own)
        if each.kind == NAMED and own and not laid_out:
            continue  # only a ladder can be read
        numbers: list[int] | None = None
        if not own and each.how:
            numbers = [] if each.known else None
        elif readable and each.how and scale is not None:
            numbers = [_number(each, look, scale) for look in own]
        got.append(_Got(each, numbers, own))
    return got


def _ladder_scale(asked: Sequence[Asked]) -> _Scale | None:
    """Return the scale at which the 16 frames in order are those of the ladder."""
    for each in asked:
        if each.kind == LADDER and each.probe.name == "ordered16":
            values = [look.values[0] for look in each.caught.looks.get(each.how, [])]
            if len(set(values)) < 2:
                return None
            step = (max(values) - min(values)) / (naming.STEP * (FRAMES - 1))
            black = min(values) - step * naming.DARKEST
            return _Scale(black, black + 255 * step)
    return None


def _number(asked: Asked, look: Look, scale: _Scale) -> int:
    if asked.kind == NAMED:
        return naming.number_in(look.values, scale.black, scale.white)
    in_parts = asked.probe.benchmark == "blackswan"
    level = scale.level(sum(look.values) / len(look.values))
    place = naming.place_of(level, 3 * PART if in_parts else FRAMES)
    if place is None:
        return naming.UNKNOWN
    if place < 0:
        return naming.BLACK
    return place + (FIRST_PART if in_parts else 1)


def _row(probe: Probe, got: Sequence[_Got], frames: int) -> Row:
    problems = [_problem(each, frames) for each in got]
    bad = [problem for problem in problems if problem]
    often = f" ({len(bad)} of {len(got)} probes)" if bad and len(got) > 1 else ""
    looks = [look for each in got for look in each.looks]
    sizes = [look.size for look in looks if look.size]
    times = [time_told(each.asked.caught) for each in got]
    return Row(
        condition=probe.name,
        task=probe.task,
        probes=len(got),
        shown=probe.shown.format(n=frames),
        seen=tuple(None if each.numbers is None else _seen(each) for each in got),
        frames_seen=tuple(each.asked.counted for each in got),
        order=_order(probe, got),
        pictures=max(len(each.looks) for each in got) if sizes or not looks else 0,
        size="x".join(map(str, max(sizes))) if sizes else "",
        time=next((each for each in times if each), ""),
        marks=max(names_in(each.asked.caught) for each in got),
        how=next((each.asked.how for each in got if each.asked.how), ""),
        problem=f"{bad[0]}{often}" if bad else "",
    )


def _seen(got: _Got) -> int:
    return len(set(got.frames) - {naming.UNKNOWN, naming.BLACK})


def _problem(got: _Got, frames: int) -> str:
    """Say what a model did not get as it was shown; the empty text if it did."""
    asked = got.asked
    if asked.failure:
        return " ".join(asked.failure.split())[:300]
    if got.numbers is None:
        return "what reached the model cannot be told"
    if naming.UNKNOWN in got.numbers:
        return "pictures arrived that are not frames of the probe"
    if asked.expected is not None:
        found = _differs(got.frames, asked.expected)
    elif asked.probe.benchmark == "causalvqa":
        found = _sampled(got.frames, range(1, 1 + FRAMES), frames)
    else:
        found = _around(got.frames, asked.probe.clips, frames)
    return found or _contradicts(got)


def _frames(count: int) -> str:
    return f"{count} frame{'' if count == 1 else 's'}"


def _differs(frames: Sequence[int], expected: Sequence[int]) -> str:
    if list(frames) == list(expected):
        return ""
    if not expected:
        return f"{_frames(len(frames))} arrived with a question that shows none"
    foreign, lost = set(frames) - set(expected), set(expected) - set(frames)
    if foreign:
        verb = "was" if len(foreign) == 1 else "were"
        return f"{_frames(len(foreign))} arrived that {verb} not shown"
    if lost:
        return f"{len(lost)} of {len(expected)} frames did not arrive"
    return "the frames arrived in another order, or repeated"


def _sampled(frames: Sequence[int], of: Iterable[int], wanted: int) -> str:
    """Say how the frames of a video differ from so many of it, in order."""
    if set(frames) - set(of):
        return "frames of another video arrived"
    if list(frames) != sorted(set(frames)):
        return "the frames arrived in another order, or repeated"
    if len(frames) != wanted:
        return f"{_frames(len(frames))} arrived, {wanted} are asked for"
    return ""


def _around(frames: Sequence[int], clips: int, wanted: int) -> str:
    """Say how the frames around a hidden middle differ from what is shown."""
    hidden = HIDDEN & set(frames)
    if hidden:
        return f"{_frames(len(hidden))} of the hidden middle arrived"
    before = [n for n in frames if 0 < n < FIRST_PART + PART]
    after = [n for n in frames if n >= FIRST_PART + 2 * PART]
    if [n for n in frames if n] != before + after:
        return "the end arrived before the beginning"
    first = range(FIRST_PART, FIRST_PART + PART)
    last = range(FIRST_PART + 2 * PART, FIRST_PART + 3 * PART)
    if clips == 2:
        return _sampled(before, first, wanted) or _sampled(after, last, wanted)
    seen = sorted({*before, *after})
    if before + after != seen or not before or not after:
        return "the beginning or the end did not arrive, or not in order"
    return "" if 0 in frames else "the black middle did not arrive"


def _contradicts(got: _Got) -> str:
    """Say if the prompt numbers frames, and not as many as arrived."""
    names, pictures = names_in(got.asked.caught), len(got.frames)
    if names and names not in (pictures, len(got.looks)):
        return f"the prompt numbers {names} frames before {pictures}"
    return ""


def _order(probe: Probe, got: Sequence[_Got]) -> str:
    """Return whether the frames came in their order, or how those of a whole video were chosen."""
    several = [each for each in got if len(each.frames) > 1]
    if not several:
        return ""
    if probe.name == "whole video":
        return _spacing(several[0].frames)
    for each in several:
        frames = [number for number in each.frames if number != naming.BLACK]
        if frames != (each.asked.expected or sorted(set(frames))):
            return "no"
    return "yes"


def _spacing(frames: Sequence[int]) -> str:
    """Return how the frames of a whole video lie: from end to end, or in the middles of parts."""
    if list(frames) != sorted(set(frames)):
        return "no"
    steps = [b - a for a, b in itertools.pairwise(frames)]
    if max(steps) - min(steps) > 1:
        return "uneven"
    return "even" if (frames[0], frames[-1]) == (1, FRAMES) else "inside"
