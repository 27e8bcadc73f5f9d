"""From a row of ``questions.parquet`` to what a model is shown.

A model that is handed a path to a missing or broken video dies, and the whole run with it; a
model that is handed nothing answers blind and is scored as if it had seen the video. So an
item whose video cannot be shown gets a black placeholder clip, is reported as missing, and is
left out of the accuracy (see :mod:`video_reasoning.tasks.scoring`).
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import platformdirs
from loguru import logger

from video_reasoning.preprocessing.clips import clip_for, repeated
from video_reasoning.preprocessing.conditions import Clock, Condition
from video_reasoning.preprocessing.files import make_once, write_all
from video_reasoning.preprocessing.frames import read_frames
from video_reasoning.preprocessing.pictures import black_frame
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.preprocessing.video import VideoError, check
from video_reasoning.preprocessing.wanted import is_gathering, repeat_gathered
from video_reasoning.tasks import sight, store
from video_reasoning.tasks.models import quirks

PLACEHOLDER_FRAMES = 64
"""Frames of the placeholder clip: some samplers fail on a clip of fewer frames than they ask for,
and the papers ask for 32 at the most."""

_OUTCOMES: dict[tuple[Path, str], str] = {}
# Videos and questions whose clips were asked for in this process: why there is none, or the empty
# text. A process scores what it has shown, and a fault in the middle of a file shows only then.

_HANDED: dict[tuple[str, str, str], str] = {}
# Benchmark, question and condition -> how it was handed over in this process.

_CLOCKS: dict[tuple[str, str, str], Clock] = {}
# The same -> the clock of its clip.

WHOLE = "whole_video"
"""Attribute of a ``doc_to_visual`` that shows an excerpt: the function that shows all of it."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def excerpt_of(whole: Callable[[Mapping[str, Any]], list[str]]) -> Callable[[_Function], _Function]:
    """Mark a ``doc_to_visual`` that shows the frames of a document's ``condition``.

    An audit can then choose other frames, of all that ``whole`` shows, and name them to the
    task's ``doc_to_text`` by ``condition``.
    """

    def mark(function: _Function) -> _Function:
        setattr(function, WHOLE, whole)
        return function

    return mark


def video_path(benchmark: str, document: Mapping[str, Any]) -> Path:
    """Return the path of the video that a document is about."""
    return store.benchmark_folder(benchmark) / str(document.get("video") or "")


def problem(benchmark: str, document: Mapping[str, Any]) -> str:
    """Return why a document's video cannot be shown, or the empty text if it can.

    What ``prepare`` found (it decodes every frame) comes first, then what showing it in this
    process has found. Otherwise the file is opened and its first frame decoded.
    """
    known = _known_problem(benchmark, document)
    return check(video_path(benchmark, document)) if known is None else known


def _known_problem(benchmark: str, document: Mapping[str, Any]) -> str | None:
    """Return the same as far as it is known without opening the video; None if it is not."""
    if not document.get("problem") and not document.get("video"):
        return "the question names no video"
    if not store.inside(str(document.get("video") or "."), store.benchmark_folder(benchmark)):
        return str(document.get("problem") or "") or "its video is outside the store"
    key = video_path(benchmark, document), str(document.get("id"))
    return str(document.get("problem") or "") or _OUTCOMES.get(key)


def clock_for(
    settings: Mapping[str, Any] | None, conditions: Sequence[Condition], seconds: float = 0
) -> Clock:
    """Return the clock of the clips of an item: the same for all conditions of a question.

    Args:
        settings: As in :func:`hand_over`.
        conditions: What is shown of the item.
        seconds: How long the video is; 0 if that is not known.
    """
    form = quirks.form_for(settings)
    if form.lowest_rate:
        fewest = min((each.m for each in conditions if each.m > 1), default=0)
        if not seconds or (fewest and (fewest - 1) / seconds <= form.lowest_rate):
            return "second"
    return form.clock


