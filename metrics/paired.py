"""Scoring questions that are asked in several variants (CausalVQA, sections 2.2.5 and 11).

A group (in CausalVQA a pair) is one question in two or more variants with the same right
answer: the distractors are paraphrased and the order changed. A model that knows the answer
gets all variants right; one that guesses seldom does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from video_reasoning.metrics._records import Correct, correctness, identifiers, same_length
from video_reasoning.metrics.accuracy import accuracy, mean


def paired_accuracy(
    pair_ids: Collection[Hashable], correct: Correct, *, variants: int | None = None
) -> float:
    """Share of the complete groups whose variants were all answered correctly (2.2.5).

    A group that lacks a variant, or the score of one, is incomplete and left out.

    Args:
        pair_ids: One id per item; the items that share an id are the variants of one question.
        correct: One entry per item: right or wrong, None or NaN where it was not scored.
        variants: Variants of a complete group, 2 or more; without it, a group of two or more
            items is complete.

    Returns:
        0..1; NaN if no group is complete.

    Raises:
        ValueError: The sequences differ in length, an id is None, an entry is not a truth value,
            or a group has more items than `variants`.

    Example:
        >>> paired_accuracy(["q1", "q1", "q2", "q2", "q3"], [True, True, True, False, True])
        0.5
    """
    return mean(complete_groups(pair_ids, correct, variants=variants).values())


def complete_groups(
    pair_ids: Collection[Hashable], correct: Correct, *, variants: int | None = None
) -> dict[Hashable, float]:
    """Score each complete group: 1.0 if every variant was answered correctly, else 0.0.

    Arguments and errors are those of `paired_accuracy`.

    Returns:
        Id -> score, in the order of first appearance; incomplete groups are absent.

    Example:
        >>> complete_groups(["q1", "q1", "q2", "q2", "q3"], [True, True, True, False, True])
        {'q1': 1.0, 'q2': 0.0}
    """
    groups = _groups(pair_ids, correct, variants)
    return {key: min(group) for key, group in groups.items() if _complete(group, variants)}


def unpaired_accuracy(correct: Correct) -> float:
    """Share of the scored items that were answered correctly, as `accuracy`.

    Example:
        >>> unpaired_accuracy([True, True, True, False])
        0.75
    """
    return accuracy(correct)


@dataclass(frozen=True)
class GroupScores:
    """What the groups of a run scored.

    Attributes:
        all_correct: Paired accuracy, 0..1; NaN, like the next two, if no group is complete.
        any_correct: Complete groups with at least one variant correct / complete groups, 0..1.
        unpaired_of_complete: Correct items / items over the complete groups, 0..1.
        unpaired: Correct items / scored items, those of incomplete groups too, 0..1.
        n_complete: Complete groups.
        n_incomplete: Groups that lack a variant or the score of one.
        n_items: Scored items.
        n_unscored: Items without a score.
    """

    all_correct: float
    any_correct: float
    unpaired_of_complete: float
    unpaired: float
    n_complete: int
    n_incomplete: int
    n_items: int
    n_unscored: int


def score_groups(
    pair_ids: Collection[Hashable], correct: Correct, *, variants: int | None = None
) -> GroupScores:
    """Compute paired, unpaired and any-correct accuracy and the counts that they rest on.

    Arguments and errors are those of `paired_accuracy`.

    Example:
        >>> scores = score_groups(["q1", "q1", "q2", "q2", "q3"], [1, 1, 1, 0, 0])
        >>> scores.all_correct, scores.any_correct, scores.unpaired, scores.n_incomplete
        (0.5, 1.0, 0.6, 1)
    """
    groups = _groups(pair_ids, correct, variants)
    complete = [group for group in groups.values() if _complete(group, variants)]
    items = [value for group in groups.values() for value in group]
    n_items = sum(not math.isnan(value) for value in items)
    return GroupScores(
        all_correct=mean(min(group) for group in complete),
        any_correct=mean(max(group) for group in complete),
        unpaired_of_complete=mean(value for group in complete for value in group),
        unpaired=mean(items),
        n_complete=len(complete),
        n_incomplete=len(groups) - len(complete),
        n_items=n_items,
        n_unscored=len(items) - n_items,
    )


def consistency(pair_ids: Collection[Hashable], chosen: Collection[str | None]) -> float:
    """Share of the groups in which every variant got the same option text.

    Texts count and not letters, which differ by design; case, outer punctuation and repeated
    blanks do not. CausalVQA paraphrases distractors, so the value is a lower bound there.

    Args:
        pair_ids: As for `paired_accuracy`.
        chosen: Text of the option that each item's response chose; None, which agrees with
            nothing, for a response that chose none.

    Returns:
        Groups with one text / groups of two or more items, 0..1; NaN without such a group.

    Raises:
        ValueError: The sequences differ in length or an id is None.

    Example:
        >>> consistency(["q1", "q1", "q2", "q2"], ["It falls.", "it falls", "It falls.", None])
        0.5
    """
    same_length(pair_ids=pair_ids, chosen=chosen)
    groups: dict[Hashable, list[str | None]] = {}
    for pair_id, text in zip(identifiers(pair_ids, "pair_ids"), chosen, strict=True):
        plain = None if text is None else " ".join(text.split()).strip(" .,;:!?").casefold()
        groups.setdefault(pair_id, []).append(plain)
    return mean(
        float(len(set(texts)) == 1 and texts[0] is not None)
        for texts in groups.values()
        if len(texts) > 1
    )


@dataclass(frozen=True)
class Guessing:
    """What guessing alone is expected to score (section 11).

    Attributes:
        unpaired: p, the chance to guess one item.
        all_correct: p ** variants, the chance to guess a whole group.
        any_correct: 1 - (1 - p) ** variants.
    """

    unpaired: float
    all_correct: float
    any_correct: float


def expected_by_guessing(n_options: int, variants: int = 2) -> Guessing:
    """Compute the expected accuracies of uniform guessing, each variant guessed for itself.

    Raises:
        ValueError: A number is below 1.

    Example:
        >>> guessing = expected_by_guessing(5)
        >>> round(guessing.unpaired, 2), round(guessing.all_correct, 2)
        (0.2, 0.04)
    """
    if n_options < 1 or variants < 1:
        raise ValueError(
            f"{n_options} options and {variants} variants are too few; each must be at least 1."
        )
    chance = 1 / n_options
    return Guessing(chance, chance**variants, 1 - (1 - chance) ** variants)


@dataclass(frozen=True)
class Decomposition:
    """A run split into what was known and what was guessed (section 11).

    Attributes:
        known: k, estimated share of the questions whose answer the model knows, 0..1.
        guessed: u = 1 - k, the share that it guesses.
        guess_rate: p_u, the chance to guess one item, given or estimated.
    """

    known: float
    guessed: float
    guess_rate: float


def decompose(
    pair_ids: Collection[Hashable],
    correct: Correct,
    guess_rate: float | None = None,
    *,
    variants: int = 2,
) -> Decomposition:
    """Estimate which share of the questions a model knows (section 11).

    The section's model: it knows a share k of the questions and guesses each of the v variants
    of the rest with chance p, so that paired = k + (1 - k) p^v and unpaired = k + (1 - k) p. The
    maximum-likelihood estimate for a given p is k = (paired - p^v) / (1 - p^v), not below 0.
    Without a given p it is estimated from the groups with a wrong variant, whose number of right
    ones is a truncated binomial; for pairs p = (unpaired - paired) / (1 - unpaired). If that makes
    k negative, k is 0 and p the unpaired accuracy. An estimated p well above chance means that
    the model does more than guess: it excludes options, or the wording sways it.

    Args:
        pair_ids: As for `paired_accuracy`.
        correct: As for `paired_accuracy`.
        guess_rate: p, for example 0.2 for five options; None to estimate it.
        variants: Variants of a complete group, 2 or more.

    Returns:
        Shares over the complete groups; all NaN without one.

    Raises:
        ValueError: As for `paired_accuracy`, or `guess_rate` is outside 0..1 (1 excluded).

    Example:
        >>> result = decompose(["a", "a", "b", "b", "c", "c"], [1, 1, 1, 0, 0, 0])
        >>> round(result.guess_rate, 3), round(result.known, 3)
        (0.333, 0.25)
    """
    if guess_rate is not None and not 0 <= guess_rate < 1:
        raise ValueError(f"guess_rate is {guess_rate}; it must be at least 0 and below 1.")
    groups = _groups(pair_ids, correct, variants).values()
    right = [sum(group) for group in groups if _complete(group, variants)]
    if not right:
        return Decomposition(math.nan, math.nan, math.nan)
    imperfect = [count for count in right if count < variants]
    if guess_rate is not None:
        rate = guess_rate
    elif imperfect:
        rate = _truncated_binomial_chance(math.fsum(imperfect) / len(imperfect), variants)
    else:
        rate = math.nan
    if not imperfect:
        return Decomposition(1.0, 0.0, rate)
    paired = 1 - len(imperfect) / len(right)
    if paired <= rate**variants:
        known = 0.0
        if guess_rate is None:
            rate = math.fsum(right) / (variants * len(right))
    else:
        known = (paired - rate**variants) / (1 - rate**variants)
    return Decomposition(known, 1 - known, rate)


def _truncated_binomial_chance(average: float, variants: int) -> float:
    """Chance p at which a binomial over v variants, given that it is not full, has this mean.

    The mean is v (p - p^v) / (1 - p^v) and rises with p; the p that matches it is the
    maximum-likelihood estimate, as the family is exponential.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        chance = (low + high) / 2
        full = chance**variants
        if variants * (chance - full) < average * (1 - full):
            low = chance
        else:
            high = chance
    return (low + high) / 2


