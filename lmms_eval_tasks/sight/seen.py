"""The pictures that went to the model, for each question, by the thread that asked it.

A question begins when a task hands over its video (:func:`Ledger.asked`) and lasts until the same
thread asks the next one. What is caught in between belongs to it. If several questions were
asked before something is caught (a batch), or several are under way, nothing is attributed:
a guess is not data.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

from loguru import logger

ORDER_CHECKED = 20
"""Questions of each condition whose order of frames is checked, which needs a look at the clip."""
TAGGED = 256
"""Requests that are remembered until they leave."""

Key = tuple[str, str, str, str]
How = Literal["", "generate", "tower", "request"]
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture that a model got.

    Attributes:
        digest: The same for the same pixels, in one run.
        cells: Mean of each color in each of 4x4 parts, in the model's own unit, as 48 numbers;
            empty unless the order is checked.
    """

    digest: int
    cells: tuple[float, ...] = ()


@dataclass(frozen=True)
class Question:
    """What was asked.

    Attributes:
        key: Benchmark, split, condition and id of the document.
        shown: Frames that its condition shows; None for a video as it is.
        paths: The files that were handed over.
    """

    key: Key
    shown: int | None
    paths: tuple[str, ...]


@dataclass(eq=False)
class Span:
    """The time between one question and the next, in one thread.

    Attributes:
        questions: What was asked; several if a batch was put together.
        detailed: Whether the order of the pictures is checked.
        pictures: What was caught, in order.
        how: Where it was caught; empty if nothing was.
        known: Whether what was caught could be read.
    """

    questions: list[Question]
    detailed: bool
    pictures: list[Picture] = field(default_factory=list)
    how: How = ""
    known: bool = True

    @property
    def told(self) -> bool:
        """Whether the pictures are known to be those of one question."""
        return bool(self.how) and self.known and len(self.questions) == 1

    def observe(self, pictures: Sequence[Picture] | None, how: How) -> None:
        """Note what a model got.

        Args:
            pictures: The pictures, in order; None if they cannot be told apart.
            how: Where they were caught. A vision tower may be called several times for one
                question; a request that is sent again has to be the same.
        """
        if how == "tower":
            if self.how == "generate" and self.pictures:
                return
            self.pictures += pictures or ()
        elif not self.pictures:
            self.pictures = list(pictures or ())
        elif pictures and _digests(pictures) != _digests(self.pictures):
            self.known = False
        self.known = self.known and pictures is not None
        self.how = self.how if self.how and not pictures else how


def _digests(pictures: Iterable[Picture]) -> list[int]:
    return [picture.digest for picture in pictures]


class Ledger:
    """What was asked and what was caught, in this process."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._lock = threading.Lock()
        self._open: dict[int, Span] = {}
        self._tagged: OrderedDict[int, tuple[Any, Span]] = OrderedDict()
        self._tags = False
        self._checked: Counter[str] = Counter()
        self._spans: dict[Key, list[Span]] = {}

    def asked(self, question: Question) -> None:
        """Note that a question is put together in this thread."""
        with self._lock:
            thread = threading.get_ident()
            span = self._open.get(thread)
            if span is None or span.how:
                condition = question.key[2]
                detailed = self._checked[condition] < ORDER_CHECKED
                self._checked[condition] += 1
                span = self._open[thread] = Span([], detailed)
            last = span.questions[-1] if span.questions else None
            if last and last.key == question.key:
                # A document with several clips.
                paths = tuple(dict.fromkeys((*last.paths, *question.paths)))
                another = len(paths) > len(last.paths)
                shown = last.shown if last.shown is not None else question.shown
                if another and shown is not None and question.shown is not None:
                    shown += question.shown
                span.questions[-1] = Question(question.key, shown, paths)
                return
            span.questions.append(question)
            spans = self._spans.setdefault(question.key, [])
            if not any(each is span for each in spans):
                spans.append(span)

    def asked_before(self, key: Key) -> None:
        """Count a question that an earlier process asked among those whose order is checked."""
        with self._lock:
            self._checked[key[2]] += 1

    def current(self) -> Span | None:
        """Return what this thread is asking."""
        return self._open.get(threading.get_ident())

    def tag(self, contents: Sequence[Any], paths: Iterable[str]) -> None:
        """Remember whose request a list of messages is, until it leaves, maybe in another thread.

        Args:
            contents: The parts of each message.
            paths: The video files in it, of which a question that was asked must know all.
        """
        with self._lock:
            self._tags = True
            span = self._open.get(threading.get_ident())
            if span is None or span.how or len(span.questions) != 1:
                return
            if not set(paths) <= set(span.questions[0].paths):
                return
            del self._open[threading.get_ident()]
            for content in contents:
                self._tagged[id(content)] = content, span
            while len(self._tagged) > TAGGED:
                self._tagged.popitem(last=False)

    def sent(self, contents: Sequence[Any]) -> Span | None:
        """Return whose request leaves: the one it was tagged for, else the only one under way.

        A client that tags its requests tags all of them: one without a tag is sent again.
        """
        with self._lock:
            found = [self._tagged.pop(id(content), None) for content in contents]
            spans = [each[1] for each in found if each]
            if spans or self._tags:
                return spans[0] if spans else None
            under_way = [span for span in self._open.values() if span.questions]
            return under_way[0] if len(under_way) == 1 else None

    def spans(self, key: Key) -> list[Span]:
        """Return every time that a question was asked; nothing is under way from now on."""
        self.settle()
        with self._lock:
            return list(self._spans.get(key, ()))

    def settle(self) -> None:
        """Attribute nothing more to what was asked so far."""
        with self._lock:
            self._open.clear()
            self._tagged.clear()


LEDGER = Ledger()
"""Of this process."""

_WARNED: set[str] = set()


def warn(sentence: str) -> None:
    """Log a sentence once in a process."""
    if sentence not in _WARNED:
        _WARNED.add(sentence)
        logger.warning(sentence)


def guarded(function: Callable[P, T]) -> Callable[P, T | None]:
    """Turn an error in a function into a warning: counting must never end a run."""

    @wraps(function)
    def watched(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            warn(
                f"frames_seen: {function.__module__.rpartition('.')[2]}.{function.__name__} "
                f"failed ({error!r}); what the model sees is not counted where it does."
            )
            return None

    return watched


def replace_once(owner: Any, name: str, before: Callable[..., Any]) -> None:
    """Put a call in front of a method of somebody else's class, once.

    Args:
        owner: The class.
        name: The method; if it is gone, a warning says so.
        before: Called with the method's arguments. It must not raise.
    """
    original = getattr(owner, name, None)
    if original is None:
        warn(
            f"frames_seen: {owner.__module__}.{owner.__name__} has no {name} in the installed "
            "version; what goes through it is not counted."
        )
        return
    if getattr(original, "sight", False):
        return

    @wraps(original)
    def watched(*args: Any, **kwargs: Any) -> Any:
        before(*args, **kwargs)
        return original(*args, **kwargs)

    watched.sight = True  # type: ignore[attr-defined]
    setattr(owner, name, watched)


def mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}
