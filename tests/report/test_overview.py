"""What a reader sees first: the plot of all runs, the paired differences, kappa in points."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.report.runs import (
    causal_lines,
    causal_questions,
    condition_lines,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.report.build import Report, build
from video_reasoning.tasks.report.layout import arranged
from video_reasoning.tasks.report.overview import Overview, points_gain
from video_reasoning.tasks.results.compare import compare, judged
from video_reasoning.tasks.results.numbers import Number

TASK = "tvbench_tomato_principles"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two runs: one answers A with 16 frames in order only, the other always; pairs likewise."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    tomato, causal = tomato_questions(8), causal_questions(6)
    files = {
        TASK: write_questions(tmp_path / "store", "tvbench", "test", tomato),
        "causalvqa_debug": write_questions(tmp_path / "store", "causalvqa", "debug", causal),
    }
    for model, frames in (("looks", {"ordered16"}), ("always", {"ordered16", "random1"})):
        answered = condition_lines(
            tomato,
            lambda q, c, frames=frames: "A" if c in frames or q["id"].endswith("0") else "B",
            ("ordered16", "shuffled16", "random1"),
        )
        pairs = causal_lines(causal, lambda q, one=model == "looks": q["answer"] if one else "A")
        tasks = {TASK: answered, "causalvqa_debug": pairs}
        write_run(tmp_path / model, tasks, model=model, questions=files)
    return [tmp_path / "looks", tmp_path / "always"]


@pytest.fixture
def report(runs: list[Path]) -> Report:
    return build(runs, most_examples=0)


def test_every_task_is_in_the_plot_beside_the_paper(report: Report) -> None:
    plot = Overview(report).plot
    assert plot is not None
    lines = {line.label.partition(",")[0]: line for line in plot.lines}
    assert set(lines) == {TASK, "causalvqa_debug"}
    assert [point.value for point in lines["causalvqa_debug"].points] == [100.0, 0.0]
    assert lines["causalvqa_debug"].chance == pytest.approx(4.0)
    # CausalVQA, table 4: GPT-4o's and people's paired accuracies over all questions.
    assert len(lines["causalvqa_debug"].models) == 6 and lines["causalvqa_debug"].human
    assert all(point.low is not None for line in plot.lines for point in line.points)


def test_differences_are_those_of_the_command(runs: list[Path], report: Report) -> None:
    found = {each.task: each.found for each in Overview(report).differences}
    same = {(each.task, each.measure, each.condition): each for each in compare(runs[0], runs[1])}
    of_command = same[TASK, "accuracy", "ordered16"], same["causalvqa_debug", "paired accuracy", ""]
    assert [judged([each]) for each in found.values()] == [judged([each]) for each in of_command]
    assert found["causalvqa_debug"].difference == -1.0


def test_kappa_is_shown_in_points_over_the_same_questions(report: Report) -> None:
    looks, always = (each for each in report.found if each.log.task == TASK)
    gain = points_gain(looks, "kappa_random")
    assert gain is not None and gain.n == 8
    assert gain.value == pytest.approx(7 / 8)
    assert gain.low is not None and gain.low < 7 / 8 <= (gain.high or 0)
    assert points_gain(always, "kappa_random").value == 0  # type: ignore[union-attr]
    assert points_gain(looks, "rho") is None  # no handpicked frames
    rows = Overview(report).principle_rows
    assert [cell.text for cell in rows[0].cells] == ["700.0", "+87.5", "+75.0", "−12.5", "8"]


def test_totals_come_first_and_the_papers_models_are_apart(report: Report) -> None:
    grid = next(grid for grid in report.grids if grid.key == "causalvqa-paired-debug")
    ours, printed = arranged(grid)
    assert printed is not None
    assert [row.label for row in ours.rows][:3] == ["All", "Reasoning", "Anticipation"]
    assert {row.kind for row in ours.rows[:7]} == {"total"}
    assert list(ours.head) == ["n", "looks", "always", "Human"]
    assert "GPT-4o" in printed.head and len(printed.head) == 6
    assert "Guessing gives 4.0 in every row." in ours.note
    values = {row.label: [cell.text for cell in row.cells] for row in grid.rows}
    for row in ours.rows:
        assert [cell.text for cell in row.cells[:3]] == values[row.label][:3]


def test_every_interval_has_the_level_that_is_asked_for(
    runs: list[Path], report: Report, tmp_path: Path
) -> None:
    out = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["report", *map(str, runs), "--out", str(out), "--level", "0.8"])
    assert done.exit_code == 0, done.output
    page = out.read_text(encoding="utf-8")
    assert "95% interval" not in page and page.count("80% intervals") >= 4
    assert "Intervals have 80% coverage" in page

    strict = build(runs, most_examples=0, level=0.8)
    pairs = [(one, other) for one, other in zip(numbers(report), numbers(strict), strict=True)
             if one.low is not None and one.high is not None and one.low < one.high]  # fmt: skip
    assert len(pairs) > 20 and {(one.level, other.level) for one, other in pairs} == {(0.95, 0.8)}
    for one, other in pairs:
        assert one.value == other.value and one.n == other.n
        ends = (one.low, other.low, one.high, other.high)
        assert None not in ends and ends[0] <= ends[1] and ends[3] <= ends[2], one.name
    assert sum((one.low, one.high) != (other.low, other.high) for one, other in pairs) > 20
    assert [each.found.level for each in Overview(strict).differences] == [0.8, 0.8]


def numbers(report: Report) -> list[Number]:
    """All numbers of a report, those of its tables too."""
    rows = [row for grid in report.grids for row in grid.rows]
    found = [number for each in report.found for number in each.numbers]
    return found + [cell.number for row in rows for cell in row.cells if cell.number]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_all_numbers_are_exported(
    runs: list[Path], report: Report, tmp_path: Path, form: str
) -> None:
    out = tmp_path / f"numbers.{form}"
    done = CliRunner().invoke(app, ["report", *map(str, runs), "--out", str(out)])
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    if form == "json":
        content = json.loads(text)
        assert [each["task"] for each in content["differences"]] == [TASK, "causalvqa_debug"]
        assert content["gains_in_points"][0]["value"] == pytest.approx(7 / 8)
        return
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == sum(len(each.numbers) for each in report.found)
    strata = [row for row in rows if row["group"] == "type=planning;difficulty=medium"]
    assert {row["name_of_run"] for row in strata} == {"looks", "always"}
    assert all(row["signature"].startswith(row["task"]) for row in rows)
