"""Whether one question is right, as the task's own metric says.

A task's ``process_results`` returns a value per metric: a number, or a dict for the metric's
aggregation. A number is the question's score; a dict is searched for the task's ``score_key`` and
then for the names that tasks of the harness use. If it has none of them, the metric's own
aggregation is run over that one question. That is the question's score only if a right question
gives the metric's maximum and a wrong one its minimum, which is tried where the dict names an
answer and its key: a macro average over seven kinds gives a right question a seventh. Then the
comparison of the two counts. What none of this can read is described, never guessed.
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

from video_reasoning.tasks.audit.harness import answer_key
from video_reasoning.tasks.audit.network import (
    NetworkBlockedError,
    blocked_network,
    sends,
    writes_submission,
)

__all__ = ["ItemScore", "Metric", "metrics_of", "read_scores"]

_SCORE_KEYS = (
    *("score", "correct", "is_correct", "accuracy", "acc", "rating", "hit", "overall"),
    *("MRA:.5:.95:.05", "judge_result"),
)
"""Names of a question's score in a metric's dict, after the task's own ``score_key``."""

_WORD_KEYS = ("correct", "correctness", "is_correct", "verdict", "judgement", "judgment")
_WORDS = {
    **dict.fromkeys(("yes", "true", "correct", "right"), 1.0),
    **dict.fromkeys(("no", "false", "incorrect", "wrong"), 0.0),
}
"""Names of a verdict in a metric's dict, in any case, and the words that it may be."""

_PAIRS = {
    "pred": ("ground_truth", "gt", "answer", "target"),
    "prediction": ("ground_truth", "answer"),
    "pred_answer": ("answer", "gt_answer"),
    "parsed_pred": ("answer",),
    "pred_id": ("answer_id",),
}
"""Name of what was answered in a metric's dict -> names of what is right."""

EQUALS = " equals "
"""In the rule of a score that was found by comparing; it counts if the task's own number agrees."""

ALONE = "aggregation over the one item"
"""Rule of a score that the metric's aggregation gave; it counts if its range is known."""

COUNTED = ", as its aggregation counts"
"""In the rule of a comparison that the aggregation was seen to follow."""

TOPS = (1.0, 100.0)
"""What a metric over one right question may be."""

_OTHER = "\x00another answer"
"""An answer that is not the right one, in trials of an aggregation."""

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Metric:
    """One metric of a task.

    Attributes:
        name: As in ``metric_list`` and in what ``process_results`` returns.
        aggregation: From the questions' values to the metric; None if the harness names it.
    """

    name: str
    aggregation: Callable[..., Any] | None = None


@dataclass(frozen=True)
class ItemScore:
    """What one metric says about one question.

    Attributes:
        value: 0 or more, as the metric counts (1 or 100 for right); None if it says nothing.
        rule: How it was read, or what was seen instead.
    """

    value: float | None
    rule: str


def metrics_of(config: Mapping[str, Any]) -> list[Metric]:
    """Return the metrics of a task that say what is right; a count of faults does not."""
    return [
        Metric(str(entry["metric"]), own if callable(own := entry.get("aggregation")) else None)
        for entry in config.get("metric_list") or []
        if entry.get("higher_is_better", True)
    ]


def read_scores(
    returned: Mapping[str, Any], metrics: Sequence[Metric], score_key: str = "score"
) -> dict[str, ItemScore]:
    """Read what each metric says about one question.

    Args:
        returned: What the task's ``process_results`` returned.
        metrics: The task's metrics, in its order.
        score_key: The task's name for a question's score.

    Returns:
        Metric -> score, for the metrics that the question has a value for.
    """
    here = {metric.name: metric for metric in metrics if metric.name in returned}
    scores = {name: _plain(returned[name], score_key) for name in here}
    if any(scores.values()):
        # One metric says it plainly; counts and the like beside it need not be aggregated.
        return {
            name: score or ItemScore(None, f"saw {_described(returned[name])}")
            for name, score in scores.items()
        }
    return {name: _aggregated(returned[name], metric) for name, metric in here.items()}


def _plain(value: Any, score_key: str) -> ItemScore | None:
    """Return the score that a value contains; None if it contains none."""
    number = _number(value)
    if number is not None:
        return ItemScore(number, "number")
    for key in dict.fromkeys((score_key, *_SCORE_KEYS)) if isinstance(value, Mapping) else ():
        number = _number(value.get(key))
        if number is not None:
            return ItemScore(number, f"key {key}")
    for key, content in value.items() if isinstance(value, Mapping) else ():
        word = _WORDS.get(content.strip().lower()) if isinstance(content, str) else None
        if word is not None and str(key).lower() in _WORD_KEYS:
            return ItemScore(word, f"word {key}")
    return None


def _aggregated(value: Any, metric: Metric) -> ItemScore:
    """Return the score that the metric's aggregation gives a value."""
    if value is None or value == {}:
        return ItemScore(None, "nothing")
    if key := answer_key(metric.aggregation, value):
        said = str(value["pred"])[:1].lower()
        return ItemScore(float(said == key.lower()), f"pred{EQUALS}its key{COUNTED}")
    number = _alone(value, metric.aggregation)
    pairs = ((answered, right) for answered, names in _PAIRS.items() for right in names)
    for answered, right in pairs if isinstance(value, Mapping) else ():
        if _is_answer(value.get(answered)) and _is_answer(value.get(right)):
            best = _alone({**value, answered: value[right]}, metric.aggregation)
            worst = _alone({**value, answered: _OTHER}, metric.aggregation)
            if number is not None and best in TOPS and worst == 0:
                return ItemScore(number, ALONE)
            equal = str(value[answered]).strip() == str(value[right]).strip()
            follows = best is not None and worst is not None and best > worst
            if not follows and metric.aggregation and writes_submission(metric.aggregation):
                break  # its answers are scored elsewhere, and not by comparing
            rule = f"{answered}{EQUALS}{right}{COUNTED if follows else ''}"
            return ItemScore(float(equal), rule)
    if number is not None:
        return ItemScore(number, ALONE)
    return ItemScore(None, f"saw {_described(value)}")


def _is_answer(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and str(value) != ""


def _alone(value: Any, aggregation: Callable[..., Any] | None) -> float | None:
    """Return the metric over one question; None if it has no such number, or would write files."""
    if aggregation is None:
        return None
    try:
        takes = list(inspect.signature(aggregation).parameters)
        if takes[1:] not in ([], ["args"]) or sends(aggregation) or writes_submission(aggregation):
            return None
        with _quiet(aggregation), blocked_network():
            # Without the run's arguments no file can be written to its folder.
            found = aggregation([value], *([None] * (len(takes) - 1)))
        each = found if isinstance(found, tuple) else (found,)
        return _number(each[0]) if len(set(each)) == 1 else None
    except (
        Exception,
        SystemExit,
        NetworkBlockedError,
    ):  # made for many questions; failing over one means nothing
        return None


@contextlib.contextmanager
def _quiet(function: Callable[..., Any]) -> Iterator[None]:
    """Keep what a function prints about one question from being printed thousands of times.

    The harness scores in several threads, and they share the standard output.
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
    """Return a finite number, 0 or more; None for everything else."""
    if not isinstance(value, (numbers.Real, bool)) and type(value).__module__ != "numpy":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _described(value: Any) -> str:
    """Return a value's form in words, for a person who has to find the score in it."""
    if isinstance(value, Mapping):
        names = ", ".join(str(name) for name in list(value)[:8])
        return f"a dict with {names}" + (", ..." if len(value) > 8 else "")
    return f"a value of type {type(value).__name__}"
