"""Files that are made once, appear whole or not at all, and are named by their content."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import filelock

LOCK_TIMEOUT_SECONDS = 900.0
"""How long `make_once` waits for another process before it makes the file itself."""

STORAGE_ERRORS = frozenset(
    {
        errno.ENOSPC,
        getattr(errno, "EDQUOT", errno.ENOSPC),
        errno.EFBIG,
        errno.EROFS,
        errno.EIO,
        errno.EACCES,
        errno.EPERM,
    }
)
"""Faults of the place that is written to, not of what is written there."""

_ID_BYTES = 8
_CHUNK_BYTES = 1 << 20
_STALE_SECONDS = 24 * 3600.0
_SETTLED_NS = 2_000_000_000
_POLL_SECONDS = 0.02
_MARK = ".part"
# What network file systems without locks report.
_NO_LOCKS = frozenset({errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO})
_SOFT = "-soft"
_LOCK = re.compile(rf"^\..*\.lock({_SOFT})?$")
_TEMPORARY = re.compile(r"^\..*\.part-(?P<host>[0-9a-f]{8})-(?P<pid>\d+)-[0-9a-f]{8}(\.[^.]*)?$")


@functools.lru_cache(maxsize=1)
def _host() -> str:
    """Eight hexadecimal digits for this machine (its name may contain odd characters)."""
    name = socket.gethostname().encode("utf-8", "surrogateescape")
    return hashlib.blake2b(name, digest_size=4).hexdigest()


def _temporary_stem(target: Path) -> str:
    # File systems allow 255 bytes a name; the marks added below need about 40 of them.
    stem = target.name
    if len(os.fsencode(stem)) > 150:
        stem = hashlib.blake2b(os.fsencode(stem), digest_size=16).hexdigest()
    return f".{stem}{_MARK}-"


@contextlib.contextmanager
def atomic_path(target: Path) -> Iterator[Path]:
    """Give a temporary name to write to, and move it over the target on success.

    The temporary file is in the target's folder (made if it is missing), is hidden, keeps
    the target's suffix, and carries the machine, the process and a random number, so that no
    two writers meet. A reader sees the old target, no target, or the whole new one.

    Args:
        target: Path of the finished file. An existing file is replaced.

    Yields:
        The path to write to. The body must create it.

    Raises:
        FileNotFoundError: The body ended without creating the file.
        OSError: The folder cannot be written; `filename` says what was to be written.
    """
    target = Path(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _about(error, target) from None
    unique = f"{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.parent / f"{_temporary_stem(target)}{unique}{target.suffix}"
    try:
        yield temporary
        if not temporary.exists():
            raise FileNotFoundError(f"Nothing was written for {target}.")
        _settle(temporary)
        temporary.replace(target)
    except OSError as error:
        if error.errno not in STORAGE_ERRORS:
            raise
        # Named in place: a second error would keep the first one's frames, and their libav
        # objects, for the garbage collector, which frees them in an order that crashes libav.
        error.filename = os.fspath(target)
        error.filename2 = None
        if error.errno and not error.strerror:
            error.strerror = os.strerror(error.errno)
        raise
    finally:
        # After success the name is gone; after a failure of any kind it must go.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _about(error: OSError, target: Path) -> OSError:
    """Return the same error, about the file that was wanted: many writes do not say which."""
    number = error.errno or errno.EIO
    return OSError(number, error.strerror or os.strerror(number), os.fspath(target))


def _settle(path: Path) -> None:
    """Wait until a file's content is on the disk.

    Without this a machine that loses power may keep the new name and lose the content; and a
    full disk or a quota of a file server shows only here.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems, and descriptors without the right to write, cannot wait.
        if error.errno in STORAGE_ERRORS:
            raise
    finally:
        os.close(descriptor)


