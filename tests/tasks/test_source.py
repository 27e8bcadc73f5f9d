"""Releases are read from folders and archives, and no archive writes where it should not."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release import source
from video_reasoning.tasks.release.records import annotation_text
from video_reasoning.tasks.release.source import Release


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_file_is_found_by_the_end_of_its_path(tmp_path: Path) -> None:
    for folder in ("a/object", "b/human"):
        (tmp_path / "r" / folder).mkdir(parents=True)
        (tmp_path / "r" / folder / "1.mp4").write_text(folder)
    release = Release(tmp_path / "r", tmp_path / "scratch")
    assert release.locate("human/1.mp4") == tmp_path / "r/b/human/1.mp4"
    with pytest.raises(LookupError, match="could be any of"):
        release.locate("1.mp4")
    with pytest.raises(LookupError, match=r"has no simulated/1\.mp4"):
        release.locate("simulated/1.mp4")


def test_an_archive_in_a_folder_is_read_like_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    zipped(root / "videos.zip", {"videos/x.mp4": b"x", "notes.txt": b"n", "__MACOSX/._x.mp4": b""})
    release = Release(root, tmp_path / "scratch")
    assert release.locate("videos/x.mp4").read_bytes() == b"x"
    assert len(release.videos()) == 1


def test_unpacking_goes_on_where_it_stopped(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "r.zip", {"a.mp4": b"a" * 10, "b.mp4": b"b" * 10})
    folder = source.unpack(archive, tmp_path / "scratch")
    (folder / ".complete").unlink()
    (folder / "b.mp4").unlink()
    before = (folder / "a.mp4").stat().st_mtime_ns
    assert source.unpack(archive, tmp_path / "scratch") == folder
    assert (folder / "b.mp4").read_bytes() == b"b" * 10
    assert (folder / "a.mp4").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", ["../evil.mp4", "/evil.mp4", "a/../../evil.mp4", "C:/evil.mp4"])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "r.zip", {name: b"x"})
    with pytest.raises(ReleaseError, match="leads outside"):
        Release(archive, tmp_path / "deep" / "scratch")
    assert not list(tmp_path.rglob("evil.mp4"))


@pytest.mark.parametrize("name", ["", "."])
def test_a_member_without_a_name_is_passed_over(tmp_path: Path, name: str) -> None:
    nameless = zipfile.ZipInfo("x")
    nameless.filename = name
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as zipped_archive:
        zipped_archive.writestr(nameless, b"x")
        zipped_archive.writestr("a.mp4", b"a")
    release = Release(tmp_path / "r.zip", tmp_path / "scratch")
    assert release.locate("a.mp4").read_bytes() == b"a"
    with tarfile.open(tmp_path / "r.tar", "w") as archive:
        for member, content in ((name, b"x"), ("a.mp4", b"a")):
            info = tarfile.TarInfo(member)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    release = Release(tmp_path / "r.tar", tmp_path / "scratch")
    assert release.locate("a.mp4").read_bytes() == b"a"


def test_links_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "r.tar.gz", "w:gz") as archive:
        link = tarfile.TarInfo("x.mp4")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    with pytest.raises(ReleaseError, match="contains a link"):
        Release(tmp_path / "r.tar.gz", tmp_path / "scratch")
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as zipfile_:
        info = zipfile.ZipInfo("x.mp4")
        info.external_attr = 0o120777 << 16
        zipfile_.writestr(info, "/etc/passwd")
    with pytest.raises(ReleaseError, match="contains a link"):
        Release(tmp_path / "r.zip", tmp_path / "scratch")


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "FREE_EXPANSION", 1000)
    archive = zipped(tmp_path / "r.zip", {"x.json": b"0" * 10_000_000})
    with pytest.raises(ReleaseError, match="would unpack to more"):
        Release(archive, tmp_path / "scratch")


def test_a_tar_is_read(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "r.tar", "w") as archive:
        info = tarfile.TarInfo("videos/x.mp4")
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    release = Release(tmp_path / "r.tar", tmp_path / "scratch")
    assert release.locate("x.mp4").read_bytes() == b"abc"


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
def test_a_damaged_archive_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.zip").write_bytes(content)
    with pytest.raises(ReleaseError, match="fetch it again"):
        Release(tmp_path / "r.zip", tmp_path / "scratch")


def test_what_is_not_a_release_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="does not exist"):
        Release(tmp_path / "absent", tmp_path / "scratch")
    with pytest.raises(ReleaseError, match="no annotations and no videos"):
        Release(tmp_path, tmp_path / "scratch")
    (tmp_path / "x.txt").touch()
    with pytest.raises(ReleaseError, match="neither a folder nor an archive"):
        Release(tmp_path / "x.txt", tmp_path / "scratch")


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "loop").symlink_to(tmp_path / "r")
    (tmp_path / "r" / "x.json").write_text("{}")
    assert len(Release(tmp_path / "r", tmp_path / "scratch").annotations(".json")) == 1


def test_a_file_that_is_not_there_is_not_called_text(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="cannot be read: No such file or directory"):
        annotation_text(tmp_path / "mine.csv")
