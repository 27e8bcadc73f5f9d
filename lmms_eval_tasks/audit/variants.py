"""The conditions of an audit: which frames are shown, and in which order the options are listed.

Most are the conditions of :mod:`video_reasoning.preprocessing.conditions`. Others exist for a task
alone: ``original`` leaves it as it is; ``reordered`` and ``rotated`` show the frames of ``ordered``
with the options in another order; ``swapped`` shows those of another question's video; ``options``
leaves out the question and all frames.
"""

# Greek letters as the papers print them:

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from video_reasoning.metrics.principles import LABELS
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks.errors import UserError

FRAMES = 16
"""Frames of the conditions whose names have no number: the paper's m (TVBench, section 5)."""

DEFAULT = ("ordered", "shuffled", "random1", "last1", "handpicked1", "blind")
"""The conditions of an audit for which the user names none."""

MOST_ROTATIONS = 7
"""Rotations of the options that ``circular`` stands for: all of up to eight options."""

SETS = {
    "default": DEFAULT,
    "controls": ("reversed", "frozen", "black", "swapped", "options"),
    "circular": ("ordered", *(f"rotated{number}" for number in range(1, MOST_ROTATIONS + 1))),
}
"""Names that stand for several conditions."""

_PREFIX = "audit_"
_REORDERED = re.compile(r"reordered([1-9][0-9]?)?")
_ROTATED = re.compile(r"rotated([1-9])")
_SWAPPED = re.compile(r"swapped([1-9][0-9]*)?")
_DRAWN = re.compile(r"(random1|shuffled(?:[1-9][0-9]*)?)d([2-9]|[1-9][0-9])")
_ALIASES = {"ordered-all-frames": "original", "ordered-all": "original"}

_REPEATED = re.compile(r"(blind|(?:random|last)1)x([1-9][0-9]?)")

Role = Literal[
    "reference", "order", "frame", "blind", "control", "options", "rotation", "draw", "repeat"
]
Special = Literal["", "rotated", "swapped", "options", "draw"]


@dataclass(frozen=True)
class Kind:
    """How one kind of condition is judged and reported.

    Attributes:
        role: What it is compared for: "reference" is what the others are compared with, "order"
            gives tau, "frame" and "blind" a kappa each, "control" a difference, "options" the
            accuracy in both orders, "rotation" that in all, "draw" whether a question depends on
            the draw, "repeat" more evidence about each question.
        label: Its name in a report; its number takes the place of the braces.
        words: How a question is right under it, after "right"; empty for a reference.
        weight: How much a right answer under it speaks against a question; 0 for not at all.
        partial: Whether it asks only some of the questions.
        subject: What it does, as the beginning of a sentence; for a control.
        untimed: Whether it shows frames at times that are not their own.
    """

    role: Role
    label: str
    words: str = ""
    weight: int = 0
    partial: bool = False
    subject: str = ""
    untimed: bool = False


KINDS = {
    "ordered": Kind("reference", "{} in order"),
    "original": Kind("reference", "as the task shows it"),
    "random": Kind("frame", "{} random frame", "with one random frame", 2),
    "last": Kind("frame", "last frame", "with the last frame alone", 2),
    "handpicked": Kind(
        "frame", "{} handpicked frame", "with one handpicked frame", 1, partial=True
    ),
    "blind": Kind("blind", "no frame", "blind", 4),
    "shuffled": Kind("order", "{} shuffled", "with shuffled frames", 1, untimed=True),
    "reversed": Kind(
        *("control", "{} reversed", "with the frames reversed", 1),
        subject="Reversing the frames",
        untimed=True,
    ),
    "frozen": Kind(
        *("control", "one frame, {} times", "with one frame repeated", 2),
        subject="One frame, repeated as often",
        untimed=True,
    ),
    "black": Kind("control", "{} black", "with black frames", 4, subject="Black frames"),
    "swapped": Kind(
        *("control", "{} of another video", "with another question's video", 4),
        subject="Another question's video",
        untimed=True,
    ),
    "options": Kind(
        *("control", "options alone", "from the options alone", 4),
        partial=True,
        subject="The options alone, without question and frames",
    ),
    "reordered": Kind("options", "options reordered {}", partial=True),
    "rotated": Kind("rotation", "options rotated by {}", partial=True),
    "draw": Kind("draw", "draw {}"),
    "repeat": Kind("repeat", "options reordered {}", partial=True),
}
"""Every kind of condition that an audit asks, judges and reports, each in this one place."""