def _process_lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove_stale(folder: Path, begin: str = "") -> list[Path]:
    """Remove temporary files that killed processes left behind.

    A file is removed if its process on this machine no longer lives, or, if another machine
    wrote it, if it has not changed for a day.

    Args:
        folder: The folder to look in; folders below it are left alone.
        begin: Look only at what was written for targets whose names begin with this.

    Returns:
        The files removed.
    """
    removed = []
    try:
        names = os.listdir(folder)  # noqa: PTH208 - one system call on a large shared folder
    except OSError:
        return []
    for name in names:
        match = _TEMPORARY.match(name) if name.startswith(f".{begin}") else None
        if match is None:
            continue
        path = folder / name
        with contextlib.suppress(OSError):
            if match["host"] == _host():
                stale = not _process_lives(int(match["pid"]))
            else:
                stale = time.time() - path.stat().st_mtime > _STALE_SECONDS
            if stale:
                path.unlink()
                removed.append(path)
    return removed


@functools.lru_cache(maxsize=65536)
def _content_id(path: str, size: int, mtime_ns: int, ctime_ns: int) -> str:
    digest = hashlib.blake2b(digest_size=_ID_BYTES)
    with Path(path).open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left in a folder: temporary files, and locks that nobody holds.

    Args:
        folder: Folder to look in; folders below it are left alone.
    """
    remove_stale(folder)
    try:
        names = [name for name in os.listdir(folder) if _LOCK.match(name)]  # noqa: PTH208
    except OSError:
        return
    for name in names:
        kind = filelock.SoftFileLock if name.endswith(_SOFT) else filelock.FileLock
        lock_file = kind(folder / name, timeout=0)
        # Removed while held, as in `lock`. Another's lock is a Timeout, which is an OSError.
        with contextlib.suppress(OSError, NotImplementedError), lock_file:
            (folder / name).unlink(missing_ok=True)


def _acquire(path: Path, timeout: float) -> filelock.BaseFileLock:
    """Return a lock that is held: the kernel's, or a file that names its process.

    The second is used if the file system has no locks. It has a name of its own: the kernel's
    lock has already made its file when it turns out that there is none.

    Raises:
        filelock.Timeout: Another process has the lock.
        OSError: The folder cannot be written.
    """
    held: filelock.BaseFileLock = filelock.FileLock(path, timeout=timeout)
    try:
        held.acquire(poll_interval=_POLL_SECONDS)
    except (NotImplementedError, OSError) as error:
        if isinstance(error, filelock.Timeout):
            raise
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise
        held = filelock.SoftFileLock(_soft(path), timeout=timeout)
        held.acquire(poll_interval=_POLL_SECONDS)
    return held


def _soft(path: Path) -> Path:
    return path.with_name(f"{path.name}{_SOFT}")


class Busy(Exception):
    """Another process works on what is wanted."""


@contextlib.contextmanager
def exclusive(path: Path, *, remove: bool = False) -> Iterator[None]:
    """Hold a lock while the body runs, or fail at once.

    The kernel frees the lock when its holder dies. On a file system without locks, a file that
    names its process is used; it is ignored if that process was of this machine and has died, and
    has to be deleted by hand if it was of another machine.

    Args:
        path: The lock file; its folder is made if it is missing.
        remove: Whether to remove the file at the end. If three processes meet at that
            moment, two may then hold locks on files of one name: only for work that this does
            not harm.

    Yields:
        Nothing.

    Raises:
        Busy: Another process has the lock; the message says what to do.
        OSError: The folder cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = _acquire(path, 0)
    except filelock.Timeout:
        soft = _soft(path)
        hint = f"; if that process has died, delete {soft}" if soft.exists() else ""
        raise Busy(f"another process is working there{hint}") from None
    except OSError as error:
        raise _about(error, path) from None
    try:
        yield
    finally:
        if remove:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        held.release(force=True)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of some bytes to an open file; one call of the system may take a part of them.

    Raises:
        OSError: The file cannot be written; a part may have been.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def content_id(path: Path) -> str:
    """Return a short name for the content of a file, whatever the file is called.

    Args:
        path: A readable file.

    Returns:
        16 hexadecimal digits (64 bits of BLAKE2b over the whole file). Within a process the
        file is read again only when its size or its time of change differ.

    Raises:
        OSError: The file is missing or cannot be read.
    """
    status = os.stat(path)  # noqa: PTH116 - follows links, accepts any path-like value
    times = status.st_mtime_ns, status.st_ctime_ns
    return _content_id(os.path.abspath(path), status.st_size, *times)  # noqa: PTH100


