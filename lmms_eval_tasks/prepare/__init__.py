"""From a benchmark's release to the store.

Each benchmark has a module that reads its annotations (``read(release) -> Parsed``) and names
its own columns; everything else happens here, the same for all: videos are placed, every frame
of each is decoded once to see that it can be, clips are joined where the benchmark needs it,
and the questions and the manifest are written. The store of an interrupted run is completed by
running it again, and one broken video or odd row never ends a run: it is recorded.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from video_reasoning.preprocessing.files import atomic_path, content_id, make_once
from video_reasoning.preprocessing.joining import join_parts, joined_name
from video_reasoning.preprocessing.video import VideoError, verify
from video_reasoning.tasks import store
from video_reasoning.tasks.causalvqa import prompt
from video_reasoning.tasks.errors import ReleaseError, StoreError
from video_reasoning.tasks.prepare import blackswan, causalvqa, tvbench
from video_reasoning.tasks.prepare.captions import add_captions, captioned
from video_reasoning.tasks.prepare.hub import fetch, fetched_from
from video_reasoning.tasks.prepare.records import Footage, Item, Joined, Parsed
from video_reasoning.tasks.prepare.source import Release
from video_reasoning.tasks.progress import Progress

__all__ = ["Progress", "prepare"]

READERS: dict[str, ModuleType] = {
    "blackswan": blackswan,
    "tvbench": tvbench,
    "causalvqa": causalvqa,
}

FORMAT = 1
"""Version of the store's layout, in the manifest."""

COMMON_COLUMNS: dict[str, pa.DataType] = {
    "id": pa.string(),
    "task": pa.string(),
    "question": pa.string(),
    "options": pa.list_(pa.string()),
    "answer": pa.string(),
    "video": pa.string(),
    "problem": pa.string(),
    "frames": pa.int32(),
    "seconds": pa.float64(),
    "evidence": pa.string(),
}
"""Columns of every benchmark's questions: ``answer`` is a letter, "yes", "no", or empty where it
is withheld or there is none; ``video`` is relative to the benchmark's folder; ``problem`` says
why it cannot be shown; ``frames`` and ``seconds`` are its length (0 where it cannot be read);
``evidence`` is what the sample benchmark says it takes to answer."""

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


@dataclass(frozen=True)
class Checked:
    """What decoding a whole video showed: ``problem`` is empty for a good one."""

    problem: str
    frames: int = 0
    seconds: float = 0.0
    rate: float = 0.0


