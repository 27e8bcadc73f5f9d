"""``video-reasoning doctor``: what is installed, which data is there, what is missing."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from video_reasoning.tasks import store
from video_reasoning.tasks.cli import environment
from video_reasoning.tasks.cli.options import Format, Home, known
from video_reasoning.tasks.cli.progress import manifest_lines
from video_reasoning.tasks.errors import UserError
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


def doctor(format_: Format = "text", home: Home = None) -> None:
    """Show what is installed, which data is there, and how to get what is missing.

    The exit code is 1 if a package is missing or the store is damaged.
    """
    as_json = known(format_) == "json"
    folder = home or store.home()
    packages = {name: _version(name) for name in PACKAGES}
    data = {benchmark: _data(benchmark, home) for benchmark in store.SPLITS}
    sound = all(packages.values()) and not any(each["faults"] for each in data.values())
    found = {
        "sound": sound,
        "python": sys.version.split()[0],
        "packages": packages,
        "optional": {name: _version(name) for name in OPTIONAL},
        "gpu": gpus(),
        "store": {"folder": str(folder), "room": _room(folder)},
        "variables": environment.is_set(),
        "unknown_variables": environment.unknown(),
        "benchmarks": data,
    }
    if as_json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
    else:
        _show(found)
    raise SystemExit(0 if sound else 1)


def _show(found: Mapping[str, Any]) -> None:
    from rich.console import Console

    Console(soft_wrap=True).print(table(found))
    print(f"GPU: {found['gpu']}")
    print(f"Store: {found['store']['folder']} ({found['store']['room']})")
    for name, value in found["variables"].items():
        print(f"{name}={value}")
    for sentence in found["unknown_variables"]:
        print(sentence)
    for benchmark, each in found["benchmarks"].items():
        if each["manifest"]:
            print("\n".join(manifest_lines(each["manifest"])))
        elif not each["faults"]:
            print(
                f"{benchmark}: nothing prepared; get the release (docs/data.md), then run "
                f"`video-reasoning prepare {benchmark} --source RELEASE`."
            )
        if each["picks"]:
            print(f"  picked frames: {each['picks']:,} by {', '.join(each['picked_by'])}")
        for fault in each["faults"]:
            print(f"{benchmark}: {fault}")


def table(found: Mapping[str, Any]) -> Any:
    """Return what is installed, with versions, as a table of rich's."""
    from rich.table import Table

    packages = Table("package", "version", title="Installed", title_justify="left")
    packages.add_row("python", found["python"])
    for name, version in found["packages"].items():
        packages.add_row(name, version or f"[bold]missing[/bold]: pip install {name}")
    for name, version in found["optional"].items():
        packages.add_row(name, version or f"not installed; only for {OPTIONAL[name]}")
    return packages


def _data(benchmark: str, home: Path | None) -> dict[str, Any]:
    """Return what is there of a benchmark, with a sentence for whatever is damaged."""
    faults: list[str] = []
    found: dict[str, Any] = {"manifest": None, "picks": 0, "picked_by": [], "faults": faults}
    try:
        manifest = store.read_manifest(benchmark, home)
        if manifest is None:
            return found
        list(manifest_lines(manifest))  # raises if something is not as it should be
        found["manifest"] = manifest
        picks = read_installed(benchmark, home)
    except UserError as error:
        faults.append(str(error))
        picks = {}
    except (KeyError, TypeError, ValueError, AttributeError):
        manifest_file = store.manifest_file(benchmark, home)
        return {
            **found,
            "faults": [f"{manifest_file} is not as `prepare` writes it; run `prepare` again."],
        }
    people = sorted({pick.annotator for pick in picks.values()})
    found.update(picks=len(picks), picked_by=people)
    for name in store.SPLITS[benchmark] if found["manifest"] else ():
        listed = name in found["manifest"].get("splits", {})
        if listed and not store.questions_file(benchmark, name, home).is_file():
            faults.append(f"the {name} questions are gone; run `prepare` again.")
    return found


def _room(folder: Path) -> str:
    """Say whether the store's folder exists, and how much fits in."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.is_dir())
    free = f"{shutil.disk_usage(there).free / 2**30:,.0f} GiB free"
    return free if there == folder else f"does not exist yet, {free}"


def _version(name: str) -> str | None:
    return version_of(name) or version_of(_ALTERNATIVES.get(name, name))
