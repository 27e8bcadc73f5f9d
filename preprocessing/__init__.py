"""Videos in, clips out: sampling, frame conditions, joining and splitting."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_reasoning.preprocessing.clips import Clip, clip_for, make_conditions
    from video_reasoning.preprocessing.conditions import Condition, condition_indices
    from video_reasoning.preprocessing.frames import read_frames
    from video_reasoning.preprocessing.joining import join_parts
    from video_reasoning.preprocessing.sampling import random_index, shuffled_order, uniform_indices
    from video_reasoning.preprocessing.split import split_folder, split_points, split_video
    from video_reasoning.preprocessing.video import VideoError, check, verify

__all__ = [
    "Clip",
    "Condition",
    "VideoError",
    "check",
    "clip_for",
    "condition_indices",
    "join_parts",
    "make_conditions",
    "random_index",
    "read_frames",
    "shuffled_order",
    "split_folder",
    "split_points",
    "split_video",
    "uniform_indices",
    "verify",
]

# From the lightest to the heaviest.
_MODULES = ("sampling", "conditions", "video", "frames", "clips", "joining", "split")


def __getattr__(name: str) -> Any:
    # Loaded on demand: `files` and `sampling` are used where libav must not be loaded.
    if name in __all__:
        for module in _MODULES:
            found = getattr(import_module(f"{__name__}.{module}"), name, None)
            if found is not None:
                return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
