"""`video-reasoning sight`: what is read off a probe, and what is said about it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.harness.conftest import forked
from tests.harness.served import serve
from video_reasoning.tasks import launcher, store
from video_reasoning.tasks.cli import sight as command
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.models import probed, quirks
from video_reasoning.tasks.sight import asking, caught, naming, probe, verdict
from video_reasoning.tasks.sight.asking import Asked, Model
from video_reasoning.tasks.sight.caught import Catch, Look
from video_reasoning.tasks.sight.clips import cells
from video_reasoning.tasks.sight.probes import FIRST_PART, FRAMES, LADDER, NAMED, PART, PROBES

BY_NAME = {each.name: each for each in PROBES}
ORDERED = list(range(1, 81, 5))
WHOLE = [round(1 + n * 79 / 15) for n in range(16)]
BEFORE = list(range(FIRST_PART, FIRST_PART + 16))
HIDDEN = list(range(FIRST_PART + PART, FIRST_PART + PART + 4))
AFTER = [n + 2 * PART for n in BEFORE]


# Frames


def test_frames_name_themselves() -> None:
    for number in range(256):
        image = Image.fromarray(naming.draw(number))
        assert naming.number_of(image) == number == naming.number_of(image.resize((140, 112)))
        parts = cells(np.asarray(image.convert("RGB")))[:16]
        normalized = [(value / 255 - 0.45) / 0.27 for value in parts]
        black, white = -0.45 / 0.27, 0.55 / 0.27
        assert naming.number_in(normalized, black, white) == number
    with pytest.raises(ValueError, match="not a frame"):
        naming.number_of(Image.new("L", (224, 224), 128))
    assert naming.number_in([0.5] * 16, 0, 1) == naming.UNKNOWN
    assert naming.number_in([0, 1, 0, 1] + [0.0] * 12, 0, 1) == naming.UNKNOWN  # a tile of one


def test_a_ladders_frames_are_told_apart() -> None:
    levels = [int(naming.draw_gray(place)[0, 0]) for place in range(FRAMES)]
    assert max(levels) <= 255
    for off in (-1, 0, 1):
        found = [naming.place_of(level + off, FRAMES) for level in levels]
        assert found == list(range(FRAMES))
    assert naming.place_of(0, FRAMES) == -1 and naming.place_of(300, FRAMES) is None


# What is read


def look(number: int) -> Look:
    return Look(tuple(v / 100 - 1 for v in cells(naming.draw(number)[..., None].repeat(3, 2))[:16]))


def gray(number: int) -> Look:
    return Look((naming.draw_gray(number - 1)[0, 0] / 50 - 3,))


def row(name: str, numbers: Sequence[int], text: str = "", **how: Any) -> verdict.Row:
    """The row of a condition that came like this, beside frames in order that arrived."""
    kept = Catch({"tower": [look(number) for number in numbers]}, [text])
    expected = {"ordered16": ORDERED, "random1": [7], "blind": []}.get(name)
    asked = Asked(
        BY_NAME[name], NAMED, expected, **{"how": "tower", "known": True, **how}, caught=kept
    )
    other = Catch({"tower": [look(number) for number in ORDERED]})
    whole = Asked(BY_NAME["shuffled16"], NAMED, ORDERED, "tower", True, other)
    return next(each for each in verdict.rows([asked, whole], 16) if each.condition == name)


@pytest.mark.parametrize(
    ("name", "numbers", "seen", "problem"),
    [
        ("ordered16", ORDERED, 16, ""),
        ("ordered16", [n for n in ORDERED for _ in "ab"], 16, ""),
        ("ordered16", [*ORDERED[:5], ORDERED[4], *ORDERED[6:]], 15, "1 of 16 frames did not"),
        ("ordered16", [*ORDERED[1::-1], *ORDERED[2:]], 16, "another order"),
        ("ordered16", [*ORDERED[:15], 3], 16, "1 frame arrived that was not shown"),
        ("random1", [7] * 16, 1, ""),
        ("random1", [], 0, "1 of 1 frames did not"),
        ("blind", [], 0, ""),
        ("blind", ORDERED, 16, "16 frames arrived with a question that shows none"),
        ("whole video", WHOLE, 16, ""),
        ("whole video", WHOLE[:10], 10, "10 frames arrived, 16 are asked for"),
        ("whole video", [*WHOLE[:15], 90], 16, "another video"),
        ("two clips", BEFORE + AFTER, 32, ""),
        ("two clips", AFTER + BEFORE, 32, "the end arrived before"),
        ("two clips", BEFORE + AFTER[:15], 31, "15 frames arrived"),
        ("hidden middle", [*BEFORE[:6], 0, 0, *AFTER[:6]], 12, ""),
        ("hidden middle", [*BEFORE[:6], *HIDDEN, *AFTER[:6]], 16, "4 frames of the hidden"),
        ("hidden middle", BEFORE + AFTER, 32, "the black middle did not"),
    ],
)  # fmt: skip
def test_what_is_not_as_shown_is_found(
    name: str, numbers: list[int], seen: int, problem: str
) -> None:
    found = row(name, numbers)
    assert found.seen == (seen,)
    assert problem in found.problem and bool(problem) == bool(found.problem)


def test_what_is_not_known_is_not_right() -> None:
    assert "cannot be told" in row("ordered16", ORDERED, known=False).problem
    assert "cannot be told" in row("blind", [], how="").problem
    assert row("blind", [], how="").seen == (None,)
    assert row("ordered16", [], known=False).seen == (None,)  # a server got the video itself
    assert row("ordered16", ORDERED, failure="IndexError: list index").problem == (
        "IndexError: list index"
    )


def test_gray_pictures_are_not_frames() -> None:
    kept = Catch({"tower": [Look((0.5,) * 16)] * 16})
    asked = Asked(BY_NAME["ordered16"], NAMED, ORDERED, "tower", True, kept)
    (found,) = verdict.rows([asked], 16)
    assert found.seen == (0,) and "1 frame arrived that was not shown" in found.problem


def test_marks_that_contradict_are_found() -> None:
    marks = "".join(f"Frame{n}: <image>\n" for n in range(1, 17))
    assert row("ordered16", ORDERED, marks).problem == ""
    assert row("ordered16", ORDERED, marks).marks == 16
    assert row("random1", [7], marks).problem == "the prompt numbers 16 frames before 1"


def test_patches_without_a_layout_are_read_off_a_ladder() -> None:
    def asked(name: str, kind: str, numbers: Sequence[int], known: bool) -> Asked:
        looks = [gray(number) for number in numbers for _ in range(49)]
        expected = {"ordered16": WHOLE, "random1": [7]}[name]
        return Asked(BY_NAME[name], kind, expected, "tower", known, Catch({"tower": looks}))

    def problems(*given: Asked) -> list[str]:
        return [each.problem for each in verdict.rows(given, 16)]

    # Which patches are a frame is not known, and a frame that names itself cannot be read.
    names = asked("ordered16", NAMED, [5], False)
    ladder = asked("ordered16", LADDER, WHOLE, False)
    assert problems(names, ladder, asked("random1", LADDER, [7], False)) == ["", ""]
    assert "not shown" in problems(ladder, asked("random1", LADDER, [8], False))[1]


@pytest.mark.parametrize(
    ("texts", "seconds", "told"),
    [
        (["<0.5 seconds>x<14.5 seconds>"], [], "0.5..14.5 s"),
        (["The video lasts for 16.00 seconds, and 16 frames"], [], "16 s"),
        (["00:00 x 01:05 y"], [], "0..65 s"),
        (["Frame 1 of a video"], [4.0, 3.0], "4 s + 3 s"),
        (["Choose one of the following options."], [], ""),
    ],
)
def test_the_time_that_is_told(texts: list[str], seconds: list[float], told: str) -> None:
    assert caught.time_told(Catch({}, texts, seconds)) == told


def test_nothing_is_kept_unless_somebody_probes() -> None:
    from video_reasoning.tasks.sight.seen import Span

    span = Span([], False)
    assert caught.catch(span) is None
    with caught.catching() as found:
        assert caught.catch(span) is caught.catch(span) is found[span]
    assert caught.catch(span) is None


# What is said


def result(*rows: verdict.Row, model: str = "openai") -> probe.Result:
    return probe.Result(Model(model), "chat", rows, {"blind": "x " * 60}, ("Add y. " * 20,))


def test_the_table_fits_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(name, ORDERED) for name in BY_NAME if name != "shuffled16"]
    wide = {"time": "1234.5 s + 1234.5 s", "size": "1024x1024", "order": "uneven", "pictures": 128}
    command.show(result(*(verdict.Row(**{**each.as_json(), **wide}) for each in rows)))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "16 in 128" in printed and "refused" in printed and "1024x1024" in printed


@pytest.mark.parametrize(
    ("model", "forced", "said"),
    [
        (Model("qwen2_5_vl", "pretrained=x,max_num_frames=8"), "", "Add max_num_frames=16 to"),
        (Model("openai", "max_frames_num=16"), "clip", "Leave out VIDEO_REASONING_FRAMES_AS=clip"),
        (Model("qwen3_vl", "max_num_frames=16", simple=True), "", "Leave out --force_simple."),
        (Model("internvl2", "modality=video"), "", "Give modality=image"),
        (Model("unheard_of"), "", "try VIDEO_REASONING_FRAMES_AS=images"),
        (Model("qwen2_5_vl", "max_num_frames=16"), "", "No argument is known"),
    ],
)
def test_the_argument_that_helps_is_named(
    model: Model, forced: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(quirks.VARIABLE, forced)
    bad, good = row("random1", []), row("random1", [7])
    assert probe.advice(model, "chat", [good], 16) == []
    assert said in probe.advice(model, "chat", [bad], 16)[0]


def test_a_class_that_shows_no_video_is_refused() -> None:
    with pytest.raises(UserError, match="video_llava cannot be shown a video"):
        probe.probe(Model("video_llava"))


def test_who_was_never_probed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "home"))
    rows = [{"model": "openai", "form": "chat"}, {"model": "openai", "form": "simple"}]
    monkeypatch.setattr(probed, "measured", lambda: [*rows, {"model": "qwen3_vl", "form": "chat"}])
    for model in ("openai", "openai_compatible", "random_choice", ""):
        assert probed.unprobed(model, simple=False) == probed.unprobed(model, simple=True) == ""
    assert "video-reasoning sight --model some" in probed.unprobed("some", simple=False)
    assert probed.remember("some", "chat", True, {"lmms_eval": "0"}) == tmp_path / "home/sight.json"
    assert probed.remember("other", "simple", False, {}) is not None
    assert probed.unprobed("some", simple=False) == probed.unprobed("other", simple=True) == ""
    # The other form of a class is another model.
    for model, simple in (("qwen3_vl", True), ("some", True)):
        assert "--force_simple was never measured" in probed.unprobed(model, simple=simple)
    assert probed.unprobed("qwen3_vl", simple=False) == ""
    # Of one form, given without the flag and with it.
    assert probed.unprobed("other", simple=False) == ""
    assert "qwen2_vl" in probed.unprobed("qwen2_vl", simple=False)
    probed.remember("qwen2_vl", "simple", True, {})
    assert probed.unprobed("qwen2_vl", simple=False) == probed.unprobed("qwen2_vl", simple=True)
    assert set(json.loads((tmp_path / "home/sight.json").read_text())) == {
        "some (chat)", "other (simple)", "qwen2_vl (simple)"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("--model idefics2 --tasks tvbench_tomato", 1),
        ("--model idefics2 --tasks mme", 0),
        ("--model sample_observer --tasks tvbench_tomato", 0),
    ],
)
def test_a_run_says_so_in_one_line(
    arguments: str,
    lines: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    monkeypatch.setattr(launcher.registry, "missing_data", lambda _: [])
    monkeypatch.setattr(launcher.registry, "losses", lambda _: [])
    monkeypatch.setattr(launcher, "_evaluate", lambda _: 0)
    for expected in (lines, 0):
        assert launcher.main(arguments.split()) == 0
        said = [line for line in capsys.readouterr().err.splitlines() if "never measured" in line]
        assert len(said) == expected
        probed.remember("idefics2", "simple", True, {})


# Whole probes


@pytest.fixture
def sight(tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any], dict[str, Any]]]:
    """Runs the command: its exit code, what it found, and its rows by condition."""

    def run(*words: str, **variables: str) -> tuple[int, dict[str, Any], dict[str, Any]]:
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
            store.HOME_VARIABLE: str(tmp_path / "home"), "HF_HOME": str(tmp_path / "hf"),
            "OMP_NUM_THREADS": "1", "COMMAND": "video-reasoning", **variables,
        }  # fmt: skip
        module = "tests.sight.broken" if "BROKEN" in variables else command.__package__ + ".main"
        given = ["sight", *words, "--format", "json"]
        code, printed = forked(module, given, tmp_path, environment)
        found = json.loads(printed[printed.index("{") :])
        return code, found, {each["condition"]: each for each in found["rows"]}

    return run


@pytest.mark.harness
def test_a_served_model_that_gets_too_few_of_a_whole_video(sight: Any, tmp_path: Path) -> None:
    with serve(lambda _: "A") as served:
        code, found, rows = sight(
            "--model", "openai", "--probes", "2",
            "--model_args", f"model=m,max_frames_num=8,base_url={served.url},api_key=secret",
        )  # fmt: skip
    assert code == 1 and found["form"] == "chat" and not found["refused"]
    bad = {name: each["problem"] for name, each in rows.items() if each["problem"]}
    assert bad.pop("whole video") == "8 frames arrived, 16 are asked for (4 of 4 probes)"
    assert bad.pop("two clips").startswith("8 frames arrived") and not bad
    assert found["advice"] == ["Add max_frames_num=16 to --model_args."]
    assert rows["shuffled16"]["seen"] == [16, 16] and rows["shuffled16"]["order"] == "yes"
    assert rows["blind"]["seen"] == [0, 0] and rows["last1"]["seen"] == [1] * 4
    note = (tmp_path / "home" / probed.REMEMBERED).read_text()
    assert "openai (chat)" in note and "secret" not in note


@pytest.mark.harness
def test_a_model_that_does_not_load_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The harness's own command, over a class of it which fails to load."""
    from lmms_eval.models.simple.dummy import Dummy

    def fails(self: Any, *args: Any, **kwargs: Any) -> None:
        raise OSError("No weights in x. Try another name,\nfor example.")

    monkeypatch.setattr(Dummy, "__init__", fails)
    own = dict(Dummy.__dict__)
    asked = [each for each in PROBES if each.name == "blind"]
    with pytest.raises(UserError) as raised:
        asking.ask(Model("dummy"), asked, [NAMED])
    assert str(raised.value) == (
        "dummy does not load with these arguments: OSError: No weights in x."
    )
    assert dict(Dummy.__dict__) == own


