"""The messages that docs/errors.md explains are those of the code."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.commands import ROOT

PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
QUOTED = [line[2:] for line in PAGE.splitlines() if line.startswith("> ") and line != ">"]


def texts() -> set[str]:
    """Every text of the code; what is filled in is an ellipsis."""
    found = set()
    for file in (ROOT / "lmms_eval_tasks").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (
                    each.value if isinstance(each, ast.Constant) else "..." for each in node.values
                )
                found.add("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found


TEXTS = texts()


@pytest.mark.parametrize("message", QUOTED)
def test_a_message_that_is_explained_exists(message: str) -> None:
    # A constant that is filled in is its value on the page.
    parts = [re.escape(part) for part in message.split("...")]
    pattern = re.compile(".*?".join(parts).replace(re.escape("0.7.3"), ".*?"), re.DOTALL)
    assert any(pattern.search(text) for text in TEXTS), "no such message in the code"


def test_there_are_messages() -> None:
    assert len(QUOTED) >= 14 and PAGE.count("\n## ") >= 13
