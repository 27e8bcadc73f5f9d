"""Which questions an audit throws out, and which survive it.

A question that is right without what it claims to need says nothing about that: right without
any frame, right with a single frame, right with the frames shuffled. Luck makes such questions
too, so a list from one model is a list to look at; several models' lists together say more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.audit.evaluate import AuditResult, Item
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.variants import Variant

__all__ = ["Finding", "findings", "survivors", "write_ids"]

RIGHT = 0.5
"""Score from which on an item counts as right."""

_REASONS = {
    "blind": "right blind",
    "random": "right with one random frame",
    "last": "right with the last frame alone",
    "handpicked": "right with one handpicked frame",
    "shuffled": "right with shuffled frames",
}

_WEIGHTS = {"blind": 4, "random": 2, "last": 2, "handpicked": 1, "shuffled": 1}
_AGAINST = 2
"""How much worse a finding is where the question is wrong with all frames in order."""


@dataclass(frozen=True)
class Finding:
    """A question that is right under a condition that should leave it unanswerable.

    Attributes:
        task: the audited task.
        item: the question.
        reasons: what speaks against it.
        wrong_in_order: whether it is wrong with the frames in order.
        weight: how much speaks against it; the list is sorted by this.
    """

    task: str
    item: Item
    reasons: tuple[str, ...]
    wrong_in_order: bool
    weight: int

    def as_json(self) -> dict[str, Any]:
        """The finding for its file."""
        return {
            "task": self.task,
            "id": self.item.id,
            "row": self.item.row,
            "video": self.item.video,
            "source": self.item.source or None,
            "shape": self.item.shape or None,
            "reasons": list(self.reasons),
            "wrong_with_frames_in_order": self.wrong_in_order,
            "target": self.item.target,
            "prompt": self.item.prompt,
            "scores": dict(self.item.scores),
            "responses": dict(self.item.responses),
        }


def findings(plan: Plan, results: Iterable[AuditResult]) -> list[Finding]:
    """The questions to look at, those with the most against them first."""
    found = []
    for result in results:
        if len(result.tasks) > 1:
            continue  # a group: its tasks stand for themselves
        for item in result.items:
            against = _against(plan.variants, item)
            if against:
                wrong = _wrong_in_order(plan.variants, item)
                reasons = [_REASONS[variant.kind] for variant in against]
                weight = sum(_WEIGHTS[variant.kind] for variant in against)
                weight *= _AGAINST if wrong else 1
                found.append(Finding(result.name, item, tuple(reasons), wrong, weight))
    return sorted(found, key=lambda one: (-one.weight, one.task, one.item.row))


def survivors(plan: Plan, results: Iterable[AuditResult]) -> dict[str, list[str]]:
    """Task -> ids of the questions that nothing speaks against, asked under every condition."""
    kept: dict[str, list[str]] = {}
    for result in results:
        if len(result.tasks) > 1 or result.refused:
            continue
        needed = [
            variant.name
            for variant in plan.variants
            if variant.kind in _REASONS and variant.kind != "handpicked"
        ]
        kept[result.name] = [
            item.id
            for item in result.items
            if all(item.scores.get(name) is not None for name in needed)
            and not _against(plan.variants, item)
        ]
    return kept


def write_ids(path: Path, kept: Mapping[str, Sequence[str]]) -> None:
    """Writes the ids, one a line; of several tasks with the task and a tab before each."""
    lines = [
        f"{task}\t{name}\n" if len(kept) > 1 else f"{name}\n"
        for task, names in kept.items()
        for name in names
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")


def _against(variants: Sequence[Variant], item: Item) -> list[Variant]:
    """The conditions under which a question is right and should not be."""
    return [
        variant
        for variant in variants
        if variant.kind in _REASONS and (item.scores.get(variant.name) or 0.0) >= RIGHT
    ]


def _wrong_in_order(variants: Sequence[Variant], item: Item) -> bool:
    for variant in variants:
        if variant.kind in ("ordered", "original"):
            score = item.scores.get(variant.name)
            return score is not None and score < RIGHT
    return False
