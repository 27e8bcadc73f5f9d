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
from video_reasoning.tasks.blackswan.tasks import BENCHMARK, PARTS, parts_of, parts_problem
from video_reasoning.tasks.llm import text_scorers
from video_reasoning.tasks.llm.text_scorers import Kind
from video_reasoning.tasks.states import LEFT_OUT, failure, flat

Document = Mapping[str, Any]
Results = Sequence[Any]
Items = Sequence[dict[str, Any]]

RULES: Mapping[Kind, Callable[[Any], float]] = {
    "clip_score": generation.best_pair,
    "llm_match": generation.mean_pair,
}
"""Metric -> how the scores of a question's pairs become one number."""


def responses_of(results: Results) -> list[str]:
    """Return all responses to a question, stripped, however deep the harness nests them."""
    return ["" if response is None else str(response).strip() for response in flat(results)]


def process_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score the responses to one question."""
    return _process_results(doc, results, media.problem(BENCHMARK, doc))


def process_clips_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score the responses to one question that was shown as two clips."""
    return _process_results(doc, results, parts_problem(doc, PARTS["detective"]))


def process_parts_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score the responses to one question that was shown as frames of every part."""
    return _process_results(doc, results, parts_problem(doc, parts_of(doc)))


def _process_results(doc: Document, results: Results, problem: str) -> dict[str, Any]:
    responses = responses_of(results)
    references = [str(reference) for reference in doc.get("references") or []]
    failed = failure(results)
    status = scoring.state(problem, failed, parsed=any(responses), known=bool(references))
    left_out = status in LEFT_OUT
    scored = bool(references) and not left_out
    base = {"id": str(doc["id"]), "video": str(doc["video"])}
    pairs = {
        "responses": responses if scored else [],
        "references": references if scored else [],
    }
    empty = mean(not response for response in responses) if responses else 1.0
    return {
        "id": base["id"],
        "status": status,
        "problem": problem or failed,
        "frames_as": media.handed_over(BENCHMARK, doc),
        "clip_score": {**base, **pairs},
        "llm_match": {**base, **pairs},
        "bleu": {**base, **_score(generation.bleu, pairs)},
        "rouge_l": {**base, **_score(generation.rouge_l, pairs)},
        "dropped_pairs": pairs,
        "distinct_responses": None if left_out else len(set(responses)),
        "unparsed_rate": None if left_out else empty,
        "withheld_items": {"withheld": not references},
        **scoring.counted(BENCHMARK, doc, status, empty=not any(responses)),
    }


def _score(
    metric: Callable[[Sequence[str], Sequence[str]], float], pairs: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return the ``score`` of a question; empty if there is nothing to score. Never raises."""
    if not pairs["responses"] or not pairs["references"]:
        return {}
    try:
        value = metric(pairs["responses"], pairs["references"])
    except Exception as error:  # the harness retries and then drops the whole run otherwise
        logger.error(f"{metric.__name__} of {pairs['responses']!r} failed: {error!r}")
        return {}
    return {} if math.isnan(value) else {"score": value}


# Aggregations. The harness's standard errors rest on the `score` of the items.


def mean_score(items: Items) -> float | None:
    """Return BLEU or ROUGE-L, 0..1: a question's score, mean over questions.

    A question's score is, per response, the best over its references, mean over its responses.
    Table 10 prints both times 100. None if no question has a score.
    """
    return scoring.accuracy(items)


def clip_score(items: Items) -> float | None:
    """Return the CLIP score, -1..1: cosine, maximum over a question's pairs, mean over questions.

    The quantity of tables 3 to 5 and 15. None (N/A in the table) if the model cannot be loaded,
    or no question has references.
    """
    return _by_model("clip_score", items)


def llm_match(items: Items) -> float | None:
    """Return LLM-Match, 1..5: the judge's mean over a question's pairs, mean over questions.

    The quantity of tables 3 to 5 and 15. A pair without a score from the judge is left out, and
    counted in ``dropped_pairs``. None (N/A) if no judge is set up or it cannot be used.
    """
    return _by_model("llm_match", items)


def dropped_pairs(items: Sequence[Mapping[str, Sequence[str]]]) -> int | None:
    """Count the (response, reference) pairs without a score of the judge; None without a judge."""
    questions = text_scorers.as_questions(
        [(item["responses"], item["references"]) for item in items if item["references"]]
    )
    matrices = text_scorers.pair_scores_or_none("llm_match", questions) if questions else None
    if matrices is None:
        return None
    return sum(generation.n_dropped(matrix) for matrix in matrices)


def distinct_responses(items: Sequence[int | None]) -> float | None:
    """Return the different responses per question, mean; 1 of 3 if a model does not sample."""
    return scoring.defined(mean(items))


def _by_model(kind: Kind, items: Items) -> float | None:
    """Score the items with a model, in one go, and write each one's ``score`` into it."""
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
    return mean_score(scored)


__getattr__ = scoring.attributes(
    __name__,
    METRICS=[
        scoring.metric("clip_score", clip_score),
        scoring.metric("llm_match", llm_match),
        scoring.metric("bleu", mean_score),
        scoring.metric("rouge_l", mean_score),
        scoring.metric("dropped_pairs", dropped_pairs, higher_is_better=False),
        scoring.metric("distinct_responses", distinct_responses),
        scoring.metric("unparsed_rate", scoring.unparsed_rate, higher_is_better=False),
        *scoring.COUNTS,
        scoring.WITHHELD,
    ],
)
