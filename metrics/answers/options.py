"""The options of one question: their letters, and the ways in which their texts are printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from string import ascii_uppercase

from video_reasoning.metrics.answers import wording
from video_reasoning.metrics.answers.text import lazy, lower, normalize

WORD = re.compile(r"[^\W_]+")
_ARTICLE = re.compile(r"(?:an?|the)[\W_]+(?=\w\w)")
_OWN_LABEL = re.compile(r"\(?([A-Za-z])[).:]\s+(?=\S)")
_LABEL_AGAIN = re.compile(r"[).:][ \t]{1,3}(?=\S)")
_NUMBER_JOINT = re.compile(r"[.,:/+]")
_HYPHEN_JOINT = re.compile(r"[-'_]+")
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_NUMBER_WORDS = {word: number for number, word in enumerate(_NUMBERS)}
_TIMES = {1: ("once", "a single"), 2: ("twice",), 3: ("thrice",)}


def light(text: str) -> str:
    """Lower case, single spaces, without punctuation and quotes at the ends."""
    return " ".join(lower(text).split()).strip(" .,;:!\"'*`_")


def tokens(text: str) -> str:
    """The words in lower case, with single spaces."""
    return " ".join(WORD.findall(lower(text)))


def weighty(words: Sequence[str]) -> list[str]:
    """The words without articles, prepositions and the like."""
    return [word for word in words if word not in wording.LIGHT_WORDS]


def _phrase(text: str) -> str:
    """A pattern for the words of ``text``, whatever is between them."""
    pieces: list[str] = []
    end = 0
    for match in WORD.finditer(text):
        gap = text[end : match.start()]
        if pieces:
            if _NUMBER_JOINT.fullmatch(gap) and match.group()[0].isdigit():
                pieces.append(re.escape(gap))
            elif _HYPHEN_JOINT.fullmatch(gap):
                pieces.append(r"[\W_]{0,3}")
            elif gap.isspace():
                # No quotes, brackets or full stops: 'not "Moving Left"' is not "Not moving".
                # "moving to the left" is "Moving Left".
                pieces.append(r"[\s,*_/-]{1,6}(?:(?:to|the|in|towards?)\s){0,2}")
            else:
                pieces.append(r"[\W_]{1,6}")
        pieces.append(re.escape(match.group()))
        end = match.end()
    return "".join(pieces)


def _same_script(left: str, right: str) -> bool:
    """Whether two neighboring characters may belong to one word.

    Chinese and Japanese do not separate words, and a Latin word may touch one of another script.
    """
    if not (left.isalnum() and right.isalnum()) or max(left, right) >= "\u2e80":
        return False
    return (left < "\u0530") == (right < "\u0530")


def _separate(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is not a part of a longer word or number."""
    first, last = text[start], text[end - 1]
    before, before_that = text[start - 1 : start], text[start - 2 : start - 1] if start > 1 else ""
    after, after_that = text[end : end + 1], text[end + 1 : end + 2]
    if before and _same_script(before, first):
        return False
    if before == "-" and before_that and _same_script(before_that, first):
        return False
    if after and _same_script(last, after):
        return False
    if after in ("-", "'") and after_that and _same_script(last, after_that):
        return False
    if first.isdigit() and (
        before == "-" or (before in (".", ",", ":", "/") and before_that.isdigit())
    ):
        return False
    return not (last.isdigit() and after in (".", ",", ":", "/") and after_that.isdigit())


