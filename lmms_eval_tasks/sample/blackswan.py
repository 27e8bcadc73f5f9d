"""The sample in BlackSwanSuite's release layout: JSON Lines at the root, clips in videos/.

Each video is a small drama: a ball rolls along a table towards a stack of blocks (V_pre),
something happens while a bird flies past (V_main), and the outcome is seen (V_post). The
outcome can be seen from V_pre and V_post; the bird shows in V_main only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from video_reasoning.tasks.blackswan.annotations import QUESTIONS
from video_reasoning.tasks.sample.drawing import FPS, WIDTH, Actor, Video, write_text
from video_reasoning.tasks.sample.wording import CLAIMS, DIFFICULTIES, seeded

_OUTCOMES = ("fell", "knocked", "back", "gone", "swapped")
_NOTHING = ("none_voice", "none_phone", "none_smell")
_VALIDATION, _TEST = 40, 8
_CLIPS = ("preevent_file_name", "event_file_name", "postevent_file_name")
_LABELS = frozenset({"mcq_gt_option", "yn_gt", "gt_ref_ans"})
_STACK_X, _TABLE_Y, _RADIUS, _BLOCK = 225.0, 150.0, 11.0, 11.0


_Claim = tuple[str, dict[str, str]]  # an entry of the book of claims, and the words for its slots


class _Drama:
    """One video: its colors, its outcome, its frames."""

    def __init__(self, index: int, seed: int) -> None:
        self.index = index
        self.seed = 500_000 + 97 * index + 1_000_003 * seed
        self.rng, colors = seeded(self.seed)
        self.ball, self.stack, self.bird, self.swap, self.other = colors
        self.outcome = _OUTCOMES[index % 5]
        self.bird_right = bool((index // 5) % 2)
        self.mirrored = bool(self.rng.integers(2))
        self.frames = int(self.rng.choice([165, 175, 185]))
        self.event = int(self.rng.integers(60, 70))  # frame of the event

    @property
    def truth(self) -> _Claim:
        return self._became(self.outcome, self.swap)

    @property
    def bird_truth(self) -> _Claim:
        return ("bird_right" if self.bird_right else "bird_left"), {"a": self.bird}

    def cuts(self) -> list[tuple[str, int, int]]:
        """Return the three parts, cut by the releases' arithmetic.

        With D the length before trimming and t the time of the event: [0.17, 0.8 t],
        [0.8 t, 0.8 D] and [0.8 D, D - 0.17] seconds, to the frame.
        """
        length, event = self.frames / FPS, self.event / FPS
        marks = [0.17, 0.8 * event, 0.8 * length, length - 0.17]
        frames = [round(mark * FPS) for mark in marks]
        names = ("A_preevent", "B_event", "C_postevent")
        return [
            (f"{self.index:04d}_{name}.mp4", begin, end)
            for name, begin, end in zip(names, frames, frames[1:], strict=False)
        ]

    def video(self, folder: Path) -> Video:
        cuts = tuple((folder / name, begin, end) for name, begin, end in self.cuts())
        return Video(folder, self.frames, self.seed, self._actors(), cuts=cuts)

    def _side(self, xs: Sequence[float]) -> tuple[float, ...]:
        return tuple(WIDTH - x if self.mirrored else x for x in xs)

    def _actors(self) -> tuple[Actor, ...]:
        last = self.frames - 1

        def at(frames_after_event: float) -> float:
            return (self.event + frames_after_event) / last

        rest = _TABLE_Y - _RADIUS
        hit = _STACK_X - _BLOCK - _RADIUS
        roll = (0.04, at(0))
        paths = {
            # times after the event, x, y
            "fell": ([12, 34, 44, 1e3], [hit, 66.0, 42.0, 42.0], [rest, rest, 214.0, 214.0]),
            "knocked": ([12, 34, 1e3], [hit, 160.0, 160.0], [rest, rest, rest]),
            "back": ([12, 46, 1e3], [hit, 100.0, 100.0], [rest, rest, rest]),
            "gone": ([25, 1e3], [150.0, 150.0], [rest, rest]),
            "swapped": ([20, 1e3], [160.0, 160.0], [rest, rest]),
        }
        times, xs, ys = paths[self.outcome]
        ball = Actor(
            "ball",
            self.ball,
            _RADIUS,
            (0.0, *roll, *(min(1.0, at(time)) for time in times)),
            self._side([100.0, 100.0, 150.0, *xs]),
            (rest, rest, rest, *ys),
        )
        actors = [Actor("table", "wood", 95, xs=(WIDTH / 2,), ys=(_TABLE_Y,))]
        stack = Actor("stack", self.stack, _BLOCK, count=3, ys=(_TABLE_Y,))
        stack = replace(stack, xs=self._side([_STACK_X]))
        if self.outcome == "knocked":
            crash, heap = at(13), self._side([_STACK_X - 8])
            actors.append(replace(stack, shown=(0.0, crash)))
            actors.append(replace(stack, shape="rubble", xs=heap, shown=(crash, 1.0)))
        else:
            actors.append(stack)

        flight = (at(6), at(25), at(46))
        bird_xs, bird_ys = [-30.0, WIDTH / 2, WIDTH + 30.0], [58.0, 58.0, 58.0]
        if self.outcome == "gone":
            bird_xs[1], bird_ys[1] = self._side([150.0])[0], rest - 24
        if not self.bird_right:
            bird_xs = bird_xs[::-1]
        if self.outcome == "gone":
            # Held below the bird from the moment when it comes down.
            ball = replace(
                ball,
                times=(0.0, *roll, flight[1], flight[2]),
                xs=(*self._side([100.0, 100.0, 150.0, 150.0]), bird_xs[2]),
                ys=(rest, rest, rest, rest, bird_ys[2] + 24),
                shown=(0.0, at(45)),
            )
        if self.outcome == "swapped":
            spot = self._side([160.0])
            new = Actor("ball", self.swap, _RADIUS, xs=spot, ys=(rest,), shown=(at(30), 1.0))
            cloth = Actor("cloth", "white", 19, xs=spot, ys=(rest,), shown=(at(24), at(36)))
            actors += [new, replace(ball, shown=(0.0, at(30))), cloth]
        else:
            actors.append(ball)
        bird = Actor("bird", self.bird, 15, flight, bird_xs, bird_ys)
        actors.append(replace(bird, shown=(flight[0], flight[2])))
        return tuple(actors)

    def wrong_outcomes(self, number: int) -> list[_Claim]:
        """Outcomes that did not happen."""
        others = [name for name in _OUTCOMES if name != self.outcome]
        self.rng.shuffle(others)
        return [self._became(name, self.other) for name in others[:number]]

    def _became(self, outcome: str, other: str) -> _Claim:
        return outcome, {"a": self.ball} | ({"b": other} if outcome == "swapped" else {})

    def wrong_birds(self) -> list[_Claim]:
        """Another bird, and the same one the other way."""
        same, opposite = ("bird_right", "bird_left")[:: 1 if self.bird_right else -1]
        return [(same, {"a": self.other}), (opposite, {"a": self.bird})]


def _say(claim: _Claim, wording: int) -> str:
    return CLAIMS.write(claim[0], wording, **claim[1])


class _Sheet:
    """The rows of one split, numbered as they come."""

    def __init__(self, withheld: bool, first: int) -> None:
        self.withheld = withheld
        self.next_id = first
        self.rows: dict[str, list[dict[str, Any]]] = {"MCQ": [], "YN": [], "Gen": []}

    def add(self, kind: str, task: str, drama: _Drama, evidence: str, **columns: Any) -> None:
        """Add a row; the columns of labels are left out if labels are withheld."""
        shown = {"Forecaster": (0,), "Detective": (0, 2), "Reporter": (0, 1, 2)}[task]
        clips = {
            name: f"videos/{file}" if part in shown else ""
            for part, (name, (file, _, _)) in enumerate(zip(_CLIPS, drama.cuts(), strict=True))
        }
        row = {
            "q_id": self.next_id,
            "task": task,
            "difficulty": DIFFICULTIES[drama.index % 3],
            "default_question": QUESTIONS.get(f"{task} {kind}") or QUESTIONS[kind],
            **columns,
            "evidence": evidence,
            **clips,
        }
        if self.withheld:
            row = {name: value for name, value in row.items() if name not in _LABELS}
        self.rows[kind].append(row)
        self.next_id += 1

    def choice(
        self, task: str, drama: _Drama, truth: _Claim, wrong: Sequence[_Claim], evidence: str
    ) -> None:
        """Add a multiple-choice row; the right option's place goes round."""
        alike = [
            row for row in self.rows["MCQ"] if (row["task"], row["evidence"]) == (task, evidence)
        ]
        place = len(alike) % 3
        claims = [*wrong[:place], truth, *wrong[place:]]
        wording = int(drama.rng.integers(2))
        options = [_say(claim, wording) for claim in claims]
        self.add("MCQ", task, drama, evidence, mcq_options=options, mcq_gt_option=place)

    def hypothesis(
        self, task: str, drama: _Drama, claim: _Claim, holds: bool, evidence: str
    ) -> None:
        """Add a yes/no row."""
        text = _say(claim, int(drama.rng.integers(2)))
        self.add("YN", task, drama, evidence, hypothesis=text, yn_gt="yes" if holds else "no")


