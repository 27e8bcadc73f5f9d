"""A reply while it is read: which options it names, denies, leaves open or only lists."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import lru_cache

from video_reasoning.metrics.answers import wording
from video_reasoning.metrics.answers.mentions import Mention, find_mentions, starts_line
from video_reasoning.metrics.answers.options import WORD, Options
from video_reasoning.metrics.answers.text import lazy, lower


@dataclass(frozen=True)
class Answer:
    """What was read from a response.

    Attributes:
        value: The key of the chosen option, "yes" or "no"; None if nothing was chosen.
        rule: The rule that found it; if ``value`` is None, why: "empty", "refusal",
            "ambiguous", "not an option", "unfinished" or "none".
    """

    value: str | None
    rule: str


# There are few, and making one costs more than looking it up.
answer_of = lru_cache(maxsize=1024)(Answer)
UNDECIDED = Answer(None, "none")
AMBIGUOUS = Answer(None, "ambiguous")
BEYOND = Answer(None, "not an option")
REFUSED = Answer(None, "refusal")
UNFINISHED = Answer(None, "unfinished")


@dataclass
class Reply:
    """One response while it is read; what a rule needs is found once, when first needed."""

    text: str
    options: Options
    lowered: str = field(init=False)
    _denials: dict[int, bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.lowered = lower(self.text)

    @lazy
    def words(self) -> list[str]:
        """The words in lower case."""
        return WORD.findall(self.lowered)

    @lazy
    def mentions(self) -> list[Mention]:
        """Every place that names an option."""
        return find_mentions(self.text, self.lowered, self.options)

    @lazy
    def rest(self) -> str:
        """The reply in lower case with the mentions blanked out: "No rotation" denies nothing."""
        pieces, end = [], 0
        for mention in self.mentions:
            pieces.append(self.lowered[end : mention.start])
            pieces.append(" " * (mention.end - mention.start))
            end = mention.end
        pieces.append(self.lowered[end:])
        return "".join(pieces)

    @lazy
    def has_doubt(self) -> bool:
        """Whether anything in the reply may deny an option or leave it open."""
        return wording.DOUBT.search(self.rest) is not None

    @lazy
    def has_question(self) -> bool:
        """Whether there is a question mark anywhere."""
        return "?" in self.lowered

    @lazy
    def refusal(self) -> int | None:
        """Where the first refusal ends, if there is one."""
        found = wording.REFUSAL.search(self.rest)
        return found.end() if found else None

    @lazy
    def affirmed(self) -> list[Mention]:
        """The mentions that are not denied, left open or part of a list of options."""
        named = self._without_lists([m for m in self.mentions if not self.denied(m)])
        return [m for m in named if not ASKED.match(self.lowered, m.end)]

    def denied(self, mention: Mention) -> bool:
        """Whether the reply denies this option or leaves it open."""
        if self.denied_after(mention) or self.in_question(mention):
            return True
        if not self.has_doubt:
            return False
        if mention.form == "text":
            # "Determining left motion is impossible."
            after = self.rest[mention.end : mention.end + 80]
            stop = wording.CLAUSE_END.search(after)
            if wording.REFUSAL.search(after, 0, stop.start() if stop else len(after)):
                return True
        wide = mention.form != "marked"
        return self.conditional(mention) or self.doubted(mention.start, wide=wide)

    def conditional(self, mention: Mention) -> bool:
        """Whether the mention only counts "if ..."."""
        if not self.has_doubt:
            return False
        start = max(0, mention.start - 160)
        if wording.CONDITIONAL.search(self.rest[start : mention.start]):
            return True
        return wording.IF_AFTER.match(self.lowered, mention.end) is not None and (
            wording.WOULD.search(self.rest, max(0, mention.start - 30), mention.start) is not None
        )

    def in_question(self, mention: Mention) -> bool:
        """Whether the mention is in a question: "why is it B?"."""
        if not self.has_question:
            return False
        stop = _STOP.search(self.lowered, mention.end, mention.end + 120)
        if stop is None or stop.group() != "?":
            return False
        start = max(0, mention.start - 160)
        before = self.lowered[start : mention.start]
        return wording.INTERROGATIVE.match(before, last_end(_STOP, before)) is not None

    def denied_after(self, mention: Mention) -> bool:
        """Whether "... is wrong", "... and B are wrong" follows, and not "... is not B"."""
        if self._denial_follows(mention):
            return True
        place = self.place(mention.end)
        if place == len(self.mentions) or place not in self._denied_places:
            return False
        follower = self.mentions[place]
        gap = self.lowered[mention.end : follower.start]
        return (
            len(gap) < 40
            and follower.letter != mention.letter
            and COORDINATION.fullmatch(gap) is not None
            and wording.DENIED_TOGETHER.match(self.lowered, follower.end) is not None
        )

    def _denial_follows(self, mention: Mention) -> bool:
        if self.ends_after(mention):
            return False
        known = self._denials.get(mention.end)
        if known is None:
            known = self._denials[mention.end] = self._denied_from(mention.end)
        return known

    def _denied_from(self, position: int) -> bool:
        denial = wording.DENIED_AFTER.match(self.lowered, position)
        if denial is None:
            return False
        follower = self.following(denial.end())
        return follower is None or not _BEFORE_OBJECT.fullmatch(
            self.lowered[denial.end() : follower.start]
        )

    @lazy
    def _denied_places(self) -> frozenset[int]:
        """Indices of the mentions that a denial follows."""
        return frozenset(place for place, m in enumerate(self.mentions) if self._denial_follows(m))

    @lazy
    def _starts(self) -> list[int]:
        return [mention.start for mention in self.mentions]

    def place(self, position: int) -> int:
        """The index of the first mention from ``position`` on."""
        return bisect_left(self._starts, position)

    def covering(self, position: int, earliest: int) -> Mention | None:
        """The option's text that begins from ``earliest`` on and goes beyond ``position``."""
        place = bisect_right(self._starts, position) - 1
        if place < 0:
            return None
        mention = self.mentions[place]
        inside = earliest <= mention.start <= position < mention.end
        return mention if inside and mention.form == "text" else None

    def letter_mention(self, position: int) -> Mention | None:
        """The mention by its letter that begins at ``position``."""
        place = self.place(position)
        if place == len(self.mentions) or self.mentions[place].start != position:
            return None
        return self.mentions[place] if self.mentions[place].form != "text" else None

    def ends_after(self, mention: Mention) -> bool:
        """Whether too little follows for a verdict: the shortest are "-no" and "✓"."""
        return len(self.text) - mention.end < 3 and self.text.isascii()

    def following(self, position: int) -> Mention | None:
        """The first mention from ``position`` on, if it begins within a few characters."""
        place = self.place(position)
        if place < len(self.mentions) and self.mentions[place].start - position < 40:
            return self.mentions[place]
        return None

    def doubted(self, position: int, *, wide: bool) -> bool:
        """Whether a denial comes before ``position``, of a mention or the like, in its clause.

        If ``wide``, a refusal or an open question before it in its sentence counts, too ("I cannot
        tell whether he moves left, right or up").
        """
        before = self.rest[max(0, position - 160) : position]
        if wording.DOUBT.search(before[last_end(wording.CLAUSE_END, before) :]):
            return True
        sentence = before[last_end(wording.SENTENCE_END, before) :]
        if not wide:
            return False
        if wording.OPEN_QUESTION.search(sentence):
            return True
        refusal = wording.REFUSAL.search(sentence)
        return refusal is not None and not wording.CONTRAST.search(sentence, refusal.end())

    def refused_before(self, position: int) -> bool:
        """Whether the reply refuses before ``position`` and does not come back to it."""
        if self.refusal is None or self.refusal > position:
            return False
        return self._contrast is None or self._contrast > position

    @lazy
    def _contrast(self) -> int | None:
        """Where the first word ends that takes the refusal back, if there is one."""
        found = wording.CONTRAST.search(self.rest, self.refusal or 0)
        return found.end() if found else None

    def _without_lists(self, mentions: list[Mention]) -> list[Mention]:
        """Take off options that are only listed: two or more different ones in a row."""
        kept: list[Mention] = []
        run: list[Mention] = []
        for mention in mentions:
            if run and self._continues(run, mention):
                run.append(mention)
                continue
            kept.extend(_unlisted(run))
            run = [mention]
        kept.extend(_unlisted(run))
        return kept

    def _continues(self, run: list[Mention], right: Mention) -> bool:
        """Whether a mention is one more entry of the list that ``run`` begins."""
        left = run[-1]
        if right.start - left.end > 24:
            return False
        gap = self.lowered[left.end : right.start]
        if left.form == right.form == "bare" and gap.isspace():
            return True
        if left.letter == right.letter:
            # "A. Up. B. Down. Down.": the choice follows the list.
            return left.letter == run[0].letter and LIST_GAP.fullmatch(gap) is not None
        if COORDINATION.fullmatch(gap) and _AND.search(gap):
            return True
        if left.item and right.item:
            order = self.options.order
            # "I thought of (C) Up.\n\nD": letters with texts, then one without: not a list.
            same = left.own == right.own or not self.options.texts.get(right.letter)
            if "\n\n" in gap and not starts_line(self.text, left.start):
                return False
            follows = order.find(right.letter) == order.find(left.letter) + 1
            return same and follows and LIST_GAP.fullmatch(gap) is not None
        if left.form == "text" and right.form == "text":
            return LIST_GAP.fullmatch(gap) is not None
        return COORDINATION.fullmatch(gap) is not None


