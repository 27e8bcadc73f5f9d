"""BlackSwanSuite's prompts, and the functions that fill them in.

The prompts are the paper's own, verbatim (appendix E; with captions: appendix H.1). The paper
asks for reasoning before the answer in one experiment (section 7.2) and does not print that
prompt: :data:`STEP_BY_STEP` is our own wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from video_reasoning.tasks import scoring

Document = Mapping[str, Any]

FORECASTER_GEN = (
    "Describe what could happen next, by explaining the sequence of actions leading to the outcome."
)
DETECTIVE_GEN = "What happened in the missing frames (in black) of the video?"
DETECTIVE_MCQ = (
    "Select the description that indicates what happened in the hidden (black) frames of the "
    "video: {options}"
)
YES_NO = (
    "Hypothesis: {hypothesis}\nGiven the video clip, does this hypothesis hold? Answer yes or no."
)
REPORTER_GEN = "Explain what is happening in the video."
REPORTER_MCQ = (
    "Select the description that correctly explains what happens in this video: {options}"
)

PERCEPTION = (
    "The beginning of the video shows {p_preevent}. The end of the video shows {p_postevent}."
)
COMPREHENSION = "The two parts differ in the following way: {pc_comp}."
CAPTIONED_MCQ = (
    "Which of the following descriptions indicate what happened in the hidden (black) frames of "
    "the video? {options}"
)

BEGINNING = "Here is the beginning of the video:"
"""Stands before V_pre where a model is shown two clips."""

END = "Here is the end of the video:"
"""Stands before V_post where a model is shown two clips."""

STEP_BY_STEP = (
    "Reason step by step before you choose: say what the video shows, then hold each description "
    "against it. Finish with a line of its own that reads: Answer: <letter>"
)
"""Asks for reasoning before the option; our own wording."""


def listed_options(doc: Document) -> str:
    """The options as the prompts list them: ``A. <Option A> B. <Option B> C. <Option C>``."""
    return " ".join(f"{letter}. {text}" for letter, text in scoring.letters(doc["options"]).items())


def forecaster_gen(doc: Document) -> str:
    """The prompt of Forecaster-Gen, the same for every video."""
    del doc
    return FORECASTER_GEN


def detective_gen(doc: Document) -> str:
    """The prompt of Detective-Gen, the same for every video."""
    del doc
    return DETECTIVE_GEN


def reporter_gen(doc: Document) -> str:
    """The prompt of Reporter-Gen, the same for every video."""
    del doc
    return REPORTER_GEN


def detective_mcq(doc: Document) -> str:
    """The prompt of Detective-MCQ."""
    return DETECTIVE_MCQ.format(options=listed_options(doc))


def reporter_mcq(doc: Document) -> str:
    """The prompt of Reporter-MCQ."""
    return REPORTER_MCQ.format(options=listed_options(doc))


def yes_no(doc: Document) -> str:
    """The prompt of Detective-Y/N and Reporter-Y/N."""
    return YES_NO.format(hypothesis=doc["hypothesis"])


def detective_mcq_cot(doc: Document) -> str:
    """The prompt of Detective-MCQ, and a request for reasoning first."""
    return f"{detective_mcq(doc)}\n{STEP_BY_STEP}"


def reporter_mcq_cot(doc: Document) -> str:
    """The prompt of Reporter-MCQ, and a request for reasoning first."""
    return f"{reporter_mcq(doc)}\n{STEP_BY_STEP}"


def perception(doc: Document) -> str:
    """Detective-MCQ with captions of both ends of the video in front (appendix H.1)."""
    return f"{_perceived(doc)}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}"


def perception_comprehension(doc: Document) -> str:
    """As :func:`perception`, with how the two ends differ (appendix H.1)."""
    differs = COMPREHENSION.format(pc_comp=_clause(doc["pc_comp"]))
    return f"{_perceived(doc)} {differs}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}"


def _perceived(doc: Document) -> str:
    return PERCEPTION.format(
        p_preevent=_clause(doc["p_preevent"]), p_postevent=_clause(doc["p_postevent"])
    )


def _clause(caption: str) -> str:
    """A caption without the full stop that the prompt itself sets."""
    return caption.strip().rstrip(".")


# Where two clips are shown, a chat model gets them between the sentences (doc_to_messages); what
# follows is the same text in one piece, which the harness builds for every task and logs.


def two_clips(question: str) -> str:
    """A question with the sentences that stand before each of the two clips."""
    return f"{BEGINNING}\n{END}\n{question}"


def detective_gen_clips(doc: Document) -> str:
    """The text of Detective-Gen with two clips."""
    return two_clips(detective_gen(doc))


def detective_mcq_clips(doc: Document) -> str:
    """The text of Detective-MCQ with two clips."""
    return two_clips(detective_mcq(doc))


def detective_yn_clips(doc: Document) -> str:
    """The text of Detective-Y/N with two clips."""
    return two_clips(yes_no(doc))
