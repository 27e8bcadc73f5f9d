"""The data of a report, which is then written as a page, as Markdown or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from video_reasoning.tasks.audit.result import RESULT
from video_reasoning.tasks.audit.variants import is_variant
from video_reasoning.tasks.report import facts
from video_reasoning.tasks.report.audits import AuditPart, audit_part, find_audits
from video_reasoning.tasks.report.gallery import Example, examples
from video_reasoning.tasks.report.player import CLIPS, Embedded
from video_reasoning.tasks.report.tables import Grid, RunKey, paper_tables, run_key, run_names
from video_reasoning.tasks.results.items import ReportError, TaskLog, gather
from video_reasoning.tasks.results.logs import find_runs
from video_reasoning.tasks.results.numbers import LEVEL, Number, TaskNumbers, measure

EXAMPLES = 12  # examples of a task, at most
_PACKAGE = "lmms-eval-video-reasoning"

_HEADLINES = (
    ("paired accuracy", None),
    ("accuracy", ""),
    ("accuracy", "ordered16"),
    ("accuracy", None),
    ("llm_match", None),
    ("clip_score", None),
    ("rouge_l", None),
    ("bleu", None),
)
"""Names and conditions of numbers; the first that a task has is its headline."""


@dataclass
class Report:
    """Everything that a report shows.

    Attributes:
        found: Numbers of each task of each run, tasks of one name next to each other.
        names: Run -> its short name, in the order of the colors.
        grids: The papers' tables with the runs in them.
        problems: Task, run and a sentence that a reader must know before their numbers.
        examples: Task -> chosen questions.
        written: When the report was written, in UTC.
        by: Name and version of the package that wrote it.
        level: Coverage of the intervals.
        folders: The paths that were read.
    """

    found: Sequence[TaskNumbers]
    names: Mapping[RunKey, str]
    grids: Sequence[Grid]
    problems: Sequence[tuple[str, str, str]]
    examples: Mapping[str, Sequence[Example]]
    written: str
    by: str
    level: float = LEVEL
    folders: Sequence[str] = field(default_factory=list)
    audit: AuditPart | None = None

    @property
    def intervals(self) -> str:
        """What captions call the intervals."""
        return f"{100 * self.level:g}% intervals"

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

    @cached_property
    def asked(self) -> dict[Path, dict[str, str]]:
        """A task's sample log -> how the task was asked."""
        return {log.log: facts.task_facts(log) for log in self.logs}

    def signatures(self, found: Sequence[TaskNumbers]) -> list[str]:
        """Return what identifies the numbers of some tasks, each once."""
        lines = [self.asked[each.log.log].get("signature", "") for each in found]
        return list(dict.fromkeys(filter(None, lines)))

    @property
    def runs(self) -> list[tuple[str, dict[str, str], list[TaskNumbers]]]:
        """Each run's short name, what was run, and its tasks."""
        runs = {run_key(log.run): log.run for log in self.logs}
        return [
            (
                name,
                facts.run_facts(runs[key]),
                [each for each in self.found if run_key(each.log.run) == key],
            )
            for key, name in self.names.items()
        ]

    @property
    def about(self) -> list[str]:
        """What was run, on what, and when, in a few phrases."""
        return facts.about(self.logs) if self.found else []

    @property
    def sample(self) -> str:
        """That numbers are of the sample benchmark; empty if none is."""
        audited = self.audit.of_sample if self.audit else []
        return facts.sample_note([*audited, *((log.task, log.sample) for log in self.logs)])

    @property
    def stores(self) -> dict[str, dict[str, str]]:
        """Folder of a benchmark in a store -> what its manifest says."""
        return facts.store_facts(self.logs)

    @property
    def benchmarks(self) -> list[str]:
        """Names of the benchmarks; empty for tasks of none."""
        return list(dict.fromkeys(log.benchmark for log in self.logs))

    @property
    def models(self) -> list[str]:
        """Short names of the runs and then of the audits, in the order of their marks."""
        return [*self.names.values(), *(self.audit.names.values() if self.audit else ())]

    def name(self, each: TaskNumbers) -> str:
        """Return the short name of a task's run."""
        return self.names[run_key(each.log.run)]

    def place(self, each: TaskNumbers) -> int:
        """Return the place of a task's run among the runs: its color and marker."""
        return list(self.names).index(run_key(each.log.run))

    def columns(self, runs: Sequence[TaskNumbers]) -> dict[str, int]:
        """Return the short names of some runs, with their places."""
        return {self.name(each): self.place(each) for each in runs}

    def as_json(self) -> dict[str, Any]:
        """Return all numbers, each with the task and the file that it comes from."""
        grids = [self.audit.grid] if self.audit and self.audit.grid else []
        content = {
            "format": 1,
            "written": self.written,
            "written_by": self.by,
            "level": self.level,
            "about": self.about,
            "sample": self.sample,
            "results": list(self.folders),
            "runs": [{"name": name, **entries} for name, entries, _ in self.runs],
            "stores": self.stores,
            "problems": [
                {"task": task, "run": name, "problem": sentence}
                for task, name, sentence in self.problems
            ],
            "tasks": [
                {"name": self.name(each), **each.as_json(), "asked": self.asked[each.log.log]}
                for each in self.found
            ],
            "tables": [grid.as_json() for grid in [*grids, *self.grids]],
        }
        if self.audit is None:
            return content
        audits = {"audits": self.audit.as_json(), "audit_problems": list(self.audit.problems)}
        return {**content, **audits}


