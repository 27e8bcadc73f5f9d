"""Our own tasks, read from their YAMLs without the harness.

The harness needs ten seconds to start. What it would only find out then (that the data of a
task is not there) is found out here in a fraction of one.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from video_reasoning.tasks import store

_STORE_PREFIX = f"{store.__name__}."


@dataclass(frozen=True)
class OurTask:
    """A task or group of ours.

    Attributes:
        name: as given to ``--tasks``.
        path: its YAML.
        needs: the benchmarks and splits whose data it reads.
        selects: value of the ``task`` column that it asks; empty for all.
        members: for a group, the names of its tasks and groups.
    """

    name: str
    path: Path
    needs: tuple[tuple[str, str], ...]
    selects: str
    members: tuple[str, ...]


def tasks_path() -> Path:
    """The folder to hand to the harness as ``--include_path``."""
    return Path(__file__).resolve().parent


class _Loader(yaml.SafeLoader):
    """Reads ``!function a.b`` as the text ``a.b``."""


_Loader.add_constructor(
    "!function",
    lambda loader, node: loader.construct_scalar(node),  # type: ignore[arg-type]
)


def _load(path: Path) -> dict[str, Any]:
    """A YAML with the YAMLs that it includes, as the harness reads them."""
    with path.open(encoding="utf-8") as file:
        config = yaml.load(file, _Loader) or {}  # a SafeLoader: builds plain values only
    included: dict[str, Any] = {}
    includes = config.pop("include", [])
    for name in reversed([includes] if isinstance(includes, str) else includes):
        included.update(_load(path.parent / name))
    return {**included, **config}


@lru_cache(maxsize=1)
def our_tasks() -> Mapping[str, OurTask]:
    """All tasks and groups of ours, by name."""
    found = {}
    for path in sorted(tasks_path().rglob("*.yaml")):
        config = _load(path)
        task = config.get("task")
        name = config.get("group") if isinstance(task, list) else task
        if not name:
            continue  # a base that others include
        members = tuple(
            member if isinstance(member, str) else member["task"]
            for member in (task if isinstance(task, list) else [])
        )
        source = str(config.get("dataset_kwargs", ""))
        needs = []
        if source.startswith(_STORE_PREFIX):
            benchmark, _, split = source.removeprefix(_STORE_PREFIX).partition("_")
            needs.append((benchmark, split))
        # By convention a process_docs that selects is called like the task's name in the data,
        # and one that expands every question ends with "_docs".
        selects = re.sub(r"^.*\.", "", str(config.get("process_docs", "")))
        selects = "" if selects.endswith("_docs") else selects
        found[name] = OurTask(name, path, tuple(needs), selects, members)
    return found


def requested(names: Iterable[str]) -> list[OurTask]:
    """Those of our tasks that ``--tasks`` names, groups resolved, patterns matched."""
    ours = our_tasks()
    chosen: dict[str, OurTask] = {}

    def add(name: str) -> None:
        for match in fnmatch.filter(ours, name):
            task = ours[match]
            if match not in chosen:
                chosen[match] = task
                for member in task.members:
                    add(member)

    for name in names:
        add(name.strip())
    return list(chosen.values())


def missing_data(names: Iterable[str]) -> list[str]:
    """What is missing for the tasks of ours that ``--tasks`` names, a sentence each."""
    problems: dict[str, None] = {}
    for task in requested(names):
        for benchmark, split in task.needs:
            problem = store.missing_data(benchmark, split)
            if not problem and task.selects:
                problem = _nothing_selected(task, benchmark, split)
            if problem:
                problems[problem] = None
    return list(problems)


def _nothing_selected(task: OurTask, benchmark: str, split: str) -> str:
    from video_reasoning.tasks.blackswan import captions

    manifest = store.read_manifest(benchmark)
    if manifest is None:
        return ""  # questions without a manifest: the user's own making
    summary = manifest.get("splits", {}).get(split, {})
    counts = summary.get("tasks", {})
    if task.selects in captions.TASKS:
        if summary.get("captioned", {}).get(task.selects):
            return ""
        return captions.missing_captions(task.selects, task.name)
    if task.selects in counts or not counts:
        return ""
    return (
        f"{task.name} has no questions in {store.home()}: the release that was prepared for "
        f"{benchmark} ({split} split) has only {', '.join(counts)}; "
        f"run `video-reasoning prepare {benchmark} --source` with one that has them."
    )


def losses(names: Iterable[str]) -> list[str]:
    """What ``prepare`` had to leave out of the data of the tasks named, a sentence each."""
    sentences = []
    for benchmark, split in dict.fromkeys(need for task in requested(names) for need in task.needs):
        summary = (store.read_manifest(benchmark) or {}).get("splits", {}).get(split, {})
        missing, skipped = len(summary.get("missing", [])), len(summary.get("skipped", []))
        if missing or skipped:
            sentences.append(
                f"{benchmark} ({split} split): {missing:,} items without a usable video and "
                f"{skipped:,} unreadable rows; `video-reasoning doctor` lists them."
            )
    return sentences
