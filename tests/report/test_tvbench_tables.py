"""TVBench's tables over the whole benchmark: six tasks of a group, or one task with all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.runs import judged_line, prompt, write_questions, write_run
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.report.tables import Grid, paper_tables, run_names
from video_reasoning.tasks.results.items import gather
from video_reasoning.tasks.results.numbers import measure

KINDS = tuple(BENCHMARKS["tvbench"].kinds)


def question(kind: str, number: int) -> dict[str, Any]:
    """One of four: counterfactual, a real person, the simulated twin, none of these."""
    return {
        "id": f"{kind}/{number}",
        "task": kind,
        "question": f"Where to, {number}?",
        "options": ["left", "right", "up", "down"],
        "answer": "A",
        "video": f"videos/{kind}-{number}.mp4",
        "problem": "",
        "frames": 24,
        "demonstration_type": ("object", "human", "simulated", "object")[number],
        "counterfactual": number == 0,
        **dict.fromkeys(("composite", "zoom", "first_person"), False),
        "twin": ("", "twin_real", "twin_simulated", "")[number],
    }


def cells(grid: Grid, row: str) -> dict[str, str]:
    (found,) = (each for each in grid.rows if each.label == row)
    return dict(zip(grid.head, (cell.text for cell in found.cells), strict=True))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    questions = [question(kind, number) for kind in KINDS for number in range(4)]
    for row in questions:
        row["problem"] = "not shipped"  # no video is needed to read a log
    file = write_questions(tmp_path / "store", "tvbench", "test", questions)
    tasks: dict[str, list[dict[str, Any]]] = {}
    for row in questions:
        # Counterfactual questions are right in one task of six, real people in two, simulated in 3.
        limit = {0: 1, 1: 2, 2: 3, 3: 6}[int(row["id"][-1])]
        choice = "A" if KINDS.index(row["task"]) < limit else "B"
        lines = tasks.setdefault(f"tvbench_tomato_{row['task']}", [])
        line = judged_line(len(lines), row, choice) | {"input": prompt(row)}
        lines.append(line | {"filtered_resps": "word " * (10 if row["counterfactual"] else 1)})
    write_run(tmp_path / "res", tasks, questions=dict.fromkeys(tasks, file))
    return tmp_path / "res"


def grids(paths: list[Path]) -> dict[str, Grid]:
    logs = gather(paths)
    return {
        grid.key: grid for grid in paper_tables([measure(log) for log in logs], run_names(logs))
    }


def test_a_group_is_broken_down_over_all_its_questions(folder: Path) -> None:
    found = grids([folder])
    variations = found["tvbench-variations"]
    assert cells(variations, "random_choice") == {
        "Counterfactual: False": "61.1", "True": "16.7", "Δ": "-72.7",
    }  # fmt: skip
    assert cells(variations, "GPT-4o") == {
        "Counterfactual: False": "38.5", "True": "24.0", "Δ": "-37.7",
    }  # fmt: skip
    number = variations.rows[0].cells[1].number
    assert number is not None and (number.n, number.file.count("; ")) == (6, 5)
    assert variations.warnings == ["random_choice: 24 questions, the paper has 1,484."]
    twins = found["tvbench-twins"]
    assert cells(twins, "random_choice") == {
        "Human": "33.3", "Object": "58.3", "Simulated": "50.0",
        "Real person, with a twin": "33.3", "Simulated twin": "50.0", "Δ": "50.0",
    }  # fmt: skip
    assert cells(twins, "Qwen2-VL-72B")["Δ"] == "7.8"
    assert cells(found["tvbench-lengths"], "random_choice") == {
        "Mean": "3.2", "10%": "1", "Median": "1", "90%": "10", "Longest": "10", "Responses": "24",
    }  # fmt: skip


def test_a_part_of_the_tasks_is_not_the_whole_benchmark(folder: Path) -> None:
    for path in folder.glob("*_samples_tvbench_tomato_rotation.jsonl"):
        path.unlink()
    assert not {"tvbench-variations", "tvbench-twins", "tvbench-lengths"} & set(grids([folder]))
