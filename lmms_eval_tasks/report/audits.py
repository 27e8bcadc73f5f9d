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
from video_reasoning.metrics.principles import format_ratio
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
from video_reasoning.tasks.audit.variants import AuditError, condition_label, known, measure_label
from video_reasoning.tasks.report.gallery import (
    LEAST_PER_TASK,
    MOST_ON_PAGE,
    SAMPLED,
    Frame,
    frames_with,
)
from video_reasoning.tasks.report.tables import EMPTY, Cell, Grid, Row
from video_reasoning.tasks.results.principles import PAPER_MODELS

__all__ = [
    "MEASURES",
    "PAPER_BENCHMARKS",
    "AuditPart",
    "ListedExample",
    "audit_facts",
    "audit_part",
    "condition_label",
    "find_audits",
    "kind_of",
    "measure_label",
    "members_of",
    "paper_gain",
    "reference",
    "text_of",
]

MEASURES = ("kappa_random1", "kappa_handpicked1", "tau", "rho")
"""The measures that the paper has too, in the order of its tables."""

PAPER_BENCHMARKS = ("VITATECS", "MVBench", "TempCompass", "ReXTime", "TVBench")
"""The benchmarks of the paper's tables 1 to 4, in their order."""

# What a column shows: a kind of condition or a measure, and the paper's table and column of it.
_COLUMNS = (
    ("random", "multi_frame_gain_random", "acc_1"),
    ("handpicked", "multi_frame_gain_handpicked", "acc_1_handpicked"),
    ("shuffled", "frame_order_sensitivity", "acc_16_shuffled"),
    ("ordered", "frame_order_sensitivity", "acc_16"),
    ("kappa_random1", "multi_frame_gain_random", "kappa"),
    ("kappa_handpicked1", "multi_frame_gain_handpicked", "kappa"),
    ("tau", "frame_order_sensitivity", "tau"),
    ("rho", "frame_information_disparity", "rho"),
)
_COLUMN_LABELS = {
    "random": "1 random frame",
    "handpicked": "1 handpicked frame",
    "shuffled": "several, shuffled",
    "ordered": "several, in order",
}

_KEPT = 400
"""Letters shown of a response."""

_PROMPT_KEPT = 1200


@dataclass(frozen=True)
class ListedExample:
    """A question to look at, with pictures.

    Attributes:
        listed: the question.
        singles: the frame shown under each condition of one frame, where that is known.
        frames: frames of the whole video.
        caption: what they are.
    """

    listed: Finding
    singles: Sequence[Frame] = ()
    frames: Sequence[Frame] = ()
    caption: str = ""


@dataclass(frozen=True)
class AuditPart:
    """What a report says of audits.

    Attributes:
        audits: the audits, oldest first.
        names: an audit's file -> its short name.
        problems: what could not be read, a sentence each.
        grid: audited tasks beside the paper's benchmarks; None where there are none.
        examples: an audit's file and a task -> questions to look at.
        counts: an audit's file and a task -> how many questions its list has.
    """

    audits: Sequence[Audit] = ()
    names: Mapping[Path, str] = field(default_factory=dict)
    problems: Sequence[str] = ()
    grid: Grid | None = None
    examples: Mapping[tuple[Path, str], Sequence[ListedExample]] = field(default_factory=dict)
    counts: Mapping[tuple[Path, str], int] = field(default_factory=dict)

    def place(self, audit: Audit) -> int:
        """The place of an audit among the others."""
        return list(self.names).index(audit.file)

    def top(self) -> dict[str, list[tuple[Audit, AuditResult]]]:
        """Groups and the tasks that are in none of them -> their audits; refused ones are not."""
        found: dict[str, list[tuple[Audit, AuditResult]]] = {}
        for audit in self.audits:
            inner = members_of(audit)
            for result in audit.results:
                if not result.refused and result.name not in inner:
                    found.setdefault(result.name, []).append((audit, result))
        return found

    def refused(self) -> list[tuple[Audit, AuditResult]]:
        """The tasks that were not audited."""
        return [
            (audit, result) for audit in self.audits for result in audit.results if result.refused
        ]

    def as_json(self) -> list[dict[str, Any]]:
        """The audits for machines."""
        return [
            {
                "name": self.names[audit.file],
                **audit.as_json(),
                "questions_to_look_at": {
                    task: count for (file, task), count in self.counts.items() if file == audit.file
                },
            }
            for audit in self.audits
        ]


def members_of(audit: Audit) -> dict[str, str]:
    """Task -> the group that stands for it; tasks of no group are not in it."""
    return {
        name: result.name
        for result in audit.results
        if len(result.tasks) > 1
        for name in result.tasks
    }


def find_audits(paths: Iterable[Path]) -> tuple[list[Audit], list[str]]:
    """Reads every audit below some paths.

    Args:
        paths: folders, or an ``audit.json``; a folder of an audit's logs stands for the audit.

    Returns:
        The audits, oldest first, and a sentence for each file of that name that is none.
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
    """What a report says of some audits; None where there is nothing to say."""
    if not audits and not problems:
        return None
    names = _names(audits)
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
        counts.update({(audit.file, task): count for task, count in of_task.items()})
        for task, questions in listed.items():
            if most_examples:
                examples[audit.file, task] = [_example(audit, each) for each in questions]
        if odd:
            lines = "1 line is" if odd == 1 else f"{odd:,} lines are"
            problems.append(
                f"In the list of questions of {audit.folder} {lines} no question; judge the audit "
                "again with --judge-only."
            )
    return AuditPart(audits, names, problems, _grid(audits, names), examples, counts)


def _names(audits: Sequence[Audit]) -> dict[Path, str]:
    """A short name for each audit; arguments and the rest are added where names would meet."""
    names = {audit.file: audit.model for audit in audits}
    for add in (
        lambda audit: audit.model_args,
        lambda audit: audit.date,
        lambda audit: str(audit.folder),
    ):
        taken = list(names.values())
        names = {
            audit.file: f"{names[audit.file]} ({extra})"
            if taken.count(names[audit.file]) > 1 and (extra := add(audit))
            else names[audit.file]
            for audit in audits
        }
    return names


def kind_of(condition: str) -> str:
    """A condition's kind: ``ordered16`` -> ``ordered``; empty for a name not known here."""
    variant = known(condition)
    return variant.kind if variant else ""


