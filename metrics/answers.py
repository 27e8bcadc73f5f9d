"""From what a model prints to the option it chose.

A response is free text: a letter, a letter in a sentence, an option's text, a page of reasoning
with the choice somewhere in it, or a refusal. :func:`extract_choice` and
:func:`extract_yes_no` find the choice, or None; :func:`parse_choice` and :func:`parse_yes_no`
also say by which rule, so that a run can show how many responses were read in which way.

The layers, in order:

1. characters are unified (full-width letters, typographic quotes, LaTeX and HTML styling);
2. marked reasoning (``<think>`` ... ``</think>``) is taken off;
3. every place that names an option is found, and those that deny it ("not B"), leave it open
   ("whether it is B") or only list the options are set aside;
4. the rules of ``_CHOICE_RULES`` are asked in order; the first that decides wins.

What is never done: a letter is not taken from the article "A" or the pronoun "I", there is no
default, and of several options none is picked at random. A final statement wins over everything
before it. No language model is needed. Time is linear in the length of the response.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from video_reasoning.metrics import _reply, _wording
from video_reasoning.metrics._mentions import LONE_LETTER, Mention, Options, compile_options


@dataclass(frozen=True)
class Answer:
    """What was read from a response.

    Attributes:
        value: the key of the chosen option, "yes" or "no"; None where nothing was chosen.
        rule: the rule that found it; where ``value`` is None, why: "empty", "refusal",
            "ambiguous", "not an option", "unfinished" or "none".
    """

    value: str | None
    rule: str


def extract_choice(response: str, options: Mapping[str, str] | Sequence[str]) -> str | None:
    """The letter of the option that a response chooses.

    Args:
        response: what the model printed.
        options: letter -> text, or the texts alone (letters from A on).

    Returns:
        A key of ``options`` (a capital letter for a sequence), or None where the response
        chooses none.

    Raises:
        ValueError: for more than 26 options, or a key that is no single letter.

    Examples:
        >>> extract_choice("A person moves, so the answer is (C).", ["Up.", "Left.", "Down."])
        'C'
        >>> extract_choice("I do not know.", ["Up.", "Left.", "Down."]) is None
        True
    """
    return parse_choice(response, options).value


def extract_yes_no(response: str) -> str | None:
    """Whether a response says "yes" or "no"; None where it says neither, or both.

    Examples:
        >>> extract_yes_no("No, his eyes are closed.")
        'no'
        >>> extract_yes_no("Not sure.") is None
        True
    """
    return parse_yes_no(response).value


def parse_choice(response: str, options: Mapping[str, str] | Sequence[str]) -> Answer:
    """Like :func:`extract_choice`, with the rule that decided.

    Raises:
        ValueError: for more than 26 options, or a key that is no single letter.
    """
    compiled = compile_options(options)
    text = _reply.normalise(response) if response else ""
    if not text:
        return Answer(None, "empty")
    outcome = _choose(text, compiled)
    if outcome.value is None:
        return outcome
    return Answer(compiled.keys[outcome.value], outcome.rule)


_UNDECIDED = Answer(None, "none")
_AMBIGUOUS = Answer(None, "ambiguous")
_BEYOND = Answer(None, "not an option")
_UNFINISHED = Answer(None, "unfinished")


# --- The reply, and what can be asked of it -----------------------------------------------------


@dataclass
class _Reply:
    """One response while it is read; what a rule needs is found once, when first asked for."""

    text: str
    options: Options
    lowered: str = field(init=False)

    def __post_init__(self) -> None:
        self.lowered = _reply.lower(self.text)

    @cached_property
    def mentions(self) -> list[Mention]:
        """Every place that names an option."""
        return self.options.mentions(self.text, self.lowered)

    @cached_property
    def rest(self) -> str:
        """The reply in lower case with the mentions blanked out: "No rotation" denies nothing."""
        pieces, end = [], 0
        for mention in self.mentions:
            pieces.append(self.lowered[end : mention.start])
            pieces.append(" " * (mention.end - mention.start))
            end = mention.end
        pieces.append(self.lowered[end:])
        return "".join(pieces)

    @cached_property
    def has_doubt(self) -> bool:
        """Whether anything in the reply may deny an option or leave it open."""
        return _wording.DOUBT.search(self.rest) is not None

    @cached_property
    def refusal(self) -> int | None:
        """Where the first refusal ends, if there is one."""
        found = _wording.REFUSAL.search(self.rest)
        return found.end() if found else None

    @cached_property
    def affirmed(self) -> list[Mention]:
        """The mentions that are not denied, left open or part of a list of options."""
        return self._without_lists([m for m in self.mentions if not self.denied(m)])

    def denied(self, mention: Mention) -> bool:
        """Whether the reply denies this option or leaves it open."""
        if self.denied_after(mention) or _ASKED.match(self.lowered, mention.end):
            return True
        return self.has_doubt and self.doubted(mention.start, wide=mention.form != "marked")

    def denied_after(self, mention: Mention) -> bool:
        """Whether "... is wrong" or the like follows, and "... is not B" does not."""
        denial = _wording.DENIED_AFTER.match(self.lowered, mention.end)
        if denial is None:
            return False
        follower = self.following(denial.end())
        return follower is None or not _BEFORE_OBJECT.fullmatch(
            self.lowered[denial.end() : follower.start]
        )

    def covering(self, position: int, earliest: int) -> Mention | None:
        """The option's text that begins from ``earliest`` on and goes beyond ``position``."""
        place = bisect_right(self.mentions, position, key=_start) - 1
        if place < 0:
            return None
        mention = self.mentions[place]
        inside = earliest <= mention.start <= position < mention.end
        return mention if inside and mention.form == "text" else None

    def following(self, position: int) -> Mention | None:
        """The first mention from ``position`` on, if it begins within a few characters."""
        place = bisect_left(self.mentions, position, key=_start)
        if place < len(self.mentions) and self.mentions[place].start - position < 40:
            return self.mentions[place]
        return None

    def doubted(self, position: int, *, wide: bool) -> bool:
        """Whether what stands at ``position`` follows a denial in its clause.

        Args:
            position: of the mention or of the announcement.
            wide: also look for a refusal or an open question anywhere before it in its
                sentence ("I cannot tell whether he moves left, right or up").
        """
        before = self.rest[max(0, position - 160) : position]
        if _wording.DOUBT.search(before[_last_end(_wording.CLAUSE_END, before) :]):
            return True
        sentence = before[_last_end(_wording.SENTENCE_END, before) :]
        return wide and _wording.OPEN_SENTENCE.search(sentence) is not None

    def refused_before(self, position: int) -> bool:
        """Whether the reply refuses before ``position`` and does not come back to it."""
        if self.refusal is None:
            return False
        if self.refusal > position:
            return False
        return _wording.CONTRAST.search(self.rest, self.refusal, position) is None

    def _without_lists(self, mentions: list[Mention]) -> list[Mention]:
        """Takes off options that are only listed: two or more different ones in a row."""
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
        if left.letter == right.letter:
            # "A. Up. B. Down. Down.": the choice follows the list.
            return left.letter == run[0].letter and _LIST_GAP.fullmatch(gap) is not None
        if left.item and right.item:
            order = self.options.order
            return order.find(right.letter) == order.find(left.letter) + 1 and (
                _LIST_GAP.fullmatch(gap) is not None
            )
        if left.form == "text" and right.form == "text":
            return _LIST_GAP.fullmatch(gap) is not None
        return _COORDINATION.fullmatch(gap) is not None


