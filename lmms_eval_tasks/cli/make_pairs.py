"""`video-reasoning make-pairs`: pairs of variants from any multiple-choice questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.progress import print_some, shown_progress


def make_pairs(
    questions: Annotated[
        Path, typer.Argument(help="Table of questions: .csv, .jsonl, .json or .parquet.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder for the pairs, and for every prompt and reply.")
    ],
    paraphrase: Annotated[
        str,
        typer.Option(
            help="Model that puts distractors in other words: MODEL@URL of an OpenAI-compatible "
            "server, or a transformers model; without it, options are reordered alone."
        ),
    ] = "",
    blind: Annotated[
        list[str] | None,
        typer.Option(
            help="Model that answers without the video, as --paraphrase; can be repeated."
        ),
    ] = None,
    blind_logs: Annotated[
        list[Path] | None,
        typer.Option(help="Results of the harness's blind tasks over the pairs; can be repeated."),
    ] = None,
    least: Annotated[
        int,
        typer.Option(min=1, help="A pair is out if so many models are right on both variants."),
    ] = 1,
    responses: Annotated[
        Path | None,
        typer.Option(help="People's responses, a CSV with the columns qid, variant and choice."),
    ] = None,
    kind: Annotated[
        str, typer.Option("--type", help="CausalVQA's question type of all questions.")
    ] = "",
    count_from: Annotated[
        int | None,
        typer.Option(min=0, max=1, help="Whether numbers of answers count from 0 or from 1."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Draws the order of the second variant.")] = 0,
) -> None:
    """Make a second variant of multiple-choice questions, and filter the pairs as CausalVQA does.

    Distractors are paraphrased, options reordered; pairs that models answer without the video are
    out, and people's responses give the difficulty (sections 2.2.5 to 2.2.8). The pairs are written
    in CausalVQA's layout: put the videos into OUT/debug/videos, and `video-reasoning prepare
    causalvqa --source OUT` reads them. Replies are kept: run the same command again to go on.
    """
    from video_reasoning.tasks.causalvqa.pairs import Plan, make_pairs
    from video_reasoning.tasks.causalvqa.pairs.make import METADATA, PAIRS

    plan = Plan(
        questions.expanduser(),
        out.expanduser(),
        paraphrase,
        tuple(blind or ()),
        tuple(path.expanduser() for path in blind_logs or ()),
        least,
        responses.expanduser() if responses else None,
        kind.lower(),
        count_from,
        seed,
    )
    with shown_progress() as progress:
        made = make_pairs(plan, progress)
    print(f"{len(made.pairs):,} pairs, {len(made.kept):,} kept.")
    for name, counts in made.blind.items():
        unparsed = counts.get("unparsed", 0)
        print(
            f"  {name}: right on both variants of {counts['right_on_both']:,} of "
            f"{counts['pairs']:,}"
            + (f", {unparsed:,} replies without a number" if unparsed else "")
        )
    sentences = [f"{name}: {reason}" for name, reason in made.out.items()]
    print_some(f"{len(made.out):,} out", sentences, indent="  ", file="manifest.json")
    left_out = [f"{where}: {reason}" for where, reason in made.left_out]
    print_some(f"{len(left_out):,} left out", left_out, indent="  ", file="manifest.json")
    if made.differ:
        print_some("people find the variants unequally hard (p < 0.05)", made.differ, indent="  ")
    for name in (PAIRS, METADATA):
        print(f"Written to {plan.out / name}.")
