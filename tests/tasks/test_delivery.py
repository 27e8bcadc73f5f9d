"""How frames are handed to model classes, and the harness's faults that are worked around."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from tests.harness.served import number_of, write_numbered
from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.tasks import media, registry, store
from video_reasoning.tasks.blackswan import prompts
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.models import quirks, workarounds

CONDITIONS = ("ordered16", "shuffled16", "random1", "ordered8")


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quirks, "_loaded", [])
    monkeypatch.delenv(quirks.VARIABLE, raising=False)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_numbered(tmp_path_factory.mktemp("videos") / "v.mp4", range(90))


def clip_of(video: Path, name: str) -> tuple[Condition, str, list[int]]:
    condition = Condition.parse(name)
    clip = clip_for(video, condition, "q", video.parent / "clips")
    return condition, str(clip), list(condition_indices(condition, 90, "q"))


def settings_of(model: str) -> dict[str, Any]:
    """What the harness gives to the functions of a task for a model."""
    return quirks.DELIVERY.get(model, quirks.DELIVERY)


def frames_in(path: str) -> list[int]:
    with av.open(path) as container:
        return [number_of(frame.to_image()) for frame in container.decode(video=0)]


@pytest.mark.parametrize("name", CONDITIONS)
def test_images_and_frames_are_those_of_the_clip(numbered: Path, name: str) -> None:
    condition, clip, expected = clip_of(numbered, name)
    quirks.loaded("x", simple=False)
    images = media.in_form([clip], {"frames_as": "images"}, condition)
    assert [number_of(image) for image in images] == expected
    with av.open(clip) as container:
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    for image, frame in zip(images, decoded, strict=False):
        assert np.array_equal(np.asarray(image), frame)
    (video,) = media.in_form([clip], settings_of("qwen3_vl"), condition)
    assert video["type"] == "video" and [number_of(i) for i in video["url"]] == expected
    assert media.in_form([clip], settings_of("qwen2_5_vl"), condition) == [clip]


@pytest.mark.parametrize(
    ("model", "simple", "frames", "whole"),
    [
        ("openai_compatible", False, "images", "clip"),
        ("openai", True, "images", "clip"),
        ("async_openai", False, "images", "clip"),
        ("vllm", False, "images", "clip"),
        ("internvl_hf", False, "images", "images"),
        ("qwen3_vl", False, "frames", "clip"),
        ("qwen3_vl", True, "clip", "clip"),
        ("qwen3_5", False, "frames", "clip"),
        ("gemma4", True, "clip", "clip"),
        ("qwen2_5_vl", False, "clip", "clip"),
        ("llava_hf", False, "images", "images"),
        ("llava_hf", True, "clip", "clip"),
        ("internvl2", True, "images", "images"),
        ("unheard_of", False, "clip", "clip"),
    ],
)
def test_each_class_has_its_form(model: str, simple: bool, frames: str, whole: str) -> None:
    quirks.loaded(model, simple=simple)
    # From a YAML of ours, from one with settings of its own, and from none.
    for settings in (settings_of(model), {"condition": "ordered8"}, None):
        form = quirks.form_for(settings)
        assert (form.frames_as, form.whole_as) == (frames, whole)


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_reader_of_qwen3_vl_takes_every_frame(numbered: Path, name: str) -> None:
    from qwen_vl_utils import process_vision_info

    condition, clip, expected = clip_of(numbered, name)
    quirks.loaded("qwen3_vl", simple=False)
    (part,) = media.in_form([clip], settings_of("qwen3_vl"), condition)
    # As the chat form of the harness calls it.
    message = {"type": "video", "video": part["url"], "nframes": 16}
    _, videos, _ = process_vision_info(
        [{"role": "user", "content": [message]}],
        return_video_kwargs=True,
        image_patch_size=16,
        return_video_metadata=True,
    )
    ((frames, _),) = videos
    seen = [number_of(Image.fromarray(np.uint8(f.permute(1, 2, 0).numpy()))) for f in frames]
    # Qwen merges two frames, so that a single one is taken twice.
    assert seen == (expected if len(expected) > 1 else expected * 2)


@pytest.mark.parametrize("wanted", [16, 32, 64])
def test_a_reader_asks_for_no_more_frames_than_there_are(tmp_path: Path, wanted: int) -> None:
    """Of a video that is shorter than the frames a class asks for: it crashed."""
    from qwen_vl_utils import fetch_video, vision_process

    video = write_numbered(tmp_path / "short.mp4", range(25))
    workarounds.apply()
    pixels = fetch_video({"video": str(video), "nframes": wanted})
    assert [number_of(each) for each in _images(pixels)][-1] == 24
    assert len(pixels) == min(wanted, 24)  # an even number
    assert vision_process.smart_nframes({"nframes": 15}, 15, 25.0) == 14
    with pytest.raises(ValueError, match="nframes should in interval"):
        # Once this fails, the reader is right and the workaround can go (docs/upstream.md).
        vision_process.smart_nframes.video_reasoning_original({"nframes": 32}, 25, 25.0)


def _images(pixels: Any) -> list[Any]:
    return [Image.fromarray(each.permute(1, 2, 0).numpy().astype(np.uint8)) for each in pixels]


def test_a_single_frame_is_not_cut_into_tiles_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class InternVL3:
        max_num = 12

    model = InternVL3()
    for arguments, tiles in (("pretrained=x", 1), ("pretrained=x,max_num=6", 12)):
        quirks.loaded("internvl3", simple=True)
        quirks.built(arguments)
        with quirks.untiled(model):
            assert model.max_num == tiles
        assert model.max_num == 12
    quirks.loaded("other", simple=True)
    with quirks.untiled(model):
        assert model.max_num == 12
    quirks.loaded("internvl3", simple=True)
    with quirks.untiled(object()):  # another version, which has no such attribute
        pass


def test_a_user_has_the_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert quirks.form_for({**settings_of("openai"), "frames_as": "clip"}).frames_as == "clip"
    monkeypatch.setenv(quirks.VARIABLE, "frames")
    assert quirks.form_for(settings_of("openai")).frames_as == "frames"
    with pytest.raises(UserError, match="clip, images, frames"):
        quirks.form_for({"frames_as": "pictures"})


def test_a_class_whose_reader_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quirks, "find_spec", lambda name: None)
    assert "pip install torchcodec`, or set" in quirks.refusal("gemma4")
    assert not quirks.refusal("gemma4", video=False, blind=True)
    assert not quirks.refusal("qwen3_vl")
    monkeypatch.setenv(quirks.VARIABLE, "images")
    assert not quirks.refusal("gemma4")


def middles(n_frames: int, wanted: int) -> list[int]:
    """Which frames of a clip the harness's internvl2 and internvl3 take."""
    from lmms_eval.models.simple.internvl3 import get_index

    return [int(place) for place in get_index(None, 1.0, n_frames - 1, 0, wanted)]


