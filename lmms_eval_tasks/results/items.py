"""From output folders to items: the one reader of what our tasks logged.

An :class:`Item` is a logged response joined to its question. Reports, comparisons, the
principles' table, leaderboard files and scores all start from here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from sys import intern
from typing import Any, TypeGuard

from video_reasoning.metrics.accuracy import finite, mean
from video_reasoning.metrics.lengths import count_words
from video_reasoning.tasks import registry
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.results.logs import (
    OddLines,
    Run,
    Sample,
    TaskResult,
    condition_of,
    find_runs,
    lines_at,
    objects,
    read_samples,
    responses_of,
)
from video_reasoning.tasks.results.questions import questions_of
from video_reasoning.tasks.sight import Sight
from video_reasoning.tasks.store.questions import load_questions

__all__ = [
    "GENERATION",
    "Item",
    "Questions",
    "ReportError",
    "Seen",
    "TaskLog",
    "frames_seen",
    "gather",
    "read_task",
    "texts",
]

GENERATION = ("clip_score", "llm_match", "bleu", "rouge_l")
"""Metrics of responses in free text, in the order of the papers' tables."""

Questions = Mapping[str, Mapping[str, Any]]
"""Id -> row of the store's questions."""

_PAIR = ("qid", "variant")
_DEMONSTRATION_TYPES = ("human", "object", "simulated")
_BREAKDOWNS = tuple(
    dict.fromkeys(name for benchmark in BENCHMARKS.values() for name in benchmark.breakdowns)
)
_COLUMNS = (
    *("id", "question_id", "task", "question", "options", "answer", "video", "problem", "frames"),
    *("references", "hypothesis", "video_before", "video_event", "video_after", "evidence"),
    *(*_PAIR, *_BREAKDOWNS),
)
_QUOTES = str.maketrans("", "", "\\'\"\n")
_KEPT = 1500
"""Characters kept of the beginning and of the end of a response."""


class ReportError(UserError):
    """Results that no report or comparison can be made of."""


@dataclass(slots=True)
class Item:
    """One logged response, joined to its question.

    Attributes:
        line: Its number in the sample log, from 1.
        start: Its first byte there; see :func:`texts`.
        id: The question's id.
        question: The question's row in the store; empty if it is not known.
        video: What the item is clustered by; the id if no video is named.
        status: One of :mod:`video_reasoning.tasks.states`.
        choice: The letter, "yes" or "no" that was read, or None.
        rule: How it was found.
        score: 1.0 right, 0.0 wrong; None if nothing was scored.
        problem: Why a missing or failed item is so.
        target: The right answer as logged.
        condition: The frames shown, such as "ordered16"; empty if the task has one way only.
        groups: Breakdown -> value, such as "difficulty" -> "hard".
        shown: Different frames that the condition shows; None if that is not known.
        seen: Different frames that reached the model; None if that is not known.
        ordered: Whether they came in the clip's order; None if that was not checked.
        short: Whether the video has fewer frames than were to be shown.
        values: Generation metric -> value of this question.
        prompt: A digest of the text that was sent.
        words: Words of the response, of all of them if there are several.
        responses: Whole responses that are scored against references; None unless the task
            generates text.
        references: The texts that they are scored against.
    """

    line: int
    start: int
    id: str
    question: Mapping[str, Any]
    video: str
    status: str
    choice: str | None
    rule: str
    score: float | None
    problem: str
    target: str
    condition: str
    groups: dict[str, str]
    short: bool
    values: dict[str, float]
    prompt: str
    responses: tuple[str, ...] | None
    references: tuple[str, ...]
    shown: int | None = None
    words: int = 0
    seen: int | None = None
    ordered: bool | None = None

    @property
    def sight(self) -> Sight:
        """What the model saw of it."""
        return Sight(self.shown, self.seen, self.ordered)

    @property
    def n_options(self) -> int | None:
        """How many options there are, 2 for yes or no; None for an unknown question."""
        return len(self.question.get("options") or "yn") if self.question else None


