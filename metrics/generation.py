"""Scoring free text against references (Black Swan, section 5 and appendix C).

A question has one or more responses (three for Forecaster and Detective, one for Reporter) and
one or more references. Every metric starts from a score for each (response, reference) pair, a
matrix of shape (responses, references); they differ in how a question's matrix becomes a number:

=============  ============================================================
CLIP score     the maximum over all pairs
LLM-Match      the mean over all pairs
BLEU, ROUGE-L  the best over references, then the mean over responses
=============  ============================================================

The number of a run is the mean over its questions. Nothing to score gives NaN, never 0; an
empty response is a response, and scores what the metric says.

The models behind CLIP score and LLM-Match are in `video_reasoning.metrics.models`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

_ABBREVIATIONS = (
    *("a.m", "p.m", "vs", "u.k", "u.s", "ph.d", "mr", "mrs", "ms", "dr"),
    *("prof", "jr", "sr", "st", "inc", "ltd", "corp"),
)
"""Abbreviations among those that NLTK's English model knows: their full stop ends no sentence."""


def tokenize(text: str) -> list[str]:
    """Split English text into tokens as NLTK's `word_tokenize` does.

    Its Punkt model has to be downloaded; here Punkt knows a short list of abbreviations instead, so
    that a score does not depend on what is installed. On one sentence the tokens are the same; in
    longer text they may differ at the full stop of a rare abbreviation or an initial.

    Example:
        >>> tokenize("He slips. He can't get up.")
        ['He', 'slips', '.', 'He', 'ca', "n't", 'get', 'up', '.']
    """
    sentences, words = _tokenizers()
    return [token for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]


@cache
def _tokenizers() -> tuple[Any, Any]:
    from nltk.tokenize import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

    parameters = PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters), NLTKWordTokenizer()


def bleu_matrix(responses: Sequence[str], references: Sequence[str]) -> Matrix:
    """BLEU of each response against each reference alone.

    NLTK's sentence BLEU with n-grams up to 4, equal weights and no smoothing (method0): a pair
    without a common 4-gram scores practically 0. Case counts.

    Returns:
        Shape (responses, references), 0..1 (the paper prints x100).
    """
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method0
    right = [tokenize(reference) for reference in references]

    def score(response: Sequence[str], reference: Sequence[str]) -> float:
        return float(sentence_bleu([reference], response, smoothing_function=smoothing))

    with warnings.catch_warnings():
        # NLTK warns about every pair without a common n-gram: with method0 that is as intended.
        warnings.simplefilter("ignore", UserWarning)
        return _matrix(score, [tokenize(response) for response in responses], right)


def rouge_l_matrix(responses: Sequence[str], references: Sequence[str]) -> Matrix:
    """ROUGE-L of each response against each reference, F-measure, with Porter stemming.

    Returns:
        Shape (responses, references), 0..1 (the paper prints x100).
    """
    scorer = _rouge_scorer()

    def score(response: str, reference: str) -> float:
        return float(scorer.score(reference, response)["rougeL"].fmeasure)

    return _matrix(score, responses, references)


@cache
def _rouge_scorer() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=True)


def _matrix(
    score: Callable[[Any, Any], float], responses: Sequence[Any], references: Sequence[Any]
) -> Matrix:
    values = [[score(response, reference) for reference in references] for response in responses]
    return np.array(values, dtype=np.float64).reshape(len(responses), len(references))


def cosine_matrix(responses: npt.ArrayLike, references: npt.ArrayLike) -> Matrix:
    """Cosine similarity of each response's embedding with each reference's.

    Args:
        responses: Embeddings, shape (responses, dimensions), of any length.
        references: Embeddings, shape (references, dimensions).

    Returns:
        Shape (responses, references), -1..1; NaN for an embedding of length 0.

    Raises:
        ValueError: The shapes do not fit together.
    """
    left = np.asarray(responses, dtype=np.float64)
    right = np.asarray(references, dtype=np.float64)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise ValueError(
            f"Embeddings of shapes {left.shape} and {right.shape} cannot be compared; give "
            "(responses, dimensions) and (references, dimensions)."
        )
    with np.errstate(invalid="ignore"):
        left = left / np.linalg.norm(left, axis=1, keepdims=True)
        right = right / np.linalg.norm(right, axis=1, keepdims=True)
    similarity: Matrix = left @ right.T
    return similarity


def best_pair(scores: npt.ArrayLike) -> float:
    """Maximum over all pairs of a question (CLIP score); NaN without a pair.

    Args:
        scores: Shape (responses, references); NaN entries are left out.
    """
    pairs = _pairs(scores)
    return max(map(float, pairs)) if len(pairs) else math.nan


