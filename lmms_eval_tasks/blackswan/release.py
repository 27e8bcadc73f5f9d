"""BlackSwanSuite: from the Hub releases or the authors' own layout to items.

Read are tables (``.jsonl``, ``.json``, ``.csv`` or ``.parquet``) of three kinds, recognized by
their names or their columns: multiple choice (MCQ), yes/no (YN) and generation (Gen), for the
validation and the test split. A clip is where its row says, or it is the only one of its name in
the release and not in the folder of another set or split. Column names differ between releases:
:data:`NAMES` is the one table of those that are accepted.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from video_reasoning.preprocessing.files import content_id
from video_reasoning.tasks.blackswan.captions import COLUMNS as CAPTION_COLUMNS
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import (
    MOST_OPTIONS,
    Footage,
    Item,
    Joined,
    OddRow,
    Parsed,
    annotation_text,
    difficulty_of,
    index,
    json_lines,
    listed,
    name_of,
    parquet_rows,
    path_of,
    posix,
    text,
    texts,
)
from video_reasoning.tasks.release.source import GENERAL_FOLDERS, Release, is_archive, unpack
from video_reasoning.tasks.store.text_files import loads, shortened, table

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("q_id", "qid", "question_id", "id"),
    "task": ("task", "task_name", "mcq_task", "def_task"),
    "difficulty": ("difficulty", "level"),
    "question": ("default_question", "question"),
    "options": ("mcq_options", "options", "choices"),
    "option": ("mcq_gt_option", "mcq_label", "gt_option", "correct_option", "answer"),
    "references": ("gt_ref_ans", "ref_ans", "references", "answers"),
    "hypothesis": ("hypothesis", "hypo", "exp", "yn_hypothesis", "statement", "yn_question"),
    "label": (
        *("yn_gt", "yn_gt_ans", "yn_gt_option", "def_label", "gt_label", "label", "gt", "answer"),
    ),
    "label_options": ("yn_options",),
    "before": ("preevent_file_name", "preevent"),
    "middle": ("event_file_name", "event"),
    "after": ("postevent_file_name", "postevent"),
    "set": ("set_id", "set"),
    "index": ("index", "video_index"),
    "evidence": ("evidence",),
}
"""What is read -> the column names under which releases have it, the first found counts (of
the columns of an answer all count, and must agree)."""

ANSWERS: Mapping[str, str] = {"mcq": "option", "yn": "label", "gen": "references"}
"""Kind of a table -> what its answer is called in :data:`NAMES`."""

COUNTED_FROM_0 = frozenset({"mcq_gt_option", "mcq_label"})
"""Columns that are known to count options from 0."""

TASK_NUMBERS: Mapping[str, str] = {"1": "detective", "2": "reporter"}
"""The authors' numbers in ``mcq_task`` and ``def_task`` -> the task."""

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
    "video_event": pa.string(),
    "video_after": pa.string(),
    **dict.fromkeys(CAPTION_COLUMNS, pa.string()),
}
"""Columns of ``questions.parquet`` beyond those that every benchmark has."""

_LABELS = {
    **dict.fromkeys(("yes", "y", "true", "valid"), "yes"),
    **dict.fromkeys(("no", "n", "false", "invalid"), "no"),
}
_DIFFICULTIES = {name: name for name in ("easy", "medium", "hard")}
_AUTHORS_NAMES = {"before": "A_preevent", "middle": "B_event", "after": "C_postevent"}


def read(release: Release) -> Parsed:
    """Read every table of the release.

    Raises:
        ReleaseError: If there is no table, one is not readable, or one lacks a column that it
            needs; the message names the columns that it has.
    """
    parsed = Parsed()
    clips = _Clips(release, parsed)
    tables = 0
    paths = release.annotations(".jsonl", ".json", ".csv", ".parquet")
    parsed.notes += release.unread(paths)
    for path in paths:
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
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return ((f"{path.name} row {n}", row) for n, row in enumerate(parquet_rows(path), start=1))
    content = annotation_text(path)
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
    before, beside = len(parsed.items), clips.beside(path, kind, split)
    for where, row in rows:
        task = ""
        try:
            if not isinstance(row, dict):
                raise OddRow(row if isinstance(row, str) else "it is not an object")
            named = _named(row, kind)
            task = f"{text(named, 'task').lower()}_{kind}"
            if task not in TASKS:
                known, task = task, ""
                raise OddRow(f"there is no task {shortened(known)}")
            parsed.items.append(_item(task, kind, split, named, beside))
        except OddRow as reason:
            identity = _first(row, NAMES["id"]) if isinstance(row, dict) else None
            place = f"{where} (q_id {shortened(identity)})" if identity is not None else where
            parsed.skip(split, task, place, str(reason))
    _check_answers(path, kind, split, columns, parsed.items[before:])
    odd = sum(len(item.values["options"]) not in (0, 3) for item in parsed.items[before:])
    if odd:
        parsed.notes.append(
            f"{path.name}: {odd:,} questions have another number of options than 3."
        )


