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

import platformdirs
from loguru import logger

from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.preprocessing.files import make_once
from video_reasoning.preprocessing.pictures import black_frame
from video_reasoning.preprocessing.video import VideoError, check
from video_reasoning.tasks import store

PLACEHOLDER_FRAMES = 64
"""Frames of the placeholder clip: some samplers fail on a clip of fewer frames than they ask for,
and the papers ask for 32 at the most."""

_OUTCOMES: dict[tuple[Path, str], str] = {}
# Videos and questions whose clips were asked for in this process: why there is none, or the empty
# text. A process scores what it has shown, and a fault in the middle of a file shows only then.

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


def show(
    benchmark: str,
    document: Mapping[str, Any],
    condition: Condition | None = None,
    *,
    pick: int | None = None,
    together: Sequence[Condition] = (),
) -> list[str]:
    """Return what the model gets for a document: a list of paths to video files.

    Args:
        benchmark: Name of the benchmark.
        document: A row of ``questions.parquet``; ``id``, ``video`` and ``problem`` are read.
        condition: Which frames to show; None for the video as it is.
        pick: The handpicked frame, for the condition that shows it.
        together: Conditions that will be asked for as well: their clips are made from the same
            decode.

    Returns:
        One path, or none if the condition is blind. For an item whose video cannot be shown,
        the path of a black placeholder clip.
    """
    if condition is not None and condition.kind == "blind":
        return []
    path = video_path(benchmark, document)
    if condition is None:
        reason = problem(benchmark, document)
        if not reason:
            return [str(path)]
    else:
        reason = _known_problem(benchmark, document) or ""
        if not reason:
            key = str(document["id"])
            folder = store.clips_folder(benchmark)
            try:
                clip = clip_for(path, condition, key, folder, pick=pick, together=together)
                _OUTCOMES[path, key] = ""
                return [str(clip)]
            except (VideoError, ValueError, OSError) as error:
                reason = _OUTCOMES[path, key] = str(error)
    logger.warning(f"{benchmark} {document.get('id')}: shown as missing: {reason}")
    return [str(placeholder())]


@lru_cache(maxsize=1)
def placeholder() -> Path:
    """Return a short black clip that every model can read, made once in the user's cache folder.

    If no disk takes it, it is kept in memory: an item that cannot be shown because the disk is
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
