"""Whether one item is right, as the task's own metric says.

A task's ``process_results`` returns a value per metric: a number, or a dict for the metric's
aggregation. A number is the item's score; a dict is asked for the task's ``score_key`` and then
for the names that tasks of the harness use. Where it has none of them, the metric's own
aggregation is run over that one item: the accuracy over one item is whether it is right. What
none of this can read is named, never guessed.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import numbers
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loguru import logger

__all__ = ["ItemScore", "Metric", "read_scores"]

SCORE_KEYS = (
    "score",
    "correct",
    "is_correct",
    "accuracy",
    "acc",
    "rating",
    "hit",
    "MRA:.5:.95:.05",
)
"""Names of an item's score in a metric's dict, after the task's own ``score_key``."""

EQUALS = " equals "
"""In the rule of a score that was found by comparing; it counts where the task's own agrees."""

_one_at_a_time = threading.Lock()

PAIRS = (
    ("pred", "ground_truth"),
    ("pred", "gt"),
    ("pred", "answer"),
    ("pred", "target"),
    ("prediction", "ground_truth"),
    ("prediction", "answer"),
    ("pred_answer", "answer"),
    ("pred_answer", "gt_answer"),
    ("parsed_pred", "answer"),
    ("pred_id", "answer_id"),
)
"""Names under which a metric's dict holds what was answered and what is right."""


@dataclass(frozen=True)
class Metric:
    """One metric of a task.

    Attributes:
        name: as in ``metric_list`` and in what ``process_results`` returns.
        aggregation: from the items' values to the metric; None where the harness names it.
    """

    name: str
    aggregation: Callable[..., Any] | None = None


@dataclass(frozen=True)
class ItemScore:
    """One metric's word on one item.

    Attributes:
        value: 0 or more, as the metric counts (1 or 100 for right); None where it says nothing.
        rule: how it was read, or what was seen instead.
    """

    value: float | None
    rule: str


def read_scores(
    returned: Mapping[str, Any], metrics: Sequence[Metric], score_key: str = "score"
) -> dict[str, ItemScore]:
    """What each metric says of one item.

    Args:
        returned: what the task's ``process_results`` returned.
        metrics: the task's metrics, in its order.
        score_key: the task's name for an item's score.

    Returns:
        Metric -> score, for the metrics that the item has a value for.
    """
    here = [metric for metric in metrics if metric.name in returned]
    scores = {metric.name: _plain(returned[metric.name], score_key) for metric in here}
    if any(score is not None for score in scores.values()):
        # One metric says it plainly; counts and the like beside it need not be asked.
        return {
            name: score or ItemScore(None, f"saw {_described(returned[name])}")
            for name, score in scores.items()
        }
    return {metric.name: _asked(returned[metric.name], metric) for metric in here}


def _plain(value: Any, score_key: str) -> ItemScore | None:
    """The score that a value holds; None where it holds none."""
    number = _number(value)
    if number is not None:
        return ItemScore(number, "number")
    if isinstance(value, Mapping):
        for key in dict.fromkeys((score_key, *SCORE_KEYS)):
            number = _number(value.get(key))
            if number is not None:
                return ItemScore(number, f"key {key}")
    return None


def _asked(value: Any, metric: Metric) -> ItemScore:
    """The score that the metric's aggregation gives a value."""
    if value is None or value == {}:
        return ItemScore(None, "nothing")
    number = _alone(value, metric.aggregation)
    if number is not None:
        return ItemScore(number, "aggregation over the one item")
    if isinstance(value, Mapping):
        for answered, right in PAIRS:
            if _is_answer(value.get(answered)) and _is_answer(value.get(right)):
                equal = str(value[answered]).strip() == str(value[right]).strip()
                return ItemScore(float(equal), f"{answered}{EQUALS}{right}")
    return ItemScore(None, f"saw {_described(value)}")


def _is_answer(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and str(value) != ""


def _alone(value: Any, aggregation: Callable[..., Any] | None) -> float | None:
    """The metric over one item; None where it has no such number, or would write files."""
    if aggregation is None:
        return None
    try:
        if len(inspect.signature(aggregation).parameters) != 1:
            return None  # it takes the run's arguments: it writes a submission file
        with _quiet(aggregation):
            return _number(aggregation([value]))
    except (Exception, SystemExit):  # made for many items; that it fails over one says nothing
        return None


@contextlib.contextmanager
def _quiet(function: Callable[..., Any]) -> Iterator[None]:
    """Keeps what a function says of one item from being said for each of thousands.

    The harness scores in several threads, and the standard output is one for all of them.
    """
    module = str(getattr(inspect.unwrap(function), "__globals__", {}).get("__name__") or "")
    with _one_at_a_time, contextlib.redirect_stdout(io.StringIO()):
        if module:
            logger.disable(module)
        try:
            yield
        finally:
            if module:
                logger.enable(module)


def _number(value: Any) -> float | None:
    """A finite number, 0 or more; None for everything else."""
    if not isinstance(value, (numbers.Real, bool)) and type(value).__module__ != "numpy":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _described(value: Any) -> str:
    """A value's shape in words, for a person who has to find the score in it."""
    if isinstance(value, Mapping):
        names = ", ".join(str(name) for name in list(value)[:8])
        return f"a dict with {names}" + (", ..." if len(value) > 8 else "")
    return f"a value of type {type(value).__name__}"
