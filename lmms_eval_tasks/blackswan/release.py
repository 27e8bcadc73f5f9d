"""BlackSwanSuite: from the Hub releases or the authors' own layout to items.

Read are tables (``.jsonl``, ``.json`` or ``.csv``) of three kinds, recognized by their names or
their columns: multiple choice (MCQ), yes/no (YN) and generation (Gen), for the validation and
the test split. Clips are found by name anywhere in the release. Column names differ between
releases: :data:`NAMES` is the one table of those that are accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from video_reasoning.preprocessing.files import content_id
from video_reasoning.tasks.blackswan.captions import COLUMNS as CAPTION_COLUMNS
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import (
    Footage,
    Item,
    Joined,
    OddRow,
    Parsed,
    annotation_text,
    difficulty_of,
    index,
    json_lines,
    name_of,
    path_of,
    posix,
    text,
    texts,
)
from video_reasoning.tasks.release.source import Release, is_archive, unpack
from video_reasoning.tasks.store.text_files import loads, shortened, table

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("q_id", "qid", "question_id", "id"),
    "task": ("task", "task_name", "mcq_task"),
    "difficulty": ("difficulty", "level"),
    "question": ("default_question", "question"),
    "options": ("mcq_options", "options", "choices"),
    "option": ("mcq_gt_option", "gt_option", "correct_option", "answer"),
    "references": ("gt_ref_ans", "ref_ans", "references", "answers"),
    "hypothesis": ("hypothesis", "hypo", "yn_hypothesis", "statement", "yn_question"),
    "label": ("yn_gt", "yn_gt_ans", "yn_gt_option", "gt_label", "label", "gt", "answer"),
    "before": ("preevent_file_name", "preevent"),
    "middle": ("event_file_name", "event"),
    "after": ("postevent_file_name", "postevent"),
    "set": ("set_id", "set"),
    "index": ("index", "video_index"),
    "evidence": ("evidence",),
}
"""What is read -> the column names under which releases have it, the first found counts."""

NEEDED: Mapping[str, tuple[str, ...]] = {
    "mcq": ("id", "task", "options"),
    "yn": ("id", "task", "hypothesis"),
    "gen": ("id", "task"),
}
"""Columns without which a table of a kind cannot be read."""

SPLIT_WORDS: Mapping[str, tuple[str, ...]] = {
    "validation": ("val", "valid", "validation", "dev"),
    "test": ("test",),
}

TASKS = frozenset(
    {"forecaster_gen"}
    | {f"{task}_{kind}" for task in ("detective", "reporter") for kind in ("gen", "mcq", "yn")}
)
"""The seven tasks of the suite (section 3)."""

TRIM_SECONDS = 0.17
"""What the releases cut off both ends of a video (appendix B.1)."""

COLUMNS: Mapping[str, pa.DataType] = {
    "question_id": pa.string(),
    "difficulty": pa.string(),
    "hypothesis": pa.string(),
    "references": pa.list_(pa.string()),
    "video_before": pa.string(),
    "video_after": pa.string(),
    **dict.fromkeys(CAPTION_COLUMNS, pa.string()),
}
"""Columns of ``questions.parquet`` beyond those that every benchmark has."""

_YES = frozenset({"yes", "y", "true", "valid", "1", "1.0"})
_NO = frozenset({"no", "n", "false", "invalid", "0", "0.0"})
_DIFFICULTIES = {name: name for name in ("easy", "medium", "hard")}
_AUTHORS_NAMES = {"before": "A_preevent", "middle": "B_event", "after": "C_postevent"}


def read(release: Release) -> Parsed:
    """Read every table of the release.

    Raises:
        ReleaseError: If there is no table, one is not readable, or one lacks a column that it
            needs; the message names the columns that it has.
    """
    parsed = Parsed()
    clips = _Clips(release)
    tables = 0
    for path in release.annotations(".jsonl", ".json", ".csv"):
        rows = list(_rows(path))
        kind, split = _kind(path, rows), _split(path)
        if kind is None or split is None:
            parsed.notes.append(
                f"{path.name} was left out: it is not named after a kind (MCQ, YN, Gen) "
                "and a split (Val, Test)."
            )
            continue
        tables += 1
        _read_table(path, kind, split, rows, clips, parsed)
    if not tables:
        raise ReleaseError(
            f"{release.source} has no BlackSwanSuite table such as "
            "BlackSwanSuite_MCQ_Val.jsonl; name the folder of the downloaded data sets."
        )
    _refuse_repeated(parsed)
    return parsed


def _rows(path: Path) -> Iterator[tuple[str, object]]:
    """Return the rows of a table with the place of each; an unreadable row is a text."""
    content = annotation_text(path)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return ((f"{path.name} row {line}", row) for line, row in table(content)[1])
    if suffix == ".jsonl":
        return ((f"{path.name} {place}", entry) for place, entry in json_lines(content))
    try:
        found = loads(content)
    except ValueError as error:
        raise ReleaseError(f"{path} is not readable JSON ({error}).") from error
    entries = list(found.values()) if isinstance(found, dict) else found
    if not isinstance(entries, list):
        raise ReleaseError(f"{path} is not a list of questions.")
    return ((f"{path.name} entry {n}", entry) for n, entry in enumerate(entries, start=1))


def _words(path: Path) -> set[str]:
    """Return the words of a file's name and of its folder's, in lower case."""
    written = f"{path.parent.name} {path.stem}".lower()
    return set("".join(c if c.isalnum() else " " for c in written).split())


def _kind(path: Path, rows: list[tuple[str, object]]) -> str | None:
    named = [kind for kind in NEEDED if kind in _words(Path(path.name))]
    named = named or [kind for kind in NEEDED if kind in _words(path)]
    if len(named) == 1:
        return named[0]
    columns = _columns(rows)
    for kind, what in (("mcq", "options"), ("gen", "references"), ("yn", "hypothesis")):
        if columns.keys() & set(NAMES[what]) - {"answer", "answers"}:
            return kind
    return None


def _columns(rows: list[tuple[str, object]]) -> dict[str, None]:
    return {str(name): None for _, row in rows if isinstance(row, dict) for name in row}


def _split(path: Path) -> str | None:
    for words in (_words(Path(path.name)), _words(path)):
        for split, names in SPLIT_WORDS.items():
            if words & set(names):
                return split
    return None


def _read_table(
    path: Path,
    kind: str,
    split: str,
    rows: list[tuple[str, object]],
    clips: _Clips,
    parsed: Parsed,
) -> None:
    columns = _columns(rows)
    if not columns:
        parsed.notes.append(f"{path.name} has no rows.")
    for what in NEEDED[kind]:
        if columns and not columns.keys() & set(NAMES[what]):
            raise ReleaseError(
                f"{path} has no column for the {what} (accepted: {', '.join(NAMES[what])}); "
                f"it has {shortened(', '.join(columns), 300)}."
            )
    for where, row in rows:
        task = ""
        try:
            if not isinstance(row, dict):
                raise OddRow(row if isinstance(row, str) else "it is not an object")
            named = {what: _first(row, names) for what, names in NAMES.items()}
            task = f"{text(named, 'task').lower()}_{kind}"
            if task not in TASKS:
                known, task = task, ""
                raise OddRow(f"there is no task {shortened(known)}")
            parsed.items.append(_item(task, kind, split, named, clips.beside(path)))
        except OddRow as reason:
            identity = _first(row, NAMES["id"]) if isinstance(row, dict) else None
            place = f"{where} (q_id {shortened(identity)})" if identity is not None else where
            parsed.skip(split, task, place, str(reason))


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _item(task: str, kind: str, split: str, row: Mapping[str, Any], clips: _Beside) -> Item:
    question_id = name_of(row, "id")
    options: list[str] = []
    references: list[str] = []
    hypothesis = answer = ""
    if kind == "mcq":
        options = _options(row["options"])
        if _given(row["option"]):
            answer = chr(ord("A") + index(row["option"], len(options), "the right option"))
    elif kind == "yn":
        hypothesis = text(row, "hypothesis")
        if _given(row["label"]):
            answer = _yes_no(row["label"])
    elif _given(row["references"]):
        given = row["references"]
        references = texts([given] if isinstance(given, str) else given, "references", least=1)
    difficulty = difficulty_of(row, _DIFFICULTIES)
    shows = _shows(task, row, clips)
    before = shows.before if isinstance(shows, Joined) else shows
    return Item(
        split=split,
        values={
            "id": f"{task}/{question_id}",
            "task": task,
            "question": text(row, "question", default=""),
            "options": options,
            "answer": answer,
            "evidence": text(row, "evidence", default=""),
            "question_id": question_id,
            "difficulty": difficulty,
            "hypothesis": hypothesis,
            "references": references,
            "video_before": f"videos/{before.name}",
            "video_after": f"videos/{shows.after.name}" if isinstance(shows, Joined) else "",
            **dict.fromkeys(CAPTION_COLUMNS, ""),
        },
        shows=shows,
    )


def _given(value: object) -> bool:
    """Tell whether a cell has an answer; the test split's are absent, null, empty or -1."""
    if value is None or value != value:
        return False
    return str(value).strip().lower() not in ("", "nan", "none", "null", "-1", "[]")


