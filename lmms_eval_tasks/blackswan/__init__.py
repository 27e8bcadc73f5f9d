"""BlackSwanSuite: prompts and scoring as the harness calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.selection import of_task

BENCHMARK = "blackswan"

DETECTIVE_MCQ = (
    "Select the description that indicates what happened in the hidden (black) frames of the "
    "video: {options}"
)
"""The prompt, verbatim (appendix E)."""


def doc_to_visual(doc: Mapping[str, Any]) -> list[str]:
    """One video: for the Detective V_pre, black frames as long as V_main, and V_post."""
    return media.show(BENCHMARK, doc)


def listed_options(doc: Mapping[str, Any]) -> str:
    """The options as the prompts list them: ``A. <Option A> B. <Option B> C. <Option C>``."""
    return " ".join(f"{letter}. {text}" for letter, text in scoring.letters(doc["options"]).items())


def detective_mcq_text(doc: Mapping[str, Any]) -> str:
    """The prompt of Detective MCQ."""
    return DETECTIVE_MCQ.format(options=listed_options(doc))


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The right option's letter, "yes" or "no"; empty where it is withheld."""
    return str(doc["answer"])


def process_results_validation(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one validation question."""
    return _process_results("validation", doc, results)


def _process_results(split: str, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    judged = scoring.judge(BENCHMARK, doc, results)
    item = scoring.scored(doc, judged, difficulty=str(doc["difficulty"]))
    return {
        **scoring.common_metrics(BENCHMARK, split, doc, judged),
        "accuracy": item,
        "acc_easy": item,
        "acc_medium": item,
        "acc_hard": item,
    }


acc_easy = scoring.of_group("difficulty", "easy")
acc_medium = scoring.of_group("difficulty", "medium")
acc_hard = scoring.of_group("difficulty", "hard")


detective_mcq = of_task("detective_mcq")
