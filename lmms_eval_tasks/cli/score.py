"""`video-reasoning score`: generation metrics from logged runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from video_reasoning.tasks.cli.options import Results

if TYPE_CHECKING:
    from video_reasoning.tasks.results.generation import TaskScores


def score(
    results: Results,
    metric: Annotated[
        list[str] | None,
        typer.Option(help="clip_score, llm_match, bleu or rouge_l; can be repeated; default: all."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Compute again what was computed before.")
    ] = False,
) -> None:
    """Compute the metrics of generation tasks from the logs of finished runs.

    For runs that had no judge or no CLIP model: both are named by environment variables
    (VIDEO_REASONING_CLIP_MODEL; VIDEO_REASONING_JUDGE_MODEL, or VIDEO_REASONING_JUDGE_URL with
    VIDEO_REASONING_JUDGE_NAME and VIDEO_REASONING_JUDGE_API_KEY). The scores are written beside
    the logs. An interrupted run goes on where it stopped.
    """
    from rich.console import Console

    from video_reasoning.tasks.cli.progress import shown_progress
    from video_reasoning.tasks.results.generation import score_runs
    from video_reasoning.tasks.results.signature import signature

    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    with shown_progress() as progress:
        found = score_runs(results, metric or [], again=again, progress=progress)
    console.print(_table(found))
    for scores in found:
        console.print(signature(scores.log), markup=False, highlight=False, soft_wrap=True)
    problems = (text for scores in found for text in scores.problems.values())
    written = (f"Written to {scores.summary}" for scores in found)
    for line in dict.fromkeys((*problems, *written)):
        console.print(f"{line.rstrip('.')}.", markup=False, highlight=False, soft_wrap=True)
    if metric and any(name in scores.problems for scores in found for name in metric):
        raise SystemExit(2)


def _table(found: list[TaskScores]) -> object:
    from rich.table import Table

    from video_reasoning.tasks.results.generation import METRICS

    table = Table(title="Generation metrics", title_justify="left")
    for column in ("model", "task"):
        table.add_column(column)
    for column in ("questions", *METRICS, "dropped pairs", "left out"):
        table.add_column(column, justify="right")
    for scores in found:
        counts = [entry["questions"] for entry in scores.metrics.values()]
        judged = scores.metrics.get("llm_match")
        table.add_row(
            scores.log.run.label,
            scores.log.task,
            str(max(counts, default=0)),
            *(_cell(scores.metrics.get(metric)) for metric in METRICS),
            "N/A" if judged is None else str(judged["dropped_pairs"]),
            str(scores.left_out),
        )
    return table


def _cell(entry: dict[str, Any] | None) -> str:
    """Return a metric with its standard error."""
    if entry is None or entry["value"] is None:
        return "N/A"
    error = "" if entry["stderr"] is None else f" ± {entry['stderr']:.4f}"
    return f"{entry['value']:.4f}{error}"
