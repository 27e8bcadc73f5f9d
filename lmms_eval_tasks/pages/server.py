"""The local server: one process, one user at a time per annotator, nothing but loopback.

It answers to loopback names only (a page of another site that points its own name here is refused
by the Host header), takes changes only from its own page (Origin, and a token drawn at each
start), takes small JSON only, and serves files by the number of an item, never by name.
"""

from __future__ import annotations

import os
import secrets
import socket
from abc import ABC, abstractmethod
from asyncio import Transport
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Protocol, TypeVar

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response
from jinja2 import Environment, FunctionLoader, StrictUndefined
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from video_reasoning.preprocessing.frames import Frames
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.pages.frames import FrameCache, Player
from video_reasoning.tasks.pages.journal import (
    LONGEST_NAME,
    LONGEST_REASON,
    D,
    Journal,
    PageError,
    clean_annotator,
    clean_reason,
)

ADDRESS = "127.0.0.1"
"""The only address that the server listens on."""

HEADER_SECONDS = 10.0
"""How long a connection may take until its first request is whole."""

TOKEN_HEADER = "x-page-token"

_HERE = "video_reasoning.tasks.pages"
_SHARED = {"page.css": "text/css", "common.js": "text/javascript"}
_OWN = {"page.js": "text/javascript"}
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
KEPT = {"Cache-Control": "private, max-age=3600"}
"""Headers of what a browser may keep: addresses contain the server's start."""

Annotator = Annotated[str, Field(max_length=4 * LONGEST_NAME), AfterValidator(clean_annotator)]
Reason = Annotated[str, Field(max_length=4 * LONGEST_REASON), AfterValidator(clean_reason)]


class UndoRequest(BaseModel):
    """The annotator's latest decision taken back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    annotator: Annotator


class ItemRequest(UndoRequest):
    """A decision on an item, named by its number from 0."""

    item: int = Field(ge=0)


class SkipRequest(ItemRequest):
    """An item skipped, and why."""

    reason: Reason


class Guard:
    """Refuses what does not come from the page itself, before anything reads it.

    Args:
        app: The application behind.
        token: What a request that changes something must carry.
        largest_body: Bytes of a request's body, at most.
    """

    def __init__(self, app: ASGIApp, token: str, largest_body: int) -> None:
        self.app = app
        self.token = token
        self.largest_body = largest_body

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
        if len(digits) > 10 or int(digits or 0) > self.largest_body:
            return 413, "The request is too large."
        return None


class Shown(Protocol):
    """An item of a page."""

    @property
    def id(self) -> str:
        """What the page calls it."""

    @property
    def task(self) -> str:
        """What kind of item it is."""

    @property
    def video(self) -> Path | None:
        """The video that it is about."""

    @property
    def problem(self) -> str:
        """Why the video cannot be shown, or the empty text."""


S = TypeVar("S", bound=Shown)


class Workplace(ABC, Generic[S, D]):
    """Everything that a page works on.

    Args:
        items: The items, whose numbers are their places here.
        log: The file of decisions.
        title: What the page says it is about.
        annotator: Name that a new page begins with.
    """

    package: ClassVar[str]
    """Where the page's own ``page.html`` and ``page.js`` are."""
    largest_body: ClassVar[int] = 4096

    def __init__(self, items: Sequence[S], log: Journal[D], title: str, annotator: str) -> None:
        self.items = items
        self.log: Any = log
        self.title = title
        self.annotator = annotator
        self.token = secrets.token_urlsafe(32)
        self.start = secrets.token_hex(4)
        """Part of the pictures' addresses: browsers keep them, and another start has others."""
        self.frames = FrameCache()
        self.player = Player()

    # What a page adds

    @abstractmethod
    def key(self, item: S, annotator: str) -> Hashable:
        """Return the key of an annotator's decisions on an item."""

    @abstractmethod
    def seen(self, decision: D | None) -> dict[str, Any]:
        """Return a decision as the page reads it, with its ``state``."""

    @abstractmethod
    def skipped(self, item: S, annotator: str, reason: str) -> D:
        """Return the decision to skip an item."""

    def order(self, annotator: str) -> Sequence[int]:
        """Return the numbers of an annotator's items, in the order in which they come."""
        return range(len(self.items))

    def states(self, annotator: str) -> Mapping[int, str]:
        """Return state by number of the items that are neither open nor decided."""
        return {n: "broken" for n, item in enumerate(self.items) if item.problem}

    def frame_rule(self, item: S) -> Callable[[int], Sequence[int]] | None:
        """Return which frames of an item are shown; None for the usual 16."""
        return None

    # What all have

    def close(self) -> None:
        """Remove what was written beside the file."""
        self.player.close()

    def item(self, number: int) -> S:
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

    def playable(self, number: int) -> Path:
        """Return the video to play for an item; see :meth:`video`."""
        return self.video(number)

    def grid(self, number: int) -> Frames[bytes]:
        """Return the frames of an item; see :meth:`video`."""
        path = self.video(number)
        return self.frames.get(path, self.frame_rule(self.item(number)))

    def record(self, number: int, decision: D) -> dict[str, Any]:
        """Save a decision, and return the answer to the page."""
        self.log.record([decision])
        return {"item": number, "decision": self.seen(decision)}

    def decided(self, number: int, annotator: str) -> dict[str, Any]:
        """Return what an annotator decided for an item, as the page reads it."""
        return self.seen(self.log.decisions.get(self.key(self.item(number), annotator)))

    def page(self) -> str:
        """Return the page's HTML."""

        def load(name: str) -> str:
            own = name == "page.html"
            return asset(self.package if own else _HERE, name if own else f"templates/{name}")

        made = Environment(
            loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined
        ).get_template("page.html")
        return made.render(token=self.token)


