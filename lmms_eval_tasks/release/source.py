"""A release as its user has it: a folder or an archive, perhaps with archives inside."""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from video_reasoning.preprocessing.files import STORAGE_ERRORS, atomic_path, content_id
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import Footage
from video_reasoning.tasks.store.text_files import is_regular, shortened

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
ANNOTATION_SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".parquet"})
VIDEO_SUFFIXES = frozenset({".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v", ".gif"})

MOST_MEMBERS = 1_000_000
"""Members of one archive; the largest release has under 10,000."""
MOST_EXPANSION = 200
"""How many times its own size an archive may unpack to: video and JSON stay far below."""
FREE_EXPANSION = 64 * 2**20
"""Bytes that any archive may unpack to, so that a small text archive is not refused."""


def is_archive(path: Path) -> bool:
    """Tell by a file's name whether it is an archive that can be unpacked."""
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


class Release:
    """All files of a release, found by name wherever they are.

    Args:
        source: The release's folder or archive.
        scratch: Folder for the content of archives; unpacking resumes there if it was interrupted.

    Raises:
        ReleaseError: If the source is absent, empty, or an archive that is not safe to unpack.
    """

    def __init__(self, source: Path, scratch: Path) -> None:
        self.source = source
        self.scratch = scratch
        self._files: dict[str, Path] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        if source.is_dir():
            self._add_folder(source, scratch)
        elif source.is_file() and is_archive(source):
            self._add_folder(unpack(source, scratch), scratch)
        elif source.is_file():
            raise ReleaseError(
                f"{source} is neither a folder nor an archive "
                f"({', '.join(ARCHIVE_SUFFIXES)}); name the release's folder or archive."
            )
        else:
            raise ReleaseError(f"{source} does not exist; name the release's folder or archive.")
        if not self._files:
            raise ReleaseError(
                f"{source} has no annotations and no videos; name the release's folder."
            )

    def _add_folder(self, root: Path, scratch: Path) -> None:
        archives = []
        for folder, folders, names in os.walk(root):  # does not follow links to folders: no loops
            folders.sort()
            for name in sorted(names):
                path = Path(folder) / name
                if path.suffix.lower() not in VIDEO_SUFFIXES and not is_regular(path):
                    continue  # a pipe would be waited for; of videos that is said one by one
                if is_archive(path):
                    archives.append(path)
                elif path.suffix.lower() in ANNOTATION_SUFFIXES | VIDEO_SUFFIXES:
                    relative = path.relative_to(root).as_posix()
                    if relative not in self._files:
                        self._files[relative] = path
                        self._by_name[path.name].append(relative)
        for path in archives:
            self._add_folder(unpack(path, scratch), scratch)

    def annotations(self, *suffixes: str) -> list[Path]:
        """Return the annotation files with one of the suffixes (``.csv``), in a stable order."""
        return [path for _, path in sorted(self._files.items()) if path.suffix.lower() in suffixes]

    def videos(self) -> int:
        """Return how many video files the release has."""
        return sum(path.suffix.lower() in VIDEO_SUFFIXES for path in self._files.values())

    def locate(self, reference: str, *, anywhere: bool = True) -> Path:
        """Find the file that an annotation means by a relative path.

        Args:
            reference: Path as the annotation has it; the file's own path must end with it.
            anywhere: Whether a file of that name in another folder will do, if there is
                just one.

        Raises:
            LookupError: If there is no such file, or more than one; the message says which.
        """
        wanted = PurePosixPath(reference.replace("\\", "/").strip()).as_posix()
        names = self._by_name.get(PurePosixPath(wanted).name, [])
        exact = [name for name in names if name == wanted or name.endswith("/" + wanted)]
        found = exact or (names if anywhere else [])
        if wanted in exact:
            found = [wanted]
        if len(found) == 1:
            return self._files[found[0]]
        if not found:
            raise LookupError(f"the release has no {shortened(wanted)}")
        raise LookupError(f"{shortened(wanted)} could be any of {', '.join(sorted(found)[:3])}")

    def footage(self, name: str, references: Sequence[str]) -> Footage:
        """Return the first video that one of some relative paths leads to.

        Args:
            name: Its path below the store's ``videos`` folder.
            references: Paths to try in this order, at least one; see :meth:`locate`.
        """
        for reference in references:
            try:
                return Footage(name, self.locate(reference, anywhere=False))
            except LookupError as error:
                problem = str(error)
        return Footage(name, None, problem)


