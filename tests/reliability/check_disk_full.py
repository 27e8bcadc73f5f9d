"""Full and read-only disks: what is said, what is kept, and whether the work can be gone on with.

Run as ``python -m tests.reliability.check_disk_full [--steps N]``. Needs the right to mount (a
small file system in memory); without it, files are limited in size instead (`ulimit -f`), which
tries less. Each command writes to a disk that is too small, at several sizes, so that it fails in
different places; then the disk grows, and the same command must complete the work.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.reliability.check_crowd import prepare_command, split_command
from tests.reliability.runs import (
    COMMAND,
    MAKER,
    Ended,
    half_written,
    hidden,
    run,
    tree,
    write_event_videos,
    write_release,
)

LIMITED = ["bash", "-c", 'ulimit -f "$0"; exec "$@"']
"""Runs a command whose files may only have so many KiB."""

HARNESS = [
    sys.executable,
    "-c",
    "import sys; from video_reasoning.tasks.launcher import main; sys.exit(main())",
]


class Disk:
    """A small file system in memory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def size(self, kibibytes: int) -> None:
        """Make it so large."""
        self._mount(f"remount,size={kibibytes}k")

    def read_only(self) -> None:
        """Let nobody write."""
        self._mount("remount,ro")

    def empty(self) -> None:
        """Remove everything."""
        for path in self.place.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _mount(self, options: str) -> None:
        subprocess.run(["mount", "-o", options, str(self.place)], check=True)


