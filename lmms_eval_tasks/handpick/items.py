"""The questions that frames are picked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError


@dataclass(frozen=True)
class Item:
    """One question and its video.

    Attributes:
        id: the question's id.
        task: the benchmark's task that it belongs to.
        question: its text.
        options: the options in their order; none where the answer is free text.
        answer: letter of the right option, "yes" or "no", or empty where it is withheld.
        video: path of the video; None where the question names none that may be shown.
        problem: why the video cannot be shown, or the empty text.
    """

    id: str
    task: str
    question: str
    options: tuple[str, ...]
    answer: str
    video: Path | None
    problem: str


def load_items(benchmark: str, split: str | None = None, home: Path | None = None) -> list[Item]:
    """Reads the questions of a split in the store, in the store's order.

    Args:
        benchmark: name of the benchmark.
        split: name of the split; None for the first that has been prepared.
        home: the store's folder; None for the usual one.

    Returns:
        The items; those whose video cannot be shown are among them and say why.

    Raises:
        StoreError: if nothing has been prepared, or it cannot be read.
    """
    folder = store.benchmark_folder(benchmark, home)
    splits = store.SPLITS[benchmark] if split is None else (split,)
    files = [store.questions_file(benchmark, name, home) for name in splits]
    path = next((file for file in files if file.is_file()), None)
    if path is None:
        raise StoreError(
            f"No questions of {benchmark} in {folder.parent}: run "
            f"`video-reasoning prepare {benchmark} --source RELEASE_FOLDER_OR_ARCHIVE` first."
        )
    columns = ["id", "task", "question", "options", "answer", "video", "problem"]
    # Importing pyarrow takes longer than the rest of the module.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(path, columns=columns).to_pylist()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise StoreError(
            f"{path} cannot be read ({reason}); run `video-reasoning prepare {benchmark} "
            "--source RELEASE_FOLDER_OR_ARCHIVE` again."
        ) from None
    return [_item(row, folder) for row in rows]


def known_ids(benchmark: str, home: Path | None = None) -> dict[str, Item]:
    """The items of all splits that have been prepared, by id.

    Raises:
        StoreError: if nothing has been prepared, or it cannot be read.
    """
    found: dict[str, Item] = {}
    for split in store.SPLITS[benchmark]:
        if store.questions_file(benchmark, split, home).is_file():
            found.update((item.id, item) for item in load_items(benchmark, split, home))
    return found or {item.id: item for item in load_items(benchmark, None, home)}


def sample(items: Sequence[Item], size: int, seed: int = 0) -> list[Item]:
    """Draws items at random, from nothing but their ids and the seed.

    Items are ranked by the SHA-256 of seed and id, and the first `size` are taken in that order.
    So the sample is the same on every machine, does not depend on the order of the items or on
    which videos are there, a larger sample begins with the smaller one, and whoever stops early
    has picked for a random sample all the same.

    Args:
        items: what to draw from.
        size: how many to draw; all of them where there are fewer.
        seed: another seed gives another sample.

    Returns:
        The items drawn, in the order of the draw.
    """

    def rank(item: Item) -> bytes:
        return hashlib.sha256(f"handpick\x00{seed}\x00{item.id}".encode()).digest()

    return sorted(items, key=rank)[:size]


def inside(name: str) -> bool:
    """Whether a relative path from the store stays below the folder that it starts in."""
    parts = PurePosixPath(name.replace("\\", "/"))
    drive = name[1:2] == ":"
    return bool(parts.parts) and not parts.is_absolute() and not drive and ".." not in parts.parts


def _item(row: Mapping[str, Any], folder: Path) -> Item:
    video, problem = str(row["video"] or ""), str(row["problem"] or "")
    shown = inside(video)
    if not shown and not problem:
        problem = (
            "its video lies outside the store" if video else "the question names no video"
        )  # a store that somebody else wrote is not to be trusted with paths
    options: Iterable[Any] = row["options"] or ()
    return Item(
        id=str(row["id"]),
        task=str(row["task"] or ""),
        question=str(row["question"] or ""),
        options=tuple(str(option) for option in options),
        answer=str(row["answer"] or ""),
        video=folder / video if shown else None,
        problem=problem,
    )
