"""How long responses are (TVBench, appendix E.6, figures 7 and 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Lengths:
    """A distribution of lengths, in words.

    Attributes:
        n: Responses.
        mean: Arithmetic mean; NaN without responses, as the others.
        low: Length that a tenth of the responses does not exceed.
        median: Half of the responses are at most this long.
        high: Length that nine tenths do not exceed.
        longest: Length of the longest response.
    """

    n: int
    mean: float
    low: float
    median: float
    high: float
    longest: float


def count_words(text: str) -> int:
    """Count the words of a text: what is between white space.

    Example:
        >>> count_words("The answer is C.")
        4
    """
    return len(text.split())


def describe_lengths(words: Sequence[int]) -> Lengths:
    """Describe how long responses are.

    Quantiles are lengths of responses, not interpolated: the smallest length that at least the
    share of the responses does not exceed.

    Args:
        words: Words of each response, 0 or more.

    Example:
        >>> describe_lengths([4, 1, 9, 2])
        Lengths(n=4, mean=4.0, low=1, median=2, high=9, longest=9)
    """
    if not words:
        return Lengths(0, *[math.nan] * 5)
    ordered = sorted(words)
    low, median, high = (
        ordered[max(0, math.ceil(share * len(ordered)) - 1)] for share in (0.1, 0.5, 0.9)
    )
    return Lengths(len(ordered), sum(ordered) / len(ordered), low, median, high, ordered[-1])