def noted_content_id(path: Path, folders: Sequence[Path], *, write: bool = False) -> str:
    """Return the `content_id` of a file without reading it if a note of it is still good.

    A note is a hidden file of one line. It is good for as long as the file's size, its times of
    change and its number in the file system are the same; then nothing has been written into the
    file since, whoever set back its time.

    Args:
        path: A readable file.
        folders: Where a note may be, in order; those that do not exist are passed over.
        write: Write the note if there is none.

    Returns:
        The content id.

    Raises:
        OSError: The file is missing or cannot be read.
    """
    status = os.stat(path)  # noqa: PTH116 - as in `content_id`
    facts = f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino} "
    name = os.fsencode(os.path.abspath(path))  # noqa: PTH100
    note = f".{hashlib.blake2b(name, digest_size=_ID_BYTES).hexdigest()}.id"
    for folder in folders:
        with contextlib.suppress(OSError, ValueError):
            text = (folder / note).read_text(encoding="ascii")
            if text.startswith(facts) and len(text) == len(facts) + 2 * _ID_BYTES:
                return text[len(facts) :]
    content = content_id(path)
    # A file changed a moment ago may change again within one tick of the file system's clock.
    if write and time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED_NS:
        for folder in folders:
            # Half a note, of a full disk or another writer, is not taken for one.
            with contextlib.suppress(OSError):
                (folder / note).write_text(facts + content, encoding="ascii")
                break
    return content


def make_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Return a file, making it first if it is not there, once among many processes.

    Processes on one folder agree through a lock file beside the target. The kernel frees such
    a lock when its holder dies, so that no stale lock remains; on a file system without locks
    a lock file that names its process is used, and one that is not freed in
    `LOCK_TIMEOUT_SECONDS` is ignored. Locking only saves work: the file is moved into place
    whole, so that even two makers at once would do no harm.

    Args:
        target: The file that is wanted. If it exists, nothing is done.
        make: Writes the file to the temporary path that it is given.

    Returns:
        The target.

    Raises:
        OSError: The folder cannot be written.
        Exception: Whatever `make` raises; the target is then not there.
    """
    target = Path(target)
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with lock(target):
        if target.exists():
            return target
        with atomic_path(target) as temporary:
            make(temporary)
    return target


@contextlib.contextmanager
def lock(target: Path) -> Iterator[bool]:
    """Hold the lock of a target while the body runs.

    The lock file is removed at the end. A process that still waits on the removed file may then
    run beside one that made a new lock file: whoever gets the lock must look at the target again
    and must write it with `atomic_path`.

    Args:
        target: The file that the lock is for; it need not exist.

    Yields:
        Whether the lock is really held. It is not if the file system has no locks, or if
        another process held it for `LOCK_TIMEOUT_SECONDS`.
    """
    stem = _temporary_stem(target).removesuffix(f"{_MARK}-")
    path = target.parent / f"{stem}.lock"
    leftover = path.exists() or _soft(path).exists()
    held: filelock.BaseFileLock | None = None
    # Also where the folder cannot be written: then the body finds out what is wrong.
    with contextlib.suppress(NotImplementedError, OSError):
        held = _acquire(path, LOCK_TIMEOUT_SECONDS)
    if held is not None and leftover:
        remove_stale(target.parent, stem.removeprefix("."))
    try:
        yield held is not None
    finally:
        if held is not None:
            # Removed while still held, so that the file removed is the one that is locked.
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            held.release(force=True)
