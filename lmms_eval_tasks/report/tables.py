"""The papers' tables with the runs beside the papers' models."""

# Greek letters and signs as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from video_reasoning.metrics import principles
from video_reasoning.metrics.accuracy import difference, finite, relative_change
from video_reasoning.metrics.lengths import describe_lengths
from video_reasoning.metrics.principles import format_ratio
from video_reasoning.metrics.published import Table, published
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.logs import Run
from video_reasoning.tasks.results.numbers import (
    Number,
    TaskNumbers,
    accuracy_of,
    guessing,
    number_of,
)
from video_reasoning.tasks.results.signature import signature
from video_reasoning.tasks.states import LEFT_OUT

RunKey = tuple[str, str]
Key = TypeVar("Key")

_FILE = Path(__file__).with_name("templates") / "labels.json"
LABELS: Mapping[str, str] = json.loads(_FILE.read_text(encoding="utf-8")) | principles.LABELS

_CHANCE_ROWS = ("random", "frequent")


def label(name: str) -> str:
    """Return the page's name of what a log calls `name`."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


@dataclass(frozen=True)
class Cell:
    """One cell as shown: a run's number with its interval, or one printed in a paper.

    The value is in the table's unit; the hint is shown on hovering.
    """

    text: str
    detail: str = ""
    number: Number | None = None
    value: float | None = None
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """A row: ``kind`` is "run", "guess", "human", "chance", "model", "stratum" or "total".

    A row about a run has the run's name and `place`, and may `link` to a part of the page.
    """

    label: str
    kind: str
    cells: Sequence[Cell]
    run: str = ""
    place: int = 0
    link: str = ""


@dataclass
class Grid:
    """A table.

    Attributes:
        key: Name for links, e.g. "tvbench-accuracy".
        source: Paper and table.
        note: Unit and what else a reader has to know.
        kinds: Per column, for the transposed tables, as a row's kind; else empty.
        warnings: Why the run and the paper may not be comparable.
        upright: Whether models are rows.
        signatures: What identifies the runs' numbers.
    """

    key: str
    benchmark: str
    title: str
    source: str
    note: str
    head: Sequence[str]
    rows: Sequence[Row]
    kinds: Sequence[str] = ()
    warnings: list[str] = field(default_factory=list)
    upright: bool = True
    signatures: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain values for the JSON format."""
        plain = ("key", "benchmark", "title", "source", "note", "warnings", "signatures")
        return {
            **{name: getattr(self, name) for name in plain},
            "columns": list(self.head),
            "rows": [
                {
                    "label": row.label,
                    "kind": row.kind,
                    "cells": [
                        {
                            "text": cell.text,
                            "value": cell.value,
                            "number": asdict(cell.number) if cell.number else None,
                        }
                        for cell in row.cells
                    ],
                }
                for row in self.rows
            ],
        }


EMPTY = Cell("–")


def run_key(run: Run) -> RunKey:
    """Return what distinguishes a run from others."""
    return str(run.folder), run.date


def run_names(logs: Iterable[TaskLog]) -> dict[RunKey, str]:
    """Return a short name for each run, with arguments, date or folder only to tell some apart."""
    runs = {run_key(log.run): log.run for log in logs}
    return distinct(
        {key: (run.label, run.model_args, run.begun, str(run.folder)) for key, run in runs.items()}
    )


def distinct(parts: Mapping[Key, Sequence[str]]) -> dict[Key, str]:
    """Name each thing by its first part, and by further ones as long as names are equal."""
    names = {key: first for key, (first, *_) in parts.items()}
    for extras in zip(*(more for _, *more in parts.values()), strict=True):
        taken = list(names.values())
        names = {
            key: f"{name} ({extra})" if extra and taken.count(name) > 1 else name
            for (key, name), extra in zip(names.items(), extras, strict=True)
        }
    return names


def percent(value: float | None, digits: int = 1) -> str:
    """Write a share as percent, or a dash."""
    return "–" if value is None else format_ratio(value, digits)


def interval(number: Number) -> str:
    """Write an interval in the unit of :func:`shown`; empty if there is none."""
    if number.low is None:
        return ""
    high = "∞" if number.unbounded else shown(number, number.high)
    return f"{shown(number, number.low)} to {high}"


