"""Making pairs of multiple-choice questions: from a table to a release in CausalVQA's layout."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.causalvqa.pairs import blind
from video_reasoning.tasks.causalvqa.pairs.people import SIGNIFICANT, rate, read_responses
from video_reasoning.tasks.causalvqa.pairs.variants import Pair, paraphrased, reordered
from video_reasoning.tasks.causalvqa.release import TYPES
from video_reasoning.tasks.llm import chat
from video_reasoning.tasks.release.questions import Question, QuestionsError, read_questions
from video_reasoning.tasks.release.records import OddRow, parse_options

JOURNAL = "replies.jsonl"
"""Every prompt and reply."""
PAIRS = "pairs.jsonl"
"""Both variants of every pair, a line each, with what became of the pair."""
METADATA = "debug/debug_metadata.csv"
"""The pairs that are kept, in CausalVQA's layout."""
MANIFEST = "manifest.json"

_HEAD = (
    *("qid", "type", "question", "choices1", "correct1", "choices2", "correct2", "difficulty"),
    "renamed_video",
)


@dataclass(frozen=True)
class Plan:
    """How pairs are made.

    Attributes:
        questions: The table of questions.
        out: Folder for the pairs; it keeps the replies, too.
        paraphrase: Model that puts distractors in other words; empty to reorder alone.
        blind: Models that answer without the video.
        logs: Logs of blind runs over the pairs.
        least: How many models have to be right on both variants for a pair to be out.
        responses: People's responses; None without.
        type: Question type of all questions; empty for the file's own.
        count_from: Where the file's numbers of answers count from; None if it shows that itself.
        seed: Draws the order of the second variant.
    """

    questions: Path
    out: Path
    paraphrase: str = ""
    blind: tuple[str, ...] = ()
    logs: tuple[Path, ...] = ()
    least: int = 1
    responses: Path | None = None
    type: str = ""
    count_from: int | None = None
    seed: int = 0


@dataclass
class Made:
    """What was made.

    Attributes:
        pairs: Every pair, in the questions' order.
        kept: Those that no filter took out.
        out: Id -> why a pair is out.
        difficulty: Id -> difficulty from people's responses.
        blind: Model -> how many pairs it has right on both variants, and unparsed replies.
        left_out: Where and why there is no pair.
        differ: Ids of the pairs whose variants people find unequally hard.
    """

    pairs: list[Pair] = field(default_factory=list)
    out: dict[str, str] = field(default_factory=dict)
    difficulty: dict[str, str] = field(default_factory=dict)
    blind: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[Pair]:
        """Return the pairs that no filter took out."""
        return [pair for pair in self.pairs if pair.question.id not in self.out]


def make_pairs(plan: Plan, progress: Callable[[str, int, int], None]) -> Made:
    """Make pairs, filter them, and write them to the plan's folder.

    Raises:
        QuestionsError: No pair can be made of the questions, or an input is of other questions.
        ChatError: A model cannot be reached; what it replied before is kept.
    """
    models = [chat.named(name) for name in plan.blind]
    read = read_questions(plan.questions, plan.count_from)
    made = Made(left_out=list(read.skipped))
    questions = [each for each in read.questions if _can_be_written(each, plan, made)]
    with chat.replies(plan.out / JOURNAL) as replies:
        texts: dict[str, Sequence[str]] = {each.id: each.options for each in questions}
        if plan.paraphrase:
            found, reasons = paraphrased(questions, chat.named(plan.paraphrase), replies, progress)
            made.left_out += reasons.items()
            texts = dict(found)
        for each in questions:
            if each.id in texts:
                pair = reordered(each, texts[each.id], plan.seed)
                if _is_readable(pair.options, each.id, made):
                    made.pairs.append(pair)
        if not made.pairs:
            raise QuestionsError(
                f"No pair can be made of {plan.questions}: {': '.join(made.left_out[0])}."
            )
        right: dict[str, blind.Right] = {}
        for model in models:
            right[model.name], unparsed = blind.asked(made.pairs, model, replies, progress)
            made.blind[model.name] = {"unparsed": unparsed}
    if plan.logs:
        right |= blind.logged(plan.logs, made.pairs)
    _filter_blind(made, right, plan.least)
    if plan.responses is not None:
        _filter_people(made, plan.responses)
    _write(made, plan)
    return made


