"""Clips made ahead of the model: it must not wait for what could have been done before.

A task's ``doc_to_visual`` runs in the model's thread, and makes the clips of its frames there. So
while a model answers, the questions that come next are looked at in other threads, and their clips
made in processes of their own, which a decoder that dies takes along and nothing else. What is made
does not depend on who makes it. What fails is forgotten: the question itself makes it again, and
says what is wrong.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from video_reasoning.preprocessing.children import Children, deaf
from video_reasoning.preprocessing.clips import make_wanted
from video_reasoning.preprocessing.wanted import Wanted, gathered, heard_by
from video_reasoning.tasks import sight
from video_reasoning.tasks.models import quirks

__all__ = ["ahead_of", "all_ours", "clips_of"]

_OURS = "video_reasoning."
_MOST_WORKERS = 4
_TRIES = 8
"""Questions of a task without a clip, or calls without an outcome, in a row: after them no more."""
_PATIENCE_SECONDS = 10.0


def clips_of(show: Callable[[Any], Any], document: Mapping[str, Any]) -> list[Wanted]:
    """Return the clips that a task's function would make for a document; nothing is made.

    Args:
        show: ``doc_to_visual`` or ``doc_to_messages``.
        document: The question.

    Returns:
        The clips; those found until it failed, if it does.
    """
    with gathered() as found, sight.silent(), contextlib.suppress(Exception, SystemExit):
        show(document)
    return found


@contextlib.contextmanager
def ahead_of(lm: Any, instances: Sequence[Any]) -> Iterator[None]:
    """Make the clips of requests before the model asks for them, for as long as the block runs.

    Nothing is done before a first clip is missing.

    Args:
        lm: The harness's model.
        instances: The requests, in the order in which they are answered.
    """
    questions = quirks.ahead_by_user()
    ours = [each for each in instances if _is_ours(_function(each))] if questions else []
    if not ours:
        yield
        return
    ahead = _Ahead(lm, ours, questions)
    try:
        with heard_by(ahead.hear):
            yield
    finally:
        ahead.stop()


def all_ours(instances: Sequence[Any]) -> bool:
    """Tell whether all requests show something through this package, as an audit's do."""
    return all(_is_ours(_function(each)) for each in instances)


def _function(instance: Any) -> Any:
    """Return ``doc_to_messages`` or ``doc_to_visual`` of a request."""
    return next((each for each in instance.args if callable(each)), None)


def _is_ours(function: Any) -> bool:
    """Tell whether a task shows something through this package.

    Another's functions are not called in threads that they do not know of.
    """
    config = getattr(getattr(function, "__self__", None), "config", None)
    shows = (getattr(config, name, None) for name in ("doc_to_messages", "doc_to_visual"))
    return any(str(getattr(each, "__module__", "")).startswith(_OURS) for each in shows)


class _Ahead:
    """Threads that go through the requests, each with a process that makes clips.

    Args:
        lm: The harness's model.
        instances: The requests.
        questions: How many of them to be ahead.
    """

    def __init__(self, lm: Any, instances: Sequence[Any], questions: int) -> None:
        self._lm = lm
        self._questions = questions
        self._children = Children()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._left = iter(instances)
        self._needed: set[Hashable] = set()  # clips that the model has asked for
        self._waiting: set[Hashable] = set()  # clips that it has not asked for yet
        self._taken: set[Hashable] = set()  # clips that somebody makes, or has made
        self._without: dict[str, int] = {}  # task -> requests in a row that need no clip
        self._failed = 0
        self._stopped = False

    def hear(self, wanted: Wanted, missing: bool) -> None:
        """Note that the model needs a clip; if it is missing, it is being made now."""
        with self._changed:
            names = _names(wanted)
            self._needed.add(names[0])
            self._waiting.discard(names[0])
            self._taken.update(names)
            if missing and not self._threads and not self._stopped:
                self._start()
            self._changed.notify_all()

    def _start(self) -> None:
        # No thread of the harness's waits for these, and no signal ends their processes alone.
        with deaf():
            for _ in range(_workers()):
                thread = threading.Thread(target=self._work, name="clips ahead", daemon=True)
                self._threads.append(thread)
                thread.start()

    def stop(self) -> None:
        """End the threads and their processes, whatever they do."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._children.stop()
        for thread in self._threads:
            thread.join(_PATIENCE_SECONDS)
        self._children.close()

    def _work(self) -> None:
        # Whatever happens here, the questions make their clips themselves.
        with contextlib.suppress(Exception):
            while (instance := self._take()) is not None:
                if wanted := self._unmade(instance):
                    reply = self._children.do(make_wanted, wanted)
                    with self._changed:
                        self._failed = 0 if reply.kind == "outcome" else self._failed + 1
                        self._stopped = self._stopped or self._failed >= _TRIES

    def _take(self) -> Any:
        """Wait until the model is near enough, and return the next request; None at the end."""
        with self._changed:
            while not self._stopped and len(self._waiting) >= self._questions:
                self._changed.wait()
            return None if self._stopped else next(self._left, None)

    def _unmade(self, instance: Any) -> list[Wanted]:
        """Return the clips of a request that nobody makes yet."""
        (*_, doc_id, task, split) = instance.args
        if self._without.get(task, 0) >= _TRIES:
            return []
        found = clips_of(_function(instance), self._lm.task_dict[task][split][doc_id])
        with self._changed:
            self._without[task] = 0 if found else self._without.get(task, 0) + 1
            unmade = []
            for wanted in found:
                names = _names(wanted)
                if names[0] not in self._needed:
                    self._waiting.add(names[0])
                if names[0] not in self._taken:
                    unmade.append(wanted)
                self._taken.update(names)
        return unmade


def _names(wanted: Wanted) -> list[Hashable]:
    """Name a clip, and those that are made together with it."""
    about = (wanted.source, wanted.key, wanted.pick, wanted.span, wanted.clock)
    return [(*about, condition) for condition in (wanted.condition, *wanted.together)]


def _workers() -> int:
    """Return how many clips to make at a time: this process's share of half of the processors."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "1")
    share = (os.cpu_count() or 1) // (2 * max(1, int(ranks) if ranks.isdecimal() else 1))
    return max(1, min(_MOST_WORKERS, share))
