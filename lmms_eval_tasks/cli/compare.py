"""`video-reasoning compare`: runs two by two, item by item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Level, ReadFrom, Results, known, names
from video_reasoning.tasks.cli.progress import write

FORMATS = ("text", "md", "json")


def compare(
    results: Results,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model", "--models", help="Models of these runs, joined by commas; default: all."
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task", "--tasks", help="Tasks, joined by commas, or A:B for two; default: all."
        ),
    ] = None,
    shared_only: Annotated[
        bool, typer.Option("--shared-only", help="Go on over shared items if items differ.")
    ] = False,
    level: Level = 0.95,
    flips: Annotated[int, typer.Option(min=0, help="Flipped items listed for each task.")] = 10,
    format_: Annotated[str, typer.Option("--format", help="text, md or json.")] = "text",
    out: Annotated[Path | None, typer.Option(help="A file to write instead of printing.")] = None,
    home: ReadFrom = None,
) -> None:
    """Say for each task whether runs differ, by how much, and on which items.

    One path is taken apart by its models; several paths are a run each. Runs are paired item by
    item: McNemar's exact test if every question has a video of its own, otherwise a bootstrap over
    videos; p-values are corrected for the number of comparisons (Holm). Runs over different items
    are refused, unless --shared-only leaves out what only one of them has.
    """
    from video_reasoning.tasks.results.compare import as_json, compare, text

    known(format_, FORMATS)
    found = compare(
        *(path.expanduser() for path in results),
        models=names(model),
        tasks=names(task),
        shared_only=shared_only,
        level=level,
    )
    if format_ == "json":
        written = as_json(found)
    else:
        written = text(found, most=flips, markdown=format_ == "md")
    if out is None:
        print(written, end="")
    else:
        write(out.expanduser(), written)
