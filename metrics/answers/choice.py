"""The rules by which a choice is read from a reply, in the order in which they are asked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from video_reasoning.metrics.answers import text as answer_text
from video_reasoning.metrics.answers import wording
from video_reasoning.metrics.answers.mentions import LONE_LETTER, Mention, letter_at
from video_reasoning.metrics.answers.options import WORD, Options
from video_reasoning.metrics.answers.reply import (
    AMBIGUOUS,
    ASKED,
    BEYOND,
    COORDINATION,
    LIST_GAP,
    REFUSED,
    UNDECIDED,
    UNFINISHED,
    Answer,
    Reply,
    answer_of,
)
from video_reasoning.metrics.answers.yes_no import read_yes_no

# Each takes the reply and returns the capital letter, an Answer without a value if it decides that
# nothing was chosen, or None to pass on to the next rule.

_Outcome = str | Answer | None

_ONLY_LETTER = re.compile(
    r"[\W_]*(?:(?:option|choice|answer|letter)\s+)?[\W_]*([A-Za-z])[\W_]*", re.I
)
_FULL_LETTER = re.compile(
    r"[\W_]*([A-Za-z])[\W_]*(?:입니다|이다|です|だ|である|选项|選項|项|番|번|是正确的|是正确答案|正确|が正解|が正しい)?[\W_]*"
)


_CROSS = re.compile("[✗✘❌✖]")


def _whole_reply(reply: Reply) -> _Outcome:
    """The reply is a letter, or one option's text, and nothing else."""
    text, options = reply.text, reply.options
    if len(text) < 40:
        match = _ONLY_LETTER.fullmatch(text)
        if not text.isascii():
            match = None if _CROSS.search(text) else match or _FULL_LETTER.fullmatch(text)
        if match:
            letter = match.group(1).upper()
            if letter in options.keys:
                return letter
            stripped = options.exact.get(text.strip(" .'\"*`()").lower())
            return stripped or BEYOND
    form = " ".join(reply.lowered.split()).strip(" .,;:!\"'*`_")
    if form in options.exact:
        return options.exact[form] or AMBIGUOUS
    return None


def _only_text(reply: Reply) -> _Outcome:
    """The reply is one option's text in other punctuation."""
    if len(reply.text) > 2000:
        return None
    first = WORD.search(reply.lowered)
    if first is not None and first.group() not in reply.options.first_words:
        return None
    words = " ".join(reply.words)
    if words in reply.options.words:
        return reply.options.words[words]
    return None


def _fields(reply: Reply) -> _Outcome:
    """The reply has a field for it: `<answer>`, a LaTeX box, a JSON value; the last counts."""
    content = answer_text.fields(reply.text)
    if content is None:
        return None
    inner = Reply(content.strip("\"' "), reply.options)
    for rule in _IN_FIELD:
        outcome = rule(inner)
        if outcome is not None:
            return outcome
    return REFUSED if inner.refusal is not None else None


def _statement(reply: Reply) -> _Outcome:
    """The reply states it: "the answer is B", "I choose B", "B is correct"; the last counts."""
    found: list[tuple[int, _Outcome]] = []
    for cue in wording.ANNOUNCEMENT.finditer(reply.lowered):
        outcome = _announced(reply, cue)
        if outcome is not None:
            found.append((cue.start(), outcome))
    for place, mention in enumerate(reply.mentions):
        if reply.ends_after(mention):
            continue
        verdict = wording.CONFIRMED.match(reply.lowered, mention.end)
        if verdict is None or reply.denied(mention) or _is_text(reply, place, verdict):
            continue
        if _joint(reply, place):
            found.append((mention.start, AMBIGUOUS))
        elif mention.known:
            found.append((mention.start, mention.letter))
    found += _short_answers(reply)
    if found and (last := _last_line(reply)) is not None:
        found.append((reply.affirmed[-1].start, last))
    return max(found, key=lambda entry: entry[0])[1] if found else None


def _is_text(reply: Reply, place: int, verdict: re.Match[str]) -> bool:
    """Whether the "right" of "A: right" is another option's text and not a verdict."""
    if place + 1 == len(reply.mentions):
        return False
    mention, follower = reply.mentions[place : place + 2]
    if mention.own or follower.form != "text":
        return False
    gap = reply.lowered[mention.end : follower.start]
    return follower.start < verdict.end() and not gap.strip(" \n:.-)*\"'")