class Options:
    """The options of one question; patterns are compiled when first needed.

    Attributes:
        keys: Capital letter -> the caller's key.
        order: The capital letters in the order of the options.
        texts: Capital letter -> normalized text, without a label of its own.
        exact: Light form of a text -> its letter, or None if two options share it.
        words: The words of a text -> its letter, or None if two options share them.
        numbers: Letter -> the count that its text is.
    """

    def __init__(self, items: tuple[tuple[str, str], ...]) -> None:
        self.keys = {key.upper(): key for key, _ in items}
        if len(self.keys) != len(items):
            raise ValueError(f"option letters are not distinct: {[key for key, _ in items]}")
        self.order = "".join(self.keys)
        self.texts = {key.upper(): _without_label(key.upper(), text) for key, text in items}
        self.exact: dict[str, str | None] = {}
        self.words: dict[str, str | None] = {}
        self.numbers: dict[str, int] = {}
        for letter, text in self.texts.items():
            form = light(text)
            for other_form in {form, lower(text).strip()}:
                _claim(self.exact, other_form, letter)
            _claim(self.words, tokens(text), letter)
            if form.isdecimal() and len(form) < 10:
                self.numbers[letter] = int(form)
            elif form in _NUMBER_WORDS:
                self.numbers[letter] = _NUMBER_WORDS[form]
        self._own: dict[str, re.Pattern[str] | None] = {}

    @property
    def numeric(self) -> bool:
        """Whether all options are counts."""
        return len(self.numbers) == len(self.texts)

    @lazy
    def yes_no(self) -> dict[str, str]:
        """The letters of "yes" and "no", if those are options."""
        pairs = ((word, self.exact.get(word)) for word in ("yes", "no"))
        return {word: letter for word, letter in pairs if letter}

    def own_text(
        self, letter: str, lowered: str, position: int, *, label: bool = False
    ) -> int | None:
        """Return where the text of an option ends, if it begins at ``position`` of a reply.

        If ``label``, the letter may come before the text once more ("A. A. Left").
        """
        if letter not in self.keys:
            return None
        if letter not in self._own:
            text = lower(self.texts[letter]).strip()
            phrase = _phrase(text) or re.escape(text)
            self._own[letter] = re.compile(phrase) if phrase else None
        pattern = self._own[letter]
        if pattern is None:
            return None
        if label and lowered[position : position + 1] == letter.lower():
            again = _LABEL_AGAIN.match(lowered, position + 1)
            position = again.end() if again else position
        match = pattern.match(lowered, position)
        return match.end() if match and _separate(lowered, position, match.end()) else None

    def texts_in(self, lowered: str) -> Iterator[tuple[int, int, str]]:
        """Find options' texts: start, end and letter; a longer text comes first."""
        pattern, letters = self._pattern
        match = pattern.search(lowered) if pattern else None
        while pattern and match:
            start, end = match.span()
            if _separate(lowered, start, end):
                yield start, end, letters[(match.lastindex or 1) - 1]
                match = pattern.search(lowered, end)
            else:
                match = pattern.search(lowered, start + 1)

    def holding(self, words: Sequence[str]) -> str | None:
        """Return the letter of the one option whose text contains ``words``."""
        part = f" {' '.join(words)} "
        letters = [letter for letter, text in self._padded.items() if words and part in text]
        return letters[0] if len(letters) == 1 else None

    def similar(self, words: Sequence[str]) -> str | None:
        """Return the letter of the one long option with nearly the same words."""
        mine = frozenset(weighty(words))
        scores = sorted(
            ((len(mine & theirs) / len(mine | theirs), letter) for letter, theirs in self._sets),
            reverse=True,
        )
        if not scores or scores[0][0] < 0.7 or len(mine) < 4:
            return None
        return scores[0][1] if len(scores) == 1 or scores[0][0] - scores[1][0] > 0.25 else None

    @lazy
    def first_words(self) -> frozenset[str]:
        """The first word of each text."""
        return frozenset(words.split(" ", 1)[0] for words in self.words)

    @property
    def has_long(self) -> bool:
        """Whether the texts are long enough for others to be similar to them."""
        return bool(self._sets)

    @lazy
    def _padded(self) -> dict[str, str]:
        """Letter -> the words of its text between blanks."""
        return {letter: f" {tokens(text)} " for letter, text in self.texts.items()}

    @lazy
    def _sets(self) -> list[tuple[str, frozenset[str]]]:
        """The weighty words of each option; texts that are too short are never similar."""
        sets = [(letter, frozenset(weighty(tokens(t).split()))) for letter, t in self.texts.items()]
        return sets if all(len(words) > 3 for _, words in sets) else []

    @lazy
    def _pattern(self) -> tuple[re.Pattern[str] | None, list[str]]:
        """One pattern for all texts, and the letter of each of its groups."""
        found = [
            (text, pattern, letter)
            for letter in self.order
            for text, pattern in self._alternatives(letter)
        ]
        found.sort(key=lambda entry: (-len(entry[0]), entry[2]))
        letters = [letter for _, _, letter in found]
        joined = "|".join(f"({pattern})" for _, pattern, _ in found)
        return (re.compile(joined) if found else None), letters

    def _alternatives(self, letter: str) -> list[tuple[str, str]]:
        """(text, pattern) of the ways in which one option's text may be printed."""
        form = light(self.texts[letter])
        if not form or (len(form) == 1 and form.upper() in self.keys):
            return []
        if letter in self.numbers:
            return self._number(self.numbers[letter])
        if self.words.get(tokens(form)) is None:
            # No words, or the same as in another option: only the characters tell.
            exact = r"\s{1,6}".join(map(re.escape, form.split()))
            return [(form, exact)] if self.exact.get(form) else []
        found = [(form, _phrase(form))]
        article = _ARTICLE.match(form)
        pieces = [form[article.end() :]] if article else []
        if "/" in form and not any(character.isdigit() for character in form):
            pieces += form.split("/")
        found += [(piece, _phrase(piece)) for piece in pieces if self._only_in(letter, piece)]
        return found

    def _number(self, number: int) -> list[tuple[str, str]]:
        if list(self.numbers.values()).count(number) > 1:
            return []
        names = [str(number), *_NUMBERS[number : number + 1], *_TIMES.get(number, ())]
        return [(str(number), rf"(?:{'|'.join(names)})(?:x(?![a-z]))?")]

    def _only_in(self, letter: str, piece: str) -> bool:
        """Whether a part of this option's text is in no other option."""
        words = tokens(piece)
        return len(words) > 2 and not any(
            f" {words} " in f" {other} " for other, owner in self.words.items() if owner != letter
        )

    @lazy
    def continuations(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """Letter -> the words before and after its text inside longer options.

        Next to one of those words the text is a part of something else: "left" in
        "left then up", where another option is "Left then down".
        """
        beside = {}
        padded = self._padded
        for letter, mine in padded.items():
            before: set[str] = set()
            after: set[str] = set()
            for other, longer in padded.items():
                at = longer.find(mine) if other != letter and mine.strip() else -1
                while at >= 0:
                    before.update(weighty(longer[:at].split())[-1:])
                    after.update(weighty(longer[at + len(mine) :].split())[:1])
                    at = longer.find(mine, at + 1)
            beside[letter] = frozenset(before), frozenset(after)
        return beside


def _claim(table: dict[str, str | None], form: str, letter: str) -> None:
    if form:
        table[form] = letter if table.get(form, letter) == letter else None


def _without_label(letter: str, text: str) -> str:
    """The text without a label of its own ("A. Left" under A)."""
    text = normalize(text)
    label = _OWN_LABEL.match(text)
    return text[label.end() :] if label and label.group(1).upper() == letter else text


def compile_options(options: Mapping[str, str] | Sequence[str]) -> Options:
    """Return the options with their letters, from a cache.

    Raises:
        ValueError: There are more than 26 options, or a key is not a single letter A to Z.
    """
    if isinstance(options, Mapping):
        items = tuple((str(key), str(text)) for key, text in options.items())
        for key, _ in items:
            if len(key) != 1 or key.upper() not in ascii_uppercase:
                raise ValueError(f"the key of an option must be one letter A to Z, not {key!r}")
    else:
        if len(options) > len(ascii_uppercase):
            raise ValueError(f"{len(options)} options are more than there are letters")
        items = tuple(zip(ascii_uppercase, map(str, options), strict=False))
    return _compiled(items)


@lru_cache(maxsize=4096)
def _compiled(items: tuple[tuple[str, str], ...]) -> Options:
    return Options(items)
