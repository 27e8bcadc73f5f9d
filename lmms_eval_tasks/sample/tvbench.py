"""The sample in TVBench's release layout: data/*.json and videos/<demonstration type>/*.mp4.

Each of the six files has 34 questions: 12 need the frames in order, 6 are settled by any
frame, 4 by one short moment, 12 by nothing in the picture.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from video_reasoning.tasks.sample.drawing import HEIGHT, WIDTH, Actor, Video, write_text
from video_reasoning.tasks.sample.wording import (
    COLORS,
    DIRECTIONS,
    TVBENCH_ANSWERS,
    TVBENCH_QUESTIONS,
    VECTORS,
    seeded,
)

FILES = ("rotation", "direction", "velocity&frequency", "shape&trend", "visual_cues", "count")
_SAMPLED = 16  # frames that the protocol takes; moments are placed on exactly one of them
_TIMES = tuple(float(at) for at in np.linspace(0, 1, 61))

_PACES: dict[str, Callable[[Any], Any]] = {
    "constant": lambda along: along,
    "accelerating": lambda along: along**2,
    "decelerating": lambda along: 1 - (1 - along) ** 2,
}

# Thing -> (drawing, size, outline seen by the eye, demonstration type).
_THINGS = {
    "ball": ("ball", 13.0, "circle", "object"),
    "box": ("block", 13.0, "square", "object"),
    "cone": ("cone", 14.0, "triangle", "simulated"),
    "cube": ("block", 12.0, "square", "simulated"),
    "toy car": ("car", 14.0, "", "object"),
    "person's mitten": ("hand", 12.0, "", "human"),
    "sphere": ("ball", 12.0, "circle", "simulated"),
    "person's glove": ("hand", 13.0, "", "human"),
}


@dataclass
class _Scene:
    """One video with what is known about it."""

    actors: list[Actor] = field(default_factory=list)
    kind: str = ""
    slots: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    choices: Sequence[str] = ()
    thing: str = ""
    mover: str = ""
    outline: str = ""
    demonstration: str = "object"
    zoom: tuple[float, float] = (1.0, 1.0)
    variation: dict[str, int] = field(
        default_factory=lambda: {"counterfactual": 0, "composite": 0, "zoom": 0, "first_person": 0}
    )
    blocks: str = ""
    blocks_count: int = 0
    blocks_side: str = ""
    moment_color: str = ""
    moment_count: int = 0
    moment_frame: int = -1


def _pick(rng: np.random.Generator, values: Sequence[Any]) -> Any:
    return values[int(rng.integers(len(values)))]


def _thing(scene: _Scene, rng: np.random.Generator, colors: list[str], number: int) -> Actor:
    """Choose who moves; every third of them is shown close up, some have company."""
    name = list(_THINGS)[number % len(_THINGS)]
    shape, size, outline, demonstration = _THINGS[name]
    scene.thing, scene.mover, scene.outline = name, colors[0], outline
    scene.demonstration = demonstration
    if number % 5 == 3:
        scene.variation["zoom"] = 1
        size *= 1.5
    plain = bool(rng.integers(2)) and not scene.variation["composite"]
    scene.slots = {"thing": name if plain else _with_color(name, colors[0])}
    return Actor(shape, colors[0], size)


def _with_color(name: str, color: str) -> str:
    """Put the color where English wants it: "person's red mitten"."""
    if name.startswith("person's "):
        return f"person's {color} {name.removeprefix('person' + chr(39) + 's ')}"
    return f"{color} {name}"


def _moved(actor: Actor, xs: Any, ys: Any) -> Actor:
    path = tuple(float(x) for x in xs), tuple(float(y) for y in ys)
    return replace(actor, times=_TIMES, xs=path[0], ys=path[1])


def _company(scene: _Scene, color: str, rng: np.random.Generator) -> None:
    """Add a second thing that trembles in a corner: it moves, yet goes nowhere."""
    wobble = 3 * np.sin(np.asarray(_TIMES) * 23 + rng.uniform(0, 6))
    scene.variation["composite"] = 1
    scene.actors.append(_moved(Actor("ball", color, 8), 298 + wobble, 120 - wobble))


def _spin(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    paced = scene.kind == "spin_speed"
    at = np.asarray(_TIMES)
    start = rng.uniform(0, 2 * np.pi)
    if paced:
        scene.choices = tuple(_PACES)
        scene.answer = scene.choices[number % 3]
        turn = np.radians(380) * _PACES[scene.answer](at) * _pick(rng, (-1, 1))
        if number % 2:
            scene.choices = (*scene.choices, "no_spin")
    else:
        scene.choices = ("cw", "ccw", "cw_ccw", "ccw_cw", "no_spin")
        scene.answer = scene.choices[number % 4]
        tent = np.minimum(at, 1 - at)
        sign = 1 if scene.answer.startswith("cw") else -1
        full = np.radians(rng.uniform(330, 460))
        turn = sign * full * (tent if "_" in scene.answer else at)
    # Image rows grow downwards, so a growing angle is clockwise to the eye.
    big = number % 4 == 3
    radius = 62.0 if big else 48.0
    scene.variation["zoom"] = int(big)
    x, y = WIDTH / 2 + rng.uniform(-50, 50), 118.0
    scene.demonstration = ("object", "simulated", "human")[number % 3]
    if scene.demonstration == "human":
        scene.actors.append(Actor("palm", "skin", 44, xs=(x,), ys=(y + 30,)))
    scene.actors.append(Actor("disk", "grey", radius + 12, xs=(x,), ys=(y,)))
    name = _pick(rng, ("dot", "button", "sticker"))
    scene.thing, scene.mover, scene.outline = name, colors[0], "circle"
    scene.slots = {"thing": f"{colors[0]} {name}"}
    marker = Actor("ball", colors[0], 10)
    scene.actors.append(
        _moved(marker, x + radius * np.cos(start + turn), y + radius * np.sin(start + turn))
    )


def _travel(
    start: tuple[float, float], legs: Sequence[str], reach: Sequence[float], pace: str = "constant"
) -> tuple[Any, Any]:
    """Path along one or two legs of equal duration."""
    at = np.asarray(_TIMES)
    x, y = np.full_like(at, start[0]), np.full_like(at, start[1])
    for place, (leg, length) in enumerate(zip(legs, reach, strict=True)):
        along = _PACES[pace](np.clip(at * len(legs) - place, 0, 1))
        x += VECTORS[leg][0] * length * along
        y += VECTORS[leg][1] * length * along
    return x, y


def _centered(legs: Sequence[str], reach: Sequence[float]) -> tuple[float, float]:
    """Start such that the path stays in the middle of the picture."""
    xs, ys = [0.0], [0.0]
    for leg, length in zip(legs, reach, strict=True):
        xs.append(xs[-1] + VECTORS[leg][0] * length)
        ys.append(ys[-1] + VECTORS[leg][1] * length)
    return WIDTH / 2 - (min(xs) + max(xs)) / 2, 124 - (min(ys) + max(ys)) / 2


def _move(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    if number % 3 == 2:
        _company(scene, colors[3], rng)
    actor = _thing(scene, rng, colors, number)
    if number % 2 == 0:
        legs = [DIRECTIONS[(number // 2) % 4]]
        scene.choices = (*DIRECTIONS, "still")
    else:
        first = DIRECTIONS[(number // 2) % 4]
        others = [name for name in DIRECTIONS if name != first]
        legs = [first, others[number % 3]]
        pairs = [f"{a}_{b}" for a in DIRECTIONS for b in DIRECTIONS if a != b]
        wrong = [pair for pair in pairs if pair not in ("_".join(legs), "_".join(legs[::-1]))]
        rng.shuffle(wrong)
        scene.choices = ("_".join(legs), "_".join(legs[::-1]), *wrong[:4])
    scene.answer = "_".join(legs)
    reach = [
        (150 if leg in ("left", "right") else 88) * (1.2 if len(legs) == 1 else 1) for leg in legs
    ]
    xs, ys = _travel(_centered(legs, reach), legs, reach)
    scene.actors.append(_moved(actor, xs, ys))
    # A thing that nobody holds does not rise by itself.
    scene.variation["counterfactual"] = int("up" in legs and actor.shape != "hand")


def _camera(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    scene.answer = ("forward", "backward")[number % 2]
    scene.choices = ("forward", "backward", "still")
    scene.zoom = (1.0, 1.9) if scene.answer == "forward" else (1.9, 1.0)
    scene.variation["first_person"] = 1
    scene.thing, scene.mover, scene.outline = "box", colors[0], "square"
    scene.slots = {}
    x = WIDTH / 2 + rng.uniform(-20, 20)
    scene.actors.append(Actor("block", colors[0], 20, xs=(x,), ys=(118.0,)))


def _speed(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    if number % 4 == 1:
        _company(scene, colors[3], rng)
    actor = _thing(scene, rng, colors, number)
    scene.choices = (*_PACES, "still")
    scene.answer = scene.choices[number % 3]
    if number % 4 == 2:
        scene.choices = tuple({scene.answer: 0, "accelerating": 0, "decelerating": 0})
    leg = DIRECTIONS[int(rng.integers(4))]
    reach = [200.0 if leg in ("left", "right") else 112.0]
    xs, ys = _travel(_centered([leg], reach), [leg], reach, scene.answer)
    scene.actors.append(_moved(actor, xs, ys))
    scene.variation["counterfactual"] = int(leg == "up" and actor.shape != "hand")


def _trend(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    scene.choices = ("trend_up", "trend_down", "trend_up_down", "trend_down_up", "still")
    scene.answer = scene.choices[(number // 2) % 4]
    actor = _thing(scene, rng, colors, (5, 7, 0, 3)[number % 4])
    legs = scene.answer.removeprefix("trend_").split("_")
    reach = [100.0] * len(legs)
    xs, ys = _travel(_centered(legs, reach), legs, reach)
    scene.actors.append(_moved(actor, xs + 12 * np.asarray(_TIMES), ys))
    scene.variation["counterfactual"] = int("up" in legs and actor.shape != "hand")


def outline_points(shape: str, at: Any) -> tuple[Any, Any]:
    """Return x and y (0 to 1, y downwards) of points on the outline of a shape in the unit square.

    ``at`` are fractions of the way round; the shape is square, triangle, circle or diamond.
    """
    if shape == "circle":
        angle = 2 * np.pi * np.asarray(at)
        return 0.5 + 0.5 * np.sin(angle), 0.5 - 0.5 * np.cos(angle)
    corners = {
        "square": [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)],
        "triangle": [(0.5, 0), (1, 1), (0, 1), (0.5, 0)],
        "diamond": [(0.5, 0), (1, 0.5), (0.5, 1), (0, 0.5), (0.5, 0)],
    }[shape]
    points = np.asarray(corners, float)
    lengths = np.hypot(*np.diff(points, axis=0).T)
    marks = np.concatenate([[0], np.cumsum(lengths)]) / lengths.sum()
    return np.interp(at, marks, points[:, 0]), np.interp(at, marks, points[:, 1])


def _outline(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    shapes = ("square", "triangle", "circle", "diamond")
    scene.choices = (*shapes, "no_shape")
    scene.answer = shapes[(number // 2) % 4]
    actor = _thing(scene, rng, colors, (5, 7)[number % 2])
    way = np.asarray(_TIMES) if rng.integers(2) else 1 - np.asarray(_TIMES)
    xs, ys = outline_points(scene.answer, way)
    side = rng.uniform(100, 116)
    scene.actors.append(_moved(actor, 100 + side * xs, 66 + side * ys))


def _sounds(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    """Instruments that glow while they sound, one after the other."""
    last = number % 3 == 1
    scene.kind = "last_sound" if last else "first_sound"
    name = ("violin", "ukulele", "guitar", "drum")[number % 4]
    scene.thing, scene.mover, scene.outline = name, colors[0], "circle"
    scene.slots = {"thing": name}
    places = {"left_one": 60.0, "right_one": 260.0}
    if last:
        places = {"left_one": 60.0, "middle_one": 160.0, "right_one": 260.0}
    scene.answer = list(places)[(number // 2) % len(places)]
    scene.choices = (*places, "all_at_once", "silent") if number % 4 else tuple(places)
    order = [place for place in places if place != scene.answer]
    rng.shuffle(order)
    order = [*order, scene.answer] if last else [scene.answer, *order]
    span = 15 / len(order)
    for turn, place in enumerate(order):
        begin = (turn * span + 0.6) / 15
        end = ((turn + 1) * span - 0.6) / 15
        x = places[place]
        scene.actors.append(Actor("instrument", "wood", 34, xs=(x,), ys=(150.0,)))
        scene.actors.append(Actor("ball", colors[0], 13, xs=(x,), ys=(72.0,), shown=(begin, end)))
    scene.variation["composite"] = 1


def _hops(scene: _Scene, number: int, rng: np.random.Generator, colors: list[str]) -> None:
    hops = 1 + number % 5
    scene.answer = str(hops)
    most = 5 + number % 3
    scene.choices = tuple(str(value) for value in range(1, most + 1))
    if number % 4 == 1:
        _company(scene, colors[3], rng)
    actor = _thing(scene, rng, colors, (0, 6, 5, 4)[number % 4])
    # Each hop lasts 3 of the 15 intervals between sampled frames: two of them in the air.
    slots = sorted(int(slot) for slot in rng.choice(5, hops, replace=False))
    at = np.asarray(_TIMES)
    height = np.zeros_like(at)
    for slot in slots:
        phase = (at * 15 - 3 * slot) / 3
        height += np.where((phase > 0) & (phase < 1), np.sin(np.pi * np.clip(phase, 0, 1)), 0)
    xs = 70 + 180 * at
    if rng.integers(2):
        xs = WIDTH - xs
    scene.actors.append(_moved(actor, xs, 170 - 90 * height))


_BUILDERS: dict[str, Callable[[_Scene, int, np.random.Generator, list[str]], None]] = {
    "spin": _spin,
    "spin_speed": _spin,
    "move": _move,
    "camera": _camera,
    "speed": _speed,
    "trend": _trend,
    "outline": _outline,
    "first_sound": _sounds,
    "hops": _hops,
}


def _kind(name: str, number: int) -> str:
    return {
        "rotation": "spin",
        "direction": "camera" if number % 6 == 4 else "move",
        "velocity&frequency": "spin_speed" if number % 3 == 2 else "speed",
        "shape&trend": ("trend", "outline")[number % 2],
        "visual_cues": "first_sound",
        "count": "hops",
    }[name]


def _furnish(
    scene: _Scene, number: int, frames: int, rng: np.random.Generator, colors: list[str]
) -> None:
    """Add what the static and the momentary questions ask about."""
    if scene.kind != "camera":
        scene.blocks, scene.blocks_count = colors[1], 1 + number % 4
        scene.blocks_side = ("left_side", "right_side")[(number // 2) % 2]
        start = 22 if scene.blocks_side == "left_side" else WIDTH - 22
        step = 26 if start < WIDTH / 2 else -26
        for place in range(scene.blocks_count):
            x = float(start + place * step)
            scene.actors.append(Actor("block", colors[1], 8, xs=(x,), ys=(HEIGHT - 16.0,)))
        lamp_x = 40.0 if number % 2 else WIDTH - 40.0
        scene.moment_color, scene.moment_count = colors[2], 2 + number % 4
        scene.moment_frame = 2 + int(rng.integers(_SAMPLED - 4))
        # Two frames on either side of a sampled one: shorter than half of the way to the next.
        index = int(np.linspace(0, frames - 1, _SAMPLED)[scene.moment_frame])
        shown = ((index - 2.2) / (frames - 1), (index + 2.2) / (frames - 1))
        scene.actors.append(Actor("lamp", "grey", 11, xs=(lamp_x,), ys=(20.0,)))
        if number % 2:
            scene.actors.append(replace(scene.actors[-1], color=colors[2], shown=shown))
        else:
            card = Actor("card", colors[2], 7, xs=(150.0,), ys=(20.0,), shown=shown)
            scene.actors.append(replace(card, count=scene.moment_count))


def _question(
    kind: str, slots: dict[str, str], answer: str, choices: Sequence[str], number: int, seed: int
) -> dict[str, Any]:
    """Word a question; the right answer's place goes round the letters."""
    rng = np.random.default_rng(seed)
    wrong = [choice for choice in choices if choice != answer]
    rng.shuffle(wrong)
    place = number % (len(wrong) + 1)
    keys = [*wrong[:place], answer, *wrong[place:]]
    wording = int(rng.integers(8))
    return {
        "question": TVBENCH_QUESTIONS.write(kind, wording, **slots),
        "options": [TVBENCH_ANSWERS.write(key, wording) for key in keys],
        "answer": place,
    }


