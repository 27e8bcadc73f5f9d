"""The items of logged runs as the viewer's page reads them, and what each of them showed."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.frames import jpeg
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.pages.frames import Player
from video_reasoning.tasks.report.footage import Footage, NoFootage, condition_shown, footage
from video_reasoning.tasks.report.gallery import outcome
from video_reasoning.tasks.report.tables import run_key, run_names
from video_reasoning.tasks.results.items import Item, ReportError, TaskLog, gather, texts
from video_reasoning.tasks.results.logs import LogError, lines_at

_LOGS = ("*_samples_*.jsonl", "*_results.json", "*_scores_*.jsonl")
"""Files whose change means that a run has more to show."""

LONGEST_SIDE = 640  # pixels of a still

Entry = tuple[TaskLog, Item]


@dataclass(frozen=True)
class State:
    """What was read at one time.

    Attributes:
        version: Names what was read; part of the addresses of pictures and clips.
        entries: Every item with its log; its place is its number on the page.
        content: All that the page needs to list, filter and search them.
        problem: Why nothing could be read, or the empty text.
    """

    version: str
    entries: Sequence[Entry] = ()
    content: dict[str, Any] = field(default_factory=dict)
    problem: str = ""


class Collection:
    """The logged items below some paths, read again when a log has changed.

    Args:
        paths: Output folders of the harness, results files or sample logs.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self.paths = list(paths)
        self._mutex = threading.Lock()
        self._seen: object = None
        self._state = State("")

    def state(self) -> State:
        """Return what the logs have now.

        Raises:
            LogError: A path does not exist or is not a log.
        """
        with self._mutex:
            seen = list(self._files())
            if seen != self._seen:
                self._state = self._read(hashlib.sha256(repr(seen).encode()).hexdigest()[:12])
                self._seen = seen
            return self._state

    def _files(self) -> Iterator[tuple[str, int, int]]:
        for path in self.paths:
            below = [path.parent] if path.is_file() else [path]
            for file in sorted(one for each in below for kind in _LOGS for one in each.rglob(kind)):
                try:
                    facts = file.stat()
                except OSError:
                    continue  # removed a moment ago
                yield str(file), facts.st_size, facts.st_mtime_ns

    def _read(self, version: str) -> State:
        try:
            logs = gather(self.paths)
        except ReportError as error:  # a run that has only begun
            return State(version, problem=str(error), content=_content([], version))
        entries = [(log, item) for log in logs for item in log.items]
        return State(version, entries, _content(logs, version))


def _content(logs: Sequence[TaskLog], version: str) -> dict[str, Any]:
    """Return the items by column: texts that many items share are in it once."""
    names = run_names(sorted(logs, key=lambda log: log.run.date))
    places = {key: place for place, key in enumerate(names)}
    runs = {run_key(log.run): log.run for log in logs}
    questions = _Table()
    columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for number, log in enumerate(logs):
        for item, response in zip(log.items, texts(log.log, log.items), strict=True):
            row = (
                number,
                places[run_key(log.run)],
                questions.place(log, item),
                condition_shown(log, item),
                outcome(log, item),
                item.rule,
                item.choice or "",
                item.target,
                item.score,
                item.seen,
                item.shown,
                item.ordered,
                response,
                item.problem,
                item.line,
                item.values or None,
            )
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    return {
        "version": version,
        "runs": [
            {"name": name, "arguments": runs[key].model_args, "begun": runs[key].begun}
            for key, name in names.items()
        ],
        "logs": [
            {"task": log.task, "file": str(log.log), "sample": log.sample, "odd": log.odd.count}
            for log in logs
        ],
        "questions": questions.rows,
        "items": columns,
    }


_COLUMNS = (
    *("log", "run", "question", "condition", "kind", "rule", "choice", "target", "score"),
    *("seen", "shown", "ordered", "response", "problem", "line", "values"),
)


class _Table:
    """The questions of all items, each once."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._places: dict[tuple[str, str, str], int] = {}

    def place(self, log: TaskLog, item: Item) -> int:
        key = (log.benchmark or log.task, item.id, str(log.questions_file))
        if key not in self._places:
            self._places[key] = len(self.rows)
            question = item.question
            self.rows.append(
                {
                    "id": item.id,
                    "benchmark": log.benchmark or log.task,
                    "text": str(question.get("question") or ""),
                    "hypothesis": str(question.get("hypothesis") or ""),
                    "options": list(question.get("options") or []),
                    "references": list(question.get("references") or []),
                    "groups": item.groups,
                }
            )
        return self._places[key]


class Media:
    """Pictures and clips of items, made when they are looked at, in a folder that is removed."""

    def __init__(self) -> None:
        self._player = Player()
        self._folder = tempfile.TemporaryDirectory(prefix="video-reasoning-")

    def close(self) -> None:
        """Remove what was made."""
        self._player.close()
        self._folder.cleanup()

    def shown(self, entry: Entry) -> Footage:
        """Return what an item showed.

        Raises:
            NoFootage: Nothing can be shown.
        """
        log, item = entry
        if item.status == "missing":
            raise NoFootage(f"The video could not be shown: {item.problem}")
        return footage(log, item.question, item.id, condition_shown(log, item))

    def stills(self, entry: Entry) -> tuple[list[tuple[str, bytes]], str]:
        """Return the name and the JPEG of each frame of an item, and a caption.

        Raises:
            NoFootage: Nothing can be shown.
        """
        shown = self.shown(entry)
        try:
            stills = shown.stills(lambda image: jpeg(image, LONGEST_SIDE))
        except (VideoError, OSError, ValueError) as error:
            raise NoFootage(f"No pictures: {error}") from error
        return [(still.name, still.picture) for still in stills], shown.caption(len(stills))

    def clips(self, entry: Entry) -> list[Path]:
        """Return the files that an item's clips are in; none for a single frame.

        Raises:
            NoFootage: Nothing can be shown.
        """
        try:
            return self.shown(entry).playable(Path(self._folder.name))
        except (VideoError, OSError, ValueError) as error:
            raise NoFootage(f"No clip: {error}") from error

    def playable(self, path: Path, *, convert: bool = False) -> tuple[Path, str]:
        """Return a file that a browser plays and its media type.

        Raises:
            NoFootage: It cannot be decoded.
        """
        try:
            return self._player.file(path, convert=convert)
        except (VideoError, OSError) as error:
            raise NoFootage(f"No clip: {error}") from error


def log_line(entry: Entry) -> str:
    """Return an item's line of the sample log, with an entry of JSON on each line.

    Raises:
        NoFootage: The log has changed or is gone.
    """
    log, item = entry
    try:
        return json.dumps(next(lines_at(log.log, [item.start])), indent=1, ensure_ascii=False)
    except LogError as error:
        raise NoFootage(str(error)) from error
