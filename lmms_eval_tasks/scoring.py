"""From a model's response to the harness's table: what all our tasks share.

``process_results`` of every task returns one flat dictionary. Keys that are metrics of the
task's YAML go to an aggregation; the others (``id``, ``score``, ``choice``, ``rule``, ``status``,
``problem``) only go to the sample log, which does not hold the document itself: the id leads to
its row in ``questions.parquet``.

An item has one of four states:

==========  =====================================================================
answered    the response names one of the options
unparsed    it names none: counted as wrong, and in ``unparsed_rate``
missing     the video could not be shown: left out of every accuracy, and counted
withheld    the release keeps the answer back: no accuracy, only predictions
==========  =====================================================================
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from loguru import logger

from video_reasoning.metrics.answers import Answer, parse_choice, parse_yes_no
from video_reasoning.tasks import media, store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.llm import extractor

Status = Literal["answered", "unparsed", "missing", "withheld"]
Document = Mapping[str, Any]


def first_response(results: Sequence[Any]) -> str:
    """The text of the first response, whatever the harness handed over."""
    response = results[0] if results else ""
    if isinstance(response, (list, tuple)):
        response = response[0] if response else ""
    return response if isinstance(response, str) else "" if response is None else str(response)


def letters(options: Sequence[str]) -> dict[str, str]:
    """Letter -> option, from A on.

    Raises:
        ValueError: for more than 26 options.
    """
    if len(options) > 26:
        raise ValueError(f"{len(options)} options are more than there are letters")
    return {chr(ord("A") + position): option for position, option in enumerate(options)}


def judge(
    benchmark: str, document: Document, results: Sequence[Any], *, needs_video: bool = True
) -> dict[str, Any]:
    """Scores one response to a multiple-choice or yes/no question. Never raises.

    Args:
        benchmark: name of the benchmark, for finding the video.
        document: a row of ``questions.parquet``; ``options`` empty means yes/no.
        results: the responses of the harness; the first is scored.
        needs_video: whether an item is missing if its video is; not so where it was asked blind.

    Returns:
        ``status``, ``choice`` (a letter, "yes" or "no", or None), ``rule`` (how the answer
        was found), ``score`` (1.0, 0.0, or None where there is nothing to score) and
        ``problem`` (why a missing item is missing, else the empty text).
    """
    try:
        reason = media.problem(benchmark, document) if needs_video else ""
        response = first_response(results)
        options = list(document.get("options") or [])
        answer = parse_choice(response, letters(options)) if options else parse_yes_no(response)
        if options and answer.value is None and not reason:
            answer = extractor.extract(response, letters(options)) or answer
    except Exception as error:  # the harness retries and then drops the whole run otherwise
        logger.error(f"{benchmark} {document.get('id')}: could not be scored: {error!r}")
        reason, answer = "", Answer(None, f"error: {type(error).__name__}")
    status = _status(reason, answer, document)
    score = None
    if status in ("answered", "unparsed") and document.get("answer"):
        score = float(answer.value == document["answer"])
    return {
        "status": status,
        "choice": answer.value,
        "rule": answer.rule,
        "score": score,
        "problem": reason,
    }


def _status(reason: str, answer: Answer, document: Document) -> Status:
    if reason:
        return "missing"
    if answer.value is None:
        return "unparsed"
    return "answered" if document.get("answer") else "withheld"


def common_metrics(
    benchmark: str, split: str, document: Document, judged: Mapping[str, Any]
) -> dict[str, Any]:
    """The metrics that every multiple-choice and yes/no task reports beside its accuracy.

    Returns:
        The judged keys for the log, plus ``unparsed_rate``, ``missing_items``, ``skipped_rows``
        and ``llm_extracted`` for the aggregations below.
    """
    missing = judged["status"] == "missing"
    rule = str(judged["rule"])
    return {
        "id": str(document.get("id")),
        **judged,
        "unparsed_rate": None if missing else float(judged["choice"] is None),
        "missing_items": {"missing": missing},
        "skipped_rows": {
            "benchmark": benchmark,
            "split": split,
            "task": str(document.get("task") or ""),
        },
        "llm_extracted": {
            "extracted": rule.startswith(extractor.FOUND),
            "failed": rule.removeprefix(extractor.FAILED)
            if rule.startswith(extractor.FAILED)
            else "",
        },
    }


def scored(document: Document, judged: Mapping[str, Any], **groups: str) -> dict[str, Any]:
    """What an accuracy's aggregation needs of one item.

    ``score`` is absent where there is nothing to score, so that the harness's own standard
    errors rest on the same items as the accuracy; ``video`` is the cluster for them.
    """
    item = {"id": str(document.get("id")), "video": str(document.get("video")), **groups}
    if judged["score"] is not None:
        item["score"] = judged["score"]
    return item


NOT_COUNTED: Mapping[str, Any] = {}
"""What a metric gets for an item that it does not rest on, e.g. easy items for ``acc_hard``.

