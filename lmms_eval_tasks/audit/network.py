"""No aggregation of an audit sends anything anywhere.

Some tasks' aggregations post the answers to a public server. Under a condition these are answers
to other questions than the server is for. Aggregations that do it by their source are not run at
all; while the others run, a connection to another machine is refused and named.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import ipaddress
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

__all__ = ["NetworkBlockedError", "blocked_network", "sends", "writes_submission"]

_SENDERS = frozenset(
    ("requests", "httpx", "aiohttp", "urllib", "urlopen", "http", "socket", "gradio_client")
)
"""Names that a function uses if it talks to a server by itself."""

_WRITERS = frozenset(("generate_submission_file",))

_DEPTH = 4  # functions of one module that call one another


class NetworkBlockedError(BaseException):
    """Something tried to reach another machine.

    It is not an `Exception`: code that catches those and tries again does not get that far.
    """


_guarded: Counter[int] = Counter()
"""Threads that may not reach another machine -> how many blocks they are in."""

_inherited: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
"""Threads that a guarded one started."""


@contextlib.contextmanager
def blocked_network() -> Iterator[None]:
    """Refuse connections to other machines from this thread and those that it starts.

    Other threads go on: they may ask a model or a judge.
    """
    _install()
    me = threading.get_ident()
    _guarded[me] += 1
    try:
        yield
    finally:
        _guarded[me] -= 1


@lru_cache(maxsize=1)
def _install() -> None:
    sys.addaudithook(_watch)  # it cannot be removed again, and does nothing outside of a block
    start = threading.Thread.start

    @functools.wraps(start)
    def starting(thread: threading.Thread) -> None:
        if _is_guarded():
            _inherited.add(thread)
        start(thread)

    setattr(threading.Thread, "start", starting)  # noqa: B010


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        return
    address = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
    host = address[0] if isinstance(address, tuple) else address
    of_network = event == "socket.getaddrinfo" or isinstance(address, tuple)  # else a Unix socket
    if of_network and not _is_local(host) and _is_guarded():
        raise NetworkBlockedError(f"it tried to reach {_text(host)}")


def _is_guarded() -> bool:
    return _guarded[threading.get_ident()] > 0 or threading.current_thread() in _inherited


def _is_local(host: Any) -> bool:
    name = _text(host)
    if name in ("", "localhost"):
        return True
    try:
        return bool(ipaddress.ip_address(name).is_loopback)
    except ValueError:
        return False


def _text(host: Any) -> str:
    name: str = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "")
    return name


def sends(function: Callable[..., Any]) -> str:
    """Return what a function uses to talk to a server, by its source; "" if nothing is seen."""
    return _uses(function, _SENDERS)


def writes_submission(function: Callable[..., Any]) -> bool:
    """Return whether a function writes a file for a server, by its source."""
    return bool(_uses(function, _WRITERS))


def _uses(function: Callable[..., Any], names: frozenset[str]) -> str:
    todo, seen = [(inspect.unwrap(function), 0)], set()
    while todo:
        each, depth = todo.pop()
        code, around = getattr(each, "__code__", None), getattr(each, "__globals__", {})
        if code is None or code in seen:
            continue
        seen.add(code)
        used: set[str] = {name for inner in _codes(code) for name in inner.co_names}
        if found := sorted(used & names):
            return str(found[0])
        if depth < _DEPTH:
            called = (around.get(name) for name in used)
            # Functions of the task's own module; a library's are its own matter.
            todo += [
                (one, depth + 1) for one in called if getattr(one, "__globals__", None) is around
            ]
    return ""


def _codes(code: Any) -> Iterator[Any]:
    """Yield the code of a function and of those within it."""
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from _codes(constant)
