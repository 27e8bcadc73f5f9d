"""What an audit asks: tasks, conditions, picks. Written once, read by every process of the run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from video_reasoning.tasks.audit.files import reason, write_json
from video_reasoning.tasks.audit.schemas import Grouping, declared_groups
from video_reasoning.tasks.audit.variants import AuditError, Variant, parse_all, variant_task

__all__ = ["FILE", "AuditedTask", "Plan", "read_plan", "write_plan"]

FILE = "plan.json"

_LONGEST = 150
"""Characters of a task's name in the names of files, which the harness makes longer."""


@dataclass(frozen=True)
class AuditedTask:
    """One task that is audited.

    Attributes:
        name: As the harness knows it.
        yaml: Its YAML.
        group: The group or tag that the user named and that the task is part of, or "".
        overrides: What that group sets for its tasks.
        picks: Question id -> handpicked frame.
        ranges: Metric -> lowest and highest score of a question, as seen on trials.
        judged: Whether scoring a question asks a server, such as a judge.
        movable: Options of a question that can be put in another order, at most; 0 if not known.
        sample_benchmark: Whether it asks the sample benchmark, whose videos are drawn.
    """

    name: str
    yaml: Path
    group: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    picks: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: bool = False
    movable: int = 0
    sample_benchmark: bool = False

    def variant_name(self, variant: Variant) -> str:
        """Return the generated task's name, and the stem of its files."""
        # The name of a file: a task's name may contain a slash or a space, and two tasks' names
        # may differ in nothing else.
        stem = re.sub(r"[^A-Za-z0-9_-]", "_", self.name)[:_LONGEST]
        if stem != self.name:
            stem += f"_{hashlib.blake2b(self.name.encode(), digest_size=4).hexdigest()}"
        return variant_task(stem, variant)


def _several(given: Any) -> Any:
    """Read a text, as earlier versions wrote it, as one of several."""
    return tuple(filter(None, [given])) if isinstance(given, str) else given


@dataclass(frozen=True)
class Plan:
    """One audit.

    Attributes:
        conditions: Names of the conditions.
        tasks: The tasks.
        clips: Folder of made clips.
        frames: Frames of the conditions that show several.
        seed: Seed of the draws.
        limit: How many questions of each task are asked; None for all.
        sample: How many are drawn at random; None for all.
        group_by: What groups questions, as the user declared it; nothing for what is known of a
            task.
        option_fields: Field shapes that the user declared.
        score_range: Lowest and highest score of a question, as the user declared them; None to
            take what trials showed.
        refused: Task -> why it is not audited.
    """

    conditions: Annotated[tuple[str, ...], Field(alias="variants")]
    tasks: tuple[AuditedTask, ...]
    clips: Path
    frames: int
    seed: int = 0
    limit: int | None = None
    sample: int | None = None
    group_by: Annotated[tuple[str, ...], BeforeValidator(_several)] = ()
    option_fields: tuple[str, ...] = ()
    score_range: tuple[float, float] | None = None
    refused: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The conditions."""
        return parse_all(self.conditions, self.frames, self.seed)

    def asked(self, task: AuditedTask) -> list[Variant]:
        """Return the variants of a task.

        The handpicked one only if the task has picks, and no rotation beyond its options.
        """
        return [
            variant
            for variant in self.variants
            if (variant.kind != "handpicked" or task.picks)
            and (variant.kind != "rotated" or variant.order < task.movable or not task.movable)
        ]

    def groups(self, task: AuditedTask) -> list[Grouping]:
        """Return what groups a task's questions."""
        return [Grouping.parse(text) for text in self.group_by or declared_groups(task.name)]

    def digest(self, task: AuditedTask) -> str:
        """Return a name of all that the answers to a task depend on; not of which are asked."""
        parts: list[Any] = [self.seed, self.frames, self.option_fields, sorted(task.picks.items())]
        if self.sample is not None:  # which questions the places in a log stand for
            parts += [self.sample, self.group_by or declared_groups(task.name)]
        text = json.dumps([*parts, dict(task.overrides)], default=str, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def find(self, name: str) -> tuple[AuditedTask, Variant]:
        """Return task and variant of a generated task.

        Raises:
            AuditError: If the audit has no task of that name.
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


_PLAN = TypeAdapter(Plan)


def write_plan(path: Path, plan: Plan) -> None:
    """Write the plan of an audit."""
    write_json(path, _PLAN.dump_python(plan, mode="json", by_alias=True))


def read_plan(path: Path) -> Plan:
    """Read the plan of an audit.

    Raises:
        AuditError: If the file is absent or is not a plan.
    """
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        raise AuditError(
            f"There is no audit in {path.parent}; start one with `video-reasoning audit --tasks`."
        ) from None
    except (OSError, ValidationError) as error:
        raise AuditError(
            f"The audit's plan {path} cannot be read ({reason(error)}); derive it again."
        ) from error


@lru_cache(maxsize=16)
def _read(path: Path, changed: int) -> Plan:
    del changed  # a part of the key: a plan that was written again is read again
    return _PLAN.validate_json(path.read_bytes())
