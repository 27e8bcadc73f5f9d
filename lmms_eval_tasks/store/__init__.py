"""The store: the one place for prepared data, and how a task finds it (see :mod:`.layout`).

Light to import: the standard library and platformdirs.
"""

from video_reasoning.tasks.store.layout import (
    HOME_VARIABLE,
    SPLITS,
    __getattr__,
    benchmark_folder,
    clips_folder,
    content_digest,
    dataset_kwargs,
    home,
    inside,
    manifest_file,
    missing_data,
    questions_file,
    read_manifest,
    split_summary,
)

__all__ = [
    "HOME_VARIABLE",
    "SPLITS",
    "__getattr__",
    "benchmark_folder",
    "clips_folder",
    "content_digest",
    "dataset_kwargs",
    "home",
    "inside",
    "manifest_file",
    "missing_data",
    "questions_file",
    "read_manifest",
    "split_summary",
]
