"""``video-reasoning annotate``: people answer a benchmark's questions, and rate free text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from video_reasoning.tasks.cli.options import Home, Level, OpenPage, Port, names
from video_reasoning.tasks.cli.pages import print_damaged, serve_page, user_name

if TYPE_CHECKING:
    from video_reasoning.tasks.pages.annotate.questions import Question

Out = Annotated[Path, typer.Option(help="The file of answers (JSON Lines), appended to.")]
File = Annotated[Path, typer.Argument(help="The file of answers.")]
Who = Annotated[
    str | None, typer.Option(help="Who answers; default: your user name. One file takes many.")
]
Seed = Annotated[int, typer.Option(help="Another seed draws another sample and other orders.")]


def register(app: typer.Typer, panel: str) -> None:
    """Add `annotate` with its subcommands to a panel of `--help`."""
    annotate = typer.Typer(
        help="Let people answer a benchmark's questions, or rate answers, on a local page.",
        no_args_is_help=True,
    )
    example = "Example: video-reasoning annotate"
    annotate.command(
        epilog=f"{example} answer blackswan_mcq --sample 100 --annotator ana --out answers.jsonl"
    )(answer)
    annotate.command(epilog=f"{example} rate results --sample 50 --out ratings.jsonl")(rate)
    annotate.command(epilog=f"{example} ratings ratings.jsonl")(ratings)
    annotate.command(epilog=f"{example} log answers.jsonl --out results")(log)
    annotate.command(epilog=f"{example} agreement answers.jsonl")(agreement)
    app.add_typer(annotate, name="annotate", rich_help_panel=panel)


def answer(
    tasks: Annotated[
        list[str], typer.Argument(help="Tasks or groups of the harness, such as blackswan_mcq.")
    ],
    out: Out,
    annotator: Who = None,
    show: Annotated[
        str,
        typer.Option(
            help="What people see: video, or frames such as ordered16; default: as the task shows."
        ),
    ] = "",
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Ask a random sample of this size of each task, the same for all."
        ),
    ] = None,
    seed: Seed = 0,
    port: Port = None,
    open_page: OpenPage = False,
    home: Home = None,
) -> None:
    """Answer questions on a local page, each person in an order of their own.

    Every answer is saved at once, and the same command goes on where you stopped.
    """
    from video_reasoning.tasks.pages.annotate.answers import AnswerLog
    from video_reasoning.tasks.pages.annotate.questions import draw, load_questions, tasks_named
    from video_reasoning.tasks.pages.journal import clean_annotator

    home = home and home.expanduser().absolute()
    who = user_name() if annotator is None else clean_annotator(annotator)
    chosen = tasks_named(tasks)
    answers = AnswerLog(out.expanduser().absolute())
    print_damaged(answers)
    questions: list[Question] = []
    for task in chosen:
        found = load_questions(task, show, home)
        questions += found if sample is None else draw(found, sample, seed)
    title = ", ".join(task.name for task in chosen)

    def app() -> Any:
        from video_reasoning.tasks.pages.annotate.server import Workplace, create_app

        title = f"{len(chosen)} tasks" if len(chosen) > 1 else chosen[0].name
        return create_app(Workplace(questions, answers, title, who, seed))

    print(f"{len(questions):,} questions of {title}, {who} answers, saved to {answers.path}")
    broken = sum(bool(question.problem) for question in questions)
    if broken:
        print(f"{broken:,} of them have no video that can be shown.")
    try:
        serve_page(app, port, open_page)
    finally:
        answers.refresh()
        _print_progress(answers, questions, seed)


def rate(
    out: Annotated[Path, typer.Option(help="The file of ratings (JSON Lines), appended to.")],
    results: Annotated[
        list[Path] | None,
        typer.Argument(help="Runs whose answers in free text are rated: models' or people's."),
    ] = None,
    references: Annotated[
        list[str] | None,
        typer.Option(help="Rate the release's references of this task instead; can be repeated."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option("--task", "--tasks", help="Only these tasks of the runs, joined by commas."),
    ] = None,
    annotator: Who = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Rate a random sample of this many videos.")
    ] = None,
    seed: Seed = 0,
    port: Port = None,
    open_page: OpenPage = False,
) -> None:
    """Rate answers in free text on a local page, without knowing whose they are.

    The form is that of BlackSwanSuite's human evaluation; with --references, that of its
    validation. Of a question's sampled responses one is rated.
    """
    from video_reasoning.tasks.pages.annotate.ratings import (
        RatingLog,
        draw,
        from_references,
        from_runs,
    )
    from video_reasoning.tasks.pages.journal import PageError, clean_annotator

    who = user_name() if annotator is None else clean_annotator(annotator)
    if bool(results) == bool(references):
        raise PageError("Name runs to rate, or tasks with --references: one of them.")
    log = RatingLog(out.expanduser().absolute())
    print_damaged(log)
    rated = (
        from_references(references) if references else from_runs(results or [], names(task), seed)
    )
    rated = rated if sample is None else draw(rated, sample, seed)
    form = rated[0].form

    def app() -> Any:
        from video_reasoning.tasks.pages.annotate.server import RatingPlace, create_app

        return create_app(RatingPlace(rated, log, form, who, seed))

    writers = len({each.model for each in rated})
    print(f"{len(rated):,} texts of {writers:,} writers, {who} rates, saved to {log.path}")
    try:
        serve_page(app, port, open_page)
    finally:
        log.refresh()
        ours = {each.digest for each in rated}
        print(f"\nSaved in {log.path}:")
        for name in log.annotators():
            mine = [r for r in log.decisions.values() if r.annotator == name and r.digest in ours]
            done = sum(rating.state == "answered" for rating in mine)
            print(f"  {name}: {done:,} rated and {len(mine) - done:,} skipped of {len(rated):,}")


def ratings(
    file: Annotated[Path, typer.Argument(help="The file of ratings.")],
    level: Level = 0.95,
) -> None:
    """Print mean ratings per model and task, and how alike people rate."""
    from video_reasoning.tasks.pages.annotate.agreement import rated
    from video_reasoning.tasks.pages.annotate.ratings import RatingLog

    log = RatingLog(file.expanduser().absolute())
    print_damaged(log)
    last = ""
    for line in rated(log.decisions.values(), level=level):
        if line.heading != last:
            print(last := line.heading)
        print(f"  {line.text()}")
    if not last:
        print("Nothing has been rated yet.", file=sys.stderr)


def _print_progress(answers: Any, questions: Sequence[Question], seed: int) -> None:
    from video_reasoning.tasks.pages.annotate.questions import order_for

    print(f"\nSaved in {answers.path}:")
    for annotator in answers.annotators():
        ours = {
            (annotator, questions[place].task, questions[place].shown, questions[place].id)
            for place in order_for(questions, annotator, seed)
        }
        states = [found.state for key, found in answers.decisions.items() if key in ours]
        print(
            f"  {annotator}: {states.count('answered'):,} answered and "
            f"{states.count('skipped'):,} skipped of {len(ours):,}"
        )


def log(
    file: File,
    out: Annotated[Path, typer.Option(help="Folder for the runs, as the harness's output path.")],
    annotator: Annotated[
        list[str] | None, typer.Option(help="Only this person's run; can be repeated.")
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="One run of all: each question has one person's answer, drawn."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Another seed draws other people's answers.")] = 0,
) -> None:
    """Write each person's answers as a run of the harness, scored by the tasks themselves.

    `report`, `compare` and the others then show people beside models.
    """
    from video_reasoning.tasks.pages.annotate.answers import AnswerLog
    from video_reasoning.tasks.pages.annotate.log import people, write_run
    from video_reasoning.tasks.pages.journal import PageError

    answers = AnswerLog(file.expanduser().absolute())
    print_damaged(answers)
    decisions = [
        found
        for found in answers.decisions.values()
        if not annotator or found.annotator in annotator
    ]
    if not decisions:
        known = ", ".join(answers.annotators()) or "nobody"
        raise PageError(f"{file} has no such answers; it has those of {known}.")
    folder = out.expanduser().absolute()
    for person in people(decisions, together=together, seed=seed):
        written = out / write_run(person, folder)[0].relative_to(folder)
        print(f"{person.label}: {person.n_answers:,} answers scored, written to {written}")
        if person.skipped:
            print(f"  {person.skipped:,} skipped questions are left out.")
        if person.changed:
            print(f"  {person.changed:,} questions are others in the store now and are left out.")


def agreement(
    file: File,
    level: Level = 0.95,
) -> None:
    """Print how alike people answer, corrected for chance."""
    from video_reasoning.tasks.pages.annotate.agreement import agreements
    from video_reasoning.tasks.pages.annotate.answers import AnswerLog

    answers = AnswerLog(file.expanduser().absolute())
    print_damaged(answers)
    found = agreements(answers.decisions.values(), level=level)
    if not found:
        print("No question has been answered by two people yet.", file=sys.stderr)
    for line in found:
        print(line.text())
