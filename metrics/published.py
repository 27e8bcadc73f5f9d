"""The numbers of the three papers, as printed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

BENCHMARKS = ("blackswan", "causalvqa", "tvbench")


@dataclass(frozen=True)
class Table:
    """One table of a paper.

    Attributes:
        source: Number of the table and section.
        unit: "percent", "x100", or "mixed" if the note gives the unit of each column.
        columns: What was measured, for example a task or "type/difficulty".
        rows: Model -> one value per column, as printed; None if the paper prints none.
        counts: Questions (pairs, items: see the note) behind each column; empty if the paper
            does not say.
        note: What else a reader has to know; may be empty.
    """

    source: str
    unit: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[float | None]]
    counts: Sequence[int]
    note: str

    def value(self, model: str, column: str) -> float | None:
        """Return the printed value, None if the paper prints none.

        Raises:
            KeyError: The table has no such model or column; the message names those it has.
        """
        return self.rows[self._known(model, "model", self.rows)][self._position(column)]

    def count(self, column: str) -> int | None:
        """Return the number of questions behind a column, None if the paper does not give it.

        Raises:
            KeyError: The table has no such column.
        """
        position = self._position(column)
        return self.counts[position] if self.counts else None

    def _position(self, column: str) -> int:
        return self.columns.index(self._known(column, "column", self.columns))

    def _known(self, name: str, kind: str, names: Collection[str]) -> str:
        if name not in names:
            raise KeyError(f"{self.source} has no {kind} '{name}'; it has {', '.join(names)}.")
        return name


@dataclass(frozen=True)
class Published:
    """The tables of one paper.

    Attributes:
        benchmark: Name of the benchmark as this package uses it.
        paper: Title and where it was published.
        tables: Name -> table.
    """

    benchmark: str
    paper: str
    tables: Mapping[str, Table]


@cache
def published(benchmark: str) -> Published:
    """Load the numbers of one benchmark's paper.

    Args:
        benchmark: "blackswan", "causalvqa" or "tvbench".

    Raises:
        ValueError: There is no such benchmark.

    Example:
        >>> published("tvbench").tables["accuracy"].value("GPT-4o", "all")
        37.7
    """
    if benchmark not in BENCHMARKS:
        raise ValueError(
            f"There are no published numbers for '{benchmark}'; there are for "
            f"{', '.join(BENCHMARKS)}."
        )
    path = resources.files("video_reasoning.metrics") / "data" / f"{benchmark}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    tables = {
        name: Table(
            source=table["source"],
            unit=table["unit"],
            columns=tuple(table["columns"]),
            rows={model: tuple(values) for model, values in table["rows"].items()},
            counts=tuple(table.get("counts", ())),
            note=table.get("note", ""),
        )
        for name, table in content["tables"].items()
    }
    return Published(content["benchmark"], content["paper"], tables)
