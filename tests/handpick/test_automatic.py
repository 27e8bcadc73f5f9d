"""The automatic stand-in, with a tiny CLIP model whose weights are random."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from tests.handpick.stores import FRAMES, row, write_store
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.cli import handpick
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.handpick.automatic import (
    ClipPicker,
    annotator_name,
    pick_automatically,
)
from video_reasoning.tasks.handpick.frames import read_grid
from video_reasoning.tasks.handpick.items import Item, load_items
from video_reasoning.tasks.handpick.record import PickLog

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def write_model(folder: Path) -> Path:
    """A folder as the hub has it: CLIP of two small layers, and words of single characters."""
    folder.mkdir()
    characters = [chr(code) for code in range(33, 127)]
    tokens = [*characters, *(f"{character}</w>" for character in characters)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({token: n for n, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = transformers.CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    images = transformers.CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
             "num_attention_heads": 4}  # fmt: skip
    last = len(tokens) - 1
    config = transformers.CLIPConfig(
        text_config={**small, "vocab_size": len(tokens), "max_position_embeddings": 40,
                     "eos_token_id": last, "bos_token_id": last - 1, "pad_token_id": last},
        vision_config={**small, "image_size": 32, "patch_size": 16},
        projection_dim=16,
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.CLIPModel(config).save_pretrained(folder)
    transformers.CLIPProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny-clip")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [*(row(n) for n in range(4)), row(4, problem="the video is broken.")]
    return write_store(tmp_path_factory.mktemp("store"), rows)


@pytest.fixture(scope="module")
def items(home: Path) -> list[Item]:
    return load_items("tvbench", home=home)


def by_hand(picker: ClipPicker, item: Item) -> int:
    """The rule of the module, one image and one text at a time."""
    assert item.video is not None
    grid = read_grid(item.video, lambda image: image)
    texts = [picker.embed_texts([text])[0] for text in (item.question, *item.options)]
    images = [picker.embed_images([picture])[0] for picture in grid.pictures]
    means = [sum(float(image @ text) for text in texts) / len(texts) for image in images]
    return grid.indices[means.index(max(means))]


@pytest.mark.parametrize("batch_size", [7, 64])
def test_the_frame_closest_to_the_texts_is_taken(
    model: Path, items: list[Item], batch_size: int
) -> None:
    picker = ClipPicker(str(model), device="cpu", batch_size=batch_size)
    told: list[tuple[int, int]] = []
    decisions, problems = [], []
    for some, reasons in pick_automatically(
        items, picker, told=lambda done, total: told.append((done, total))
    ):
        decisions += some
        problems += reasons
    assert [decision.id for decision in decisions] == [item.id for item in items[:4]]
    assert [decision.frame for decision in decisions] == [
        by_hand(picker, item) for item in items[:4]
    ]
    assert {decision.annotator for decision in decisions} == {"automatic:tiny-clip"}
    assert all(decision.n_frames == FRAMES for decision in decisions)
    assert problems == ["direction/4: the video is broken."]
    assert told[-1] == (5, 5)


class Known(ClipPicker):
    """A picker whose embeddings are known: a frame is as close as its colour says."""

    def __init__(self) -> None:
        self.annotator, self.batch_size = "automatic:known", 8

    def embed_images(self, images: Any) -> Any:
        return torch.tensor([[float(image)] for image in images])

    def embed_texts(self, texts: Any) -> Any:
        return torch.ones(len(texts), 1)


def test_the_highest_mean_wins_and_ties_go_to_the_earlier(items: list[Item]) -> None:
    from video_reasoning.preprocessing.frames import Frames

    def frames(*closeness: float, indices: tuple[int, ...] | None = None) -> Frames[Any]:
        places = indices or tuple(range(len(closeness)))
        times = tuple(place / 10 for place in places)
        return Frames(40, places, times, closeness)

    chosen = Known().choose(
        [
            (items[0], frames(0.1, 0.9, 0.3)),
            (items[1], frames(0.5, 0.5, 0.5)),
            (items[2], frames(0.1, 0.7, 0.7, 0.7, indices=(0, 3, 3, 9))),
        ]
    )
    assert [(found.frame, found.seconds) for found in chosen] == [(1, 0.1), (0, 0.0), (3, 0.3)]


def test_long_texts_are_cut(model: Path) -> None:
    picker = ClipPicker(str(model), device="cpu")
    embedded = picker.embed_texts(["a b " * 500, "short"])
    assert embedded.shape == (2, 16)
    assert torch.allclose(embedded.norm(dim=1), torch.ones(2), atol=1e-5)


def test_the_command_labels_and_resumes(model: Path, home: Path, tmp_path: Path) -> None:
    app = typer.Typer()
    app.callback()(lambda: None)
    handpick.register(app)
    out = tmp_path / "picks.jsonl"
    arguments = ["handpick", "--benchmark", "tvbench", "--out", str(out), "--home", str(home)]
    arguments += ["--automatic", "--model", str(model), "--device", "cpu"]
    first = CliRunner().invoke(app, [*arguments, "--sample", "2"])
    assert "not by a person: 2 items (0 are done)" in first.output
    again = CliRunner().invoke(app, [*arguments, "--install"])
    assert "no person made them" in again.output
    assert "as annotator automatic:tiny-clip: automatic, not handpicked" in again.output
    decided = PickLog(out, "tvbench").of("automatic:tiny-clip")
    assert len(decided) == 4
    lines = out.read_text().splitlines()
    assert len(lines) == 4 and str(model) not in out.read_text()
    shown = uniform_indices(FRAMES, 16)
    for line in [*lines, *(home / "tvbench/picks.jsonl").read_text().splitlines()]:
        entry = json.loads(line)
        assert entry["annotator"] == "automatic:tiny-clip" and entry["frame"] in shown


def test_a_model_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="cannot be loaded") as raised:
        ClipPicker(str(tmp_path / "empty"), device="cpu")
    assert "\n" not in str(raised.value)


def test_names_of_models(tmp_path: Path) -> None:
    assert annotator_name("openai/clip-vit-base-patch32") == (
        "automatic:openai/clip-vit-base-patch32"
    )
    assert annotator_name(str(tmp_path)) == f"automatic:{tmp_path.name}"
