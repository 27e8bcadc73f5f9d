"""What a task's document says of itself, whatever its schema: id, video, options and answer.

Tasks of the harness name their columns as their datasets do. The tables here say under which
names the same things stand; what they do not know is told with ``--option-fields``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from video_reasoning.preprocessing.sampling import shuffled
from video_reasoning.tasks.audit.variants import AuditError

__all__ = ["OptionShape", "Question", "document_key", "find_shape", "item_id", "video_name"]

Document = Mapping[str, Any]

_ID_FIELDS = (
    "id",
    "question_id",
    "questionID",
    "questionId",
    "qid",
    "uid",
    "q_uid",
    "key",
    "question_idx",
    "index",
    "idx",
)
"""Columns that name a question, the surest first. Case and blanks do not count here and below."""

_VIDEO_FIELDS = (
    "video",
    "video_id",
    "videoID",
    "video_name",
    "video_path",
    "video_idx",
    "video_uid",
    "video_file",
    "vid",
    "clip_id",
    "clip",
    "clip_uid",
    "scene_name",
    "scene_id",
    "file_name",
    "path",
    "clip_path",
    "media_path",
)
"""Columns that name a video; questions about one video are drawn together."""

_OPTION_COLUMNS: tuple[tuple[str, ...], ...] = (
    ("options",),
    ("candidates",),
    ("choices",),
    ("option",),
    ("mc_options",),
    ("answer_choices",),
    ("answers",),
    *(
        tuple(f"{stem}{name}" for name in names)
        for names in ("ABCDE", "ABCD", "abcde", "abcd", "01234", "0123", "12345", "1234")
        for stem in ("a", "option", "option_", "choice", "choice_", "answer_choice_", "")
        if stem not in ("", "a") or names[0] in ("A" if stem == "" else "01")
    ),
)
"""Columns that hold options: one with a list of them, or one for each; the surest first."""

_QUESTION_COLUMNS = ("question", "prompt", "input", "text")
"""Columns whose text may list the options line by line."""

_ANSWER_COLUMNS = (
    "answer",
    "correct_answer",
    "correct_choice",
    "correct_option",
    "correct_idx",
    "correct",
    "answer_idx",
    "answer_index",
    "answer_id",
    "answer_letter",
    "answer_text",
    "label",
    "target",
    "truth",
    "gt",
    "ground_truth",
)
"""Columns that may say which option is right."""

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

_ABSENT = ("", "n/a", "nan")
"""What stands in a column of an option that a question does not have."""

_READINGS = ("text", "letter", "number")
"""How an answer may name an option; columns are tried in this order."""

_PLAIN = (str, int, float, bool, type(None))

_ENOUGH = 0.5
"""Share of the documents that a field shape must fit."""


def item_id(document: Document) -> str:
    """The question's id in its dataset, else a name made of what the document says.

    The same on every process and machine; nothing of it depends on the place in the dataset.
    """
    return _named(document, _ID_FIELDS) or document_key(document)


def document_key(document: Document) -> str:
    """A name made of all that a document says, apart from pictures, sound and video.

    Ids repeat in some datasets; this repeats only where whole documents do.
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
    """The video that a document is about, or the empty text where no known column names one."""
    return _named(document, _VIDEO_FIELDS)


def _named(document: Document, fields: Sequence[str]) -> str:
    """The value of the first of some columns that holds a name."""
    columns = _columns(document)
    for name in fields:
        value = document.get(columns.get(_folded(name), name))
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    return ""


def _folded(name: str) -> str:
    """A column's name without case and blanks: "Correct Answer" is correct_answer."""
    return str(name).strip().lower().replace(" ", "_")


def _columns(names: Iterable[str]) -> dict[str, str]:
    """Folded name -> the column, the first of several."""
    columns: dict[str, str] = {}
    for name in names:
        columns.setdefault(_folded(name), name)
    return columns


