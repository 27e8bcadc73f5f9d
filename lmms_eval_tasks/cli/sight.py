"""``video-reasoning sight``: which frames reach a model, before a long run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from video_reasoning.tasks.cli.options import Format, known

if TYPE_CHECKING:
    from video_reasoning.tasks.sight.probe import Heard, Result
    from video_reasoning.tasks.sight.verdict import Row

WIDTH = 80


def sight(
    model: Annotated[str, typer.Option(help="As in lmms_eval.")],
    model_args: Annotated[str, typer.Option("--model_args", help="As in lmms_eval.")] = "",
    force_simple: Annotated[bool, typer.Option("--force_simple", help="As in lmms_eval.")] = False,
    device: Annotated[str, typer.Option(help="As in lmms_eval.")] = "",
    frames: Annotated[
        int, typer.Option(min=1, help="Frames of a whole video that the model is to see.")
    ] = 16,
    probes: Annotated[
        int | None,
        typer.Option(min=1, help="Questions of each kind; default: 20 if it is served, else 1."),
    ] = None,
    format_: Format = "text",
) -> None:
    """Show which frames reach a model, in which order, size and time.

    The model is loaded and asked by the harness, with the benchmarks' own tasks, over videos whose
    frames name themselves; what enters it, or leaves in a request, is read back. The exit code is 1
    if anything is not as shown, and 2 if the class cannot be shown a video or does not load.
    """
    from video_reasoning.tasks.models import probed
    from video_reasoning.tasks.sight.asking import Model
    from video_reasoning.tasks.sight.probe import probe

    known(format_)
    asked = Model(model, model_args, force_simple, device)
    with _progress(model) as heard:
        found = probe(asked, count=probes, frames=frames, heard=heard)
    versions = {"lmms_eval": version("lmms-eval"), "version": version("lmms-eval-video-reasoning")}
    kept = probed.remember(model, found.form, found.exact, versions, forced=force_simple)
    if format_ == "json":
        print(json.dumps(found.as_json(), indent=1))
    else:
        show(found)
        if kept is not None:
            print(f"Noted in {kept}.")
    raise SystemExit(0 if found.exact else 1)


@contextmanager
def _progress(model: str) -> Iterator[Heard]:
    """Show on a terminal how many questions were asked, whatever the harness prints."""
    from rich.console import Console

    with os.fdopen(os.dup(2), "w") as terminal:
        console = Console(file=terminal)
        with console.status(f"Loading {model}...") as status:
            yield lambda done, total: status.update(f"Asking {model}: {done} of {total}")


def show(found: Result) -> None:
    """Print what came of a probe."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=WIDTH, soft_wrap=False, highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0), title_justify="left")
    names = ("condition", "shown", "seen", "order", "size", "time told", "marks", "")
    for name in names:
        table.add_column(name, no_wrap=name not in ("shown", "time told"))
    for row in found.rows:
        table.add_row(*_cells(row))
    for name in found.refused:
        table.add_row(name, "", "", "", "", "", "", "refused")
    console.print(f"{found.model.name} ({found.form})", markup=False)
    console.print(table)
    for row in found.rows:
        if row.problem:
            console.print(f"{row.condition}: {row.problem}.", markup=False)
    for name, reason in found.refused.items():
        console.print(f"{name}: {reason}", markup=False)
    for sentence in found.advice:
        console.print(sentence, markup=False)
    if found.exact:
        console.print("Everything that was asked arrived as it was shown.")


def _cells(row: Row) -> tuple[str, ...]:
    told = sorted({each for each in row.seen if each is not None})
    seen = "?" if not told else "..".join(map(str, dict.fromkeys((told[0], told[-1]))))
    repeated = f" in {row.pictures}" if told and row.pictures > told[-1] else ""
    verdict = "NO" if row.problem else "ok"
    marks = str(row.marks) if row.marks else "-"
    values = (row.shown, seen + repeated, row.order, row.size, row.time)
    return (row.condition, *(value or "-" for value in values), marks, verdict)
