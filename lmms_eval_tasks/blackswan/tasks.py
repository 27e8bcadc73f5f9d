"""BlackSwanSuite: what a model is shown, and scoring as the harness calls it.

Three tasks by what a model may see (section 3): the Forecaster the beginning, the Detective the
beginning and the end around a hidden middle, the Reporter everything. Each is asked in up to
three forms: generation (see :mod:`.generation`), multiple choice, and yes or no.

Every function is stateless: the harness scores documents in four threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from loguru import logger

from video_reasoning.metrics.accuracy import difference
from video_reasoning.preprocessing.conditions import Condition
from video_reasoning.tasks import media, registry, scoring, store
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.blackswan import prompts
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.scoring import Questions, of_task

BENCHMARK = "blackswan"

DEFAULT_PART_FRAMES = "ordered10"
"""What a ``_parts`` task shows of each part if nothing else is named: as GPT-4o was shown."""

DIFFICULTIES = ("easy", "medium", "hard")
"""By how many Detective hypotheses stayed valid: two or more, one, none (section 7.3)."""

NOT_HARD = frozenset({"easy", "medium"})
"""What table 8 calls "Easy": every question that is not hard."""

Document = Mapping[str, Any]
Settings = Mapping[str, Any] | None
Results = Sequence[Any]


PARTS: Mapping[str, tuple[str, ...]] = {
    "forecaster": ("video_before",),
    "detective": ("video_before", "video_after"),
    "reporter": ("video_before", "video_event", "video_after"),
}
"""Task -> the columns of the parts that it may see, in order."""


class ClipsError(UserError):
    """A task with several clips was given to a model that cannot know which is which."""


# What is shown


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Settings = None) -> list[Any]:
    """Show one video: V_pre alone, V_pre + black + V_post, or all three parts, by the task."""
    return media.hand_over(BENCHMARK, doc, media.show(BENCHMARK, doc), lmms_eval_specific_kwargs)


def no_visual_for_simple_models(doc: Document) -> list[str]:
    """Refuse: a model without chat messages would see two clips and not which is which.

    Raises:
        ClipsError: Always.
    """
    raise ClipsError(
        f"{doc.get('id')}: the _clips and _parts tasks show each part of the video by itself, "
        "with sentences between them, which only chat models can be sent; use a chat model (no "
        "--force_simple), or the task of the same name without the ending, which shows one video."
    )


def detective_gen_messages(
    doc: Document, lmms_eval_specific_kwargs: Settings = None
) -> list[dict[str, Any]]:
    """Return two clips and the question of Detective-Gen, for chat models."""
    return _messages(doc, prompts.detective_gen(doc), lmms_eval_specific_kwargs)


def detective_mcq_messages(
    doc: Document, lmms_eval_specific_kwargs: Settings = None
) -> list[dict[str, Any]]:
    """Return two clips and the question of Detective-MCQ, for chat models."""
    return _messages(doc, prompts.detective_mcq(doc), lmms_eval_specific_kwargs)


def detective_yn_messages(
    doc: Document, lmms_eval_specific_kwargs: Settings = None
) -> list[dict[str, Any]]:
    """Return two clips and the question of Detective-Y/N, for chat models."""
    return _messages(doc, prompts.yes_no(doc), lmms_eval_specific_kwargs)


def _messages(doc: Document, question: str, settings: Settings) -> list[dict[str, Any]]:
    """Return V_pre and V_post as two clips, each after its sentence, then the question (app. E)."""
    content = _in_parts(doc, PARTS["detective"], settings, None)
    content.append({"type": "text", "text": f"\n{question}"})
    return [{"role": "user", "content": content}]


def parts_messages(
    doc: Document, lmms_eval_specific_kwargs: Settings = None
) -> list[dict[str, Any]]:
    """Return frames of every part that the task may see, in order, then the question (app. E).

    As many of each part as the task's condition says, at equal intervals: 10 for GPT-4o, 5 for
    VILA. A sentence precedes each of the Detective's two parts; the others' parts follow each
    other.
    """
    shown = Condition.parse(
        scoring.named_condition(doc, lmms_eval_specific_kwargs, DEFAULT_PART_FRAMES)
    )
    content = _in_parts(doc, parts_of(doc), lmms_eval_specific_kwargs, shown)
    question = prompts.of_kind(str(doc["task"]))(doc)
    content.append({"type": "text", "text": f"\n{question}"})
    return [{"role": "user", "content": content}]


def _in_parts(
    doc: Document, columns: Sequence[str], settings: Settings, condition: Condition | None
) -> list[dict[str, Any]]:
    """Return the parts of a video as parts of a message; a Detective's after their sentences."""
    sentences: tuple[str, ...] = ()
    if tuple(columns) == PARTS["detective"]:
        sentences = (f"{prompts.BEGINNING}\n", f"\n{prompts.END}\n")
    problem = parts_problem(doc, columns)
    content: list[dict[str, Any]] = []
    for place, column in enumerate(columns):
        part = {**doc, "video": doc.get(column), "problem": problem}
        clips = media.show(BENCHMARK, part, condition)
        handed = media.hand_over(BENCHMARK, part, clips, settings, condition)
        if sentences:
            content.append({"type": "text", "text": sentences[place]})
        content += map(media.part_of_message, handed)
    return content


def parts_of(doc: Document) -> tuple[str, ...]:
    """Return the columns of the parts that a document's task may see, in order."""
    return PARTS.get(str(doc["task"]).partition("_")[0], ("video",))


