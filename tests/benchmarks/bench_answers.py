"""How fast responses are read, on one core, and whether all real questions are read rightly.

Run: python -m tests.benchmarks.bench_answers [--share 4]

Every phrasing of the tests is read with every letter of one set of options; the best of five rounds
counts. Then every phrasing with all sets of options, and with TVBench's real questions where the
authors' annotation files are at hand: each question in every fourth phrasing, by turns.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from tests.benchmarks.figures import figure, machine, peak_memory
from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import cases, lettered, none_cases, values
from tests.metrics.test_answers import FAMILIES, NO_CHOICE, REAL_QUESTIONS, real_questions
from video_reasoning.metrics.answers import extract_choice, extract_yes_no

OPTIONS = OPTION_SETS["nested directions"]
AIM = 20_000
"""Responses a second on one core."""

LONG = {
    "prose": ("A person walks across the room and sits down. ", "The answer is B."),
    "'A A A ...'": ("A ", ""),
    "'(A) (B) ...'": ("(A) (B) ", ""),
    "'left, left, ...'": ("left, ", ""),
    "'not A. not A. ...'": ("not A. ", ""),
    "open brackets": ("([{<", ""),
}
MEGABYTE = 1 << 20


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
    """Prints the rate for each kind of response, and the time for a megabyte of some."""
    sets = {
        name: [response for _, response, _ in cases(templates, OPTIONS)]
        for name, templates in FAMILIES.items()
    }
    sets["nothing chosen"] = [response for _, response, _ in cases(NO_CHOICE, OPTIONS)]
    sets["short"] = ["B", "B.", "(B)", "Answer: B", "The answer is B.", "B. Left.", "Left."] * 200
    for name, responses in sets.items():
        chosen = rate(lambda response: extract_choice(response, OPTIONS), responses)
        figure(f"choice: {name}", chosen, "responses/s", least=AIM)
    said = rate(extract_yes_no, sets["short"] + sets["nothing chosen"])
    figure("yes or no: short ones, and nothing said", said, "responses/s", least=AIM)
    for name, (piece, end) in LONG.items():
        seconds = []
        for length in (MEGABYTE // 8, MEGABYTE):
            text = piece * (length // len(piece)) + end
            start = time.process_time()
            extract_choice(text, OPTIONS)
            seconds.append(time.process_time() - start)
        growth = seconds[1] / seconds[0]
        figure(f"1 MB of {name}", seconds[1], f"s, {growth:.1f} times an eighth's", most=2)


def sets() -> None:
    """Asks in every phrasing over all sets of options, where the tests take turns."""
    asked = right = 0
    for options in OPTION_SETS.values():
        for templates in FAMILIES.values():
            for _, response, letter in cases(templates, options):
                asked += 1
                right += extract_choice(response, options) == letter
    figure(f"all sets of options: right of {asked:,}", right, "responses", least=asked)
    responses = [
        (response, options)
        for options in OPTION_SETS.values()
        for _, response in none_cases(NO_CHOICE, options)
    ]
    none = sum(extract_choice(response, options) is None for response, options in responses)
    figure(f"nothing chosen: None of {len(responses):,}", none, "responses", least=len(responses))


def real(share: int) -> None:
    """Asks every real question in one of so many phrasings, by turns."""
    if not REAL_QUESTIONS.is_dir():
        print("SKIPPED: real questions, as the annotation files of TOMATO are not here.")
        return
    templates = [template for family in FAMILIES.values() for template in family]
    asked = right = 0
    start = time.process_time()
    for place, (options, letter) in enumerate(real_questions()):
        letters = list(lettered(options))
        other = (letters.index(letter) + 1 + place % (len(letters) - 1)) % len(letters)
        filling = values(options, letter, letters[other])
        for template in templates[place % share :: share]:
            asked += 1
            right += extract_choice(template.format(**filling), options) == letter
    seconds = time.process_time() - start
    figure(f"TVBench's real questions: right of {asked:,}", right, "responses", least=asked)
    figure("  with the making of patterns and phrases", asked / seconds, "responses/s", least=AIM)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=int, default=4, help="1: every question in all phrasings")
    arguments = parser.parse_args()
    print(machine())
    speed()
    sets()
    real(arguments.share)
    figure("peak memory", peak_memory(), "MiB")


if __name__ == "__main__":
    main()
