"""Reading what callers hand over: one place for what counts as correct, wrong and missing."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from typing import SupportsFloat

Correct = Collection[SupportsFloat | None]
"""One entry per item: True/1/1.0 right, False/0/0.0 wrong, None or NaN without a score."""


def correctness(correct: Iterable[SupportsFloat | None], name: str = "correct") -> list[float]:
    """Return 1.0 (right), 0.0 (wrong) or NaN (None or NaN: no score) for each item.

    Raises:
        ValueError: An entry is neither; the message calls the argument by its name.
    """
    values = []
    for position, entry in enumerate(correct):
        try:
            value = math.nan if entry is None else float(entry)
        except (TypeError, ValueError):
            value = math.inf
        if value not in (0.0, 1.0) and not math.isnan(value):
            raise ValueError(
                f"{name}[{position}] is {entry!r}; give True or False (1 or 0) for an item that "
                "was scored, None for one that was not."
            )
        values.append(value)
    return values


def same_length(**arguments: Collection[object]) -> None:
    """Check that sequences belong item by item.

    Raises:
        ValueError: They differ in length; the message names them and their lengths.
    """
    if len({len(sequence) for sequence in arguments.values()}) > 1:
        found = ", ".join(f"{name} {len(sequence)}" for name, sequence in arguments.items())
        raise ValueError(f"The sequences must have one entry per item each, but have: {found}.")


def identifiers(ids: Iterable[Hashable], name: str) -> list[Hashable]:
    """Return the ids as a list.

    Raises:
        ValueError: An id is None or NaN, which would join (or part) items that have no id.
    """
    listed = list(ids)
    for position, entry in enumerate(listed):
        if entry is None or entry != entry:
            raise ValueError(f"{name}[{position}] is {entry!r}; every item needs an id.")
    return listed
