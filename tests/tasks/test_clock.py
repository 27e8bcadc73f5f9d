"""The times that models are told: the source's, unless frames would be lost.

Read with the harness's own code, qwen-vl-utils and the processors of Qwen2.5-VL and Qwen3-VL.
"""

from __future__ import annotations
import __future__

import ast
import re
import shutil
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import decord
import numpy as np
import pytest
from PIL import Image

from tests.harness.served import number_of, write_numbered
from tests.harness.tiny_qwen import CHAT_TEMPLATE, tokenizer_in
from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.preprocessing.conditions import CLOCKS, Condition, condition_indices
from video_reasoning.tasks import media, store
from video_reasoning.tasks.audit.visuals import Shower
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.models import quirks, workarounds

FRAMES, RATE = 90, 25
LAST = (FRAMES - 1) / RATE
ORDERED = Condition.parse("ordered16")
CONDITIONS = tuple(map(Condition.parse, ("ordered16", "shuffled16", "random1", "last1")))


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quirks, "_loaded", [])
    for variable in (quirks.VARIABLE, quirks.CLOCK_VARIABLE):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_numbered(tmp_path_factory.mktemp("clock") / "v.mp4", range(FRAMES), RATE)


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frame a second: 90 seconds."""
    return write_numbered(tmp_path_factory.mktemp("clock") / "slow.mp4", range(FRAMES), 1)


def handed(video: Path, condition: Condition, **settings: Any) -> list[Any]:
    """What the loaded model is handed, as the tasks do it."""
    clock = media.clock_for(settings, [condition], FRAMES / RATE)
    clip = clip_for(video, condition, "q", video.parent / "clips", clock=clock)
    return media.in_form([str(clip)], settings, condition)


def expected_of(condition: Condition) -> tuple[list[int], list[float]]:
    """The frames, and the source's times in their places."""
    indices = condition_indices(condition, FRAMES, "q")
    indices = indices if len(indices) > 1 else indices * 2
    return indices, [index / RATE for index in sorted(indices)]


def numbers(frames: Any) -> list[int]:
    """Which frames these are: (frames, height, width, channels)."""
    return [number_of(Image.fromarray(np.uint8(frame))) for frame in frames]


def read(
    given: Any, nframes: int | None, patch: int = 14, **more: int
) -> tuple[Any, Any, list[int]]:
    """Video, metadata and frames as qwen-vl-utils reads them of the harness's chat messages."""
    from lmms_eval.protocol import ChatMessages
    from qwen_vl_utils import process_vision_info

    workarounds.apply()
    content = [media.part_of_message(each) for each in given]
    messages = ChatMessages(messages=[{"role": "user", "content": content}])
    wanted = more if nframes is None else {"nframes": nframes}
    _, [(video, metadata)], _ = process_vision_info(
        messages.to_hf_messages(video_kwargs=wanted),
        return_video_kwargs=True,
        return_video_metadata=True,
        image_patch_size=patch,
    )
    return video, metadata, numbers(video.permute(0, 2, 3, 1).numpy())


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tokenizer_in(tmp_path_factory.mktemp("tokenizer"))


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda each: each.name)
def test_qwen2_5_vl_is_told_the_sources_times(
    numbered: Path, tokenizer: Any, condition: Condition
) -> None:
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessor, Qwen2VLVideoProcessor

    quirks.loaded("qwen2_5_vl", simple=False)
    indices, times = expected_of(condition)
    video, metadata, seen = read(handed(numbered, condition), len(indices))
    assert seen == indices
    told = [place / metadata["fps"] for place in metadata["frames_indices"]]
    # A single frame has its own time in the file, which this reader does not look at.
    first = times[0]
    assert told == pytest.approx([each - first for each in times], abs=1 / RATE)
    processor = Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(), tokenizer, Qwen2VLVideoProcessor(), chat_template=CHAT_TEMPLATE
    )
    made = processor(
        text=["<|vision_start|><|video_pad|><|vision_end|>"],
        videos=[video],
        video_metadata=[metadata],
        return_tensors="pt",
    )
    (step,) = (float(each) for each in made["second_per_grid_ts"])
    assert int(made["video_grid_thw"][0, 0]) == len(indices) // 2
    for place in range(0, len(indices), 2):
        assert place // 2 * step == pytest.approx(times[place] - first, abs=1 / RATE)


