"""The sample benchmark: drawn videos and questions with known answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def write_releases(
    out: Path, *, workers: int = 2, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write the sample in the release layouts of the three benchmarks.

    The result is the same each time. Each question says under ``evidence`` what settles it:
    "temporal" (several frames in their order), "static" (any single frame), "moment" (one
    short part of the clip), "hidden" (only the part that BlackSwan's Detective does not
    see) or "none" (nothing in the picture).

    Args:
        out: Folder to write to; ``releases/<benchmark>`` is made in it, existing files of
            the same names are replaced.
        workers: Number of processes that draw.
        progress: Called with (videos drawn, videos in all) after each video.

    Raises:
        OSError: A file cannot be written, e.g. because the disk is full.
        UserError: A video could not be drawn.
    """
    from video_reasoning.preprocessing.files import remove_leftovers
    from video_reasoning.preprocessing.workers import Lost, Workers
    from video_reasoning.tasks.benchmarks import BENCHMARKS, resolve
    from video_reasoning.tasks.errors import UserError
    from video_reasoning.tasks.sample.drawing import write_video

    releases = out / "releases"
    videos = [
        video
        for each in BENCHMARKS.values()
        if each.sample
        for video in resolve(each.sample)(releases / each.name)
    ]
    # What an interrupted run left would be found in the release.
    paths = [path for video in videos for path in [cut[0] for cut in video.cuts] or [video.path]]
    for folder in {path.parent for path in paths}:
        remove_leftovers(folder)
    with Workers(workers) as team:
        for number, (place, drawn) in enumerate(team.each(write_video, videos), start=1):
            if isinstance(drawn, Lost):
                raise UserError(f"{videos[place].path} was not drawn: {drawn.reason}.")
            if progress is not None:
                progress(number, len(videos))