@dataclass(frozen=True)
class DetectableEffect:
    """Smallest difference between two runs that a benchmark can be expected to show.

    Attributes:
        unpaired: Scoring one variant of each question, as a share (0.05: five points).
        paired: Scoring whole groups.
    """

    unpaired: float
    paired: float


def detectable_effect(
    n: int,
    guess_rate: float = 0.2,
    *,
    known: float = 0.0,
    variants: int = 2,
    alpha: float = 0.05,
    power: float = 0.8,
) -> DetectableEffect:
    """Detectable effect size d = sigma Z sqrt(2 / n) (section 11).

    sigma = u sqrt(p (1 - p)) with u = 1 - known; p is `guess_rate` unpaired and `guess_rate` **
    variants paired. Z = z(1 - alpha/2) + z(power). With five options pairing halves d, as if the
    benchmark had four times as many questions. (The section weighs the variance of the guessed
    part with u^2; a sampling variance would have u. The ratio is the same.)

    Args:
        n: Questions of the benchmark (groups, not items), at least 1.
        guess_rate: Chance to guess one item, 0..1.
        known: Share of the questions that the model knows, 0..1; see `decompose`.
        variants: Variants per group, at least 1.
        alpha: Chance of a false alarm, two-sided.
        power: Chance to see a difference of size d.

    Raises:
        ValueError: A number is outside its range.

    Example:
        >>> effect = detectable_effect(793)
        >>> round(effect.unpaired, 3), round(effect.paired, 3)
        (0.056, 0.028)
    """
    if n < 1 or variants < 1:
        raise ValueError(f"n is {n} and variants {variants}; each must be at least 1.")
    if not (0 <= guess_rate <= 1 and 0 <= known <= 1 and 0 < alpha < 1 and 0 < power < 1):
        raise ValueError(
            f"guess_rate ({guess_rate}), known ({known}), alpha ({alpha}) and power ({power}) "
            "must be shares."
        )
    z = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)

    def effect(chance: float) -> float:
        return (1 - known) * math.sqrt(chance * (1 - chance)) * z * math.sqrt(2 / n)

    return DetectableEffect(effect(guess_rate), effect(guess_rate**variants))


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
