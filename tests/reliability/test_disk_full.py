"""Full disks, by a limit on the size of files or a failing call; `check_disk_full` mounts one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.reliability import check_disk_full
from tests.reliability.check_crowd import prepare_command
from tests.reliability.runs import hidden, tree, write_event_videos, write_release
from video_reasoning.preprocessing import files
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.preprocessing.split import split_folder
from video_reasoning.tasks import media
from video_reasoning.tasks.cli import interrupts
from video_reasoning.tasks.prepare.build import prepare


def test_prepare_says_what_could_not_be_written_and_goes_on(tmp_path: Path) -> None:
    command = prepare_command(write_release(tmp_path / "release", stems=2))
    assert check_disk_full.limited(command, tmp_path, 24) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_at_the_last_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A file server tells of a quota only when a file is settled."""

    def refuse(descriptor: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files.os, "fsync", refuse)
    target = tmp_path / "clips" / "one.mp4"
    with pytest.raises(OSError) as raised, atomic_path(target) as temporary:
        temporary.write_bytes(b"whole")
    assert raised.value.errno == number and raised.value.filename == str(target)
    assert list(target.parent.iterdir()) == []
    sentence = interrupts.storage_problem(raised.value)
    assert sentence.startswith(f"{target} cannot be written: ")
    assert "Make room there, or choose another place." in sentence
    assert ("MiB free in" in sentence) == (number == errno.ENOSPC)


def test_split_stops_at_a_full_disk_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = write_event_videos(tmp_path / "falls", 3)
    split_folder(tmp_path / "falls", times, tmp_path / "whole")
    out, room = tmp_path / "out", 8
    original = os.fsync

    def fill(descriptor: int) -> None:
        nonlocal room
        room -= 1
        if room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", fill)
        with pytest.raises(OSError, match="No space left"):
            split_folder(tmp_path / "falls", times, out)
    assert len(list(out.glob("*.mp4"))) == 8
    done = []
    split_folder(tmp_path / "falls", times, out, progress=lambda record, *_: done.append(record))
    assert tree(out) == tree(tmp_path / "whole")
    assert hidden(out) == []


def test_a_video_that_cannot_be_read_is_told_from_a_store_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_release(tmp_path / "release", stems=2)
    broken = source / "videos/1_A_preevent.mp4"
    original = Path.open

    def refuse(path: Path, *arguments: object, **settings: object) -> object:
        if path.name == broken.name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return original(path, *arguments, **settings)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refuse)
        manifest = prepare("blackswan", source, store_home=tmp_path / "home", workers=1)
    (missing,) = manifest["splits"]["validation"]["missing"]
    assert "1_A_preevent.mp4 cannot be read: Permission denied" in missing["reason"]
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        prepare("blackswan", source, store_home=tmp_path / "file", workers=1)


def test_the_placeholder_needs_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from video_reasoning.preprocessing.video import verify

    def refuse(target: Path, make: object) -> Path:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    if not hasattr(os, "memfd_create"):
        pytest.skip("this system keeps no file in memory alone")
    monkeypatch.setattr(media, "make_once", refuse)
    media.placeholder.cache_clear()
    try:
        assert verify(media.placeholder()).frames == media.PLACEHOLDER_FRAMES
    finally:
        media.placeholder.cache_clear()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EROFS, "the file system is read-only"),
        (errno.EACCES, "you have no right to it"),
        (errno.EIO, "the disk reports an error"),
        (errno.EFBIG, "ulimit -f"),
        (errno.ENOTDIR, "Not a directory"),
    ],
)
def test_each_fault_of_the_disk_has_its_sentence(number: int, words: str) -> None:
    sentence = interrupts.storage_problem(OSError(number, os.strerror(number), "/store/x"))
    assert words in sentence and "/store/x" in sentence and sentence.count("\n") == 0