@dataclass(frozen=True)
class Seen:
    """The frames that reached a model, over some items.

    Attributes:
        items: How many items there are, and `known` those whose frames were counted.
        mean: Mean number of different frames per known item; None over none.
        fewest: The fewest of them.
        shown: Mean number of different frames that were shown in those items; None for videos as
            they are, whose frames the model chooses.
        differ: Items whose frames are not those that were shown, or in another order.
    """

    items: int
    known: int
    mean: float | None
    fewest: int | None
    shown: float | None
    differ: int

    @property
    def text(self) -> str:
        """A few words, such as `16` or `13.6 of 16 (8 at least, 34 items differ)`, or none."""
        if self.mean is None:
            return ""
        words = f"{self.mean:.3g}"
        if not self.differ:
            return words
        shown = "" if self.shown is None else f" of {self.shown:.3g}"
        return f"{words}{shown} ({self.fewest} at least, {self.differ:,} items differ)"


def frames_seen(sights: Iterable[Sight]) -> Seen:
    """Return what reached the model of some items."""
    sights = list(sights)
    counts = [each.seen for each in sights if each.seen is not None]
    return Seen(
        items=len(sights),
        known=len(counts),
        mean=finite(mean(counts)),
        fewest=min(counts, default=None),
        shown=finite(mean(each.shown for each in sights if each.seen is not None)),
        differ=sum(each.differs for each in sights),
    )


@dataclass
class TaskLog:
    """One task of one run with its items.

    Attributes:
        run: The run.
        task: The task's name in the harness.
        result: What the run's results file says of it.
        benchmark: "blackswan", "causalvqa", "tvbench", or empty for a task that is not ours.
        split: The split asked, or empty.
        items: The log's usable lines, in order.
        odd: The lines that were left out.
        questions: Id -> row of the store's questions; empty if they are gone.
        questions_file: The file that they were read from, or None.
        changed: Ids whose question in the store is not the one that was asked.
        problem: Why the questions could not be read, or the empty text.
        example: The prompt of the first item.
    """

    run: Run
    task: str
    result: TaskResult
    benchmark: str
    split: str
    items: list[Item] = field(default_factory=list)
    odd: OddLines = field(default_factory=OddLines)
    questions: Questions = field(default_factory=dict)
    questions_file: Path | None = None
    changed: set[str] = field(default_factory=set)
    problem: str = ""
    example: str = ""

    @property
    def log(self) -> Path:
        """The sample log."""
        return self.run.samples(self.task)

    @cached_property
    def generated(self) -> bool:
        """Whether the task asks for free text instead of a choice."""
        named = {name for item in self.items[:50] for name in item.values}
        return bool(set(GENERATION) & (set(self.result.metrics) | named))

    @property
    def folder(self) -> Path | None:
        """The benchmark's folder in the store that the questions were read from."""
        return self.questions_file.parent.parent if self.questions_file else None

    @property
    def sample(self) -> bool:
        """Whether the questions are the sample benchmark's: only they say what settles them."""
        return any(question.get("evidence") for question in self.questions.values())

    def conditions(self) -> dict[str, list[Item]]:
        """Map each condition to its items, in order of appearance."""
        found: dict[str, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.condition, []).append(item)
        return found


