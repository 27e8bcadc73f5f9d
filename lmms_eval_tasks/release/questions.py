"""Multiple-choice questions from any table: CSV, JSON Lines, JSON or parquet."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.release.records import (
    MOST_OPTIONS,
    OddRow,
    annotation_text,
    json_lines,
    listed,
    name_of,
    parquet_rows,
    parse_options,
    text,
    texts,
)
from video_reasoning.tasks.store.text_files import loads, shortened, table

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "qid", "q_id", "question_id"),
    "question": ("question", "default_question"),
    "options": ("options", "choices", "mcq_options", "choices1"),
    "answer": (
        *("answer", "correct", "correct1", "mcq_gt_option", "gt_option", "correct_option", "label"),
    ),
    "video": ("video", "renamed_video", "video_path", "video_name"),
    "type": ("type", "question_type", "task"),
}
"""What is read -> the names that its column may have; the first that the file has counts."""

COUNTED_FROM: Mapping[str, int] = {"mcq_gt_option": 0, "correct1": 1}
"""Columns of answers that are known to count options from 0 or from 1."""

NEEDED = ("question", "options", "answer", "video")

_OPTION = re.compile(r"(?:a|opt|option|choice|answer_?choice)?[ _-]?([a-z]|[0-9])", re.IGNORECASE)
"""Name of a column that has one of the options."""

_LABEL = re.compile(r"\s*[(\[]?([A-Za-z]|[0-9]{1,2})[)\].:](?![0-9])\s*")

_LETTER = re.compile(r"[(\[]?([A-Za-z])[)\].:]?")

_ABSENT = ("", "n/a", "nan", "none")
"""What the column of an option contains for a question that does not have that option."""


class QuestionsError(UserError):
    """A table of questions that cannot be used, or what was to be made of it."""


@dataclass(frozen=True)
class Question:
    """A multiple-choice question.

    Attributes:
        id: Unique in its file.
        question: Its text.
        options: Two or more different texts.
        answer: Place of the right one, from 0.
        video: What it is about, as the file names it.
        type: Its kind, as the file names it; may be empty.
    """

    id: str
    question: str
    options: tuple[str, ...]
    answer: int
    video: str
    type: str = ""


@dataclass
class Read:
    """What was read of a file: its questions, and where and why a row is not one."""

    questions: list[Question] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def parse_columns(text: str) -> dict[str, str]:
    """Read ``question=COLUMN,options=A+B+C+D``: what is read -> its column, or columns.

    Raises:
        QuestionsError: The text is not of that form.
    """
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    columns = {what.strip(): name.strip() for what, _, name in pairs}
    if not columns.keys() <= NAMES.keys() or not all(columns.values()):
        raise QuestionsError(
            f"The columns '{text}' are not understood; write for example question=text,answer=label"
            f" or options=A+B+C+D; what can be named is {', '.join(NAMES)}."
        )
    return columns


def read_questions(
    path: Path, count_from: int | None = None, named: Mapping[str, str] | None = None
) -> Read:
    """Read the questions of a table.

    Args:
        path: ``.csv``, ``.jsonl``, ``.json`` (a list, or an object id -> question) or ``.parquet``.
        count_from: Whether a number in the column of answers counts options from 0 or from 1;
            None if the file itself shows it.
        named: As :func:`parse_columns` gives them; the others are found by their names.

    Raises:
        QuestionsError: It lacks a column, its numbers can be read in two ways, or no row is a
            question.
        ReleaseError: It cannot be read.
    """
    rows = list(_rows(path))
    found = Read(skipped=[(where, row) for where, row in rows if isinstance(row, str)])
    tables = [(where, row) for where, row in rows if not isinstance(row, str)]
    columns = {name: None for _, row in tables for name in row}
    chosen = _chosen(path, list(columns), named or {})
    first = COUNTED_FROM.get(chosen["answer"]) if count_from is None else count_from
    first = _counted_from(path, tables, chosen) if first is None else first
    seen: set[str] = set()
    for where, row in tables:
        try:
            question = _question(row, chosen, where, first, given=count_from is not None)
            if question.id in seen:
                raise OddRow(f"duplicate id {shortened(question.id)}")
            seen.add(question.id)
            found.questions.append(question)
        except OddRow as reason:
            found.skipped.append((where, str(reason)))
    if not found.questions:
        such = f" (such as {': '.join(found.skipped[0])})" if found.skipped else ""
        raise QuestionsError(f"{path} has no question that can be read{such}.")
    return found


def _chosen(path: Path, columns: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return what is read -> its column; options may be several, joined by "+"."""
    chosen = {
        what: named.get(what) or next((name for name in names if name in columns), "")
        for what, names in NAMES.items()
    }
    chosen["options"] = chosen["options"] or "+".join(_option_columns(columns))
    known = {*columns, ""}
    wrong = [what for what, name in named.items() if not known.issuperset(_split(name, known))]
    if wrong:
        raise QuestionsError(
            f"{path} has no column {', '.join(named[what] for what in wrong)}; it has "
            f"{shortened(', '.join(columns), 300)}."
        )
    if absent := [what for what in NEEDED if not chosen[what]]:
        raise QuestionsError(
            f"{path} has no column for {', '.join(absent)} (one of "
            f"{'; '.join(', '.join(NAMES[what]) for what in absent)}); it has "
            f"{shortened(', '.join(columns), 300) or 'none'}."
        )
    return chosen


