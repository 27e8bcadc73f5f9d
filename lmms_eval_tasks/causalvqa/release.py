"""CausalVQA: from ``CausalVQA.zip`` or its unpacked folder to items.

The layout: ``{debug,test}/{debug,test}_metadata.csv`` and ``{debug,test}/videos/*.mp4``. A row
has both variants of a question (``choices1``/``correct1`` and ``choices2``/``correct2``); it
becomes two items next to each other, so that a limited run has whole pairs. The
test split's answers are withheld, which is normal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import (
    Item,
    OddRow,
    Parsed,
    annotation_text,
    difficulty_of,
    name_of,
    path_of,
    posix,
    text,
)
from video_reasoning.tasks.release.source import Release
from video_reasoning.tasks.store.text_files import shortened, table

TYPES = ("anticipation", "counterfactual", "descriptive", "hypothetical", "planning")
"""Question types (section 2, Table 1); all but descriptive are called Reasoning."""

DIFFICULTIES = {"easy": "easy", "medium": "medium", "med": "medium", "hard": "hard"}
"""As a release writes it -> as we do."""

REQUIRED = ("qid", "type", "question", "choices1", "choices2", "renamed_video")

COLUMNS: Mapping[str, pa.DataType] = {
    "qid": pa.string(),
    "variant": pa.int8(),
    "type": pa.string(),
    "difficulty": pa.string(),
}
"""Columns of ``questions.parquet`` beyond those that every benchmark has."""

_WITHHELD = frozenset({"", "nan", "none", "null", "na", "n/a", "-1"})
_LABEL = re.compile(r"\s*[(\[]?(\d{1,2}|[A-Za-z])[)\].:](?!\d)\s*")


def read(release: Release) -> Parsed:
    """Read every question of the debug and the test split, two items each.

    Raises:
        ReleaseError: If there is neither split's metadata, or one that is not a table with
            the columns needed.
    """
    parsed = Parsed()
    found = False
    for split in ("debug", "test"):
        name = f"{split}_metadata.csv"
        paths = [path for path in release.annotations(".csv") if path.name == name]
        if len(paths) > 1:
            raise ReleaseError(
                f"{release.source} has {len(paths)} files called {name}; name one release."
            )
        if not paths:
            parsed.notes.append(f"The release has no {name}: nothing for the {split} split.")
            continue
        found = True
        _read_split(split, paths[0], release, parsed)
    if not found:
        raise ReleaseError(
            f"{release.source} has neither debug_metadata.csv nor test_metadata.csv; "
            "name CausalVQA.zip or its unpacked folder."
        )
    return parsed


def _read_split(split: str, path: Path, release: Release, parsed: Parsed) -> None:
    columns, rows = table(annotation_text(path))
    absent = [name for name in REQUIRED if name not in columns]
    if absent:
        raise ReleaseError(
            f"{path} has no column {', '.join(absent)}; it has "
            f"{shortened(', '.join(columns), 300) or 'none'}."
        )
    seen: set[str] = set()
    for line, row in rows:
        if isinstance(row, str):
            parsed.skip(split, "", f"{path.name} row {line}", row)
            continue
        qid = str(row.get("qid") or "").strip()
        where = f"{path.name} qid {shortened(qid)}" if qid else f"{path.name} row {line}"
        try:
            if qid in seen:
                raise OddRow("duplicate qid")
            seen.add(name_of(row, "qid"))
            parsed.items.extend(_pair(split, qid, where, row, release, parsed))
        except OddRow as reason:
            parsed.skip(split, "", where, str(reason))


def _pair(
    split: str,
    qid: str,
    where: str,
    row: Mapping[str, Any],
    release: Release,
    parsed: Parsed,
) -> list[Item]:
    """Return the items of one row: both variants, or the one that can be read."""
    question = text(row, "question")
    kind = text(row, "type").lower()
    if kind not in TYPES:
        raise OddRow(f"type is {shortened(kind)!r}, not one of {', '.join(TYPES)}")
    difficulty = difficulty_of(row, DIFFICULTIES)
    video = path_of(posix(text(row, "renamed_video")).name)
    # The split's own file of that name, else the only one of that name.
    shows = release.footage(f"{split}/{video}", [f"{split}/videos/{video}", video])
    variants: dict[int, tuple[list[str], str]] = {}
    reasons: dict[int, str] = {}
    for variant in (1, 2):
        try:
            options = parse_options(text(row, f"choices{variant}"))
            answer = parse_answer(row.get(f"correct{variant}"), options)
            variants[variant] = (options, answer)
        except OddRow as odd:
            reasons[variant] = f"choices{variant}/correct{variant}: {odd}"
    if not variants:
        raise OddRow("; ".join(reasons.values()))
    for reason in reasons.values():
        parsed.skip(split, kind, where, f"{reason}; its other variant is asked alone")
    return [
        Item(
            split=split,
            values={
                "id": f"{qid}/{variant}",
                "task": kind,
                "question": question,
                "options": options,
                "answer": answer,
                "evidence": text(row, "evidence", default=""),
                "qid": qid,
                "variant": variant,
                "type": kind,
                "difficulty": difficulty,
            },
            shows=shows,
        )
        for variant, (options, answer) in variants.items()
    ]


def parse_options(written: str) -> list[str]:
    """Read options written as one text: ``1. first|2. second|...``.

    Numbers or letters, followed by a full stop, colon or closing bracket, with or without a
    space; any number of options. If a ``|`` is missing, the next label in sequence
    separates. A text without any labels is split at ``|`` alone.

    Args:
        written: The cell's text.

    Returns:
        The options' texts, in order, at least two.

    Raises:
        OddRow: If the labels are out of sequence, or an option is empty or a duplicate.
    """
    pieces = written.split("|")
    if len(pieces) > 1 and not any(_LABEL.match(piece) for piece in pieces):
        options = [piece.strip() for piece in pieces]
    else:
        options = _labelled(pieces, written)
    if len(options) < 2:
        raise OddRow(f"fewer than two options in {written[:60]!r}")
    if not all(options):
        raise OddRow(f"an empty option in {written[:60]!r}")
    if len(set(options)) < len(options):
        raise OddRow(f"a duplicate option in {written[:60]!r}")
    return options


def _labelled(pieces: list[str], written: str) -> list[str]:
    """Options behind labels that count up from 1 or from A, one or more to a piece."""
    first = _LABEL.match(pieces[0])
    if first is None or first.group(1).upper() not in ("1", "A"):
        raise OddRow(f"no label 1 or A before the first option in {written[:60]!r}")
    start = first.group(1)

    def label(position: int) -> str:
        return str(position + 1) if start == "1" else chr(ord(start) + position)

    options: list[str] = []
    for piece in pieces:
        match = _LABEL.match(piece)
        if match is None:
            raise OddRow(f"no label behind a bar: {piece.strip()[:40]!r}")
        # Labels skipped over belong to options whose bar is missing: they are in the text so
        # far. A label inside the text is only looked for there, because "2." may well be words.
        while options and match.group(1) != label(len(options)):
            if not _split_last(options, label(len(options))):
                raise OddRow(f"label {match.group(1)} where {label(len(options))} was due")
        options.append(piece[match.end() :].strip())
    while _split_last(options, label(len(options))):
        pass
    return options


def _split_last(options: list[str], label: str) -> bool:
    """Split the last option before a label in its text, and tell whether there was one."""
    marker = re.search(rf"(?<=\s)[(\[]?{re.escape(label)}[)\].:]\s+(?=\S)", options[-1])
    if marker is None:
        return False
    last = options.pop()
    options += [last[: marker.start()].strip(), last[marker.end() :].strip()]
    return True


def parse_answer(written: object, options: list[str]) -> str:
    """Return the letter of the right option, or the empty text if the answer is withheld.

    A number counts from 1 (``3``, ``3.0``, ``"3."``), a letter from A; the option's own text
    counts too.

    Raises:
        OddRow: If it names none of the options.
    """
    answer = "" if written is None else str(written).strip()
    if answer.lower() in _WITHHELD:
        return ""
    position = -1
    number = re.fullmatch(r"[(\[]?(\d{1,9})(?:\.0+)?[)\].:]?", answer)
    letter = re.fullmatch(r"[(\[]?([A-Za-z])[)\].:]?", answer)
    if answer in options:
        position = options.index(answer)
    elif number:
        position = int(number.group(1)) - 1
    elif letter:
        position = ord(letter.group(1).upper()) - ord("A")
    if not 0 <= position < len(options):
        raise OddRow(f"the answer {answer[:60]!r} is not one of the {len(options)} options")
    return chr(ord("A") + position)
