"""What the files of answers and of ratings have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from video_reasoning.tasks.pages.journal import Journal, Line

State = Literal["answered", "skipped", "open"]


def state_of(given: object, skip: str | None) -> State:
    """Return what kind of decision it is; ``open`` is none (any more)."""
    if given:
        return "answered"
    return "open" if skip is None else "skipped"


class DecisionLine(BaseModel):
    """What every line has; see :class:`Decision`."""

    model_config = ConfigDict(extra="ignore")

    annotator: str = Field(min_length=1)
    task: str = Field(min_length=1)
    id: str = Field(min_length=1)
    digest: str = ""
    footage: str = ""
    took: float | None = Field(default=None, allow_inf_nan=False)
    skip: str | None = Field(default=None, min_length=1)
    cleared: bool = False
    undo: bool = False
    imported: bool = False


class Decision(Protocol):
    """A dataclass with the fields of its line.

    Attributes:
        digest: Of what was asked, as it was asked.
        footage: What was filmed, across tasks.
        took: Seconds from when the question came up; None if they are not known.
        skip: Why it was skipped; None if it was not.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def annotator(self) -> str:
        """Who decided."""

    @property
    def key(self) -> tuple[str, ...]:
        """What was decided on, and by whom."""

    @property
    def state(self) -> State:
        """What kind of decision it is."""


T = TypeVar("T", bound=Decision)


class DecisionLog(Journal[T]):
    """One file of decisions; people and tasks share it."""

    line: type[DecisionLine]
    """Its lines."""
    made: Callable[..., T]
    """Makes a decision of a line's fields."""
    nothing: ClassVar[dict[str, Any]]
    """Fields of no decision, beside those of what it is about."""

    def _nothing(self, decision: T) -> T:
        return replace(decision, **self.nothing, took=None, skip=None)

    def _parse(self, line: bytes) -> Line[T] | None:
        try:
            parsed = self.line.model_validate_json(line)
        except ValidationError:
            return None
        found = type(self).made(**parsed.model_dump(exclude={"cleared", "undo", "imported"}))
        return Line(self._nothing(found) if parsed.cleared else found, parsed.undo, parsed.imported)

    def _entry(self, decision: T, *, undo: bool, imported: bool) -> dict[str, Any]:
        line = self.line(
            **asdict(decision), cleared=decision.state == "open", undo=undo, imported=imported
        )
        return line.model_dump(exclude_defaults=True)
