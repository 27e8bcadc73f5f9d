"""Kills and signals, a few of each; `check_kills` tries many."""

from __future__ import annotations

import random
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.reliability import check_kills
from tests.reliability.runs import (
    COMMAND,
    Running,
    half_written,
    hidden,
    run,
    tree,
    write_event_videos,
    write_release,
)
from video_reasoning.preprocessing import children
from video_reasoning.preprocessing.workers import EngineError, Lost, Workers
from video_reasoning.tasks.cli import interrupts


def double(number: int) -> int:
    return 2 * number


def odd(number: int) -> int:
    """Dies, hangs, or fails, by its number."""
    import os

    if number == 1:
        os.abort()
    if number == 2:
        raise ValueError("two\nlines")
    if number == 3:
        time.sleep(600)
    return number


def full(number: int) -> int:
    if number == 2:
        raise OSError(28, "No space left on device", "/somewhere")
    return number


def test_every_task_has_one_outcome() -> None:
    with Workers(2) as team:
        assert sorted(team.each(double, range(20))) == [(n, 2 * n) for n in range(20)]
        assert list(team.each(double, [])) == []


def test_a_worker_that_dies_or_hangs_names_its_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LIMIT_SECONDS", 12.0)
    with Workers(2) as team:
        found = dict(team.each(odd, range(6)))
    assert [found[place] for place in (0, 4, 5)] == [0, 4, 5]
    assert found[1] == Lost("the process that worked on it died (SIGABRT), twice")
    assert found[2] == Lost("an unexpected ValueError: two lines")
    assert found[3] == Lost("it was not done after 12 s and was ended")


@pytest.mark.parametrize("isolate", [True, False])
def test_a_fault_of_the_place_ends_the_work(isolate: bool) -> None:
    with Workers(1, isolate=isolate) as team, pytest.raises(OSError, match="/somewhere") as raised:
        list(team.each(full, range(5)))
    assert raised.value.errno == 28


def test_work_that_is_broken_off_leaves_no_process() -> None:
    def working() -> list[str]:
        names = [thread.name for thread in threading.enumerate()]
        return [name for name in names if name.startswith("hands out work")]

    with Workers(2) as team:
        outcomes = team.each(odd, [0, 3, 3])
        assert next(outcomes) == (0, 0)
        assert working()
        outcomes.close()
    # Each thread ends with its process; other tests' threads come and go as they like.
    assert not working()


def test_engines_are_known() -> None:
    with pytest.raises(EngineError, match="the engines are local, dask, ray"):
        Workers(1, "spark")
    with pytest.raises(EngineError, match="has no address"):
        Workers(1, "local", "tcp://there:8786")


def test_killed_again_and_again_prepare_comes_to_the_same_store(tmp_path: Path) -> None:
    source = write_release(tmp_path / "release", stems=2)
    command = [*COMMAND, "prepare", "blackswan", "--source", source, "--home"]
    assert run([*command, tmp_path / "whole"], tmp_path / "log").code == 0
    whole = tree(tmp_path / "whole")
    assert len([name for name in whole if "/clips/" in name]) == 2
    # At the beginning, where it checks, and where it joins, by the files that are there then.
    for sign in (".checked.jsonl", "clips"):
        running = Running([*command, tmp_path / "out"], tmp_path / "log")
        while not (tmp_path / "out/blackswan" / sign).exists() and not running.wait(0.005):
            pass
        running.send(signal.SIGKILL)
        assert running.end().code == -signal.SIGKILL
        assert running.survivors() == []
        assert half_written(tmp_path / "out", whole) == []
    assert run([*command, tmp_path / "out"], tmp_path / "log").code == 0
    assert tree(tmp_path / "out") == whole
    assert hidden(tmp_path / "out") == []


def test_a_video_that_crashes_or_hangs_the_decoder_is_recorded(tmp_path: Path) -> None:
    assert check_kills.poison(tmp_path).losses == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_group_gives_one_sentence(tmp_path: Path, number: int) -> None:
    times = write_event_videos(tmp_path / "falls", 3)
    out = tmp_path / "out"
    command = [*COMMAND, "split", "--videos", tmp_path / "falls", "--transition-times", times]
    running = Running([*command, "--out", out], tmp_path / "log", TMPDIR=str(tmp_path))
    before = {path.name for path in tmp_path.iterdir()} | {"out"}
    while not list(out.glob("*_A_preevent.mp4")) and not running.wait(0.005):
        pass
    running.send(number)
    ended = running.end(60)
    assert ended.code == 128 + number
    (line,) = ended.output.splitlines()
    kept = "Clips and records made so far are kept; run the same command again to go on."
    assert line == f"video-reasoning: {check_kills.SIGNALS[signal.Signals(number)]} {kept}"
    assert running.survivors() == []
    assert {path.name for path in tmp_path.iterdir()} <= before


def test_an_interrupt_inside_a_destructor_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    class Slow:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), interrupts.heard() as signals:
        try:
            Slow()
            time.sleep(10)
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert signals.number == signal.SIGINT
    assert "Traceback" not in capfd.readouterr().err


def test_random_moments(tmp_path: Path) -> None:
    videos = write_event_videos(tmp_path / "falls", 4, seconds=3).with_name("falls")
    subject = check_kills.Subject("clips", [*check_kills.MAKER, videos])
    check_kills.measure(subject, tmp_path)
    count = check_kills.kill_and_resume(subject, tmp_path, 3, random.Random(1))
    assert count.kills >= 3
    assert count.losses == []
