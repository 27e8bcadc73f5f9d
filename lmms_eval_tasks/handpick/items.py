"""The questions that frames are picked for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.store.picks import picks_file
from video_reasoning.tasks.store.questions import load_questions

_COLUMNS = ("id", "task", "question", "options", "answer", "video", "problem")


@dataclass(frozen=True)
class Item:
    """One question and its video.

    Attributes:
        options: The options in their order; none if the answer is free text.
        answer: Letter of the right option, "yes" or "no", or empty if it is withheld.
        video: Path of the video; None if the question names none that may be shown.
        problem: Why the video cannot be shown, or the empty text.
    """

    id: str
    task: str
    question: str
    options: tuple[str, ...]
    answer: str
    video: Path | None
    problem: str


class Source(Protocol):
    """Where questions are from, and where their picks are put."""

    @property
    def name(self) -> str:
        """What a picks file says that its picks are for."""

    @property
    def picks(self) -> Path:
        """The file of the picks that count."""

    @property
    def installed(self) -> str:
        """What to do once they are there; "" if the tasks find them."""

    def load(self, split: str | None = None) -> list[Item]:
        """Return the items to pick for, in their order."""

    def known(self) -> dict[str, Item]:
        """Return the items that a frame can be picked for, by id."""


@dataclass(frozen=True)
class Prepared:
    """A prepared benchmark.

    Attributes:
        name: Its name.
        home: The store; None for the usual one.
    """

    name: str
    home: Path | None = None

    @property
    def picks(self) -> Path:
        """The store's picks, which the tasks read."""
        return picks_file(self.name, self.home)

    @property
    def installed(self) -> str:
        """Nothing: the tasks find them."""
        return ""

    def load(self, split: str | None = None) -> list[Item]:
        """Return the items of a split; see :func:`load_items`."""
        return load_items(self.name, split, self.home)

    def known(self) -> dict[str, Item]:
        """Return the items of all prepared splits; see :func:`known_ids`."""
        return known_ids(self.name, self.home)


def load_items(benchmark: str, split: str | None = None, home: Path | None = None) -> list[Item]:
    """Read the questions of a split (of the first prepared one if none is named), in their order.

    Items whose video cannot be shown are among them and say why.

    Raises:
        StoreError: If nothing has been prepared, or it cannot be read.
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
    rows = load_questions(path, _COLUMNS).values()
    return [_item(row, folder) for row in rows]


def known_ids(benchmark: str, home: Path | None = None) -> dict[str, Item]:
    """Return the items of all splits that have been prepared, by id.

    Raises:
        StoreError: If nothing has been prepared, or it cannot be read.
    """
    found: dict[str, Item] = {}
    for split in store.SPLITS[benchmark]:
        if store.questions_file(benchmark, split, home).is_file():
            found.update((item.id, item) for item in load_items(benchmark, split, home))
    return found or {item.id: item for item in load_items(benchmark, None, home)}


def of_task(items: Sequence[Item], task: str) -> list[Item]:
    """Return the items of one task.

    Raises:
        UserError: None of them is of that task.
    """
    found = [item for item in items if item.task == task]
    if not found:
        known = ", ".join(dict.fromkeys(item.task for item in items))
        raise UserError(f"There is no task {task!r} among these questions; they are of {known}.")
    return found


def sample(items: Sequence[Item], size: int, seed: int = 0) -> list[Item]:
    """Draw items at random, from nothing but their ids and the seed, in the order of the draw.

    Items are ranked by the SHA-256 of seed and id, and the first `size` are taken in that order.
    So the sample is the same on every machine, does not depend on the order of the items or on
    which videos are there, a larger sample begins with the smaller one, and whoever stops early
    has picked for a random sample all the same.
    """

    def rank(item: Item) -> bytes:
        return hashlib.sha256(f"handpick\x00{seed}\x00{item.id}".encode()).digest()

    return sorted(items, key=rank)[:size]


def _item(row: Mapping[str, Any], folder: Path) -> Item:
    video, problem = str(row.get("video") or ""), str(row.get("problem") or "")
    shown = store.inside(video, folder)
    if not shown and not problem:
        problem = "its video is outside the store" if video else "the question names no video"
    return Item(
        id=str(row["id"]),
        task=str(row.get("task") or ""),
        question=str(row.get("question") or ""),
        options=tuple(map(str, row.get("options") or ())),
        answer=str(row.get("answer") or ""),
        video=folder / video if shown else None,
        problem=problem,
    )
