"""The handpicked frames that the store holds: one frame for each question that has a pick.

They lie in ``<home>/<benchmark>/picks.jsonl``, one object a line: ``id`` of the question,
``frame`` (index into the video, from 0), ``n_frames`` of the video and ``annotator``. The command
``video-reasoning handpick install`` writes the file; the condition ``handpicked1`` reads it
(TVBench, section 3: Frame Information Disparity and the handpicked Multi-Frame Gain).

Earlier versions let a model pick, under a name that begins with ``automatic:``. Such picks are not
handpicked, and are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks import store
from video_reasoning.tasks.errors import UserError, cause
from video_reasoning.tasks.store.text_files import loads, read_text

PICKS = "picks.jsonl"
"""Name of a file of picks."""

AUTOMATIC = "automatic:"  # how the name of a model that picked began in earlier versions


class PicksError(UserError):
    """Picks that cannot be read, or that do not fit the benchmark."""


@dataclass(frozen=True)
class Pick:
    """The frame picked for one question: an index into a video of ``n_frames``, from 0.

    The annotator is a name, or several joined by " + ".
    """

    id: str
    frame: int
    n_frames: int
    annotator: str

    def __post_init__(self) -> None:
        if not self.id or not isinstance(self.id, str) or not isinstance(self.annotator, str):
            raise ValueError("a pick needs the question's id and an annotator")
        if self.annotator.startswith(AUTOMATIC):
            raise ValueError(f"{self.annotator} is a model, and only a person's picks count")
        # bool is an int to Python, and "frame": true is no frame.
        if type(self.frame) is not int or type(self.n_frames) is not int:
            raise ValueError("frame and n_frames must be whole numbers")
        if not 0 <= self.frame < self.n_frames:
            raise ValueError(f"frame {self.frame} is not in a video of {self.n_frames} frames")


def picks_file(benchmark: str, store_home: Path | None = None) -> Path:
    """Where a benchmark's picks lie in the store (the file need not exist)."""
    return store.benchmark_folder(benchmark, store_home) / PICKS


def read_installed(benchmark: str, store_home: Path | None = None) -> dict[str, Pick]:
    """Return the picks in the store, by question id; none where the file is not there.

    Raises:
        PicksError: if the file cannot be read or a line of it is no pick.
    """
    path = picks_file(benchmark, store_home)
    try:
        lines = read_text(path).split("\n")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise PicksError(f"The picks {path} cannot be read ({cause(error)}); {_AGAIN}.") from error
    picks: dict[str, Pick] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pick = _parse(loads(line))
        except ValueError as error:
            raise PicksError(f"Line {number} of {path} is no pick ({error}); {_AGAIN}.") from None
        if pick.id in picks:
            raise PicksError(f"Line {number} of {path} picks for {pick.id} again; {_AGAIN}.")
        picks[pick.id] = pick
    return picks


def read_picks(benchmark: str, store_home: Path | None = None) -> dict[str, int]:
    """Return question id -> index of its picked frame in the video, from 0.

    Raises:
        PicksError: if the file is there but damaged.
    """
    return {name: pick.frame for name, pick in read_installed(benchmark, store_home).items()}


def write_picks(path: Path, picks: Iterable[Pick]) -> None:
    """Replace the picks of a file (see :func:`picks_file`), as a whole.

    Raises:
        OSError: if its folder is not there or cannot be written.
    """
    lines = [json.dumps(asdict(pick), ensure_ascii=False) + "\n" for pick in picks]
    with atomic_path(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")


def _parse(entry: Any) -> Pick:
    if not isinstance(entry, Mapping):
        raise ValueError("it is not an object")
    missing = [name for name in ("id", "frame", "n_frames", "annotator") if name not in entry]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    return Pick(entry["id"], entry["frame"], entry["n_frames"], entry["annotator"])


_AGAIN = "write it again with `video-reasoning handpick install`"
