"""What people answered to both variants, and how hard a question is (CausalVQA, 2.2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase

from video_reasoning.metrics.difficulty import Agreement, agree, is_modal, variants_differ
from video_reasoning.tasks.causalvqa.pairs.variants import Pair
from video_reasoning.tasks.release.questions import QuestionsError
from video_reasoning.tasks.release.records import annotation_text
from video_reasoning.tasks.store.text_files import shortened, table

COLUMNS = ("qid", "variant", "choice")
SIGNIFICANT = 0.05


@dataclass
class Responses:
    """People's choices: qid and variant -> letters; and the lines that are none."""

    choices: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Rated:
    """What people say of a pair.

    Attributes:
        difficulty: "easy", "medium" or "hard"; empty without responses, or if it is out.
        out: Why the pair is out, or the empty text.
        agreement: Over both variants.
        differ: The p-value of the two variants being equally hard; NaN without responses.
    """

    difficulty: str
    out: str
    agreement: Agreement
    differ: float


def read_responses(path: Path, pairs: Sequence[Pair]) -> Responses:
    """Read a CSV with a row per response: ``qid``, ``variant`` (1 or 2) and ``choice`` (a letter).

    Raises:
        QuestionsError: It lacks a column, or has no response to any of the pairs.
        ReleaseError: It cannot be read.
    """
    columns, rows = table(annotation_text(path))
    if absent := [name for name in COLUMNS if name not in columns]:
        raise QuestionsError(
            f"{path} has no column {', '.join(absent)}; it has "
            f"{shortened(', '.join(columns), 300) or 'none'}."
        )
    counts = {pair.question.id: len(pair.options) for pair in pairs}
    found = Responses()
    for number, row in rows:
        where = f"{path.name} row {number}"
        if isinstance(row, str):
            found.skipped.append((where, row))
            continue
        name, variant, choice = (str(row[column] or "").strip() for column in COLUMNS)
        letters = [*ascii_uppercase[: counts.get(name, 0)]]
        if name not in counts:
            found.skipped.append((where, f"there is no question {shortened(name, 40)!r}"))
        elif variant not in ("1", "2") or choice.upper() not in letters:
            found.skipped.append(
                (where, f"variant {variant!r} with choice {shortened(choice, 20)!r} is none")
            )
        else:
            found.choices.setdefault((name, int(variant)), []).append(choice.upper())
    if not found.choices:
        raise QuestionsError(f"{path} has no response to any of the questions.")
    return found


def rate(pair: Pair, responses: Responses) -> Rated:
    """Say how hard a pair is for people, or why it is out.

    The right answer has to be chosen more often than any other one in each variant that people
    answered. The agreement that makes the difficulty is over the responses to both variants: the
    paper's thresholds are whole numbers of 30 people, and each variant was shown to 15.
    """
    found: list[Agreement] = []
    for number, (_, place) in enumerate(pair.variants(), start=1):
        answer = ascii_uppercase[place]
        choices = responses.choices.get((pair.question.id, number), [])
        found.append(agree(choices, answer))
        if choices and not is_modal(choices, answer):
            reason = f"people do not choose the right answer most often in variant {number}"
            return Rated("", reason, found[-1], float("nan"))
    both = Agreement(found[0].n + found[1].n, found[0].n_right + found[1].n_right)
    out = "" if both.difficulty or not both.n else "people agree less than in hard questions"
    return Rated(both.difficulty, out, both, variants_differ(*found))
