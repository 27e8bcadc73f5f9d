"""BlackSwanSuite's tables of captions, reasoning, and hard questions, with a run beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.runs import judged_line, prompt, write_questions, write_run
from video_reasoning.tasks.report.tables import Grid, paper_tables, run_names
from video_reasoning.tasks.results.items import gather
from video_reasoning.tasks.results.numbers import measure

RIGHT = {
    "detective_mcq": 6,
    "detective_mcq_perception": 7,
    "detective_mcq_cot": 3,
    "reporter_mcq": 9,
    "detective_mcq_parts10": 5,
}
"""Task -> how many of ten questions are right, the first ones."""


def question(kind: str, number: int) -> dict[str, Any]:
    return {
        "id": f"{kind}/{number}",
        "task": kind,
        "question": f"What happened in {number}?",
        "options": ["one", "two", "three"],
        "answer": "A",
        "video": f"videos/{number}.mp4",
        "problem": "not shipped",
        "frames": 24,
        "difficulty": ("easy", "medium", "hard", "hard")[number % 4],
    }


def grids(folder: Path, tasks: tuple[str, ...]) -> dict[str, Grid]:
    kinds = dict.fromkeys("_".join(task.split("_")[:2]) for task in tasks)
    asked = {kind: [question(kind, number) for number in range(10)] for kind in kinds}
    rows = [row for each in asked.values() for row in each]
    file = write_questions(folder / "store", "blackswan", "validation", rows)
    lines = {}
    for task in tasks:
        lines[f"blackswan_{task}"] = [
            judged_line(number, row, "A" if number < RIGHT[task] else "B") | {"input": prompt(row)}
            for number, row in enumerate(asked["_".join(task.split("_")[:2])])
        ]
    write_run(folder / "res", lines, questions=dict.fromkeys(lines, file))
    logs = gather([folder / "res"])
    return {
        grid.key: grid for grid in paper_tables([measure(log) for log in logs], run_names(logs))
    }


def cells(grid: Grid, row: str) -> dict[str, str]:
    (found,) = (each for each in grid.rows if each.label == row)
    return dict(zip(grid.head, (cell.text for cell in found.cells), strict=True))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))


def test_a_run_stands_in_tables_6_to_8_and_11(tmp_path: Path) -> None:
    found = grids(tmp_path, tuple(RIGHT))
    captions = found["blackswan-perception-comprehension-validation"]
    assert list(cells(captions, "random_choice").values()) == ["60.0", "70.0", "–"]
    assert list(cells(captions, "LLaVA-Video").values())[1] != "–"
    reasoning = found["blackswan-chain-of-thought-validation"]
    assert list(cells(reasoning, "random_choice").values()) == ["60.0", "30.0", "90.0", "–"]
    # Of the first six, 2 of 4 hard ones (2, 3, 6, 7) and 4 of 6 others are right.
    hard = found["blackswan-hard-validation"]
    assert cells(hard, "random_choice") == {
        "Base": "60.0", "Hard": "50.0", "Easy": "66.7", "Delta": "-16.7",
    }  # fmt: skip
    number = hard.rows[0].cells[2].number
    assert number is not None and number.n == 6
    assert cells(hard, "GPT-4o")["Delta"] == "-10.1"
    accuracy = found["blackswan-accuracy-validation"]
    assert cells(accuracy, "random_choice, parts10")["Detective MCQ"] == "50.0"
    assert cells(accuracy, "LLaVA-Video-72B (20% of the questions)")["Detective MCQ"] != "–"


def test_tables_of_what_was_not_asked_are_absent(tmp_path: Path) -> None:
    found = grids(tmp_path, ("reporter_mcq",))
    assert set(found) == {"blackswan-accuracy-validation"}
