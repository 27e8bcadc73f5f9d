"""The command `annotate answer` up to the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.annotate import stores
from video_reasoning.tasks import store
from video_reasoning.tasks.cli import annotate
from video_reasoning.tasks.cli.app import app

pytest.importorskip("fastapi", reason="needs the extra `handpick`")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The workplaces of the pages that would be served; a person answers once on each."""
    home = stores.write(tmp_path / "store", "causalvqa", stores.causalvqa(), videos=False)
    stores.write(home, "blackswan", stores.blackswan(), videos=False)
    monkeypatch.setenv(store.HOME_VARIABLE, str(home))
    found = []

    def serve(make: Callable[[], Any], port: int | None, open_page: bool) -> None:
        place = make().state.workplace
        found.append(place)
        first = place.items[place.order("ana")[0]]
        place.log.record([place.answer(first, "ana", responses=("A",))])

    monkeypatch.setattr(annotate, "serve_page", serve)
    return found


def run(*words: object) -> str:
    result = CliRunner().invoke(app, ["annotate", "answer", *map(str, words)])
    assert result.exception is None, result.exception
    return result.output


def test_the_same_command_goes_on(served: list[Any], tmp_path: Path) -> None:
    words = ("causalvqa_debug", "--out", tmp_path / "a.jsonl", "--annotator", "ana")
    printed = run(*words, "--sample", 5)
    assert "10 questions of causalvqa_debug, ana answers, saved to" in printed
    assert "ana: 1 answered and 0 skipped of 5" in printed  # one variant of each
    assert len(served[0].order("ana")) == 5
    assert "ana: 1 answered and 0 skipped of 12" in run(*words)  # the larger sample has the smaller
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert {line["id"] for line in lines} <= {item.id for item in served[1].items}
    order = [item.id for item in map(served[1].items.__getitem__, served[1].order("ana"))]
    assert order != sorted(order)


def test_a_group_is_its_tasks_each_with_its_sample(served: list[Any], tmp_path: Path) -> None:
    printed = run("blackswan_mcq", "--sample", 3, "--out", tmp_path / "a.jsonl")
    assert "6 questions of blackswan_detective_mcq, blackswan_reporter_mcq" in printed


def test_lines_that_cannot_be_read_are_reported(served: list[Any], tmp_path: Path) -> None:
    words = ("causalvqa_debug", "--out", tmp_path / "a.jsonl", "--annotator", "ana")
    run(*words)
    with (tmp_path / "a.jsonl").open("a") as file:
        file.write("{torn\n")
    assert "1 lines cannot be read and are left out (2)" in run(*words)
