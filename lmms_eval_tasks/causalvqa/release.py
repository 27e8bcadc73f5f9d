"""CausalVQA: from ``CausalVQA.zip`` or its unpacked folder to items.

The layout: ``{debug,test}/{debug,test}_metadata.csv`` and ``{debug,test}/videos/*.mp4``. A row
has both variants of a question (``choices1``/``correct1`` and ``choices2``/``correct2``); it
becomes two items next to each other, so that a limited run has whole pairs. The
test split's answers are withheld, which is normal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import (
    Footage,
    Item,
    OddRow,
    Parsed,
    annotation_text,
    difficulty_of,
    name_of,
    parse_options,
    path_of,
    posix,
    text,
)
from video_reasoning.tasks.release.source import Release
from video_reasoning.tasks.store.text_files import shortened, table

SPLITS = ("debug", "test")

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


def read(release: Release) -> Parsed:
    """Read every question of the debug and the test split, two items each.

    Raises:
        ReleaseError: If there is neither split's metadata, or one that is not a table with
            the columns needed.
    """
    parsed = Parsed()
    tables = release.annotations(".csv")
    files = {split: [p for p in tables if p.name == f"{split}_metadata.csv"] for split in SPLITS}
    read_all = {}
    for split, paths in files.items():
        name = f"{split}_metadata.csv"
        if len(paths) > 1:
            raise ReleaseError(
                f"{release.source} has {len(paths)} files called {name}; name one release."
            )
        if not paths:
            parsed.notes.append(f"The release has no {name}: nothing for the {split} split.")
            continue
        read_all[split] = _rows(paths[0])
    if not read_all:
        raise ReleaseError(
            f"{release.source} has neither debug_metadata.csv nor test_metadata.csv; "
            "name CausalVQA.zip or its unpacked folder."
        )
    for split, rows in read_all.items():
        path, foreign = files[split][0], {name for name in SPLITS if name != split}
        claimed = {_video(row) for other in foreign for _, row in read_all.get(other, [])}
        clips = _Clips(split, path, frozenset({*foreign, "train"}), claimed, release, parsed)
        _read_split(split, path, rows, clips, parsed)
    parsed.notes += release.unread(paths[0] for paths in files.values() if paths)
    return parsed


def _rows(path: Path) -> list[tuple[int, dict[str, Any] | str]]:
    """Read the rows of a split's metadata."""
    columns, rows = table(annotation_text(path))
    absent = [name for name in REQUIRED if name not in columns]
    if absent:
        raise ReleaseError(
            f"{path} has no column {', '.join(absent)}; it has "
            f"{shortened(', '.join(columns), 300) or 'none'}."
        )
    return rows


def _video(row: Mapping[str, Any] | str) -> str:
    return "" if isinstance(row, str) else str(row.get("renamed_video") or "").strip()


@dataclass(frozen=True)
class _Clips:
    """Where a split's clips are.

    Attributes:
        split: Name of the split.
        path: Its metadata.
        foreign: Words of folders that are another split's.
        claimed: Names of clips that another split's rows have as well.
        release: The release.
        parsed: Gets a record of clips that were found elsewhere.
    """

    split: str
    path: Path
    foreign: frozenset[str]
    claimed: AbstractSet[str]
    release: Release
    parsed: Parsed

    def footage(self, video: str) -> Footage:
        """Find a clip in the split's folder, or the only one of its name if it can be no other."""
        name, reference = f"{self.split}/{video}", f"{self.split}/videos/{video}"
        found = self.release.footage(name, [reference])
        if found.file is not None:
            return found
        try:
            file, place = self.release.elsewhere(video, self.path, self.foreign)
        except LookupError as error:
            return Footage(name, None, str(error).replace(video, reference, 1))
        if video in self.claimed:
            problem = f"the release has no {reference}, and {place} could be another split's"
            return Footage(name, None, problem)
        self.parsed.found_elsewhere[reference] = place
        return Footage(name, file)


def _read_split(
    split: str,
    path: Path,
    rows: list[tuple[int, dict[str, Any] | str]],
    clips: _Clips,
    parsed: Parsed,
) -> None:
    before = len(parsed.items)
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
            parsed.items.extend(_pair(split, qid, where, row, clips, parsed))
        except OddRow as reason:
            parsed.skip(split, "", where, str(reason))
    items = parsed.items[before:]
    if split == "debug" and items and not any(item.values["answer"] for item in items):
        columns = {name: None for _, row in rows if isinstance(row, dict) for name in row}
        raise ReleaseError(
            f"{path} has no answer to any of its questions, which the debug split's have in "
            f"correct1 and correct2; it has {shortened(', '.join(columns), 300)}."
        )


def _pair(
    split: str,
    qid: str,
    where: str,
    row: Mapping[str, Any],
    clips: _Clips,
    parsed: Parsed,
) -> list[Item]:
    """Return the items of one row: both variants, or the one that can be read."""
    text(row, "question")  # there is one; blanks around it are part of the authors' prompt
    question = str(row["question"])
    kind = text(row, "type").lower()
    if kind not in TYPES:
        raise OddRow(f"type is {shortened(kind)!r}, not one of {', '.join(TYPES)}")
    difficulty = difficulty_of(row, DIFFICULTIES)
    shows = clips.footage(posix(path_of(text(row, "renamed_video"))).as_posix())
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
    return ascii_uppercase[position]
