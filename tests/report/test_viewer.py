"""The viewer: what its page is given, what its server refuses, what its bundle contains."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from tests.report.runs import (
    FRAMES,
    causal_lines,
    causal_questions,
    condition_lines,
    missing_line,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.frames import count_frames
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.report.viewer.bundle import MEGABYTE, write_bundle
from video_reasoning.tasks.report.viewer.collection import Collection
from video_reasoning.tasks.report.viewer.server import Viewing, create_app
from video_reasoning.tasks.results.items import ReportError

TASK = "tvbench_tomato_principles"
CONDITIONS = ("ordered16", "shuffled16", "random1")
NASTY = "</script><script>alert(1)</script>\u2028@half@"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs over the frame conditions, and pairs with a missing and a nasty item."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    tomato, causal = tomato_questions(2), causal_questions(2)
    files = {
        TASK: write_questions(tmp_path / "store", "tvbench", "test", tomato),
        "causalvqa_debug": write_questions(tmp_path / "store", "causalvqa", "debug", causal),
    }
    pairs = causal_lines(causal, lambda q: q["answer"])
    groups = {key: str(causal[0][key]) for key in ("qid", "variant", "type", "difficulty")}
    pairs[0] = {**missing_line(0, causal[0], **groups), "input": ""}
    pairs[1]["filtered_resps"] = NASTY
    for model, choose in (
        ("looks", lambda q, c: "A" if c == "ordered16" else None),
        ("blind", lambda q, c: "B"),
    ):
        answered = condition_lines(tomato, choose, CONDITIONS)
        for line in answered:
            line |= {"frames_seen": 8, "frames_shown": 16, "frames_in_order": True}
        tasks = {TASK: answered} | ({"causalvqa_debug": pairs} if model == "looks" else {})
        write_run(tmp_path / "res" / model, tasks, model=model, questions=files)
    for log in (tmp_path / "res").rglob("*.jsonl"):  # half a letter, as JSON can hold it
        log.write_bytes(log.read_bytes().replace(b"@half@", b"\\ud800"))
    return tmp_path / "res"


@pytest.fixture
def client(results: Path) -> Iterator[Any]:
    with TestClient(create_app(Viewing([results])), base_url="http://127.0.0.1:8765") as client:
        yield client


def columns(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The items as records, with their questions."""
    items = content["items"]
    rows = [dict(zip(items, values, strict=True)) for values in zip(*items.values(), strict=True)]
    return [{**row, "id": content["questions"][row["question"]]["id"]} for row in rows]


def test_every_item_is_there_with_what_became_of_it(client: Any) -> None:
    content = client.get("/api/items").json()
    rows = columns(content)
    assert len(rows) == 2 * 2 * 3 + 4
    names = [each["name"] for each in content["runs"]]
    assert set(names) == {"looks", "blind"}
    assert len(content["questions"]) == 2 + 4, "a question of two runs and conditions is there once"
    of = {(names[row["run"]], row["id"], row["condition"]): row for row in rows}
    assert of["looks", "direction/1", "ordered16"]["kind"] == "right"
    assert of["looks", "direction/1", "random1"]["kind"] == "unparsed"
    assert of["blind", "direction/1", "random1"]["kind"] == "wrong"
    assert (
        of["looks", "direction/0", "ordered16"]["seen"],
        of["looks", "direction/0", "ordered16"]["shown"],
    ) == (8, 16)
    assert (
        of["looks", "q0/1", ""]["kind"] == "missing"
        and "clip.mp4" in of["looks", "q0/1", ""]["problem"]
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_item_leads_to_its_frames_its_clip_and_its_line(
    client: Any, tmp_path: Path, condition: str
) -> None:
    content = client.get("/api/items").json()
    version, rows = content["version"], columns(content)
    number = next(n for n, row in enumerate(rows) if row["condition"] == condition)
    found = client.get(f"/api/items/{version}/{number}").json()
    expected = condition_indices(Condition.parse(condition), FRAMES, rows[number]["id"])
    assert found["stills"] == [f"frame {k} of {FRAMES}, {k / 8:.2f} s" for k in expected]
    assert client.get(f"/still/{version}/{number}/0").headers["content-type"] == "image/jpeg"
    assert len(found["clips"]) == (0 if condition == "random1" else 1)
    for address in found["clips"]:
        clip = tmp_path / "clip.mp4"
        clip.write_bytes(client.get(f"/{address}").content)
        assert count_frames(clip) == 16
    line = client.get(f"/api/lines/{version}/{number}").json()
    assert line["accuracy"]["id"] == rows[number]["id"]
    assert line["accuracy"]["condition"] == condition
    assert not (tmp_path / "store" / "tvbench" / "clips").exists(), "nothing is written to a store"


def test_a_run_that_goes_on_has_more_items(results: Path) -> None:
    (log,) = (results / "blind").glob("*_samples_*.jsonl")
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # torn: it is being written
    with TestClient(create_app(Viewing([results])), base_url="http://localhost") as client:
        before = client.get("/api/items").json()
        assert len(columns(before)) == 6 + 4 + 2
        log.write_bytes(whole)
        assert client.get("/api/version").json()["version"] != before["version"]
        assert client.get(f"/api/items/{before['version']}/0").status_code == 409
        assert len(columns(client.get("/api/items").json())) == 6 + 4 + 6


def test_a_run_that_has_only_begun_is_waited_for(tmp_path: Path, results: Path) -> None:
    (tmp_path / "new").mkdir()
    collection = Collection([tmp_path / "new"])
    assert "No sample logs" in collection.state().problem
    (results / "blind").rename(tmp_path / "new" / "blind")
    assert len(collection.state().entries) == 6 and not collection.state().problem


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {"host": "evil.example"}, 421),
        ("/api/items", {"origin": "http://evil.example"}, 403),
        ("/api/items", {"sec-fetch-site": "cross-site"}, 403),
        ("/api/items/{v}/999", {}, 404),
        ("/still/{v}/0/999", {}, 404),
        ("/clip/{v}/-1/0", {}, 404),
        ("/view.py", {}, 404),
        ("/collection.py", {}, 404),
    ],
)
def test_the_server_refuses(client: Any, path: str, headers: dict[str, str], status: int) -> None:
    version = client.get("/api/version").json()["version"]
    assert client.get(path.replace("{v}", version), headers=headers).status_code == status