def _start(mention: Mention) -> int:
    return mention.start


_ASKED = re.compile(r"[)\]\"'*_`]{0,4}\?")
_BEFORE_OBJECT = re.compile(r"[\s(\[\"'*_`]*(?:(?:the|option|answer|choice|letter)[\s(\[\"'*_`]+){0,2}")
_LIST_GAP = re.compile(
    r"[\s,;/|&*_.)(\]\[\"'`{}<>:+=-]*(?:(?:and|or|nor|vs\.?|versus|then|和|或|或者|と|oder|und|ou|et|y|o"
    r"|или|и)[\s*_(\[\"'`]+)?(?:(?:option|choice|answer|letter)[\s(\"'*]+)?[\s(\[\"'*_`-]*|[和或とやу]"
)
_COORDINATION = re.compile(
    r"[\s)\]\"'*_`]*(?:,|/|&|\||\+|,?\s*(?:and|or|nor|vs\.?|versus|and/or|ou|oder|or maybe|or perhaps"
    r"|or possibly|or even|or else|или|和|或|или|y|o|et|und)(?=[\s(\"'*]))[\s(\[\"'*_`]*"
    r"(?:(?:maybe|perhaps|possibly|could be|even|also|it could be|the|answer|option|choice|letter)"
    r"[\s(\[\"'*]+){0,3}|[和或と]"
)


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end


