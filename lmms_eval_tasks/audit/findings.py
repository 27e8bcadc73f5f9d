"""Which questions an audit throws out, and which survive it.

A question that can be answered without what it claims to need proves nothing about that. Being
right once does not show it: guessing is right too. So each question has a posterior, from how often
it was right with its options in other orders (``--repeats``) and by several models
(``audit join``), and the list says how many of it luck explains.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from video_reasoning.metrics.audits import Answerable, answerable, discoveries
from video_reasoning.tasks.audit.files import write_text
from video_reasoning.tasks.audit.measures import RIGHT, classes_of, draws_right
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.result import AuditedQuestion, AuditResult, Finding
from video_reasoning.tasks.audit.variants import KINDS, Kind, reference_of

__all__ = [
    "RATE",
    "Evidence",
    "aligned",
    "evidence",
    "find_questions",
    "survivors",
    "write_classes",
    "write_ids",
]

RATE = 0.1
"""Expected share of innocent questions among those that are thrown out."""


@dataclass(frozen=True)
class Evidence:
    """What one kind of condition says about a task's questions.

    Attributes:
        kind: The kind of condition.
        right: Of each question, how often it was right under it.
        asked: How often it was asked.
        found: What that says, in the order of the questions.
    """

    kind: Kind
    right: Sequence[int]
    asked: Sequence[int]
    found: Answerable

    @property
    def sentence(self) -> str:
        """How many questions are right, and how many of them by luck."""
        ever = sum(each > 0 for each in self.right)
        most = max(self.asked, default=0)
        times = f", asked up to {most} times" if most > 1 else ""
        text = f"{ever:,} of {sum(map(bool, self.asked)):,} questions are right {self.kind.words}"
        if math.isnan(self.found.lucky):
            return f"{text}{times}; without options it is not known how many by luck."
        return f"{text} at least once{times}; luck explains about {self.found.lucky:,.0f} of them."


def evidence(audits: Sequence[tuple[Plan, AuditResult]]) -> list[Evidence]:
    """Gather what the audits of one task, by one model or several, say about its questions.

    Args:
        audits: Plan and result of each; all results have the same questions in the same order.
    """
    kinds: dict[str, Kind] = {}
    right: dict[str, list[int]] = {}
    asked: dict[str, list[int]] = {}
    for plan, result in audits:
        for variant in plan.variants:
            name = variant.evidence
            kind = KINDS[name]
            if not kind.weight:
                continue
            kinds[name] = kind
            n = len(result.questions)
            for counts in (right, asked):
                counts.setdefault(name, [0] * n)
            for place, question in enumerate(result.questions):
                score = question.score(variant.name)
                asked[name][place] += not math.isnan(score)
                right[name][place] += score >= RIGHT
    graded = any(result.graded for _, result in audits)
    chance = [
        1 / question.options if question.options and not graded else math.nan
        for question in audits[0][1].questions
    ]
    return [
        Evidence(
            kinds[name], right[name], asked[name], answerable(right[name], asked[name], chance)
        )
        for name in kinds
        if any(asked[name])  # the handpicked frame is asked only if there are picks
    ]


def find_questions(plan: Plan, results: Iterable[AuditResult]) -> list[Finding]:
    """Find the questions to look at, the most surely answerable first."""
    listed = []
    for result in _tasks(results):
        gathered = evidence([(plan, result)])
        reference = reference_of(plan.variants)
        for place, question in enumerate(result.questions):
            against = [each for each in gathered if each.right[place]]
            if not against:
                continue
            posterior = max(each.found.posterior[place] for each in against)
            weight = sum(each.kind.weight for each in against)
            found = Finding(
                **{each.name: getattr(question, each.name) for each in fields(question)},
                task=result.name,
                reasons=tuple(_reason(each, place) for each in against),
                posterior=round(posterior, 4),
                wrong_in_order=reference is not None and question.score(reference.name) < RIGHT,
            )
            listed.append(((-round(posterior, 2), -weight, result.name, question.row), found))
    return [found for _, found in sorted(listed, key=lambda entry: entry[0])]


def _reason(each: Evidence, place: int) -> str:
    times = f" ({each.right[place]} of {each.asked[place]})" if each.asked[place] > 1 else ""
    return f"right {each.kind.words}{times}"


def survivors(
    audits: Sequence[tuple[Plan, Sequence[AuditResult]]], rate: float = RATE
) -> dict[str, list[AuditedQuestion]]:
    """Return each task's questions that are not thrown out and that every condition asked.

    Each kind of condition may throw out as many as keep the expected share of innocents at most
    `rate` divided by the number of kinds.

    Args:
        audits: Plan and results of each audit of the same tasks.
        rate: Expected share of innocents among all that are thrown out, between 0 and 1.
    """
    kept = {}
    by_name = [{result.name: result for result in _tasks(results)} for _, results in audits]
    for name in by_name[0]:
        same = [
            (plan, found[name])
            for (plan, _), found in zip(audits, by_name, strict=True)
            if name in found
        ]
        gathered = evidence(same)
        out = {
            place
            for each in gathered
            for place in discoveries(each.found.posterior, rate / len(gathered))
        }
        kept[name] = [
            question
            for place, question in enumerate(same[0][1].questions)
            if place not in out and all(_asked(plan, result, place) for plan, result in same)
        ]
    return kept


def _asked(plan: Plan, result: AuditResult, place: int) -> bool:
    scores = result.questions[place].scores
    return all(
        scores.get(variant.name) is not None
        for variant in plan.variants
        if KINDS[variant.kind].weight and not variant.partial
    )


def aligned(results: Sequence[AuditResult]) -> tuple[list[AuditResult], int]:
    """Put the questions of several audits of one task into one order; those of all of them.

    Returns:
        The results, and the number of questions that are not in all.
    """
    rows = [{(q.row, q.id): q for q in result.questions} for result in results]
    shared = [place for place in rows[0] if all(place in each for each in rows)]
    questions = [[each[place] for place in shared] for each in rows]
    dropped = len(set().union(*rows)) - len(shared)
    return [
        replace(result, questions=found) for result, found in zip(results, questions, strict=True)
    ], dropped


def write_ids(path: Path, kept: Mapping[str, Sequence[AuditedQuestion]]) -> bool:
    """Write the ids as the user's data have them, one a line.

    If there are several tasks, each comes after its task and a tab. If ids repeat, a tab and the
    question's place in the dataset, from 0, come after each.

    Returns:
        Whether the places were written.
    """
    places = any(q.id != q.own_id for questions in kept.values() for q in questions)
    lines = []
    for task, questions in kept.items():
        for question in questions:
            cells = [task] if len(kept) > 1 else []
            cells += [question.own_id, str(question.row)] if places else [question.own_id]
            lines.append("\t".join(cells) + "\n")
    write_text(path, "".join(lines))
    return places


def write_classes(
    path: Path, audits: Sequence[tuple[Plan, Sequence[AuditResult]]], least: int
) -> None:
    """Write what each question needs, one line of JSON each.

    Args:
        path: The file to write.
        audits: Plan and results of each audit of the same tasks, their questions in one order.
        least: How many models have to be right.
    """
    lines = []
    for results in zip(*(_tasks(results) for _, results in audits), strict=True):
        models = [
            (plan.variants, each.questions) for (plan, _), each in zip(audits, results, strict=True)
        ]
        by_model = [classes_of([model], 1) for model in models]
        for place, found in enumerate(classes_of(models, least)):
            question = results[0].questions[place]
            line = {
                "task": results[0].name,
                "id": question.own_id,
                "row": question.row,
                "class": found,
                "by_model": [each[place] for each in by_model],
                "draws": draws_right(question, models[0][0]),
            }
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    write_text(path, "".join(lines))


def _tasks(results: Iterable[AuditResult]) -> list[AuditResult]:
    """Return the audited tasks, without their groups."""
    return [result for result in results if len(result.tasks) == 1 and not result.refused]