@pytest.mark.parametrize("form", ["frames", "clip"])
@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda each: each.name)
def test_qwen3_vl_is_told_the_sources_times(
    numbered: Path, tokenizer: Any, condition: Condition, form: str
) -> None:
    from transformers import Qwen2VLImageProcessor, Qwen3VLProcessor, Qwen3VLVideoProcessor

    quirks.loaded("qwen3_vl", simple=form == "clip")
    indices, times = expected_of(condition)
    nframes = len(indices) if form == "clip" else 16
    video, metadata, seen = read(handed(numbered, condition), nframes, patch=16)
    assert seen == indices
    processor = Qwen3VLProcessor(
        Qwen2VLImageProcessor(), tokenizer, Qwen3VLVideoProcessor(), chat_template=CHAT_TEMPLATE
    )
    made = processor(
        text=["<|vision_start|><|video_pad|><|vision_end|>"],
        videos=[video],
        video_metadata=[metadata],
        do_sample_frames=False,
        do_resize=False,
        return_tensors="pt",
    )
    text = tokenizer.decode(made["input_ids"][0])
    told = [float(mark) for mark in re.findall(r"<([\d.]+) seconds>", text)]
    pairs = zip(times[::2], times[1::2], strict=True)
    between = [(first + second) / 2 - times[0] for first, second in pairs]
    assert told == pytest.approx(between, abs=1 / RATE + 0.05)  # it prints tenths


def test_two_frames_a_second_are_what_a_list_without_its_rate_gets(numbered: Path) -> None:
    quirks.loaded("qwen3_vl", simple=False)
    (part,) = handed(numbered, ORDERED)
    _, rated, _ = read([part], 16)
    _, plain, _ = read([{**part, "url": list(part["url"])}], 16)
    # Once this fails, the harness has a place for the rate (docs/upstream.md).
    assert plain["fps"] == 2.0
    assert 15 / rated["fps"] == pytest.approx(LAST, abs=0.01)


def test_a_served_qwen3_can_be_sent_the_sources_times(numbered: Path) -> None:
    from lmms_eval.protocol import ChatMessages

    workarounds.apply()
    quirks.loaded("vllm", simple=False)
    content = [
        media.part_of_message(each) for each in handed(numbered, ORDERED, frames_as="frames")
    ]
    messages = ChatMessages(messages=[{"role": "user", "content": content}])
    (sent,) = (each["content"] for each in messages.to_qwen3_vl_openai_messages())
    marks = [part["text"] for part in sent if part["type"] == "text"]
    told = [float(mark[1:].split()[0]) for mark in marks]
    assert told == pytest.approx(expected_of(ORDERED)[1], abs=1 / RATE + 0.05)


# Every class gets all frames


def method(module: str, name: str) -> Callable[..., Any]:
    """A function of a model of the harness that needs no instance, without importing its module."""
    (folder,) = find_spec("lmms_eval").submodule_search_locations
    tree = ast.parse((Path(folder) / "models" / "simple" / f"{module}.py").read_text())
    (found,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name
    )
    space: dict[str, Any] = {"np": np, "VideoReader": decord.VideoReader, "cpu": decord.cpu}
    annotations = __future__.annotations.compiler_flag
    exec(compile(ast.Module([found], []), module, "exec", annotations), space)
    return space[name]


def by_number(given: list[Any]) -> list[int]:
    return numbers(method("llava_onevision", "load_video")(None, given[0], 16))


def by_time(given: list[Any]) -> list[int]:
    """As the simple forms of Qwen2 and Qwen2.5: two frames a second, then 16 of them."""
    _, _, seen = read(given, None)
    return [seen[place] for place in np.unique(np.linspace(0, len(seen) - 1, 16, dtype=int))]


def exactly(given: list[Any]) -> list[int]:
    return read(given, 16)[2]


def at_most(given: list[Any]) -> list[int]:
    """As qwen3_5 with 100 frames a second and 16 at most."""
    return read(given, None, fps=100, max_frames=16)[2]


def one_a_second(given: list[Any]) -> list[int]:
    return numbers(method("llava_vid", "load_video")(None, given[0], 16, 1)[0])


