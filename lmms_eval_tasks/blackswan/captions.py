"""Captions for BlackSwanSuite's Detective-MCQ, which a user supplies.

The paper asks some questions again with human-written captions of both ends of the video
(perception) and of how they differ (comprehension) in the prompt (sections 7.1 and H.1). The
release does not hold them. ``video-reasoning prepare blackswan --captions FILE`` reads them from
JSON Lines, one object a line, and writes them into the questions; the tasks named in
:data:`TASKS` ask the questions that have theirs.

This module is imported before anything heavy: it needs the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.store.text_files import loads, read_text

COLUMNS = ("p_preevent", "p_postevent", "pc_comp")
"""What V_pre shows, what V_post shows, and how the two differ; each completes a sentence."""

TASKS: Mapping[str, tuple[str, ...]] = {
    "detective_mcq_perception": COLUMNS[:2],
    "detective_mcq_perception_comprehension": COLUMNS,
}
"""Selection of questions -> the captions that each of them must have."""

ID_NAMES = ("question_id", "q_id", "id")
"""Names under which a line may give the question's id, the first found counts."""

Captions = dict[str, dict[str, str]]


def missing_captions(task: str, name: str = "") -> str:
    """Says in one sentence that no question has the captions that a task needs.

    Args:
        task: a key of :data:`TASKS`.
        name: the task's name in the harness, if another.
    """
    return (
        f"{name or task} has no questions: none has captions in the store; write "
        f"{', '.join(TASKS[task])} per question_id into a JSON Lines file and run "
        "`video-reasoning prepare blackswan --captions FILE` (docs/blackswan.md)."
    )


def read_captions(path: Path) -> tuple[Captions, list[str]]:
    """Reads a file of captions.

    Args:
        path: JSON Lines; each object has an id (one of :data:`ID_NAMES`; with or without the
            task in front, ``detective_mcq/17`` or ``17``) and any of :data:`COLUMNS`.

    Returns:
        Question id -> column -> caption, and why lines could not be read, a reason each.

    Raises:
        ReleaseError: if the file cannot be read or holds no caption.
    """
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"The captions {path} cannot be read ({error}).") from error
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
            odd.append(f"line {number}: {identity} stands twice")
            continue
        captions[identity] = texts
    if not captions:
        reasons = f" ({'; '.join(odd[:3])})" if odd else ""
        raise ReleaseError(
            f"{path} holds no captions{reasons}; a line is an object such as "
            '{"question_id": "17", "p_preevent": "...", "p_postevent": "...", "pc_comp": "..."}.'
        )
    return captions, odd


def _named(row: Mapping[str, object]) -> str:
    names = ", ".join(row)
    return names if len(names) <= 300 else f"{names[:280]}..."


def _line(line: str) -> tuple[str, dict[str, str]]:
    try:
        row = loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not readable JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("it is not an object")
    found = next((row[name] for name in ID_NAMES if row.get(name) is not None), None)
    if found is None or isinstance(found, (list, dict, bool)):
        raise ValueError(f"it has no id ({', '.join(ID_NAMES)}); it has {_named(row)}")
    texts = {}
    for column in COLUMNS:
        value = row.get(column)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{column} is not a text")
        if value and value.strip():
            texts[column] = value.strip()
    if not texts:
        raise ValueError(f"it has none of {', '.join(COLUMNS)}; it has {_named(row)}")
    return str(found).strip().removeprefix("detective_mcq/"), texts
