"""The file of people's answers, a journal (:mod:`video_reasoning.tasks.pages.journal`).

A line is one of::

    {"annotator": "ana", "task": "blackswan_detective_mcq", "shown": "video",
     "id": "detective_mcq/1", "responses": ["B"], "digest": "0f3a...", "took": 14.2,
     "at": "2025-01-31T09:30:00+00:00", ...}
    {..., "skip": "the video does not play", "at": ...}
    {..., "cleared": true, "undo": true, "at": ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field, model_validator

from video_reasoning.tasks.pages.annotate.decisions import (
    DecisionLine,
    DecisionLog,
    State,
    state_of,
)
from video_reasoning.tasks.pages.annotate.questions import Question
from video_reasoning.tasks.pages.journal import PageError

LONGEST_TEXT = 1500  # characters of a response in free text
FEWEST_WORDS = 8  # words of a response in free text (BlackSwan, figure 12)

Key = tuple[str, str, str, str]


@dataclass(frozen=True)
class Answer:
    """What a person answered to a question, or that it was skipped, or nothing (any more).

    Attributes:
        shown: What they saw, see :class:`Question`.
        responses: A letter, "yes" or "no", or texts; none for a skip.
        digest: Of the question as it was asked.
        footage: What was filmed, across tasks.
        level: How much of it was shown.
        pair: What the question's variants have in common.
        took: Seconds from when the question came up; None if they are not known.
        skip: Why it was skipped; None if it was not.
    """

    annotator: str
    task: str
    shown: str
    id: str
    digest: str = ""
    footage: str = ""
    level: int = 0
    pair: str = ""
    options: int = 0
    responses: tuple[str, ...] = ()
    took: float | None = None
    skip: str | None = None

    @property
    def key(self) -> Key:
        """Who answered what, and how it was shown."""
        return self.annotator, self.task, self.shown, self.id

    @property
    def state(self) -> State:
        """What kind of decision it is."""
        return state_of(self.responses, self.skip)


class _Line(DecisionLine):
    """One line of the file."""

    shown: str = Field(min_length=1)
    level: int = 0
    pair: str = ""
    options: int = 0
    responses: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _decides(self) -> _Line:
        if not (self.cleared or self.skip or (self.responses and all(self.responses))):
            raise ValueError("a line clears, skips, or answers")
        return self


class AnswerLog(DecisionLog[Answer]):
    """One file of answers; people and tasks share it."""

    kind = "file of answers"
    decision = "answer"

    line, made = _Line, Answer
    nothing: ClassVar = {"responses": ()}


def check(question: Question, responses: Sequence[str]) -> tuple[str, ...]:
    """Return responses as they are kept.

    Raises:
        PageError: They do not answer the question.
    """
    if question.kind != "text":
        if len(responses) != 1 or responses[0] not in question.choices:
            raise PageError(f"The answer must be one of {', '.join(question.choices)}.")
        return tuple(responses)
    texts = tuple(" ".join(response.split()) for response in responses)
    if len(texts) != question.responses:
        raise PageError(f"The question asks for {question.responses} responses.")
    if any(len(text) > LONGEST_TEXT for text in texts):
        raise PageError(f"A response may have {LONGEST_TEXT:,} characters at most.")
    if any(len(text.split()) < FEWEST_WORDS for text in texts):
        raise PageError(f"Each response needs at least {FEWEST_WORDS} words.")
    if len({text.casefold() for text in texts}) < len(texts):
        raise PageError("The responses must differ from each other.")
    return texts


def spoilers(questions: Iterable[Question], answers: Iterable[Answer]) -> Mapping[int, str]:
    """Say which questions a person cannot be asked any more, by place, and why.

    Who has seen more of a video, or another variant of the question, does not answer as others do.

    Args:
        questions: What would be asked.
        answers: All that the person has decided.
    """
    seen: dict[str, Answer] = {}
    variants: dict[tuple[str, str], str] = {}
    for answer in answers:
        known = seen.get(answer.footage)
        if answer.footage and (known is None or answer.level > known.level):
            seen[answer.footage] = answer
        variants[answer.task, answer.pair] = answer.id
    found = {}
    for place, question in enumerate(questions):
        more = seen.get(question.footage)
        variant = variants.get((question.task, question.pair), question.id)
        if more is not None and more.level > question.level:
            found[place] = f"you have seen more of this video in {more.task} ({more.shown})."
        elif variant != question.id:
            found[place] = f"you have answered another variant of this question, {variant}."
    return found
