"""Examples: a few questions of each task with the frames, the options and what was answered."""

from __future__ import annotations

import base64
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.frames import Frames, jpeg, read_frames
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.report.footage import NoFootage, Still, condition_shown, footage
from video_reasoning.tasks.report.player import Embedded
from video_reasoning.tasks.report.tables import RunKey, run_key
from video_reasoning.tasks.results.items import Item, TaskLog, texts

KINDS = ("right", "wrong", "unparsed", "missing")
"""What an example shows; also the order in which they are shown."""

_ORDER = (*KINDS, "failed", "withheld", "generated")

MOST_ON_PAGE = 48  # examples in a whole report, whatever the number of tasks
LEAST_PER_TASK = 3
SIZE = 480  # longer side of a picture in pixels
QUALITY = 60


@dataclass(frozen=True)
class Frame:
    """One picture: ``uri`` is a ``data:`` address, ``name`` says which frame it is."""

    uri: str
    name: str


@dataclass(frozen=True)
class Verdict:
    """What one run answered; `kind` is in :data:`KINDS`, or "failed", "withheld" or "generated"."""

    run: RunKey
    kind: str
    item: Item
    log: Path

    @property
    def sight(self) -> str:
        """How many of the frames shown reached the model; empty if that was not counted."""
        item = self.item
        if item.seen is None:
            return ""
        of = "" if item.shown is None else f" of {item.shown}"
        order = {True: ", in order", False: ", not in order", None: ""}[item.ordered]
        return f"saw {item.seen}{of} frames{order}"

    @property
    def response(self) -> str:
        """What it wrote."""
        return next(texts(self.log, [self.item]))


@dataclass
class Example:
    """One question under one condition with what every run answered.

    Attributes:
        condition: Frames shown, or the empty text.
        question: Its text; empty if the store's questions are gone.
        hypothesis: For yes or no, the statement that is asked about, if it is a separate text.
        options: Its options, none for yes or no and for free text.
        answer: The right letter, "yes" or "no", or the empty text.
        references: Reference texts, for generated text.
        frames: Pictures, in the order shown; the caption says what they are.
        clips: Addresses of what can be played; the note says why there are none.
    """

    task: str
    id: str
    condition: str
    question: str
    hypothesis: str
    options: Sequence[str]
    answer: str
    references: Sequence[str]
    verdicts: Sequence[Verdict]
    frames: list[Frame] = field(default_factory=list)
    caption: str = ""
    clips: Sequence[str] = ()
    clip_note: str = ""

    @property
    def kind(self) -> str:
        """What became of it, or "mixed" if its runs differ."""
        kinds = {verdict.kind for verdict in self.verdicts}
        return kinds.pop() if len(kinds) == 1 else "mixed"


def examples(logs: Sequence[TaskLog], n_tasks: int, most: int, clips: Embedded) -> list[Example]:
    """Choose examples of one task, run once or several times, and take their pictures.

    Right, wrong, unparsed and missing ones in turn, spread over the task by a digest of their
    ids: not the first of the file, and the same ones every time. There are at most `most` of them,
    fewer if many tasks share the page. If a task's questions are gone, there are no pictures.
    """
    most = min(most, max(LEAST_PER_TASK, MOST_ON_PAGE // max(1, n_tasks)))
    by_item: dict[Hashable, list[Verdict]] = {}
    for log in logs:
        for item in log.items:
            verdict = Verdict(run_key(log.run), outcome(log, item), item, log.log)
            by_item.setdefault((item.id, item.condition), []).append(verdict)
    found = []
    for verdicts in _choose(list(by_item.values()), most):
        item = verdicts[0].item
        log = next((each for each in logs if item.id in each.questions), logs[0])
        question = log.questions.get(item.id) or {}
        hypothesis = str(question.get("hypothesis") or "")
        example = Example(
            task=log.task,
            id=item.id,
            condition=condition_shown(log, item),
            question=str(question.get("question") or ""),
            hypothesis="" if hypothesis in str(question.get("question")) else hypothesis,
            options=list(question.get("options") or []),
            answer=item.target if "gen" not in str(question.get("task")) else "",
            references=list(question.get("references") or []),
            verdicts=verdicts,
        )
        _add_pictures(log, question, example, clips)
        found.append(example)
    return found


def outcome(log: TaskLog, item: Item) -> str:
    """Say what became of an item: one of the kinds, or "failed", "withheld" or "generated"."""
    if item.status in ("missing", "failed", "unparsed"):
        return item.status
    if log.generated:
        return "generated"
    if item.score is None:
        return "withheld"
    return "right" if item.score >= 1 else "wrong"


def _choose(items: Sequence[Sequence[Verdict]], most: int) -> list[Sequence[Verdict]]:
    """Return a share for each kind; what one kind does not use goes to the others."""

    def digest(verdicts: Sequence[Verdict]) -> str:
        item = verdicts[0].item
        return sha256(f"{item.id}|{item.condition}".encode("utf-8", "surrogatepass")).hexdigest()

    spread = sorted(items, key=digest)
    chosen: dict[int, tuple[int, Sequence[Verdict]]] = {}

    def left(kind: str) -> Iterator[Sequence[Verdict]]:
        for verdicts in spread:
            if id(verdicts) not in chosen and kind in {verdict.kind for verdict in verdicts}:
                yield verdicts

    # A missing item shows nothing but why: two of them are enough.
    queues = [islice(left(kind), 2 if kind == "missing" else None) for kind in _ORDER]
    for _ in range(most):
        for place, queue in enumerate(queues):
            if len(chosen) < most and (verdicts := next(queue, None)):
                chosen[id(verdicts)] = place, verdicts
    return [verdicts for _, verdicts in sorted(chosen.values(), key=itemgetter(0))]


def _add_pictures(
    log: TaskLog, question: Mapping[str, Any], example: Example, clips: Embedded
) -> None:
    """Add the frames that the model saw, or frames of the video it was handed, and the clip."""
    if all(verdict.kind == "missing" for verdict in example.verdicts):
        example.caption = "The video could not be shown: the model was sent a black clip instead."
        return
    try:
        shown = footage(log, question, example.id, example.condition)
        stills = shown.stills(_thumbnail)
    except NoFootage as reason:
        example.caption = str(reason)
        return
    except (VideoError, OSError, ValueError) as error:
        logger.warning(f"{example.id}: no pictures: {error}")
        example.caption = f"No pictures: {error}"
        return
    example.frames = [Frame(still.picture, still.name) for still in stills]
    example.caption = shown.caption(len(stills))
    example.clips, example.clip_note = clips.addresses(shown)


def frames_with(
    path: Path, singles: Mapping[str, Condition], key: str, count: int
) -> tuple[list[Frame], list[Frame]]:
    """Return named single frames that conditions show, and frames of a video at equal distances.

    Raises:
        VideoError: The video cannot be read.
    """

    def shown(n_frames: int) -> list[int]:
        alone = [condition_indices(each, n_frames, key)[0] for each in singles.values()]
        return alone + list(dict.fromkeys(uniform_indices(n_frames, count)))

    frames = _named(read_frames(path, shown, _thumbnail))
    alone = [
        replace(frame, name=f"{name}: {frame.name}")
        for name, frame in zip(singles, frames, strict=False)
    ]
    return alone, frames[len(singles) :]


def _named(read: Frames[str]) -> list[Frame]:
    return [
        Frame(picture, Still(picture, index, read.n_frames, seconds).name)
        for picture, index, seconds in zip(read.pictures, read.indices, read.seconds, strict=True)
    ]


def _thumbnail(image: Any) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg(image, SIZE, QUALITY)).decode()}"
