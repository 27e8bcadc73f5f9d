"""Where a response names an option: by its letter, by its text, or by both."""

from __future__ import annotations

import re
from typing import NamedTuple

from video_reasoning.metrics.answers import wording
from video_reasoning.metrics.answers.options import WORD, Options, weighty
from video_reasoning.metrics.answers.text import lower

_SCRIPT = r"0-9A-Za-zÀ-ʯ\u0370-\u03ff\u0400-\u052f"
LONE_LETTER = re.compile(rf"(?<![{_SCRIPT}°\\&])([A-Za-z])(?![{_SCRIPT}&+#°])")
_AFTER_LETTER = re.compile(r"[\s)\]}>*_'\"`.:,;=|(\[-]{1,8}")
_OPENING = frozenset("([{<")
_CLOSING = frozenset(")]")
_QUOTES = frozenset("*_\"'`")
_AFTER_BRACKET = frozenset(")]}>.:,")
_AFTER_QUOTE = frozenset("*_\"'`.:)")
_AFTER_HEAD = frozenset(".:)")
_AFTER_SMALL = frozenset(".:,=")
_BEFORE_LETTER = " \t\n:(\"'*_`[#<{-"
_BEFORE_LINE = " \t*_#>\"'`([{-"
_AFTER_LINE = " \t*_\"'`)]}.,:;"


class Mention(NamedTuple):
    """One place where an option is named.

    Attributes:
        start: Position of the letter or of the text.
        end: Position after it, and after the option's own text if that follows the letter.
        letter: Capital letter.
        known: Whether there is such an option.
        form: "marked" (brackets, quotes, "option B"), "bare" (a capital on its own) or "text".
        item: Whether it looks like an entry of a printed list of options: the letter starts a
            line, or its own text follows.
        alone: Whether nothing else is on its line.
        own: Whether the option's own text follows the letter.
    """

    start: int
    end: int
    letter: str
    known: bool
    form: str
    item: bool = False
    alone: bool = False
    own: bool = False


def find_mentions(text: str, lowered: str, options: Options) -> list[Mention]:
    """Find all mentions by position; an option's text right after its letter belongs to that."""
    texts = _texts(lowered, options)
    letters = _letters(text, lowered, options, texts)
    if not letters:
        found = texts
    else:
        found = [*letters]
        place = 0
        for mention in texts:
            while place < len(letters) and letters[place].end <= mention.start:
                place += 1
            if place == len(letters) or mention.start < letters[place].start:
                found.append(mention)
        found.sort()
    return _counts(lowered, found) if options.numeric else found


# --- Texts --------------------------------------------------------------------------------------

_CLAUSE_BREAK = re.compile(r"[.;:!?\n]")
# "frame 3", "at 3 seconds", "1/3": numbers that count nothing.
_UNIT_AFTER = re.compile(
    r"[\s-]{0,2}(?:s|secs?|seconds?|minutes?|mins?|ms|frames?|fps|hz|%|percent|st|nd|rd|th"
    r"|degrees?|of the|or more|images?)(?![a-z])|/|:\d"
)
_COUNTED_BEFORE = re.compile(
    r"(?:frames?|steps?|second|time|at|clip|scene|segment|parts?|images?|pictures?|figure|stage"
    r"|phase|point|around|about|t|until|from|after|before|person|player|no\.|number|#|section"
    r"|shot|option|choice|position)[\s=#:~]{0,4}(?:\d{1,3}\s?(?:,|and|&|or|to|-)\s?){0,3}$"
)
_ONE_BEFORE = re.compile(
    r"(?:the|this|that|no|each|every|which|left|right|any|another|middle|only|by)\s$"
)
_ONE_AFTER = re.compile(r"\s(?:of|another|by|at|is|that|who|with)(?![a-z])")
_ENUMERATED = re.compile(r"[.)]\s{1,3}\S")
_WEAK_ONE = frozenset(("one", "once", "a single"))
# "no man", where "No" is an option.
_NO_AS_DETERMINER = re.compile(r"\s{1,3}[^\W\d_]")
# "the right answer", "that's right", "his left hand", "stands up": not a direction.
_AFTER_DIRECTION = re.compile(
    r"\s{1,3}(?:answer|option|choice|letter|response|description|statement)s?(?![a-z])"
)
_RIGHT_BEFORE = re.compile(
    r"(?:that's|that is|you're|you are|all|not|n't|(?:could|might|may|can|must) be"
    r"|(?:one|ones|them|which|both) (?:is|are|was)) $"
)
_AFTER_SIDE = re.compile(
    r"[\s-](?:hands?|arms?|foot|feet|legs?|eyes?|shoulders?|knees?|palm|fist|thumb|wrist|elbow"
    r"|index|fingers?|ear|cheek|handed|click|(?<=right.)(?:after|before|now|away|there|here))(?![a-z])"
)
_PHRASAL_BEFORE = re.compile(
    r"(?:pick|set|end|close|speed|stand|sit|slow|show|give|hold|make|get|put|lay|lie|break|dress"
    r"|clean|warm|wake|fill|hang|look|calm|settle|write|start|team|open)(?:s|ed|ing|ting|ning)?"
    r"(?:\s(?:it|him|her|them|the \w{1,12}))? $"
    r"|(?:picked|stood|sat|ended|got|held|gave|made|put|woke) $"
)


