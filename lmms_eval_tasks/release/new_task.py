"""A task folder of the harness from a table of questions: a YAML, its functions, and the data."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template, ascii_uppercase
from typing import Any

from video_reasoning.preprocessing.video import check
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.release.questions import Question, read_questions
from video_reasoning.tasks.release.source import VIDEO_SUFFIXES
from video_reasoning.tasks.store.text_files import shortened

__all__ = ["NewTask", "NewTaskError", "plan_task"]

_NAMED = 3
"""Rows and videos that a message names."""

_YAML = Template("""\
# $questions questions about $videos videos.
task: $name
dataset_path: json
dataset_kwargs:
  data_files:
    test: questions.jsonl
test_split: test
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: answer
process_results: !function utils.process_results
# Greedy, with room for reasoning before the letter.
generation_kwargs:
  {until: [], max_new_tokens: 1024, do_sample: false, temperature: 0, top_p: 1.0, num_beams: 1}
# A question whose video or response is missing is in no rate, and is counted.
metric_list:
  - metric: accuracy
    aggregation: !function video_reasoning.tasks.scoring.accuracy
    higher_is_better: true
  - metric: unparsed_rate
    aggregation: !function video_reasoning.tasks.scoring.unparsed_rate
    higher_is_better: false
  - metric: missing_items
    aggregation: !function video_reasoning.tasks.scoring.missing_items
    higher_is_better: false
  - metric: failed_items
    aggregation: !function video_reasoning.tasks.scoring.failed_items
    higher_is_better: false
cluster_key: video
metadata:
  version: 1.0
""")

_UTILS = Template('''\
"""What the task $name shows, asks and counts."""

from pathlib import Path

from video_reasoning.metrics.answers import parse_choice
from video_reasoning.preprocessing.video import check
from video_reasoning.tasks.media import placeholder
from video_reasoning.tasks.scoring import first_response, letters, state
from video_reasoning.tasks.states import LEFT_OUT, failure

VIDEOS = $folder
"""Folder that the column `video` of questions.jsonl is relative to."""


def doc_to_visual(doc):
    """Show the whole video; a black clip in place of one that cannot be read."""
    video = VIDEOS / doc["video"]
    return [str(placeholder() if check(video) else video)]


def doc_to_text(doc):
    """Ask the question with its options below."""
    options = [f"{letter}. {text}" for letter, text in letters(doc["options"]).items()]
    return "\\n".join([doc["question"], *options, "Answer with the letter of the right option."])


def process_results(doc, results):
    """Read one response: an answer that names no option is wrong, and counted as unparsed."""
    problem, failed = check(VIDEOS / doc["video"]), failure(results[:1])
    answer = parse_choice(first_response(results), letters(doc["options"]))
    parsed = answer.value is not None
    status = state(problem, failed, parsed=parsed, known=True)
    scored = {"id": doc["id"], "video": doc["video"]}
    if status not in LEFT_OUT:
        scored["score"] = float(answer.value == doc["answer"])
    return {
        "id": doc["id"],
        "status": status,
        "choice": answer.value,
        "rule": answer.rule,
        "score": scored.get("score"),
        "problem": problem or failed,
        "accuracy": scored,
        "unparsed_rate": None if status in LEFT_OUT else float(not parsed),
        "missing_items": {"missing": status == "missing"},
        "failed_items": {"failed": status == "failed"},
    }
''')


class NewTaskError(UserError):
    """A table or folder that no task can be made of."""


@dataclass(frozen=True)
class NewTask:
    """A task that can be written.

    Attributes:
        name: Its name in the harness.
        files: Name of a file in the task's folder -> its text.
        questions: How many it asks.
        videos: How many different videos it shows.
        left_out: Where and why a row is not a question.
    """

    name: str
    files: Mapping[str, str]
    questions: int
    videos: int
    left_out: Sequence[tuple[str, str]]


def plan_task(
    folder: Path,
    table: Path,
    videos: Path,
    name: str,
    *,
    named: Mapping[str, str] | None = None,
    count_from: int | None = None,
    leave_out: bool = False,
) -> NewTask:
    """Make the files of a task; nothing is written.

    Args:
        folder: Where the files will be; the videos' place is relative to it.
        table: The questions, as :func:`~video_reasoning.tasks.release.questions.read_questions`
            reads them.
        videos: The folder that the table's videos are in.
        name: The task's name.
        named: What is read -> its column, where names do not show it.
        count_from: Whether answers that are numbers count options from 0 or from 1.
        leave_out: Whether rows that are not questions, or lack their video, are left out.

    Raises:
        NewTaskError: Rows are not questions or videos are missing, and `leave_out` is not set; or
            the name cannot be a task's.
        QuestionsError: The table lacks a column, or its numbers can be read in two ways.
        ReleaseError: The table cannot be read.
    """
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
        raise NewTaskError(
            f"'{name}' cannot be a task's name; give one of letters, digits and _ with --name."
        )
    if not videos.is_dir():
        raise NewTaskError(f"{videos} is not a folder; name the videos' folder with --videos.")
    read = read_questions(table, count_from, named)
    files = {question.video: _video(videos, question.video) for question in read.questions}
    gone = {name: reason for name, (_, reason) in files.items() if reason}
    kept = [question for question in read.questions if question.video not in gone]
    left_out = [
        *read.skipped,
        *((q.id, f"its video {gone[q.video]}") for q in read.questions if q.video in gone),
    ]
    if left_out and not leave_out:
        raise NewTaskError(_problems(table, videos, read.skipped, gone))
    if not kept:
        raise NewTaskError(f"{table} has no question whose video is in {videos}.")
    rows = [_row(question, files[question.video][0]) for question in kept]
    counts = {"questions": f"{len(rows):,}", "videos": f"{len({r['video'] for r in rows}):,}"}
    texts = {
        f"{name}.yaml": _YAML.substitute(counts, name=name),
        "utils.py": _UTILS.substitute(name=name, folder=_place(videos, folder)),
        "questions.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
    }
    return NewTask(name, texts, len(rows), len({row["video"] for row in rows}), left_out)


def _video(folder: Path, written: str) -> tuple[str, str]:
    """Return a video's path relative to its folder, and why it cannot be shown, or ""."""
    base = folder.resolve()
    path = base / written.replace("\\", "/")
    if not path.resolve().is_relative_to(base):
        return "", f"{shortened(written)} is not in {folder}"
    if not path.is_file():
        # A column may have names without an ending.
        found = [path.with_name(path.name + end) for end in sorted(VIDEO_SUFFIXES)]
        found = [each for each in found if each.is_file()]
        if len(found) > 1:
            ends = " or ".join(each.name for each in found)
            return "", f"{shortened(written)} could be {ends}"
        if not found:
            return "", f"{shortened(written)} does not exist"
        path = found[0]
    if reason := check(path):
        return "", f"{shortened(written)} cannot be read ({reason.rstrip('.')})"
    return Path(os.path.relpath(path, base)).as_posix(), ""


