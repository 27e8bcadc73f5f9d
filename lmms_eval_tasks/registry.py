"""Our own tasks, read from their YAMLs without the harness.

The harness needs ten seconds to start. Data that a task lacks is reported here in a fraction of
one.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from video_reasoning.tasks import store
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import did_you_mean

_STORE_PREFIX = f"{store.__name__}."


@dataclass(frozen=True)
class OurTask:
    """A task or group of ours.

    Attributes:
        name: As given to ``--tasks``.
        path: Its YAML.
        needs: The benchmarks and splits whose data it reads.
        selects: The kind of questions that it asks, one of its benchmark's ``kinds``; empty for
            all.
        condition: The frames that it shows of each video, its ``dataset_name``: "clips" for
            several videos, empty if it shows one as it is.
        members: For a group, the names of its tasks and groups.
    """

    name: str
    path: Path
    needs: tuple[tuple[str, str], ...]
    selects: str
    condition: str
    members: tuple[str, ...]


def tasks_path() -> Path:
    """Return the folder to give to the harness as ``--include_path``."""
    return Path(__file__).resolve().parent


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads ``!function a.b`` as the text ``a.b``."""


_Loader.add_constructor(
    "!function",
    lambda loader, node: loader.construct_scalar(node),
)


def _load(path: Path) -> dict[str, Any]:
    """Read a YAML with the YAMLs that it includes, as the harness does."""
    with path.open(encoding="utf-8") as file:
        config = yaml.load(file, _Loader) or {}  # a SafeLoader: builds plain values only
    included: dict[str, Any] = {}
    includes = config.pop("include", [])
    for name in reversed([includes] if isinstance(includes, str) else includes):
        included.update(_load(path.parent / name))
    return {**included, **config}


@lru_cache(maxsize=1)
def our_tasks() -> Mapping[str, OurTask]:
    """Return all tasks and groups of ours, by name."""
    found = {}
    for path in sorted(tasks_path().rglob("*.yaml")):
        config = _load(path)
        task = config.get("task")
        if isinstance(task, list):
            members = tuple(each if isinstance(each, str) else each["task"] for each in task)
            found[config["group"]] = OurTask(config["group"], path, (), "", "", members)
        elif task:  # else a base that others include
            found[task] = _task(task, path, config)
    return found


def _task(name: str, path: Path, config: Mapping[str, Any]) -> OurTask:
    needs: tuple[tuple[str, str], ...] = ()
    source, selects = str(config.get("dataset_kwargs", "")), ""
    if source.startswith(_STORE_PREFIX):
        benchmark, _, split = source.removeprefix(_STORE_PREFIX).partition("_")
        needs = ((benchmark, split),)
        # A process_docs that selects is named like the kind that it keeps.
        selects = str(config.get("process_docs", "")).rpartition(".")[2]
        selects = selects if selects in BENCHMARKS[benchmark].kinds else ""
    return OurTask(name, path, needs, selects, str(config.get("dataset_name") or ""), ())


def config_of(name: str) -> dict[str, Any]:
    """Return the configuration of a task or group of ours; functions are dotted names."""
    return _load(our_tasks()[name].path)


def requested(names: Iterable[str]) -> list[OurTask]:
    """Return those of our tasks that ``--tasks`` names, groups resolved, patterns matched."""
    ours = our_tasks()
    chosen: dict[str, OurTask] = {}

    def add(name: str) -> None:
        for match in fnmatch.filter(ours, name):
            if match not in chosen:
                chosen[match] = ours[match]
                for member in ours[match].members:
                    add(member)

    for name in names:
        add(name.strip())
    return list(chosen.values())


def harness_folder() -> Path | None:
    """Return the harness's folder without importing it; None if there is none to look into."""
    try:
        found = find_spec("lmms_eval")
    except ValueError:  # something stands in for it
        found = None
    return Path(found.origin).parent if found and found.origin else None


_DEFINED = re.compile(r"^(?:task|group):[ \t]*['\"]?([\w.-]+)", re.MULTILINE)


