"""The local page: one process, one user at a time per annotator, nothing but loopback.

The server answers to loopback names only (a page of another site that points its own name here
is refused by the Host header), takes changes only from its own page (Origin, and a token drawn at
each start), takes small JSON only, and gives out files by the number of an item, never by name.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

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

LARGEST_BODY = 4096
"""Bytes of a request's body, at most."""

TOKEN_HEADER = "x-handpick-token"

_ASSETS = {"page.css": "text/css", "page.js": "text/javascript"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PickRequest(_Strict):
    """A frame picked: `position` is its place in the grid, 0 to 15."""

    annotator: str = Field(max_length=4 * LONGEST_NAME)
    item: int = Field(ge=0)
    position: int = Field(ge=0)


class SkipRequest(_Strict):
    """An item skipped, and why."""

    annotator: str = Field(max_length=4 * LONGEST_NAME)
    item: int = Field(ge=0)
    reason: str = Field(max_length=4 * LONGEST_REASON)


class UndoRequest(_Strict):
    """The annotator's latest decision taken back."""

    annotator: str = Field(max_length=4 * LONGEST_NAME)


class Guard:
    """Refuses what does not come from the page itself, before anything reads it.

    Args:
        app: the application behind.
        token: what a request that changes something must carry.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str) -> None:
        self.app = app
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with a refusal, or hands the request on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        if refusal:
            status, sentence = refusal
            response = JSONResponse({"detail": sentence}, status)
            await response(scope, receive, send_with_headers)
        else:
            await self.app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

        def header(name: str) -> str:
            return ",".join(headers.get(name, ()))

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
            return 415, "Only JSON is taken."
        length = header("content-length")
        if "transfer-encoding" in headers or not (length.isascii() and length.isdigit()):
            return 411, "The request does not say how long it is."
        if int(length[:10]) > LARGEST_BODY:
            return 413, "The request is too large."
        return None


class Workplace:
    """Everything that the page works on.

    Args:
        items: the items to pick for, in the order in which they are shown.
        log: the picks file.
        benchmark: name of the benchmark.
        annotator: name that a new page begins with.
    """

    def __init__(self, items: Sequence[Item], log: PickLog, benchmark: str, annotator: str) -> None:
        self.items = items
        self.log = log
        self.benchmark = benchmark
        self.annotator = annotator
        self.token = secrets.token_urlsafe(32)
        self.start = secrets.token_hex(4)
        """Part of the pictures' addresses: browsers keep them, and another start has others."""
        self.frames = FrameCache()
        self.player = Player()

    def close(self) -> None:
        """Removes what was written beside the picks file."""
        self.player.close()

    def item(self, number: int) -> Item:
        """The item of a number, from 0; the request is answered with 404 if there is none."""
        if not 0 <= number < len(self.items):
            raise HTTPException(404, f"There is no item {number + 1}.")
        return self.items[number]

    def video(self, number: int) -> Path:
        """The video of an item; the request is answered with 404 if it cannot be shown."""
        item = self.item(number)
        if item.problem or item.video is None:
            raise HTTPException(404, f"The video cannot be shown: {item.problem}")
        return item.video

    def grid(self, number: int) -> Frames[bytes]:
        """The frames of an item; the request is answered with 404 if it cannot be shown."""
        try:
            return self.frames.get(self.video(number))
        except VideoError as error:
            raise HTTPException(404, f"The video cannot be shown: {error}") from None

    def describe(self, decision: Decision | None) -> dict[str, Any]:
        """A decision as the page reads it."""
        if decision is None:
            return {"state": "open", "frame": None, "skip": None}
        return {"state": decision.state, "frame": decision.frame, "skip": decision.skip}


def create_app(workplace: Workplace) -> FastAPI:
    """Builds the application.

    Args:
        workplace: what it works on.

    Returns:
        The application, guarded.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        # A process that is asked to end does not get past the server's own end.
        workplace.close()

    app = FastAPI(
        title="Handpick", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.add_middleware(Guard, token=workplace.token)
    numbers = {item.id: number for number, item in enumerate(workplace.items)}

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        places = ", ".join(str(fault["loc"][-1]) for fault in error.errors())
        return JSONResponse({"detail": f"The request is not as expected: {places}."}, 422)

    @app.exception_handler(PicksError)
    async def refused(request: Request, error: PicksError) -> Response:
        return JSONResponse({"detail": str(error)}, 422)

    @app.exception_handler(OSError)
    async def unwritten(request: Request, error: OSError) -> Response:
        reason = error.strerror or type(error).__name__
        return JSONResponse({"detail": f"Not saved to {workplace.log.path}: {reason}."}, 507)

    @app.get("/")
    def page() -> Response:
        text = _asset("page.html").replace("{{token}}", workplace.token)
        return Response(text, media_type="text/html", headers={"Cache-Control": "no-store"})

    @app.get("/{name}.{suffix}")
    def asset(name: str, suffix: str) -> Response:
        media_type = _ASSETS.get(f"{name}.{suffix}")
        if media_type is None:
            raise HTTPException(404, "There is no such page.")
        text = _asset(f"{name}.{suffix}")
        return Response(text, media_type=media_type, headers={"Cache-Control": "no-store"})

    @app.get("/api/session")
    def session(annotator: Annotated[str | None, Query(max_length=256)] = None) -> Response:
        who = clean_annotator(annotator or workplace.annotator)
        workplace.log.refresh()
        decided = workplace.log.of(who)
        states = [
            "broken" if item.problem else decided[item.id].state if item.id in decided else "open"
            for item in workplace.items
        ]
        return _json(
            {
                "benchmark": workplace.benchmark,
                "file": workplace.log.path.name,
                "start": workplace.start,
                "annotator": who,
                "annotators": sorted({who, *workplace.log.annotators()}),
                "items": [
                    {"id": item.id, "task": item.task, "state": state}
                    for item, state in zip(workplace.items, states, strict=True)
                ],
            }
        )

    @app.get("/api/items/{number}")
    def show(number: int, annotator: Annotated[str, Query(max_length=256)]) -> Response:
        item = workplace.item(number)
        who = clean_annotator(annotator)
        workplace.log.refresh()
        shown: dict[str, Any] = {
            "number": number,
            "id": item.id,
            "task": item.task,
            "question": item.question,
            "options": item.options,
            "decision": workplace.describe(workplace.log.of(who).get(item.id)),
            "problem": "",
            "frames": [],
        }
        try:
            grid = workplace.grid(number)
        except HTTPException as error:
            return _json({**shown, "problem": str(error.detail)})
        shown["n_frames"] = grid.n_frames
        shown["frames"] = [
            {"frame": frame, "seconds": seconds}
            for frame, seconds in zip(grid.indices, grid.seconds, strict=True)
        ]
        return _json(shown)

    @app.get("/api/items/{number}/answer")
    def answer(number: int) -> Response:
        return _json({"answer": workplace.item(number).answer})

    @app.get("/frames/{number}/{position}")
    def frame(number: int, position: int) -> Response:
        pictures = workplace.grid(number).pictures
        if not 0 <= position < len(pictures):
            raise HTTPException(404, f"There is no frame {position + 1}.")
        headers = {"Cache-Control": "private, max-age=3600"}
        return Response(pictures[position], media_type="image/jpeg", headers=headers)

    @app.get("/video/{number}")
    def video(number: int, convert: bool = False) -> Response:
        try:
            path, media_type = workplace.player.file(workplace.video(number), convert=convert)
        except VideoError as error:
            raise HTTPException(404, f"The video cannot be shown: {error}") from None
        # Answers to range requests, which players need to seek.
        headers = {"Cache-Control": "private, max-age=3600"}
        return FileResponse(path, media_type=media_type, headers=headers)

    @app.post("/api/pick")
    def pick(request: PickRequest) -> Response:
        item, who = workplace.item(request.item), clean_annotator(request.annotator)
        grid = workplace.grid(request.item)
        if request.position >= len(grid.indices):
            raise HTTPException(422, f"There is no frame {request.position + 1}.")
        place = request.position
        made = Decision(who, item.id, grid.indices[place], grid.n_frames, grid.seconds[place])
        workplace.log.record([made])
        return _json({"item": request.item, "decision": workplace.describe(made)})

    @app.post("/api/skip")
    def skip(request: SkipRequest) -> Response:
        item, who = workplace.item(request.item), clean_annotator(request.annotator)
        made = Decision(who, item.id, skip=clean_reason(request.reason))
        workplace.log.record([made])
        return _json({"item": request.item, "decision": workplace.describe(made)})

    @app.post("/api/undo")
    def undo(request: UndoRequest) -> Response:
        restored = workplace.log.undo(clean_annotator(request.annotator))
        if restored is None:
            return _json({"item": None, "id": None, "decision": None})
        # The file may hold items that are not in this sample.
        return _json(
            {
                "item": numbers.get(restored.id),
                "id": restored.id,
                "decision": workplace.describe(restored),
            }
        )

    @app.get("/api/agreement")
    def agreement() -> Response:
        workplace.log.refresh()
        found = agreements(workplace.log.decisions.values())
        return _json({"pairs": [{**vars(pair), "share": pair.share} for pair in found]})

    return app


def open_socket(port: int | None, preferred: int = 8765) -> socket.socket:
    """Listens on loopback.

    Args:
        port: the port wanted; None for `preferred`, or any free one where that is taken.
        preferred: what to try first without a wish.

    Returns:
        The listening socket.

    Raises:
        PicksError: if the port that was asked for is taken or not allowed.
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


def build_server(workplace: Workplace) -> uvicorn.Server:
    """Builds the server; its `run` takes the socket and ends when `should_exit` is set."""
    config = uvicorn.Config(
        create_app(workplace),
        log_level="warning",
        access_log=False,
        server_header=False,
        # A playing video holds its connection open.
        timeout_graceful_shutdown=1,
        proxy_headers=False,
        ws="none",
    )
    return uvicorn.Server(config)


def serve(workplace: Workplace, bound: socket.socket) -> None:
    """Serves the page until it is interrupted."""
    try:
        build_server(workplace).run(sockets=[bound])
    finally:
        workplace.close()
        bound.close()


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _json(content: Any) -> Response:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    headers = {"Cache-Control": "no-store"}
    return Response(text, media_type="application/json", headers=headers)
