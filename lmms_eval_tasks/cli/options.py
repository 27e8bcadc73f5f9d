"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import UserError


def _read_from(context: typer.Context, home: Path | None) -> None:
    """Let everything that a command does read the store in a folder, until it ends."""
    before = os.environ.get(store.HOME_VARIABLE)
    if home is not None and not context.resilient_parsing:
        os.environ[store.HOME_VARIABLE] = str(home.expanduser().absolute())
        context.call_on_close(lambda: _set_home(before))


def _set_home(folder: str | None) -> None:
    if folder is None:
        os.environ.pop(store.HOME_VARIABLE, None)
    else:
        os.environ[store.HOME_VARIABLE] = folder


def _between(level: float) -> float:
    if not 0 < level < 1:
        raise UserError(f"--level {level} is not between 0 and 1; the usual one is 0.95.")
    return level


def known(form: str, formats: Sequence[str] = ("text", "json")) -> str:
    """Return the value of a ``--format``.

    Raises:
        UserError: It is none of the formats.
    """
    if form not in formats:
        raise UserError(f"There is no format {form!r}; name one of {', '.join(formats)}.")
    return form


def names(values: Iterable[str] | None) -> list[str]:
    """Return the names of an option that is repeated, or whose names are joined by commas."""
    return [name.strip() for value in values or () for name in value.split(",") if name.strip()]


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
ReadFrom = Annotated[
    Path | None,
    typer.Option(
        "--home",
        help=f"The store's folder; default: ${store.HOME_VARIABLE}, else a cache folder.",
        callback=_read_from,
        expose_value=False,
    ),
]
"""``--home`` of the commands that read runs: their functions do not get it."""
ModelArguments = Annotated[
    str, typer.Option("--model_args", "--model-args", help="As for the harness.")
]
ForceSimple = Annotated[
    bool, typer.Option("--force_simple", "--force-simple", help="As for the harness.")
]
IncludePath = Annotated[
    list[Path] | None,
    typer.Option("--include_path", "--include-path", help="A folder with tasks of your own."),
]
Level = Annotated[
    float, typer.Option(help="Coverage of the intervals, e.g. 0.95.", callback=_between)
]
Format = Annotated[str, typer.Option("--format", help="text or json.")]
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
