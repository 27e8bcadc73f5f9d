"""Putting the same questions under several conditions side by side."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from video_reasoning.metrics._records import Correct, correctness

Scores = Mapping[str, Correct | Mapping[Hashable, float | None]]
"""Condition -> correctness per question: by question id, or in one order for all conditions."""


@dataclass(frozen=True)
class Aligned:
    """Correctness of the same questions under several conditions.

    Attributes:
        ids: The questions, in order of first appearance.
        conditions: The columns.
        scores: questions x conditions; 1.0 right, 0.0 wrong, NaN not scored.
    """

    ids: Sequence[Hashable]
    conditions: Sequence[str]
    scores: npt.NDArray[np.float64]

    def column(self, condition: str) -> npt.NDArray[np.float64]:
        """Return one condition's correctness, shape (questions,); all NaN where it was not run."""
        if condition not in self.conditions:
            return np.full(len(self.ids), math.nan)
        return self.scores[:, list(self.conditions).index(condition)]


def align(correct: Scores) -> Aligned:
    """Put conditions side by side.

    Either every value maps question ids to truth values (an absent question was not scored), or
    every value is a sequence, all of one length and in one order; then the ids are the positions.

    Raises:
        ValueError: Sequences differ in length, mappings and sequences are mixed, or an entry is
            not a truth value.
    """
    columns: list[dict[Hashable, float]] = []
    kinds = {isinstance(values, Mapping) for values in correct.values()}
    if len(kinds) > 1:
        raise ValueError(
            "Some conditions are mappings by question id and others are sequences; give all of "
            "them in one way."
        )
    lengths = {name: len(values) for name, values in correct.items()}
    if kinds == {False} and len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise ValueError(
            f"Sequences must hold the same questions in the same order, but differ in length: "
            f"{found}. Give mappings by question id where some are missing."
        )
    for name, values in correct.items():
        if isinstance(values, Mapping):
            scores = correctness(values.values(), name)
            columns.append(dict(zip(values, scores, strict=True)))
        else:
            columns.append(dict(enumerate(correctness(values, name))))
    ids = list(dict.fromkeys(question for column in columns for question in column))
    table = np.full((len(ids), len(columns)), math.nan)
    for position, column in enumerate(columns):
        table[:, position] = [column.get(question, math.nan) for question in ids]
    return Aligned(ids, list(correct), table)
