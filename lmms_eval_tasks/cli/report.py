"""``video-reasoning report``: a page, Markdown or JSON from logged runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Level, ReadFrom, Results, known
from video_reasoning.tasks.cli.progress import write

FORMATS = ("html", "md", "json", "csv")


def report(
    results: Results,
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: report.html, .md, .json or .csv.")
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", help="html, md, json or csv (all numbers); default: by the suffix of --out."
        ),
    ] = "",
    examples: Annotated[
        int, typer.Option(min=0, help="Most examples with frames per task (html).")
    ] = 12,
    clips: Annotated[
        float, typer.Option(min=0, help="Most megabytes of clips to play in the page (html).")
    ] = 16,
    level: Level = 0.95,
    home: ReadFrom = None,
) -> None:
    """Report what was measured, how certain it is, how it compares, and what went wrong.

    Reads what runs with --log_samples wrote to their --output_path. Several runs are shown beside
    each other and beside the papers' models. The page is one file that needs no network.
    """
    from video_reasoning.tasks.report.build import build

    ending = out.suffix.lower().lstrip(".") if out else ""
    form = format_ or {"htm": "html", "markdown": "md"}.get(ending, ending) or "html"
    known(form, FORMATS)
    target = (out or Path(f"report.{form}")).expanduser()
    most = examples if form == "html" else 0
    report = build(results, most_examples=most, megabytes=clips, level=level)
    if form == "html":
        from video_reasoning.tasks.report.page import page

        text = page(report)
    elif form == "md":
        from video_reasoning.tasks.report.markdown import markdown

        text = markdown(report)
    elif form == "csv":
        from video_reasoning.tasks.report.export import as_csv

        text = as_csv(report)
    else:
        from video_reasoning.tasks.report.export import as_json

        text = as_json(report)
    write(target, text)
