"""Picks in and out: CSV for spreadsheets and other tools, and the file that the tasks read."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.preprocessing.frames import count_frames
from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.handpick.agreement import Combined, combine
from video_reasoning.tasks.handpick.items import Item, Source
from video_reasoning.tasks.handpick.record import Decision
from video_reasoning.tasks.pages.journal import clean_annotator, clean_reason
from video_reasoning.tasks.store.picks import Pick, PicksError, write_picks
from video_reasoning.tasks.store.text_files import read_bytes, read_text

COLUMNS = ("annotator", "id", "frame", "n_frames", "seconds", "skip")
"""Columns of the CSV; an import needs only ``id`` and one of ``frame`` and ``skip``."""


def as_csv(decisions: Iterable[Decision]) -> str:
    """Return the decisions that count as CSV, by annotator and id."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in sorted(decisions, key=lambda decision: (decision.annotator, decision.id)):
        writer.writerow([getattr(row, column) for column in COLUMNS])
    return text.getvalue()


def export_csv(decisions: Iterable[Decision], path: Path) -> int:
    """Write the decisions that count as CSV (UTF-8), by annotator and id; return how many.

    Raises:
        OSError: If the file cannot be written.
    """
    rows = list(decisions)
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(as_csv(rows))
    return len(rows)


@dataclass(frozen=True)
class Imported:
    """What a CSV contained: the decisions, and a sentence for each row that could not be read."""

    decisions: list[Decision]
    problems: list[str]


def import_csv(path: Path, items: Mapping[str, Item], annotator: str | None = None) -> Imported:
    """Read decisions from CSV, with a sentence about each row that is wrong.

    Separators may be commas, semicolons or tabs. A row without `n_frames` gets the length of the
    video. Rows without an annotator are decisions of the one given.

    Raises:
        PicksError: If the file cannot be read as such a table.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise PicksError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError:
        raise PicksError(f"{path} is not UTF-8 text: save it as CSV in UTF-8.") from None
    first = text.split("\n", 1)[0]
    separator = max(",;\t", key=first.count)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator, restval="")
    try:
        names = {(name or "").strip().lower(): name for name in table.fieldnames or ()}
        if "id" not in names or not {"frame", "skip"} & names.keys():
            raise PicksError(
                f"{path} lacks the columns id and frame in its first line; "
                f"known columns are {', '.join(COLUMNS)}."
            )
        decisions, problems = [], []
        for row in table:
            line = table.line_num
            cells = {column: str(row.get(names.get(column)) or "").strip() for column in COLUMNS}
            if not any(cells.values()):
                continue
            try:
                decisions.append(_decision(cells, items, annotator))
            except (UserError, VideoError) as error:
                problems.append(f"line {line}: {error}")
    except csv.Error as error:
        raise PicksError(f"{path} cannot be read as CSV: {error}.") from None
    return Imported(decisions, problems)


def _decision(
    cells: Mapping[str, str], items: Mapping[str, Item], annotator: str | None
) -> Decision:
    who = cells["annotator"] or annotator or ""
    if not who:
        raise PicksError("it names no annotator; give one with --annotator.")
    who = clean_annotator(who)
    item = items.get(cells["id"])
    if item is None:
        raise PicksError(f"there is no question {cells['id']!r}.")
    if cells["frame"] and cells["skip"]:
        raise PicksError("it has both a frame and a reason to skip.")
    if cells["skip"]:
        return Decision(who, item.id, skip=clean_reason(cells["skip"]))
    frame = _whole(cells["frame"], "frame")
    if cells["n_frames"]:
        n_frames = _whole(cells["n_frames"], "n_frames")
    elif item.video is None:
        raise PicksError(f"n_frames is empty, and {item.problem}.")
    else:
        n_frames = count_frames(item.video)
    if not 0 <= frame < n_frames:
        raise PicksError(f"frame {frame} is not in a video of {n_frames} frames, 0 to n - 1.")
    return Decision(who, item.id, frame, n_frames, _seconds(cells["seconds"]))


def _whole(text: str, column: str) -> int:
    # Spreadsheets write 12 as "12.0".
    number = text.removesuffix(".0")
    if not (number.isascii() and number.isdigit() and len(number) < 10):
        raise PicksError(f"{column} is {text!r}, not a whole number.")
    return int(number)


def _seconds(text: str) -> float | None:
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise PicksError(f"seconds is {text!r}, not a number of seconds.")
    return seconds


@dataclass(frozen=True)
class Plan:
    """What would be installed, and where.

    Attributes:
        combined: The picks that were written, and what annotators left open.
        unknown: Ids of no question.
        changed: Ids whose video has another number of frames than when picked.
        existing: Number of picks that are there now, and would be replaced.
        stamp: Names those picks; another one as soon as they are others.
    """

    path: Path
    combined: Combined
    unknown: list[str]
    changed: list[str]
    existing: int
    stamp: str


def plan(decisions: Iterable[Decision], source: Source) -> Plan:
    """Make one pick for each item, to be put where the tasks read it.

    If an item's video can be read, its length is compared with the pick's.

    Raises:
        PicksError: If nothing is left to write.
    """
    combined, items = combine(decisions), source.known()
    kept, unknown, changed = [], [], []
    for pick in combined.picks:
        item = items.get(pick.id)
        if item is None:
            unknown.append(pick.id)
        elif _fits(pick, item):
            kept.append(pick)
        else:
            changed.append(pick.id)
    if not kept:
        raise PicksError(
            f"There is no pick to install: {len(combined.picks)} items have one, {len(unknown)} of "
            f"them are not known, {len(changed)} were picked on another video."
        )
    existing, stamp = _existing(source.picks)
    return Plan(source.picks, replace(combined, picks=kept), unknown, changed, existing, stamp)


def _existing(path: Path) -> tuple[int, str]:
    """Return how many lines a file has, and a name of its content; 0 and "" if it is not there."""
    try:
        content = read_bytes(path)
    except FileNotFoundError:
        return 0, ""
    return content.count(b"\n"), hashlib.sha256(content).hexdigest()[:16]


def install(made: Plan, stamp: str | None = None) -> None:
    """Write planned picks where the tasks read them, replacing the previous ones.

    Args:
        made: See :func:`plan`.
        stamp: That of the picks that may be replaced; None to replace any.

    Raises:
        PicksError: The picks there are others than those that may be replaced.
        OSError: If they cannot be written.
    """
    if stamp is not None and _existing(made.path)[1] != stamp:
        raise PicksError(
            f"{made.path} has changed since you were asked; nothing was written: look again."
        )
    write_picks(made.path, made.combined.picks)


def _fits(pick: Pick, item: Item) -> bool:
    """Whether the item's video is as long as the one that the pick was made on, or unreadable."""
    if item.video is None:
        return True
    try:
        return count_frames(item.video) == pick.n_frames
    except VideoError:
        return True