@dataclass(frozen=True)
class Question:
    """The options of one document.

    Attributes:
        texts: the options without their labels.
        labels: what stands before each, such as ``A. `` or ``(B) ``; it stays in its place.
        right: place of the right option, from 0.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    right: int

    def order(self, key: str, number: int, seed: int) -> list[int] | None:
        """Another order: for each place, the option that comes there.

        Options such as "none of the above" stay where they are.

        Args:
            key: the question's id.
            number: which other order, from 1.
            seed: seed of the draw.

        Returns:
            None where fewer than two options can move, or one names others by their letters.
        """
        if any(_REFERS.search(text) for text in self.texts):
            return None
        free = [place for place, text in enumerate(self.texts) if not _STAYS.search(text)]
        if len(free) < 2:
            return None
        order = list(range(len(self.texts)))
        drawn = shuffled(free, f"{key}\x00options{number}", seed)
        for place, option in zip(free, drawn, strict=True):
            order[place] = option
        return order


@dataclass(frozen=True)
class OptionShape:
    """Where documents hold their options and which is right.

    Attributes:
        options: the column with the list of options, or several columns with one option each.
            Empty where the options are lines of the question.
        answers: columns with the right one: its text, its letter, or its number.
        first: for an answer that is a number, the number of the first option: 0 or 1.
        question: the column of which options are lines; empty where it lists none.
        readings: for each of `answers` how it names the option: ``text``, ``letter`` or
            ``number``; empty where each document may do it in its way, a text before all.
    """

    options: tuple[str, ...]
    answers: tuple[str, ...]
    first: int = 0
    question: str = ""
    readings: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> OptionShape:
        """Reads ``options=COLUMN,answer=COLUMN``; several columns are joined by ``+``.

        Raises:
            AuditError: if the text is not of that form.
        """
        pairs = {
            name.strip(): value.strip()
            for name, _, value in (part.partition("=") for part in text.split(","))
        }
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

    def __str__(self) -> str:
        parts = {
            "options": "+".join(self.options),
            "question": self.question,
            "answer": "+".join(self.answers),
            "first": str(self.first or ""),
        }
        return ",".join(f"{name}={value}" for name, value in parts.items() if value)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        asked = (self.question,) if self.question else ()
        return tuple(dict.fromkeys((*self.options, *asked, *self.answers)))

    def read(self, document: Document) -> Question | None:
        """The document's options, or None where it has none of this shape."""
        listed = self._listed(document)
        if listed is None or len(listed) < 2:
            return None
        labels, texts = _split_labels(listed)
        if len(set(texts)) < len(texts) or not all(texts):
            return None  # which of two equal options is right cannot be told
        if self.options and self.question:
            lines = _option_lines(str(document.get(self.question) or ""))
            if lines and len(lines) != len(listed):
                return None
        numbers = any(isinstance(option, int) for option in self._raw(document))
        places = {
            self._place(document.get(name), numbers, listed, texts, reading)
            for name, reading in self._read_as()
        }
        if len(places) != 1 or None in places:
            return None
        return Question(texts, labels, int(places.pop() or 0))

    def _read_as(self) -> list[tuple[str, str]]:
        """The answer columns, each with how it is read."""
        readings = self.readings or ("",) * len(self.answers)
        return list(zip(self.answers, readings, strict=True))

    def reorder(self, document: Document, order: Sequence[int]) -> dict[str, Any]:
        """The columns that change when the options stand in another order.

        Args:
            document: a document of this shape.
            order: for each place, the option that comes there.

        Raises:
            ValueError: if the document is not of this shape.
        """
        question = self.read(document)
        listed = self._listed(document)
        if question is None or listed is None:
            raise ValueError("the document has no options of this shape")
        moved = [
            label + question.texts[option]
            for label, option in zip(question.labels, order, strict=True)
        ]
        right = list(order).index(question.right)
        changed: dict[str, Any] = {}
        raw = self._raw(document)
        values = moved if any(question.labels) else [raw[option] for option in order if raw]
        if len(self.options) == 1:
            stored = document[self.options[0]]
            changed[self.options[0]] = _as_stored(stored, values) if stored else values
        else:
            changed.update(zip(self.options, values, strict=False))
        if self.question:
            text = str(document[self.question])
            lines = text.split("\n")
            for place, number in enumerate(_option_lines(text)):
                lines[number] = _split_label(lines[number])[0] + question.texts[order[place]]
            changed[self.question] = "\n".join(lines)
        for name, reading in self._read_as():
            changed[name] = self._answer(document, name, reading, listed, question, moved, right)
        return changed

    def _listed(self, document: Document) -> list[str] | None:
        """The options as the document prints them."""
        if not self.options:
            lines = str(document.get(self.question) or "").split("\n")
            return [lines[number] for number in _option_lines("\n".join(lines))]
        listed = self._raw(document)
        if not all(isinstance(option, (str, int, float)) for option in listed):
            return None
        return [str(option) for option in listed]

    def _raw(self, document: Document) -> list[Any]:
        """The options of a list or of a column each, as they are; empty for lines of a text."""
        if len(self.options) == 1:
            listed = document.get(self.options[0])
            if isinstance(listed, str):
                listed = _literal(listed)
            return list(listed) if isinstance(listed, (list, tuple)) else []
        each = [document.get(name) for name in self.options]
        while each and (each[-1] is None or str(each[-1]).strip().lower() in _ABSENT):
            each.pop()  # a question with fewer options than there are columns
        return each

    def _place(
        self,
        value: Any,
        numbers: bool,
        listed: Sequence[str],
        texts: Sequence[str],
        reading: str = "",
    ) -> int | None:
        """The place of the option that an answer names, from 0.

        Args:
            value: the answer.
            numbers: whether the options are numbers, so that a number is one of them.
            listed: the options as the document prints them.
            texts: the options without labels.
            reading: how the answer names the option; empty for any way.
        """
        if isinstance(value, bool) or value is None:
            return None
        text = str(value).strip()
        if reading in ("", "text"):
            for options in (listed, texts) if isinstance(value, str) or numbers else ():
                stripped = [option.strip() for option in options]
                if text in stripped:
                    return stripped.index(text)
        number = -1
        if reading in ("", "letter") and (match := _LETTER.fullmatch(text)):
            number = ord(match[1].upper()) - ord("A")
        elif reading in ("", "number") and re.fullmatch(r"[0-9]{1,2}(\.0)?", text):
            number = int(float(text)) - self.first
        return number if 0 <= number < len(listed) else None

    def _answer(
        self,
        document: Document,
        name: str,
        reading: str,
        listed: Sequence[str],
        question: Question,
        moved: Sequence[str],
        right: int,
    ) -> Any:
        """The answer in the form that it had."""
        value = document[name]
        text = str(value).strip()
        numbers = any(isinstance(option, int) for option in self._raw(document))
        if reading in ("", "text") and (isinstance(value, str) or numbers):
            if text in [option.strip() for option in question.texts]:
                return value
            if text in [option.strip() for option in listed]:
                return moved[right].strip()
        if reading in ("", "letter") and (match := _LETTER.fullmatch(text)):
            letter = chr(ord("A" if match[1].isupper() else "a") + right)
            return str(value).replace(match[1], letter, 1)
        number = right + self.first
        return str(number) if isinstance(value, str) else type(value)(number)