_SOUNDS = ("first_sound", "last_sound")


def _static(scene: _Scene, number: int) -> tuple[str, dict[str, str], str, Sequence[str]]:
    """Choose a question that any single frame settles."""
    if not scene.blocks or number == 0:
        if scene.kind in _SOUNDS:
            return "blocks_color", {}, scene.blocks, COLORS
        return "color_of", {"thing": scene.thing}, scene.mover, COLORS
    blocks = {"thing": f"{scene.blocks} blocks"}
    if number == 1:
        return "side_of", blocks, scene.blocks_side, ("left_side", "right_side")
    if number in (2, 5):
        most = 5 if number == 2 else 7
        return "count_of", blocks, str(scene.blocks_count), tuple(map(str, range(1, most + 1)))
    if number == 3 and scene.outline and scene.kind not in _SOUNDS:
        choices = ("circle", "square", "triangle", "diamond")
        return "shape_of", {"thing": scene.mover}, scene.outline, choices
    return "blocks_color", {}, scene.blocks, COLORS


def _moment(scene: _Scene) -> tuple[str, dict[str, str], str, Sequence[str]]:
    """Choose a question about what shows in exactly one of the sampled frames."""
    if any(actor.shape == "card" for actor in scene.actors):
        dots = {"thing": f"{scene.moment_color} dots"}
        return "dots", dots, str(scene.moment_count), tuple(map(str, range(1, 7)))
    return "flash", {}, scene.moment_color, COLORS


