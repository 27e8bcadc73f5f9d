"""CausalVQA: prompts and scoring as the harness calls them.

A question has two variants with the same right answer; each is asked on its own, and the
headline number counts the pairs of which both were answered correctly (section 2.2.5). All
aggregates weigh questions, not strata: that is what reproduces the paper's tables 6 and 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from video_reasoning.metrics.paired import paired_accuracy
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.causalvqa import prompt
from video_reasoning.tasks.selection import of_task

BENCHMARK = "causalvqa"

TYPES = ("anticipation", "counterfactual", "descriptive", "hypothetical", "planning")
"""Question types (section 2, table 1)."""

REASONING = frozenset(TYPES) - {"descriptive"}
"""The types that the paper calls Reasoning."""

DIFFICULTIES = ("easy", "medium", "hard")

Items = Sequence[Mapping[str, Any]]
Settings = Mapping[str, Any] | None


def condition(lmms_eval_specific_kwargs: Settings) -> Condition | None:
    """What a task's YAML shows: None for the whole video, else a frame condition."""
    name = (lmms_eval_specific_kwargs or {}).get("condition", "video")
    return None if name == "video" else Condition.parse(str(name))


def doc_to_visual(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Settings = None) -> list[str]:
    """The clip as released, of which the model's own sampler takes frames; or an ablation's."""
    return media.show(BENCHMARK, doc, condition(lmms_eval_specific_kwargs))


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: Settings = None) -> str:
    """Question, options as ``(A) text``, and what to do; see :mod:`.prompt`."""
    shown = condition(lmms_eval_specific_kwargs)
    kind = "video" if shown is None else shown.kind
    return prompt.build(str(doc["question"]), scoring.letters(doc["options"]), kind)


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """The right option's letter, empty where it is withheld."""
    return str(doc["answer"])


def process_results_debug(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one variant of one debug question."""
    return _process_results("debug", "", doc, results)


def process_results_test(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Reads one variant of one test question; there is a score only where there is an answer."""
    return _process_results("test", "", doc, results)


def process_blind_debug(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one variant of one debug question that was asked without its video."""
    return _process_results("debug", "_blind", doc, results)


def process_blind_test(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Reads one variant of one test question that was asked without its video."""
    return _process_results("test", "_blind", doc, results)


def process_single_frame_debug(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Scores one variant of one debug question that was asked with the video's last frame."""
    return _process_results("debug", "_single_frame", doc, results)


def process_single_frame_test(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Reads one variant of one test question that was asked with the video's last frame."""
    return _process_results("test", "_single_frame", doc, results)


def _process_results(
    split: str, ablation: str, doc: Mapping[str, Any], results: Sequence[Any]
) -> dict[str, Any]:
    judged = scoring.judge(BENCHMARK, doc, results, needs_video=ablation != "_blind")
    item = scoring.scored(
        doc,
        judged,
        qid=str(doc["qid"]),
        variant=str(doc["variant"]),
        type=str(doc["type"]),
        difficulty=str(doc["difficulty"]),
    )
    chosen = scoring.letters(doc["options"]).get(str(judged["choice"]))
    withheld = not doc["answer"]
    return {
        **scoring.common_metrics(BENCHMARK, split, doc, judged),
        "prompt": prompt.name(),
        **_accuracies(doc, item),
        "incomplete_pairs": scoring.unscored(item),
        "consistency": {"qid": item["qid"], "text": chosen},
        "withheld_items": {"withheld": withheld},
        "submission_rows": {
            "id": item["id"],
            "run": f"causalvqa_{split}{ablation}",
            "split": split,
            "choice": judged["choice"],
            "missing": judged["status"] == "missing",
            "withheld": withheld,
        },
    }


def _accuracies(doc: Mapping[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """The item for both accuracies, and for each breakdown that it belongs to."""
    belongs = {name: doc["difficulty"] == name for name in DIFFICULTIES}
    belongs["reasoning"] = doc["type"] in REASONING
    paired = scoring.unscored(item)
    metrics: dict[str, Any] = {"accuracy_paired": paired, "accuracy_unpaired": item}
    for name, its in belongs.items():
        metrics[f"acc_paired_{name}"] = paired if its else scoring.NOT_COUNTED
        metrics[f"acc_unpaired_{name}"] = item if its else scoring.NOT_COUNTED
    return metrics


def accuracy_paired(items: Items) -> float | None:
    """Pairs with both variants correct / pairs with both variants scored, 0..1.

    A pair of which one variant is missing or withheld counts in ``incomplete_pairs`` instead.
    """
    asked = [item for item in items if "qid" in item]
    value = paired_accuracy(
        [item["qid"] for item in asked], [item.get("correct") for item in asked], variants=2
    )
    return None if value != value else value


def incomplete_pairs(items: Items) -> int:
    """Questions of which only one variant could be scored (or was asked, with ``--limit``)."""
    variants: dict[str, int] = {}
    for item in items:
        if "correct" in item:
            variants[item["qid"]] = variants.get(item["qid"], 0) + 1
    return sum(count == 1 for count in variants.values())


def consistency(items: Items) -> float | None:
    """How often both variants of a question get an option of the same text, 0..1.

    Distractors are paraphrased between the variants, so that a model that is wrong in both is
    seldom consistent; one that is right in both always is. Over the questions of which both
    variants were asked; a response that names no option agrees with nothing.
    """
    texts: dict[str, list[str | None]] = {}
    for item in items:
        texts.setdefault(item["qid"], []).append(item["text"])
    pairs = [pair for pair in texts.values() if len(pair) == 2]
    if not pairs:
        return None
    return sum(one is not None and one == other for one, other in pairs) / len(pairs)


anticipation = of_task("anticipation")
counterfactual = of_task("counterfactual")
descriptive = of_task("descriptive")
hypothetical = of_task("hypothetical")
planning = of_task("planning")
