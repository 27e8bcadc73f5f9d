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
from typing import Any, TypeVar

import numpy as np
import platformdirs
from loguru import logger

from video_reasoning.preprocessing.conditions import Condition, make_conditions
from video_reasoning.preprocessing.files import make_once
from video_reasoning.preprocessing.video import VideoError, check
from video_reasoning.tasks import store

PLACEHOLDER_FRAMES = 64
"""Frames of the placeholder clip: some samplers fail on a clip of fewer frames than they ask for,
and the papers ask for 32 at the most."""

_FAILED: dict[tuple[Path, str], str] = {}
# Videos and questions of which no clip could be made in this process, and why: a fault in the
# middle of a file shows only then. A process scores what it has shown, and finds it here.


WHOLE = "whole_video"
"""Attribute of a ``doc_to_visual`` that shows an excerpt: the function that shows all of it."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def excerpt_of(whole: Callable[[Mapping[str, Any]], list[str]]) -> Callable[[_Function], _Function]:
    """Marks a ``doc_to_visual`` that shows the frames of a document's ``condition``.

    So that an audit can choose other frames, of all that ``whole`` shows, and name them to the
    task's ``doc_to_text`` by ``condition``.
    """

    def mark(function: _Function) -> _Function:
        setattr(function, WHOLE, whole)
        return function

    return mark


def video_path(benchmark: str, document: Mapping[str, Any]) -> Path:
    """Path of the video that a document is about."""
    return store.benchmark_folder(benchmark) / str(document.get("video") or "")


def problem(benchmark: str, document: Mapping[str, Any]) -> str:
    """Why a document's video cannot be shown, or the empty text where it can.

    What ``prepare`` found (it decodes every frame) comes first; a file that has gone or been
    damaged since is found by opening it and decoding its first frame.
    """
    known = str(document.get("problem") or "")
    if known:
        return known
    if not document.get("video"):
        return "the question names no video"
    path = video_path(benchmark, document)
    return check(path) or _FAILED.get((path, str(document.get("id"))), "")


def show(
    benchmark: str,
    document: Mapping[str, Any],
    condition: Condition | None = None,
    *,
    pick: int | None = None,
    together: Sequence[Condition] = (),
) -> list[str]:
    """What the model gets for a document: a list of paths to video files.

    Args:
        benchmark: name of the benchmark.
        document: a row of ``questions.parquet``; ``id``, ``video`` and ``problem`` are read.
        condition: which frames to show; None for the video as it is.
        pick: the handpicked frame, for the condition that shows it.
        together: conditions that will be asked for as well: their clips are made from the same
            decode.

    Returns:
        One path, or none where the condition is blind. For an item whose video cannot be
        shown, the path of a black placeholder clip.
    """
    if condition is not None and condition.kind == "blind":
        return []
    reason = problem(benchmark, document)
    if not reason:
        path = video_path(benchmark, document)
        if condition is None:
            return [str(path)]
        wanted = [condition, *(other for other in together if other != condition)]
        requests = [(each, str(document["id"]), pick) for each in wanted]
        try:
            clip = make_conditions(path, requests, store.clips_folder(benchmark))[0]
            return [str(clip.path)]
        except (VideoError, ValueError, OSError) as error:
            reason = _FAILED[path, str(document["id"])] = str(error)
    logger.warning(f"{benchmark} {document.get('id')}: shown as missing: {reason}")
    return [str(placeholder())]


@lru_cache(maxsize=1)
def placeholder() -> Path:
    """A short black clip that every model can read, made once in the user's cache folder.

    Where no disk takes it, it stands in memory: an item that cannot be shown because the disk is
    full must not end the run.
    """
    name = f"placeholder-{PLACEHOLDER_FRAMES}.mp4"
    cache = Path(platformdirs.user_cache_dir("video-reasoning", appauthor=False))
    own = getattr(os, "getuid", int)()
    for folder in (cache, Path(tempfile.gettempdir()) / f"video-reasoning-{own}"):
        try:
            return make_once(folder / name, _write_black)
        except OSError as error:
            problem = error
    if not hasattr(os, "memfd_create"):
        raise problem
    # Never closed: the path is good for as long as the process.
    file = os.memfd_create(name)
    os.write(file, _black())
    return Path(f"/proc/{os.getpid()}/fd/{file}")


def _write_black(target: Path) -> None:
    target.write_bytes(_black())


def _black() -> bytes:
    """The placeholder's content: black, 320x240, one frame a second."""
    import av

    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=1)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        black = np.zeros((240, 320, 3), dtype=np.uint8)
        for _ in range(PLACEHOLDER_FRAMES):
            for packet in stream.encode(av.VideoFrame.from_ndarray(black, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return file.getvalue()