def _options(value: object) -> list[str]:
    if isinstance(value, str):  # a table in CSV has the list as JSON text
        try:
            value = loads(value)
        except ValueError:
            raise OddRow("the options are not a list") from None
    return texts(value, "options", least=2)


def _yes_no(value: object) -> str:
    written = str(value).strip().lower()
    if written in _YES:
        return "yes"
    if written in _NO:
        return "no"
    raise OddRow(f"the label is {shortened(repr(value))}, neither yes nor no")


def _shows(task: str, row: Mapping[str, Any], clips: _Beside) -> Footage | Joined:
    """Return what the task may see: the beginning, both ends around black, or everything."""
    before = _part("before", row, clips)
    if before is None:
        raise OddRow("it names no clip for the beginning")
    if task.startswith("forecaster"):
        return before
    after = _part("after", row, clips)
    if after is None:
        raise OddRow("it names no clip for the end")
    middle = _part("middle", row, clips)
    if task.startswith("reporter"):
        if middle is None:
            middle = clips.event(before)
        if middle is None:
            raise OddRow("it names no clip for the event")
        return Joined(before, middle, after, blackout=False)
    if middle is None or middle.file is None:
        # Releases need not ship what a Detective may not see. If the clip is there all the
        # same (for the Reporter's questions), its true length is taken.
        middle = clips.event(before)
    return Joined(before, middle, after, blackout=True)


