"""Every way of printing an answer gives its letter, and nothing else gives one."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.metrics import phrasings, rule_table
from tests.metrics.hard_cases import HARD, YES_NO
from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import cases, lettered, none_cases, pairs, values
from video_reasoning.metrics.answers import (
    Answer,
    extract_choice,
    extract_yes_no,
    parse_choice,
    parse_yes_no,
)
from video_reasoning.metrics.answers import text as answer_text
from video_reasoning.metrics.answers.text import without_repeats

FAMILIES = {
    "letter": phrasings.LETTER,
    "letter and text": phrasings.LETTER_AND_TEXT,
    "text": phrasings.TEXT,
    "other languages": phrasings.OTHER_LANGUAGES,
    "more letters": phrasings.MORE_LETTERS,
}
NO_CHOICE = phrasings.NO_CHOICE + phrasings.MORE_NO_CHOICE
REAL_QUESTIONS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "tomato"


def by_turns(templates: list[str], options_name: str, turns: int) -> list[str]:
    """Every ``turns``-th template, others for the next options, so that each meets many."""
    return templates[list(OPTION_SETS).index(options_name) % turns :: turns]


@pytest.mark.parametrize("options_name", OPTION_SETS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_perfect_model_is_right_in_every_phrasing(family: str, options_name: str) -> None:
    options = OPTION_SETS[options_name]
    wrong = [
        (response, letter, parse_choice(response, options))
        for _, response, letter in cases(by_turns(FAMILIES[family], options_name, 3), options)
        if extract_choice(response, options) != letter
    ]
    assert not wrong


@pytest.mark.parametrize("options_name", OPTION_SETS)
def test_a_response_that_chooses_nothing_gives_nothing(options_name: str) -> None:
    options = OPTION_SETS[options_name]
    wrong = [
        (response, parse_choice(response, options))
        for _, response in none_cases(by_turns(NO_CHOICE, options_name, 3), options)
        if extract_choice(response, options) is not None
    ]
    assert not wrong


@pytest.mark.parametrize(("response", "options", "expected"), HARD)
def test_hard_cases(response: str, options: str | list[str], expected: str | None) -> None:
    known = OPTION_SETS[options] if isinstance(options, str) else options
    answer = parse_choice(response, known)
    assert answer.value == expected, answer
    assert answer.rule


@pytest.mark.parametrize("options_name", OPTION_SETS)
def test_reasoning_does_not_hide_the_conclusion(options_name: str) -> None:
    options = OPTION_SETS[options_name]
    conclusions_by_turns = by_turns(phrasings.CONCLUSION, options_name, 4)
    wrong = []
    for letter, other in pairs(options):
        filling = values(options, letter, other)
        for first, second in (
            *((a, b) for a in phrasings.REASONING for b in conclusions_by_turns),
            *((a, b) for a in phrasings.OPENING for b in phrasings.EXPLANATION),
        ):
            response = (first + second).format(**filling)
            if extract_choice(response, options) != letter:
                wrong.append((response, letter, parse_choice(response, options)))
    assert not wrong


def real_questions() -> Iterator[tuple[list[str], str]]:
    """Options and right letter of the 1,484 questions of TOMATO."""
    for path in sorted(REAL_QUESTIONS.glob("*.json")):
        for question in json.loads(path.read_text(encoding="utf-8")).values():
            options = [str(option) for option in question["options"]]
            yield options, list(lettered(options))[question["answer"]]


def check_real_questions(step: int) -> int:
    """Asks every question in every ``step``-th phrasing; returns how many questions there are."""
    templates = [template for family in FAMILIES.values() for template in family]
    wrong: Counter[str] = Counter()
    examples: dict[str, object] = {}
    asked = 0
    for options, letter in real_questions():
        letters = list(lettered(options))
        place = letters.index(letter) + 1 + asked % (len(letters) - 1)
        filling = values(options, letter, letters[place % len(letters)])
        asked += 1
        for template in templates[asked % step :: step]:
            response = template.format(**filling)
            answer = parse_choice(response, options)
            if answer.value != letter:
                wrong[template] += 1
                examples[template] = (response, options, letter, answer)
    assert not wrong, examples
    return asked


needs_real_questions = pytest.mark.skipif(
    not REAL_QUESTIONS.is_dir(), reason="the annotation files of TOMATO are not here"
)


@needs_real_questions
def test_real_questions_in_phrasings_by_turns() -> None:
    assert check_real_questions(step=16) == 1484


@needs_real_questions
def test_no_two_options_of_a_real_question_have_the_same_text() -> None:
    """So the option's text alone always names one option."""
    for options, _ in real_questions():
        assert len({option.strip(" .").lower() for option in options}) == len(options)


@pytest.mark.parametrize(("response", "expected"), YES_NO)
def test_yes_or_no(response: str, expected: str | None) -> None:
    answer = parse_yes_no(response)
    assert answer.value == expected, answer
    assert extract_yes_no(response) == expected


