"""A language model on an OpenAI-compatible server."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Client:
    """Asks one model on one server; several threads may. Decoding is greedy.

    Attributes:
        url: The server's address, such as ``http://127.0.0.1:8000/v1``.
        model: The model's name there.
        api_key: Empty if the server needs none.
        timeout: Seconds that a reply may take.
        retries: How often a request that failed is sent again.
        most_tokens: Of a reply.
    """

    url: str
    model: str
    api_key: str
    timeout: float
    retries: int
    most_tokens: int
    _connected: Any = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def reply(self, prompt: str, **settings: Any) -> str:
        """Return what the model replies; the empty text if that is nothing.

        Args:
            prompt: What the user says.
            settings: More of the request's parameters.

        Raises:
            openai.OpenAIError: The server gave no reply.
        """
        completion = self._client().chat.completions.create(
            model=self.model,
            messages=[{"role": "user", "content": prompt}],
            temperature=0,
            max_tokens=self.most_tokens,
            **settings,
        )
        return (completion.choices[0].message.content or "") if completion.choices else ""

    def _client(self) -> Any:
        from openai import OpenAI

        with self._lock:
            if self._connected is None:
                self._connected = OpenAI(
                    base_url=self.url,
                    # A local server needs no key, but the client insists on a text.
                    api_key=self.api_key or "none",
                    timeout=self.timeout,
                    max_retries=self.retries,
                )
        return self._connected
