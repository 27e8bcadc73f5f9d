"""Generation metrics computed from the logs of finished runs.

A run over generation tasks computes CLIP score and LLM-Match itself where their models are set
up. Where they were not, the log holds all that is needed: responses and references. The scores
are written beside the log: ``<date>_scores_<task>.jsonl``, one line per question, and
``<date>_scores.json``, one entry per task and metric.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from video_reasoning.metrics import generation
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.llm import text_scorers
from video_reasoning.tasks.llm.text_scorers import Kind
from video_reasoning.tasks.results.logs import OddLines, Run, find_runs, read_samples
from video_reasoning.tasks.store.text_files import loads, read_text

__all__ = ["METRICS", "TaskScores", "score_runs"]

METRICS = ("clip_score", "llm_match", "bleu", "rouge_l")

_PLAIN = {"bleu": generation.bleu_matrix, "rouge_l": generation.rouge_l_matrix}
_RULES: dict[str, Callable[[Any], float]] = {
    "clip_score": generation.best_pair,
    "llm_match": generation.mean_pair,
    "bleu": generation.mean_of_best_reference,
    "rouge_l": generation.mean_of_best_reference,
}
_CHUNK = {"clip_score": 100_000, "llm_match": 64}
"""Questions after which the scores so far are written down: a judge may take hours."""

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class TaskScores:
    """The scores of one task of one run.

    Attributes:
        run: the run.
        task: the task's name in the harness.
        metrics: metric -> its entry in the summary file: ``value`` (mean over questions, None
            where none has a score), ``stderr``, ``questions``, ``model``, ``dropped_pairs``
            (LLM-Match only).
        problems: metric -> why it could not be computed, a sentence.
        left_out: questions without a video or without references.
        summary: the summary file.
    """

    run: Run
    task: str
    metrics: dict[str, dict[str, Any]]
    problems: dict[str, str]
    left_out: int
    summary: Path


def score_runs(
    results: Sequence[Path],
    metrics: Sequence[str] = (),
    *,
    again: bool = False,
    progress: Progress | None = None,
) -> list[TaskScores]:
    """Computes generation metrics from logs and writes them beside the logs.

    What was computed before by the same model from the same responses is kept, so that an
    interrupted run goes on where it stopped.

    Args:
        results: output folders of the harness, results files or sample logs.
        metrics: some of :data:`METRICS`; none for all.
        again: whether to compute everything anew.
        progress: told how far the work has come.

    Returns:
        The scores of each task with responses and references.

    Raises:
        UserError: for an unknown metric, a path that is no log, or logs without any generation
            task; also where not one metric could be computed.
    """
    wanted = list(dict.fromkeys(metrics)) or list(METRICS)
    unknown = [name for name in wanted if name not in METRICS]
    if unknown:
        raise UserError(f"There is no metric {unknown[0]!r}; the metrics are {', '.join(METRICS)}.")
    found = []
    for run in find_runs(results):
        for task, result in sorted(run.tasks.items()):
            if result.samples is not None:
                scores = _score_task(run, task, result.samples, wanted, again, progress)
                if scores is not None:
                    found.append(scores)
    if not found:
        raise UserError(
            f"No generation task was logged in {', '.join(map(str, results))}; run one, such as "
            "blackswan_gen, with --log_samples and --output_path, and name that folder."
        )
    problems = list(dict.fromkeys(text for scores in found for text in scores.problems.values()))
    if problems and not any(scores.metrics for scores in found):
        raise UserError("; ".join(problems) + ".")
    return found


@dataclass(frozen=True)
class _Question:
    """What is scored: ``digest`` changes with any of the texts."""

    id: str
    responses: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def digest(self) -> str:
        written = json.dumps([self.responses, self.references], ensure_ascii=False)
        return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _score_task(
    run: Run,
    task: str,
    log: Path,
    wanted: Sequence[str],
    again: bool,
    progress: Progress | None,
) -> TaskScores | None:
    """Scores one log; None where it is not one of a generation task."""
    odd = OddLines()
    questions, left_out = _questions(log, odd)
    if not questions and not left_out:
        return None
    file = log.with_name(f"{run.date}_scores_{task}.jsonl")
    lines = _read_lines(file)
    metrics: dict[str, dict[str, Any]] = {}
    problems: dict[str, str] = {}
    if odd.count:
        problems["log"] = odd.sentence(log)
    for metric in wanted:

        def tell(done: int, total: int, step: str = f"{task}: {metric}") -> None:
            if progress:
                progress(step, done, total)

        try:
            metrics[metric] = _score_metric(metric, questions, file, lines, again, tell)
        except text_scorers.TextModelError as error:
            problems[metric] = f"{metric} is not computed: {error}"
    summary = log.with_name(f"{run.date}_scores.json")
    _write_summary(summary, task, metrics)
    return TaskScores(run, task, metrics, problems, left_out, summary)


def _questions(log: Path, odd: OddLines) -> tuple[list[_Question], int]:
    """The questions of a log that can be scored, and how many cannot."""
    questions, left_out = [], 0
    for sample in read_samples(log, odd):
        item = sample.values.get("clip_score")
        if not isinstance(item, dict) or "references" not in item:
            continue
        if item["references"] and item.get("responses"):
            texts = (tuple(map(str, item[key])) for key in ("responses", "references"))
            questions.append(_Question(sample.id, *texts))
        else:
            left_out += 1
    return questions, left_out


def _score_metric(
    metric: str,
    questions: Sequence[_Question],
    file: Path,
    lines: dict[str, dict[str, Any]],
    again: bool,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Scores what has no score yet, writes it down as it comes, and averages."""
    model = "" if metric in _PLAIN else text_scorers.label(cast(Kind, metric))
    todo = [
        question for question in questions if again or not _known(lines, question, metric, model)
    ]
    progress(0, len(todo))
    size = _CHUNK.get(metric, len(todo) or 1)
    for start in range(0, len(todo), size):
        part = todo[start : start + size]
        for question, matrix in zip(part, _matrices(metric, part), strict=True):
            line = lines.setdefault(question.id, {"id": question.id})
            value = _RULES[metric](matrix)
            line[metric] = {
                "value": None if math.isnan(value) else value,
                "pairs": [[None if math.isnan(x) else float(x) for x in row] for row in matrix],
                "model": model,
                "of": question.digest,
            }
        _write_lines(file, lines)
        progress(min(start + size, len(todo)), len(todo))
    entries = [lines[question.id][metric] for question in questions]
    return _average(metric, model, entries)


