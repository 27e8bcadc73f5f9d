"""What leaves in a request: the images in the messages of an API's client or of vLLM.

Private to other packages and used here only: ``create`` of the openai package's chat
completions, ``LLM.chat`` of vllm, and the harness's ``ChatMessages.to_openai_messages``,
``_LiteLLMChatCompletions.create`` and the workers of ``openai --force_simple``.
"""

from __future__ import annotations

import base64
import hashlib
import io
import sys
from collections.abc import Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from typing import Any

from video_reasoning.tasks.sight import caught
from video_reasoning.tasks.sight.clips import cells
from video_reasoning.tasks.sight.seen import (
    LEDGER,
    Picture,
    Span,
    guarded,
    mapping,
    replace_once,
    warn,
)


def install() -> None:
    """Watch every client that is loaded. Costs nothing once it is done."""
    if "openai" in sys.modules:
        _watch_openai()
    engine = getattr(sys.modules.get("vllm"), "LLM", None)
    if engine is not None:
        replace_once(engine, "chat", _chat)
    litellm = sys.modules.get("lmms_eval.models.simple.litellm")
    if litellm is not None:
        replace_once(litellm._LiteLLMChatCompletions, "create", _create)
    simple = sys.modules.get("lmms_eval.models.simple.openai")
    if simple is not None:
        _tag_payloads(simple)
    protocol = sys.modules.get("lmms_eval.protocol")
    if protocol is not None:
        for name in ("to_openai_messages", "to_qwen3_vl_openai_messages"):
            _tag_results(protocol.ChatMessages, name)


@cache
def _watch_openai() -> None:
    # The client imports it when it is first used, which is too late for the first question.
    completions = import_module("openai.resources.chat.completions.completions")
    for name in ("Completions", "AsyncCompletions"):
        replace_once(getattr(completions, name), "create", _create)


def _tag_results(messages: Any, name: str) -> None:
    """Let the harness's conversion remember whose messages it made."""
    original = getattr(messages, name, None)
    if original is None:
        warn(
            f"frames_seen: the installed lmms-eval has no ChatMessages.{name}; concurrent "
            "requests are not counted."
        )
        return
    if getattr(original, "sight", False):
        return

    @wraps(original)
    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        converted = original(self, *args, **kwargs)
        _tag(self, converted)
        return converted

    watched.sight = True  # type: ignore[attr-defined]
    setattr(messages, name, watched)


def _tag_payloads(module: Any) -> None:
    """Let the workers of a module of the harness remember whose request they were given."""
    workers = getattr(module, "ThreadPoolExecutor", None)
    if workers is None:
        warn(
            f"frames_seen: {module.__name__} of the installed lmms-eval has no "
            "ThreadPoolExecutor; concurrent requests of it are not counted."
        )
    elif not getattr(workers, "sight", False):

        class Workers(workers):  # type: ignore[misc, valid-type]
            sight = True

            def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
                for each in args:
                    _tag_payload(mapping(each).get("messages") or ())
                return super().submit(function, *args, **kwargs)

        module.ThreadPoolExecutor = Workers


@guarded
def _tag_payload(messages: Sequence[Mapping[str, Any]]) -> None:
    if messages:
        LEDGER.tag([message["content"] for message in messages], ())


@guarded
def _tag(given: Any, converted: Sequence[Mapping[str, Any]]) -> None:
    videos = [url for url in given.extract_media()[1] if isinstance(url, str)]
    LEDGER.tag([message["content"] for message in converted], videos)


@guarded
def _create(client: Any, *args: Any, **kwargs: Any) -> None:
    del client, args
    _sent(kwargs.get("messages") or ())


@guarded
def _chat(engine: Any, *args: Any, **kwargs: Any) -> None:
    del engine
    given = kwargs.get("messages", args[0] if args else ())
    conversations = [given] if given and isinstance(given[0], Mapping) else given
    for conversation in conversations:
        _sent(conversation)


def _sent(messages: Sequence[Mapping[str, Any]]) -> None:
    contents = [message.get("content") for message in messages]
    span = LEDGER.sent(contents)
    if span is not None:
        span.observe(_pictures(contents, span.detailed), "request")
        _keep(span, contents)


def _keep(span: Span, contents: Sequence[Any]) -> None:
    """Keep for a probe what is in a request."""
    kept = caught.catch(span)
    if kept is None:
        return
    looks = kept.looks["request"] = []
    for content in contents:
        kept.texts += [content] if isinstance(content, str) else []
        for part in () if isinstance(content, str) else content or ():
            kept.texts += [part["text"]] if isinstance(part.get("text"), str) else []
            if part.get("type") == "image_url":
                found = _picture(str(mapping(part["image_url"]).get("url", part["image_url"])))
                looks += [] if found is None else [_look(found)]


def _look(picture: Any) -> caught.Look:
    red, green, blue = (cells(picture)[start : start + 16] for start in (0, 16, 32))
    gray = tuple(sum(parts) / 3 for parts in zip(red, green, blue, strict=True))
    return caught.Look(gray, picture.shape[:2])


def _pictures(contents: Sequence[Any], detailed: bool) -> list[Picture] | None:
    """Return the images of a request; None if it has a video, which the server samples."""
    found = []
    for content in contents:
        for part in content if isinstance(content, Sequence) and content else ():
            kind = str(mapping(part).get("type") or "text")
            if "text" in kind or "audio" in kind:
                continue
            if kind != "image_url":
                return None
            link = part["image_url"]
            link = str(mapping(link).get("url", link))
            digest = hashlib.blake2b(link.encode(), digest_size=8).digest()
            picture = _picture(link) if detailed else None
            parts = () if picture is None else cells(picture)
            found.append(Picture(int.from_bytes(digest, "little"), parts))
    return found


def _picture(link: str) -> Any:
    """Return an image, shape (height, width, 3), 0..255; None if it is not in the link."""
    import numpy as np
    from PIL import Image

    if not link.startswith("data:"):
        return None
    data = base64.b64decode(link.partition(",")[2])
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
