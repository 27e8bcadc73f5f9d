"""From colored blobs to answers: what ``sample_observer`` can work out by looking.

Each solver returns the meaning of the answer in the sample's phrase books, or None if the
footage does not settle it: too few frames, frames out of order, the decisive part hidden.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from video_reasoning.tasks.sample.observer.vision import Blob, Footage
from video_reasoning.tasks.sample.tvbench import outline_points
from video_reasoning.tasks.sample.wording import COLORS, VECTORS, color_in

_TOP, _BOTTOM = 44.0, 208.0  # lamp and card are above, the small blocks below
_CENTER = 160.0  # half of the picture's width
_MOVED = 12.0  # pixels: less is a thing that stays in place


class _Track:
    """Where the largest patch of a color was, frame by frame, and what else is in the last one."""

    def __init__(self, blobs: Sequence[Blob], beside: Sequence[Blob]) -> None:
        self.beside = beside
        self.xs = np.array([blob.x for blob in blobs])
        self.ys = np.array([blob.y for blob in blobs])

    def __len__(self) -> int:
        return len(self.xs)

    @property
    def reach(self) -> float:
        """Extent of the path in pixels: width plus height."""
        return float(np.ptp(self.xs) + np.ptp(self.ys)) if len(self) else 0.0

    def at(self, fraction: float) -> tuple[float, float]:
        """Position at a fraction of the track's length."""
        return _at(self.xs, fraction), _at(self.ys, fraction)

    def in_order(self, turns: int = 1) -> bool:
        """Whether it could be one movement, its frames in order."""
        return _smooth(self.xs, turns) and _smooth(self.ys, turns)


def _at(values: Any, fraction: float) -> float:
    return float(np.interp(fraction * (len(values) - 1), np.arange(len(values)), values))


def _first(frame: Sequence[Blob], color: str | None, top: float, bottom: float) -> Blob | None:
    """Return the largest patch of a color (or of any) between two heights."""
    fitting = (blob for blob in frame if color in (None, blob.color) and top < blob.y < bottom)
    return next(fitting, None)


def _firsts(
    footage: Footage, color: str | None, top: float = _TOP, bottom: float = _BOTTOM
) -> list[Blob]:
    found = (_first(frame, color, top, bottom) for frame in footage.frames)
    return [blob for blob in found if blob is not None]


def _turns(values: Any, dead: float) -> int:
    """Count how often a series changes its direction; steps up to ``dead`` do not count."""
    steps = np.diff(values)
    signs = np.sign(steps[np.abs(steps) > dead])
    return int(np.count_nonzero(signs[1:] != signs[:-1]))


def _smooth(values: Any, turns: int = 1) -> bool:
    """Tell whether a series could come from one movement, its frames in order."""
    extent = float(np.ptp(values))
    return extent < _MOVED or _turns(values, 0.05 * extent) <= turns


def _mover(footage: Footage, thing: str, *, anywhere: bool = False) -> _Track | None:
    """Find the thing asked about: by its color, else the one that travels furthest."""
    color = color_in(thing)
    heights = (0.0, 240.0) if anywhere else (_TOP, _BOTTOM)
    beside = [blob for blob in footage.frames[-1] if blob.color != color]
    tracks = [
        _Track(_firsts(footage, name, *heights), beside) for name in ([color] if color else COLORS)
    ]
    track = max(tracks, key=lambda one: one.reach)
    return track if len(track) >= 4 else None


def _heading(begin: tuple[float, float], end: tuple[float, float]) -> str:
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    if abs(dx) >= abs(dy):
        return "right" if dx > 0 else "left"
    return "down" if dy > 0 else "up"


def _legs(track: _Track) -> list[str] | None:
    """Return the directions of both halves of a movement; None if frames are out of order."""
    if not track.in_order():
        return None
    if track.reach < _MOVED:
        return []
    points = [track.at(fraction) for fraction in (0.0, 0.5, 1.0)]
    first, second = _heading(points[0], points[1]), _heading(points[1], points[2])
    return [first] if first == second else [first, second]


def _move(track: _Track) -> str | None:
    legs = _legs(track)
    return None if legs is None else "_".join(legs) or "still"


def _trend(track: _Track) -> str | None:
    legs = _legs(track)
    return None if legs is None else "trend_" + "_".join(legs) if legs else "still"


def _camera(footage: Footage, slots: Mapping[str, str]) -> str | None:
    widths = [max(blob.w for blob in frame) for frame in footage.frames if frame]
    if len(widths) < 4:
        return None
    extent = max(widths) - min(widths)
    if extent < 6:
        return "still"
    if _turns(widths, 0.05 * extent) > 0:
        return None
    return "forward" if widths[-1] > widths[0] else "backward"


