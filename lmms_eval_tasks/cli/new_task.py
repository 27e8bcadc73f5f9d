"""``video-reasoning new-task``: a task of the harness from a table of questions."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.progress import print_some, write


def new_task(
    folder: Annotated[Path, typer.Argument(help="Folder to write the task to.")],
    questions: Annotated[
        Path, typer.Option(help="Table of questions: .csv, .jsonl, .json or .parquet.")
    ],
    videos: Annotated[
        Path | None,
        typer.Option(help="Folder that the videos' names are relative to; default: the table's."),
    ] = None,
    name: Annotated[
        str, typer.Option(help="The task's name in the harness; default: the folder's.")
    ] = "",
    columns: Annotated[
        str,
        typer.Option(
            help="Columns that are not found by their names, e.g. question=text,answer=label or "
            "options=A+B+C+D (a column each)."
        ),
    ] = "",
    count_from: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Whether numbers of answers count from 0 or from 1."),
    ] = None,
    leave_out: Annotated[
        bool,
        typer.Option("--leave-out", help="Leave out rows that are not questions or lack a video."),
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the files of a task that is there.")
    ] = False,
) -> None:
    """Make a task of the harness from a table with videos, questions, options and answers.

    Writes a YAML, its functions and the questions. `lmms_eval --include_path FOLDER --tasks NAME`
    runs the task, and `video-reasoning audit` audits it.
    """
    from video_reasoning.tasks import registry
    from video_reasoning.tasks.release.new_task import NewTaskError, plan_task
    from video_reasoning.tasks.release.questions import parse_columns

    folder, questions = folder.expanduser(), questions.expanduser()
    task = plan_task(
        folder,
        questions,
        videos.expanduser() if videos else questions.parent,
        name or folder.resolve().name,
        named=parse_columns(columns),
        count_from=count_from,
        leave_out=leave_out,
    )
    if (taken := [each for each in task.files if (folder / each).exists()]) and not overwrite:
        raise NewTaskError(
            f"{folder} already has {', '.join(taken)}; give --overwrite to replace what is there."
        )
    if task.name in registry.our_tasks() or _in_harness(task.name):
        raise NewTaskError(
            f"There is a task {task.name} already, which the harness would run instead; give "
            "another --name."
        )
    for each, text in task.files.items():
        write(folder / each, text)
    print(f"{task.questions:,} questions about {task.videos:,} videos.")
    sentences = [f"{where}: {reason}" for where, reason in task.left_out]
    print_some(f"{len(sentences):,} left out", sentences, most=len(sentences))
    print(f"Check it: video-reasoning audit --tasks {task.name} --include_path {folder} --check")


def _in_harness(name: str) -> bool:
    """Whether a YAML of the harness has a task, group or tag of this name; reads its files alone.

    The harness's own index takes half a minute on a slow disk.
    """
    spec = find_spec("lmms_eval")
    found = re.compile(rf"^(task|group|tag): *[\"']?{re.escape(name)}[\"']? *(#.*)?$", re.MULTILINE)
    return any(
        found.search(path.read_text(encoding="utf-8", errors="replace"))
        for folder in (spec.submodule_search_locations if spec else None) or ()
        for path in Path(folder, "tasks").rglob("*.y*ml")
    )
