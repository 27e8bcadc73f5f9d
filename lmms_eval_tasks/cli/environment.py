"""The environment variables that are read, in one table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from video_reasoning.tasks.errors import did_you_mean

__all__ = ["PREFIX", "VARIABLES", "Variable", "is_set", "unknown"]

PREFIX = "VIDEO_REASONING_"


@dataclass(frozen=True)
class Variable:
    """An environment variable.

    Attributes:
        name: Without the prefix.
        meaning: What it sets, as a sentence without its period.
        default: What holds if it is not set.
        secret: Whether its value must not be printed.
    """

    name: str
    meaning: str
    default: str
    secret: bool = False


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "HOME",
        "The store's folder, with the prepared benchmarks",
        "`video-reasoning/store` in the platform's cache folder",
    ),
    Variable(
        "FRAMES_AS",
        "How the frames of a condition are handed to the model: `clip`, `images` or `frames`",
        "what is known to be exact for the model's class",
    ),
    Variable(
        "CLOCK",
        "The times of a clip's frames: `source` (those of the video) or `second` (one a second)",
        "`source`, unless the model's class needs the other",
    ),
    Variable(
        "AHEAD",
        "How many clips to make ahead of the model, in processes of their own; 0 for none",
        "32",
    ),
    Variable("SIGHT", "`off`: the frames that reach the model are not counted", "they are counted"),
    Variable(
        "MAX_FAILED",
        "Share of failed items, 0 to 1, above which an evaluation ends with exit code 1",
        "0.05",
    ),
    Variable(
        "FRESH",
        "Not empty: forget the responses of an evaluation that was killed, as `--fresh`",
        "they are used",
    ),
    Variable(
        "PARTIAL",
        "Not empty: evaluate only what has been answered so far, as `--partial`",
        "everything is asked",
    ),
    Variable(
        "CAUSALVQA_REPOSITORY",
        "A checkout of CausalVQA's repository, whose prompt is then used",
        "a prompt in our own words",
    ),
    Variable(
        "EXTRACTOR_URL",
        "Address of an OpenAI-compatible server whose model reads the responses in which the "
        "rules find no option",
        "no model is asked",
    ),
    Variable("EXTRACTOR_MODEL", "The name of that model", "`gpt-4o-mini`, the paper's"),
    Variable("EXTRACTOR_API_KEY", "The key of that server", "none", secret=True),
    Variable(
        "CLIP_MODEL",
        "The model of the CLIP score: a name on the Hub or a folder",
        "`openai/clip-vit-large-patch14`",
    ),
    Variable("JUDGE_MODEL", "The judge of LLM-Match, a transformers model", "no LLM-Match"),
    Variable("JUDGE_URL", "Address of an OpenAI-compatible server that has the judge", "none"),
    Variable("JUDGE_NAME", "The judge's name on that server", "the judge above, else the paper's"),
    Variable("JUDGE_API_KEY", "The key of that server", "none", secret=True),
    Variable("JUDGE_TEMPERATURE", "Temperature of the judge (the paper's is 0.4)", "0"),
    Variable("JUDGE_PROMPT", "Layout of the judge's prompt: `paper` or `released`", "`paper`"),
    Variable(
        "CHAT_API_KEY",
        "The key of the servers that `make-pairs` asks",
        "none",
        secret=True,
    ),
)
"""All of them, in the order of the documentation."""


def is_set(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that are set, with their values; secret ones as ``(set)``."""
    return {
        f"{PREFIX}{each.name}": "(set)" if each.secret else environment[f"{PREFIX}{each.name}"]
        for each in VARIABLES
        if environment.get(f"{PREFIX}{each.name}")
    }


def unknown(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Say which names begin as ours do although nothing reads them, a sentence each."""
    known = {f"{PREFIX}{each.name}" for each in VARIABLES}
    return [
        f"{name} is set, but nothing reads it{did_you_mean(name, known)}"
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in known
    ]
