"""The models behind CLIP score and LLM-Match (Black Swan, appendix C).

Nothing heavy is imported before a model is loaded. How pair scores become a question's number is
in `video_reasoning.metrics.generation`: `best_pair` for CLIP score, `mean_pair` for LLM-Match.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from video_reasoning.metrics.generation import (
    Matrix,
    cosine_matrix,
    judge_prompt,
    parse_judge_score,
)

Question = tuple[Sequence[str], Sequence[str]]
"""The responses and the references of one question."""

Progress = Callable[[int, int], None]
"""Called with how many texts or pairs are done, and how many there are."""

CLIP_MODEL = "openai/clip-vit-large-patch14"
JUDGE_MODEL = "meta-llama/Llama-3.1-8B-Instruct"

_PATIENCE = 10
"""Seconds that the hub may take to answer."""


class ModelError(RuntimeError):
    """A scoring model cannot be loaded or reached."""


class ClipScorer:
    """Text similarity by the text tower of a CLIP model.

    Args:
        model: Name on the Hugging Face hub or local folder of a CLIP model; the paper's is
            openai/clip-vit-large-patch14.
        device: Torch device such as "cuda:0"; without it a GPU if there is one.
        batch_size: Texts per forward pass.

    Attributes:
        n_truncated: Texts so far that were longer than the model reads (77 tokens for CLIP); the
            rest of such a text does not count.

    Raises:
        ModelError: The model cannot be loaded.
    """

    def __init__(
        self, model: str = CLIP_MODEL, *, device: str | None = None, batch_size: int = 256
    ) -> None:
        import torch
        from transformers import AutoTokenizer, CLIPModel

        self.device = device or _best_device()
        self.batch_size = batch_size
        self.n_truncated = 0
        self._torch: Any = torch
        self._tokenizer = _load(AutoTokenizer, model)
        whole = _load(CLIPModel, model)
        # The text tower alone: half of the memory. Taken from the whole model, because the class
        # for the tower reads the size of the projection from another place in the configuration.
        self._tower = whole.text_model.to(self.device).eval()
        self._projection = whole.text_projection.to(self.device).eval()
        self._length = int(whole.config.text_config.max_position_embeddings)

    def embed(
        self, texts: Sequence[str], progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """Embed texts; equal texts are computed once.

        Returns:
            Shape (texts, dimensions), not normalized.
        """
        # Texts of one length share a batch, so that little is spent on padding.
        distinct = sorted(set(texts), key=lambda text: (len(text), text))
        vectors: list[npt.NDArray[np.float32]] = []
        for start in range(0, len(distinct), self.batch_size):
            batch = distinct[start : start + self.batch_size]
            lengths = [len(ids) for ids in self._tokenizer(batch)["input_ids"]]
            self.n_truncated += sum(length > self._length for length in lengths)
            inputs = self._tokenizer(
                batch, padding=True, truncation=True, max_length=self._length, return_tensors="pt"
            )
            with self._torch.inference_mode():
                pooled = self._tower(
                    input_ids=inputs["input_ids"].to(self.device),
                    attention_mask=inputs["attention_mask"].to(self.device),
                ).pooler_output
                embeddings = self._projection(pooled)
            vectors.extend(embeddings.float().cpu().numpy())
            if progress:
                progress(len(vectors), len(distinct))
        found = dict(zip(distinct, vectors, strict=True))
        return np.array([found[text] for text in texts], dtype=np.float32)

    def score(
        self, questions: Sequence[Question], progress: Progress | None = None
    ) -> list[Matrix]:
        """Cosine similarity of every (response, reference) pair.

        Args:
            questions: Responses and references of each question.
            progress: Called after each batch.

        Returns:
            For each question a matrix of shape (responses, references), -1..1.
        """
        sides = [side for question in questions for side in question]
        texts = [text for side in sides for text in side]
        vectors = self.embed(texts, progress) if texts else np.empty((0, 1), np.float32)
        parts = iter(_split(vectors, [len(side) for side in sides]))
        return [cosine_matrix(next(parts), next(parts)) for _ in questions]


@dataclass(frozen=True)
class Judgement:
    """What a judge said about one pair.

    Attributes:
        score: 1 to 5; None without a reply or a score in it.
        reply: The judge's words.
        error: Why no reply came, or empty.
    """

    score: int | None
    reply: str
    error: str = ""


class LlmJudge:
    """Rates responses against references from 1 to 5 (LLM-Match).

    The paper's judge is Llama-3.1-8B-Instruct, sampled at temperature 0.4 with at most 100 new
    tokens. Here it decodes greedily unless a temperature is given, so that a second run gives
    the same scores.

    Args:
        model: Name on the Hugging Face hub, local folder, or the name that the server knows.
        base_url: Address of an OpenAI-compatible server, e.g. "http://localhost:8000/v1";
            without it the model is loaded with transformers.
        api_key: Key for the server, if it needs one.
        device: Torch device; without it a GPU if there is one.
        batch_size: Pairs per forward pass, or requests at a time.
        temperature: 0 for greedy decoding.
        max_new_tokens: Longest reply.
        seed: Seed of sampling; no effect at temperature 0.
        timeout: Seconds that a request to the server may take.
        released: Lay the prompt out as the authors' script does.

    Raises:
        ModelError: The model cannot be loaded.
    """

    def __init__(
        self,
        model: str = JUDGE_MODEL,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        device: str | None = None,
        batch_size: int = 16,
        temperature: float = 0.0,
        max_new_tokens: int = 100,
        seed: int = 0,
        timeout: float = 120.0,
        released: bool = False,
    ) -> None:
        self.model = model
        self.released = released
        self.base_url = base_url
        self.batch_size = batch_size
        self.temperature = temperature
        self.max_new_tokens = max_new_tokens
        self.seed = seed
        if base_url is not None:
            from openai import OpenAI

            # A local server needs no key, but the client insists on a text.
            self._client = OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout)
            return
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.device = device or _best_device()
        self._torch: Any = torch
        self._tokenizer = _load(AutoTokenizer, model, padding_side="left")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._model = _load(AutoModelForCausalLM, model, dtype="auto").to(self.device).eval()

    def judge(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None = None
    ) -> list[Judgement]:
        """Rate (response, reference) pairs; equal pairs are rated once.

        Args:
            pairs: Response first, reference second.
            progress: Called after each batch.

        Returns:
            One judgement per pair, in their order.

        Raises:
            ModelError: The server cannot be reached or refuses the key or the model.
        """
        distinct = sorted(set(pairs), key=lambda pair: (len(pair[0]) + len(pair[1]), pair))
        found: dict[tuple[str, str], Judgement] = {}
        for start in range(0, len(distinct), self.batch_size):
            batch = distinct[start : start + self.batch_size]
            prompts = [judge_prompt(*pair, released=self.released) for pair in batch]
            replies = self._ask(prompts) if self.base_url else self._generate(prompts, start)
            found.update(zip(batch, replies, strict=True))
            if progress:
                progress(len(found), len(distinct))
        return [found[pair] for pair in pairs]

    def score(
        self, questions: Sequence[Question], progress: Progress | None = None
    ) -> list[Matrix]:
        """Rate every (response, reference) pair of every question.

        Args:
            questions: Responses and references of each question.
            progress: Called after each batch.

        Returns:
            For each question a matrix of shape (responses, references), 1..5; NaN for a pair
            without a score.

        Raises:
            ModelError: As in `judge`.
        """
        pairs = [
            (response, reference)
            for responses, references in questions
            for response in responses
            for reference in references
        ]
        scores = [judgement.score for judgement in self.judge(pairs, progress)]
        shapes = [(len(responses), len(references)) for responses, references in questions]
        table = np.array([math.nan if score is None else score for score in scores], np.float64)
        parts = _split(table, [rows * columns for rows, columns in shapes])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

    def _generate(self, prompts: Sequence[str], offset: int) -> list[Judgement]:
        if self._tokenizer.chat_template:
            texts = [
                self._tokenizer.apply_chat_template(
                    [{"role": "user", "content": prompt}],
                    tokenize=False,
                    add_generation_prompt=True,
                )
                for prompt in prompts
            ]
        else:
            texts = list(prompts)
        # A chat template writes the special tokens itself; twice would be one too many.
        inputs = self._tokenizer(
            texts,
            padding=True,
            return_tensors="pt",
            add_special_tokens=not self._tokenizer.chat_template,
            return_token_type_ids=False,
        ).to(self.device)
        with self._torch.random.fork_rng(), self._torch.inference_mode():
            self._torch.manual_seed(self.seed + offset)
            output = self._model.generate(
                **inputs,
                do_sample=self.temperature > 0,
                temperature=self.temperature or None,
                top_p=None,
                top_k=None,
                max_new_tokens=self.max_new_tokens,
                pad_token_id=self._tokenizer.pad_token_id,
            )
        new = output[:, inputs["input_ids"].shape[1] :]
        replies = self._tokenizer.batch_decode(new, skip_special_tokens=True)
        return [Judgement(parse_judge_score(reply), reply) for reply in replies]

    def _ask(self, prompts: Sequence[str]) -> list[Judgement]:
        with ThreadPoolExecutor(self.batch_size) as pool:
            return list(pool.map(self._ask_one, prompts))

    def _ask_one(self, prompt: str) -> Judgement:
        import openai

        try:
            completion = self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": "user", "content": prompt}],
                temperature=self.temperature,
                max_tokens=self.max_new_tokens,
                seed=self.seed,
            )
        except (
            openai.APIConnectionError,
            openai.AuthenticationError,
            openai.PermissionDeniedError,
            openai.NotFoundError,
        ) as error:
            raise ModelError(
                f"The judge {self.model} at {self.base_url} does not answer ({error}); check the "
                "address, the key and the model's name."
            ) from error
        except openai.APIStatusError as error:
            # One request that the server rejects must not end the run.
            return Judgement(None, "", f"{error.status_code}: {error.message}")
        reply = completion.choices[0].message.content or "" if completion.choices else ""
        return Judgement(parse_judge_score(reply), reply)


def _split(values: npt.NDArray[Any], lengths: Sequence[int]) -> list[npt.NDArray[Any]]:
    """Consecutive parts of these lengths."""
    return np.split(values, np.cumsum(lengths))[:-1]


def _best_device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _load(kind: Any, model: str, **arguments: Any) -> Any:
    problem = "" if Path(model).is_dir() else _unreachable(model)
    try:
        return kind.from_pretrained(model, local_files_only=bool(problem), **arguments)
    except (OSError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        if problem:
            first = f"it is not in the cache, and the hub does not answer: {problem}"
        raise ModelError(
            f"The model '{model}' cannot be loaded ({first}); give a local folder with it, "
            f"or download it with `hf download {model}` (a gated model needs `hf auth login`)."
        ) from error


@cache
def _unreachable(model: str) -> str:
    """Ask the hub for a model once; its client's own attempts take a minute without a network.

    Returns:
        Why it does not answer, or the empty text.
    """
    from huggingface_hub import model_info
    from huggingface_hub.errors import HfHubHTTPError

    try:
        model_info(model, timeout=_PATIENCE)
    except (HfHubHTTPError, ValueError):
        return ""  # it answered, or there can be no such model: the attempt to load says more
    except Exception as error:  # whatever the client's own client raises
        return str(error) or repr(error)
    return ""
