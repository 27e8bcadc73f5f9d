"""Asking language models many prompts, with every prompt and reply kept.

A model is a name on an OpenAI-compatible server (``llama@http://127.0.0.1:8000/v1``), or else a
transformers model by its folder or its name on the Hub. Decoding is greedy. Replies are kept in a
journal, and a prompt that a model has replied to is never sent to it again, so that work that was
interrupted goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from loguru import logger

from video_reasoning.preprocessing.journal import journal, read_journal
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.llm.served import Client

KEY_VARIABLE = "VIDEO_REASONING_CHAT_API_KEY"
"""Environment variable with the key of the servers, if they need one."""

MOST_TOKENS = 1024
TIMEOUT_SECONDS = 300.0
RETRIES = 2
AT_A_TIME = 8
"""Requests under way to one server."""


class ChatError(UserError):
    """A language model cannot be reached or loaded."""


class RefusedError(Exception):
    """A server refused one request; the others may well be answered."""


class Model(Protocol):
    """A language model.

    Attributes:
        name: What it is called, with its server if it has one.
        at_a_time: How many prompts it takes at a time.
    """

    name: str
    at_a_time: int

    def reply(self, prompt: str) -> str:
        """Return what the model writes.

        Raises:
            ChatError: It cannot be reached or loaded.
            RefusedError: It does not take this prompt.
        """


@dataclass
class ServedModel:
    """A model on an OpenAI-compatible server."""

    name: str
    at_a_time: int = AT_A_TIME
    _client: Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Take the name apart; nothing is connected yet."""
        model, _, url = self.name.partition("@")
        key = os.environ.get(KEY_VARIABLE, "").strip()
        self._client = Client(url, model, key, TIMEOUT_SECONDS, RETRIES, MOST_TOKENS)

    def reply(self, prompt: str) -> str:
        """Ask the server; see :class:`Model`."""
        import openai

        try:
            return self._client.reply(prompt, seed=0)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            raise RefusedError(f"{error.status_code}: {error.message}") from error
        except openai.OpenAIError as error:
            raise ChatError(
                f"{self._client.model} at {self._client.url} does not answer ({error}); check the "
                f"address, the model's name and {KEY_VARIABLE}."
            ) from error


@dataclass
class LocalModel:
    """A transformers model, loaded when it is first asked."""

    name: str
    at_a_time: int = 1
    _pipeline: Any = None

    def reply(self, prompt: str) -> str:
        """Generate a reply; see :class:`Model`."""
        if self._pipeline is None:
            self._pipeline = self._loaded()
        chat = [{"role": "user", "content": prompt}]
        given = chat if self._pipeline.tokenizer.chat_template else prompt
        made = self._pipeline(
            given, max_new_tokens=MOST_TOKENS, do_sample=False, return_full_text=False
        )
        return str(made[0]["generated_text"])

    def _loaded(self) -> Any:
        from transformers import pipeline

        try:
            return pipeline("text-generation", model=self.name)
        except (OSError, ValueError) as error:
            first = next(iter(str(error).strip().splitlines()), repr(error))
            raise ChatError(
                f"The model {self.name} cannot be loaded ({first}); give a folder with it, or "
                "MODEL@URL for a server."
            ) from error


def named(name: str) -> Model:
    """Return the model that a user names: ``MODEL@URL``, or a transformers model.

    Raises:
        ChatError: The text before or after the sign is missing.
    """
    model, at, url = name.partition("@")
    if not at:
        return LocalModel(name)
    if not model or not url.startswith(("http://", "https://")):
        raise ChatError(f"{name!r} is not MODEL@URL, such as llama@http://127.0.0.1:8000/v1.")
    return ServedModel(name)


class Replies:
    """What models replied to prompts, by a journal that keeps it."""

    def __init__(self, path: Path, write: Callable[[Mapping[str, Any]], None]) -> None:
        """Read what the journal has; `write` adds to it."""
        self._write = write
        self._lock = threading.Lock()
        self._known = {
            entry["key"]: str(entry["reply"])
            for entry in read_journal(path)
            if isinstance(entry.get("key"), str) and entry.get("reply") is not None
        }

    def ask(
        self,
        model: Model,
        purpose: str,
        prompts: Sequence[str],
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[str | None]:
        """Return a model's reply to each prompt; None if it does not take the prompt.

        Args:
            model: Who is asked what the journal does not know.
            purpose: What for: kept beside each reply, and the name of the progress.
            prompts: The prompts; equal ones are sent once.
            progress: Called after each reply.

        Raises:
            ChatError: The model cannot be reached or loaded; what it replied before is kept.
        """
        keys = [_key(model.name, prompt) for prompt in prompts]
        asked = {
            key: prompt for key, prompt in zip(keys, prompts, strict=True) if key not in self._known
        }
        done = 0
        if progress and asked:
            progress(purpose, 0, len(asked))

        def reply(entry: tuple[str, str]) -> None:
            nonlocal done
            self._reply(model, purpose, *entry)
            with self._lock:
                done += 1
                if progress:
                    progress(purpose, done, len(asked))

        with ThreadPoolExecutor(model.at_a_time) as pool:
            try:
                for _ in pool.map(reply, asked.items()):
                    pass
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return [self._known.get(key) for key in keys]

    def _reply(self, model: Model, purpose: str, key: str, prompt: str) -> None:
        entry = {"key": key, "model": model.name, "purpose": purpose, "prompt": prompt}
        try:
            found: dict[str, Any] = {"reply": model.reply(prompt)}
        except RefusedError as error:
            logger.warning(f"{model.name} does not take a prompt ({error}).")
            found = {"reply": None, "error": str(error)}
        with self._lock:
            self._write({**entry, **found})
            if found["reply"] is not None:
                self._known[key] = found["reply"]


@contextmanager
def replies(path: Path) -> Iterator[Replies]:
    """Open a journal of prompts and replies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with journal(path) as write:
        yield Replies(path, write)


def _key(model: str, prompt: str) -> str:
    written = f"{model}\0{MOST_TOKENS}\0{prompt}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(written, digest_size=16).hexdigest()
