"""The report's plots: SVG pictures of one column's width, told apart by shape as well as colour.

Every plot is as wide as a phone's screen and stands beside others on a larger one, so that its
letters keep their size. Labels are drawn as they are: no mathematics is read into a "$".
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Gain",
    "Line",
    "Plot",
    "Point",
    "Strip",
    "colour",
    "forest",
    "frame_sweep",
    "gains",
    "marker",
    "standing",
]

WIDTH = 4.0
"""Inches; 384 CSS pixels."""

# Okabe and Ito's palette in an order of falling darkness, so that grey tells them apart too.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P")
_GREY = "#767676"
_ROW = 0.2
"""Inches of height per row."""


@dataclass(frozen=True)
class Point:
    """A run's value with its interval, in percent.

    Attributes:
        run: place of the run among the report's, from 0.
        value: 0..100.
        low: lower end, or None.
        high: upper end, or None.
    """

    run: int
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A row of a forest plot; a heading where it has no points.

    Attributes:
        label: what the row is.
        points: one per run.
        chance: where guessing lies, in percent, or None.
    """

    label: str
    points: Sequence[Point] = ()
    chance: float | None = None


@dataclass(frozen=True)
class Strip:
    """A row of a plot that shows where runs stand among a paper's models, in percent."""

    label: str
    points: Sequence[Point]
    models: Sequence[float]
    human: Sequence[float]
    chance: float | None


@dataclass(frozen=True)
class Gain:
    """A row of a plot of relative gains, x100; an end of an interval may be infinite.

    Attributes:
        label: what the row is.
        points: audited, each with its interval.
        printed: the paper's values, one for each of its models in their order; None for none.
    """

    label: str
    points: Sequence[Point] = ()
    printed: Sequence[float | None] = ()


@dataclass(frozen=True)
class Plot:
    """A plot.

    Attributes:
        svg: the picture.
        title: what it shows.
        description: the same in words, for those who cannot see it.
    """

    svg: bytes
    title: str
    description: str

    @property
    def uri(self) -> str:
        """The picture as a ``data:`` address: its names cannot meet those of another."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg).decode()}"


def colour(run: int) -> str:
    """The colour of a run, by its place in the report."""
    return _COLOURS[run % len(_COLOURS)]


def marker(run: int) -> str:
    """The marker of a run, by its place in the report."""
    return _MARKERS[run % len(_MARKERS)]


@contextmanager
def _figure(height: float, n_axes: int = 1) -> Iterator[tuple[Figure, Axes]]:
    from matplotlib import rc_context
    from matplotlib.figure import Figure as NewFigure

    # Any: newer type hints of matplotlib know each name of a setting, older ones do not.
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "report",
        "font.family": "sans-serif",
        "font.sans-serif": ["Arial", "Helvetica", "Liberation Sans", "DejaVu Sans"],
        "font.size": 8.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#444",
        "axes.linewidth": 0.8,
        "text.parse_math": False,
    }
    with rc_context(settings):
        figure = NewFigure(figsize=(WIDTH, height), layout="constrained")
        yield figure, figure.subplots(n_axes)


def _svg(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def _draw(axes: Axes, point: Point, y: float) -> None:
    if point.low is not None and point.high is not None:
        axes.plot([point.low, point.high], [y, y], color=colour(point.run), linewidth=1.6, zorder=3)
    axes.plot(
        [point.value],
        [y],
        marker=marker(point.run),
        color=colour(point.run),
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.7,
        zorder=4,
    )


def _offsets(points: Sequence[Point], room: float = 0.56) -> list[float]:
    """Where the points of a row lie around its middle, so that none hides another."""
    if len(points) == 1:
        return [0.0]
    step = min(0.3, room / (len(points) - 1))
    return [step * (place - (len(points) - 1) / 2) for place in range(len(points))]


def _percent_axis(axes: Axes, title: str = "accuracy, percent") -> None:
    axes.set_xlim(-2, 102)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel(title)
    axes.grid(axis="x", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", length=2.5)


def _rows(axes: Axes, labels: Sequence[str], headings: Sequence[bool]) -> None:
    axes.set_yticks(range(len(labels)), [_clipped(text) for text in labels])
    for tick, heading in zip(axes.get_yticklabels(), headings, strict=True):
        if heading:
            tick.set_fontweight("bold")
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _clipped(text: str, most: int = 30) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def forest(title: str, lines: Sequence[Line]) -> Plot:
    """Accuracies with their intervals, row by row, with guessing as a dotted tick."""
    weights = [1.0 if len(line.points) < 3 else 0.45 * len(line.points) for line in lines]
    with _figure(0.62 + _ROW * sum(weights)) as (figure, axes):
        for y, line in enumerate(lines):
            if line.chance is not None:
                axes.plot(
                    [line.chance] * 2,
                    [y - 0.45, y + 0.45],
                    color=_GREY,
                    linestyle=(0, (1.5, 1)),
                    linewidth=1.3,
                )
            for point, offset in zip(line.points, _offsets(line.points), strict=False):
                _draw(axes, point, y + offset)
        _rows(axes, [line.label for line in lines], [not line.points for line in lines])
        _percent_axis(axes)
        words = [
            f"{line.label}: " + ", ".join(f"{point.value:.1f}" for point in line.points)
            for line in lines
            if line.points
        ]
        return Plot(_svg(figure), title, f"Accuracy in percent. {'; '.join(words)}.")


def standing(title: str, strips: Sequence[Strip]) -> Plot:
    """Where the runs stand among the paper's models, people and guessing, column by column."""
    with _figure(0.62 + 1.35 * _ROW * len(strips)) as (figure, axes):
        for y, strip in enumerate(strips):
            axes.plot(strip.models, [y] * len(strip.models), "|", color="#555", markersize=8)
            axes.plot(
                strip.human,
                [y] * len(strip.human),
                "*",
                color="black",
                markerfacecolor="white",
                markersize=8,
            )
            if strip.chance is not None:
                axes.plot(
                    [strip.chance] * 2,
                    [y - 0.45, y + 0.45],
                    color=_GREY,
                    linestyle=(0, (1.5, 1)),
                    linewidth=1.3,
                )
            for point, offset in zip(strip.points, _offsets(strip.points), strict=False):
                _draw(axes, point, y + offset)
        _rows(axes, [strip.label for strip in strips], [False] * len(strips))
        _percent_axis(axes)
        words = [
            f"{strip.label}: runs {', '.join(f'{point.value:.1f}' for point in strip.points)}, "
            f"the paper's models {min(strip.models):.1f} to {max(strip.models):.1f}"
            for strip in strips
            if strip.points and strip.models
        ]
        return Plot(_svg(figure), title, f"Accuracy in percent. {'; '.join(words)}.")


