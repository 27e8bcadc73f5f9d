"""CausalVQA: prompts and scoring as the harness calls them.

A question has two variants with the same right answer; each is asked on its own, and the
headline number counts the pairs whose two variants were both answered correctly (section 2.2.5).
All aggregates weigh questions, not strata: that is what reproduces the paper's tables 6 and 12.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from video_reasoning.metrics import paired
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.causalvqa import prompt, submission
from video_reasoning.tasks.scoring import of_task
from video_reasoning.tasks.states import LEFT_OUT

BENCHMARK = "causalvqa"

TYPES = tuple(BENCHMARKS[BENCHMARK].kinds)
"""Question types (section 2, table 1)."""

REASONING = frozenset(TYPES) - {"descriptive"}
"""The types that the paper calls Reasoning."""

DIFFICULTIES = ("easy", "medium", "hard")

WHOLE = "video"
"""The condition of a task that shows the clip as released."""

Document = Mapping[str, Any]
Items = Sequence[Mapping[str, Any]]
Settings = Mapping[str, Any] | None


def condition(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> Condition | None:
    """Return what a document shows: None for the whole video, else a frame condition."""
    name = scoring.named_condition(doc, lmms_eval_specific_kwargs, WHOLE)
    return None if name == WHOLE else Condition.parse(name)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> list[Any]:
    """Show the clip as released, for the model's own sampler of frames; or an ablation's frame."""
    shown = condition(doc, lmms_eval_specific_kwargs)
    clips = media.show(BENCHMARK, doc, shown, settings=lmms_eval_specific_kwargs)
    return media.hand_over(BENCHMARK, doc, clips, lmms_eval_specific_kwargs, shown)


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> str:
    """Return question, options as ``(A) text``, and what to do; see :mod:`.prompt`."""
    shown = condition(doc, lmms_eval_specific_kwargs)
    kind = WHOLE if shown is None else shown.kind
    return prompt.build(str(doc["question"]), scoring.letters(doc["options"]), kind)


def doc_to_target(doc: Document) -> str:
    """Return the right option's letter, empty if it is withheld."""
    return str(doc["answer"])


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Score one variant of a question; there is a score only if there is an answer."""
    shown = condition(doc)
    blind = shown is not None and shown.kind == "blind"
    judged = scoring.judge(BENCHMARK, doc, results, needs_video=not blind)
    item = scoring.scored(
        doc, judged, **{name: str(doc[name]) for name in ("qid", "variant", "type", "difficulty")}
    )
    pair = scoring.unscored(item)
    belongs = {name: doc["difficulty"] == name for name in DIFFICULTIES}
    belongs["reasoning"] = doc["type"] in REASONING
    withheld = {"withheld": not doc["answer"]}
    return {
        **scoring.common_metrics(BENCHMARK, doc, judged, results),
        "prompt": prompt.name(),
        "accuracy_paired": pair,
        "accuracy_unpaired": item,
        **scoring.belonging(pair, {f"paired_{name}": its for name, its in belongs.items()}),
        **scoring.belonging(item, {f"unpaired_{name}": its for name, its in belongs.items()}),
        "incomplete_pairs": pair,
        "consistency": {
            "qid": item["qid"],
            "text": scoring.letters(doc["options"]).get(str(judged["choice"])),
        },
        "withheld_items": withheld,
        "submission_rows": {
            "id": item["id"],
            "split": str(doc.get("split") or ""),
            "condition": WHOLE if shown is None else shown.name,
            "choice": judged["choice"],
            "missing": judged["status"] in LEFT_OUT,
            **withheld,
        },
    }


def accuracy_paired(items: Items) -> float | None:
    """Pairs with both variants correct / pairs with both variants scored, 0..1.

    A pair with one variant missing or withheld counts in ``incomplete_pairs`` instead.
    """
    asked = [item for item in items if "qid" in item]
    ids, correct = [item["qid"] for item in asked], [item.get("correct") for item in asked]
    return scoring.defined(paired.paired_accuracy(ids, correct, variants=2))


def incomplete_pairs(items: Items) -> int:
    """Count the questions with one variant that could be scored (or was asked: ``--limit``)."""
    scored = [item["qid"] for item in items if "correct" in item]
    return sum(count == 1 for count in Counter(scored).values())


def consistency(items: Items) -> float | None:
    """How often both variants of a question get an option of the same text, 0..1.

    Distractors are paraphrased between the variants, so that a model that is wrong in both is
    seldom consistent; one that is right in both always is. Over the questions whose variants
    were both asked; a response that names no option agrees with nothing.
    """
    return scoring.defined(
        paired.consistency([item["qid"] for item in items], [item["text"] for item in items])
    )


def _metadata() -> dict[str, Any]:
    return scoring.metadata(BENCHMARK, 1.1, prompt=prompt.name())


_BREAKDOWNS = (*DIFFICULTIES, "reasoning")

__getattr__ = scoring.attributes(
    __name__,
    METRICS=[
        scoring.metric("accuracy_paired", accuracy_paired),
        scoring.metric("accuracy_unpaired", scoring.accuracy),
        *(scoring.metric(f"acc_paired_{name}", accuracy_paired) for name in _BREAKDOWNS),
        *(scoring.metric(f"acc_unpaired_{name}", scoring.accuracy) for name in _BREAKDOWNS),
        scoring.metric("consistency", consistency),
        scoring.metric("incomplete_pairs", incomplete_pairs, higher_is_better=False),
        *scoring.COMMON,
        scoring.WITHHELD,
        scoring.metric("submission_rows", submission.submission_rows),
    ],
    GROUP=scoring.group_metrics(
        ("accuracy_paired", "accuracy_unpaired"), ("missing_items", "failed_items")
    ),
    metadata=_metadata,
)

all_questions = of_task()
anticipation = of_task("anticipation")
counterfactual = of_task("counterfactual")
descriptive = of_task("descriptive")
hypothetical = of_task("hypothetical")
planning = of_task("planning")
