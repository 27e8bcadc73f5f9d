"""TVBench (published as TOMATO, arXiv 2410.23266): prompts and scoring as the harness calls them.

Every function is stateless: the harness scores documents in four threads, and a user's own YAML
may name any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.scoring import of_task

BENCHMARK = "tvbench"

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

_ASKED = "<question> \n{question} \n</question>\n\n<options> \n{index2ans} \n</options>\n"

RELEASED_PROMPT = (
    PROMPT.partition("<question>")[0]
    .replace("external", "externel")  # as the authors' code spells it
    .replace("\n", " \n\n")
    + _ASKED
    + PROMPT.partition("</options>")[2].replace("\n", " \n\n").removeprefix(" \n")
    + " \n"
)
"""The evaluation prompt in the layout of the authors' code."""

RELEASED_BLIND_PROMPT = (
    BLIND_PROMPT.partition("<question>")[0]
    + "\n"
    + _ASKED
    + "    "
    + BLIND_PROMPT.partition("</options>")[2]
    + " \n"
)
"""The video-free prompt in the layout of the authors' code."""

DEFAULT_CONDITION = "ordered16"
"""16 frames at equal intervals, in order (section 5)."""

DEMONSTRATION_TYPES = ("human", "object", "simulated")
VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")

TWINS = ("twin_real", "twin_simulated")
"""Questions about people, and the same questions about simulated people (figure 2b)."""

BREAKDOWNS = (*DEMONSTRATION_TYPES, *VARIATIONS, *(f"not_{name}" for name in VARIATIONS), *TWINS)
"""What accuracies are broken down by, over each task and over the whole benchmark."""

Document = Mapping[str, Any]
Settings = Mapping[str, Any] | None


def condition(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> Condition:
    """Return the frame condition of a document; see :func:`scoring.named_condition`."""
    return Condition.parse(
        scoring.named_condition(doc, lmms_eval_specific_kwargs, DEFAULT_CONDITION)
    )


def whole_video(doc: Document) -> list[str]:
    """Show the video that the frames of a condition are taken from."""
    return media.show(BENCHMARK, doc)


@media.excerpt_of(whole_video)
def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> list[Any]:
    """Show exactly the frames of the condition; nothing if it is blind."""
    shown = condition(doc, lmms_eval_specific_kwargs)
    clips = media.show(BENCHMARK, doc, shown, settings=lmms_eval_specific_kwargs)
    return media.hand_over(BENCHMARK, doc, clips, lmms_eval_specific_kwargs, shown)


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> str:
    """Return the paper's prompt, with the number of frames that the condition shows.

    ``prompt_style: released`` in the settings lays it out as the authors' code does.
    """
    shown = condition(doc, lmms_eval_specific_kwargs)
    released = scoring.prompt_style(lmms_eval_specific_kwargs) == "released"
    template, blind = (
        (RELEASED_PROMPT, RELEASED_BLIND_PROMPT) if released else (PROMPT, BLIND_PROMPT)
    )
    if shown.kind == "blind":
        template = blind
    return template.format(
        num_frames=shown.m,
        question=doc["question"],
        index2ans=scoring.letters(doc["options"]),
    )


def doc_to_target(doc: Document) -> str:
    """Return the right option's letter."""
    return str(doc["answer"])


def judged_metrics(doc: Document, results: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Score one question under its condition; asked blind, its video may be missing.

    Returns:
        What all tasks of the benchmark report, and the item for accuracies.
    """
    shown = condition(doc)
    judged = scoring.judge(BENCHMARK, doc, results, needs_video=shown.kind != "blind")
    short = 0 < int(doc.get("frames") or 0) < shown.m
    common = scoring.common_metrics(BENCHMARK, doc, judged, results)
    return {**common, "short_videos": {"short": short}}, scoring.scored(doc, judged)


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Score one question; see :mod:`video_reasoning.tasks.scoring`."""
    common, item = judged_metrics(doc, results)
    belongs = {name: doc.get("demonstration_type") == name for name in DEMONSTRATION_TYPES}
    belongs |= {name: doc.get("twin") == name for name in TWINS}
    for name in VARIATIONS:
        stated = doc.get(name)
        belongs |= {name: stated is True, f"not_{name}": stated is False}
    return {**common, "accuracy": item, **scoring.belonging(item, belongs)}


def short_videos(items: Sequence[Mapping[str, bool]]) -> int:
    """Count the items whose video has fewer frames than are shown, so that some show twice."""
    return sum(item["short"] for item in items)


COMMON = (scoring.metric("short_videos", short_videos, higher_is_better=False), *scoring.COMMON)

__getattr__ = scoring.attributes(
    __name__,
    METRICS=[
        scoring.metric("accuracy", scoring.accuracy),
        *(scoring.metric(f"acc_{name}", scoring.accuracy) for name in BREAKDOWNS),
        *COMMON,
    ],
    GROUP=scoring.group_metrics(
        ("accuracy", *(f"acc_{name}" for name in BREAKDOWNS), "unparsed_rate"),
        ("missing_items", "failed_items", "skipped_rows"),
    ),
    metadata=partial(scoring.metadata, BENCHMARK, 1.1),
)

all_questions = of_task()
rotation = of_task("rotation")
direction = of_task("direction")
velocity_frequency = of_task("velocity_frequency")
shape_trend = of_task("shape_trend")
visual_cues = of_task("visual_cues")
action_count = of_task("action_count")
