"""The sample in CausalVQA's release layout: {debug,test}/{debug,test}_metadata.csv and videos.

The clips are seen over a pair of hands. Each question comes in two variants: the same right
answer, the distractors in other words and all options in another order.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from video_reasoning.tasks.sample.drawing import WIDTH, Actor, Video, write_text
from video_reasoning.tasks.sample.wording import (
    CAUSALVQA_ANSWERS,
    CAUSALVQA_QUESTIONS,
    DIFFICULTIES,
    DIRECTIONS,
    VECTORS,
    seeded,
)

_TABLE_Y = 150.0

_Answer = tuple[str, str]  # the meaning of an answer, and the color in it or the empty text


@dataclass
class _Clip:
    """One clip and the question about it."""

    kind: str
    evidence: str
    answer: _Answer
    wrong: Sequence[_Answer]
    thing: str = ""
    actors: list[Actor] = field(default_factory=list)


def _hands(*, right: bool = True) -> list[Actor]:
    sway = (0.0, 0.3, 0.6, 1.0)
    left = Actor("palm", "skin", 30, sway, (88, 91, 86, 89), (208, 205, 209, 206))
    other = Actor("palm", "skin", 30, sway, (232, 229, 234, 231), (207, 209, 205, 208))
    return [left, other] if right else [left]


def _blocks(meaning: str, colors: Sequence[str]) -> list[_Answer]:
    return [(meaning, color) for color in colors]


def _leftmost(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    clip = _Clip("leftmost", "static", ("object", colors[0]), _blocks("object", colors[1:]))
    for place, color in enumerate(colors):
        x, y = 48.0 + 56 * place + rng.uniform(-6, 6), 118 + rng.uniform(-25, 25)
        clip.actors.append(Actor("block", color, 15, xs=(x,), ys=(y,)))
    clip.actors += _hands()
    return clip


def _slide(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    way = DIRECTIONS[int(rng.integers(4))]
    wrong = [f"slide_{name}" for name in (*DIRECTIONS, "none") if name != way]
    clip = _Clip("slide", "temporal", (f"slide_{way}", ""), [(name, "") for name in wrong])
    clip.thing = f"{colors[0]} block"
    times = (0.0, 0.15, 0.85, 1.0)
    dx, dy = (64 * part for part in VECTORS[way])
    x, y = 160 - dx / 2, 112 - dy / 2
    xs, ys = (x, x, x + dx, x + dx), (y, y, y + dy, y + dy)
    under = tuple(value + 38 for value in ys)
    clip.actors = [
        *_hands(right=False),
        Actor("palm", "skin", 30, times, xs, under),
        Actor("block", colors[0], 16, times, xs, ys),
        Actor("block", colors[1], 12, xs=(40.0,), ys=(60.0,)),
        Actor("block", colors[2], 12, xs=(282.0,), ys=(64.0,)),
    ]
    return clip


def _card(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    clip = _Clip("card", "moment", ("card", colors[0]), _blocks("card", colors[1:]))
    begin = rng.uniform(0.25, 0.6)
    for place, color in enumerate(colors[1:3]):
        clip.actors.append(Actor("block", color, 14, xs=(110.0 + 95 * place,), ys=(140.0,)))
    shown = (begin, begin + 0.12)
    clip.actors.append(Actor("card", colors[0], 11, xs=(160.0,), ys=(40.0,), shown=shown))
    clip.actors += _hands()
    return clip


def _next(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    meanings = ("hit_stack", "fall_edge", "hit_pillow", "rest")
    meaning = meanings[number % 4]
    wrong = [(name, "") for name in (*meanings, "jump") if name != meaning]
    clip = _Clip("next", "temporal", (meaning, ""), wrong, f"{colors[0]} ball")
    sides = [name for name in meanings[:3] if name != meaning]
    ahead = meaning if meaning != "rest" else sides.pop(int(rng.integers(len(sides))))
    behind = sides[int(rng.integers(len(sides)))]
    right = bool(rng.integers(2))
    clip.actors = [Actor("table", "wood", 130, xs=(WIDTH / 2,), ys=(_TABLE_Y,))]
    for what, on_right in ((ahead, right), (behind, not right)):
        x = 268.0 if on_right else 52.0
        if what == "hit_stack":
            stack = Actor("stack", colors[1], 10, xs=(x,), ys=(_TABLE_Y,), count=4)
            clip.actors.append(stack)
        elif what == "hit_pillow":
            clip.actors.append(Actor("cushion", colors[2], 14, xs=(x,), ys=(_TABLE_Y - 12,)))
    sign = 1 if right else -1
    start = WIDTH / 2 - 20 * sign
    y = (_TABLE_Y - 12,) * 4
    if meaning == "rest":
        path = (start, start + 38 * sign, start + 50 * sign, start + 50 * sign)
        clip.actors.append(Actor("ball", colors[0], 12, (0, 0.3, 0.55, 1), path, y))
    else:
        path = (start, start, start + 70 * sign, start + 76 * sign)
        clip.actors.append(Actor("ball", colors[0], 12, (0, 0.15, 0.93, 1), path, y))
    clip.actors += _hands()
    return clip


def _undo(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    first, second = (int(place) for place in rng.choice(4, 2, replace=False))
    answer = colors[second]
    others = [color for color in colors if color != answer]
    clip = _Clip("undo", "temporal", ("undo", answer), _blocks("undo", others))
    xs = [62.0 + 65 * place for place in range(4)]
    low, high = 132.0, 84.0
    reach = (xs[first], xs[first], xs[second], xs[second])
    lift = (low + 38, high + 38, low + 38, high + 38)
    clip.actors = [
        *_hands(right=False),
        Actor("palm", "skin", 28, (0.15, 0.4, 0.55, 0.8), reach, lift),
    ]
    for place, color in enumerate(colors[:4]):
        times, ys = (0.0, 1.0), (low, low)
        if place in (first, second):
            times = (0.15, 0.4) if place == first else (0.55, 0.8)
            ys = (low, high)
        x = (xs[place], xs[place])
        clip.actors.append(Actor("block", color, 15, times, x, ys))
    return clip


def _pattern(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    answer = colors[1]
    others = [color for color in colors if color != answer]
    clip = _Clip("pattern", "static", ("add", answer), _blocks("add", others))
    for place in range(5):
        x, y = 44.0 + 50 * place, 118 + rng.uniform(-4, 4)
        clip.actors.append(Actor("block", colors[place % 2], 15, xs=(x,), ys=(y,)))
    clip.actors += _hands()
    return clip


def _no_post(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    right = bool(rng.integers(2))
    meanings = ("off_left", "off_right", "off_far", "off_near", "stayed")
    answer = "off_right" if right else "off_left"
    wrong = [(name, "") for name in meanings if name != answer]
    clip = _Clip("no_post", "temporal", (answer, ""), wrong, f"{colors[0]} ball")
    sign = 1 if right else -1
    path = (160.0, 160.0, 160.0 + 72 * sign, 160.0)
    clip.actors = [
        Actor("table", "wood", 130, xs=(160.0,), ys=(_TABLE_Y,)),
        Actor("post", "grey", 32, xs=(66.0,), ys=(_TABLE_Y - 32,)),
        Actor("post", "grey", 32, xs=(254.0,), ys=(_TABLE_Y - 32,)),
        Actor("ball", colors[0], 12, (0, 0.1, 0.5, 1), path, (_TABLE_Y - 12,) * 4),
        *_hands(),
    ]
    return clip


def _push_on(number: int, rng: np.random.Generator, colors: list[str]) -> _Clip:
    way = int(rng.integers(4))
    answer = colors[1 + way]
    wrong = [*_blocks("touch", [c for c in colors[1:] if c != answer]), ("touch_none", "")]
    clip = _Clip("push_on", "temporal", ("touch", answer), wrong, f"{colors[0]} ball")
    places = {"left": (46, 104), "right": (274, 104), "up": (160, 28), "down": (160, 180)}
    for place, name in enumerate(DIRECTIONS):
        x, y = places[name]
        clip.actors.append(Actor("block", colors[1 + place], 12, xs=(x,), ys=(y,)))
    dx, dy = (36 * part for part in VECTORS[DIRECTIONS[way]])
    xs, ys = (160.0, 160.0, 160.0 + dx, 160.0 + dx), (104.0, 104.0, 104.0 + dy, 104.0 + dy)
    clip.actors += [*_hands(), Actor("ball", colors[0], 11, (0, 0.15, 0.6, 1), xs, ys)]
    return clip


def _nothing(number: int, rng: np.random.Generator, colors: list[str], past: bool) -> _Clip:
    """Make a scene as good as any, and a question that it does not settle."""
    scene = (_leftmost, _slide, _push_on)[number % 3](number, rng, colors)
    group = "past_" if past else "want_"
    names = [name for name in CAUSALVQA_ANSWERS.phrases if name.startswith(group)]
    rng.shuffle(names)
    answers = [(name, "") for name in names]
    kind = "none_past" if past else "none_want"
    return _Clip(kind, "none", answers[0], answers[1:], actors=scene.actors)


_Builder = Callable[[int, np.random.Generator, list[str]], _Clip]
_TYPES: dict[str, tuple[_Builder, ...]] = {
    "descriptive": (_leftmost, _slide, _card),
    "anticipation": (_next,),
    "planning": (_undo, _pattern),
    "counterfactual": (_no_post,),
    "hypothetical": (_push_on,),
}


def _variants(clip: _Clip, pair: int, rng: np.random.Generator) -> list[tuple[list[str], int]]:
    """Word the two variants: five texts, and the number of the right one from 1, for each."""
    count = len(CAUSALVQA_ANSWERS.phrases[clip.answer[0]])
    keep = int(rng.integers(count))
    # A distractor is worded one way in the first variant, another way in the second.
    first = [int(rng.integers(2)) for _ in clip.wrong]
    variants = []
    for variant in range(2):
        texts = [
            CAUSALVQA_ANSWERS.write(meaning, wording + variant, a=color)
            for (meaning, color), wording in zip(clip.wrong, first, strict=True)
        ]
        rng.shuffle(texts)
        place = (2 * pair + 3 * variant) % 5
        texts.insert(place, CAUSALVQA_ANSWERS.write(clip.answer[0], keep, a=clip.answer[1]))
        variants.append((texts, place + 1))
    return variants


def _listed(texts: Sequence[str]) -> str:
    return "|".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def build(root: Path, seed: int = 0) -> list[Video]:
    """Write the metadata files below ``root``, and return the videos to draw."""
    videos, pair = [], 0
    for split, per_type in (("debug", 11), ("test", 3)):
        rows: list[dict[str, Any]] = []
        for type_name, builders in _TYPES.items():
            for number in range(per_type):
                own_seed = 800_000 + 113 * pair + 1_000_003 * seed
                rng, colors = seeded(own_seed)
                if number >= 7:
                    past = type_name in ("descriptive", "anticipation", "planning")
                    clip = _nothing(pair, rng, colors, past)
                else:
                    clip = builders[number % len(builders)](number, rng, colors)
                name = f"clip_{pair:04d}.mp4"
                frames = int(rng.integers(75, 101))
                path = root / split / "videos" / name
                videos.append(Video(path, frames, own_seed, tuple(clip.actors)))
                (one, right_one), (two, right_two) = _variants(clip, pair, rng)
                question = CAUSALVQA_QUESTIONS.write(
                    clip.kind, int(rng.integers(2)), thing=clip.thing
                )
                shown = split == "debug"
                rows.append(
                    {
                        "qid": f"{split}_{pair:04d}",
                        "type": type_name,
                        "question": question,
                        "choices1": _listed(one),
                        "correct1": right_one if shown else "",
                        "choices2": _listed(two),
                        "correct2": right_two if shown else "",
                        "difficulty": DIFFICULTIES[number % 3],
                        "renamed_video": name,
                        "evidence": clip.evidence,
                    }
                )
                pair += 1
        table = io.StringIO(newline="")
        writer = csv.DictWriter(table, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        write_text(root / split / f"{split}_metadata.csv", table.getvalue())
    return videos