_SHORT_ANSWER = re.compile(r"(?:^|\n)\s{0,9}A\s{0,3}:\s{0,9}(?=\S)")


def _short_answers(reply: Reply) -> list[tuple[int, _Outcome]]:
    """The last "A:" for "answer", before a letter or another option's text."""
    match = None
    for match in _SHORT_ANSWER.finditer(reply.text) if "A:" in reply.text else ():  # noqa: B007
        pass
    if match is None:
        return []
    inner = Reply(reply.text[match.end() :], reply.options)
    labels = reply.options.own_text("A", reply.lowered, match.end()) is not None
    for rule in (_whole_reply, _only_text, *(() if labels else (_leading_letter,))):
        outcome = rule(inner)
        if isinstance(outcome, str):
            return [(match.end(), outcome)]
    return []


def _joint(reply: Reply, place: int) -> bool:
    """Whether the verdict on a mention is one on others, too: "A and B are correct".

    In "Among A, B and C, B is best" it is not: the list ends before the last B.
    """
    mention = reply.mentions[place]
    letters = {mention.letter}
    joined = wording.PLURAL.match(reply.lowered, mention.end) is not None
    right = mention
    for left in reversed(reply.mentions[max(0, place - 10) : place]):
        gap = reply.lowered[left.end : right.start]
        if len(gap) > 40 or not COORDINATION.fullmatch(gap):
            break
        if left.letter == mention.letter:
            return False
        joined = joined or gap.strip(" )(\"'*") != ","
        letters.add(left.letter)
        right = left
    return len(letters) > 2 or (len(letters) > 1 and joined)


def _announced(reply: Reply, cue: re.Match[str]) -> _Outcome:
    """What an announcement announces."""
    gap = cue.group("gap")
    option_noun = cue.group("option") is not None
    if option_noun and not wording.COPULA.search(gap):
        return None
    head = reply.rest[max(0, cue.start() - 80) : cue.start()]
    broken = gap.rfind("\n") + 1  # on a new line, what came before the break does not count
    doubtful = cue.start("gap") + broken if broken else cue.start()
    if reply.has_doubt and reply.doubted(doubtful, wide=False):
        return None
    options, text, lowered = reply.options, reply.text, reply.lowered
    position = cue.end()
    letter_only = cue["match"] is not None or cue["turn"] is not None
    if cue["verb"] is not None and not _first_person(reply, cue):
        letter_only = True  # "he chooses a cup"
    named = reply.covering(position, cue.start())
    if named is None and LONE_LETTER.match(text, position):
        mention = reply.letter_mention(position)
        if mention is None:
            mention = letter_at(text, lowered, position, options, announced=True)
        if mention is not None:
            asked = ASKED.match(lowered, mention.end) and wording.ASKS.search(head)
            unsure = cue["match"] is not None and mention.form == "bare" and not mention.known
            return None if asked or unsure else _decided(reply, mention, cue)
    if letter_only:
        return None
    if named is None:
        article = _ARTICLE_HERE.match(lowered, position)
        named = reply.covering(article.end(), cue.start()) if article else None
    if named is not None:
        return _decided(reply, named, cue)
    return None if cue["verb"] is not None else _in_sentence(reply, cue)


_ARTICLE_HERE = re.compile(r"(?:a|an|the|that|it|there)\s+")
_RUN_ON = re.compile(r"[.!?](?=\s|$)|\n")


def _first_person(reply: Reply, cue: re.Match[str]) -> bool:
    head = reply.lowered[max(0, cue.start() - 30) : cue.end("verb")]
    return wording.FIRST_PERSON.search(head) is not None


def _decided(reply: Reply, mention: Mention, cue: re.Match[str] | None = None) -> _Outcome:
    """The announced mention, unless it is denied, asked, or one of several."""
    if reply.denied_after(mention) or reply.conditional(mention):
        return None
    run = _coordinated_with(reply, mention)
    if len(run) > 2 or len(run) == len(reply.options.order) > 1:
        # "Answer (A, B or C): B", or the list of the options: nothing is announced yet.
        announces = cue is not None and (cue["answer"] or cue["option"])
        return _in_sentence(reply, cue) if cue is not None and announces else None
    if len(run) > 1:
        return AMBIGUOUS
    return mention.letter if mention.known else BEYOND


