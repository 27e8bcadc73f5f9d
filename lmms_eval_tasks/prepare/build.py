"""From a benchmark's release to the store.

Each benchmark has a module that reads its annotations (``read(release) -> Parsed``) and names
its own columns; everything else happens here, the same for all: videos are placed, every frame
of each is decoded once to see that it can be (a journal keeps what was found), clips are joined
if the benchmark needs it, and the questions and the manifest are written. The store of an
interrupted run is completed by running it again, and one broken video or odd row never ends a
run: it is recorded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from video_reasoning.preprocessing.files import (
    Busy,
    atomic_path,
    content_id,
    exclusive,
    remove_leftovers,
)
from video_reasoning.preprocessing.journal import journal, read_journal
from video_reasoning.preprocessing.video import VideoError, check_file
from video_reasoning.preprocessing.workers import EngineError, Lost, Workers
from video_reasoning.tasks import store
from video_reasoning.tasks.benchmarks import BENCHMARKS, resolve
from video_reasoning.tasks.blackswan import release as blackswan_release
from video_reasoning.tasks.blackswan.captions import add_captions, captioned
from video_reasoning.tasks.causalvqa import prompt
from video_reasoning.tasks.errors import ReleaseError, StoreError, UserError
from video_reasoning.tasks.prepare.jobs import (
    CHECK,
    Checked,
    Joining,
    check_video,
    join_clip,
    link_or_copy,
    release_roots,
)
from video_reasoning.tasks.release.hub import fetch, fetched_from
from video_reasoning.tasks.release.records import Footage, Item, Joined, Parsed
from video_reasoning.tasks.release.source import Release
from video_reasoning.tasks.store.text_files import is_regular

__all__ = ["Progress", "prepare"]

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
    "split": pa.string(),
}
"""Columns of every benchmark's questions: ``answer`` is a letter, "yes", "no", or empty where it
is withheld or there is none; ``video`` is relative to the benchmark's folder; ``problem`` says
why it cannot be shown; ``frames`` and ``seconds`` are its length (0 where it cannot be read);
``evidence`` is what the sample benchmark says it takes to answer."""

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, how much of it is done, and how much there is."""

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def prepare(
    benchmark: str,
    source: Path | None = None,
    *,
    captions: Path | None = None,
    repository: Path | None = None,
    revision: str | None = None,
    store_home: Path | None = None,
    workers: int | None = None,
    engine: str = "local",
    engine_address: str | None = None,
    isolate: bool = False,
    verify: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Read a release and write the benchmark's part of the store.

    Args:
        benchmark: "blackswan", "tvbench" or "causalvqa".
        source: The release's folder or archive; None to fetch it from the hub.
        captions: Captions for BlackSwanSuite's Detective questions, see
            :mod:`video_reasoning.tasks.blackswan.captions`; None keeps the store's.
        repository: A checkout of CausalVQA's repository whose prompt the runs are to use; None
            for our own.
        revision: Revision of the Hub's repositories; None for the newest.
        store_home: The store's folder; None for :func:`store.home`.
        workers: Number of processes that decode and join; None for one per core.
        engine: "local", "dask" or "ray", see :mod:`video_reasoning.preprocessing.workers`. The
            journal, the questions and the manifest are written by this process alone.
        engine_address: The cluster's address.
        isolate: Whether a single worker is a process of its own, which a decoder that dies
            cannot take along.
        verify: Whether to decode all videos again. Otherwise one that an earlier run decoded, and
            whose size and time are the same, is not; nor one whose time alone has changed.
        progress: Called as the work goes on.

    Returns:
        The manifest, as written.

    Raises:
        ReleaseError: The release cannot be fetched or read, or contains no question that can be
            read, or the captions cannot be read or are for another benchmark.
        StoreError: There is no such benchmark, or another process is preparing it.
        UserError: The engine cannot be used.
        OSError: The store cannot be written, e.g. because the disk is full; what was checked
            and built is kept.
    """
    if repository is not None and benchmark != "causalvqa":
        raise ReleaseError(f"A repository's prompt is for causalvqa, not for {benchmark}.")
    authors_prompt = prompt.read(repository) if repository is not None else ""
    folder = store.benchmark_folder(benchmark, store_home).absolute()
    reader = resolve(BENCHMARKS[benchmark].reader)
    scratch = folder / ".prepare"
    report = progress or (lambda step, done, total: None)
    try:
        with exclusive(folder / ".prepare.lock"):
            scratch.mkdir(parents=True, exist_ok=True)
            origin = None
            if source is None:
                source = fetch(benchmark, scratch, revision=revision)
                origin = fetched_from(benchmark, source)
            release = Release(source, scratch / "unpacked")
            parsed: Parsed = reader.read(release)
            parsed.note_elsewhere()
            add_captions(benchmark, parsed, folder, captions)
            if not parsed.items:
                reasons = "; ".join(f"{row['row']}: {row['reason']}" for row in parsed.skipped[:3])
                raise ReleaseError(f"{source} holds no question that can be read ({reasons}).")
            team = Workers(workers, engine, engine_address, isolate=isolate, shared=folder)
            with team:
                roots = release_roots(source, scratch)
                work = _Work(folder, team, report, roots, verify=verify)
                manifest = work.run(benchmark, reader, release, parsed, origin, authors_prompt)
            # Inside the lock: another run may begin at once, with a folder of the same name.
            shutil.rmtree(scratch, ignore_errors=True)
    except Busy as error:
        raise StoreError(
            f"Another process is preparing {benchmark} in {folder} ({error}); wait for it to end."
        ) from None
    except EngineError as error:
        raise UserError(str(error)) from error
    return manifest


class _Work:
    """One run of :func:`prepare`, after the annotations have been read."""

    def __init__(
        self,
        folder: Path,
        workers: Workers,
        progress: Progress,
        roots: Sequence[Path],
        *,
        verify: bool,
    ) -> None:
        self.folder = folder
        self.roots = roots
        self.workers = workers
        self.progress = progress
        self.checked_file = folder / ".checked.jsonl"
        if verify:
            # What an interrupted run with `verify` has decoded need not be decoded by the next.
            self.checked_file.unlink(missing_ok=True)

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
        self._tidy()
        placed, unplaced = self._place(footage)
        checked = {**self._check(placed), **unplaced}
        parsed.notes += _noted(checked)
        clips = self._join(parsed.items, checked)
        videos = [_video(item, checked, clips) for item in parsed.items]
        rows = [
            {
                **item.values,
                "video": video,
                "problem": problem,
                "split": item.split,
                **_length(item, checked),
            }
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
            isinstance(item.shows, Joined) and item.shows.middle is None and not problem
            for item, (_, problem) in zip(parsed.items, videos, strict=True)
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
            "unused_videos": max(0, len(release.videos()) - len(footage)),
            "splits": splits,
            "digest": hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest(),
            "notes": parsed.notes,
            "found_elsewhere": parsed.found_elsewhere,
            **({"authors_prompt": authors_prompt} if authors_prompt else {}),
        }
        with atomic_path(store.manifest_file(benchmark, self.folder.parent)) as temporary:
            temporary.write_text(
                json.dumps(manifest, indent=2, ensure_ascii=False) + "\n",
                encoding="utf-8",
                errors="backslashreplace",  # a name that is not text, as JSON writes it
            )
        self._note({name: (_state(path), checked[name]) for name, path in placed.items()})
        return manifest

    def _tidy(self) -> None:
        """Remove what killed processes left: hidden files that no reader takes for videos."""
        for top in ("videos", "clips", *store.SPLITS[self.folder.name]):
            for place, _, _ in os.walk(self.folder / top):
                remove_leftovers(Path(place))
        remove_leftovers(self.folder)

    def _place(self, footage: dict[str, Footage]) -> tuple[dict[str, Path], dict[str, Checked]]:
        """Put every video of the release into the store: linked where possible, else copied.

        Returns:
            The paths by name, and what is wrong with those that the release does not have or
            that cannot be read.
        """
        placed, unplaced = {}, {}
        for name, part in footage.items():
            if part.file is None:
                unplaced[name] = Checked(part.problem)
                continue
            real = part.file.resolve()
            if not any(real.is_relative_to(root) for root in self.roots):
                unplaced[name] = Checked(
                    f"{name} is a link to a file outside the release, which is not followed; copy "
                    "the file into the release."
                )
                continue
            try:
                if not is_regular(part.file):  # opening a pipe would wait forever
                    check_file(part.file)
                # A copy that fails would not say which side it was.
                with part.file.open("rb"):
                    pass
            except VideoError as error:
                unplaced[name] = Checked(str(error).replace(str(part.file), name))
                continue
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                unplaced[name] = Checked(f"{name} cannot be read: {reason}.")
                continue
            target = self.folder / "videos" / name
            try:
                link_or_copy(part.file, target)
            except (NotADirectoryError, IsADirectoryError, FileExistsError) as error:
                # One video is named like another one's folder.
                unplaced[name] = Checked(f"{name} cannot be placed: {error.strerror}.")
                continue
            placed[name] = target
        return placed, unplaced

    def _check(self, placed: dict[str, Path]) -> dict[str, Checked]:
        """Decode every video that no earlier run has decoded, by its path in the store by name."""
        known = self._known()
        states = {name: _state(path) for name, path in placed.items()}
        checked = {}
        for name, state in states.items():
            before, found = known.get(name, ((), Checked("unknown")))
            if before == state or (
                found.content
                and before[:1] == state[:1]
                and found.content == content_id(placed[name])
            ):
                checked[name] = found
        left = [name for name in placed if name not in checked]
        with journal(self.checked_file) as write:
            jobs = [placed[name] for name in left]
            for place, outcome in self._each("Checking videos", check_video, jobs):
                name = left[place]
                if isinstance(outcome, Lost):
                    # Not in the journal: the next run tries it again.
                    checked[name] = Checked(f"it could not be checked: {outcome.reason}")
                    continue
                # A store can be moved, so what it says of a file must not name its place.
                problem = outcome.problem.replace(f"{self.folder}{os.sep}", "")
                checked[name] = replace(outcome, problem=problem)
                write(_entry(name, states[name], checked[name]))
        return checked

    def _known(self) -> dict[str, tuple[tuple[int, ...], Checked]]:
        """Return what the journal says: by name the file's state, and what was found."""
        known = {}
        for entry in read_journal(self.checked_file):
            with contextlib.suppress(KeyError, TypeError):  # of another version
                if entry["check"] == CHECK:
                    found = Checked(**entry["checked"])
                    known[str(entry["name"])] = (tuple(entry["state"]), found)
        return known

    def _note(self, found: dict[str, tuple[tuple[int, ...], Checked]]) -> None:
        """Write the journal of a finished run.

        What cannot be decoded is left out: the reason may have been the place and not the file.
        """
        with atomic_path(self.checked_file) as temporary, journal(temporary) as write:
            for name, (state, checked) in sorted(found.items()):
                if not checked.problem:
                    write(_entry(name, state, checked))

    def _join(
        self, items: Sequence[Item], checked: dict[str, Checked]
    ) -> dict[Joined, tuple[str, str]]:
        """Build each different joined clip; give its path in the benchmark, and any problem."""
        jobs: dict[Joined, Joining] = {}
        clips: dict[Joined, tuple[str, str]] = {}
        shown = (item.shows for item in items if isinstance(item.shows, Joined))
        for wanted in dict.fromkeys(shown):
            parts = [part for part in (wanted.before, wanted.middle, wanted.after) if part]
            if problems := [found for part in parts if (found := checked[part.name].problem)]:
                clips[wanted] = ("", "; ".join(problems))
            else:
                jobs[wanted] = self._joining(wanted, checked)
        order = list(jobs)
        for place, outcome in self._each("Joining clips", join_clip, list(jobs.values())):
            wanted = order[place]
            if isinstance(outcome, Lost):
                name = jobs[wanted].name
                reason = f"the joined clip could not be built: {outcome.reason}"
            else:
                name, reason = outcome
            clips[wanted] = (f"clips/{name}", reason.replace(f"{self.folder}{os.sep}", ""))
        return clips

    def _joining(self, wanted: Joined, checked: dict[str, Checked]) -> Joining:
        videos = self.folder / "videos"
        parts = [part for part in (wanted.before, wanted.middle, wanted.after) if part]
        middle: Path | int
        if wanted.middle is not None:
            middle = videos / wanted.middle.name
        else:
            before, after = checked[wanted.before.name], checked[wanted.after.name]
            middle = blackswan_release.hidden_frames(before.frames, after.frames, before.rate)
        return Joining(
            videos / wanted.before.name,
            middle,
            videos / wanted.after.name,
            wanted.blackout,
            self.folder / "clips",
            tuple(checked[part.name].content for part in parts),
            wanted.before.file,
        )

    def _each(
        self, step: str, function: Callable[[Task], Outcome], tasks: Sequence[Task]
    ) -> Iterator[tuple[int, Outcome | Lost]]:
        """Run a function over many tasks, and report progress."""
        if not tasks:
            return
        self.progress(step, 0, len(tasks))
        with contextlib.closing(self.workers.each(function, tasks)) as outcomes:
            for done, found in enumerate(outcomes, start=1):
                yield found
                self.progress(step, done, len(tasks))


def _entry(name: str, state: Sequence[int], checked: Checked) -> dict[str, Any]:
    return {"name": name, "state": state, "check": CHECK, "checked": vars(checked)}


def _state(path: Path) -> tuple[int, int]:
    """By what a file is known to be the one that was checked: its size and time of change."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _noted(checked: dict[str, Checked]) -> list[str]:
    """Return what is remarkable about videos that can be shown, each with the videos counted."""
    names: dict[str, list[str]] = {}
    for name, found in checked.items():
        for note in found.notes:
            names.setdefault(note, []).append(name)
    return [
        f"Videos with {note}: {len(all_):,}, such as {all_[0]}." for note, all_ in names.items()
    ]


def _parts(item: Item) -> list[Footage]:
    shows = item.shows
    if isinstance(shows, Footage):
        return [shows]
    return [part for part in (shows.before, shows.middle, shows.after) if part is not None]


def _video(
    item: Item, checked: dict[str, Checked], clips: dict[Joined, tuple[str, str]]
) -> tuple[str, str]:
    """Return what an item shows, as a path in the benchmark's folder, or why it cannot."""
    if isinstance(item.shows, Joined):
        return clips[item.shows]
    return f"videos/{item.shows.name}", checked[item.shows.name].problem


def _length(item: Item, checked: dict[str, Checked]) -> dict[str, Any]:
    """How many frames and seconds an item shows."""
    parts = [checked[part.name] for part in _parts(item)]
    frames = sum(part.frames for part in parts)
    seconds = sum(part.seconds for part in parts)
    if isinstance(item.shows, Joined) and item.shows.middle is None and parts[0].rate:
        hidden = blackswan_release.hidden_frames(parts[0].frames, parts[1].frames, parts[0].rate)
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