def asset(package: str, name: str) -> str:
    """Return the text of a file that belongs to a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def guarded_app(
    workplace: Any,
    routers: Iterable[APIRouter],
    refusals: Mapping[type[Exception], tuple[int, Callable[[Any], str]]],
    *,
    token: str,
    largest_body: int,
) -> FastAPI:
    """Build an application behind the :class:`Guard`.

    Args:
        workplace: What :func:`workplace_of` returns to the routes; closed when the server ends.
        routers: The routes.
        refusals: Kind of error -> the status that answers it, and what makes its sentence.
        token: See :class:`Guard`.
        largest_body: See :class:`Guard`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        # A process that is asked to end does not get past the server's own end.
        workplace.close()

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan)
    app.state.workplace = workplace
    app.add_middleware(Guard, token=token, largest_body=largest_body)
    for router in routers:
        app.include_router(router)

    def answer_with(kind: type[Exception], status: int, sentence: Callable[[Any], str]) -> None:
        @app.exception_handler(kind)
        async def refused(request: Request, error: Exception) -> Response:
            return JSONResponse({"detail": sentence(error)}, status)

    for kind, (status, sentence) in refusals.items():
        answer_with(kind, status, sentence)
    return app


def create_app(workplace: Workplace[Any, Any], *routers: APIRouter) -> FastAPI:
    """Build a page's application: what all pages have, and its own routes."""

    def invalid(error: Any) -> str:
        places = ", ".join(str(fault["loc"][-1]) for fault in error.errors())
        return f"The request is not as expected: {places}."

    def unwritten(error: Any) -> str:
        return f"Not saved to {workplace.log.path}: {error.strerror or type(error).__name__}."

    return guarded_app(
        workplace,
        (_router, *routers),
        {
            RequestValidationError: (422, invalid),
            UserError: (422, str),
            VideoError: (404, unseen),
            OSError: (507, unwritten),
        },
        token=workplace.token,
        largest_body=workplace.largest_body,
    )


_router = APIRouter()


