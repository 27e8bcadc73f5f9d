"""The language of the sample benchmark: every question and answer it can word.

The generator writes with these phrase books and ``sample_observer`` reads with them. They
are in wording.json and contain wordings only: which one is right for a video is not there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import permutations

import numpy as np

COLORS = ("red", "yellow", "green", "blue", "purple")
DIFFICULTIES = ("easy", "medium", "hard")
VECTORS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
"""Direction -> x and y of one step in the picture, y downwards."""
DIRECTIONS = tuple(VECTORS)


def seeded(seed: int) -> tuple[np.random.Generator, list[str]]:
    """Return a generator, and all colors in a drawn order."""
    rng = np.random.default_rng(seed)
    colors = list(COLORS)
    rng.shuffle(colors)
    return rng, colors


def color_in(text: str) -> str | None:
    """Return the first color word of a text, or None."""
    match = re.search(rf"\b({'|'.join(COLORS)})\b", text.lower())
    return match.group(1) if match else None


@dataclass(frozen=True)
class Reading:
    """What a text says: an entry of the phrase book, and its slots in lower case."""

    meaning: str
    slots: Mapping[str, str]

    @property
    def key(self) -> str:
        """The meaning with its slots, as one text: equal for paraphrases."""
        return ":".join([self.meaning, *(self.slots[name] for name in sorted(self.slots))])


class Phrasebook:
    """Meanings with the wordings of each (at least one), for writing and for reading.

    A wording may have slots in braces, e.g. ``The {a} ball stops.``
    """

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        self.phrases = {meaning: tuple(wordings) for meaning, wordings in phrases.items()}
        self._patterns = [
            (meaning, re.compile(self._pattern(wording)))
            for meaning, wordings in self.phrases.items()
            for wording in wordings
        ]

    @staticmethod
    def _normal(text: str) -> str:
        return " ".join(text.lower().split()).rstrip(".")

    @classmethod
    def _pattern(cls, wording: str) -> str:
        parts = re.split(r"\{(\w+)\}", cls._normal(wording))
        pattern = ""
        for place, part in enumerate(parts):
            # A slot that comes a second time must have the same words again.
            if place % 2 == 0:
                pattern += re.escape(part)
            elif f"(?P<{part}>" in pattern:
                pattern += f"(?P={part})"
            else:
                pattern += f"(?P<{part}>[a-z' -]+?)"
        return f"^{pattern}$"

    def write(self, meaning: str, wording: int = 0, **slots: str) -> str:
        """Word a meaning; the number of the wording is taken modulo how many there are."""
        wordings = self.phrases[meaning]
        return wordings[wording % len(wordings)].format(**slots)

    def read(self, text: str) -> Reading | None:
        """Recognize a text, whatever its case, spacing and final full stop; None if not known."""
        normal = self._normal(text)
        for meaning, pattern in self._patterns:
            match = pattern.match(normal)
            if match:
                return Reading(meaning, match.groupdict())
        return None


def _books() -> dict[str, dict[str, Sequence[str]]]:
    """Read the wordings, and add those of colors, numbers and directions."""
    text = (files(__package__) / "wording.json").read_text(encoding="utf-8")
    books: dict[str, dict[str, Sequence[str]]] = json.loads(text)
    answers = books["tvbench_answers"]
    answers.update({color: (f"{color.capitalize()}.",) for color in COLORS})
    answers.update({str(number): (str(number),) for number in range(10)})
    answers.update({way: tuple(f"{words}." for words in _WAYS[way]) for way in DIRECTIONS})
    for first, second in permutations(DIRECTIONS, 2):
        both = f"{_WAYS[first][0]} then {_WAYS[second][0].lower()}."
        answers[f"{first}_{second}"] = (both,)
    return books


_WAYS = {
    "left": ("Leftwards", "To the left"),
    "right": ("Rightwards", "To the right"),
    "up": ("Upwards", "Up"),
    "down": ("Downwards", "Down"),
}
_WORDINGS = _books()
REPLIES = _WORDINGS.pop("replies")  # what `sample_observer` says around an answer
_BOOKS = {name: Phrasebook(phrases) for name, phrases in _WORDINGS.items()}

TVBENCH_QUESTIONS = _BOOKS["tvbench_questions"]
"""Kinds of question: `spin`, `move` and so on need the order of frames; `color_of`, `side_of`,
`count_of` and `shape_of` are settled by any frame; `flash` and `dots` by a short moment; what
begins with `none` by nothing in the picture."""
TVBENCH_ANSWERS = _BOOKS["tvbench_answers"]
CLAIMS = _BOOKS["claims"]
"""Statements about a BlackSwan video, for options, hypotheses and references."""
CAUSALVQA_QUESTIONS = _BOOKS["causalvqa_questions"]
CAUSALVQA_ANSWERS = _BOOKS["causalvqa_answers"]
