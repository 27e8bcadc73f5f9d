"""The command ``video-reasoning``: everything that is not an evaluation."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from video_reasoning.tasks.cli import annotate, audit, handpick, submit
from video_reasoning.tasks.cli.build_questions import build_questions
from video_reasoning.tasks.cli.check_sample import check_sample
from video_reasoning.tasks.cli.clips import clips
from video_reasoning.tasks.cli.compare import compare
from video_reasoning.tasks.cli.doctor import doctor
from video_reasoning.tasks.cli.make_pairs import make_pairs
from video_reasoning.tasks.cli.new_task import new_task
from video_reasoning.tasks.cli.prepare import prepare
from video_reasoning.tasks.cli.principles import principles
from video_reasoning.tasks.cli.report import report
from video_reasoning.tasks.cli.sample import sample
from video_reasoning.tasks.cli.score import score
from video_reasoning.tasks.cli.sight import sight
from video_reasoning.tasks.cli.split import split
from video_reasoning.tasks.cli.tasks_path import tasks_path
from video_reasoning.tasks.cli.view import view

app = typer.Typer(
    name="video-reasoning",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


DATA, EVALUATION, RESULTS, PEOPLE = (
    "Data",
    "Before and during an evaluation",
    "Results",
    "People's judgments",
)


class _Command(TyperCommand):
    """A command whose help is plain text: in 80 columns, tables cut the names of options."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{**settings, "rich_markup_mode": None})


def _in_plain_text(program: typer.Typer) -> None:
    for command in program.registered_commands:
        command.cls = _Command
    for group in program.registered_groups:
        if group.typer_instance:
            _in_plain_text(group.typer_instance)


def _version(asked: bool) -> None:
    if asked:
        print(f"video-reasoning {installed_version('lmms-eval-video-reasoning')}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", is_eager=True, callback=_version
        ),
    ] = False,
) -> None:
    """Prepare video reasoning benchmarks for the lmms-eval harness, and read its results."""


def _add(panel: str, command: Callable[..., None], example: str) -> None:
    """Add a command, named after its function, to a panel of `--help`."""
    app.command(epilog=f"Example: {example}", rich_help_panel=panel)(command)


# In the order of `--help`.
_add(DATA, prepare, "video-reasoning prepare tvbench --source ~/downloads/TOMATO")
_add(DATA, sample, "video-reasoning sample --out demo")
_add(
    DATA,
    split,
    "video-reasoning split --videos oops/val --transition-times transition_times.json --out clips",
)
_add(
    DATA,
    build_questions,
    "video-reasoning build-questions --annotations mine.jsonl --out release",
)
_add(DATA, new_task, "video-reasoning new-task moves --questions moves.csv --videos videos")
_add(
    DATA,
    make_pairs,
    "video-reasoning make-pairs mine.jsonl --out pairs --paraphrase llama@http://127.0.0.1:8000/v1 "
    "--blind llama@http://127.0.0.1:8000/v1",
)
_add(EVALUATION, doctor, "video-reasoning doctor")
_add(EVALUATION, clips, "video-reasoning clips --tasks tvbench_tomato_principles --workers 16")
_add(
    EVALUATION,
    tasks_path,
    'lmms-eval --include_path "$(video-reasoning tasks-path)" --tasks list',
)
_add(
    EVALUATION,
    sight,
    "video-reasoning sight --model qwen2_5_vl "
    "--model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct,max_num_frames=16",
)
audit.register(app, EVALUATION)
_add(RESULTS, report, "video-reasoning report results --out report.html")
_add(RESULTS, view, "video-reasoning view results")
_add(RESULTS, compare, "video-reasoning compare results --model qwen2_5_vl,internvl3")
_add(RESULTS, principles, "video-reasoning principles results")
_add(
    RESULTS,
    score,
    "VIDEO_REASONING_JUDGE_URL=http://localhost:8000/v1 "
    "video-reasoning score results --metric llm_match",
)
submit.register(app, RESULTS)
_add(RESULTS, check_sample, "video-reasoning check-sample demo/results")
handpick.register(app, PEOPLE)
annotate.register(app, PEOPLE)
_in_plain_text(app)
