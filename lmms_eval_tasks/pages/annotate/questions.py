"""What people are asked: the questions of the harness's tasks, without their answers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.tasks import registry, store
from video_reasoning.tasks.benchmarks import BENCHMARKS, resolve
from video_reasoning.tasks.pages.journal import PageError
from video_reasoning.tasks.registry import OurTask
from video_reasoning.tasks.results.logs import condition_of
from video_reasoning.tasks.store.questions import read_table

WHOLE = "video"
"""What is shown if it is the whole video of the task."""

Kind = Literal["choice", "yes_no", "text"]


@dataclass(frozen=True)
class Question:
    """One question as a person is asked it. It does not know the right answer.

    Attributes:
        id: The question's id in the store.
        task: The harness's task.
        text: The question.
        hypothesis: For yes or no, the statement to judge; else empty.
        options: The options in the task's order, A first.
        responses: How many different responses in free text are asked for; 1 for a choice.
        shown: "video", or the name of a condition whose frames are shown.
        video: Path of the video; None if it cannot be shown.
        problem: Why it cannot be shown, or the empty text.
        pair: What a question's variants have in common; a person is asked one of them.
        footage: Names what is filmed, across tasks.
        level: How much of it is shown, compared with other tasks and ways of showing.
        digest: Of the text and options: answers to other ones do not count.
    """

    id: str
    task: str
    text: str
    hypothesis: str
    options: tuple[str, ...]
    responses: int
    shown: str
    video: Path | None
    problem: str
    pair: str
    footage: str
    level: int
    digest: str

    @property
    def kind(self) -> Kind:
        """How the question is answered."""
        if self.options:
            return "choice"
        return "yes_no" if self.hypothesis else "text"

    @property
    def choices(self) -> tuple[str, ...]:
        """What can be chosen: letters, or "yes" and "no"; nothing for free text."""
        if self.kind == "yes_no":
            return ("yes", "no")
        return tuple(ascii_uppercase[: len(self.options)])


@dataclass(frozen=True)
class Excerpt:
    """The frames of a condition; equal excerpts show the same frames of a video."""

    condition: Condition
    key: str

    def __call__(self, n_frames: int) -> Sequence[int]:
        """Return the frames' indices."""
        return condition_indices(self.condition, n_frames, self.key)


def tasks_named(names: Iterable[str]) -> list[OurTask]:
    """Return the tasks that people can be asked, groups resolved, in order of what they reveal.

    Raises:
        PageError: There is no such task of ours, or a person cannot be asked it.
        StoreError: Its questions were not prepared.
    """
    names = list(names)
    unknown = [name for name in names if not registry.requested([name])]
    if unknown:
        raise PageError(
            f"There is no task {unknown[0]}; `lmms_eval --tasks list` prints all, for example "
            "blackswan_detective_mcq, tvbench_tomato_direction or causalvqa_debug."
        )
    tasks = [task for task in registry.requested(names) if not task.members]
    problems = [*filter(None, map(_refusal, tasks)), *registry.missing_data(names)]
    if problems:
        raise PageError(problems[0])
    # Options and statements give away what could be written in free text about the same video.
    return sorted(tasks, key=lambda task: (_part(task), not task.selects.endswith("_gen")))


def _refusal(task: OurTask) -> str:
    """Say why a person cannot be asked a task, or return the empty text."""
    config = registry.config_of(task.name)
    if not task.needs:
        return f"{task.name} does not read the store; name a task of the three benchmarks."
    if "doc_to_messages" in config:
        return (
            f"{task.name} shows two clips, for chat models; name the task without _clips, whose "
            "video has both."
        )
    if task.selects and BENCHMARKS[task.needs[0][0]].kinds[task.selects]:
        return f"{task.name} adds captions for models; the page shows people the video instead."
    if task.condition in ("principles", "frames"):
        return (
            f"{task.name} asks every question under several conditions, and a person remembers "
            "the first; name one task and one condition with --show."
        )
    return ""


def _part(task: OurTask) -> int:
    """Return how much of its videos a task shows, compared with others of its benchmark."""
    reveals = BENCHMARKS[task.needs[0][0]].reveals
    found = (place for place, part in enumerate(reveals) if task.selects.startswith(part))
    return next(found, 0)


