"""Accuracies with what they rest on.

One convention throughout: an item without a score (None or NaN) is neither right nor wrong, it
leaves the denominator and is counted apart; an average over nothing is NaN, never 0. Averages
weigh items, not groups: the overall accuracies of TVBench (TOMATO, table 5) and CausalVQA
(tables 6 and 12) do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from video_reasoning.metrics._records import Correct, correctness, mean, same_length

Group = TypeVar("Group", bound=Hashable)
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Accuracy:
    """An accuracy and the items it rests on.

    Attributes:
        value: Correct items / scored items, 0..1; NaN where no item was scored.
        n: Scored items.
        n_correct: Items answered correctly.
        n_unscored: Items without a score: missing videos, withheld answers.
    """

    value: float
    n: int
    n_correct: int
    n_unscored: int = 0

    def __str__(self) -> str:
        share = "n/a" if math.isnan(self.value) else f"{100 * self.value:.1f}%"
        return f"{share} ({self.n_correct}/{self.n})"


def accuracy(correct: Correct) -> float:
    """Share of the scored items that were answered correctly.

    Args:
        correct: One entry per item: True or False (1 or 0), None or NaN where the item was not
            scored. A response that names no option is False.

    Returns:
        0..1; NaN where no item was scored.

    Raises:
        ValueError: An entry is no truth value.

    Example:
        >>> accuracy([True, False, None, True, True])
        0.75
    """
    return mean(correctness(correct))


def count_correct(correct: Correct) -> Accuracy:
    """Like `accuracy`, with the counts.

    Args:
        correct: As for `accuracy`.

    Raises:
        ValueError: An entry is no truth value.

    Example:
        >>> print(count_correct([True, False, None, True, True]))
        75.0% (3/4)
    """
    values = correctness(correct)
    scored = [value for value in values if not math.isnan(value)]
    return Accuracy(mean(scored), len(scored), int(sum(scored)), len(values) - len(scored))


def accuracy_by(groups: Collection[Group], correct: Correct) -> dict[Group, Accuracy]:
    """Break an accuracy down, for example by type, difficulty or demonstration type.

    Args:
        groups: The group of each item.
        correct: As for `accuracy`, of the same length.

    Returns:
        Group -> accuracy, in the order in which the groups first appear. Their counts add up to
        those of all items.

    Raises:
        ValueError: The lengths differ or an entry is no truth value.

    Example:
        >>> by_type = accuracy_by(["a", "b", "a"], [True, False, False])
        >>> by_type["a"].value, by_type["b"].value
        (0.5, 0.0)
    """
    same_length(groups=groups, correct=correct)
    members: dict[Group, list[float]] = {}
    for group, value in zip(groups, correctness(correct), strict=True):
        members.setdefault(group, []).append(value)
    return {group: count_correct(values) for group, values in members.items()}


def unparsed_rate(answers: Collection[str | None]) -> float:
    """Share of the responses that name no option, or no yes or no.

    Such responses are wrong; VideoChat2's were 35.4% of all (Black Swan, table 2), so that its
    accuracy says little without this rate.

    Args:
        answers: The parsed answer of each response, None where there is none.

    Returns:
        0..1; NaN where there is no response.

    Example:
        >>> unparsed_rate(["A", None, "B", "C"])
        0.25
    """
    return mean([float(answer is None) for answer in answers])


@dataclass(frozen=True)
class Stratum:
    """An accuracy over one part of a benchmark, as published tables give it.

    Attributes:
        n: Number of items (pairs, for paired accuracy), 0 or more.
        value: Their accuracy, as a share or in percent; NaN where n is 0.
    """

    n: int
    value: float


def combine(strata: Collection[Stratum | Accuracy]) -> Stratum:
    """Join parts of a benchmark into one accuracy, each weighed by its number of items.

    value = sum(n_i * value_i) / sum(n_i). From the 15 strata of CausalVQA's tables 6 and 12 this
    gives every aggregate that is printed there; the unweighted mean over strata, which the
    authors' harness tasks take, does not.

    Args:
        strata: Parts without overlap, all in one unit.

    Returns:
        All items and their accuracy; NaN over 0 items where every part is empty.

    Raises:
        ValueError: A number of items is negative, or a part with items has no accuracy.

    Example:
        >>> combine([Stratum(30, 0.5), Stratum(10, 0.9)])
        Stratum(n=40, value=0.6)
    """
    for part in strata:
        if part.n < 0 or (part.n > 0 and not math.isfinite(part.value)):
            raise ValueError(
                f"A part with {part.n} items and accuracy {part.value} cannot be weighed; leave "
                "out parts that were not measured."
            )
    total = sum(part.n for part in strata)
    weighed = math.fsum(part.n * part.value for part in strata if part.n)
    return Stratum(total, weighed / total if total else math.nan)


def combine_by(
    strata: Mapping[Name, Stratum | Accuracy], group_of: Callable[[Name], Group | None]
) -> dict[Group, Stratum]:
    """Join the strata of each group, weighed by their number of items.

    Args:
        strata: Name of the stratum -> its accuracy.
        group_of: From a stratum's name to its group; None leaves it out.

    Returns:
        Group -> accuracy, in the order in which the groups first appear.

    Raises:
        ValueError: As in `combine`.
    """
    members: dict[Group, list[Stratum | Accuracy]] = {}
    for name, part in strata.items():
        group = group_of(name)
        if group is not None:
            members.setdefault(group, []).append(part)
    return {group: combine(parts) for group, parts in members.items()}


DESCRIPTIVE = "descriptive"
"""The only CausalVQA type that does not count as reasoning (section 3)."""


def causalvqa_aggregates(
    strata: Mapping[tuple[str, str], Stratum | Accuracy],
) -> dict[str, Stratum]:
    """All rows that CausalVQA prints under its strata (tables 6, 12 and 13).

    Args:
        strata: (type, difficulty) -> accuracy, for example ("planning", "hard").

    Returns:
        Each type, then "reasoning" (every type but descriptive), then "all"; weighed by number
        of items. A name whose strata are all absent or empty has the accuracy NaN over 0 items.

    Raises:
        ValueError: As in `combine`.

    Example:
        >>> rows = causalvqa_aggregates({
        ...     ("descriptive", "easy"): Stratum(2, 1.0), ("planning", "easy"): Stratum(6, 0.5),
        ... })
        >>> rows["reasoning"].value, rows["all"].value
        (0.5, 0.625)
    """
    by_type = combine_by(strata, lambda name: name[0])
    return {
        **by_type,
        "reasoning": combine([part for name, part in by_type.items() if name != DESCRIPTIVE]),
        "all": combine(list(by_type.values())),
    }
