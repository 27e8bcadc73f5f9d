"""The table of rules in docs/metrics.md, from the docstrings of the rules.

Run: python -m tests.metrics.rule_table    writes the table into the page
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from video_reasoning.metrics.answers.choice import RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "metrics.md"
_TABLE = re.compile(r"\| rule \| decides if \|\n(?:\|.*\n)+")


def rendered() -> str:
    """The table: each rule in the order in which it is asked, and when it decides."""
    rows = ["| rule | decides if |", "|---|---|"]
    for name, rule in RULES.items():
        when = (inspect.getdoc(rule) or "").split("\n\n")[0].replace("\n", " ")
        rows.append(f"| `{name}` | {when} |")
    return "\n".join(rows) + "\n"


def printed() -> str | None:
    """The table as the page has it."""
    found = _TABLE.search(PAGE.read_text(encoding="utf-8"))
    return found.group() if found else None


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_TABLE.sub(lambda _: rendered(), page), encoding="utf-8")
