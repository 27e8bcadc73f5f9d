"""``video-reasoning tasks-path``: the folder of our tasks."""

from __future__ import annotations

from video_reasoning.tasks import registry


def tasks_path() -> None:
    """Print the folder of our tasks, for --include_path of any harness install."""
    print(registry.tasks_path())
