"""The command ``video-reasoning``: everything that is not an evaluation."""

from __future__ import annotations

from collections.abc import Callable

import typer

from video_reasoning.tasks.cli import annotate, audit, submit
from video_reasoning.tasks.cli.build_questions import build_questions
from video_reasoning.tasks.cli.check_sample import check_sample
from video_reasoning.tasks.cli.compare import compare
from video_reasoning.tasks.cli.doctor import doctor
from video_reasoning.tasks.cli.handpick import handpick
from video_reasoning.tasks.cli.prepare import prepare
from video_reasoning.tasks.cli.principles import principles
from video_reasoning.tasks.cli.report import report
from video_reasoning.tasks.cli.sample import sample
from video_reasoning.tasks.cli.score import score
from video_reasoning.tasks.cli.split import split
from video_reasoning.tasks.cli.tasks_path import tasks_path

app = typer.Typer(
    name="video-reasoning",
    help="Prepare video reasoning benchmarks for the lmms-eval harness, and read its results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _add(command: Callable[..., None], example: str) -> None:
    """Add a command, named after its function."""
    app.command(epilog=f"Example: {example}")(command)


# In the order of `--help`.
_add(prepare, "video-reasoning prepare tvbench --source ~/downloads/TOMATO")
_add(sample, "video-reasoning sample --out demo")
_add(check_sample, "video-reasoning check-sample demo/results")
_add(doctor, "video-reasoning doctor")
_add(tasks_path, 'lmms-eval --include_path "$(video-reasoning tasks-path)" --tasks list')
_add(report, "video-reasoning report results --out report.html")
audit.register(app)
_add(compare, "video-reasoning compare results/one results/other")
_add(principles, "video-reasoning principles results")
_add(
    score,
    "VIDEO_REASONING_JUDGE_URL=http://localhost:8000/v1 "
    "video-reasoning score results --metric llm_match",
)
submit.register(app)
_add(
    split,
    "video-reasoning split --videos oops/val --transition-times transition_times.json --out clips",
)
_add(
    handpick,
    "video-reasoning handpick --benchmark tvbench --out picks.jsonl --annotator ana "
    "--sample 200 --seed 0\n\n"
    "Then: video-reasoning handpick --benchmark tvbench --out picks.jsonl --install",
)
annotate.register(app)
_add(build_questions, "video-reasoning build-questions --annotations mine.jsonl --out release")
