"""What the models without weights share: unpacking requests, ranks, repeats."""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_eval.api.model import lmms

_USE = "use it with tasks whose output_type is generate_until."


def draw(size: int, *parts: object) -> int:
    """Draw an integer from 0 to ``size`` - 1 that depends on nothing but ``parts``.

    Args:
        size: Number of possible values, at least 1.
        *parts: Whatever the draw is to depend on (seed, prompt, document, ...).

    Returns:
        The same value on every machine and in every process for equal parts.
    """
    digest = hashlib.sha256("\x1f".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") % size


@dataclass(frozen=True)
class Query:
    """One request of the harness, the same for simple and chat models.

    Attributes:
        prompt: All text of the prompt.
        visuals: Paths of videos, or PIL images, in the order of the prompt.
        task: Name of the harness task.
        split: Name of the dataset split.
        doc_id: Index of the document within the split.
        repeat: 0 for the first response to this document, 1 for the second sampled
            one, and so on; always 0 under greedy decoding.
    """

    prompt: str
    visuals: tuple[Any, ...]
    task: str
    split: str
    doc_id: int
    repeat: int


class WeightlessModel(lmms):  # type: ignore[misc]
    """Base of the models that answer without weights.

    A subclass writes ``respond``. ``sees`` says whether visuals are resolved at all:
    if it is False no video has to exist.
    """

    is_simple = True
    sees = True

    def __init__(
        self,
        batch_size: int | str = 1,
        max_batch_size: int | None = None,
        device: str | None = None,
        **unknown: object,
    ) -> None:
        """Take the harness's standard arguments, which change nothing here.

        Args:
            batch_size: Not used.
            max_batch_size: Not used.
            device: Not used.
            **unknown: Anything else; refused.

        Raises:
            ValueError: If an unknown model argument was given.
        """
        super().__init__()
        if unknown:
            raise ValueError(
                f"{type(self).__name__} does not know the model argument(s) "
                f"{', '.join(sorted(unknown))}; remove them from --model_args."
            )
        self.batch_size_per_gpu = 1
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            # The harness gathers with lm.accelerator and moves tensors to lm.device.
            from accelerate import Accelerator

            self.accelerator = Accelerator(cpu=True)
            self._rank = self.accelerator.process_index
            self._world_size = self.accelerator.num_processes
            self._device = self.accelerator.device
        else:
            import torch

            self._device = torch.device("cpu")

    @property
    def device(self) -> Any:
        """Device of the tensors that the harness gathers."""
        return self._device

    @property
    def batch_size(self) -> int:
        """Number of requests answered at once: always 1."""
        return self.batch_size_per_gpu

    @abstractmethod
    def respond(self, query: Query) -> str:
        """Answer one query in free text, as a model would print it."""

    def generate_until(self, requests: Sequence[Any]) -> list[str]:
        """Answer the harness's requests, in their order.

        Args:
            requests: Instances of the harness; under ``repeats`` the same one comes
                several times.

        Returns:
            One response a request.
        """
        from tqdm import tqdm

        asked: Counter[tuple[str, str, int]] = Counter()
        responses = []
        for request in tqdm(requests, disable=self.rank != 0, desc="Model Responding"):
            context, second, third, doc_id, task, split = request.args
            generation = third if not self.is_simple else second
            key = (task, split, doc_id)
            repeat = asked[key] if _is_sampling(generation) else 0
            asked[key] += 1
            prompt, visuals = self._resolve(context, second, third, task, split, doc_id)
            text = self.respond(Query(prompt, visuals, task, split, doc_id, repeat))
            self.cache_hook.add_partial("generate_until", (context, generation), text)
            responses.append(text)
        return responses

    def _resolve(
        self, context: str, second: Any, third: Any, task: str, split: str, doc_id: int
    ) -> tuple[str, tuple[Any, ...]]:
        """Return prompt text and visuals of a request.

        Simple requests are (context, generation kwargs, doc_to_visual, ...), chat ones
        (context, doc_to_messages, generation kwargs, ...). The document is handed on
        unread: the harness gives models nothing but its place.
        """
        if not self.sees and context:
            return context, ()
        doc = self.task_dict[task][split][doc_id]
        if self.is_simple:
            visuals = third(doc) if third is not None and self.sees else []
            return context, tuple(_flatten(visuals or []))
        texts, found = [], []
        for message in second(doc):
            content = message["content"]
            if isinstance(content, str):
                content = [{"type": "text", "text": content}]
            for part in content:
                if part["type"] == "text":
                    texts.append(part["text"])
                else:
                    found += _flatten(part["url"])
        return "\n".join(texts), tuple(found)

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        """Refuse: these models have no likelihoods."""
        raise NotImplementedError(f"{type(self).__name__} has no likelihoods; {_USE}")

    def generate_until_multi_round(self, requests: Sequence[Any]) -> list[str]:
        """Refuse: these models have no conversations."""
        raise NotImplementedError(f"{type(self).__name__} answers single questions; {_USE}")


def _is_sampling(generation: Mapping[str, Any]) -> bool:
    return bool(generation.get("do_sample")) or float(generation.get("temperature") or 0) > 0


def _flatten(visuals: Any) -> list[Any]:
    if isinstance(visuals, (list, tuple)):
        return [item for visual in visuals for item in _flatten(visual)]
    return [visuals]