def test_nothing_can_be_sent_to_the_server(client: Any) -> None:
    assert client.post("/api/items", json={}).status_code == 403
    assert "default-src 'none'" in client.get("/").headers["content-security-policy"]


def test_a_bundle_has_all_items_and_each_clip_once(results: Path, tmp_path: Path) -> None:
    done = write_bundle([results], tmp_path / "bundle", megabytes=100)
    text = (tmp_path / "bundle" / "items.js").read_text(encoding="utf-8")
    content = json.loads(re.fullmatch(r"window\.VIEW = (.*);\n", text)[1])  # type: ignore[index]
    assert done.items == len(content["media"]) == len(columns(content)) == 16
    # All videos are alike: one clip in order, a shuffled one per question, and the video itself.
    assert done.clips == 1 + 2 + 1 == len(list((tmp_path / "bundle" / "media").glob("*.mp4")))
    assert (done.left_out, done.unseen) == (0, 1)
    for row, media in zip(columns(content), content["media"], strict=True):
        if row["kind"] == "missing":
            assert "clip.mp4" in media["problem"]
            continue
        places = [*media["clips"], *(place for _, place in media["stills"])]
        assert len(places) == 1 and (tmp_path / "bundle" / places[0]).is_file()
    assert done.size == sum(f.stat().st_size for f in (tmp_path / "bundle" / "media").iterdir())
    page = (tmp_path / "bundle" / "index.html").read_text(encoding="utf-8")
    assert page.index('src="items.js"') < page.index('src="view.js"')


def test_a_bundle_keeps_to_its_limit_and_to_its_own_folder(results: Path, tmp_path: Path) -> None:
    whole = write_bundle([results], tmp_path / "bundle", megabytes=100)
    half = write_bundle([results], tmp_path / "bundle", megabytes=whole.size / MEGABYTE / 2)
    assert 0 < half.size <= whole.size / 2 and half.left_out > 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all")
    with pytest.raises(ReportError, match="not a bundle"):
        write_bundle([results], tmp_path / "mine", megabytes=1)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all"
    assert not list(tmp_path.glob(".*"))


def test_the_command_writes_a_bundle(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "bundle"
    done = CliRunner().invoke(app, ["view", str(results), "--bundle", str(out), "--clips", "0"])
    assert done.exit_code == 0, done.output
    assert "16 items with 0 clips" in done.output and "15 items are without" in done.output
    assert (out / "index.html").is_file()


def test_no_file_outside_the_store_is_shown(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = tomato_questions(1)
    questions[0]["video"] = "../../secret.mp4"
    questions[0]["problem"] = "kept as it is"
    write_questions(tmp_path / "other", "tvbench", "test", questions)
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "other"))
    with TestClient(create_app(Viewing([results])), base_url="http://localhost") as client:
        content = client.get("/api/items").json()
        for number in range(len(columns(content))):
            found = client.get(f"/api/items/{content['version']}/{number}").json()
            assert found["clips"] == found["stills"] == []