def _problems(
    table: Path, videos: Path, skipped: Sequence[tuple[str, str]], gone: Mapping[str, str]
) -> str:
    """Say in one sentence which rows and videos cannot be used."""
    parts = []
    if skipped:
        rows = [f"{where}: {reason}" for where, reason in skipped]
        what = "row is not a question" if len(rows) == 1 else "rows are not questions"
        parts.append(f"{len(rows):,} {what} ({_some(rows)})")
    if gone:
        what = "video" if len(gone) == 1 else "videos"
        named = _some(list(gone.values()))
        parts.append(f"{len(gone):,} {what} cannot be shown from {videos} ({named})")
    return (
        f"{table}: {', and '.join(parts)}; correct that, or leave out these questions with "
        "--leave-out."
    )


def _some(sentences: Sequence[str]) -> str:
    more = f"; and {len(sentences) - _NAMED:,} more" if len(sentences) > _NAMED else ""
    return "; ".join(sentences[:_NAMED]) + more


def _row(question: Question, video: str) -> dict[str, Any]:
    """Return a line of the data file."""
    kind = {"type": question.type} if question.type else {}
    return {
        "id": question.id,
        "video": video,
        "question": question.question,
        "options": list(question.options),
        "answer": ascii_uppercase[question.answer],
        **kind,
    }


def _place(videos: Path, folder: Path) -> str:
    """Return the folder of the videos as Python: relative to the task's, if that is possible."""
    try:
        relative = Path(os.path.relpath(videos.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return f"Path({str(videos.resolve())!r})"
    return f"Path(__file__).parent / {relative!r}".replace("'", '"')
