"""The page on which people answer and rate; see :mod:`video_reasoning.tasks.pages.server`.

Nothing that this module reads has the right answers, so that none can reach the page; nor is the
page told whose text is rated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, FastAPI, HTTPException
from pydantic import Field

from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.pages import server as pages
from video_reasoning.tasks.pages.annotate.answers import (
    LONGEST_TEXT,
    Answer,
    Key,
    check,
    spoilers,
)
from video_reasoning.tasks.pages.annotate.decisions import Decision, DecisionLog
from video_reasoning.tasks.pages.annotate.questions import WHOLE, Excerpt, Question, order_for
from video_reasoning.tasks.pages.annotate.ratings import (
    FORMS,
    LONGEST_WHY,
    NEEDS_REASONS,
    Rated,
    Rating,
)
from video_reasoning.tasks.pages.annotate.ratings import check as check_rating
from video_reasoning.tasks.pages.annotate.ratings import order_for as order_of_texts
from video_reasoning.tasks.pages.server import Annotator, ItemRequest, Place, unseen


class AnswerRequest(ItemRequest):
    """An answer: a letter, "yes" or "no", or texts; `took` is in seconds."""

    responses: list[Annotated[str, Field(max_length=2 * LONGEST_TEXT)]] = Field(max_length=5)
    took: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)


S = TypeVar("S", bound=pages.Shown)
D = TypeVar("D", bound=Decision)


class _Place(pages.Workplace[S, D]):
    """What both pages work on.

    Args:
        items: All that anybody is asked in this session.
        log: The file of decisions.
        title: What the page says it is about.
        annotator: Name that a new page begins with.
        seed: Of each person's order and variants.
    """

    package = "video_reasoning.tasks.pages.annotate"
    largest_body = 32_768

    def __init__(
        self, items: Sequence[S], log: DecisionLog[D], title: str, annotator: str, seed: int = 0
    ) -> None:
        super().__init__(items, log, title, annotator)
        self.seed = seed


class Workplace(_Place[Question, Answer]):
    """What the page of questions works on: questions, and the file of answers."""

    def key(self, item: Question, annotator: str) -> Key:
        """Return the key of an annotator's answers to a question."""
        return annotator, item.task, item.shown, item.id

    def seen(self, decision: Answer | None) -> dict[str, Any]:
        """Return an answer as the page reads it."""
        if decision is None:
            return {"state": "open", "responses": [], "skip": None}
        return {
            "state": decision.state,
            "responses": list(decision.responses),
            "skip": decision.skip,
        }

    def skipped(self, item: Question, annotator: str, reason: str) -> Answer:
        """Return the decision to skip a question."""
        return self.answer(item, annotator, skip=reason)

    def answer(self, item: Question, annotator: str, **what: Any) -> Answer:
        """Return a decision on a question."""
        return Answer(
            annotator,
            item.task,
            item.shown,
            item.id,
            item.digest,
            item.footage,
            item.level,
            item.pair,
            len(item.choices),
            **what,
        )

    def order(self, annotator: str) -> Sequence[int]:
        """Return the numbers of the person's questions, in their own order."""
        return order_for(self.items, annotator, self.seed)

    def states(self, annotator: str) -> Mapping[int, str]:
        """Return the questions that the person cannot be asked."""
        return {**super().states(annotator), **dict.fromkeys(self.spoiled(annotator), "broken")}

    def spoiled(self, annotator: str) -> Mapping[int, str]:
        """Say by number which questions the person cannot be asked any more; see `spoilers`."""
        answers = [found for found in self.log.decisions.values() if found.annotator == annotator]
        return spoilers(self.items, answers)

    def frame_rule(self, item: Question) -> Callable[[int], Sequence[int]] | None:
        """Return which frames a question shows."""
        return None if item.shown == WHOLE else Excerpt(Condition.parse(item.shown), item.id)

    def playable(self, number: int) -> Path:
        """Return the video to play, if the question shows it.

        Raises:
            VideoError: The question shows frames.
        """
        if self.item(number).shown != WHOLE:
            raise VideoError("this question shows frames of it only.")
        return self.video(number)


class RateRequest(ItemRequest):
    """A text rated: criterion -> value, and criterion -> why; `took` is in seconds."""

    ratings: dict[str, int] = Field(max_length=8)
    reasons: dict[str, Annotated[str, Field(max_length=2 * LONGEST_WHY)]] = Field(max_length=8)
    took: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)


