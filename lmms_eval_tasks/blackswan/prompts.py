"""BlackSwanSuite's prompts, and the functions that fill them in.

The prompts are the paper's own, verbatim (appendix E; with captions: appendix H.1). The paper
asks for reasoning before the answer in one experiment (section 7.2) and does not print that
prompt: it is the one of the authors' script.

``prompt_style: released`` in a YAML's ``lmms_eval_specific_kwargs`` takes words and layout of the
authors' LLaVA-Video scripts, the only ones that cover every task. They differ from the appendix and
from the scripts of the other models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from video_reasoning.tasks import scoring

Document = Mapping[str, Any]
Settings = Mapping[str, Any] | None


class Prompt(Protocol):
    """A ``doc_to_text`` of the harness."""

    def __call__(self, doc: Document, lmms_eval_specific_kwargs: Settings = None) -> str:
        """Return the whole prompt."""


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

RELEASED_FORECASTER_GEN = (
    "In one sentence, describe what could happen next, by explaining the sequence of actions "
    "leading to the outcome in one sentence."
)
RELEASED_REPORTER_GEN = "What is happening in the video? Explain the video in 1-2 sentences."
RELEASED_DETECTIVE_MCQ = (
    "Which of the following descriptions indicate what happened in the hidden (black) frames of "
    "the video?"
)
RELEASED_REPORTER_MCQ = "Which of these descriptions correctly explains what happens in this video?"
RELEASED_YES_NO = (
    "Hypothesis: {hypothesis}\n Given the video clip, does this hypothesis hold? Answer yes or no."
)
REASON_FIRST = " Provide your answer as \n'Reason: reason in 10 words.\nAnswer: your answer'"
"""Asks for reasoning before the option, in the authors' words."""


def listed_options(doc: Document) -> str:
    """Return the options as the prompts list them: ``A. <Option A> B. <Option B> ...``."""
    return " ".join(f"{letter}. {text}" for letter, text in scoring.letters(doc["options"]).items())


def option_lines(doc: Document) -> str:
    """Return the options as the released scripts list them: each on a line, ``A. <Option A>``."""
    return "".join(
        f"\n{letter}. {text}" for letter, text in scoring.letters(doc["options"]).items()
    )


def _prompt(paper: Callable[[Document], str], released: Callable[[Document], str]) -> Prompt:
    """Return a ``doc_to_text`` that has both styles."""

    def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> str:
        style = scoring.prompt_style(lmms_eval_specific_kwargs)
        return released(doc) if style == "released" else paper(doc)

    return doc_to_text


forecaster_gen = _prompt(lambda doc: FORECASTER_GEN, lambda doc: RELEASED_FORECASTER_GEN)
detective_gen = _prompt(lambda doc: DETECTIVE_GEN, lambda doc: DETECTIVE_GEN)
reporter_gen = _prompt(lambda doc: REPORTER_GEN, lambda doc: RELEASED_REPORTER_GEN)

detective_mcq = _prompt(
    lambda doc: DETECTIVE_MCQ.format(options=listed_options(doc)),
    lambda doc: RELEASED_DETECTIVE_MCQ + option_lines(doc),
)
reporter_mcq = _prompt(
    lambda doc: REPORTER_MCQ.format(options=listed_options(doc)),
    lambda doc: RELEASED_REPORTER_MCQ + option_lines(doc),
)
yes_no = _prompt(
    lambda doc: YES_NO.format(hypothesis=doc["hypothesis"]),
    lambda doc: RELEASED_YES_NO.format(hypothesis=doc["hypothesis"]),
)


def _reasoned(question: str, end: str) -> Prompt:
    """Return the authors' prompt for an answer with its reason; the paper prints none."""

    def text_of(doc: Document) -> str:
        return f"{question}{REASON_FIRST}{end}{option_lines(doc)}"

    return _prompt(text_of, text_of)


detective_mcq_cot = _reasoned(RELEASED_DETECTIVE_MCQ, " ")
reporter_mcq_cot = _reasoned(RELEASED_REPORTER_MCQ, ". ")

# With captions of both ends of the video first, and with how the two differ (appendix H.1).
perception = _prompt(
    lambda doc: f"{_perceived(doc)}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}",
    lambda doc: f"{_perceived(doc)} {RELEASED_DETECTIVE_MCQ} {option_lines(doc)}",
)
perception_comprehension = _prompt(
    lambda doc: (
        f"{_perceived(doc)} {_compared(doc)}\n{CAPTIONED_MCQ.format(options=listed_options(doc))}"
    ),
    lambda doc: (
        f"{_perceived(doc)} {_compared(doc)} \n{RELEASED_DETECTIVE_MCQ} {option_lines(doc)}"
    ),
)


def _compared(doc: Document) -> str:
    return COMPREHENSION.format(pc_comp=_clause(doc["pc_comp"]))


def _perceived(doc: Document) -> str:
    return PERCEPTION.format(
        p_preevent=_clause(doc["p_preevent"]), p_postevent=_clause(doc["p_postevent"])
    )


def _clause(caption: str) -> str:
    """Return a caption without the full stop that the prompt itself sets."""
    return caption.strip().rstrip(".")


def _two_clips(question: Prompt) -> Prompt:
    """Return a ``doc_to_text`` with the sentences that precede each of the two clips.

    A chat model gets the clips between the sentences (``doc_to_messages``); this is the same text
    in one piece, which the harness builds for every task and logs.
    """
    return _prompt(lambda doc: f"{BEGINNING}\n{END}\n{question(doc)}", _refused)


def _refused(doc: Document) -> str:
    raise ValueError("Tasks with several clips have no released prompt; leave prompt_style out.")


_OF_KIND: Mapping[str, Prompt] = {
    "forecaster_gen": forecaster_gen,
    "detective_gen": detective_gen,
    "detective_mcq": detective_mcq,
    "detective_yn": yes_no,
    "reporter_gen": reporter_gen,
    "reporter_mcq": reporter_mcq,
    "reporter_yn": yes_no,
}


def of_kind(kind: str) -> Prompt:
    """Return the prompt of a kind of question, for one video."""
    return _OF_KIND[kind]


def parts(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> str:
    """Return the text of a message with frames of every part, in one piece, as it is logged."""
    kind = str(doc["task"])
    question = of_kind(kind)
    prompt = _two_clips(question) if kind.startswith("detective") else _prompt(question, _refused)
    return prompt(doc, lmms_eval_specific_kwargs)


detective_gen_clips = _two_clips(detective_gen)
detective_mcq_clips = _two_clips(detective_mcq)
detective_yn_clips = _two_clips(yes_no)
