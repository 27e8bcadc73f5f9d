"""`video-reasoning principles`: kappa, tau and rho of logged runs, with intervals."""

from __future__ import annotations

from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Results


def principles(
    results: Results,
    task: Annotated[
        str, typer.Option(help="The task that was run, if it is a YAML of your own.")
    ] = "tvbench_tomato_principles",
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Print TVBench's three principles with their intervals, beside the paper's.

    Reads runs of tvbench_tomato_principles with --log_samples. Each value has an interval and the
    number of questions it rests on; a ratio over an accuracy of zero is undefined. Values are
    x100, as in the paper; in JSON they are not.
    """
    import json

    from rich.console import Console

    from video_reasoning.tasks.results.principles import evaluate, render

    found = evaluate([path.expanduser() for path in results], task=task, level=level)
    if as_json:
        print(json.dumps([run.as_json() for run in found], indent=2, allow_nan=False))
        return
    console = Console()
    for run in found:
        console.print(render(run))
