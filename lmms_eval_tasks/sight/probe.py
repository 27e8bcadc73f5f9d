"""Probing one model: what is asked of it, what came of it, and what to change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.models import quirks
from video_reasoning.tasks.models.names import unknown_model
from video_reasoning.tasks.sight import asking, verdict
from video_reasoning.tasks.sight.asking import Model
from video_reasoning.tasks.sight.probes import LADDER, NAMED, PROBES, Probe
from video_reasoning.tasks.sight.verdict import Row

SERVED = frozenset(
    name
    for each in quirks.CLASSES
    if {"openai", "async_openai", "litellm", "vllm"} & set(each.names)
    for name in each.names
)
"""Classes whose requests are built from pictures that are gone a moment later."""
PROBES_SERVED = 20
"""Questions for such a class: of one, all frames may arrive by luck."""
PROBES_LOCAL = 1

Heard = Callable[[int, int], None]
"""Called with the questions of which something was caught, and how many there are."""


@dataclass(frozen=True)
class Result:
    """What came of a probe.

    Attributes:
        model: The model.
        form: The form of its class that the harness took: chat or simple.
        rows: One for each way of showing something.
        refused: Ways that the class refuses, with the reason.
        advice: What to change; empty if nothing has to be.
    """

    model: Model
    form: str
    rows: tuple[Row, ...]
    refused: dict[str, str]
    advice: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether the model got all that it was asked with as it was shown."""
        return not any(row.problem for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        """Return it for ``--format json``."""
        return {
            "model": self.model.name,
            "form": self.form,
            "exact": self.exact,
            "rows": [row.as_json() for row in self.rows],
            "refused": self.refused,
            "advice": list(self.advice),
        }


def kinds_of(model: Model, count: int | None = None) -> list[str]:
    """Return which frames the videos of a model's questions have, one for each question."""
    # Requests have pictures; what enters a model may be patches, which only a ladder is read from.
    if model.name in SERVED:
        return [NAMED] * (count or PROBES_SERVED)
    return [*[NAMED] * (count or PROBES_LOCAL), LADDER]


def probe(
    model: Model,
    *,
    count: int | None = None,
    frames: int = 16,
    heard: Heard | None = None,
    store_home: Path | None = None,
) -> Result:
    """Ask a model every question of a probe, and read what went to it.

    Args:
        model: The model.
        count: Questions of each kind; None for 20 of a served model and 1 of another.
        frames: Frames of a whole video that it is to see.
        heard: Called as the work goes on.
        store_home: A store of the same number of questions; None for a new one.

    Raises:
        UserError: There is no such class, or it cannot be shown a video, or the model could not be
            loaded.
    """
    if refusal := unknown_model(model.name) or _refusal(model):
        raise UserError(refusal)
    kinds = kinds_of(model, count)
    shown, refused = _split(model)
    total = len(kinds) * sum(2 if each.benchmark == "causalvqa" else 1 for each in shown)
    asked, form = asking.ask(
        model,
        shown,
        kinds,
        lambda done: heard(min(done, total), total) if heard else None,
        store_home,
    )
    if form == "simple":
        clips = [each.name for each in shown if each.clips > 1]
        refused |= dict.fromkeys(clips, "only chat classes can be shown two clips.")
    rows = tuple(verdict.rows(asked, frames))
    return Result(model, form, rows, refused, tuple(advice(model, form, rows, frames)))


def _refusal(model: Model, *, blind: bool = False) -> str:
    return quirks.refusal(
        model.name, simple=model.simple, arguments=model.arguments, video=not blind, blind=blind
    )


def _split(model: Model) -> tuple[list[Probe], dict[str, str]]:
    """Return the probes that a class can be asked, and why it cannot be asked the others."""
    blind = _refusal(model, blind=True)
    refused = {each.name: blind for each in PROBES if blind and each.condition == "blind"}
    return [each for each in PROBES if each.name not in refused], refused


def advice(model: Model, form: str, rows: Sequence[Row], frames: int) -> list[str]:
    """Say what to change so that a model gets what is shown, a sentence each."""
    bad = [row for row in rows if row.problem]
    if not bad:
        return []
    known = next((each for each in quirks.CLASSES if model.name in each.names), None)
    given = [part.strip() for part in model.arguments.split(",")]
    wanted = (known.arguments if known else "").replace("=16", f"={frames}").split(",")
    lacking = [part for part in wanted if part and part not in given]
    forced, found = quirks.named_by_user(), []
    if lacking:
        found.append(f"Add {','.join(lacking)} to --model_args.")
    if forced:
        found.append(f"Leave out {quirks.VARIABLE}={forced}, or try another form.")
    if model.simple and known and known.chat and known.chat.video:
        found.append("Leave out --force_simple.")
    other = known.instead if known and "=" in known.instead else ""
    named = [part for part in given if other and part.startswith(other.partition("=")[0])]
    if named and other not in named:
        found.append(f"Give {other} in --model_args.")
    if known is None and not forced:
        found.append(
            f"This class was never measured: try {quirks.VARIABLE}=images, then =frames, and the "
            "argument by which it sets its number of frames."
        )
    if not found:
        found.append(
            "No argument is known that changes this; show it by another class "
            "(docs/running-models.md), or leave out the tasks of these conditions."
        )
    return found
