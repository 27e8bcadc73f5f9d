"""From output folders to items: all that a report says of a task rests on what is read here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.results.logs import (
    OddLines,
    Run,
    Sample,
    TaskResult,
    find_runs,
    read_samples,
)
from video_reasoning.tasks.store.questions import load_questions, questions_of
from video_reasoning.tasks.store.text_files import is_regular, loads

__all__ = ["GENERATION", "Item", "ReportError", "TaskLog", "gather", "read_task"]

GENERATION = ("clip_score", "llm_match", "bleu", "rouge_l")
"""Metrics of responses in free text, in the order of the papers' tables."""

_GROUPS = ("type", "difficulty", "demonstration_type", "qid", "variant", "condition")
_VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")
_DEMONSTRATION_TYPES = ("human", "object", "simulated")
_COLUMNS = (
    "id",
    "task",
    "question",
    "options",
    "answer",
    "video",
    "problem",
    "frames",
    "references",
    "hypothesis",
    "video_before",
    "video_after",
    *_GROUPS[:-1],
    *_VARIATIONS,
)
_QUOTES = str.maketrans("", "", "\\'\"\n")
_KEPT = 1500
"""Characters kept of the beginning and of the end of a response."""


class ReportError(UserError):
    """Results that no report or comparison can be made of."""


@dataclass(slots=True)
class Item:
    """One logged line, joined to its question.

    Attributes:
        line: its number in the sample log, from 1.
        id: the question's id.
        video: what the item is clustered by; the id where the log names no video.
        status: "answered", "unparsed", "missing" or "withheld"; for generated text "answered".
        choice: the letter, "yes" or "no" that was read, or None.
        rule: how it was found.
        score: 1.0 right, 0.0 wrong; None where nothing was scored.
        problem: why a missing item is missing.
        target: the right answer as logged.
        response: what the model wrote; long ones without their middle.
        condition: the frames shown, such as "ordered16"; empty where the task has one way only.
        groups: breakdown -> value, such as "difficulty" -> "hard".
        short: whether the video has fewer frames than were to be shown.
        values: generation metric -> value of this question.
        prompt: a digest of the text that was sent.
    """

    line: int
    id: str
    video: str
    status: str
    choice: str | None
    rule: str
    score: float | None
    problem: str
    target: str
    response: str
    condition: str
    groups: dict[str, str]
    short: bool
    values: dict[str, float]
    prompt: str


@dataclass
class TaskLog:
    """One task of one run with its items.

    Attributes:
        run: the run.
        task: the task's name in the harness.
        result: what the run's results file says of it.
        benchmark: "blackswan", "causalvqa", "tvbench", or empty for a task that is not ours.
        split: the split asked, or empty.
        items: the log's usable lines, in order.
        odd: the lines that were left out.
        questions: id -> row of the store's questions; empty where they are gone.
        questions_file: where they were read, or None.
        changed: ids whose question in the store is not the one that was asked.
        problem: why the questions could not be read, or the empty text.
        example: the prompt of the first item.
    """

    run: Run
    task: str
    result: TaskResult
    benchmark: str
    split: str
    items: list[Item] = field(default_factory=list)
    odd: OddLines = field(default_factory=OddLines)
    questions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    questions_file: Path | None = None
    changed: set[str] = field(default_factory=set)
    problem: str = ""
    example: str = ""

    @property
    def log(self) -> Path:
        """The sample log."""
        return self.run.samples(self.task)

    @property
    def generated(self) -> bool:
        """Whether the task asks for free text instead of a choice."""
        return bool(set(GENERATION) & (set(self.result.metrics) | _names(self.items)))

    @property
    def folder(self) -> Path | None:
        """The benchmark's folder in the store that the questions were read from."""
        return self.questions_file.parent.parent if self.questions_file else None

    def conditions(self) -> dict[str, list[Item]]:
        """Condition -> its items, in order of appearance."""
        found: dict[str, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.condition, []).append(item)
        return found


def gather(paths: Iterable[Path], *, variants: bool = True) -> list[TaskLog]:
    """Reads every logged task below some paths.

    Args:
        paths: output folders of the harness, results files or sample logs.
        variants: whether the variants of an audit's tasks are read as tasks of their own; where
            not, only those in a file that is named itself.

    Returns:
        Tasks of one name next to each other, the runs of each from the oldest on; none where
        only variants are there that were not asked for.

    Raises:
        LogError: if a path is absent or no log.
        ReportError: if no task below the paths has a sample log.
    """
    paths = list(paths)
    runs = find_runs(paths)
    logged = [(run, task) for run in runs for task in run.tasks if run.tasks[task].samples]
    if not logged:
        raise ReportError(
            f"No sample logs in {', '.join(map(str, paths))}; evaluate with --log_samples and "
            "name that --output_path."
        )
    if not variants:
        from video_reasoning.tasks.audit.variants import is_variant

        named = {path.resolve() for path in paths if path.is_file()}
        logged = [
            (run, task) for run, task in logged if not is_variant(task) or named & _files(run, task)
        ]
    cache: dict[Path, Mapping[str, Mapping[str, Any]]] = {}
    found = [read_task(run, task, cache) for run, task in logged]
    order = list(registry.our_tasks())
    place = {name: number for number, name in enumerate(order)}
    benchmarks = {name: number for number, name in enumerate((*store.SPLITS, ""))}
    return sorted(
        found,
        key=lambda log: (
            benchmarks[log.benchmark],
            place.get(log.task, len(place)),
            log.task,
            log.run.date,
        ),
    )


def _files(run: Run, task: str) -> set[Path]:
    files = (run.results, run.tasks[task].samples)
    return {file.resolve() for file in files if file is not None}


