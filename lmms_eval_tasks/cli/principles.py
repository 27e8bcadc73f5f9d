"""`video-reasoning principles`: kappa, tau and rho of logged runs, with intervals."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Level, ReadFrom, Results
from video_reasoning.tasks.errors import UserError

FORMATS = ("text", "json")


def principles(
    results: Results,
    task: Annotated[
        str, typer.Option(help="The task that was run, if it is a YAML of your own.")
    ] = "tvbench_tomato_principles",
    level: Level = 0.95,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    home: ReadFrom = None,
    as_json: Annotated[bool, typer.Option("--json", hidden=True)] = False,
) -> None:
    """Print TVBench's three principles with their intervals, beside the paper's.

    Reads runs of tvbench_tomato_principles with --log_samples. Each value has an interval and the
    number of questions it rests on; a ratio over an accuracy of zero is undefined. Values are
    x100, as in the paper; in JSON they are not.
    """
    import json

    from rich.console import Console

    from video_reasoning.tasks.results.principles import evaluate, render

    if format_ not in FORMATS:
        raise UserError(f"There is no format {format_!r}; name one of {', '.join(FORMATS)}.")
    if as_json:
        print("video-reasoning: --json is going to be removed; use --format json.", file=sys.stderr)
    found = evaluate([path.expanduser() for path in results], task=task, level=level)
    if as_json or format_ == "json":
        print(json.dumps([run.as_json() for run in found], indent=2, allow_nan=False))
        return
    console = Console()
    for run in found:
        console.print(render(run))
