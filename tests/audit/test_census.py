"""The survey of the harness's video tasks, over a few of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.census import ANSWERS, OPTIONS, Row, StandIn, looked_at, page
from tests.audit.standins import harness_tasks
from video_reasoning.tasks.audit.harness import load_config


@pytest.mark.parametrize(
    ("path", "state", "reason"),
    [
        ("tomato/tomato.yaml", "usable", "key score, 0 to 1"),
        ("mvbench/mvbench_moving_direction.yaml", "usable", "0 to 1"),
        ("timelens/timelens_charades.yaml", "usable", "aggregation over the one item"),
        ("temporalbench/temporalbench_short_qa.yaml", "usable", "aggregation over the one item"),
        ("longvideobench/longvideobench_test_v.yaml", "refused", "writes a file for a server"),
        ("ovobench/ovo_forward.yaml", "refused", "several rounds"),
    ],
)
def test_a_task_is_looked_at(
    path: str, state: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    file = harness_tasks() / path
    found = looked_at(path.partition("/")[0], file.stem, load_config(file))
    assert found.state == state and reason in found.reason


def test_a_stand_in_has_the_columns_that_are_read() -> None:
    document = StandIn({"id": "q1"}, OPTIONS["list"], ANSWERS["letter"], optional=False)
    assert document["candidates"] == OPTIONS["list"] and document["correct_answer"] == "A"
    assert document["A"] == "to the left side" and document["id"] == "q1"
    assert document.get("subtitles") is None and "subtitles" not in document
    assert list(document) == ["id", "candidates", "correct_answer", "A"]


def test_the_page_counts_and_names_reasons() -> None:
    rows = [
        Row("a", "a1", "usable"),
        Row("a", "a2", "refused", "no | score"),
        Row("b", "b1", "open"),
    ]
    text = page(rows)
    assert text.startswith("3 video tasks in 2 families: 1 can be audited (33.3%; 0 of them with a")
    assert "| `a` | 2 | 1 | 1 refused: no / score |" in text
