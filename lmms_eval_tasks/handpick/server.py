"""The local page: one process, one user at a time per annotator, nothing but loopback.

The server answers to loopback names only (a page of another site that points its own name here
is refused by the Host header), takes changes only from its own page (Origin, and a token drawn at
each start), takes small JSON only, and serves files by the number of an item, never by name.
"""

from __future__ import annotations

import os
import secrets
import socket
from asyncio import Transport
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from video_reasoning.preprocessing.frames import Frames
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.handpick.agreement import agreements
from video_reasoning.tasks.handpick.frames import FrameCache, Player
from video_reasoning.tasks.handpick.items import Item
from video_reasoning.tasks.handpick.record import (
    LONGEST_NAME,
    LONGEST_REASON,
    Decision,
    PickLog,
    clean_annotator,
    clean_reason,
)
from video_reasoning.tasks.store.picks import PicksError

ADDRESS = "127.0.0.1"
"""The only address that the server listens on."""

HEADER_SECONDS = 10.0
"""How long a connection may take until its first request is whole."""

LARGEST_BODY = 4096
"""Bytes of a request's body, at most."""

TOKEN_HEADER = "x-handpick-token"

_ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_KEPT = {"Cache-Control": "private, max-age=3600"}

Annotator = Annotated[str, Field(max_length=4 * LONGEST_NAME), AfterValidator(clean_annotator)]
Reason = Annotated[str, Field(max_length=4 * LONGEST_REASON), AfterValidator(clean_reason)]


class UndoRequest(BaseModel):
    """The annotator's latest decision taken back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    annotator: Annotator


class PickRequest(UndoRequest):
    """A frame picked: `position` is its place in the grid, 0 to 15."""

    item: int = Field(ge=0)
    position: int = Field(ge=0)


class SkipRequest(UndoRequest):
    """An item skipped, and why."""

    item: int = Field(ge=0)
    reason: Reason


class Guard:
    """Refuses what does not come from the page itself, before anything reads it.

    Args:
        app: The application behind.
        token: What a request that changes something must carry.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with a refusal, or hand the request on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        if scope["type"] != "http":
            return  # there are no web sockets here

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        answer = JSONResponse({"detail": refusal[1]}, refusal[0]) if refusal else self.app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)

        def header(name: str) -> str:
            return ",".join(headers.getlist(name))

        host = header("host")
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if (name if port.isdigit() else host) not in _LOOPBACK:
            return 421, "This server answers to 127.0.0.1 and localhost only."
        if "origin" in headers and header("origin") != f"http://{host}":
            return 403, "Requests from other pages are refused."
        if header("sec-fetch-site") in ("cross-site", "same-site") and scope["path"] != "/":
            return 403, "Requests from other pages are refused."
        if scope["method"] in ("GET", "HEAD"):
            return None
        if not secrets.compare_digest(header(TOKEN_HEADER).encode(), self.token.encode()):
            return 403, "The page is from an earlier start of the server: load it again."
        if header("content-type").partition(";")[0].strip().lower() != "application/json":
            return 415, "Only JSON is accepted."
        length = header("content-length")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            return 411, "The request does not say how long it is."
        digits = length.lstrip("0")
        if len(digits) > 10 or int(digits or 0) > LARGEST_BODY:
            return 413, "The request is too large."
        return None


