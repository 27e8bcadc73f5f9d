"""The models that score free text: which ones a user has set up, and one load of each.

They are named by environment variables, because they serve every task of a run:

=================================  ===========================================================
``VIDEO_REASONING_CLIP_MODEL``     CLIP model, name or folder; default: the paper's
``VIDEO_REASONING_JUDGE_MODEL``    judge for LLM-Match, a transformers model, name or folder
``VIDEO_REASONING_JUDGE_URL``      or the address of an OpenAI-compatible server instead, with
``VIDEO_REASONING_JUDGE_NAME``     the model's name there, and
``VIDEO_REASONING_JUDGE_API_KEY``  its key
``VIDEO_REASONING_JUDGE_TEMPERATURE``  0 (greedy, the default) or above (the paper: 0.4)
``VIDEO_REASONING_JUDGE_PROMPT``   layout of its prompt: "paper" (the default) or "released"
=================================  ===========================================================

If a model is not set up or cannot be loaded, a run goes on without its metric and one line
says what to do; ``video-reasoning score`` computes it later from the run's log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal

from loguru import logger

from video_reasoning.metrics.generation import Matrix
from video_reasoning.metrics.models import CLIP_MODEL, JUDGE_MODEL, ClipScorer, LlmJudge
from video_reasoning.tasks.errors import UserError

CLIP_VARIABLE = "VIDEO_REASONING_CLIP_MODEL"
JUDGE_MODEL_VARIABLE = "VIDEO_REASONING_JUDGE_MODEL"
JUDGE_URL_VARIABLE = "VIDEO_REASONING_JUDGE_URL"
JUDGE_NAME_VARIABLE = "VIDEO_REASONING_JUDGE_NAME"
JUDGE_KEY_VARIABLE = "VIDEO_REASONING_JUDGE_API_KEY"
JUDGE_TEMPERATURE_VARIABLE = "VIDEO_REASONING_JUDGE_TEMPERATURE"
JUDGE_PROMPT_VARIABLE = "VIDEO_REASONING_JUDGE_PROMPT"

LATER = "or run `video-reasoning score RESULTS` on the run's log later"

Kind = Literal["clip_score", "llm_match"]
Questions = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
"""Responses and references of each question."""


class TextModelError(UserError):
    """A model that scores free text is not set up, or cannot be used."""


@dataclass(frozen=True)
class JudgeSettings:
    """Which judge to ask, and how.

    ``model`` is a name or folder, or the name that the server knows; without a server it is a
    transformers model. The temperature is 0 for greedy decoding. The prompt is laid out as in
    appendix C, or as in the authors' script if ``released``.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    temperature: float = 0.0
    released: bool = False

    @property
    def label(self) -> str:
        """What to call the judge in a results file; without the key."""
        place = f" at {self.base_url}" if self.base_url else ""
        layout = ", released prompt" if self.released else ""
        return f"{self.model}{place}, temperature {self.temperature:g}{layout}"


def clip_model() -> str:
    """Return the CLIP model that is set up, else the paper's."""
    return _variable(CLIP_VARIABLE) or CLIP_MODEL


def judge_settings() -> JudgeSettings:
    """Return the judge that is set up.

    Raises:
        TextModelError: If there is none, or its temperature or layout is none that there is.
    """
    model, url = _variable(JUDGE_MODEL_VARIABLE), _variable(JUDGE_URL_VARIABLE)
    if not model and not url:
        raise TextModelError(
            f"no judge is set up: set {JUDGE_MODEL_VARIABLE} (the paper: {JUDGE_MODEL}) or "
            f"{JUDGE_URL_VARIABLE} (any OpenAI-compatible server)"
        )
    written = _variable(JUDGE_TEMPERATURE_VARIABLE) or "0"
    try:
        temperature = float(written)
        if not 0 <= temperature <= 10:
            raise ValueError
    except ValueError:
        raise TextModelError(
            f"{JUDGE_TEMPERATURE_VARIABLE} is {written!r}, not a number from 0 up; the paper's "
            "is 0.4"
        ) from None
    style = _variable(JUDGE_PROMPT_VARIABLE) or "paper"
    if style not in ("paper", "released"):
        raise TextModelError(f"{JUDGE_PROMPT_VARIABLE} is {style!r}, not paper or released")
    released = style == "released"
    if url:
        name = _variable(JUDGE_NAME_VARIABLE) or model or JUDGE_MODEL
        key = _variable(JUDGE_KEY_VARIABLE) or None
        return JudgeSettings(name, url, key, temperature, released)
    return JudgeSettings(model, temperature=temperature, released=released)


