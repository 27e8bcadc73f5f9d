"""All videos of a folder, with a manifest; a run that was cut off goes on where it stopped."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from video_reasoning.preprocessing.files import atomic_path, content_id, exclusive, remove_leftovers
from video_reasoning.preprocessing.journal import journal, read_journal
from video_reasoning.preprocessing.split.plan import Variant, check_variant, plan_event_time
from video_reasoning.preprocessing.split.video import VERSION, SplitRecord, split_video
from video_reasoning.preprocessing.workers import Lost, Workers

MANIFEST = "manifest.jsonl"

VIDEO_SUFFIXES = (".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".flv", ".mpg", ".mpeg", ".gif")

Progress = Callable[[SplitRecord, int, int], None]
"""Called with a video's record, the number of videos done and of all."""

_Entry = TypeVar("_Entry")


def find_videos(folder: Path) -> dict[int, Path]:
    """Assign numbers to the videos of a folder and the folders below it, from 1.

    Numbers follow the sorted names (paths below the folder), so that they are the same on every
    machine and file system. They change when videos are added or removed.

    Args:
        folder: Folder of videos.

    Returns:
        The videos by number.

    Raises:
        FileNotFoundError: There is no such folder, or no video in it.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder: give the folder with the videos.")
    found = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in VIDEO_SUFFIXES and not path.name.startswith(".")
    )
    if not found:
        raise FileNotFoundError(
            f"{folder} contains no video ({', '.join(VIDEO_SUFFIXES)}): give the folder with them."
        )
    return {number: folder / name for number, name in enumerate(found, start=1)}


def read_transition_times(
    source: Path | Mapping[str, Any], odd: dict[str, str] | None = None
) -> dict[str, tuple[float, ...]]:
    """Read the annotators' event times as Oops! publishes them.

    Args:
        source: The file `transition_times.json` (name -> {"t": [seconds, ...]}), or its content.
            A plain list of seconds in place of the inner object is understood too.
        odd: Filled with the names whose times cannot be read, and why; None to refuse the whole
            file because of one.

    Returns:
        Seconds by name, as they are in the file (0 and less mean that no event was found).

    Raises:
        ValueError: The file is not JSON, or its content has another shape; the message names the
            entry.
        OSError: The file cannot be read.
    """
    content: Any = source
    place = "the event times"
    if isinstance(source, Path):
        place = str(source)
        if source.exists() and not source.is_file():
            raise ValueError(f"{source} is not a regular file: give the file of the event times.")
        try:
            content = json.loads(source.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{source} is not JSON text: {error}.") from None
    if not isinstance(content, Mapping):
        raise ValueError(f"{place} must map each video's name to its times.")
    result = {}
    for name, entry in content.items():
        times = _times(str(name), entry)
        if not isinstance(times, str):
            result[str(name)] = times
        elif odd is None:
            raise ValueError(f"{place}: {times}.")
        else:
            odd[str(name)] = times
    return result


def _times(name: str, entry: object) -> tuple[float, ...] | str:
    """Return an entry's times, or what is wrong with it."""
    times = entry.get("t") if isinstance(entry, Mapping) else entry
    if not isinstance(times, Sequence) or isinstance(times, str):
        return f"the entry '{name}' has no list of times under 't'"
    if not all(isinstance(time, int | float) for time in times):
        return f"a time of '{name}' is not a number"
    try:
        return tuple(float(time) for time in times)
    except OverflowError:
        return f"a time of '{name}' is too large"