class AuditError(UserError):
    """An audit that cannot be run, or results that do not come from an audit."""


@dataclass(frozen=True)
class Variant:
    """One way to ask a task's questions.

    Attributes:
        name: As in the report, e.g. ``ordered16``.
        condition: The frames shown; None for what the task itself shows.
        order: 0 for the options in the task's order, k for the k-th other order.
        special: What else is changed: the options are rotated by `order`, another question's video
            is shown, the question is left out, or the draw is another one.
    """

    name: str
    condition: Condition | None
    order: int = 0
    special: Special = ""

    @property
    def kind(self) -> str:
        """``ordered``, ``shuffled``, ..., ``original``, ``reordered``, ... or ``repeat``."""
        if self.special:
            return self.special
        if self.order:
            return "reordered" if self.base_kind == "ordered" else "repeat"
        return self.base_kind

    @property
    def base_kind(self) -> str:
        """Its kind without the order of options: what is shown."""
        return self.condition.kind if self.condition else "original"

    @property
    def draw_of(self) -> str:
        """The name of the condition of which it is another draw; else the empty text."""
        return self.name.rpartition("d")[0] if self.special == "draw" else ""

    @property
    def evidence(self) -> str:
        """The kind whose evidence about a question a right answer adds to."""
        return self.base_kind if self.kind == "repeat" else self.kind

    @property
    def role(self) -> Role:
        """What the variant is compared for."""
        return KINDS[self.kind].role

    @property
    def partial(self) -> bool:
        """Whether it asks only some of the questions."""
        return KINDS[self.kind].partial

    @property
    def label(self) -> str:
        """Its name in a report, e.g. ``16 in order``."""
        number = self.order or (self.condition.m if self.condition else 0)
        if self.kind in ("repeat", "draw") and self.condition:
            shown = KINDS[self.base_kind].label.format(self.condition.m)
            number = self.order or int(self.name.rpartition("d")[2])
            return f"{shown}, {KINDS[self.kind].label.format(number)}"
        first = self.kind == "reordered" and number == 1
        return KINDS[self.kind].label.format("" if first else number).strip()

    @property
    def unnumbered(self) -> str:
        """Its name without its number, e.g. ``random frame``."""
        return KINDS[self.kind].label.format("").strip()


def parse(text: str, frames: int = FRAMES, seed: int = 0) -> Variant:
    """Read a condition's name.

    Args:
        text: For example ``ordered``, ``ordered8``, ``random1``, ``blind``, ``original``,
            ``reordered`` or ``reordered2`` (a second other order).
        frames: Frames of the conditions that show several and have no number.
        seed: Seed of the draws.

    Raises:
        AuditError: If the text does not name a condition.
    """
    name = _ALIASES.get(text.strip(), text.strip())
    if name == "original":
        return Variant(name, None)
    if match := _REORDERED.fullmatch(name):
        order = int(match[1] or 1)
        name = "reordered" if order == 1 else name
        return Variant(name, Condition("ordered", frames, seed), order)
    if match := _REPEATED.fullmatch(name):
        return Variant(name, Condition.parse(match[1], seed, frames), int(match[2]))
    if match := _ROTATED.fullmatch(name):
        return Variant(name, Condition("ordered", frames, seed), int(match[1]), "rotated")
    if match := _SWAPPED.fullmatch(name):
        shown = Condition("ordered", int(match[1] or frames), seed)
        return Variant(f"swapped{shown.m}", shown, special="swapped")
    if name == "options":
        return Variant(name, Condition("blind", 0, seed), special="options")
    if match := _DRAWN.fullmatch(name):
        number = int(match[2])
        drawn = Condition.parse(match[1], seed + number - 1, frames)
        return Variant(f"{drawn.name}d{number}", drawn, special="draw")
    try:
        condition = Condition.parse(name, seed, frames)
    except ValueError:
        raise AuditError(
            f"'{text}' is not a condition of an audit; known are ordered, shuffled, reversed, "
            "frozen, black, swapped (all also with a number of frames, e.g. ordered8), random1, "
            "last1, handpicked1, blind, options, original, reordered and rotated1, and the sets "
            f"{', '.join(SETS)}."
        ) from None
    return Variant(condition.name, condition)