def parts_problem(doc: Document, columns: Sequence[str]) -> str:
    """Say why one of several parts cannot be shown, or return the empty text."""
    for column in columns:
        if column not in doc:
            return "the store is of an earlier version; run `video-reasoning prepare blackswan`"
        reason = media.problem(BENCHMARK, {**doc, "video": doc.get(column)})
        if reason:
            return reason
    return ""


# Scoring of multiple choice and yes or no


def doc_to_target(doc: Document) -> str:
    """Return the right option's letter, "yes" or "no"; empty if it is withheld or absent."""
    return str(doc["answer"])


def process_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score one question; see :mod:`video_reasoning.tasks.scoring`."""
    judged = scoring.judge(BENCHMARK, doc, results)
    item = scoring.scored(doc, judged, difficulty=str(doc["difficulty"]))
    belongs = {name: doc["difficulty"] == name for name in DIFFICULTIES}
    belongs["not_hard"] = doc["difficulty"] in NOT_HARD
    return {
        **scoring.common_metrics(BENCHMARK, doc, judged, results),
        "accuracy": item,
        **scoring.belonging(item, belongs),
        "hard_delta": scoring.unscored(item),
        "withheld_items": {"withheld": not doc["answer"]},
    }


def hard_delta(items: Iterable[Mapping[str, Any]]) -> float | None:
    """Accuracy over hard questions minus that over all others (table 8), -1..1."""
    rated = [item for item in items if item.get("difficulty") in DIFFICULTIES]
    hard = [item["difficulty"] == "hard" for item in rated]
    return scoring.defined(difference([item.get("correct") for item in rated], hard))


def process_clips_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score one question whose two clips were shown instead of the joined one."""
    return process_results(in_parts(doc, PARTS["detective"]), results)


def process_parts_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score one question that was shown as frames of every part."""
    return process_results(in_parts(doc, parts_of(doc)), results)


def in_parts(doc: Document, columns: Sequence[str]) -> Document:
    """Return a document whose video is its first part, with the problem of any of its parts."""
    return {**doc, "video": doc[columns[0]], "problem": parts_problem(doc, columns)}


def process_captioned_results(doc: Document, results: Results) -> dict[str, Any]:
    """Score one question of a task that asks only the questions that have captions."""
    captionless = {"split": str(doc.get("split") or "")}
    return {**process_results(doc, results), "captionless_items": captionless}


def _captionless(kind: str) -> Callable[[Iterable[Mapping[str, str]]], int | None]:
    """Return an aggregation that counts the Detective-MCQ questions without captions."""

    def captionless_items(items: Iterable[Mapping[str, str]]) -> int | None:
        count = 0
        for split in {item["split"] for item in items}:
            try:
                summary = store.split_summary(BENCHMARK, split)
            except StoreError as error:
                logger.error(str(error))
                return None
            asked = summary.get("captioned", {}).get(kind)
            if asked is None:
                return None
            count += int(summary["tasks"].get("detective_mcq", 0)) - int(asked)
        return count

    return captionless_items


_METRICS = [
    scoring.metric("accuracy", scoring.accuracy),
    *(scoring.metric(f"acc_{name}", scoring.accuracy) for name in (*DIFFICULTIES, "not_hard")),
    scoring.metric("hard_delta", hard_delta),
    *scoring.COMMON,
    scoring.WITHHELD,
]


def _captioned_metrics(kind: str) -> list[dict[str, Any]]:
    counted = scoring.metric("captionless_items", _captionless(kind), higher_is_better=False)
    return [*_METRICS, counted]


_GENERATED = ("clip_score", "llm_match", "bleu", "rouge_l")
_COUNTS = ("missing_items", "failed_items", "skipped_rows", "withheld_items")

__getattr__ = scoring.attributes(
    __name__,
    METRICS=_METRICS,
    PERCEPTION_METRICS=_captioned_metrics("detective_mcq_perception"),
    COMPREHENSION_METRICS=_captioned_metrics("detective_mcq_perception_comprehension"),
    CLOSED_GROUP=scoring.group_metrics(("accuracy", "unparsed_rate"), _COUNTS),
    GENERATION_GROUP=scoring.group_metrics((*_GENERATED, "unparsed_rate"), _COUNTS),
    # A metric rests on the tasks that have it: accuracy on multiple choice and yes or no
    # together, which the paper never pools; the groups inside print them apart.
    WHOLE_GROUP=scoring.group_metrics(("accuracy", *_GENERATED, "unparsed_rate"), _COUNTS),
    metadata=partial(scoring.metadata, BENCHMARK, 1.1),
)


# Which questions a task asks


def _with_captions(kind: str) -> Questions:
    """Return a ``process_docs`` that keeps the Detective-MCQ questions with a task's captions."""
    return Questions(
        ("detective_mcq",),
        filled=BENCHMARKS[BENCHMARK].kinds[kind],
        otherwise=registry.without_columns(BENCHMARK, kind),
    )


forecaster_gen = of_task("forecaster_gen")
detective_gen = of_task("detective_gen")
detective_mcq = of_task("detective_mcq")
detective_yn = of_task("detective_yn")
reporter_gen = of_task("reporter_gen")
reporter_mcq = of_task("reporter_mcq")
reporter_yn = of_task("reporter_yn")
detective_mcq_perception = _with_captions("detective_mcq_perception")
detective_mcq_perception_comprehension = _with_captions("detective_mcq_perception_comprehension")
