"""The sample benchmark: drawn videos and questions with known answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["write_releases"]


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
    """
    from joblib import Parallel, delayed

    from . import blackswan, causalvqa, tvbench
    from .drawing import write_video

    releases = out / "releases"
    videos = [
        *blackswan.build(releases / "blackswan"),
        *tvbench.build(releases / "tvbench"),
        *causalvqa.build(releases / "causalvqa"),
    ]
    jobs = (delayed(write_video)(video) for video in videos)
    done = Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
    for number, _ in enumerate(done, start=1):
        if progress is not None:
            progress(number, len(videos))