def read_task(
    run: Run, task: str, cache: dict[Path, Mapping[str, Mapping[str, Any]]] | None = None
) -> TaskLog:
    """Reads one task of one run.

    Args:
        run: the run.
        task: one of its tasks.
        cache: questions that were read before, by file; filled.

    Raises:
        LogError: if the task has no readable sample log.
    """
    ours = registry.our_tasks().get(task)
    benchmark, split = ours.needs[0] if ours and ours.needs else ("", "")
    log = TaskLog(run, task, run.tasks[task], benchmark, split)
    try:
        file = questions_of(run, task)
        if file.suffix != ".parquet":
            raise StoreError(f"the task reads {file}, which is no questions.parquet of a store.")
        rows = cache.get(file) if cache is not None else None
        if rows is None:
            rows = load_questions(file, _COLUMNS)
            if cache is not None:
                cache[file] = rows
        log.questions, log.questions_file = rows, file
    except StoreError as error:
        log.problem = str(error)
    _read_items(log)
    if log.changed:  # what else looks the same may have other videos: the store is another one
        log.questions, log.items, log.odd = {}, [], OddLines()
        _read_items(log)
    return log


def _read_items(log: TaskLog) -> None:
    scores = _scores_beside(log.run, log.task)
    for sample in read_samples(log.log, log.odd):
        if not log.items:
            log.example = sample.prompt
        question = log.questions.get(sample.id)
        if question is not None and _other(sample, question):
            log.changed.add(sample.id)
        log.items.append(_item(sample, question, scores.get(sample.id, {})))


def _other(sample: Sample, question: Mapping[str, Any]) -> bool:
    """Whether the store's question is not the one that was asked: other options or answer.

    Prompts may quote options, so that quotes and backslashes do not count.
    """
    answer, options = question.get("answer"), question.get("options") or []
    if answer and sample.target and sample.target != answer:
        return True
    if not sample.prompt:
        return False
    prompt = sample.prompt.translate(_QUOTES)
    return any(option.translate(_QUOTES) not in prompt for option in options)


def _item(sample: Sample, question: Mapping[str, Any] | None, scores: Mapping[str, Any]) -> Item:
    groups = _groups(sample, question)
    values = {}
    for metric in GENERATION:
        entry = sample.values.get(metric)
        number = entry.get("score") if isinstance(entry, Mapping) else entry
        stored = scores.get(metric)
        if isinstance(stored, Mapping) and stored.get("value") is not None:
            number = stored["value"]
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            values[metric] = float(number)
    short = sample.values.get("short_videos")
    audited = sample.values.get("audit")
    audited = audited if isinstance(audited, Mapping) else {}
    problem = sample.problem or str(audited.get("problem") or "")
    return Item(
        line=sample.line,
        id=sample.id or f"line {sample.line}",
        video=sample.group("video") or str((question or {}).get("video") or "") or sample.id,
        status=sample.status or ("missing" if problem else _status(sample)),
        choice=sample.choice,
        rule=sample.rule,
        score=_audited_score(sample, audited) if audited else sample.score,
        problem=problem,
        target=sample.target,
        response=_shortened("\n---\n".join(sample.responses)),
        condition=groups.pop("condition", ""),
        groups=groups,
        short=isinstance(short, Mapping) and bool(short.get("short")),
        values=values,
        prompt=hashlib.sha256(sample.prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16],
    )


def _audited_score(sample: Sample, audited: Mapping[str, Any]) -> float | None:
    """The score of a line of an audit's variant: the task's own, else its first metric's."""
    if sample.score is not None or audited.get("problem"):
        return None if audited.get("problem") else sample.score
    scores = audited.get("scores")
    for pair in scores.values() if isinstance(scores, Mapping) else ():
        value = pair[0] if isinstance(pair, list) and pair else None
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
    return None


def _status(sample: Sample) -> str:
    """For logs of tasks that state none: generated text, and other people's tasks."""
    missing = sample.values.get("missing_items")
    return "missing" if isinstance(missing, Mapping) and missing.get("missing") else "answered"


def _groups(sample: Sample, question: Mapping[str, Any] | None) -> dict[str, str]:
    """Breakdown -> value: from the log, as the harness had it; else from the store."""
    groups = {}
    for name in _GROUPS:
        text = sample.group(name) or str((question or {}).get(name) or "")
        if text:
            groups[name] = text
    kind = str((question or {}).get("task") or "")
    if kind:
        groups["task"] = kind
    for name in _DEMONSTRATION_TYPES:
        if sample.values.get(f"acc_{name}"):
            groups["demonstration_type"] = name
    for name in _VARIATIONS:
        if f"acc_{name}" in sample.values:
            groups[name] = "yes" if sample.values[f"acc_{name}"] else "no"
        elif question is not None and name in question:
            groups[name] = "yes" if question[name] else "no"
    return groups


def _shortened(text: str) -> str:
    if len(text) <= 2 * _KEPT:
        return text
    left_out = len(text) - 2 * _KEPT
    return f"{text[:_KEPT]}\n[… {left_out:,} characters …]\n{text[-_KEPT:]}"


def _names(items: Sequence[Item]) -> set[str]:
    return {name for item in items[:50] for name in item.values}


def _scores_beside(run: Run, task: str) -> dict[str, Mapping[str, Any]]:
    """What ``video-reasoning score`` wrote beside the log: id -> metric -> entry."""
    file = run.folder / f"{run.date}_scores_{task}.jsonl"
    if not is_regular(file):
        return {}
    return {line["id"]: line for line in _objects(file) if isinstance(line.get("id"), str)}


def _objects(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8", errors="replace") as lines:
        for text in lines:
            try:
                line = loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(line, dict):
                yield line
