"""Scoring of BlackSwanSuite's generation tasks (sections 5.1 and C, tables 3 to 5, 10 and 15).

Forecaster and Detective are asked for three sampled responses, the Reporter for one. How pairs
of a response and a reference become a number is in :mod:`video_reasoning.metrics.generation`;
which models score CLIP score and LLM-Match in :mod:`video_reasoning.tasks.llm.text_scorers`. Those
two are computed in the aggregation: once per run, in batches, on the main process, after the
evaluated model has been taken off the GPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loguru import logger

from video_reasoning.metrics import generation
from video_reasoning.metrics.accuracy import mean
from video_reasoning.tasks import media, scoring
from video_reasoning.tasks.blackswan import BENCHMARK, clips_problem
from video_reasoning.tasks.llm import text_scorers
from video_reasoning.tasks.llm.text_scorers import Kind

Document = Mapping[str, Any]
Results = Sequence[Any]
Items = Sequence[dict[str, Any]]

RULES: Mapping[Kind, Callable[[Any], float]] = {
    "clip_score": generation.best_pair,
    "llm_match": generation.mean_pair,
}
"""Metric -> how the scores of a question's pairs become one number."""


def responses_of(results: Results) -> list[str]:
    """All responses to a question, stripped, whatever nesting the harness handed over."""
    flat: list[str] = []
    for result in results:
        if isinstance(result, (list, tuple)):
            flat.extend(responses_of(result))
        else:
            flat.append("" if result is None else str(result).strip())
    return flat


def _processor(split: str, *, clips: bool = False) -> Callable[[Document, Results], dict[str, Any]]:
    """A ``process_results`` for one split; ``clips`` where two clips were shown."""

    def process_results(doc: Document, results: Results) -> dict[str, Any]:
        problem = clips_problem(doc) if clips else media.problem(BENCHMARK, doc)
        responses = responses_of(results)
        references = [str(reference) for reference in doc.get("references") or []]
        status = _status(problem, responses, references)
        scored = status in ("answered", "unparsed") and bool(references)
        base = {"id": str(doc["id"]), "video": str(doc["video"])}
        pairs = {
            "responses": responses if scored else [],
            "references": references if scored else [],
        }
        return {
            "id": base["id"],
            "status": status,
            "problem": problem,
            "clip_score": {**base, **pairs},
            "llm_match": {**base, **pairs},
            "bleu": {**base, **_score(generation.bleu, pairs)},
            "rouge_l": {**base, **_score(generation.rouge_l, pairs)},
            "dropped_pairs": pairs,
            "distinct_responses": None if problem else len(set(responses)),
            "unparsed_rate": None if problem else _empty_share(responses),
            "missing_items": {"missing": bool(problem)},
            "skipped_rows": {"benchmark": BENCHMARK, "split": split, "task": str(doc["task"])},
            "withheld_items": {"withheld": not references},
        }

    return process_results


process_results_validation = _processor("validation")
process_results_test = _processor("test")
process_clips_results_validation = _processor("validation", clips=True)
process_clips_results_test = _processor("test", clips=True)


def _status(problem: str, responses: Sequence[str], references: Sequence[str]) -> scoring.Status:
    if problem:
        return "missing"
    if not any(responses):
        return "unparsed"
    return "answered" if references else "withheld"


def _empty_share(responses: Sequence[str]) -> float:
    """Share of the responses that are empty, 0..1."""
    return sum(not response for response in responses) / len(responses) if responses else 1.0


def _score(
    metric: Callable[[Sequence[str], Sequence[str]], float], pairs: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """``score`` of a question, absent where there is nothing to score. Never raises."""
    if not pairs["responses"] or not pairs["references"]:
        return {}
    try:
        value = metric(pairs["responses"], pairs["references"])
    except Exception as error:  # the harness retries and then drops the whole run otherwise
        logger.error(f"{metric.__name__} of {pairs['responses']!r} failed: {error!r}")
        return {}
    return {} if math.isnan(value) else {"score": value}


# Aggregations. The harness's standard errors rest on the `score` of the items.


def bleu(items: Items) -> float | None:
    """BLEU, 0..1: per response the best over references, mean over responses, then questions.

    Table 10 prints it times 100.
    """
    return _mean(items)


def rouge_l(items: Items) -> float | None:
    """ROUGE-L, 0..1: per response the best over references, mean over responses, then questions.

    Table 10 prints it times 100.
    """
    return _mean(items)


def clip_score(items: Items) -> float | None:
    """CLIP score, -1..1: cosine, maximum over a question's pairs, mean over questions.

    The quantity of tables 3 to 5 and 15. None (N/A in the table) where the model cannot be
    loaded, or no question has references.
    """
    return _by_model("clip_score", items)


def llm_match(items: Items) -> float | None:
    """LLM-Match, 1..5: the judge's mean over a question's pairs, mean over questions.

    The quantity of tables 3 to 5 and 15. A pair that the judge gave no score is left out, and
    counted in ``dropped_pairs``. None (N/A) where no judge is set up or it cannot be used.
    """
    return _by_model("llm_match", items)


def dropped_pairs(items: Sequence[Mapping[str, Sequence[str]]]) -> int | None:
    """How many (response, reference) pairs the judge gave no score; None without a judge."""
    questions = text_scorers.as_questions(
        [(item["responses"], item["references"]) for item in items if item["references"]]
    )
    matrices = text_scorers.pair_scores_or_none("llm_match", questions) if questions else None
    if matrices is None:
        return None
    return sum(generation.n_dropped(matrix) for matrix in matrices)


def distinct_responses(items: Sequence[int | None]) -> float | None:
    """Different responses per question, mean; 1 of 3 where a model does not sample."""
    counts = [count for count in items if count is not None]
    return sum(counts) / len(counts) if counts else None


def _by_model(kind: Kind, items: Items) -> float | None:
    """Scores the items with a model, in one go, and writes each one's ``score`` into it."""
    scored = [item for item in items if item["references"]]
    if not scored:
        return None
    questions = text_scorers.as_questions(
        [(item["responses"], item["references"]) for item in scored]
    )
    matrices = text_scorers.pair_scores_or_none(kind, questions)
    if matrices is None:
        return None
    for item, matrix in zip(scored, matrices, strict=True):
        value = RULES[kind](matrix)
        if not math.isnan(value):
            item["score"] = value
    return _mean(scored)


def _mean(items: Items) -> float | None:
    """Mean over questions, each with the same weight; None where none has a score."""
    value = mean(item.get("score") for item in items)
    return None if math.isnan(value) else value
