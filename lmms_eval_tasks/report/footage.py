"""What an item showed: whole videos of the store, or the frames of a condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic

from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import CLOCKS, Condition, condition_indices
from video_reasoning.preprocessing.frames import NumberedFrames, Picture, read_frames
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks import store
from video_reasoning.tasks.blackswan.tasks import parts_of
from video_reasoning.tasks.registry import our_tasks
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.signature import condition_of
from video_reasoning.tasks.store.picks import read_picks

SAMPLED = 8  # frames shown of a video from which the model's own sampler took what it saw
MOST_FRAMES = 32

_IN_PARTS = ("_clips", "_parts5", "_parts10")
# How the names of tasks end that show the parts of a video one by one.


class NoFootage(Exception):
    """Nothing can be shown of an item; the text is a sentence that says why."""


@dataclass(frozen=True)
class Still(Generic[Picture]):
    """One frame: its picture, its index in the video, its time, and the video's name if several."""

    picture: Picture
    index: int
    n_frames: int
    seconds: float | None
    video: str = ""

    @property
    def name(self) -> str:
        """Which frame it is."""
        time = "" if self.seconds is None else f", {self.seconds:.2f} s"
        video = f"{self.video}, " if self.video else ""
        return f"{video}frame {self.index} of {self.n_frames}{time}"


@dataclass(frozen=True)
class Footage:
    """The videos of an item.

    Attributes:
        videos: Files of the store; several only if the task shows several.
        condition: Frames of each that are shown; None for the videos as they are.
        key: What the condition's draw is named by.
        pick: The handpicked frame, or None.
        clips: The store's folder of clips.
    """

    videos: tuple[Path, ...]
    condition: Condition | None
    key: str
    pick: int | None
    clips: Path

    def _shown(self, n_frames: int) -> list[int]:
        if self.condition is None:
            return list(dict.fromkeys(uniform_indices(n_frames, SAMPLED // len(self.videos))))
        return condition_indices(self.condition, n_frames, self.key, self.pick)[:MOST_FRAMES]

    def stills(self, make: Callable[[Any], Picture]) -> list[Still[Picture]]:
        """Make pictures of the frames that were shown, or of frames at equal distances.

        Raises:
            VideoError: A video cannot be read.
            ValueError: The condition cannot be shown of this video.
        """
        if len(self.videos) == 1 and (found := self._clip(self.videos[0])) is not None:
            # What the run made and showed; a single frame is in it twice.
            video = NumberedFrames(self.videos[0])
            indices = self._shown(video.n_frames)
            read = read_frames(found, lambda _: range(len(indices)), make)
            return [
                Still(picture, index, video.n_frames, round(video.seconds[index], 3))
                for picture, index in zip(read.pictures, indices, strict=True)
            ]
        stills = []
        for path in self.videos:
            read = read_frames(path, self._shown, make)
            name = path.stem if len(self.videos) > 1 else ""
            for picture, index, seconds in zip(
                read.pictures, read.indices, read.seconds, strict=True
            ):
                stills.append(Still(picture, index, read.n_frames, seconds, name))
        return stills

    def _clip(self, video: Path, folder: Path | None = None) -> Path | None:
        if self.condition is None:
            return None
        asked = (video, self.condition, self.key)
        found = None
        for clock in CLOCKS:  # whichever the model was given: the frames are the same
            found = found or clip_for(*asked, self.clips, pick=self.pick, make=False, clock=clock)
        if found is not None or folder is None:
            return found
        return clip_for(*asked, folder, pick=self.pick)

    def playable(self, folder: Path) -> list[Path]:
        """Return the files to play: the videos, or the clip of a condition of several frames.

        A clip that the store lacks is made in `folder`: looking at a run writes into no store.

        Raises:
            VideoError: A video cannot be read.
            ValueError: The condition cannot be shown of this video.
        """
        if self.condition is None:
            return list(self.videos)
        if self.condition.m < 2:
            return []
        found = (self._clip(video, folder) for video in self.videos)
        return [clip for clip in found if clip is not None]

    def caption(self, shown: int) -> str:
        """Say what `shown` pictures are."""
        if self.condition is None:
            return (
                f"{shown} frames at equal distances of the video that the model was handed; "
                "which frames it saw its own sampler decided."
            )
        count = f"{shown} frames" if shown != 1 else "frame"
        order = ", in the order shown" if shown > 1 else ""
        left = self.condition.m * len(self.videos) - shown
        more = f" ({left} more were shown)" if left else ""
        return f"The {count} that the model was shown{order}{more}."


def condition_shown(log: TaskLog, item: Item) -> str:
    """Return the frames that an item was shown; empty for the video itself."""
    ours = our_tasks().get(log.task)
    config = {"dataset_name": ours.condition if ours else "", **log.result.config}
    return item.condition or condition_of(config)


def footage(log: TaskLog, question: Mapping[str, Any], name: str, condition: str) -> Footage:
    """Find what a question showed under a condition.

    Raises:
        NoFootage: Nothing can be shown.
    """
    if condition == "blind":
        raise NoFootage("The model saw no video.")
    if log.folder is None or not question.get("video"):
        raise NoFootage("No pictures: the store that the run read is not there.")
    columns = _columns(log.task, question)
    videos = [str(question.get(column) or question["video"]) for column in columns]
    if not all(store.inside(video, log.folder) for video in videos):
        raise NoFootage("No pictures: the video is outside the store.")
    paths = tuple(log.folder / video for video in videos)
    clips = log.folder / "clips"
    if not condition:
        return Footage(paths, None, name, None, clips)
    try:
        parsed = Condition.parse(condition)
    except ValueError as error:
        raise NoFootage(f"No pictures: {error}") from error
    pick = None
    if parsed.kind == "handpicked":
        pick = read_picks(log.benchmark, log.folder.parent).get(name)
        if pick is None:
            raise NoFootage("No pictures: the pick is no longer in the store.")
    return Footage(paths, parsed, name, pick, clips)


def _columns(task: str, question: Mapping[str, Any]) -> Sequence[str]:
    """Return the columns of the videos that a task shows of a question."""
    return parts_of(question) if task.endswith(_IN_PARTS) else ("video",)
