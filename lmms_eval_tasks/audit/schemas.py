"""What a task's document says, whatever its columns are called: id, video, options and answer.

Tasks of the harness name their columns as their datasets do. The tables here list the names that
are known; ``--option-fields`` gives those that are not.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase
from typing import Any

from video_reasoning.preprocessing.sampling import shuffled
from video_reasoning.tasks.audit.variants import AuditError

__all__ = [
    "MARK",
    "Grouping",
    "OptionShape",
    "Options",
    "declared_groups",
    "document_key",
    "drawn_rows",
    "find_shape",
    "item_id",
    "letter",
    "names_time",
    "video_name",
]

Document = Mapping[str, Any]

_ID_FIELDS = ("id", "questionid", "qid", "uid", "quid", "key", "questionidx", "index", "idx")
"""Columns that name a question, the surest first.

Here and below case, blanks and underscores do not count: ``Question ID`` is ``questionid``.
"""

_VIDEO_FIELDS = (
    *(f"video{end}" for end in ("", "id", "name", "path", "idx", "uid", "file")),
    *("vid", "clipid", "clip", "clipuid", "scenename", "sceneid"),
    *("filename", "path", "clippath", "mediapath"),
)
"""Columns that name a video; questions about one video are drawn together."""

_OPTION_COLUMNS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in ("options", "candidates", "choices", "option", "mcoptions")),
    *((name,) for name in ("answerchoices", "answers")),
    *(
        tuple(f"{stem}{name}" for name in names)
        for names in ("abcde", "abcd", "01234", "0123", "12345", "1234")
        for stem in ("" if names[0] == "a" else "a", "option", "choice", "answerchoice")
    ),
)
"""Columns with options: one with a list of them, or one for each; the surest first."""

_QUESTION_COLUMNS = ("question", "prompt", "input", "text")
"""Columns whose text may list the options line by line."""

_ANSWER_COLUMNS = (
    "answer",
    *(f"correct{end}" for end in ("answer", "choice", "option", "idx", "")),
    *(f"answer{end}" for end in ("idx", "index", "id", "letter", "text", "key", "keyposition")),
    *("label", "target", "truth", "gt", "groundtruth"),
)
"""Columns that may say which option is right."""

MARK = re.compile(r"<image>\n?|<video>\n?")
"""Marks of a picture or a video in a prompt, for models that expect them."""

_LETTER = re.compile(r"[\s(\[]*([A-Za-z])[)\].:]*\s*")
_LABEL = re.compile(
    r"\s*(?:[(\[](?:[A-Za-z]|[0-9]{1,2})[)\]][.:]?|(?:[A-Za-z]|[0-9]{1,2})[).:])\s*"
)
_STAYS = re.compile(
    r"\b(all|none|both|neither|any) of (the|these|those|them)\b|"
    r"\bnot (enough information|given)\b|\bcannot be (determined|answered)\b",
    re.IGNORECASE,
)
_REFERS = re.compile(
    r"\b(?i:both|neither|either|only|options?|choices?|answers?)\s+"
    r"[(\[]?(?:[A-H]|[1-9])[)\]]?(?:\s*(?:,|and|or|nor|&)\s*[(\[]?(?:[A-H]|[1-9])[)\]]?)+|"
    r"^\s*[(\[]?[A-H][)\]]?\s*(?:and|or|nor|&)\s*[(\[]?[A-H][)\]]?\s*\.?\s*$"
)
"""Options that name others by their letters, such as "both A and B", fit no other order."""

_TIME = re.compile(
    r"\b\d{1,2}:\d{2}(:\d{2})?\b|\b\d+(\.\d+)?\s*(s|secs?|seconds?|minutes?)\b", re.IGNORECASE
)

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "causalvqa": ("qid",),
    "mvp": ("video_id:_",),
    "videomme_v2": ("video_id",),
    "vinoground": (
        r"group=index/(\d+)_",
        r"text=index/(\d+)_\w+_text",
        r"video=index/(\d+)_\w+_video",
    ),
}
"""Beginning of tasks' names -> what groups their questions, as for `Grouping.parse`."""

_ABSENT = ("", "n/a", "nan")
"""Content of an option's column for a question that does not have that option."""

_READINGS = ("text", "letter", "number")
"""How an answer may name an option; columns are tried in this order."""

_PLAIN = (str, int, float, bool, type(None))

_ENOUGH = 0.5
"""Share of the documents that a field shape must fit."""


