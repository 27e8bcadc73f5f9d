"""What the workers of ``prepare`` do with one video or one clip.

A module of its own, with few imports, because every worker process loads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from video_reasoning.preprocessing.files import content_id, make_once
from video_reasoning.preprocessing.joining import join_parts
from video_reasoning.preprocessing.video import VideoError, verify


@dataclass(frozen=True)
class Checked:
    """What decoding a whole video showed: ``problem`` is empty for a good one.

    ``content`` is its content id, where it was asked for.
    """

    problem: str
    frames: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    content: str = ""


@dataclass(frozen=True)
class Joining:
    """One joined clip: its parts (or the number of hidden frames), and where it goes."""

    before: Path
    middle: Path | int
    after: Path
    blackout: bool
    target: Path


def check_video(job: tuple[Path, bool]) -> Checked:
    """Decodes a whole video; with the second, names its content too."""
    path, named = job
    try:
        info = verify(path)
        content = content_id(path) if named else ""
    except (VideoError, OSError) as error:
        return Checked(str(error))
    return Checked("", info.frames, float(info.duration), float(info.fps), content)


def join_clip(job: Joining) -> str:
    """Builds one joined clip; gives the reason where its parts cannot be used.

    Raises:
        OSError: if it cannot be written. That is no fault of the clip: the next one would fail
            as well.
    """

    def make(temporary: Path) -> None:
        join_parts(job.before, job.middle, job.after, temporary, blackout=job.blackout)

    try:
        make_once(job.target, make)
    except VideoError as error:
        return f"the joined clip could not be built: {error}"
    return ""
