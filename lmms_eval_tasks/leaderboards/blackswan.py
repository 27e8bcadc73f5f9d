"""BlackSwanSuite's leaderboard: one JSON object, question id -> index of the option from 0."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from video_reasoning.tasks.leaderboards.predictions import (
    Format,
    Predictions,
    SubmissionError,
    write_text,
)
from video_reasoning.tasks.leaderboards.score import answered, read_submission

if TYPE_CHECKING:
    from video_reasoning.tasks.results.items import Questions

NO_OPTION = -1  # what BlackSwanSuite's users write for a response that names no option
_TASKS = ("detective", "reporter")


@dataclass(frozen=True)
class BlackSwan(Format):
    """Write the JSON object for BlackSwanSuite's leaderboard: q_id -> option index, from 0.

    Both the Detective's and the Reporter's multiple-choice questions belong in it
    (blackswan_test_detective_mcq and blackswan_test_reporter_mcq). A response that names no
    option is written as -1. With --allow-incomplete, so is a question without a prediction: the
    leaderboard wants every question, and counts it as wrong either way.
    """

    suffix: ClassVar[str] = ".json"

    @property
    def unparsed_as(self) -> str:
        """-1."""
        return str(NO_OPTION)

    def answers(self, predictions: Predictions) -> dict[str, int]:
        """Map each question id to the index of the option from 0, or :data:`NO_OPTION`.

        Raises:
            SubmissionError: Two questions share an id, so that one object cannot have both.
        """
        answers: dict[str, int] = {}
        for id_, question in predictions.questions.items():
            name = str(question["question_id"])
            if name in answers:
                raise SubmissionError(
                    f"Two questions have the q_id {name}; one JSON object cannot have both "
                    "answers. Look at the release's q_id column."
                )
            choice = predictions.choices.get(id_)
            answers[name] = NO_OPTION if choice is None else ord(choice) - ord("A")
        return answers

    def write(self, predictions: Predictions, out: Path) -> list[Path]:
        """Write the JSON object."""
        content = json.dumps(self.answers(predictions), indent=1, ensure_ascii=False)
        return [write_text(out, content + "\n")]

    def score(self, file: Path, key: Questions, split: str = "test") -> dict[str, float]:
        """Score a file: `accuracy`, `accuracy_detective` and `accuracy_reporter`."""
        from video_reasoning.metrics.accuracy import accuracy

        answers = read_submission(file)
        if not isinstance(answers, dict):
            raise SubmissionError(f"{file} is not a JSON object, question id -> option index.")
        questions = {
            str(row["question_id"]): row for row in key.values() if row["task"].endswith("_mcq")
        }
        known = answered(file, answers, questions)
        right = [answer == ord(question["answer"]) - ord("A") for question, answer in known]
        scores = {"accuracy": accuracy(right)}
        for task in _TASKS:
            own = [question["task"] == f"{task}_mcq" for question, _ in known]
            scores[f"accuracy_{task}"] = accuracy(list(compress(right, own)))
        return scores
