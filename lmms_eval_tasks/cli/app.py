"""The command ``video-reasoning``: everything that is not an evaluation."""

from __future__ import annotations

import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.cli import (
    audit,
    build_questions,
    compare,
    handpick,
    principles,
    report,
    score,
    split,
    submit,
)
from video_reasoning.tasks.cli.main import main
from video_reasoning.tasks.cli.options import Address, EngineName
from video_reasoning.tasks.cli.progress import shown_progress
from video_reasoning.tasks.errors import StoreError

__all__ = ["app", "main"]

app = typer.Typer(
    name="video-reasoning",
    help="Prepare video reasoning benchmarks for the lmms-eval harness, and read its results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

PACKAGES = (
    "lmms-eval-video-reasoning",
    "lmms-eval",
    "torch",
    "transformers",
    "accelerate",
    "datasets",
    "av",
    "decord",
    "opencv-python-headless",
    "scenedetect",
)
"""What ``doctor`` names the versions of."""

_ALTERNATIVES = {"decord": "eva-decord", "opencv-python-headless": "opencv-python"}
"""Distributions that serve as well where the first is not installed."""

Home = Annotated[
    Path | None,
    typer.Option(help=f"The store's folder; default: ${store.HOME_VARIABLE}, else a cache folder."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Processes to work with; default: one per core.")
]


@app.command(
    epilog="Example: video-reasoning prepare tvbench --source ~/downloads/TOMATO",
)
def prepare(
    benchmark: Annotated[str, typer.Argument(help="blackswan, tvbench or causalvqa.")],
    source: Annotated[
        Path | None,
        typer.Option(help="The release: its folder or archive; default: fetched from the hub."),
    ] = None,
    captions: Annotated[
        Path | None,
        typer.Option(help="blackswan: captions for detective_mcq, as JSON Lines."),
    ] = None,
    repository: Annotated[
        Path | None,
        typer.Option(help="causalvqa: a checkout of the authors' repository, to use its prompt."),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit of the hub's data sets.")
    ] = None,
    home: Home = None,
    workers: Workers = None,
    engine: EngineName = "local",
    engine_address: Address = None,
) -> None:
    """Read a benchmark's release and write its part of the store.

    Videos are linked where the file system allows it (else copied) and each is decoded once to
    see that it can be. What cannot be read or shown is listed, counted and left out; the rest is
    done. An interrupted run goes on where it stopped when it is run again.
    """
    from video_reasoning.tasks.prepare.build import prepare as run

    with shown_progress() as progress:
        manifest = run(
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
            progress=progress,
        )
    _print_manifest(manifest)
    print(f"Written to {store.benchmark_folder(benchmark, home)}.")


@app.command(epilog="Example: video-reasoning sample --out demo")
def sample(
    out: Annotated[Path, typer.Option(help="Folder to write releases/ and store/ into.")],
    workers: Workers = None,
) -> None:
    """Write the sample benchmark: drawn videos and questions with known answers.

    OUT/releases holds the three benchmarks in their release layouts, OUT/store the store that
    `prepare` makes of them: VIDEO_REASONING_HOME=OUT/store is all that a run needs.
    """
    from video_reasoning.tasks.prepare.build import prepare as run
    from video_reasoning.tasks.sample import write_releases

    out = out.expanduser().absolute()
    with shown_progress() as progress:
        write_releases(
            out,
            workers=workers or os.cpu_count() or 1,
            progress=lambda done, total: progress("Drawing the sample benchmark", done, total),
        )
        manifests = [
            run(
                benchmark,
                out / "releases" / benchmark,
                store_home=out / "store",
                workers=workers,
                isolate=True,
                progress=progress,
            )
            for benchmark, record in BENCHMARKS.items()
            if record.sample
        ]
    for manifest in manifests:
        counts = {split: summary["questions"] for split, summary in manifest["splits"].items()}
        split_texts = ", ".join(f"{count} {split}" for split, count in counts.items())
        print(f"{manifest['benchmark']}: {manifest['videos']} videos, {split_texts} questions")
    print(f"Run with {store.HOME_VARIABLE}={out / 'store'}")


@app.command(
    name="check-sample",
    epilog="Example: video-reasoning check-sample demo/results",
)
def check_sample(
    results: Annotated[list[Path], typer.Argument(help="Output folders of runs on the sample.")],
) -> None:
    """Hold logged runs over the sample benchmark against what must come out.

    The sample's answers are known, and so is which questions can be answered from what is
    shown: sample_observer must answer those (95% and more) and be at chance on the others, and
    random_choice must be at chance on all. Other models are listed without a verdict. Exit code
    1 where it is not so.
    """
    from video_reasoning.tasks.sample.known import check

    raise SystemExit(0 if check(results) else 1)


@app.command(epilog="Example: video-reasoning doctor")
def doctor(home: Home = None) -> None:
    """Show what is installed, which data is there, and how to get what is missing.

    Exit code 1 where a package is missing or the store is damaged.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=True)
    sound = True
    packages = Table("package", "version", title="Installed", title_justify="left")
    packages.add_row("python", sys.version.split()[0])
    for name in PACKAGES:
        found = _version(name)
        sound &= found is not None
        packages.add_row(name, found or "[bold]missing[/bold]: pip install " + name)
    console.print(packages)
    console.print(f"Store: {home or store.home()}")
    for benchmark, splits in store.SPLITS.items():
        try:
            manifest = store.read_manifest(benchmark, home)
        except StoreError as error:
            sound = False
            console.print(f"{benchmark}: {error}", markup=False)
            continue
        if manifest is None:
            console.print(
                f"{benchmark}: nothing prepared; get the release (docs/data.md), then run "
                f"`video-reasoning prepare {benchmark} --source RELEASE`.",
                markup=False,
            )
            continue
        try:
            _print_manifest(manifest)
        except (KeyError, TypeError, ValueError, AttributeError):
            sound = False
            console.print(
                f"{benchmark}: {store.manifest_file(benchmark, home)} is not as `prepare` writes "
                "it; run `prepare` again.",
                markup=False,
            )
            continue
        for name in splits:
            listed = name in manifest.get("splits", {})
            if listed and not store.questions_file(benchmark, name, home).is_file():
                sound = False
                console.print(
                    f"{benchmark}: the {name} questions are gone; run `prepare` again.",
                    markup=False,
                )
    raise SystemExit(0 if sound else 1)


@app.command(
    name="tasks-path",
    epilog='Example: lmms-eval --include_path "$(video-reasoning tasks-path)" --tasks list',
)
def tasks_path() -> None:
    """Print the folder of our tasks, for --include_path of any harness install."""
    print(registry.tasks_path())


for _module in (
    report,
    audit,
    compare,
    principles,
    score,
    submit,
    split,
    handpick,
    build_questions,
):
    _module.register(app)


def _version(name: str) -> str | None:
    for distribution in (name, _ALTERNATIVES.get(name)):
        try:
            return version(distribution) if distribution else None
        except PackageNotFoundError:
            continue
    return None


def _print_manifest(manifest: dict[str, Any]) -> None:
    """Says what a benchmark's part of the store holds and lacks."""
    print(f"{manifest['benchmark']}: {manifest['videos']:,} videos from {manifest['source']}")
    for name, summary in manifest["splits"].items():
        tasks = ", ".join(f"{task} {count}" for task, count in summary["tasks"].items())
        print(f"  {name}: {summary['questions']:,} questions ({tasks})")
        if summary["withheld"]:
            print(f"    {summary['withheld']:,} without a published answer")
        _print_some(f"{len(summary['missing'])} without a usable video", summary["missing"], "id")
        _print_some(f"{len(summary['skipped'])} rows skipped", summary["skipped"], "row")
    for note in manifest["notes"]:
        print(f"  note: {note}")


def _print_some(title: str, entries: list[dict[str, str]], key: str, most: int = 10) -> None:
    if entries:
        print(f"    {title}:")
        for entry in entries[:most]:
            print(f"      {entry[key]}: {entry['reason']}")
        if len(entries) > most:
            print(f"      ... and {len(entries) - most} more (all are in manifest.json)")
