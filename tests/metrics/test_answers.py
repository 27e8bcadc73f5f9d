"""Every way of printing an answer gives its letter, and nothing else gives one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.metrics import phrasings
from tests.metrics.hard_cases import HARD, YES_NO
from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import cases, lettered, none_cases, values
from video_reasoning.metrics.answers import (
    Answer,
    extract_choice,
    extract_yes_no,
    parse_choice,
    parse_yes_no,
)

FAMILIES = {
    "letter": phrasings.LETTER,
    "letter and text": phrasings.LETTER_AND_TEXT,
    "text": phrasings.TEXT,
    "other languages": phrasings.OTHER_LANGUAGES,
}
REAL_QUESTIONS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "tomato"


@pytest.mark.parametrize("options_name", OPTION_SETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_perfect_model_is_right_in_every_phrasing(family: str, options_name: str) -> None:
    options = OPTION_SETS[options_name]
    wrong = [
        (response, letter, parse_choice(response, options))
        for _, response, letter in cases(FAMILIES[family], options)
        if extract_choice(response, options) != letter
    ]
    assert not wrong


@pytest.mark.parametrize("options_name", OPTION_SETS)
def test_a_response_that_chooses_nothing_gives_nothing(options_name: str) -> None:
    options = OPTION_SETS[options_name]
    wrong = [
        (response, parse_choice(response, options))
        for _, response in none_cases(phrasings.NO_CHOICE, options)
        if extract_choice(response, options) is not None
    ]
    assert not wrong


@pytest.mark.parametrize(("response", "options", "expected"), HARD)
def test_hard_cases(response: str, options: str | list[str], expected: str | None) -> None:
    known = OPTION_SETS[options] if isinstance(options, str) else options
    answer = parse_choice(response, known)
    assert answer.value == expected, answer
    assert answer.rule


@pytest.mark.skipif(not REAL_QUESTIONS.is_dir(), reason="the TOMATO questions are not here")
def test_every_real_question_in_every_phrasing() -> None:
    """All 1,484 questions, each in a quarter of the phrasings, so that all meet all tasks."""
    templates = [template for family in FAMILIES.values() for template in family]
    wrong: Counter[str] = Counter()
    examples: dict[str, object] = {}
    asked = 0
    for path in sorted(REAL_QUESTIONS.glob("*.json")):
        for question in json.loads(path.read_text(encoding="utf-8")).values():
            options = [str(option) for option in question["options"]]
            letters = list(lettered(options))
            letter = letters[question["answer"]]
            other = letters[(question["answer"] + 1 + asked % (len(letters) - 1)) % len(letters)]
            filling = values(options, letter, other)
            asked += 1
            for template in templates[asked % 4 :: 4]:
                response = template.format(**filling)
                answer = parse_choice(response, options)
                if answer.value != letter:
                    wrong[template] += 1
                    examples[template] = (response, options, letter, answer)
    assert asked == 1484
    assert not wrong, examples


@pytest.mark.parametrize(("response", "expected"), YES_NO)
def test_yes_or_no(response: str, expected: str | None) -> None:
    answer = parse_yes_no(response)
    assert answer.value == expected, answer
    assert extract_yes_no(response) == expected
