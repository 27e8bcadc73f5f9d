"""The page on which a person picks frames; see :mod:`video_reasoning.tasks.pages.server`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException
from pydantic import Field

from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.handpick.agreement import agreements
from video_reasoning.tasks.handpick.items import Item
from video_reasoning.tasks.handpick.record import Decision, PickLog
from video_reasoning.tasks.pages import server as pages
from video_reasoning.tasks.pages.server import Annotator, ItemRequest, Place, unseen


class PickRequest(ItemRequest):
    """A frame picked: `position` is its place in the grid, 0 to 15."""

    position: int = Field(ge=0)


class Workplace(pages.Workplace[Item, Decision]):
    """Everything that the page works on.

    Args:
        items: The items to pick for, in the order in which they are shown.
        log: The picks file.
        benchmark: Name of the benchmark.
        annotator: Name that a new page begins with.
    """

    package = "video_reasoning.tasks.handpick"

    def __init__(self, items: Sequence[Item], log: PickLog, benchmark: str, annotator: str) -> None:
        super().__init__(items, log, annotator)
        self.benchmark = benchmark

    @property
    def title(self) -> str:
        """The benchmark's name."""
        return self.benchmark

    def key(self, item: Item, annotator: str) -> tuple[str, str]:
        """Return the key of an annotator's decisions on an item."""
        return annotator, item.id

    def seen(self, decision: Decision | None) -> dict[str, Any]:
        """Return a decision as the page reads it."""
        if decision is None:
            return {"state": "open", "frame": None, "skip": None}
        return {"state": decision.state, "frame": decision.frame, "skip": decision.skip}

    def skipped(self, item: Item, annotator: str, reason: str) -> Decision:
        """Return the decision to skip an item."""
        return Decision(annotator, item.id, skip=reason)


def create_app(workplace: Workplace) -> FastAPI:
    """Build the application, guarded."""
    return pages.create_app(workplace, _router)


_router = APIRouter()


@_router.get("/api/items/{number}")
def _show(workplace: Place, number: int, annotator: Annotator) -> dict[str, Any]:
    item = workplace.item(number)
    workplace.log.refresh()
    shown: dict[str, Any] = {
        "number": number,
        "id": item.id,
        "task": item.task,
        "question": item.question,
        "options": item.options,
        "decision": workplace.decided(number, annotator),
        "problem": "",
        "frames": [],
    }
    try:
        grid = workplace.grid(number)
    except VideoError as error:
        return {**shown, "problem": unseen(error)}
    shown["n_frames"] = grid.n_frames
    shown["frames"] = [
        {"frame": frame, "seconds": seconds}
        for frame, seconds in zip(grid.indices, grid.seconds, strict=True)
    ]
    return shown


@_router.get("/api/items/{number}/answer")
def _answer(workplace: Place, number: int) -> dict[str, str]:
    return {"answer": workplace.item(number).answer}


@_router.post("/api/pick")
def _pick(workplace: Place, request: PickRequest) -> dict[str, Any]:
    item, place = workplace.item(request.item), request.position
    grid = workplace.grid(request.item)
    if place >= len(grid.indices):
        raise HTTPException(422, f"There is no frame {place + 1}.")
    frame, seconds = grid.indices[place], grid.seconds[place]
    made = Decision(request.annotator, item.id, frame, grid.n_frames, seconds)
    found: dict[str, Any] = workplace.record(request.item, made)
    return found


@_router.get("/api/agreement")
def _agreement(workplace: Place) -> dict[str, Any]:
    workplace.log.refresh()
    found = agreements(workplace.log.decisions.values())
    return {"pairs": [{**vars(pair), "share": pair.share} for pair in found]}
