"""A task's visuals under a condition, whatever they are.

Tasks of the harness return a path to a video, several, a part of one with its times, or frames
that they read themselves. Videos become clips of their frames; all clips of an item come from one
decode. Frames are chosen from. What cannot be shown under a condition is refused with the reason.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import Clock, Condition, condition_indices
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.preprocessing.wanted import Span
from video_reasoning.tasks import media

_IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".tiff", ".webp")
_SOUNDS = (".wav", ".mp3", ".m4a", ".aac", ".flac", ".ogg", ".opus")
_PATH_KEYS = ("url", "path", "video", "image", "video_path")
_START_KEYS = ("video_start", "start_time", "start", "start_sec", "start_second")
_END_KEYS = ("video_end", "end_time", "end", "end_sec", "end_second")
_SAMPLING_KEYS = ("nframes", "num_frames", "fps", "min_frames", "max_frames", "max_num_frames")
# What a part of a message may ask of the reader of the task's own video, and not of a clip's.

Media = Literal["video", "image", "frames", "sound"]


class NotShownError(Exception):
    """An item cannot be shown under a condition; the message says why."""


@dataclass(frozen=True)
class Shown:
    """What a model gets of one item.

    Attributes:
        visuals: In the task's own form: paths, images.
        shape: What the task shows, in words: ``1 video``, ``12 frames``, ``2 videos``.
        source: The first video's path; for frames a name made of the first one.
    """

    visuals: list[Any]
    shape: str
    source: str = ""


@dataclass(frozen=True)
class Shower:
    """Shows items under one condition.

    Attributes:
        condition: Which frames.
        together: The audit's conditions, made from the same decode.
        clips: Folder of clips.
        clock: When clips show their frames.
    """

    condition: Condition
    together: tuple[Condition, ...]
    clips: Path
    clock: Clock = "source"

    def show(self, given: Any, key: str, pick: int | None = None) -> Shown:
        """Return an item's visuals under the condition.

        Args:
            given: What the task's ``doc_to_visual`` returned.
            key: The question's id.
            pick: Its handpicked frame, if it has one.

        Raises:
            NotShownError: It cannot be shown so.
        """
        visuals = _listed(given)
        if len(visuals) == 1 and isinstance(visuals[0], (list, tuple)):
            inner = self.show(visuals[0], key, pick)  # the frames of one video as a list
            return replace(inner, visuals=[inner.visuals] if inner.visuals else [])
        shape, source = described(visuals)
        kinds = [kind_of(visual) for visual in visuals]
        if "video" in kinds:
            shown = self._videos(visuals, shape, key, pick)
        elif "frames" in kinds:
            if len(visuals) > 1:
                raise NotShownError(f"it shows {shape}; several arrays of frames are not supported")
            places = self._places(len(visuals[0]), key, pick)
            shown = [visuals[0][places]] if places else []
            shown = [each * 0 for each in shown] if self.condition.kind == "black" else shown
        else:
            images = [visual for visual in visuals if kind_of(visual) == "image"]
            if not images:
                raise NotShownError(f"it shows {shape}, no video")
            if len(images) == 1:
                raise NotShownError("it shows a single image, which has no frames to choose from")
            shown = [images[place] for place in self._places(len(images), key, pick)]
            if self.condition.kind == "black":
                shown = [_black_like(image) for image in shown]
            shown += [visual for visual in visuals if kind_of(visual) != "image"]
        return Shown(shown, shape, source)

    def replace(
        self, messages: Any, given: Any, key: str, pick: int | None = None
    ) -> tuple[Any, Shown]:
        """Return chat messages with their video parts under the condition.

        Text stays as it is. If frames are given as images, the frames shown take the places of
        the first of them.

        Args:
            messages: What the task's ``doc_to_messages`` returned.
            given: The visuals of these messages, or others to show in their place.
            key: The question's id.
            pick: Its handpicked frame, if it has one.

        Raises:
            NotShownError: They cannot be shown so.
        """
        parts = _parts_of(messages)
        shown = self.show(given, key, pick)
        places = [part for part in parts if part["type"] == "video"] or parts
        videos = places[0]["type"] == "video"
        left = iter([each for each in shown.visuals if not videos or kind_of(each) == "video"])
        put = {id(part): next(left, None) for part in places}
        replaced = []
        for message in messages:
            content = message.get("content")
            if isinstance(content, list):
                content = [
                    _part_with(part, put[id(part)]) if id(part) in put else part
                    for part in content
                    if put.get(id(part), part) is not None
                ]
            replaced.append({**message, "content": content})
        return replaced, shown

    def _places(self, n_frames: int, key: str, pick: int | None) -> list[int]:
        """Which of the frames that a task gives are shown; none twice, unless it is frozen."""
        try:
            condition = replace(self.condition, m=min(self.condition.m, n_frames))
            return condition_indices(condition, n_frames, key, pick)
        except ValueError as error:
            raise NotShownError(str(error)) from error

    def _videos(self, visuals: list[Any], shape: str, key: str, pick: int | None) -> list[Any]:
        """Return the visuals with a clip in place of each video, drawn for each by itself."""
        videos = [place for place, visual in enumerate(visuals) if kind_of(visual) == "video"]
        condition = self.condition
        if condition.kind == "handpicked" and len(videos) > 1:
            raise NotShownError(f"it shows {shape}, and a handpicked frame does not say of which")
        shown: list[Any] = list(visuals)
        for number, place in enumerate(videos, 1):
            path, span = _located(visuals[place])
            own = key if number == 1 else f"{key}#{number}"
            try:
                clip = clip_for(
                    *(path, condition, own, self.clips),
                    pick=pick,
                    span=span,
                    together=self.together,
                    clock=self.clock,
                )
            except (VideoError, ValueError, OSError) as error:
                raise NotShownError(str(error)) from error
            shown[place] = clip and str(clip)
        return [visual for visual in shown if visual is not None]


def described(given: Any) -> tuple[str, str]:
    """Return what a task shows, in words, and a name of it.

    The name is the first video's path, or made of the first image or array of frames.

    Raises:
        NotShownError: It contains an unknown object, or a video that cannot be located.
    """
    visuals = _listed(given)
    if len(visuals) == 1 and isinstance(visuals[0], (list, tuple)):
        return described(visuals[0])
    kinds = [kind_of(visual) for visual in visuals]
    shape = _shape(visuals, kinds)
    if "video" in kinds:
        return shape, str(_located(visuals[kinds.index("video")])[0])
    pictures = (visual for visual in visuals if kind_of(visual) in ("image", "frames"))
    return shape, _name_of(next(pictures, ""))


def sources_of(given: Any) -> frozenset[str]:
    """Return the paths of all videos that a task shows, or a name of its first image or frame.

    Raises:
        NotShownError: It contains an unknown object, or a video that cannot be located.
    """
    visuals = _listed(given)
    if len(visuals) == 1 and isinstance(visuals[0], (list, tuple)):
        return sources_of(visuals[0])
    videos = [each for each in visuals if kind_of(each) == "video"]
    if not videos:
        return frozenset([described(given)[1]])
    return frozenset(str(_located(each)[0].absolute()) for each in videos)


def _name_of(visual: Any) -> str:
    """Name an image, or the first of an array of frames: the same for the same pixels."""
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


def _black_like(image: Any) -> Any:
    """Return a black image of the same size."""
    from PIL import Image

    if isinstance(image, Mapping):
        image = next(image[name] for name in _PATH_KEYS if image.get(name) is not None)
    if isinstance(image, (str, Path)):
        with Image.open(image) as opened:
            return Image.new("RGB", opened.size)
    return Image.new("RGB", image.size) if hasattr(image, "mode") else image * 0


def placeholder_for(given: Any) -> list[Any]:
    """Return what replaces visuals that cannot be shown, in the form that the task gives."""
    kinds = {kind_of(visual) for visual in _listed(given)}
    if kinds and kinds <= {"image", "sound"}:
        from PIL import Image

        return [Image.new("RGB", (320, 240))]
    return [str(media.placeholder())]


def kind_of(visual: Any) -> Media | None:
    """Return what a visual is; None for an unknown object."""
    if isinstance(visual, Mapping):
        if visual.get("type") in ("image", "audio"):
            return "image" if visual["type"] == "image" else "sound"
        if "array" in visual or "sampling_rate" in visual:
            return "sound"
        given = next((visual[name] for name in _PATH_KEYS if visual.get(name)), None)
        return None if given is None else "frames" if isinstance(given, list) else "video"
    if isinstance(visual, (str, Path)):
        suffix = Path(visual).suffix.lower()
        if suffix in _IMAGES:
            return "image"
        return "sound" if suffix in _SOUNDS else "video"
    dimensions = len(getattr(visual, "shape", None) or ())
    if dimensions == 3 or (hasattr(visual, "mode") and hasattr(visual, "size")):  # of PIL
        return "image"
    return "frames" if dimensions == 4 else None


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _shape(visuals: Sequence[Any], kinds: Sequence[Media | None]) -> str:
    """Return what a task shows, in words."""
    if None in kinds:
        raise NotShownError(
            f"it shows an object of type {type(visuals[kinds.index(None)]).__name__}, which is "
            "neither a path, an image nor an array of frames"
        )
    names = [kind if kind != "frames" else "array" for kind in kinds]
    words = [f"{count} {name}{'s' * (count > 1)}" for name, count in Counter(names).items()]
    words = [f"{each} of frames" if "array" in each else each for each in words]
    videos = [each for each, kind in zip(visuals, kinds, strict=True) if kind == "video"]
    if any(_located(video)[1] for video in videos):
        words[0] += " with times"
    return " and ".join(words) or "nothing"


def _located(visual: Any) -> tuple[Path, Span | None]:
    """Return a video's path, and the part of it that is meant."""
    span = None
    if isinstance(visual, Mapping):
        start, end = _first(visual, _START_KEYS), _first(visual, _END_KEYS)
        if start is not None or end is not None:
            span = (max(0.0, start or 0.0), math.inf if end is None or end < 0 else end)
        visual = next(visual[name] for name in _PATH_KEYS if visual.get(name))
        if isinstance(visual, Mapping):
            path, inner_span = _located(visual)
            return path, span or inner_span
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
    values = (visual.get(name) for name in names)
    numbers = (each for each in values if isinstance(each, (int, float)))
    return next((float(each) for each in numbers if not isinstance(each, bool)), None)


def visuals_of(messages: Any) -> list[Any]:
    """Return the videos and images in chat messages, as ``doc_to_visual`` would give them."""
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
    """Return the visual in a part of a message, in the form that ``doc_to_visual`` would give."""
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
    """Return a part of a message with another visual, without the times and sampling of its own."""
    name = next((name for name in _PATH_KEYS if part.get(name) is not None), "url")
    gone = (*_START_KEYS, *_END_KEYS, *_SAMPLING_KEYS) if part.get("type") == "video" else ()
    if isinstance(visual, Mapping) and visual.get("type") == "image":
        visual = visual["url"]
    return {**{key: part[key] for key in part if key not in gone}, name: visual}
