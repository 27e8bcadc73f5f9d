"""The page's server: what it answers, what it saves, and what it refuses."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra `handpick`")

from fastapi.testclient import TestClient

from tests.handpick.stores import FRAMES, row, write_store
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.handpick import record
from video_reasoning.tasks.handpick.items import Prepared, load_items
from video_reasoning.tasks.handpick.record import PickLog
from video_reasoning.tasks.handpick.server import Workplace, create_app
from video_reasoning.tasks.pages import journal, server
from video_reasoning.tasks.pages.journal import PageError
from video_reasoning.tasks.pages.server import open_socket

BASE = "http://127.0.0.1:8765"
ROWS = [
    row(0),
    row(1, question="<script>alert(1)</script>", options=[], answer=""),
    row(2, problem="the video is broken."),
    row(3, video="videos/text.mp4"),
    row(4),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = write_store(tmp_path_factory.mktemp("store"), [ROWS[n] for n in (0, 1, 2, 4)])
    write_store(home, ROWS, videos=False)
    (home / "tvbench/videos/text.mp4").write_text("no video, but a secret")
    return home


@pytest.fixture
def workplace(home: Path, tmp_path: Path) -> Iterator[Workplace]:
    log = PickLog(tmp_path / "picks.jsonl", "tvbench")
    made = Workplace(load_items("tvbench", home=home), log, Prepared("tvbench", home), "ana")
    yield made
    made.close()


@pytest.fixture
def client(workplace: Workplace) -> Iterator[TestClient]:
    with TestClient(create_app(workplace), base_url=BASE) as made:
        yield made


@pytest.fixture
def headers(client: TestClient) -> dict[str, str]:
    """What the page itself sends."""
    token = re.search(r'name="page-token" content="([^"]+)"', client.get("/").text)
    assert token
    return {"x-page-token": token[1], "origin": BASE, "content-type": "application/json"}


def post(client: TestClient, path: str, headers: dict[str, str], **body: Any) -> Any:
    return client.post(path, content=json.dumps(body), headers=headers)


# What it answers


def test_the_page_and_its_files(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200 and "{{" not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for name in re.findall(r'(?:src|href)="(/[^"]+)"', page.text):
        assert client.get(name).status_code == 200
    # One self-contained page: nothing comes from anywhere else.
    for text in [
        page.text,
        *(client.get(f"/{name}").text for name in ("page.css", "page.js", "common.js")),
    ]:
        assert not re.search(r"https?://|@import|url\(", text)


def test_an_item_comes_without_its_answer(client: TestClient) -> None:
    item = client.get("/api/items/0", params={"annotator": "ana"}).json()
    assert item["question"] == "Which way does object 0 move?"
    assert [shown["frame"] for shown in item["frames"]] == uniform_indices(FRAMES, 16)
    assert item["decision"] == {"state": "open", "frame": None, "skip": None}
    assert "answer" not in json.dumps(item)
    assert client.get("/api/items/0/answer").json() == {"answer": "A"}
    assert client.get("/api/items/1/answer").json() == {"answer": ""}


def test_the_sixteen_frames_are_jpegs(client: TestClient) -> None:
    for position in range(16):
        response = client.get(f"/frames/0/{position}")
        assert response.headers["content-type"] == "image/jpeg"
        assert response.content.startswith(b"\xff\xd8\xff")


def test_the_video_plays_from_anywhere_in_it(client: TestClient, home: Path) -> None:
    whole = (home / "tvbench/videos/object/0.mp4").read_bytes()
    response = client.get("/video/0")
    assert response.content == whole and response.headers["accept-ranges"] == "bytes"
    part = client.get("/video/0", headers={"range": "bytes=100-199"})
    assert part.status_code == 206 and part.content == whole[100:200]
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole)}"
    assert client.get("/video/0", headers={"range": "bytes=-10"}).content == whole[-10:]
    assert client.get("/video/0", headers={"range": f"bytes={10**9}-"}).status_code == 416


def test_a_video_that_the_browser_refuses_is_converted(client: TestClient) -> None:
    response = client.get("/video/0", params={"convert": True})
    assert response.headers["content-type"] == "video/mp4" and b"ftyp" in response.content[:16]


def test_a_video_that_cannot_be_shown_says_why(client: TestClient) -> None:
    broken = client.get("/api/items/2", params={"annotator": "ana"}).json()
    assert broken["problem"] == "The video cannot be shown: the video is broken."
    assert broken["frames"] == []
    damaged = client.get("/api/items/3", params={"annotator": "ana"}).json()
    assert "text.mp4 cannot be decoded" in damaged["problem"]
    states = [item["state"] for item in client.get("/api/session").json()["items"]]
    assert states == ["open", "open", "broken", "open", "open"]


# What it saves


def test_a_pick_is_in_the_file_before_the_answer(
    client: TestClient, headers: dict[str, str], workplace: Workplace
) -> None:
    response = post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    frame = uniform_indices(FRAMES, 16)[5]
    assert response.json() == {
        "item": 0, "decision": {"state": "picked", "frame": frame, "skip": None},
    }  # fmt: skip
    (line,) = workplace.log.path.read_text().splitlines()
    saved = json.loads(line)
    assert (saved["id"], saved["frame"], saved["n_frames"]) == ("direction/0", frame, FRAMES)
    assert saved["seconds"] == pytest.approx(frame / 10)


def test_pick_skip_undo_and_resume(
    client: TestClient, headers: dict[str, str], workplace: Workplace, home: Path
) -> None:
    post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    post(client, "/api/skip", headers, annotator="ana", item=1, reason=" all  alike ")
    post(client, "/api/pick", headers, annotator="ben", item=0, position=7)

    def states(server: TestClient, annotator: str) -> list[str]:
        items = server.get("/api/session", params={"annotator": annotator}).json()["items"]
        return [item["state"] for item in items]

    assert states(client, "ana") == ["picked", "skipped", "broken", "open", "open"]
    assert states(client, "ben") == ["picked", "open", "broken", "open", "open"]
    taken = post(client, "/api/undo", headers, annotator="ana").json()
    assert taken["item"] == 1 and taken["decision"]["state"] == "open"
    items = load_items("tvbench", home=home)
    again = Workplace(items, PickLog(workplace.log.path, "tvbench"), Prepared("tvbench"), "ana")
    with TestClient(create_app(again), base_url=BASE) as resumed:
        assert states(resumed, "ana") == ["picked", "open", "broken", "open", "open"]
        assert resumed.get("/api/session").json()["annotators"] == ["ana", "ben"]
        item = resumed.get("/api/items/0", params={"annotator": "ana"}).json()
        assert item["decision"]["frame"] == uniform_indices(FRAMES, 16)[5]


def test_nothing_to_undo(client: TestClient, headers: dict[str, str]) -> None:
    assert post(client, "/api/undo", headers, annotator="ana").json()["id"] is None


def test_an_undo_outside_the_sample_is_told(
    client: TestClient, headers: dict[str, str], workplace: Workplace
) -> None:
    workplace.log.record([record.Decision("ana", "direction/99", 1, 40)])
    taken = post(client, "/api/undo", headers, annotator="ana").json()
    assert taken["id"] == "direction/99" and taken["item"] is None


def test_agreement_is_shown_in_numbers_only(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/api/agreement").json() == {"pairs": [], "differences": []}
    post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    post(client, "/api/pick", headers, annotator="ben", item=0, position=6)
    told = client.get("/api/agreement").json()
    (pair,), (other,) = told["pairs"], told["differences"]
    # On which items they differ, and not who picked what.
    assert other["id"] == "direction/0" and not {"ana", "ben"} & set(map(str, other.values()))
    assert pair["corrected"][0] == pytest.approx(-1 / 15)
    assert (pair["first"], pair["second"], pair["items"], pair["share"]) == ("ana", "ben", 1, 0.0)
    assert pair["frames"] == uniform_indices(FRAMES, 16)[6] - uniform_indices(FRAMES, 16)[5]


def test_picks_are_exported(client: TestClient, headers: dict[str, str]) -> None:
    post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    answer = client.get("/api/export")
    assert answer.headers["content-disposition"] == 'attachment; filename="tvbench-picks.csv"'
    lines = answer.text.splitlines()
    assert lines[0].startswith("annotator,id,frame") and lines[1].startswith("ana,direction/0,13,")
    assert client.get("/api/export", headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_picks_are_installed_as_they_were_shown(
    client: TestClient, headers: dict[str, str], home: Path
) -> None:
    nothing = client.get("/api/install")
    assert nothing.status_code == 422 and "no pick to install" in nothing.json()["detail"]
    post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    post(client, "/api/pick", headers, annotator="ben", item=4, position=5)
    everybody, hers = (
        client.get("/api/install", params={"whose": name}).json() for name in ("", "ana")
    )
    assert (everybody["picks"], hers["picks"], hers["existing"], hers["stamp"]) == (2, 1, 0, "")
    installed = home / "tvbench" / "picks.jsonl"
    body = {"annotator": "ana", "whose": "ana", "stamp": ""}
    assert post(client, "/api/install", headers, **body, picks=2).status_code == 409
    assert post(client, "/api/install", {}, **body, picks=1).status_code == 403
    assert not installed.exists()
    assert post(client, "/api/install", headers, **body, picks=1).json()["picks"] == 1
    before = installed.read_bytes()
    # What is there now is replaced only if the person was asked about it.
    refused = post(client, "/api/install", headers, annotator="ana", whose="", stamp="", picks=2)
    assert refused.status_code == 422 and installed.read_bytes() == before
    asked = client.get("/api/install").json()
    assert asked["existing"] == 1
    body = {"annotator": "ana", "whose": "", "stamp": asked["stamp"], "picks": 2}
    assert post(client, "/api/install", headers, **body).status_code == 200
    assert len(installed.read_text().splitlines()) == 2
    installed.unlink()


def test_what_cannot_be_written_is_said(
    client: TestClient, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journal.os, "write", full)
    response = post(client, "/api/pick", headers, annotator="ana", item=0, position=5)
    assert response.status_code == 507
    assert "Not saved" in response.json()["detail"] and "No space" in response.json()["detail"]


# What it refuses


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.", "", "[::2]:1",
     "127.0.0.1:8765@evil.example", "127.0.0.1, evil.example", "10.0.0.1:8765"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/session", "/video/0"])
def test_foreign_host_names_are_refused(client: TestClient, host: str, path: str) -> None:
    assert client.get(path, headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:9", "[::1]:8765", "127.0.0.1:1"])
def test_loopback_names_are_served_on_any_forwarded_port(client: TestClient, host: str) -> None:
    assert client.get("/api/session", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1:8765"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "http://localhost:8765"},
        {"x-page-token": ""},
        {"x-page-token": "x" * 43},
        {"x-page-token": "\u00e9"},
        {"content-type": "text/plain"},
        {"content-type": "multipart/form-data; boundary=x"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example"},
        {"content-length": "-1"},
        {"content-length": "99999999999999999999"},
        {"transfer-encoding": "chunked"},
    ],
)
@pytest.mark.parametrize("path", ["/api/pick", "/api/skip", "/api/undo"])
def test_changes_come_from_the_page_alone(
    client: TestClient,
    headers: dict[str, str],
    workplace: Workplace,
    path: str,
    change: dict[str, str],
) -> None:
    workplace.log.record([record.Decision("ana", "direction/4", 1, 40)])
    before = workplace.log.path.read_bytes()
    body = {
        "/api/pick": {"annotator": "ana", "item": 0, "position": 5},
        "/api/skip": {"annotator": "ana", "item": 0, "reason": "odd"},
        "/api/undo": {"annotator": "ana"},
    }[path]
    sent = {name: value.encode("latin-1") for name, value in {**headers, **change}.items()}
    response = client.post(path, content=json.dumps(body), headers=sent)
    assert response.status_code in (403, 411, 413, 415, 421)
    assert response.json()["detail"].endswith(".")
    assert workplace.log.path.read_bytes() == before


def test_other_pages_cannot_show_frames(client: TestClient) -> None:
    for path in ("/frames/0/0", "/video/0", "/api/session"):
        assert client.get(path, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        answer = client.get(path)
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
    # A link on another page, or a bookmark, opens the page itself.
    assert client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


def test_large_bodies_are_refused_unread(client: TestClient, headers: dict[str, str]) -> None:
    response = post(client, "/api/skip", headers, annotator="ana", item=0, reason="x" * 5000)
    assert response.status_code == 413
    padded = {**headers, "content-length": "0" * 13 + "3000000"}
    assert post(client, "/api/skip", padded, annotator="ana").status_code == 413


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "POST"])
def test_other_methods_are_refused(
    client: TestClient, headers: dict[str, str], method: str
) -> None:
    for path in ("/", "/video/0", "/frames/0/0", "/page.js"):
        sent = {**headers, "content-length": "0"}
        assert client.request(method, path, headers=sent).status_code == 405
        assert client.request(method, path).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/video/../../../etc/passwd",
        "/video/..%2f..%2f..%2fetc%2fpasswd",
        "/video/%2fetc%2fpasswd",
        "/video/videos%2fobject%2f0.mp4",
        "/video/-1",
        "/video/5",
        "/video/0.mp4",
        "/video/1e3",
        "/frames/0/16",
        "/frames/0/-1",
        "/frames/9/0",
        "/frames/0/../../page.html",
        "/page.html",
        "/server.py",
        "/..%2fserver.py",
        "/__init__.py",
        "/static/page.js",
        "/docs",
        "/openapi.json",
        "/api/items/5?annotator=ana",
        "/api/items/99999999999999999999?annotator=ana",
        "/api/items/x?annotator=ana",
        "/api/items/0",
    ],
)
def test_only_items_by_number_and_the_page_are_served(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (404, 422)
    assert "root:" not in response.text and "import" not in response.text


def test_a_file_that_is_no_video_is_not_served(client: TestClient) -> None:
    for path in ("/video/2", "/video/3", "/video/3?convert=true", "/frames/3/0"):
        response = client.get(path)
        assert response.status_code == 404 and "secret" not in response.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/pick", {"annotator": "ana", "item": 0, "position": 16}),
        ("/api/pick", {"annotator": "ana", "item": 0, "position": -1}),
        ("/api/pick", {"annotator": "ana", "item": 0, "position": "5"}),
        ("/api/pick", {"annotator": "ana", "item": 0, "position": True}),
        ("/api/pick", {"annotator": "ana", "item": 0}),
        ("/api/pick", {"annotator": "ana", "item": 0, "position": 5, "frame": 3}),
        ("/api/pick", {"annotator": "", "item": 0, "position": 5}),
        ("/api/pick", {"annotator": "automatic:clip", "item": 0, "position": 5}),
        ("/api/pick", {"annotator": "a\nb\u0000", "item": 0, "position": 5}),
        ("/api/pick", {"annotator": "ana", "item": 9, "position": 5}),
        ("/api/pick", {"annotator": "ana", "item": 2, "position": 5}),
        ("/api/pick", {"annotator": "ana", "item": 3, "position": 5}),
        ("/api/skip", {"annotator": "ana", "item": 0, "reason": "  "}),
        ("/api/skip", {"annotator": "ana", "item": 0, "reason": "x" * 301}),
        ("/api/skip", {"annotator": "ana", "item": 0, "reason": None}),
        ("/api/undo", {"annotator": 3}),
        ("/api/undo", []),
    ],
)
def test_odd_requests_are_refused_in_a_sentence(
    client: TestClient, headers: dict[str, str], workplace: Workplace, path: str, body: Any
) -> None:
    response = client.post(path, content=json.dumps(body), headers=headers)
    assert response.status_code in (404, 422)
    assert response.json()["detail"].endswith(".")
    assert not workplace.log.path.exists()


def test_broken_json_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    for content in (b"{", b"\xff", b"", b"[" * 4000):
        assert client.post("/api/pick", content=content, headers=headers).status_code in (400, 422)


def test_a_name_in_the_address_is_checked(client: TestClient) -> None:
    assert client.get("/api/session", params={"annotator": "a+b"}).status_code == 422
    assert client.get("/api/session", params={"annotator": "x" * 300}).status_code == 422


def test_each_start_has_its_own_token(workplace: Workplace, home: Path, tmp_path: Path) -> None:
    other = Workplace(workplace.items, workplace.log, Prepared("tvbench"), "ana")
    assert other.token != workplace.token and len(other.token) >= 43
    assert other.start != workplace.start


def test_half_a_request_is_not_waited_for(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    bound = open_socket(0)
    running = server.build_server(create_app(workplace))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        with socket.create_connection(bound.getsockname(), timeout=30) as half:
            half.sendall(b"GET / HTTP/1.1\r\nHost: ")
            assert half.recv(1) == b""
        with socket.create_connection(bound.getsockname(), timeout=30) as whole:
            whole.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert whole.recv(12) == b"HTTP/1.1 200"
    finally:
        running.should_exit = True
        thread.join(30)
        bound.close()


def test_the_server_listens_on_loopback_only() -> None:
    bound = open_socket(0)
    try:
        address, port = bound.getsockname()
        assert address == server.ADDRESS == "127.0.0.1"
        with pytest.raises(PageError, match=f"Port {port} cannot be used"):
            open_socket(port)
        free = open_socket(None, preferred=port)
        assert free.getsockname()[1] not in (0, port)
        free.close()
    finally:
        bound.close()