def _check_answers(
    path: Path, kind: str, split: str, columns: Iterable[str], items: list[Item]
) -> None:
    """Refuse a validation table without any answer: they are published."""
    if split != "validation" or not items:
        return
    if not any(item.values["answer"] or item.values["references"] for item in items):
        raise ReleaseError(
            f"{path} has no answer to any of its {len(items):,} questions, which the validation "
            f"split's have; accepted columns are {', '.join(NAMES[ANSWERS[kind]])}; it has "
            f"{shortened(', '.join(columns), 300)}."
        )


def _named(row: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return what a row says, by the names of :data:`NAMES`; the answer as one that we write."""
    named = {what: _first(row, names) for what, names in NAMES.items()}
    if not row.keys() & {"task", "task_name"}:
        number = text(named, "task").removesuffix(".0")
        named["task"] = TASK_NUMBERS.get(number, number)
    numbers = [str(row[name]) for name in ("mcq_id", "def_id") if name in row]
    if numbers and not row.keys() & set(NAMES["id"][:-1]):
        # The authors' own rows number the questions of each video; their id is the video's.
        video = (text(named, what, default="") for what in ("set", "index"))
        named["id"] = "_".join([*filter(None, video), *numbers])
    answer = ANSWERS[kind]
    if kind == "mcq":
        named["options"] = texts(listed(named["options"], "options"), "options", 2, MOST_OPTIONS)
    given = {name: row[name] for name in NAMES[answer] if name in row and _given(row[name])}
    readings = {name: _answer(name, value, kind, named) for name, value in given.items()}
    if len({repr(reading) for reading in readings.values()}) > 1:
        raise OddRow(
            "its answers disagree: "
            + ", ".join(f"{name} is {shortened(repr(given[name]), 60)}" for name in readings)
        )
    named[answer] = next(iter(readings.values()), None)
    return named


def _answer(name: str, value: object, kind: str, named: Mapping[str, Any]) -> object:
    if kind == "mcq":
        return _letter(name, value, named["options"])
    if kind == "yn":
        return _yes_no(name, value, named["label_options"])
    found = listed(value, "references")
    return texts([found] if isinstance(found, str) else found, "references", least=1)


def _is_number(value: object) -> bool:
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", str(value).strip()))


def _letter(name: str, value: object, options: Sequence[str]) -> str:
    """Return the letter of the right option, which a row has as index, letter or text."""
    written = str(value).strip()
    if _is_number(value) and name in COUNTED_FROM_0 and written not in options:
        return ascii_uppercase[index(value, len(options), "the right option")]
    places = {place for place, option in enumerate(options) if option == written}
    if _is_number(value) and not places:
        raise OddRow(
            f"{name} is {shortened(written)}, which could count the options from 0 or from 1; "
            "give the letter, or call the column mcq_gt_option if it counts from 0"
        )
    if _is_number(value) and name in COUNTED_FROM_0:
        places.add(index(value, len(options), "the right option"))
    elif len(written) == 1 and 0 <= ord(written.upper()) - ord("A") < len(options):
        places.add(ord(written.upper()) - ord("A"))
    if len(places) != 1:
        several = "several of" if places else "none of"
        raise OddRow(f"{name} is {shortened(repr(value))}, which names {several} the options")
    return ascii_uppercase[places.pop()]


def _first(row: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _item(task: str, kind: str, split: str, row: Mapping[str, Any], clips: _Beside) -> Item:
    question_id = name_of(row, "id")
    difficulty = difficulty_of(row, _DIFFICULTIES)
    shows = _shows(task, row, clips)
    before = shows.before if isinstance(shows, Joined) else shows
    return Item(
        split=split,
        values={
            "id": f"{task}/{question_id}",
            "task": task,
            "question": text(row, "question", default=""),
            "options": row["options"] if kind == "mcq" else [],
            "answer": "" if kind == "gen" else row[ANSWERS[kind]] or "",
            "evidence": text(row, "evidence", default=""),
            "question_id": question_id,
            "difficulty": difficulty,
            "hypothesis": text(row, "hypothesis") if kind == "yn" else "",
            "references": (row["references"] or []) if kind == "gen" else [],
            "video_before": f"videos/{before.name}",
            "video_event": _event_shown(shows),
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


def _yes_no(name: str, value: object, options: object) -> str:
    """Return a label as yes or no; a number counts only if it cannot be read in two ways."""
    written = str(value).strip().rstrip(".").lower()
    if not _is_number(value):
        if written not in _LABELS:
            raise OddRow(f"the label is {shortened(repr(value))}, neither yes nor no")
        return _LABELS[written]
    choices = [
        _LABELS.get(choice.lower(), "")
        for choice in texts(listed(options or [], "yn_options"), "yn_options", least=0)
    ]
    if sorted(choices) == ["no", "yes"]:
        by_place = choices[index(value, 2, f"{name} ({' or '.join(choices)})")]
        if "option" in name or by_place == ("yes" if float(str(value)) else "no"):
            return by_place
    raise OddRow(
        f"{name} is {shortened(written)}, which could be a truth value (1 for yes) or the place "
        "of one of the options (0 for yes if yes is the first); write yes or no, or give the "
        "place as yn_gt_option with the options as yn_options"
    )


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


def _event_shown(shows: Footage | Joined) -> str:
    """Return the event's clip if the task may see it, else the empty text."""
    if isinstance(shows, Footage) or shows.blackout or shows.middle is None:
        return ""
    return f"videos/{shows.middle.name}"


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

    def __init__(self, release: Release, parsed: Parsed) -> None:
        self.release = release
        self.parsed = parsed
        self._files: dict[str, Path] = {}
        self._names: dict[tuple[str, Path], str] = {}

    def beside(self, table: Path, kind: str, split: str) -> _Beside:
        """Return the clips as a table's rows name them."""
        return _Beside(self, table, kind, split)

    def name(self, wanted: str, file: Path, folder: Path) -> str:
        """Return the name in the store of a file that a table in ``folder`` calls ``wanted``."""
        key = (wanted, file)
        if key not in self._names:
            first = self._files.setdefault(wanted, file)
            same = first == file or _same_content(first, file)
            self._names[key] = wanted if same else f"{folder.name}/{wanted}"
        return self._names[key]


class _Beside:
    """The clips of a release, seen from a table."""

    def __init__(self, clips: _Clips, path: Path, kind: str, split: str) -> None:
        folder = path.parent
        self._clips = clips
        self._table = path
        self._folder = folder
        release = clips.release
        roots = [folder]
        for top in (release.source, release.scratch):
            if top in folder.parents:
                roots += folder.parents[: folder.parents.index(top) + 1]
        archives = [path for path in sorted(folder.iterdir()) if is_archive(path)]
        roots += [unpack(path, release.scratch) for path in archives]  # done before: only a name
        self._roots = roots
        others = {word for other, words in SPLIT_WORDS.items() if other != split for word in words}
        own = {root for root in roots if root == folder or root != release.source}
        if any(not own.isdisjoint(video.parents) for video in release.videos()):
            others |= NEEDED.keys() - {kind}  # a data set with clips does not mean another's
        self._foreign = frozenset({*others, "train"})

    def footage(self, reference: str) -> Footage:
        """Find a clip by its path, or the only one of its name where it can be no other."""
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
        release = self._clips.release
        if not GENERAL_FOLDERS.issuperset(PurePosixPath(reference).parts[:-1]):
            # A set's folder in the path says which clip it is, wherever the folder itself is.
            with contextlib.suppress(LookupError):
                return release.locate(reference)
        file, place = release.elsewhere(reference, self._table, self._foreign)
        self._clips.parsed.found_elsewhere[reference] = place
        return file


def _event_name(name: str) -> str:
    return name.replace("A_preevent", "B_event").replace("preevent", "event")


def _same_content(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and content_id(one) == content_id(other)


def _refuse_repeated(parsed: Parsed) -> None:
    """Keep the first of several rows of one split and id, and record the others."""
    seen: dict[tuple[str, str], Item] = {}
    same = 0
    for item in parsed.items:
        first = seen.setdefault((item.split, item.values["id"]), item)
        if first is not item and first == item:
            same += 1
        elif first is not item:
            parsed.skip(
                item.split,
                item.values["task"],
                f"q_id {item.values['question_id']}",
                "duplicate task and q_id",
            )
    if same:
        parsed.notes.append(f"{same:,} rows repeat another word for word and count once.")
    parsed.items[:] = seen.values()


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