def _can_be_written(question: Question, plan: Plan, made: Made) -> bool:
    """Tell whether a question fits CausalVQA's layout, or record why it does not."""
    kind = plan.type or question.type.lower()
    if kind not in TYPES:
        raise QuestionsError(
            f"Question {question.id} has the type {question.type!r}, not one of "
            f"{', '.join(TYPES)}; give all questions one with --type."
        )
    return _is_readable(question.options, question.id, made)


def _is_readable(options: Sequence[str], name: str, made: Made) -> bool:
    """Tell whether a reader of CausalVQA's tables gets the options back as they are."""
    try:
        if parse_options(blind.numbered(options)) == list(options):
            return True
        reason = "its options are read as others"
    except OddRow as odd:
        reason = str(odd)
    made.left_out.append((name, f"it does not fit CausalVQA's layout: {reason}"))
    return False


def _filter_blind(made: Made, right: dict[str, blind.Right], least: int) -> None:
    for name, found in right.items():
        known = made.blind.setdefault(name, {})
        known["pairs"] = len(found)
        known["right_on_both"] = sum(one and other for one, other in found.values())
    for pair in made.pairs:
        seen = [
            name
            for name, found in right.items()
            if all(found.get(pair.question.id, (False, False)))
        ]
        if len(seen) >= least and seen:
            made.out[pair.question.id] = (
                f"right on both variants without the video: {'; '.join(seen)}"
            )


def _filter_people(made: Made, path: Path) -> None:
    responses = read_responses(path, made.pairs)
    made.left_out += responses.skipped
    for pair in made.pairs:
        name, rated = pair.question.id, rate(pair, responses)
        made.difficulty[name] = rated.difficulty
        if rated.out:
            made.out.setdefault(name, rated.out)
        elif not math.isnan(rated.differ) and rated.differ < SIGNIFICANT:
            made.differ.append(name)


def _write(made: Made, plan: Plan) -> None:
    plan.out.mkdir(parents=True, exist_ok=True)
    (plan.out / METADATA).parent.mkdir(exist_ok=True)
    lines = [json.dumps(line, ensure_ascii=False) for line in _lines(made)]
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(_HEAD)
    for pair in made.kept:
        question = pair.question
        cells = [
            cell
            for options, answer in pair.variants()
            for cell in (blind.numbered(options), answer + 1)
        ]
        kind = plan.type or question.type.lower()
        level = made.difficulty.get(question.id, "")
        writer.writerow([question.id, kind, question.question, *cells, level, question.video])
    manifest = {
        "settings": json.loads(json.dumps(asdict(plan), default=str)),
        "pairs": len(made.pairs),
        "kept": len(made.kept),
        "out": made.out,
        "reasons": dict(Counter(reason.partition(":")[0] for reason in made.out.values())),
        "blind": made.blind,
        "difficulty": dict(Counter(level for level in made.difficulty.values() if level)),
        "variants_differ": made.differ,
        "left_out": [{"where": where, "reason": reason} for where, reason in made.left_out],
    }
    for name, text in (
        (PAIRS, "".join(f"{line}\n" for line in lines)),
        (METADATA, sheet.getvalue()),
        (MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"),
    ):
        with atomic_path(plan.out / name) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="")


def _lines(made: Made) -> list[dict[str, Any]]:
    """Return both variants of every pair, next to each other."""
    return [
        {
            "id": f"{pair.question.id}/{number}",
            "qid": pair.question.id,
            "variant": number,
            "question": pair.question.question,
            "options": list(options),
            "answer": ascii_uppercase[answer],
            "video": pair.question.video,
            "difficulty": made.difficulty.get(pair.question.id, ""),
            "out": made.out.get(pair.question.id, ""),
        }
        for pair in made.pairs
        for number, (options, answer) in enumerate(pair.variants(), start=1)
    ]
