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

BLIND_PROMPT = (
    "Randomly guess a reasonable answer based on the question only.\n"
    "<question> {question} </question>\n"
    "<options> {index2ans} </options>\n"
    "DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.'"
)
"""The video-free prompt, verbatim (appendix D.3)."""

DEFAULT_CONDITION = "ordered16"
"""16 frames at equal intervals, in order (section 5)."""

DEMONSTRATION_TYPES = ("human", "object", "simulated")
VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")


def condition(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> Condition:
    """The frame condition of a document: its own, else the one that the task's YAML names."""
    settings = lmms_eval_specific_kwargs or {}
    name = doc.get("condition") or settings.get("condition") or DEFAULT_CONDITION
    return Condition.parse(str(name))


def whole_video(doc: Mapping[str, Any]) -> list[str]:
    """The video that the frames of a condition are taken from."""
    return media.show(BENCHMARK, doc)


@media.excerpt_of(whole_video)
def doc_to_visual(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> list[str]:
    """The clip that holds exactly the frames of the condition; nothing where it is blind."""
    return media.show(BENCHMARK, doc, condition(doc, lmms_eval_specific_kwargs))


def doc_to_text(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> str:
    """The paper's prompt, with the number of frames that the condition shows."""
    shown = condition(doc, lmms_eval_specific_kwargs)
    template = BLIND_PROMPT if shown.kind == "blind" else PROMPT
    return template.format(
        num_frames=shown.m,
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
        "short_videos": short_video(doc),
        **_accuracies(doc, judged),
    }


def process_blind_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one question that was asked without its video, which may then be missing."""
    judged = scoring.judge(BENCHMARK, doc, results, needs_video=False)
    return {
        **scoring.common_metrics(BENCHMARK, SPLIT, doc, judged),
        "short_videos": {"short": False},
        **_accuracies(doc, judged),
    }


def short_video(
    doc: Mapping[str, Any], lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
) -> dict[str, bool]:
    """Whether a video has fewer frames than its condition shows, so that some show twice."""
    frames = int(doc.get("frames") or 0)
    return {"short": 0 < frames < condition(doc, lmms_eval_specific_kwargs).m}


def short_videos(items: Sequence[Mapping[str, bool]]) -> int:
    """How many items have a video of fewer frames than are shown."""
    return sum(item["short"] for item in items)


def _accuracies(doc: Mapping[str, Any], judged: Mapping[str, Any]) -> dict[str, Any]:
    """The item for the accuracy, and for each breakdown that it belongs to."""
    item = scoring.scored(doc, judged)
    belongs = {name: doc.get("demonstration_type") == name for name in DEMONSTRATION_TYPES}
    belongs |= {name: bool(doc.get(name)) for name in VARIATIONS}
    return {
        "accuracy": item,
        **{f"acc_{name}": item if its else scoring.NOT_COUNTED for name, its in belongs.items()},
    }


rotation = of_task("rotation")
direction = of_task("direction")
velocity_frequency = of_task("velocity_frequency")
shape_trend = of_task("shape_trend")
visual_cues = of_task("visual_cues")
action_count = of_task("action_count")
