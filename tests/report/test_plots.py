"""Plots: whole pictures, with labels as they are and every point where it belongs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.report.runs import condition_lines, tomato_questions, write_questions, write_run
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.page import environment, page
from video_reasoning.tasks.report.plots import (
    Line,
    Plot,
    Point,
    color,
    forest,
    frame_sweep,
    gains,
    shape,
)


def test_runs_differ_in_shape_and_color() -> None:
    assert len({shape(run) for run in range(6)}) == len({color(run) for run in range(6)}) == 6


@pytest.mark.parametrize(
    ("left", "right", "ticks"),
    [
        (0, 100, [(0, "0"), (20, "20"), (40, "40"), (60, "60"), (80, "80"), (100, "100")]),
        (-50, 50, [(10, "-40"), (30, "-20"), (50, "0"), (70, "20"), (90, "40")]),
        (0, 900, [(0, "0"), (22.22, "200"), (44.44, "400"), (66.67, "600"), (88.89, "800")]),
    ],
)
def test_an_axis_has_round_ticks(left: float, right: float, ticks: list[tuple[float, str]]) -> None:
    assert Plot("t", "d", (), left, right).ticks == ticks


def test_a_point_is_drawn_where_it_belongs_and_its_label_as_it_is() -> None:
    label = "<b>costs $5</b> & more"
    plot = forest("t", [Line(label, [Point(1, 50, 40, 62.5)], 25.0, models=[10.0], human=[95.0])])
    drawn = str(environment().get_template("chart.jinja").module.figure(plot))
    assert "&lt;b&gt;costs $5&lt;/b&gt; &amp; more" in drawn and "<b>" not in drawn
    assert 'class="interval c1" style="left:40.0%;width:22.50%' in drawn
    assert 'class="point c1" style="left:50.0%' in drawn
    for kind, place in (("guess", "25.0"), ("paper", "10.0"), ("person", "95.0")):
        assert f'class="{kind}" style="left:{place}%"' in drawn
    assert "<title>50.0 (40.0 to 62.5)</title>" in drawn


def test_an_interval_that_goes_on_has_an_arrow() -> None:
    plot = gains("t", [Line("κ", [Point(0, 20, -500, math.inf)])], ())
    drawn = str(environment().get_template("chart.jinja").module.figure(plot))
    assert "interval c0 less more" in drawn and "inf" not in drawn and "nan" not in drawn


def test_the_description_has_the_values() -> None:
    plot = forest("t", [Line("All", [Point(0, 51.25, None, None)])])
    assert "All: 51.2" in plot.description
    beside = Line("All", [Point(0, 40, 30, 50)], 20.0, models=[10.0, 37.7], human=[95.2])
    assert "10.0 to 37.7" in forest("t", [beside]).description


def test_frames_lie_in_order() -> None:
    points = [(m, Point(0, value, value - 5, value + 5)) for m, value in ((1, 20), (8, 40))]
    plot = frame_sweep("t", {0: points}, 25.0)
    assert plot.frames == [(25.0, 1), (75.0, 8)]
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