def _texts(lowered: str, options: Options) -> list[Mention]:
    found = []
    for start, end, letter in options.texts_in(lowered):
        if _means_option(lowered, start, end, letter, options):
            # The full stop of "Left." between quotes ends no sentence.
            quoted = lowered[end : end + 1] == "." and lowered[end + 1 : end + 2] in _QUOTES
            stop = end + 1 if quoted else end
            alone = starts_line(lowered, start) and _ends_line(lowered, stop)
            found.append(Mention(start, stop, letter, True, "text", False, alone))
    return found


def _means_option(lowered: str, start: int, end: int, letter: str, options: Options) -> bool:
    """Whether an option's text means the option, and nothing else."""
    shown = lowered[start:end]
    if letter in options.numbers:
        near = lowered[max(0, start - 30) : start]
        if _UNIT_AFTER.match(lowered, end) or _COUNTED_BEFORE.search(near):
            return False
        if shown == "one" and (_ONE_BEFORE.search(near) or _ONE_AFTER.match(lowered, end)):
            return False
    elif end - start < 8 and not _is_direction(lowered, start, end):
        return False
    before, after = options.continuations[letter]
    if after:
        clause = _CLAUSE_BREAK.split(lowered[end : end + 40], maxsplit=1)[0]
        if not after.isdisjoint(weighty(WORD.findall(clause))[:1]):
            return False
    if before:
        clause = _CLAUSE_BREAK.split(lowered[max(0, start - 40) : start])[-1]
        if not before.isdisjoint(weighty(WORD.findall(clause))[-1:]):
            return False
    return True


def _is_direction(lowered: str, start: int, end: int) -> bool:
    """False for a short word in one of its other meanings."""
    shown = lowered[start:end]
    if shown == "no":
        return _NO_AS_DETERMINER.match(lowered, end) is None
    if shown in ("up", "down"):
        return _PHRASAL_BEFORE.search(lowered, max(0, start - 30), start) is None
    if _AFTER_DIRECTION.match(lowered, end):
        return False
    if shown in ("left", "right"):
        if _AFTER_SIDE.match(lowered, end):
            return False
        return shown == "left" or _RIGHT_BEFORE.search(lowered, max(0, start - 14), start) is None
    return True


def _counts(lowered: str, found: list[Mention]) -> list[Mention]:
    """Drop the numbers that number lines, and "one" next to another number."""
    heads = [
        m
        for m in found
        if m.form == "text" and starts_line(lowered, m.start) and _ENUMERATED.match(lowered, m.end)
    ]
    if len({m.letter for m in heads}) > 1:
        dropped = {m.start for m in heads}
        found = [m for m in found if m.start not in dropped]
    strong = [m for m in found if m.form != "text" or lowered[m.start : m.end] not in _WEAK_ONE]
    return strong if any(m.form == "text" for m in strong) else found


# --- Letters ------------------------------------------------------------------------------------

_PRONOUN_ASIDE = re.compile(r",\s(?:too|also|personally|unfortunately|for one|myself)(?![a-z])")


def _letters(text: str, lowered: str, options: Options, texts: list[Mention]) -> list[Mention]:
    """Find the letters, except words of an option's text ("The letter M")."""
    found: list[Mention] = []
    place = 0
    for match in LONE_LETTER.finditer(text):
        start = match.start()
        while place < len(texts) and texts[place].end <= start:
            place += 1
        in_text = place < len(texts) and texts[place].start <= start
        if in_text or (found and start < found[-1].end):
            continue
        mention = letter_at(text, lowered, start, options)
        if mention is not None:
            found.append(mention)
    return found


