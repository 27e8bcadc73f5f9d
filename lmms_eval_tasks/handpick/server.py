"""The page on which a person picks frames; see :mod:`video_reasoning.tasks.pages.server`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, HTTPException, Query
from fastapi.responses import Response
from pydantic import Field

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.handpick.agreement import agreements, differences
from video_reasoning.tasks.handpick.exchange import Plan, as_csv, install, plan
from video_reasoning.tasks.handpick.items import Item, Source
from video_reasoning.tasks.handpick.record import Decision, PickLog
from video_reasoning.tasks.pages import server as pages
from video_reasoning.tasks.pages.journal import LONGEST_NAME, clean_annotator
from video_reasoning.tasks.pages.server import (
    Annotator,
    ItemRequest,
    Place,
    UndoRequest,
    unseen,
)


class PickRequest(ItemRequest):
    """A frame picked: `position` is its place in the grid, 0 to 15."""

    position: int = Field(ge=0)


class InstallRequest(UndoRequest):
    """Picks to be installed, as they were shown to the annotator before.

    Attributes:
        whose: One annotator's, or everybody's if it is empty.
        picks: How many there are.
        stamp: Of the installed picks that they replace; empty if there are none.
    """

    whose: str = Field(max_length=4 * LONGEST_NAME)
    picks: int = Field(ge=1)
    stamp: str = Field(max_length=64)


class Workplace(pages.Workplace[Item, Decision]):
    """Everything that the page works on.

    Args:
        items: The items to pick for, in the order in which they are shown.
        log: The picks file.
        source: Where the items are from, and where picks are put.
        annotator: Name that a new page begins with.
    """

    package = "video_reasoning.tasks.handpick"

    def __init__(self, items: Sequence[Item], log: PickLog, source: Source, annotator: str) -> None:
        super().__init__(items, log, source.name, annotator)
        self.source = source

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

    def plan(self, whose: str) -> Plan:
        """Plan what would be installed: everybody's picks, or one annotator's."""
        self.log.refresh()
        decisions = self.log.of(whose) if whose else self.log.decisions
        return plan(decisions.values(), self.source)


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
    decisions = list(workplace.log.decisions.values())
    pairs = [
        {**vars(pair), "share": pair.share, "corrected": _interval(pair.corrected)}
        for pair in agreements(decisions)
    ]
    return {"pairs": pairs, "differences": [vars(each) for each in differences(decisions)]}


def _interval(found: Estimate) -> list[float] | None:
    # There is no NaN in JSON.
    return None if math.isnan(found.value) else [found.value, found.low, found.high]


@_router.get("/api/export")
def _export(workplace: Place) -> Response:
    workplace.log.refresh()
    name = re.sub(r"[^\w.-]+", "_", f"{workplace.source.name}-picks.csv", flags=re.ASCII)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    content = as_csv(workplace.log.decisions.values())
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


@_router.get("/api/install")
def _plan(
    workplace: Place, whose: Annotated[str, Query(max_length=4 * LONGEST_NAME)] = ""
) -> dict[str, Any]:
    made: Plan = workplace.plan(clean_annotator(whose) if whose else "")
    return {
        "whose": whose,
        "path": str(made.path),
        "picks": len(made.combined.picks),
        "existing": made.existing,
        "stamp": made.stamp,
        "left_out": {
            "skipped more often than picked": len(made.combined.skipped),
            "picked on different videos": len(made.combined.other_video),
            "another video now": len(made.changed),
            "not known": len(made.unknown),
        },
    }


@_router.post("/api/install")
def _install(workplace: Place, request: InstallRequest) -> dict[str, Any]:
    made: Plan = workplace.plan(clean_annotator(request.whose) if request.whose else "")
    if len(made.combined.picks) != request.picks:
        raise HTTPException(409, "The picks have changed since you were asked: look again.")
    install(made, request.stamp)
    return {"picks": request.picks, "path": str(made.path)}
