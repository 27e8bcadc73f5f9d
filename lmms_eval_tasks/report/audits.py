"""Audits in a report: their numbers, the paper's beside them, and the questions to look at."""

# Greek letters and signs as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import PAPER_COLUMNS, format_ratio, paper_value
from video_reasoning.metrics.published import published
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.audit.result import (
    RESULT,
    Audit,
    AuditResult,
    Finding,
    read_audit,
    read_findings,
)
from video_reasoning.tasks.audit.variants import AuditError, known, measure_label
from video_reasoning.tasks.report.footage import SAMPLED
from video_reasoning.tasks.report.gallery import LEAST_PER_TASK, MOST_ON_PAGE, Frame, frames_with
from video_reasoning.tasks.report.tables import EMPTY, Cell, Grid, Row, distinct
from video_reasoning.tasks.results.principles import PAPER_MODELS

__all__ = [
    "PAPER_BENCHMARKS",
    "AuditPart",
    "ListedExample",
    "audit_facts",
    "audit_part",
    "estimate_cell",
    "find_audits",
    "ratio",
    "reference",
    "signature",
]

PAPER_BENCHMARKS = ("VITATECS", "MVBench", "TempCompass", "ReXTime", "TVBench")
"""The benchmarks of the paper's tables 1 to 4, in their order."""

_COLUMN_LABELS = {
    "random": "1 random frame",
    "handpicked": "1 handpicked frame",
    "shuffled": "several, shuffled",
    "ordered": "several, in order",
}

_KEPT = 400
"""Characters shown of a response."""

_PROMPT_KEPT = 1200


@dataclass(frozen=True)
class ListedExample:
    """A question to look at, with pictures.

    Attributes:
        listed: The question.
        singles: The frame shown under each condition of one frame, if it is known.
        frames: Frames of the whole video.
        caption: What they are.
    """

    listed: Finding
    singles: Sequence[Frame] = ()
    frames: Sequence[Frame] = ()
    caption: str = ""


@dataclass(frozen=True)
class AuditPart:
    """What a report shows of audits.

    Attributes:
        names: An audit's file -> its short name.
        audits: The audits, oldest first.
        problems: What could not be read, a sentence each.
        grid: Audited tasks beside the paper's benchmarks; None if there are none but the sample's.
        examples: An audit's file and a task -> questions to look at.
        counts: An audit's file and a task -> the number of questions in its list.
    """

    names: Mapping[Path, str]
    audits: Sequence[Audit] = ()
    problems: Sequence[str] = ()
    grid: Grid | None = None
    examples: Mapping[tuple[Path, str], Sequence[ListedExample]] = field(default_factory=dict)
    counts: Mapping[tuple[Path, str], int] = field(default_factory=dict)

    @property
    def top(self) -> dict[str, list[tuple[Audit, AuditResult]]]:
        """Groups, and tasks of no group, -> their audits; without those that were refused."""
        found: dict[str, list[tuple[Audit, AuditResult]]] = {}
        for audit in self.audits:
            for result in _top(audit):
                found.setdefault(result.name, []).append((audit, result))
        return found

    @property
    def signatures(self) -> list[str]:
        """What identifies the numbers of all."""
        every = (signature(*each) for audited in self.top.values() for each in audited)
        return list(dict.fromkeys(every))

    @property
    def of_sample(self) -> list[tuple[str, bool]]:
        """Tasks and groups that were audited, and whether they ask the sample benchmark."""
        return [
            (name, result.sample_benchmark)
            for name, audited in self.top.items()
            for _, result in audited
        ]

    @property
    def refused(self) -> list[tuple[Audit, AuditResult]]:
        """The tasks that were not audited."""
        return [
            (audit, result) for audit in self.audits for result in audit.results if result.refused
        ]

    def place(self, audit: Audit) -> int:
        """Return the place of an audit among the others."""
        return list(self.names).index(audit.file)

    def members(self, audit: Audit, group: str) -> list[AuditResult]:
        """Return the tasks of a group that were audited."""
        inner = _groups(audit)
        return [
            each for each in audit.results if inner.get(each.name) == group and not each.refused
        ]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the audits as plain values."""
        return [
            {
                "name": self.names[audit.file],
                **audit.as_json(),
                "questions_to_look_at": {
                    task: number
                    for (file, task), number in self.counts.items()
                    if file == audit.file
                },
            }
            for audit in self.audits
        ]


def _groups(audit: Audit) -> dict[str, str]:
    """Task -> the group that stands for it; without tasks of no group."""
    return {
        name: result.name
        for result in audit.results
        if len(result.tasks) > 1
        for name in result.tasks
    }


def _top(audit: Audit) -> list[AuditResult]:
    inner = _groups(audit)
    return [each for each in audit.results if not each.refused and each.name not in inner]


def find_audits(paths: Iterable[Path]) -> tuple[list[Audit], list[str]]:
    """Read every audit below some paths.

    Args:
        paths: Folders, or an ``audit.json``; a folder of an audit's logs stands for the audit.

    Returns:
        The audits, oldest first, and a sentence for each file that is not an audit's.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        below = [path] if path.name == RESULT and path.is_file() else []
        if path.is_dir():
            below = sorted(path.rglob(RESULT))
            beside = path.parent / RESULT
            if not below and path.name == "runs" and beside.is_file():
                below = [beside]
        files.update({file.resolve(): file for file in below})
    audits, problems = [], []
    for file in files.values():
        try:
            audits.append(read_audit(file))
        except AuditError as error:
            logger.warning(str(error))
            problems.append(str(error))
    return sorted(audits, key=lambda audit: (audit.date, str(audit.file))), problems


