"""What the answers of an audit say besides accuracies and ratios (`metrics.shortcuts`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from video_reasoning.metrics.intervals import Estimate, accuracy_interval
from video_reasoning.metrics.paired import complete_groups
from video_reasoning.metrics.shortcuts import (
    QuestionClass,
    agreed,
    blind_gap,
    circular_accuracy,
    draws_differ,
    flips,
    guessed_classes,
    guessed_groups,
    letter_bias,
    question_class,
    shortcut_ratio,
    visual_gain,
)
from video_reasoning.tasks.audit.result import AuditedQuestion, LetterUse, Measure
from video_reasoning.tasks.audit.variants import Variant, reference_of

__all__ = ["RIGHT", "Measures", "classes_by_luck", "classes_of", "draws_right"]

RIGHT = 0.5
"""Score from which on a question counts as right: half of its range."""

_COMPARED = ("frame", "blind", "order", "control")


@dataclass(frozen=True)
class Measures:
    """The measures over some questions, with intervals over their videos.

    Attributes:
        questions: The questions, scored under every condition that asks all of them.
        variants: The conditions that were asked.
        chance: Accuracy of guessing; NaN if it is not known.
        level: Coverage of the intervals.
    """

    questions: Sequence[AuditedQuestion]
    variants: Sequence[Variant]
    chance: float
    level: float

    def all(self) -> dict[Measure, dict[str, Estimate]]:
        """Measure -> condition -> its number, for the conditions that were asked."""
        found: dict[Measure, dict[str, Estimate]] = {}
        reference = reference_of(self.variants)
        if reference is None:
            return found
        compared = [each for each in self.variants if each.role in _COMPARED]
        if blind := next((each for each in compared if each.kind == "blind"), None):
            scores = self._scores(blind)
            gain = visual_gain(self._scores(reference), scores, *self._over)
            found["visual gain"] = {"": gain}
            found["blind gap"] = {"": blind_gap(scores, self.chance, *self._over)}
        found["shortcut"] = {
            each.name: shortcut_ratio(self._scores(each), self.chance, *self._over)
            for each in compared
            if not each.partial and each.role != "control"
        }
        found["flips"] = {
            each.name: flips(self._right(reference), self._right(each), *self._over)
            for each in compared
        }
        found["draws differ"] = self._draws()
        if rotated := self._rotated:
            turns = [[q.scores.get(reference.name), *_asked(q, rotated)] for q in self.questions]
            found["all rotations"] = {"": circular_accuracy(turns, *self._over)}
        known = {
            measure: {name: each for name, each in by_condition.items() if each.n}
            for measure, by_condition in found.items()
        }
        return {measure: by_condition for measure, by_condition in known.items() if by_condition}

    def letters(self) -> dict[str, LetterUse]:
        """Letter -> how often it is chosen with the frames in order, and how often it is right."""
        reference = reference_of(self.variants)
        if reference is None:
            return {}
        used = [
            (question.letters[each.name], question.video)
            for each in (reference, *self._rotated)
            for question in self.questions
            if each.name in question.letters
        ]
        bias = letter_bias(
            [chosen for (chosen, _), _ in used],
            [right for (_, right), _ in used],
            [video for _, video in used],
            self.level,
        )
        return {
            name: LetterUse(each.chosen, each.right, each.excess) for name, each in bias.items()
        }

    def groups(self, questions: Sequence[AuditedQuestion]) -> dict[str, dict[str, Estimate]]:
        """Return what groups are called -> condition -> share that is right as a whole.

        Args:
            questions: All questions; a group counts if each of its questions is scored under every
                condition.
        """
        shared = {question.row for question in self.questions}
        found: dict[str, dict[str, Estimate]] = {}
        for kind in _kinds_of_groups(questions):
            each = [question for question in questions if kind in question.groups]
            names = [question.groups[kind] for question in each]
            videos = dict(zip(reversed(names), (q.video for q in reversed(each)), strict=True))
            for variant in self.variants:
                if variant.partial or variant.kind == "draw":
                    continue
                right = [_is_right(q, variant) if q.row in shared else None for q in each]
                if scores := complete_groups(names, right):
                    found.setdefault(kind, {})[variant.name] = accuracy_interval(
                        [*scores.values()], [videos[str(n)] for n in scores], level=self.level
                    )
        return found

    def guessed_groups(self) -> dict[str, float]:
        """Return what groups are called -> the share that guessing gets right, if known."""
        found = {}
        for kind in _kinds_of_groups(self.questions) if not math.isnan(self.chance) else ():
            options: dict[str, list[int]] = {}
            for question in self.questions:
                if kind in question.groups:
                    options.setdefault(question.groups[kind], []).append(question.options)
            whole = [each for each in options.values() if len(each) > 1 and all(each)]
            found[kind] = guessed_groups(whole)
        return {kind: share for kind, share in found.items() if not math.isnan(share)}

    def _draws(self) -> dict[str, Estimate]:
        found = {}
        for first in self.variants:
            if again := [each for each in self.variants if each.draw_of == first.name]:
                draws = [self._right(each) for each in (first, *again)]
                found[first.name] = draws_differ(draws, *self._over)
        return found

    @property
    def _rotated(self) -> list[Variant]:
        return [each for each in self.variants if each.role == "rotation"]

    @property
    def _over(self) -> tuple[list[str], float]:
        return [question.video for question in self.questions], self.level

    def _scores(self, variant: Variant) -> list[float]:
        return [question.score(variant.name) for question in self.questions]

    def _right(self, variant: Variant) -> list[bool | None]:
        return [_is_right(question, variant) for question in self.questions]


def _kinds_of_groups(questions: Sequence[AuditedQuestion]) -> list[str]:
    """Return what the groups of some questions are called, each once."""
    return list(dict.fromkeys(kind for question in questions for kind in question.groups))


def draws_right(question: AuditedQuestion, variants: Sequence[Variant]) -> dict[str, list[int]]:
    """Condition that was drawn several times -> draws in which a question is right, and draws."""
    found: dict[str, list[int]] = {}
    for name in {each.draw_of for each in variants} - {""}:
        same = [each for each in variants if name in (each.name, each.draw_of)]
        known = [right for v in same if (right := _is_right(question, v)) is not None]
        found[name] = [sum(known), len(known)]
    return found


def _asked(question: AuditedQuestion, variants: Sequence[Variant]) -> list[float | None]:
    return [question.scores[each.name] for each in variants if each.name in question.scores]


def _is_right(question: AuditedQuestion, variant: Variant) -> bool | None:
    score = question.scores.get(variant.name)
    return None if score is None else score >= RIGHT


def classes_of(
    models: Sequence[tuple[Sequence[Variant], Sequence[AuditedQuestion]]], least: int
) -> list[QuestionClass | None]:
    """Return what each question needs, by one model or by several.

    A model answers a question blind if more than half of its blind answers are right, and with a
    single frame if that holds for the random or the last frame.

    Args:
        models: Of each model the conditions asked, and the questions in one order.
        least: How many models have to be right.

    Returns:
        The class of each question; None if a condition is missing that could change it.
    """
    needs = []
    for variants, questions in models:
        asked = {
            need: [[each.name for each in variants if each.evidence == kind] for kind in kinds]
            for need, kinds in _NEEDS.items()
        }
        needs.append([_answered(asked, each) for each in questions])
    return [
        question_class(**{name: agreed([need[name] for need in each], least) for name in _NEEDS})
        for each in zip(*needs, strict=True)
    ]


def classes_by_luck(
    models: Sequence[tuple[Sequence[Variant], Sequence[AuditedQuestion]]], least: int
) -> dict[QuestionClass, float]:
    """Return how many questions are in each class if every answer is a guess.

    Args:
        models: As in `classes_of`.
        least: How many models have to be right.

    Returns:
        Class -> a number of questions; nothing if the options of a question are not known.
    """
    options = [question.options for question in models[0][1]]
    if not options or not all(options):
        return {}
    frames = max(sum(v.kind in _NEEDS["single"] for v in variants) for variants, _ in models)
    shares = guessed_classes(options, frames=frames, models=len(models), least=least)
    return {name: share * len(options) for name, share in shares.items()}


_NEEDS: Mapping[str, tuple[str, ...]] = {
    "blind": ("blind",),
    "single": ("random", "last"),
    "shuffled": ("shuffled",),
    "ordered": ("ordered", "original"),
}
"""What a class depends on -> the kinds of conditions that show it; one of them is enough."""


def _answered(
    asked: Mapping[str, Sequence[Sequence[str]]], question: AuditedQuestion
) -> dict[str, bool | None]:
    """Whether a model answers a question under each kind of condition.

    Args:
        asked: What a class depends on -> the conditions of each kind that shows it.
        question: The question.
    """
    found: dict[str, bool | None] = {}
    for name, kinds in asked.items():
        each = [_mostly(question, conditions) for conditions in kinds]
        known = [one for one in each if one is not None]
        found[name] = any(known) if known else None
    return found


def _mostly(question: AuditedQuestion, conditions: Sequence[str]) -> bool | None:
    """Whether more than half of the answers under some conditions are right."""
    scores = [question.scores.get(name) for name in conditions]
    answers = [score >= RIGHT for score in scores if score is not None]
    return sum(answers) * 2 > len(answers) if answers else None