def _unlisted(run: list[Mention]) -> list[Mention]:
    """The run itself, or what stays of it where it lists different options."""
    return run if len({mention.letter for mention in run}) < 2 else []


# --- Rules for a choice -------------------------------------------------------------------------
# Each takes the reply and returns the capital letter, an Answer without a value where it
# decides that there is none, or None to hand on to the next rule.

_Outcome = str | Answer | None

_ONLY_LETTER = re.compile(
    r"[\W_]*(?:(?:option|choice|answer|letter)\s+)?[\W_]*([A-Za-z])[\W_]*", re.I
)
_FULL_LETTER = re.compile(
    r"[\W_]*([A-Za-z])[\W_]*(?:입니다|이다|です|だ|である|选项|選項|项|番|번|是正确的|是正确答案|正确|が正解|が正しい)?[\W_]*"
)


_SHORT_ANSWER = re.compile(r"(?:^|\n)\s{0,9}A\s{0,3}:\s{0,9}(?=(.{1,400}))", re.S)


def _question_and_answer(reply: _Reply) -> _Outcome:
    """The reply ends with "A:" for "answer", before a letter or another option's text."""
    if "A:" not in reply.text:
        return None
    match = None
    for match in _SHORT_ANSWER.finditer(reply.text):  # noqa: B007
        pass
    if match is None:
        return None
    inner = _Reply(reply.text[match.end() :], reply.options)
    own = reply.options.own.get("A")
    labels = own is not None and own.match(reply.lowered, match.end()) is not None
    for rule in (_whole_reply, _only_text, *(() if labels else (_leading_letter,))):
        outcome = rule(inner)
        if isinstance(outcome, str):
            return outcome
    return None


def _whole_reply(reply: _Reply) -> _Outcome:
    """The reply is a letter, or one option's text, and nothing else."""
    text, options = reply.text, reply.options
    if len(text) < 40:
        match = _ONLY_LETTER.fullmatch(text) or _FULL_LETTER.fullmatch(text)
        if match:
            letter = match.group(1).upper()
            if letter in options.keys:
                return letter
            stripped = options.exact.get(text.strip(" .'\"*`()").lower())
            return stripped or _BEYOND
    form = " ".join(reply.lowered.split()).strip(" .,;:!\"'*`_")
    if form in options.exact:
        return options.exact[form] or _AMBIGUOUS
    return None


def _only_text(reply: _Reply) -> _Outcome:
    """The reply is one option's text in other punctuation, or a part of one option alone."""
    if len(reply.text) > 2000:
        return None
    words = " ".join(_WORD.findall(reply.lowered))
    if words in reply.options.words:
        return reply.options.words[words]
    return None


def _fields(reply: _Reply) -> _Outcome:
    """The last field made for the answer: ``<answer>``, a LaTeX box, a JSON value."""
    content = _reply.fields(reply.text)
    if content is None:
        return None
    inner = _Reply(content.strip("\"' "), reply.options)
    for rule in (
        _whole_reply,
        _only_text,
        _statement,
        _leading_letter,
        _single_letter,
        _option_text,
    ):
        outcome = rule(inner)
        if outcome is not None:
            return outcome
    return None


