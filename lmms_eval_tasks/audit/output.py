"""An audit in the terminal and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import format_ratio
from video_reasoning.tasks.audit.result import Audit, AuditResult, Finding

__all__ = ["markdown", "render"]

_COLUMNS = ("measure", "value", "interval", "questions", "missing")

_SHOWN = 10
"""Questions to look at in the Markdown, at most."""


def render(audit: Audit) -> RenderableType:
    """Show the audit as tables and sentences for a terminal."""
    parts: list[RenderableType] = [Text(_title(audit)), Text("")]
    for result in audit.results:
        if result.refused:
            parts.append(Text(f"{result.name}: not audited: {result.refused}."))
        else:
            parts.append(_table(result))
            parts += [Text(f"  {sentence}") for sentence in (*result.verdict, *result.luck)]
        parts += [*(Text(f"  {note}") for note in _notes(result)), Text("")]
    return Group(*parts)


def markdown(audit: Audit, findings: Sequence[Finding]) -> str:
    """Show the audit and the first questions to look at as Markdown."""
    lines = ["# Audit", "", _title(audit), ""]
    for result in audit.results:
        lines += [f"## {_cell(result.name)}", ""]
        if result.refused:
            lines += [f"Not audited: {result.refused}.", ""]
            continue
        lines += [*(f"- {sentence}" for sentence in (*result.verdict, *result.luck)), ""]
        lines += [_heading(result), ""]
        lines += [f"| {' | '.join(_COLUMNS)} |", "|---|---:|---|---:|---:|"]
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in _rows(result)]
        lines += ["", *(f"- {note}" for note in _notes(result)), ""]
    lines += ["## Questions to look at", "", *_listed(findings)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _title(audit: Audit) -> str:
    arguments = f" ({audit.model_args})" if audit.model_args else ""
    names = ", ".join(audit.conditions)
    return f"Audit with {audit.model}{arguments}, {audit.date}; conditions {names}; values x100."


def _heading(result: AuditResult) -> str:
    of = f" ({len(result.tasks)} tasks)" if len(result.tasks) > 1 else ""
    shapes = ", ".join(f"{shape} ({count:,})" for shape, count in result.shapes.items())
    left = f", {result.left_out:,} left out" if result.left_out else ""
    shows = f"; shows {shapes}" if shapes else ""
    return (
        f"{result.name}{of}: {result.n:,} questions{left}; {result.metric} by {result.rule}{shows}"
    )


def _table(result: AuditResult) -> Table:
    table = Table(
        title=Text(_heading(result)),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for column in _COLUMNS:
        left = column in ("measure", "interval")
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in _rows(result):
        table.add_row(*row)
    return table


def _rows(result: AuditResult) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for name, found in result.accuracies.items():
        missing = f"{result.missing.get(name, 0) + result.unscored.get(name, 0):,}"
        rows.append((f"Acc {name}", *_numbers(found), f"{found.n:,}", missing))
    measures = {name.replace("_", " "): found for name, found in result.ratios.items()}
    measures.update({f"both orders ({name})": found for name, found in result.paired.items()})
    measures.update(result.further)
    rows += [(name, *_numbers(found), f"{found.n:,}", "") for name, found in measures.items()]
    if not math.isnan(result.chance):
        rows.append(("guessing", format_ratio(result.chance), "", f"{result.n:,}", ""))
    return rows


def _numbers(found: Estimate) -> tuple[str, str]:
    if math.isnan(found.value):
        return "undefined", "below the line is 0" if found.n else "no question"
    high = "infinity" if math.isinf(found.high) else format_ratio(found.high)
    return format_ratio(found.value), f"{format_ratio(found.low)} to {high}"


def _notes(result: AuditResult) -> list[str]:
    notes = list(result.notes)
    seen = {name: found.text for name, found in result.seen.items() if found.known}
    if seen:
        listed = "; ".join(f"{name} {text}" for name, text in seen.items())
        notes.append(f"Different frames that the model saw, per question: {listed}.")
    if any(result.unparsed.values()):
        listed = ", ".join(f"{name} {count:,}" for name, count in result.unparsed.items() if count)
        notes.append(f"Unparsed responses, counted as wrong: {listed}.")
    return [f"Note: {note}" for note in notes]


def _listed(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return ["None."]
    lines = [
        f"{len(findings):,} questions are right under a condition that should leave them "
        "unanswerable, some of them by luck; all are in `questions.jsonl`. The last column is the "
        "chance that it is not luck.",
        "",
        "| task | question | right answer | against it | not luck |",
        "|---|---|---|---|---:|",
    ]
    for found in findings[:_SHOWN]:
        wrong = ["wrong with the frames in order"] if found.wrong_in_order else []
        against = "; ".join([*found.reasons, *wrong])
        lines.append(
            f"| {_cell(found.task)} | {_cell(found.id)} | {_cell(found.target)} | {against} "
            f"| {found.posterior:.2f} |"
        )
    return lines


def _cell(value: Any) -> str:
    text = " ".join(str(value).split())
    text = text if len(text) <= 120 else text[:117] + "..."
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