def _pace(first: float, second: float) -> str:
    if second > 1.6 * first:
        return "accelerating"
    return "decelerating" if first > 1.6 * second else "constant"


def _speed(track: _Track) -> str | None:
    if not track.in_order(turns=0):
        return None
    if track.reach < _MOVED:
        return "still"
    begin, middle, end = (track.at(fraction) for fraction in (0.0, 0.5, 1.0))
    return _pace(math.dist(begin, middle), math.dist(middle, end))


def _rotation(track: _Track, turns: int) -> tuple[float, float] | None:
    """Return the angles of both halves of a rotation, in radians, clockwise above 0."""
    if len(track) < 5 or track.reach < _MOVED:
        return None
    # The middle of the circle, by least squares.
    system = np.column_stack([track.xs, track.ys, np.ones(len(track))])
    circle, *_ = np.linalg.lstsq(system, track.xs**2 + track.ys**2, rcond=None)
    angles = np.unwrap(np.arctan2(track.ys - circle[1] / 2, track.xs - circle[0] / 2))
    if _turns(angles, np.radians(2.5)) > turns:
        return None
    middle = _at(angles, 0.5)
    return middle - float(angles[0]), float(angles[-1]) - middle


def _spin(track: _Track) -> str | None:
    halves = _rotation(track, 1)
    names = ["cw" if half > 0 else "ccw" for half in halves or ()]
    return "_".join(dict.fromkeys(names)) or None


def _spin_speed(track: _Track) -> str | None:
    halves = _rotation(track, 0)
    return _pace(*map(abs, halves)) if halves else None


def _outline(track: _Track) -> str | None:
    if len(track) < 8:
        return None
    if min(np.ptp(track.xs), np.ptp(track.ys)) < _MOVED:
        return "no_shape"
    xs = (track.xs - track.xs.min()) / np.ptp(track.xs)
    ys = (track.ys - track.ys.min()) / np.ptp(track.ys)
    around = np.unwrap(np.arctan2(ys - 0.55, xs - 0.5))
    # Drawn once round, in one sense: otherwise the frames are out of order.
    if _turns(around, np.radians(4)) > 0:
        return None
    points = np.stack([xs, ys])
    off = {}
    for shape in ("square", "triangle", "circle", "diamond"):
        line = np.stack(outline_points(shape, np.linspace(0, 1, 200)))
        gaps = np.hypot(*(points[:, :, None] - line[:, None, :])).min(axis=1)
        off[shape] = float(gaps.mean())
    return min(off, key=lambda shape: off[shape])


def _sounds(footage: Footage, slots: Mapping[str, str], place: int = 0) -> str | None:
    """Tell which place glows first (or last); None unless each glows once and two of them do."""
    lit: dict[str, list[int]] = {}
    for number, frame in enumerate(footage.frames):
        for blob in frame:
            if 50 < blob.y < 95 and blob.area > 150:
                zone = "left" if blob.x < 110 else "middle" if blob.x < 210 else "right"
                lit.setdefault(zone, []).append(number)
    if len(lit) < 2 or any(times[-1] - times[0] >= len(times) for times in lit.values()):
        return None
    order = sorted(lit, key=lambda zone: lit[zone][0])
    return f"{order[place]}_one"


def _hops(track: _Track) -> str | None:
    if not _smooth(track.xs, 0) or np.ptp(track.xs) < _MOVED:
        return None
    if np.ptp(track.ys) < 30:
        return "0"
    high = track.ys < (track.ys.min() + track.ys.max()) / 2
    return str(int(np.count_nonzero(high[1:] & ~high[:-1])) + int(high[0]))


def _common(values: Sequence[str]) -> str | None:
    return Counter(values).most_common(1)[0][0] if values else None


def _color_of(footage: Footage, slots: Mapping[str, str]) -> str | None:
    return _common([blob.color for blob in _firsts(footage, None)])


def _ground(frame: Sequence[Blob], color: str | None = None) -> list[Blob]:
    return [blob for blob in frame if blob.y >= _BOTTOM and color in (None, blob.color)]


def _blocks_color(footage: Footage, slots: Mapping[str, str]) -> str | None:
    return _common([blob.color for frame in footage.frames for blob in _ground(frame)])


def _count_of(footage: Footage, slots: Mapping[str, str]) -> str | None:
    color = color_in(slots["thing"])
    return _common([str(len(_ground(frame, color))) for frame in footage.frames if frame])


def _side_of(footage: Footage, slots: Mapping[str, str]) -> str | None:
    color = color_in(slots["thing"])
    xs = [blob.x for frame in footage.frames for blob in _ground(frame, color)]
    if not xs:
        return None
    return "left_side" if median(xs) < _CENTER else "right_side"


