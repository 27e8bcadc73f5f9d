"""Writing a user's captions into BlackSwanSuite's questions, while a release is prepared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.blackswan.captions import TASKS, read_captions
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.records import Parsed
from video_reasoning.tasks.store.text_files import shortened

__all__ = ["add_captions", "captioned"]

KEPT = "captions.jsonl"
"""The store's copy, below the benchmark's folder: used when none are given."""

_MOST_NOTES = 5


def add_captions(benchmark: str, parsed: Parsed, folder: Path, given: Path | None) -> None:
    """Fills the caption columns of the Detective-MCQ questions, and says how many.

    Args:
        benchmark: only "blackswan" has captions.
        parsed: the release; its items and notes are changed.
        folder: the benchmark's folder in the store, where a copy of the captions is kept so
            that preparing again does not lose them.
        given: the user's file; None for the copy, if there is one.

    Raises:
        ReleaseError: if captions are given for another benchmark, or cannot be read.
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
    """Task that needs captions -> how many Detective-MCQ questions have what it needs.

    Empty where there are no Detective-MCQ questions.
    """
    detective = [row for row in rows if row["task"] == "detective_mcq" and "p_preevent" in row]
    if not detective:
        return {}
    return {
        task: sum(all(row[column] for column in columns) for row in detective)
        for task, columns in TASKS.items()
    }


def _some(entries: list[str]) -> str:
    more = len(entries) - _MOST_NOTES
    shown = [shortened(entry, 200) for entry in entries[:_MOST_NOTES]]
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")
