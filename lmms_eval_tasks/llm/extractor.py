"""Asking a language model which option a response means, if the rules find none.

TVBench's authors do so with GPT-4o-mini (TOMATO, appendices C.2 and D.2). Here it is off unless a
server is named, and every letter found this way is counted (``llm_extracted`` in the table) and
has the rule ``llm:<model>`` in the sample log:

======================================  ======================================================
``VIDEO_REASONING_EXTRACTOR_URL``       address of an OpenAI-compatible server; switches it on
``VIDEO_REASONING_EXTRACTOR_MODEL``     the model's name there; default: the paper's
``VIDEO_REASONING_EXTRACTOR_API_KEY``   its key, if it needs one
======================================  ======================================================

The prompt is the paper's, word for word, and ends by asking for a *random* letter if no
option fits. This module never draws one: a reply that is not exactly one of the options'
letters leaves the response unparsed, and an empty response is not sent at all. But a model that
does as the prompt says guesses, and its guess looks like a reading. So report ``llm_extracted``
beside an accuracy; the run without a server is the stricter one.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import lru_cache

from loguru import logger

from video_reasoning.metrics.answers import Answer
from video_reasoning.tasks.llm.served import Client

URL_VARIABLE = "VIDEO_REASONING_EXTRACTOR_URL"
MODEL_VARIABLE = "VIDEO_REASONING_EXTRACTOR_MODEL"
KEY_VARIABLE = "VIDEO_REASONING_EXTRACTOR_API_KEY"

DEFAULT_MODEL = "gpt-4o-mini"  # the paper's model (appendix C.2)

PROMPT = (
    "You are given a response, a list of multiple-choice options, and a index2answer mapping. "
    "You are required to extract the letter option from the GPT.\n"
    "<response> {response} </response>\n"
    "<all_choices> {all_choices} </all_choices>\n"
    "<index2answer> {index2ans} </index2answer>\n"
    "Only output the single parsed letter from the response. No other texts are needed.\n"
    "If you think no options can match the index2answer dictionary, randomly select one letter.\n"
    "Your extracted letter is:"
)
"""The answer extracting prompt, verbatim (appendix D.2)."""

FOUND = "llm:"
"""How the rule of a letter begins that a language model found; the model's name follows."""

FAILED = "llm failed: "
"""How the rule of a response begins for which the server gave no reply; the reason follows."""

TIMEOUT_SECONDS = 30.0
RETRIES = 1
MOST_TOKENS = 16
FAILURES_IN_A_ROW = 8
"""After so many requests in a row without a reply, the server is not asked again in this run."""

# A letter alone, or in the marks that models put around one: "C", "C.", "(C)", "**C**", "'C'".
_LETTER = re.compile(r"""[\s"'`*(\[]*([A-Z])[\s"'`*)\].:]*""")


@dataclass(frozen=True)
class Settings:
    """Which server to ask: address (``http://127.0.0.1:8000/v1``), model, and key if any."""

    url: str
    model: str = DEFAULT_MODEL
    api_key: str = field(default="", repr=False)


def settings() -> Settings | None:
    """Return the server that the environment names, or None without one."""
    url = os.environ.get(URL_VARIABLE, "").strip()
    if not url:
        return None
    model = os.environ.get(MODEL_VARIABLE, "").strip() or DEFAULT_MODEL
    return Settings(url, model, os.environ.get(KEY_VARIABLE, "").strip())


def extract(response: str, options: Mapping[str, str]) -> Answer | None:
    """Ask the server, if one is named, which option a response means. Never raise.

    None if no server is named or the response is empty. Otherwise an answer whose rule is
    ``llm:<model>`` with a letter of ``options``; or without a letter ``llm found none``, or
    ``llm failed: <reason>``.
    """
    try:
        server = settings()
        if server is None or not response.strip():
            return None
        return _extractor(server).ask(response, options)
    except Exception as error:  # the harness drops a whole run otherwise
        logger.error(f"Asking for an answer's letter failed: {error!r}")
        return Answer(None, f"{FAILED}{type(error).__name__}")


class Extractor:
    """One server, with what it replied so far, and why requests failed. Safe in several threads."""

    def __init__(self, server: Settings) -> None:
        """Remember the server; nothing is connected yet."""
        self.server = server
        self.failures: dict[str, int] = {}
        self._replies: dict[str, Future[str]] = {}
        self._in_a_row = 0
        self._lock = threading.Lock()
        self._client = Client(
            server.url, server.model, server.api_key, TIMEOUT_SECONDS, RETRIES, MOST_TOKENS
        )

    def ask(self, response: str, options: Mapping[str, str]) -> Answer:
        """Read a response with the server's help; see :func:`extract`."""
        prompt = PROMPT.format(
            response=response, all_choices=list(options), index2ans=dict(options)
        )
        try:
            reply = self._reply(prompt)
        except Exception as error:
            return Answer(None, f"{FAILED}{_reason(error)}")
        match = _LETTER.fullmatch(reply)
        if match and match[1] in options:
            return Answer(match[1], f"{FOUND}{self.server.model}")
        return Answer(None, "llm found none")

    def _reply(self, prompt: str) -> str:
        """Return the server's reply; several threads send the same prompt once."""
        with self._lock:
            waiting = self._replies.get(prompt)
            mine = waiting is None
            if waiting is None:
                if self._in_a_row >= FAILURES_IN_A_ROW:
                    raise _GivenUpError
                waiting = self._replies[prompt] = Future()
        if mine:
            try:
                waiting.set_result(self._client.reply(prompt))
                with self._lock:
                    self._in_a_row = 0
            except BaseException as error:
                waiting.set_exception(error)  # whoever waits must not wait forever
                if not isinstance(error, Exception):
                    raise
                self._count(error)
        return waiting.result()

    def _count(self, error: Exception) -> None:
        reason = _reason(error)
        with self._lock:
            self.failures[reason] = self.failures.get(reason, 0) + 1
            first = self.failures[reason] == 1
            self._in_a_row += 1
            given_up = self._in_a_row == FAILURES_IN_A_ROW
        if first:
            line = str(error).strip().partition("\n")[0][:200] or type(error).__name__
            logger.warning(
                f"The extractor {self.server.model} at {self.server.url} gave no reply ({reason}: "
                f"{line}); such responses stay unparsed. Check {URL_VARIABLE}, "
                f"{MODEL_VARIABLE} and {KEY_VARIABLE}."
            )
        if given_up:
            logger.warning(
                f"{FAILURES_IN_A_ROW} requests in a row had no reply from {self.server.url}: it "
                "is not asked again in this run."
            )


class _GivenUpError(Exception):
    """The server failed too often and is not asked again."""


@lru_cache(maxsize=4)
def _extractor(server: Settings) -> Extractor:
    return Extractor(server)


def _reason(error: Exception) -> str:
    """Return a few words that are the same for the same kind of failure."""
    if isinstance(error, _GivenUpError):
        return "given up after repeated failures"
    status = getattr(error, "status_code", None)
    return f"HTTP {status}" if isinstance(status, int) else type(error).__name__
