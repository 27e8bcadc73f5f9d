"""From a response to the text that answers: normalization, reasoning tags, what was asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any, Generic, TypeVar

_Value = TypeVar("_Value")


class lazy(Generic[_Value]):
    """A value of an object that is computed when first needed.

    Like ``functools.cached_property``, but without its lock before Python 3.12: taking it costs
    more than most values here.
    """

    def __init__(self, function: Callable[[Any], _Value]) -> None:
        self._function = function
        self._name = function.__name__

    def __get__(self, instance: object, owner: type | None = None) -> _Value:
        value = self._function(instance)
        instance.__dict__[self._name] = value
        return value


_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe0e\ufe0f\ufeff]"
)
_PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´ʼ", "'"),
        **dict.fromkeys("“”„‟″«»「」『』〝〞", '"'),
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("【〔〖《〈⟨", "["),
        **dict.fromkeys("】〕〗》〉⟩", "]"),
        **dict(zip("。、،؛؟।•·●▪⁄", ".,,;?.****/", strict=True)),
        **{chr(0x0660 + digit): str(digit) for digit in range(10)},
        **{chr(0x06F0 + digit): str(digit) for digit in range(10)},
        **{chr(0x0966 + digit): str(digit) for digit in range(10)},
        # Letters on dark squares and circles, which have no compatibility form.
        **{chr(0x1F170 + place): chr(ord("A") + place) for place in range(26)},
        **{chr(0x1F150 + place): chr(ord("A") + place) for place in range(26)},
    }
)
_HTML = re.compile(
    r"</?(?:[biup]|br|BR|strong|em|span|div|code|pre|center|font|h[1-6]|li|ul|ol)"
    r"(?:\s[^<>]{0,99})?/?>"
)
_STRONG_HTML = re.compile(r"</?(?:b|strong)>")
_LATEX_STYLE = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf|tt)|mbox|rm|bf|emph)\s{0,3}\{([^{}]{0,200})\}"
)
_LATEX_SPACE = re.compile(r"\\[()\[\],;!]|\\quad\b|\$")
_ESCAPED_BREAK = re.compile(r"\\n(?![a-z])")
_LONG_GAP = re.compile(r"[^\S\n]{4,}|\n{4,}")
_END_TOKENS = re.compile(
    r"</?s>|<eos>|<pad>|<unk>|<end_of_turn>|<\|(?!begin_of_box|end_of_box)[^<>|]{1,40}\|>"
    r"|\[/?INST\]|\[END\]|(?<=\s)END(?=[\s.]*$)"
)


_ENDLESS = 200_000
_KEPT = 50_000
_UNIT = 200


def without_repeats(text: str) -> str:
    """Shorten what a model repeats without end: "A A A ...", the same sentence a thousand times.

    Of a run of more than 200,000 characters in which a unit of at most 200 follows itself, some
    50,000 at each end stay, cut between two units: no pattern looks at as many. Nothing that is
    read from a response depends on the rest.
    """
    pieces, begin, place = [], 0, 0
    while place + _ENDLESS < len(text):
        unit = text.find(text[place : place + _UNIT], place + 1, place + 2 * _UNIT + 1) - place
        end = _run_end(text, place, unit) if unit > 0 else 0
        if end - place <= _ENDLESS:
            place = max(place + _KEPT, end)
            continue
        pieces.append(text[begin : place + _KEPT])
        spare = end - place - 2 * _KEPT
        begin = place + _KEPT + spare - spare % unit
        place = end
    return "".join([*pieces, text[begin:]])


def _run_end(text: str, place: int, unit: int) -> int:
    """Return where a run ends whose unit of this length begins at ``place``."""
    end, step = place + unit, _KEPT
    while step:
        if end + step <= len(text) and text.startswith(text[end - unit : end - unit + step], end):
            end += step
        else:
            step //= 2
    return end


def normalize(response: str) -> str:
    """Unify the forms of characters; letter case and line breaks stay.

    Compatibility characters (full-width, circled, bold) become plain ones, typographic quotes,
    dashes and brackets ASCII ones; invisible characters, HTML and LaTeX styling and special
    tokens go.
    """
    text = response if len(response) < _ENDLESS else without_repeats(response)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_PUNCTUATION)).translate(_PUNCTUATION)
        text = _INVISIBLE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in text:
        text = _LATEX_STYLE.sub(r"\1", text)
        text = _ESCAPED_BREAK.sub("\n", _LATEX_SPACE.sub(" ", text))
    elif "$" in text:
        text = text.replace("$", " ")
    if "<" in text:
        text = _STRONG_HTML.sub("**", text)
        text = _HTML.sub(" ", text)
    text = text.strip()
    # A printable text has no white space but the blank.
    if "    " in text or not text.isprintable():
        text = _LONG_GAP.sub(lambda gap: gap.group()[:3], text)
    return text


def lower(text: str) -> str:
    """Convert to lower case of the same length, so that positions stay comparable."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