def workplace_of(request: Request) -> Any:
    """Return the workplace of the application that a request came to."""
    return request.app.state.workplace


Place = Annotated[Any, Depends(workplace_of)]


def unseen(error: VideoError) -> str:
    """Say that a video cannot be shown."""
    return f"The video cannot be shown: {error}"


@_router.get("/")
def _page(workplace: Place) -> Response:
    return Response(workplace.page(), media_type="text/html")


@_router.get("/{name}.{suffix}")
def _file(workplace: Place, name: str, suffix: str) -> Response:
    file = f"{name}.{suffix}"
    if file in _SHARED:
        return Response(asset(_HERE, file), media_type=_SHARED[file])
    if file in _OWN:
        return Response(asset(workplace.package, file), media_type=_OWN[file])
    raise HTTPException(404, "There is no such page.")


@_router.get("/api/session")
def _session(
    workplace: Place, annotator: Annotated[str | None, Query(max_length=4 * LONGEST_NAME)] = None
) -> dict[str, Any]:
    who = clean_annotator(annotator or workplace.annotator)
    workplace.log.refresh()
    decisions, states = workplace.log.decisions, workplace.states(who)

    def state(number: int) -> str:
        found = decisions.get(workplace.key(workplace.items[number], who))
        return states.get(number) or (found.state if found else "open")

    return {
        "benchmark": workplace.title,
        "file": workplace.log.path.name,
        "start": workplace.start,
        "annotator": who,
        "annotators": sorted({who, *workplace.log.annotators()}),
        "items": [
            {
                "number": number,
                "id": workplace.items[number].id,
                "task": workplace.items[number].task,
                "state": state(number),
            }
            for number in workplace.order(who)
        ],
    }


@_router.get("/frames/{number}/{position}")
def _frame(workplace: Place, number: int, position: int) -> Response:
    pictures = workplace.grid(number).pictures
    if not 0 <= position < len(pictures):
        raise HTTPException(404, f"There is no frame {position + 1}.")
    return Response(pictures[position], media_type="image/jpeg", headers=KEPT)


@_router.get("/video/{number}")
def _video(workplace: Place, number: int, convert: bool = False) -> Response:
    path, media_type = workplace.player.file(workplace.playable(number), convert=convert)
    # Answers to range requests, which players need to seek.
    return FileResponse(path, media_type=media_type, headers=KEPT)


@_router.post("/api/skip")
def _skip(workplace: Place, request: SkipRequest) -> dict[str, Any]:
    item = workplace.item(request.item)
    decision = workplace.skipped(item, request.annotator, request.reason)
    found: dict[str, Any] = workplace.record(request.item, decision)
    return found


@_router.post("/api/undo")
def _undo(workplace: Place, request: UndoRequest) -> dict[str, Any]:
    restored = workplace.log.undo(request.annotator)
    if restored is None:
        return {"item": None, "id": None, "decision": None}
    # The file may have items that are not among this session's.
    numbers = {
        workplace.key(workplace.items[n], request.annotator): n
        for n in workplace.order(request.annotator)
    }
    return {
        "item": numbers.get(restored.key),
        "id": restored.id,
        "decision": workplace.seen(restored),
    }


def open_socket(port: int | None, preferred: int = 8765) -> socket.socket:
    """Listen on loopback.

    Args:
        port: The port wanted; None for `preferred`, or any free one if that is taken.
        preferred: What to try first if no port is wanted.

    Returns:
        The listening socket.

    Raises:
        PageError: If the port that was asked for is taken or not allowed.
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
    raise PageError(
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


def build_server(app: FastAPI) -> uvicorn.Server:
    """Build the server; its `run` takes the socket and ends when `should_exit` is set."""
    config = uvicorn.Config(
        app,
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


def serve(app: FastAPI, bound: socket.socket) -> None:
    """Serve the page until it is interrupted."""
    try:
        build_server(app).run(sockets=[bound])
    finally:
        app.state.workplace.close()
        bound.close()
