"""``video-reasoning submit``: leaderboard files from logged runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from video_reasoning.tasks.leaderboards.predictions import Predictions

Results = Annotated[
    list[Path],
    typer.Argument(help="Output folders of the harness, results files or sample logs."),
]
Out = Annotated[Path, typer.Option(help="The file to write.")]
Model = Annotated[str, typer.Option(help="Whose predictions, where the logs hold several models.")]
Task = Annotated[
    list[str] | None,
    typer.Option(help="A task to read in place of the plain ones; can be given several times."),
]
AllowIncomplete = Annotated[
    bool, typer.Option("--allow-incomplete", help="Write the file though questions are lacking.")
]


def register(app: typer.Typer) -> None:
    """Adds ``submit`` with a subcommand per leaderboard."""
    submit = typer.Typer(
        help="Write a benchmark's leaderboard file from logged runs.", no_args_is_help=True
    )
    submit.command(
        name="blackswan",
        epilog="Example: video-reasoning submit blackswan results --out predictions.json",
    )(_blackswan)
    submit.command(
        name="causalvqa",
        epilog="Example: video-reasoning submit causalvqa results --out predictions.jsonl",
    )(_causalvqa)
    app.add_typer(submit, name="submit")


def _blackswan(
    results: Results,
    out: Out,
    split: Annotated[str, typer.Option(help="test or validation.")] = "test",
    model: Model = "",
    task: Task = None,
    allow_incomplete: AllowIncomplete = False,
) -> None:
    """Write the JSON object for BlackSwanSuite's leaderboard: q_id -> option index, from 0.

    Both the Detective's and the Reporter's multiple-choice questions belong in it
    (blackswan_test_detective_mcq and blackswan_test_reporter_mcq). A response that names no
    option is written as -1. With --allow-incomplete, so is a question without a prediction.
    """
    from video_reasoning.tasks.leaderboards.predictions import (
        collect,
        score_submission,
        write_blackswan,
    )

    predictions = collect("blackswan", results, split=split, model=model, tasks=task or ())
    if not allow_incomplete:
        predictions.require_complete()
    files = write_blackswan(predictions, out.expanduser())
    _report(predictions, files, "-1")
    _print_scores(predictions, score_submission(files[0], predictions.questions))


def _causalvqa(
    results: Results,
    out: Out,
    split: Annotated[str, typer.Option(help="test or debug.")] = "test",
    model: Model = "",
    task: Task = None,
    row_id: Annotated[
        str,
        typer.Option(help="How to name a row; fields: {qid}, {variant} (1 or 2), {type}, {split}."),
    ] = "{qid}_{variant}",
    unparsed: Annotated[
        str, typer.Option(help="model_answer of a response that names no option.")
    ] = "",
    split_by_type: Annotated[
        bool,
        typer.Option("--split-by-type", help="One file per question type, OUT_<type>."),
    ] = False,
    allow_incomplete: AllowIncomplete = False,
) -> None:
    """Write the JSON Lines for CausalVQA's leaderboard, one row per variant of a question.

    The task causalvqa_test is read, or else its five types. How the leaderboard tells the two
    variants of a question apart is not published: set --row-id to what its organisers ask for.
    With --allow-incomplete, a question without a prediction has no row.
    """
    from video_reasoning.tasks.leaderboards.predictions import (
        collect,
        score_submission,
        write_causalvqa,
    )

    predictions = collect("causalvqa", results, split=split, model=model, tasks=task or ())
    if not allow_incomplete:
        predictions.require_complete()
    files = write_causalvqa(
        predictions,
        out.expanduser(),
        row_id=row_id,
        unparsed=unparsed,
        split_by_type=split_by_type,
    )
    _report(predictions, files, repr(unparsed))
    if not split_by_type:
        key = predictions.questions
        _print_scores(predictions, score_submission(files[0], key, row_id=row_id, split=split))


def _report(predictions: Predictions, files: list[Path], unparsed: str, most: int = 10) -> None:
    """Says what was written, and lists what a user may want to look at."""
    answered = len(predictions.choices) - len(predictions.unparsed)
    print(
        f"{predictions.model} on {predictions.benchmark} ({predictions.split} split): "
        f"{answered:,} of {len(predictions.questions):,} questions answered with an option."
    )
    listed = [(id_, "") for id_ in predictions.unparsed]
    _print_some(f"name no option, written as {unparsed}", listed, most)
    _print_some("without a prediction", list(predictions.absent.items()), most)
    for file in files:
        print(f"Written to {file}.")


def _print_some(title: str, entries: list[tuple[str, str]], most: int) -> None:
    if entries:
        print(f"  {len(entries):,} {title}:")
        for id_, reason in entries[:most]:
            print(f"    {id_}{f': {reason}' if reason else ''}")
        if len(entries) > most:
            print(f"    ... and {len(entries) - most:,} more")


def _print_scores(predictions: Predictions, scores: dict[str, float]) -> None:
    """Scores the file where the answers are public."""
    known = {name: value for name, value in scores.items() if value == value}
    if known:
        listed = ", ".join(f"{name} {value:.4f}" for name, value in known.items())
        print(f"Scored against the public answers of the {predictions.split} split: {listed}.")
