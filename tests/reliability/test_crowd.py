"""Several processes on one store; `check_crowd` tries more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability import check_crowd
from tests.reliability.runs import write_event_videos, write_release
from video_reasoning.preprocessing.files import Busy, exclusive, remove_leftovers
from video_reasoning.preprocessing.split import split_folder
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.prepare.build import prepare


def test_each_clip_is_made_once(tmp_path: Path) -> None:
    assert check_crowd.same_clips(tmp_path, 3) == []


def test_the_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    assert check_crowd.killed_holder(tmp_path) == []


def test_lock_files_of_a_machine_that_is_gone(tmp_path: Path) -> None:
    assert check_crowd.dead_machine(tmp_path) == []


def test_a_second_prepare_is_refused_and_does_no_harm(tmp_path: Path) -> None:
    source = write_release(tmp_path / "release", stems=1)
    lock_file = tmp_path / "home/blackswan/.prepare.lock"
    with exclusive(lock_file), pytest.raises(StoreError, match="Another process is preparing"):
        prepare("blackswan", source, store_home=tmp_path / "home", workers=1)
    prepare("blackswan", source, store_home=tmp_path / "home", workers=1)
    assert lock_file.exists()


def test_a_second_split_is_refused(tmp_path: Path) -> None:
    times = write_event_videos(tmp_path / "falls", 1)
    out = tmp_path / "out"
    with exclusive(out / ".manifest.jsonl.lock"), pytest.raises(Busy):
        split_folder(tmp_path / "falls", times, out)
    (record,) = split_folder(tmp_path / "falls", times, out)
    assert record.status == "split"


def test_leftovers_go_and_what_is_in_use_stays(tmp_path: Path) -> None:
    (tmp_path / ".old.mp4.lock").touch()
    (tmp_path / "clip.mp4").touch()
    with exclusive(tmp_path / ".held.lock"):
        remove_leftovers(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"clip.mp4", ".held.lock"}
    remove_leftovers(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]