@pytest.mark.parametrize("name", ["ordered16", "shuffled16", "random1"])
def test_a_sampler_of_middles_sees_every_frame_of_a_clip(
    numbered: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    condition, clip, expected = clip_of(numbered, name)
    monkeypatch.setenv(quirks.VARIABLE, "clip")  # as the command does for modality=video
    quirks.loaded("internvl3", simple=True)
    (shown,) = media.in_form([clip], settings_of("internvl3"), condition)
    frames = frames_in(shown)
    seen = [frames[place] for place in middles(len(frames), 16)]
    assert list(dict.fromkeys(seen)) == expected
    assert seen == (expected if condition.m == 16 else expected * 16)
    if condition.m == 16:  # without the repeats the last frame is lost (docs/upstream.md)
        assert frames_in(clip)[15] not in [frames_in(clip)[place] for place in middles(16, 16)]


def test_a_whole_video_becomes_images_where_a_class_reads_no_video(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    quirks.loaded("llava_hf", simple=False)
    document = {"id": "a", "video": "v.mp4", "problem": ""}
    images = media.hand_over("causalvqa", document, [str(numbered)], settings_of("llava_hf"))
    assert len({number_of(image) for image in images}) == 16
    assert number_of(images[0]) == 0 and number_of(images[-1]) == 89
    assert media.handed_over("causalvqa", document) == "images"
    ten = media.hand_over("causalvqa", document, [str(numbered)], {"whole_frames": 10})
    assert len(ten) == 10
    # One that cannot be decoded is missing, and the run goes on.
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(numbered.read_bytes()[:3000])
    black = media.hand_over("causalvqa", document, [str(broken)], settings_of("llava_hf"))
    assert len(black) == 16 and max(np.asarray(black[0]).ravel()) < 30
    assert media.problem("causalvqa", document)


def test_yamls_get_their_own_copy_for_each_name_of_a_model() -> None:
    from lmms_eval.models import MODEL_ALIASES

    first, second = quirks.DELIVERY, quirks.DELIVERY
    first["openai"]["chat"]["frames_as"] = "clip"
    assert second["openai"] == second["openai_compatible"] == {
        kind: {"frames_as": "images", "clock": "source"} for kind in ("chat", "simple")
    }  # fmt: skip
    for each in quirks.CLASSES:
        for name in each.names:
            assert set(MODEL_ALIASES.get(name, ())) <= set(each.names)


def test_every_task_of_ours_gets_it() -> None:
    for name, task in registry.our_tasks().items():
        if task.needs:
            config = registry._load(task.path)
            delivery = config["lmms_eval_specific_kwargs"]
            assert delivery == f"{quirks.__name__}.DELIVERY", name
    # The harness then calls a task's doc_to_text with two arguments.
    document = {"options": ["x", "y"], "hypothesis": "z"}
    for text in (prompts.forecaster_gen, prompts.detective_mcq_clips, prompts.yes_no):
        assert text(document, {}) == text(document)


def table_of_classes() -> str:
    """The table of docs/running-models.md."""
    lines = [
        "| `--model` | arguments for 16 frames | frames of a condition | whole video | blind |",
        "|---|---|---|---|---|",
    ]
    for each in quirks.CLASSES:
        forms = [form for form in (each.chat, each.simple) if form is not None]
        cells = [
            [form.frames_as if form.video else "refused" for form in forms],
            [form.whole_as if form.video else "refused" for form in forms],
            ["yes" if form.blind else "refused" for form in forms],
        ]
        words = ["; simple: ".join(dict.fromkeys(cell)) for cell in cells]
        names = ", ".join(f"`{name}`" for name in each.names)
        arguments = f"`{each.arguments}`" if each.arguments else ""
        lines.append(f"| {names} | {arguments} | {' | '.join(words)} |")
    return "\n".join(lines)


def test_the_documented_table_is_that_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "running-models.md"
    text = page.read_text(encoding="utf-8")
    table = text.partition("<!-- classes")[2].partition("-->")[2].partition("<!-- end")[0]
    assert table.strip() == table_of_classes(), "copy it from table_of_classes()"


def repeats_a_dead_picture(encode: Any) -> bool:
    """Whether frames that die one after the other are encoded as an earlier one."""
    from lmms_eval.protocol import ChatMessages

    messages, cache = ChatMessages(messages=[]), {}
    encoded = {encode(messages, Image.new("L", (8, 8), level), cache) for level in range(64)}
    return len(encoded) < 64


def test_pictures_are_encoded_by_themselves() -> None:
    from lmms_eval.protocol import ChatMessages

    assert workarounds.apply() == []
    assert not repeats_a_dead_picture(ChatMessages.encode_image)
    assert workarounds.apply() == []
    # Once this fails, the harness is right and the workaround can go (docs/upstream.md).
    assert repeats_a_dead_picture(ChatMessages.encode_image.video_reasoning_original)


def test_an_unknown_harness_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from lmms_eval.protocol import ChatMessages

    def other(self: Any, picture: Any) -> str:
        return ""

    monkeypatch.setattr(ChatMessages, "encode_image", other)
    (sentence,) = workarounds.apply()
    assert "ChatMessages.encode_image" in sentence and "self, picture" in sentence
    assert ChatMessages.encode_image is other


def test_the_form_that_is_loaded_is_known() -> None:
    from lmms_eval.models import get_model

    workarounds.apply()
    get_model("openai")
    assert quirks._loaded == [("openai", False, "")]
    get_model("openai", force_simple=True)
    assert quirks._loaded == [("openai", True, "")]
