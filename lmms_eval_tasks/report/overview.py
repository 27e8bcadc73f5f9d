"""What a reader sees first: all runs and tasks in one plot, how runs differ, kappa, tau and rho."""

# Greek letters, minus and multiplication signs:
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from video_reasoning.metrics.intervals import difference_interval
from video_reasoning.metrics.principles import CONDITIONS, GAINS, LABELS, paper_value
from video_reasoning.tasks.report.build import Report, chance_of, headline
from video_reasoning.tasks.report.plots import Line, Plot, Point, forest, gains
from video_reasoning.tasks.report.sections import grid_columns, hundredfold, run_points
from video_reasoning.tasks.report.tables import Cell, Row, interval, label, shown
from video_reasoning.tasks.results.compare import (
    CompareError,
    Comparison,
    compare_logs,
    judged,
    p_value,
)
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.numbers import (
    Number,
    TaskNumbers,
    accuracy_of,
    guessing,
    number_of,
)
from video_reasoning.tasks.results.principles import PAPER_MODELS

_MOST_PAIRS = 10
"""Pairs of runs that are compared for each task: all of five runs."""


@dataclass(frozen=True)
class Difference:
    """Two runs of one task, compared over the items that both have."""

    task: str
    first: int
    second: int
    names: tuple[str, str]
    found: Comparison

    @property
    def points(self) -> str:
        """The difference in points, with its sign."""
        return f"{100 * (self.found.difference or 0):+.1f}".replace("-", "−")


