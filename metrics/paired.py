"""Scoring questions that are asked in several variants (CausalVQA, sections 2.2.5 and 11).

A group (in CausalVQA a pair) is one question in two or more variants with the same right
answer: the distractors are paraphrased and the order changed. A model that knows the answer
gets all variants right; one that guesses seldom does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence

from video_reasoning.metrics._records import (
    Correct,
    correctness,
    identifiers,
    mean,
    same_length,
)


def paired_accuracy(
    pair_ids: Collection[Hashable], correct: Correct, *, variants: int | None = None
) -> float:
    """Share of the complete groups of which every variant was answered correctly.

    A group that lacks a variant, or has one without a score (None or NaN), is incomplete: it is
    neither right nor wrong and is left out. `score_groups` says how many those are.

    Args:
        pair_ids: One id per item; the items that share an id are the variants of one question,
            in any order.
        correct: One entry per item: whether it was answered correctly, or None where it was not
            scored.
        variants: How many variants a complete group has, 2 or more. Without it, every group of
            two or more items is taken as complete.

    Returns:
        Complete groups with all variants correct / complete groups, 0..1; NaN where no group is
        complete.

    Raises:
        ValueError: The sequences differ in length, an id is None, an entry is not a truth value,
            or a group has more items than `variants`.

    Example:
        >>> paired_accuracy(["q1", "q1", "q2", "q2", "q3"], [True, True, True, False, True])
        0.5
    """
    groups = _groups(pair_ids, correct, variants)
    return mean(min(group) for group in groups.values() if _complete(group, variants))


def unpaired_accuracy(correct: Correct) -> float:
    """Share of the scored items that were answered correctly, each variant for itself.

    Args:
        correct: One entry per item: whether it was answered correctly, or None where it was not
            scored (such an item is left out).

    Returns:
        Correct items / scored items, 0..1; NaN where no item was scored.

    Raises:
        ValueError: An entry is not a truth value.

    Example:
        >>> unpaired_accuracy([True, True, True, False])
        0.75
    """
    return mean(correctness(correct))


def _groups(
    pair_ids: Collection[Hashable], correct: Correct, variants: int | None
) -> dict[Hashable, list[float]]:
    """Id -> what each of its items scored, in the order of first appearance."""
    if variants is not None and variants < 2:
        raise ValueError(f"variants is {variants}; a group has at least 2 variants.")
    same_length(pair_ids=pair_ids, correct=correct)
    groups: dict[Hashable, list[float]] = {}
    for pair_id, value in zip(identifiers(pair_ids, "pair_ids"), correctness(correct), strict=True):
        groups.setdefault(pair_id, []).append(value)
    for pair_id, group in groups.items():
        if variants is not None and len(group) > variants:
            raise ValueError(
                f"Group {pair_id!r} has {len(group)} items, but a group has {variants} variants; "
                "hand over each variant once."
            )
    return groups


def _complete(group: Sequence[float], variants: int | None) -> bool:
    return len(group) >= (variants or 2) and not any(math.isnan(value) for value in group)