def _nothing(number: int) -> tuple[str, dict[str, str], Sequence[str]]:
    if number % 3 == 0:
        return "none_color", {}, COLORS
    if number % 3 == 1:
        return "none_count", {}, tuple(map(str, range(1, 5)))
    return "none_side", {}, ("left_side", "right_side")


def build(root: Path, seed: int = 0) -> list[Video]:
    """Write the annotation files below ``root``, and return the videos to draw."""
    videos = []
    for file_number, name in enumerate(FILES):
        rows: dict[str, Any] = {}
        asked = {"static": 0, "moment": 0, "none": 0}
        for number in range(12):
            base = 10_000 * (file_number + 1) + 100 * number + 1_000_003 * seed
            rng, colors = seeded(base)
            scene = _Scene(kind=_kind(name, number))
            # Sampled frames are 5 to 6 frames apart.
            frames = 78 + 3 * int(rng.integers(5))
            _BUILDERS[scene.kind](scene, number, rng, colors)
            _furnish(scene, number, frames, rng, colors)
            key = f"{file_number * 100 + number + 1:04d}-00"
            path = root / "videos" / scene.demonstration / f"{key}.mp4"
            clean = scene.demonstration == "simulated"
            videos.append(Video(path, frames, base, tuple(scene.actors), clean, scene.zoom))
            slots = scene.slots
            asks = [("temporal", scene.kind, slots, scene.answer, scene.choices)]
            # Camera videos carry neither blocks nor lamp.
            if scene.blocks and number % 3 != 1 and asked["moment"] < 4:
                asks.append(("moment", *_moment(scene)))
            if number % 2 == 0:
                asks.append(("static", *_static(scene, asked["static"])))
            # One in every video: fewer would not differ from chance.
            kind, nothing, choices = _nothing(file_number + number)
            asks.append(("none", kind, nothing, str(_pick(rng, choices)), choices))
            for evidence, kind, its_slots, answer, choices in asks:
                asked[evidence] = asked.get(evidence, 0) + 1
                place = len(rows)
                row = _question(kind, its_slots, answer, choices, place, base + 7 + len(asks))
                row |= {
                    "key": key,
                    "video_source_url": "",
                    "motion_type": name.replace("_", " "),
                    "variation": dict(scene.variation),
                    "demonstration_type": scene.demonstration,
                    "note": f"drawn; {scene.kind}",
                    "evidence": evidence,
                }
                if evidence == "moment":
                    row["informative_frame"] = scene.moment_frame
                rows[str(place)] = row
        text = json.dumps(rows, indent=2, ensure_ascii=False)
        write_text(root / "data" / f"{name}.json", text + "\n")
    return videos
