"""The three temporal principles in one run, and the frame-count sweep (sections 3 and 5, fig. 2a).

``process_docs`` expands each question into one document per condition. The documents of a
question stand next to each other, so that ``--limit`` holds whole questions, and all of them are
made from one decode of the video. The ordered run serves kappa and tau: nothing is asked twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from video_reasoning.metrics.principles import Principles, evaluate_principles
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring, tvbench
from video_reasoning.tasks.store.picks import read_picks

PRINCIPLES = ("ordered16", "shuffled16", "random1", "handpicked1")
"""The conditions of kappa, tau and rho; the last for questions with a pick."""

FRAMES = ("random1", "ordered8", "ordered16", "ordered32")
"""The sweep over m = 1, 8, 16, 32; the single frame is a random one."""

NO_PICK = -1


def _expand(conditions: Sequence[str]) -> Callable[[Any], Any]:
    """A ``process_docs`` that gives each question once per condition."""

    def process_docs(dataset: Any) -> Any:
        picks = read_picks(tvbench.BENCHMARK) if "handpicked1" in conditions else {}
        rows, names, frames = [], [], []
        for row, question in enumerate(dataset["id"]):
            pick = picks.get(question, NO_PICK)
            for name in conditions:
                if name != "handpicked1" or pick != NO_PICK:
                    rows.append(row)
                    names.append(name)
                    frames.append(pick)
        expanded = dataset.select(rows)
        return expanded.add_column("condition", names).add_column("pick", frames)

    return process_docs


principles_docs = _expand(PRINCIPLES)
frames_docs = _expand(FRAMES)


def principles_visual(doc: Mapping[str, Any]) -> list[str]:
    """The clip of the document's condition, made together with its question's others."""
    return _visual(doc, PRINCIPLES)


def frames_visual(doc: Mapping[str, Any]) -> list[str]:
    """The clip of the document's frame count, made together with its question's others."""
    return _visual(doc, FRAMES)


def _visual(doc: Mapping[str, Any], conditions: Sequence[str]) -> list[str]:
    pick = None if doc["pick"] == NO_PICK else int(doc["pick"])
    together = [
        Condition.parse(name) for name in conditions if name != "handpicked1" or pick is not None
    ]
    return media.show(tvbench.BENCHMARK, doc, tvbench.condition(doc), pick=pick, together=together)


def process_principles_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one question under one condition, for the principles' aggregations."""
    common, item = _process_results(doc, results)
    return {**common, **dict.fromkeys(PRINCIPLES_METRICS, scoring.unscored(item))}


def process_frames_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one question at one frame count."""
    common, item = _process_results(doc, results)
    of_each = {
        f"acc_{name}": item if doc["condition"] == name else scoring.NOT_COUNTED for name in FRAMES
    }
    return {**common, **of_each}


def _process_results(
    doc: Mapping[str, Any], results: Sequence[Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    judged = scoring.judge(tvbench.BENCHMARK, doc, results)
    common = scoring.common_metrics(tvbench.BENCHMARK, tvbench.SPLIT, doc, judged)
    item = scoring.scored(doc, judged, condition=str(doc["condition"]))
    return {**common, "short_videos": tvbench.short_video(doc)}, item


def _evaluate(items: Sequence[Mapping[str, Any]]) -> Principles | None:
    correct: dict[str, dict[Hashable, float | None]] = {name: {} for name in PRINCIPLES}
    for item in items:
        correct[item["condition"]][item["id"]] = item.get("correct")
    given = {name: scores for name, scores in correct.items() if scores}
    return evaluate_principles(given) if given else None


def _defined(value: float) -> float | None:
    """None for a ratio or accuracy that is undefined: the table then says N/A."""
    return None if math.isnan(value) else value


def _number(read: Callable[[Principles], float]) -> Callable[..., float | None]:
    """An aggregation that reads one number off the evaluated principles."""

    def aggregation(items: Sequence[Mapping[str, Any]]) -> float | None:
        evaluated = _evaluate(items)
        return None if evaluated is None else _defined(read(evaluated))

    return aggregation


kappa_random = _number(lambda found: found.kappa_random.value)
kappa_handpicked = _number(lambda found: found.kappa_handpicked.value)
tau = _number(lambda found: found.tau.value)
rho = _number(lambda found: found.rho.value)
acc_ordered16 = _number(lambda found: found.accuracies.get("ordered16", math.nan))
acc_shuffled16 = _number(lambda found: found.accuracies.get("shuffled16", math.nan))
acc_random1 = _number(lambda found: found.accuracies.get("random1", math.nan))
acc_handpicked1 = _number(lambda found: found.accuracies.get("handpicked1", math.nan))
questions_all = _number(lambda found: float(found.n))
questions_picked = _number(lambda found: float(found.n_picked))
questions_left_out = _number(lambda found: float(found.n_left_out))

PRINCIPLES_METRICS = (
    "kappa_random",
    "kappa_handpicked",
    "tau",
    "rho",
    "acc_ordered16",
    "acc_shuffled16",
    "acc_random1",
    "acc_handpicked1",
    "questions_all",
    "questions_picked",
    "questions_left_out",
)