def letter_at(
    text: str, lowered: str, start: int, options: Options, *, announced: bool = False
) -> Mention | None:
    """Return the letter at ``start`` if it means an option and is not a word or an initial.

    A small letter counts too if "the answer is" or the like comes right before it (``announced``).
    """
    capital = text[start].isupper()
    letter = text[start].upper()
    known = letter in options.keys
    before = text[start - 1 : start]
    after = text[start + 1 : start + 2]
    if _is_joined(text, lowered, start, before, after):
        return None
    end = start + 1
    own_end = None
    close = _AFTER_LETTER.match(text, end)
    if known and close is not None:
        own_end = options.own_text(letter, lowered, close.end(), label="\n" not in close[0])
    if own_end is not None:
        end = own_end
    elif after == "-" and text[start + 2 : start + 3].isalnum():
        return None
    bracketed = before in _OPENING and after in _AFTER_BRACKET
    quoted = before in _QUOTES and after in _AFTER_QUOTE
    word = _word_before(lowered, start)
    named = word in wording.OPTION_BEFORE or word.endswith(wording.CJK_OPTION_BEFORE)
    line_start = starts_line(text, start)
    headed = line_start and (capital or known) and after in _AFTER_HEAD
    spelled = bracketed or quoted or named or after in _CLOSING
    marked = spelled or headed or word in wording.ANSWER_BEFORE
    if own_end is not None:
        marked = marked or capital or after in _AFTER_SMALL
    if not marked and not announced:
        beside = before == " " and lowered[start - 2].isalnum()
        if not capital or (beside and {word, word.rstrip("s")} & wording.NAMED):
            return None
    if not spelled and own_end is None:
        if letter in "AI" and _is_word(text, lowered, start):
            return None
        if not marked and not announced and _is_name(lowered, start):
            return None
    if letter == "I" and not known and not spelled:
        return None
    alone = line_start and _ends_line(text, end)
    listed = line_start and (alone or headed or bracketed or after in _CLOSING)
    form = "marked" if marked or own_end is not None else "bare"
    own = own_end is not None
    return Mention(start, end, letter, known, form, own or listed, alone, own)


def _is_word(text: str, lowered: str, start: int) -> bool:
    """Whether an A or I at ``start`` is the article or the pronoun."""
    rest = text[start + 1 : start + 30]
    pronoun = text[start] in "Ii"
    if pronoun and _PRONOUN_ASIDE.match(rest):
        return True
    gap = len(rest) - len(rest.lstrip(" \t"))
    word = WORD.match(rest, gap)
    if gap == 0 or word is None or word.group() > "\u02af":
        return False
    if len(word.group()) == 1 or (pronoun and word.group().istitle()):
        return False
    if pronoun and wording.CONFIRMED.match(lowered, start + 1):
        return False
    return lower(word.group()) not in (wording.NO_PRONOUN if pronoun else wording.NO_NOUN)


_NEXT_WORDS = re.compile(r"[ \t]([a-z]{1,20})(?:[ \t]([a-z]{1,20}))?(?![^\W_])")


def _is_name(lowered: str, start: int) -> bool:
    """Whether a bare letter does what only a person does: "C picks up the pan"."""
    after = _NEXT_WORDS.match(lowered, start + 1)
    if after is None or len(after.group(1)) == 1:
        return False
    word, second = after.groups()
    if word in ("is", "was") and second is not None:
        judged = second in wording.AFTER_IS or wording.A_BETTER.match(lowered, start + 2)
        return not judged
    return word not in wording.NO_NOUN


def _is_joined(text: str, lowered: str, start: int, before: str, after: str) -> bool:
    """Whether the letter belongs to "I'm", "N/A", "a.m.", "T-shirt", "person(s)" or the like."""
    two_before = text[start - 2 : start - 1] if start > 1 else ""
    two_after = text[start + 2 : start + 3]
    if before == "(" and two_before.isalnum() and text[start].islower():
        return True
    if after == "'" and two_after.isalpha() and before != "'":
        return True
    if before == "'" and two_before.isalnum() and two_before.isascii():
        return True
    if before == "-" and two_before.isalnum():
        word = _word_before(lowered, start)
        return word not in wording.OPTION_BEFORE and word not in wording.ANSWER_BEFORE
    if before == "/" and two_before in ("N", "n", "W", "w"):
        return True
    if after == "." and two_after.isalpha() and text[start + 3 : start + 4] == ".":
        return True
    return before == "." and two_before.isalpha() and not text[start - 3 : start - 2].isalpha()


def _word_before(lowered: str, start: int) -> str:
    """The last word before ``start`` in lower case, across brackets and quotes."""
    head = lowered[max(0, start - 24) : start].rstrip(_BEFORE_LETTER)
    return head.rsplit(None, 1)[-1].rpartition("'")[2].lstrip(_BEFORE_LETTER) if head else ""


def starts_line(text: str, start: int) -> bool:
    """Whether a line starts at ``start``, apart from bullets and the like."""
    head = text[max(0, start - 12) : start].rstrip(_BEFORE_LINE)
    return head.endswith("\n") or (not head and start <= 12)


def _ends_line(text: str, end: int) -> bool:
    tail = text[end : end + 12].lstrip(_AFTER_LINE)
    return tail.startswith("\n") or (not tail and len(text) - end <= 12)
