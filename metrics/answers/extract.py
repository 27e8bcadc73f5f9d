"""From what a model prints to the option it chose.

The layers, in order:

1. characters are unified (full-width letters, typographic quotes, LaTeX and HTML styling);
2. marked reasoning (``<think>`` ... ``</think>``) is taken off;
3. every place that names an option is found, and those that deny it ("not B"), leave it open
   ("whether it is B") or only list the options are set aside;
4. rules are asked in order, and the first that decides wins.

What is never done: a letter is not taken from the article "A" or the pronoun "I", there is no
default, and no option is picked at random. A final statement wins over everything
before it. No language model is needed. Time is linear in the length of the response.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from video_reasoning.metrics.answers.choice import choose
from video_reasoning.metrics.answers.options import compile_options
from video_reasoning.metrics.answers.reply import Answer, answer_of
from video_reasoning.metrics.answers.text import normalize
from video_reasoning.metrics.answers.yes_no import choose_yes_no

__all__ = ["Answer", "extract_choice", "extract_yes_no", "parse_choice", "parse_yes_no"]


def extract_choice(response: str, options: Mapping[str, str] | Sequence[str]) -> str | None:
    """Return the letter of the option that a response chooses.

    Args:
        response: What the model printed.
        options: Letter -> text, or the texts alone (letters from A on).

    Returns:
        A key of ``options`` (a capital letter for a sequence), or None if the response does not
        choose one.

    Raises:
        ValueError: There are more than 26 options, or a key is not a single letter.

    Example:
        >>> extract_choice("A person moves, so the answer is (C).", ["Up.", "Left.", "Down."])
        'C'
        >>> extract_choice("I do not know.", ["Up.", "Left.", "Down."]) is None
        True
    """
    return parse_choice(response, options).value


def extract_yes_no(response: str) -> str | None:
    """Return "yes" or "no"; None if a response says neither, or both.

    Example:
        >>> extract_yes_no("No, his eyes are closed.")
        'no'
        >>> extract_yes_no("Not sure.") is None
        True
    """
    return parse_yes_no(response).value


def parse_choice(response: str, options: Mapping[str, str] | Sequence[str]) -> Answer:
    """Choose as `extract_choice` does, and name the rule that decided (docs/metrics.md).

    Raises:
        ValueError: There are more than 26 options, or a key is not a single letter.
    """
    compiled = compile_options(options)
    text = normalize(response) if response else ""
    if not text:
        return Answer(None, "empty")
    outcome = choose(text, compiled)
    if outcome.value is None:
        return outcome
    return answer_of(compiled.keys[outcome.value], outcome.rule)


def parse_yes_no(response: str) -> Answer:
    """Decide as `extract_yes_no` does, and name the rule that decided."""
    text = normalize(response) if response else ""
    return choose_yes_no(text) if text else Answer(None, "empty")