class Workplace:
    """Everything that the page works on.

    Args:
        items: The items to pick for, in the order in which they are shown.
        log: The picks file.
        benchmark: Name of the benchmark.
        annotator: Name that a new page begins with.
    """

    def __init__(self, items: Sequence[Item], log: PickLog, benchmark: str, annotator: str) -> None:
        self.items = items
        self.numbers = {item.id: number for number, item in enumerate(items)}
        self.log = log
        self.benchmark = benchmark
        self.annotator = annotator
        self.token = secrets.token_urlsafe(32)
        self.start = secrets.token_hex(4)
        """Part of the pictures' addresses: browsers keep them, and another start has others."""
        self.frames = FrameCache()
        self.player = Player()

    def close(self) -> None:
        """Remove what was written beside the picks file."""
        self.player.close()

    def item(self, number: int) -> Item:
        """Return the item of a number, from 0.

        Raises:
            HTTPException: If there is none: the request is answered with 404.
        """
        if not 0 <= number < len(self.items):
            raise HTTPException(404, f"There is no item {number + 1}.")
        return self.items[number]

    def video(self, number: int) -> Path:
        """Return the video of an item.

        Raises:
            HTTPException: If there is no such item.
            VideoError: If its video cannot be shown: the request is answered with 404.
        """
        item = self.item(number)
        if item.problem or item.video is None:
            raise VideoError(item.problem)
        return item.video

    def grid(self, number: int) -> Frames[bytes]:
        """Return the frames of an item; see :meth:`video`."""
        return self.frames.get(self.video(number))

    def record(self, number: int, decision: Decision) -> dict[str, Any]:
        """Save a decision, and return the answer to the page."""
        self.log.record([decision])
        return {"item": number, "decision": _shown(decision)}


