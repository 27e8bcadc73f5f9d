"""Harness models that need no weights: sample_observer, random_choice, frequent_choice."""

from video_reasoning.tasks.models.manifests import manifests

__all__ = ["manifests"]