def _coordinated_with(reply: Reply, mention: Mention) -> set[str]:
    """The letters of "A", of "A or B", of "A, B or C", of the list "A. Up. B. Down."."""
    letters = {mention.letter}
    order = reply.options.order
    follower = reply.following(mention.end)
    while follower is not None and follower.letter not in letters:
        gap = reply.lowered[mention.end : follower.start]
        next_item = order.find(follower.letter) == order.find(mention.letter) + 1
        items = mention.item and follower.item and next_item
        listed = items and LIST_GAP.fullmatch(gap) is not None
        if not (listed or COORDINATION.fullmatch(gap)) or reply.denied_after(follower):
            break
        letters.add(follower.letter)
        mention, follower = follower, reply.following(follower.end)
    return letters


def _in_sentence(reply: Reply, cue: re.Match[str]) -> _Outcome:
    """The one option named later in the sentence of "the answer ... is ..."."""
    end = min(len(reply.text), cue.end() + 300)
    stop = _RUN_ON.search(reply.text, cue.end(), end)
    end = stop.start() if stop else end
    start = cue.end("answer") if cue.group("answer") else cue.end("option")
    affirmed = reply.affirmed
    named: list[Mention] = []
    for place in range(bisect_left(affirmed, (start,)), len(affirmed)):
        mention = affirmed[place]
        if mention.start >= end:
            break
        if mention.known and wording.COPULA.search(reply.lowered, start, mention.start):
            named.append(mention)
    for group in ([m for m in named if m.form != "text"], named):
        letters = {mention.letter for mention in group}
        if len(letters) == 1:
            return letters.pop()
        if len(letters) > 1:
            return AMBIGUOUS
    return None


_LEADING_TEXT_END = re.compile(
    r"[\"'*_`)]*(?:[.,;:!\n-]|\s+-|\s+(?:because|since|as|due|based)\b|\s*$)"
)


def _last_line(reply: Reply) -> _Outcome:
    """The last line is one option's letter, or its letter and text, and nothing else."""
    affirmed = reply.affirmed
    if not affirmed or not affirmed[-1].alone or not affirmed[-1].known:
        return None
    last = affirmed[-1]
    if last.form == "text" or reply.lowered[last.end :].strip(" \n*_\"'`)]}.,:;"):
        return None
    first = affirmed[0]
    if first is not last and first.alone and first.letter != last.letter and first.start < 12:
        return AMBIGUOUS
    return last.letter


def _leading_letter(reply: Reply) -> _Outcome:
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
    follower = _NEXT_WORD.match(reply.lowered, first.end)
    if follower is not None and follower.group(1) in wording.SPEAKS_OF:
        return None
    if not first.known:
        return BEYOND if first.form == "marked" else None
    return None if _walks_through(reply, first) else first.letter


def _walks_through(reply: Reply, first: Mention) -> bool:
    """Whether the first letter only begins a discussion of one option after the other."""
    order = reply.options.order
    later = next((m for m in reply.affirmed[1:] if m.item and m.form == "marked"), None)
    if later is None or first.letter != order[0] or later.letter != order[1:2]:
        return False
    # "A. Up.\n\nB. Down: the man does not ..." answers first and discusses then.
    return not first.alone or later.alone


_HEAD = re.compile(
    r"[\W_]*(?:[A-Za-z](?![A-Za-z])|(?:option|choice|letter|answer|the|sure|okay|ok|yes)\b)", re.I
)
_HEAD_WORDS = re.compile(
    r"[\W_]*(?:(?:the|option|choice|letter|answer|number|sure|okay|ok|yes|statement)[\W_]+){0,3}"
)
_NEXT_WORD = re.compile(r"[\s)\]\"'*_`]{1,6}([^\W_]+)")


def _leading_text(reply: Reply) -> _Outcome:
    """The reply begins with one option's text as a clause of its own."""
    affirmed = reply.affirmed
    if not affirmed or affirmed[0].form != "text":
        return None
    first = affirmed[0]
    if reply.lowered[: first.start].strip(" \n*_\"'`(["):
        return None
    return first.letter if _LEADING_TEXT_END.match(reply.lowered, first.end) else None


def _closing_letter(reply: Reply) -> _Outcome:
    """The reply ends with a letter as a sentence of its own: "... to the left. B"."""
    affirmed = reply.affirmed
    if not affirmed or affirmed[-1].form == "text":
        return None
    last = affirmed[-1]
    if reply.lowered[last.end :].strip(" \n*_\"'`)]}.,:;!"):
        return None
    head = reply.lowered[max(0, last.start - 40) : last.start].rstrip(" *_\"'`([{#")
    if not head or head[-1] in ".!?:\n>-→⇒=" or wording.CONCLUSION.search(head[-14:]):
        return last.letter if last.known else BEYOND
    return None


