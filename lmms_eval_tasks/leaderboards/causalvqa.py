"""CausalVQA's leaderboard: JSON Lines, one row per variant of a question.

    {"data_name": "causalvqa", "task": "planning", "row_id": "q17_1", "model_answer": "C"}

How `row_id` tells the two variants of a question apart is not published.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from video_reasoning.tasks.leaderboards.predictions import (
    Format,
    Predictions,
    SubmissionError,
    write_text,
)
from video_reasoning.tasks.leaderboards.score import answered, read_submission

if TYPE_CHECKING:
    from video_reasoning.tasks.results.items import Questions

DATA_NAME = "causalvqa"


@dataclass(frozen=True)
class CausalVQA(Format):
    """Write the JSON Lines for CausalVQA's leaderboard, one row per variant of a question.

    The task causalvqa_test is read, or else its five types. How the leaderboard tells the two
    variants of a question apart is not published: set --row-id to what its organizers ask for.
    With --allow-incomplete, a question without a prediction has no row.

    Attributes:
        row_id: Format of `row_id`, with `qid` as in the metadata and `variant` as in `choices1`
            and `choices2`.
        unparsed: `model_answer` of a response that names no option. The leaderboard's value is
            not published; the empty text is not a letter, so it cannot be right by luck.
        split_by_type: Whether to write a file per question type, `_<type>` added to its stem.
    """

    suffix: ClassVar[str] = ".jsonl"

    row_id: Annotated[
        str, "How to name a row; fields: {qid}, {variant} (1 or 2), {type}, {split}."
    ] = "{qid}_{variant}"
    unparsed: Annotated[str, "model_answer of a response that names no option."] = ""
    split_by_type: Annotated[bool, "One file per question type, OUT_<type>."] = False

    @property
    def unparsed_as(self) -> str:
        """The user's text, in quotes."""
        return repr(self.unparsed)

    def rows(self, predictions: Predictions) -> list[dict[str, str]]:
        """Return the rows in the order of the questions; none for a question that is absent.

        Raises:
            SubmissionError: The format has an unknown field, or gives one id to two rows, or
                `unparsed` is itself an option's letter.
        """
        rows = []
        used: dict[str, str] = {}
        for id_, question in predictions.questions.items():
            name = self.name(question, predictions.split)
            if name in used:
                raise SubmissionError(
                    f"The row_id format {self.row_id!r} gives {name!r} to both {used[name]} and "
                    f"{id_}; use {{qid}} and {{variant}} in it."
                )
            used[name] = id_
            if len(self.unparsed) == 1 and 0 <= ord(self.unparsed) - ord("A") < len(
                question["options"]
            ):
                raise SubmissionError(
                    f"{self.unparsed!r} cannot mark a response that names no option: it is one "
                    f"of the options of {id_}."
                )
            if id_ in predictions.choices:
                choice = predictions.choices[id_]
                rows.append(
                    {
                        "data_name": DATA_NAME,
                        "task": str(question["type"]),
                        "row_id": name,
                        "model_answer": self.unparsed if choice is None else choice,
                    }
                )
        return rows

    def name(self, question: Mapping[str, Any], split: str) -> str:
        """Fill the `row_id` format for one variant of a question.

        Raises:
            SubmissionError: The format is not a format string over the known fields.
        """
        fields = {
            "qid": str(question["qid"]),
            "variant": int(question["variant"]),
            "type": str(question["type"]),
            "split": split,
        }
        try:
            parsed = string.Formatter().parse(self.row_id)
            names = [name for _, name, _, _ in parsed if name is not None]
            # Attribute and index access ("{qid.x}", "{qid[0]}") is not a field either.
            unknown = [name for name in names if name not in fields]
            if not unknown:
                return self.row_id.format(**fields)
            problem = f"it has no field {unknown[0]!r}"
        except (ValueError, IndexError, KeyError) as error:
            problem = str(error)
        raise SubmissionError(
            f"{self.row_id!r} is not a format for row_id ({problem}); "
            f"the fields are {', '.join(f'{{{name}}}' for name in fields)}."
        )

    def write(self, predictions: Predictions, out: Path) -> list[Path]:
        """Write the JSON Lines, in one file or one per question type."""
        rows = self.rows(predictions)
        if not self.split_by_type:
            return [write_text(out, _lines(rows))]
        return [
            write_text(
                out.with_name(f"{out.stem}_{kind}{out.suffix}"),
                _lines([row for row in rows if row["task"] == kind]),
            )
            for kind in sorted({row["task"] for row in rows})
        ]

    def score(self, file: Path, key: Questions, split: str = "test") -> dict[str, float]:
        """Score a file: `accuracy_paired` and `accuracy_unpaired`."""
        from video_reasoning.metrics.paired import paired_accuracy, unpaired_accuracy

        rows = read_submission(file, lines=True)
        if not all(isinstance(row, dict) and "row_id" in row for row in rows):
            raise SubmissionError(f"{file} is not JSON Lines with a row_id in each.")
        answers = {str(row["row_id"]): row.get("model_answer") for row in rows}
        questions = {self.name(row, split): row for row in key.values()}
        known = answered(file, answers, questions)
        pairs = [str(question["qid"]) for question, _ in known]
        right = [answer == question["answer"] for question, answer in known]
        return {
            "accuracy_paired": paired_accuracy(pairs, right),
            "accuracy_unpaired": unpaired_accuracy(right),
        }


def _lines(rows: Sequence[Mapping[str, str]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
