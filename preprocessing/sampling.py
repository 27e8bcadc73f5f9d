"""Which frames of a video are shown, and in which order.

Everything here is drawn from a text key and a seed through SHA-256, never from a global or a
library's generator: the same on every platform, Python version, process and rerun.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeVar

Frame = TypeVar("Frame", bound=Hashable)


def uniform_indices(n_frames: int, m: int) -> list[int]:
    """Return m frame indices at equal intervals, first and last frame included.

    The rule of TVBench (TOMATO, section 5.1): `linspace(0, n_frames - 1, m)` truncated to
    integers, in double precision as NumPy computes it, so that the frames are those of the
    authors' readers. With m = 1 that is the first frame. A video with fewer than m frames still
    gives m indices: some frames are then shown more than once.

    Args:
        n_frames: Number of frames of the video, at least 1.
        m: Number of frames wanted, at least 1.

    Returns:
        m indices in 0..n_frames - 1, in ascending order; equal ones may follow each other.

    Raises:
        ValueError: A number is below 1.
    """
    _at_least_one("n_frames", n_frames)
    _at_least_one("m", m)
    if m == 1:
        return [0]
    step = (n_frames - 1) / (m - 1)
    return [*(int(position * step) for position in range(m - 1)), n_frames - 1]


def shuffled_order(m: int, key: str, seed: int = 0) -> list[int]:
    """Return a random order of m frames that is never the original one.

    Every order but the identity is equally likely. If some of the frames are equal, an order
    that is not the identity may still show the same sequence: see `shuffled`.

    Args:
        m: Number of frames, at least 1. With m = 1 there is only `[0]`.
        key: Names what is shuffled, e.g. the id of the question.
        seed: Another seed gives another order.

    Returns:
        A permutation of range(m): position i shows frame order[i].

    Raises:
        ValueError: m is below 1.
    """
    _at_least_one("m", m)
    return _shuffled_order(tuple(range(m)), key, seed)


def shuffled(frames: Sequence[Frame], key: str, seed: int = 0) -> list[Frame]:
    """Return the same frames (at least one) in another order, seen as a sequence.

    The order is that of `shuffled_order(len(frames), key, seed)`; if equal frames make that
    order show the original sequence, the next order is drawn until it does not. If all frames
    are equal no other sequence exists and the frames come back as they are.

    Raises:
        ValueError: There is no frame.
    """
    _at_least_one("the number of frames", len(frames))
    return [frames[position] for position in _shuffled_order(tuple(frames), key, seed)]


def random_index(n_frames: int, key: str, seed: int = 0) -> int:
    """Return one frame index, uniform over the whole video.

    Args:
        n_frames: Number of frames of the video, at least 1.
        key: Names what is drawn, e.g. the id of the question.
        seed: Another seed gives another frame.

    Returns:
        An index in 0..n_frames - 1.

    Raises:
        ValueError: n_frames is below 1.
    """
    _at_least_one("n_frames", n_frames)
    return _below(n_frames, _words("frame", key, seed))


def _shuffled_order(frames: tuple[Hashable, ...], key: str, seed: int) -> list[int]:
    order = list(range(len(frames)))
    if len(set(frames)) == 1:
        return order
    words = _words("order", key, seed)
    while all(frames[new] == frame for new, frame in zip(order, frames, strict=True)):
        # Fisher-Yates; drawing again keeps the remaining orders equally likely.
        for last in range(len(order) - 1, 0, -1):
            other = _below(last + 1, words)
            order[last], order[other] = order[other], order[last]
    return order


def _words(purpose: str, key: str, seed: int) -> Iterator[int]:
    """Yield an endless stream of 64-bit numbers that depends only on the arguments."""
    # File names that are not valid text reach Python as lone surrogates.
    text = f"{purpose}\x00{seed}\x00{key}".encode("utf-8", "surrogatepass")
    root = hashlib.sha256(text)
    counter = 0
    while True:
        block = root.copy()
        block.update(counter.to_bytes(8, "big"))
        digest = block.digest()
        for start in range(0, len(digest), 8):
            yield int.from_bytes(digest[start : start + 8], "big")
        counter += 1


def _below(bound: int, words: Iterator[int]) -> int:
    # A plain remainder would favor small numbers: what is above the last full multiple of
    # the bound is drawn again.
    limit = (1 << 64) - (1 << 64) % bound
    return next(word for word in words if word < limit) % bound


def _at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}.")
