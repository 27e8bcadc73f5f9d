"""Metrics: answers in, numbers out.

Names are imported when first used, so that reading answers needs no NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_reasoning.metrics.answers import (
        Answer,
        extract_choice,
        extract_yes_no,
        parse_choice,
        parse_yes_no,
    )
    from video_reasoning.metrics.generation import bleu, rouge_l
    from video_reasoning.metrics.intervals import (
        Estimate,
        accuracy_interval,
        difference_interval,
        gain_interval,
        mcnemar,
        principles_intervals,
    )
    from video_reasoning.metrics.paired import consistency, paired_accuracy, unpaired_accuracy
    from video_reasoning.metrics.principles import (
        evaluate_principles,
        frame_information_disparity,
        frame_order_sensitivity,
        multi_frame_gain,
    )

__all__ = [
    "Answer",
    "Estimate",
    "accuracy_interval",
    "bleu",
    "consistency",
    "difference_interval",
    "evaluate_principles",
    "extract_choice",
    "extract_yes_no",
    "frame_information_disparity",
    "frame_order_sensitivity",
    "gain_interval",
    "mcnemar",
    "multi_frame_gain",
    "paired_accuracy",
    "parse_choice",
    "parse_yes_no",
    "principles_intervals",
    "rouge_l",
    "unpaired_accuracy",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        for room in ("answers", "paired", "principles", "intervals", "generation"):
            module = import_module(f"{__name__}.{room}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
