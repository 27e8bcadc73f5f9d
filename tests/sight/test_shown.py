"""`frames_seen` beside the numbers: in reports, comparisons and submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.report.runs import condition_lines, tomato_questions, write_questions, write_run
from tests.tasks.test_submit import answers, causalvqa_questions, lines
from tests.tasks.test_submit import write_questions as write_rows
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.report import facts, sections
from video_reasoning.tasks.results.compare import as_json, compare, text
from video_reasoning.tasks.results.items import frames_seen, gather
from video_reasoning.tasks.results.numbers import measure

TASK = "tvbench_tomato_principles"
SHOWN = {"ordered16": 16, "shuffled16": 16, "random1": 1}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    return tmp_path / "store"


def logged(tmp_path: Path, home: Path, name: str, lost: int | None) -> Path:
    """A run of ten questions; `lost` frames of every second shuffled clip do not arrive."""
    questions = tomato_questions(10)
    file = write_questions(home, "tvbench", "test", questions)
    written = condition_lines(questions, lambda q, _: "A", SHOWN)
    for number, line in enumerate(written):
        condition = line["accuracy"]["condition"]
        gone = 0 if lost is None or condition != "shuffled16" or number % 2 else lost
        line["frames_shown"] = SHOWN[condition]
        line["frames_seen"] = None if lost is None else SHOWN[condition] - gone
        line["frames_in_order"] = None
    write_run(tmp_path / name, {TASK: written}, model=name, questions={TASK: file})
    return tmp_path / name


def test_the_report_shows_them_beside_each_number(tmp_path: Path, home: Path) -> None:
    (log,) = gather([logged(tmp_path, home, "m", 4)])
    found = measure(log)
    assert {name: seen.text for name, seen in found.frames.items()} == {
        "ordered16": "16", "shuffled16": "14 of 16 (12 at least, 5 items differ)", "random1": "1",
    }  # fmt: skip
    rows = [[cell.text for cell in row.cells] for row in sections.numbers(found)]
    shown = {(row[1], row[2]) for row in rows}
    assert ("random1", "1") in shown
    assert ("shuffled16", "14 of 16 (12 at least, 5 items differ)") in shown
    ratios = [row[2] for row in rows if row[1] == "–"]
    assert "ordered16 16, random1 1" in ratios
    plain = found.as_json()["frames_seen"]["shuffled16"]
    assert plain == {
        "items": 10, "known": 10, "mean": 14.0, "fewest": 12, "shown": 16.0, "differ": 5
    }  # fmt: skip
    said = [each for each in facts.problems(found) if "did not get the frames" in each]
    assert len(said) == 1 and "under shuffled16 in 5 of 10 items" in said[0]


def test_what_nobody_counted_is_not_known(tmp_path: Path, home: Path) -> None:
    (log,) = gather([logged(tmp_path, home, "m", None)])
    found = measure(log)
    assert {seen.text for seen in found.frames.values()} == {""}
    assert not [each for each in facts.problems(found) if "frames" in each and "get" in each]
    assert frames_seen([]).text == ""


def test_a_comparison_shows_them_for_both_runs(tmp_path: Path, home: Path) -> None:
    a, b = (logged(tmp_path, home, name, lost) for name, lost in (("a", 4), ("b", 0)))
    found = compare(a, b)
    said = text(found)
    assert "frames seen per item: a 14 of 16 (12 at least, 5 items differ); b 16" in said
    assert "frames seen per item: a 1; b 1" in said
    assert '"fewest": 12' in as_json(found)
    unknown = text(compare(logged(tmp_path, home, "c", None), b))
    assert "c not known; b 16" in unknown


def test_a_submission_says_them(tmp_path: Path, home: Path) -> None:
    rows = causalvqa_questions()
    written: list[dict[str, Any]] = lines(rows, answers)
    for number, line in enumerate(written):
        line.update(frames_seen=16 if number else 9)
    path = write_rows(home, rows)
    task = "causalvqa_debug"
    write_run(tmp_path / "out", {task: written}, questions={task: path})
    words = ["submit", "causalvqa", str(tmp_path / "out"), "--split", "debug"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "f.jsonl")])
    assert done.exit_code == 0, done.output
    assert "frames that the model saw, per question: 15.4" in done.output