def split_folder(
    videos: Path,
    transition_times: Path | Mapping[str, Any],
    out: Path,
    variant: Variant = "paper",
    workers: int = 1,
    resume: bool = True,
    progress: Progress | None = None,
    *,
    engine: str = "local",
    engine_address: str | None = None,
    isolate: bool = False,
) -> list[SplitRecord]:
    """Split all videos of a folder.

    Clips are called `<number>_A_preevent.mp4`, `_B_event`, `_C_postevent`, `_D_merged` (the
    middle black) and `_E_merged`; numbers are those of `find_videos`. `manifest.jsonl` in the
    folder of clips has one line per video, in the order of the numbers. A run that was cut off
    goes on where it stopped: videos whose record and clips are there, made from the same content
    with the same times, variant and version, are not done again. Only this process writes the
    journal and the manifest, wherever the workers are. One run at a time works on a folder of
    clips.

    A video that ends the process that decodes it, twice, is discarded with that reason, and
    tried again by the next run.

    Args:
        videos: Folder of the videos, with or without folders below it.
        transition_times: See `read_transition_times`; names are those of the videos, with or
            without suffix.
        out: Folder to write clips and manifest to.
        variant: `paper` or `release`.
        workers: Number of processes.
        resume: Keep what a previous run did; otherwise everything is made again.
        progress: Called after each video.
        engine: `local`, `dask` or `ray`, see `workers.Workers`. The folders must have the same
            path on every machine.
        engine_address: Address of the cluster.
        isolate: Whether a single worker is a process of its own, which a decoder that dies
            cannot take along.

    Returns:
        The records in the order of the numbers.

    Raises:
        FileNotFoundError: There is no such folder, or no video in it.
        ValueError: The event times cannot be read, or the variant is not known.
        OSError: The folder of clips cannot be written, e.g. because the disk is full; what was
            done is kept.
        Busy: Another run works on the folder of clips.
        EngineError: The engine cannot be used.
    """
    check_variant(variant)
    numbered = find_videos(videos)
    odd: dict[str, str] = {}
    times = read_transition_times(transition_times, odd)
    entries: dict[str, tuple[float, ...] | str] = {**odd, **times}
    report = progress or (lambda record, done, total: None)
    with exclusive(out / f".{MANIFEST}.lock", remove=True):
        remove_leftovers(out)
        if not resume:
            _journal_file(out).unlink(missing_ok=True)
        previous = _read_records(out / MANIFEST, _journal_file(out)) if resume else {}
        done: dict[int, SplitRecord] = {}
        jobs: list[_Job] = []
        for number, path in numbered.items():
            name = path.relative_to(videos).as_posix()
            annotated = _find(name, entries)
            record = previous.get(number)
            # Workers may have another current folder.
            job = (path.absolute(), annotated, out.absolute(), number, variant, name)
            if isinstance(annotated, str):  # why its times cannot be read
                done[number] = SplitRecord(name, number, "discarded", annotated, variant)
            elif record is not None and _still_valid(record, job):
                done[number] = record
            else:
                jobs.append(job)
        for count, record in enumerate(done.values(), start=1):
            report(record, count, len(numbered))
        team = Workers(workers, engine, engine_address, isolate=isolate, shared=out)
        for record in _split_all(jobs, team, out):
            done[record.index] = record
            report(record, len(done), len(numbered))
        records = [done[number] for number in sorted(done)]
        with atomic_path(out / MANIFEST) as temporary:
            lines = (json.dumps(asdict(record)) + "\n" for record in records)
            temporary.write_text("".join(lines), encoding="utf-8")
        _journal_file(out).unlink(missing_ok=True)
    return records


_Job = tuple[Path, tuple[float, ...] | str | None, Path, int, Variant, str]
"""Video, times (or why there are none), folder of clips, number, variant, name."""


def _split_all(jobs: Sequence[_Job], team: Workers, out: Path) -> Iterator[SplitRecord]:
    if not jobs:
        return  # a cluster is only started for work
    with (
        team,
        journal(_journal_file(out)) as write,
        contextlib.closing(team.each(_split_job, jobs)) as outcomes,
    ):
        for place, outcome in outcomes:
            if isinstance(outcome, Lost):
                # Not in the journal, and never taken for done: it is tried again.
                yield _lost(jobs[place], outcome.reason)
            else:
                write(asdict(outcome))
                yield outcome


def _split_job(job: _Job) -> SplitRecord:
    path, times, out, number, variant, name = job
    if times is None:
        reason = "its event time is not annotated"
        return SplitRecord(name, number, "discarded", reason, variant)
    assert not isinstance(times, str)
    return split_video(path, times, out, number, variant=variant, name=name)


def _lost(job: _Job, reason: str) -> SplitRecord:
    _, times, _, number, variant, name = job
    found = tuple(times) if isinstance(times, tuple) else ()
    return SplitRecord(
        name,
        number,
        "discarded",
        reason,
        variant,
        event_times=found,
        event_time=plan_event_time(found, variant).seconds or 0.0,
    )


def _journal_file(out: Path) -> Path:
    return out / f".{MANIFEST}.journal"


def _find(name: str, entries: Mapping[str, _Entry]) -> _Entry | None:
    """Find what a file says of a video, named with or without suffix and folder."""
    path = Path(name)
    keys = (name, path.name, str(path.with_suffix("")), path.stem)
    return next((entries[key] for key in keys if key in entries), None)


def _still_valid(record: SplitRecord, job: _Job) -> bool:
    path, times, out, _, variant, name = job
    made = (record.name, record.variant, record.version, record.event_times)
    if made != (name, variant, VERSION, times or ()):
        return False
    if record.source_id:
        try:
            if content_id(path) != record.source_id:
                return False
        except OSError:
            return False
    elif record.event_time is not None:
        # The video could not be read: it may have been replaced.
        return False
    return all((out / file).exists() for file in (record.files or {}).values())


def read_manifest(path: Path) -> list[SplitRecord]:
    """Read the manifest that `split_folder` wrote, in the order of the numbers."""
    return [record for _, record in sorted(_read_records(path).items())]


def _read_records(*paths: Path) -> dict[int, SplitRecord]:
    records = {}
    for path in paths:
        for entry in read_journal(path):
            with contextlib.suppress(TypeError, KeyError):
                values = {key: _as_tuple(value) for key, value in entry.items()}
                records[entry["index"]] = SplitRecord(**values)
    return records


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value