def load_questions(task: OurTask, show: str = "", home: Path | None = None) -> list[Question]:
    """Read the questions of a task in its order.

    Args:
        task: One of :func:`tasks_named`.
        show: "video" or the name of a condition; empty for what the task shows.
        home: The store; None for the usual one.

    Raises:
        PageError: There is no such condition, or people cannot be shown it.
        StoreError: The questions cannot be read.
    """
    documents = _documents(task, home)
    config = registry.config_of(task.name)
    shown = _shown(show or condition_of(config) or WHOLE)
    ((benchmark, _),) = task.needs
    folder = store.benchmark_folder(benchmark, home)
    level = 2 * _part(task) + (shown == WHOLE)
    return [
        _question(document, task.name, shown, folder, level, int(config.get("repeats") or 1))
        for document in documents
    ]


def _shown(name: str) -> str:
    if name == WHOLE:
        return name
    try:
        condition = Condition.parse(name)
    except ValueError as error:
        raise PageError(f"--show: {error} `video` shows the whole video.") from None
    if condition.kind == "handpicked":
        raise PageError(
            "--show handpicked1 is for models: name video, ordered16, random1 or last1."
        )
    return condition.name


def _documents(task: OurTask, home: Path | None) -> Any:
    """Return what the harness would ask: the task's own choice of questions and columns."""
    from datasets import Dataset, DatasetInfo, NamedSplit

    ((benchmark, split),) = task.needs
    path = store.questions_file(benchmark, split, home)
    table = read_table(path)
    info = DatasetInfo(config_name=task.condition or None)
    dataset = Dataset(table, info=info, split=NamedSplit(split))
    choose: Callable[[Any], Any] = resolve(registry.config_of(task.name)["process_docs"])
    return choose(dataset)


def _question(
    document: Mapping[str, Any], task: str, shown: str, folder: Path, level: int, responses: int
) -> Question:
    video, problem = str(document.get("video") or ""), str(document.get("problem") or "")
    inside = store.inside(video, folder)
    if not inside and not problem:
        problem = "its video is outside the store" if video else "the question names no video"
    text, hypothesis = str(document["question"]), str(document.get("hypothesis") or "")
    options = tuple(map(str, document.get("options") or ()))
    asked = "\x1f".join((text, hypothesis, *options))
    return Question(
        id=str(document["id"]),
        task=task,
        text=text,
        hypothesis=hypothesis,
        options=options,
        responses=responses,
        shown=shown,
        video=folder / video if inside else None,
        problem="" if shown == "blind" else problem,
        pair=str(document.get("qid") or document["id"]),
        footage=f"{folder.name}/{document.get('video_before') or video}",
        level=level,
        digest=hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16],
    )


def draw(questions: Sequence[Question], size: int, seed: int) -> list[Question]:
    """Draw questions at random from nothing but their task, id and the seed, in their order.

    A question's variants are drawn together. The sample is the same for every person and on every
    machine, and a larger sample contains the smaller one.
    """
    pairs = sorted(
        {question.pair for question in questions},
        key=lambda pair: drawn_rank("annotate", "sample", seed, questions[0].task, pair),
    )
    kept = set(pairs[:size])
    return [question for question in questions if question.pair in kept]


def order_for(questions: Sequence[Question], annotator: str, seed: int) -> list[int]:
    """Return the places of the questions that a person is asked, in an order of their own.

    Tasks that show less of a video come before those that show more, and the questions of a task
    stay together. Of a question's variants each person is asked one. Both draws depend on
    nothing but the person's name, the seed and the question.
    """

    def variant(name: str) -> bytes:
        return drawn_rank("annotate", "variant", seed, annotator, name)

    variants: dict[tuple[str, str], list[int]] = {}
    for place, question in enumerate(questions):
        variants.setdefault((question.task, question.pair), []).append(place)
    chosen = [
        min(places, key=lambda place: variant(questions[place].id)) for places in variants.values()
    ]
    tasks = {task: place for place, task in enumerate(dict.fromkeys(q.task for q in questions))}

    def rank(place: int) -> tuple[int, int, bytes]:
        question = questions[place]
        drawn = drawn_rank("annotate", "order", seed, annotator, question.task, question.id)
        return question.level, tasks[question.task], drawn

    return sorted(chosen, key=rank)


def drawn_rank(*parts: object) -> bytes:
    """Return a random rank that depends on nothing but the parts, a seed among them."""
    return hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()