@pytest.mark.parametrize(("word", "other"), [("Yes", "No"), ("No", "Yes")])
def test_yes_and_no_in_every_phrasing(word: str, other: str) -> None:
    filling = {"Y": word, "y": word.lower(), "O": other, "o": other.lower()}
    responses = [template.format(**filling) for template in phrasings.YES_OR_NO]
    wrong = [(r, parse_yes_no(r)) for r in responses if extract_yes_no(r) != word.lower()]
    assert not wrong


def test_a_refusal_is_neither_yes_nor_no() -> None:
    refusals = [template for template in phrasings.NO_CHOICE if "{" not in template]
    assert len(refusals) > 100
    assert [(r, parse_yes_no(r)) for r in refusals if extract_yes_no(r) is not None] == []


# --- What holds for any text --------------------------------------------------------------------

DIRECTIONS = OPTION_SETS["nested directions"]
PIECES = [
    *("A", "B", "C", "E", "F", "I", "a", "(A)", "(B)", "B.", "C)", "D:", "**C**", "'B'", "A:"),
    *("left", "right", "Left.", "first to the left then to the right", "not moving at all"),
    *("not", "no", "never", "or", "and", "but", "so", "if", "whether", "because", "neither", "nor"),
    *(",", ".", "?", "!", ":", ";", "-", "(", ")", "[", "*", "**", '"', "'", "\n", "\n\n", "\\"),
    *("the answer is", "answer:", "I choose", "option", "options", "the correct option is"),
    *(
        "is correct",
        "is wrong",
        "is not correct",
        "I cannot tell",
        "none of the above",
        "I'm sorry",
    ),
    *("a person", "the", "Final answer:", "1.", "2", "frame 3", "then", "would be", "actually"),
    *(
        "yes",
        "No",
        "which",
        "it is",
        "rather than",
        "between",
        "either",
        "A. Left.",
        "答案",
        "不是",
    ),
]
soup = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
texts = st.text(max_size=60) | soup
conclusions = st.sampled_from(
    (
        *("\nAnswer: {}", "\nAnswer: {}.", "\n\nThe answer is {}.", "\nThe answer is ({})."),
        *("\n\n**Answer: {}**", "\nFinal answer: {}", "\n<answer>{}</answer>", "\n\\boxed{{{}}}"),
        *("\n\nI choose {}.", "\n\n{} is the correct answer.", "\n\nThe correct option is {}."),
    )
)
calm = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@calm
@given(texts, st.lists(texts, max_size=8))
def test_any_text_gives_an_option_or_nothing(response: str, options: list[str]) -> None:
    answer = parse_choice(response, options)
    assert answer.value is None or answer.value in lettered(options)
    assert answer.rule


@calm
@given(texts, st.dictionaries(st.sampled_from("ABCDEFGHXYZ"), texts, max_size=6))
def test_the_letters_of_a_mapping_are_kept(response: str, options: dict[str, str]) -> None:
    assert extract_choice(response, MappingProxyType(options)) in (None, *options)
    small = {letter.lower(): text for letter, text in options.items()}
    answer = extract_choice(response, options)
    assert extract_choice(response, small) == (answer and answer.lower())


@calm
@given(soup, conclusions, st.sampled_from("ABCDE"))
def test_what_is_stated_last_wins(before: str, conclusion: str, letter: str) -> None:
    assert extract_choice(before + conclusion.format(letter), DIRECTIONS) == letter


@calm
@given(texts, st.text(" \n\t", max_size=5), st.text(" \n\t", max_size=5))
def test_white_space_around_changes_nothing(response: str, before: str, after: str) -> None:
    assert parse_choice(before + response + after, DIRECTIONS) == parse_choice(response, DIRECTIONS)
    assert parse_yes_no(before + response + after) == parse_yes_no(response)


@calm
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES)).map(" ".join))
def test_any_text_is_yes_or_no_or_neither(response: str) -> None:
    assert extract_yes_no(response) in ("yes", "no", None)


@calm
@given(soup, st.sampled_from(("yes", "no")))
def test_yes_or_no_stated_last_wins(before: str, word: str) -> None:
    assert extract_yes_no(f"{before}\nThe answer is {word}.") == word


@calm
@given(st.lists(st.sampled_from(("I cannot tell.", "Not sure.", "I'm sorry.", "A person.", "…"))))
def test_refusals_do_not_add_up_to_a_choice(sentences: list[str]) -> None:
    assert extract_choice(" ".join(sentences), DIRECTIONS) is None


def test_the_rule_says_why_nothing_was_found() -> None:
    assert parse_choice("", DIRECTIONS) == Answer(None, "empty")
    assert parse_choice("I cannot tell.", DIRECTIONS).rule == "refusal"
    assert parse_choice("A or B", DIRECTIONS).rule == "ambiguous"
    assert parse_choice("Answer: H", DIRECTIONS).rule == "not an option"
    assert parse_choice("<think>The answer is A", DIRECTIONS).rule == "unfinished"
    assert parse_choice("The ball is blue.", DIRECTIONS).rule == "none"


