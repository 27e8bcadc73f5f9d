"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks import store

EngineName = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where the work is done: local (processes here), dask or ray (docs/scale.md).",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="The cluster's scheduler, e.g. tcp://host:8786; default: the one that "
        "DASK_SCHEDULER_ADDRESS or RAY_ADDRESS names, else a cluster on this machine."
    ),
]
Home = Annotated[
    Path | None,
    typer.Option(help=f"The store's folder; default: ${store.HOME_VARIABLE}, else a cache folder."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes to work with; default: one per core.")
]
Results = Annotated[
    list[Path], typer.Argument(help="Output folders of the harness, results files or sample logs.")
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port of the page; default: 8765 or a free one."),
]
OpenPage = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]
