"""``video-reasoning doctor``: what is installed, which data is there, what is missing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from video_reasoning.tasks import store
from video_reasoning.tasks.cli import environment
from video_reasoning.tasks.cli.options import Home
from video_reasoning.tasks.cli.progress import print_manifest
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.models.software import gpus, version_of
from video_reasoning.tasks.store.picks import read_installed

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
    "scenedetect-headless",
)
"""The packages whose versions are listed."""

OPTIONAL = {
    "dask": "--engine dask",
    "distributed": "--engine dask",
    "ray": "--engine ray",
}
"""Packages that are needed for one thing only -> that thing."""

_ALTERNATIVES = {
    "decord": "eva-decord",
    "opencv-python-headless": "opencv-python",
    "scenedetect-headless": "scenedetect",
}
"""Distributions that serve as well if the first is not installed."""


def doctor(home: Home = None) -> None:
    """Show what is installed, which data is there, and how to get what is missing.

    The exit code is 1 if a package is missing or the store is damaged.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(soft_wrap=True)
    versions = {name: _version(name) for name in PACKAGES}
    packages = Table("package", "version", title="Installed", title_justify="left")
    packages.add_row("python", sys.version.split()[0])
    for name, found in versions.items():
        packages.add_row(name, found or f"[bold]missing[/bold]: pip install {name}")
    for name, purpose in OPTIONAL.items():
        packages.add_row(name, _version(name) or f"not installed; only for {purpose}")
    console.print(packages)
    console.print(f"GPU: {gpus()}", highlight=False)
    folder = home or store.home()
    console.print(f"Store: {folder} ({_room(folder)})", highlight=False)
    for name, value in environment.is_set().items():
        console.print(f"{name}={value}", markup=False, highlight=False)
    for sentence in environment.unknown():
        console.print(sentence, markup=False, highlight=False)
    faults = 0
    for benchmark in store.SPLITS:
        for fault in _show_data(benchmark, home):
            faults += 1
            console.print(f"{benchmark}: {fault}", markup=False)
    raise SystemExit(0 if all(versions.values()) and not faults else 1)


def _show_data(benchmark: str, home: Path | None) -> Iterator[str]:
    """Print what is there of a benchmark, and yield a sentence for whatever is damaged."""
    try:
        manifest = store.read_manifest(benchmark, home)
    except StoreError as error:
        yield str(error)
        return
    if manifest is None:
        print(
            f"{benchmark}: nothing prepared; get the release (docs/data.md), then run "
            f"`video-reasoning prepare {benchmark} --source RELEASE`."
        )
        return
    try:
        print_manifest(manifest)
    except (KeyError, TypeError, ValueError, AttributeError):
        manifest_file = store.manifest_file(benchmark, home)
        yield f"{manifest_file} is not as `prepare` writes it; run `prepare` again."
        return
    try:
        picks = read_installed(benchmark, home)
    except UserError as error:
        yield str(error)
    else:
        if picks:
            people = ", ".join(sorted({pick.annotator for pick in picks.values()}))
            print(f"  picked frames: {len(picks):,} by {people}")
    for name in store.SPLITS[benchmark]:
        listed = name in manifest.get("splits", {})
        if listed and not store.questions_file(benchmark, name, home).is_file():
            yield f"the {name} questions are gone; run `prepare` again."


def _room(folder: Path) -> str:
    """Say whether the store's folder exists, and how much fits in."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    free = f"{shutil.disk_usage(there).free / 2**30:,.0f} GiB free"
    return free if there == folder else f"does not exist yet, {free}"


def _version(name: str) -> str | None:
    return version_of(name) or version_of(_ALTERNATIVES.get(name, name))
