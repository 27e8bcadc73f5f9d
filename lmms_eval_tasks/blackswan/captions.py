"""Captions for BlackSwanSuite's Detective-MCQ, which a user supplies.

The paper asks some questions again with human-written captions of both ends of the video
(perception) and of how they differ (comprehension) in the prompt (sections 7.1 and H.1). The
release does not contain them. ``video-reasoning prepare blackswan --captions FILE`` reads them
from JSON Lines, one object a line, and writes them into the questions; the tasks named in
:data:`TASKS` ask the questions that have theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import ReleaseError, cause
from video_reasoning.tasks.release.records import Parsed
from video_reasoning.tasks.store.text_files import loads, read_text, shortened

__all__ = ["COLUMNS", "TASKS", "add_captions", "captioned", "read_captions"]

COLUMNS = ("p_preevent", "p_postevent", "pc_comp")
"""What V_pre shows, what V_post shows, and how the two differ; each completes a sentence."""

TASKS: Mapping[str, tuple[str, ...]] = {
    kind: columns for kind, columns in BENCHMARKS["blackswan"].kinds.items() if columns
}
"""Kind of questions -> the captions that each of them must have."""

ID_NAMES = ("question_id", "q_id", "id")
"""Names under which a line may give the question's id; the first found counts."""

KEPT = "captions.jsonl"
"""The store's copy, below the benchmark's folder: used if no file is given."""

_MOST_NOTES = 5

Captions = dict[str, dict[str, str]]


def add_captions(benchmark: str, parsed: Parsed, folder: Path, given: Path | None) -> None:
    """Fill in the caption columns of the Detective-MCQ questions, and note how many.

    Args:
        benchmark: Only "blackswan" has captions.
        parsed: The release; its items and notes are changed.
        folder: The benchmark's folder in the store, where a copy of the captions is kept so
            that preparing again does not lose them.
        given: The user's file; None for the copy, if there is one.

    Raises:
        ReleaseError: Captions are given for another benchmark, or cannot be read.
    """
    if benchmark != "blackswan":
        if given is not None:
            raise ReleaseError(
                f"Captions are for blackswan's detective_mcq; {benchmark} has no use for {given}."
            )
        return
    path = given or folder / KEPT
    if given is None and not path.is_file():
        return
    captions, odd = read_captions(path)
    used = set()
    for place, item in enumerate(parsed.items):
        question = item.values["question_id"]
        if item.values["task"] == "detective_mcq" and question in captions:
            used.add(question)
            parsed.items[place] = replace(item, values={**item.values, **captions[question]})
    parsed.notes.append(f"{len(used):,} detective_mcq questions have captions from {path.name}.")
    unknown = [question for question in captions if question not in used]
    if unknown:
        parsed.notes.append(f"Captions of no detective_mcq question: {_some(unknown)}.")
    if odd:
        parsed.notes.append(f"{len(odd):,} lines of {path.name} were left out: {_some(odd)}.")
    if given is not None:
        with atomic_path(folder / KEPT) as temporary:
            temporary.write_bytes(given.read_bytes())


def captioned(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Count, per task that needs captions, the Detective-MCQ questions that have them.

    Empty if there are no Detective-MCQ questions.
    """
    detective = [row for row in rows if row["task"] == "detective_mcq" and "p_preevent" in row]
    if not detective:
        return {}
    return {
        task: sum(all(row[column] for column in columns) for row in detective)
        for task, columns in TASKS.items()
    }


def read_captions(path: Path) -> tuple[Captions, list[str]]:
    """Read a file of captions.

    Args:
        path: JSON Lines; each object has an id (one of :data:`ID_NAMES`; with or without the
            task in front, ``detective_mcq/17`` or ``17``) and any of :data:`COLUMNS`.

    Returns:
        Question id -> column -> caption, and why lines could not be read, a reason each.

    Raises:
        ReleaseError: The file cannot be read or has no caption.
    """
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"The captions {path} cannot be read ({cause(error)}).") from error
    captions: Captions = {}
    odd: list[str] = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            identity, texts = _line(line)
        except ValueError as reason:
            odd.append(f"line {number}: {reason}")
            continue
        if identity in captions:
            odd.append(f"line {number}: duplicate id {identity}")
            continue
        captions[identity] = texts
    if not captions:
        reasons = f" ({'; '.join(odd[:3])})" if odd else ""
        raise ReleaseError(
            f"{path} has no captions{reasons}; a line is an object such as "
            '{"question_id": "17", "p_preevent": "...", "p_postevent": "...", "pc_comp": "..."}.'
        )
    return captions, odd


def _line(line: str) -> tuple[str, dict[str, str]]:
    """Read one line.

    Returns:
        The question's id, and column -> caption.

    Raises:
        ValueError: It cannot be read; the message says why.
    """
    try:
        row = loads(line)
    except ValueError as error:
        raise ValueError(f"it is not readable JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    found = next((row[name] for name in ID_NAMES if row.get(name) is not None), None)
    names = shortened(", ".join(row), 300)
    if found is None or isinstance(found, (list, dict, bool)):
        raise ValueError(f"it has no id ({', '.join(ID_NAMES)}); it has {names}")
    texts = {}
    for column in COLUMNS:
        value = row.get(column)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{column} is not a text")
        if value and value.strip():
            texts[column] = value.strip()
    if not texts:
        raise ValueError(f"it has none of {', '.join(COLUMNS)}; it has {names}")
    return str(found).strip().removeprefix("detective_mcq/"), texts


def _some(entries: Sequence[str]) -> str:
    more = len(entries) - _MOST_NOTES
    shown = [shortened(entry, 200) for entry in entries[:_MOST_NOTES]]
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
