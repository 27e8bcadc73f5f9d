"""A report as a value, made once and written as a page, as Markdown or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from video_reasoning.tasks.audit.output import RESULT
from video_reasoning.tasks.audit.variants import is_variant
from video_reasoning.tasks.report import facts
from video_reasoning.tasks.report.audits import AuditPart, audit_part, find_audits
from video_reasoning.tasks.report.gallery import Example, examples
from video_reasoning.tasks.report.tables import Grid, RunKey, paper_tables, run_key, run_names
from video_reasoning.tasks.results.items import ReportError, TaskLog, gather
from video_reasoning.tasks.results.logs import find_runs
from video_reasoning.tasks.results.numbers import LEVEL, Number, TaskNumbers, measure

__all__ = ["EXAMPLES", "Report", "build", "headline", "verdict"]

EXAMPLES = 12
"""Examples of a task, at most."""


@dataclass
class Report:
    """Everything that a report says.

    Attributes:
        found: the numbers of each task of each run, tasks of one name next to each other.
        names: run -> its short name, in the order of the colours.
        grids: the papers' tables with the runs in them.
        problems: task -> what a reader must know before its numbers, with the run's name.
        examples: task -> chosen questions.
        audit: the audits, or None where there are none.
        written: when, in UTC.
        by: what wrote it.
    """

    found: Sequence[TaskNumbers]
    names: Mapping[RunKey, str]
    grids: Sequence[Grid]
    problems: Mapping[str, Sequence[tuple[str, str]]]
    examples: Mapping[str, Sequence[Example]]
    written: str
    by: str
    level: float = LEVEL
    folders: Sequence[str] = field(default_factory=list)
    audit: AuditPart | None = None

    @property
    def tasks(self) -> dict[str, list[TaskNumbers]]:
        """Task -> its runs."""
        tasks: dict[str, list[TaskNumbers]] = {}
        for each in self.found:
            tasks.setdefault(each.log.task, []).append(each)
        return tasks

    @property
    def logs(self) -> list[TaskLog]:
        """The logs of all tasks."""
        return [each.log for each in self.found]

    def name(self, each: TaskNumbers) -> str:
        """The short name of a task's run."""
        return self.names[run_key(each.log.run)]

    def place(self, each: TaskNumbers) -> int:
        """The place of a task's run among the runs: its colour and marker."""
        return list(self.names).index(run_key(each.log.run))

    def as_json(self) -> dict[str, Any]:
        """All numbers, each with the task and the file that it comes from."""
        runs = {run_key(log.run): log.run for log in self.logs}
        return {
            "format": 1,
            "written": self.written,
            "written_by": self.by,
            "level": self.level,
            "results": list(self.folders),
            "runs": [
                {"name": self.names[key], **facts.run_facts(run)} for key, run in runs.items()
            ],
            "stores": facts.store_facts(self.logs),
            "problems": [
                {"task": task, "run": name, "problem": sentence}
                for task, entries in self.problems.items()
                for name, sentence in entries
            ],
            "tasks": [
                {"name": self.name(each), **each.as_json(), "asked": facts.task_facts(each.log)}
                for each in self.found
            ],
            "tables": [grid.as_json() for grid in self.all_grids],
            **self._audit_json(),
        }

    @property
    def all_grids(self) -> list[Grid]:
        """The papers' tables, that of the audits first."""
        audited = self.audit.grid if self.audit else None
        return [*([audited] if audited else []), *self.grids]

    def _audit_json(self) -> dict[str, Any]:
        if self.audit is None:
            return {}
        return {"audits": self.audit.as_json(), "audit_problems": list(self.audit.problems)}


def build(paths: Iterable[Path], *, most_examples: int = EXAMPLES) -> Report:
    """Reads logged runs and computes their report.

    Args:
        paths: output folders of the harness, results files or sample logs; folders of audits.
        most_examples: examples of each task, at most; a report over many tasks has fewer.

    Raises:
        UserError: if there is nothing to report on, or a path is no log.
    """
    paths = list(paths)
    audits, audit_problems = find_audits(paths)
    logs = _logs(paths, bool(audits), audit_problems)
    found = [measure(log) for log in logs]
    names = run_names(sorted(logs, key=lambda log: log.run.date))
    of_task: dict[str, list[TaskLog]] = {}
    for log in logs:
        of_task.setdefault(log.task, []).append(log)
    said: dict[str, list[tuple[str, str]]] = {}
    for each in found:
        for sentence in facts.problems(each):
            said.setdefault(each.log.task, []).append((names[run_key(each.log.run)], sentence))
    return Report(
        found=found,
        names=names,
        grids=paper_tables(found, names),
        problems=said,
        examples={
            task: examples(of, len(of_task), most_examples) if most_examples else []
            for task, of in of_task.items()
        },
        written=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        by=_by(),
        folders=[str(path) for path in paths],
        audit=audit_part(audits, audit_problems, most_examples),
    )


def _logs(paths: Sequence[Path], audited: bool, problems: list[str]) -> list[TaskLog]:
    """The logged tasks, without the variants that an audit has made; those stand in its part.

    Args:
        paths: as given by the user.
        audited: whether an audit was found.
        problems: filled with what a reader should know of audits that were not judged.

    Raises:
        UserError: if there is nothing to report on.
    """
    logged = [path for path in paths if path.name != RESULT]
    if not logged:
        if not audited:
            raise ReportError(" ".join(problems) or f"There is no {RESULT} to report on.")
        return []
    try:
        logs = gather(logged, leave_out=is_variant)
    except ReportError:
        if audited:
            return []
        raise
    if not audited and (not logs or _has_variants(logged)):
        problems.append(
            "The logs of an audit are here without its numbers: judge it with `video-reasoning "
            "audit --judge-only --out FOLDER`, and report on that folder."
        )
        if not logs:
            raise ReportError(" ".join(problems))
    return logs


def _has_variants(paths: Sequence[Path]) -> bool:
    return any(is_variant(task) for run in find_runs(paths) for task in run.tasks)


def _by() -> str:
    try:
        return f"lmms-eval-video-reasoning {version('lmms-eval-video-reasoning')}"
    except PackageNotFoundError:
        return "lmms-eval-video-reasoning"


def headline(each: TaskNumbers) -> Number | None:
    """The number that a task is known by, or None where nothing was scored."""
    for name, condition in (
        ("paired accuracy", None),
        ("accuracy", ""),
        ("accuracy", "ordered16"),
        ("accuracy", None),
        ("llm_match", None),
        ("clip_score", None),
        ("rouge_l", None),
        ("bleu", None),
    ):
        number = each.find(name, None, condition)
        if number is not None and number.value is not None:
            return number
    return None


def verdict(each: TaskNumbers, number: Number | None) -> str:
    """What a headline number says against guessing, in a few words."""
    if number is None or number.value is None:
        return "nothing scored"
    chance = each.chance_paired if number.name == "paired accuracy" else each.chance
    if chance is None or number.low is None or number.high is None:
        return ""
    if number.low > chance:
        return "above"
    if number.high < chance:
        return "below"
    return "cannot be told apart"
