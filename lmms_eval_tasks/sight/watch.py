"""From the tasks' questions to what a model saw of them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from video_reasoning.tasks.sight import caught, requests, tower
from video_reasoning.tasks.sight.clips import frames_shown, in_order, read_clip
from video_reasoning.tasks.sight.seen import LEDGER, Key, Question, Span, guarded, warn

VARIABLE = "VIDEO_REASONING_SIGHT"
"""Environment variable; ``off`` counts nothing."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Sight:
    """What a model saw of a question.

    Attributes:
        shown: Different frames that the condition shows; None for a video as it is, whose
            frames the model chooses, and if nothing is known.
        seen: Different frames that reached the model; None if that cannot be told.
        ordered: Whether they came in the clip's order; None if that was not checked.
    """

    shown: int | None = None
    seen: int | None = None
    ordered: bool | None = None

    @property
    def differs(self) -> bool:
        """Whether the model is known to have seen something else than what was shown."""
        known = self.shown is not None and self.seen is not None
        return (known and self.shown != self.seen) or self.ordered is False


def asked(show: Callable[P, T]) -> Callable[P, T]:
    """Note every question that a function hands a video over for.

    Args:
        show: A function of ``benchmark``, ``document`` and ``condition`` that returns the paths
            of what it shows.
    """
    signature = inspect.signature(show)

    @wraps(show)
    def watched(*args: P.args, **kwargs: P.kwargs) -> T:
        visuals = show(*args, **kwargs)
        handed: Any = visuals
        if not _SILENT.get():
            given = signature.bind(*args, **kwargs).arguments
            condition = given.get("condition")
            shown = None if condition is None else condition.m
            note(given["benchmark"], given["document"], shown, handed)
        return visuals

    return watched


_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def silent() -> Iterator[None]:
    """Let no function that shows a video note it: an audit asks what it shows by itself."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


@contextmanager
def watching(questions: int) -> Iterator[None]:
    """Let a model answer so many questions until the block is left; of one, all that is caught."""
    install()
    with caught.singly() if questions == 1 else nullcontext():
        yield


@guarded
def install() -> None:
    """Watch all that is loaded, unless a user has turned it off."""
    if not _off():
        requests.install()
        tower.install()


def _off() -> bool:
    return os.environ.get(VARIABLE, "").lower() == "off"


@guarded
def note(
    benchmark: str, document: Mapping[str, Any], shown: int | None, visuals: Iterable[Any]
) -> None:
    """Note that a question is asked in this thread.

    Args:
        benchmark: Name of the benchmark, or of an audit's task.
        document: Its ``id``, ``split`` and ``condition`` name the question.
        shown: Frames that its condition shows; None for a video as it is.
        visuals: What is handed over, of which paths are looked at.
    """
    if _off():
        return
    install()
    paths = tuple(str(each) for each in visuals if isinstance(each, (str, Path)))
    LEDGER.asked(Question(key_of(benchmark, document), shown, paths))


def key_of(benchmark: str, document: Mapping[str, Any]) -> Key:
    """Return what a document is known by."""
    names = ("split", "condition", "id")
    split, condition, id_ = (str(document.get(name) or "") for name in names)
    return benchmark, split, condition, id_


def sight_of(benchmark: str, document: Mapping[str, Any]) -> Sight:
    """Return what the model saw of a document, for ``process_results``. Never raises."""
    found = _sight(benchmark, document) or Sight()
    if found.differs:
        warn(
            "frames_seen: the model did not get the frames that were shown; the first such item "
            f"is {benchmark} {document.get('id')} {document.get('condition') or ''} "
            f"(shown {found.shown}, seen {found.seen}, in order: {found.ordered}). Each item's "
            "line of the sample log has its own numbers."
        )
    return found


def remember(benchmark: str, document: Mapping[str, Any], sight: Sight) -> None:
    """Note what a model saw of a document that an earlier process asked."""
    key = key_of(benchmark, document)
    if key not in _REMEMBERED and sight != Sight():
        _REMEMBERED[key] = sight
        LEDGER.asked_before(key)


_REMEMBERED: dict[Key, Sight] = {}


@guarded
def _sight(benchmark: str, document: Mapping[str, Any]) -> Sight:
    spans = LEDGER.spans(key_of(benchmark, document))
    if not spans:
        return _REMEMBERED.get(key_of(benchmark, document), Sight())
    each = {_sight_of_span(span, document) for span in spans}
    if len(each) == 1:
        return each.pop()
    # Asked several times: known only if each time is, and all agree.
    shown = {one.shown for one in each}
    seen = {one.seen for one in each}
    order = {one.ordered for one in each}
    return Sight(
        shown.pop() if len(shown) == 1 else None,
        seen.pop() if len(seen) == 1 else None,
        False if False in order else True if True in order else None,
    )


def _sight_of_span(span: Span, document: Mapping[str, Any]) -> Sight:
    key = key_of("", document)[1:]
    (question,) = (each for each in span.questions if each.key[1:] == key)
    if not span.told:
        return Sight(question.shown)
    seen = len({picture.digest for picture in span.pictures})
    shown, ordered = question.shown, None
    if shown and len(question.paths) == 1 and (seen < shown or (span.detailed and shown > 1)):
        clip = read_clip(Path(question.paths[0]))
        if clip is not None:
            shown = frames_shown(clip, shown, seen)
            ordered = in_order(span.pictures, clip.cells) if span.detailed else None
    return Sight(shown, seen, ordered)
