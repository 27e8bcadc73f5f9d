"""The report's plots as data: marks at places from 0 to 100 on an axis.

The page draws them with its own elements (``templates/chart.jinja``): they are as wide as the page
on a phone and on a screen, their text keeps its size, and they follow its light and dark colors.
Runs differ in shape as well as in color.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

SHAPES = (
    "M0-5A5 5 0 1 0 0 5A5 5 0 1 0 0-5Z",  # circle
    "M-4.4-4.4H4.4V4.4H-4.4Z",  # square
    "M0-5.4L5.4 4.4H-5.4Z",  # triangle
    "M0-6L5.2 0L0 6L-5.2 0Z",  # diamond
    "M0 5.4L5.4-4.4H-5.4Z",  # triangle that points down
    "M-2-5.4H2V-2H5.4V2H2V5.4H-2V2H-5.4V-2H-2Z",  # cross
)
"""Outlines of the runs' marks, around the origin, six units to each side."""

_TICKS = 6  # labels of an axis, about
_ROOM = 1.6
"""How far an axis of gains extends beyond its values; longer intervals are cut, with an arrow."""


@dataclass(frozen=True)
class Point:
    """A run's value with its interval, in percent (gains times 100).

    The run is given by its place in the report, from 0.
    """

    run: int
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def words(self) -> str:
        """The value with its interval."""
        if self.low is None or self.high is None:
            return f"{self.value:.1f}"
        high = "∞" if math.isinf(self.high) else f"{self.high:.1f}"
        return f"{self.value:.1f} ({self.low:.1f} to {high})"


@dataclass(frozen=True)
class Line:
    """A row of a plot, in percent or times 100; a heading if it has no values.

    Attributes:
        points: One per run.
        chance: Accuracy of guessing, or None.
        models: Values of a paper's models; None for one that the paper does not print.
        human: Accuracies of people, as in the paper.
        light: Whether it is a part of another row and is drawn lighter.
        link: Id of the part of the page that has more.
    """

    label: str
    points: Sequence[Point] = ()
    chance: float | None = None
    models: Sequence[float | None] = ()
    human: Sequence[float] = ()
    light: bool = False
    link: str = ""

    @property
    def printed(self) -> list[float]:
        """What the paper prints of its models."""
        return [value for value in self.models if value is not None]

    @property
    def words(self) -> str:
        """The row in words."""
        said = [", ".join(f"{point.value:.1f}" for point in self.points)] if self.points else []
        if self.printed:
            said.append(f"the paper's models {min(self.printed):.1f} to {max(self.printed):.1f}")
        return f"{self.label}: {', '.join(said)}"


@dataclass(frozen=True)
class Plot:
    """A plot: rows of marks on a common axis, and the same in words as the alternative text.

    Attributes:
        left: The axis's value at the left edge.
        right: Its value at the right edge.
        unit: What the axis measures.
        names: The paper's models, in the order of the lines' `models`; empty if they are not told
            apart.
        series: For a plot over frames: run -> (frames shown, value), in rising order.
    """

    title: str
    description: str
    lines: Sequence[Line]
    left: float = 0.0
    right: float = 100.0
    unit: str = "percent"
    names: Sequence[str] = ()
    series: Mapping[int, Sequence[tuple[int, Point]]] | None = None
    chance: float | None = None

    def place(self, value: float) -> float:
        """Return where a value is on the axis, 0 to 100; values beyond it are at its end."""
        inside = min(max(value, self.left), self.right)
        return round(100 * (inside - self.left) / (self.right - self.left), 2)

    def beyond(self, point: Point) -> tuple[bool, bool]:
        """Tell whether an interval goes on beyond the left and the right end of the axis."""
        low, high = point.low, point.high
        return (low is not None and low < self.left, high is not None and high > self.right)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels of the axis."""
        step = _step(self.right - self.left)
        first = math.ceil(self.left / step - 1e-9)
        last = math.floor(self.right / step + 1e-9)
        return [(self.place(n * step), f"{n * step:g}") for n in range(first, last + 1)]

    @property
    def frames(self) -> list[tuple[float, int]]:
        """Places and numbers of frames of a plot over frames."""
        shown = sorted({m for points in (self.series or {}).values() for m, _ in points})
        width = max(1, len(shown))
        return [(round(100 * (place + 0.5) / width, 2), m) for place, m in enumerate(shown)]


def _step(width: float) -> float:
    """Return a round step that gives an axis about as many labels as there is room for."""
    least = width / _TICKS
    scale = float(10 ** math.floor(math.log10(least)))
    return next(scale * step for step in (1, 2, 5, 10) if scale * step >= least - 1e-9)


def color(run: int) -> int:
    """Return the number of a run's color in the page's style, by its place in the report."""
    return run % len(SHAPES)


def shape(run: int) -> str:
    """Return the outline of a run's mark, by its place in the report."""
    return SHAPES[run % len(SHAPES)]


def forest(title: str, lines: Sequence[Line], unit: str = "accuracy, percent") -> Plot:
    """Plot accuracies with their intervals, row by row.

    Guessing is a dotted tick, a paper's models are bars, people are stars.
    """
    words = "; ".join(line.words for line in lines if line.points)
    return Plot(title, f"Accuracy in percent. {words}.", lines, unit=unit)


def frame_sweep(
    title: str, series: Mapping[int, Sequence[tuple[int, Point]]], chance: float | None
) -> Plot:
    """Plot accuracy over frames shown: run -> (frames, value) in rising order; all in percent."""
    words = "; ".join(
        ", ".join(f"m = {m}: {point.value:.1f}" for m, point in points)
        for points in series.values()
    )
    return Plot(title, f"Accuracy in percent. {words}.", (), series=series, chance=chance)


def gains(title: str, rows: Sequence[Line], models: Sequence[str], unit: str = "×100") -> Plot:  # noqa: RUF001
    """Plot gains with their intervals, and hollow marks for values of a paper's models."""
    left, right = _limits(rows)
    words = "; ".join(row.words for row in rows)
    return Plot(title, f"{unit}. {words}.", rows, left, right, unit, models)


def _limits(rows: Sequence[Line]) -> tuple[float, float]:
    """Return the ends of the axis: all values, and the intervals as far as there is room."""
    values = [*_values(rows)]
    ends = [
        end
        for row in rows
        for point in row.points
        for end in (point.low, point.high)
        if end is not None
    ]
    highest = max([10.0, *(_ROOM * value for value in values)])
    lowest = min([0.0, *(_ROOM * value for value in values)]) - 0.5 * highest
    right = min(highest, max([10.0, *values, *ends]) * 1.06)
    return max(lowest, min([0.0, *values, *ends]) * 1.06 - 0.02 * right), right


def _values(rows: Sequence[Line]) -> Iterator[float]:
    for row in rows:
        yield from (point.value for point in row.points)
        yield from row.printed