def forced(given: list[Any]) -> list[int]:
    return numbers(method("llava_vid", "load_video")(None, given[0], 16, 1, force_sample=True)[0])


def middles(given: list[Any]) -> list[int]:
    frames = numbers(decord.VideoReader(given[0])[:].asnumpy())
    places = method("internvl3", "get_index")(None, 1.0, len(frames) - 1, 0, 16)
    return [frames[int(place)] for place in places]


READERS: Mapping[tuple[str, bool, str], tuple[Callable[[list[Any]], list[int]], str]] = {
    ("qwen2_5_vl", False, ""): (exactly, "source"),
    ("qwen2_5_vl", True, ""): (by_time, "second"),
    ("qwen2_5_vl", False, "fps=2"): (by_time, "second"),
    ("qwen2_vl", True, ""): (by_time, "second"),
    ("qwen3_vl", False, ""): (exactly, "source"),
    ("qwen3_vl", True, ""): (exactly, "source"),
    ("qwen3_5", False, ""): (exactly, "source"),
    ("qwen3_5", True, ""): (by_time, "second"),
    ("qwen3_5", True, "max_num_frames=16,fps=100"): (at_most, "source"),
    ("qwen3_5", True, "max_num_frames=16,fps=2"): (by_time, "second"),
    ("llava_onevision1_5", False, ""): (exactly, "source"),
    ("llava_onevision1_5", True, ""): (by_time, "second"),
    ("gemma4", True, ""): (by_number, "source"),
    ("llava_onevision", True, ""): (by_number, "source"),
    ("llava_hf", True, ""): (by_number, "source"),
    ("llava_vid", True, ""): (one_a_second, "second"),
    ("llava_vid", True, "force_sample=True"): (forced, "source"),
    ("internvl3", True, "modality=video"): (middles, "source"),
}
"""Class, whether in simple form, and arguments -> how it reads, and the clock that it gets."""


@pytest.mark.parametrize("case", READERS, ids=lambda case: "-".join(map(str, case)))
@pytest.mark.parametrize("length", ["3 s", "90 s"])
def test_every_class_gets_all_frames(
    numbered: Path, slow: Path, case: tuple[str, bool, str], length: str
) -> None:
    model, simple, arguments = case
    reader, clock = READERS[case]
    quirks.loaded(model, simple=simple)
    quirks.built(arguments)
    video, seconds = (numbered, FRAMES / RATE) if length == "3 s" else (slow, float(FRAMES))
    chosen = media.clock_for(None, CONDITIONS, seconds)
    # llava_vid divides by the rounded rate of a clip, which is 0 here.
    assert chosen == ("second" if model == "llava_vid" and video == slow else clock)
    for condition in CONDITIONS[:2]:
        clip = clip_for(video, condition, "q", video.parent / "clips", clock=chosen)
        given = media.in_form([str(clip)], None, condition)
        assert reader(given) == condition_indices(condition, FRAMES, "q")


def test_every_class_that_gets_clips_is_read_here() -> None:
    for each in quirks.CLASSES:
        for simple, form in ((False, each.chat), (True, each.simple)):
            if form is not None and form.video and form.frames_as != "images":
                assert (each.names[0], simple, "") in READERS