def _shape_of(footage: Footage, slots: Mapping[str, str]) -> str | None:
    fills = [blob.fill for blob in _firsts(footage, color_in(slots["thing"]))]
    if not fills:
        return None
    fill = median(fills)
    return "square" if fill > 0.9 else "circle" if fill > 0.66 else "triangle"


def _flash(footage: Footage, slots: Mapping[str, str]) -> str | None:
    return _common([blob.color for frame in footage.frames for blob in frame if blob.y <= _TOP])


def _dots(footage: Footage, slots: Mapping[str, str]) -> str | None:
    color = color_in(slots["thing"])
    counts = [
        sum(blob.color == color and blob.y <= _TOP for blob in frame) for frame in footage.frames
    ]
    return _common([str(count) for count in counts if count])


def _leftmost(footage: Footage, slots: Mapping[str, str]) -> str | None:
    seen = [min(frame, key=lambda blob: blob.x).color for frame in footage.frames if frame]
    color = _common(seen)
    return f"object:{color}" if color else None


def _slide(track: _Track) -> str | None:
    legs = _legs(track)
    return None if legs is None else f"slide_{legs[0]}" if legs else "slide_none"


def _card(footage: Footage, slots: Mapping[str, str]) -> str | None:
    color = _common([blob.color for frame in footage.frames for blob in frame if blob.y < 70])
    return f"card:{color}" if color else None


def _next(track: _Track) -> str | None:
    if not track.in_order(0) or track.reach < _MOVED:
        return None
    if abs(track.xs[-1] - track.at(0.75)[0]) < 3:
        return "rest"
    # Whatever is at the end of the table that the ball is heading for.
    side = 1 if track.xs[-1] > track.xs[0] else -1
    met = [blob for blob in track.beside if side * (blob.x - _CENTER) > 70]
    if not met:
        return "fall_edge"
    return "hit_stack" if met[0].h > met[0].w else "hit_pillow"


def _undo(footage: Footage, slots: Mapping[str, str]) -> str | None:
    latest: list[tuple[int, str]] = []
    for color in COLORS:
        firsts = [_first(frame, color, 0, 240) for frame in footage.frames]
        ys = [(place, blob.y) for place, blob in enumerate(firsts) if blob is not None]
        latest += [(place, color) for place, y in ys if abs(y - ys[-1][1]) > 8]
    return f"undo:{max(latest, key=lambda one: one[0])[1]}" if latest else None


def _pattern(footage: Footage, slots: Mapping[str, str]) -> str | None:
    rows = [sorted(frame, key=lambda blob: blob.x) for frame in footage.frames]
    color = _common([row[-2].color for row in rows if len(row) >= 4])
    return f"add:{color}" if color else None


def _no_post(track: _Track) -> str | None:
    if not track.in_order():
        return None
    away = track.xs - track.xs[0]
    furthest = float(away[np.argmax(np.abs(away))])
    if abs(furthest) < _MOVED:
        return "stayed"
    return "off_right" if furthest > 0 else "off_left"


def _push_on(track: _Track) -> str | None:
    legs = _legs(track)
    if not legs:
        return None
    dx, dy = VECTORS[legs[0]]
    met = []
    for blob in track.beside:
        along = dx * (blob.x - track.xs[-1]) + dy * (blob.y - track.ys[-1])
        across = abs(dy * (blob.x - track.xs[-1])) + abs(dx * (blob.y - track.ys[-1]))
        if along > 0 and across < 25:
            met.append((along, blob.color))
    return f"touch:{min(met)[1]}" if met else "touch_none"


_Solver = Callable[[Footage, Mapping[str, str]], "str | None"]


def _named(*solvers: Any) -> dict[str, Any]:
    return {solver.__name__[1:]: solver for solver in solvers}


# What any frame may settle, and what needs frames in order: each by the function of its name.
_STATIC: dict[str, _Solver] = _named(
    *(_color_of, _blocks_color, _count_of, _side_of, _shape_of, _flash, _dots),
    *(_leftmost, _card, _pattern),
)
_TEMPORAL: dict[str, _Solver] = {
    "first_sound": _sounds,
    "last_sound": partial(_sounds, place=-1),
    **_named(_camera, _undo),
}
# What needs the path of one thing alone, in the middle of the picture or anywhere in it.
_OF_TRACK = _named(_move, _trend, _speed, _spin, _spin_speed, _outline, _hops)
_ANYWHERE = _named(_slide, _next, _no_post, _push_on)


