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

from video_reasoning.preprocessing.clips import CLOCKS, clip_for
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.frames import Frames, count_frames, jpeg, read_frames
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks import store
from video_reasoning.tasks.registry import our_tasks
from video_reasoning.tasks.report.tables import RunKey, run_key
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.signature import condition_of
from video_reasoning.tasks.store.picks import read_picks

KINDS = ("right", "wrong", "unparsed", "missing")
"""What an example shows; also the order in which they are shown."""

_ORDER = (*KINDS, "failed", "withheld", "generated")

MOST_ON_PAGE = 72  # examples in a whole report, whatever the number of tasks
LEAST_PER_TASK = 3
SAMPLED = 8  # frames shown of a video from which the model's own sampler took what it saw
MOST_FRAMES = 32
SIZE = 112  # longer side of a picture in pixels
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


def examples(logs: Sequence[TaskLog], n_tasks: int, most: int) -> list[Example]:
    """Choose examples of one task, run once or several times, and take their pictures.

    Right, wrong, unparsed and missing ones in turn, spread over the task by a digest of their
    ids: not the first of the file, and the same ones every time. There are at most `most` of them,
    fewer if many tasks share the page. If a task's questions are gone, there are no pictures.
    """
    most = min(most, max(LEAST_PER_TASK, MOST_ON_PAGE // max(1, n_tasks)))
    by_item: dict[Hashable, list[Verdict]] = {}
    for log in logs:
        for item in log.items:
            verdict = Verdict(run_key(log.run), _kind(log, item), item)
            by_item.setdefault((item.id, item.condition), []).append(verdict)
    found = []
    for verdicts in _choose(list(by_item.values()), most):
        item = verdicts[0].item
        log = next((each for each in logs if item.id in each.questions), logs[0])
        question = log.questions.get(item.id) or {}
        ours = our_tasks().get(log.task)
        config = {"dataset_name": ours.condition if ours else "", **log.result.config}
        hypothesis = str(question.get("hypothesis") or "")
        example = Example(
            task=log.task,
            id=item.id,
            condition=item.condition or condition_of(config),
            question=str(question.get("question") or ""),
            hypothesis="" if hypothesis in str(question.get("question")) else hypothesis,
            options=list(question.get("options") or []),
            answer=item.target if "gen" not in str(question.get("task")) else "",
            references=list(question.get("references") or []),
            verdicts=verdicts,
        )
        example.frames, example.caption = _pictures(log, question, example)
        found.append(example)
    return found


def _kind(log: TaskLog, item: Item) -> str:
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


def _pictures(
    log: TaskLog, question: Mapping[str, Any], example: Example
) -> tuple[list[Frame], str]:
    """Return the frames that the model saw, or frames of the video that it was handed."""
    if example.condition == "blind":
        return [], "The model saw no video."
    if all(verdict.kind == "missing" for verdict in example.verdicts):
        return [], "The video could not be shown: the model was sent a black clip instead."
    if log.folder is None or not question.get("video"):
        return [], "No pictures: the store that the run read is not there."
    names = ["video_before", "video_after"] if log.task.endswith("_clips") else ["video"]
    videos = [str(question.get(name) or question["video"]) for name in names]
    if not all(store.inside(video, log.folder) for video in videos):
        return [], "No pictures: the video is outside the store."
    paths = [log.folder / video for video in videos]
    try:
        if example.condition:
            return _condition_frames(log, question, example, paths[0], log.folder / "clips")
        frames = [
            Frame(frame.uri, frame.name if len(paths) == 1 else f"{path.stem}, {frame.name}")
            for path in paths
            for frame in frames_with(path, {}, "", SAMPLED // len(paths))[1]
        ]
        caption = (
            f"{len(frames)} frames at equal distances of the video that the model was handed; "
            "which frames it saw its own sampler decided."
        )
        return frames, caption
    except (VideoError, OSError, ValueError) as error:
        logger.warning(f"{example.id}: no pictures: {error}")
        return [], f"No pictures: {error}"


def _condition_frames(
    log: TaskLog, question: Mapping[str, Any], example: Example, path: Path, clips: Path
) -> tuple[list[Frame], str]:
    condition = Condition.parse(example.condition)
    pick = None
    if condition.kind == "handpicked":
        pick = read_picks(log.benchmark, clips.parent.parent).get(example.id)
        if pick is None:
            return [], "No pictures: the pick is no longer in the store."

    def shown(n_frames: int) -> list[int]:
        return condition_indices(condition, n_frames, example.id, pick)[:MOST_FRAMES]

    made = (
        clip_for(path, condition, example.id, clips, pick=pick, make=False, clock=clock)
        for clock in CLOCKS
    )
    clip = next((each for each in made if each is not None), None)
    if clip is None:
        frames = _named(read_frames(path, shown, _thumbnail))
    else:  # what the run made and showed; a single frame is in it twice
        n_frames = int(question.get("frames") or 0) or count_frames(path)
        indices = shown(n_frames)
        read = read_frames(clip, lambda _: range(len(indices)), _thumbnail)
        frames = _named(replace(read, n_frames=n_frames, indices=tuple(indices)))
    count = f"{len(frames)} frames" if len(frames) != 1 else "frame"
    order = ", in the order shown" if len(frames) > 1 else ""
    left = condition.m - len(frames)
    more = f" ({left} more were shown)" if left else ""
    return frames, f"The {count} that the model was shown{order}{more}."


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
        Frame(picture, f"frame {index} of {read.n_frames}")
        for picture, index in zip(read.pictures, read.indices, strict=True)
    ]


def _thumbnail(image: Any) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg(image, SIZE, QUALITY)).decode()}"
