"""The report as one page of HTML: nothing fetched, every text escaped, no script but our own.

The script copies tables and enlarges pictures; the page's policy names its digest, so that no other
can run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from video_reasoning.tasks.audit.variants import condition_label, measure_label
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.report import audit_sections, sections
from video_reasoning.tasks.report.audits import audit_facts, signature
from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.export import as_csv
from video_reasoning.tasks.report.layout import arranged, totals_first
from video_reasoning.tasks.report.overview import Overview
from video_reasoning.tasks.report.plots import color, shape
from video_reasoning.tasks.report.tables import label
from video_reasoning.tasks.results.numbers import UNITS

_BENCHMARKS = {**{each.name: each.title for each in BENCHMARKS.values()}, "": "Other tasks"}
_VERDICTS = {
    "right": "✓ right",
    "wrong": "✗ wrong",
    "unparsed": "? unparsed",
    "missing": "∅ video missing",
    "failed": "∅ request failed",
    "withheld": "answer withheld",
    "generated": "generated",
    "mixed": "≠ runs differ",
}
_UNSOUND = re.compile("[^\t\n -~\xa0-\ud7ff\ue000-\U0010ffff]")


def csv_address(report: Report) -> str:
    """Return all numbers as a file that the page contains."""
    content = as_csv(report).encode("utf-8", "backslashreplace")
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content).decode()}"


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
    script = Path(__file__).with_name("templates").joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made.filters["coded"] = _coded
    made.filters["measure_label"] = measure_label
    made.globals.update(
        arranged=arranged,
        audit_signature=signature,
        audit_sections=audit_sections,
        audit_facts=audit_facts,
        benchmark_titles=_BENCHMARKS,
        color=color,
        condition_label=condition_label,
        count=sections.count,
        csv_address=csv_address,
        label=label,
        script=Markup(script),
        script_source=f"sha256-{digest}",
        sections=sections,
        shape=shape,
        totals_first=totals_first,
        units=UNITS,
        verdict_words=_VERDICTS,
    )
    return made


def _coded(text: str) -> Markup:
    """Escape a sentence, and set what is between backticks as code."""
    return Markup(re.sub(r"`([^`\n]+)`", r"<code>\1</code>", str(escape(text))))


def render(environment: Environment, template: str, macros: str, report: Report) -> str:
    """Write a report with a template and the macros of its format."""
    ui = environment.get_template(macros).module
    return environment.get_template(template).render(
        report=report, ui=ui, names=list(report.names), overview=Overview(report)
    )


def sound(text: str) -> str:
    """Replace control characters and unpaired surrogates, which no page may contain."""
    return _UNSOUND.sub(_replacement, text)


def _replacement(found: re.Match[str]) -> str:
    letter = found[0]
    return f"\\u{ord(letter):x}" if "\ud800" <= letter <= "\udfff" else "\ufffd"
