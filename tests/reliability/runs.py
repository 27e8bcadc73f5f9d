"""Commands as processes that can be killed, and stores that can be compared."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np

ROOT = Path(__file__).parents[2]
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from video_reasoning.tasks.cli.main import main; sys.exit(main())",
]
"""`video-reasoning`, run by this Python."""

MAKER = [sys.executable, "-m", "tests.reliability.clips"]
"""The process that makes clips, see `clips.py`."""


@dataclass
class Ended:
    """How a process ended."""

    code: int
    output: str
    seconds: float
    killed: bool = False


class Running:
    """A command in a process group of its own, as a shell or a batch system starts it."""

    def __init__(self, command: Sequence[str | Path], log: Path, **environment: str) -> None:
        self._log = log
        self._begin = time.perf_counter()
        with log.open("wb") as output:
            self._popen = subprocess.Popen(
                [*map(str, command)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
            )
        self.pid = self._popen.pid

    def wait(self, seconds: float) -> bool:
        """Whether it ended by itself within some seconds."""
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def send(self, number: int) -> None:
        """A signal to the whole group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def workers(self) -> list[int]:
        """The processes that the command started and that are there now."""
        try:
            text = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:
            return []
        own = [int(word) for word in text.split()]
        # Each thread of the command has its own list.
        for thread in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                own += [int(word) for word in (thread / "children").read_text().split()]
            except OSError:
                continue
        return sorted(set(own))

    def survivors(self, patience: float = 5.0) -> list[int]:
        """Processes of the group that are still there after the command ended."""
        until = time.perf_counter() + patience
        while found := _group(self.pid):
            if time.perf_counter() > until:
                return found
            time.sleep(0.02)
        return []

    def end(self, limit: float = 600.0) -> Ended:
        """Wait for the end."""
        try:
            self._popen.wait(limit)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self._popen.wait()
            return Ended(-999, f"no end after {limit:.0f} s", limit)
        seconds = time.perf_counter() - self._begin
        return Ended(self._popen.returncode, self._log.read_text(errors="replace"), seconds)


def run(command: Sequence[str | Path], log: Path, **environment: str) -> Ended:
    """Run a command to its end."""
    return Running(command, log, **environment).end()


def _group(leader: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # After the name, which may hold anything, come state, parent and group.
                state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except (OSError, ValueError):
                continue
            if int(group) == leader and state != "Z":
                found.append(int(entry.name))
    return found


def is_hidden(path: Path) -> bool:
    """Whether readers pass over a file: it, or a folder that it lies in, begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


def tree(folder: Path) -> dict[str, str]:
    """The hash of every file that readers see, by its path below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not is_hidden(relative):
            found[relative.as_posix()] = _digest(path)
    return found


def hidden(folder: Path) -> list[str]:
    """The other files, but for the store's lock and journal, which stay."""
    return [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and is_hidden(path.relative_to(folder))
        and path.name not in (".prepare.lock", ".checked.jsonl")
    ]


def tree_hash(folder: Path) -> str:
    """One hash over all names and contents."""
    return hashlib.blake2b(json.dumps(tree(folder)).encode(), digest_size=8).hexdigest()


def half_written(folder: Path, whole: dict[str, str]) -> list[str]:
    """Files under a final name that are not as the uninterrupted run made them."""
    return [name for name, digest in tree(folder).items() if whole.get(name) != digest]


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


# Small material.


def write_event_videos(folder: Path, count: int = 8, seconds: int = 6) -> Path:
    """Videos that the split keeps, and the annotators' times beside their folder.

    Returns:
        The file of the times.
    """
    times = {}
    for number in range(count):
        name = f"fall {number:02}.mp4"
        draw_video(folder / name, 25 * seconds + number, seed=number)
        times[name] = {"t": [2.5, 2.6, 2.7]}
    file = folder.with_name(f"{folder.name}-times.json")
    file.write_text(json.dumps(times))
    return file


def draw_video(path: Path, frames: int, seed: int) -> Path:
    """A block that crosses a textured ground, 320x240, 25 frames a second, in one scene."""
    ground = np.random.default_rng(seed).integers(90, 130, (240, 320, 3), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 240, "yuv420p"
        stream.options = {"preset": "ultrafast"}
        for number in range(frames):
            picture = ground.copy()
            left = 10 + number * 250 // frames
            picture[90:150, left : left + 50] = (200, 40, 40)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def write_release(root: Path, stems: int = 4, frames: int = 40) -> Path:
    """A release of BlackSwanSuite with one Detective question a video, and its parts."""
    from tests.tasks.releases import blackswan_row

    rows: list[dict[str, Any]] = []
    for stem in range(stems):
        before, after = f"videos/{stem}_A_preevent.mp4", f"videos/{stem}_C_postevent.mp4"
        rows.append(blackswan_row(q_id=stem, preevent_file_name=before, postevent_file_name=after))
        for part in ("A_preevent", "B_event", "C_postevent"):
            draw_video(root / "videos" / f"{stem}_{part}.mp4", frames + stem, seed=stem)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "BlackSwanSuite_MCQ_Val.jsonl").write_text(lines)
    return root
