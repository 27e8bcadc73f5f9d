"""Some of the broken and odd inputs of `check_faults`, in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability import alone, check_faults, inputs, texts
from tests.reliability.corpus import CASES, write
from tests.reliability.guard import Tally, command, guarded

FEW = (
    "cut at 50%", "cut, header at the end", "cut flv", "no bytes", "web page", "random bytes",
    "playlist", "empty header", "headers in headers", "two billion samples", "only sound",
    "sound with a cover", "two video streams", "one frame", "two frames", "no duration",
    "endless duration", "frames of months", "variable rate", "each time twice", "negative times",
    "huge times", "edit list, first half hidden", "edit list, all hidden", "no first key frame",
    "turned by 90", "1x1, GIF", "1x99", "GIF of 16000x16000", "size changes", "H.264, 10 bits",
    "HEVC", "VP9", "AV1", "GIF", "Flash", "flipped bits, data 1", "flipped bits, header 2",
    "halves swapped", "folder", "dangling link", "link loop", "pipe", "name: newline",
    "name: leading dash", "name: no UTF-8", "name: very long", "name: protocol",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _imported() -> None:
    check_faults.imports()


@pytest.mark.parametrize("name", FEW)
def test_a_video_meets_everything_that_reads_one(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    made = guarded(lambda: (write(tmp_path / "videos", [case]), alone.good_video(tmp_path)))
    assert not made.loss, made.loss
    (written, skipped), good = made.value
    if skipped:
        pytest.skip(skipped[name])
    tally = Tally()
    alone.judge(case, written[name], alone.meet(written[name], good), tally)
    assert not tally.losses
    assert sum(tally.tried.values()) == len(alone.STEPS)


@pytest.fixture(scope="module")
def good_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs") / "good"
    made = guarded(lambda: inputs.build(folder))
    assert not made.loss, made.loss
    return folder


@pytest.mark.parametrize(
    "fault",
    ["empty", "UTF-16", "escaped surrogate", "deep lists", "binary", "cut in the middle", "pipe"],
)
@pytest.mark.parametrize(
    "name",
    ["prepare tvbench", "prepare causalvqa", "prepare blackswan", "build-questions",
     "handpick, picks", "report, log", "compare, results", "doctor, manifest"],
)  # fmt: skip
def test_a_spoiled_file_is_told_of(
    name: str, fault: str, good_inputs: Path, tmp_path: Path
) -> None:
    each = next(each for each in inputs.INPUTS if each.name == name)
    here = tmp_path / "copy"
    inputs.copied(good_inputs, here)
    texts.spoil(here / each.file, fault)
    arguments = [word.replace("{}", str(here)) for word in each.arguments]
    outcome = command(*arguments, home=here / "store")
    assert not outcome.loss, outcome.loss
    assert len(outcome.output) < 20_000


def test_a_loss_is_seen() -> None:
    def crash() -> None:
        import faulthandler
        import os

        faulthandler.disable()  # pytest's would print where it was
        os.abort()

    def hang() -> None:
        import time

        time.sleep(60)

    assert "SIGABRT" in guarded(crash).loss
    assert "hung" in guarded(hang, seconds=0.5).loss
    assert "ZeroDivisionError" in guarded(lambda: 1 / 0).loss
    assert guarded(lambda: print("Traceback (most recent call last)")).loss


@pytest.mark.harness
def test_whole_releases_with_broken_videos(tmp_path: Path) -> None:
    names = {*FEW[:12], "Flash", "folder", "pipe", "dangling link", "name: newline", "1x1, GIF"}
    tally = Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_faults, "CASES", [case for case in CASES if case.name in names])
        check_faults.check_stores(tmp_path, tally)
    assert not tally.losses
    assert tally.tried["evaluations"] > 50