def create_app(workplace: Workplace) -> FastAPI:
    """Build the application, guarded."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        # A process that is asked to end does not get past the server's own end.
        workplace.close()

    app = FastAPI(
        title="Handpick", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.workplace = workplace
    app.add_middleware(Guard, token=workplace.token)
    app.include_router(_router)

    def invalid(error: Any) -> str:
        places = ", ".join(str(fault["loc"][-1]) for fault in error.errors())
        return f"The request is not as expected: {places}."

    def unwritten(error: Any) -> str:
        return f"Not saved to {workplace.log.path}: {error.strerror or type(error).__name__}."

    def answer_with(kind: type[Exception], status: int, sentence: Callable[[Any], str]) -> None:
        @app.exception_handler(kind)
        async def refused(request: Request, error: Exception) -> Response:
            return JSONResponse({"detail": sentence(error)}, status)

    answer_with(RequestValidationError, 422, invalid)
    answer_with(PicksError, 422, str)
    answer_with(VideoError, 404, _unseen)
    answer_with(OSError, 507, unwritten)
    return app


_router = APIRouter()


def _workplace(request: Request) -> Workplace:
    workplace: Workplace = request.app.state.workplace
    return workplace


Place = Annotated[Workplace, Depends(_workplace)]


def _shown(decision: Decision | None) -> dict[str, Any]:
    """Return a decision as the page reads it."""
    if decision is None:
        return {"state": "open", "frame": None, "skip": None}
    return {"state": decision.state, "frame": decision.frame, "skip": decision.skip}


def _unseen(error: VideoError) -> str:
    return f"The video cannot be shown: {error}"


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


@_router.get("/")
def _page(workplace: Place) -> Response:
    text = _asset("page.html").replace("{{token}}", workplace.token)
    return Response(text, media_type="text/html")


@_router.get("/{name}.{suffix}")
def _file(name: str, suffix: str) -> Response:
    media_type = _ASSETS.get(f"{name}.{suffix}")
    if media_type is None:
        raise HTTPException(404, "There is no such page.")
    return Response(_asset(f"{name}.{suffix}"), media_type=media_type)


@_router.get("/api/session")
def _session(
    workplace: Place, annotator: Annotated[str | None, Query(max_length=4 * LONGEST_NAME)] = None
) -> dict[str, Any]:
    who = clean_annotator(annotator or workplace.annotator)
    workplace.log.refresh()
    decided = workplace.log.of(who)

    def state(item: Item) -> str:
        if item.problem:
            return "broken"
        return decided[item.id].state if item.id in decided else "open"

    return {
        "benchmark": workplace.benchmark,
        "file": workplace.log.path.name,
        "start": workplace.start,
        "annotator": who,
        "annotators": sorted({who, *workplace.log.annotators()}),
        "items": [
            {"id": item.id, "task": item.task, "state": state(item)} for item in workplace.items
        ],
    }


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
        "decision": _shown(workplace.log.of(annotator).get(item.id)),
        "problem": "",
        "frames": [],
    }
    try:
        grid = workplace.grid(number)
    except VideoError as error:
        return {**shown, "problem": _unseen(error)}
    shown["n_frames"] = grid.n_frames
    shown["frames"] = [
        {"frame": frame, "seconds": seconds}
        for frame, seconds in zip(grid.indices, grid.seconds, strict=True)
    ]
    return shown


@_router.get("/api/items/{number}/answer")
def _answer(workplace: Place, number: int) -> dict[str, str]:
    return {"answer": workplace.item(number).answer}


@_router.get("/frames/{number}/{position}")
def _frame(workplace: Place, number: int, position: int) -> Response:
    pictures = workplace.grid(number).pictures
    if not 0 <= position < len(pictures):
        raise HTTPException(404, f"There is no frame {position + 1}.")
    return Response(pictures[position], media_type="image/jpeg", headers=_KEPT)


@_router.get("/video/{number}")
def _video(workplace: Place, number: int, convert: bool = False) -> Response:
    path, media_type = workplace.player.file(workplace.video(number), convert=convert)
    # Answers to range requests, which players need to seek.
    return FileResponse(path, media_type=media_type, headers=_KEPT)


@_router.post("/api/pick")
def _pick(workplace: Place, request: PickRequest) -> dict[str, Any]:
    item, place = workplace.item(request.item), request.position
    grid = workplace.grid(request.item)
    if place >= len(grid.indices):
        raise HTTPException(422, f"There is no frame {place + 1}.")
    frame, seconds = grid.indices[place], grid.seconds[place]
    made = Decision(request.annotator, item.id, frame, grid.n_frames, seconds)
    return workplace.record(request.item, made)


@_router.post("/api/skip")
def _skip(workplace: Place, request: SkipRequest) -> dict[str, Any]:
    item = workplace.item(request.item)
    return workplace.record(request.item, Decision(request.annotator, item.id, skip=request.reason))


@_router.post("/api/undo")
def _undo(workplace: Place, request: UndoRequest) -> dict[str, Any]:
    restored = workplace.log.undo(request.annotator)
    if restored is None:
        return {"item": None, "id": None, "decision": None}
    # The file may have items that are not in this sample.
    number = workplace.numbers.get(restored.id)
    return {"item": number, "id": restored.id, "decision": _shown(restored)}


@_router.get("/api/agreement")
def _agreement(workplace: Place) -> dict[str, Any]:
    workplace.log.refresh()
    found = agreements(workplace.log.decisions.values())
    return {"pairs": [{**vars(pair), "share": pair.share} for pair in found]}


def open_socket(port: int | None, preferred: int = 8765) -> socket.socket:
    """Listen on loopback.

    Args:
        port: The port wanted; None for `preferred`, or any free one if that is taken.
        preferred: What to try first if no port is wanted.

    Returns:
        The listening socket.

    Raises:
        PicksError: If the port that was asked for is taken or not allowed.
    """
    for candidate in (preferred, 0) if port is None else (port,):
        bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere the option lets two servers share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((ADDRESS, candidate))
            # From now on a browser waits instead of being refused, and the port is taken.
            bound.listen()
        except OSError as error:
            bound.close()
            reason = error.strerror
            continue
        return bound
    raise PicksError(
        f"Port {port if port is not None else preferred} cannot be used ({reason}); "
        "name another with --port, or none."
    )


class _Impatient(H11Protocol):
    """A connection that is closed unless a request begins on it in time."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(HEADER_SECONDS, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        if getattr(self, "cycle", None) is None:  # no request has come whole
            self.transport.close()


def build_server(workplace: Workplace) -> uvicorn.Server:
    """Build the server; its `run` takes the socket and ends when `should_exit` is set."""
    config = uvicorn.Config(
        create_app(workplace),
        log_level="warning",
        access_log=False,
        server_header=False,
        # A playing video keeps its connection open.
        timeout_graceful_shutdown=1,
        http=_Impatient,
        proxy_headers=False,
        ws="none",
    )
    return uvicorn.Server(config)


def serve(workplace: Workplace, bound: socket.socket) -> None:
    """Serve the page until it is interrupted."""
    try:
        build_server(workplace).run(sockets=[bound])
    finally:
        workplace.close()
        bound.close()
