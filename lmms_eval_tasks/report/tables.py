"""The papers' tables with the runs beside the papers' models."""

# Greek letters and signs as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from video_reasoning.metrics.principles import format_ratio
from video_reasoning.metrics.published import Table, published
from video_reasoning.tasks.results.items import Item, TaskLog
from video_reasoning.tasks.results.logs import Run
from video_reasoning.tasks.results.numbers import RATIOS, Number, TaskNumbers, share

__all__ = ["Cell", "Grid", "Row", "distinct", "paper_tables", "run_key", "run_names"]

RunKey = tuple[str, str]
Key = TypeVar("Key")

LABELS: Mapping[str, str] = {
    "rotation": "Rotation",
    "direction": "Direction",
    "velocity_frequency": "Velocity & frequency",
    "shape_trend": "Shape & trend",
    "visual_cues": "Visual cues",
    "action_count": "Action count",
    "all": "All",
    "detective_mcq": "Detective MCQ",
    "detective_yn": "Detective Y/N",
    "reporter_mcq": "Reporter MCQ",
    "reporter_yn": "Reporter Y/N",
    "reasoning": "Reasoning",
    "clip": "CLIP score",
    "clip_score": "CLIP score",
    "llm_match": "LLM-Match",
    "bleu": "BLEU ×100",
    "rouge_l": "ROUGE-L ×100",
    "kappa_random": "κ (random frame)",
    "kappa_handpicked": "κ (handpicked)",
    "tau": "τ (order)",
    "rho": "ρ (disparity)",
    "random1": "1 random frame",
    "handpicked1": "1 handpicked frame",
    "last1": "last frame",
    "shuffled16": "16 shuffled",
    "ordered16": "16 in order",
    "ordered8": "8 in order",
    "ordered32": "32 in order",
    "demonstration_type": "Demonstration type",
    "first_person": "First person",
    "no": "no",
    "yes": "yes",
}

_TVBENCH_TYPES = (
    "rotation",
    "direction",
    "velocity_frequency",
    "shape_trend",
    "visual_cues",
    "action_count",
)
_CHANCE_ROWS = ("random", "frequent")


