"""An audit in the terminal, as Markdown and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.metrics.principles import format_ratio
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.audit.evaluate import AuditResult
from video_reasoning.tasks.audit.findings import Finding
from video_reasoning.tasks.audit.plan import Plan, write_json
from video_reasoning.tasks.results.logs import Run

__all__ = ["RESULT", "render", "write"]

RESULT = "audit.json"
"""Name of the file that holds an audit's numbers; the report looks for it."""

_SHOWN = 10


def render(plan: Plan, run: Run, results: Sequence[AuditResult]) -> RenderableType:
    """The audit as tables and sentences for a terminal."""
    parts: list[RenderableType] = [Text(_title(plan, run)), Text("")]
    for result in results:
        if result.refused:
            parts += [Text(f"{result.name}: not audited: {result.refused}."), *_notes(result)]
            parts.append(Text(""))
            continue
        table = Table(
            title=Text(_heading(result)),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            pad_edge=False,
        )
        for column in ("measure", "value", "interval", "questions", "missing"):
            right = column not in ("measure", "interval")
            table.add_column(column, justify="right" if right else "left", no_wrap=True)
        for row in _rows(result):
            table.add_row(*row)
        parts.append(table)
        parts += [Text(f"  {sentence}") for sentence in result.verdict]
        parts += [*_notes(result), Text("")]
    return Group(*parts)


def write(
    folder: Path,
    plan: Plan,
    run: Run,
    results: Sequence[AuditResult],
    found: Sequence[Finding],
) -> None:
    """Writes ``audit.json``, ``audit.md`` and ``questions.jsonl`` into a folder."""
    import json

    write_json(
        folder / RESULT,
        {
            "model": run.label,
            "model_args": run.model_args,
            "date": run.date,
            "conditions": [variant.name for variant in plan.variants],
            "frames": plan.frames,
            "seed": plan.seed,
            "limit": plan.limit,
            "tasks": [result.as_json() for result in results],
        },
    )
    with atomic_path(folder / "audit.md") as temporary:
        temporary.write_text(_markdown(plan, run, results, found), encoding="utf-8", newline="\n")
    with (
        atomic_path(folder / "questions.jsonl") as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for one in found:
            file.write(json.dumps(one.as_json(), ensure_ascii=False) + "\n")


def _title(plan: Plan, run: Run) -> str:
    arguments = f" ({run.model_args})" if run.model_args else ""
    names = ", ".join(variant.name for variant in plan.variants)
    return f"Audit with {run.label}{arguments}, {run.date}; conditions {names}; values x100."


def _heading(result: AuditResult) -> str:
    of = f" ({len(result.tasks)} tasks)" if len(result.tasks) > 1 else ""
    shapes = ", ".join(f"{shape} ({count:,})" for shape, count in result.shapes.items())
    left = f", {result.left_out:,} left out" if result.left_out else ""
    shows = f"; shows {shapes}" if shapes else ""
    return (
        f"{result.name}{of}: {result.n:,} questions{left}; {result.metric} by {result.rule}{shows}"
    )


def _rows(result: AuditResult) -> list[tuple[str, str, str, str, str]]:
    rows = []
    for name, found in result.accuracies.items():
        counted = f"{result.missing.get(name, 0) + result.unscored.get(name, 0):,}"
        rows.append((f"Acc {name}", *_numbers(found), f"{found.n:,}", counted))
    for name, found in result.ratios.items():
        rows.append((name.replace("_", " "), *_numbers(found), f"{found.n:,}", ""))
    for name, found in result.paired.items():
        rows.append((f"both orders ({name})", *_numbers(found), f"{found.n:,}", ""))
    if not math.isnan(result.chance):
        rows.append(("guessing", format_ratio(result.chance), "", f"{result.n:,}", ""))
    return rows


def _numbers(found: Estimate) -> tuple[str, str]:
    if math.isnan(found.value):
        return "undefined", "below the line is 0" if found.n else "no question"
    high = "infinity" if math.isinf(found.high) else format_ratio(found.high)
    return format_ratio(found.value), f"{format_ratio(found.low)} to {high}"


def _notes(result: AuditResult) -> list[Text]:
    notes = list(result.notes)
    unparsed = sum(result.unparsed.values())
    if unparsed:
        listed = ", ".join(f"{name} {count:,}" for name, count in result.unparsed.items() if count)
        notes.append(f"Unparsed responses, counted as wrong: {listed}.")
    return [Text(f"  Note: {note}") for note in notes]


def _markdown(
    plan: Plan, run: Run, results: Sequence[AuditResult], found: Sequence[Finding]
) -> str:
    lines = ["# Audit", "", _title(plan, run), ""]
    for result in results:
        lines += [f"## {_cell(result.name)}", ""]
        if result.refused:
            lines += [f"Not audited: {result.refused}.", ""]
            continue
        lines += [*(f"- {sentence}" for sentence in result.verdict), ""]
        lines += [_heading(result), ""]
        lines += [
            "| measure | value | interval | questions | missing |",
            "|---|---:|---|---:|---:|",
        ]
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in _rows(result)]
        lines += ["", *(f"- {text.plain.strip()}" for text in _notes(result)), ""]
    lines += ["## Questions to look at", ""]
    if not found:
        lines += ["None."]
    else:
        lines += [
            f"{len(found):,} questions are right under a condition that should leave them "
            "unanswerable; all are in `questions.jsonl`.",
            "",
            "| task | question | right answer | against it |",
            "|---|---|---|---|",
        ]
    for one in found[:_SHOWN]:
        against = "; ".join(one.reasons)
        against += "; wrong with the frames in order" if one.wrong_in_order else ""
        lines.append(
            f"| {_cell(one.task)} | {_cell(one.item.id)} | {_cell(one.item.target)} | {against} |"
        )
    return "\n".join(lines).rstrip("\n") + "\n"


def _cell(value: Any) -> str:
    text = " ".join(str(value).split())
    text = text if len(text) <= 120 else text[:117] + "..."
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