def label(kind: Kind) -> str:
    """Name the model that computes a metric, for a results file.

    Raises:
        TextModelError: As :func:`judge_settings`.
    """
    return clip_model() if kind == "clip_score" else judge_settings().label


def pair_scores(kind: Kind, questions: Questions, *, bar: bool = True) -> list[Matrix]:
    """Score every (response, reference) pair of every question: a matrix of that shape for each.

    "clip_score" is a cosine, -1..1; "llm_match" 1..5, NaN if the judge gave none. The model is
    loaded once per process; the same questions are not scored twice in a row.

    Raises:
        TextModelError: If the model is not set up, or cannot be loaded or used; the message says
            how to set it up.
    """
    settings = clip_model() if kind == "clip_score" else judge_settings()
    outcome = _pair_scores(settings, questions, bar)
    if isinstance(outcome, str):
        raise TextModelError(outcome)
    return outcome


def pair_scores_or_none(kind: Kind, questions: Questions) -> list[Matrix] | None:
    """Do as :func:`pair_scores`, but return None and log one line if there is no model.

    For the harness's aggregations, in which an error would end a run after all its work. The
    same line is printed once per process.
    """
    try:
        return pair_scores(kind, questions)
    except TextModelError as error:
        _warn_once(f"{kind} is N/A: {error}, {LATER}.")
        return None


@cache
def _warn_once(sentence: str) -> None:
    logger.warning(sentence)


@lru_cache(maxsize=8)
def _pair_scores(
    settings: str | JudgeSettings, questions: Questions, bar: bool
) -> list[Matrix] | str:
    """Return the matrices, or why there are none."""
    scorer = _scorer(settings)
    if isinstance(scorer, str):
        return scorer
    title = "CLIP score" if isinstance(settings, str) else "LLM-Match"
    try:
        with _bar(title, shown=bar) as progress:
            matrices: list[Matrix] = scorer.score(questions, progress)
        return matrices
    except Exception as error:
        return _reason(settings, error)


@lru_cache(maxsize=4)
def _scorer(settings: str | JudgeSettings) -> Any:
    """Return the loaded model, or why it cannot be loaded."""
    try:
        if isinstance(settings, str):
            return ClipScorer(settings)
        return LlmJudge(
            settings.model,
            base_url=settings.base_url,
            api_key=settings.api_key,
            temperature=settings.temperature,
            released=settings.released,
        )
    except Exception as error:
        return _reason(settings, error)


def _reason(settings: str | JudgeSettings, error: Exception) -> str:
    first = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
    variable = CLIP_VARIABLE if isinstance(settings, str) else JUDGE_MODEL_VARIABLE
    if isinstance(settings, JudgeSettings) and settings.base_url:
        variable = JUDGE_URL_VARIABLE
    return f"{first.rstrip('.')}; set {variable} to one that can be used"


def forget_models() -> None:
    """Drop loaded models and remembered scores, e.g. to free a GPU."""
    _scorer.cache_clear()
    _pair_scores.cache_clear()
    _warn_once.cache_clear()


@contextmanager
def _bar(title: str, *, shown: bool) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar whose total is known with its first step."""
    from tqdm import tqdm

    unit = "text" if title == "CLIP score" else "pair"
    with tqdm(desc=title, unit=unit, disable=not shown) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield progress


def as_questions(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Questions:
    """Return questions in the form that can be remembered."""
    return tuple((tuple(responses), tuple(references)) for responses, references in pairs)


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()
