"""The state of an item, and how a failed request is told from an answer.

==========  =====================================================================
answered    the response names one of the options
unparsed    it names none: counted as wrong, and in ``unparsed_rate``
missing     the video could not be shown: left out of every accuracy, and counted
failed      the request failed, not the model: left out likewise, and counted
withheld    the release withholds the answer: no accuracy, only predictions
==========  =====================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

Status = Literal["answered", "unparsed", "missing", "failed", "withheld"]

LEFT_OUT = frozenset({"missing", "failed"})
"""States of items that nobody answered: they are in no accuracy and in no rate of responses."""

# What models of the harness return in place of a response: API models after their last retry;
# llava_vid, oryx and ola for a video that they cannot read.
_FAILURES = re.compile(
    r"\[LMMS_EVAL_REQUEST_FAILED\b.*|Video .{0,5000} can not load, check the source", re.DOTALL
)
_SHOWN = 200

NO_RESPONSE = "[the model returned no response]"
"""What stands for a response that never came: the harness turns None into an empty one."""


def failure(results: Iterable[Any]) -> str:
    """Return why a question has no response, or the empty text if it has all of them.

    Args:
        results: Responses as the harness passes them, however deep it nests them. An empty
            text is a response: the model said nothing.
    """
    responses = list(flat(results))
    if not responses or None in responses or NO_RESPONSE in responses:
        return NO_RESPONSE.strip("[]")
    for response in responses:
        text = str(response).strip()
        if _FAILURES.fullmatch(text):
            return f"the request failed: {' '.join(text.split())[:_SHOWN]}"
    return ""


def flat(results: Iterable[Any]) -> Iterator[Any]:
    """Give all responses to a question, in order, however deep the harness nests them."""
    for result in results:
        if isinstance(result, (list, tuple)):
            yield from flat(result)
        else:
            yield result


class FirstResponse:
    """A filter of the harness: the first response to each request, or :data:`NO_RESPONSE`.

    The harness's own ``take_first`` puts the empty text in the place of a response that a model
    never returned.
    """

    def apply(self, resps: Iterable[Sequence[Any]], docs: object) -> list[Any]:
        """Return the first response of each request."""
        del docs
        first = (responses[0] if responses else None for responses in resps)
        return [NO_RESPONSE if response is None else response for response in first]
