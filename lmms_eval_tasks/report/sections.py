"""What the sections about runs show, as rows of tables and plots; the templates print them."""

# Greek letters, minus and multiplication signs:
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks.report.build import Report, chance_of, headline, verdict
from video_reasoning.tasks.report.gallery import Example
from video_reasoning.tasks.report.plots import Line, Plot, Point, forest, frame_sweep
from video_reasoning.tasks.report.tables import (
    LABELS,
    Cell,
    Grid,
    Row,
    interval,
    label,
    percent,
    shown,
)
from video_reasoning.tasks.results.numbers import BREAKDOWNS, Number, TaskNumbers


def cells(*texts: str) -> list[Cell]:
    """Make cells of plain text."""
    return [Cell(text) for text in texts]


def count(number: int | None) -> str:
    """Write a count, or a dash for None."""
    return "–" if number is None else f"{number:,}"


# Summary


def summary(report: Report) -> list[Row]:
    """Make a row with the headline number of each task of each run."""
    return [
        _run_row(report, each, _summary_cells(each), each.log.task, f"task-{each.log.task}")
        for each in report.found
    ]


def _run_row(
    report: Report, each: TaskNumbers, row: Sequence[Cell], label: str = "", link: str = ""
) -> Row:
    return Row(label, "", row, report.name(each), report.place(each), link)


def _summary_cells(each: TaskNumbers) -> list[Cell]:
    number = headline(each)
    name, value, chance = "", Cell("–"), None
    if number is not None:
        name = _called(number)
        name += f", {label(number.condition).lower()}" if number.condition else ""
        value = Cell(shown(number, number.value), interval(number))
        chance = chance_of(each, number.name)
    kept = [each.counts.get(key) for key in ("items", "unparsed", "missing", "skipped rows")]
    scored = count(number.n if number else 0)
    texts = cells(percent(chance), verdict(each, number), scored, *map(count, kept))
    return [Cell(name), value, *texts]


def _called(number: Number) -> str:
    return label(number.name) if number.name in LABELS else number.name


def problems(report: Report) -> list[tuple[str, tuple[str, ...], list[str]]]:
    """Gather sentences that readers must know, with the runs and the tasks that they are about."""
    runs: dict[tuple[str, str], list[str]] = {}
    for task, name, sentence in report.problems:
        runs.setdefault((task, sentence), []).append(name)
    tasks: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (task, sentence), names in runs.items():
        tasks.setdefault((sentence, tuple(names)), []).append(task)
    return [(*key, of) for key, of in tasks.items()]


# The papers' tables


def standing(report: Report, grid: Grid) -> Plot | None:
    """Draw the runs among the paper's models; only for tables of accuracies."""
    if "accuracy" not in grid.title.lower():
        return None
    lines = [line for name, pairs in grid_columns(grid) if (line := _standing(report, name, pairs))]
    if not lines:
        return None
    return forest("Runs among the paper's models (|), people (☆) and guessing (dotted)", lines)


def grid_columns(grid: Grid) -> Iterator[tuple[str, list[tuple[str, Cell]]]]:
    """Return what a paper's table measures, each with the kinds and cells of runs and models."""
    if grid.upright:
        for place, name in enumerate(grid.head):
            yield name, [(row.kind, row.cells[place]) for row in grid.rows]
    else:
        for row in grid.rows:
            if row.kind != "stratum":
                yield row.label, list(zip(grid.kinds, row.cells, strict=True))


def _standing(report: Report, name: str, pairs: Sequence[tuple[str, Cell]]) -> Line | None:
    values: dict[str, list[float]] = {}
    for kind, cell in pairs:
        if cell.value is not None:
            values.setdefault(kind, []).append(cell.value)
    points = run_points(
        report, [cell.number for kind, cell in pairs if kind == "run" and cell.number]
    )
    if not points:
        return None
    guess = values.get("guess", [None])[0]
    return Line(name, points, guess, values.get("model", ()), values.get("human", ()))


