"""The leaderboard file, written at the end of a run over questions whose answers are withheld."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.leaderboards.causalvqa import CausalVQA
from video_reasoning.tasks.leaderboards.predictions import Predictions
from video_reasoning.tasks.store.questions import load_questions

_SUFFIX = {"video": "", "last1": "_single_frame"}
"""Condition -> how a task's name ends, where it is not the condition's own name."""


def submission_rows(items: Sequence[Mapping[str, Any]], args: Any) -> int | None:
    """Write the file if every question has a prediction; log where it is, or why it is not.

    It is in ``submissions/`` in the run's output folder, one file per task. A run of a part of
    the questions (``--limit``, one type) leaves none: ``video-reasoning submit`` joins several
    runs.

    Args:
        items: One per response: id, split, condition, choice, missing, withheld.
        args: The harness's command line; None if it was called as a library.

    Returns:
        Rows written; None if no answer is withheld, so that there is nothing to submit.
    """
    if not any(item["withheld"] for item in items):
        return None
    try:
        return _write(items, args)
    except (UserError, OSError) as error:
        logger.error(f"The submission was not written: {error}")
        return 0


def _write(items: Sequence[Mapping[str, Any]], args: Any) -> int:
    from lmms_eval.tasks._task_utils.file_utils import generate_submission_file

    split, condition = str(items[0]["split"]), str(items[0]["condition"])
    run = f"causalvqa_{split}{_SUFFIX.get(condition, f'_{condition}')}"
    questions = load_questions(store.questions_file("causalvqa", split))
    choices = {item["id"]: item["choice"] for item in items if not item["missing"]}
    absent = {
        id_: "not asked, or its video could not be shown" for id_ in questions if id_ not in choices
    }
    predictions = Predictions("causalvqa", split, run, questions, choices, absent)
    predictions.require_complete()
    target = Path(generate_submission_file(f"{run}.jsonl", args))
    CausalVQA().write(predictions, target)
    logger.warning(
        f"Submission with {len(choices):,} rows ({len(predictions.unparsed):,} without an option) "
        f"written to {target}."
    )
    return len(choices)
