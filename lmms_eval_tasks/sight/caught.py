"""What a probe keeps of each question: its pictures, texts and times, as the model got them.

A run of a benchmark only counts (:mod:`.seen`) and keeps none of it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from video_reasoning.tasks.sight.seen import LEDGER, Span, guarded, replace_once


@dataclass(frozen=True)
class Look:
    """One picture, or one patch if it is not known which patches are one picture.

    Attributes:
        values: Mean of 4 x 4 parts, 16 numbers in the model's own unit, or of all of it.
        size: Its height and width in pixels, if they are known.
    """

    values: tuple[float, ...]
    size: tuple[int, int] | None = None


@dataclass(eq=False)
class Catch:
    """What went to the model for one question.

    Attributes:
        looks: How it was caught (:class:`.seen.Span`) -> its pictures, in order.
        texts: What was put into tokens, or the texts of the request.
        seconds: Length of each video as the model was given it in numbers.
    """

    looks: dict[str, list[Look]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


class _State:
    catches: dict[Span, Catch] | None = None
    singly = False
    heard: Callable[[], None]


@contextmanager
def catching(heard: Callable[[], None] = lambda: None) -> Iterator[Mapping[Span, Catch]]:
    """Keep what is caught until the block is left.

    Args:
        heard: Called when the first picture or text of a question is caught.
    """
    _State.catches, _State.heard = {}, heard
    try:
        yield _State.catches
    finally:
        _State.catches = None


def catch(span: Span | None) -> Catch | None:
    """Return where to keep what is caught of a question; None if nobody probes."""
    if _State.catches is None or span is None:
        return None
    if span not in _State.catches:
        _State.catches[span] = Catch()
        _State.heard()
    return _State.catches[span]


@contextmanager
def singly() -> Iterator[None]:
    """Ask one question until the block is left, and nothing else."""
    LEDGER.settle()
    before, _State.singly = _State.singly, True
    try:
        yield
    finally:
        _State.singly = before


def asking() -> Span | None:
    """Return the question that this thread asks, or the only one, which another has prepared."""
    return LEDGER.current() or (LEDGER.sent(()) if _State.singly else None)


def tensors(span: Span, how: str, found: Sequence[Any], *, known: bool) -> None:
    """Keep what is in tensors.

    Args:
        span: Whose they are.
        how: Where they were caught.
        found: Tensors of (n, colors, height, width) or (n, values).
        known: Whether each row is a picture.
    """
    kept = catch(span)
    if kept is not None:
        looks = kept.looks.setdefault(how, [])
        for each in found:
            looks += _looks(each, known)


def _looks(found: Any, known: bool) -> list[Look]:
    import torch

    values = found.detach().float()
    if known and values.ndim == 4 and values.shape[1] == 3:
        cells = torch.nn.functional.adaptive_avg_pool2d(values, 4).mean(1).flatten(1)
        size = int(values.shape[2]), int(values.shape[3])
        return [Look(tuple(row), size) for row in cells.tolist()]
    kept = 1 if known else max(1, values.ndim - (3 if values.shape[-3:-2] == (3,) else 1))
    rows = values.flatten(0, kept - 1).flatten(1) if kept < values.ndim else values[:, None]
    return [Look((level,)) for level in rows.mean(1).tolist()]


def watch_texts() -> None:
    """Keep what is put into tokens while a question is asked. Costs nothing once it is done."""
    tokenizers = sys.modules.get("transformers.tokenization_utils_base")
    if tokenizers is not None:
        replace_once(tokenizers.PreTrainedTokenizerBase, "__call__", _tokens)


@guarded
def _tokens(tokenizer: Any, text: Any = None, *args: Any, **kwargs: Any) -> None:
    del tokenizer, args, kwargs
    kept = catch(LEDGER.current())
    if kept is not None:
        texts = [text] if isinstance(text, str) else text or ()
        kept.texts += [each for each in texts if isinstance(each, str)]


_MARKS = (r"<(\d+(?:\.\d+)?) seconds>", r"(\d+(?:\.\d+)?)s(?=[,.])", r"\b(\d+):(\d\d)\b")
_LASTS = re.compile(r"lasts for (\d+(?:\.\d+)?) seconds")


def time_told(kept: Catch) -> str:
    """Return what the model was given of time: marks of frames, or the length of a video."""
    text = "\n".join(kept.texts)
    for pattern in _MARKS:
        found = [
            sum(float(part) * 60**n for n, part in enumerate(reversed(each)))
            for each in (match.groups() for match in re.finditer(pattern, text))
        ]
        if found:
            return f"{found[0]:g}..{found[-1]:g} s" if len(found) > 1 else f"{found[0]:g} s"
    lasts = [float(each) for each in _LASTS.findall(text)] or kept.seconds
    return " + ".join(f"{each:.3g} s" for each in lasts)


_NAMES = re.compile(r"\b(?:frame|image|picture)[- _]?(\d+)\b", re.IGNORECASE)


def names_in(kept: Catch) -> int:
    """Return how many frames the text numbers ("Frame1: ... Frame16:"); 0 if it numbers none."""
    return len(set(_NAMES.findall("\n".join(kept.texts))))
