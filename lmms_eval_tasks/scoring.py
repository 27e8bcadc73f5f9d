"""From a model's response to the harness's table: what all our tasks share.

``process_results`` of every task returns one flat dictionary. Keys that are metrics of the task
go to an aggregation; the others (:data:`LOGGED`) only go to the sample log, which does not
contain the document itself: the id leads to its row in ``questions.parquet``. The metrics are
listed beside the function that returns them, and the YAML names that list.

The states of an item are those of :mod:`video_reasoning.tasks.states`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from loguru import logger

from video_reasoning.metrics.accuracy import mean, weighted_mean
from video_reasoning.metrics.answers import Answer, parse_choice, parse_yes_no
from video_reasoning.tasks import media, sight, store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.llm import extractor
from video_reasoning.tasks.models.software import software
from video_reasoning.tasks.states import LEFT_OUT, Status, failure

Document = Mapping[str, Any]

LOGGED = frozenset(
    {
        *("id", "status", "choice", "rule", "score", "problem", "prompt"),
        *("frames_shown", "frames_in_order", "frames_as", "clock"),
    }
)
"""Keys of ``process_results`` that only go to the sample log."""


# What a YAML names


@dataclass(frozen=True)
class Questions:
    """A ``process_docs``: which questions a task asks, and how, as columns of its documents.

    Attributes:
        kinds: Values of the column ``task`` to keep; none for all.
        filled: Columns that must not be empty, such as captions.
        otherwise: What to say if no question is left.
    """

    kinds: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    otherwise: str = ""

    def __call__(self, dataset: Any) -> Any:
        """Select the questions of a ``datasets.Dataset``, in order; see :func:`how_asked`.

        Raises:
            StoreError: No question is left.
        """
        if self.kinds:
            names = ("task", *self.filled)
            known = set(names) <= set(dataset.column_names)
            columns = [dataset[name] for name in names] if known else []
            kept = [
                row
                for row, (kind, *texts) in enumerate(zip(*columns, strict=True))
                if kind in self.kinds and all(texts)
            ]
            if not kept:
                raise StoreError(
                    self.otherwise
                    or f"The prepared release has no questions of {', '.join(sorted(self.kinds))}; "
                    "`video-reasoning doctor` lists what it has."
                )
            # A column that is added to selected rows would copy them, one by one.
            return how_asked(dataset).select(kept)
        return how_asked(dataset)


def of_task(*kinds: str) -> Questions:
    """Return a ``process_docs`` that keeps the questions whose ``task`` is one of those named."""
    return Questions(kinds)


def how_asked(dataset: Any) -> Any:
    """Add the columns ``split`` and ``condition``, unless a dataset has them.

    ``process_results`` gets nothing but the document and the responses. The condition is the
    YAML's ``dataset_name``, which the harness passes to ``datasets`` as the configuration's name.
    """
    condition = dataset.config_name or "default"
    for name, value in (
        ("split", str(dataset.split or "")),
        ("condition", "" if condition == "default" else condition),
    ):
        if value and name not in dataset.column_names:
            dataset = dataset.add_column(name, [value] * len(dataset))
    return dataset


def named_condition(document: Document, settings: Mapping[str, Any] | None, default: str) -> str:
    """Return the name of the frames to show: from the YAML's settings, the document, the default.

    Args:
        document: Its column ``condition`` is read, see :func:`how_asked`.
        settings: ``lmms_eval_specific_kwargs``; ``condition`` in it wins.
        default: What the benchmark shows if neither names a condition.
    """
    return str((settings or {}).get("condition") or document.get("condition") or default)


def prompt_style(settings: Mapping[str, Any] | None) -> str:
    """Return whose layout a prompt has: "paper", or "released" for the authors' code.

    Args:
        settings: ``lmms_eval_specific_kwargs``; its ``prompt_style`` is read.

    Raises:
        ValueError: There is no such style.
    """
    style = str((settings or {}).get("prompt_style") or "paper")
    if style not in ("paper", "released"):
        raise ValueError(f"There is no prompt_style '{style}': use 'paper' or 'released'.")
    return style


def metric(
    name: str, aggregation: Callable[..., Any], *, higher_is_better: bool = True
) -> dict[str, Any]:
    """Return an entry of a ``metric_list``."""
    return {"metric": name, "aggregation": aggregation, "higher_is_better": higher_is_better}


def group_metrics(rates: Iterable[str], counts: Iterable[str]) -> list[dict[str, Any]]:
    """Return a group's ``aggregate_metric_list``: rates weighed by questions, counts added up."""
    return [
        *({"metric": name, "aggregation": weighted, "weight_by_size": True} for name in rates),
        *({"metric": name, "aggregation": total} for name in counts),
    ]


