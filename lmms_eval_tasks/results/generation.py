"""Generation metrics computed from the logs of finished runs.

A run over generation tasks computes CLIP score and LLM-Match itself if their models are set up.
If they were not, the log has all that is needed: responses and references. The scores are
written beside the log: `<date>_scores_<task>.jsonl`, one line per question, and
`<date>_scores.json`, one entry per task and metric.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from video_reasoning.metrics import generation
from video_reasoning.metrics.accuracy import finite, mean, standard_error
from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.llm import text_scorers
from video_reasoning.tasks.llm.text_scorers import Kind
from video_reasoning.tasks.results.items import GENERATION, Item, TaskLog, read_task
from video_reasoning.tasks.results.logs import find_runs, objects
from video_reasoning.tasks.store.text_files import loads, read_text

METRICS = GENERATION

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
Lines = dict[str, dict[str, Any]]  # id -> line of a scores file: metric -> entry


@dataclass(frozen=True)
class TaskScores:
    """The scores of one task of one run.

    Attributes:
        log: The run's items.
        metrics: Metric -> its entry in the summary file: `value` (mean over questions, None if
            none has a score), `stderr`, `questions`, `model`, `dropped_pairs` (LLM-Match only).
        problems: Metric -> why it could not be computed, a sentence.
        left_out: Questions without a video or without references.
        summary: The summary file.
    """

    log: TaskLog
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
    """Compute generation metrics from logs and write them beside the logs.

    What the same model has computed from the same responses is kept, so that an interrupted run
    goes on where it stopped.

    Args:
        results: Output folders of the harness, results files or sample logs.
        metrics: Some of :data:`METRICS`; none for all.
        again: Whether to compute everything again.
        progress: Called as the work goes on.

    Returns:
        The scores of each task with responses and references.

    Raises:
        UserError: A metric is unknown, a path is not a log, the logs have no generation task, or
            not one metric could be computed.
    """
    wanted = list(dict.fromkeys(metrics)) or list(METRICS)
    unknown = [name for name in wanted if name not in METRICS]
    if unknown:
        raise UserError(f"There is no metric {unknown[0]!r}; the metrics are {', '.join(METRICS)}.")
    logs = [
        read_task(run, task)
        for run in find_runs(results)
        for task, result in sorted(run.tasks.items())
        if result.samples is not None
    ]
    found = [
        _score_task(log, wanted, again, progress)
        for log in logs
        if any(item.responses is not None for item in log.items)
    ]
    if not found:
        raise UserError(
            f"No generation task was logged in {', '.join(map(str, results))}; run one, such as "
            "blackswan_gen, with --log_samples and --output_path, and name that folder."
        )
    problems = list(dict.fromkeys(text for scores in found for text in scores.problems.values()))
    if problems and not any(scores.metrics for scores in found):
        raise UserError("; ".join(problems) + ".")
    return found


def _score_task(
    log: TaskLog, wanted: Sequence[str], again: bool, progress: Progress | None
) -> TaskScores:
    """Score the items of one log that have responses and references."""
    asked = [item for item in log.items if item.responses is not None]
    items = [item for item in asked if item.responses and item.references]
    file = log.log.with_name(f"{log.run.date}_scores_{log.task}.jsonl")
    lines = {line["id"]: line for line in objects(file) if isinstance(line.get("id"), str)}
    metrics: dict[str, dict[str, Any]] = {}
    problems: dict[str, str] = {}
    if log.odd.count:
        problems["log"] = log.odd.sentence(log.log)
    for metric in wanted:

        def tell(done: int, total: int, step: str = f"{log.task}: {metric}") -> None:
            if progress:
                progress(step, done, total)

        try:
            metrics[metric] = _score_metric(metric, items, file, lines, again, tell)
        except text_scorers.TextModelError as error:
            problems[metric] = f"{metric} is not computed: {error}"
    summary = log.log.with_name(f"{log.run.date}_scores.json")
    _write_summary(summary, log.task, metrics)
    return TaskScores(log, metrics, problems, len(asked) - len(items), summary)


def _score_metric(
    metric: str,
    items: Sequence[Item],
    file: Path,
    lines: Lines,
    again: bool,
    progress: Callable[[int, int], None],
) -> dict[str, Any]:
    """Score what has no score yet, write it down as it comes, and average."""
    model = "" if metric in _PLAIN else text_scorers.label(cast(Kind, metric))
    todo = [item for item in items if again or not _is_known(lines, item, metric, model)]
    progress(0, len(todo))
    size = _CHUNK.get(metric, len(todo) or 1)
    for start in range(0, len(todo), size):
        part = todo[start : start + size]
        for item, matrix in zip(part, _matrices(metric, part), strict=True):
            line = lines.setdefault(item.id, {"id": item.id})
            line[metric] = {
                "value": finite(_RULES[metric](matrix)),
                "pairs": [[finite(float(score)) for score in row] for row in matrix],
                "model": model,
                "of": _digest(item),
            }
        _write_lines(file, lines)
        progress(min(start + size, len(todo)), len(todo))
    return _average(metric, model, [lines[item.id][metric] for item in items])


def _digest(item: Item) -> str:
    """Return what changes with any of the texts that are scored."""
    written = json.dumps([item.responses, item.references], ensure_ascii=False)
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _is_known(lines: Lines, item: Item, metric: str, model: str) -> bool:
    entry = lines.get(item.id, {}).get(metric)
    if not isinstance(entry, dict):
        return False
    return (entry.get("model"), entry.get("of")) == (model, _digest(item))


def _matrices(metric: str, items: Sequence[Item]) -> Iterable[Any]:
    """Return the scores of every pair of every question."""
    texts = [(item.responses or (), item.references) for item in items]
    if metric in _PLAIN:
        return [_PLAIN[metric](*each) for each in texts]
    questions = text_scorers.as_questions(texts)
    return text_scorers.pair_scores(cast(Kind, metric), questions, bar=metric == "clip_score")


def _average(metric: str, model: str, entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the summary of one metric; the standard error is None for fewer than two questions."""
    values = [entry["value"] for entry in entries]
    summary: dict[str, Any] = {
        "value": finite(mean(values)),
        "stderr": finite(standard_error(values)),
        "questions": sum(value is not None for value in values),
    }
    if model:
        summary["model"] = model
    if metric == "llm_match":
        summary["dropped_pairs"] = sum(
            score is None for entry in entries for row in entry["pairs"] for score in row
        )
    return summary


def _write_lines(file: Path, lines: Lines) -> None:
    with atomic_path(file) as temporary:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
        temporary.write_text(text, encoding="utf-8")


def _write_summary(file: Path, task: str, metrics: dict[str, dict[str, Any]]) -> None:
    """Add one task's metrics to the summary; those of other tasks and metrics stay."""
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
