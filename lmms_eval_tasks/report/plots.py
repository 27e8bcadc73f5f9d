"""The report's plots: SVG pictures one column wide; runs differ in shape as well as in color.

Every plot is as wide as a phone's screen and sits beside others on a larger one, so its text keeps
its size. Labels are drawn literally: a "$" does not start mathematics.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 4.0  # inches; 384 CSS pixels

# Okabe and Ito's palette from dark to light, so that the colors also differ in gray.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_GUESS: Mapping[str, Any] = {"color": "#767676", "linestyle": (0, (1.5, 1)), "linewidth": 1.3}
_PEOPLE: Mapping[str, Any] = {"color": "black", "markerfacecolor": "white", "markersize": 8}
_HOLLOW: Mapping[str, Any] = {"color": "#555", "markerfacecolor": "white", "markersize": 5.5}
_GRID: Mapping[str, Any] = {"color": "#e4e4e4", "linewidth": 0.7}
_STYLE = Path(__file__).with_name("templates") / "plots.mplstyle"
_ROW = 0.2  # inches of height per row


@dataclass(frozen=True)
class Point:
    """A run's value with its interval, in percent (gains times 100).

    The run is given by its place in the report, from 0.
    """

    run: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A row of a plot, in percent or times 100; a heading if it has no values.

    Attributes:
        points: One per run.
        chance: Accuracy of guessing, or None.
        models: Values of a paper's models; None for one that the paper does not print.
        human: Accuracies of people, as in the paper.
    """

    label: str
    points: Sequence[Point] = ()
    chance: float | None = None
    models: Sequence[float | None] = ()
    human: Sequence[float] = ()

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
    """A plot: a picture, what it shows, and the same in words as the alternative text."""

    svg: bytes
    title: str
    description: str

    @property
    def uri(self) -> str:
        """The picture as a ``data:`` address, so that ids of two pictures cannot clash."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg).decode()}"


def color(run: int) -> str:
    """Return the color of a run, by its place in the report."""
    return _COLORS[run % len(_COLORS)]


def marker(run: int) -> str:
    """Return the marker of a run, by its place in the report."""
    return _MARKERS[run % len(_MARKERS)]


@contextmanager
def _figure(height: float) -> Iterator[tuple[Figure, Axes]]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as NewFigure

    with rc_context(fname=_STYLE):
        figure = NewFigure(figsize=(WIDTH, height), layout="constrained")
        yield figure, figure.subplots()


def _plot(figure: Figure, title: str, description: str) -> Plot:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return Plot(buffer.getvalue(), title, description)


def _draw(axes: Axes, point: Point, y: float) -> None:
    paint = color(point.run)
    if point.low is not None and point.high is not None:
        axes.plot([point.low, point.high], [y, y], color=paint, linewidth=1.6, zorder=3)
    axes.plot(
        [point.value],
        [y],
        marker=marker(point.run),
        color=paint,
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.7,
        zorder=4,
    )


def _spread(points: Sequence[Point], y: float) -> Iterator[tuple[Point, float]]:
    """Places the points of a row around its middle, so that none hides another."""
    last = len(points) - 1
    step = min(0.3, 0.56 / max(1, last))
    for place, point in enumerate(points):
        yield point, y + step * (place - last / 2)


def _height(rows: Sequence[Line]) -> float:
    """Height of some rows in inches."""
    least = [1.35 if row.points and row.models else 1.0 for row in rows]
    return _ROW * sum(
        max(one, 0.45 * len(row.points)) for one, row in zip(least, rows, strict=True)
    )


def _rows(axes: Axes, rows: Sequence[Line], title: str) -> None:
    """Labels the rows and the axis below them."""
    labels = [text if len(text) <= 30 else f"{text[:29]}…" for text in (r.label for r in rows)]
    axes.set_yticks(range(len(rows)), labels)
    for tick, row in zip(axes.get_yticklabels(), rows, strict=True):
        if not row.points and not row.models:
            tick.set_fontweight("bold")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(title)
    axes.grid(axis="x", **_GRID)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", length=2.5)


def forest(title: str, lines: Sequence[Line]) -> Plot:
    """Draw accuracies with their intervals, row by row.

    Guessing is a dotted tick, a paper's models are bars, people are stars.
    """
    with _figure(0.62 + _height(lines)) as (figure, axes):
        for y, line in enumerate(lines):
            axes.plot(line.printed, [y] * len(line.printed), "|", color="#555", markersize=8)
            axes.plot(line.human, [y] * len(line.human), "*", **_PEOPLE)
            if line.chance is not None:
                axes.plot([line.chance] * 2, [y - 0.45, y + 0.45], **_GUESS)
            for point, height in _spread(line.points, y):
                _draw(axes, point, height)
        axes.set_xlim(-2, 102)
        axes.set_xticks(range(0, 101, 20))
        _rows(axes, lines, "accuracy, percent")
        words = "; ".join(line.words for line in lines if line.points)
        return _plot(figure, title, f"Accuracy in percent. {words}.")


def frame_sweep(
    title: str, series: Mapping[int, Sequence[tuple[int, Point]]], chance: float | None
) -> Plot:
    """Draw accuracy over frames shown: run -> (frames, value) in rising order; all in percent."""
    with _figure(2.6) as (figure, axes):
        frames = sorted({m for points in series.values() for m, _ in points})
        place = {m: x for x, m in enumerate(frames)}
        for run, points in series.items():
            paint = color(run)
            shift = 0.06 * (run - (len(series) - 1) / 2)
            xs = [place[m] + shift for m, _ in points]
            axes.plot(xs, [point.value for _, point in points], color=paint, linewidth=1)
            for x, (_, point) in zip(xs, points, strict=True):
                if point.low is not None and point.high is not None:
                    axes.plot([x, x], [point.low, point.high], color=paint, linewidth=1.6)
                axes.plot([x], [point.value], marker=marker(run), color=paint, markersize=6)
        if chance is not None:
            axes.axhline(chance, **_GUESS)
        axes.set_xticks(range(len(frames)), [str(m) for m in frames])
        axes.set_xlabel("frames shown")
        axes.set_ylabel("accuracy, percent")
        axes.set_ylim(-2, 102)
        axes.grid(axis="y", **_GRID)
        words = "; ".join(
            ", ".join(f"m = {m}: {point.value:.1f}" for m, point in points)
            for points in series.values()
        )
        return _plot(figure, title, f"Accuracy in percent. {words}.")


_PRINTED = ("o", "s", "^", "D")
_ROOM = 1.6
"""How far an axis of gains extends beyond its values; longer intervals are cut, with an arrow."""


def gains(title: str, rows: Sequence[Line], models: Sequence[str]) -> Plot:
    """Draw relative gains with their intervals, and hollow marks for values of a paper's models."""
    left, right = _limits(rows)
    with _figure(0.8 + _height(rows)) as (figure, axes):
        axes.axvline(0, color="#444", linewidth=0.9)
        for y, row in enumerate(rows):
            for model, shape, value in zip(models, _PRINTED, row.models, strict=False):
                if value is not None:
                    axes.plot([value], [y], shape, label=model, **_HOLLOW)
            for point, height in _spread(row.points, y):
                _draw_cut(axes, point, height, left, right)
        axes.set_xlim(left, right)
        _rows(axes, rows, "×100")  # noqa: RUF001
        handles, names = axes.get_legend_handles_labels()
        if named := dict(zip(names, handles, strict=True)):
            axes.legend(
                named.values(),
                [f"paper: {name}" for name in named],
                loc="lower center",
                bbox_to_anchor=(0.4, 1.0),
                ncols=len(named),
                frameon=False,
                fontsize=8,
                handletextpad=0.2,
                columnspacing=1.0,
            )
        return _plot(figure, title, f"Times 100. {'; '.join(row.words for row in rows)}.")


def _limits(rows: Sequence[Line]) -> tuple[float, float]:
    """Return the ends of the axis: all values, and the intervals as far as there is room."""
    points = [point for row in rows for point in row.points]
    values = [point.value for point in points] + [value for row in rows for value in row.printed]
    ends = [end for point in points for end in (point.low, point.high) if end is not None]
    highest = max([10.0, *(_ROOM * value for value in values)])
    lowest = min([0.0, *(_ROOM * value for value in values)]) - 0.5 * highest
    right = min(highest, max([10.0, *values, *ends]) * 1.06)
    return max(lowest, min([0.0, *values, *ends]) * 1.06 - 0.02 * right), right


def _draw_cut(axes: Axes, point: Point, y: float, left: float, right: float) -> None:
    """Draws a point; an arrow shows that its interval goes on beyond the axis."""
    low = None if point.low is None else max(point.low, left)
    high = None if point.high is None else min(point.high, right)
    _draw(axes, Point(point.run, min(max(point.value, left), right), low, high), y)
    arrows = [(left, "<")] if low is not None and point.low != low else []
    arrows += [(right, ">")] if high is not None and point.high != high else []
    for end, arrow in arrows:
        axes.plot([end], [y], arrow, color=color(point.run), markersize=5, clip_on=False)
