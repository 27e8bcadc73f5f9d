"""``video-reasoning sample``: the sample benchmark and its store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks import store
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.cli.options import Workers
from video_reasoning.tasks.cli.progress import shown_progress


def sample(
    out: Annotated[Path, typer.Option(help="Folder to write releases/ and store/ into.")],
    workers: Workers = None,
) -> None:
    """Write the sample benchmark: drawn videos and questions with known answers.

    OUT/releases has the three benchmarks in their release layouts, OUT/store the store that
    `prepare` makes of them: VIDEO_REASONING_HOME=OUT/store is all that a run needs.
    """
    from video_reasoning.tasks.prepare.build import prepare
    from video_reasoning.tasks.sample import write_releases

    out = out.expanduser().absolute()
    with shown_progress() as progress:
        write_releases(
            out,
            workers=workers or os.cpu_count() or 1,
            progress=lambda done, total: progress("Drawing the sample benchmark", done, total),
        )
        manifests = [
            prepare(
                benchmark,
                out / "releases" / benchmark,
                store_home=out / "store",
                workers=workers,
                isolate=True,
                progress=progress,
            )
            for benchmark, record in BENCHMARKS.items()
            if record.sample
        ]
    for manifest in manifests:
        counts = {split: summary["questions"] for split, summary in manifest["splits"].items()}
        split_texts = ", ".join(f"{count} {split}" for split, count in counts.items())
        print(f"{manifest['benchmark']}: {manifest['videos']} videos, {split_texts} questions")
    print(f"Run with {store.HOME_VARIABLE}={out / 'store'}")
