"""The store: the one place where prepared data lies, and how a task finds it.

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

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import platformdirs

from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.store.text_files import loads, read_text

HOME_VARIABLE = "VIDEO_REASONING_HOME"
"""Environment variable that names the store's folder."""

SPLITS: Mapping[str, tuple[str, ...]] = {
    "blackswan": ("validation", "test"),
    "tvbench": ("test",),
    "causalvqa": ("debug", "test"),
}
"""Benchmarks and their splits, by the names that the store and the tasks use."""


def home() -> Path:
    """The store's folder: ``$VIDEO_REASONING_HOME``, else the platform's cache folder."""
    configured = os.environ.get(HOME_VARIABLE, "").strip()
    if configured:
        return Path(configured).expanduser().absolute()
    return Path(platformdirs.user_cache_dir("video-reasoning", appauthor=False)) / "store"


def benchmark_folder(benchmark: str, store_home: Path | None = None) -> Path:
    """Folder of one benchmark in the store (it need not exist).

    Raises:
        StoreError: if there is no benchmark of that name.
    """
    if benchmark not in SPLITS:
        raise StoreError(
            f"There is no benchmark called {benchmark!r}; the benchmarks are {', '.join(SPLITS)}."
        )
    return (store_home or home()) / benchmark


def clips_folder(benchmark: str) -> Path:
    """Folder of the clips that are derived from a benchmark's videos."""
    return benchmark_folder(benchmark) / "clips"


def questions_file(benchmark: str, split: str, store_home: Path | None = None) -> Path:
    """The questions of one split, one row per item (the file need not exist).

    Raises:
        StoreError: if the benchmark has no such split.
    """
    folder = benchmark_folder(benchmark, store_home)
    if split not in SPLITS[benchmark]:
        raise StoreError(
            f"{benchmark} has no split called {split!r}; "
            f"its splits are {', '.join(SPLITS[benchmark])}."
        )
    return folder / split / "questions.parquet"


def manifest_file(benchmark: str, store_home: Path | None = None) -> Path:
    """The record of what was prepared from which source (the file need not exist)."""
    return benchmark_folder(benchmark, store_home) / "manifest.json"


def read_manifest(benchmark: str, store_home: Path | None = None) -> dict[str, Any] | None:
    """The benchmark's manifest, or None where nothing has been prepared.

    Raises:
        StoreError: if the file is there but cannot be read.
    """
    path = manifest_file(benchmark, store_home)
    try:
        manifest = loads(read_text(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(
            f"The manifest {path} cannot be read ({error}); "
            f"run `video-reasoning prepare {benchmark} --source RELEASE` again."
        ) from error
    if not isinstance(manifest, dict):
        raise StoreError(
            f"The manifest {path} does not hold an object; "
            f"run `video-reasoning prepare {benchmark} --source RELEASE` again."
        )
    return manifest


def missing_data(benchmark: str, split: str) -> str:
    """Says in one sentence what is missing for a split, or nothing where it is there.

    Returns:
        The empty text where the questions are in the store, else a sentence that names the
        place, the command to run and the variable to set.
    """
    path = questions_file(benchmark, split)
    if path.is_file():
        return ""
    return (
        f"No data for {benchmark} ({split} split) in {home()}: "
        f"run `video-reasoning prepare {benchmark} --source RELEASE_FOLDER_OR_ARCHIVE` "
        "(docs/data.md says where to get the release), "
        f"or set {HOME_VARIABLE} to a store that holds it."
    )


def dataset_kwargs(benchmark: str, split: str) -> dict[str, Any]:
    """The ``dataset_kwargs`` with which the harness loads one split (builder ``parquet``).

    Raises:
        StoreError: if the split has not been prepared.
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