def item_id(document: Document) -> str:
    """Return the question's id in its dataset, else a name made from what the document says.

    It is the same on every process and machine; it does not depend on the place in the dataset.
    """
    return _named(document, _ID_FIELDS) or document_key(document)


def document_key(document: Document) -> str:
    """Return a name made from all that a document says, except pictures, sound and video.

    Ids repeat in some datasets; this repeats only if whole documents do.
    """
    # The harness scores documents without their pictures, so those cannot be part of the name.
    said = {
        name: value
        for name, value in sorted(document.items())
        if value is not None and _is_plain(value)
    }
    text = json.dumps(said, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _is_plain(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return all(isinstance(entry, _PLAIN) for entry in value)
    return isinstance(value, _PLAIN)


def video_name(document: Document) -> str:
    """Return the video that a document is about, or "" if no known column names one."""
    return _named(document, _VIDEO_FIELDS)


def declared_groups(task: str) -> tuple[str, ...]:
    """Return what groups a known task's questions, as for `Grouping.parse`; else nothing."""
    names = (name for name in _GROUPS if task == name or task.startswith(f"{name}_"))
    return next((_GROUPS[name] for name in names), ())


@dataclass(frozen=True)
class Grouping:
    """What groups a task's questions.

    Attributes:
        name: What such groups are called; "" if that need not be said.
        column: The column that names a question's group.
        pattern: What of its text is the name: the parentheses in it, else all that fits.
    """

    name: str
    column: str
    pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: str) -> Grouping:
        """Read a declaration.

        Args:
            text: ``COLUMN``; ``COLUMN:SEPARATOR`` for what is before the last separator in it; or
                ``COLUMN/PATTERN``, a regular expression for its beginning. Each may begin with
                ``NAME=``.

        Raises:
            AuditError: If it is not one of these.
        """
        name, equals, rule = text.partition("=")
        if not equals or {"/", ":"} & set(name):  # a pattern or separator may have one too
            name, rule = "", text
        column, slash, pattern = rule.partition("/")
        if not slash:
            column, _, separator = rule.partition(":")
            pattern = f"(.+){re.escape(separator)}|.*" if separator else ".*"
        try:
            if column:
                return cls(name, column, re.compile(pattern, re.DOTALL))
            problem = "it names no column"
        except re.error as error:
            problem = f"its pattern is not a regular expression: {error}"
        raise AuditError(f"--group-by '{text}' is not understood: {problem}.")

    def of(self, document: Document) -> str:
        """Return the group that a document is in; "" if it is in none."""
        value = document.get(self.column)
        match = None if value is None else self.pattern.match(str(value))
        return "" if match is None else " ".join(filter(None, match.groups())) or match[0]


def drawn_rows(
    documents: Sequence[Document], size: int, seed: int, rules: Sequence[Grouping] = ()
) -> list[int]:
    """Draw documents at random, by nothing but what they say and the seed; groups stay whole.

    Args:
        documents: The documents.
        size: How many; more if the last group has more.
        seed: Another seed draws others.
        rules: What groups them, the largest groups first.

    Returns:
        Their places, ascending.
    """

    def rank(document: Document) -> str:
        groups = (rule.of(document) for rule in rules)
        name = next(filter(None, groups), "") or document_key(document)
        return hashlib.sha256(f"sample\x00{seed}\x00{name}".encode()).hexdigest()

    ranked = sorted((rank(document), row) for row, document in enumerate(documents))
    last = ranked[:size][-1][0] if ranked else ""
    return sorted(row for place, (name, row) in enumerate(ranked) if place < size or name == last)


def letter(place: int) -> str:
    """Return the letter of an option by its place from 0; "" if it has none."""
    return ascii_uppercase[place : place + 1] if place >= 0 else ""


def names_time(text: str) -> bool:
    """Return whether a text names a time, such as "01:05" or "12 seconds"."""
    return _TIME.search(text) is not None


def _named(document: Document, fields: Sequence[str]) -> str:
    """Return the value of the first of some columns that contains a name."""
    columns = _columns(document)
    for name in fields:
        value = document.get(columns.get(name, name))
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return ""


def _columns(names: Iterable[str]) -> dict[str, str]:
    """Return the names without case, blanks and underscores -> the column, the first of several."""
    columns: dict[str, str] = {}
    for name in names:
        columns.setdefault(re.sub(r"[\s_]", "", str(name)).lower(), name)
    return columns


@dataclass(frozen=True)
class Options:
    """The options of one document.

    Attributes:
        texts: The options without their labels.
        labels: What is before each, such as ``A. `` or ``(B) ``; it stays in its place.
        right: Place of the right option, from 0; -1 if that is not known.
        raw: The options as the document has them.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    right: int = -1
    raw: tuple[Any, ...] = ()

    def find(self, value: Any, reading: str, first: int) -> tuple[int, str]:
        """Find the option that an answer names.

        Args:
            value: The answer.
            reading: How it names the option, as in `OptionShape.readings`.
            first: For an answer that is a number, the number of the first option.

        Returns:
            The option's place, -1 if it names none, and how: "printed" for a text with its label,
            "text", "letter" or "number".
        """
        if isinstance(value, bool) or value is None:
            return -1, ""
        text, place, how = str(value).strip(), -1, ""
        # A number is an option only among options that are numbers.
        a_text = isinstance(value, str) or any(isinstance(option, int) for option in self.raw)
        if a_text and reading in ("", "text"):
            for how, labels in (("printed", self.labels), ("text", [""] * len(self.texts))):
                options = [(label + t).strip() for label, t in zip(labels, self.texts, strict=True)]
                if text in options:
                    return options.index(text), how if any(self.labels) else "text"
        if reading in ("", "letter") and (match := _LETTER.fullmatch(text)):
            place, how = ord(match[1].upper()) - ord("A"), "letter"
        elif reading in ("", "number") and re.fullmatch(r"[0-9]{1,2}(\.0)?", text):
            place, how = int(float(text)) - first, "number"
        return (place, how) if 0 <= place < len(self.texts) else (-1, "")

    def order(self, key: str, number: int, seed: int) -> list[int] | None:
        """Draw another order: for each place, the option that comes there.

        Options such as "none of the above" stay where they are.

        Args:
            key: What the draw depends on.
            number: Which other order, from 1.
            seed: Seed of the draw.

        Returns:
            None if fewer than two options can move, or one names others by their letters.
        """
        free = self.movable
        return (
            self._moved(free, shuffled(free, f"{key}\x00options{number}", seed)) if free else None
        )

    def rotated(self, number: int) -> list[int] | None:
        """Return the order in which the options that can move are rotated.

        Args:
            number: By how many places, from 1.

        Returns:
            None if that is no other order, or none can move.
        """
        free = self.movable
        return self._moved(free, [*free[number:], *free[:number]]) if number < len(free) else None

    @property
    def movable(self) -> list[int]:
        """Places of the options that can move, two or more; none if one names others by letters."""
        if any(_REFERS.search(text) for text in self.texts):
            return []
        free = [place for place, text in enumerate(self.texts) if not _STAYS.search(text)]
        return free if len(free) > 1 else []

    def _moved(self, places: Sequence[int], options: Sequence[int]) -> list[int]:
        order = list(range(len(self.texts)))
        for place, option in zip(places, options, strict=True):
            order[place] = option
        return order


@dataclass(frozen=True)
class OptionShape:
    """Where documents have their options and the right answer.

    Attributes:
        options: The column with the list of options, or several columns with one option each.
            Empty if the options are lines of the question.
        answers: Columns with the right one: its text, its letter, or its number.
        first: For an answer that is a number, the number of the first option: 0 or 1.
        question: The column whose lines list the options; empty if none does.
        readings: How each of `answers` names the option: ``text``, ``letter`` or ``number``;
            empty if each document may do it in its own way, a text before all.
    """

    options: tuple[str, ...]
    answers: tuple[str, ...]
    first: int = 0
    question: str = ""
    readings: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> OptionShape:
        """Read ``options=COLUMN,answer=COLUMN``; several columns are joined by ``+``.

        Raises:
            AuditError: If the text is not of that form.
        """
        parts = (part.partition("=") for part in text.split(","))
        pairs = {name.strip(): value.strip() for name, _, value in parts}
        options = tuple(filter(None, pairs.pop("options", "").split("+")))
        answers = tuple(filter(None, pairs.pop("answer", "").split("+")))
        question, first = pairs.pop("question", ""), pairs.pop("first", "0")
        if not (options or question) or not answers or pairs or first not in ("0", "1"):
            raise AuditError(
                f"--option-fields '{text}' is not understood; write for example "
                "options=candidates,answer=answer (a list), options=a0+a1+a2,answer=label,first=0 "
                "(a column each) or question=question,answer=answer (lines of the question)."
            )
        return cls(options, answers, int(first), question)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        asked = (self.question,) if self.question else ()
        return tuple(dict.fromkeys((*self.options, *asked, *self.answers)))

    def read(self, document: Document) -> Options | None:
        """Read the document's options; None if it has none of this shape."""
        raw = self._raw(document)
        if len(raw) < 2 or not all(isinstance(option, (str, int, float)) for option in raw):
            return None
        labels, texts = _split_labels([str(option) for option in raw])
        options = Options(texts, labels, raw=tuple(raw))
        if len(set(texts)) < len(texts) or not all(texts):
            return None  # of two equal options either may be right
        if self.options and self.question:
            lines = _option_lines(str(document.get(self.question) or ""))
            if lines and len(lines) != len(raw):
                return None
        places = {
            options.find(document.get(name), reading, self.first)[0]
            for name, reading in self._read_as()
        }
        right = places.pop() if len(places) == 1 else -1
        return None if right < 0 else replace(options, right=right)

    def reorder(self, document: Document, order: Sequence[int]) -> dict[str, Any]:
        """Return the columns that change if the options are put in another order.

        Args:
            document: A document of this shape.
            order: For each place, the option that comes there.

        Raises:
            ValueError: If the document is not of this shape.
        """
        options = self.read(document)
        if options is None:
            raise ValueError("the document has no options of this shape")
        moved = [
            label + options.texts[option]
            for label, option in zip(options.labels, order, strict=True)
        ]
        values = moved if any(options.labels) else [options.raw[option] for option in order]
        changed: dict[str, Any] = dict(zip(self.options, values, strict=False))
        if len(self.options) == 1:
            changed = {self.options[0]: _as_stored(document[self.options[0]], values)}
        if self.question:
            lines = str(document[self.question]).split("\n")
            for place, number in enumerate(_option_lines("\n".join(lines))):
                lines[number] = _split_label(lines[number])[0] + options.texts[order[place]]
            changed[self.question] = "\n".join(lines)
        right = list(order).index(options.right)
        for name, reading in self._read_as():
            _, how = options.find(document[name], reading, self.first)
            changed[name] = self._answer(document[name], how, moved[right].strip(), right)
        return changed

    def without_question(self, document: Document) -> dict[str, str] | None:
        """Return the columns that change if only the options are left of a question.

        Returns:
            None if the document has no options of this shape, or no column with a question.
        """
        columns = _columns(document)
        names = [columns[name] for name in _QUESTION_COLUMNS if name in columns]
        asked = self.question
        if not asked or asked == columns.get("options"):  # the options have a column of their own
            asked = next((n for n in names if n not in self.options), "")
        text = document.get(asked)
        if not isinstance(text, str) or self.read(document) is None:
            return None
        lines = text.split("\n")
        listed = _option_lines(text) if asked == self.question else []
        return {asked: "\n".join(lines[number] for number in listed)}

    def _read_as(self) -> list[tuple[str, str]]:
        """Return the answer columns, each with how it is read."""
        readings = self.readings or ("",) * len(self.answers)
        return list(zip(self.answers, readings, strict=True))

    def _raw(self, document: Document) -> list[Any]:
        """Return the options as the document has them."""
        if not self.options:
            lines = str(document.get(self.question) or "").split("\n")
            return [lines[number] for number in _option_lines("\n".join(lines))]
        if len(self.options) == 1:
            listed = document.get(self.options[0])
            listed = _literal(listed) if isinstance(listed, str) else listed
            if isinstance(listed, Mapping):  # A, B, C, ... -> the option
                return [listed[name] for name in _keys(listed)]
            return list(listed) if isinstance(listed, (list, tuple)) else []
        each = [document.get(name) for name in self.options]
        while each and (each[-1] is None or str(each[-1]).strip().lower() in _ABSENT):
            each.pop()  # a question with fewer options than there are columns
        return each

    def _answer(self, value: Any, how: str, printed: str, right: int) -> Any:
        """Return the answer for a right option at another place, in the form that it had."""
        if how == "text":
            return value
        if how == "printed":
            return printed
        if how == "letter":
            match = _LETTER.fullmatch(str(value).strip())
            old = match[1] if match else ""
            new = letter(right) if old.isupper() else letter(right).lower()
            return str(value).replace(old, new, 1)
        number = right + self.first
        return str(number) if isinstance(value, str) else type(value)(number)


def find_shape(
    documents: Sequence[Document], declared: Iterable[OptionShape] = ()
) -> OptionShape | None:
    """Find the shape that fits most of some documents.

    Args:
        documents: Documents of one task.
        declared: Shapes to try first, as the user declared them.

    Returns:
        The shape, with every answer column that agrees; None if none fits half of them.
    """
    if not documents:
        return None
    given = list(dict.fromkeys(name for document in documents for name in document))
    for shape in declared:
        if set(given).issuperset(shape.columns) and _reads(shape, documents):
            return shape
    columns = _columns(given)
    places = [
        OptionShape(tuple(columns[name] for name in names), ())
        for names in _OPTION_COLUMNS
        if columns.keys() >= set(names)
    ]
    lines = (*_QUESTION_COLUMNS, "options")
    places += [OptionShape((), (), 0, columns[name]) for name in lines if name in columns]
    answers = [columns[name] for name in _ANSWER_COLUMNS if name in columns]
    for place in places:
        best, n_read = place, max(1, math.ceil(_ENOUGH * len(documents)))
        for answer in answers:
            if answer in place.options:
                continue
            # A second column counts if it never contradicts the first.
            tries = [
                replace(
                    best,
                    answers=(*best.answers, answer),
                    readings=(*best.readings, reading),
                    first=first,
                )
                for reading in _READINGS
                for first in _firsts(best, reading)
            ]
            reads = [_reads(shape, documents) for shape in tries]
            if max(reads) >= n_read:
                n_read = max(reads)
                best = tries[reads.index(n_read)]
        if best.answers:
            return _with_lines(best, documents)
    return None


def _firsts(shape: OptionShape, reading: str) -> tuple[int, ...]:
    """Numbers that the first option may have in another column of answers."""
    return (0, 1) if reading == "number" and "number" not in shape.readings else (shape.first,)


def _reads(shape: OptionShape, documents: Sequence[Document]) -> int:
    """How many of the documents a shape reads."""
    return sum(shape.read(document) is not None for document in documents)


def _with_lines(shape: OptionShape, documents: Sequence[Document]) -> OptionShape:
    """Add the column whose text repeats the listed options, which then has to change too."""
    if not shape.options:
        return shape
    columns = _columns(name for document in documents for name in document)
    for name in (columns[name] for name in _QUESTION_COLUMNS if name in columns):
        for document in documents:
            text = document.get(name)
            if not isinstance(text, str):
                break
            lines = text.split("\n")
            repeated = [_split_label(lines[number])[1].strip() for number in _option_lines(text)]
            options = shape.read(document)
            if options is not None and repeated == [text.strip() for text in options.texts]:
                return replace(shape, question=name)
    return shape


def _split_labels(options: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and texts of options; without labels if these do not count from A or 1 on."""
    labels, texts = zip(*(_split_label(option) for option in options), strict=True)
    for place, label in enumerate(labels):
        name = "".join(filter(str.isalnum, label)).upper()
        if not name or name not in (letter(place), str(place + 1)):
            return ("",) * len(options), tuple(options)
    return labels, texts


def _split_label(option: str) -> tuple[str, str]:
    """Return an option's label, empty if it has none, and its text."""
    match = _LABEL.match(option)
    return (match[0], option[match.end() :]) if match else ("", option)


def _option_lines(text: str) -> list[int]:
    """Numbers of the lines that list options, labeled in order from A or 1."""
    found: list[int] = []
    for number, line in enumerate(text.split("\n")):
        label = "".join(filter(str.isalnum, _split_label(line)[0])).upper()
        if label and label in (letter(len(found)), str(len(found) + 1)):
            found.append(number)
    return found if len(found) > 1 else []


def _keys(options: Mapping[Any, Any]) -> list[Any]:
    """Return the letters or numbers of options that a question has, in their order."""
    names = sorted(options, key=lambda name: (len(str(name)), str(name)))
    while names and (
        options[names[-1]] is None or str(options[names[-1]]).strip().lower() in _ABSENT
    ):
        names.pop()  # a dataset's columns are those of the question with the most options
    return names


def _as_stored(stored: Any, options: Sequence[Any]) -> Any:
    """Return options in the form that the document has."""
    inner = _literal(stored) if isinstance(stored, str) else stored
    if isinstance(inner, Mapping):
        moved = {**inner, **dict(zip(_keys(inner), options, strict=True))}
        return moved if inner is stored else _as_text(stored, moved)
    return _as_text(stored, list(options)) if isinstance(stored, str) else list(options)


def _as_text(stored: str, options: Any) -> str:
    """Return options as text, as JSON or as Python prints them."""
    try:
        json.loads(stored)
    except ValueError:
        return repr(options)
    return json.dumps(options, ensure_ascii=False)


def _literal(text: str) -> Any:
    """Return a list or dict that is stored as text, as JSON or as Python prints it."""
    import ast

    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None
