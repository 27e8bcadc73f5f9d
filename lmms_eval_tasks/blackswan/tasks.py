"""BlackSwanSuite: what a model is shown, and scoring as the harness calls it.

Three tasks by what a model may see (section 3): the Forecaster the beginning, the Detective the
beginning and the end around a hidden middle, the Reporter everything. Each is asked in up to
three forms: generation (see :mod:`.generation`), multiple choice, and yes or no.

Every function is stateless: the harness scores documents in four threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loguru import logger

from video_reasoning.tasks import media, scoring, store
from video_reasoning.tasks.blackswan import captions, prompts
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.selection import of_task

BENCHMARK = "blackswan"

DIFFICULTIES = ("easy", "medium", "hard")
"""By how many Detective hypotheses stayed valid: two or more, one, none (section 7.3)."""

Document = Mapping[str, Any]
Results = Sequence[Any]


class ClipsError(UserError):
    """A task with two clips was given to a model that cannot be told which is which."""


# What is shown


def doc_to_visual(doc: Document) -> list[str]:
    """One video: V_pre alone, V_pre + black + V_post, or all three parts, as the task has it."""
    return media.show(BENCHMARK, doc)


def no_visual_for_simple_models(doc: Document) -> list[str]:
    """Refuses: a model without chat messages would see two clips and not which is which.

    Raises:
        ClipsError: always.
    """
    raise ClipsError(
        f"{doc.get('id')}: the _clips tasks show two videos with a sentence before each, which "
        "only chat models can be sent; use a chat model (no --force_simple), or the task of the "
        "same name without _clips, which shows one video."
    )


def detective_gen_messages(doc: Document) -> list[dict[str, Any]]:
    """Two clips and the question of Detective-Gen, for chat models."""
    return _messages(doc, prompts.detective_gen(doc))


def detective_mcq_messages(doc: Document) -> list[dict[str, Any]]:
    """Two clips and the question of Detective-MCQ, for chat models."""
    return _messages(doc, prompts.detective_mcq(doc))


def detective_yn_messages(doc: Document) -> list[dict[str, Any]]:
    """Two clips and the question of Detective-Y/N, for chat models."""
    return _messages(doc, prompts.yes_no(doc))


def _messages(doc: Document, question: str) -> list[dict[str, Any]]:
    """V_pre and V_post as two clips, each after its sentence, then the question (appendix E)."""
    problem = clips_problem(doc)
    clips = [
        media.show(BENCHMARK, {**doc, "video": doc[column], "problem": problem})[0]
        for column in ("video_before", "video_after")
    ]
    texts = (f"{prompts.BEGINNING}\n", f"\n{prompts.END}\n")
    content: list[dict[str, str]] = []
    for text, clip in zip(texts, clips, strict=True):
        content += [{"type": "text", "text": text}, {"type": "video", "url": clip}]
    content.append({"type": "text", "text": f"\n{question}"})
    return [{"role": "user", "content": content}]


def clips_problem(doc: Document) -> str:
    """Why one of a Detective's two clips cannot be shown, or the empty text."""
    for column in ("video_before", "video_after"):
        reason = media.problem(BENCHMARK, {**doc, "video": doc.get(column)})
        if reason:
            return reason
    return ""


# Scoring of multiple choice and yes or no


def doc_to_target(doc: Document) -> str:
    """The right option's letter, "yes" or "no"; empty where it is withheld or there is none."""
    return str(doc["answer"])


def _processor(
    split: str, *, clips: bool = False, captioned: bool = False
) -> Callable[[Document, Results], dict[str, Any]]:
    """A ``process_results`` for one split.

    Args:
        split: "validation" or "test".
        clips: whether the two clips were shown instead of the joined one.
        captioned: whether the task asks only the questions that have captions.
    """

    def process_results(doc: Document, results: Results) -> dict[str, Any]:
        if clips:
            doc = {**doc, "video": doc["video_before"], "problem": clips_problem(doc)}
        judged = scoring.judge(BENCHMARK, doc, results)
        item = scoring.scored(doc, judged, difficulty=str(doc["difficulty"]))
        logged = {
            **scoring.common_metrics(BENCHMARK, split, doc, judged),
            "accuracy": item,
            **{
                f"acc_{name}": item if doc["difficulty"] == name else scoring.NOT_COUNTED
                for name in DIFFICULTIES
            },
            "withheld_items": {"withheld": not doc["answer"]},
        }
        if captioned:
            logged["captionless_items"] = {"split": split}
        return logged

    return process_results


process_results_validation = _processor("validation")
process_results_test = _processor("test")
process_clips_results_validation = _processor("validation", clips=True)
process_clips_results_test = _processor("test", clips=True)
process_captioned_results_validation = _processor("validation", captioned=True)
process_captioned_results_test = _processor("test", captioned=True)


def captionless_perception(items: Sequence[Mapping[str, str]]) -> int | None:
    """How many Detective-MCQ questions were left out for want of captions of both ends."""
    return _captionless(items, "detective_mcq_perception")


def captionless_comprehension(items: Sequence[Mapping[str, str]]) -> int | None:
    """As :func:`captionless_perception`, for want of any of the three captions."""
    return _captionless(items, "detective_mcq_perception_comprehension")


def _captionless(items: Sequence[Mapping[str, str]], task: str) -> int | None:
    """None where the store's manifest cannot be read."""
    try:
        manifest = store.read_manifest(BENCHMARK) or {}
    except StoreError as error:
        logger.error(str(error))
        return None
    count = 0
    for split in {item["split"] for item in items}:
        summary = manifest.get("splits", {}).get(split, {})
        asked = summary.get("captioned", {}).get(task)
        if asked is None:
            return None
        count += int(summary["tasks"].get("detective_mcq", 0)) - int(asked)
    return count


# Which questions a task asks (the names are those of the `task` column)

forecaster_gen = of_task("forecaster_gen")
detective_gen = of_task("detective_gen")
detective_mcq = of_task("detective_mcq")
detective_yn = of_task("detective_yn")
reporter_gen = of_task("reporter_gen")
reporter_mcq = of_task("reporter_mcq")
reporter_yn = of_task("reporter_yn")


def _with_captions(task: str) -> Callable[[Any], Any]:
    """A ``process_docs`` that keeps the Detective-MCQ questions with the captions of a task."""
    columns = captions.TASKS[task]

    def process_docs(dataset: Any) -> Any:
        rows: list[int] = []
        if set(columns) <= set(dataset.column_names):
            values = [dataset[column] for column in ("task", *columns)]
            rows = [
                row
                for row, (asked, *texts) in enumerate(zip(*values, strict=True))
                if asked == "detective_mcq" and all(texts)
            ]
        if not rows:
            raise StoreError(captions.missing_captions(task))
        return dataset.select(rows)

    return process_docs


detective_mcq_perception = _with_captions("detective_mcq_perception")
detective_mcq_perception_comprehension = _with_captions("detective_mcq_perception_comprehension")
