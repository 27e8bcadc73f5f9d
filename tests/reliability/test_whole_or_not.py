"""What a careless change would lose in silence: each of these was a mutation that no test saw."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.tasks.releases import tvbench_question, write_tvbench
from video_reasoning.preprocessing.files import content_id, lock
from video_reasoning.preprocessing.journal import journal, read_journal
from video_reasoning.preprocessing.video import VideoError, decode_strictly
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.handpick.record import Decision, PickLog
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.prepare.jobs import link_or_copy
from video_reasoning.tasks.release import source
from video_reasoning.tasks.store.picks import Pick, picks_file, write_picks


def test_the_content_id_is_of_the_whole_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(bytes(3 << 20) + b"a")
    second.write_bytes(bytes(3 << 20) + b"b")
    assert content_id(first) != content_id(second)


@pytest.mark.parametrize(("form", "behind", "frames"), [("mp4", 1, 1), ("mpegts", 3, 3)])
def test_a_corrupt_packet_is_a_fault(form: str, behind: int, frames: int) -> None:
    """In MPEG-TS only if no other recording begins within the next two packets."""
    packets = [
        SimpleNamespace(
            size=9, is_corrupt=corrupt, dts=time, is_keyframe=True, decode=lambda: ["frame"]
        )
        for time, corrupt in enumerate([False, True, *[False] * behind])
    ]
    container = SimpleNamespace(demux=lambda stream: packets, format=SimpleNamespace(name=form))
    stream = SimpleNamespace(codec_context=SimpleNamespace(name="mpeg2video", extradata=None))
    with pytest.raises(VideoError, match=f"data is missing after {frames} frames"):
        list(decode_strictly(Path("x.ts"), container, stream))
    del packets[2:]
    with pytest.raises(VideoError, match="data is missing"):
        list(decode_strictly(Path("x.ts"), container, stream))


def test_a_torn_line_of_a_journal_swallows_no_other(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b'{"n": 1}\n{"n": 2')
    with journal(path) as write:
        write({"n": 3})
    assert [entry["n"] for entry in read_journal(path)] == [1, 3]


def archive_of(path: Path, **members: bytes) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"{name}.mp4")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def test_a_cut_archive_leaves_no_half_member_and_is_not_complete(tmp_path: Path) -> None:
    archive = archive_of(tmp_path / "r.tar", whole=b"a" * 1000, cut=b"b" * 9000)
    archive.write_bytes(archive.read_bytes()[:6000])
    with pytest.raises(ReleaseError):
        source.unpack(archive, tmp_path / "scratch")
    left = [path.name for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert left == ["whole.mp4"]


@pytest.mark.parametrize(("content", "says"), [(b"xx", "cut short"), (b"xxxx", "larger")])
def test_a_member_has_the_size_that_its_header_says(
    tmp_path: Path, content: bytes, says: str
) -> None:
    members = iter([("a.mp4", 3, lambda: io.BytesIO(content))])
    with pytest.raises(ReleaseError, match=says):
        source._extract(tmp_path / "r.tar", members, tmp_path / "out", 100)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_interrupted_unpacking_is_not_called_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_of(tmp_path / "r.tar", one=b"1", two=b"2")
    copy = source._copy

    def killed(archive: Path, name: str, *more: Any) -> None:
        if name == "two.mp4":
            raise KeyboardInterrupt
        copy(archive, name, *more)

    monkeypatch.setattr(source, "_copy", killed)
    with pytest.raises(KeyboardInterrupt):
        source.unpack(archive, tmp_path / "scratch")
    monkeypatch.undo()
    folder = source.unpack(archive, tmp_path / "scratch")
    assert (folder / "two.mp4").read_bytes() == b"2"


def test_files_of_the_store_are_replaced_and_never_written_in_place(tmp_path: Path) -> None:
    home = tmp_path / "home"
    release = write_tvbench(tmp_path / "release", {"1": tvbench_question()})
    prepare("tvbench", release, store_home=home, workers=1)
    write_picks(picks_file("tvbench", home), [Pick("direction/1", 1, 12, "ana")])
    files = [
        home / "tvbench" / name
        for name in ("test/questions.parquet", "manifest.json", "picks.jsonl")
    ]
    # A reader that has the file open, or another name of it, must not see it change.
    before = []
    for number, file in enumerate(files):
        os.link(file, tmp_path / f"old{number}")
        before.append(file.read_bytes())
    write_tvbench(release, {"1": tvbench_question(), "2": tvbench_question(answer=1)})
    prepare("tvbench", release, store_home=home, workers=1)
    write_picks(picks_file("tvbench", home), [Pick("direction/2", 1, 12, "ana")])
    for number, file in enumerate(files):
        assert file.read_bytes() != before[number], file
        assert (tmp_path / f"old{number}").read_bytes() == before[number], file


def test_a_video_is_placed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, target, other = tmp_path / "new", tmp_path / "target", tmp_path / "other"
    new.write_bytes(b"new one")
    target.write_bytes(b"old")
    os.link(target, other)

    def no_links(*_: object) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    link_or_copy(new, target)
    assert target.read_bytes() == b"new one"
    assert other.read_bytes() == b"old"


def test_a_pick_waits_for_the_lock(tmp_path: Path) -> None:
    log = PickLog(tmp_path / "picks.jsonl", "tvbench")
    decision = Decision("ana", "direction/1", 1, 12, 0.1)
    with lock(log.path):
        writer = threading.Thread(target=log.record, args=([decision],))
        writer.start()
        writer.join(0.3)
        assert writer.is_alive()
        assert not log.path.exists() or b"direction/1" not in log.path.read_bytes()
    writer.join(30)
    assert b"direction/1" in log.path.read_bytes()