def _weak_statement(reply: Reply) -> _Outcome:
    """The reply says "it is B", "so B" or "probably B"; the last one counts."""
    affirmed = reply.affirmed
    if not affirmed:
        return None
    outcome: _Outcome = None
    for cue in wording.WEAK.finditer(reply.lowered):
        position = cue.end()
        if not LONE_LETTER.match(reply.text, position) or reply.covering(position, position):
            continue
        place = bisect_left(affirmed, (position,))
        if place == len(affirmed) or affirmed[place].start != position:
            continue
        if reply.has_doubt and reply.doubted(cue.start(), wide=False):
            continue
        outcome = _decided(reply, affirmed[place]) or outcome
    return outcome


def _single_letter(reply: Reply) -> _Outcome:
    """Exactly one option is named by its letter, and not only talked about."""
    named = [
        m
        for m in reply.affirmed
        if m.form != "text" and m.known and not reply.refused_before(m.start)
    ]
    for form in ("marked", "bare"):
        group = [m for m in named if m.form == form]
        if group:
            single = len({m.letter for m in group}) == 1
            return group[0].letter if single and any(_chosen(reply, m) for m in group) else None
    return None


def _chosen(reply: Reply, mention: Mention) -> bool:
    """False for "option A says ...", "look at option A" and "in C"."""
    start = max(0, mention.start - 40)
    if wording.ONLY.search(reply.lowered, start, mention.start):
        return True
    follower = _NEXT_WORD.match(reply.lowered, mention.end)
    if follower is not None and follower.group(1) in wording.SPEAKS_OF:
        return False
    if wording.EXAMINES.search(reply.lowered, start, mention.start):
        return False
    place = wording.PLACE_BEFORE.search(reply.lowered, start, mention.start)
    return mention.form == "marked" or place is None


def _conclusion(reply: Reply) -> _Outcome:
    """The last "so ...", "therefore ..." names exactly one option."""
    affirmed = reply.affirmed
    if not affirmed:
        return None
    for cue in reversed(list(wording.CONCLUSION.finditer(reply.lowered))):
        stop = _RUN_ON.search(reply.text, cue.end(), cue.end() + 300)
        end = stop.start() if stop else cue.end() + 300
        low, high = bisect_left(affirmed, (cue.end(),)), bisect_left(affirmed, (end,))
        letters = {affirmed[place].letter for place in range(low, min(high, low + 20))}
        if len(letters) == 1 and not reply.refused_before(cue.start()):
            letter = letters.pop()
            return letter if letter in reply.options.keys else BEYOND
    return None


def _option_text(reply: Reply) -> _Outcome:
    """Exactly one option's text occurs in the reply."""
    named = [m for m in reply.affirmed if m.form == "text" and not reply.refused_before(m.start)]
    letters = {mention.letter for mention in named}
    if len(letters) == 1:
        return letters.pop()
    return AMBIGUOUS if letters else None


def _similar_text(reply: Reply) -> _Outcome:
    """One sentence has nearly the words of one long option, and of no other."""
    if not reply.options.has_long or len(reply.text) > 1000 or reply.mentions:
        return None
    if reply.refusal is not None:
        return None
    letters = set()
    for sentence in _SENTENCE.split(reply.lowered):
        letter = reply.options.similar(WORD.findall(sentence))
        if letter is not None:
            option = answer_text.lower(reply.options.texts[letter])
            negated = [wording.DOUBT.search(text) is not None for text in (sentence, option)]
            if negated[0] == negated[1]:
                letters.add(letter)
    return letters.pop() if len(letters) == 1 else None


_SENTENCE = re.compile(r"[.!?](?=\s|$)|\n")


def _part_of_text(reply: Reply) -> _Outcome:
    """The reply, or what it announces last, is a part of exactly one option's text.

    So are responses that were cut off at the limit of tokens.
    """
    if reply.refusal is not None or any(m.form != "text" for m in reply.mentions):
        return None
    words = reply.words if len(reply.text) <= 1000 else WORD.findall(reply.lowered[:1000])
    if len(words) == 1 and words[0] in ("none", "neither", "both", "nothing"):
        return None
    if not reply.mentions and any(len(word) > 3 for word in words):
        letter = reply.options.holding(words)
        if letter is not None:
            return letter
    cues = list(wording.ANNOUNCEMENT.finditer(reply.lowered))
    if not cues or cues[-1].end() < len(reply.text) - 1000:
        return None
    if reply.has_doubt and reply.doubted(cues[-1].start(), wide=False):
        return None
    words = WORD.findall(reply.lowered, cues[-1].end())
    return reply.options.holding(words) if len(words) > 2 else None


