"""How long work tells a user how far it has come: a bar on a terminal, a line elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, how much of it is done, and how much there is."""


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """A progress bar per step on a terminal; elsewhere a line when a step is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        shown: dict[str, Any] = {}

        def tell(step: str, done: int, total: int) -> None:
            if done == 0 or step not in shown:
                shown[step] = bars.add_task(step, total=total)
            bars.update(shown[step], completed=done, total=total)
            if not console.is_terminal and done == total:
                console.print(f"{step}: {total:,}", highlight=False)

        yield tell