def attributes(module: str, **values: Any) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` for what YAMLs name, made again at each access.

    The harness keeps and changes the lists that a YAML gives it.

    Args:
        module: Name of the module.
        **values: Attribute -> its value, which is copied, or a function that makes it.
    """

    def find(name: str) -> Any:
        if name not in values:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        value = values[name]
        return value() if callable(value) else deepcopy(value)

    return find


def metadata(benchmark: str, version: float, **more: str) -> dict[str, Any]:
    """Return a task's ``metadata``: its version, a digest of the store, and what it runs on."""
    known = {"store": store.content_digest(benchmark), "software": software()}
    return {"version": version, **more, **known}


# One response


def first_response(results: Sequence[Any]) -> str:
    """Return the text of the first response, whatever the harness passes."""
    response = results[0] if results else ""
    if isinstance(response, (list, tuple)):
        response = response[0] if response else ""
    return response if isinstance(response, str) else "" if response is None else str(response)


def letters(options: Sequence[str]) -> dict[str, str]:
    """Return letter -> option, from A on.

    Raises:
        ValueError: There are more than 26 options.
    """
    if len(options) > len(ascii_uppercase):
        raise ValueError(f"{len(options)} options are more than there are letters")
    return dict(zip(ascii_uppercase, options, strict=False))


def judge(
    benchmark: str, document: Document, results: Sequence[Any], *, needs_video: bool = True
) -> dict[str, Any]:
    """Score one response to a multiple-choice or yes/no question. Never raises.

    Args:
        benchmark: Name of the benchmark, for finding the video.
        document: A row of ``questions.parquet``; ``options`` empty means yes/no.
        results: The responses of the harness; the first is scored.
        needs_video: Whether an item is missing if its video is; not so if it was asked blind.

    Returns:
        ``status``, ``choice`` (a letter, "yes" or "no", or None), ``rule`` (how the answer
        was found), ``score`` (1.0, 0.0, or None if there is nothing to score) and
        ``problem`` (why a missing or failed item is so, else the empty text).
    """
    failed = ""
    try:
        reason = media.problem(benchmark, document) if needs_video else ""
        failed = failure(results[:1])
        answer = Answer(None, "") if failed else _read(document, results, ask=not reason)
    except Exception as error:  # the harness retries and then drops the whole run otherwise
        logger.error(f"{benchmark} {document.get('id')}: could not be scored: {error!r}")
        reason, failed = "", f"the response could not be scored: {error!r}"
        answer = Answer(None, f"error: {type(error).__name__}")
    status = state(
        reason, failed, parsed=answer.value is not None, known=bool(document.get("answer"))
    )
    score = None
    if status in ("answered", "unparsed") and document.get("answer"):
        score = float(answer.value == document["answer"])
    return {
        "status": status,
        "choice": answer.value,
        "rule": answer.rule,
        "score": score,
        "problem": reason or failed,
    }


def _read(document: Document, results: Sequence[Any], *, ask: bool) -> Answer:
    """Return what the first response says; a language model may be asked, too."""
    response = first_response(results)
    options = list(document.get("options") or [])
    if not options:
        return parse_yes_no(response)
    answer = parse_choice(response, letters(options))
    if answer.value is None and ask:
        return extractor.extract(response, letters(options)) or answer
    return answer


def state(problem: str, failed: str, *, parsed: bool, known: bool) -> Status:
    """Return the state of an item.

    Args:
        problem: Why its video cannot be shown, or the empty text.
        failed: Why there is no response, or the empty text.
        parsed: Whether the response says anything.
        known: Whether the right answer is published.
    """
    if problem:
        return "missing"
    if failed:
        return "failed"
    if not parsed:
        return "unparsed"
    return "answered" if known else "withheld"


def common_metrics(
    benchmark: str, document: Document, judged: Mapping[str, Any], results: Sequence[Any]
) -> dict[str, Any]:
    """Return what every multiple-choice and yes/no task reports beside its accuracy.

    Returns:
        The judged keys for the log, and an item for each of :data:`COMMON`.
    """
    rule = str(judged["rule"])
    return {
        "id": str(document.get("id")),
        **judged,
        "frames_as": media.handed_over(benchmark, document),
        "unparsed_rate": (
            None if judged["status"] in LEFT_OUT else float(judged["choice"] is None)
        ),
        "llm_extracted": {
            "extracted": rule.startswith(extractor.FOUND),
            "failed": rule.removeprefix(extractor.FAILED)
            if rule.startswith(extractor.FAILED)
            else "",
        },
        **counted(benchmark, document, judged["status"], empty=not first_response(results).strip()),
    }


def counted(benchmark: str, document: Document, status: Status, *, empty: bool) -> dict[str, Any]:
    """Return an item for each of :data:`COUNTS`, and what else is known of the frames.

    Args:
        benchmark: Name of the benchmark.
        document: A row of ``questions.parquet``.
        status: The item's state.
        empty: Whether the model said nothing.
    """
    seen = sight.Sight() if status == "missing" else sight.sight_of(benchmark, document)
    return {
        "frames_seen": seen.seen,
        "frames_shown": seen.shown,
        "frames_in_order": seen.ordered,
        "clock": media.clock_of(benchmark, document),
        "missing_items": {"missing": status == "missing"},
        "failed_items": {"failed": status == "failed"},
        "empty_responses": {"empty": empty and status not in LEFT_OUT},
        "skipped_rows": {
            "benchmark": benchmark,
            "split": str(document.get("split") or ""),
            "task": str(document.get("task") or ""),
        },
    }


def scored(document: Document, judged: Mapping[str, Any], **groups: str) -> dict[str, Any]:
    """Return what an accuracy's aggregation needs of one item.

    ``score`` is absent if there is nothing to score, so that the harness's own standard errors
    rest on the same items as the accuracy; ``video`` is the cluster for them.
    """
    item = {"id": str(document.get("id")), "video": str(document.get("video")), **groups}
    if judged["score"] is not None:
        item["score"] = judged["score"]
    return item


NOT_COUNTED: Mapping[str, Any] = {}
"""What a metric gets for an item that it does not rest on, e.g. easy items for ``acc_hard``.

Without a ``score`` the item is in neither the metric nor the harness's standard errors.
"""


def belonging(item: Mapping[str, Any], belongs: Mapping[str, bool]) -> dict[str, Any]:
    """Return the item for each breakdown that it belongs to, ``acc_<name>``, and none for others.

    Args:
        item: As :func:`scored` gives it.
        belongs: Name of the breakdown -> whether the item counts in it.
    """
    return {f"acc_{name}": item if its else NOT_COUNTED for name, its in belongs.items()}


def unscored(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item for a metric that is not a mean over items: ``correct`` for ``score``.

    The harness computes standard errors from ``score``; those of a mean over items would appear
    beside a ratio or a paired accuracy and be wrong.
    """
    return {("correct" if key == "score" else key): value for key, value in item.items()}


# Aggregations


class Share(float):
    """A mean over items that knows how many these are, so that a group can weigh it.

    Attributes:
        n: Items that it rests on.
    """

    n: int

    def __new__(cls, value: float, n: int) -> Share:
        """Make the mean a number with its items."""
        made = super().__new__(cls, value)
        made.n = n
        return made

    def __reduce__(self) -> tuple[type[Share], tuple[float, int]]:
        """Return what a copy is made of."""
        return Share, (float(self), self.n)


def share(values: Iterable[float | None]) -> Share | None:
    """Return the mean of the values that there are, with how many these are; None for none."""
    known = [value for value in values if value is not None]
    return Share(mean(known), len(known)) if known else None


def defined(value: float) -> float | None:
    """Return None for NaN: the harness's table then says N/A."""
    return None if math.isnan(value) else value


def accuracy(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Share of correct items, 0..1, over those that have a score; None if none has."""
    return share(item.get("score") for item in items)


def unparsed_rate(items: Iterable[float | None]) -> float | None:
    """Share of responses that name no option, 0..1, over the items that were asked."""
    return share(items)


def frames_seen(items: Sequence[float | None]) -> float | None:
    """Mean number of different frames that reached the model, over the items where it is known.

    The log has the fewest, too: a mean hides a single question whose frames were lost.
    """
    known = [item for item in items if item is not None]
    if known:
        logger.info(f"frames_seen: {min(known):g} at least, over {len(known):,} items.")
    return defined(mean(known))


def missing_items(items: Iterable[Mapping[str, bool]]) -> int:
    """Count the items without a video that could be shown."""
    return sum(item["missing"] for item in items)


def failed_items(items: Iterable[Mapping[str, bool]]) -> int:
    """Count the items whose request failed, or whose response could not be scored."""
    return sum(item["failed"] for item in items)


def empty_responses(items: Iterable[Mapping[str, bool]]) -> int:
    """Count the responses without a character: thinking that was cut off comes as one of them."""
    return sum(item["empty"] for item in items)


def skipped_rows(items: Sequence[Mapping[str, str]]) -> int | None:
    """Count the rows of the release that ``prepare`` could not read, for the tasks at hand.

    A row whose task could not be read counts for every task of its split. None if the store's
    manifest cannot be read, or the documents do not say their split.
    """
    wanted: dict[tuple[str, str], set[str]] = {}
    for item in items:
        wanted.setdefault((item["benchmark"], item["split"]), {""}).add(item["task"])
    if any(not split for _, split in wanted):
        return None
    try:
        return sum(
            row.get("task", "") in tasks
            for (benchmark, split), tasks in wanted.items()
            for row in store.split_summary(benchmark, split).get("skipped", [])
        )
    except StoreError as error:
        logger.error(str(error))
        return None


def llm_extracted(items: Sequence[Mapping[str, Any]]) -> int:
    """Count the answers that a language model read: :mod:`video_reasoning.tasks.llm.extractor`.

    Requests without a reply are not answers; one line in the log counts them by reason.
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
    """Count the questions without a published answer."""
    return sum(item["withheld"] for item in items)


def total(metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool) -> float:
    """Return a group's count: the sum of its tasks' counts. For a group's ``aggregation``."""
    del sizes, weight_by_size
    return float(sum(metric for metric in metrics if metric is not None))


def weighted(
    metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool
) -> float | None:
    """Return a group's rate: the mean over its tasks that have one, weighed by their items.

    The harness counts a task's documents, and its own "mean" fails on a task that has nothing to
    average. A rate over a part of the documents (:class:`Share`) weighs as much as that part, so
    that a breakdown over the group is that of all its items together.
    """
    weights = [getattr(metric, "n", size) for metric, size in zip(metrics, sizes, strict=True)]
    return defined(weighted_mean(metrics, weights if weight_by_size else [1] * len(weights)))


COUNTS = (
    metric("frames_seen", frames_seen),
    metric("missing_items", missing_items, higher_is_better=False),
    metric("failed_items", failed_items, higher_is_better=False),
    metric("empty_responses", empty_responses, higher_is_better=False),
    metric("skipped_rows", skipped_rows, higher_is_better=False),
)
"""Metrics that every task has."""

COMMON = (
    metric("unparsed_rate", unparsed_rate, higher_is_better=False),
    metric("llm_extracted", llm_extracted, higher_is_better=False),
    *COUNTS,
)
"""Metrics of every multiple-choice and yes/no task; see :func:`common_metrics`."""

WITHHELD = metric("withheld_items", withheld_items, higher_is_better=False)
"""For benchmarks that withhold the answers of a split."""
