"""A task's visuals under a condition, whatever they are.

Tasks of the harness return a path to a video, several, a part of one with its times, or frames
that they read themselves. Videos become clips of their frames; all clips of an item come from one
decode. Frames are chosen from. What cannot be shown under a condition is refused with the reason.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from video_reasoning.preprocessing.conditions import (
    Condition,
    clip_name,
    condition_indices,
    make_conditions,
)
from video_reasoning.preprocessing.files import content_id
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks import media

__all__ = [
    "NotShownError",
    "Shower",
    "Shown",
    "described",
    "kind_of",
    "placeholder_for",
    "visuals_of",
]

_IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".tiff", ".webp")
_SOUNDS = (".wav", ".mp3", ".m4a", ".aac", ".flac", ".ogg", ".opus")
_PATH_KEYS = ("url", "path", "video", "image", "video_path")
_START_KEYS = ("video_start", "start_time", "start", "start_sec", "start_second")
_END_KEYS = ("video_end", "end_time", "end", "end_sec", "end_second")
_SAMPLING_KEYS = ("nframes", "num_frames", "fps", "min_frames", "max_frames", "max_num_frames")
"""What a part of a message may ask of the reader of the task's own video, and not of a clip's."""

Media = Literal["video", "image", "frames", "sound"]


class NotShownError(Exception):
    """An item that cannot be shown under a condition; says why."""


@dataclass(frozen=True)
class Shown:
    """What a model gets of one item.

    Attributes:
        visuals: in the task's own form: paths, images.
        shape: what the task shows, in words: ``1 video``, ``12 frames``, ``2 videos``.
        source: the first video's path; for frames a name made of the first one.
    """

    visuals: list[Any]
    shape: str
    source: str = ""


@dataclass(frozen=True)
class Shower:
    """Shows items under one condition.

    Attributes:
        condition: which frames.
        together: the audit's conditions, made from the same decode.
        clips: folder of made clips.
    """

    condition: Condition
    together: tuple[Condition, ...]
    clips: Path

    def show(self, given: Any, key: str, pick: int | None = None) -> Shown:
        """An item's visuals under the condition.

        Args:
            given: what the task's ``doc_to_visual`` returned.
            key: the question's id.
            pick: its handpicked frame, if it has one.

        Raises:
            NotShownError: if it cannot be shown so.
        """
        visuals = _listed(given)
        shape, source = described(visuals)
        kinds = [kind_of(visual) for visual in visuals]
        if "video" in kinds:
            if self.condition.kind == "handpicked" and kinds.count("video") > 1:
                raise NotShownError(
                    f"it shows {shape}, and a handpicked frame does not say of which"
                )
            shown: list[Any] = []
            n_videos = 0
            for visual, kind in zip(visuals, kinds, strict=True):
                if kind != "video":
                    shown.append(visual)
                    continue
                n_videos += 1
                shown += self._video(visual, key if n_videos == 1 else f"{key}#{n_videos}", pick)
            return Shown(shown, shape, source)
        if "frames" in kinds:
            if len(visuals) > 1:
                raise NotShownError(f"it shows {shape}; several arrays of frames are not known")
            frames = visuals[0]
            places = self._places(len(frames), key, pick)
            return Shown([frames[places]] if places else [], shape, source)
        images = [place for place, kind in enumerate(kinds) if kind == "image"]
        if not images:
            raise NotShownError(f"it shows {shape}, no video")
        if len(images) == 1:
            raise NotShownError("it shows a single image, which has no frames to choose from")
        chosen = [images[place] for place in self._places(len(images), key, pick)]
        rest = [visual for visual, kind in zip(visuals, kinds, strict=True) if kind != "image"]
        return Shown([*(visuals[place] for place in chosen), *rest], shape, source)

    def replace(self, messages: Any, key: str, pick: int | None = None) -> tuple[Any, Shown]:
        """Chat messages with their video parts under the condition.

        Text stays as it is. Where frames are given as images, the frames shown take the places
        of the first of them.

        Args:
            messages: what the task's ``doc_to_messages`` returned.
            key: the question's id.
            pick: its handpicked frame, if it has one.

        Raises:
            NotShownError: if they cannot be shown so.
        """
        parts = _parts_of(messages)
        shown = self.show([_visual_of(part) for part in parts], key, pick)
        places = [part for part in parts if part["type"] == "video"] or parts
        videos = places[0]["type"] == "video"
        left = [visual for visual in shown.visuals if not videos or kind_of(visual) == "video"]
        put = {id(part): visual for part, visual in zip(places, left, strict=False)}
        gone = {id(part) for part in places if id(part) not in put}
        replaced = []
        for message in messages:
            content = message.get("content")
            if isinstance(content, list):
                content = [
                    _part_with(part, put[id(part)]) if id(part) in put else part
                    for part in content
                    if id(part) not in gone
                ]
            replaced.append({**message, "content": content})
        return replaced, shown

    def _places(self, n_frames: int, key: str, pick: int | None) -> list[int]:
        """Which of the frames that a task gives are shown; none twice."""
        condition = self.condition
        if condition.kind in ("ordered", "shuffled"):
            condition = Condition(condition.kind, min(condition.m, n_frames), condition.seed)
        try:
            return condition_indices(condition, n_frames, key, pick)
        except ValueError as error:
            raise NotShownError(str(error)) from error

    def _video(self, visual: Any, key: str, pick: int | None) -> list[str]:
        path, span = _located(visual)
        if self.condition.kind == "blind":
            return []
        try:
            name = clip_name(content_id(path), self.condition, key, pick, span)
            if (self.clips / name).exists():
                return [str(self.clips / name)]  # made with another condition's clip
        except OSError:
            pass  # what is wrong with the file is said below
        wanted = [
            other
            for other in dict.fromkeys((self.condition, *self.together))
            if other == self.condition or other.kind != "handpicked" or pick is not None
        ]
        requests = [(condition, key, pick) for condition in wanted if condition.kind != "blind"]
        try:
            try:
                made = make_conditions(path, requests, self.clips, span=span)[0]
            except ValueError:
                if len(requests) == 1:
                    raise
                # A pick outside the video is the fault of one condition, not of all.
                made = make_conditions(path, requests[:1], self.clips, span=span)[0]
        except (VideoError, ValueError, OSError) as error:
            raise NotShownError(str(error)) from error
        return [str(made.path)]


def described(given: Any) -> tuple[str, str]:
    """What a task shows, in words, and a name of it: the first video's path, or of its frames.

    Raises:
        NotShownError: if it holds what is not known, or a video that cannot be located.
    """
    visuals = _listed(given)
    kinds = [kind_of(visual) for visual in visuals]
    shape = _shape(visuals, kinds)
    for visual, kind in zip(visuals, kinds, strict=True):
        if kind == "video":
            return shape, str(_located(visual)[0])
    for visual, kind in zip(visuals, kinds, strict=True):
        if kind in ("image", "frames"):
            return shape, _name_of(visual)
    return shape, ""


def _name_of(visual: Any) -> str:
    """A name for an image or the first of an array of frames: the same for the same pixels."""
    if isinstance(visual, Mapping):
        visual = next((visual[name] for name in _PATH_KEYS if visual.get(name) is not None), "")
    if isinstance(visual, (str, Path)):
        return str(visual)
    try:
        import numpy as np

        pixels = np.asarray(visual[0] if kind_of(visual) == "frames" else visual)
        return f"frames-{hashlib.blake2b(pixels.tobytes(), digest_size=8).hexdigest()}"
    except Exception:  # a name is worth little: whatever the object is, it is shown
        return ""


def placeholder_for(given: Any) -> list[Any]:
    """What stands in for visuals that cannot be shown, in the form that the task gives."""
    kinds = {kind_of(visual) for visual in _listed(given)}
    if kinds and kinds <= {"image", "sound"}:
        from PIL import Image

        return [Image.new("RGB", (320, 240))]
    return [str(media.placeholder())]


def kind_of(visual: Any) -> Media | None:
    """What a visual is; None for what is not known."""
    if isinstance(visual, Mapping):
        if visual.get("type") in ("image", "audio"):
            return "image" if visual["type"] == "image" else "sound"
        if "array" in visual or "sampling_rate" in visual:
            return "sound"
        return "video" if any(visual.get(name) for name in _PATH_KEYS) else None
    if isinstance(visual, (str, Path)):
        suffix = Path(str(visual)).suffix.lower()
        if suffix in _IMAGES:
            return "image"
        return "sound" if suffix in _SOUNDS else "video"
    shape = getattr(visual, "shape", None)
    if shape is not None and len(shape) in (3, 4):
        return "frames" if len(shape) == 4 else "image"
    if hasattr(visual, "mode") and hasattr(visual, "size"):  # an image of PIL, not imported here
        return "image"
    return None


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, (list, tuple)):
        return list(given)
    return [given]


def _shape(visuals: Sequence[Any], kinds: Sequence[Media | None]) -> str:
    """What a task shows, in words."""
    if not visuals:
        return "nothing"
    if None in kinds:
        raise NotShownError(
            f"it shows an object of type {type(visuals[kinds.index(None)]).__name__}, which is "
            "neither a path, an image nor an array of frames"
        )
    names = {"video": "video", "image": "image", "frames": "array of frames", "sound": "sound"}
    counts = {kind: sum(other == kind for other in kinds) for kind in dict.fromkeys(kinds) if kind}
    words = []
    for kind, count in counts.items():
        text = f"{count} {names[kind]}"
        words.append(text if count == 1 else text.replace("array", "arrays", 1).rstrip("s") + "s")
    if any(
        _located(visual)[1] for visual, kind in zip(visuals, kinds, strict=True) if kind == "video"
    ):
        words[0] += " with times"
    return " and ".join(words)


def _located(visual: Any) -> tuple[Path, tuple[float, float] | None]:
    """A video's path, and the part of it that is meant."""
    span = None
    if isinstance(visual, Mapping):
        start = _first(visual, _START_KEYS)
        end = _first(visual, _END_KEYS)
        if start is not None or end is not None:
            span = (max(0.0, start or 0.0), math.inf if end is None or end < 0 else end)
        inner = next(visual[name] for name in _PATH_KEYS if visual.get(name))
        if isinstance(inner, Mapping):
            path, inner_span = _located(inner)
            return path, span or inner_span
        visual = inner
    text = str(visual)
    if text.startswith("file://"):
        text = url2pathname(urlsplit(text).path)
    if "://" in text:
        raise NotShownError(f"it shows the address {text}; only a local file can be prepared")
    path = Path(text)
    if path.is_dir():
        raise NotShownError(f"it shows the folder {text}; only a video file can be prepared")
    return path, span


