"""The sample benchmark: drawn videos and questions with known answers."""

from video_reasoning.tasks.sample.release import write_releases

__all__ = ["write_releases"]
