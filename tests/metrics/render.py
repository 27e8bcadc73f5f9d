"""Fills the templates of ``phrasings`` with a question's options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Options = Mapping[str, str] | Sequence[str]


def lettered(options: Options) -> dict[str, str]:
    if isinstance(options, Mapping):
        return dict(options)
    return {chr(ord("A") + place): text for place, text in enumerate(options)}


def plain(text: str) -> str:
    """As it stands in a sentence: no full stop, the first letter small."""
    return text.rstrip(".")[:1].lower() + text.rstrip(".")[1:]


def values(options: Options, letter: str, other: str) -> dict[str, str]:
    texts = lettered(options)
    return {
        "L": letter.upper(),
        "l": letter.lower(),
        "T": texts[letter],
        "t": plain(texts[letter]),
        "W": other.upper(),
        "w": other.lower(),
        "U": texts[other],
        "u": plain(texts[other]),
        "list": "\n".join(f"{key}. {text}" for key, text in texts.items()),
        "inline": " ".join(f"({key}) {text}" for key, text in texts.items()),
    }


def pairs(options: Options) -> Iterator[tuple[str, str]]:
    """Every letter with one other letter, so that each serves as the other one, too."""
    letters = list(lettered(options))
    for place, letter in enumerate(letters):
        yield (
            letter,
            letters[(place + 1 + place % (len(letters) - 1)) % len(letters)]
            if len(letters) > 1
            else letter,
        )


def cases(templates: Sequence[str], options: Options) -> Iterator[tuple[str, str, str]]:
    """(template, response, expected letter) for every template and letter."""
    for letter, other in pairs(options):
        filling = values(options, letter, other)
        for template in templates:
            yield template, template.format(**filling), letter


def none_cases(templates: Sequence[str], options: Options) -> Iterator[tuple[str, str]]:
    """(template, response) for every template and letter."""
    for template, response, _ in cases(templates, options):
        yield template, response