def test_the_page_lists_the_rules_as_the_code_has_them() -> None:
    assert rule_table.printed() == rule_table.rendered(), "run python -m tests.metrics.rule_table"


def test_two_options_with_one_text_need_the_letter() -> None:
    assert parse_choice("Left.", ["Left", "left.", "Right"]) == Answer(None, "ambiguous")
    assert extract_choice("B. Left", ["Left", "left.", "Right"]) == "B"


def test_keys_must_be_letters() -> None:
    with pytest.raises(ValueError, match="one letter A to Z, not '1'"):
        extract_choice("1", {"1": "left"})
    with pytest.raises(ValueError, match="27 options"):
        extract_choice("A", [str(number) for number in range(27)])
    with pytest.raises(ValueError, match="not distinct"):
        extract_choice("A", {"a": "left", "A": "right"})


# --- Time ---------------------------------------------------------------------------------------

LONG = [
    *("A ", "A", "(", "(A) ", "answer is ", "answer: A. ", "the answer is the ", "\\", "\\boxed{"),
    *("<answer>", "<think>", "</think>", "left ", "left, ", "A. Left. ", "A, B, ", "A or ", "not "),
    *(
        "if ",
        "whether ",
        "I cannot tell whether ",
        "\n",
        "A\n",
        "** ",
        "'",
        '"answer": "',
        "{",
        " ",
    ),
    *("\\text{", "<b>", "1 ", "1. he\n", "one ", "so B ", "it is ", "therefore ", "yes ", "no "),
    *("hypothesis is not ", "A man slips ", "first to the left ", "Question: x\n", "ASSISTANT: "),
    *(
        "A? ",
        "A\n",
        "A and B are wrong ",
        "so he goes left and right. ",
        "holds 'B'",
        "<b> A ",
        "$A",
    ),
    *("A: ", "?", "答案是", "是", "B是", "is correct ", "A is ", "Option A ", "first option ", "é"),
]


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


@pytest.mark.parametrize("piece", LONG)
def test_time_is_linear_in_the_length(piece: str) -> None:
    """Eight times the text may take twenty times as long, where a square would take 64."""
    options = OPTION_SETS["sentences"]

    def read(length: int) -> float:
        text = piece * (length // len(piece))
        return seconds(lambda: (parse_choice(text, options), parse_yes_no(text)))

    read(500)
    short = max(min(read(5_000) for _ in range(3)), 2e-4)
    assert min(read(40_000) for _ in range(2)) < 20 * short


@pytest.mark.parametrize("unit", ["A ", "(A) (B) ", "left, ", "not A. ", "x", "The answer is B. "])
def test_what_is_repeated_without_end_is_read_once(unit: str) -> None:
    count = (1 << 20) // len(unit)
    middle = "Wait: no. "
    short = without_repeats(f"So: {unit * count}{middle}{unit * count}It is C.")
    assert len(short) < 300_000 + 3 * len(unit) + len(middle) + 20
    # What is left out is a number of whole units.
    before, after = short.removeprefix("So: ").removesuffix("It is C.").split(middle)
    assert before == unit * (len(before) // len(unit))
    assert after == unit * (len(after) // len(unit))


def test_what_is_not_repeated_is_read_whole() -> None:
    numbers = "".join(f"{number} " for number in range(60_000))
    assert without_repeats(numbers) == numbers
    once = "A " * 100_000
    assert without_repeats(once) == once
    assert without_repeats(once + numbers) == once + numbers
    assert without_repeats(once + once + numbers) == "A " * 50_000 + numbers


@pytest.mark.parametrize(
    ("head", "unit", "tail"),
    [
        ("", "A ", ""),
        ("The answer is C. ", "left, ", ""),
        ("", "(A) (B) ", "So it is D."),
        ("<think>", "The answer is B. ", "</think> C"),
    ],
)
def test_repeats_do_not_change_an_answer(
    head: str, unit: str, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = head + unit * (201_000 // len(unit)) + tail
    found = parse_choice(response, DIRECTIONS), parse_yes_no(response)
    monkeypatch.setattr(answer_text, "without_repeats", lambda text: text)
    assert (parse_choice(response, DIRECTIONS), parse_yes_no(response)) == found


def test_a_statement_in_very_long_text_is_found() -> None:
    filler = "A person walks across the room. " * 3_500
    assert extract_choice(filler + "The answer is C.", DIRECTIONS) == "C"
    assert extract_choice("The answer is C. " + filler, DIRECTIONS) == "C"
    assert extract_choice(filler + "The answer is C. " + filler, DIRECTIONS) == "C"
    assert extract_choice(filler, DIRECTIONS) is None
    assert extract_yes_no(filler + "The answer is no.") == "no"
