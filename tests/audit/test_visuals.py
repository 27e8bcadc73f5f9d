"""Visuals of every shape under the conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.audit.recorder_frames import numbers_of
from tests.preprocessing.conftest import numbered_frame, write_video
from video_reasoning.preprocessing.frames import NumberedFrames
from video_reasoning.tasks.audit.variants import parse_all
from video_reasoning.tasks.audit.visuals import (
    NotShownError,
    Shower,
    described,
    kind_of,
    placeholder_for,
    visuals_of,
)

N_FRAMES = 20
RATE = 5
CONDITIONS = ("ordered", "shuffled", "random1", "last1", "handpicked1", "blind")


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_video(tmp_path_factory.mktemp("videos") / "v.mp4", N_FRAMES, rate=RATE))


@pytest.fixture
def showers(tmp_path: Path) -> dict[str, Shower]:
    variants = parse_all(CONDITIONS, 4)
    together = tuple(v.condition for v in variants if v.condition)
    return {v.kind: Shower(c, together, tmp_path) for v in variants if (c := v.condition)}


def frames(count: int = 6) -> list[Image.Image]:
    return [Image.fromarray(numbered_frame(number, 32, 32)) for number in range(count)]


@pytest.mark.parametrize(
    "given",
    [
        "{}",
        ["{}"],
        ("{}",),
        [Path("v")],
        [{"type": "video", "url": "{}"}],
        ["file://{}"],
        [{"type": "video", "video": {"path": "{}"}}],
    ],
)
def test_a_video_however_it_is_named(given: Any, video: str, showers: dict[str, Shower]) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.format(video)
        if isinstance(value, dict):
            return {key: filled(inner) for key, inner in value.items()}
        return Path(video) if isinstance(value, Path) else type(value)(map(filled, value))

    shown = showers["ordered"].show(filled(given), "q")
    assert shown.shape == "1 video" and shown.source == video
    assert [numbers_of(path) for path in shown.visuals] == [[0, 6, 12, 19]]


def test_every_condition_from_one_decode(
    video: str, showers: dict[str, Shower], monkeypatch: pytest.MonkeyPatch
) -> None:
    decodes = []
    read = NumberedFrames.read

    def counted(self: Any, choose: Any, make: Any) -> Any:
        decodes.append(sorted(choose(self.n_frames)))
        return read(self, choose, make)

    monkeypatch.setattr(NumberedFrames, "read", counted)
    seen = {
        kind: [numbers_of(path) for path in shower.show([video], "q", 5).visuals]
        for kind, shower in showers.items()
    }
    assert len(decodes) == 1
    assert seen["ordered"] == [[0, 6, 12, 19]] and seen["blind"] == []
    assert sorted(seen["shuffled"][0]) == [0, 6, 12, 19]
    assert seen["last"] == [[19, 19]] and seen["handpicked"] == [[5, 5]]
    assert len(set(seen["random"][0])) == 1
    # Another question about the video: other draws, the same frames in order.
    again = showers["ordered"].show([video], "other").visuals
    assert again == showers["ordered"].show([video], "q").visuals


def test_a_part_of_a_video(video: str, showers: dict[str, Shower]) -> None:
    part = {"type": "video", "path": video, "video_start": 1.0, "video_end": 3.0}
    shown = showers["ordered"].show([part], "q")
    assert shown.shape == "1 video with times"
    assert set(numbers_of(shown.visuals[0])) <= set(range(5, 15))
    assert numbers_of(showers["last"].show([part], "q").visuals[0]) == [14, 14]
    open_end = {**part, "video_start": 2.0, "video_end": -1}
    assert numbers_of(showers["last"].show([open_end], "q").visuals[0]) == [19, 19]
    with pytest.raises(NotShownError, match="No frame"):
        showers["ordered"].show([{**part, "video_start": 90.0, "video_end": 95.0}], "q")


def test_several_videos(video: str, showers: dict[str, Shower], tmp_path: Path) -> None:
    second = str(write_video(tmp_path / "w.mp4", 12, rate=RATE))
    shown = showers["ordered"].show([video, second], "q")
    assert shown.shape == "2 videos"
    assert [numbers_of(path)[-1] for path in shown.visuals] == [19, 11]
    assert showers["blind"].show([video, second], "q").visuals == []
    with pytest.raises(NotShownError, match="does not say of which"):
        showers["handpicked"].show([video, second], "q", 3)


def test_images_are_chosen_from(showers: dict[str, Shower]) -> None:
    given = frames()
    assert showers["ordered"].show(given, "q").visuals == [given[n] for n in (0, 1, 3, 5)]
    assert showers["last"].show(given, "q").visuals == given[-1:]
    assert showers["handpicked"].show(given, "q", 2).visuals == given[2:3]
    assert showers["blind"].show(given, "q").visuals == []
    assert showers["ordered"].show(given[:3], "q").visuals == given[:3]  # none twice
    assert showers["ordered"].show(given, "q").shape == "6 images"
    shuffled = showers["shuffled"].show(given, "q").visuals
    assert sorted(map(id, shuffled)) == sorted(id(given[n]) for n in (0, 1, 3, 5))
    with pytest.raises(NotShownError):
        showers["handpicked"].show(given, "q", 6)


def test_a_list_of_frames_in_a_list_stays_one(showers: dict[str, Shower]) -> None:
    given = frames()
    shown = showers["ordered"].show([given], "q")
    assert shown.visuals == [[given[n] for n in (0, 1, 3, 5)]] and shown.shape == "6 images"
    assert showers["blind"].show([given], "q").visuals == []


def test_arrays_of_frames(showers: dict[str, Shower]) -> None:
    array = np.stack([np.repeat(numbered_frame(n, 32, 32)[..., None], 3, -1) for n in range(6)])
    (shown,) = showers["ordered"].show(array, "q").visuals
    assert np.array_equal(shown, array[[0, 1, 3, 5]])
    assert showers["blind"].show([array], "q").visuals == []
    with pytest.raises(NotShownError, match="2 arrays of frames"):
        showers["ordered"].show([array, array], "q")
    # Frames one by one, each an array of three dimensions.
    chosen = showers["ordered"].show(list(array), "q").visuals
    assert all(np.array_equal(a, array[n]) for a, n in zip(chosen, (0, 1, 3, 5), strict=True))


def test_sound_and_pictures_beside_a_video_stay(video: str, showers: dict[str, Shower]) -> None:
    picture = frames(1)[0]
    given = [picture, video, "speech.wav"]
    shown = showers["ordered"].show(given, "q")
    assert shown.shape == "1 image and 1 video and 1 sound"
    assert shown.visuals[0] is picture and shown.visuals[2] == "speech.wav"
    assert showers["blind"].show(given, "q").visuals == [picture, "speech.wav"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "nothing"),
        (None, "nothing"),
        (["https://host/v.mp4"], "address"),
        ([object()], "object of type object"),
        (["only.wav"], "no video"),
        (["one.jpg"], "single image"),
        (["/nowhere/at/all.mp4"], "does not exist"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_reason(
    given: Any, reason: str, showers: dict[str, Shower]
) -> None:
    with pytest.raises(NotShownError, match=reason):
        showers["ordered"].show(given, "q")


def test_a_folder_is_no_video(showers: dict[str, Shower], tmp_path: Path) -> None:
    with pytest.raises(NotShownError, match="folder"):
        showers["ordered"].show([str(tmp_path)], "q")


def test_a_pick_outside_the_video_is_one_conditions_fault(
    video: str, showers: dict[str, Shower]
) -> None:
    assert showers["ordered"].show([video], "q", 99).visuals
    with pytest.raises(NotShownError, match="99"):
        showers["handpicked"].show([video], "q", 99)


def test_chat_messages_keep_their_text(video: str, showers: dict[str, Shower]) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "First:"},
                {"type": "video", "url": video, "start_time": 1.0, "end_time": 2.0, "nframes": 64},
                {"type": "text", "text": "Second:"},
                {"type": "video", "url": video},
                {"type": "text", "text": "Which?"},
            ],
        },
    ]
    replaced, shown = showers["ordered"].replace(messages, visuals_of(messages), "q")
    assert shown.shape == "2 videos with times"
    assert replaced[0] == messages[0]
    content = replaced[1]["content"]
    assert [part["type"] for part in content] == ["text", "video", "text", "video", "text"]
    assert set(content[1]) == {"type", "url"}  # neither times nor sampling of the whole video
    assert set(numbers_of(content[1]["url"])) <= set(range(5, 10))
    assert numbers_of(content[3]["url"]) == [0, 6, 12, 19]
    blind, _ = showers["blind"].replace(messages, visuals_of(messages), "q")
    assert [part["text"] for part in blind[1]["content"]] == ["First:", "Second:", "Which?"]
    assert visuals_of(messages)[1] == video
    assert messages[1]["content"][1]["nframes"] == 64  # the task's own are not written into


def test_frames_in_chat_messages(showers: dict[str, Shower]) -> None:
    given = frames()
    content: list[dict[str, Any]] = []
    for number, frame in enumerate(given):
        content += [{"type": "text", "text": f"{number}:"}, {"type": "image", "url": frame}]
    messages = [{"role": "user", "content": content}]
    replaced, _ = showers["ordered"].replace(messages, visuals_of(messages), "q")
    kept = [part["url"] for part in replaced[0]["content"] if part["type"] == "image"]
    assert kept == [given[n] for n in (0, 1, 3, 5)]
    assert sum(part["type"] == "text" for part in replaced[0]["content"]) == len(given)


def test_names_and_kinds(video: str) -> None:
    given = frames(2)
    assert (
        described(given)[1] == described([given[0].copy(), given[1]])[1] != described(given[1])[1]
    )
    assert described([video]) == ("1 video", video)
    assert kind_of({"type": "audio", "url": "a.mp4"}) == "sound"
    assert kind_of({"array": [0.0], "sampling_rate": 1}) == "sound"
    assert kind_of({"type": "text"}) is None
    assert kind_of(np.zeros(3)) is None
    assert placeholder_for(given)[0].size == (320, 240)
    assert Path(placeholder_for([video])[0]).exists()
