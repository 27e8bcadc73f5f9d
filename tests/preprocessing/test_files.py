from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.reliability import no_flock
from video_reasoning.preprocessing import files
from video_reasoning.preprocessing.files import atomic_path, content_id, make_once, remove_stale


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "clip.mp4"
    with atomic_path(target) as temporary:
        temporary.write_text("half")
        assert not target.exists()
        assert temporary.parent == target.parent
        assert temporary.suffix == ".mp4"
        assert temporary.name.startswith(".")
    assert target.read_text() == "half"
    assert names(target.parent) == ["clip.mp4"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "clip.mp4"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("new")
        raise RuntimeError
    assert target.read_text() == "old"
    assert names(tmp_path) == ["clip.mp4"]


def test_writing_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="Nothing was written"), atomic_path(tmp_path / "x"):
        pass


@pytest.mark.parametrize("name", ["a" * 250 + ".mp4", "with 'quotes' and\nlines.mp4", "视频.mp4"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    make_once(tmp_path / name, lambda path: path.write_text("x") and None)
    assert names(tmp_path) == [name]


def test_content_id_follows_the_content(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"same")
    second.write_bytes(b"same")
    assert content_id(first) == content_id(second)
    # BLAKE2b with a digest of 8 bytes, computed with coreutils: b2sum -l 64.
    assert content_id(first) == "b9a8ca9848bf6e1d"
    second.write_bytes(b"other")
    assert content_id(first) != content_id(second)


def test_make_once_makes_once_among_threads(tmp_path: Path) -> None:
    made = []

    def make(path: Path) -> None:
        made.append(path)
        time.sleep(0.05)
        path.write_text("x")

    target = tmp_path / "clip"
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: make_once(target, make), range(8)))
    assert results == [target] * 8
    assert len(made) == 1
    assert names(tmp_path) == ["clip"]


MAKER = """
import sys, time
from pathlib import Path
from video_reasoning.preprocessing.files import make_once

def make(path):
    with open(sys.argv[2], "a") as log:
        log.write("made\\n")
    path.write_text("half")
    print("started", flush=True)
    time.sleep(float(sys.argv[3]))
    path.write_text("whole")

make_once(Path(sys.argv[1]), make)
"""


def start(
    target: Path, log: Path, seconds: float, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAKER, str(target), str(log), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_make_once_makes_once_among_processes(tmp_path: Path) -> None:
    folder, log = tmp_path / "clips", tmp_path / "log"
    running = [start(folder / "clip", log, 0.3) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert log.read_text() == "made\n"
    assert names(folder) == ["clip"]


def test_a_killed_maker_is_replaced(tmp_path: Path) -> None:
    folder, log = tmp_path / "clips", tmp_path / "log"
    victim = start(folder / "clip", log, 600)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "started\n"
    assert not (folder / "clip").exists()
    assert len(names(folder)) == 2  # the lock and the half-written file
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    make_once(folder / "clip", lambda path: path.write_text("whole") and None)
    assert (folder / "clip").read_text() == "whole"
    assert names(folder) == ["clip"]


def test_a_failed_make_leaves_nothing(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        path.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make_once(tmp_path / "clip", make)
    assert names(tmp_path) == []


def test_where_locks_fail_the_file_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoLock:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def acquire(self, **_: object) -> None:
            raise NotImplementedError

    monkeypatch.setattr(files.filelock, "FileLock", NoLock)
    monkeypatch.setattr(files.filelock, "SoftFileLock", NoLock)
    make_once(tmp_path / "clip", lambda path: path.write_text("x") and None)
    assert names(tmp_path) == ["clip"]


NO_LOCKS = ["ENOSYS", "ENOLCK", "EOPNOTSUPP", "EINVAL", "EIO"]


@pytest.mark.parametrize("name", NO_LOCKS)
def test_without_kernel_locks_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def flock(descriptor: int, operation: int) -> None:
        raise OSError(getattr(errno, name), name)

    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr(files, "LOCK_TIMEOUT_SECONDS", 3)
    waits = []
    for target in (tmp_path / "first", tmp_path / "second"):
        begin = time.monotonic()
        with files.lock(target) as held:
            waits.append(time.monotonic() - begin)
        assert held
        make_once(target, lambda path: path.write_text("x") and None)
    # The first one imports what it needs.
    assert waits[1] < 0.1
    assert waits[0] < 2
    own = tmp_path / "own"
    with files.exclusive(own), pytest.raises(files.Busy), files.exclusive(own):
        pass
    assert {name for name in names(tmp_path) if name != "own"} == {"first", "second"}


@pytest.mark.parametrize("name", NO_LOCKS)
def test_without_kernel_locks_a_file_is_made_once_among_processes(
    tmp_path: Path, name: str
) -> None:
    environment = no_flock.environment(tmp_path, getattr(errno, name))
    if environment is None:
        pytest.skip("needs Linux and a C compiler")
    folder, log = tmp_path / "clips", tmp_path / "log"
    begin = time.monotonic()
    running = [start(folder / "clip", log, 0.3, environment) for _ in range(3)]
    try:
        codes = [process.wait(30) for process in running]
    finally:
        for process in running:
            process.kill()
    assert codes == [0] * 3
    assert time.monotonic() - begin < 20
    assert log.read_text() == "made\n"
    assert names(folder) == ["clip"]


def test_the_file_of_a_dead_process_is_passed_over_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / ".clip.lock-soft"
    left.write_text(f"{ended.pid}\n{socket.gethostname()}\n")
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_a_lock_that_is_never_freed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_TIMEOUT_SECONDS", 0.1)
    target = tmp_path / "clip"
    with files.lock(target) as outer, files.lock(target) as inner:
        assert outer
        assert not inner


def test_remove_stale_spares_the_living(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "clip") as temporary:
        temporary.write_text("x")
        assert remove_stale(tmp_path) == []
        other = tmp_path / temporary.name.replace(files._host(), "0" * 8)
        other.write_text("x")
        assert remove_stale(tmp_path) == []
        os.utime(other, (0, 0))
        assert remove_stale(tmp_path) == [other]


def test_the_package_is_light_and_its_names_are_there() -> None:
    program = (
        "import sys, video_reasoning.preprocessing as face, video_reasoning.preprocessing.files\n"
        "assert not {'av', 'numpy', 'torch'} & set(sys.modules), 'heavy'\n"
        "assert all(callable(getattr(face, name)) for name in face.__all__)\n"
        "assert 'torch' not in sys.modules and not hasattr(face, 'nothing')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