def _statement(reply: _Reply) -> _Outcome:
    """The last explicit statement: "the answer is B", "I choose B", "B is correct"."""
    found: list[tuple[bool, int, _Outcome]] = []
    for cue in _wording.ANNOUNCEMENT.finditer(reply.lowered):
        outcome = _announced(reply, cue)
        if outcome is not None:
            head = reply.lowered[max(0, cue.start() - 24) : cue.start()]
            final = _wording.FINAL.search(head) is not None
            found.append((final, cue.start(), outcome))
    for place, mention in enumerate(reply.mentions):
        if not _wording.CONFIRMED.match(reply.lowered, mention.end) or reply.denied(mention):
            continue
        before = reply.mentions[place - 1] if place else None
        if before and before.letter != mention.letter and _coordinated(reply, before, mention):
            found.append((False, mention.start, _AMBIGUOUS))
        elif mention.known:
            found.append((False, mention.start, mention.letter))
    return max(found, key=lambda entry: entry[:2])[2] if found else None


def _coordinated(reply: _Reply, left: Mention, right: Mention) -> bool:
    gap = reply.lowered[left.end : right.start]
    return len(gap) < 40 and _COORDINATION.fullmatch(gap) is not None


def _announced(reply: _Reply, cue: re.Match[str]) -> _Outcome:
    """What an announcement announces."""
    gap = cue.group("gap")
    option_noun = cue.group("option") is not None
    if option_noun and not _wording.COPULA.search(gap):
        return None
    if reply.has_doubt and reply.doubted(cue.start(), wide=False):
        return None
    options, text, lowered = reply.options, reply.text, reply.lowered
    position = cue.end()
    named = reply.covering(position, cue.start())
    if named is not None and cue.group("match") is None:
        return _decided(reply, named)
    if LONE_LETTER.match(text, position):
        mention = options.letter_at(text, lowered, position, announced=True)
        if mention is not None:
            if cue.group("match") is not None and mention.form == "bare" and not mention.known:
                return None
            return _decided(reply, mention)
    if cue.group("match") is not None:
        return None
    article = _ARTICLE_HERE.match(lowered, position)
    named = reply.covering(article.end(), cue.start()) if article else None
    if named is not None:
        return _decided(reply, named)
    if cue.group("verb") is not None:
        return None
    return _in_sentence(reply, cue)


_ARTICLE_HERE = re.compile(r"(?:a|an|the|that|it|there)\s+")
_WORD = re.compile(r"[^\W_]+")
_RUN_ON = re.compile(r"[.!?](?=\s|$)|\n")


def _decided(reply: _Reply, mention: Mention) -> _Outcome:
    """The announced mention, unless it is denied, asked, or one of several."""
    if reply.denied_after(mention):
        return None
    follower = reply.following(mention.end)
    if follower is not None and follower.letter != mention.letter:
        if mention.item and follower.item and mention.letter == reply.options.order[0]:
            return None
        gap = reply.lowered[mention.end : follower.start]
        if _COORDINATION.fullmatch(gap) and not reply.denied_after(follower):
            return _AMBIGUOUS
    return mention.letter if mention.known else _BEYOND


def _in_sentence(reply: _Reply, cue: re.Match[str]) -> _Outcome:
    """The one option named later in the sentence of "the answer ... is ..."."""
    end = min(len(reply.text), cue.end() + 300)
    stop = _RUN_ON.search(reply.text, cue.end(), end)
    end = stop.start() if stop else end
    start = cue.end("answer") if cue.group("answer") else cue.end("option")
    mentions = reply.mentions
    low = bisect_left(mentions, start, key=_start)
    named: list[Mention] = []
    for mention in mentions[low : low + 20]:
        if mention.start >= end:
            break
        between = reply.lowered[start : mention.start]
        if mention.known and _wording.COPULA.search(between) and not reply.denied(mention):
            named.append(mention)
    for group in ([m for m in named if m.form != "text"], named):
        letters = {mention.letter for mention in group}
        if len(letters) == 1:
            return letters.pop()
        if len(letters) > 1:
            return _AMBIGUOUS
    return None


_LEADING_TEXT_END = re.compile(
    r"[\"'*_`)]*(?:[.,;:!\n-]|\s+-|\s+(?:because|since|as|due|based)\b|\s*$)"
)


def _last_line(reply: _Reply) -> _Outcome:
    """The last line is one option's letter, or its letter and text, and nothing else."""
    affirmed = reply.affirmed
    if not affirmed or not affirmed[-1].alone or not affirmed[-1].known:
        return None
    last = affirmed[-1]
    if last.form == "text" or reply.lowered[last.end :].strip(" \n*_\"'`)]}.,:;"):
        return None
    first = affirmed[0]
    if first is not last and first.alone and first.letter != last.letter and first.start < 12:
        return _AMBIGUOUS
    return last.letter


