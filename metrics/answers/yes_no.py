"""The rules by which yes or no is read from a reply, in the order in which they are asked."""

from __future__ import annotations

import re

from video_reasoning.metrics.answers import text as answer_text
from video_reasoning.metrics.answers import wording
from video_reasoning.metrics.answers.reply import AMBIGUOUS, UNDECIDED, UNFINISHED, Answer, last_end

_YES_ANYWHERE = re.compile(r"\byes\b")
_WHOLE_YES = re.compile(rf"[\W_]*(?:(?:{wording.YES})|y)[\W_]*", re.IGNORECASE)
_WHOLE_NO = re.compile(rf"[\W_]*(?:(?:{wording.NO})|n)[\W_]*", re.IGNORECASE)
_BOTH = re.compile(
    r"\byes\b[\s\"'*)]{0,4}(?:/|\||,?\s?\b(?:or|and)\b)[\s\"'*(]{0,4}\bno\b"
    r"|\bno\b[\s\"'*)]{0,4}(?:/|\||,?\s?\b(?:or|and)\b)[\s\"'*(]{0,4}\byes\b"
)
_LEADING = re.compile(
    rf"[\W_]{{0,12}}(?:(?:well|okay|ok|sure|hmm|oh)[\s,.!]{{1,4}})?[\W_]{{0,4}}"
    rf"(?:(?P<yes>{wording.YES})|(?P<no>{wording.NO}))"
    rf"(?=[\s\"'*_)`\]]{{0,8}}(?:[.,;:!\n]|-(?!\w)|$)"
    rf"|[\s\"'*_)`\]]{{1,8}}(?:the|this|that|these|it|he|she|they|his|her|there|because|as|since|in|i|we|you"
    rf"|based|given|according|although|while|a|an|not|explanation|end)\b)"
)
_YES_NO_CUE = re.compile(
    r"(?<![a-z])(?:answer|conclusion|verdict|response|prediction|guess|judge?ment|decision|答案|ответ"
    r"|respuesta|réponse|antwort|risposta|resposta|回答|정답|答え|say|said|therefore|thus|hence|so"
    r"|overall|in conclusion|conclude|i think|i believe|actually|probably|answering)(?![a-z])"
    r"(?:(?:[\s:=*_\"'`(\[{<>#,~|-]|(?:is|would|be|should|must|to|the|this|that|question|my|final|a"
    r"|clear|simply|therefore|definitely|likely|most|probably|was|it|es|est|ist|è|é|是|はい?|은|는)"
    r"(?![a-zà-ÿ])|[是为は은는]){0,30})"
    r"(?P<word>yes|no|true|false|是|否|да|нет|oui|non|sí|ja|nein|sim|não)(?![\w'-])"
)
_NO_STOP = re.compile(
    r"[\"'*_)`\]\s]{0,8}(?:[.,;:!?)}\]\n]|-(?!\w)|$|because|as\b|since|the\b|end\b)"
)
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
_BACKS = re.compile(
    r"(?P<not>(?:does|do|did)(?:\s+not|n't)\s+(?:fully\s+|clearly\s+)?)?"
    r"(?P<verb>supports?|confirms?|contradicts?|refutes?|disproves?|rules out)"
    r"\s+(?:the|this|that|the given)\s+(?:hypothesis|statement|claim|description)(?![a-z])"
    r"|(?:^|[.!?\n]\s?)(?:it|this)\s+(?P<hold>holds|(?:does not|doesn't) hold)(?![a-z])"
)
_AGAINST = wording.word_set("""
false|incorrect|invalid|inaccurate|unsupported|implausible|inconsistent|contradicted|refuted|wrong
rejected|contradicts|fails|unlikely
""")


def choose_yes_no(text: str) -> Answer:
    """Read yes or no from a normalized response."""
    answer, reasoning, open_end = answer_text.split_reasoning(text)
    if open_end:
        field_text = answer_text.fields(reasoning)
        inner = read_yes_no(field_text) if field_text else UNFINISHED
        return inner if inner.value else UNFINISHED
    if not answer:
        return _stated_yes_no(answer_text.lower(reasoning)) or Answer(None, "empty")
    field_text = answer_text.fields(answer)
    if field_text:
        inner = read_yes_no(field_text.strip("\"' "))
        if inner.value:
            return Answer(inner.value, "fields")
    first = answer_text.before_next_question(answer)
    if first is not None:
        outcome = read_yes_no(first)
        if outcome.value is not None:
            return outcome
    return read_yes_no(answer)


def read_yes_no(text: str) -> Answer:
    """Ask the rules for yes or no in order."""
    lowered = answer_text.lower(text)
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
    refused = wording.REFUSAL.search(lowered)
    if not had_both and not wording.DOUBT.search(lowered) and _YES_ANYWHERE.search(lowered):
        return Answer("yes", "single word")
    if refused:
        return Answer(None, "refusal")
    return AMBIGUOUS if had_both else UNDECIDED


def _doubted(lowered: str, position: int) -> bool:
    before = lowered[max(0, position - 160) : position]
    clause = before[last_end(wording.CLAUSE_END, before) :]
    return wording.DOUBT.search(clause) is not None


def _stated_yes_no(lowered: str) -> Answer | None:
    """The last "the answer is yes", "so, no"."""
    outcome = None
    for turn in _NOT_BUT.finditer(lowered):
        outcome = turn.group("word")
    for cue in _YES_NO_CUE.finditer(lowered):
        word = cue.group("word")
        if word in ("no", "non") and not _NO_STOP.match(lowered, cue.end()):
            continue
        head = lowered[max(0, cue.start() - 160) : cue.start("word")]
        if not _doubted(lowered, cue.start()) and not wording.CONDITIONAL.search(head):
            outcome = _YES_WORDS.get(word, "no")
    return Answer(outcome, "statement") if outcome else None


_NOT_BUT = re.compile(r"\bnot [\"'*]?(?:yes|no)\b[\"'*]?,? but [\"'*]?(?P<word>yes|no)\b")
_YES_WORDS = dict.fromkeys(("yes", "true", "是", "да", "oui", "sí", "ja", "sim"), "yes")
_CLOSING = re.compile(r"(?:[.!?:,\n>]|^)[\s*_\"'(]*(?P<word>yes|no)[\s*_\"'.!)]*$")


def _closing_yes_no(lowered: str) -> Answer | None:
    """The last sentence is "Yes." or "No.", or ends with it as a clause of its own."""
    tail = lowered[-40:]
    match = _CLOSING.search(tail)
    if match is None:
        return None
    before = lowered[: len(lowered) - len(tail) + match.start()]
    if tail[match.start()] == "," and wording.DOUBT.search(before):
        return None
    return Answer(match.group("word"), "closing word")


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
    if outcome is None:
        for match in _BACKS.finditer(lowered):
            if _doubted(lowered, match.start()):
                continue
            verb = match.group("verb") or match.group("hold")
            against = verb.startswith(("contradict", "refute", "disprove", "rules", "do"))
            outcome = "no" if against != (match.group("not") is not None) else "yes"
    return Answer(outcome, "verdict") if outcome else None