def gather(
    paths: Iterable[Path], *, leave_out: Callable[[str], bool] = lambda task: False
) -> list[TaskLog]:
    """Read every logged task below some paths.

    Args:
        paths: Output folders of the harness, results files or sample logs.
        leave_out: Tasks to leave out by name, unless their own file is among the paths.

    Returns:
        Tasks of one name next to each other, the runs of each from the oldest on; empty if all
        were left out.

    Raises:
        LogError: A path is absent or not a log.
        ReportError: No task below the paths has a sample log.
    """
    paths = list(paths)
    runs = find_runs(paths)
    logged = [(run, task) for run in runs for task in run.tasks if run.tasks[task].samples]
    if not logged:
        raise ReportError(
            f"No sample logs in {', '.join(map(str, paths))}; evaluate with --log_samples and "
            "name that --output_path."
        )
    named = {path.resolve() for path in paths if path.is_file()}
    cache: dict[Path, Questions] = {}
    found = [
        read_task(run, task, cache)
        for run, task in logged
        if not leave_out(task) or named & _files(run, task)
    ]
    tasks = {name: place for place, name in enumerate(registry.our_tasks())}
    benchmarks = {name: place for place, name in enumerate((*BENCHMARKS, ""))}

    def place(log: TaskLog) -> tuple[int, int, str, str]:
        return benchmarks[log.benchmark], tasks.get(log.task, len(tasks)), log.task, log.run.date

    return sorted(found, key=place)


def _files(run: Run, task: str) -> set[Path]:
    files = (run.results, run.tasks[task].samples)
    return {file.resolve() for file in files if file is not None}


def read_task(
    run: Run, task: str, cache: dict[Path, Questions] | None = None, *, check: bool = True
) -> TaskLog:
    """Read one task of one run.

    Args:
        run: The run.
        task: One of its tasks.
        cache: Questions that were read before, by file; filled.
        check: Whether to leave out the store's questions if they are not those that were asked.

    Raises:
        LogError: The task has no readable sample log.
    """
    ours = registry.our_tasks().get(task)
    benchmark, split = ours.needs[0] if ours and ours.needs else ("", "")
    log = TaskLog(run, task, run.tasks[task], benchmark, split)
    cache = {} if cache is None else cache
    try:
        file = questions_of(run, task)
        if file.suffix != ".parquet":
            raise StoreError(f"the task reads {file}, which is not a store's questions.parquet.")
        if file not in cache:
            cache[file] = load_questions(file, _COLUMNS)
        log.questions, log.questions_file = cache[file], file
    except StoreError as error:
        log.problem = str(error)
    _read_items(log)
    if (
        log.changed and check
    ):  # what else looks the same may have other videos: the store is another one
        log.questions, log.items, log.odd = {}, [], OddLines()
        _read_items(log)
    return log


def _read_items(log: TaskLog) -> None:
    # What `video-reasoning score` wrote beside the log.
    beside = log.run.folder / f"{log.run.date}_scores_{log.task}.jsonl"
    scores = {line["id"]: line for line in objects(beside) if isinstance(line.get("id"), str)}
    for sample in read_samples(log.log, log.odd):
        if not log.items:
            log.example = sample.prompt
        question = log.questions.get(sample.id, {})
        if question and _is_other(sample, question):
            log.changed.add(sample.id)
        item = _item(sample, question, scores.get(sample.id, {}))
        if log.items and item.groups == log.items[-1].groups:
            item.groups = log.items[-1].groups  # once in memory, for all conditions
        log.items.append(item)
    conditions = {item.condition for item in log.items}
    if len(conditions) == 1 and conditions <= {"video", condition_of(log.result.config)}:
        for item in log.items:
            item.condition = ""  # the task's only way


def _is_other(sample: Sample, question: Mapping[str, Any]) -> bool:
    """Whether the store's question is not the one that was asked: other options or answer.

    Prompts may quote options, so that quotes and backslashes do not count.
    """
    answer, options = question.get("answer"), question.get("options") or []
    if answer and sample.target and sample.target != answer:
        return True
    prompt = sample.prompt.translate(_QUOTES)
    return bool(prompt) and any(option.translate(_QUOTES) not in prompt for option in options)


