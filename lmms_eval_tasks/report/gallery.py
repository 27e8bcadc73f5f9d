"""Examples: a few questions of each task with the frames, the options and what was answered."""

from __future__ import annotations

import base64
import io
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.preprocessing.conditions import Condition, clip_name, condition_indices
from video_reasoning.preprocessing.files import content_id
from video_reasoning.preprocessing.video import VideoError, open_video
from video_reasoning.tasks.registry import our_tasks
from video_reasoning.tasks.report.tables import RunKey, run_key
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.signature import condition_of

__all__ = ["Example", "Frame", "Verdict", "examples", "frames_with"]

KINDS = ("right", "wrong", "unparsed", "missing")
"""What an example shows; also the order in which they are shown."""

MOST_ON_PAGE = 72
"""Examples in a whole report, whatever the number of tasks."""

LEAST_PER_TASK = 3
SAMPLED = 8
"""Frames of a video of which the model's own sampler took what it saw."""

MOST_FRAMES = 32
SIZE = 112
"""Longer side of a picture in pixels."""

QUALITY = 60


@dataclass(frozen=True)
class Frame:
    """One picture: ``uri`` is a ``data:`` address, ``name`` says which frame it is."""

    uri: str
    name: str


@dataclass(frozen=True)
class Verdict:
    """What one run answered.

    Attributes:
        run: which run.
        kind: one of :data:`KINDS`, or "withheld" or "generated".
        item: the logged line.
    """

    run: RunKey
    kind: str
    item: Item


