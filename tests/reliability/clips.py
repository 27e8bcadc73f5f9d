"""A process that makes clips: the conditions of every video of a folder, and joined clips.

Run as ``python -m tests.reliability.clips VIDEOS CLIPS [LOG]``. With a log, each clip that is
really encoded adds a line to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing import clips as clips_module
from video_reasoning.preprocessing.clips import make_conditions
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.preprocessing.files import content_id, make_once
from video_reasoning.preprocessing.joining import join_parts, joined_name

CONDITIONS = (
    Condition("ordered", m=8),
    Condition("shuffled", m=8),
    Condition("random", m=1),
    Condition("last", m=1),
)


def make_clips(videos: Path, clips: Path, log: Path | None = None) -> None:
    """Make all clips that are not there yet."""
    if log is not None:
        _count_condition_clips(log)
    found = sorted(videos.glob("*.mp4"))
    for position, video in enumerate(found):
        requests = [(condition, f"q{position}", None) for condition in CONDITIONS]
        make_conditions(video, requests, clips)
    for before, middle, after in zip(found, found[1:], found[2:], strict=False):
        ids = [content_id(part) for part in (before, middle, after)]
        target = clips / joined_name(ids, black_frames=0)
        make_once(target, _joiner(before, middle, after, target.name, log))


def _joiner(
    before: Path, middle: Path, after: Path, name: str, log: Path | None
) -> Callable[[Path], None]:
    def make(temporary: Path) -> None:
        _note(log, name)
        join_parts(before, middle, after, temporary, blackout=True)

    return make


def _count_condition_clips(log: Path) -> None:
    original = clips_module.atomic_path

    def noted(target: Path) -> Any:
        _note(log, Path(target).name)
        return original(target)

    clips_module.atomic_path = noted


def _note(log: Path | None, name: str) -> None:
    if log is not None:
        # One short write at the end of the file: lines of several processes do not mix.
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, f"{os.getpid()} {name}\n".encode())
        os.close(descriptor)


if __name__ == "__main__":
    make_clips(Path(sys.argv[1]), Path(sys.argv[2]), *map(Path, sys.argv[3:4]))