def _part(what: str, row: Mapping[str, Any], clips: _Beside) -> Footage | None:
    """Return the clip that a row names, by path or by the authors' set and index."""
    named = text(row, what, default="")
    if not named and row["set"] is not None and row["index"] is not None:
        named = f"{text(row, 'set')}/{text(row, 'index')}_{_AUTHORS_NAMES[what]}.mp4"
    elif not named:
        return None
    elif row["set"] is not None and "/" not in named:
        named = f"{text(row, 'set')}/{named}"
    return clips.footage(posix(path_of(named)).as_posix())


class _Clips:
    """The clips of a release, and the names that they get in the store.

    The three datasets of the Hub are side by side and may each ship a clip of one name: a table
    means the one beside it. If two of them have different videos under one name, the later one
    gets its folder's name in front.
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        self._files: dict[str, Path] = {}
        self._names: dict[tuple[str, Path], str] = {}

    def beside(self, table: Path) -> _Beside:
        """Return the clips as a table's rows name them."""
        return _Beside(self, table.parent)

    def name(self, wanted: str, file: Path, folder: Path) -> str:
        """Return the name in the store of a file that a table in ``folder`` calls ``wanted``."""
        key = (wanted, file)
        if key not in self._names:
            first = self._files.setdefault(wanted, file)
            same = first == file or _same_content(first, file)
            self._names[key] = wanted if same else f"{folder.name}/{wanted}"
        return self._names[key]


class _Beside:
    """The clips of a release, seen from a folder with tables."""

    def __init__(self, clips: _Clips, folder: Path) -> None:
        self._clips = clips
        self._folder = folder
        release = clips.release
        roots = [folder]
        for top in (release.source, release.scratch):
            if top in folder.parents:
                roots += folder.parents[: folder.parents.index(top) + 1]
        archives = [path for path in sorted(folder.iterdir()) if is_archive(path)]
        roots += [unpack(path, release.scratch) for path in archives]  # done before: only a name
        self._roots = roots

    def footage(self, reference: str) -> Footage:
        """Find a clip by its path: from this folder or one above, else anywhere by its name."""
        name = reference.removeprefix("videos/")
        try:
            file = self._find(reference)
        except LookupError as reason:
            return Footage(name, None, str(reason))
        return Footage(self._clips.name(name, file, self._folder), file)

    def event(self, before: Footage) -> Footage | None:
        """Find the event's clip by the name that goes with the beginning's, if there is one."""
        if before.file is None:
            return None
        # Either the file's name says which part it is, or its folder's.
        file = before.file
        for event in (
            file.with_name(_event_name(file.name)),
            file.parent.with_name(_event_name(file.parent.name)) / file.name,
        ):
            if event != file and event.is_file():
                name = before.name.replace(file.name, event.name)
                if event.name == file.name:
                    name = f"{event.parent.name}/{event.name}"
                return Footage(self._clips.name(name, event, self._folder), event)
        return None

    def _find(self, reference: str) -> Path:
        for root in self._roots:
            file = root / reference
            if file.is_file():
                return file
        return self._clips.release.locate(reference)


def _event_name(name: str) -> str:
    return name.replace("A_preevent", "B_event").replace("preevent", "event")


def _same_content(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and content_id(one) == content_id(other)


def _refuse_repeated(parsed: Parsed) -> None:
    """Keep the first of several rows of one split and id, and records the others."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for item in parsed.items:
        key = (item.split, item.values["id"])
        if key in seen:
            parsed.skip(
                item.split,
                item.values["task"],
                f"q_id {item.values['question_id']}",
                "duplicate task and q_id",
            )
        else:
            seen.add(key)
            kept.append(item)
    parsed.items[:] = kept


def hidden_frames(before_frames: int, after_frames: int, rate: float) -> int:
    """Return the frames of an event's clip that the release lacks, from its neighbors' lengths.

    The releases cut at 0.17 s, 0.8 t, 0.8 D and D - 0.17 s (t the event's time, D the
    duration), so before = 0.8 t - 0.17, after = 0.2 D - 0.17, and the hidden part
    0.8 D - 0.8 t = 4 (after + 0.17) - (before + 0.17), all in seconds.

    Args:
        before_frames: Frames of the clip before the event.
        after_frames: Frames of the clip after it.
        rate: Frames per second, the same for both.

    Returns:
        Whole frames, at least 1.
    """
    before, after = before_frames / rate, after_frames / rate
    return max(1, round((4 * (after + TRIM_SECONDS) - (before + TRIM_SECONDS)) * rate))