def _first(visual: Mapping[str, Any], names: Sequence[str]) -> float | None:
    for name in names:
        value = visual.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
    return None


def visuals_of(messages: Any) -> list[Any]:
    """The videos and images in chat messages, as ``doc_to_visual`` would give them."""
    return [_visual_of(part) for part in _parts_of(messages)]


def _parts_of(messages: Any) -> list[Mapping[str, Any]]:
    return [
        part
        for message in messages
        if isinstance(message.get("content"), list)
        for part in message["content"]
        if isinstance(part, Mapping) and part.get("type") in ("video", "image")
    ]


def _visual_of(part: Mapping[str, Any]) -> Any:
    """The visual in a part of a message, in the form that ``doc_to_visual`` would give."""
    inner = next((part[name] for name in _PATH_KEYS if part.get(name) is not None), None)
    if inner is None:
        return dict(part)
    times = {name: part[name] for name in (*_START_KEYS, *_END_KEYS) if part.get(name) is not None}
    if part["type"] == "image":
        return inner if not isinstance(inner, str) else {"type": "image", "url": inner}
    if isinstance(inner, Mapping):
        return {**inner, **times}
    return {"type": "video", "url": inner, **times} if times else inner


def _part_with(part: Mapping[str, Any], visual: Any) -> dict[str, Any]:
    """A part of a message with another visual, without the times and sampling of the one before."""
    name = next((name for name in _PATH_KEYS if part.get(name) is not None), "url")
    gone = (*_START_KEYS, *_END_KEYS, *_SAMPLING_KEYS) if part.get("type") == "video" else ()
    kept = {key: part[key] for key in part if key not in gone}
    if isinstance(visual, Mapping) and visual.get("type") == "image":
        visual = visual["url"]
    return {**kept, name: visual}