def audit_part(
    audits: Sequence[Audit], problems: Sequence[str], most_examples: int
) -> AuditPart | None:
    """Gather what a report shows of some audits; None if there are none."""
    if not audits and not problems:
        return None
    names = distinct(
        {each.file: (each.model, each.model_args, each.date, str(each.folder)) for each in audits}
    )
    problems = list(problems)
    n_tasks = sum(
        not result.refused and len(result.tasks) == 1
        for audit in audits
        for result in audit.results
    )
    most = min(most_examples, max(LEAST_PER_TASK, MOST_ON_PAGE // max(1, n_tasks)))
    examples: dict[tuple[Path, str], Sequence[ListedExample]] = {}
    counts: dict[tuple[Path, str], int] = {}
    for audit in audits:
        listed, of_task, odd = read_findings(audit.folder, most)
        counts.update({(audit.file, task): number for task, number in of_task.items()})
        if most_examples:
            for task, questions in listed.items():
                examples[audit.file, task] = [_example(audit, each) for each in questions]
        if odd:
            problems.append(
                f"The list of questions in {audit.folder} has {odd:,} unusable "
                f"{'line' if odd == 1 else 'lines'}; run the audit again with --judge-only."
            )
    return AuditPart(names, audits, problems, _grid(audits, names), examples, counts)


def _find(accuracies: Mapping[str, Estimate], kind: str) -> Estimate | None:
    """Return the accuracy under the first condition of a kind."""
    for name, found in accuracies.items():
        variant = known(name)
        if variant and variant.kind == kind:
            return found
    return None


def ratio(result: AuditResult, name: str) -> Estimate | None:
    """Return kappa, tau or rho by the name that the paper's tables have it under."""
    return result.ratios.get(name) or result.ratios.get(f"{name}1")


def estimate_cell(found: Estimate | None) -> Cell:
    """Make a cell of a value and its interval, times 100."""
    if found is None or (math.isnan(found.value) and not found.n):
        return EMPTY
    hint = (
        f"{found.n:,} questions about {found.n_clusters:,} videos; {100 * found.level:g}% interval"
    )
    value = None if math.isnan(found.value) else 100 * found.value
    high = "∞" if math.isinf(found.high) else format_ratio(found.high)
    span = "" if math.isnan(found.low) else f"{format_ratio(found.low)} to {high}"
    return Cell(format_ratio(found.value), span, value=value, hint=hint)


def reference(result: AuditResult) -> Estimate | None:
    """Return the accuracy with the frames in order, else with what the task itself shows."""
    return _find(result.accuracies, "ordered") or _find(result.accuracies, "original")


def signature(audit: Audit, result: AuditResult) -> str:
    """Return what identifies an audit's numbers: task, conditions, their seed and the metric."""
    metric = result.metric or "own metric"
    return "|".join([result.name, "+".join(audit.conditions), f"seed{audit.seed}", metric])


def _grid(audits: Sequence[Audit], names: Mapping[Path, str]) -> Grid | None:
    audited = [
        (audit, result) for audit in audits for result in _top(audit) if not result.sample_benchmark
    ]
    if not audited:
        return None
    rows = []
    for audit, result in audited:
        own = [estimate_cell(_own(result, column)) for column in PAPER_COLUMNS]
        rows.append(Row(f"{result.name}, {names[audit.file]}", "run", own))
    for benchmark in PAPER_BENCHMARKS:
        for model in PAPER_MODELS:
            values = [paper_value(model, column, benchmark) for column in PAPER_COLUMNS]
            cells = [EMPTY if each is None else Cell(f"{each:.1f}", value=each) for each in values]
            rows.append(Row(f"{benchmark}, {model}", "model", cells))
    return Grid(
        "audit-paper",
        "audit",
        "Beside the paper's benchmarks",
        f"{published('tvbench').paper}, tables 1 to 4 (section 5)",
        "Accuracies in percent, ratios ×100, audited tasks with intervals. The paper shows 16 "
        "frames when it shows several; its rows with a handpicked frame of TVBench are over 200 "
        "questions, and so are their κ and ρ. High κ and τ and low ρ mean that questions need "
        "time. Two rows differ in benchmark, model and questions at once.",
        [_COLUMN_LABELS.get(name) or measure_label(name) for name in PAPER_COLUMNS],
        rows,
        signatures=list(dict.fromkeys(signature(*each) for each in audited)),
    )


def _own(result: AuditResult, column: str) -> Estimate | None:
    """Return what an audit measured for a column of the paper's table."""
    if column == "ordered":
        return reference(result)
    if column in _COLUMN_LABELS:
        return _find(result.accuracies, column)
    return ratio(result, column)


def _example(audit: Audit, listed: Finding) -> ListedExample:
    """Return the question with pictures of its video, if the video is found."""
    listed = replace(
        listed,
        prompt=_clipped(listed.prompt, _PROMPT_KEPT),
        target=_clipped(listed.target, _KEPT),
        responses={name: _clipped(text, _KEPT) for name, text in listed.responses.items()},
    )
    if not listed.source:
        return ListedExample(listed, caption="No pictures: the log does not name a video file.")
    path = Path(listed.source)
    if not path.is_file():
        return ListedExample(listed, caption=f"No pictures: {path} does not exist.")
    # The single frame is known only if it was chosen from the whole of one video.
    shown = [known(name) for name, score in listed.scores.items() if score is not None]
    singles = {
        f"the {variant.unnumbered}": Condition.parse(variant.name, audit.seed)
        for variant in shown
        if listed.shape == "1 video" and variant and variant.role == "frame" and not variant.partial
    }
    try:
        alone, frames = frames_with(path, singles, listed.draw_key, SAMPLED)
    except (VideoError, OSError, ValueError) as error:
        logger.warning(f"{listed.task} {listed.id}: no pictures: {error}")
        return ListedExample(listed, caption=f"No pictures: {error}")
    caption = f"{len(frames)} frames of {path.name} at equal intervals."
    if alone:
        caption = f"Large: {' and '.join(singles)}, as shown alone. Small: {caption}"
    return ListedExample(listed, alone, frames, caption)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} […]"


def audit_facts(audit: Audit) -> dict[str, str]:
    """List what was asked."""
    shown = {
        "model": audit.model,
        "arguments": audit.model_args or "none",
        "begun": audit.date,
        "conditions": ", ".join(audit.conditions),
        "frames": audit.frames or "",
        "seed": audit.seed,
        "limit": audit.limit or "",
        "sample": audit.sample or "",
        "audit": audit.file,
    }
    return {name: str(value) for name, value in shown.items() if str(value)}
