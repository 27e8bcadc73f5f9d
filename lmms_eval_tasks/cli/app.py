"""The command ``video-reasoning``: everything that is not an evaluation."""

from __future__ import annotations

import typer

from video_reasoning.tasks.cli import (
    audit,
    build_questions,
    check_sample,
    compare,
    doctor,
    handpick,
    prepare,
    principles,
    report,
    sample,
    score,
    split,
    submit,
    tasks_path,
)

app = typer.Typer(
    name="video-reasoning",
    help="Prepare video reasoning benchmarks for the lmms-eval harness, and read its results.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

# In the order of `--help`.
for _command in (
    prepare,
    sample,
    check_sample,
    doctor,
    tasks_path,
    report,
    audit,
    compare,
    principles,
    score,
    submit,
    split,
    handpick,
    build_questions,
):
    _command.register(app)
