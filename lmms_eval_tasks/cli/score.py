"""`video-reasoning score`: generation metrics from logged runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from video_reasoning.tasks.cli.options import ReadFrom, Results, names

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
    home: ReadFrom = None,
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
    with shown_progress() as progress:
        found = score_runs(results, names(metric), again=again, progress=progress)
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
    """Return a row per metric below its task, in at most 80 columns."""
    from rich import box
    from rich.table import Table

    from video_reasoning.tasks.results.generation import METRICS

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("task, metric", overflow="fold")
    for column in ("value", "questions", "left out"):
        table.add_column(column, justify="right")
    for scores in found:
        table.add_section()
        table.add_row(f"{scores.log.task} ({scores.log.run.label})")
        for metric in METRICS:
            entry = scores.metrics.get(metric)
            questions = f"{entry['questions']:,}" if entry else ""
            left_out = f"{scores.left_out:,}" if entry else ""
            if entry and entry.get("dropped_pairs"):
                left_out += f" and {entry['dropped_pairs']:,} pairs"
            table.add_row(f"  {metric}", _cell(entry), questions, left_out)
    return table


def _cell(entry: dict[str, Any] | None) -> str:
    """Return a metric with its standard error."""
    if entry is None or entry["value"] is None:
        return "N/A"
    error = "" if entry["stderr"] is None else f" ± {entry['stderr']:.4f}"
    return f"{entry['value']:.4f}{error}"
