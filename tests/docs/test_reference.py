"""The reference pages are those of the code, and nothing is read that they do not list."""

from __future__ import annotations

import re

import pytest

from tests.docs import reference
from tests.docs.commands import PAGES, ROOT
from video_reasoning.tasks.cli.environment import PREFIX, VARIABLES, is_set, unknown

NAMES = {f"{PREFIX}{each.name}" for each in VARIABLES}


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    page = reference.FOLDER / f"{name}.md"
    expected = f"{reference.PAGES[name]().strip()}\n"
    assert page.read_text(encoding="utf-8") == expected, "run: python -m tests.docs.reference"


def test_every_variable_that_is_named_is_in_the_table() -> None:
    rooms = [ROOT / room for room in ("lmms_eval_tasks", "metrics", "preprocessing")]
    kinds = {".py", ".yaml", ".html", ".js"}
    sources = [file for room in rooms for file in room.rglob("*") if file.suffix in kinds]
    named: dict[str, str] = {}
    for file in (*sources, *PAGES, ROOT / "Makefile"):
        for name in re.findall(rf"\b{PREFIX}[A-Z_]*[A-Z]\b", file.read_text(encoding="utf-8")):
            named.setdefault(name, str(file.relative_to(ROOT)))
    assert named.keys() - NAMES == set(), {name: named[name] for name in named.keys() - NAMES}
    read = {name for name, file in named.items() if file.endswith(".py")}
    assert NAMES - read == set(), "nothing reads them"


def test_variables_that_are_set_and_unknown_are_shown() -> None:
    environment = {
        f"{PREFIX}HOME": "/store", f"{PREFIX}JUDGE_API_KEY": "secret", f"{PREFIX}SIHGT": "off",
        f"{PREFIX}CLOCK": "", "HOME": "/root",
    }  # fmt: skip
    assert is_set(environment) == {f"{PREFIX}HOME": "/store", f"{PREFIX}JUDGE_API_KEY": "(set)"}
    (sentence,) = unknown(environment)
    assert f"{PREFIX}SIHGT is set" in sentence and f"{PREFIX}SIGHT" in sentence


def test_the_index_for_models_names_pages_that_exist() -> None:
    linked = re.findall(r"\]\(([\w./-]+)\)", (ROOT / "docs" / "llms.txt").read_text("utf-8"))
    assert len(linked) > 15 and all((ROOT / "docs" / page).is_file() for page in linked)


def test_the_front_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) < 900