def label(name: str) -> str:
    """How a page calls what a log calls `name`."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


@dataclass(frozen=True)
class Cell:
    """One cell: a run's number, or one printed in a paper.

    Attributes:
        text: as shown.
        detail: the interval, as shown.
        number: what the text is, where it is a run's.
        value: the number in the table's unit, or None.
        hint: More about it, shown on hovering.
    """

    text: str
    detail: str = ""
    number: Number | None = None
    value: float | None = None
    hint: str = ""


@dataclass(frozen=True)
class Row:
    """A row: ``kind`` is "run", "guess", "human", "chance", "model", "stratum" or "total".

    A row about a run has the run's name and ``place``, and may ``link`` to a part of the page.
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
        key: name for links, e.g. "tvbench-accuracy".
        benchmark: name of the benchmark.
        title: what it shows.
        source: paper and table.
        note: unit and what else a reader has to know.
        head: names of the columns.
        kinds: per column, for the transposed tables, as a row's kind; else empty.
        rows: the rows.
        warnings: why the run and the paper may not be comparable.
        upright: whether models are rows.
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

    def as_json(self) -> dict[str, Any]:
        """Plain values for the JSON format."""
        return {
            "key": self.key,
            "benchmark": self.benchmark,
            "title": self.title,
            "source": self.source,
            "note": self.note,
            "warnings": self.warnings,
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
    """What tells one run from another."""
    return str(run.folder), run.date


def run_names(logs: Iterable[TaskLog]) -> dict[RunKey, str]:
    """Return a short name for each run, with arguments, date or folder only to tell some apart."""
    runs = {run_key(log.run): log.run for log in logs}
    return distinct(
        {key: (run.label, run.model_args, run.date, str(run.folder)) for key, run in runs.items()}
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
    """A share as percent, or a dash."""
    return "–" if value is None else format_ratio(value, digits)


def interval(number: Number) -> str:
    """An interval in the unit of :func:`shown`, or the empty text."""
    if number.low is None:
        return ""
    high = "∞" if number.unbounded else shown(number, number.high)
    return f"{shown(number, number.low)} to {high}"


def shown(number: Number, value: float | None) -> str:
    """A value of a number as the papers print it: x100, or LLM-Match and CLIP score as is."""
    if value is None:
        return "undefined" if number.unit == "ratio" and number.n else "–"
    if number.unit in ("share", "ratio"):
        return percent(value)
    return f"{value:.2f}"


def run_cell(number: Number | None) -> Cell:
    """The cell of a run's number."""
    if number is None or (number.value is None and not number.n):
        return EMPTY
    return Cell(
        shown(number, number.value),
        interval(number),
        number,
        None if number.value is None else _scaled(number),
    )


def _scaled(number: Number) -> float:
    value = number.value if number.value is not None else math.nan
    return 100 * value if number.unit in ("share", "ratio") else value


def _paper_cell(value: float | None, digits: int = 1) -> Cell:
    return EMPTY if value is None else Cell(f"{value:.{digits}f}", value=value)


def paper_tables(found: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> list[Grid]:
    """The tables of the papers that the tasks at hand have numbers for."""
    grids = []
    for split in ("validation", "test"):
        part = _of(found, "blackswan", split)
        grids += [_blackswan(part, names, split), _blackswan_gen(part, names, split)]
    part = _of(found, "tvbench")
    grids += [_tvbench(part, names), _principles(part, names)]
    for split in ("debug", "test"):
        part = _of(found, "causalvqa", split)
        grids += [_causalvqa(part, names, split, table) for table in ("paired", "unpaired")]
    return [grid for grid in grids if grid is not None]


def _of(found: Sequence[TaskNumbers], benchmark: str, split: str = "") -> list[TaskNumbers]:
    return [
        each
        for each in found
        if each.log.benchmark == benchmark and (not split or each.log.split == split)
    ]


def _name(each: TaskNumbers, names: Mapping[RunKey, str]) -> str:
    return names[run_key(each.log.run)]


def pooled(tasks: Sequence[TaskNumbers], name: str) -> Number | None:
    """The accuracy over the items of several tasks of one run; None where none was scored."""
    items = [item for each in tasks for item in each.log.items if item.score is not None]
    if not items:
        return None
    estimate, method = share([item.score or 0.0 for item in items], [item.video for item in items])
    first = tasks[0].log
    return Number(
        name="accuracy",
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
        n_clusters=estimate.n_clusters,
        method=method,
        task=name,
        model=first.run.label,
        run=first.run.date,
        file="; ".join(str(each.log.log) for each in tasks),
    )


def _upright(
    runs: Mapping[str, Mapping[str, Number | None]],
    guess: Mapping[str, float],
    table: Table,
    columns: Sequence[str],
    extra: Mapping[str, Sequence[float | None]] | None = None,
    digits: Mapping[str, int] | None = None,
) -> list[Row]:
    """Rows: the runs, guessing, then the paper's humans, chance rows and models."""
    rows = [
        Row(name, "run", [run_cell(numbers.get(column)) for column in columns])
        for name, numbers in runs.items()
    ]
    if guess:
        cells = [
            Cell(percent(guess[column]), value=100 * guess[column]) if column in guess else EMPTY
            for column in columns
        ]
        rows.append(Row("Guessing, these questions", "guess", cells))
    printed = {model: [table.value(model, column) for column in columns] for model in table.rows}
    printed.update({name: list(values) for name, values in (extra or {}).items()})
    places = [(digits or {}).get(column, 1) for column in columns]
    papers = [
        Row(
            model,
            _kind(model),
            [_paper_cell(value, place) for value, place in zip(values, places, strict=True)],
        )
        for model, values in printed.items()
    ]
    order = {"human": 0, "chance": 1, "model": 2}
    return rows + sorted(papers, key=lambda row: order[row.kind])


def _kind(model: str) -> str:
    name = model.lower()
    if "human" in name:
        return "human"
    return "chance" if name.startswith(_CHANCE_ROWS) else "model"


def _chances(tasks: Sequence[TaskNumbers], column_of: Mapping[str, str]) -> dict[str, float]:
    """Column -> guessing on the questions of the first task that gives the column."""
    chances: dict[str, float] = {}
    for each in tasks:
        column = column_of.get(each.log.task)
        if column and each.chance is not None:
            chances.setdefault(column, each.chance)
    return chances


def _different(
    numbers: Iterable[Number | None], counts: Mapping[str, int | None], columns: Sequence[str]
) -> list[str]:
    """Says where a run's questions cannot be the paper's."""
    differing = [
        f"{label(column)} {number.n:,} here and {count:,} there"
        for column, number in zip(columns, numbers, strict=True)
        if number is not None and (count := counts.get(column)) and number.n != count
    ]
    if not differing:
        return []
    return [f"Not over the paper's questions: {'; '.join(dict.fromkeys(differing))}."]


# TVBench


def _tvbench(tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> Grid | None:
    table = published("tvbench").tables["accuracy"]
    rows: dict[str, dict[str, Number | None]] = {}
    guess: dict[str, float] = {}
    for suffix, note in (("", ""), ("_blind", ", blind")):
        plain = {f"tvbench_tomato_{kind}{suffix}": kind for kind in _TVBENCH_TYPES}
        if not suffix:
            guess.update(_chances(tasks, plain))
        for name in dict.fromkeys(_name(each, names) for each in tasks):
            mine = [each for each in tasks if _name(each, names) == name and each.log.task in plain]
            if mine:
                row = {plain[each.log.task]: each.find("accuracy") for each in mine}
                if len(row) == len(_TVBENCH_TYPES):
                    row["all"] = pooled(mine, f"tvbench_tomato{suffix}")
                rows[name + note] = row
    for each in tasks:
        for condition, items in each.log.conditions().items():
            if condition and (condition == "ordered16" or each.log.task.endswith("_frames")):
                row = {
                    kind: each.find("accuracy", {"task": kind}, condition)
                    for kind in _TVBENCH_TYPES
                }
                row["all"] = each.find("accuracy", None, condition)
                task = each.log.task.removeprefix("tvbench_tomato_")
                rows[f"{_name(each, names)}, {label(condition).lower()} ({task})"] = row
                for kind in (*_TVBENCH_TYPES, "all"):
                    part = [item for item in items if kind in ("all", item.groups.get("task"))]
                    chance = _chance_of(each.log, part)
                    if chance is not None:
                        guess.setdefault(kind, chance)
    if not rows:
        return None
    columns = (*_TVBENCH_TYPES, "all")
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
        f"Percent, with 95% intervals. {table.note}",
        [label(column) for column in columns],
        _upright(rows, guess, table, columns),
        warnings=list(dict.fromkeys(warnings))[:1],
    )


def _chance_of(log: TaskLog, items: Sequence[Item]) -> float | None:
    chances = [
        1 / len(options)
        for item in items
        if item.score is not None and (options := (log.questions.get(item.id) or {}).get("options"))
    ]
    return math.fsum(chances) / len(chances) if chances else None


_PRINCIPLE_CELLS = (
    ("random1", "multi_frame_gain_random", "acc_1"),
    ("handpicked1", "multi_frame_gain_handpicked", "acc_1_handpicked"),
    ("shuffled16", "frame_order_sensitivity", "acc_16_shuffled"),
    ("ordered16", "frame_order_sensitivity", "acc_16"),
    ("kappa_random", "multi_frame_gain_random", "kappa"),
    ("kappa_handpicked", "multi_frame_gain_handpicked", "kappa"),
    ("tau", "frame_order_sensitivity", "tau"),
    ("rho", "frame_information_disparity", "rho"),
)


def _principles(tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str]) -> Grid | None:
    rows = []
    for each in tasks:
        if each.find("kappa_random") is None:
            continue
        cells = [
            run_cell(
                each.find(name) if name in RATIOS else each.find("shared accuracy", None, name)
            )
            for name, _, _ in _PRINCIPLE_CELLS
        ]
        rows.append(Row(_name(each, names), "run", cells))
    if not rows:
        return None
    tables = published("tvbench").tables
    for model in tables["multi_frame_gain_random"].rows:
        values = [
            tables[table].value(model, f"TVBench/{column}") for _, table, column in _PRINCIPLE_CELLS
        ]
        rows.append(Row(model, "model", [_paper_cell(value) for value in values]))
    return Grid(
        "tvbench-principles",
        "tvbench",
        "How temporal: gain from frames (κ), from their order (τ), from picking one (ρ)",
        f"{published('tvbench').paper}, tables 1 to 4 (section 5)",
        "Accuracies in percent, ratios ×100, with 95% intervals. Each ratio compares accuracies "
        "over the same questions; high κ and τ and low ρ mean that the questions need time. "
        "Handpicked frames exist for a part of the questions only (200 in the paper). "
        "“undefined”: the accuracy below the line is zero.",
        [label(name) for name, _, _ in _PRINCIPLE_CELLS],
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
    guess: dict[str, float] = {}
    for each in tasks:
        name = each.log.task.removeprefix(prefix)
        column = next((kind for kind in table.columns if name.startswith(kind)), None)
        if column is None or each.log.generated:
            continue
        variant = name.removeprefix(column).strip("_").replace("_", " ")
        row = rows.setdefault(f"{_name(each, names)}{f', {variant}' if variant else ''}", {})
        row[column] = each.find("accuracy")
        if each.chance is not None:
            guess.setdefault(column, each.chance)
    if not rows:
        return None
    human = [both.value("Human", column) for column in table.columns]
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
        f"{published('blackswan').paper}, {table.source}; human: {both.source}, both splits",
        f"Percent, with 95% intervals. {table.note} Questions scored here: {asked or 'none'}.",
        [label(column) for column in table.columns],
        _upright(rows, guess, table, table.columns, {"Human": human}),
    )


def _blackswan_gen(
    tasks: Sequence[TaskNumbers], names: Mapping[RunKey, str], split: str
) -> Grid | None:
    tables = published("blackswan").tables
    table = tables[f"gen_{split}"]
    metrics = {"clip": "clip_score", "llm_match": "llm_match"}
    words = tables["bleu_rouge"]
    word_metrics = {"bleu": "bleu", "rougeL": "rouge_l"}
    prefix = "blackswan_test_" if split == "test" else "blackswan_"
    rows: dict[str, dict[str, Number | None]] = {}
    for each in tasks:
        if not each.log.generated:
            continue
        name = each.log.task.removeprefix(prefix)
        kind = name.partition("_")[0]
        variant = name.removeprefix(f"{kind}_gen").strip("_").replace("_", " ")
        row = rows.setdefault(f"{_name(each, names)}{f', {variant}' if variant else ''}", {})
        for column, metric in {**metrics, **word_metrics}.items():
            row[f"{kind}_{column}"] = each.find(metric)
    if not rows:
        return None
    kinds = [
        kind
        for kind in ("forecaster", "detective", "reporter")
        if any(column.startswith(kind) for row in rows.values() for column in row)
    ]
    columns = [f"{kind}_{column}" for kind in kinds for column in (*metrics, *word_metrics)]
    head = [
        f"{kind.capitalize()} {label({**metrics, **word_metrics}[column])}"
        for kind in kinds
        for column in (*metrics, *word_metrics)
    ]
    grid_rows = [
        Row(name, "run", [run_cell(numbers.get(column)) for column in columns])
        for name, numbers in rows.items()
    ]
    spelled = {"LLaVA-V-7B": "LLaVA-Video", "VideoChat2": "VideoChat 2", "VILA-1.5": "VILA"}
    human = {
        f"{kind}_{column}": tables[f"{kind}_gen"].value("Human", column)
        for kind in kinds
        for column in metrics
    }
    for model in ("Human", *table.rows):
        cells = []
        for column in columns:
            other = spelled.get(model, model)
            if column in table.columns:
                value = human[column] if model == "Human" else table.value(model, column)
                cells.append(_paper_cell(value, 2))
            else:
                cells.append(_paper_cell(words.value(other, column)))
        grid_rows.append(Row(model, _kind(model), cells))
    return Grid(
        f"blackswan-generation-{split}",
        "blackswan",
        f"Generation, {split} split",
        f"{published('blackswan').paper}, {table.source}; BLEU and ROUGE-L: {words.source}; "
        "human: tables 3 to 5, both splits",
        "CLIP score −1..1, LLM-Match 1..5 (both depend on the model that computes them), BLEU "
        "and ROUGE-L ×100; with 95% intervals.",
        head,
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
    for each in tasks:
        variant = each.log.task.removeprefix(whole).strip("_")
        types = {column for column in table.columns if "/" not in column}
        blind = variant if variant and variant not in types else ""
        title = _name(each, names) + (f", {blind.replace('_', ' ')}" if blind else "")
        row = runs.setdefault(title, {})
        for column in table.columns:
            number = each.find(name, _strata_group(column))
            if variant in types and column in ("all", "reasoning"):
                continue  # one type alone says nothing of all
            if number is not None and number.n:
                row.setdefault(column, number)
        chance = each.chance_paired if kind == "paired" else each.chance
        guess = chance if guess is None else guess
    runs = {title: row for title, row in runs.items() if row}
    if not runs:
        return None
    ablated = any(title.endswith((", blind", ", single frame")) for title in runs)
    ablations = tables["ablations"].rows if kind == "paired" and ablated else {}
    human = [model for model in table.rows if _kind(model) == "human"]
    models = [*human, *(model for model in table.rows if model not in human)]
    guesses = ["Guessing"] if guess is not None else []
    head = ["n", *runs, *guesses, *models, *ablations]
    kinds = [
        "count",
        *("run" for _ in runs),
        *("guess" for _ in guesses),
        *(_kind(model) for model in models),
        *(_kind(model) for model in ablations),
    ]
    rows = []
    for column in table.columns:
        asked = max((number.n for row in runs.values() if (number := row.get(column))), default=0)
        cells = [Cell(f"{asked:,}"), *(run_cell(row.get(column)) for row in runs.values())]
        if guess is not None:
            cells.append(Cell(percent(guess), value=100 * guess))
        cells += [_paper_cell(table.value(model, column)) for model in models]
        cells += [_paper_cell(tables["ablations"].value(model, column)) for model in ablations]
        part = column.rpartition("/")
        shown_label = f"{label(part[0])}, {part[2]}" if part[0] else label(column)
        row_kind = "stratum" if part[0] else "total"
        rows.append(Row(shown_label, row_kind, cells))
    counts = {column: table.count(column) for column in table.columns}
    warnings = _different([row.get("all") for row in runs.values()][:1], counts, ["all"])
    unit = "pairs" if kind == "paired" else "items"
    return Grid(
        f"causalvqa-{kind}-{split}",
        "causalvqa",
        f"{kind.capitalize()} accuracy, {split} split",
        f"{published('causalvqa').paper}, {table.source}"
        + (f"; blind and single frame: {tables['ablations'].source}" if ablations else ""),
        f"Percent, with 95% intervals; n counts this run's {unit}. Reasoning: all types but "
        "descriptive. "
        + table.note
        + (" The paper's numbers are over its test split." if split == "debug" else ""),
        head,
        rows,
        kinds=kinds,
        warnings=warnings,
        upright=False,
    )


def _strata_group(column: str) -> dict[str, str]:
    if column == "all":
        return {}
    kind, _, difficulty = column.partition("/")
    return {"type": kind, "difficulty": difficulty} if difficulty else {"type": kind}
