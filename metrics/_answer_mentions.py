"""Where a response names an option: by its letter, by its text, or by both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase

from video_reasoning.metrics import _answer_wording as wording
from video_reasoning.metrics._answer_text import lower, normalise

_SCRIPT = r"0-9A-Za-zÀ-ʯ\u0370-\u03ff\u0400-\u052f"
LONE_LETTER = re.compile(rf"(?<![{_SCRIPT}°\\&])([A-Za-z])(?![{_SCRIPT}&+#°])")
_WORD = re.compile(r"[^\W_]+")
_AFTER_LETTER = re.compile(r"[\s)\]}>*_'\"`.:,;=|(\[-]{0,8}")
_ARTICLE = re.compile(r"(?:an?|the)[\W_]+(?=\w\w)")
_OWN_LABEL = re.compile(r"\(?([A-Za-z])[).:]\s+(?=\S)")
_NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_NUMBER_WORDS = {word: number for number, word in enumerate(_NUMBERS)}
_ALSO = {0: "0|zero", 1: "1|one|once|a single", 2: "2|two|twice", 3: "3|three|thrice"}
_UNIT_AFTER = re.compile(
    r"[\s-]{0,2}(?:s|sec|secs|seconds?|minutes?|mins?|ms|frames?|fps|hz|%|percent|(?:st|nd|rd|th)"
    r"|degrees?|of the|or more|images?)(?![a-z])|/|:\d"
)
_COUNTED_BEFORE = re.compile(
    r"(?:frames?|steps?|second|time|at|clip|scene|segment|parts?|images?|pictures?|figure|stage|phase"
    r"|point|around|about|t|until|from|after|before|person|player|no\.|number|#|section|shot)"
    r"[\s=#:~]*(?:\d+\s*(?:,|and|&|or|to|-)\s*){0,3}$"
)
_ONE_BEFORE = re.compile(
    r"(?:the|this|that|no|each|every|which|left|right|any|another|middle|only|by)\s$"
)
_ONE_AFTER = re.compile(r"\s(?:of|another|by|at|is|that|who|with)(?![a-z])")
_NO_AS_DETERMINER = re.compile(r"\s+[^\W\d_]")
_PRONOUN_ASIDE = re.compile(r",\s+(?:too|also|personally|unfortunately|for one|myself)(?![a-z])")
# "the right answer" speaks of no direction.
_ABOUT_ANSWERS = re.compile(
    r"\s+(?:answer|option|choice|letter|response|description|statement)s?(?![a-z])"
)
_IDIOM_BEFORE = re.compile(r"(?:that's|that is|you're|you are|all) $")
_CLAUSE_BREAK = re.compile(r"[.;:!?\n]")
_ENUMERATED = re.compile(r"[.)]\s+\S")
_WEAK_ONE = frozenset(("one", "once", "a single"))


@dataclass(frozen=True)
class Mention:
    """One place where an option is named.

    Attributes:
        start: position of the letter or of the text.
        end: position after it (after the option's own text, where that follows the letter).
        letter: capital letter; of no option where ``known`` is False.
        known: whether there is such an option.
        form: "marked" (brackets, quotes, "option B"), "bare" (a capital on its own) or "text".
        item: the letter stands at the start of a line, or its own text follows: how a list
            of options is printed.
        alone: nothing else stands on its line.
    """

    start: int
    end: int
    letter: str
    known: bool
    form: str
    item: bool = False
    alone: bool = False


def _light(text: str) -> str:
    """Lower case, single spaces, without punctuation and quotes at the ends."""
    return " ".join(lower(text).split()).strip(" .,;:!\"'*`_")


def _tokens(text: str) -> str:
    return " ".join(_WORD.findall(lower(text)))


def _weighty(words: list[str]) -> list[str]:
    return [word for word in words if word not in wording.LIGHT_WORDS]


def _bounded(body: str, text: str) -> str:
    """Word boundaries around a pattern, where the script separates words."""
    first, last = text[0], text[-1]
    left = right = ""
    if first.isalnum() and ord(first) < 0x2E80:
        left = rf"(?<![{_SCRIPT}])(?<![{_SCRIPT}]-)"
        if first.isdigit():
            left += r"(?<![0-9][.,:/])(?<!-)"
    if last.isalnum() and ord(last) < 0x2E80:
        right = rf"(?![{_SCRIPT}])(?!-[{_SCRIPT}])(?!'[a-z])"
        if last.isdigit():
            right = rf"(?![0-9]|[.,:/][0-9])(?![{_SCRIPT.replace('0-9', '')}])(?!-[0-9])"
    return f"{left}(?:{body}){right}"


def _phrase(text: str) -> str:
    """A pattern for the words of ``text`` whatever stands between them."""
    pieces: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        if pieces:
            if re.fullmatch(r"[.,:/+]", gap) and text[match.start()].isdigit():
                pieces.append(re.escape(gap))
            elif re.fullmatch(r"[-'_]+", gap):
                pieces.append(r"[\W_]{0,3}")
            elif gap.isspace():
                # No quotes, brackets or full stops: 'not "Moving Left"' is not "Not moving".
                pieces.append(r"[\s,*_/-]{1,6}")
            else:
                pieces.append(r"[\W_]{1,6}")
        pieces.append(re.escape(match.group()))
        end = match.end()
    return "".join(pieces)


class Options:
    """The options of one question, compiled once.

    Attributes:
        keys: capital letter -> the caller's key.
        order: the capital letters in the order of the options.
        exact: normal form of an option's text -> its letter, or None where two share it.
    """

    def __init__(self, items: tuple[tuple[str, str], ...]) -> None:
        self.keys = {key.upper(): key for key, _ in items}
        if len(self.keys) != len(items):
            raise ValueError(f"option letters are not distinct: {[key for key, _ in items]}")
        self.order = "".join(self.keys)
        self.texts = {key.upper(): self._own_text(key.upper(), text) for key, text in items}
        self.exact: dict[str, str | None] = {}
        for letter, text in self.texts.items():
            for form in {_light(text), lower(text).strip()}:
                self._add(self.exact, form, letter)
        self.words = self._distinct(_tokens)
        self.numbers = self._numbers()
        self.numeric = len(self.numbers) == len(items)
        self._groups: list[str] = []
        self._pattern = self._compile()
        self.own = {letter: self._own_pattern(letter) for letter in self.order}
        self.next_words, self.previous_words = self._continuations()
        self.yes_no = {
            word: letter for word, letter in self.exact.items() if word in ("yes", "no") and letter
        }

    @staticmethod
    def _add(table: dict[str, str | None], form: str, letter: str) -> None:
        if form:
            table[form] = letter if table.get(form, letter) == letter else None

    @staticmethod
    def _own_text(letter: str, text: str) -> str:
        """The text without a label of its own ("A. Left" under A)."""
        text = normalise(text)
        label = _OWN_LABEL.match(text)
        return text[label.end() :] if label and label.group(1).upper() == letter else text

    def _distinct(self, form: object) -> dict[str, str | None]:
        table: dict[str, str | None] = {}
        for letter, text in self.texts.items():
            self._add(table, _tokens(text), letter)
        return table

    def _numbers(self) -> dict[str, int]:
        numbers = {}
        for letter, text in self.texts.items():
            form = _light(text)
            if form.isdecimal() and len(form) < 10:
                numbers[letter] = int(form)
            elif form in _NUMBER_WORDS:
                numbers[letter] = _NUMBER_WORDS[form]
        return numbers

    def _alternatives(self, letter: str) -> list[tuple[str, str]]:
        """(text, pattern) of the ways in which one option's text may be printed."""
        text = lower(self.texts[letter]).strip()
        form = _light(text)
        if not form:
            return []
        if letter in self.numbers:
            number = self.numbers[letter]
            if list(self.numbers.values()).count(number) > 1:
                return []
            also = _ALSO.get(number) or (
                f"{number}|{_NUMBERS[number]}" if number < len(_NUMBERS) else str(number)
            )
            return [(str(number), _bounded(f"(?:{also})(?:x(?![a-z]))?", str(number)))]
        tokens = _tokens(form)
        if len(form) == 1 and form.upper() in self.keys:
            return []
        if not tokens or self.words[tokens] is None:
            if self.exact.get(form) is None:
                return []
            return [(form, _bounded(r"\s{1,6}".join(map(re.escape, form.split())), form))]
        phrase = _WORD.findall(form)
        found = [(form, _bounded(_phrase(form), phrase[0] + phrase[-1]))]
        bare = _ARTICLE.match(form)
        pieces = [form[bare.end() :]] if bare else []
        if "/" in form and not any(character.isdigit() for character in form):
            pieces += [piece.strip(" .") for piece in form.split("/")]
        for piece in pieces:
            short = _tokens(piece)
            clash = any(
                f" {short} " in f" {other} "
                for other, owner in self.words.items()
                if owner != letter
            )
            if len(short) > 2 and not clash:
                shown = _WORD.findall(piece)
                found.append((piece, _bounded(_phrase(piece), shown[0] + shown[-1])))
        return found

    def _compile(self) -> re.Pattern[str] | None:
        found = [
            (text, pattern, letter)
            for letter in self.order
            for text, pattern in self._alternatives(letter)
        ]
        found.sort(key=lambda entry: (-len(entry[0]), entry[2]))
        self._groups = [letter for _, _, letter in found]
        return re.compile("|".join(f"({pattern})" for _, pattern, _ in found)) if found else None

    def _own_pattern(self, letter: str) -> re.Pattern[str] | None:
        text = lower(self.texts[letter])
        words = _WORD.findall(text)
        if words:
            label = rf"(?:{letter.lower()}[).:]\s+)?"
            return re.compile(label + _bounded(_phrase(text), words[0] + words[-1]))
        return re.compile(re.escape(text.strip())) if text.strip() else None

    def _continuations(self) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
        """Words that, beside an option's text, make it a part of a longer option."""
        after: dict[str, frozenset[str]] = {}
        before: dict[str, frozenset[str]] = {}
        for letter in self.order:
            mine = f" {_tokens(self.texts[letter])} "
            nexts, previous = set(), set()
            for other in self.order:
                longer = f" {_tokens(self.texts[other])} "
                at = longer.find(mine) if other != letter and mine.strip() else -1
                while at >= 0:
                    nexts.update(_weighty(longer[at + len(mine) :].split())[:1])
                    previous.update(_weighty(longer[:at].split())[-1:])
                    at = longer.find(mine, at + 1)
            after[letter], before[letter] = frozenset(nexts), frozenset(previous)
        return after, before

    # --- Mentions ------------------------------------------------------------------------------

    def _whole(self, lowered: str, match: re.Match[str], letter: str) -> bool:
        """Whether the text stands for the option, and is no part of something else."""
        start, end = match.span()
        if letter in self.numbers:
            near = lowered[max(0, start - 30) : start]
            if _UNIT_AFTER.match(lowered, end) or _COUNTED_BEFORE.search(near):
                return False
            if match.group() == "one" and (
                _ONE_BEFORE.search(near) or _ONE_AFTER.match(lowered, end)
            ):
                return False
        if match.group() == "no" and _NO_AS_DETERMINER.match(lowered, end):
            return False
        if len(match.group()) < 12 and (
            _ABOUT_ANSWERS.match(lowered, end)
            or (
                match.group() == "right" and _IDIOM_BEFORE.search(lowered, max(0, start - 9), start)
            )
        ):
            return False
        nexts, previous = self.next_words[letter], self.previous_words[letter]
        if nexts:
            clause = _CLAUSE_BREAK.split(lowered[end : end + 40], maxsplit=1)[0]
            if not nexts.isdisjoint(_weighty(_WORD.findall(clause))[:1]):
                return False
        if previous:
            clause = _CLAUSE_BREAK.split(lowered[max(0, start - 40) : start])[-1]
            if not previous.isdisjoint(_weighty(_WORD.findall(clause))[-1:]):
                return False
        return True

    def mentions(self, text: str, lowered: str) -> list[Mention]:
        """All mentions, by position; an option's text right after its letter is part of that."""
        texts = self._texts(lowered)
        letters = self._letters(text, lowered, texts)
        # An option's text right after its own letter is part of that mention.
        ends = iter(letters)
        letter = next(ends, None)
        found: list[Mention] = []
        for mention in texts:
            while letter is not None and letter.end <= mention.start:
                letter = next(ends, None)
            if letter is None or mention.start < letter.start:
                found.append(mention)
        found += letters
        found.sort(key=lambda mention: mention.start)
        return self._counted(lowered, found) if self.numeric else found

    def _texts(self, lowered: str) -> list[Mention]:
        found: list[Mention] = []
        for match in self._pattern.finditer(lowered) if self._pattern else ():
            letter = self._groups[(match.lastindex or 1) - 1]
            if self._whole(lowered, match, letter):
                start, end = match.span()
                alone = _starts_line(lowered, start) and _ends_line(lowered, end)
                found.append(Mention(start, end, letter, True, "text", False, alone))
        return found

    @staticmethod
    def _counted(lowered: str, found: list[Mention]) -> list[Mention]:
        """Drops the numbers that number lines, and "one" beside another number."""
        heads = [
            m
            for m in found
            if m.form == "text"
            and _starts_line(lowered, m.start)
            and _ENUMERATED.match(lowered, m.end)
        ]
        if len({m.letter for m in heads}) > 1:
            dropped = {m.start for m in heads}
            found = [m for m in found if m.start not in dropped]
        strong = [m for m in found if m.form != "text" or lowered[m.start : m.end] not in _WEAK_ONE]
        return strong if any(m.form == "text" for m in strong) else found

    def _letters(self, text: str, lowered: str, texts: list[Mention]) -> list[Mention]:
        """The letters, but none that is a word of an option's text ("The letter M")."""
        found: list[Mention] = []
        place = 0
        for match in LONE_LETTER.finditer(text):
            start = match.start()
            while place < len(texts) and texts[place].end <= start:
                place += 1
            in_text = place < len(texts) and texts[place].start <= start
            if in_text or (found and start < found[-1].end):
                continue
            mention = self.letter_at(text, lowered, start)
            if mention is not None:
                found.append(mention)
        return found

    def letter_at(
        self, text: str, lowered: str, start: int, *, announced: bool = False
    ) -> Mention | None:
        """The letter at ``start``, if it stands for an option and is no word or initial.

        Args:
            text: the response.
            lowered: the same in lower case.
            start: where a lone letter stands.
            announced: whether "the answer is" or the like stands right before it, so that a
                small letter counts too.
        """
        character = text[start]
        letter = character.upper()
        known = letter in self.keys
        before = text[start - 1] if start else ""
        after = text[start + 1 : start + 2]
        if _joined(text, start, before, after):
            return None
        own = self.own.get(letter)
        end = start + 1
        after_close = _AFTER_LETTER.match(text, end)
        own_match = own.match(lowered, after_close.end()) if own and after_close else None
        if own_match is not None and after_close is not None and after_close.end() > end:
            end = own_match.end()
        elif own_match is not None:
            own_match = None
        if after == "-" and text[start + 2 : start + 3].isalnum() and own_match is None:
            return None
        capital = character.isupper()
        bracketed = bool(before) and before in "([{<" and bool(after) and after in ")]}>.:,"
        if before == "(" and start > 1 and text[start - 2].isalnum() and not capital:
            return None
        quoted = bool(before) and before in "*_\"'`" and bool(after) and after in "*_\"'`.:)"
        closed = bool(after) and after in ")]"
        near = lowered[max(0, start - 24) : start]
        name = wording.OPTION_BEFORE.search(near)
        named = name is not None
        spelled = bracketed or quoted or closed or (name is not None and not name["answer"])
        line_start = _starts_line(text, start)
        headed = line_start and bool(after) and after in ".:)" and capital
        marked = bracketed or quoted or closed or named or headed
        if own_match is not None and not marked:
            marked = capital or (bool(after) and after in ".:,=")
        if not marked and not capital and not announced:
            return None
        if not marked and not announced and wording.NAMED.search(near):
            return None
        if letter in "AI" and not spelled and own_match is None and self._is_word(text, start):
            return None
        if letter == "I" and not known and not spelled:
            return None
        own_follows = own_match is not None
        alone = line_start and _ends_line(text, end)
        return Mention(
            start=start,
            end=end,
            letter=letter,
            known=known,
            form="marked" if marked or own_follows else "bare",
            item=own_follows or (line_start and (alone or headed or bracketed or closed)),
            alone=alone,
        )

    @staticmethod
    def _is_word(text: str, start: int) -> bool:
        """Whether an A or I at ``start`` is the article or the pronoun."""
        rest = text[start + 1 : start + 30]
        if text[start] in "Ii" and _PRONOUN_ASIDE.match(rest):
            return True
        gap = len(rest) - len(rest.lstrip(" \t"))
        word = _WORD.match(rest, gap)
        if gap == 0 or word is None or lower(word.group()[0]) > "\u02af":
            return False
        follower = lower(word.group())
        return follower not in (wording.NO_PRONOUN if text[start] in "Ii" else wording.NO_NOUN)


def _joined(text: str, start: int, before: str, after: str) -> bool:
    """Whether the letter belongs to "I'm", "N/A", "a.m.", "T-shirt" or the like."""
    two_before = text[start - 2] if start > 1 else ""
    two_after = text[start + 2 : start + 3]
    if after == "'" and two_after.isalpha() and before != "'":
        return True
    if before == "'" and two_before.isalnum() and two_before.isascii():
        return True
    if before == "-" and two_before.isalnum():
        return wording.OPTION_BEFORE.search(lower(text[max(0, start - 20) : start])) is None
    if before == "/" and two_before in "NnWw" and two_before:
        return True
    if after == "." and two_after.isalpha() and text[start + 3 : start + 4] == ".":
        return True
    return before == "." and two_before.isalpha() and not text[start - 3 : start - 2].isalpha()


def _starts_line(text: str, start: int) -> bool:
    head = text[max(0, start - 12) : start].rstrip(" \t*_#>\"'`([{-")
    return head.endswith("\n") or (not head and start <= 12)


def _ends_line(text: str, end: int) -> bool:
    tail = text[end : end + 12].lstrip(" \t*_\"'`)]}.,:;")
    return tail.startswith("\n") or (not tail and len(text) - end <= 12)


def compile_options(options: Mapping[str, str] | Sequence[str]) -> Options:
    """The options with their letters, from a cache.

    Raises:
        ValueError: for more than 26 options, or a key that is no single letter A to Z.
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
