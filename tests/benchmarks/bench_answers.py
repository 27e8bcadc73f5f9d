"""How fast responses are read, on one core, and whether all real questions are read rightly.

Run with ``python tests/benchmarks/bench_answers.py`` from the root of the repository.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import cases, lettered, none_cases, values
from tests.metrics.test_answers import FAMILIES, NO_CHOICE, REAL_QUESTIONS, real_questions
from video_reasoning.metrics.answers import extract_choice, extract_yes_no

OPTIONS = OPTION_SETS["nested directions"]


def rate(function: Callable[[str], object], responses: list[str]) -> float:
    """Responses a second of processor time, the best of five rounds."""
    best = 0.0
    for _ in range(5):
        start = time.process_time()
        for response in responses:
            function(response)
        best = max(best, len(responses) / (time.process_time() - start))
    return best


def speed() -> None:
    """Prints the rate for short responses, for reasoning, and the time for 1 MB."""
    sets = {
        name: [response for _, response, _ in cases(templates, OPTIONS)]
        for name, templates in FAMILIES.items()
    }
    sets["nothing chosen"] = [response for _, response, _ in cases(NO_CHOICE, OPTIONS)]
    sets["short"] = ["B", "B.", "(B)", "Answer: B", "The answer is B.", "B. Left.", "Left."] * 200
    for name, responses in sets.items():
        chosen = rate(lambda response: extract_choice(response, OPTIONS), responses)
        print(f"{name:16} {chosen:10,.0f} responses/s (choice)")
    print(f"{'yes or no':16} {rate(extract_yes_no, sets['short']):10,.0f} responses/s")
    prose = "A person walks across the room and sits down. " * 22_800 + "The answer is B."
    for name, text in (("1 MB of prose", prose), ("1 MB of 'A '", "A " * 524_288)):
        start = time.process_time()
        extract_choice(text, OPTIONS)
        print(f"{name:16} {time.process_time() - start:10.2f} s")


def sets() -> None:
    """Asks in every phrasing over all sets of options, where the tests take turns."""
    asked = right = 0
    for options in OPTION_SETS.values():
        for templates in FAMILIES.values():
            for _, response, letter in cases(templates, options):
                asked += 1
                right += extract_choice(response, options) == letter
    print(f"sets of options  {right:,} of {asked:,} right")
    responses = [
        (response, options)
        for options in OPTION_SETS.values()
        for _, response in none_cases(NO_CHOICE, options)
    ]
    none = sum(extract_choice(response, options) is None for response, options in responses)
    print(f"nothing chosen   {none:,} of {len(responses):,} give nothing")


def real() -> None:
    """Asks every real question in every phrasing."""
    if not REAL_QUESTIONS.is_dir():
        print("the annotation files of TOMATO are not here: real questions left out")
        return
    templates = [template for family in FAMILIES.values() for template in family]
    asked = right = 0
    start = time.process_time()
    for place, (options, letter) in enumerate(real_questions()):
        letters = list(lettered(options))
        other = (letters.index(letter) + 1 + place % (len(letters) - 1)) % len(letters)
        filling = values(options, letter, letters[other])
        for template in templates:
            asked += 1
            right += extract_choice(template.format(**filling), options) == letter
    seconds = time.process_time() - start
    print(f"real questions   {right:,} of {asked:,} right, {asked / seconds:,.0f} responses/s")


if __name__ == "__main__":
    speed()
    sets()
    real()