def _split(name: str, columns: Container[str]) -> list[str]:
    """Return the columns that a name stands for: one, or several joined by "+"."""
    return [name] if name in columns else name.split("+")


def _option_columns(columns: Sequence[str]) -> list[str]:
    """Return columns with one option each, such as A, B, C or option_0, option_1; else none."""
    stems: dict[str, dict[str, str]] = {}
    for name in columns:
        if match := _OPTION.fullmatch(name.strip()):
            stems.setdefault(name.strip()[: match.start(1)], {})[match[1].lower()] = name
    for labels in stems.values():
        for first in "a01":
            run = [labels.get(chr(ord(first) + place)) for place in range(len(labels))]
            if len(run) > 1 and all(run):
                return [name for name in run if name]
    return []


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Read a table's rows with the place of each; a text is why a row cannot be read."""
    kind = path.suffix.lower()
    entries: Iterator[tuple[str, Any]]
    if kind == ".parquet":
        entries = ((f"row {n}", row) for n, row in enumerate(parquet_rows(path), start=1))
    elif kind == ".csv":
        entries = ((f"row {n}", row) for n, row in table(annotation_text(path))[1])
    elif kind == ".jsonl":
        entries = json_lines(annotation_text(path))
    elif kind == ".json":
        entries = _json(path)
    else:
        raise QuestionsError(f"{path} is not a .csv, .jsonl, .json or .parquet file.")
    for where, row in entries:
        yield where, row if isinstance(row, (dict, str)) else "it is not an object"


