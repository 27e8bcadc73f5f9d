"""From what a model prints to the option it chose, by rules and without a guess."""

from video_reasoning.metrics.answers.extract import (
    extract_choice,
    extract_yes_no,
    parse_choice,
    parse_yes_no,
)
from video_reasoning.metrics.answers.reply import Answer

__all__ = ["Answer", "extract_choice", "extract_yes_no", "parse_choice", "parse_yes_no"]