def _leading_letter(reply: _Reply) -> _Outcome:
    """The reply begins with a letter: "B. ...", "(B) because ...", "'B': ..."."""
    if not _HEAD.match(reply.text):
        return None
    affirmed = reply.affirmed
    if not affirmed:
        return None
    first = affirmed[0]
    head = reply.lowered[: first.start]
    if first.form == "text" or len(head) > 24 or not _HEAD_WORDS.fullmatch(head):
        return None
    if not (first.item or first.form == "marked" or _ends_clause(reply, first)):
        return None
    if not first.known:
        return _BEYOND if first.form == "marked" else None
    later = [m for m in affirmed[1:] if m.item and m.form == "marked"]
    walk = first.letter == reply.options.order[0] and later
    if (
        walk
        and later[0].letter == reply.options.order[1:2]
        and not (first.alone and not later[0].alone)
    ):
        return None
    return first.letter


_HEAD = re.compile(
    r"[\W_]*(?:[A-Za-z](?![A-Za-z])|(?:option|choice|letter|answer|the|sure|okay|ok|yes)\b)", re.I
)
_HEAD_WORDS = re.compile(
    r"[\W_]*(?:(?:the|option|choice|letter|answer|number|sure|okay|ok|yes|statement)[\W_]+){0,3}"
)


def _ends_clause(reply: _Reply, mention: Mention) -> bool:
    rest = reply.lowered[mention.end : mention.end + 24]
    word = re.match(r"\s+([^\W_]+)", rest)
    if word is None:
        return True
    return word.group(1) in _wording.NO_NOUN or mention.letter not in "AI"


def _leading_text(reply: _Reply) -> _Outcome:
    """The reply begins with one option's text as a clause of its own."""
    affirmed = reply.affirmed
    if not affirmed or affirmed[0].form != "text":
        return None
    first = affirmed[0]
    if reply.lowered[: first.start].strip(" \n*_\"'`(["):
        return None
    return first.letter if _LEADING_TEXT_END.match(reply.lowered, first.end) else None


def _closing_letter(reply: _Reply) -> _Outcome:
    """The reply ends with a letter as a sentence of its own: "... to the left. B"."""
    affirmed = reply.affirmed
    if not affirmed or affirmed[-1].form == "text":
        return None
    last = affirmed[-1]
    if reply.lowered[last.end :].strip(" \n*_\"'`)]}.,:;!"):
        return None
    head = reply.lowered[max(0, last.start - 40) : last.start].rstrip(" *_\"'`([{#")
    if not head or head[-1] in ".!?:\n>-→⇒=" or _wording.CONCLUSION.search(head[-14:]):
        return last.letter if last.known else _BEYOND
    return None


def _weak_statement(reply: _Reply) -> _Outcome:
    """The last "it is B", "so B", "probably B"."""
    outcome: _Outcome = None
    for cue in _wording.WEAK.finditer(reply.lowered):
        position = cue.end()
        if not LONE_LETTER.match(reply.text, position) or reply.covering(position, position):
            continue
        mention = reply.options.letter_at(reply.text, reply.lowered, position)
        if mention is None or not mention.known:
            continue
        if reply.has_doubt and reply.doubted(cue.start(), wide=False):
            continue
        outcome = _decided(reply, mention) or outcome
    return outcome


def _single_letter(reply: _Reply) -> _Outcome:
    """Exactly one option is named by its letter."""
    marked = [m for m in reply.affirmed if m.form == "marked" and m.known]
    bare = [m for m in reply.affirmed if m.form == "bare" and m.known]
    for group in (marked, bare):
        letters = {m.letter for m in group if not reply.refused_before(m.start)}
        if len(letters) == 1:
            return letters.pop()
        if letters:
            return None
    return None


