"""Which rule decides how often, and which parts of the parser never change an answer.

Run: python -m tests.benchmarks.answer_rules [--mixtures 1000000] [--without] [--only NAME ...]

Responses: every phrasing of the tests with every letter of every set of options, reasoning before
conclusions, the hard cases, TVBench's real questions by turns if the authors' annotation
files are present, and random mixtures of all of these. With ``--without``, each rule, word list and
files are present, and random mixtures of all of these. With ``--without``, each rule, word list
over all responses: a candidate for removal.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.metrics import phrasings
from tests.metrics.hard_cases import HARD, YES_NO
from tests.metrics.option_sets import OPTION_SETS
from tests.metrics.render import cases, lettered, none_cases, pairs, values
from tests.metrics.test_answers import FAMILIES, NO_CHOICE, REAL_QUESTIONS, real_questions
from tests.reliability.random_input import response, some_options
from video_reasoning.metrics import answers

Options = Mapping[str, str] | Sequence[str]
Case = tuple[str, Options]
FOLDER = Path(answers.__file__).resolve().parent
PACKAGE = answers.__name__
MODULES = ("text", "wording", "options", "mentions", "reply", "yes_no", "choice", "extract")
"""The parser's modules, each after those that it imports."""


def written() -> Iterator[Case]:
    """Hard cases first: they show a change soonest."""
    for text, options, _ in HARD:
        yield text, OPTION_SETS[options] if isinstance(options, str) else options
    for text, _ in YES_NO:
        yield text, ["Yes.", "No."]
    for word, other in (("Yes", "No"), ("No", "Yes")):
        filling = {"Y": word, "y": word.lower(), "O": other, "o": other.lower()}
        yield from ((each.format(**filling), ["Yes.", "No."]) for each in phrasings.YES_OR_NO)
    templates = [template for family in FAMILIES.values() for template in family]
    for options in OPTION_SETS.values():
        yield from ((text, options) for _, text in none_cases(NO_CHOICE, options))
        yield from ((text, options) for _, text, _ in cases(templates, options))


def reasoned() -> Iterator[Case]:
    """Reasoning before a conclusion, and an answer before its explanation, by turns."""
    for place, options in enumerate(OPTION_SETS.values()):
        for letter, other in pairs(options):
            filling = values(options, letter, other)
            ends = phrasings.CONCLUSION[place % 4 :: 4]
            for first, second in (
                *((a, b) for a in phrasings.REASONING for b in ends),
                *((a, b) for a in phrasings.OPENING for b in phrasings.EXPLANATION),
            ):
                yield (first + second).format(**filling), options


def real() -> Iterator[Case]:
    """Every real question in every 64th phrasing, by turns."""
    templates = [template for family in FAMILIES.values() for template in family]
    for place, (options, letter) in enumerate(real_questions() if REAL_QUESTIONS.is_dir() else ()):
        other = next(key for key in lettered(options) if key != letter)
        filling = values(options, letter, other)
        for template in templates[place % 64 :: 64]:
            yield template.format(**filling), options


def mixtures(count: int) -> Iterator[Case]:
    """Random responses to random options."""
    rng = random.Random(20_261_122)
    for _ in range(count):
        options = some_options(rng)
        yield response(rng, options), options


def read(module: ModuleType, case: Case) -> tuple[Any, ...]:
    """The answers and rules of a parser: as a choice, and as yes or no."""
    choice, word = module.parse_choice(*case), module.parse_yes_no(case[0])
    return choice.value, choice.rule, word.value, word.rule


def names() -> Iterator[tuple[str, str]]:
    """(module, name) of every function, word list and pattern on the modules' top level."""
    for module in MODULES:
        for node in ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield module, node.name
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield module, node.targets[0].id


def nothing(value: Any) -> Any:
    """What a part of the parser is replaced with: it never matches, or hands on."""
    if isinstance(value, str):
        return "(?!)"
    if isinstance(value, re.Pattern):
        return re.compile("(?!)")
    if isinstance(value, (frozenset, list, tuple, dict)):
        return type(value)()
    if callable(value) and not isinstance(value, type):
        return lambda *arguments, **options: None
    raise TypeError(type(value))


def parser_without(module: str, name: str) -> ModuleType:
    """The parser, loaded again with one of its parts taken out.

    Raises:
        Exception: Whatever a parser that cannot do without the part raises.
    """
    kept = {f"{PACKAGE}.{each}": sys.modules[f"{PACKAGE}.{each}"] for each in MODULES}
    attributes = {each: getattr(answers, each) for each in MODULES}
    try:
        for each in MODULES:
            loaded = ModuleType(f"{PACKAGE}.{each}")
            sys.modules[loaded.__name__] = loaded
            setattr(answers, each, loaded)
            loaded.__dict__["nothing"] = nothing
            tree = ast.parse((FOLDER / f"{each}.py").read_text(encoding="utf-8"))
            body: list[ast.stmt] = []
            for node in tree.body:
                body.append(node)
                if each == module and name in _defined(node):
                    body += ast.parse(f"{name} = nothing({name})").body
            tree.body = body
            exec(compile(tree, each, "exec"), loaded.__dict__)
        return sys.modules[f"{PACKAGE}.extract"]
    finally:
        sys.modules.update(kept)
        for each, value in attributes.items():
            setattr(answers, each, value)


def _defined(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.FunctionDef):
        return (node.name,)
    if isinstance(node, ast.Assign):
        return tuple(each.id for each in node.targets if isinstance(each, ast.Name))
    return ()


def changes(module: str, name: str, corpus: Sequence[Case], known: Sequence[Any]) -> str:
    """What taking a part out changes first, or "no change"."""
    try:
        other = parser_without(module, name)
        for place, case in enumerate(corpus):
            found = read(other, case)
            if found != known[place]:
                return f"{case[0][:60]!r}: {known[place]} -> {found}"
    except Exception as error:
        return f"needed: {type(error).__name__}"
    return "no change"


def count_rules(part: str, make: Callable[[], Iterator[Case]]) -> None:
    """Prints how often each rule decides over some responses."""
    choices: Counter[str] = Counter()
    words: Counter[str] = Counter()
    for case in make():
        value, rule, word, word_rule = read(answers, case)
        choices[rule if value else f"({rule})"] += 1
        words[word_rule if word else f"({word_rule})"] += 1
    print(f"{part}: {choices.total():,} responses")
    for kind, counts in (("choice", choices), ("yes or no", words)):
        print(f"  {kind}: " + ", ".join(f"{rule} {n:,}" for rule, n in counts.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mixtures", type=int, default=1_000_000)
    parser.add_argument("--without", action="store_true", help="take each part out, too")
    parser.add_argument("--only", nargs="*", default=[], help="of these names alone")
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Case]]] = {
        "phrasings and hard cases": written,
        "reasoning": reasoned,
        "real questions": real,
        "mixtures": lambda: mixtures(arguments.mixtures),
    }
    if not arguments.without:
        for part, make in parts.items():
            count_rules(part, make)
        return
    corpus = [case for make in parts.values() for case in make()]
    known = [read(answers, case) for case in corpus]
    print(f"{len(corpus):,} responses")
    for module, name in names():
        if not arguments.only or name in arguments.only:
            print(f"{module}.{name}: {changes(module, name, corpus, known)}", flush=True)


if __name__ == "__main__":
    main()
