"""CausalVQA: prompts and scoring as the harness calls them.

A question has two variants with the same right answer; each is asked on its own, and the
headline number counts the pairs of which both were answered correctly (section 2.2.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from video_reasoning.metrics.paired import paired_accuracy
from video_reasoning.tasks import media, scoring

BENCHMARK = "causalvqa"

RESPONSE_FORMAT = "Your Answer Letter: {letter} END"
"""The response format that the benchmark asks for."""

INSTRUCTION = (
    "Watch the whole video before you decide, and choose the one option that fits it best.\n"
    "Finish your reply with a single line in exactly this format, with the letter of your "
    "choice ({letters}) alone in place of X:\n" + RESPONSE_FORMAT.format(letter="X")
)
"""Our own wording; the authors' prompt is not ours to ship."""


def doc_to_visual(doc: Mapping[str, Any]) -> list[str]:
    """The clip as released; the model's own sampler takes its frames."""
    return media.show(BENCHMARK, doc)


def doc_to_text(doc: Mapping[str, Any]) -> str:
    """Question, options as ``(A) text``, and the response format."""
    options = scoring.letters(doc["options"])
    lines = [str(doc["question"])]
    lines += [f"({letter}) {option}" for letter, option in options.items()]
    letters = list(options)
    lines.append(INSTRUCTION.format(letters=f"{letters[0]} to {letters[-1]}"))
    return "\n".join(lines)


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The right option's letter, empty where it is withheld."""
    return str(doc["answer"])


def process_results_debug(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one variant of one debug question."""
    return _process_results("debug", doc, results)


def _process_results(split: str, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    judged = scoring.judge(BENCHMARK, doc, results)
    item = scoring.scored(
        doc,
        judged,
        qid=str(doc["qid"]),
        variant=str(doc["variant"]),
        type=str(doc["type"]),
        difficulty=str(doc["difficulty"]),
    )
    return {
        **scoring.common_metrics(BENCHMARK, split, doc, judged),
        "accuracy_paired": item,
        "accuracy_unpaired": item,
        "incomplete_pairs": item,
    }


def accuracy_paired(items: Sequence[Mapping[str, Any]]) -> float | None:
    """Pairs with both variants correct / pairs with both variants scored, 0..1.

    A pair of which one variant is missing or withheld counts in ``incomplete_pairs`` instead.
    """
    complete = [item for item in items if "score" in item]
    value = paired_accuracy(
        [item["qid"] for item in complete], [item["score"] == 1.0 for item in complete]
    )
    return None if value != value else value


def incomplete_pairs(items: Sequence[Mapping[str, Any]]) -> int:
    """Questions of which only one variant could be scored (or was asked, with ``--limit``)."""
    variants: dict[str, int] = {}
    for item in items:
        if "score" in item:
            variants[item["qid"]] = variants.get(item["qid"], 0) + 1
    return sum(count == 1 for count in variants.values())
