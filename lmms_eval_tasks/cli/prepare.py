"""``video-reasoning prepare``: from a benchmark's release to its part of the store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks import store
from video_reasoning.tasks.cli.options import Address, EngineName, Home, Workers
from video_reasoning.tasks.cli.progress import manifest_lines, shown_progress


def prepare(
    benchmark: Annotated[str, typer.Argument(help="blackswan, tvbench or causalvqa.")],
    source: Annotated[
        Path | None,
        typer.Option(help="The release: its folder or archive; default: fetched from the Hub."),
    ] = None,
    captions: Annotated[
        Path | None, typer.Option(help="blackswan: captions for detective_mcq, as JSON Lines.")
    ] = None,
    repository: Annotated[
        Path | None,
        typer.Option(help="causalvqa: a checkout of the authors' repository, to use its prompt."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit of the Hub's datasets.")
    ] = None,
    home: Home = None,
    workers: Workers = None,
    engine: EngineName = "local",
    engine_address: Address = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Decode all videos again, unchanged ones too.")
    ] = False,
) -> None:
    """Read a benchmark's release and write its part of the store.

    Videos are linked if the file system allows it (else copied), and each is decoded once to
    check that it can be; if the command is run again, only new and changed ones are. What cannot be
    read or shown is listed, counted and left out; the rest is done. An interrupted run goes on
    where it stopped when it is run again. The exit code is 1 if no question is usable.
    """
    from video_reasoning.tasks.prepare.build import prepare

    with shown_progress() as progress:
        manifest = prepare(
            benchmark,
            source and source.expanduser(),
            captions=captions and captions.expanduser(),
            repository=repository and repository.expanduser(),
            revision=revision,
            store_home=home and home.expanduser().absolute(),
            workers=workers,
            engine=engine,
            engine_address=engine_address,
            isolate=True,
            verify=verify,
            progress=progress,
        )
    print("\n".join(manifest_lines(manifest)))
    print(f"Written to {store.benchmark_folder(benchmark, home)}.")
    splits = manifest["splits"].values()
    if all(len(summary["missing"]) == summary["questions"] for summary in splits):
        print(
            f"video-reasoning: no question of {manifest['source']} can be asked: none has a "
            "usable video; the reasons are above and in manifest.json.",
            file=sys.stderr,
        )
        raise SystemExit(1)
