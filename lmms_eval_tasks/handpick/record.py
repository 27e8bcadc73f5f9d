"""The picks file, a journal (:mod:`video_reasoning.tasks.pages.journal`).

A line is one of::

    {"benchmark": "tvbench", "annotator": "ana", "id": "direction/5",
     "frame": 37, "n_frames": 120, "seconds": 1.48, "at": "2025-01-31T09:30:00+00:00"}
    {..., "skip": "all frames look alike", "at": ...}
    {..., "cleared": true, "undo": true, "at": ...}
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from video_reasoning.tasks.pages.journal import Journal, Line
from video_reasoning.tasks.store.picks import PicksError


@dataclass(frozen=True)
class Decision:
    """What an annotator decided for an item: a frame, a skip, or nothing (any more).

    Attributes:
        frame: The picked frame, an index into the video from 0; None for a skip or nothing.
        n_frames: Number of frames of the video that was looked at; None without a frame.
        seconds: Time of the frame in the video; None if it is not known.
        skip: Why the item was skipped; None if it was not.
    """

    annotator: str
    id: str
    frame: int | None = None
    n_frames: int | None = None
    seconds: float | None = None
    skip: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Annotator and id."""
        return self.annotator, self.id

    @property
    def state(self) -> Literal["picked", "skipped", "open"]:
        """What kind of decision it is; ``open`` is none (any more)."""
        if self.frame is not None:
            return "picked"
        return "open" if self.skip is None else "skipped"


class _Line(BaseModel):
    """One line of the file: a decision, and how it came about."""

    model_config = ConfigDict(strict=True)

    benchmark: str | None = None
    annotator: str = Field(min_length=1)
    id: str = Field(min_length=1)
    frame: int | None = Field(default=None, ge=0)
    n_frames: int | None = None
    seconds: float | None = Field(default=None, allow_inf_nan=False)
    skip: str | None = Field(default=None, min_length=1)
    cleared: bool = False
    undo: bool = False
    imported: bool = False
    at: str | None = None

    @model_validator(mode="after")
    def _decides(self) -> _Line:
        picked = self.frame is not None and self.frame < (self.n_frames or 0)
        if not (self.cleared or self.skip or picked):
            raise ValueError("a line clears, skips, or picks a frame of the video")
        return self

    @property
    def decision(self) -> Decision:
        if self.cleared:
            return Decision(self.annotator, self.id)
        if self.skip:
            return Decision(self.annotator, self.id, skip=self.skip)
        return Decision(self.annotator, self.id, self.frame, self.n_frames, self.seconds)


class PickLog(Journal[Decision]):
    """One picks file, as it is on the disk.

    Args:
        path: The file; it is made with the first decision.
        benchmark: The benchmark that it is about.

    Raises:
        PicksError: If the file exists and is not a picks file, or is one of another benchmark.
    """

    kind = "picks file"
    decision = "pick"
    error = PicksError

    def __init__(self, path: Path, benchmark: str) -> None:
        self.benchmark = benchmark
        super().__init__(path)

    def of(self, annotator: str) -> dict[str, Decision]:
        """Return what one annotator decided, by id."""
        found = self.decisions.values()
        return {each.id: each for each in found if each.annotator == annotator}

    def _nothing(self, decision: Decision) -> Decision:
        return Decision(*decision.key)

    def _parse(self, line: bytes) -> Line[Decision] | None:
        try:
            parsed = _Line.model_validate_json(line)
        except ValidationError:
            return None
        if parsed.benchmark not in (None, self.benchmark):
            raise PicksError(
                f"{self.path} has picks for {parsed.benchmark}, not for {self.benchmark}; "
                "name another file with --out."
            )
        return Line(parsed.decision, parsed.undo, parsed.imported)

    def _entry(self, decision: Decision, *, undo: bool, imported: bool) -> dict[str, Any]:
        line = _Line(
            benchmark=self.benchmark,
            **asdict(decision),
            cleared=decision.state == "open",
            undo=undo,
            imported=imported,
        )
        return line.model_dump(exclude_defaults=True)
