"""The store: the one place for prepared data, and how a task finds it.

Layout, the same for every benchmark whatever its release looks like::

    <home>/<benchmark>/<split>/questions.parquet   one row per item that is asked
    <home>/<benchmark>/videos/...                  what the release ships
    <home>/<benchmark>/clips/...                   what is derived from it
    <home>/<benchmark>/manifest.json               source, counts, what is missing and why

``<home>`` is ``$VIDEO_REASONING_HOME`` or the platform's cache folder. Paths inside
``questions.parquet`` are relative to ``<home>/<benchmark>``, so that a store can be moved,
mounted elsewhere and shared read-only.

Task YAMLs name an attribute of this module, such as ``video_reasoning.tasks.store.tvbench_test``:
it is looked up when the task is loaded (not when the harness indexes its tasks) and gives the
``dataset_kwargs`` for that benchmark and split.

This module is imported before anything heavy: it needs the standard library and platformdirs.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import platformdirs

from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import StoreError, cause, did_you_mean
from video_reasoning.tasks.store.text_files import loads, read_bytes, read_text

HOME_VARIABLE = "VIDEO_REASONING_HOME"
"""Environment variable that names the store's folder."""

SPLITS: Mapping[str, tuple[str, ...]] = {name: each.splits for name, each in BENCHMARKS.items()}
"""Benchmarks and their splits, by the names that the store and the tasks use."""


def home() -> Path:
    """Return the store's folder: ``$VIDEO_REASONING_HOME``, else in the platform's cache folder."""
    configured = os.environ.get(HOME_VARIABLE, "").strip()
    if configured:
        return Path(configured).expanduser().absolute()
    return Path(platformdirs.user_cache_dir("video-reasoning", appauthor=False)) / "store"


def benchmark_folder(benchmark: str, store_home: Path | None = None) -> Path:
    """Return the folder of one benchmark in the store (it need not exist).

    Raises:
        StoreError: There is no benchmark of that name.
    """
    if benchmark not in SPLITS:
        raise StoreError(
            f"There is no benchmark called {benchmark!r}{did_you_mean(benchmark, SPLITS)} The "
            f"benchmarks are {', '.join(SPLITS)}."
        )
    return (store_home or home()) / benchmark


def inside(name: str, folder: Path) -> bool:
    """Tell whether a relative path from a benchmark's folder stays in it.

    The paths in a store that somebody else wrote are not to be trusted. Folders may be links (the
    videos may be on another disk), files that lead out of the benchmark's folder may not.

    Args:
        name: The path as the questions have it.
        folder: The benchmark's folder.
    """
    parts = PurePosixPath(name.replace("\\", "/"))
    if not parts.parts or parts.is_absolute() or name[1:2] == ":" or ".." in parts.parts:
        return False
    path = folder / parts
    if not path.is_symlink():
        return True
    return any(path.resolve().is_relative_to(each.resolve()) for each in (folder, path.parent))


def clips_folder(benchmark: str) -> Path:
    """Return the folder of the clips that are derived from a benchmark's videos."""
    return benchmark_folder(benchmark) / "clips"


def questions_file(benchmark: str, split: str, store_home: Path | None = None) -> Path:
    """Return the questions of one split, one row per item (the file need not exist).

    Raises:
        StoreError: The benchmark has no such split.
    """
    folder = benchmark_folder(benchmark, store_home)
    if split not in SPLITS[benchmark]:
        raise StoreError(
            f"{benchmark} has no split called {split!r}; "
            f"its splits are {', '.join(SPLITS[benchmark])}."
        )
    return folder / split / "questions.parquet"


def manifest_file(benchmark: str, store_home: Path | None = None) -> Path:
    """Return the record of what was prepared from which source (the file need not exist)."""
    return benchmark_folder(benchmark, store_home) / "manifest.json"


def read_manifest(benchmark: str, store_home: Path | None = None) -> dict[str, Any] | None:
    """Read the benchmark's manifest; None if nothing has been prepared.

    Raises:
        StoreError: The file exists but cannot be read.
    """
    path = manifest_file(benchmark, store_home)
    try:
        manifest = loads(read_text(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        problem = f"cannot be read ({cause(error)})"
    else:
        if isinstance(manifest, dict):
            return manifest
        problem = "does not contain an object"
    raise StoreError(
        f"The manifest {path} {problem}; "
        f"run `video-reasoning prepare {benchmark} --source RELEASE` again."
    )


def split_summary(benchmark: str, split: str) -> dict[str, Any]:
    """Read what the manifest says about one split; empty if it says nothing.

    Raises:
        StoreError: The manifest cannot be read.
    """
    manifest = read_manifest(benchmark) or {}
    return dict(manifest.get("splits", {}).get(split, {}))


def content_digest(benchmark: str) -> str:
    """Return six hex digits that name the questions a store has; empty if nothing is prepared.

    They begin the manifest's ``digest``, or a digest of the questions files for a store that was
    prepared before there was one.

    Raises:
        StoreError: The manifest cannot be read.
    """
    digest = str((read_manifest(benchmark) or {}).get("digest") or "")
    if not digest:
        files = [questions_file(benchmark, split) for split in SPLITS[benchmark]]
        contents = [read_bytes(file) for file in files if file.is_file()]
        digest = hashlib.sha256(b"".join(contents)).hexdigest() if contents else ""
    return digest[:6]


def missing_data(benchmark: str, split: str) -> str:
    """Say in a sentence what is missing for a split, and how to get it; empty if nothing is."""
    if questions_file(benchmark, split).is_file():
        return ""
    return (
        f"No data for {benchmark} ({split} split) in {home()}: "
        f"run `video-reasoning prepare {benchmark} --source RELEASE_FOLDER_OR_ARCHIVE` "
        "(docs/data.md says where to get the release), "
        f"or set {HOME_VARIABLE} to a store that has it."
    )


def dataset_kwargs(benchmark: str, split: str) -> dict[str, Any]:
    """Return the ``dataset_kwargs`` with which the harness loads one split (builder ``parquet``).

    Raises:
        StoreError: The split has not been prepared.
    """
    problem = missing_data(benchmark, split)
    if problem:
        raise StoreError(problem)
    return {"data_files": {split: str(questions_file(benchmark, split))}}


def __getattr__(name: str) -> dict[str, Any]:
    """``<benchmark>_<split>`` for task YAMLs: see :func:`dataset_kwargs`."""
    benchmark, _, split = name.partition("_")
    if split in SPLITS.get(benchmark, ()):
        return dataset_kwargs(benchmark, split)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