class Overview:
    """The beginning of a report."""

    def __init__(self, report: Report) -> None:
        self.report = report

    @cached_property
    def plot(self) -> Plot | None:
        """Draw the headline of every task of every run, among the papers' models and people."""
        lines: list[Line] = []
        for benchmark in self.report.benchmarks:
            of = {
                task: runs
                for task, runs in self.report.tasks.items()
                if runs[0].log.benchmark == benchmark
            }
            lines += [line for task, runs in of.items() if (line := self._line(task, runs))]
        if not lines:
            return None
        papers = any(line.models for line in lines)
        marks = "; dotted: guessing" + ("; |: the paper's models, ☆: people" if papers else "")
        return forest(f"Every task, every run, with {self.report.intervals}{marks}", lines)

    def _line(self, task: str, runs: Sequence[TaskNumbers]) -> Line | None:
        found = [number for each in runs if (number := headline(each)) and _is_share(number)]
        if not found:
            return None
        chances = [chance_of(each, found[0].name) for each in runs]
        models, human = self._printed(found)
        what = "" if found[0].name == "accuracy" else f", {found[0].name}"
        shown_frames = f", {label(found[0].condition).lower()}" if found[0].condition else ""
        return Line(
            f"{task}{what}{shown_frames}",
            run_points(self.report, found),
            hundredfold(chances[0]),
            models,
            human,
            link=f"task-{task}",
        )

    def _printed(self, found: Sequence[Number]) -> tuple[list[float], list[float]]:
        """Return what the papers print beside numbers: of models, and of people."""
        for grid in self.report.grids:
            for _, pairs in grid_columns(grid):
                if any(cell.number is number for _, cell in pairs for number in found):
                    values = [(kind, cell.value) for kind, cell in pairs if cell.value is not None]
                    return (
                        [value for kind, value in values if kind == "model"],
                        [value for kind, value in values if kind == "human"],
                    )
        return [], []

    @cached_property
    def differences(self) -> list[Difference]:
        """Compare every two runs of each task item by item, by the task's headline."""
        found, compared = [], []
        for task, runs in self.report.tasks.items():
            for first, second in list(combinations(runs, 2))[:_MOST_PAIRS]:
                one = _compared(first, second)
                if one is not None:
                    names = self.report.name(first), self.report.name(second)
                    compared.append(replace(one, name_a=names[0], name_b=names[1]))
                    found.append((task, self.report.place(first), self.report.place(second), names))
        return [Difference(*of, each) for of, each in zip(found, judged(compared), strict=True)]

    @cached_property
    def difference_plot(self) -> Plot | None:
        """Draw the differences in points, with their intervals."""
        lines = [
            Line(
                f"{each.task}: {each.names[1]} − {each.names[0]}"
                if len(self.report.names) > 2
                else each.task,
                [
                    Point(
                        each.second,
                        100 * each.found.difference,
                        hundredfold(each.found.low),
                        hundredfold(each.found.high),
                    )
                ],
                link=f"task-{each.task}",
            )
            for each in self.differences
            if each.found.difference is not None
        ]
        if not lines:
            return None
        names = self.differences[0].names
        pair = f": {names[1]} − {names[0]}" if len(self.report.names) == 2 else ""
        return gains(
            f"Differences in points, item by item, with {self.report.intervals}{pair}",
            lines,
            (),
            "points",
        )

    @cached_property
    def difference_rows(self) -> list[Row]:
        """Make a row of each comparison."""
        return [
            Row(
                each.task,
                "",
                [
                    Cell(f"{each.names[1]} − {each.names[0]}"),
                    Cell(each.points, _ends(each.found)),
                    Cell(f"{each.found.n:,}"),
                    Cell(_counted(each.found.only_a_right)),
                    Cell(_counted(each.found.only_b_right)),
                    Cell("–" if (least := each.found.detectable) is None else f"{100 * least:.1f}"),
                    Cell(_decided(each.found), hint=each.found.verdict),
                ],
                link=f"task-{each.task}",
            )
            for each in self.differences
            if each.found.difference is not None
        ]

    # kappa, tau and rho

    @cached_property
    def _principles(self) -> list[TaskNumbers]:
        return [each for each in self.report.found if each.find("kappa_random") is not None]

    @cached_property
    def principle_plots(self) -> list[Plot]:
        """Draw kappa, tau and rho of each run, as ratios and as points of accuracy."""
        plots = [
            self._gains(
                f"κ, τ and ρ ×100, with {self.report.intervals}",
                [(each, name, each.find(name)) for name in GAINS for each in self._principles],
                "×100",
            ),
            self._gains(
                "The same as points of accuracy",
                [
                    (each, name, points_gain(each, name))
                    for name in GAINS
                    for each in self._principles
                ],
                "points",
            ),
        ]
        return [plot for plot in plots if plot is not None]

    def _gains(
        self, title: str, found: Sequence[tuple[TaskNumbers, str, Any]], unit: str
    ) -> Plot | None:
        rows = []
        papers = unit == "×100" and not all(each.log.sample for each in self._principles)
        for name in GAINS:
            mine = [
                Point(
                    self.report.place(each),
                    100 * number.value,
                    hundredfold(number.low),
                    float("inf") if number.unbounded else hundredfold(number.high),
                )
                for each, called, number in found
                if called == name and number is not None and number.value is not None
            ]
            printed = [paper_value(model, name) for model in PAPER_MODELS] if papers else []
            if mine:
                rows.append(Line(_called(name), mine, models=printed))
        models = PAPER_MODELS if rows and any(row.models for row in rows) else ()
        return gains(title, rows, models, unit) if rows else None

    @cached_property
    def principle_rows(self) -> list[Row]:
        """Make a row of each ratio of each run, with what is above and below its line."""
        rows = []
        for name, roles in GAINS.items():
            for each in self._principles:
                number = each.find(name)
                if number is None or not number.n:
                    continue
                gain = points_gain(each, name)
                terms = _terms(each, name)
                above, below = (
                    _above_guessing([both[place] for both in terms]) for place in (0, 1)
                )
                rows.append(
                    Row(
                        LABELS[name],
                        "",
                        [
                            Cell(shown(number, number.value), interval(number)),
                            Cell(
                                _signed(gain.value if gain else None),
                                interval(gain) if gain else "",
                            ),
                            Cell(above, label(CONDITIONS[roles[0]])),
                            Cell(below, label(CONDITIONS[roles[1]])),
                            Cell(f"{number.n:,}"),
                        ],
                        self.report.name(each),
                        self.report.place(each),
                    )
                )
        return rows

    def as_json(self) -> dict[str, Any]:
        """Plain values: every comparison without its flipped items, and gains in points."""
        return {
            "differences": [
                {"a": each.names[0], "b": each.names[1], **_plain(each.found)}
                for each in self.differences
            ],
            "gains_in_points": [
                {"run": self.report.name(each), **asdict(gain)}
                for each in self._principles
                for name in GAINS
                if (gain := points_gain(each, name)) is not None
            ],
        }