Without a ``score`` the item is in neither the metric nor the harness's standard errors.
"""


def unscored(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item for a metric that is no mean over items: ``correct`` in the place of ``score``.

    The harness computes standard errors from ``score``; those of a mean over items would stand
    beside a ratio or a paired accuracy and be wrong.
    """
    return {("correct" if key == "score" else key): value for key, value in item.items()}


def accuracy(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Share of correct items, 0..1, over those that have a score; None where none has."""
    return _mean(item["score"] for item in items if "score" in item)


def unparsed_rate(items: Iterable[float | None]) -> float | None:
    """Share of responses that name no option, 0..1, over the items that were asked."""
    return _mean(item for item in items if item is not None)


def missing_items(items: Iterable[Mapping[str, bool]]) -> int:
    """How many items had no video that could be shown."""
    return sum(item["missing"] for item in items)


def skipped_rows(items: Sequence[Mapping[str, str]]) -> int | None:
    """How many rows of the release ``prepare`` could not read, for the tasks at hand.

    Rows of which even the task could not be read count for every task of their split. None
    where the store's manifest cannot be read.
    """
    wanted: dict[tuple[str, str], set[str]] = {}
    for item in items:
        wanted.setdefault((item["benchmark"], item["split"]), {""}).add(item["task"])
    total = 0
    for (benchmark, split), tasks in wanted.items():
        try:
            manifest = store.read_manifest(benchmark) or {}
        except StoreError as error:
            logger.error(str(error))
            return None
        rows = manifest.get("splits", {}).get(split, {}).get("skipped", [])
        total += sum(row.get("task", "") in tasks for row in rows)
    return total


def llm_extracted(items: Sequence[Mapping[str, Any]]) -> int:
    """How many answers a language model read (see :mod:`video_reasoning.tasks.llm.extractor`).

    Requests that had no reply are no answers; one line in the log counts them by reason.
    """
    failed = Counter(str(item["failed"]) for item in items if item["failed"])
    if failed:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in failed.most_common())
        logger.warning(
            f"{failed.total():,} responses stay unparsed because the extractor gave no reply: "
            f"{listed}."
        )
    return sum(bool(item["extracted"]) for item in items)


def withheld_items(items: Iterable[Mapping[str, bool]]) -> int:
    """How many questions have no published answer to be held against."""
    return sum(item["withheld"] for item in items)


def _mean(values: Iterable[float]) -> float | None:
    numbers = [value for value in values if not math.isnan(value)]
    return math.fsum(numbers) / len(numbers) if numbers else None


def total(metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool) -> float:
    """A group's count: the sum of its tasks' counts. For a group's ``aggregation``."""
    del sizes, weight_by_size
    return math.fsum(metric for metric in metrics if metric is not None)


def weighted(
    metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool
) -> float | None:
    """A group's rate: the mean over its tasks that have one, weighed by their documents.

    The harness's own "mean" fails on a task that has nothing to average.
    """
    known = [
        (metric, size if weight_by_size else 1)
        for metric, size in zip(metrics, sizes, strict=True)
        if metric is not None
    ]
    weight = sum(size for _, size in known)
    return math.fsum(metric * size for metric, size in known) / weight if weight else None