def _ask(sheet: _Sheet, drama: _Drama) -> None:
    """Write all questions about one video."""
    index = drama.index
    for task in ("Detective", "Reporter"):
        sees_all = task == "Reporter"
        if index % 5 == 4 and index % 2 == 0:
            stacks = [("stack_is", {"a": color}) for color in (drama.swap, drama.other)]
            sheet.choice(task, drama, ("stack_is", {"a": drama.stack}), stacks, "static")
        else:
            sheet.choice(task, drama, drama.truth, drama.wrong_outcomes(2), "temporal")
        unseen = "moment" if sees_all else "hidden"
        sheet.choice(task, drama, drama.bird_truth, drama.wrong_birds(), unseen)
        if index % 5 in (1, 3):
            options: list[_Claim] = [(name, {}) for name in _NOTHING]
            drama.rng.shuffle(options)
            sheet.choice(task, drama, options[0], options[1:], "none")

        holds = bool((index // 5 + index) % 2)
        claim = drama.truth if holds else drama.wrong_outcomes(1)[0]
        if index % 8 == 7:
            color = drama.stack if holds else drama.other
            sheet.hypothesis(task, drama, ("stack_is", {"a": color}), holds, "static")
        else:
            sheet.hypothesis(task, drama, claim, holds, "temporal")
        sheet.hypothesis(task, drama, drama.bird_truth, True, unseen)
        sheet.hypothesis(task, drama, drama.wrong_birds()[index % 2], False, unseen)
        if index % 5 in (2, 3):
            name = _NOTHING[index % 3]
            sheet.hypothesis(task, drama, (name, {}), bool((index // 5) % 2), "none")

    outcome, bird = drama.truth, drama.bird_truth
    ideas = [_say(claim, 0) for claim in (*drama.wrong_outcomes(2), outcome)]
    sheet.add("Gen", "Forecaster", drama, "none", gt_ref_ans=ideas)
    texts = [_say(outcome, 0), _say(outcome, 1), f"{_say(bird, 0)} {_say(outcome, 0)}"]
    sheet.add("Gen", "Detective", drama, "temporal", gt_ref_ans=texts)
    story = f"{_say(('stack_is', {'a': drama.stack}), 0)} {_say(bird, 0)} {_say(outcome, 0)}"
    sheet.add("Gen", "Reporter", drama, "temporal", gt_ref_ans=[story])


def build(root: Path, seed: int = 0) -> list[Video]:
    """Write the question files below ``root``, and return the videos to draw, with their cuts."""
    videos, first = [], 1
    splits = {"Val": range(_VALIDATION), "Test": range(_VALIDATION, _VALIDATION + _TEST)}
    for split, indices in splits.items():
        sheet = _Sheet(withheld=split == "Test", first=first)
        for index in indices:
            drama = _Drama(index, seed)
            _ask(sheet, drama)
            videos.append(drama.video(root / "videos"))
        for kind, rows in sheet.rows.items():
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            write_text(root / f"BlackSwanSuite_{kind}_{split}.jsonl", lines)
        first = sheet.next_id
    return videos
