"""Which questions an audit throws out, and which survive it.

A question that is right without what it claims to need proves nothing about that: right without
any frame, right with a single frame, right with the frames shuffled. Luck makes such questions
too, so a list from one model is a list to look at; several models' lists together prove more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from video_reasoning.tasks.audit.files import write_text
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.result import AuditedQuestion, AuditResult, Finding
from video_reasoning.tasks.audit.variants import KINDS, Kind, Variant, reference_of

__all__ = ["find_questions", "survivors", "write_ids"]

RIGHT = 0.5
"""Score from which on a question counts as right."""

_AGAINST = 2
"""How much worse a finding is if the question is wrong with all frames in order."""


def find_questions(plan: Plan, results: Iterable[AuditResult]) -> list[Finding]:
    """Find the questions to look at, those with the most against them first."""
    weighted = []
    for result in _tasks(results):
        for question in result.questions:
            against = _against(plan.variants, question)
            if not against:
                continue
            reference = reference_of(plan.variants)
            wrong = reference is not None and question.score(reference.name) < RIGHT
            weight = sum(kind.weight for kind in against) * (_AGAINST if wrong else 1)
            reasons = tuple(f"right {kind.words}" for kind in against)
            found = Finding(
                **vars(question), task=result.name, reasons=reasons, wrong_in_order=wrong
            )
            weighted.append((-weight, result.name, question.row, found))
    return [found for *_, found in sorted(weighted, key=lambda entry: entry[:3])]


def survivors(plan: Plan, results: Iterable[AuditResult]) -> dict[str, list[AuditedQuestion]]:
    """Return each task's questions that nothing is against and every condition asked."""
    needed = [
        variant.name
        for variant in plan.variants
        if KINDS[variant.kind].weight and not variant.partial
    ]
    return {
        result.name: [
            question
            for question in result.questions
            if all(question.scores.get(name) is not None for name in needed)
            and not _against(plan.variants, question)
        ]
        for result in _tasks(results)
    }


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


def _tasks(results: Iterable[AuditResult]) -> list[AuditResult]:
    """Return the audited tasks, without their groups."""
    return [result for result in results if len(result.tasks) == 1 and not result.refused]


def _against(variants: Sequence[Variant], question: AuditedQuestion) -> list[Kind]:
    """Return the kinds of condition under which a question is right and should not be."""
    return [
        KINDS[variant.kind]
        for variant in variants
        if KINDS[variant.kind].weight and question.score(variant.name) >= RIGHT
    ]
