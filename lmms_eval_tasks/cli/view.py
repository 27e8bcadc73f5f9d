"""``video-reasoning view``: every item of logged runs, on a local page or as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import OpenPage, Port, ReadFrom, Results
from video_reasoning.tasks.cli.pages import serve_page
from video_reasoning.tasks.cli.progress import shown_progress


def view(
    results: Results,
    bundle: Annotated[
        Path | None,
        typer.Option(help="Write the page with its clips into this folder instead of serving it."),
    ] = None,
    clips: Annotated[
        float, typer.Option(min=0, help="Most megabytes of clips in a bundle.")
    ] = 2000,
    port: Port = None,
    open_page: OpenPage = False,
    home: ReadFrom = None,
) -> None:
    """Look at every item: filter by task, model, outcome, condition and rule; search; play clips.

    Reads what runs with --log_samples wrote to their --output_path, also while a run is still
    going: items appear as their task is written. The page changes nothing.
    """
    if bundle is not None:
        _write(results, bundle.expanduser(), clips)
    else:
        _serve(results, port, open_page)


def _write(results: list[Path], target: Path, megabytes: float) -> None:
    from video_reasoning.tasks.report.viewer.bundle import MEGABYTE, write_bundle

    with shown_progress() as progress:
        done = write_bundle(
            results,
            target,
            megabytes=megabytes,
            progress=lambda number, total: progress("Clips", number, total),
        )
    size = f"{done.size / MEGABYTE:.1f} MB"
    print(f"{done.items:,} items with {done.clips:,} clips ({size}) written to {target}.")
    if done.left_out:
        print(f"{done.left_out:,} items are without their clip; --clips makes room for more.")
    if done.unseen:
        print(f"Of {done.unseen:,} items nothing can be shown; the page says why.")
    print(f"Open {target / 'index.html'} in a browser.")


def _serve(results: list[Path], port: int | None, open_page: bool) -> None:
    from video_reasoning.tasks.report.viewer.server import Viewing, create_app

    viewing = Viewing(results)
    state = viewing.collection.state()
    waits = f"{state.problem} The page shows items as soon as there are some."
    known = f"{len(state.entries):,} items of {', '.join(map(str, results))}"
    print(waits if state.problem else known)
    serve_page(lambda: create_app(viewing), port, open_page)
