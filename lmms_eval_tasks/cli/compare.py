"""`video-reasoning compare`: two runs, item by item."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.progress import write

FORMATS = ("text", "md", "json")


def compare(
    run_a: Annotated[
        Path, typer.Argument(help="Output folder, results file or sample log of the first run.")
    ],
    run_b: Annotated[Path, typer.Argument(help="The same of the second run.")],
    task: Annotated[
        list[str] | None,
        typer.Option(help="A task, or A:B for two; can be repeated; default: all."),
    ] = None,
    shared_only: Annotated[
        bool, typer.Option("--shared-only", help="Go on over shared items if items differ.")
    ] = False,
    flips: Annotated[int, typer.Option(min=0, help="Flipped items listed for each task.")] = 10,
    format_: Annotated[str, typer.Option("--format", help="text, md or json.")] = "text",
    out: Annotated[Path | None, typer.Option(help="A file to write instead of printing.")] = None,
) -> None:
    """Say for each task whether two runs differ, by how much, and on which items.

    Runs are paired item by item: McNemar's exact test if every question has a video of its own,
    otherwise a bootstrap over videos. Runs over different items are refused, unless --shared-only
    leaves out what only one of them has.
    """
    from video_reasoning.tasks.results.compare import CompareError, as_json, compare, text

    if format_ not in FORMATS:
        raise CompareError(f"There is no format {format_!r}; name one of {', '.join(FORMATS)}.")
    found = compare(
        run_a.expanduser(), run_b.expanduser(), tasks=task or (), shared_only=shared_only
    )
    names = (str(run_a), str(run_b))
    if format_ == "json":
        written = as_json(found, names)
    else:
        written = text(found, names, most=flips, markdown=format_ == "md")
    if out is None:
        print(written, end="")
    else:
        write(out.expanduser(), written)
