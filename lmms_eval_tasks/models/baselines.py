"""The two baselines of TVBench (table 5): random choice and frequent choice.

Neither looks at a video, so no video has to be there.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from loguru import logger

from video_reasoning.tasks import store
from video_reasoning.tasks.models.base import Query, WeightlessModel, draw

_GUESSES = (
    "Something unexpected happens and the scene changes.",
    "A person loses control of what they are doing.",
    "An object falls over and everybody is surprised.",
    "Nothing special happens and the scene goes on as before.",
    "Two things collide and one of them stops moving.",
)

# (A) text | 'A': 'text' | A. text, each at a place where an option can begin.
_OPTION = re.compile(r"\(([A-Z])\)\s|['\"]([A-Z])['\"]\s*:|(?:^|\s)([A-Z])\.\s")
_YES_NO = re.compile(r"\byes\s+or\s+no\b", re.IGNORECASE)


def option_letters(prompt: str) -> list[str]:
    """Find the letters of the options that a prompt lists.

    Args:
        prompt: The prompt's text, with options as ``(A) text``, ``'A': 'text'`` or
            ``A. text``.

    Returns:
        The longest run A, B, C, ... in the prompt in this order; empty if no A is followed
        by a B.
    """
    found: list[str] = []
    for match in _OPTION.finditer(prompt):
        letter = next(group for group in match.groups() if group)
        if ascii_uppercase.find(letter) == len(found):
            found.append(letter)
    return found if len(found) > 1 else []


def document_choices(document: Mapping[str, Any], prompt: str) -> list[str]:
    """List what a response to a question can say.

    Args:
        document: The harness's document; its ``options`` column is used if it has one.
        prompt: The prompt's text, read if the document lists no options.

    Returns:
        Letters, or ["yes", "no"], or nothing for an open question.
    """
    options = document.get("options")
    if options is not None and len(options):
        texts = [str(option).strip().lower() for option in options]
        if sorted(texts) == ["no", "yes"]:
            return texts
        return [*ascii_uppercase[: len(texts)]]
    if _YES_NO.search(prompt):
        return ["yes", "no"]
    return option_letters(prompt)


def tvbench_letters(seed: int) -> dict[str, str]:
    """Draw a letter for each question of the prepared TVBench as the paper's baseline does.

    Python's generator, seeded once, then one ``choice`` among the letters of each question, in
    the order of the store, which is the paper's: rotation, direction, velocity & frequency, shape
    & trend, visual cues, action count, each in the order of its annotation file.

    Args:
        seed: 42 in the paper.

    Returns:
        Id of a question -> letter.
    """
    import pyarrow.parquet as pq

    rows = pq.read_table(store.questions_file("tvbench", "test"), columns=["id", "options"])
    generator = random.Random(seed)
    letters = {}
    for row in rows.to_pylist():
        letters[row["id"]] = generator.choice(ascii_uppercase[: len(row["options"])])
    return letters


class RandomChoice(WeightlessModel):
    """Picks one of the options at random, each question for itself.

    The pick depends on the seed, the task, the document and the prompt, so it does not
    change with the number of processes, with ``--limit``, or with what ran before.
    ``generator=python`` gives the row that TVBench prints (table 5, Random Choice (42)).
    """

    sees = False

    def __init__(self, seed: int = 42, generator: str = "hash", **kwargs: Any) -> None:
        """Set the seed; TVBench's baseline has 42.

        Args:
            seed: Another seed gives other letters.
            generator: "hash", or "python" for one draw of Python's ``random.choice`` a question
                over all questions of TVBench in the paper's order, whichever are asked.
            **kwargs: The harness's standard arguments.

        Raises:
            ValueError: There is no such generator.
        """
        super().__init__(**kwargs)
        if generator not in ("hash", "python"):
            raise ValueError(f"There is no generator {generator!r}: use 'hash' or 'python'.")
        self.seed = int(seed)
        self.generator = generator
        self._letters: dict[str, str] = {}

    def respond(self, query: Query) -> str:
        """Name a random option; say a random generic sentence to an open question.

        Raises:
            ValueError: With ``generator=python``, the question is not one of TVBench's.
        """
        document = self.task_dict[query.task][query.split][query.doc_id]
        if self.generator == "python":
            self._letters = self._letters or tvbench_letters(self.seed)
            letter = self._letters.get(str(document.get("id")))
            if letter is None or not query.task.startswith("tvbench"):
                raise ValueError(
                    f"random_choice with generator=python answers TVBench's questions, not "
                    f"{query.task}'s; leave the argument out."
                )
            return letter
        choices = document_choices(document, query.prompt) or list(_GUESSES)
        place = draw(len(choices), self.seed, query.task, query.doc_id, query.prompt)
        return choices[(place + query.repeat) % len(choices)]


class RandomChoiceChat(RandomChoice):
    """``RandomChoice`` for the harness's chat requests."""

    is_simple = False


class FrequentChoice(WeightlessModel):
    """Always names the most frequent right answer of the task.

    This is TVBench's baseline: it reads the answers of the whole task (the ``answer``
    column) and says the letter, or yes or no, that is right most often; of equally
    frequent ones the first in the alphabet. If answers are withheld it names the
    first option, with a warning. It is an upper bound for any constant response, not a
    model.
    """

    sees = False

    def __init__(self, **kwargs: Any) -> None:
        """Start with nothing counted."""
        super().__init__(**kwargs)
        self._most_frequent: dict[tuple[str, str], str | None] = {}

    def respond(self, query: Query) -> str:
        """Name the task's most frequent answer; a generic sentence to an open question."""
        key = (query.task, query.split)
        if key not in self._most_frequent:
            self._most_frequent[key] = self._count(query.task, query.split)
        answer = self._most_frequent[key]
        document = self.task_dict[query.task][query.split][query.doc_id]
        choices = document_choices(document, query.prompt)
        if not choices:
            return _GUESSES[query.repeat % len(_GUESSES)]
        return answer if answer is not None else choices[0]

    def _count(self, task: str, split: str) -> str | None:
        documents = self.task_dict[task][split]
        columns = getattr(documents, "column_names", None)
        if columns is not None:
            # A column of a datasets.Dataset is read without touching the other columns.
            answers = list(documents["answer"]) if "answer" in columns else []
        else:
            answers = [document.get("answer") for document in documents]
        counts = Counter(str(answer) for answer in answers if answer)
        if not counts:
            logger.warning(
                f"frequent_choice: the answers of {task} ({split}) are withheld; "
                "the first option is named instead."
            )
            return None
        return min(counts, key=lambda answer: (-counts[answer], answer))


class FrequentChoiceChat(FrequentChoice):
    """``FrequentChoice`` for the harness's chat requests."""

    is_simple = False