def _conclusion(reply: _Reply) -> _Outcome:
    """The one option that the last "so ...", "therefore ..." names."""
    for cue in reversed(list(_wording.CONCLUSION.finditer(reply.lowered))):
        stop = _RUN_ON.search(reply.text, cue.end(), cue.end() + 300)
        end = stop.start() if stop else cue.end() + 300
        letters = {m.letter for m in reply.affirmed if cue.end() <= m.start < end and m.known}
        if len(letters) == 1 and not reply.refused_before(cue.start()):
            return letters.pop()
    return None


def _option_text(reply: _Reply) -> _Outcome:
    """Exactly one option's text occurs."""
    named = [m for m in reply.affirmed if m.form == "text" and not reply.refused_before(m.start)]
    letters = {mention.letter for mention in named}
    if len(letters) == 1:
        return letters.pop()
    return _AMBIGUOUS if letters else None


def _part_of_text(reply: _Reply) -> _Outcome:
    """The reply is short, and part of exactly one option's text."""
    if len(reply.text) > 120 or reply.mentions or reply.refusal is not None:
        return None
    words = _WORD.findall(reply.lowered)
    if not words or len(words) > 12 or not any(len(word) > 3 for word in words):
        return None
    if len(words) == 1 and words[0] in ("none", "neither", "both", "nothing"):
        return None
    part = f" {' '.join(words)} "
    holders = [
        letter
        for letter, text in reply.options.texts.items()
        if part in f" {' '.join(_WORD.findall(_reply.lower(text)))} "
    ]
    return holders[0] if len(holders) == 1 else None


def _yes_or_no(reply: _Reply) -> _Outcome:
    """Where the options are yes and no: which of them the reply says."""
    if len(reply.options.yes_no) < 2 or any(m.form != "text" for m in reply.mentions):
        return None
    word = _read_yes_no(reply.text).value
    return reply.options.yes_no[word] if word else None


_EXPLICIT = (_whole_reply, _only_text, _fields, _question_and_answer, _statement)
_WEAKER = (
    _last_line,
    _leading_letter,
    _closing_letter,
    _leading_text,
    _weak_statement,
    _single_letter,
    _conclusion,
    _option_text,
    _part_of_text,
    _yes_or_no,
)
_CHOICE_RULES: tuple[Callable[[_Reply], _Outcome], ...] = (*_EXPLICIT, *_WEAKER)
_TERMINAL = ".!?)]}\"'*`。>:|"


def _choose(text: str, options: Options) -> Answer:
    """Asks the rules in order; the value of the answer is a capital letter."""
    answer, reasoning, open_end = _reply.split_reasoning(text)
    if open_end:
        outcome = _ask(_Reply(reasoning, options), (_fields,))
        return outcome if outcome.value else _UNFINISHED
    if not answer:
        return _ask(_Reply(reasoning, options), _EXPLICIT) if reasoning else Answer(None, "empty")
    first = _before_next_question(answer)
    if first is not None:
        outcome = _ask(_Reply(first, options), _CHOICE_RULES)
        if outcome.value is not None:
            return outcome
    reply = _Reply(answer, options)
    return _ask(reply, _CHOICE_RULES)


def _ask(reply: _Reply, rules: Sequence[Callable[[_Reply], _Outcome]]) -> Answer:
    cut_off = _cut_off(reply)
    for rule in rules:
        if cut_off and rule not in _EXPLICIT and rule is not _leading_letter:
            continue
        outcome = rule(reply)
        if isinstance(outcome, Answer):
            return outcome
        if outcome is not None:
            return Answer(outcome, rule.__name__.strip("_").replace("_", " "))
    if reply.refusal is not None:
        return Answer(None, "refusal")
    if cut_off:
        return _UNFINISHED
    return _AMBIGUOUS if len({m.letter for m in reply.mentions}) > 1 else _UNDECIDED


def _cut_off(reply: _Reply) -> bool:
    """Whether a long reply stops in the middle of a sentence."""
    tail = reply.text[-60:]
    last_line = tail.rsplit("\n", 1)[-1]
    if len(reply.text) < 200 or len(last_line) < 20 or tail[-1] in _TERMINAL:
        return False
    return tail[-1].isascii() and (
        not reply.mentions or reply.mentions[-1].end < len(reply.text)
    )