def _item(sample: Sample, question: Mapping[str, Any], scores: Mapping[str, Any]) -> Item:
    audited = _mapping(sample.values.get("audit"))
    missing = sample.problem or str(audited.get("problem") or "")
    stated = sample.status or ("missing" if missing or _lacks_video(sample) else "answered")
    texts = _mapping(sample.values.get("clip_score"))
    prompt = sample.prompt.encode("utf-8", "surrogatepass")
    ordered = sample.values.get("frames_in_order")
    return Item(
        line=sample.line,
        start=sample.start,
        id=intern(sample.id or f"line {sample.line}"),  # asked under several conditions
        question=question,
        video=intern(sample.group("video") or str(question.get("video") or "") or sample.id),
        status=intern(stated),
        choice=sample.choice and intern(sample.choice),
        rule=intern(sample.rule),
        score=_audited_score(sample, audited) if audited else sample.score,
        problem=missing,
        target=intern(sample.target),
        condition=intern(sample.group("condition") or str(question.get("condition") or "")),
        groups=_groups(sample, question),
        short=bool(_mapping(sample.values.get("short_videos")).get("short")),
        values=_values(sample, scores),
        prompt=intern(hashlib.sha256(prompt).hexdigest()[:16]),
        responses=_texts(texts.get("responses")) if "references" in texts else None,
        references=_texts(texts.get("references")),
        words=sum(map(count_words, sample.responses)),
        shown=_count(sample.values.get("frames_shown")),
        seen=_count(sample.values.get("frames_seen")),
        ordered=ordered if isinstance(ordered, bool) else None,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _lacks_video(sample: Sample) -> bool:
    """For logs that state no status: generated text, and other people's tasks."""
    return bool(_mapping(sample.values.get("missing_items")).get("missing"))


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _count(value: object) -> int | None:
    return int(value) if _is_number(value) else None


def _values(sample: Sample, scores: Mapping[str, Any]) -> dict[str, float]:
    """Return generation metric -> value: what was computed later replaces the run's own."""
    values = {}
    for metric in GENERATION:
        entry = sample.values.get(metric)
        logged = entry.get("score") if isinstance(entry, dict) else entry
        later = _mapping(scores.get(metric)).get("value")
        number = logged if later is None else later
        if _is_number(number):
            values[metric] = float(number)
    return values


def _audited_score(sample: Sample, audited: Mapping[str, Any]) -> float | None:
    """Return the score of a line of an audit's variant: the task's own, else its first metric's."""
    if audited.get("problem"):
        return None
    if sample.score is not None:
        return sample.score
    for pair in _mapping(audited.get("scores")).values():
        value = pair[0] if isinstance(pair, list) and pair else None
        if _is_number(value) and 0 <= value <= 1:
            return float(value)
    return None


def _groups(sample: Sample, question: Mapping[str, Any]) -> dict[str, str]:
    """Breakdown -> value: from the log, as the harness had it; else from the store."""
    groups = {}
    for name in (*_PAIR, *_BREAKDOWNS):
        stored = question.get(name)
        if f"acc_{name}" in sample.values:  # of its own metric, empty for what is not in it
            groups[name] = "yes" if sample.values[f"acc_{name}"] else "no"
        elif isinstance(stored, bool):
            groups[name] = "yes" if stored else "no"
        elif text := sample.group(name) or str(stored or ""):
            groups[name] = text
    kinds = [name for name in _DEMONSTRATION_TYPES if sample.values.get(f"acc_{name}")]
    return groups | ({"demonstration_type": kinds[0]} if kinds else {})


def texts(log: Path, items: Iterable[Item]) -> Iterator[str]:
    """Read what the model wrote for some items of a log; long responses without their middle.

    Raises:
        LogError: The log cannot be read, or has changed.
    """
    for content in lines_at(log, (item.start for item in items)):
        yield _shortened("\n---\n".join(responses_of(content)))


def _shortened(text: str) -> str:
    if len(text) <= 2 * _KEPT:
        return text
    left_out = len(text) - 2 * _KEPT
    return f"{text[:_KEPT]}\n[… {left_out:,} characters …]\n{text[-_KEPT:]}"
