"""``video-reasoning audit``: is a video task really about video?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import IncludePath, Level, ModelArguments, names


def register(app: typer.Typer, panel: str) -> None:
    """Add the command to the application."""
    app.command(
        name="audit",
        rich_help_panel=panel,
        epilog="Example: video-reasoning audit --tasks mvbench --model qwen2_5_vl "
        "--model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct,max_num_frames=16 --limit 200",
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(audit)


def audit(
    context: typer.Context,
    tasks: Annotated[
        str,
        typer.Option(
            "--tasks", "--task", help="Tasks, groups or tags of the harness, joined by commas."
        ),
    ] = "",
    model: Annotated[str, typer.Option(help="The harness's name of the model.")] = "",
    model_args: ModelArguments = "",
    frames: Annotated[int, typer.Option(help="Frames of the conditions that show several.")] = 16,
    conditions: Annotated[
        str,
        typer.Option(
            help="Joined by commas: ordered, shuffled, random1, last1, handpicked1, blind, "
            "original (the task as it is), reordered (its options in another order), reversed, "
            "frozen, black, swapped (another video), options (without the question), and the sets "
            "default, controls (these five) and circular (all rotations of the options)."
        ),
    ] = "ordered,shuffled,random1,last1,handpicked1,blind",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only the first N questions of each task.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Ask N questions of each task, drawn at random with --seed."),
    ] = None,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            "--group-by",
            help="A column whose questions count as a group that is right as a whole; COLUMN:_ for "
            "what is before the last _ in it, COLUMN/PATTERN for the parentheses of a regular "
            "expression. NAME=... names such groups; may be given several times.",
        ),
    ] = None,
    include_path: IncludePath = None,
    out: Annotated[Path, typer.Option(help="Folder of the audit.")] = Path("audit"),
    picks: Annotated[
        Path | None,
        typer.Option(help="Handpicked frames: lines of JSON with id and frame (from 0)."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="The metric that says what is right, if the task has several.")
    ] = "",
    option_fields: Annotated[
        list[str] | None,
        typer.Option(
            help="Where documents have their options, if they are not found: for example "
            "options=candidates,answer=answer.",
        ),
    ] = None,
    score_range: Annotated[
        str,
        typer.Option(
            "--score-range",
            help="Lowest and highest score of a question, e.g. 0,5, if the task grades or a judge "
            "does.",
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="Seed of the frames and orders drawn.")] = 0,
    level: Level = 0.95,
    export_filtered: Annotated[
        Path | None,
        typer.Option(help="Write the ids of the questions that survive all conditions here."),
    ] = None,
    export_classes: Annotated[
        Path | None,
        typer.Option(
            help="Write what each question needs here: text suffices, static, order-free, temporal "
            "or open."
        ),
    ] = None,
    votes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="audit join: how many models have to be right; without it, more than half.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only check whether the tasks can be audited; ask nothing."),
    ] = False,
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            max=20,
            help="How often to ask blind and with one frame, with the options in another order "
            "each time: what tells a leak from luck.",
        ),
    ] = 1,
    draws: Annotated[
        int,
        typer.Option(
            min=1,
            max=20,
            help="How many times to draw the random frame and the shuffled order of each question.",
        ),
    ] = 1,
    false_discovery_rate: Annotated[
        float,
        typer.Option(
            help="Expected share of innocents among the questions that --export-filtered leaves "
            "out."
        ),
    ] = 0.1,
    derive_only: Annotated[
        bool, typer.Option("--derive-only", help="Write the tasks and print how to run them.")
    ] = False,
    judge_only: Annotated[
        bool, typer.Option("--judge-only", help="Judge the newest run in --out; ask nothing.")
    ] = False,
    report: Annotated[bool, typer.Option(help="Write the report's page as well.")] = True,
) -> None:
    """Ask a video task's questions with frames shuffled, with one frame, and with none.

    Derives one variant of each task per condition without changing the task, runs them as one
    evaluation of the harness, and reports how much of its accuracy needs the video, several
    frames, and their order. Options that are not listed here go to the harness (--batch_size,
    --device, --force_simple, --use_cache, ...).

    `audit join A B C` joins finished audits by several models: which questions are right in how
    many of them without what they claim to need.
    """
    from video_reasoning.tasks.audit.run import Request, join_audits, run_audit

    request = Request(
        tasks=tuple(name.strip() for name in tasks.split(",") if name.strip()),
        model=model,
        model_args=model_args,
        frames=frames,
        conditions=tuple(names([conditions])),
        limit=limit,
        sample=sample,
        group_by=tuple(group_by or ()),
        include_path=tuple(path.expanduser() for path in include_path or ()),
        out=out.expanduser(),
        picks=picks and picks.expanduser(),
        metric=metric,
        option_fields=tuple(option_fields or ()),
        score_range=score_range,
        seed=seed,
        level=level,
        repeats=repeats,
        draws=draws,
        false_discovery_rate=false_discovery_rate,
        export_filtered=export_filtered and export_filtered.expanduser(),
        export_classes=export_classes and export_classes.expanduser(),
        votes=votes,
        check=check,
        derive_only=derive_only,
        judge_only=judge_only,
        report=report,
        more=tuple(context.args),
        given=frozenset(
            name
            for name in context.params
            if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
        ),
    )
    if context.args[:1] == ["join"]:
        raise typer.Exit(join_audits(request, [Path(each) for each in context.args[1:]]))
    raise typer.Exit(run_audit(request))