@contextlib.contextmanager
def disk(place: Path) -> Iterator[Disk | None]:
    """A disk at a place, or None where nothing may be mounted."""
    place.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    try:
        made = subprocess.run(line, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        yield None
        return
    try:
        yield Disk(place)
    finally:
        subprocess.run(["umount", str(place)], check=False)


def weight(folder: Path) -> int:
    """KiB of all files, in blocks of 4."""
    return sum(-(-path.stat().st_size // 4096) * 4 for path in folder.rglob("*") if path.is_file())


def told(
    ended: Ended, words: Sequence[str] = ("cannot be written: the disk is full",)
) -> list[str]:
    """What is wrong with the way in which a command gave up."""
    lines = [line for line in ended.output.splitlines() if line.startswith("video-reasoning:")]
    losses = []
    if ended.code != 2 or "Traceback" in ended.output or len(lines) != 1:
        losses.append(f"exit code {ended.code}: {ended.output[-900:]}")
    elif not all(word in lines[0].lower() for word in (*words, "run the same command again")):
        losses.append(f"unclear: {lines[0]}")
    return losses


def fill(
    full: Disk,
    command: Callable[[Path], list[str | Path]],
    work: Path,
    steps: int,
    judge: Callable[[Ended], list[str]] = told,
) -> tuple[list[str], str]:
    """A command on ever larger disks; gives the losses and the last sentence."""
    whole = work / "whole"
    ended = run(command(whole), work / "log")
    if ended.code != 0:
        raise RuntimeError(ended.output)
    needed = weight(whole)
    losses, sentence = [], ""
    for step in range(steps):
        full.size(needed * 2 + 1024)
        full.empty()
        full.size(needed * (2 * step + 1) // (2 * steps))
        out = full.place / "out"
        ended = run(command(out), work / "log")
        losses += judge(ended)
        sentence = ended.output.strip().splitlines()[-1] if ended.output.strip() else ""
        losses += [f"half-written: {name}" for name in half_written(out, tree(whole))]
        full.size(needed * 3 + 4096)
        ended = run(command(out), work / "log")
        if ended.code != 0:
            losses.append(f"cannot go on: {ended.output[-500:]}")
        if tree(out) != tree(whole):
            losses.append("what was completed differs from what was never interrupted")
        if left := hidden(out):
            losses.append(f"left over: {left}")
    full.empty()
    shutil.rmtree(whole)
    return losses, sentence


def clips_failed(ended: Ended) -> list[str]:
    """The making of clips is a function: it raises."""
    if ended.code == 1 and "OSError: [Errno 28]" in ended.output:
        return []
    return [f"exit code {ended.code}: {ended.output[-500:]}"]


def sample(full: Disk, work: Path, releases: Path) -> tuple[list[str], str]:
    """The sample benchmark on a disk that is too small for it, then on a larger one."""
    full.size(1024)
    command = [*COMMAND, "sample", "--out", full.place / "out"]
    ended = run(command, work / "log")
    losses = told(ended)
    whole = tree(releases)
    losses += [f"half-written: {n}" for n in half_written(full.place / "out/releases", whole)]
    full.size(1 << 20)
    again = run(command, work / "log")
    if again.code != 0:
        losses.append(f"cannot go on: {again.output[-500:]}")
    if tree(full.place / "out/releases") != whole:
        losses.append("what was drawn differs from what was never interrupted")
    full.empty()
    return losses, ended.output.strip().splitlines()[-1]


def report(full: Disk, work: Path) -> tuple[list[str], str]:
    """The report on a disk that is too small for it."""
    from tests.reliability.check_kills import write_results

    results = write_results(work / "results")
    full.size(8)
    ended = run([*COMMAND, "report", results, "--out", full.place / "r.html"], work / "log")
    losses = told(ended)
    if left := list(full.place.iterdir()):
        losses.append(f"left: {left}")
    full.size(8192)
    again = run([*COMMAND, "report", results, "--out", full.place / "r.html"], work / "log")
    if again.code != 0:
        losses.append(f"cannot go on: {again.output[-500:]}")
    full.empty()
    return losses, ended.output.strip().splitlines()[-1]


def evaluation(full: Disk, work: Path, sample_store: Path) -> tuple[list[str], str]:
    """A run whose clips are made on first use, with no room for them, then read-only."""
    import json

    full.size(1 << 20)
    home = full.place / "store"
    shutil.copytree(sample_store / "tvbench", home / "tvbench")
    full.size(weight(home) + 8)
    losses = []
    outputs = {}
    run_line = ["--model", "sample_observer", "--tasks", "tvbench_tomato_principles"]
    run_line += ["--limit", "6", "--log_samples"]
    for state in ("full", "read-only"):
        if state == "read-only":
            full.read_only()
        cache = full.place / "cache" if state == "full" else work / "cache"
        results = work / state
        ended = run(
            [*HARNESS, *run_line, "--output_path", results],
            work / "log",
            VIDEO_REASONING_HOME=str(home),
            XDG_CACHE_HOME=str(cache),
            TMPDIR=str(work),
        )
        # Nothing could be shown: the run has failed, and says so.
        if ended.code != (1 if state == "full" else 0):
            losses.append(f"{state}: exit code {ended.code}: {ended.output[-900:]}")
            continue
        (log,) = results.rglob("*_samples_*.jsonl")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        outputs[state] = [str(line.get("problem") or "") for line in lines]
        if state == "full" and not any("No space left" in text for text in outputs[state]):
            losses.append(f"no item says that the disk was full: {outputs[state]}")
        if state == "read-only":
            if any(outputs[state]):
                losses.append(f"items are missing: {outputs[state]}")
            if not list((work / "cache/video-reasoning/clips").glob("*.mp4")):
                losses.append("no clip lies in the local cache")
    missing = sum(bool(text) for text in outputs.get("full", []))
    return losses, f"full: {missing} of {len(outputs.get('full', []))} items recorded as missing"


def limited(command: Callable[[Path], list[str | Path]], work: Path, kibibytes: int) -> list[str]:
    """A command whose files may not be larger than so much; then without the limit."""
    whole, out = work / "whole", work / "out"
    run(command(whole), work / "log")
    ended = run([*LIMITED, str(kibibytes), *command(out)], work / "log")
    losses = told(ended, ("cannot be written: it would be larger", "ulimit"))
    losses += [f"half-written: {name}" for name in half_written(out, tree(whole))]
    again = run(command(out), work / "log")
    if again.code != 0 or tree(out) != tree(whole) or hidden(out):
        losses.append(f"cannot go on: {again.output[-500:]}")
    shutil.rmtree(whole)
    shutil.rmtree(out)
    return losses


def main() -> None:
    """Runs the check and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=4, help="sizes that each command is tried at")
    parser.add_argument("--releases", type=Path, help="the sample's releases, drawn before")
    options = parser.parse_args()
    losses: list[str] = []

    def show(label: str, found: list[str], sentence: str = "") -> None:
        print(f"{label:44} {'lost' if found else 'held'}", flush=True)
        if sentence:
            print(f"    {sentence}")
        for loss in found:
            print(f"    LOST {loss}")
        losses.extend(found)

    with tempfile.TemporaryDirectory() as name, disk(Path(name) / "disk") as full:
        work = Path(name)
        prepare = prepare_command(write_release(work / "release"))
        split = split_command(work / "falls", write_event_videos(work / "falls", 4))
        if full is None:
            print("Nothing may be mounted here: files are limited in size instead.")
        else:
            for label, command in (("prepare", prepare), ("split", split)):
                show(f"{label}, {options.steps} sizes", *fill(full, command, work, options.steps))
            clips = [*MAKER, work / "falls"]
            found = fill(full, lambda out: [*clips, out], work, options.steps, clips_failed)
            show(f"clips, {options.steps} sizes", found[0])
            show("report", *report(full, work))
            releases = drawn(work, options.releases)
            show("sample", *sample(full, work, releases))
            home = sample_store(work, releases)
            show("evaluation, full, then read-only", *evaluation(full, work, home))
        show("prepare, files of limited size", limited(prepare, work, 24))
        show("split, files of limited size", limited(split, work, 200))
    sys.exit(1 if losses else 0)


def drawn(work: Path, releases: Path | None) -> Path:
    """The sample's releases, drawn where they are not given."""
    if releases is None:
        from video_reasoning.tasks.sample import write_releases

        write_releases(work / "sample")
        releases = work / "sample/releases"
    return releases.absolute()


def sample_store(work: Path, releases: Path) -> Path:
    """TVBench's part of the sample's store."""
    source = releases / "tvbench"
    line = [*COMMAND, "prepare", "tvbench", "--source", source, "--home", work / "store"]
    ended = run(line, work / "log")
    if ended.code != 0:
        raise RuntimeError(ended.output)
    return work / "store"


if __name__ == "__main__":
    main()
