"""How a paper's table is laid out on a page: totals first, the paper's models apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from video_reasoning.tasks.report.tables import Grid

_APART = frozenset({"model", "chance"})
"""Kinds of rows and columns that only the paper has; people stay beside the runs."""

_MOST = 3
"""Printed rows or columns that need no table of their own."""


def arranged(grid: Grid) -> tuple[Grid, Grid | None]:
    """Part a table into the runs' own and, if it is long, one of the paper's models.

    A column in which every cell is the same (guessing) is left to the note of the first.
    """
    if grid.upright:
        printed = [row for row in grid.rows if row.kind in _APART]
        if len(printed) <= _MOST:
            return grid, None
        ours = [row for row in grid.rows if row.kind not in _APART]
        return replace(grid, rows=ours), replace(grid, rows=printed, signatures=[])
    whole = _without_constant(totals_first(grid))
    apart = [place for place, kind in enumerate(whole.kinds) if kind in _APART]
    if len(apart) <= _MOST:
        return whole, None
    others = [place for place in range(len(whole.kinds)) if place not in apart]
    return _columns(whole, others), replace(_columns(whole, apart), signatures=[])


def totals_first(grid: Grid) -> Grid:
    """Put the totals first, the widest (which is last) at the top, and the strata below them."""
    if grid.upright:
        return grid
    totals = [row for row in grid.rows if row.kind != "stratum"]
    strata = [row for row in grid.rows if row.kind == "stratum"]
    return replace(grid, rows=[*totals[:-3:-1], *totals[:-2], *strata])


def _without_constant(grid: Grid) -> Grid:
    """Leave out the column of guessing: it is one number for all rows."""
    place = next((n for n, kind in enumerate(grid.kinds) if kind == "guess"), None)
    texts = {row.cells[place].text for row in grid.rows} if place is not None else set()
    if place is None or len(texts) != 1:
        return grid
    kept = [n for n in range(len(grid.kinds)) if n != place]
    note = f"{grid.note} Guessing gives {texts.pop()} in every row."
    return replace(_columns(grid, kept), note=note)


def _columns(grid: Grid, places: Sequence[int]) -> Grid:
    return replace(
        grid,
        head=[grid.head[place] for place in places],
        kinds=[grid.kinds[place] for place in places],
        rows=[replace(row, cells=[row.cells[place] for place in places]) for row in grid.rows],
    )
