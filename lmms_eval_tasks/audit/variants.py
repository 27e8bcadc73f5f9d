"""The conditions of an audit: which frames, and in which order the options stand.

``ordered``, ``shuffled``, ``random``, ``last``, ``handpicked`` and ``blind`` are the conditions of
:mod:`video_reasoning.preprocessing.conditions`. Two more exist for a task alone: ``original``
leaves it as it is, and ``reordered`` shows the frames of ``ordered`` with the options in another
order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks.errors import UserError

ORIGINAL = "original"
"""The task untouched: what it shows itself, all of it, in its order."""

REORDERED = "reordered"

FRAMES = 16
"""Frames of the conditions that name no number: the paper's m (TVBench, section 5)."""

DEFAULT = ("ordered", "shuffled", "random1", "last1", "handpicked1", "blind")
"""What is asked where the user names no conditions."""

_REORDERED = re.compile(rf"{REORDERED}(?P<number>[1-9][0-9]?)?")
_TASK = re.compile(
    r"audit_.+_(?:original|blind|reordered\d*|(?:ordered|shuffled|random|last|handpicked)\d+)"
)
_ALIASES = {"ordered-all-frames": ORIGINAL, "ordered-all": ORIGINAL}


class AuditError(UserError):
    """An audit that cannot be made, or results that are none of one."""


@dataclass(frozen=True)
class Variant:
    """One way to ask a task's questions.

    Attributes:
        name: as in the report, e.g. ``ordered16``.
        condition: the frames shown; None for what the task shows itself.
        order: 0 for the options in the task's order, k for the k-th other order.
    """

    name: str
    condition: Condition | None
    order: int = 0

    @property
    def kind(self) -> str:
        """``ordered``, ``shuffled``, ..., ``original`` or ``reordered``."""
        if self.order:
            return REORDERED
        return self.condition.kind if self.condition else ORIGINAL


def parse(text: str, frames: int = FRAMES, seed: int = 0) -> Variant:
    """Reads a condition's name.

    Args:
        text: for example ``ordered``, ``ordered8``, ``random1``, ``blind``, ``original``,
            ``reordered`` or ``reordered2`` (a second other order).
        frames: frames of the conditions that show several and name no number.
        seed: seed of what is drawn.

    Raises:
        AuditError: if the text names none.
    """
    name = _ALIASES.get(text.strip(), text.strip())
    if name == ORIGINAL:
        return Variant(ORIGINAL, None)
    if match := _REORDERED.fullmatch(name):
        order = int(match["number"] or 1)
        shown = Condition("ordered", frames, seed)
        return Variant(REORDERED if order == 1 else f"{REORDERED}{order}", shown, order)
    try:
        condition = Condition.parse(name, seed, frames)
    except ValueError:
        raise AuditError(
            f"'{text}' is no condition of an audit; known are ordered, shuffled (both also with a "
            "number of frames, e.g. ordered8), random1, last1, handpicked1, blind, original and "
            "reordered."
        ) from None
    return Variant(condition.name, condition)


def parse_all(names: Sequence[str], frames: int = FRAMES, seed: int = 0) -> list[Variant]:
    """Reads several, each once.

    Raises:
        AuditError: if one is none, there is none, or two show another number of frames in order.
    """
    if frames < 2:
        raise AuditError(f"--frames {frames} leaves no order of frames; name 2 or more.")
    found = {variant.name: variant for variant in (parse(name, frames, seed) for name in names)}
    if not found:
        raise AuditError("No condition is named; for example --conditions ordered,random1,blind.")
    for kind in ("ordered", "shuffled"):
        same = [name for name, variant in found.items() if variant.kind == kind]
        if len(same) > 1:
            raise AuditError(
                f"{' and '.join(same)} cannot be told apart in one audit; audit each number of "
                "frames for itself."
            )
    return list(found.values())


def is_variant(task: str) -> bool:
    """Whether a name is that of a generated task: one of an audit's variants of another."""
    return _TASK.fullmatch(task) is not None
