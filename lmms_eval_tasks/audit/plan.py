"""What an audit asks: tasks, variants, picks. Written once, read by every process of the run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.audit.variants import AuditError, Variant, parse

__all__ = ["AuditedTask", "Plan", "read_plan", "write_json"]

FILE = "plan.json"

_LONGEST = 150
"""Characters of a task's name in the names of files, of which the harness makes longer ones."""


@dataclass(frozen=True)
class AuditedTask:
    """One task that is audited.

    Attributes:
        name: as the harness knows it.
        yaml: its YAML.
        group: what the user asked for where that was a group or tag of it, else the empty text.
        overrides: what that group sets for its tasks.
        picks: question id -> handpicked frame.
        annotators: who picked the frames.
    """

    name: str
    yaml: Path
    group: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    picks: Mapping[str, int] = field(default_factory=dict)
    annotators: Sequence[str] = ()

    def variant_name(self, variant: Variant) -> str:
        """The generated task's name, and the stem of its files."""
        # A file's name: a task may be called with a slash or a space, and two tasks so alike
        # that only these differ.
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", self.name)[:_LONGEST]
        if stem != self.name:
            stem += f"_{hashlib.blake2b(self.name.encode(), digest_size=4).hexdigest()}"
        return f"audit_{stem}_{variant.name}"


@dataclass(frozen=True)
class Plan:
    """One audit.

    Attributes:
        variants: the conditions.
        tasks: the tasks.
        clips: folder of made clips.
        frames: frames of the conditions that show several.
        seed: seed of what is drawn.
        limit: how many questions of each task are asked; None for all.
        option_fields: field shapes that the user declared.
        refused: task -> why it is not audited.
    """

    variants: tuple[Variant, ...]
    tasks: tuple[AuditedTask, ...]
    clips: Path
    frames: int
    seed: int = 0
    limit: int | None = None
    option_fields: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def asked(self, task: AuditedTask) -> list[Variant]:
        """The variants of a task: the handpicked one only where it has picks."""
        return [v for v in self.variants if v.kind != "handpicked" or task.picks]

    def find(self, name: str) -> tuple[AuditedTask, Variant]:
        """Task and variant of a generated task.

        Raises:
            AuditError: if the audit has none of that name.
        """
        if name not in self._by_name:
            raise AuditError(f"This audit has no task {name}; derive it again.")
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, tuple[AuditedTask, Variant]]:
        return {
            task.variant_name(variant): (task, variant)
            for task in self.tasks
            for variant in self.variants
        }

    def as_json(self) -> dict[str, Any]:
        """The plan for its file."""
        return {
            "variants": [variant.name for variant in self.variants],
            "frames": self.frames,
            "seed": self.seed,
            "limit": self.limit,
            "clips": str(self.clips),
            "option_fields": list(self.option_fields),
            "refused": dict(self.refused),
            "tasks": [
                {
                    "name": task.name,
                    "yaml": str(task.yaml),
                    "group": task.group,
                    "overrides": dict(task.overrides),
                    "picks": dict(task.picks),
                    "annotators": list(task.annotators),
                }
                for task in self.tasks
            ],
        }


def write_json(path: Path, content: Any) -> None:
    """Writes a file as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        temporary.write_text(text, encoding="utf-8", newline="\n")


def read_plan(path: Path) -> Plan:
    """Reads the plan of an audit.

    Raises:
        AuditError: if it is not there or is no plan.
    """
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise AuditError(
            f"There is no audit in {path.parent}; start one with `video-reasoning audit --tasks`."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AuditError(
            f"The audit's plan {path} cannot be read ({error!r}); derive it again."
        ) from error


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> Plan:
    del changed  # a part of the key: a plan that was written again is read again
    content = json.loads(path.read_text(encoding="utf-8"))
    frames, seed = int(content["frames"]), int(content["seed"])
    return Plan(
        variants=tuple(parse(name, frames, seed) for name in content["variants"]),
        tasks=tuple(
            AuditedTask(
                name=task["name"],
                yaml=Path(task["yaml"]),
                group=task["group"],
                overrides=task["overrides"],
                picks={name: int(frame) for name, frame in task["picks"].items()},
                annotators=tuple(task["annotators"]),
            )
            for task in content["tasks"]
        ),
        clips=Path(content["clips"]),
        frames=frames,
        seed=seed,
        limit=content["limit"],
        option_fields=tuple(content["option_fields"]),
        refused=content["refused"],
    )
