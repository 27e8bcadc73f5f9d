"""What a model really sees: the frames that reach it, counted for each question of a run."""

from video_reasoning.tasks.sight.watch import (
    Sight,
    asked,
    note,
    remember,
    sight_of,
    silent,
    watching,
)

__all__ = ["Sight", "asked", "note", "remember", "sight_of", "silent", "watching"]
