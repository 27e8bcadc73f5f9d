"""How alike people answer, and what they rate on average."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations

from video_reasoning.metrics.accuracy import mean
from video_reasoning.metrics.agreement import Agreement, alpha, chance_corrected
from video_reasoning.metrics.intervals import Estimate, accuracy_interval, mean_interval
from video_reasoning.tasks.pages.annotate.answers import Answer
from video_reasoning.tasks.pages.annotate.ratings import FORMS, Rating, by_model


@dataclass(frozen=True)
class Alike:
    """What some people have in common on one task, shown in one way.

    Attributes:
        people: Two names; more if it is everybody.
        items: Questions that at least two of them answered.
    """

    task: str
    shown: str
    people: tuple[str, ...]
    items: int
    agreement: Agreement

    def text(self) -> str:
        """Return it as lines of text."""
        same, corrected = self.agreement.same, self.agreement.corrected
        return (
            f"{self.task} ({self.shown}), {', '.join(self.people)}: {self.items:,} questions\n"
            f"  same answer: {same.value:.1%} [{same.low:.1%}, {same.high:.1%}], "
            f"by chance {self.agreement.chance:.1%}\n"
            f"  corrected for chance: {corrected.value:.2f} "
            f"[{corrected.low:.2f}, {corrected.high:.2f}]"
        )


def agreements(decisions: Iterable[Answer], *, level: float = 0.95) -> list[Alike]:
    """Compare people on each task: every two of them, then all if there are more.

    Args:
        decisions: The decisions that count; skipped questions and free text are not compared.
        level: Coverage of the intervals.
    """
    tasks: dict[tuple[str, str], dict[str, dict[str, Answer]]] = {}
    for each in decisions:
        if each.state == "answered" and each.options:
            questions = tasks.setdefault((each.task, each.shown), {})
            questions.setdefault(each.id, {})[each.annotator] = each
    found = []
    for (task, shown), questions in sorted(tasks.items()):
        people = sorted({name for answers in questions.values() for name in answers})
        groups = [*combinations(people, 2), *([tuple(people)] if len(people) > 2 else [])]
        for group in groups:
            both = [
                [answers[name] for name in group if name in answers]
                for answers in questions.values()
            ]
            shared = [answers for answers in both if len(answers) > 1]
            if shared:
                agreement = chance_corrected(
                    [[answer.responses[0] for answer in answers] for answers in shared],
                    [1 / answers[0].options for answers in shared],
                    [answers[0].footage for answers in shared],
                    level=level,
                )
                found.append(Alike(task, shown, tuple(group), len(shared), agreement))
    return found


@dataclass(frozen=True)
class Rated:
    """The ratings of one model's texts on one criterion.

    Attributes:
        mean: Over texts; a text rated by several people counts with their mean.
        people: How many people rated.
        twice: Texts that two people or more have rated.
        alpha: Krippendorff's alpha of those.
    """

    form: str
    task: str
    model: str
    criterion: str
    mean: Estimate
    people: int
    twice: int
    alpha: Estimate

    @property
    def heading(self) -> str:
        """What the ratings are of."""
        texts = f"{self.mean.n:,} texts, {self.people:,} people"
        return f"{self.task} ({self.form}), {self.model}: {texts}"

    def text(self) -> str:
        """Return the criterion as a line of text."""
        found = f"{self.criterion:<15}{self.mean.value:5.2f} [{self.mean.low:.2f}, "
        found += f"{self.mean.high:.2f}]"
        if not self.twice:
            return found
        alike = f"{self.alpha.value:.2f} [{self.alpha.low:.2f}, {self.alpha.high:.2f}]"
        if math.isnan(self.alpha.value):
            alike = "undefined, all ratings are the same"
        return f"{found}; alpha over {self.twice:,} rated twice: {alike}"


def rated(ratings: Iterable[Rating], *, level: float = 0.95) -> list[Rated]:
    """Average ratings per form, task, model and criterion, with intervals over videos."""
    found = []
    for (form, task, model), group in by_model(ratings).items():
        footage: dict[Hashable, Hashable] = {each.digest: each.footage for each in group}
        for criterion in FORMS[form]:
            values: dict[Hashable, list[float]] = {}
            for each in group:
                values.setdefault(each.digest, []).append(each.ratings[criterion.name])
            scores = [mean(of_text) for of_text in values.values()]
            interval = accuracy_interval if set(criterion.values) == {0, 1} else mean_interval
            found.append(
                Rated(
                    form,
                    task,
                    model,
                    criterion.name,
                    interval(scores, [footage[name] for name in values], level=level),
                    len({each.annotator for each in group}),
                    sum(len(of_text) > 1 for of_text in values.values()),
                    alpha(values, footage, level=level),
                )
            )
    return found
