"""Conditions: which frames of a video a model is shown, and in which order.

The three principles of TVBench (TOMATO, section 3) compare a model's answers under conditions:
frames in order, shuffled, a single one, or nothing. Nothing here knows a benchmark.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from video_reasoning.preprocessing.sampling import random_index, shuffled, uniform_indices

Kind = Literal[
    "ordered", "shuffled", "reversed", "frozen", "black", "random", "handpicked", "last", "blind"
]

_FIXED: Mapping[str, int] = {"blind": 0, "random": 1, "handpicked": 1, "last": 1}
# The kinds whose number of frames is fixed.

_NAME = re.compile(r"(?P<kind>[a-z]+)(?P<m>[1-9][0-9]*)?")


Clock = Literal["source", "second"]
"""When a clip shows its frames: at the source's times, or one a second."""
CLOCKS: tuple[Clock, ...] = get_args(Clock)


@dataclass(frozen=True, order=True)
class Condition:
    """What is shown of a video.

    Attributes:
        kind: `ordered`, `shuffled` and `reversed` show m frames at equal intervals; `frozen`
            shows the frame of `random` m times, and `black` m black frames; `random`,
            `handpicked` and `last` show one frame; `blind` shows nothing.
        m: Number of frames shown: 0 for `blind`, 1 for the kinds of one frame.
        seed: Changes what `shuffled`, `random` and `frozen` draw; nothing else.
    """

    kind: Kind
    m: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"There is no condition '{self.kind}'; known are {', '.join(get_args(Kind))}."
            )
        fixed = _FIXED.get(self.kind)
        if fixed is None and self.m < 1:
            raise ValueError(f"The condition '{self.kind}' needs at least one frame.")
        if fixed is not None and self.m != fixed:
            raise ValueError(f"For the condition '{self.kind}' m must be {fixed}, not {self.m}.")

    @classmethod
    def parse(cls, text: str, seed: int = 0, m: int | None = None) -> Condition:
        """Read a condition's name.

        Args:
            text: For example `ordered16`, `shuffled8`, `random1`, `handpicked1`, `last1`,
                `blind`.
            seed: The condition's seed.
            m: Number of frames, if the kind shows several and the text does not give it.

        Returns:
            The condition.

        Raises:
            ValueError: The text does not name a condition.
        """
        match = _NAME.fullmatch(text.strip())
        if match is None or match["kind"] not in get_args(Kind):
            raise ValueError(
                f"'{text}' is not a condition; write for example ordered16, shuffled16, random1, "
                "handpicked1, last1 or blind."
            )
        kind = cast(Kind, match["kind"])
        number = int(match["m"]) if match["m"] else _FIXED.get(kind, m)
        if number is None:
            raise ValueError(
                f"The condition '{text}' lacks its number of frames; write for example {kind}16."
            )
        return cls(kind, number, seed)

    @property
    def name(self) -> str:
        """The condition's name, e.g. `ordered16`; the seed is not part of it."""
        return self.kind if self.kind == "blind" else f"{self.kind}{self.m}"

    @property
    def is_drawn(self) -> bool:
        """Whether what is shown depends on the seed and on the key of the draw."""
        return self.kind in ("shuffled", "random", "frozen")


def condition_indices(
    condition: Condition, n_frames: int, key: str, pick: int | None = None
) -> list[int]:
    """Return the frames that a condition shows, in the order shown.

    Args:
        condition: What is shown.
        n_frames: Number of frames of the video, at least 1.
        key: Names the draw of `shuffled`, `random` and `frozen`, e.g. the question's id.
        pick: The handpicked frame, an index into the video.

    Returns:
        m indices in 0..n_frames - 1, none for `blind`; for `black` those of the frames whose
        places the black ones take.

    Raises:
        ValueError: The video has no frame, or `pick` is missing or outside the video.
    """
    if condition.kind == "blind":
        return []
    if condition.kind in ("ordered", "black"):
        return uniform_indices(n_frames, condition.m)
    if condition.kind == "reversed":
        return uniform_indices(n_frames, condition.m)[::-1]
    if condition.kind == "frozen":
        return [random_index(n_frames, key, condition.seed)] * condition.m
    if condition.kind == "shuffled":
        return shuffled(uniform_indices(n_frames, condition.m), key, condition.seed)
    if condition.kind == "random":
        return [random_index(n_frames, key, condition.seed)]
    if condition.kind == "last":
        return [uniform_indices(n_frames, 2)[1]]
    if pick is None:
        raise ValueError(f"The condition '{condition.name}' of '{key}' needs a picked frame.")
    if not 0 <= pick < n_frames:
        raise ValueError(
            f"The frame picked for '{key}' is {pick}, but the video's frames are 0 to "
            f"{n_frames - 1}."
        )
    return [pick]


def condition_times(indices: Sequence[int], seconds: Sequence[float]) -> list[float]:
    """Return when the frames of a condition are shown, on the clock of the video.

    Ordered frames keep their own times, and shuffled ones get those of the ordered. A frame that
    is shown several times divides its own time among them. The last frame lasts as long as the
    mean of the others, so that the mean rate is that of the times.

    Args:
        indices: The frames, in the order shown; a single one has to be given twice.
        seconds: The time of each frame of the video, ascending.

    Returns:
        The time of each frame shown, and the end: one more than the indices, ascending.

    Raises:
        ValueError: There are fewer than two indices.
    """
    if len(indices) < 2:
        raise ValueError(f"A clip has at least two frames, not {len(indices)}.")
    lasting = (seconds[-1] - seconds[0]) / (len(seconds) - 1) if len(seconds) > 1 else 1.0
    ends = [*seconds[1:], seconds[-1] + lasting]
    times: list[float] = []
    for index, copies in sorted(Counter(indices).items()):
        step = (ends[index] - seconds[index]) / copies
        times += [seconds[index] + copy * step for copy in range(copies)]
    return [*times, times[-1] + (times[-1] - times[0]) / (len(times) - 1)]