def _plain(found: Comparison) -> dict[str, Any]:
    return {name: value for name, value in asdict(found).items() if name != "flips"}


def _is_share(number: Number) -> bool:
    return number.unit == "share" and number.value is not None


def _called(name: str) -> str:
    above, below = (label(CONDITIONS[role]) for role in GAINS[name])
    return f"{LABELS[name]}: {above} against {below}"


def _compared(first: TaskNumbers, second: TaskNumbers) -> Comparison | None:
    """Compare two runs by the first one's headline; None if they cannot be compared."""
    number = headline(first)
    if number is None:
        return None
    try:
        every = compare_logs(first.log, second.log, shared_only=True, level=first.level)
    except CompareError:
        return None
    same = [
        each for each in every if (each.measure, each.condition) == (number.name, number.condition)
    ]
    return same[0] if same and same[0].measure in ("accuracy", "paired accuracy") else None


def _ends(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return ""
    return f"{100 * found.low:+.1f} to {100 * found.high:+.1f}".replace("-", "−")


def _counted(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _decided(found: Comparison) -> str:
    said = {True: "differ", False: "no difference shown", None: "nothing to compare"}
    p = "" if found.p_corrected is None else f" (p {p_value(found.p_corrected)})"
    return said[found.different] + p


def _shared(log: TaskLog, name: str) -> list[tuple[Item, Item]]:
    """Pair the items above and below a ratio's line, over the questions that it rests on."""
    of: dict[str, dict[str, Item]] = {}
    for item in log.items:
        if item.score is not None:
            of.setdefault(item.condition, {})[item.id] = item
    roles = [CONDITIONS[role] for role in GAINS[name]]
    if not all(role in of for role in roles):
        return []
    run = [CONDITIONS[role] for role in ("ordered", "shuffled", "random")]
    needed = dict.fromkeys([*(each for each in run if each in of), *roles])
    ids = [key for key in of[roles[0]] if all(key in of[each] for each in needed)]
    return [(of[roles[0]][key], of[roles[1]][key]) for key in ids]


def _terms(each: TaskNumbers, name: str) -> list[tuple[Item, Item]]:
    """Return the pairs of items behind a ratio; none if the ratio was refused."""
    number = each.find(name)
    if number is None or not number.n:
        return []
    pairs = _shared(each.log, name)
    if number.value is None and any(below.score for _, below in pairs):
        return []  # the frames did not arrive
    return pairs


def points_gain(each: TaskNumbers, name: str) -> Number | None:
    """Return a ratio's accuracies as a difference, over the same questions.

    What guessing gives is in both accuracies, and so in neither the difference nor its interval.
    """
    pairs = _terms(each, name)
    if not pairs:
        return None
    above, below = (
        [above.score or 0.0 for above, _ in pairs],
        [low.score or 0.0 for _, low in pairs],
    )
    found = difference_interval(below, above, [item.video for item, _ in pairs], level=each.level)
    return number_of(each.log, f"{name}, points", found)


def _above_guessing(items: Sequence[Item]) -> str:
    """Write by how many points the accuracy over some items is above what guessing gives."""
    chance = guessing(items)
    return _signed(None if chance is None else accuracy_of(items).value - chance)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.1f}".replace("-", "−")
