"""The page's server: what it shows, what it saves, and what it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra `handpick`")

from fastapi.testclient import TestClient

from tests.annotate import stores
from video_reasoning.tasks import store
from video_reasoning.tasks.pages.annotate.answers import AnswerLog
from video_reasoning.tasks.pages.annotate.questions import load_questions, tasks_named
from video_reasoning.tasks.pages.annotate.server import Workplace, create_app

BASE = "http://127.0.0.1:8765"

Client = Callable[..., TestClient]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("store")
    rows = stores.tvbench()
    rows[3]["problem"] = "the video is damaged."
    stores.write(home, "tvbench", rows)
    stores.write(home, "blackswan", stores.blackswan(2), videos=False)
    stores.write(home, "causalvqa", stores.causalvqa(4), videos=False)
    return home


@pytest.fixture
def client(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Opens the page for some tasks."""
    monkeypatch.setenv(store.HOME_VARIABLE, str(home))
    opened = []

    def open_page(*names: str, show: str = "") -> TestClient:
        questions = [each for task in tasks_named(names) for each in load_questions(task, show)]
        place = Workplace(questions, AnswerLog(tmp_path / "answers.jsonl"), "some", "ana")
        made = TestClient(create_app(place), base_url=BASE)
        opened.append(place)
        return made

    yield open_page
    for place in opened:
        place.close()


def post(client: TestClient, path: str, **body: Any) -> Any:
    token = re.search(r'name="page-token" content="([^"]+)"', client.get("/").text)
    assert token
    headers = {"x-page-token": token[1], "origin": BASE, "content-type": "application/json"}
    return client.post(path, content=json.dumps(body), headers=headers)


def items(client: TestClient, who: str = "ana") -> list[dict[str, Any]]:
    found = client.get("/api/session", params={"annotator": who}).json()["items"]
    return list(found)


def show(client: TestClient, number: int, who: str = "ana") -> dict[str, Any]:
    found = client.get(f"/api/items/{number}", params={"annotator": who}).json()
    return dict(found)


def test_no_answer_is_served_before_or_after(client: Client) -> None:
    page = client("blackswan_mcq", "blackswan_yn", "blackswan_gen")
    for number in range(len(items(page))):
        before = show(page, number)
        assert "answer" not in before and "references" not in before
        assert "falls off the table" not in json.dumps(before)  # the references
    one = show(page, 0)
    post(page, "/api/answer", annotator="ana", item=0, responses=[one["choices"][:1] or "x"])
    assert page.get("/api/items/0/answer").status_code == 404
    # A wrong answer and a right one are told apart by nothing.
    page = client("tvbench_tomato_direction", show="blind")
    told = []
    for number, letter in ((0, "A"), (1, "B")):
        told.append(
            post(page, "/api/answer", annotator="b", item=number, responses=[letter]).json()
        )
        told[-1] = json.dumps(told[-1]).replace(letter, "?").replace(f'"item": {number}', "")
    assert told[0] == told[1]


def test_frames_are_shown_without_their_video(client: Client) -> None:
    page = client("tvbench_tomato_direction")
    shown = show(page, 0)
    assert shown["frames"] == 16 and page.get("/frames/0/15").content.startswith(b"\xff\xd8\xff")
    assert page.get("/frames/0/16").status_code == 404
    assert "frames of it only" in page.get("/video/0").json()["detail"]
    one = client("tvbench_tomato_direction", show="random1")
    assert show(one, 0)["frames"] == 1 and one.get("/frames/0/1").status_code == 404
    blind = client("tvbench_tomato_direction", show="blind")
    assert show(blind, 0)["frames"] == 0 and blind.get("/video/0").status_code == 404
    whole = client("tvbench_tomato_direction", show="video")
    assert show(whole, 0)["frames"] == 0 and whole.get("/video/0").status_code == 200


def test_an_answer_is_in_the_file_before_the_reply(client: Client, tmp_path: Path) -> None:
    page = client("tvbench_tomato_direction", show="video")
    number = items(page)[0]["number"]
    reply = post(page, "/api/answer", annotator="ana", item=number, responses=["C"], took=3.5)
    assert reply.json() == {
        "item": number,
        "decision": {"state": "answered", "responses": ["C"], "skip": None},
    }
    (line,) = map(json.loads, (tmp_path / "answers.jsonl").read_text().splitlines())
    assert line["id"] == f"direction/{number}" and line["responses"] == ["C"]
    assert (line["task"], line["shown"]) == ("tvbench_tomato_direction", "video")
    assert line["took"] == 3.5 and line["options"] == 4 and "answer" not in line
    post(page, "/api/skip", annotator="ana", item=items(page)[1]["number"], reason="odd")
    assert [item["state"] for item in items(page)[:2]] == ["answered", "skipped"]
    assert {item["state"] for item in items(page, "ben")} == {"open", "broken"}
    assert post(page, "/api/undo", annotator="ana").json()["decision"]["state"] == "open"
    # Frames of a video that was seen whole are not asked for any more.
    frames = client("tvbench_tomato_direction")
    assert [item["state"] for item in items(frames)].count("broken") == 1 + 2 * (number != 3)
    assert "left out for you" in show(frames, number)["problem"]
    assert show(frames, number, "ben")["problem"] == ""
    refused = post(frames, "/api/answer", annotator="ana", item=number, responses=["C"])
    assert refused.status_code == 422 and "seen more" in refused.json()["detail"]


def test_what_is_not_asked_cannot_be_answered(client: Client, tmp_path: Path) -> None:
    page = client("causalvqa_debug", show="blind")
    ours = {item["number"] for item in items(page)}
    (other,) = {0, 1} - ours
    for number, responses in ((other, ["A"]), (min(ours), ["F"]), (min(ours), []), (99, ["A"])):
        reply = post(page, "/api/answer", annotator="ana", item=number, responses=responses)
        assert reply.status_code in (404, 422) and reply.json()["detail"].endswith(".")
    damaged = client("tvbench_tomato_direction")
    reply = post(damaged, "/api/answer", annotator="ana", item=3, responses=["A"])
    assert reply.status_code == 422 and "cannot be shown" in reply.json()["detail"]
    body = json.dumps({"annotator": "ana", "item": min(ours), "responses": ["A"]})
    assert page.post("/api/answer", content=body).status_code == 403  # not from the page
    assert not (tmp_path / "answers.jsonl").exists()
