"""What is read off requests, and whose they are."""

from __future__ import annotations

import base64
import io
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from video_reasoning.tasks.sight import requests, watch
from video_reasoning.tasks.sight.clips import Clip, cells, frames_shown, in_order, read_clip
from video_reasoning.tasks.sight.seen import Ledger, Question


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    fresh = Ledger()
    for module in (requests, watch):
        monkeypatch.setattr(module, "LEDGER", fresh)
    return fresh


def picture(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (4, 4, 3), dtype=np.uint8).repeat(16, 0).repeat(16, 1)


def part(seed: int) -> dict[str, Any]:
    file = io.BytesIO()
    Image.fromarray(picture(seed)).save(file, "PNG")
    link = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"type": "image_url", "image_url": {"url": link}}


def messages(*seeds: int, text: str = "Which?") -> list[dict[str, Any]]:
    content = [*map(part, seeds), {"type": "text", "text": text}]
    return [{"role": "user", "content": content}]


def ask(ledger: Ledger, id_: str, paths: tuple[str, ...] = ()) -> Question:
    question = Question(("tvbench", "test", "ordered16", id_), 16, paths)
    ledger.asked(question)
    return question


def different(ledger: Ledger, question: Question) -> int | None:
    """Different pictures of a question that was asked once; None if it is not told."""
    (span,) = ledger._spans[question.key]
    return len({each.digest for each in span.pictures}) if span.told else None


class Converted(SimpleNamespace):
    """Like the harness's ChatMessages after the conversion."""

    def extract_media(self) -> tuple[list[Any], list[Any], list[Any]]:
        return [], self.videos, []


def test_concurrent_requests_are_told_apart(ledger: Ledger) -> None:
    made = []
    for number, id_ in enumerate("abc"):
        question = ask(ledger, id_, (f"{id_}.mp4",))
        sent = messages(*range(number + 1))
        requests._tag(Converted(videos=[f"{id_}.mp4"]), sent)
        made.append((question, sent))
    with ThreadPoolExecutor(3) as pool:
        # The client gets a list of its own, with a system prompt in front.
        system = {"role": "system", "content": "Be brief."}
        list(pool.map(lambda m: requests._create(None, messages=[system, *m[1]]), made[::-1]))
    assert [different(ledger, question) for question, _ in made] == [1, 2, 3]


def test_what_is_not_the_questions_own_is_not_its(ledger: Ledger) -> None:
    question = ask(ledger, "a", ("a.mp4",))
    sent = messages(1)
    requests._tag(Converted(videos=["other.mp4"]), sent)
    ask(ledger, "b", ("b.mp4",))
    requests._create(None, messages=sent)
    assert different(ledger, question) is None


def test_a_request_that_is_sent_again_is_nobody_elses(ledger: Ledger) -> None:
    first, sent = ask(ledger, "a"), messages(1, 2)
    requests._tag(Converted(videos=[]), sent)
    requests._create(None, messages=sent)
    blind = ask(ledger, "b")
    requests._create(None, messages=sent)
    empty = messages()
    requests._tag(Converted(videos=[]), empty)
    requests._create(None, messages=empty)
    assert [different(ledger, question) for question in (first, blind)] == [2, 0]


def test_a_request_from_a_worker_of_the_only_question(ledger: Ledger) -> None:
    question = ask(ledger, "a")
    worker = threading.Thread(
        target=requests._create, args=(None,), kwargs={"messages": messages(1, 2, 2)}
    )
    worker.start()
    worker.join()
    assert different(ledger, question) == 2


def test_requests_that_a_simple_class_hands_to_its_workers(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of openai with --force_simple, which puts messages together in the asking thread."""
    from lmms_eval.models.simple import openai

    monkeypatch.setattr(openai, "ThreadPoolExecutor", openai.ThreadPoolExecutor)
    with watch.watching(2):
        pass
    both, asked = threading.Barrier(2), []

    def send(number: int, payload: dict[str, Any]) -> None:
        both.wait(5)
        requests._create(None, **payload)

    with openai.ThreadPoolExecutor(max_workers=2) as pool:
        for number, id_ in enumerate("ab"):
            asked.append(ask(ledger, id_))
            pool.submit(send, number, {"messages": messages(*range(number)), "max_tokens": 1})
    assert [different(ledger, question) for question in asked] == [0, 1]


def test_a_video_is_sampled_by_the_server(ledger: Ledger) -> None:
    question = ask(ledger, "a")
    video = [{"type": "video_url", "video_url": {"url": "file:///a.mp4"}}]
    requests._create(None, messages=[{"role": "user", "content": video}])
    assert different(ledger, question) is None


def test_vllm_takes_a_batch(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    class LLM:
        """In place of vllm's, which needs a GPU."""

        def chat(self, messages: Any, sampling_params: Any = None) -> str:
            del messages, sampling_params
            return "done"

    monkeypatch.setitem(sys.modules, "vllm", SimpleNamespace(LLM=LLM))
    requests.install()
    requests.install()
    made = []
    for number, id_ in enumerate("ab"):
        question, sent = ask(ledger, id_), messages(*range(number + 3))
        requests._tag(Converted(videos=[]), sent)
        made.append((question, sent))
    assert LLM().chat(sampling_params=1, messages=[sent for _, sent in made]) == "done"
    assert [different(ledger, question) for question, _ in made] == [3, 4]


def test_nothing_is_attributed_after_the_answers(ledger: Ledger) -> None:
    question = ask(ledger, "a")
    assert watch.sight_of("tvbench", {"id": "a", "split": "test", "condition": "ordered16"}) == (
        watch.Sight(16, None, None)
    )
    # An LLM judge asks something of its own.
    requests._create(None, messages=messages())
    assert different(ledger, question) is None


def test_the_order_is_read_off_the_images(ledger: Ledger) -> None:
    question = ask(ledger, "a")
    requests._create(None, messages=messages(*range(8)))
    clip = [cells(picture(seed)) for seed in range(8)]
    (span,) = ledger._spans[question.key]
    assert in_order(span.pictures, clip) is True
    assert in_order(span.pictures, [clip[1], clip[0], *clip[2:]]) is False
    assert in_order(span.pictures, [clip[0]] * 8) is None


@pytest.mark.parametrize(
    ("frames", "shown", "seen", "expected"),
    [
        (range(16), 16, 15, 16),
        ([0] * 16, 16, 1, 1),  # a still video
        ([0] * 8 + [1] * 8, 16, 1, 2),
        ([0, 0], 1, 0, 1),  # the single frame, which its clip holds twice
        (range(16), 16, 17, 16),
    ],
)
def test_frames_that_are_the_same_are_shown_once(
    frames: Any, shown: int, seen: int, expected: int
) -> None:
    clip = Clip([], [picture(seed) for seed in frames])
    assert frames_shown(clip, shown, seen) == expected


def test_a_clip_is_read_in_order(tmp_path: Path) -> None:
    from tests.tasks.releases import write_video

    clip = read_clip(write_video(tmp_path / "a.mp4", frames=5))
    assert clip is not None and len(clip.cells) == len(clip.small) == 5
    assert clip.small[0].shape == (64, 64, 3)
    (tmp_path / "b.mp4").write_bytes(b"nothing")
    assert read_clip(tmp_path / "b.mp4") is None
