"""People rate what was written in free text: the forms, what is rated, the file of ratings.

Two forms of the BlackSwanSuite paper. `evaluation` (appendix D, figure 11) rates what models or
people answered in a run; each rating needs its reason, and of a question's sampled responses one
is rated. `validation` (appendix B.2, figure 10) rates the release's own references.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from video_reasoning.tasks import store
from video_reasoning.tasks.pages.annotate.decisions import (
    DecisionLine,
    DecisionLog,
    State,
    state_of,
)
from video_reasoning.tasks.pages.annotate.questions import (
    Question,
    drawn_rank,
    load_questions,
    tasks_named,
)
from video_reasoning.tasks.pages.journal import PageError
from video_reasoning.tasks.results.items import gather
from video_reasoning.tasks.store.questions import load_questions as load_rows

LONGEST_WHY = 600  # characters of the reason for a rating
REFERENCES = "references"
"""What stands in for a model's name if the release's references are rated."""


@dataclass(frozen=True)
class Criterion:
    """One thing that is rated.

    Attributes:
        name: In the file.
        labels: What each value means, in order; empty for plain numbers.
        values: What is recorded for each, in the same order.
    """

    name: str
    title: str
    question: str
    labels: tuple[str, ...]
    values: tuple[int, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """What the page shows beside each label: its key."""
        return tuple(str(place + 1) for place in range(len(self.values)))


def _five(name: str, title: str, question: str, *labels: str) -> Criterion:
    """Return a criterion of five points, of which the labels name the best first."""
    return Criterion(name, title, question, labels[::-1], (1, 2, 3, 4, 5))


_EVALUATION = (
    _five(
        "correctness",
        "Correctness",
        "Does the description correctly answer the question?",
        "Very likely correct",
        "Mostly correct",
        "Partly incorrect",
        "Possibly incorrect",
        "Very likely incorrect",
    ),
    _five(
        "thoughtfulness",
        "Depth and thoughtfulness",
        "How much depth in reasoning is covered in the description? Is there sufficient "
        "reasoning to support the description?",
        "Very thoughtful reasoning",
        "Thoughtfully written, but could be better",
        "Mediocre level of reasoning depth",
        "Somewhat vague reasoning",
        "No depth in reasoning",
    ),
    _five(
        "detail",
        "Level of detail",
        "Does the description have sufficient level of detail to easily identify and "
        "differentiate between people/objects and actions?",
        "Sufficient to perfectly identify people, objects and cause of actions",
        "Good enough to identify them, but not specific in some aspects",
        "Just sufficient for answering the question",
        "Poor, missing important aspects to tell them apart",
        "Very poor, does not describe them sufficiently",
    ),
    Criterion(
        "entailment",  # as tables 3 to 5 give it: 1 if the text follows the video
        "Visual contradiction",
        "Does the description reasonably follow or contradict what is happening in the video? It "
        "is a contradiction only if it is impossible, given the video.",
        ("Follows", "Contradicts"),
        (1, 0),
    ),
)

_VALIDATION = (
    Criterion(
        "correctness",
        "Correctness",
        "Rate the correctness: one mistake can be a deduction of one point.",
        (),
        tuple(range(1, 11)),
    ),
    Criterion(
        "thoughtfulness",
        "Reasoning quality",
        "Rate the reasoning quality or depth/thoughtfulness.",
        (),
        tuple(range(1, 11)),
    ),
    Criterion(
        "grammar",
        "Grammar",
        "Is it grammatically correct? It does not have to be perfect.",
        ("No", "Yes"),
        (0, 1),
    ),
)

FormName = Literal["evaluation", "validation"]
FORMS: Mapping[str, tuple[Criterion, ...]] = {
    "evaluation": _EVALUATION,
    "validation": _VALIDATION,
}
NEEDS_REASONS: Mapping[str, bool] = {"evaluation": True, "validation": False}


@dataclass(frozen=True)
class Rated:
    """A text to rate, with the question that it answers.

    Attributes:
        model: Who wrote it; the page is not told.
        text: What was written.
    """

    question: Question
    form: str
    model: str
    text: str

    @property
    def id(self) -> str:
        """What the page calls it: the question, and a name of the text that hides its writer."""
        return f"{self.question.id} {self.digest[:4]}"

    @property
    def task(self) -> str:
        """The harness's task."""
        return self.question.task

    @property
    def video(self) -> Path | None:
        """The video that the question is about."""
        return self.question.video

    @property
    def problem(self) -> str:
        """Why it cannot be shown."""
        return self.question.problem

    @property
    def digest(self) -> str:
        """Names the text and who wrote it."""
        text = "\x1f".join((self.model, self.question.task, self.question.id, self.text))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class Rating:
    """How a person rated a text, or that it was skipped, or nothing (any more)."""

    annotator: str
    form: str
    task: str
    id: str
    model: str
    digest: str
    footage: str = ""
    ratings: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    took: float | None = None
    skip: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Who rated what with which form."""
        return self.annotator, self.form, self.digest

    @property
    def state(self) -> State:
        """What kind of decision it is."""
        return state_of(self.ratings, self.skip)


class _Line(DecisionLine):
    """One line of the file."""

    form: FormName
    model: str
    digest: str = Field(min_length=1)
    ratings: dict[str, int] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _decides(self) -> _Line:
        scales = {criterion.name: criterion.values for criterion in FORMS[self.form]}
        whole = self.ratings.keys() == scales.keys() and all(
            value in scales[name] for name, value in self.ratings.items()
        )
        if not (self.cleared or self.skip or whole):
            raise ValueError("a line clears, skips, or rates every criterion of its form")
        return self


class RatingLog(DecisionLog[Rating]):
    """One file of ratings; people, forms and models share it."""

    kind = "file of ratings"
    decision = "rating"

    line, made = _Line, Rating
    nothing: ClassVar = {"ratings": {}, "reasons": {}}


def check(
    form: str, ratings: Mapping[str, int], reasons: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, str]]:
    """Return ratings and reasons as they are kept.

    Raises:
        PageError: A criterion is not rated, or its reason is missing.
    """
    kept = {}
    for criterion in FORMS[form]:
        value = ratings.get(criterion.name)
        if value not in criterion.values:
            raise PageError(f"Rate {criterion.title.lower()} as well.")
        kept[criterion.name] = int(value)
        why = " ".join(reasons.get(criterion.name, "").split())
        if NEEDS_REASONS[form] and not why:
            raise PageError(f"Write why you rated {criterion.title.lower()} so.")
        if len(why) > LONGEST_WHY:
            raise PageError(f"A reason may have {LONGEST_WHY} characters at most.")
    names = kept.keys() & {name for name, why in reasons.items() if why.strip()}
    return kept, {name: " ".join(reasons[name].split()) for name in kept if name in names}


def from_runs(paths: Sequence[Path], names: Sequence[str], seed: int) -> list[Rated]:
    """Return what runs answered in free text: of a question's sampled responses one, drawn.

    Args:
        paths: Output folders of the harness, results files or sample logs.
        names: Tasks to rate; empty for all in free text.
        seed: Another seed draws other responses.

    Raises:
        LogError: A path is absent or not a log.
        PageError: No run has free text.
    """
    found = []
    for log in gather(paths):
        if not log.generated or (names and log.task not in names):
            continue
        questions = {q.id: q for task in tasks_named([log.task]) for q in load_questions(task)}
        for item in log.items:
            texts = [text for text in item.responses or () if text.strip()]
            if item.id in questions and texts:
                rank = drawn_rank(seed, log.run.label, log.task, item.id)
                drawn = int.from_bytes(rank[:8], "big") % len(texts)
                found.append(Rated(questions[item.id], "evaluation", log.run.label, texts[drawn]))
    if not found:
        listed = ", ".join(map(str, paths))
        raise PageError(
            f"No run in {listed} has answers in free text: run blackswan_gen with --log_samples."
        )
    return found


def from_references(names: Sequence[str]) -> list[Rated]:
    """Return the references that a release has for tasks in free text.

    Raises:
        PageError: The tasks have none.
    """
    found = []
    for task in tasks_named(names):
        ((benchmark, split),) = task.needs
        rows = load_rows(store.questions_file(benchmark, split), ("id", "references"))
        for question in load_questions(task):
            for text in rows[question.id].get("references") or ():
                found.append(Rated(question, "validation", REFERENCES, str(text)))
    if not found:
        raise PageError(f"{', '.join(names)}: the release has no references for these tasks.")
    return found


def draw(rated: Sequence[Rated], size: int, seed: int) -> list[Rated]:
    """Draw videos at random by what is filmed and the seed, and return all texts about them."""

    def rank(footage: str) -> bytes:
        return drawn_rank("rate", seed, footage)

    kept = set(sorted({each.question.footage for each in rated}, key=rank)[:size])
    return [each for each in rated if each.question.footage in kept]


def order_for(rated: Sequence[Rated], annotator: str, seed: int) -> list[int]:
    """Return the places of the texts in a person's own order, parts that show less first.

    Texts of all writers come mixed: a person cannot tell whose is whose by its place.
    """

    def rank(place: int) -> tuple[int, bytes]:
        text = rated[place]
        return text.question.level, drawn_rank("rate", seed, annotator, text.digest)

    return sorted(range(len(rated)), key=rank)


def by_model(ratings: Iterable[Rating]) -> dict[tuple[str, str, str], list[Rating]]:
    """Group what was rated by form, task and model."""
    found: dict[tuple[str, str, str], list[Rating]] = {}
    for rating in ratings:
        if rating.state == "answered":
            found.setdefault((rating.form, rating.task, rating.model), []).append(rating)
    return dict(sorted(found.items()))
