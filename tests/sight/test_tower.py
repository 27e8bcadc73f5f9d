"""What is read off the arguments of `generate` and off vision towers, with real processors."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from video_reasoning.tasks.sight import caught, requests, seen, tower, watch
from video_reasoning.tasks.sight.clips import cells, in_order
from video_reasoning.tasks.sight.seen import Ledger, Question, Span

torch = pytest.importorskip("torch")


def frames(n: int = 16, size: int = 56, seed: int = 0) -> Any:
    """Different pictures of uneven brightness, (n, size, size, 3)."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (n, 4, 4, 3), dtype=np.uint8)
    return coarse.repeat(size // 4, 1).repeat(size // 4, 2)


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> Ledger:
    fresh = Ledger()
    for module in (caught, requests, watch):
        monkeypatch.setattr(module, "LEDGER", fresh)
    monkeypatch.setattr(seen, "_WARNED", set())
    monkeypatch.setattr(tower._State, "towers", 0)
    monkeypatch.setattr(tower._State, "fired", False)
    return fresh


def ask(ledger: Ledger, id_: str = "q", shown: int | None = 16) -> Question:
    question = Question(("tvbench", "test", f"ordered{shown}", id_), shown, ())
    ledger.asked(question)
    return question


def counted(span: Span | None) -> tuple[int, int] | None:
    """Pictures, and different ones; None if it is not told."""
    if span is None or not span.told:
        return None
    return len(span.pictures), len({picture.digest for picture in span.pictures})


QWEN = SimpleNamespace(
    config=SimpleNamespace(
        model_type="qwen2_5_vl",
        vision_config=SimpleNamespace(temporal_patch_size=2, spatial_merge_size=2),
    )
)


def qwen_video(video: Any) -> dict[str, Any]:
    from transformers import Qwen2VLVideoProcessor

    processor = Qwen2VLVideoProcessor(do_resize=False, do_sample_frames=False)
    pixels = torch.from_numpy(video).permute(0, 3, 1, 2)
    return dict(processor(videos=[pixels], return_tensors="pt"))


def test_qwens_rows_are_frames_again(ledger: Ledger) -> None:
    video = frames()
    ask(ledger)
    tower._generate(QWEN, input_ids=torch.zeros(1, 4), **qwen_video(video))
    span = ledger.current()
    assert counted(span) == (16, 16)
    clip = [cells(frame) for frame in video]
    assert span is not None and in_order(span.pictures, clip) is True
    assert in_order(span.pictures, [*clip[:3], clip[9], *clip[4:9], clip[3], *clip[10:]]) is False
    assert in_order(span.pictures, clip[:-1]) is None


@pytest.mark.parametrize(
    ("order", "different"),
    [([*range(15), 14], 15), ([0] * 16, 1), ([*range(8), *range(8)], 8)],
)
def test_frames_that_come_twice_count_once(
    ledger: Ledger, order: Sequence[int], different: int
) -> None:
    ask(ledger)
    tower._generate(QWEN, **qwen_video(frames()[list(order)]))
    assert counted(ledger.current()) == (16, different)


def test_qwens_pictures_count_once_though_they_fill_two_frames(ledger: Ledger) -> None:
    from transformers import Qwen2VLImageProcessor

    processor = Qwen2VLImageProcessor(do_resize=False)
    ask(ledger)
    tower._generate(QWEN, **processor(images=list(frames(3)), return_tensors="pt"))
    assert counted(ledger.current()) == (3, 3)


def model(kind: str, **config: Any) -> Any:
    return SimpleNamespace(config=SimpleNamespace(model_type=kind, **config))


PIXELS = torch.from_numpy(frames(4)).permute(0, 3, 1, 2).float()


@pytest.mark.parametrize(
    ("of", "given", "found"),
    [
        (model("gemma3"), {"pixel_values": PIXELS}, (4, 4)),
        (model("gemma3"), {"pixel_values": PIXELS.bfloat16()}, (4, 4)),
        (model("x"), {"pixel_values": [PIXELS[0], PIXELS[1], PIXELS[1]]}, (3, 2)),
        (model("llava_onevision"), {"pixel_values_videos": PIXELS[None]}, (4, 4)),
        (model("video_llava"), {"pixel_values_videos": PIXELS.transpose(0, 1)[None]}, (4, 4)),
        (model("llava_next"), {"pixel_values": PIXELS.unflatten(0, (2, 2))}, (2, 2)),
        (model("siglip2"), {"pixel_values": PIXELS.reshape(4, 49, -1)}, (4, 4)),
        # Pictures with a layout nobody knows, or under another name: not told.
        (model("idefics3"), {"pixel_values": PIXELS[None]}, None),
        (model("x"), {"input_image_embeds": PIXELS}, None),
        # Nothing goes in: blind.
        (model("x"), {"input_ids": torch.zeros(1, 3), "attention_mask": torch.ones(1, 3)}, (0, 0)),
        # Something went in before, and nobody watched.
        (model("x"), {"inputs_embeds": torch.zeros(1, 3, 8)}, None),
    ],
)
def test_layouts(ledger: Ledger, of: Any, given: dict[str, Any], found: Any) -> None:
    ask(ledger)
    tower._generate(of, **given)
    assert counted(ledger.current()) == found


def test_tiles_are_put_together_by_the_runs_of_their_tokens(ledger: Ledger) -> None:
    # A picture of three tiles of two tokens, and one of a single tile.
    tokens = torch.tensor([[1, 9, 9, 9, 9, 9, 9, 2, 9, 9, 3]])
    internvl = model("internvl", image_token_id=9)
    ask(ledger)
    tower._generate(internvl, pixel_values=PIXELS, input_ids=tokens)
    assert counted(ledger.current()) == (2, 2)


def test_a_batch_is_not_attributed(ledger: Ledger) -> None:
    first, second = ask(ledger, "a"), ask(ledger, "b")
    tower._generate(QWEN, **qwen_video(frames()))
    for question in (first, second):
        assert [span.told for span in ledger.spans(question.key)] == [False]


def test_the_next_question_is_another(ledger: Ledger) -> None:
    found = {}
    for name, n in (("a", 16), ("b", 4)):
        found[name] = ask(ledger, name)
        tower._generate(QWEN, **qwen_video(frames(n)))
        tower._generate(QWEN, **qwen_video(frames(n)))  # sent again, the same
    assert [counted(*ledger.spans(found[name].key)) for name in "ab"] == [(16, 16), (4, 4)]


def test_two_requests_that_differ_are_not_told(ledger: Ledger) -> None:
    ask(ledger)
    tower._generate(QWEN, **qwen_video(frames()))
    tower._generate(QWEN, **qwen_video(frames(seed=1)))
    assert counted(ledger.current()) is None


def test_what_another_thread_prepared_is_told_if_it_is_the_only_question(ledger: Ledger) -> None:
    """qwen3_vl --force_simple prepares a question in one thread and asks it in another."""
    for id_, told in (("a", False), ("b", True), ("c", True)):
        thread = threading.Thread(target=ask, args=(ledger, id_))
        with watch.watching(1 if told else 2):
            thread.start()
            thread.join()
            tower._generate(QWEN, **qwen_video(frames()))
        (span,) = ledger.spans(("tvbench", "test", "ordered16", id_))
        assert counted(span) == ((16, 16) if told else None)


# Vision towers


class Tower(torch.nn.Module):  # type: ignore[misc]
    """A model whose own `chat` nobody watches."""

    def __init__(self, first: Any) -> None:
        super().__init__()
        self.patch_embed = first
        self.head = torch.nn.Linear(768, 4)

    def forward(self, pictures: Any) -> Any:
        return self.patch_embed(pictures)


@pytest.fixture
def hooked(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    made = []

    def build(first: Any) -> Tower:
        made.append(Tower(first))
        monkeypatch.setattr(tower._State, "scans", 0)
        tower._hook_towers()
        return made[0]

    yield build


@pytest.mark.parametrize(
    ("first", "given", "found"),
    [
        (torch.nn.Conv2d(3, 8, 14, 14), PIXELS, (4, 4)),
        (torch.nn.Conv3d(3, 8, (2, 14, 14), (2, 14, 14)), PIXELS.transpose(0, 1)[None], (4, 4)),
        (torch.nn.Linear(3 * 14 * 14, 8), PIXELS.reshape(4, 16, -1), (4, 4)),
        # Patches: which of them are one frame is not told.
        (torch.nn.Conv2d(3, 8, 14, 14), torch.rand(64, 3, 14, 14), None),
    ],
)
def test_a_tower_is_found_and_watched(
    hooked: Any, ledger: Ledger, first: Any, given: Any, found: Any
) -> None:
    net = hooked(first)
    assert hasattr(first, "_sight") and not hasattr(net.head, "_sight")
    ask(ledger)
    net(given)
    assert counted(ledger.current()) == found


def test_a_tower_that_is_called_for_each_picture(hooked: Any, ledger: Ledger) -> None:
    net = hooked(torch.nn.Conv2d(3, 8, 14, 14))
    question = ask(ledger)
    for picture in PIXELS:
        net(picture[None])
    # The language model of it goes through generate, with what was made of the pictures.
    tower._generate(model("x"), inputs_embeds=torch.zeros(1, 3, 8))
    assert counted(*ledger.spans(question.key)) == (4, 4)
    blind = ask(ledger, "blind", 0)
    tower._generate(model("x"), inputs_embeds=torch.zeros(1, 3, 8))
    assert counted(*ledger.spans(blind.key)) == (0, 0)


# Guards


def test_an_error_ends_nothing_and_is_said_once(
    ledger: Ledger, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(seen.logger, "warning", said.append)
    for _ in range(3):
        ask(ledger)
        tower._generate(QWEN, pixel_values=object())
    assert len(said) == 1 and "is not counted" in said[0]


def test_what_is_gone_upstream_is_said(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(seen.logger, "warning", said.append)

    class Renamed:
        """A class whose method has another name now."""

    for _ in range(2):
        seen.replace_once(Renamed, "generate", print)
    assert len(said) == 1 and "Renamed has no generate" in said[0]


def test_what_is_watched_exists() -> None:
    from lmms_eval.protocol import ChatMessages
    from openai.resources.chat import completions
    from transformers.generation.utils import GenerationMixin

    assert callable(GenerationMixin.generate)
    assert callable(completions.completions.Completions.create)
    assert callable(completions.completions.AsyncCompletions.create)
    assert callable(ChatMessages.to_openai_messages)
    assert callable(ChatMessages.to_qwen3_vl_openai_messages)


def test_counting_is_cheap(ledger: Ledger) -> None:
    """16 frames of 448 x 448 against what a 7B model computes for them.

    About 2,048 tokens of 7e9 parameters and 8,192 patches of 0.67e9, two operations each.
    """
    pixels = torch.rand(16, 3, 448, 448)
    a = torch.rand(1024, 1024)
    start = time.perf_counter()
    for _ in range(5):
        a @ a
    rate = 5 * 2 * 1024**3 / (time.perf_counter() - start)
    forward = 2 * (2048 * 7e9 + 8192 * 0.67e9) / rate
    ask(ledger)
    tower._generate(model("gemma3"), pixel_values=pixels)
    start = time.perf_counter()
    tower._generate(model("gemma3"), pixel_values=pixels)
    assert time.perf_counter() - start < 0.01 * forward
