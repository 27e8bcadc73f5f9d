"""``video-reasoning clips``: all clips that a run needs, made before it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import (
    Address,
    EngineName,
    ForceSimple,
    IncludePath,
    ModelArguments,
    ReadFrom,
    Workers,
    names,
)
from video_reasoning.tasks.cli.progress import print_some, shown_progress
from video_reasoning.tasks.errors import UserError


def clips(
    tasks: Annotated[
        str,
        typer.Option(
            "--tasks", "--task", help="Tasks, groups or tags, joined by commas; an audit's too."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            help="The harness's name of the model, which decides the times that clips have; "
            "default: clips for every model, twice as many."
        ),
    ] = "",
    model_args: ModelArguments = "",
    force_simple: ForceSimple = False,
    include_path: IncludePath = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the first N questions of each task.")
    ] = None,
    home: ReadFrom = None,
    workers: Workers = None,
    engine: EngineName = "local",
    engine_address: Address = None,
) -> None:
    """Make the clips of frames that a run shows, so that no GPU waits for them.

    A run makes them by itself when they are not there; made before, on machines without a GPU,
    they cost it nothing. Clips that are there are kept: an interrupted run of the command goes on
    where it stopped. A video that cannot be decoded is listed, and the rest is done. The exit code
    is 1 if no video can be.
    """
    from video_reasoning.tasks.prepare.clips import make_clips

    asked = names([tasks])
    if not asked:
        raise UserError("--tasks names no task; for example: --tasks tvbench_tomato_principles")
    with shown_progress() as progress:
        made = make_clips(
            asked,
            model=model,
            model_args=model_args,
            simple=force_simple,
            include_path=[path.expanduser() for path in include_path or ()],
            limit=limit,
            workers=workers,
            engine=engine,
            engine_address=engine_address,
            progress=progress,
        )
    refused = [f"{name}: {reason}" for name, reason in made.refused.items()]
    print_some(f"{len(refused):,} left out", refused)
    if not made.videos:
        print(f"{made.questions:,} questions need no clip: whole videos are shown, or none.")
        return
    good = made.videos - len(made.problems)
    print(
        f"{made.questions:,} questions need {made.clips:,} clips; those of {good:,} of "
        f"{made.videos:,} videos are there."
    )
    reasons = [reason for each in made.problems.values() for reason in each]
    plural = "s" * (len(made.problems) != 1)
    print_some(f"Clips that cannot be made, of {len(made.problems):,} video{plural}", reasons)
    if not good:
        print("video-reasoning: no clip can be made; the reasons are above.", file=sys.stderr)
        raise SystemExit(1)
