"""The report as Markdown: the page's text and tables, for an issue or a repository."""

from __future__ import annotations

import re

from markupsafe import Markup

from video_reasoning.tasks.report.build import Report
from video_reasoning.tasks.report.page import environment, render, sound

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def markdown(report: Report) -> str:
    """Write the whole report; text from logs becomes one line without markup."""
    written = render(environment(_escaped), "page.md", "markdown.jinja", report)
    lines = "\n".join(line.strip() for line in sound(written).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip() + "\n"


def _escaped(value: object) -> object:
    if hasattr(value, "__html__"):
        return value  # written by a macro, which has escaped what it inserted
    return Markup(_SPECIAL.sub(r"\\\1", " ".join(str(value).split())))
