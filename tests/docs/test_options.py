"""One vocabulary of options over all commands, and every help fits a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app

PROGRAM = typer.main.get_command(app)


def leaves(command: Any = PROGRAM, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that can be run."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from leaves(inner, f"{path} {name}".strip())
    if not hasattr(command, "commands"):
        yield path, command


COMMANDS = dict(leaves())


def options(command: Any) -> dict[str, Any]:
    """The options that help shows, by each of their names."""
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    return {name: each for each in shown for name in each.opts if name.startswith("--")}


def test_what_reads_runs_reads_the_store_that_is_named() -> None:
    reading = {
        name for name, command in COMMANDS.items()
        if any(each.name == "results" and each.param_type_name == "argument"
               for each in command.params)
    }  # fmt: skip
    assert len(reading) >= 8
    without = {name for name in reading if "--home" not in options(COMMANDS[name])}
    # Rating shows texts alone, and the sample knows its own answers.
    assert without == {"annotate rate", "check-sample"}


def test_an_option_has_one_name() -> None:
    others = {"--json", "--benchmark", "--output", "--store", "--dir", "--folder", "--coverage"}
    found = {name: others & options(command).keys() for name, command in COMMANDS.items()}
    assert {name: each for name, each in found.items() if each} == {}


def test_the_singular_and_the_plural_are_one_option() -> None:
    for name, command in COMMANDS.items():
        found = options(command)
        if "--tasks" in found:
            assert found["--tasks"] is found["--task"], name
        if "--models" in found:
            assert found["--models"] is found["--model"], name


def test_what_has_intervals_has_a_level_and_what_prints_tables_has_json() -> None:
    level = {name for name, command in COMMANDS.items() if "--level" in options(command)}
    assert level >= {"annotate agreement", "audit", "compare", "principles", "report"}
    formats = {name for name, command in COMMANDS.items() if "--format" in options(command)}
    assert formats >= {"check-sample", "compare", "doctor", "principles", "report", "sight"}


@pytest.mark.parametrize("option, said", [
    ("--level", "--level 7.0 is not between 0 and 1; the usual one is 0.95."),
    ("--format", "There is no format '7'; name one of "),
])  # fmt: skip
def test_a_value_that_cannot_be_is_refused_in_a_sentence(option: str, said: str) -> None:
    for name, command in COMMANDS.items():
        if option in options(command):
            needed = [each for each in command.params if each.required]
            words = [word for each in needed for word in (*each.opts[:1], "x")
                     if each.param_type_name == "option" or word == "x"]  # fmt: skip
            result = CliRunner().invoke(app, [*name.split(), *words, option, "7"])
            assert str(result.exception).startswith(said), (name, result.output)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = CliRunner().invoke(app, [*name.split(), "--help"])
    assert result.exit_code == 0 and "Example:" in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    cut = [each for each in options(COMMANDS[name]) if each not in result.output]
    assert not cut and "…" not in result.output


def test_home_is_the_store_while_a_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        "video_reasoning.tasks.report.build.build", lambda *_, **__: seen.append(store.home())
    )
    monkeypatch.setattr("video_reasoning.tasks.report.markdown.markdown", lambda _: "text")
    before = os.environ.get(store.HOME_VARIABLE)
    words = ["report", str(tmp_path), "--home", str(tmp_path / "x"), "--out", f"{tmp_path}/a.md"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert seen == [tmp_path / "x"] and os.environ.get(store.HOME_VARIABLE) == before