_STOP = re.compile(r"[.!?\n]")
ASKED = re.compile(r"[)\]\"'*_`]{0,4}\?")
_BEFORE_OBJECT = re.compile(
    r"[\s(\[\"'*_`]*(?:(?:be|the|option|answer|choice|letter)[\s(\[\"'*_`]+){0,3}"
)
LIST_GAP = re.compile(
    r"[\s,;/|&*_.)(\]\[\"'`{}<>:+=-]*"
    r"(?:(?:and|or|nor|vs\.?|versus|then|和|或者?|と|oder|und|ou|et|y|o|или|и)[\s*_(\[\"'`]+)?"
    r"(?:(?:option|choice|answer|letter)[\s(\"'*]+)?[\s(\[\"'*_`-]*|[和或とやу]"
)
_OR = (
    r"as well as|along with|plus|and/or|and|or maybe|or perhaps|or possibly|or even|or else|or|nor"
    r"|vs\.?|versus|ou|oder|und|et|или|и|或者?|和|y|o|e"
)
_AND = re.compile(r"(?<![a-z])(?:and|or|as well as)(?![a-z])")
COORDINATION = re.compile(
    rf"[ \t)\]\"'*_`]*(?:,|;|/|&|\||\+|,?[ \t]*(?:{_OR})(?=[ \t(\"'*]))[ \t(\[\"'*_`]*"
    r"(?:(?:and|or|maybe|perhaps|possibly|could be|even|also|it could be|the|answer|option|choice"
    r"|letter)[ \t(\[\"'*]+){0,3}|[和或と]"
)


def last_end(pattern: re.Pattern[str], text: str) -> int:
    """Return where the last match ends, or 0."""
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end


def _unlisted(run: list[Mention]) -> list[Mention]:
    """Return the run, or nothing if it lists different options."""
    return run if len({mention.letter for mention in run}) < 2 else []