@pytest.mark.parametrize(
    ("cause", "printed", "said"),
    [
        (f"ValueError: {'w' * 900}", "", f"load with these arguments: ValueError: {'w' * 288}..."),
        ("", "x\nlmms_eval: No data is there: prepare it.\nBye", "last: No data is there: prepare"),
        ("", "Killed by the system\n\n", "last: Killed by the system."),
        ("", "", "last: nothing."),
    ],
)
def test_why_nothing_was_asked_is_one_sentence(
    cause: str, printed: str, said: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.txt"
    log.write_text(printed)
    found = asking._why_nothing_was_asked(Model("m"), cause, log)
    assert said in found and "\n" not in found and len(found) < 400


@pytest.mark.harness
@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "problem"),
    [("", ""), ("dropped", "1 of 16 frames did not arrive"), ("swapped", "another order")],
)
def test_a_local_model(sight: Any, tmp_path: Path, broken: str, problem: str) -> None:
    from tests.harness.tiny_qwen import write

    arguments = (
        f"pretrained={write(tmp_path / 'tiny')},device_map=cpu,max_num_frames=16,min_pixels=784,"
        "max_pixels=50176,attn_implementation=eager"
    )
    code, found, rows = sight(
        "--model", "qwen2_5_vl", "--model_args", arguments, "--device", "cpu",
        FORCE_QWENVL_VIDEO_READER="decord", **({"BROKEN": broken} if broken else {}),
    )  # fmt: skip
    assert code == (1 if broken else 0), found
    assert problem in rows["ordered16"]["problem"]
    assert rows["random1"] == {**rows["random1"], "seen": [1, 1], "pictures": 2, "problem": ""}
    assert rows["hidden middle"]["problem"] == (
        "" if not broken else rows["hidden middle"]["problem"]
    )
    assert rows["ordered16"]["time"] and rows["ordered16"]["size"] == "224x224"
