"""BlackSwanSuite's prompts, and the functions that fill them in.

The prompts are the paper's own, verbatim (appendix E; with captions: appendix H.1). The paper
asks for reasoning before the answer in one experiment (section 7.2) and does not print that
prompt: :data:`STEP_BY_STEP` is our own wording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from video_reasoning.tasks import scoring

Document = Mapping[str, Any]
Settings = Mapping[str, Any] | None
"""``lmms_eval_specific_kwargs``, which no prompt here depends on."""

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
"""Precedes V_pre if a model is shown two clips."""

END = "Here is the end of the video:"
"""Precedes V_post if a model is shown two clips."""

STEP_BY_STEP = (
    "Reason step by step before you choose: say what the video shows, then hold each description "
    "against it. Finish with a line of its own that reads: Answer: <letter>"
)
"""Asks for reasoning before the option; our own wording."""


DocToText = Callable[..., str]


def listed_options(doc: Document) -> str:
    """Return the options as the prompts list them: ``A. <Option A> B. <Option B> ...``."""
    return " ".join(f"{letter}. {text}" for letter, text in scoring.letters(doc["options"]).items())


def _same(prompt: str) -> DocToText:
    """Return a ``doc_to_text`` with one prompt for every video."""
    return lambda doc, _=None: prompt


forecaster_gen = _same(FORECASTER_GEN)
detective_gen = _same(DETECTIVE_GEN)
reporter_gen = _same(REPORTER_GEN)


def detective_mcq(doc: Document, _: Settings = None) -> str:
    """Return the prompt of Detective-MCQ."""
    return DETECTIVE_MCQ.format(options=listed_options(doc))


def reporter_mcq(doc: Document, _: Settings = None) -> str:
    """Return the prompt of Reporter-MCQ."""
    return REPORTER_MCQ.format(options=listed_options(doc))


def yes_no(doc: Document, _: Settings = None) -> str:
    """Return the prompt of Detective-Y/N and Reporter-Y/N."""
    return YES_NO.format(hypothesis=doc["hypothesis"])


def detective_mcq_cot(doc: Document, _: Settings = None) -> str:
    """Return the prompt of Detective-MCQ, and a request for reasoning first."""
    return f"{detective_mcq(doc)}\n{STEP_BY_STEP}"


def reporter_mcq_cot(doc: Document, _: Settings = None) -> str:
    """Return the prompt of Reporter-MCQ, and a request for reasoning first."""
    return f"{reporter_mcq(doc)}\n{STEP_BY_STEP}"


def perception(doc: Document, _: Settings = None) -> str:
    """Return Detective-MCQ with captions of both ends of the video first (appendix H.1)."""
    return f"{_perceived(doc)}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}"


def perception_comprehension(doc: Document, _: Settings = None) -> str:
    """Return what :func:`perception` does, with how the two ends differ (appendix H.1)."""
    differs = COMPREHENSION.format(pc_comp=_clause(doc["pc_comp"]))
    return f"{_perceived(doc)} {differs}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}"


def _perceived(doc: Document) -> str:
    return PERCEPTION.format(
        p_preevent=_clause(doc["p_preevent"]), p_postevent=_clause(doc["p_postevent"])
    )


def _clause(caption: str) -> str:
    """Return a caption without the full stop that the prompt itself sets."""
    return caption.strip().rstrip(".")


def _two_clips(question: DocToText) -> DocToText:
    """Return a ``doc_to_text`` with the sentences that precede each of the two clips.

    A chat model gets the clips between the sentences (``doc_to_messages``); this is the same text
    in one piece, which the harness builds for every task and logs.
    """
    return lambda doc, _=None: f"{BEGINNING}\n{END}\n{question(doc)}"


detective_gen_clips = _two_clips(detective_gen)
detective_mcq_clips = _two_clips(detective_mcq)
detective_yn_clips = _two_clips(yes_no)
