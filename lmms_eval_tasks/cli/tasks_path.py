"""``video-reasoning tasks-path``: the folder of our tasks."""

from __future__ import annotations

import typer

from video_reasoning.tasks import registry


def register(app: typer.Typer) -> None:
    """Add ``tasks-path``."""
    app.command(
        name="tasks-path",
        epilog='Example: lmms-eval --include_path "$(video-reasoning tasks-path)" --tasks list',
    )(_tasks_path)


def _tasks_path() -> None:
    """Print the folder of our tasks, for --include_path of any harness install."""
    print(registry.tasks_path())
