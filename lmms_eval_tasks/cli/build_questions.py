"""``video-reasoning build-questions``: BlackSwanSuite questions from one's own annotations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from video_reasoning.tasks.cli.progress import print_some


def build_questions(
    annotations: Annotated[
        Path, typer.Option(help="A JSON list or JSON Lines; see docs/build-questions.md.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the tables, as in a release.")],
    seed: Annotated[int, typer.Option(help="Draws the order of the options.")] = 0,
    variant: Annotated[
        str, typer.Option(help="Rule for the MCQ: paper (section 4.3) or release (the script).")
    ] = "paper",
) -> None:
    """Build BlackSwanSuite questions (MCQ, Y/N, Gen) from three-step annotations.

    The tables have the release's layout: put the clips into the same folder, and
    `video-reasoning prepare blackswan --source OUT` reads them. Equal annotations and seed give
    equal tables. What gives no question is listed with its reason.
    """
    from video_reasoning.tasks.blackswan.annotations import (
        Variant,
        build_questions,
        read_annotations,
        write_questions,
    )

    entries = read_annotations(annotations.expanduser())
    built = build_questions(entries, seed=seed, variant=cast("Variant", variant))
    files = write_questions(built, out.expanduser())
    print(f"{built.videos:,} annotations:")
    for task, count in sorted(built.counts().items()):
        print(f"  {count:6,} {task}")
    left_out = [f"{left.video}, {left.what}: {left.reason}" for left in built.left_out]
    print_some(f"{len(left_out):,} left out", left_out, indent="  ", file=files[-1].name)
    for file in files:
        print(f"Written to {file}.")