def run_points(report: Report, found: Sequence[Number]) -> list[Point]:
    """Make the points of numbers, each with the place of its run."""
    places = {key: place for place, key in enumerate(report.names)}
    return [
        Point(
            places.get((str(Path(number.file.split("; ")[0]).parent), number.run), 0),
            100 * number.value,
            hundredfold(number.low),
            hundredfold(number.high),
        )
        for number in found
        if number.value is not None
    ]


def hundredfold(value: float | None) -> float | None:
    """Turn a share into percent."""
    return None if value is None else 100 * value


# A task

_ALWAYS = frozenset({"items", "scored", "answered", "unparsed", "missing", "skipped rows"})
"""Counts that are shown even if they are all zero."""


def used_counts(runs: Sequence[TaskNumbers], titles: Mapping[str, str]) -> dict[str, str]:
    """Select the counts that say something of a task, with their titles."""
    return {
        name: title
        for name, title in titles.items()
        if any(each.counts.get(name) or (name in _ALWAYS and name in each.counts) for each in runs)
    }


def counts(report: Report, runs: Sequence[TaskNumbers], names: Iterable[str]) -> list[Row]:
    """Make a row of a task's items by what became of them for each run."""
    return [
        _run_row(report, each, cells(*(count(each.counts.get(name)) for name in names)))
        for each in runs
    ]


def plots(report: Report, runs: Sequence[TaskNumbers]) -> list[Plot]:
    """Draw a task: each measure over all items and over each breakdown, and over frames."""
    if runs[0].log.generated:
        return []
    measured = [number for each in runs for number in each.numbers if number.name == "accuracy"]
    conditions = list(dict.fromkeys(number.condition for number in measured))
    swept = runs[0].log.task.endswith("_frames")
    found = []
    if len(conditions) > 1 and not swept:
        found.append(_by_condition(report, runs, conditions))
    found.append(_breakdowns(report, runs, "paired accuracy", ""))
    for condition in _broken_down(conditions):
        found.append(_breakdowns(report, runs, "accuracy", condition))
    if swept:
        found.append(_sweep(report, runs))
    return [plot for plot in found if plot]


def _broken_down(conditions: Sequence[str]) -> Sequence[str]:
    """Return the conditions whose breakdowns are plotted: of several, one in order."""
    if len(conditions) <= 1:
        return conditions
    in_order = [name for name in conditions if (found := _parsed(name)) and found.kind == "ordered"]
    return ["ordered16"] if "ordered16" in in_order else in_order[:1]


def _parsed(condition: str) -> Condition | None:
    """Read a condition of a log, which may contain any text."""
    try:
        return Condition.parse(condition)
    except ValueError:
        return None


def _breakdowns(
    report: Report, runs: Sequence[TaskNumbers], name: str, condition: str
) -> Plot | None:
    found: dict[tuple[str, str], list[Number]] = {}
    for each in runs:
        for number in each.numbers:
            if number.name == name and number.condition == condition and len(number.group) <= 1:
                key = next(iter(number.group.items()), ("", ""))
                found.setdefault(key, []).append(number)
    chances = [chance_of(each, name) for each in runs if each.find(name, None, condition)]
    lines = []
    for breakdown in ("", "task", *BREAKDOWNS):
        chance = chances[-1] if chances and not breakdown else None
        lines += _breakdown(report, found, breakdown, chance)
    if len(lines) <= 1:
        return None
    what = name.capitalize()
    if name == "accuracy" and any(each.paired for each in runs):
        what = "Unpaired accuracy"
    where = f", {label(condition).lower()}" if condition else ""
    return forest(f"{what}{where}, with {report.intervals}; dotted: guessing", lines)


