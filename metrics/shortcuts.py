"""What a benchmark's questions need, by how they are answered without it.

The same questions are answered with a video, without it, with one frame, with its frames in
another order, and with the options in other places (see `video_reasoning.tasks.audit`). Accuracies
and differences are shares, 0..1. `chance` is the accuracy of guessing, the mean of 1 / options.
Intervals are those of `metrics.intervals`, over videos.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from video_reasoning.metrics._records import same_length
from video_reasoning.metrics.accuracy import mean
from video_reasoning.metrics.intervals import Estimate, accuracy_interval, difference_interval

__all__ = [
    "CLASSES",
    "Letter",
    "QuestionClass",
    "agreed",
    "blind_gap",
    "circular_accuracy",
    "draws_differ",
    "flips",
    "guessed_classes",
    "guessed_groups",
    "letter_bias",
    "question_class",
    "shortcut_ratio",
    "visual_gain",
]

Clusters = Sequence[Hashable] | None

QuestionClass = Literal["text suffices", "static", "order-free", "temporal", "open"]
CLASSES: tuple[QuestionClass, ...] = get_args(QuestionClass)
"""What a question needs, the least first; "open" if nothing answers it."""


def visual_gain(
    video: Sequence[float], blind: Sequence[float], clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    """Return what the video adds: mean(video) - mean(blind).

    The multi-modal gain of MMStar (Chen et al., 2024, arXiv 2403.20330), for videos.

    Args:
        video: Score of each question with the video, 0..1; one without both (NaN) is left out.
        blind: Score of the same questions without it.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Returns:
        A difference of accuracies, -1..1.

    Example:
        >>> visual_gain([1, 1, 1, 0], [1, 0, 0, 0]).value
        0.5
    """
    return difference_interval(blind, video, clusters, level=level)


def blind_gap(
    blind: Sequence[float], chance: float, clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    """Return what the text alone gives away: mean(blind) - chance.

    The multi-modal leakage of MMStar (Chen et al., 2024, arXiv 2403.20330), with guessing in the
    place of a language model.

    Args:
        blind: Score of each question without the video, 0..1.
        chance: Accuracy of guessing, 0..1.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Returns:
        A difference of accuracies, -1..1; NaN if chance is not known.

    Example:
        >>> round(blind_gap([1, 1, 0, 0], 0.25).value, 2)
        0.25
    """
    return _shifted(accuracy_interval(blind, clusters, level=level), chance, 1.0)


def shortcut_ratio(
    scores: Sequence[float], chance: float, clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    """Return the share of questions that are answered without what they should need, less luck.

    (mean(scores) - chance) / (1 - chance): a question that is not known is right by luck with the
    probability `chance` (correction for guessing, Abbott's formula). The shortcut ratio of
    Video-Oasis (Lim et al., 2026, arXiv 2603.29616) counts the lucky ones too.

    Args:
        scores: Score of each question without it (blind, with one frame, shuffled), 0..1.
        chance: Accuracy of guessing, 0..1.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Returns:
        A share of the questions, up to 1; below 0 if they are answered worse than by guessing; NaN
        if chance is not known or 1.

    Example:
        >>> round(shortcut_ratio([1, 1, 0, 0], 0.25).value, 3)
        0.333
    """
    return _shifted(accuracy_interval(scores, clusters, level=level), chance, 1 - chance)


def flips(
    a: Sequence[bool | None],
    b: Sequence[bool | None],
    clusters: Clusters = None,
    level: float = 0.95,
) -> Estimate:
    """Return the share of questions that are right under one of two conditions only.

    Two conditions with the same accuracy may answer different questions: the difference is the
    share won less the share lost, and this is their sum.

    Args:
        a: Whether each question is right under the first; None if it was not scored.
        b: Whether it is right under the second.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Example:
        >>> flips([True, False, True, None], [False, True, True, True]).value
        0.6666666666666666
    """
    same_length(a=a, b=b)
    changed = [
        math.nan if one is None or other is None else float(one != other)
        for one, other in zip(a, b, strict=True)
    ]
    return accuracy_interval(changed, clusters, level=level)


def draws_differ(
    draws: Sequence[Sequence[bool | None]], clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    """Return the share of questions that are right in some draws of frames and wrong in others.

    After the sensitivity to the selection of frames by which TempCore (arXiv 2509.01167) chooses
    its questions. It grows with the number of draws.

    Args:
        draws: For each draw, whether each question is right; None if it was not scored, which
            leaves the question out.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Example:
        >>> draws_differ([[True, True, False], [True, False, False]]).value
        0.3333333333333333
    """
    changed = [
        math.nan if None in each else float(len(set(each)) > 1) for each in zip(*draws, strict=True)
    ]
    return accuracy_interval(changed, clusters, level=level)


def circular_accuracy(
    rotations: Sequence[Sequence[float | None]], clusters: Clusters = None, level: float = 0.95
) -> Estimate:
    """Return the share of questions that are right in every rotation of their options.

    CircularEval of MMBench (Liu et al., 2023, arXiv 2307.06281): a model that guesses among n
    options is right with the probability n ** -n, and one that always takes a letter never.

    Args:
        rotations: For each question its scores, 0..1, its own order included; the lowest counts. A
            question that lacks one (None), or has fewer than two, is left out.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Example:
        >>> circular_accuracy([[1, 1, 1], [1, 0, 1], [1, None]]).value
        0.5
    """
    scores = []
    for each in rotations:
        known = [score for score in each if score is not None]
        scores.append(min(known) if len(known) == len(each) > 1 else math.nan)
    return accuracy_interval(scores, clusters, level=level)


@dataclass(frozen=True)
class Letter:
    """How often a letter is chosen.

    Attributes:
        chosen: Share of the responses that choose it, 0..1.
        right: Share of the questions whose right option it is, 0..1.
        excess: The first less the second, with an interval.
    """

    chosen: float
    right: float
    excess: Estimate


def letter_bias(
    chosen: Sequence[str], right: Sequence[str], clusters: Clusters = None, level: float = 0.95
) -> dict[str, Letter]:
    """Return how often each letter is chosen, against how often it is right.

    Intervals are as wide as their number asks for (Bonferroni): with the stated level, all of them
    cover the truth.

    Args:
        chosen: Letter that each response chooses; one without a letter ("") is left out.
        right: Letter of the right option of each question; "" likewise.
        clusters: The video of each question.
        level: Coverage, between 0 and 1.

    Returns:
        Letter -> its use, in the order of the letters.

    Example:
        >>> found = letter_bias(["A", "A", "B", ""], ["A", "B", "B", "A"])["A"]
        >>> round(found.chosen, 2), round(found.right, 2), round(found.excess.value, 2)
        (0.67, 0.33, 0.33)
    """
    same_length(chosen=chosen, right=right)
    kept = [place for place, pair in enumerate(zip(chosen, right, strict=True)) if all(pair)]
    labels = [clusters[place] if clusters is not None else place for place in kept]
    letters = sorted({each for place in kept for each in (chosen[place], right[place])})
    found = {}
    for letter in letters:
        taken = [float(chosen[place] == letter) for place in kept]
        true = [float(right[place] == letter) for place in kept]
        wide = difference_interval(true, taken, labels, level=1 - (1 - level) / len(letters))
        found[letter] = Letter(mean(taken), mean(true), replace(wide, level=level))
    return found


def question_class(
    *, blind: bool | None, single: bool | None, shuffled: bool | None, ordered: bool | None
) -> QuestionClass | None:
    """Return what a question needs: the least under which it is answered.

    "text suffices" if it is right blind, else "static" with one frame, "order-free" with shuffled
    frames, "temporal" with the frames in order only, "open" under none (classes as in VBenchComp,
    arXiv 2505.14321: answerable by a language model, semantic, temporal, others).

    Args:
        blind: Whether it is right without a frame; None if that was not asked.
        single: Whether it is right with a single frame.
        shuffled: Whether it is right with shuffled frames.
        ordered: Whether it is right with the frames in order.

    Returns:
        None if what it was not asked could change the class.

    Example:
        >>> question_class(blind=False, single=False, shuffled=False, ordered=True)
        'temporal'
    """
    for name, found in zip(CLASSES, (blind, single, shuffled, ordered), strict=False):
        if found is None:
            return None
        if found:
            return name
    return "open"


def agreed(right: Sequence[bool | None], least: int) -> bool | None:
    """Return whether a question is right in enough of several answers, or by enough models.

    Args:
        right: Of each answer; None if it was not asked.
        least: How many have to be right.

    Returns:
        None if those that were not asked could change it.

    Example:
        >>> agreed([True, True, False], 2), agreed([True, None], 2)
        (True, None)
    """
    count = sum(each is True for each in right)
    if count >= least:
        return True
    return None if count + sum(each is None for each in right) >= least else False


def guessed_classes(
    n_options: Sequence[int], *, frames: int = 1, models: int = 1, least: int = 1
) -> Mapping[QuestionClass, float]:
    """Return the share of questions in each class if every answer is an independent guess.

    Args:
        n_options: Options of each question.
        frames: Conditions of a single frame; one that is right is enough.
        models: How many models answered.
        least: How many of them have to be right.

    Example:
        >>> found = guessed_classes([4])
        >>> [round(found[name], 2) for name in CLASSES]
        [0.25, 0.19, 0.14, 0.11, 0.32]
    """
    from scipy.stats import binom

    shares: dict[int, dict[QuestionClass, float]] = {}
    for options in set(n_options):
        once = float(binom.sf(least - 1, models, 1 / options))
        left = 1.0
        shares[options] = {}
        for name, power in zip(CLASSES, (1, frames, 1, 1), strict=False):
            reached = 1 - (1 - once) ** power
            shares[options][name] = left * reached
            left *= 1 - reached
        shares[options]["open"] = left
    return {name: mean(shares[options][name] for options in n_options) for name in CLASSES}


def guessed_groups(n_options: Sequence[Sequence[int]]) -> float:
    """Return the share of groups of questions that guessing gets right as a whole.

    Args:
        n_options: Of each group, the options of its questions.

    Returns:
        Mean of the products of 1 / options, 0..1; NaN without groups.

    Example:
        >>> guessed_groups([[2, 2], [4, 2]])
        0.1875
    """
    return mean(math.prod(1 / options for options in group) for group in n_options)


def _shifted(found: Estimate, chance: float, scale: float) -> Estimate:
    """Return (number - chance) / scale, with its interval."""
    if math.isnan(chance) or not scale > 0:
        return replace(found, value=math.nan, low=math.nan, high=math.nan, method="")
    value, low, high = ((end - chance) / scale for end in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)
