"""Plots: whole pictures, with labels as they are and every point where it belongs."""

from __future__ import annotations

import base64
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.report.runs import condition_lines, tomato_questions, write_questions, write_run
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.page import page
from video_reasoning.tasks.report.plots import (
    Line,
    Plot,
    Point,
    color,
    forest,
    frame_sweep,
    marker,
)

SVG = "{http://www.w3.org/2000/svg}"


def texts(plot: Plot) -> list[str]:
    root = ElementTree.fromstring(plot.svg)
    return ["".join(part.itertext()).strip() for part in root.iter(f"{SVG}text")]


def test_labels_are_drawn_as_they_are() -> None:
    names = ["costs $5 or $x^2$", "<b>bold</b> & more", r"\alpha_{1}"]
    plot = forest("t", [Line(name, [Point(0, 50, 40, 60)]) for name in names])
    assert set(names) <= set(texts(plot))


def test_the_same_plot_is_the_same_bytes() -> None:
    lines = [Line("All", [Point(0, 50, 40, 60), Point(1, 20, 10, 40)], 25.0), Line("Type")]
    assert forest("t", lines).svg == forest("t", lines).svg


def test_runs_differ_in_shape_and_color() -> None:
    assert len({marker(run) for run in range(6)}) == len({color(run) for run in range(6)}) == 6


def test_the_description_has_the_values() -> None:
    plot = forest("t", [Line("All", [Point(0, 51.25, None, None)])])
    assert "All: 51.2" in plot.description
    beside = Line("All", [Point(0, 40, 30, 50)], 20.0, models=[10.0, 37.7], human=[95.2])
    assert "10.0 to 37.7" in forest("t", [beside]).description
    assert base64.b64decode(plot.uri.partition(",")[2]) == plot.svg


def test_frames_lie_in_order() -> None:
    points = [(m, Point(0, value, value - 5, value + 5)) for m, value in ((1, 20), (8, 40))]
    plot = frame_sweep("t", {0: points}, 25.0)
    assert {"1", "8", "frames shown"} <= set(texts(plot))
    assert "m = 1: 20.0, m = 8: 40.0" in plot.description


def test_a_run_over_frame_counts_has_its_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    questions, task = tomato_questions(4), "tvbench_tomato_frames"
    file = write_questions(tmp_path / "store", "tvbench", "test", questions)
    lines = condition_lines(
        questions,
        lambda q, c: "A" if c == "ordered16" or q["id"].endswith("0") else "B",
        ("random1", "ordered8", "ordered16", "ordered32"),
    )
    write_run(tmp_path / "res", {task: lines}, questions={task: file})
    written = page(build([tmp_path / "res"], most_examples=0))
    assert "m = 1: 25.0, m = 8: 25.0, m = 16: 100.0, m = 32: 25.0" in written
