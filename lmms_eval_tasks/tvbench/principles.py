"""The three temporal principles in one run, and the frame-count sweep (sections 3 and 5, fig. 2a).

``process_docs`` expands each question into one document per condition. The documents of a
question are next to each other, so that ``--limit`` keeps whole questions, and all of them are
made from one decode of the video. The ordered run serves kappa and tau: nothing is asked twice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from loguru import logger

from video_reasoning.metrics.principles import (
    CONDITIONS,
    GAINS,
    Principles,
    evaluate_principles,
)
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring, sight
from video_reasoning.tasks.store.picks import read_picks
from video_reasoning.tasks.tvbench import tasks

PRINCIPLES = ("ordered16", "shuffled16", "random1", "handpicked1")
"""The conditions of kappa, tau and rho; the last for questions with a pick."""

FRAMES = ("random1", "ordered8", "ordered16", "ordered32")
"""The sweep over m = 1, 8, 16, 32; the single frame is a random one."""

FEW_FRAMES = ("random1", *(f"ordered{m}" for m in range(2, 9)))
"""The sweep over m = 1 to 8 (fig. 5)."""

NO_PICK = -1


def _expand(conditions: Sequence[str]) -> Callable[[Any], Any]:
    """Return a ``process_docs`` that gives each question once per condition."""

    def process_docs(dataset: Any) -> Any:
        from datasets import concatenate_datasets

        picks = read_picks(tasks.BENCHMARK) if "handpicked1" in conditions else {}
        frames = [picks.get(question, NO_PICK) for question in dataset["id"]]
        # A column added to rows that were selected would copy them all, one by one.
        parts = []
        for name in conditions:
            named = dataset.add_column("condition", [name] * len(dataset))
            parts.append(scoring.how_asked(named.add_column("pick", frames)))
        rows = [
            place * len(dataset) + row
            for row, frame in enumerate(frames)
            for place, name in enumerate(conditions)
            if name != "handpicked1" or frame != NO_PICK
        ]
        return concatenate_datasets(parts).select(rows)

    return process_docs


principles_docs = _expand(PRINCIPLES)
frames_docs = _expand(FRAMES)
few_frames_docs = _expand(FEW_FRAMES)


def principles_visual(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: tasks.Settings = None
) -> list[Any]:
    """Show the frames of the document's condition, made together with its question's others."""
    return _visual(doc, PRINCIPLES, lmms_eval_specific_kwargs)


def frames_visual(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: tasks.Settings = None
) -> list[Any]:
    """Show as many frames as the document says, made together with its question's others."""
    return _visual(doc, FRAMES, lmms_eval_specific_kwargs)


def few_frames_visual(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: tasks.Settings = None
) -> list[Any]:
    """Show one to eight frames, made together with its question's others."""
    return _visual(doc, FEW_FRAMES, lmms_eval_specific_kwargs)


def _visual(
    doc: Mapping[str, Any], conditions: Sequence[str], settings: tasks.Settings
) -> list[Any]:
    pick = None if doc["pick"] == NO_PICK else int(doc["pick"])
    together = [
        Condition.parse(name) for name in conditions if name != "handpicked1" or pick is not None
    ]
    shown = tasks.condition(doc)
    clips = media.show(tasks.BENCHMARK, doc, shown, pick=pick, together=together, settings=settings)
    return media.hand_over(tasks.BENCHMARK, doc, clips, settings, shown)


def process_principles_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one question under one condition, for the principles' aggregations."""
    common, item = _judged(doc, results)
    return {**common, **dict.fromkeys(_PRINCIPLES_NUMBERS, scoring.unscored(item))}


def process_frames_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one question at one frame count."""
    return _of_counts(doc, results, FRAMES)


def process_few_frames_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one question at one frame count, 1 to 8."""
    return _of_counts(doc, results, FEW_FRAMES)


def _of_counts(
    doc: Mapping[str, Any], results: Sequence[Any], conditions: Sequence[str]
) -> dict[str, Any]:
    common, item = _judged(doc, results)
    belongs = {name: doc["condition"] == name for name in conditions}
    return {**common, **scoring.belonging(item, belongs)}


def _judged(
    doc: Mapping[str, Any], results: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    common, item = tasks.judged_metrics(doc, results)
    seen = sight.Sight(*(common[f"frames_{name}"] for name in ("shown", "seen", "in_order")))
    lost = {"other_frames": True} if seen.differs else {}
    return common, {**item, "condition": str(doc["condition"]), **lost}


def _number(read: Callable[[Principles], float]) -> Callable[..., float | None]:
    """Return an aggregation that reads one number off the evaluated principles."""

    def aggregation(items: Sequence[Mapping[str, Any]]) -> float | None:
        correct: dict[str, dict[Hashable, float | None]] = {name: {} for name in PRINCIPLES}
        for item in items:
            correct[item["condition"]][item["id"]] = item.get("correct")
        given = {name: scores for name, scores in correct.items() if scores}
        return scoring.defined(read(evaluate_principles(given))) if given else None

    return aggregation


def _ratio(name: str) -> Callable[..., float | None]:
    """Return an aggregation of a ratio: none if a condition did not reach the model as shown."""
    number = _number(lambda found: float(getattr(found, name).value))

    def aggregation(items: Sequence[Mapping[str, Any]]) -> float | None:
        wrong = Counter(item["condition"] for item in items if item.get("other_frames"))
        lost = [CONDITIONS[role] for role in GAINS[name] if wrong[CONDITIONS[role]]]
        if lost:
            listed = ", ".join(f"{each} {wrong[each]:,}" for each in lost)
            logger.warning(
                f"{name} is N/A: the model did not get the frames that were shown (items: "
                f"{listed}); see frames_seen and frames_shown in the sample log."
            )
        return None if lost else number(items)

    return aggregation


def _accuracy(condition: str) -> Callable[..., float | None]:
    return _number(lambda found: found.accuracies.get(condition, math.nan))


_PRINCIPLES_NUMBERS: Mapping[str, tuple[Callable[..., float | None], bool]] = {
    **{name: (_ratio(name), name != "rho") for name in GAINS},
    **{f"acc_{name}": (_accuracy(name), True) for name in PRINCIPLES},
    "questions_all": (_number(lambda found: float(found.n)), True),
    "questions_picked": (_number(lambda found: float(found.n_picked)), True),
    "questions_left_out": (_number(lambda found: float(found.n_left_out)), False),
}
"""Metric -> its aggregation, and whether higher is better."""

__getattr__ = scoring.attributes(
    __name__,
    PRINCIPLES_METRICS=[
        *(
            scoring.metric(name, aggregation, higher_is_better=higher)
            for name, (aggregation, higher) in _PRINCIPLES_NUMBERS.items()
        ),
        *tasks.COMMON,
    ],
    **{
        name: [
            *(scoring.metric(f"acc_{condition}", scoring.accuracy) for condition in conditions),
            *tasks.COMMON,
        ]
        for name, conditions in (("FRAMES_METRICS", FRAMES), ("FEW_FRAMES_METRICS", FEW_FRAMES))
    },
)