def text_of(found: Estimate) -> tuple[str, str]:
    """Value and interval, x100; what stands for them where there is none."""
    if math.isnan(found.value):
        return ("undefined", "") if found.n else ("–", "")
    if math.isnan(found.low):
        return format_ratio(found.value), ""
    high = "∞" if math.isinf(found.high) else format_ratio(found.high)
    return format_ratio(found.value), f"{format_ratio(found.low)} to {high}"


def reference(result: AuditResult) -> Estimate | None:
    """The multi-frame accuracy: frames in order, else what the task shows itself."""
    for wanted in ("ordered", "original"):
        for name, found in result.accuracies.items():
            if kind_of(name) == wanted:
                return found
    return None


def paper_gain(benchmark: str, model: str, measure: str) -> float | None:
    """What the paper prints for a measure, x100; None where it prints none."""
    table, column = next((table, column) for name, table, column in _COLUMNS if name == measure)
    return published("tvbench").tables[table].value(model, f"{benchmark}/{column}")


def _grid(audits: Sequence[Audit], names: Mapping[Path, str]) -> Grid | None:
    rows = []
    for audit in audits:
        inner = members_of(audit)
        for result in audit.results:
            if result.refused or result.name in inner:
                continue
            name = f"{result.name}, {names[audit.file]}"
            rows.append(Row(name, "run", [_own_cell(result, column) for column, _, _ in _COLUMNS]))
    if not rows:
        return None
    paper = published("tvbench")
    for benchmark in PAPER_BENCHMARKS:
        for model in PAPER_MODELS:
            values = [
                paper.tables[table].value(model, f"{benchmark}/{column}")
                for _, table, column in _COLUMNS
            ]
            cells = [
                EMPTY if value is None else Cell(f"{value:.1f}", value=value) for value in values
            ]
            rows.append(Row(f"{benchmark}, {model}", "model", cells))
    return Grid(
        "audit-paper",
        "audit",
        "Beside the paper's benchmarks",
        f"{paper.paper}, tables 1 to 4 (section 5)",
        "Accuracies in percent, ratios ×100, audited tasks with intervals. The paper shows 16 "
        "frames where several are shown; its rows with a handpicked frame of TVBench are over 200 "
        "questions, and its κ and ρ of those over these. High κ and τ and low ρ mean that "
        "questions need time. A difference between two rows is one of benchmark, model and "
        "questions at once.",
        [_COLUMN_LABELS.get(name) or measure_label(name) for name, _, _ in _COLUMNS],
        rows,
    )


def _own_cell(result: AuditResult, column: str) -> Cell:
    if column in _COLUMN_LABELS:
        found: Estimate | None = next(
            (each for name, each in result.accuracies.items() if kind_of(name) == column), None
        )
        if column == "ordered":
            found = reference(result)
    else:
        found = result.ratios.get(column)
    if found is None:
        return EMPTY
    text, detail = text_of(found)
    return Cell(text, detail, value=None if math.isnan(found.value) else 100 * found.value)


def _example(audit: Audit, listed: Finding) -> ListedExample:
    """The question with pictures of its video, where that can be found."""
    listed = replace(
        listed,
        prompt=_clipped(listed.prompt, _PROMPT_KEPT),
        target=_clipped(listed.target, _KEPT),
        responses={name: _clipped(text, _KEPT) for name, text in listed.responses.items()},
    )
    if not listed.source:
        return ListedExample(listed, caption="No pictures: the log names no file of a video.")
    path = Path(listed.source)
    if not path.is_file():
        return ListedExample(listed, caption=f"No pictures: {path} is not there.")
    # Which single frame was shown can be told where the whole of one video was to choose from.
    singles = {}
    if listed.shape == "1 video":
        for name, score in listed.scores.items():
            shown = known(name)
            if score is not None and shown and shown.role == "frame" and not shown.partial:
                singles[f"the {shown.unnumbered}"] = Condition.parse(name, audit.seed)
    try:
        alone, frames = frames_with(path, singles, listed.key, SAMPLED)
    except (VideoError, OSError, ValueError) as error:
        logger.warning(f"{listed.task} {listed.id}: no pictures: {error}")
        return ListedExample(listed, caption=f"No pictures: {error}")
    of = f"{len(frames)} frames at equal distances of {path.name}."
    if alone:
        names = " and ".join(singles)
        return ListedExample(listed, alone, frames, f"Large: {names}, as shown alone. Small: {of}")
    return ListedExample(listed, (), frames, of)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} […]"


def audit_facts(audit: Audit) -> dict[str, str]:
    """What was asked, for the list of what was run."""
    shown: Sequence[tuple[str, object]] = (
        ("model", audit.model),
        ("arguments", audit.model_args or "none"),
        ("date", audit.date),
        ("conditions", ", ".join(audit.conditions)),
        ("frames", audit.frames or ""),
        ("seed", audit.seed),
        ("limit", audit.limit or ""),
        ("audit", audit.file),
    )
    return {name: str(value) for name, value in shown if str(value)}