def test_the_documented_clocks_are_those_of_the_code() -> None:
    found: dict[str, list[str]] = {clock: [] for clock in (*CLOCKS, "none")}
    for each in quirks.CLASSES:
        for form, option in ((each.chat, ""), (each.simple, " --force_simple" * bool(each.chat))):
            if form is not None and form.video:
                clock = "none" if form.frames_as == "images" else form.clock
                found[clock].append(f"`{each.names[0]}{option}`")
    page = (Path(__file__).parents[2] / "docs" / "sight.md").read_text(encoding="utf-8")
    for clock, names in found.items():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{clock}` |"))
        assert ", ".join(names) in row, (clock, ", ".join(names))


def test_what_would_be_lost_at_the_sources_times(numbered: Path, slow: Path) -> None:
    clips = [
        [str(clip_for(video, ORDERED, "q", video.parent / "clips"))] for video in (numbered, slow)
    ]
    assert len(by_time(clips[0])) == 6
    assert one_a_second(clips[0]) == [expected_of(ORDERED)[0][n] for n in range(0, 16, 4)]
    for reader in (one_a_second, forced):
        with pytest.raises(ValueError, match="must not be zero"):
            reader(clips[1])


def test_llava_vid_is_told_the_sources_times_with_force_sample(numbered: Path) -> None:
    quirks.loaded("llava_vid", simple=True)
    quirks.built("max_frames_num=16,force_sample=True")
    load = method("llava_vid", "load_video")
    _, told, lasts = load(None, handed(numbered, ORDERED)[0], 16, 1, force_sample=True)
    times = [float(each.rstrip("s")) for each in told.split(",")]
    assert times == pytest.approx(expected_of(ORDERED)[1], abs=1 / RATE)
    assert lasts == pytest.approx(16 / 15 * LAST, abs=0.01)


# Who decides, and the log


def test_a_user_has_the_last_word(numbered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quirks.loaded("qwen2_vl", simple=True)
    assert "-source-" not in handed(numbered, ORDERED)[0]
    assert "-source-" in handed(numbered, ORDERED, clock="source")[0]
    quirks.loaded("qwen3_vl", simple=False)
    monkeypatch.setenv(quirks.CLOCK_VARIABLE, "second")
    (part,) = handed(numbered, ORDERED)
    assert part["url"].rate == 1
    with pytest.raises(UserError, match="clock is 'minute'; it has to be one of source, second"):
        quirks.form_for({"clock": "minute"})


@pytest.mark.parametrize(
    ("model", "simple", "condition", "clock"),
    [
        ("qwen2_5_vl", False, "ordered16", "source"),
        ("qwen2_5_vl", True, "ordered16", "second"),
        ("unheard_of", True, "ordered16", "second"),
        ("qwen3_vl", False, "random1", "source"),
        ("openai", False, "ordered16", "none"),
        ("qwen2_5_vl", False, "blind", "none"),
        ("qwen2_vl", True, None, "source"),
    ],
)
def test_the_log_names_the_clock(
    numbered: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    model: str,
    simple: bool,
    condition: str | None,
    clock: str,
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    quirks.loaded(model, simple=simple)
    (tmp_path / "tvbench").mkdir()
    shutil.copy(numbered, tmp_path / "tvbench" / "v.mp4")
    document = {
        "id": f"{model}{simple}{condition}",
        "video": "v.mp4",
        "problem": "",
        "seconds": 3.6,
    }
    assert media.clock_of("tvbench", document) == ""
    shown = None if condition is None else Condition.parse(condition)
    paths = media.show("tvbench", document, shown)
    media.hand_over("tvbench", document, paths, None, shown)
    assert media.clock_of("tvbench", document) == clock


@pytest.mark.parametrize("clock", CLOCKS)
def test_audits_show_the_same_clips(numbered: Path, tmp_path: Path, clock: Any) -> None:
    shower = Shower(ORDERED, (), tmp_path, clock)
    own = clip_for(numbered, ORDERED, "q", tmp_path, clock=clock)
    assert shower.show(str(numbered), "q").visuals == [str(own)]


@pytest.mark.parametrize(
    ("model", "arguments", "warned"),
    [
        ("vllm", "model=Qwen/Qwen3-VL-8B-Instruct,nframes=16", True),
        ("async_openai", "model=qwen3.5-27b", True),
        ("vllm", "model=Qwen/Qwen3-VL-8B-Instruct,is_qwen3_vl=True", False),
        ("vllm", "model=Qwen/Qwen2.5-VL-7B-Instruct", False),
        ("openai", "model=Qwen/Qwen3-VL-8B-Instruct", False),
    ],
)
def test_a_qwen3_that_gets_no_times_is_warned_of(
    model: str, arguments: str, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lmms_eval.api.model import lmms

    workarounds.apply()
    said: list[str] = []
    monkeypatch.setattr(workarounds.logger, "warning", said.append)
    quirks.loaded(model, simple=False)
    build = lmms.__dict__["create_from_arg_string"].__func__
    build(SimpleNamespace, arguments)
    assert quirks._loaded == [(model, False, arguments)]
    assert len(said) == warned
    if warned:
        assert "is_qwen3_vl=True" in said[0] and said[0].count(". ") == 0