def build(
    paths: Iterable[Path],
    *,
    most_examples: int = EXAMPLES,
    megabytes: float = CLIPS,
    level: float = LEVEL,
) -> Report:
    """Read logged runs and audits, and compute their report.

    It has `most_examples` of each task at most, fewer if there are many tasks, and their clips in
    so many megabytes at most. Audits keep the coverage of their intervals.

    Raises:
        UserError: There is nothing to report on, or a path is not a log.
    """
    paths = list(paths)
    audits, audit_problems = find_audits(paths)
    logs = _logs(paths, bool(audits), audit_problems)
    found = [measure(log, level) for log in logs]
    names = run_names(sorted(logs, key=lambda log: log.run.date))
    of_task: dict[str, list[TaskLog]] = {}
    for log in logs:
        of_task.setdefault(log.task, []).append(log)
    with Embedded(megabytes) as clips:
        chosen = {
            task: examples(of, len(of_task), most_examples, clips) if most_examples else []
            for task, of in of_task.items()
        }
    return Report(
        found=found,
        names=names,
        grids=paper_tables([each for each in found if not each.log.sample], names),
        problems=[
            (each.log.task, names[run_key(each.log.run)], sentence)
            for each in found
            for sentence in facts.problems(each)
        ],
        examples=chosen,
        written=datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        by=f"{_PACKAGE} {version(_PACKAGE)}",
        level=level,
        folders=[str(path) for path in paths],
        audit=audit_part(audits, audit_problems, most_examples),
    )


def _logs(paths: Sequence[Path], audited: bool, problems: list[str]) -> list[TaskLog]:
    """Read the logged tasks, without the variants that an audit asks; add to `problems`."""
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
    tasks = [task for run in find_runs(logged) for task in run.tasks]
    if not audited and (not logs or any(map(is_variant, tasks))):
        problems.append(
            "These are logs of an audit without its numbers: run `video-reasoning audit "
            "--judge-only --out FOLDER`, then report on that folder."
        )
        if not logs:
            raise ReportError(" ".join(problems))
    return logs


def headline(each: TaskNumbers) -> Number | None:
    """Return the number that a task is known by, or None if nothing was scored."""
    for name, condition in _HEADLINES:
        number = each.find(name, None, condition)
        if number is not None and number.value is not None:
            return number
    return None


def chance_of(each: TaskNumbers, name: str) -> float | None:
    """Return what guessing gives for a number of a task: 0 to 1, or None if unknown."""
    return each.chance_paired if name == "paired accuracy" else each.chance


def verdict(each: TaskNumbers, number: Number | None) -> str:
    """Compare a headline number with guessing, in a few words."""
    if number is None or number.value is None:
        return "nothing scored"
    chance = chance_of(each, number.name)
    if chance is None or number.low is None or number.high is None:
        return ""
    if number.low > chance:
        return "above"
    if number.high < chance:
        return "below"
    return "no clear difference"
