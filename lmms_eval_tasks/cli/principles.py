"""`video-reasoning principles`: kappa, tau and rho of logged runs, with intervals."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Format, Level, ReadFrom, Results, known


def principles(
    results: Results,
    task: Annotated[
        str, typer.Option(help="The task that was run, if it is a YAML of your own.")
    ] = "tvbench_tomato_principles",
    level: Level = 0.95,
    format_: Format = "text",
    home: ReadFrom = None,
    old: Annotated[bool, typer.Option("--json", hidden=True)] = False,
) -> None:
    """Print TVBench's three principles with their intervals, beside the paper's.

    Reads runs of tvbench_tomato_principles with --log_samples. Each value has an interval and the
    number of questions it rests on; a ratio over an accuracy of zero is undefined. Values are
    x100, as in the paper; in JSON they are not.
    """
    import json

    from rich.console import Console

    from video_reasoning.tasks.results.principles import evaluate, render

    as_json = known(format_) == "json" or old
    if old:
        print("video-reasoning: --json is going to be removed; use --format json.", file=sys.stderr)
    found = evaluate([path.expanduser() for path in results], task=task, level=level)
    if as_json:
        print(json.dumps([run.as_json() for run in found], indent=2, allow_nan=False))
        return
    console = Console()
    for run in found:
        console.print(render(run))