def prepare(
    benchmark: str,
    source: Path | None = None,
    *,
    captions: Path | None = None,
    repository: Path | None = None,
    revision: str | None = None,
    store_home: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Reads a release and writes the benchmark's part of the store.

    Args:
        benchmark: "blackswan", "tvbench" or "causalvqa".
        source: the release's folder or archive; None to fetch it from the hub.
        captions: captions for BlackSwanSuite's Detective questions, see
            :mod:`video_reasoning.tasks.prepare.captions`; None to keep those that the store has.
        repository: a checkout of CausalVQA's repository whose prompt the runs are to use; None
            for our own.
        revision: of the hub's repositories; None for the newest.
        store_home: the store's folder; None for :func:`store.home`.
        workers: processes that decode and join; None for as many as there are cores.
        progress: told how far the work has come.

    Returns:
        The manifest, as written.

    Raises:
        ReleaseError: if the release cannot be fetched or read, or holds no question that can be
            read, or the captions cannot be read or are for another benchmark.
        StoreError: if there is no such benchmark, or another process is preparing it.
    """
    if repository is not None and benchmark != "causalvqa":
        raise ReleaseError(f"A repository's prompt is for causalvqa, not for {benchmark}.")
    authors_prompt = prompt.read(repository) if repository is not None else ""
    folder = store.benchmark_folder(benchmark, store_home)
    reader = READERS[benchmark]
    scratch = folder / ".prepare"
    scratch.mkdir(parents=True, exist_ok=True)
    told = progress or (lambda step, done, total: None)
    try:
        with FileLock(scratch / "lock", timeout=0):
            origin = None
            if source is None:
                source = fetch(benchmark, scratch, revision=revision)
                origin = fetched_from(benchmark, source)
            release = Release(source, scratch / "unpacked")
            parsed: Parsed = reader.read(release)
            add_captions(benchmark, parsed, folder, captions)
            if not parsed.items:
                reasons = "; ".join(f"{row['row']}: {row['reason']}" for row in parsed.skipped[:3])
                raise ReleaseError(f"{source} holds no question that can be read ({reasons}).")
            work = _Work(folder, scratch, workers or os.cpu_count() or 1, told)
            manifest = work.run(benchmark, reader, release, parsed, origin, authors_prompt)
    except Timeout:
        raise StoreError(
            f"Another process is preparing {benchmark} in {folder}; wait for it to end."
        ) from None
    shutil.rmtree(scratch, ignore_errors=True)
    return manifest


class _Work:
    """One run of :func:`prepare`, after the annotations have been read."""

    def __init__(self, folder: Path, scratch: Path, workers: int, progress: Progress) -> None:
        self.folder = folder
        self.workers = workers
        self.progress = progress
        self.checked_file = scratch / "checked.jsonl"

    def run(
        self,
        benchmark: str,
        reader: ModuleType,
        release: Release,
        parsed: Parsed,
        origin: str | None,
        authors_prompt: str,
    ) -> dict[str, Any]:
        footage = {part.name: part for item in parsed.items for part in _parts(item)}
        checked = self._check(self._place(footage))
        for name, part in footage.items():
            if part.file is None:
                checked[name] = Checked(part.problem)
        clips = self._join(parsed.items, checked)
        videos = [_video(item, checked, clips) for item in parsed.items]
        rows = [
            {**item.values, "video": video, "problem": problem, **_length(item, checked)}
            for item, (video, problem) in zip(parsed.items, videos, strict=True)
        ]
        schema = pa.schema({**COMMON_COLUMNS, **reader.COLUMNS})
        splits = {}
        for split in store.SPLITS[benchmark]:
            wanted = [
                row for row, item in zip(rows, parsed.items, strict=True) if item.split == split
            ]
            if wanted:
                splits[split] = _split_summary(split, wanted, parsed)
                target = self.folder / split / "questions.parquet"
                target.parent.mkdir(parents=True, exist_ok=True)
                with atomic_path(target) as temporary:
                    pq.write_table(pa.Table.from_pylist(wanted, schema=schema), temporary)
        derived = sum(
            isinstance(item.shows, Joined) and item.shows.middle is None for item in parsed.items
        )
        if derived:
            parsed.notes.append(
                f"{derived:,} questions hide a part whose clip the release does not ship: "
                "its length was derived from the parts around it."
            )
        manifest = {
            "benchmark": benchmark,
            "format": FORMAT,
            "prepared_by": f"lmms-eval-video-reasoning {version('lmms-eval-video-reasoning')}",
            "source": origin or str(release.source.name),
            "videos": len(footage),
            "unused_videos": max(0, release.videos() - len(footage)),
            "splits": splits,
            "notes": parsed.notes,
            **({"authors_prompt": authors_prompt} if authors_prompt else {}),
        }
        with atomic_path(store.manifest_file(benchmark, self.folder.parent)) as temporary:
            temporary.write_text(
                json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
            )
        return manifest

    def _place(self, footage: dict[str, Footage]) -> dict[str, Path]:
        """Puts every video of the release into the store: linked where possible, else copied."""
        placed = {}
        for name, part in footage.items():
            if part.file is not None:
                placed[name] = self.folder / "videos" / name
                _link_or_copy(part.file, placed[name])
        return placed

    def _check(self, placed: dict[str, Path]) -> dict[str, Checked]:
        """Decodes every video once; what an interrupted run has checked is not done again."""
        known = {}
        if self.checked_file.exists():
            for line in self.checked_file.read_text(encoding="utf-8").splitlines():
                try:
                    entry = json.loads(line)
                    known[entry["name"], entry["size"]] = Checked(**entry["checked"])
                except (ValueError, KeyError, TypeError):
                    continue  # the line that was being written when the run was killed
        sizes = {name: path.stat().st_size for name, path in placed.items()}
        checked = {name: known[name, size] for name, size in sizes.items() if (name, size) in known}
        left = [name for name in placed if name not in checked]
        with self.checked_file.open("a", encoding="utf-8") as log:
            outcomes = self._each("Checking videos", _decode, [placed[name] for name in left])
            for name, found in zip(left, outcomes, strict=True):
                # A store can be moved, so what it says of a file must not name its place.
                problem = found.problem.replace(f"{self.folder}{os.sep}", "")
                outcome = checked[name] = replace(found, problem=problem)
                entry = {"name": name, "size": sizes[name], "checked": vars(outcome)}
                log.write(json.dumps(entry) + "\n")
                log.flush()
        return checked

    def _join(
        self, items: Sequence[Item], checked: dict[str, Checked]
    ) -> dict[Joined, tuple[str, str]]:
        """Builds each different joined clip; gives its path in the benchmark, and any problem."""
        jobs: dict[Joined, tuple[Path, Path | int, Path, bool, Path]] = {}
        clips: dict[Joined, tuple[str, str]] = {}
        for item in items:
            wanted = item.shows
            if not isinstance(wanted, Joined) or wanted in jobs or wanted in clips:
                continue
            parts = [part for part in (wanted.before, wanted.middle, wanted.after) if part]
            problems = [checked[part.name].problem for part in parts]
            if any(problems):
                clips[wanted] = ("", "; ".join(filter(None, problems)))
                continue
            videos = self.folder / "videos"
            first, last = videos / wanted.before.name, videos / wanted.after.name
            middle: Path | int
            if wanted.middle is not None:
                middle = videos / wanted.middle.name
            else:
                before, after = checked[wanted.before.name], checked[wanted.after.name]
                middle = blackswan.hidden_frames(before.frames, after.frames, before.rate)
            name = _clip_name(first, middle, last, blackout=wanted.blackout)
            jobs[wanted] = (first, middle, last, wanted.blackout, self.folder / "clips" / name)
        outcomes = self._each("Joining clips", _join_one, list(jobs.values()))
        for (wanted, job), problem in zip(jobs.items(), outcomes, strict=True):
            clips[wanted] = (f"clips/{job[-1].name}", problem)
        return clips

    def _each(
        self, step: str, function: Callable[[Task], Outcome], tasks: Sequence[Task]
    ) -> Iterable[Outcome]:
        """Runs a function over many tasks in processes, in order, telling of progress."""
        import joblib

        if not tasks:
            return
        self.progress(step, 0, len(tasks))
        workers = min(self.workers, len(tasks))
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
        outcomes = parallel(joblib.delayed(function)(task) for task in tasks)
        for done, outcome in enumerate(outcomes, start=1):
            self.progress(step, done, len(tasks))
            yield outcome


def _parts(item: Item) -> list[Footage]:
    shows = item.shows
    if isinstance(shows, Footage):
        return [shows]
    return [part for part in (shows.before, shows.middle, shows.after) if part is not None]


def _video(
    item: Item, checked: dict[str, Checked], clips: dict[Joined, tuple[str, str]]
) -> tuple[str, str]:
    """The path below the benchmark's folder of what an item shows, and why it cannot be shown."""
    if isinstance(item.shows, Joined):
        return clips[item.shows]
    return f"videos/{item.shows.name}", checked[item.shows.name].problem


def _length(item: Item, checked: dict[str, Checked]) -> dict[str, Any]:
    """How many frames and seconds an item shows."""
    parts = [checked[part.name] for part in _parts(item)]
    frames = sum(part.frames for part in parts)
    seconds = sum(part.seconds for part in parts)
    if isinstance(item.shows, Joined) and item.shows.middle is None and parts[0].rate:
        hidden = blackswan.hidden_frames(parts[0].frames, parts[1].frames, parts[0].rate)
        frames, seconds = frames + hidden, seconds + hidden / parts[0].rate
    return {"frames": frames, "seconds": round(seconds, 6)}


def _split_summary(split: str, rows: list[dict[str, Any]], parsed: Parsed) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "questions": len(rows),
        "tasks": dict(sorted(Counter(row["task"] for row in rows).items())),
        "withheld": sum(not row["answer"] and not row.get("references") for row in rows),
        "missing": [
            {"id": row["id"], "video": row["video"], "reason": row["problem"]}
            for row in rows
            if row["problem"]
        ],
        "skipped": [
            {key: row[key] for key in ("task", "row", "reason")}
            for row in parsed.skipped
            if row["split"] == split
        ],
    }
    if counts := captioned(rows):
        summary["captioned"] = counts
    return summary