def shown(number: Number, value: float | None) -> str:
    """Write a value of a number as the papers do: x100, or LLM-Match and CLIP score as is."""
    if value is None:
        return "undefined" if number.unit == "ratio" and number.n else "–"
    if number.unit in ("share", "ratio"):
        return percent(value)
    return f"{value:.2f}"


def run_cell(number: Number | None) -> Cell:
    """Return the cell of a run's number."""
    if number is None or (number.value is None and not number.n):
        return EMPTY
    scale = 100 if number.unit in ("share", "ratio") else 1
    value = None if number.value is None else scale * number.value
    return Cell(shown(number, number.value), interval(number), number, value)


def _paper_cell(value: float | None, digits: int = 1) -> Cell:
    return EMPTY if value is None else Cell(f"{value:.{digits}f}", value=value)


def _guess_cell(chance: float | None) -> Cell:
    return EMPTY if chance is None else Cell(percent(chance), value=100 * chance)


def paper_tables(found: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> list[Grid]:
    """Return the tables of the papers that the tasks at hand have numbers for."""
    grids: list[Grid | None] = []
    for split in ("validation", "test"):
        part = _of(found, "blackswan", split)
        grids += [_blackswan(part, names, split), *_blackswan_studies(part, names, split)]
        grids.append(_blackswan_gen(part, names, split))
    part = _of(found, "tvbench")
    wholes = _wholes(part, names)
    grids += [_tvbench(part, names), *_breakdowns(wholes), _lengths(wholes)]
    grids.append(_principles(part, names))
    for split in ("debug", "test"):
        part = _of(found, "causalvqa", split)
        grids += [_causalvqa(part, names, split, table) for table in ("paired", "unpaired")]
    made = [grid for grid in grids if grid is not None]
    logs = {str(each.log.log): each.log for each in found}
    for grid in made:
        files = dict.fromkeys(
            file
            for row in grid.rows
            for cell in row.cells
            if cell.number is not None
            for file in cell.number.file.split("; ")
        )
        grid.signatures = list(dict.fromkeys(signature(logs[file]) for file in files))
    return made


def _of(found: Sequence[TaskNumbers], benchmark: str, split: str = "") -> list[TaskNumbers]:
    return [
        each for each in found if each.log.benchmark == benchmark and split in ("", each.log.split)
    ]


def _name(each: TaskNumbers, names: Mapping[RunKey, str], variant: str = "") -> str:
    variant = variant.strip("_").replace("_", " ")
    return names[run_key(each.log.run)] + (f", {variant}" if variant else "")


def _pooled(tasks: Sequence[TaskNumbers], name: str) -> Number:
    """Return the accuracy over the items of several tasks of one run."""
    found = accuracy_of([item for each in tasks for item in each.log.items], tasks[0].level)
    file = "; ".join(str(each.log.log) for each in tasks)
    return number_of(tasks[0].log, "accuracy", found, task=name, file=file)


def _upright(
    runs: Mapping[str, Mapping[str, Number | None]],
    guess: Mapping[str, float | None],
    table: Table,
    columns: Sequence[str],
    extra: Mapping[str, Sequence[float | None]] | None = None,
) -> list[Row]:
    """Rows: the runs, guessing, then the paper's humans, chance rows and models."""
    rows = [
        Row(name, "run", [run_cell(numbers.get(column)) for column in columns])
        for name, numbers in runs.items()
    ]
    guessed = [_guess_cell(guess.get(column)) for column in columns]
    if guessed != [EMPTY] * len(columns):
        rows.append(Row("Guessing, these questions", "guess", guessed))
    printed = {model: [table.value(model, column) for column in columns] for model in table.rows}
    printed.update({name: list(values) for name, values in (extra or {}).items()})
    papers = [
        Row(model, _kind(model), [_paper_cell(value) for value in values])
        for model, values in printed.items()
    ]
    order = {"human": 0, "chance": 1, "model": 2}
    return rows + sorted(papers, key=lambda row: order[row.kind])


def _kind(model: str) -> str:
    name = model.lower()
    if "human" in name:
        return "human"
    return "chance" if name.startswith(_CHANCE_ROWS) else "model"


def _different(
    numbers: Iterable[Number | None], counts: Mapping[str, int | None], columns: Sequence[str]
) -> list[str]:
    """Say where a run's questions cannot be the paper's."""
    differing = [
        f"{label(column)} has {number.n:,} here and {count:,} in the paper"
        for column, number in zip(columns, numbers, strict=True)
        if number is not None and (count := counts.get(column)) and number.n != count
    ]
    if not differing:
        return []
    listed = "; ".join(dict.fromkeys(differing))
    return [f"The paper's numbers are over another set of questions: {listed}."]


# TVBench


def _tvbench(tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> Grid | None:
    table = published("tvbench").tables["accuracy"]
    kinds = tuple(BENCHMARKS["tvbench"].kinds)
    columns = (*kinds, "all")
    rows: dict[str, dict[str, Number | None]] = {}
    guess: dict[str, float | None] = {}
    for suffix in ("", "_blind"):
        kind_of = {f"tvbench_tomato_{kind}{suffix}": kind for kind in kinds}
        of_run: dict[str, list[TaskNumbers]] = {}
        for each in tasks:
            if each.log.task in kind_of:
                of_run.setdefault(_name(each, names, suffix), []).append(each)
                if not suffix:
                    guess.setdefault(kind_of[each.log.task], each.chance)
        for name, mine in of_run.items():
            rows[name] = {kind_of[each.log.task]: each.find("accuracy") for each in mine}
            if len(rows[name]) == len(kinds):
                rows[name]["all"] = _pooled(mine, f"tvbench_tomato{suffix}")
    for each in tasks:
        for condition, items in each.log.conditions().items():
            if condition and (condition == "ordered16" or each.log.task.endswith("_frames")):
                task = each.log.task.removeprefix("tvbench_tomato_")
                name = f"{_name(each, names)}, {label(condition).lower()} ({task})"
                rows[name] = {
                    kind: each.find("accuracy", {"task": kind}, condition) for kind in kinds
                }
                rows[name]["all"] = each.find("accuracy", None, condition)
                for kind in kinds:
                    part = [item for item in items if item.groups.get("task") == kind]
                    guess.setdefault(kind, guessing(part))
                guess.setdefault("all", guessing(items))
    if not rows:
        return None
    counts = {column: table.count(column) for column in columns}
    warnings = [
        text
        for row in rows.values()
        for text in _different([row.get(column) for column in columns], counts, columns)
    ]
    return Grid(
        "tvbench-accuracy",
        "tvbench",
        "Accuracy by type of temporal reasoning",
        f"{published('tvbench').paper}, {table.source}",
        f"Percent, with intervals. {table.note}",
        [label(column) for column in columns],
        _upright(rows, guess, table, columns),
        warnings=list(dict.fromkeys(warnings))[:1],
    )


@dataclass(frozen=True)
class _Whole:
    """All of TVBench's questions, asked once in one way: a group's tasks, or one condition."""

    tasks: Sequence[TaskNumbers]
    items: Sequence[Item]

    @property
    def words(self) -> list[int]:
        """Words of each response that has any."""
        asked = [item for item in self.items if item.status not in LEFT_OUT]
        return [item.words for item in asked if item.words]

    def number(self, column: str, value: str) -> Number | None:
        """Return the accuracy over a part of the questions; none if it says nothing.

        "no" says nothing if no question is known to be "yes".
        """
        values = [item.groups.get(column) for item in self.items]
        if value not in values or (value == "no" and "yes" not in values):
            return None
        part = [item for item in self.items if item.groups.get(column) == value]
        file = "; ".join(str(each.log.log) for each in self.tasks)
        group = {column: value}
        log = self.tasks[0].log
        return number_of(
            log, "accuracy", accuracy_of(part, self.tasks[0].level), file=file, group=group
        )


def _wholes(tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> dict[str, _Whole]:
    """Return each way in which a run has asked the whole benchmark, with a name for its row."""
    found: dict[str, _Whole] = {}
    kinds = tuple(BENCHMARKS["tvbench"].kinds)
    for suffix in ("", "_blind"):
        of_run: dict[str, list[TaskNumbers]] = {}
        for each in tasks:
            if each.log.task in {f"tvbench_tomato_{kind}{suffix}" for kind in kinds}:
                of_run.setdefault(_name(each, names, suffix), []).append(each)
        for name, mine in of_run.items():
            if len(mine) == len(kinds):
                found[name] = _Whole(mine, [item for each in mine for item in each.log.items])
    for each in tasks:
        for condition, items in each.log.conditions().items():
            if condition == "ordered16" or (condition and each.log.task.endswith("_frames")):
                task = each.log.task.removeprefix("tvbench_tomato_")
                name = f"{_name(each, names)}, {label(condition).lower()} ({task})"
                found[name] = _Whole([each], items)
    return found


_Part = tuple[str, tuple[str, ...]]
"""A breakdown with one value, for an accuracy, or with two, for the change between them."""

_VARIATIONS: Mapping[_Part, str] = {
    (name, values): heading.format(label(name))
    for name in ("counterfactual", "zoom", "first_person", "composite")
    for values, heading in ((("no",), "{}: False"), (("yes",), "True"), (("no", "yes"), "Δ"))
}
_DEMONSTRATIONS: Mapping[_Part, str] = {
    **{("demonstration_type", (name,)): label(name) for name in ("human", "object", "simulated")},
    **{("twin", (name,)): label(name) for name in ("twin_real", "twin_simulated")},
    ("twin", ("twin_real", "twin_simulated")): "Δ",
}
"""Column -> its heading."""


def _breakdowns(wholes: Mapping[str, _Whole]) -> Iterator[Grid]:
    """Break the whole benchmark down: table 7 and figure 2b."""
    tables, paper = published("tvbench").tables, published("tvbench").paper
    published_n = tables["accuracy"].count("all")
    partial_runs = [
        f"{name}: {len(whole.items):,} questions, the paper has {published_n:,}."
        for name, whole in wholes.items()
        if len(whole.items) != published_n
    ]
    unit = "Percent, with intervals; Δ is the change in percent of the first accuracy."
    for name, parts, title, more in (
        ("variations", _VARIATIONS, "Accuracy by variation", "; composite motion: not in it"),
        ("twins", _DEMONSTRATIONS, "Accuracy by who is shown, and over twins", ""),
    ):
        table = tables[name]
        rows = [
            Row(row, "run", [_part_cell(whole, *part) for part in parts])
            for row, whole in wholes.items()
        ]
        known = [n for n in range(len(parts)) if any(row.cells[n] is not EMPTY for row in rows)]
        rows += [
            Row(model, _kind(model), [_printed_cell(table, model, *part) for part in parts])
            for model in table.rows
        ]
        headings = list(parts.values())
        if known:
            yield Grid(
                f"tvbench-{name}",
                "tvbench",
                f"{title}, over the whole benchmark",
                f"{paper}, {table.source}{more}",
                f"{unit} {table.note}",
                [headings[n] for n in known],
                [Row(row.label, row.kind, [row.cells[n] for n in known]) for row in rows],
                warnings=partial_runs,
            )


def _part_cell(whole: _Whole, column: str, values: Sequence[str]) -> Cell:
    numbers = [whole.number(column, value) for value in values]
    if len(numbers) == 1:
        return run_cell(numbers[0])
    return _change_cell(*(number.value if number else None for number in numbers))


def _printed_cell(table: Table, model: str, column: str, values: Sequence[str]) -> Cell:
    named = {"no": f"{column}_false", "yes": f"{column}_true"}
    columns = [named.get(value, value) for value in values]
    if len(columns) == 2 and f"{column}_change" in table.columns:
        columns = [f"{column}_change"]
    printed = [table.value(model, name) if name in table.columns else None for name in columns]
    return _change_cell(*printed) if len(printed) == 2 else _paper_cell(printed[0])


def _change_cell(before: float | None, after: float | None) -> Cell:
    if before is None or after is None:
        return EMPTY
    change = finite(relative_change(after, before))
    return Cell(percent(change), value=None if change is None else 100 * change)


def _lengths(wholes: Mapping[str, _Whole]) -> Grid | None:
    rows = [Row(name, "run", _length_cells(whole.words)) for name, whole in wholes.items()]
    if not rows:
        return None
    return Grid(
        "tvbench-lengths",
        "tvbench",
        "Length of responses, over the whole benchmark",
        f"{published('tvbench').paper}, figures 7 and 8 (appendix E.6), without printed numbers",
        "Words of a response; empty and absent responses are left out. 10%: a tenth of the "
        "responses is at most this long; likewise 90%.",
        ["Mean", "10%", "Median", "90%", "Longest", "Responses"],
        rows,
    )


def _length_cells(words: Sequence[int]) -> list[Cell]:
    found = describe_lengths(words)
    if not found.n:
        return [EMPTY] * 5 + [Cell("0")]
    values = (found.low, found.median, found.high, found.longest, found.n)
    counts = (Cell(f"{value:,}", value=value) for value in values)
    return [Cell(f"{found.mean:.1f}", value=found.mean), *counts]


_PRINCIPLE_COLUMNS = ("random", "handpicked", "shuffled", "ordered", *principles.GAINS)


def _principles(tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> Grid | None:
    rows = []
    for each in tasks:
        if each.find("kappa_random") is None:
            continue
        cells = [
            run_cell(
                each.find(name)
                if name in principles.GAINS
                else each.find("shared accuracy", None, principles.CONDITIONS[name])
            )
            for name in _PRINCIPLE_COLUMNS
        ]
        rows.append(Row(_name(each, names), "run", cells))
    if not rows:
        return None
    for model in published("tvbench").tables["multi_frame_gain_random"].rows:
        values = [principles.paper_value(model, name) for name in _PRINCIPLE_COLUMNS]
        rows.append(Row(model, "model", [_paper_cell(value) for value in values]))
    return Grid(
        "tvbench-principles",
        "tvbench",
        "How temporal: gain from frames (κ), from their order (τ), from picking one (ρ)",
        f"{published('tvbench').paper}, tables 1 to 4 (section 5)",
        "Accuracies in percent, ratios ×100, with intervals. Each ratio compares accuracies "
        "over the same questions; high κ and τ and low ρ mean that the questions need time. "
        "Handpicked frames exist for a part of the questions only (200 in the paper). "
        "“undefined”: the accuracy below the line is zero.",
        [label(principles.CONDITIONS.get(name, name)) for name in _PRINCIPLE_COLUMNS],
        rows,
    )


# BlackSwanSuite


def _blackswan(
    tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str], split: str
) -> Grid | None:
    tables = published("blackswan").tables
    table, both = tables[f"accuracy_{split}"], tables["accuracy"]
    prefix = "blackswan_test_" if split == "test" else "blackswan_"
    rows: dict[str, dict[str, Number | None]] = {}
    guess: dict[str, float | None] = {}
    for each in tasks:
        name = each.log.task.removeprefix(prefix)
        column = next((kind for kind in table.columns if name.startswith(kind)), None)
        if column is None or each.log.generated:
            continue
        row = rows.setdefault(_name(each, names, name.removeprefix(column)), {})
        row[column] = each.find("accuracy")
        guess.setdefault(column, each.chance)
    if not rows:
        return None
    larger = tables["accuracy_72b"]
    extra = {
        "Human": [both.value("Human", column) for column in table.columns],
        "LLaVA-Video-72B (20% of the questions)": [
            larger.value("LLaVA-Video-72B", column) for column in table.columns
        ],
    }
    asked = ", ".join(
        f"{label(column)} {number.n:,}"
        for row in list(rows.values())[:1]
        for column, number in row.items()
        if number is not None
    )
    return Grid(
        f"blackswan-accuracy-{split}",
        "blackswan",
        f"Accuracy, {split} split",
        f"{published('blackswan').paper}, {table.source}; human: {both.source}, both splits; "
        f"72B: {larger.source}",
        f"Percent, with intervals. {table.note} Questions scored here: {asked or 'none'}.",
        [label(column) for column in table.columns],
        _upright(rows, guess, table, table.columns, extra),
    )


_STUDIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "perception_comprehension": (
        "Detective MCQ with captions of what is seen",
        {
            "base": "detective_mcq",
            "perception": "detective_mcq_perception",
            "perception_comprehension": "detective_mcq_perception_comprehension",
        },
    ),
    "chain_of_thought": (
        "Multiple choice with reasoning first",
        {
            "detective_base": "detective_mcq",
            "detective_cot": "detective_mcq_cot",
            "reporter_base": "reporter_mcq",
            "reporter_cot": "reporter_mcq_cot",
        },
    ),
}
"""Published table -> what it is about, and column -> the task that gives it."""


def _blackswan_studies(
    tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str], split: str
) -> Iterator[Grid]:
    """Return tables 6 to 8: captions, reasoning first, and hard questions."""
    prefix = "blackswan_test_" if split == "test" else "blackswan_"
    runs: dict[str, dict[str, TaskNumbers]] = {}
    for each in tasks:
        task = each.log.task.removeprefix(prefix)
        runs.setdefault(_name(each, names), {})[task] = each
    published_tables, paper = published("blackswan").tables, published("blackswan").paper
    for key, (title, columns) in _STUDIES.items():
        varied = {task for task in columns.values() if task.count("_") > 1}
        rows = {
            name: {
                column: asked[task].find("accuracy")
                for column, task in columns.items()
                if task in asked
            }
            for name, asked in runs.items()
            if varied & asked.keys()
        }
        yield from _study(rows, published_tables[key], paper, key, title, split)
    hard = {
        name: _by_hardness(asked["detective_mcq"])
        for name, asked in runs.items()
        if "detective_mcq" in asked
    }
    hard = {name: row for name, row in hard.items() if row["hard"] and row["easy"]}
    title = "Detective MCQ, hard questions and all others"
    yield from _study(hard, published_tables["hard"], paper, "hard", title, split)


def _study(
    rows: Mapping[str, Mapping[str, Number | None]],
    table: Table,
    paper: str,
    key: str,
    title: str,
    split: str,
) -> Iterator[Grid]:
    if rows:
        yield Grid(
            f"blackswan-{key.replace('_', '-')}-{split}",
            "blackswan",
            f"{title}, {split} split",
            f"{paper}, {table.source}",
            "Percent, with intervals. The paper's numbers are not over one split alone. "
            + table.note,
            [label(column) for column in table.columns],
            _upright(rows, {}, table, table.columns),
        )


def _by_hardness(each: TaskNumbers) -> dict[str, Number | None]:
    """Return the accuracy over all, hard and other questions, and hard minus the others."""
    items = [item for item in each.log.items if item.groups.get("difficulty")]
    is_hard = [item.groups["difficulty"] == "hard" for item in items]
    parts = {
        "hard": [item for item, hard in zip(items, is_hard, strict=True) if hard],
        "easy": [item for item, hard in zip(items, is_hard, strict=True) if not hard],
    }
    row: dict[str, Number | None] = {"base": each.find("accuracy")}
    for name, part in parts.items():
        found = accuracy_of(part, each.level)
        group = {"difficulty": name.replace("easy", "not hard")}
        row[name] = number_of(each.log, "accuracy", found, group=group) if found.n else None
    if row["hard"] and row["easy"]:
        delta = difference([item.score for item in items], is_hard)
        row["delta"] = replace(row["hard"], name="hard_delta", value=delta, low=None, high=None)
    return row


def _blackswan_gen(
    tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str], split: str
) -> Grid | None:
    tables = published("blackswan").tables
    table = tables[f"gen_{split}"]
    words = tables["bleu_rouge"]
    metrics = {"clip": "clip_score", "llm_match": "llm_match", "bleu": "bleu", "rougeL": "rouge_l"}
    prefix = "blackswan_test_" if split == "test" else "blackswan_"
    rows: dict[str, dict[str, Number | None]] = {}
    for each in tasks:
        if not each.log.generated:
            continue
        name = each.log.task.removeprefix(prefix)
        kind = name.partition("_")[0]
        row = rows.setdefault(_name(each, names, name.removeprefix(f"{kind}_gen")), {})
        row.update({f"{kind}_{column}": each.find(name) for column, name in metrics.items()})
    if not rows:
        return None
    asked = {column.partition("_")[0] for row in rows.values() for column in row}
    kinds = [kind for kind in ("forecaster", "detective", "reporter") if kind in asked]
    columns = [f"{kind}_{column}" for kind in kinds for column in metrics]
    grid_rows = [
        Row(name, "run", [run_cell(numbers.get(column)) for column in columns])
        for name, numbers in rows.items()
    ]
    spelled = {"LLaVA-V-7B": "LLaVA-Video", "VideoChat2": "VideoChat 2", "VILA-1.5": "VILA"}
    for model in ("Human", *table.rows):
        cells = []
        for column in columns:
            if column not in table.columns:
                cells.append(_paper_cell(words.value(spelled.get(model, model), column)))
            elif model == "Human":
                kind, _, metric = column.partition("_")
                cells.append(_paper_cell(tables[f"{kind}_gen"].value(model, metric), 2))
            else:
                cells.append(_paper_cell(table.value(model, column), 2))
        grid_rows.append(Row(model, _kind(model), cells))
    larger = tables["gen_72b"]
    printed = [
        larger.value("LLaVA-V-72B", column) if column in larger.columns else None
        for column in columns
    ]
    cells = [_paper_cell(value, 2) for value in printed]
    grid_rows.append(Row("LLaVA-Video-72B (10% of the questions)", "model", cells))
    return Grid(
        f"blackswan-generation-{split}",
        "blackswan",
        f"Generation, {split} split",
        f"{published('blackswan').paper}, {table.source}; BLEU and ROUGE-L: {words.source}; "
        f"human: tables 3 to 5, both splits; 72B: {larger.source}",
        "CLIP score −1..1, LLM-Match 1..5 (both depend on the model that computes them), BLEU "
        "and ROUGE-L ×100; with intervals.",
        [f"{kind.capitalize()} {label(name)}" for kind in kinds for name in metrics.values()],
        grid_rows,
    )


