"""What the section about audits shows, as tables and plots; the templates only print it."""

# Dashes and Greek letters as on the page:
# ruff: noqa: RUF001

from __future__ import annotations

import math

from video_reasoning.tasks.audit.evaluate import AuditResult
from video_reasoning.tasks.audit.result import Audit
from video_reasoning.tasks.report.audits import (
    MEASURES,
    PAPER_BENCHMARKS,
    AuditPart,
    condition_label,
    estimate_cell,
    measure_label,
    paper_gain,
    reference,
)
from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.plots import Gain, Line, Plot, Point, forest, gains
from video_reasoning.tasks.report.sections import Table, cells, count
from video_reasoning.tasks.report.tables import EMPTY, Cell, Row, percent
from video_reasoning.tasks.results.principles import PAPER_MODELS

__all__ = [
    "audit_place",
    "brief",
    "conditions",
    "gain_plots",
    "measures",
    "overview",
    "result_plot",
]

_MOST_ROWS = 24
"""Rows of a plot, at most; a page about more tasks has the rest in its tables."""

_RATIOS = ("kappa_random1", "kappa_last1", "tau", "rho")
_OVERVIEW = ("Verdict", "Questions", "In order", "No frame", "Guessing")


def audit_place(report: Report, audit: Audit) -> int:
    """Return the place of an audit among the runs and audits: its color and marker."""
    return len(report.names) + (report.audit.place(audit) if report.audit else 0)


def brief(result: AuditResult) -> str:
    """Return the verdict's first sentence without its explanation, or the empty text."""
    first, so_that, _ = (result.verdict[0] if result.verdict else "").partition(", so that")
    return f"{first}." if so_that else first


def overview(report: Report, part: AuditPart) -> Table:
    """Make the table of all audited tasks and groups, one row for each audit."""
    rows = []
    for name, audited in part.top.items():
        for audit, result in audited:
            row = [
                Cell(brief(result) or "–"),
                Cell(f"{result.n:,}"),
                estimate_cell(reference(result)),
                estimate_cell(result.accuracies.get("blind")),
                Cell(_chance(result)),
                *(estimate_cell(result.ratios.get(measure)) for measure in _RATIOS),
            ]
            place = audit_place(report, audit)
            rows.append(Row(name, "", row, part.names[audit.file], place, f"audit-{name}"))
    head = [*_OVERVIEW, *map(measure_label, _RATIOS)]
    return Table("Task and model", head, rows, ["text wide"])


def _chance(result: AuditResult) -> str:
    return percent(None if math.isnan(result.chance) else result.chance)


def gain_plots(report: Report, part: AuditPart) -> list[Plot]:
    """Draw each measure of the audited tasks, and below them of the paper's benchmarks."""
    plots = []
    for measure in MEASURES:
        rows = [Gain(name, _gains(report, part, name, measure)) for name in part.top]
        rows = [row for row in rows if row.points][:_MOST_ROWS]
        if rows:
            for benchmark in PAPER_BENCHMARKS:
                printed = [paper_gain(benchmark, model, measure) for model in PAPER_MODELS]
                rows.append(Gain(benchmark, (), printed))
            plots.append(gains(f"{measure_label(measure)}, with intervals", rows, PAPER_MODELS))
    return plots


def _gains(report: Report, part: AuditPart, name: str, measure: str) -> list[Point]:
    points = []
    for audit, result in part.top[name]:
        found = result.ratios.get(measure)
        if found is not None and not math.isnan(found.value):
            ends = [None if math.isnan(end) else 100 * end for end in (found.low, found.high)]
            points.append(Point(audit_place(report, audit), 100 * found.value, *ends))
    return points


def result_plot(place: int, result: AuditResult) -> Plot | None:
    """Draw the accuracy under each condition; None if nothing was scored."""
    chance = None if math.isnan(result.chance) else 100 * result.chance
    lines = []
    for name, found in result.accuracies.items():
        if not math.isnan(found.value):
            value, low, high = (
                None if math.isnan(end) else 100 * min(1.0, max(0.0, end))
                for end in (found.value, found.low, found.high)
            )
            points = [Point(place, value or 0.0, low, high)]
            lines.append(Line(f"{condition_label(name)} (n={found.n:,})", points, chance))
    if not lines:
        return None
    return forest("Accuracy by what is shown, with intervals; dotted: guessing", lines)


def conditions(result: AuditResult) -> Table:
    """Make the table of accuracies and counts, one row for each condition."""
    rows = []
    for name, found in result.accuracies.items():
        own = result.own.get(name)
        kept = [result.asked, result.missing, result.unscored, result.unparsed]
        texts = cells(
            f"{found.n:,}",
            f"{found.n_clusters:,}",
            *(count(counts.get(name, 0)) for counts in kept),
            "–" if own is None else f"{own:.4g}",
        )
        rows.append(Row(condition_label(name), "", [estimate_cell(found), *texts]))
    head = [
        "Accuracy",
        "Questions",
        "Videos",
        "Asked",
        "Not shown",
        "Not scored",
        "Unparsed",
        "Task's own number",
    ]
    if not math.isnan(result.chance):
        guess = [Cell(_chance(result)), *[EMPTY] * (len(head) - 1)]
        rows.append(Row("guessing", "guess", guess))
    return Table("Shown", head, rows)


def measures(result: AuditResult) -> Table | None:
    """Make the table of kappa, tau, rho and the accuracies in both orders; None for none."""
    found = {measure_label(name): estimate for name, estimate in result.ratios.items()}
    for name, estimate in result.paired.items():
        found[f"right in both orders ({condition_label(name)})"] = estimate
    rows = [
        Row(name, "", [estimate_cell(estimate), Cell(f"{estimate.n:,}")])
        for name, estimate in found.items()
    ]
    return Table("Measure ×100", ["Value", "Questions"], rows) if rows else None