def frame_sweep(
    title: str, series: Mapping[int, Sequence[tuple[int, Point]]], chance: float | None
) -> Plot:
    """Accuracy over the number of frames shown.

    Args:
        title: what it shows.
        series: run -> (frames, value) in rising order.
        chance: where guessing lies, in percent, or None.
    """
    with _figure(2.6) as (figure, axes):
        frames = sorted({m for points in series.values() for m, _ in points})
        place = {m: x for x, m in enumerate(frames)}
        for run, points in series.items():
            shift = 0.06 * (run - (len(series) - 1) / 2)
            xs = [place[m] + shift for m, _ in points]
            axes.plot(xs, [point.value for _, point in points], color=colour(run), linewidth=1)
            for x, (_, point) in zip(xs, points, strict=True):
                if point.low is not None and point.high is not None:
                    axes.plot([x, x], [point.low, point.high], color=colour(run), linewidth=1.6)
                axes.plot([x], [point.value], marker=marker(run), color=colour(run), markersize=6)
        if chance is not None:
            axes.axhline(chance, color=_GREY, linestyle=(0, (1.5, 1)), linewidth=1.3)
        axes.set_xticks(range(len(frames)), [str(m) for m in frames])
        axes.set_xlabel("frames shown")
        axes.set_ylabel("accuracy, percent")
        axes.set_ylim(-2, 102)
        axes.grid(axis="y", color="#e4e4e4", linewidth=0.7)
        words = "; ".join(
            ", ".join(f"m = {m}: {point.value:.1f}" for m, point in points)
            for points in series.values()
        )
        return Plot(_svg(figure), title, f"Accuracy in percent. {words}.")


_PRINTED = ("o", "s", "^", "D")
_ROOM = 1.6
"""How far an axis of gains goes beyond its values: longer intervals are cut, with an arrow."""


def gains(title: str, rows: Sequence[Gain], models: Sequence[str]) -> Plot:
    """Relative gains with their intervals, and hollow marks for what a paper prints.

    Args:
        title: what it shows.
        rows: from top to bottom.
        models: the paper's models, in the order of the rows' printed values.
    """
    values = [point.value for row in rows for point in row.points]
    values += [value for row in rows for value in row.printed if value is not None]
    highest = max([10.0, *(_ROOM * value for value in values)])
    lowest = min([0.0, *(_ROOM * value for value in values)]) - 0.5 * highest
    ends = [
        end
        for row in rows
        for point in row.points
        for end in (point.low, point.high)
        if end is not None
    ]
    right = min(highest, max([10.0, *values, *ends]) * 1.06)
    left = max(lowest, min([0.0, *values, *ends]) * 1.06 - 0.02 * right)
    weights = [1.0 if len(row.points) < 3 else 0.45 * len(row.points) for row in rows]
    with _figure(0.8 + _ROW * sum(weights)) as (figure, axes):
        axes.axvline(0, color="#444", linewidth=0.9)
        for y, row in enumerate(rows):
            for place, value in enumerate(row.printed):
                if value is not None:
                    axes.plot(
                        [value],
                        [y],
                        marker=_PRINTED[place % len(_PRINTED)],
                        color="#555",
                        markerfacecolor="white",
                        markersize=5.5,
                        linestyle="none",
                        label=models[place],
                    )
            for point, offset in zip(row.points, _offsets(row.points), strict=False):
                _draw_cut(axes, point, y + offset, left, right)
        _rows(axes, [row.label for row in rows], [False] * len(rows))
        axes.set_xlim(left, right)
        axes.set_xlabel("×100")  # noqa: RUF001
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.tick_params(axis="x", length=2.5)
        handles, names = axes.get_legend_handles_labels()
        named = dict(zip(names, handles, strict=True))
        if named:
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
        words = [
            f"{row.label}: "
            + ", ".join(
                f"{value:.1f}" for value in (*(p.value for p in row.points), *row.printed) if value
            )
            for row in rows
        ]
        return Plot(_svg(figure), title, f"Times 100. {'; '.join(words)}.")


def _draw_cut(axes: Axes, point: Point, y: float, left: float, right: float) -> None:
    """A point whose interval may go on beyond the axis, which an arrow says."""
    low = None if point.low is None else max(point.low, left)
    high = None if point.high is None else min(point.high, right)
    value = min(max(point.value, left), right)
    _draw(axes, Point(point.run, value, low, high), y)
    for end, cut, arrow in ((point.high, right, ">"), (point.low, left, "<")):
        if end is not None and (end > cut if arrow == ">" else end < cut):
            axes.plot(
                [cut], [y], marker=arrow, color=colour(point.run), markersize=5, clip_on=False
            )