class RatingPlace(_Place[Rated, Rating]):
    """What the page of ratings works on: texts, and the file of ratings."""

    def key(self, item: Rated, annotator: str) -> tuple[str, str, str]:
        """Return the key of an annotator's ratings of a text."""
        return annotator, item.form, item.digest

    def seen(self, decision: Rating | None) -> dict[str, Any]:
        """Return a rating as the page reads it."""
        if decision is None:
            return {"state": "open", "ratings": {}, "reasons": {}, "skip": None}
        return {
            "state": decision.state,
            "ratings": decision.ratings,
            "reasons": decision.reasons,
            "skip": decision.skip,
        }

    def skipped(self, item: Rated, annotator: str, reason: str) -> Rating:
        """Return the decision to skip a text."""
        return self.rating(item, annotator, skip=reason)

    def rating(self, item: Rated, annotator: str, **what: Any) -> Rating:
        """Return a decision on a text."""
        question = item.question
        return Rating(
            annotator,
            item.form,
            item.task,
            question.id,
            item.model,
            item.digest,
            question.footage,
            **what,
        )

    def order(self, annotator: str) -> Sequence[int]:
        """Return the numbers of the texts, in the person's own order."""
        return order_of_texts(self.items, annotator, self.seed)


def create_app(workplace: Workplace | RatingPlace) -> FastAPI:
    """Build the application, guarded."""
    answers = isinstance(workplace, Workplace)
    return pages.create_app(workplace, _answer_router if answers else _rate_router)


_answer_router = APIRouter()
_rate_router = APIRouter()


@_rate_router.get("/api/items/{number}")
def _show_rated(workplace: Place, number: int, annotator: Annotator) -> dict[str, Any]:
    item: Rated = workplace.item(number)
    workplace.log.refresh()
    shown: dict[str, Any] = {
        "number": number,
        "id": item.id,
        "task": item.task,
        "kind": "rating",
        "question": item.question.text,
        "response": item.text,
        "form": [
            {**vars(criterion), "keys": criterion.keys, "labels": criterion.labels}
            for criterion in FORMS[item.form]
        ],
        "reasons": NEEDS_REASONS[item.form],
        "shown": WHOLE,
        "choices": [],
        "frames": 0,
        "decision": workplace.decided(number, annotator),
        "problem": "",
    }
    try:
        workplace.player.check(workplace.video(number))
    except VideoError as error:
        return {**shown, "problem": unseen(error)}
    return shown


@_rate_router.post("/api/rate")
def _rate(workplace: Place, request: RateRequest) -> dict[str, Any]:
    item: Rated = workplace.item(request.item)
    if item.problem:
        raise HTTPException(422, "The video cannot be shown, and so the text not be rated.")
    ratings, reasons = check_rating(item.form, request.ratings, request.reasons)
    made = workplace.rating(
        item, request.annotator, ratings=ratings, reasons=reasons, took=request.took
    )
    found: dict[str, Any] = workplace.record(request.item, made)
    return found


@_answer_router.get("/api/items/{number}")
def _show(workplace: Place, number: int, annotator: Annotator) -> dict[str, Any]:
    question: Question = workplace.item(number)
    workplace.log.refresh()
    shown: dict[str, Any] = {
        "number": number,
        "id": question.id,
        "task": question.task,
        "kind": question.kind,
        "question": question.text,
        "hypothesis": question.hypothesis,
        "choices": question.choices,
        "options": question.options,
        "responses": question.responses,
        "shown": question.shown,
        "decision": workplace.decided(number, annotator),
        "problem": "",
        "frames": 0,
    }
    spoiled = workplace.spoiled(annotator).get(number)
    if spoiled and shown["decision"]["state"] == "open":
        return {**shown, "problem": f"This question is left out for you: {spoiled}"}
    try:
        if question.shown == WHOLE:
            workplace.player.check(workplace.video(number))
        elif question.shown != "blind":
            shown["frames"] = len(workplace.grid(number).pictures)
    except VideoError as error:
        return {**shown, "problem": unseen(error)}
    return shown


@_answer_router.post("/api/answer")
def _answer(workplace: Place, request: AnswerRequest) -> dict[str, Any]:
    question: Question = workplace.item(request.item)
    who = request.annotator
    if question.problem or request.item not in workplace.order(who):
        raise HTTPException(422, "The question cannot be shown to you, and so not be answered.")
    decided = workplace.decided(request.item, who)["state"] != "open"
    if not decided and request.item in workplace.spoiled(who):
        raise HTTPException(422, "The question is left out for you: you have seen more of it.")
    responses = check(question, request.responses)
    made = workplace.answer(question, who, responses=responses, took=request.took)
    found: dict[str, Any] = workplace.record(request.item, made)
    return found