@sight.asked
def show(
    benchmark: str,
    document: Mapping[str, Any],
    condition: Condition | None = None,
    *,
    pick: int | None = None,
    together: Sequence[Condition] = (),
    settings: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return what the model gets for a document: a list of paths to video files.

    Args:
        benchmark: Name of the benchmark.
        document: A row of ``questions.parquet``; ``id``, ``video`` and ``problem`` are read.
        condition: Which frames to show; None for the video as it is.
        pick: The handpicked frame, for the condition that shows it.
        together: Conditions that will be asked for as well: their clips are made from the same
            decode.
        settings: As in :func:`hand_over`; they decide the clip's clock.

    Returns:
        One path, or none if the condition is blind. For an item whose video cannot be shown,
        the path of a black placeholder clip.
    """
    if condition is not None and condition.kind == "blind":
        return []
    path = video_path(benchmark, document)
    if is_gathering():
        return _gather(benchmark, document, condition, pick, together, settings)
    if condition is None:
        reason = problem(benchmark, document)
        if not reason:
            return [str(path)]
    else:
        reason = _known_problem(benchmark, document) or ""
        if not reason:
            key = str(document["id"])
            clock = _clock(document, condition, together, settings)
            _CLOCKS[_place(benchmark, document)] = clock
            try:
                clip = clip_for(
                    *(path, condition, key, store.clips_folder(benchmark)),
                    pick=pick,
                    together=together,
                    clock=clock,
                )
                _OUTCOMES[path, key] = ""
                return [str(clip)]
            except (VideoError, ValueError, OSError) as error:
                reason = _OUTCOMES[path, key] = str(error)
    logger.warning(f"{benchmark} {document.get('id')}: shown as missing: {reason}")
    return [str(placeholder())]


def _gather(
    benchmark: str,
    document: Mapping[str, Any],
    condition: Condition | None,
    pick: int | None,
    together: Sequence[Condition],
    settings: Mapping[str, Any] | None,
) -> list[str]:
    """Ask for what :func:`show` would, in a block that only gathers; nothing is remembered."""
    if _known_problem(benchmark, document):
        return []
    path = video_path(benchmark, document)
    if condition is not None:
        clip_for(
            *(path, condition, str(document["id"]), store.clips_folder(benchmark)),
            pick=pick,
            together=together,
            clock=_clock(document, condition, together, settings),
        )
    return [str(path)]


def _clock(
    document: Mapping[str, Any],
    condition: Condition,
    together: Sequence[Condition],
    settings: Mapping[str, Any] | None,
) -> Clock:
    length = float(document.get("seconds") or 0)
    return clock_for(settings, (condition, *together), length)


def hand_over(
    benchmark: str,
    document: Mapping[str, Any],
    paths: Sequence[str],
    settings: Mapping[str, Any] | None,
    condition: Condition | None = None,
) -> list[Any]:
    """Return a document's videos in the form that the model at hand reads exactly.

    Args:
        benchmark: Name of the benchmark.
        document: A row of ``questions.parquet``; ``id`` and ``condition`` are read.
        paths: What :func:`show` returned.
        settings: ``lmms_eval_specific_kwargs``; see :mod:`video_reasoning.tasks.models.quirks`.
        condition: Which frames ``paths`` show; None for whole videos.

    Returns:
        The paths, a PIL image per frame, or per video one part of a message with its frames.
    """
    form = quirks.form_for(settings)
    handed = form.whole_as if condition is None else form.frames_as
    if not is_gathering():
        _HANDED[_place(benchmark, document)] = handed if paths else "nothing"
    try:
        return in_form(paths, settings, condition)
    except (VideoError, ValueError, OSError) as error:
        _OUTCOMES[video_path(benchmark, document), str(document.get("id"))] = str(error)
        logger.warning(f"{benchmark} {document.get('id')}: shown as missing: {error}")
        return in_form([str(placeholder())] * len(paths), settings, condition)


def in_form(
    visuals: Sequence[Any], settings: Mapping[str, Any] | None, condition: Condition | None
) -> list[Any]:
    """Return visuals with each path of a video in the form that the model at hand reads exactly.

    Args:
        visuals: Paths of videos; whatever else it contains stays.
        settings: As in :func:`hand_over`.
        condition: Which frames the videos are clips of; None for whole videos.

    Raises:
        VideoError: A video cannot be read.
        OSError: A clip cannot be written.
    """
    form = quirks.form_for(settings)
    if condition is None:
        handed, wanted, repeat = form.whole_as, quirks.whole_frames(settings), 1
    else:
        handed, wanted, repeat = form.frames_as, condition.m, form.repeat
    if is_gathering():
        repeat_gathered(repeat if handed == "clip" else 1)
        return list(visuals)
    found: list[Any] = []
    for each in visuals:
        found += _parts(Path(each), handed, wanted, repeat) if isinstance(each, str) else [each]
    return found


def part_of_message(handed: Any) -> dict[str, Any]:
    """Return what :func:`hand_over` returned for one visual as a part of a chat message."""
    if isinstance(handed, dict):
        return handed
    return {"type": "video" if isinstance(handed, str) else "image", "url": handed}


def handed_over(benchmark: str, document: Mapping[str, Any]) -> str:
    """Return how a document's video was handed over in this process.

    Returns:
        One of :data:`quirks.FRAMES_AS`, ``nothing`` if it was asked blind, or the empty text if
        it was not shown by this process (a cached response).
    """
    return _HANDED.get(_place(benchmark, document), "")


def clock_of(benchmark: str, document: Mapping[str, Any]) -> str:
    """Return the clock of the frames that were handed over in this process.

    Returns:
        ``source`` or ``second``, ``none`` if what was handed over has no times (images, or
        nothing), or the empty text if it was not shown by this process.
    """
    place = _place(benchmark, document)
    handed = _HANDED.get(place, "")
    return _CLOCKS.get(place, "source") if handed in ("clip", "frames") else handed and "none"


def remember(benchmark: str, document: Mapping[str, Any], handed: str, clock: str) -> None:
    """Note how an earlier process handed a document's video over, unless this one has.

    Args:
        benchmark: As the store calls it.
        document: The question.
        handed: What :func:`handed_over` returned there.
        clock: What :func:`clock_of` returned there.
    """
    place = _place(benchmark, document)
    if handed and place not in _HANDED:
        _HANDED[place] = handed
        if clock in get_args(Clock):
            _CLOCKS[place] = cast("Clock", clock)


def failed_to_show(path: Path, document: Mapping[str, Any]) -> str:
    """Return why this process could not show a video to a document, or the empty text."""
    return _OUTCOMES.get((path, str(document.get("id")))) or ""


def _place(benchmark: str, document: Mapping[str, Any]) -> tuple[str, str, str]:
    return benchmark, str(document.get("id")), str(document.get("condition") or "")


def _parts(path: Path, handed: quirks.FramesAs, wanted: int, repeat: int) -> list[Any]:
    if handed == "clip":
        return [str(repeated(path, repeat))]
    # The clip of a single frame contains it twice, and the placeholder more than are asked for.
    # Two at least, for the rate.
    chosen = read_frames(
        path, lambda n: uniform_indices(n, min(max(wanted, 2), n)), lambda image: image
    )
    images, lasts = list(chosen.pictures[:wanted]), chosen.seconds[-1] - chosen.seconds[0]
    if handed == "images":
        return images
    rate = (len(chosen.seconds) - 1) / lasts if lasts > 0 else 1.0
    return [{"type": "video", "url": quirks.RatedFrames(images, rate)}]


def _cache() -> Path:
    return Path(platformdirs.user_cache_dir("video-reasoning", appauthor=False))


@lru_cache(maxsize=1)
def placeholder() -> Path:
    """Return a short black clip that every model can read, made once in the user's cache folder.

    If no disk takes it, it is kept in memory: an item that cannot be shown because the disk is
    full must not end the run.
    """
    name = f"placeholder-{PLACEHOLDER_FRAMES}.mp4"
    own = getattr(os, "getuid", int)()
    for folder in (_cache(), Path(tempfile.gettempdir()) / f"video-reasoning-{own}"):
        try:
            return make_once(folder / name, _write_black)
        except OSError as error:
            problem = error
    if not hasattr(os, "memfd_create"):
        raise problem
    # Never closed: the path is good for as long as the process.
    file = os.memfd_create(name)
    write_all(file, _black())
    return Path(f"/proc/{os.getpid()}/fd/{file}")


def _write_black(target: Path) -> None:
    target.write_bytes(_black())


def _black() -> bytes:
    """Return the placeholder's content: black, 320x240, one frame a second."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream: Any = container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        black = black_frame(320, 240)
        for number in range(PLACEHOLDER_FRAMES):
            black.pts = number
            container.mux(stream.encode(black))
        container.mux(stream.encode())
    return file.getvalue()
