"""The report as one page of HTML: no script, nothing fetched, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Callable

from jinja2 import Environment, PackageLoader, StrictUndefined

from video_reasoning.tasks.audit.variants import condition_label, measure_label
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.report import audit_sections, sections
from video_reasoning.tasks.report.audits import audit_facts, signature
from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.plots import color
from video_reasoning.tasks.report.tables import label
from video_reasoning.tasks.results.numbers import UNITS

_BENCHMARKS = {**{each.name: each.title for each in BENCHMARKS.values()}, "": "Other tasks"}
_SIGNS = ("●", "■", "▲", "◆", "▼", "✚")
_VERDICTS = {
    "right": "✓ right",
    "wrong": "✗ wrong",
    "unparsed": "? unparsed",
    "missing": "∅ video missing",
    "failed": "∅ request failed",
    "withheld": "answer withheld",
    "generated": "generated",
}
_UNSOUND = re.compile("[^\t\n -~\xa0-\ud7ff\ue000-\U0010ffff]")


def page(report: Report) -> str:
    """Write the whole page."""
    return sound(render(environment(), "page.html", "html.jinja", report))


def environment(finalize: Callable[[object], object] | None = None) -> Environment:
    """Make an environment of the report's templates; what they insert is always escaped.

    What `finalize` returns for an inserted value is escaped as HTML unless it is markup.
    """
    made = Environment(
        loader=PackageLoader("video_reasoning.tasks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    made.filters["measure_label"] = measure_label
    made.globals.update(
        audit_signature=signature,
        audit_sections=audit_sections,
        audit_facts=audit_facts,
        benchmark_titles=_BENCHMARKS,
        color=color,
        condition_label=condition_label,
        count=sections.count,
        label=label,
        sections=sections,
        sign=lambda place: _SIGNS[place % len(_SIGNS)],
        units=UNITS,
        verdict_words=_VERDICTS,
    )
    return made


def render(environment: Environment, template: str, macros: str, report: Report) -> str:
    """Write a report with a template and the macros of its format."""
    ui = environment.get_template(macros).module
    return environment.get_template(template).render(report=report, ui=ui, names=list(report.names))


def sound(text: str) -> str:
    """Replace control characters and unpaired surrogates, which no page may contain."""
    return _UNSOUND.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    letter = found[0]
    return f"\\u{ord(letter):x}" if "\ud800" <= letter <= "\udfff" else "\ufffd"