def _known(lines: dict[str, dict[str, Any]], question: _Question, metric: str, model: str) -> bool:
    entry = lines.get(question.id, {}).get(metric)
    return isinstance(entry, dict) and (entry.get("model"), entry.get("of")) == (
        model,
        question.digest,
    )


def _matrices(metric: str, questions: Sequence[_Question]) -> Iterable[Any]:
    """The scores of every pair of every question."""
    if metric in _PLAIN:
        return [_PLAIN[metric](each.responses, each.references) for each in questions]
    texts = text_scorers.as_questions([(each.responses, each.references) for each in questions])
    return text_scorers.pair_scores(cast(Kind, metric), texts, bar=metric == "clip_score")


def _average(metric: str, model: str, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean over questions with its standard error, which is None for fewer than two."""
    values = [entry["value"] for entry in entries if entry["value"] is not None]
    mean = math.fsum(values) / len(values) if values else None
    error = None
    if mean is not None and len(values) > 1:
        spread = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
        error = math.sqrt(spread / len(values))
    summary: dict[str, Any] = {"value": mean, "stderr": error, "questions": len(values)}
    if model:
        summary["model"] = model
    if metric == "llm_match":
        summary["dropped_pairs"] = sum(
            score is None for entry in entries for row in entry["pairs"] for score in row
        )
    return summary


def _read_lines(file: Path) -> dict[str, dict[str, Any]]:
    """Id -> line of an earlier scores file; a line that cannot be read is computed again."""
    lines: dict[str, dict[str, Any]] = {}
    try:
        content = read_text(file)
    except (FileNotFoundError, UnicodeDecodeError):
        return lines
    for text in content.split("\n"):
        try:
            line = loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            continue
        if isinstance(line, dict) and isinstance(line.get("id"), str):
            lines[line["id"]] = line
    return lines


def _write_lines(file: Path, lines: dict[str, dict[str, Any]]) -> None:
    with atomic_path(file) as temporary:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
        temporary.write_text(text, encoding="utf-8")


def _write_summary(file: Path, task: str, metrics: dict[str, dict[str, Any]]) -> None:
    """Adds one task's metrics to the summary; those of other tasks and metrics stay."""
    if not metrics:
        return
    try:
        summary = loads(read_text(file))
        tasks = summary["tasks"]
        tasks[task] = {**tasks.get(task, {}), **metrics}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        summary = {"tasks": {task: metrics}}
    with atomic_path(file) as temporary:
        temporary.write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