def parse_all(names: Sequence[str], frames: int = FRAMES, seed: int = 0) -> tuple[Variant, ...]:
    """Read several names and names of sets, each condition once.

    Raises:
        AuditError: If a name is not a condition, no name is given, or two show another number of
            frames in order.
    """
    if frames < 2:
        raise AuditError(f"--frames {frames} leaves no order of frames; give 2 or more.")
    each = [name for given in names for name in SETS.get(given.strip(), (given,))]
    found = {variant.name: variant for variant in (parse(name, frames, seed) for name in each)}
    if not found:
        raise AuditError("No condition is given; for example --conditions ordered,random1,blind.")
    for kind in ("ordered", "shuffled", "reversed", "frozen", "black", "swapped"):
        same = [name for name, variant in found.items() if variant.kind == kind]
        if len(same) > 1:
            raise AuditError(
                f"{' and '.join(same)} cannot be in one audit; audit each number of frames by "
                "itself."
            )
    return tuple(found.values())


def repeated(variants: Iterable[Variant], times: int) -> tuple[str, ...]:
    """Return the names of conditions, those with no frame or one asked several times.

    Args:
        variants: The conditions.
        times: How often, the task's own order of options included.
    """
    names = [variant.name for variant in variants]
    again = [v.name for v in variants if v.role in ("blind", "frame") and not v.partial]
    return (*names, *(f"{name}x{number}" for name in again for number in range(1, times)))


def redrawn(variants: Iterable[Variant], times: int) -> tuple[str, ...]:
    """Return the names of conditions, those that draw frames or an order with several draws.

    Args:
        variants: The conditions.
        times: How many draws, the first included.
    """
    names = [variant.name for variant in variants]
    again = [name for name in names if _DRAWN.fullmatch(f"{name}d2")]
    return (*names, *(f"{name}d{number}" for name in again for number in range(2, times + 1)))


def reference_of(variants: Iterable[Variant]) -> Variant | None:
    """Return the condition that others are compared with: ``ordered``, else ``original``."""
    by_kind = {variant.kind: variant for variant in variants}
    return by_kind.get("ordered") or by_kind.get("original")


def known(name: str) -> Variant | None:
    """Return the condition that a file names, or None if the name is not known here."""
    try:
        return parse(name)
    except AuditError:
        return None


def condition_label(name: str) -> str:
    """Return a report's name of a condition, e.g. ``16 in order``; unknown names stay."""
    variant = known(name)
    return variant.label if variant else name


def measure_label(name: str) -> str:
    """Return a report's name of a measure, e.g. ``κ (random frame)`` for ``kappa_random1``."""
    variant = known(name.removeprefix("kappa_"))
    return f"κ ({variant.unnumbered})" if variant else LABELS.get(name, name)


def variant_task(stem: str, variant: Variant) -> str:
    """Return the name of the task that asks another's questions under a condition."""
    return f"{_PREFIX}{stem}_{variant.name}"


def is_variant(task: str) -> bool:
    """Return whether a name is that of a task that an audit generated from another."""
    stem, _, name = task.rpartition("_")
    variant = known(name)
    return (
        len(stem) > len(_PREFIX)
        and stem.startswith(_PREFIX)
        and variant is not None
        and (variant.name == name)
    )
