"""Which of a benchmark's questions a task asks: ``process_docs`` for the YAMLs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from video_reasoning.tasks.errors import StoreError


def of_task(*tasks: str) -> Callable[[Any], Any]:
    """A ``process_docs`` that keeps the questions whose ``task`` is one of those named.

    The function that it gives takes and returns a ``datasets.Dataset``, keeps the order, and
    raises :class:`StoreError` where nothing is left.
    """
    wanted = frozenset(tasks)

    def process_docs(dataset: Any) -> Any:
        kept = dataset.select([row for row, task in enumerate(dataset["task"]) if task in wanted])
        if not len(kept):
            raise StoreError(
                f"The prepared release has no questions of {', '.join(sorted(wanted))}; "
                "`video-reasoning doctor` lists what it has."
            )
        return kept

    return process_docs