def _position(reply: Reply) -> _Outcome:
    """Exactly one option is named by its position: "the second option", "option 2"."""
    if not any(noun in reply.lowered for noun in wording.POSITION_NOUNS):
        return None
    options, order = reply.options, reply.options.order
    letters = set()
    for match in wording.POSITION.finditer(reply.lowered):
        if reply.has_doubt and reply.doubted(match.start(), wide=True):
            continue
        if wording.DENIED_AFTER.match(reply.lowered, match.end()):
            continue
        word = match["word"] or match["digit"]
        place = len(order) if word == "last" else wording.PLACES.get(word, 0)
        letter = order[place - 1] if 0 < place <= len(order) else ""
        if options.numbers and options.numbers.get(letter) != place:
            return None  # "option 2" of the counts 0 to 5: the position or the count?
        letters.add(letter)
    if len(letters) > 1:
        return AMBIGUOUS
    return (letters.pop() or BEYOND) if letters else None


def _yes_or_no(reply: Reply) -> _Outcome:
    """The options are yes and no, and the reply says one of them."""
    if len(reply.options.yes_no) < 2 or any(m.form != "text" for m in reply.mentions):
        return None
    word = read_yes_no(reply.text).value
    return reply.options.yes_no[word] if word else None


_EXPLICIT = (_whole_reply, _only_text, _fields, _statement)
_WEAKER = (
    _last_line,
    _leading_letter,
    _closing_letter,
    _leading_text,
    _weak_statement,
    _single_letter,
    _conclusion,
    _option_text,
    _position,
    _similar_text,
    _part_of_text,
    _yes_or_no,
)
_IN_FIELD = (
    *(_whole_reply, _only_text, _statement, _leading_letter, _single_letter, _option_text),
    *(_position, _similar_text, _part_of_text, _yes_or_no),
)
# What counts in a response that was cut off in the middle of a sentence.
_FIRM = (*_EXPLICIT, _leading_letter, _part_of_text)
RULES: dict[str, Callable[[Reply], _Outcome]] = {
    rule.__name__.strip("_").replace("_", " "): rule for rule in (*_EXPLICIT, *_WEAKER)
}
"""Name -> rule, in the order in which they are asked."""

_NAMES = {rule: name for name, rule in RULES.items()}
_TERMINAL = ".!?)]}\"'*`。>:|"


def choose(text: str, options: Options) -> Answer:
    """Ask the rules in order; the value of the answer is a capital letter."""
    first = answer_text.before_next_question(text)
    if first is not None:
        outcome = choose(first, options)
        if outcome.value is not None or outcome.rule == "refusal":
            return outcome
    answer, reasoning, open_end = answer_text.split_reasoning(text)
    if open_end:
        outcome = _ask(Reply(reasoning, options), (_fields,))
        return outcome if outcome.value else UNFINISHED
    if not answer:
        return _ask(Reply(reasoning, options), _EXPLICIT) if reasoning else Answer(None, "empty")
    return _ask(Reply(answer, options), tuple(RULES.values()))


def _ask(reply: Reply, rules: Sequence[Callable[[Reply], _Outcome]]) -> Answer:
    cut_off = _cut_off(reply)
    for rule in rules:
        if cut_off and rule not in _FIRM:
            continue
        outcome = rule(reply)
        if isinstance(outcome, Answer):
            return outcome
        if outcome is not None:
            return answer_of(outcome, _NAMES[rule])
    if reply.refusal is not None:
        return REFUSED
    if cut_off:
        return UNFINISHED
    return AMBIGUOUS if len({m.letter for m in reply.mentions}) > 1 else UNDECIDED


def _cut_off(reply: Reply) -> bool:
    """Whether a long reply stops in the middle of a sentence."""
    if len(reply.text) < 120:
        return False
    tail = reply.text[-60:]
    last_line = tail.rsplit("\n", 1)[-1]
    if len(last_line) < 20 or tail[-1] in _TERMINAL:
        return False
    return tail[-1].isascii() and (not reply.mentions or reply.mentions[-1].end < len(reply.text))