def _link_or_copy(file: Path, target: Path) -> None:
    """Places a file under another name: a hard link where the file system allows, else a copy."""
    status = file.stat()
    if target.exists():
        placed = target.stat()
        if (placed.st_ino, placed.st_dev) == (status.st_ino, status.st_dev):
            return
        if (placed.st_size, placed.st_mtime_ns) == (status.st_size, status.st_mtime_ns):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as temporary:
        try:
            os.link(file.resolve(), temporary)
        except OSError:
            shutil.copy2(file, temporary)


def _clip_name(before: Path, middle: Path | int, after: Path, *, blackout: bool) -> str:
    """Name of a joined clip, which changes whenever what it shows would."""
    if isinstance(middle, int):
        return joined_name([content_id(before), content_id(after)], black_frames=middle)
    ids = [content_id(part) for part in (before, middle, after)]
    return joined_name(ids, black_frames=0 if blackout else None)


def _decode(path: Path) -> Checked:
    """Decodes a whole video, in a worker."""
    try:
        info = verify(path)
    except (VideoError, OSError) as error:
        return Checked(str(error))
    return Checked("", info.frames, float(info.duration), float(info.fps))


def _join_one(job: tuple[Path, Path | int, Path, bool, Path]) -> str:
    """Builds one joined clip, in a worker; gives the reason where it cannot be."""
    before, middle, after, blackout, target = job
    target.parent.mkdir(parents=True, exist_ok=True)

    def make(temporary: Path) -> None:
        join_parts(before, middle, after, temporary, blackout=blackout)

    try:
        make_once(target, make)
    except (VideoError, OSError) as error:
        return f"the joined clip could not be built: {error}"
    return ""