# CausalVQA


def _causalvqa(
    tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str], split: str, kind: str
) -> Grid | None:
    tables = published("causalvqa").tables
    table = tables[kind]
    name = "paired accuracy" if kind == "paired" else "accuracy"
    whole = f"causalvqa_{split}"
    runs: dict[str, dict[str, Number | None]] = {}
    guess: float | None = None
    types = {column for column in table.columns if "/" not in column}
    for each in tasks:
        variant = each.log.task.removeprefix(whole).strip("_")
        of_type = variant in types
        row = runs.setdefault(_name(each, names, "" if of_type else variant), {})
        for column in table.columns:
            if of_type and column in ("all", "reasoning"):
                continue  # one type alone says nothing of all
            number = each.find(name, _strata_group(column))
            if number is not None and number.n:
                row.setdefault(column, number)
        chance = each.chance_paired if kind == "paired" else each.chance
        guess = chance if guess is None else guess
    runs = {title: row for title, row in runs.items() if row}
    if not runs:
        return None
    ablated = any(title.endswith((", blind", ", single frame")) for title in runs)
    ablations = tables["ablations"].rows if kind == "paired" and ablated else {}
    models = sorted(table.rows, key=lambda model: _kind(model) != "human")
    guesses = {"Guessing": "guess"} if guess is not None else {}
    kinds = {
        "n": "count",
        **dict.fromkeys(runs, "run"),
        **guesses,
        **{model: _kind(model) for model in (*models, *ablations)},
    }
    rows = []
    for column in table.columns:
        asked = max((number.n for row in runs.values() if (number := row.get(column))), default=0)
        cells = [
            Cell(f"{asked:,}"),
            *(run_cell(row.get(column)) for row in runs.values()),
            *(_guess_cell(guess) for _ in guesses),
            *(_paper_cell(table.value(model, column)) for model in models),
            *(_paper_cell(tables["ablations"].value(model, column)) for model in ablations),
        ]
        part, _, difficulty = column.rpartition("/")
        row_label = f"{label(part)}, {difficulty}" if part else label(column)
        rows.append(Row(row_label, "stratum" if part else "total", cells))
    counts = {column: table.count(column) for column in table.columns}
    warnings = _different([row.get("all") for row in runs.values()][:1], counts, ["all"])
    unit = "pairs" if kind == "paired" else "items"
    return Grid(
        f"causalvqa-{kind}-{split}",
        "causalvqa",
        f"{kind.capitalize()} accuracy, {split} split",
        f"{published('causalvqa').paper}, {table.source}"
        + (f"; blind and single frame: {tables['ablations'].source}" if ablations else ""),
        f"Percent, with intervals; n counts this run's {unit}. Reasoning: all types but "
        "descriptive. "
        + table.note
        + (" The paper's numbers are over its test split." if split == "debug" else ""),
        list(kinds),
        rows,
        kinds=list(kinds.values()),
        warnings=warnings,
        upright=False,
    )


def _strata_group(column: str) -> dict[str, str]:
    if column == "all":
        return {}
    kind, _, difficulty = column.partition("/")
    return {"type": kind, "difficulty": difficulty} if difficulty else {"type": kind}