def _json(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        content = loads(annotation_text(path))
    except ValueError as error:
        raise QuestionsError(f"{path} is not readable JSON ({error}).") from error
    if isinstance(content, dict):
        for name, row in content.items():
            yield f"question {name}", {"id": name, **row} if isinstance(row, dict) else row
    elif isinstance(content, list):
        yield from ((f"entry {n}", row) for n, row in enumerate(content, start=1))
    else:
        raise QuestionsError(f"{path} is neither a list nor an object of questions.")


def _counted_from(
    path: Path, rows: Sequence[tuple[str, Mapping[str, Any]]], chosen: Mapping[str, str]
) -> int | None:
    """Return where the file's numbers of answers count from; None if it has no such numbers."""
    zero, last, numbers = "", "", 0
    for where, row in rows:
        number = _number(row.get(chosen["answer"]))
        try:
            options = _options(row, chosen["options"])
        except OddRow:
            continue
        if number is None or str(row[chosen["answer"]]).strip() in options:
            continue
        numbers += 1
        zero = where if number == 0 else zero
        last = where if number == len(options) else last
    if not numbers:
        return None
    if bool(zero) == bool(last):
        shown = f": {zero} has 0 and {last} the number of options" if zero else ""
        raise QuestionsError(
            f"The numbers in {chosen['answer']} of {path} could count options from 0 or from "
            f"1{shown}; say which with --count-from 0 or --count-from 1."
        )
    return 0 if zero else 1


def _number(value: object) -> int | None:
    try:
        number = float(str(value).strip())
    except ValueError:
        return None
    return int(number) if number.is_integer() and not isinstance(value, bool) else None


def _question(
    row: Mapping[str, Any], chosen: Mapping[str, str], where: str, first: int | None, *, given: bool
) -> Question:
    printed = _options(row, chosen["options"])
    options = _without_labels(printed)
    answer = row.get(chosen["answer"])
    if isinstance(answer, str) and answer.strip() in printed:
        answer = options[printed.index(answer.strip())]
    name = name_of(row, chosen["id"]) if chosen["id"] else where.rpartition(" ")[2]
    return Question(
        id=name,
        question=text(row, chosen["question"]),
        options=options,
        answer=_answer(answer, options, first, given=given),
        video=text(row, chosen["video"]),
        type=text(row, chosen["type"], default="") if chosen["type"] else "",
    )


def _options(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Read options from a list, a list or object as text, a column each, or CausalVQA's text."""
    if "+" in name and name not in row:
        found: object = [row.get(each) for each in name.split("+")]
        while found and (found[-1] is None or str(found[-1]).strip().lower() in _ABSENT):  # type: ignore[index]
            found.pop()  # type: ignore[attr-defined]
    else:
        found = row.get(name)
    if found is None or found == "" or found == []:
        raise OddRow("it has no options")
    found = listed(found, "options")
    if isinstance(found, str) and found.lstrip().startswith("{"):
        found = _object(found)
    if isinstance(found, Mapping):  # A, B, C, ... -> the option
        found = [found[key] for key in sorted(found) if found[key] is not None]
    options = (
        parse_options(found) if isinstance(found, str) else texts(found, "options", 2, MOST_OPTIONS)
    )
    if len(set(options)) < len(options):
        raise OddRow("two of its options are the same")
    return tuple(options)


def _object(written: str) -> object:
    try:
        return loads(written)
    except ValueError:
        raise OddRow(f"options is {shortened(written, 60)!r}, which is not JSON") from None


def _without_labels(options: tuple[str, ...]) -> tuple[str, ...]:
    """Return options without "A. " or "(1) " in front, if all have one, in order."""
    labels = [_LABEL.match(option) for option in options]
    names = [match[1].upper() if match else "" for match in labels]
    places = range(len(options))
    if names not in ([*ascii_uppercase[: len(names)]], [str(n + 1) for n in places]):
        return options
    bare = tuple(
        option[match.end() :] for option, match in zip(options, labels, strict=True) if match
    )
    return bare if len(set(bare)) == len(options) and all(bare) else options


def _answer(value: object, options: Sequence[str], first: int | None, *, given: bool) -> int:
    """Return the place of the right option: by its text, its letter, or its number."""
    written = "" if value is None or value != value else str(value).strip()
    if not written:
        raise OddRow("it has no answer")
    number = _number(value)
    place = None if number is None or first is None else number - first
    letter = _LETTER.fullmatch(written)
    if place is None and letter and ord(letter[1].upper()) - ord("A") < len(options):
        place = ord(letter[1].upper()) - ord("A")
    if written in options and not (given and number is not None):
        if (number is not None or place is not None) and place != options.index(written):
            kind = "letter" if number is None else "number"
            raise OddRow(f"its answer {written!r} could be the option or its {kind}")
        return options.index(written)
    if place is None or not 0 <= place < len(options):
        raise OddRow(
            f"its answer {shortened(written, 40)!r} is not one of its {len(options)} options"
        )
    return place
