"""A release as its user has it: a folder or an archive, perhaps with archives inside."""

from __future__ import annotations

import os
import re
import stat
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from typing import IO

from video_reasoning.preprocessing.files import STORAGE_ERRORS, atomic_path, content_id
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import Footage
from video_reasoning.tasks.store.text_files import is_regular, shortened

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
ANNOTATION_SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".parquet"})
VIDEO_SUFFIXES = frozenset({".mp4", ".webm", ".mkv", ".mov", ".avi", ".m4v", ".gif"})

UNREAD_SUFFIXES = re.compile(
    r"\.(?:zip|tar|tgz|gz|bz2|xz|7z)\.(?:\d{2,4}|part.*|a[a-z])$|\.(?:7z|rar|z\d\d|zst)$"
)
"""Names of archives that are not unpacked: parts of split ones, and other formats."""

GENERAL_FOLDERS = frozenset({"videos", "video", "clips", "data"})
"""Folders whose names say nothing about which clips they hold."""

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

    Attributes:
        unread_archives: Paths of archives that cannot be unpacked, such as parts of split ones.

    Raises:
        ReleaseError: If the source is absent, empty, or an archive that is not safe to unpack.
    """

    def __init__(self, source: Path, scratch: Path) -> None:
        self.source = source
        self.scratch = scratch
        self._files: dict[str, Path] = {}
        self._keys: dict[Path, str] = {}
        self._by_name: dict[str, list[str]] = defaultdict(list)
        self.unread_archives: list[str] = []
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

    def _add_folder(self, root: Path, scratch: Path, prefix: str = "") -> None:
        """Note the files of a folder; those of an archive under the archive's name and place."""
        archives = []
        for folder, folders, names in os.walk(root):  # does not follow links to folders: no loops
            folders.sort()
            for name in sorted(names):
                path = Path(folder) / name
                key = prefix + path.relative_to(root).as_posix()
                if UNREAD_SUFFIXES.search(name.lower()):
                    self.unread_archives.append(key)
                if path.suffix.lower() not in VIDEO_SUFFIXES and not is_regular(path):
                    continue  # a pipe would be waited for; of videos that is said one by one
                if is_archive(path):
                    archives.append((key, path))
                elif path.suffix.lower() in ANNOTATION_SUFFIXES | VIDEO_SUFFIXES:
                    self._add(key, path, prefix)
        for key, path in archives:
            self._add_folder(unpack(path, scratch), scratch, f"{key}/")

    def _add(self, key: str, path: Path, archive: str) -> None:
        """Note a file, unless it is an archive's member that is unpacked beside the archive."""
        place, name = PurePosixPath(archive), key.removeprefix(archive)
        for unpacked in (place.parent, place.parent / _stem(place.name)):
            other = self._files.get((unpacked / name).as_posix())
            if archive and other and other.stat().st_size == path.stat().st_size:
                return
        self._files[key] = path
        self._keys[path] = key
        self._by_name[path.name].append(key)

    def annotations(self, *suffixes: str) -> list[Path]:
        """Return the annotation files with one of the suffixes (``.csv``), in a stable order."""
        return [path for _, path in sorted(self._files.items()) if path.suffix.lower() in suffixes]

    def unread(self, read: Iterable[Path]) -> list[str]:
        """Say which archives and tables were not read, a sentence each; none if all were.

        Args:
            read: The annotation files that were read or that have a note of their own.
        """
        known = {path.absolute() for path in read}
        tables = [
            key
            for key, path in sorted(self._files.items())
            if path.suffix.lower() in ANNOTATION_SUFFIXES and path.absolute() not in known
        ]
        notes = []
        if self.unread_archives:
            notes.append(
                f"Not unpacked: {_listed(self.unread_archives)}; join split archives into one "
                "(cat videos.zip.* > videos.zip), or unpack them, and run the command again."
            )
        if tables:
            notes.append(f"Not read, because nothing is known of them: {_listed(tables)}.")
        return notes

    def videos(self) -> list[Path]:
        """Return the video files that the release has."""
        return [path for path in self._keys if path.suffix.lower() in VIDEO_SUFFIXES]

    def locate(self, reference: str) -> Path:
        """Find the file that an annotation means: its path must end with the annotation's.

        Raises:
            LookupError: If there is no such file, or several that differ; the message says which.
        """
        wanted = _normal(reference)
        names = self._by_name.get(PurePosixPath(wanted).name, [])
        exact = [name for name in names if f"/{_unpacked(name)}".endswith(f"/{wanted}")]
        return self._files[self._only([wanted] if wanted in exact else exact, wanted)]

    def elsewhere(
        self, reference: str, table: Path, foreign: AbstractSet[str] = frozenset()
    ) -> tuple[Path, str]:
        """Find a file in another folder than its annotation says, if it can be no other clip.

        Args:
            reference: Path as the annotation has it.
            table: The annotation file.
            foreign: Words of folders that hold what the annotation cannot mean ("test").

        Returns:
            The file, and its path in the release.

        Raises:
            LookupError: If the release has no file of that name, several that differ, or one in
                the folder of another set or split; the message says which.
        """
        wanted = _normal(reference)
        name = self._only(self._by_name.get(PurePosixPath(wanted).name, []), wanted)
        asked = _telling(wanted)
        beside = _telling(self._keys.get(table, ""))
        folders = [part for part in _telling(name) if part not in beside]
        words = set(re.split(r"[^a-z0-9]+", " ".join(folders)))
        if words & foreign or (asked and folders and not set(asked) <= set(folders)):
            raise LookupError(
                f"the release has no {shortened(wanted)}, and {shortened(name)} is in the folder "
                "of another set or split"
            )
        return self._files[name], name

    def _only(self, names: Sequence[str], wanted: str) -> str:
        """Return the one file among some; those with the same content are one."""
        if not names:
            raise LookupError(f"the release has no {shortened(wanted)}")
        if len(names) > 1:
            files = [self._files[name] for name in names]
            if (
                len({path.stat().st_size for path in files}) > 1
                or len(set(map(content_id, files))) > 1
            ):
                raise LookupError(
                    f"{shortened(wanted)} could be any of {', '.join(sorted(names)[:3])}"
                )
        return names[0]

    def footage(self, name: str, references: Sequence[str]) -> Footage:
        """Return the first video that one of some relative paths leads to.

        Args:
            name: Its path below the store's ``videos`` folder.
            references: Paths to try in this order, at least one; see :meth:`locate`.
        """
        for reference in references:
            try:
                return Footage(name, self.locate(reference))
            except LookupError as error:
                problem = str(error)
        return Footage(name, None, problem)


def _stem(archive: str) -> str:
    """Return an archive's name without its suffix, any other name as it is."""
    ends = [suffix for suffix in ARCHIVE_SUFFIXES if archive.lower().endswith(suffix)]
    return archive[: -max(map(len, ends))] if ends else archive


def _unpacked(path: str) -> str:
    """Return a path with archives as the folders that they would be."""
    *folders, name = path.split("/")
    return "/".join([*map(_stem, folders), name])


def _normal(reference: str) -> str:
    return PurePosixPath(reference.replace("\\", "/").strip()).as_posix()


def _telling(path: str) -> list[str]:
    """Return the folders of a path that say which clips they hold, in lower case."""
    folders = [_stem(part.lower()) for part in PurePosixPath(path).parts[:-1]]
    return [part for part in folders if part not in GENERAL_FOLDERS]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return shortened(", ".join(names[:5]) + more, 400)


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
