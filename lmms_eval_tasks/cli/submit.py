"""`video-reasoning submit`: leaderboard files from logged runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from video_reasoning.tasks.benchmarks import BENCHMARKS, resolve
from video_reasoning.tasks.cli.options import ReadFrom, Results, names
from video_reasoning.tasks.cli.progress import print_some
from video_reasoning.tasks.leaderboards.predictions import Format, Predictions, collect


def register(app: typer.Typer, panel: str) -> None:
    """Add `submit` with a subcommand per leaderboard."""
    submit = typer.Typer(
        help="Write a benchmark's leaderboard file from logged runs.", no_args_is_help=True
    )
    for name, benchmark in BENCHMARKS.items():
        if benchmark.leaderboard is not None:
            format_: type[Format] = resolve(benchmark.leaderboard.format)
            example = f"Example: video-reasoning submit {name} results --out predictions"
            submit.command(name=name, epilog=f"{example}{format_.suffix}", help=_help(format_))(
                _command(name, tuple(benchmark.leaderboard.tasks), format_)
            )
    app.add_typer(submit, name="submit", rich_help_panel=panel)


def _help(format_: type[Format]) -> str:
    return (inspect.getdoc(format_) or "").partition("\n\nAttributes:")[0]


def _command(benchmark: str, splits: Sequence[str], format_: type[Format]) -> Callable[..., None]:
    """Return a subcommand with the common options and, as more of them, the format's own fields."""

    def command(
        results: Results,
        out: Annotated[Path, typer.Option(help="The file to write.")],
        split: Annotated[str, typer.Option(help=f"{' or '.join(splits)}.")] = splits[0],
        model: Annotated[
            str, typer.Option(help="Whose predictions, if the logs have several models.")
        ] = "",
        task: Annotated[
            list[str] | None,
            typer.Option(
                "--task",
                "--tasks",
                help="Tasks to read in place of the plain ones, joined by commas.",
            ),
        ] = None,
        allow_incomplete: Annotated[
            bool,
            typer.Option(
                "--allow-incomplete", help="Write the file even if questions are lacking."
            ),
        ] = False,
        home: ReadFrom = None,
        **options: Any,
    ) -> None:
        chosen = format_(**options)
        predictions = collect(benchmark, results, split=split, model=model, tasks=names(task))
        if not allow_incomplete:
            predictions.require_complete()
        files = chosen.write(predictions, out.expanduser())
        _report(predictions, files, chosen.unparsed_as)
        if len(files) == 1:
            _print_scores(predictions, chosen.score(files[0], predictions.questions, split))

    # get_type_hints of Python 3.10 hides the options whose default is None.
    hints = inspect.get_annotations(command, locals=locals(), eval_str=True)
    common = list(inspect.signature(command).parameters.values())[:-1]
    parameters = [each.replace(annotation=hints[each.name]) for each in common]
    own = get_type_hints(format_, include_extras=True)
    for option in fields(format_):
        kind, text = get_args(own[option.name])
        flag = [f"--{option.name.replace('_', '-')}"] if kind is bool else []
        parameters.append(
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=Annotated[kind, typer.Option(*flag, help=text)],
            )
        )
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _report(predictions: Predictions, files: list[Path], unparsed: str) -> None:
    """Say what was written, and list what a user may want to look at."""
    answered = len(predictions.choices) - len(predictions.unparsed)
    print(
        f"{predictions.model} on {predictions.benchmark} ({predictions.split} split): "
        f"{answered:,} of {len(predictions.questions):,} questions answered with an option."
    )
    if predictions.seen is not None and predictions.seen.known:
        print(f"Different frames that the model saw, per question: {predictions.seen.text}.")
    absent = [f"{id_}: {reason}" for id_, reason in predictions.absent.items()]
    for title, entries in (
        (f"name no option, written as {unparsed}", predictions.unparsed),
        ("without a prediction", absent),
    ):
        print_some(f"{len(entries):,} {title}", entries, indent="  ")
    for file in files:
        print(f"Written to {file}.")


def _print_scores(predictions: Predictions, scores: dict[str, float]) -> None:
    """Print the file's scores if the answers are public."""
    known = {name: value for name, value in scores.items() if value == value}
    if known:
        listed = ", ".join(f"{name} {value:.4f}" for name, value in known.items())
        print(f"Scored against the public answers of the {predictions.split} split: {listed}.")
