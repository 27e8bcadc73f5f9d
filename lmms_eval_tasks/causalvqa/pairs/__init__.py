"""From multiple-choice questions to pairs, as CausalVQA's were made (sections 2.2.5 to 2.2.8)."""

from video_reasoning.tasks.causalvqa.pairs.make import Plan, make_pairs
from video_reasoning.tasks.release.questions import QuestionsError

__all__ = ["Plan", "QuestionsError", "make_pairs"]