def unknown(names: Iterable[str], include_paths: Iterable[str] = ()) -> list[str]:
    """Say which names in ``--tasks`` nothing has, a sentence each with the nearest names.

    A name counts as known if it is a word of any YAML of the harness or of the user, because the
    harness has several ways of naming a task. Patterns and files are the harness's business.

    Args:
        names: As for ``--tasks``.
        include_paths: The user's folders of tasks.
    """
    sought = {
        name
        for name in names
        if name not in our_tasks() and "*" not in name and not Path(name).exists()
    }
    # Another plugin may bring tasks, too.
    if not sought or harness_folder() is None or os.environ.get("LMMS_EVAL_PLUGINS"):
        return []
    named = set(our_tasks())
    for text in _yamls(include_paths):
        sought -= {name for name in sought if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)}
        if not sought:
            return []
        named.update(_DEFINED.findall(text))
    return [f"There is no task {name}{did_you_mean(name, named)}" for name in sorted(sought)]


def is_defined(name: str, include_paths: Iterable[str] = ()) -> bool:
    """Tell whether a YAML of ours, of the user or of the harness is a task or group of a name."""
    return name in our_tasks() or any(
        name in _DEFINED.findall(text) for text in _yamls(include_paths)
    )


def _yamls(include_paths: Iterable[str]) -> Iterator[str]:
    """Read the YAMLs of the user and of the harness."""
    harness = harness_folder()
    for folder in (*map(Path, include_paths), *([harness / "tasks"] if harness else [])):
        for path in folder.rglob("*.yaml"):
            yield path.read_text(encoding="utf-8", errors="replace")


def missing_data(names: Iterable[str]) -> list[str]:
    """Say what is missing for the tasks of ours that ``--tasks`` names, a sentence each.

    Raises:
        StoreError: A manifest cannot be read.
    """
    problems = [
        store.missing_data(benchmark, split) or _nothing_selected(task, benchmark, split)
        for task in requested(names)
        for benchmark, split in task.needs
    ]
    return [problem for problem in dict.fromkeys(problems) if problem]


def _nothing_selected(task: OurTask, benchmark: str, split: str) -> str:
    # Questions without a manifest are the user's own.
    if not task.selects or store.read_manifest(benchmark) is None:
        return ""
    summary = store.split_summary(benchmark, split)
    counts = summary.get("tasks", {})
    if BENCHMARKS[benchmark].kinds[task.selects]:
        kept = summary.get("captioned", {}).get(task.selects)
        return "" if kept else without_columns(benchmark, task.selects, task.name)
    if task.selects in counts or not counts:
        return ""
    return (
        f"{task.name} has no questions in {store.home()}: the release that was prepared for "
        f"{benchmark} ({split} split) has only {', '.join(counts)}; "
        f"run `video-reasoning prepare {benchmark} --source` with one that has them."
    )


def without_columns(benchmark: str, kind: str, name: str = "") -> str:
    """Say in one sentence that no question has the captions that a kind of question needs."""
    return (
        f"{name or kind} has no questions: none has captions in the store; write "
        f"{', '.join(BENCHMARKS[benchmark].kinds[kind])} per question_id into a JSON Lines file "
        f"and run `video-reasoning prepare {benchmark} --captions FILE` (docs/{benchmark}.md)."
    )


def losses(names: Iterable[str]) -> list[str]:
    """Say what ``prepare`` left out of the data of the tasks named, a sentence each.

    Raises:
        StoreError: A manifest cannot be read.
    """
    sentences = []
    for benchmark, split in dict.fromkeys(need for task in requested(names) for need in task.needs):
        summary = store.split_summary(benchmark, split)
        missing, skipped = len(summary.get("missing", [])), len(summary.get("skipped", []))
        if missing or skipped:
            sentences.append(
                f"{benchmark} ({split} split): {missing:,} items without a usable video and "
                f"{skipped:,} unreadable rows; `video-reasoning doctor` lists them."
            )
    return sentences