_NEXT_QUESTION = re.compile(
    r"\n\s{0,9}(?:#{1,4}\s{0,3})?(?:USER|Human|User|Question|Q|Instruction)\s{0,3}\d{0,3}\s{0,3}:"
)


def _before_next_question(text: str) -> str | None:
    """What stands before a question that the model goes on to invent."""
    match = _NEXT_QUESTION.search(text)
    return text[: match.start()].strip() or None if match else None


# --- Yes or no ----------------------------------------------------------------------------------

_YES = r"yes|yeah|yep|yup|true|affirmative|correct|sí|oui|ja|sim|да|evet|tak|نعم|हाँ|是的?|はい|예|네|对"
_NO = r"no|nope|nah|false|negative|incorrect|non|nein|não|нет|hayır|nie|لا|नहीं|不是|否|不|いいえ|아니요|아니오|不对"
_WHOLE_YES = re.compile(rf"[\W_]*(?:(?:{_YES})|y)[\W_]*", re.IGNORECASE)
_WHOLE_NO = re.compile(rf"[\W_]*(?:(?:{_NO})|n)[\W_]*", re.IGNORECASE)
_BOTH = re.compile(
    r"\byes\b[\s\"'*)]{0,4}(?:/|\||,?\s?\b(?:or|and)\b)[\s\"'*(]{0,4}\bno\b"
    r"|\bno\b[\s\"'*)]{0,4}(?:/|\||,?\s?\b(?:or|and)\b)[\s\"'*(]{0,4}\byes\b"
)
_LEADING = re.compile(
    rf"[\W_]*(?:(?:(?:well|okay|ok|sure|hmm|oh)[\s,.!]+)?)[\W_]*"
    rf"(?:(?P<yes>{_YES})|(?P<no>{_NO}))"
    rf"(?=[\s\"'*_)`\]]*(?:[.,;:!\n]|-(?!\w)|$)"
    rf"|[\s\"'*_)`\]]+(?:the|this|that|these|it|he|she|they|his|her|there|because|as|since|in|i|we|you"
    rf"|based|given|according|although|while|a|an|not|explanation|end)\b)"
)
_YES_NO_CUE = re.compile(
    r"(?<![a-z])(?:answer|conclusion|verdict|response|prediction|guess|judge?ment|decision|答案|ответ"
    r"|respuesta|réponse|antwort|risposta|resposta|回答|정답|答え|say|said|therefore|thus|hence|so"
    r"|overall|in conclusion|conclude|i think|i believe|actually|probably|answering)(?![a-z])"
    r"(?P<gap>(?:[\s:=*_\"'`(\[{<>#,~|-]|(?:is|would|be|should|must|to|the|this|that|question|my|final|a"
    r"|clear|simply|therefore|definitely|likely|most|probably|was|it|es|est|ist|è|é|是|はい?|은|는)"
    r"(?![a-zà-ÿ])|[是为は은는]){0,30})"
    r"(?P<word>yes|no|true|false|是|否|да|нет|oui|non|sí|ja|nein|sim|não)(?![\w'-])"
)
_NO_STOP = re.compile(r"[\"'*_)`\]\s]*(?:[.,;:!?)}\]\n]|-(?!\w)|$|because|as\b|since|the\b|end\b)")
_VERDICT = re.compile(
    r"(?<![a-z])(?:hypothesis|statement|claim|assertion|proposition|description|assumption)(?![a-z])"
    r"[\"'*_\s]{0,4}(?P<mid>(?:(?:does|do|did|is|was|seems|appears|can|could|would|to|be|not|n't"
    r"|cannot|therefore|thus|also|indeed|likely|probably|clearly|fully|definitely|in the video|most"
    r"|doesn't|isn't|didn't|wasn't|can't|couldn't|may|might|must|still|actually|that|you|provided)"
    r"(?![a-z])[\s,*_]{0,4}){0,6})"
    r"(?P<word>holds?|true|correct|false|incorrect|valid|invalid|accurate|inaccurate|supported"
    r"|unsupported|plausible|implausible|consistent|inconsistent|contradicted|confirmed|refuted|wrong"
    r"|rejected|matches|match|contradicts|fails|unlikely|likely)(?![a-z])"
)
_AGAINST = frozenset(
    (
        "false",
        "incorrect",
        "invalid",
        "inaccurate",
        "unsupported",
        "implausible",
        "inconsistent",
        "contradicted",
        "refuted",
        "wrong",
        "rejected",
        "contradicts",
        "fails",
        "unlikely",
    )
)


