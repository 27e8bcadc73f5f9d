"""Generation metrics in the task layer: rules by hand, tiny models, a judge on a local server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.metrics.test_models import clip_folder, llama_folder  # noqa: F401 - fixtures
from tests.tasks.releases import write_video
from tests.tasks.test_blackswan_tasks import DOC
from tests.tasks.yamls import aggregated
from video_reasoning.metrics.generation import bleu, rouge_l
from video_reasoning.metrics.models import LlmJudge
from video_reasoning.tasks.blackswan import generation
from video_reasoning.tasks.llm import text_scorers

TASK = "blackswan_detective_gen"

QUESTIONS: list[tuple[list[str], list[str]]] = [
    (["the man falls off the bike", "a dog runs", "the ball"], ["a man falls", "the bike rolls"]),
    (["the ball rolls away", "a ball", ""], ["the ball rolls away"]),
]


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No model is set up, and none is remembered from another test."""
    for name in (
        text_scorers.CLIP_VARIABLE,
        text_scorers.JUDGE_MODEL_VARIABLE,
        text_scorers.JUDGE_URL_VARIABLE,
        text_scorers.JUDGE_NAME_VARIABLE,
        text_scorers.JUDGE_KEY_VARIABLE,
        text_scorers.JUDGE_TEMPERATURE_VARIABLE,
        text_scorers.JUDGE_PROMPT_VARIABLE,
    ):
        monkeypatch.delenv(name, raising=False)
    text_scorers.forget_models()
    yield
    text_scorers.forget_models()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "home"))
    write_video(tmp_path / "home/blackswan" / DOC["video"], frames=2)
    return tmp_path / "home"


def document(references: list[str], **changes: Any) -> dict[str, Any]:
    return {**DOC, "task": "detective_gen", "answer": "", "options": [], "references": references,
            **changes}  # fmt: skip


def logged(questions: list[tuple[list[str], list[str]]]) -> list[dict[str, Any]]:
    return [
        generation.process_results(document(references, id=f"detective_gen/{number}"), [responses])
        for number, (responses, references) in enumerate(questions)
    ]