def _breakdown(
    report: Report,
    found: Mapping[tuple[str, str], Sequence[Number]],
    breakdown: str,
    chance: float | None,
) -> list[Line]:
    """Return the lines of one breakdown; those of yes and no have no heading above them."""
    values = [value for key, value in found if key == breakdown]
    if breakdown == "task" and len(values) == 1:
        return []  # the task itself
    lines = []
    plain = breakdown in ("counterfactual", "composite", "zoom", "first_person")
    if breakdown and values and not plain:
        lines.append(Line(label("type" if breakdown == "task" else breakdown)))
    for value in values:
        text = f"{label(breakdown)}: {value}" if plain else label(value) if value else "All"
        lines += _line(report, text, found[breakdown, value], chance, light=bool(breakdown))
    return lines


def _line(
    report: Report, text: str, found: Sequence[Number], chance: float | None, *, light: bool = False
) -> Sequence[Line]:
    """Return a line of a plot; none if nothing was measured."""
    points = run_points(report, found)
    n = max(number.n for number in found)
    named = f"{text} (n={n:,})"
    return [Line(named, points, hundredfold(chance), light=light)] if points else []


def _by_condition(
    report: Report, runs: Sequence[TaskNumbers], conditions: Sequence[str]
) -> Plot | None:
    lines: list[Line] = []
    for condition in conditions:
        both = [
            each.find("shared accuracy", None, condition) or each.find("accuracy", None, condition)
            for each in runs
        ]
        found = [number for number in both if number]
        if found:
            lines += _line(report, label(condition), found, runs[0].chance)
    return forest(f"Accuracy by frames shown, with {report.intervals}; dotted: guessing", lines)


def _sweep(report: Report, runs: Sequence[TaskNumbers]) -> Plot | None:
    series: dict[int, list[tuple[int, Point]]] = {}
    for each in runs:
        for name in each.log.conditions():
            number, condition = each.find("accuracy", None, name), _parsed(name)
            if number and condition and condition.m:
                points = [(condition.m, point) for point in run_points(report, [number])]
                series.setdefault(report.place(each), []).extend(points)
    if not series:
        return None
    return frame_sweep(
        f"Accuracy over the number of frames, with {report.intervals}; dotted: guessing",
        {run: sorted(points, key=lambda entry: entry[0]) for run, points in series.items()},
        hundredfold(runs[0].chance),
    )


def paired(runs: Sequence[TaskNumbers]) -> list[Row]:
    """Make the rows of paired against unpaired scores, a column for each run."""
    names = dict.fromkeys(name for each in runs for name in each.paired)
    rows = [
        Row(name, "", cells(*(percent(each.paired.get(name)) for each in runs))) for name in names
    ]
    guessed = [each.chance_paired for each in runs]
    if rows and any(value is not None for value in guessed):
        rows.append(Row("guessing both right", "guess", cells(*map(percent, guessed))))
    return rows


def answer_rules(runs: Sequence[TaskNumbers]) -> list[Row]:
    """Make a row for each rule that read answers, a column for each run."""
    rows = []
    for name in dict.fromkeys(rule for each in runs for rule in each.rules):
        found = [(each.rules.get(name, 0), sum(each.rules.values())) for each in runs]
        shares = [(number, number / total if total else 0.0) for number, total in found]
        row = [Cell(f"{number:,} ({part:.0%})", value=100 * part) for number, part in shares]
        rows.append(Row(name, "", row))
    return rows


def numbers(each: TaskNumbers) -> list[Row]:
    """Make a row for each number of a task of a run, with what it is based on."""
    rows = []
    for number in each.numbers:
        group = ", ".join(f"{label(key)}: {value}" for key, value in number.group.items())
        texts = cells(
            group or "all",
            number.condition or "–",
            each.seen(number) or "–",
            shown(number, number.value),
            interval(number) or "–",
            f"{number.n:,}",
            f"{number.n_clusters:,}",
            number.method,
        )
        rows.append(Row(_called(number), "", texts))
    return rows


def common_caption(chosen: Sequence[Example]) -> str:
    """Return the caption that most examples share, to be printed once; empty for none."""
    captions = [example.caption for example in chosen]
    common = max(captions, key=captions.count, default="")
    return common if captions.count(common) > 1 else ""