# --- Reasoning that is kept apart from the answer -----------------------------------------------

_THINK = (
    r"(?:think|thinking|thoughts?|reasoning|reason|analysis|reflection|scratchpad|summary|caption)"
)
_REASONING_END = re.compile(
    rf"</(?:[a-z]{{1,8}}:)?{_THINK}>|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final<\|message\|>"
    r"|\[/think\]",
    re.IGNORECASE,
)
_REASONING_START = re.compile(
    rf"<(?:[a-z]{{1,8}}:)?{_THINK}>|◁think▷|<\|begin_of_thought\|>|<\|channel\|>analysis"
    r"|\[think\]",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"(?:^|\s)(?:ASSISTANT\s?:|### Assistant:?|<\|assistant\|>|<\|im_start\|>assistant|\[/INST\])"
    r"|\nAssistant\s?:"
)
_ROLE_HERE = re.compile(r"\s*(?:assistant|ai|bot|model)\s*[:\n]\s*", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str, str, bool]:
    """Take off a marked chain of thought.

    Returns:
        What follows the reasoning, the reasoning itself, and whether the reasoning was left
        open (the response was cut off before an answer).
    """
    reasoning = ""
    end = None
    if "<" in text or "◁" in text or "[" in text:
        for end in _REASONING_END.finditer(text):  # noqa: B007
            pass
        if end is not None:
            reasoning, text = text[: end.start()], text[end.end() :].lstrip()
        start = _REASONING_START.match(text)
        if start is not None:
            return "", reasoning + text[start.end() :], True
        if not text and (begin := _REASONING_START.search(reasoning)):
            # "B <reasoning> ... </reasoning>": the answer came first.
            reasoning, text = reasoning[begin.end() :], reasoning[: begin.start()]
    role = None
    if "SSISTANT" in text or "ssistant" in text or "[/INST]" in text:
        for role in _ROLE.finditer(text):  # noqa: B007
            pass
        if role is not None and text[role.end() :].strip():
            text = text[role.end() :]
        here = _ROLE_HERE.match(text)
        if here is not None:
            text = text[here.end() :]
    if "<" in text or "END" in text or "[" in text:
        text = _END_TOKENS.sub(" ", text)
    return text.strip(), reasoning, False


# --- Fields that hold the answer and nothing else -----------------------------------------------

_FIELDS = (
    re.compile(r"<(?:final_?)?answer>([^<]{1,2000})", re.IGNORECASE),
    re.compile(
        r"<(?:conclusion|output|choice|option|ans|final|result|response|solution)>([^<]{1,2000})",
        re.IGNORECASE,
    ),
    re.compile(r"\\(?:boxed|fbox|framebox)\s{0,3}\{((?:[^{}]|\{[^{}]{0,200}\}){0,300})\}"),
    re.compile(r"<\|begin_of_box\|>([^<]{1,2000})"),
    re.compile(
        r"[\"'](?:final[_ -]?answer|correct[_ -]?answer|answer|choice|correct[_ -]?option|option"
        r"|selected[_ -]?option|selection|prediction|letter|answer[_ -]?letter|answer[_ -]?choice"
        r"|result|response|output|holds|verdict|judge?ment)[\"']"
        r"\s{0,9}:\s{0,9}(\"[^\"\n]{0,1000}\"|'[^\n]{0,1000}?'(?=\s{0,9}[,}\n])|\[[^\[\]]{0,400}\]"
        r"|[^\s\"',{}\[\]]{1,40})",
        re.IGNORECASE,
    ),
)


def fields(text: str) -> str | None:
    """Return the content of the last field for the answer: a tag, a box, a JSON value."""
    if not ("<" in text or "\\" in text or ":" in text):
        return None
    best: tuple[int, str] | None = None
    for pattern, sign in zip(_FIELDS, ("<", "<", "\\", "<|", ":"), strict=True):
        if sign not in text:
            continue
        for match in pattern.finditer(text):
            if match.group(1).strip() and (best is None or match.start() > best[0]):
                best = match.start(), match.group(1)
    return best[1].strip() if best else None


# --- Turns that a model goes on to invent -------------------------------------------------------

_NEXT_QUESTION = re.compile(
    r"\n\s{0,9}(?:#{1,4}\s{0,3})?(?:USER|Human|User|Question|Q|Instruction)\s{0,3}\d{0,3}\s{0,3}:"
)


def before_next_question(text: str) -> str | None:
    """Return what comes before a question that the model goes on to invent."""
    match = _NEXT_QUESTION.search(text) if "\n" in text else None
    return text[: match.start()].strip() or None if match else None