class Judge:
    """A server that rates a pair by the number of words of the response, and keeps requests.

    `rate` makes a score of that number; what is not 1 to 5 is no score.
    """

    def __init__(self) -> None:
        judge = self
        self.rate: Callable[[int], int] = lambda words: words
        requests = self.requests = []  # type: list[dict[str, Any]]

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append({**request, "key": self.headers["Authorization"]})
                response = request["messages"][0]["content"].rpartition("Response to Score: ")[2]
                score = judge.rate(len(response.split()))
                text = f"Reason: so many words.\nScore: {score}"
                body = {
                    "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]
                }
                written = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(written)))
                self.end_headers()
                self.wfile.write(written)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """The server, set up as a user would."""
    judge = Judge()
    thread = threading.Thread(target=judge.server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv(text_scorers.JUDGE_URL_VARIABLE, judge.url)
    monkeypatch.setenv(text_scorers.JUDGE_NAME_VARIABLE, "word-counter")
    monkeypatch.setenv(text_scorers.JUDGE_KEY_VARIABLE, "secret-key")
    yield judge
    judge.server.shutdown()
    judge.server.server_close()
    thread.join()


# What reaches the metrics


def test_three_responses_reach_every_metric(home: Path) -> None:
    # The harness hands over the list of all responses as the only result.
    each = generation.process_results(document(["x y"]), [["one", "two", "one "]])
    assert each["clip_score"]["responses"] == ["one", "two", "one"]
    assert each["llm_match"]["responses"] == ["one", "two", "one"]
    assert each["distinct_responses"] == 2
    assert each["status"] == "answered" and each["missing_items"] == {"missing": False}


def test_one_response_is_one_response(home: Path) -> None:
    each = generation.process_results(document(["x"]), ["  It falls. "])
    assert each["clip_score"]["responses"] == ["It falls."]
    assert each["distinct_responses"] == 1


def test_states_and_counts(home: Path) -> None:
    items = [
        generation.process_results(document(["a man falls"]), [["a man falls", "", ""]]),
        generation.process_results(document(["a man falls"]), [["", "", ""]]),
        generation.process_results(document([]), [["a", "b", "c"]]),
        generation.process_results(document(["x"], problem="cut short"), [["a"] * 3]),
    ]
    assert [item["status"] for item in items] == ["answered", "unparsed", "withheld", "missing"]
    table = aggregated(TASK, items)
    # Empty responses of those that were asked: (2/3 + 3/3 + 0) / 3 questions.
    assert table["unparsed_rate"] == pytest.approx(5 / 9)
    assert table["missing_items"] == 1
    assert table["withheld_items"] == 1
    # ROUGE-L rests on the first two: (1 + 0 + 0) / 3 and 0.
    assert table["rouge_l"] == pytest.approx(1 / 6)
    # Distinct: 2, 1 and 3 of three; the missing one is not asked.
    assert table["distinct_responses"] == pytest.approx(2.0)


def test_withheld_references_give_no_score_and_no_error(home: Path) -> None:
    items = [generation.process_results(document([]), [["a", "b", "c"]])] * 3
    table = aggregated("blackswan_test_detective_gen", items)
    assert table["withheld_items"] == 3
    for name in ("clip_score", "llm_match", "bleu", "rouge_l", "dropped_pairs"):
        assert table[name] is None


def test_bleu_and_rouge_are_those_of_the_metrics(home: Path) -> None:
    table = aggregated(TASK, logged(QUESTIONS))
    for name, metric in (("bleu", bleu), ("rouge_l", rouge_l)):
        wanted = sum(metric(*question) for question in QUESTIONS) / len(QUESTIONS)
        assert table[name] == pytest.approx(wanted)


def test_an_error_in_a_metric_leaves_one_question_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(responses: Any, references: Any) -> float:
        raise RuntimeError("broken")

    monkeypatch.setattr(generation.generation, "bleu", fail)
    items = logged(QUESTIONS)
    table = aggregated(TASK, items)
    assert table["bleu"] is None and table["rouge_l"] is not None


# CLIP score


def test_clip_score_takes_the_best_pair_of_each_question(
    home: Path,
    clip_folder: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch
    from transformers import AutoTokenizer, CLIPModel

    monkeypatch.setenv(text_scorers.CLIP_VARIABLE, clip_folder)
    tokenizer = AutoTokenizer.from_pretrained(clip_folder)
    model = CLIPModel.from_pretrained(clip_folder).eval()

    def embed(text: str) -> torch.Tensor:
        inputs = tokenizer([text], return_tensors="pt", truncation=True, max_length=12)
        with torch.no_grad():
            output = model.text_model(
                input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]
            )
            vector = model.text_projection(output.pooler_output)[0]
        return vector / vector.norm()

    best = [
        max(float(embed(one) @ embed(other)) for one in responses for other in references)
        for responses, references in QUESTIONS
    ]
    items = logged(QUESTIONS)
    table = aggregated(TASK, items)
    assert table["clip_score"] == pytest.approx(sum(best) / 2, abs=1e-5)
    # Each question's own score stands in the log, and carries the harness's standard errors.
    assert [item["clip_score"]["score"] for item in items] == pytest.approx(best, abs=1e-5)


def test_the_model_is_loaded_once_for_all_tasks(
    home: Path,
    clip_folder: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []
    original = text_scorers.ClipScorer

    def counting(model: str) -> Any:
        loaded.append(model)
        return original(model)

    monkeypatch.setenv(text_scorers.CLIP_VARIABLE, clip_folder)
    monkeypatch.setattr(text_scorers, "ClipScorer", counting)
    for questions in (QUESTIONS, QUESTIONS[:1], QUESTIONS):
        generation.clip_score([item["clip_score"] for item in logged(questions)])
    assert loaded == [clip_folder]


def test_weights_that_cannot_be_had_give_na_and_one_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []
    monkeypatch.setattr(text_scorers.logger, "warning", told.append)
    monkeypatch.setenv(text_scorers.CLIP_VARIABLE, str(home / "nothing"))
    for _ in range(2):
        table = aggregated(TASK, logged(QUESTIONS))
        assert table["clip_score"] is table["llm_match"] is table["dropped_pairs"] is None
        assert table["rouge_l"] is not None
    clip, judge = told  # once each, whatever the number of tasks
    assert clip.startswith("clip_score is N/A: The model") and text_scorers.CLIP_VARIABLE in clip
    assert judge.startswith("llm_match is N/A: no judge is set up: set")
    for line in told:
        assert "\n" not in line and "video-reasoning score RESULTS" in line


def test_a_model_that_breaks_while_scoring_gives_na(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def score(self, questions: Any, progress: Any = None) -> Any:
            raise MemoryError("out of memory\nwith a long story")

    monkeypatch.setattr(text_scorers, "ClipScorer", lambda model: Broken())
    told: list[str] = []
    monkeypatch.setattr(text_scorers.logger, "warning", told.append)
    assert generation.clip_score([item["clip_score"] for item in logged(QUESTIONS)]) is None
    assert "out of memory" in told[0] and "long story" not in told[0]


# LLM-Match


def test_llm_match_is_the_mean_of_pairs_then_of_questions(home: Path, judge: Judge) -> None:
    items = logged(QUESTIONS)
    table = aggregated(TASK, items)
    # Question 1: six words (outside 1..5: dropped), three, two, each against two references:
    # (3 + 3 + 2 + 2) / 4 = 2.5, two pairs dropped. Question 2: four, two, and none (0: dropped)
    # against one: (4 + 2) / 2 = 3, one dropped.
    assert items[0]["llm_match"]["score"] == pytest.approx(2.5)
    assert items[1]["llm_match"]["score"] == pytest.approx(3.0)
    assert table["llm_match"] == pytest.approx(2.75)
    assert table["dropped_pairs"] == 3
    # Nine pairs, each asked once though two metrics rest on them.
    assert len(judge.requests) == 9
    assert {request["model"] for request in judge.requests} == {"word-counter"}
    assert {request["key"] for request in judge.requests} == {"Bearer secret-key"}
    assert {request["temperature"] for request in judge.requests} == {0.0}


def test_the_judges_temperature_can_be_the_papers(
    home: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(text_scorers.JUDGE_TEMPERATURE_VARIABLE, "0.4")
    aggregated(TASK, logged(QUESTIONS[1:]))
    assert {request["temperature"] for request in judge.requests} == {0.4}


def test_the_judges_prompt_can_have_the_authors_layout(
    home: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(text_scorers.JUDGE_PROMPT_VARIABLE, "released")
    assert text_scorers.judge_settings().label.endswith("temperature 0, released prompt")
    aggregated(TASK, logged(QUESTIONS[1:]))
    asked = [request["messages"][0]["content"] for request in judge.requests]
    assert asked and all("Response to Score:\n" in prompt for prompt in asked)
    monkeypatch.setenv(text_scorers.JUDGE_PROMPT_VARIABLE, "theirs")
    with pytest.raises(text_scorers.TextModelError, match="'theirs', not paper or released"):
        text_scorers.judge_settings()


@pytest.mark.parametrize("written", ["warm", "-1", "nan"])
def test_a_temperature_that_is_none(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv(text_scorers.JUDGE_TEMPERATURE_VARIABLE, written)
    with pytest.raises(text_scorers.TextModelError, match="not a number from 0 up"):
        text_scorers.judge_settings()


def test_a_transformers_judge_gives_what_it_gives_alone(
    home: Path,
    llama_folder: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(text_scorers.JUDGE_MODEL_VARIABLE, llama_folder)
    pairs = [(one, other) for one in QUESTIONS[0][0] for other in QUESTIONS[0][1]]
    alone = [LlmJudge(llama_folder, batch_size=1).judge([pair])[0].score for pair in pairs]
    given = [score for score in alone if score is not None]
    items = logged(QUESTIONS[:1])
    table = aggregated(TASK, items)
    assert table["dropped_pairs"] == alone.count(None)
    assert table["llm_match"] == (pytest.approx(sum(given) / len(given)) if given else None)


def test_a_server_that_is_not_there_gives_na(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(text_scorers.logger, "warning", told.append)
    monkeypatch.setenv(text_scorers.JUDGE_URL_VARIABLE, "http://127.0.0.1:9/v1")
    table = aggregated(TASK, logged(QUESTIONS))
    assert table["llm_match"] is None
    assert any("does not answer" in line and "JUDGE_URL" in line for line in told)


def test_the_key_is_in_no_label() -> None:
    settings = text_scorers.JudgeSettings("m", "http://host/v1", "secret-key", 0.4)
    assert "secret-key" not in repr(settings) + settings.label
    assert settings.label == "m at http://host/v1, temperature 0.4"
