"""Handpicking for the questions of an audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from tests.audit.logs import line, plan_of, write_run
from tests.tasks.releases import write_video
from video_reasoning.tasks.audit.plan import write_plan
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.handpick.audited import Audited
from video_reasoning.tasks.handpick.record import PickLog
from video_reasoning.tasks.handpick.server import Workplace, create_app

FRAMES = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of two tasks of a group."""
    made = tmp_path_factory.mktemp("audit")
    video = made / "turn.mp4"
    write_video(video, FRAMES, size=(160, 96))
    path = str(video)
    asked = {
        "cubes": [
            line(0, 1.0, video=path),
            line(1, 0.0, video=path, shape="1 video and 1 sound"),
            line(2, 0.0, video=path, shape="1 video with times"),
            line(3, 0.0, video=path, name="same"),
        ],
        "balls": [
            line(0, 0.0, video=path, name="same"),
            line(1, 0.0, video="frames-0", name="b1", shape="8 frames"),
            line(2, 1.0, video=path, name="b2"),
        ],
    }
    plan = plan_of(made, ("ordered", "blind"), tuple(asked), group="shapes")
    write_plan(made / "tasks/plan.json", plan)
    lines = {
        task.variant_name(variant): asked[task.name]
        for task in plan.tasks
        for variant in plan.variants
    }
    write_run(made / "runs", lines)
    return made


def run(name: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, ["handpick", name, *map(str, arguments)])


def test_what_was_asked_is_picked_for(folder: Path) -> None:
    source = Audited(folder)
    assert source.name == "shapes, balls"
    items = {(item.task, item.id): item for item in source.load()}
    assert list(items) == [
        ("cubes", "q0"), ("cubes", "q1"), ("cubes", "q2"), ("cubes", "same"),
        ("balls", "same"), ("balls", "b1"), ("balls", "b2"),
    ]  # fmt: skip
    first = items["cubes", "q0"]
    assert (first.question, first.answer, first.options) == ("Question 0?", "A", ())
    assert first.video == folder / "turn.mp4" and not first.problem
    assert "1 video with times" in items["cubes", "q2"].problem
    assert "8 frames" in items["balls", "b1"].problem
    assert items["cubes", "same"].problem == "its id is that of several questions"
    assert set(source.known()) == {"q0", "q1", "b2"}


def test_picks_reach_the_audit(folder: Path, tmp_path: Path) -> None:
    out, table = tmp_path / "picks.jsonl", tmp_path / "in.csv"
    table.write_text("id,frame\nq0,5\nq2,3\nsame,1\nb2,39\n")
    done = run("import", folder, table, "--out", out, "--annotator", "ana")
    assert "2 decisions added" in done.output and "2 rows were left out" in done.output
    done = run("install", folder, out)
    written = folder / "picks.jsonl"
    assert f"2 picks of 3 questions written to {written}." in done.output.replace("\n", "")
    assert f"--picks {written}" in done.output.replace("\n", "")
    picks = [json.loads(each) for each in written.read_text().splitlines()]
    assert [(each["id"], each["frame"]) for each in picks] == [("b2", 39), ("q0", 5)]
    # What people decided is not written over.
    other = run("install", folder, written)
    assert "is the file that picks are installed in" in str(other.exception)
    # The file is that of these tasks, not of a benchmark.
    other = run("agreement", "tvbench", out)
    assert "has picks for shapes, balls, not for tvbench" in str(other.exception)


def test_the_page_shows_the_prompt_and_the_video(folder: Path, tmp_path: Path) -> None:
    source = Audited(folder)
    place = Workplace(source.load(), PickLog(tmp_path / "new.jsonl", source.name), source, "ana")
    with TestClient(create_app(place), base_url="http://127.0.0.1:8765") as client:
        session = client.get("/api/session", params={"annotator": "ana"}).json()
        assert session["benchmark"] == "shapes, balls"
        shown = client.get("/api/items/0", params={"annotator": "ana"}).json()
        assert shown["question"] == "Question 0?" and shown["n_frames"] == FRAMES
        assert len(shown["frames"]) == 16
        problem = client.get("/api/items/2", params={"annotator": "ana"}).json()["problem"]
        assert "1 video with times" in problem
        export = client.get("/api/export").headers["content-disposition"]
        assert 'filename="shapes_balls-picks.csv"' in export


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--task", "cones"], "no task 'cones' among these questions; they are of cubes, balls"),
        (["--split", "test"], "An audit has no splits"),
    ],
)
def test_mistakes_are_one_sentence(
    folder: Path, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    result = run("serve", folder, "--out", tmp_path / "picks.jsonl", *arguments)
    assert isinstance(result.exception, UserError) and reason in str(result.exception)


def test_a_folder_that_is_not_an_audit_is_one_sentence(tmp_path: Path) -> None:
    result = run("agreement", tmp_path, tmp_path / "picks.jsonl")
    assert "There is no audit in" in str(result.exception)
    result = run("agreement", tmp_path / "gone", tmp_path / "picks.jsonl")
    assert "Nor is there a folder" in str(result.exception)
