"""Whether a run of the harness did what it says: looked at after it, before its exit code.

The harness logs and forgets what it could not save, and takes a text about a failed request for
an answer. So the files are compared with the numbers that were computed, and the items that
nobody answered are counted (:mod:`video_reasoning.tasks.states`).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from video_reasoning.tasks.errors import UserError

MAX_FAILED_VARIABLE = "VIDEO_REASONING_MAX_FAILED"
MAX_FAILED = 0.05
"""Share of failed items of a task, 0..1, above which a run has failed."""

LISTS = frozenset({"list", "list_groups", "list_tags", "list_subtasks"})
"""Values of ``--tasks`` for which the harness prints a list and ends."""

NO_RESULTS = "The model ended the process before there were results; what it printed last says why."

Metrics = Mapping[str, Any]


def max_failed() -> float:
    """Return the share of failed items that is accepted, 0..1.

    Raises:
        UserError: The environment variable is not such a number.
    """
    text = os.environ.get(MAX_FAILED_VARIABLE, "").strip()
    try:
        share = float(text) if text else MAX_FAILED
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise UserError(
            f"{MAX_FAILED_VARIABLE}={text} is not a share: set it to a number from 0 to 1, such "
            f"as {MAX_FAILED}."
        )
    return share


def problems(output_path: str | None, found: Any) -> list[str]:
    """Say why the numbers of a run are not to be trusted, a sentence each; none if they are.

    Args:
        output_path: The run's ``--output_path``, if it has one.
        found: What the harness returned: results and samples on the main process, Nones on the
            others.
    """
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[0], Mapping):
        return []
    results, samples = found
    sentences = [*unanswered(results, samples)]
    if output_path:
        sentences += unsaved(Path(output_path), results, samples)
    return sentences


def unsaved(folder: Path, results: Mapping[str, Any], samples: Any) -> Iterator[str]:
    """Compare the files of a run with what it computed.

    Args:
        folder: The run's ``--output_path``.
        results: What the harness computed.
        samples: Task -> its logged samples, or None if none were to be logged.

    Yields:
        A sentence for each file that is absent or incomplete.
    """
    model, date = results.get("model_name_sanitized"), str(results.get("date"))
    begin = folder / str(model or "") / date.replace(":", "-")
    file = Path(f"{begin}_results.json")
    again = "make room or choose another --output_path, and run again"
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        complete = saved["results"].keys() == results["results"].keys()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        complete = False
    if not complete:
        yield f"The results were computed but could not be saved as {file}: {again}."
    for task, logged in (samples or {}).items():
        if os.sep in task:
            continue  # the harness takes the name for a folder: never a log, with or without room
        log = Path(f"{begin}_samples_{task}.jsonl")
        lines = _lines(log)
        if lines != len(logged):
            yield (
                f"The sample log {log} has {lines:,} of {len(logged):,} lines, the others could "
                f"not be saved: {again}."
            )


def _lines(file: Path) -> int:
    """Count the whole lines of a file; 0 if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return sum(line.endswith(b"\n") for line in stream)
    except OSError:
        return 0


def unanswered(results: Mapping[str, Any], samples: Any) -> Iterator[str]:
    """Say which tasks of ours nobody answered, or too few requests of.

    Args:
        results: What the harness computed.
        samples: Task -> its logged samples, or None.

    Yields:
        A sentence for each reason why the run has failed.
    """
    limit = max_failed()
    items = missing = empty = 0
    for task, sizes in results.get("n-samples", {}).items():
        metrics = results.get("results", {}).get(task, {})
        if _count(metrics, "failed_items") is None:
            continue  # other people's
        size = len(samples[task]) if samples and task in samples else _size(sizes)
        failed = _count(metrics, "failed_items") or 0
        items += size
        missing += _count(metrics, "missing_items") or 0
        empty += _count(metrics, "empty_responses") or 0
        if failed > limit * size:
            yield (
                f"{failed:,} of {size:,} requests of {task} failed ({failed / size:.1%}; at most "
                f"{limit:.1%} are accepted, {MAX_FAILED_VARIABLE} changes that)"
                f"{_reasons(samples, task)}."
            )
    if items and missing >= items:
        yield (
            f"None of the {items:,} videos could be shown, so that nothing was measured: "
            "`video-reasoning doctor` says what is wrong with them."
        )
    elif items and empty >= items - missing:
        yield (
            f"All {empty:,} responses are empty. A model that thinks may have been cut off before "
            "it answered: raise --gen_kwargs max_new_tokens=N (and the model's own limit); "
            "otherwise the model does not work."
        )


def _size(sizes: Mapping[str, Any]) -> int:
    """Return how many questions were asked; a --limit below 1 is a share of them."""
    effective = float(sizes["effective"])
    return math.ceil(effective * int(sizes["original"])) if 0 < effective < 1 else int(effective)


def _count(metrics: Metrics, name: str) -> int | None:
    """Return a count of the harness's table, under whatever filter."""
    for key, value in metrics.items():
        if key.partition(",")[0] == name and isinstance(value, (int, float)):
            return int(value)
    return None


def _reasons(samples: Any, task: str) -> str:
    """Return the first reason that the samples give."""
    logged: Sequence[Mapping[str, Any]] = samples.get(task, ()) if samples else ()
    stated = (str(line.get("problem")) for line in logged if line.get("status") == "failed")
    first = next(stated, "")
    return f": {first}" if first else ""
