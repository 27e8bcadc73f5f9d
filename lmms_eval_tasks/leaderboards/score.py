"""Reading a leaderboard file back, to score it against answers that are known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from video_reasoning.tasks.errors import cause
from video_reasoning.tasks.leaderboards.predictions import SubmissionError, some
from video_reasoning.tasks.store.text_files import loads, read_text

if TYPE_CHECKING:
    from video_reasoning.tasks.results.items import Questions


def read_submission(file: Path, *, lines: bool = False) -> Any:
    """Read a file of JSON, or of JSON Lines as a list.

    Raises:
        SubmissionError: The file cannot be read, or is not that.
    """
    try:
        content = read_text(file)
        if lines:
            return [loads(line) for line in content.split("\n") if line.strip()]
        return loads(content)
    except (OSError, ValueError) as error:
        kind = "JSON Lines" if lines else "JSON"
        raise SubmissionError(f"{file} cannot be read as {kind} ({cause(error)}).") from error


def answered(
    file: Path, answers: Mapping[str, Any], questions: Questions
) -> list[tuple[Mapping[str, Any], Any]]:
    """Join a file's answers to the questions that have an answer in the key, in the key's order.

    Both are given by the names that questions have in the file.

    Raises:
        SubmissionError: A question of the file is not in the key.
    """
    unknown = [name for name in answers if name not in questions]
    if unknown:
        raise SubmissionError(
            f"{file} answers {len(unknown):,} questions that the key does not have "
            f"({some(unknown)})."
        )
    return [
        (question, answers[name])
        for name, question in questions.items()
        if name in answers and question["answer"]
    ]