def solve(kind: str, slots: Mapping[str, str], footage: Footage) -> str | None:
    """Return the key of a question's answer by looking, or None if the footage does not settle it.

    The kind is an entry of the sample's books of questions; the slots are what the question names.
    """
    if footage.empty:
        return None
    if kind in _STATIC:
        return _STATIC[kind](footage, slots)
    if footage.still:
        return None
    if kind in _TEMPORAL:
        return _TEMPORAL[kind](footage, slots)
    solver = _OF_TRACK.get(kind) or _ANYWHERE.get(kind)
    track = _mover(footage, slots["thing"], anywhere=kind in _ANYWHERE) if solver else None
    answer: str | None = solver(track) if solver and track else None
    return answer


class _Scene:
    """A BlackSwan clip: how it begins, how it ends, and whether the middle is hidden."""

    def __init__(self, footage: Footage) -> None:
        hidden = [number for number, dark in enumerate(footage.black) if dark]
        self.hidden = bool(hidden)
        before = footage.frames[: hidden[0]] if hidden else footage.frames
        after = footage.frames[hidden[-1] + 1 :] if hidden else footage.frames
        self.start = before[0] if before else ()
        # The end is known only if the footage goes beyond what is hidden.
        self.end = after[-1] if after else None
        self.frames = footage.frames

    def stack(self) -> Blob | None:
        tall = [blob for blob in self.start if blob.h > 1.8 * blob.w and blob.area > 500]
        return tall[0] if tall else None

    def ball(self, color: str, frame: Sequence[Blob]) -> Blob | None:
        return next((blob for blob in frame if blob.color == color and blob.area > 120), None)

    def bird(self) -> tuple[str, str] | None:
        """Return color and direction of the thing that passes in the air, if any does."""
        paths: dict[str, list[float]] = {}
        still = {blob.color for blob in self.start} | {blob.color for blob in self.end or ()}
        for frame in self.frames:
            for blob in frame:
                if blob.color not in still and blob.y < 130:
                    paths.setdefault(blob.color, []).append(blob.x)
        paths = {color: xs for color, xs in paths.items() if len(xs) >= 3}
        if not paths:
            return None
        color = max(paths, key=lambda name: len(paths[name]))
        xs = paths[color]
        return color, "bird_right" if xs[-1] > xs[0] else "bird_left"

    def outcome(self, color: str) -> str | None:
        """Tell what became of the ball; None if the end is not shown."""
        start, stack = self.ball(color, self.start), self.stack()
        if self.end is None or start is None or stack is None:
            return None
        end = self.ball(color, self.end)
        if end is None:
            known = {blob.color for blob in self.start}
            new = [blob.color for blob in self.end if blob.color not in known]
            return f"swapped:{color}:{new[0]}" if new else f"gone:{color}"
        if end.y > 185:
            return f"fell:{color}"
        held = self.ball(stack.color, self.end)
        if held is not None and held.w > held.h:
            return f"knocked:{color}"
        return f"back:{color}"


def claim_holds(meaning: str, slots: Mapping[str, str], footage: Footage) -> bool | None:
    """Tell whether a claim holds about a BlackSwan clip; None if the footage does not settle it."""
    if footage.empty:
        return None
    scene = _Scene(footage)
    if meaning == "stack_is":
        stack = scene.stack()
        return None if stack is None else stack.color == slots["a"]
    if footage.still:
        return None
    if meaning in ("bird_right", "bird_left"):
        return None if scene.hidden else scene.bird() == (slots["a"], meaning)
    if meaning in ("fell", "knocked", "back", "gone", "swapped"):
        outcome = scene.outcome(slots["a"])
        if outcome is None:
            # A ball that was never there did nothing; otherwise the end is not shown.
            absent = scene.end is not None and scene.ball(slots["a"], scene.start) is None
            return False if absent else None
        return outcome == ":".join([meaning, *(slots[name] for name in sorted(slots))])
    return None


def describe(footage: Footage) -> list[tuple[str, dict[str, str]]]:
    """Return the claims that hold about a BlackSwan clip, with slots, in the order of events."""
    scene = _Scene(footage)
    claims: list[tuple[str, dict[str, str]]] = []
    stack = scene.stack()
    if stack is None:
        return claims
    claims.append(("stack_is", {"a": stack.color}))
    bird = None if scene.hidden else scene.bird()
    if bird is not None:
        claims.append((bird[1], {"a": bird[0]}))
    balls = [blob for blob in scene.start if blob.color != stack.color]
    outcome = scene.outcome(balls[0].color) if balls else None
    # Without a hidden part and without a bird, the clip breaks off before the event.
    if outcome is not None and (scene.hidden or bird is not None):
        meaning, *colors = outcome.split(":")
        claims.append((meaning, dict(zip("ab", colors, strict=False))))
    return claims