def parse_yes_no(response: str) -> Answer:
    """Like :func:`extract_yes_no`, with the rule that decided."""
    text = _reply.normalise(response) if response else ""
    if not text:
        return Answer(None, "empty")
    answer, reasoning, open_end = _reply.split_reasoning(text)
    if open_end:
        field_text = _reply.fields(reasoning)
        inner = _read_yes_no(field_text) if field_text else _UNFINISHED
        return inner if inner.value else _UNFINISHED
    if not answer:
        return _stated_yes_no(_reply.lower(reasoning)) or Answer(None, "empty")
    field_text = _reply.fields(answer)
    if field_text:
        inner = _read_yes_no(field_text.strip("\"' "))
        if inner.value:
            return Answer(inner.value, "fields")
    first = _before_next_question(answer)
    if first is not None:
        outcome = _read_yes_no(first)
        if outcome.value is not None:
            return outcome
    return _read_yes_no(answer)


def _read_yes_no(text: str) -> Answer:
    """Asks the rules for yes or no in order."""
    lowered = _reply.lower(text)
    if len(lowered) < 40:
        if _WHOLE_YES.fullmatch(lowered):
            return Answer("yes", "whole reply")
        if _WHOLE_NO.fullmatch(lowered):
            return Answer("no", "whole reply")
    had_both = _BOTH.search(lowered) is not None
    if had_both:
        lowered = _BOTH.sub(" ", lowered)
    for rule in (_stated_yes_no, _closing_yes_no, _leading_yes_no, _verdict_yes_no):
        outcome = rule(lowered)
        if outcome is not None:
            return outcome
    refused = _wording.REFUSAL.search(lowered)
    said = {word for word in ("yes",) if re.search(r"\byes\b", lowered)}
    if said and not refused and not had_both and not _wording.NEGATION.search(lowered):
        return Answer("yes", "single word")
    if refused:
        return Answer(None, "refusal")
    return _AMBIGUOUS if had_both else _UNDECIDED


def _doubted(lowered: str, position: int) -> bool:
    before = lowered[max(0, position - 160) : position]
    return _wording.DOUBT.search(before[_last_end(_wording.CLAUSE_END, before) :]) is not None


def _stated_yes_no(lowered: str) -> Answer | None:
    """The last "the answer is yes", "so, no"."""
    outcome = None
    for cue in _YES_NO_CUE.finditer(lowered):
        word = cue.group("word")
        if word in ("no", "non") and not _NO_STOP.match(lowered, cue.end()):
            continue
        if not _doubted(lowered, cue.start()):
            outcome = _YES_WORDS.get(word, "no")
    return Answer(outcome, "statement") if outcome else None


_YES_WORDS = dict.fromkeys(("yes", "true", "是", "да", "oui", "sí", "ja", "sim"), "yes")
_CLOSING = re.compile(r"(?:[.!?:\n>]|^)[\s*_\"'(]*(?P<word>yes|no)[\s*_\"'.!)]*$")


def _closing_yes_no(lowered: str) -> Answer | None:
    """The last sentence is "Yes." or "No."."""
    match = _CLOSING.search(lowered[-40:])
    return Answer(match.group("word"), "closing word") if match else None


def _leading_yes_no(lowered: str) -> Answer | None:
    """The reply begins with yes or no as a clause of its own."""
    match = _LEADING.match(lowered)
    if match is None:
        return None
    return Answer("yes" if match.group("yes") else "no", "leading word")


def _verdict_yes_no(lowered: str) -> Answer | None:
    """The last "the hypothesis holds", "the statement is false"."""
    outcome = None
    for match in _VERDICT.finditer(lowered):
        if _doubted(lowered, match.start()):
            continue
        negated = re.search(r"\bnot\b|n't|cannot", match.group("mid")) is not None
        against = match.group("word") in _AGAINST
        outcome = "no" if negated != against else "yes"
    return Answer(outcome, "verdict") if outcome else None
