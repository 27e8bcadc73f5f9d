"""The questions of an audit, for which frames are picked: any task that the harness knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.result import AuditedQuestion
from video_reasoning.tasks.audit.run import read_asked
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.handpick.items import Item
from video_reasoning.tasks.store.picks import PICKS


@dataclass(frozen=True)
class Audited:
    """The tasks of an audit.

    Attributes:
        folder: The audit's folder.
    """

    folder: Path

    @property
    def name(self) -> str:
        """The groups and tasks that the user named."""
        plan, _ = self._asked
        return ", ".join(dict.fromkeys(task.group or task.name for task in plan.tasks))

    @property
    def picks(self) -> Path:
        """The audit's picks, for ``audit --picks``."""
        return self.folder / PICKS

    @property
    def installed(self) -> str:
        """How an audit takes them."""
        return f"Audit with handpicked1 among the conditions and --picks {self.picks}"

    def load(self, split: str | None = None) -> list[Item]:
        """Return what was asked, in the order of the tasks; an audit has no splits.

        Raises:
            UserError: A split is named.
        """
        if split is not None:
            raise UserError("An audit has no splits; --task names one of its tasks.")
        _, asked = self._asked
        ids = Counter(question.id for questions in asked.values() for question in questions)
        return [
            _item(task, question, shared=ids[question.id] > 1)
            for task, questions in asked.items()
            for question in questions
        ]

    def known(self) -> dict[str, Item]:
        """Return the items that a frame can be picked for, by id."""
        return {item.id: item for item in self.load() if item.video}

    @cached_property
    def _asked(self) -> tuple[Plan, dict[str, list[AuditedQuestion]]]:
        return read_asked(self.folder)


def _item(task: str, question: AuditedQuestion, *, shared: bool) -> Item:
    problem = ""
    if shared:
        problem = "its id is that of several questions"
    elif question.shape.split(" and ")[0] != "1 video":
        shape = question.shape or "nothing that was recorded"
        problem = f"its task shows {shape}, and a pick is a frame of one whole video"
    elif not question.source:
        problem = "its video is not known"
    return Item(
        id=question.id,
        task=task,
        question=question.prompt.strip(),
        options=(),
        answer=question.target,
        video=None if problem else Path(question.source),
        problem=problem,
    )
