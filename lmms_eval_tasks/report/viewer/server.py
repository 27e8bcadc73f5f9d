"""The viewer's local server: it reads logs and the store, and changes nothing.

It is guarded like the other local pages: loopback only, other sites' requests refused, and files
served by the number of an item.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException
from fastapi.responses import FileResponse, Response

from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.pages.server import KEPT, Place, asset, guarded_app
from video_reasoning.tasks.report.footage import NoFootage
from video_reasoning.tasks.report.viewer.collection import Collection, Entry, Media, log_line

PACKAGE = "video_reasoning.tasks.report.viewer"
ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}

_LARGEST_BODY = 0  # nothing is ever sent to it
_STILLS = 64  # items whose pictures are kept in memory


class Viewing:
    """Everything that the page shows."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.collection = Collection(paths)
        self.media = Media()
        self.stills = lru_cache(maxsize=_STILLS)(self._stills)

    def close(self) -> None:
        """Remove what was made to be looked at."""
        self.media.close()

    def entry(self, version: str, number: int) -> Entry:
        """Return an item of what the page has read.

        Raises:
            HTTPException: There is no such item, or the logs have changed since.
        """
        state = self.collection.state()
        if version != state.version:
            raise HTTPException(409, "The run has more items now.")
        if not 0 <= number < len(state.entries):
            raise HTTPException(404, f"There is no item {number + 1}.")
        return state.entries[number]

    def _stills(self, version: str, number: int) -> tuple[list[tuple[str, bytes]], str]:
        return self.media.stills(self.entry(version, number))


def create_app(viewing: Viewing) -> FastAPI:
    """Build the application."""
    return guarded_app(
        viewing,
        [_router],
        {NoFootage: (404, str), UserError: (422, str)},
        token=token_urlsafe(32),
        largest_body=_LARGEST_BODY,
    )


_router = APIRouter()


@_router.get("/")
def _page() -> Response:
    return Response(asset(PACKAGE, "view.html"), media_type="text/html")


@_router.get("/view.{suffix}")
def _file(suffix: str) -> Response:
    media_type = ASSETS.get(f"view.{suffix}")
    if media_type is None:
        raise HTTPException(404, "There is no such page.")
    return Response(asset(PACKAGE, f"view.{suffix}"), media_type=media_type)


@_router.get("/api/version")
def _version(viewing: Place) -> dict[str, str]:
    state = viewing.collection.state()
    return {"version": state.version, "problem": state.problem}


@_router.get("/api/items")
def _items(viewing: Place) -> Response:
    content = json.dumps(viewing.collection.state().content, ensure_ascii=False)
    return Response(content.encode("utf-8", "backslashreplace"), media_type="application/json")


@_router.get("/api/items/{version}/{number}")
def _item(viewing: Place, version: str, number: int) -> dict[str, Any]:
    """Say what there is to look at of an item."""
    shown: dict[str, Any] = {"stills": [], "clips": [], "caption": "", "problem": ""}
    try:
        stills, shown["caption"] = viewing.stills(version, number)
        shown["stills"] = [name for name, _ in stills]
        clips = viewing.media.clips(viewing.entry(version, number))
        shown["clips"] = [f"clip/{version}/{number}/{place}" for place in range(len(clips))]
    except NoFootage as reason:
        shown["problem"] = str(reason)
    return shown


@_router.get("/api/lines/{version}/{number}")
def _line(viewing: Place, version: str, number: int) -> Response:
    text = log_line(viewing.entry(version, number))
    return Response(
        text.encode("utf-8", "backslashreplace"), media_type="text/plain; charset=utf-8"
    )


@_router.get("/still/{version}/{number}/{place}")
def _still(viewing: Place, version: str, number: int, place: int) -> Response:
    stills, _ = viewing.stills(version, number)
    if not 0 <= place < len(stills):
        raise HTTPException(404, f"There is no frame {place + 1}.")
    return Response(stills[place][1], media_type="image/jpeg", headers=KEPT)


@_router.get("/clip/{version}/{number}/{place}")
def _clip(viewing: Place, version: str, number: int, place: int, convert: bool = False) -> Response:
    clips = viewing.media.clips(viewing.entry(version, number))
    if not 0 <= place < len(clips):
        raise HTTPException(404, f"There is no clip {place + 1}.")
    path, media_type = viewing.media.playable(clips[place], convert=convert)
    # Answers to range requests, which players need to seek.
    return FileResponse(path, media_type=media_type, headers=KEPT)
