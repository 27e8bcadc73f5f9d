"""What the workers of `prepare` do with one video or one clip.

A module of its own, with few imports, because every worker process loads it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from video_reasoning.preprocessing.files import atomic_path, content_id, make_once
from video_reasoning.preprocessing.joining import is_joined, join_parts, joined_name
from video_reasoning.preprocessing.video import VideoError, verify

CHECK = 1
"""Version of the check; with another one, videos that an older one passed are decoded again."""


@dataclass(frozen=True)
class Checked:
    """What decoding a whole video showed.

    Attributes:
        problem: Why it cannot be decoded, empty for a good one.
        frames: Number of frames.
        seconds: Length in seconds.
        rate: Frames per second.
        content: Its content id.
        notes: What others may see differently, see `VideoInfo`.
    """

    problem: str
    frames: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    content: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Joining:
    """One joined clip.

    Attributes:
        before: The first part.
        middle: The middle part, or the number of hidden frames.
        after: The last part.
        blackout: Whether the middle is hidden.
        folder: Folder of the clip.
        contents: Content ids of the parts that are files.
        released: The first part in the release, beside which the joined clip may be.
    """

    before: Path
    middle: Path | int
    after: Path
    blackout: bool
    folder: Path
    contents: tuple[str, ...]
    released: Path | None = None

    @property
    def name(self) -> str:
        """Name of the clip if it is built."""
        return joined_name(self.contents, black_frames=self.black)

    @property
    def black(self) -> int | None:
        """The black frames, as `joined_name` counts them."""
        if isinstance(self.middle, int):
            return self.middle
        return 0 if self.blackout else None


def check_video(path: Path) -> Checked:
    """Decode a whole video, and name its content."""
    try:
        info = verify(path)
        content = content_id(path)
    except (VideoError, OSError) as error:
        return Checked(str(error))
    return Checked("", info.frames, float(info.duration), float(info.fps), content, info.notes)


def join_clip(job: Joining) -> tuple[str, str]:
    """Take one joined clip from the release, or build it.

    The released clip is taken only if it shows exactly the frames of the parts, unchanged, and as
    many black ones as the middle has.

    Returns:
        The clip's name, and the reason if the parts cannot be used.

    Raises:
        OSError: It cannot be written. That is not a fault of the clip: the next one would fail
            as well.
    """
    if (released := _released(job)) is not None:
        target = job.folder / joined_name([content_id(released)], black_frames=job.black)
        link_or_copy(released, target)
        return target.name, ""
    target = job.folder / job.name

    def make(temporary: Path) -> None:
        join_parts(job.before, job.middle, job.after, temporary, blackout=job.blackout)

    try:
        make_once(target, make)
    except VideoError as error:
        return target.name, f"the joined clip could not be built: {error}"
    return target.name, ""


def _released(job: Joining) -> Path | None:
    """Find the joined clip of the same parts in the release, as `split` and the authors name it."""
    if job.released is None or not job.released.stem.endswith("_A_preevent"):
        return None
    folder, suffix = job.released.parent, "D_merged" if job.blackout else "E_merged"
    name = job.released.name.replace("_A_preevent", f"_{suffix}")
    for path in (folder / name, folder.with_name(f"{folder.name}_merged") / name):
        if path.is_file() and is_joined(
            path, job.before, job.middle, job.after, blackout=job.blackout
        ):
            return path
    return None


def link_or_copy(file: Path, target: Path) -> None:
    """Place a file under another name: a hard link if the file system allows it, else a copy."""
    status = file.stat()
    if target.exists():
        placed = target.stat()
        if (placed.st_ino, placed.st_dev) == (status.st_ino, status.st_dev):
            return
        if (placed.st_size, placed.st_mtime_ns) == (status.st_size, status.st_mtime_ns):
            return
    with atomic_path(target) as temporary:
        try:
            os.link(file.resolve(), temporary)
        except OSError:
            shutil.copy2(file, temporary)


def release_roots(source: Path, scratch: Path) -> list[Path]:
    """Return the folders that a release's videos may be in, once links are followed.

    A release from elsewhere could link to any file of this machine, and its store be shared. The
    Hub's cache is made of links to its ``blobs``.

    Args:
        source: The release's folder or archive.
        scratch: Where its archives are unpacked and downloads are put.
    """
    home = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    source = source.absolute()
    blobs = [
        folder.parent / "blobs"
        for folder in (source, *source.parents)
        if folder.name == "snapshots" and folder.parent.name.startswith("datasets--")
    ]
    return [path.expanduser().resolve() for path in (source, scratch, cache, *blobs)]