def find_shape(
    documents: Sequence[Document], declared: Iterable[OptionShape] = ()
) -> OptionShape | None:
    """The shape that fits most of some documents.

    Args:
        documents: documents of one task.
        declared: shapes to try first, as the user declared them.

    Returns:
        The shape, with every answer column that agrees; None where none fits half of them.
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
    places += [OptionShape((), (), 0, columns[n]) for n in _QUESTION_COLUMNS if n in columns]
    answers = [columns[name] for name in _ANSWER_COLUMNS if name in columns]
    for place in places:
        best, n_read = place, max(1, math.ceil(_ENOUGH * len(documents)))
        for answer in answers:
            if answer in place.options:
                continue
            # A second column counts where it never contradicts the first.
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
    """Adds the column whose text repeats the listed options, which then has to change too."""
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
            question = shape.read(document)
            if question is not None and repeated == [text.strip() for text in question.texts]:
                return replace(shape, question=name)
    return shape


def _split_labels(options: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and texts of options; without labels where these do not count from A or 1 on."""
    labels, texts = zip(*(_split_label(option) for option in options), strict=True)
    for place, label in enumerate(labels):
        name = "".join(filter(str.isalnum, label)).upper()
        if not name or name not in (chr(ord("A") + place), str(place + 1)):
            return ("",) * len(options), tuple(options)
    return labels, texts


def _split_label(option: str) -> tuple[str, str]:
    """An option's label, empty where it has none, and its text."""
    match = _LABEL.match(option)
    return (match[0], option[match.end() :]) if match else ("", option)


def _option_lines(text: str) -> list[int]:
    """Numbers of the lines that list options, labelled in order from A or 1."""
    found: list[int] = []
    for number, line in enumerate(text.split("\n")):
        label = "".join(filter(str.isalnum, _split_label(line)[0])).upper()
        if label and label in (chr(ord("A") + len(found)), str(len(found) + 1)):
            found.append(number)
    return found if len(found) > 1 else []


def _as_stored(stored: Any, options: Sequence[Any]) -> Any:
    """A list of options in the form in which the document holds it."""
    if not isinstance(stored, str):
        return list(options)
    try:
        json.loads(stored)
    except ValueError:
        return repr(list(options))
    return json.dumps(list(options), ensure_ascii=False)


def _literal(text: str) -> Any:
    """A list that is stored as text, as JSON or as Python prints it."""
    import ast

    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None