def unpack(archive: Path, scratch: Path) -> Path:
    """Unpack annotations and videos of an archive into a folder of its own.

    Members that are there already with the right size are kept, so that an interrupted
    unpacking goes on where it stopped. Nothing is ever written outside the folder.

    Returns:
        The folder, named after the archive's content.

    Raises:
        ReleaseError: For a damaged archive, or one with absolute paths, ``..``, links, or a
            size out of all proportion.
    """
    try:
        size = archive.stat().st_size
        target = scratch / content_id(archive)
        if (target / ".complete").exists():
            return target
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                _extract(archive, _zip_members(archive, opened), target, size)
        elif tarfile.is_tarfile(archive):
            with tarfile.open(archive) as opened:
                _extract(archive, _tar_members(archive, opened), target, size)
        else:
            raise ReleaseError(f"{archive} is not a readable archive; fetch it again.")
    except OSError as error:
        if error.errno in STORAGE_ERRORS:
            raise
        raise ReleaseError(f"{archive} cannot be unpacked ({error}); fetch it again.") from error
    except (EOFError, zipfile.BadZipFile, tarfile.TarError, RuntimeError) as error:
        raise ReleaseError(f"{archive} cannot be unpacked ({error}); fetch it again.") from error
    (target / ".complete").touch()
    return target


Member = tuple[str, int, Callable[[], IO[bytes] | None]]


def _zip_members(archive: Path, opened: zipfile.ZipFile) -> Iterator[Member]:
    for info in opened.infolist():
        if not info.filename or info.is_dir():  # is_dir needs a name
            continue
        mode = info.external_attr >> 16
        if mode and stat.S_ISLNK(mode):
            raise ReleaseError(f"{archive} contains a link ({info.filename}); it was not unpacked.")
        yield info.filename, info.file_size, lambda info=info: opened.open(info)  # type: ignore[misc]


def _tar_members(archive: Path, opened: tarfile.TarFile) -> Iterator[Member]:
    for info in opened:
        if info.isdir():
            continue
        if not info.isreg():
            raise ReleaseError(
                f"{archive} contains a link or device ({info.name}); it was not unpacked."
            )
        yield info.name, info.size, lambda info=info: opened.extractfile(info)  # type: ignore[misc]


def _extract(archive: Path, members: Iterator[Member], target: Path, size: int) -> None:
    """Write the members that matter, each under a temporary name first."""
    most = max(FREE_EXPANSION, MOST_EXPANSION * size)
    total = 0
    target.mkdir(parents=True, exist_ok=True)
    for count, (name, length, open_member) in enumerate(members):
        path = PurePosixPath(name.replace("\\", "/"))
        if not path.parts:
            continue  # "" or ".": no file can have that name
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise ReleaseError(
                f"{archive} contains a path that leads outside ({name}); it was not unpacked."
            )
        total += length
        if count >= MOST_MEMBERS or total > most:
            raise ReleaseError(
                f"{archive} would unpack to more than {most // 2**20} MiB or "
                f"{MOST_MEMBERS:,} files; it was not unpacked."
            )
        if path.suffix.lower() not in ANNOTATION_SUFFIXES | VIDEO_SUFFIXES:
            continue
        if path.name.startswith("._") or "__MACOSX" in path.parts:
            continue
        final = target.joinpath(*path.parts)
        if final.is_file() and final.stat().st_size == length:
            continue
        final.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(final) as temporary, temporary.open("wb") as written:
            _copy(archive, name, open_member, written, length)


def _copy(
    archive: Path,
    name: str,
    open_member: Callable[[], IO[bytes] | None],
    written: IO[bytes],
    length: int,
) -> None:
    """Copy one member, and no more bytes than its header promises."""
    member = open_member()
    if member is None:
        raise ReleaseError(f"{archive}: {name} cannot be read; fetch the archive again.")
    left = length
    with member:
        while block := member.read(1 << 20):
            left -= len(block)
            if left < 0:
                raise ReleaseError(f"{archive}: {name} is larger than its header says.")
            written.write(block)
    if left:
        raise ReleaseError(f"{archive}: {name} is cut short; fetch the archive again.")