@dataclass
class Example:
    """One question under one condition with what every run answered.

    Attributes:
        task: the task's name.
        id: the question's id.
        condition: frames shown, or the empty text.
        question: its text; empty where the store's questions are gone.
        hypothesis: for yes or no, the statement that is asked about, where it is a text apart.
        options: its options, none for yes or no and for free text.
        answer: the right letter, "yes" or "no", or the empty text.
        references: reference texts, for generated text.
        verdicts: what each run answered.
        frames: pictures, in the order shown.
        caption: what the pictures are.
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
    """Chooses examples of one task and takes their pictures.

    Right, wrong, unparsed and missing ones in turn, spread over the task by a digest of their
    ids: not the first of the file, and the same ones every time.

    Args:
        logs: one task, of one run or several.
        n_tasks: how many tasks share the page.
        most: how many at most.

    Returns:
        The examples; those of a task whose questions are gone have no pictures.
    """
    most = min(most, max(LEAST_PER_TASK, MOST_ON_PAGE // max(1, n_tasks)))
    by_item: dict[Hashable, list[Verdict]] = {}
    for log in logs:
        for item in log.items:
            verdict = Verdict(run_key(log.run), _kind(log, item), item)
            by_item.setdefault((item.id, item.condition), []).append(verdict)
    chosen = _choose(list(by_item.values()), most)
    found = []
    for verdicts in chosen:
        item = verdicts[0].item
        log = next((each for each in logs if item.id in each.questions), logs[0])
        question = log.questions.get(item.id) or {}
        example = Example(
            task=log.task,
            id=item.id,
            condition=item.condition or _condition_of(log),
            question=str(question.get("question") or ""),
            hypothesis=_hypothesis(question),
            options=list(question.get("options") or []),
            answer=item.target if "gen" not in str(question.get("task")) else "",
            references=list(question.get("references") or []),
            verdicts=verdicts,
        )
        example.frames, example.caption = _pictures(log, question, example)
        found.append(example)
    return found


def _hypothesis(question: Mapping[str, Any]) -> str:
    text = str(question.get("hypothesis") or "")
    return "" if text in str(question.get("question")) else text


def _kind(log: TaskLog, item: Item) -> str:
    if item.status in ("missing", "unparsed"):
        return item.status
    if log.generated:
        return "generated"
    if item.score is None:
        return "withheld"
    return "right" if item.score >= 1 else "wrong"


def _choose(items: Sequence[Sequence[Verdict]], most: int) -> list[Sequence[Verdict]]:
    """A share for each kind; what one kind does not use goes to the others."""

    def digest(verdicts: Sequence[Verdict]) -> str:
        item = verdicts[0].item
        return sha256(f"{item.id}|{item.condition}".encode("utf-8", "surrogatepass")).hexdigest()

    queues: dict[str, list[Sequence[Verdict]]] = {}
    for verdicts in sorted(items, key=digest):
        for kind in {verdict.kind for verdict in verdicts}:
            queues.setdefault(kind, []).append(verdicts)
    order = [kind for kind in (*KINDS, "withheld", "generated") if kind in queues]
    # A missing item shows nothing but why: two of them are enough.
    caps = {"missing": 2}
    chosen: dict[str, Sequence[Verdict]] = {}
    taken: dict[str, int] = dict.fromkeys(order, 0)
    places: dict[str, int] = {}
    while len(chosen) < most and any(queues.values()):
        before = len(chosen)
        for kind in order:
            if taken[kind] >= caps.get(kind, most):
                continue
            while queues[kind] and len(chosen) < most:
                verdicts = queues[kind].pop(0)
                name = digest(verdicts)
                if name not in chosen:
                    chosen[name] = verdicts
                    places[name] = order.index(kind)
                    taken[kind] += 1
                    break
        if len(chosen) == before:
            break
    return [chosen[name] for name in sorted(chosen, key=lambda name: places[name])]


def _condition_of(log: TaskLog) -> str:
    """Return the frames that a task shows of every video; empty if it shows the video itself."""
    ours = our_tasks().get(log.task)
    return condition_of({"dataset_name": ours.condition if ours else "", **log.result.config})


def _pictures(
    log: TaskLog, question: Mapping[str, Any], example: Example
) -> tuple[list[Frame], str]:
    """The frames that the model saw, or frames of the video that it was handed."""
    if example.condition == "blind":
        return [], "The model saw no video."
    if all(verdict.kind == "missing" for verdict in example.verdicts):
        return [], "The video could not be shown: the model was sent a black clip instead."
    if log.folder is None or not question.get("video"):
        return [], "No pictures: the store that the run read is not there."
    names = ["video"]
    if log.task.endswith("_clips"):
        names = ["video_before", "video_after"]
    paths = [log.folder / str(question.get(name) or question["video"]) for name in names]
    try:
        if example.condition:
            return _condition_frames(log, question, example, paths[0], log.folder / "clips")
        frames = [
            frame
            for path in paths
            for frame in _evenly(path, SAMPLED // len(paths), "" if len(paths) == 1 else path.stem)
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
        pick = _pick(log, example.id)
        if pick is None:
            return [], "No pictures: the pick is no longer in the store."
    made = clips / clip_name(content_id(path), condition, example.id, pick)
    n_frames = int(question.get("frames") or 0) or _count(path)
    indices = condition_indices(condition, n_frames, example.id, pick)
    shown = indices[:MOST_FRAMES]
    if made.is_file():  # what the run made and showed; it holds a single frame twice
        images = _frames_at(made, range(len(shown)))
        pictures = [images[place] for place in range(len(shown)) if place in images]
    else:
        images = _frames_at(path, shown)
        pictures = [images[index] for index in shown if index in images]
    frames = [
        Frame(picture, f"frame {index} of {n_frames}")
        for picture, index in zip(pictures, shown, strict=False)
    ]
    count = f"{len(frames)} frames" if len(frames) != 1 else "frame"
    order = ", in the order shown" if len(frames) > 1 else ""
    more = f" ({len(indices) - MOST_FRAMES} more were shown)" if len(indices) > MOST_FRAMES else ""
    return frames, f"The {count} that the model was shown{order}{more}."


def _pick(log: TaskLog, id_: str) -> int | None:
    from video_reasoning.tasks.store.picks import read_installed

    if log.folder is None:
        return None
    found = read_installed(log.benchmark, log.folder.parent).get(id_)
    return found.frame if found else None


def _evenly(path: Path, count: int, prefix: str) -> list[Frame]:
    n_frames = _count(path)
    indices = condition_indices(Condition("ordered", count), n_frames, "")
    images = _frames_at(path, indices)
    name = f"{prefix}, " if prefix else ""
    return [
        Frame(images[index], f"{name}frame {index} of {n_frames}")
        for index in dict.fromkeys(indices)
        if index in images
    ]


def frames_with(
    path: Path, singles: Mapping[str, Condition], key: str, count: int
) -> tuple[list[Frame], list[Frame]]:
    """Single frames of a video that were shown, and frames at equal distances of it.

    Args:
        path: the video.
        singles: how a single frame is called -> the condition that shows it.
        key: the question's id.
        count: how many frames at equal distances.

    Raises:
        VideoError: if the video cannot be read.
    """
    n_frames = _count(path)
    shown = {name: condition_indices(each, n_frames, key)[0] for name, each in singles.items()}
    evenly = condition_indices(Condition("ordered", count), n_frames, "")
    images = _frames_at(path, [*shown.values(), *evenly])

    def named(prefix: str, index: int) -> Frame:
        return Frame(images[index], f"{prefix}frame {index} of {n_frames}")

    alone = [named(f"{name}: ", index) for name, index in shown.items() if index in images]
    return alone, [named("", index) for index in dict.fromkeys(evenly) if index in images]


def _count(path: Path) -> int:
    with open_video(path) as (container, stream):
        found = sum(packet.size > 0 for packet in container.demux(stream))
    if not found:
        raise VideoError(f"{path} holds no frame.")
    return int(found)


def _frames_at(path: Path, indices: Sequence[int]) -> dict[int, str]:
    """Frames of a video as small JPEG pictures: index -> ``data:`` address."""
    wanted = set(indices)
    found: dict[int, str] = {}
    with open_video(path) as (container, stream):
        stream.thread_type = "AUTO"
        for index, frame in enumerate(container.decode(stream)):
            if index in wanted:
                found[index] = _jpeg(frame)
                if len(found) == len(wanted):
                    break
    if not found:
        raise VideoError(f"{path} holds no frame that can be decoded.")
    return found


def _jpeg(frame: Any) -> str:
    scale = min(1.0, SIZE / max(frame.width, frame.height))
    size = (max(2, round(frame.width * scale)), max(2, round(frame.height * scale)))
    image = frame.reformat(*size, format="rgb24").to_image()
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
