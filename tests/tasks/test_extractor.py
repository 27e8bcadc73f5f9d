"""The optional reading of responses by a language model, against a server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from tests.tasks.releases import write_video
from video_reasoning.tasks import scoring, store, tvbench
from video_reasoning.tasks.llm import extractor

OPTIONS = {"A": "Up.", "B": "Down.", "C": "It's left."}
VAGUE = "The kite moves the way a river does."


class Server:
    """Replies what it is told to, and keeps what it was sent."""

    def __init__(self) -> None:
        self.reply = "C"
        self.status = 200
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.wait: threading.Event | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append(json.loads(body))
                outer.keys.append(self.headers["Authorization"])
                if outer.wait is not None:
                    outer.wait.wait(10)
                message = {"role": "assistant", "content": outer.reply}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                completion = {
                    "id": "1", "object": "chat.completion", "created": 0, "model": "stub",
                    "choices": [choice],
                }  # fmt: skip
                failed = {"error": {"message": "no such model"}}
                content = json.dumps(completion if outer.status == 200 else failed).encode()
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                with suppress(ConnectionError):  # who asked may have gone
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing on the screen."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    running = Server()
    monkeypatch.setenv(extractor.URL_VARIABLE, running.url)
    monkeypatch.setenv(extractor.MODEL_VARIABLE, "reader")
    monkeypatch.delenv(extractor.KEY_VARIABLE, raising=False)
    monkeypatch.setattr(extractor, "RETRIES", 0)
    extractor._extractor.cache_clear()
    yield running
    running.close()
    extractor._extractor.cache_clear()


@pytest.fixture
def warnings() -> Iterator[list[str]]:
    lines: list[str] = []
    handler = logger.add(lambda message: lines.append(str(message)), level="WARNING")
    yield lines
    logger.remove(handler)


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    write_video(tmp_path / "tvbench/videos/a.mp4", frames=24)
    return {
        "id": "direction/1",
        "task": "direction",
        "question": "Which way does the kite drift?",
        "options": list(OPTIONS.values()),
        "answer": "C",
        "video": "videos/a.mp4",
        "problem": "",
    }


def test_it_is_off_unless_a_server_is_named(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(extractor.URL_VARIABLE, raising=False)
    assert extractor.extract(VAGUE, OPTIONS) is None
    result = tvbench.process_results(document, [VAGUE])
    assert result["status"] == "unparsed"
    assert scoring.llm_extracted([result["llm_extracted"]]) == 0


def test_a_letter_is_taken_and_counted(document: dict[str, Any], server: Server) -> None:
    result = tvbench.process_results(document, [VAGUE])
    assert (result["status"], result["choice"], result["score"]) == ("answered", "C", 1.0)
    assert result["rule"] == "llm:reader"
    assert result["unparsed_rate"] == 0.0
    assert scoring.llm_extracted([result["llm_extracted"]]) == 1


def test_the_papers_prompt_is_sent_greedily_to_the_named_model(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(extractor.KEY_VARIABLE, "a key")
    extractor.extract("Like {this}.", OPTIONS)
    (request,) = server.requests
    assert (request["model"], request["temperature"]) == ("reader", 0)
    assert server.keys == ["Bearer a key"]
    assert "a key" not in repr(extractor.settings())
    (message,) = request["messages"]
    assert message["content"] == (
        "You are given a response, a list of multiple-choice options, and a index2answer mapping. "
        "You are required to extract the letter option from the GPT.\n"
        "<response> Like {this}. </response>\n"
        "<all_choices> ['A', 'B', 'C'] </all_choices>\n"
        """<index2answer> {'A': 'Up.', 'B': 'Down.', 'C': "It's left."} </index2answer>\n"""
        "Only output the single parsed letter from the response. No other texts are needed.\n"
        "If you think no options can match the index2answer dictionary, randomly select one "
        "letter.\n"
        "Your extracted letter is:"
    )


@pytest.mark.parametrize("reply", ["C", " C.\n", "(C)", "**C**", "'C'"])
def test_a_letter_in_its_usual_marks_is_a_letter(server: Server, reply: str) -> None:
    server.reply = reply
    answer = extractor.extract(VAGUE, OPTIONS)
    assert answer is not None and answer.value == "C"


@pytest.mark.parametrize(
    "reply", ["", "D", "c", "A or B", "None of them", "A kite", "AB", "<think> C"]
)
def test_anything_else_stays_unparsed(document: dict[str, Any], server: Server, reply: str) -> None:
    server.reply = reply
    result = tvbench.process_results(document, [VAGUE])
    assert (result["status"], result["choice"], result["score"]) == ("unparsed", None, 0.0)
    assert result["rule"] == "llm found none"
    assert scoring.llm_extracted([result["llm_extracted"]]) == 0


def test_only_what_the_rules_cannot_read_is_sent(
    document: dict[str, Any], server: Server, tmp_path: Path
) -> None:
    tvbench.process_results(document, ["The answer is B."])
    tvbench.process_results(document, ["  "])
    tvbench.process_results({**document, "options": []}, [VAGUE])
    tvbench.process_results({**document, "problem": "cut short"}, [VAGUE])
    assert server.requests == []


def test_the_same_question_is_sent_once_also_from_four_threads(server: Server) -> None:
    server.wait = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(extractor.extract, VAGUE, OPTIONS) for _ in range(8)]
        server.wait.set()
        assert {answer.result().value for answer in answers} == {"C"}  # type: ignore[union-attr]
    assert len(server.requests) == 1


def test_failures_are_told_once_and_counted(
    document: dict[str, Any], server: Server, warnings: list[str]
) -> None:
    server.status = 404
    results = [tvbench.process_results(document, [f"{VAGUE} {n}"]) for n in range(20)]
    assert {result["status"] for result in results} == {"unparsed"}
    assert len(server.requests) == extractor.FAILURES_IN_A_ROW
    assert sum("gave no reply (HTTP 404" in line for line in warnings) == 1
    assert sum("not asked again" in line for line in warnings) == 1
    assert scoring.llm_extracted([result["llm_extracted"] for result in results]) == 0
    assert "20 responses stay unparsed" in warnings[-1]
    assert "8 HTTP 404" in warnings[-1]


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "not an address", "http://["])
def test_a_server_that_is_not_there_ends_no_run(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(extractor.URL_VARIABLE, url)
    monkeypatch.setattr(extractor, "RETRIES", 0)
    extractor._extractor.cache_clear()
    result = tvbench.process_results(document, [VAGUE])
    assert result["status"] == "unparsed"
    assert result["rule"].startswith("llm failed: ")


def test_a_server_that_is_too_slow_is_not_waited_for(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extractor, "TIMEOUT_SECONDS", 0.2)
    server.wait = threading.Event()
    answer = extractor.extract(VAGUE, OPTIONS)
    server.wait.set()
    assert answer is not None and answer.rule == "llm failed: APITimeoutError"
