"""Clips that are asked for: gathered before they are made, and heard of when they are needed.

What a question shows is decided by its task's own functions. To make clips ahead of a model,
these functions are called in a block of `gathered`, in which `clip_for` only notes what it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from video_reasoning.preprocessing.conditions import Clock, Condition

Span = tuple[float, float]
"""A part of a video in seconds from its first frame, the end excluded; the end may be infinite."""

Hear = Callable[["Wanted", bool], None]
"""Called with a clip that is needed, and whether it has to be made first."""


@dataclass(frozen=True)
class Wanted:
    """A clip that is asked for, as `clip_for` is asked.

    Attributes:
        source: The video.
        condition: What is shown of it.
        key: Names the draw of the condition.
        clips: Folder of clips.
        pick: The handpicked frame, if there is one.
        span: The part of the video; None for all of it.
        together: Conditions whose clips are made from the same decode.
        clock: When its frames are shown.
        repeat: How often each frame is in the clip that is handed over.
    """

    source: Path
    condition: Condition
    key: str
    clips: Path
    pick: int | None = None
    span: Span | None = None
    together: tuple[Condition, ...] = ()
    clock: Clock = "source"
    repeat: int = 1


_GATHERED: ContextVar[list[Wanted] | None] = ContextVar("gathered", default=None)
_HEARING: list[Hear] = []


@contextmanager
def gathered() -> Iterator[list[Wanted]]:
    """Gather the clips that this thread asks for in the block; none is looked for or made.

    Yields:
        The clips asked for so far, in order.
    """
    found: list[Wanted] = []
    before = _GATHERED.set(found)
    try:
        yield found
    finally:
        _GATHERED.reset(before)


def is_gathering() -> bool:
    """Tell whether this thread only gathers what is asked for."""
    return _GATHERED.get() is not None


def repeat_gathered(times: int) -> None:
    """Note that each frame of the clips gathered so far is handed over several times."""
    found = _GATHERED.get() or []
    found[:] = [replace(each, repeat=times) for each in found]


def gather(wanted: Wanted) -> bool:
    """Note a clip that is asked for, if this thread only gathers; return whether it does."""
    found = _GATHERED.get()
    if found is not None:
        found.append(wanted)
    return found is not None


@contextmanager
def heard_by(hear: Hear) -> Iterator[None]:
    """Call a function with every clip that any thread needs, once it was looked for."""
    _HEARING.append(hear)
    try:
        yield
    finally:
        _HEARING.remove(hear)


def need(wanted: Wanted, *, missing: bool) -> None:
    """Let those hear of a needed clip who want to."""
    for hear in _HEARING:
        hear(wanted, missing)
