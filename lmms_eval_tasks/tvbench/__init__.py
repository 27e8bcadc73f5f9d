"""TVBench (published as TOMATO, arXiv 2410.23266): prompts and scoring as the harness calls them.

Every function is stateless: the harness scores documents in four threads, and a user's own YAML
may name any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.selection import of_task

BENCHMARK = "tvbench"
SPLIT = "test"

PROMPT = (
    "You will be provided with {num_frames} separate frames uniformly sampled from a video, "
    "the frames are provided in chronological order of the video. Analyze these frames and "
    "provide the answer to the question about the video content. Answer the multiple-choice "
    "question about the video content.\n"
    "You must use these frames to answer the multiple-choice question; do not rely on any "
    "external knowledge or commonsense.\n"
    "<question> {question} </question>\n"
    "<options> {index2ans} </options>\n"
    "Even if the information in these separate frames is not enough to answer the question, "
    "PLEASE TRY YOUR BEST TO GUESS AN ANSWER WHICH YOU THINK WOULD BE THE MOST POSSIBLE ONE "
    "BASED ON THE QUESTION.\n"
    "DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.'"
)
"""The evaluation prompt, verbatim (appendix D.1)."""

DEFAULT_CONDITION = "ordered16"
"""16 frames at equal intervals, in order (section 5)."""


def condition(settings: Mapping[str, Any] | None) -> Condition:
    """The frame condition that a task's ``lmms_eval_specific_kwargs`` name."""
    return Condition.parse(str((settings or {}).get("condition", DEFAULT_CONDITION)))


def doc_to_visual(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[str]:
    """The clip that holds exactly the frames of the task's condition."""
    return media.show(BENCHMARK, doc, condition(lmms_eval_specific_kwargs))


def doc_to_text(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> str:
    """The paper's prompt, with the number of frames that the condition shows."""
    return PROMPT.format(
        num_frames=condition(lmms_eval_specific_kwargs).m,
        question=doc["question"],
        index2ans=scoring.letters(doc["options"]),
    )


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The right option's letter."""
    return str(doc["answer"])


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one question; see :mod:`video_reasoning.tasks.scoring`."""
    judged = scoring.judge(BENCHMARK, doc, results)
    return {
        **scoring.common_metrics(BENCHMARK, SPLIT, doc, judged),
        "accuracy": scoring.scored(doc, judged),
    }


direction = of_task("direction")
