"""The report as Markdown: tables and sentences, for an issue or a repository; no pictures."""

# Minus signs and Greek letters as on the page:
# ruff: noqa: RUF001

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from video_reasoning.tasks.audit.result import QUESTIONS, Audit, AuditResult
from video_reasoning.tasks.report import facts
from video_reasoning.tasks.report.audits import (
    AuditPart,
    audit_facts,
    condition_label,
    measure_label,
    members_of,
    text_of,
)
from video_reasoning.tasks.report.build import Report, headline, verdict
from video_reasoning.tasks.report.tables import Cell, Grid, interval, label, percent, run_key, shown

__all__ = ["markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(report: Report) -> str:
    """The whole report."""
    parts = [
        "# Video reasoning report",
        f"Written {report.written} by {report.by}. Runs: "
        + (", ".join(_plain(name) for name in report.names.values()) or "none")
        + (f". Audits: {_audited(report.audit)}" if report.audit and report.audit.names else "")
        + ".",
        *(["## In short", _short(report)] if report.found else []),
        *_problems(report),
        *(_audit(report.audit) if report.audit else []),
        *_tables(report.grids, "## Beside the papers"),
        *_numbers(report),
        *_runs(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _plain(text: str) -> str:
    """Text of a log as text: no markup, no markup language, one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def _short(report: Report) -> str:
    rows = []
    for each in report.found:
        number = headline(each)
        chance = each.chance
        if number and number.name == "paired accuracy":
            chance = each.chance_paired
        value = "–"
        if number:
            span = interval(number)
            value = shown(number, number.value) + (f" ({span})" if span else "")
        rows.append(
            [
                _plain(each.log.task),
                _plain(report.name(each)),
                (number.name + (f", {number.condition}" if number.condition else ""))
                if number
                else "–",
                value,
                percent(chance),
                verdict(each, number),
                str(number.n if number else 0),
                *(
                    str(each.counts.get(key, "–"))
                    for key in ("items", "unparsed", "missing", "skipped rows")
                ),
            ]
        )
    head = (
        "Task",
        "Run",
        "Measured",
        "Value (95% interval)",
        "Guessing",
        "Against guessing",
        "Rests on",
        "Logged",
        "Unparsed",
        "No video",
        "Rows skipped",
    )
    return _table(head, rows)


def _problems(report: Report) -> list[str]:
    lines = [
        f"- **{_plain(task)}** ({_plain(name)}): {_plain(sentence)}"
        for task, said in report.problems.items()
        for name, sentence in said
    ]
    return ["## Before reading on", "\n".join(lines)] if lines else []


def _tables(grids: Sequence[Grid], heading: str) -> list[str]:
    parts = [heading] if grids and heading else []
    for grid in grids:
        rows = [[_plain(row.label), *(_cell(cell) for cell in row.cells)] for row in grid.rows]
        parts += [
            f"### {grid.title}"
            if grid.benchmark == "audit"
            else f"### {grid.benchmark}: {grid.title}",
            f"Source of the printed numbers: {grid.source}. {grid.note}",
            *(f"**{_plain(text)}**" for text in grid.warnings),
            _table(["", *(_plain(name) for name in grid.head)], rows),
        ]
    return parts


def _cell(cell: Cell) -> str:
    return cell.text + (f" ({cell.detail})" if cell.detail else "")


def _audited(part: AuditPart) -> str:
    return ", ".join(_plain(name) for name in part.names.values())


def _audit(part: AuditPart) -> list[str]:
    parts = ["## Audit", *(f"**{_plain(problem)}**" for problem in part.problems)]
    several = len(part.audits) > 1
    if part.grid is not None:
        parts += _tables([part.grid], "")
    for name, audited in part.top().items():
        for audit, result in audited:
            parts.append(f"### {_plain(name)}, {_plain(part.names[audit.file])}")
            parts += _audited_task(part, audit, result)
            inner = members_of(audit)
            for member in audit.results:
                if inner.get(member.name) == name and not member.refused:
                    parts.append(f"#### {_plain(member.name)}")
                    parts += _audited_task(part, audit, member)
    refused = [
        f"- {_plain(result.name)}"
        + (f" ({_plain(part.names[audit.file])})" if several else "")
        + f": {_plain(result.refused)}"
        for audit, result in part.refused()
    ]
    if refused:
        parts += ["### Not audited", "\n".join(refused)]
    return parts


def _audited_task(part: AuditPart, audit: Audit, result: AuditResult) -> list[str]:
    rows = []
    for name, found in result.accuracies.items():
        value, span = text_of(found)
        counts = (result.missing, result.unscored, result.unparsed)
        rows.append(
            [
                _plain(condition_label(name)),
                value,
                span or "–",
                str(found.n),
                *(str(count.get(name, 0)) for count in counts),
            ]
        )
    if not math.isnan(result.chance):
        rows.append(["guessing", percent(result.chance), *["–"] * 5])
    for names, measures in ((measure_label, result.ratios), (_both, result.paired)):
        for name, found in measures.items():
            value, span = text_of(found)
            rows.append([_plain(names(name)), value, span or "–", str(found.n), *["–"] * 3])
    head = (
        "Accuracy or measure, x100",
        "Value",
        "Interval",
        "Questions",
        "Not shown",
        "Not scored",
        "Unparsed",
    )
    listed = part.counts.get((audit.file, result.name), 0)
    parts = [
        "\n".join(f"- {_plain(sentence)}" for sentence in result.verdict),
        _table(head, rows),
        "\n".join(f"- Note: {_plain(note)}" for note in result.notes),
    ]
    if listed:
        where = _plain(str(audit.folder / QUESTIONS))
        parts.append(
            f"{listed:,} questions are right under a condition that should leave them "
            f"unanswerable: {where}."
        )
    return parts


def _both(name: str) -> str:
    return f"right in both orders ({condition_label(name)})"


def _numbers(report: Report) -> list[str]:
    parts = ["## All numbers"] if report.found else []
    for each in report.found:
        rows = [
            [
                number.name,
                ", ".join(f"{label(key)}: {_plain(value)}" for key, value in number.group.items())
                or "all",
                number.condition or "–",
                shown(number, number.value),
                interval(number) or "–",
                str(number.n),
                str(number.n_clusters),
            ]
            for number in each.numbers
        ]
        head = ("Number", "Of", "Frames", "Value", "95% interval", "Items", "Videos")
        rules = ", ".join(f"{_plain(rule)} {count}" for rule, count in each.rules.items())
        parts += [
            f"### {_plain(each.log.task)}, {_plain(report.name(each))}",
            f"From {_plain(str(each.log.log))}."
            + (f" Answers were read by: {rules}." if rules else ""),
            _table(head, rows),
        ]
    return parts


def _runs(report: Report) -> list[str]:
    parts = ["## What was run"]
    runs = {run_key(log.run): log.run for log in report.logs}
    for key, name in report.names.items():
        entries = facts.run_facts(runs[key])
        parts += [
            f"### {_plain(name)}",
            "\n".join(f"- {_plain(fact)}: {_plain(value)}" for fact, value in entries.items()),
        ]
    for audit in report.audit.audits if report.audit else ():
        entries = audit_facts(audit)
        parts += [
            f"### Audit with {_plain(audit.model)}",
            "\n".join(f"- {_plain(fact)}: {_plain(value)}" for fact, value in entries.items()),
        ]
    for folder, entries in facts.store_facts(report.logs).items():
        parts += [
            f"### Data in {_plain(folder)}",
            "\n".join(f"- {_plain(fact)}: {_plain(value)}" for fact, value in entries.items()),
        ]
    return parts