def mean_pair(scores: npt.ArrayLike) -> float:
    """Mean over all pairs of a question (LLM-Match); NaN without a pair.

    Args:
        scores: Shape (responses, references), 1..5 for LLM-Match; NaN entries are left out, and
            `n_dropped` counts them.
    """
    pairs = _pairs(scores)
    return float(pairs.mean()) if len(pairs) else math.nan


def n_dropped(scores: npt.ArrayLike) -> int:
    """Return how many pairs of a question have no score (NaN)."""
    return int(np.isnan(np.asarray(scores, dtype=np.float64)).sum())


def mean_of_best_reference(scores: npt.ArrayLike) -> float:
    """Best over references, then mean over responses (BLEU, ROUGE-L); NaN with no pair.

    Args:
        scores: Shape (responses, references) without NaN.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.size == 0:
        return math.nan
    return float(table.max(axis=1).mean())


def _pairs(scores: npt.ArrayLike) -> Matrix:
    table = np.asarray(scores, dtype=np.float64).ravel()
    return table[~np.isnan(table)]


def bleu(responses: Sequence[str], references: Sequence[str]) -> float:
    """BLEU of one question, 0..1 (table 10, which prints x100).

    Returns:
        The mean over responses of the best over references; NaN without either.

    Example:
        >>> bleu(["the man falls off the bike"], ["the man falls off the bike"])
        1.0
    """
    return mean_of_best_reference(bleu_matrix(responses, references))


def rouge_l(responses: Sequence[str], references: Sequence[str]) -> float:
    """ROUGE-L of one question, 0..1 (table 10, which prints x100).

    Returns:
        The mean over responses of the best over references; NaN without either.

    Example:
        >>> round(rouge_l(["the man falls"], ["the man fell down", "the man fall"]), 3)
        1.0
    """
    return mean_of_best_reference(rouge_l_matrix(responses, references))


JUDGE_PROMPT = """\
You are an AI assistant tasked with evaluating how well a given response aligns with the \
provided ground truth. Focus on the semantic similarity between the two texts. Your assessment \
should produce a single integer score between 1 and 5:

5: The response matches the ground truth perfectly.

1: The response is entirely different from the ground truth.

Please return your evaluation in the following format:

Reason: A brief, ten-word explanation for your score.

Score: Your score.

Ground Truth: <ground_truth>

Response to Score: <model_generated>"""
"""The prompt of LLM-Match, verbatim (appendix C)."""

RELEASED_JUDGE_PROMPT = (
    "\n"
    + JUDGE_PROMPT.replace("perfectly.\n\n", "perfectly.\n")
    .replace("score.\n\nScore", "score.\nScore")
    .replace("format:\n\n", "format:\n")
    .replace("Truth: <", "Truth:    \n<")
    .replace("Score: <", "Score:\n<")
    + "\n"
)
"""The prompt in the layout of the authors' script."""


def judge_prompt(response: str, reference: str, *, released: bool = False) -> str:
    """Return the prompt of LLM-Match for one pair.

    The texts are inserted as they are; a placeholder in them stays text.

    Args:
        response: What is rated.
        reference: What it is compared with.
        released: Take the layout of the authors' script instead of appendix C's.
    """
    prompt = RELEASED_JUDGE_PROMPT if released else JUDGE_PROMPT
    before, rest = prompt.split("<ground_truth>")
    between, after = rest.split("<model_generated>")
    return before + reference + between + response + after


_SCORE = re.compile(
    r"(?P<line>^[^\w\n]{0,8})?\bscore\b"
    r"(?:[^\w\n-]{0,8}(?:is[^\w\n-]{0,4})?|[*_ ]{0,4}:[*_ ]{0,4}\s{1,8}[*_]{0,4})"
    r"(?P<score>\d+(?:\.\d+)?)(?!\s*(?:-|\u2013|to\b)\s*\d)",
    re.IGNORECASE | re.MULTILINE,
)


def parse_judge_score(reply: str) -> int | None:
    r"""Read the score from a judge's reply.

    The first line that begins with "Score:" and a number counts, which may be on the line after;
    without such a line the last score named in running text. Markdown, "4/5" and "4.0" are read.
    Of "3.5" the whole part counts, as in the authors' script. Without a number from 1 to 5 there is
    no score: the pair is dropped and counted, never given a default.

    Example:
        >>> parse_judge_score("Reason: Both say that he falls.\n**Score:** 4/5")
        4
        >>> parse_judge_score("Score: Your score.") is None
        True
    """
    found = list(_SCORE.finditer(reply))
    if not found:
        return None
    lines = [match for match in found if match["line"] is not None]
    score = int(float((lines[0] if lines else found[-1])["score"]))
    return score if 1 <= score <= 5 else None
