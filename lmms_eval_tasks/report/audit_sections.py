"""What the section about audits shows, as rows of tables and plots; the templates print them."""

# Dashes and Greek letters as on the page:
# ruff: noqa: RUF001

from __future__ import annotations

import math

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import GAINS, paper_value
from video_reasoning.tasks.audit.result import Audit, AuditResult
from video_reasoning.tasks.audit.variants import condition_label, measure_label
from video_reasoning.tasks.report.audits import (
    PAPER_BENCHMARKS,
    AuditPart,
    estimate_cell,
    ratio,
    reference,
)
from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.plots import Line, Plot, Point, forest, gains
from video_reasoning.tasks.report.sections import cells, count
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

_WIDEST = 3.0
"""End of an interval in a plot of kappa, tau or rho, at least."""

RATIOS = ("kappa_random", "kappa_last", "tau", "rho")


def audit_place(report: Report, audit: Audit) -> int:
    """Return the place of an audit among the runs and audits: its color and marker."""
    return len(report.names) + (report.audit.place(audit) if report.audit else 0)


def brief(result: AuditResult) -> str:
    """Return the verdict's first sentence without its explanation, or the empty text."""
    first, so_that, _ = (result.verdict[0] if result.verdict else "").partition(", so that")
    return f"{first}." if so_that else first


def overview(report: Report, part: AuditPart) -> list[Row]:
    """Make a row for each audit of each audited task or group."""
    rows = []
    for name, audited in part.top.items():
        for audit, result in audited:
            row = [
                Cell(brief(result) or "–"),
                Cell(f"{result.n:,}"),
                estimate_cell(reference(result)),
                estimate_cell(result.accuracies.get("blind")),
                Cell(_chance(result)),
                *(estimate_cell(ratio(result, measure)) for measure in RATIOS),
            ]
            place = audit_place(report, audit)
            rows.append(Row(name, "", row, part.names[audit.file], place, f"audit-{name}"))
    return rows


def _chance(result: AuditResult) -> str:
    return percent(None if math.isnan(result.chance) else result.chance)


def gain_plots(report: Report, part: AuditPart) -> list[Plot]:
    """Draw each measure of the audited tasks, and below them of the paper's benchmarks."""
    plots = []
    for measure in GAINS:
        rows = [Line(name, _gains(report, part, name, measure)) for name in part.top]
        rows = [row for row in rows if row.points][:_MOST_ROWS]
        if rows:
            for benchmark in PAPER_BENCHMARKS:
                printed = [paper_value(model, measure, benchmark) for model in PAPER_MODELS]
                rows.append(Line(benchmark, models=printed))
            plots.append(gains(f"{measure_label(measure)}, with intervals", rows, PAPER_MODELS))
    return plots


def _gains(report: Report, part: AuditPart, name: str, measure: str) -> list[Point]:
    found = [(audit_place(report, each), ratio(result, measure)) for each, result in part.top[name]]
    return [
        point for place, each in found if each for point in _points(place, each, _cap(each.value))
    ]


def _cap(value: float) -> float:
    """Return where an interval is cut off, so that an infinite one leaves room for the others."""
    return max(_WIDEST, 2 * abs(value))


def _points(place: int, found: Estimate, highest: float = math.inf) -> list[Point]:
    """Return the point of a number, in percent; none if it is undefined."""
    if math.isnan(found.value):
        return []
    low, high = (
        None if math.isnan(end) else 100 * min(highest, max(-highest, end))
        for end in (found.low, found.high)
    )
    return [Point(place, 100 * min(highest, found.value), low, high)]


def result_plot(place: int, result: AuditResult) -> Plot | None:
    """Draw the accuracy under each condition; None if nothing was scored."""
    chance = None if math.isnan(result.chance) else 100 * result.chance
    lines = [
        Line(f"{condition_label(name)} (n={found.n:,})", points, chance)
        for name, found in result.accuracies.items()
        if (points := _points(place, found, 1.0))
    ]
    if not lines:
        return None
    return forest("Accuracy by what is shown, with intervals; dotted: guessing", lines)


def conditions(result: AuditResult) -> list[Row]:
    """Make a row of accuracy and counts for each condition, and one of guessing."""
    rows = []
    for name, found in result.accuracies.items():
        own = result.own.get(name)
        kept = [result.asked, result.missing, result.unscored, result.unparsed]
        texts = cells(
            f"{found.n:,}",
            f"{found.n_clusters:,}",
            *(count(counts.get(name, 0)) for counts in kept),
            (result.seen[name].text if name in result.seen else "") or "–",
            "–" if own is None else f"{own:.4g}",
        )
        rows.append(Row(condition_label(name), "", [estimate_cell(found), *texts]))
    if not math.isnan(result.chance):
        rows.append(Row("guessing", "guess", [Cell(_chance(result)), *[EMPTY] * 8]))
    return rows


def measures(result: AuditResult) -> list[Row]:
    """Make a row for each of kappa, tau, rho, both orders of options and the further measures."""
    found = {measure_label(name): estimate for name, estimate in result.ratios.items()}
    for name, estimate in result.paired.items():
        found[f"right in both orders ({condition_label(name)})"] = estimate
    found.update(result.further)
    return [
        Row(name, "", [estimate_cell(estimate), Cell(f"{estimate.n:,}")])
        for name, estimate in found.items()
    ]
