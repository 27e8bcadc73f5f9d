"""``video-reasoning handpick``: pick the most informative frame of each question's video."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from video_reasoning.tasks import store
from video_reasoning.tasks.cli.options import Home, OpenPage, Port
from video_reasoning.tasks.cli.pages import print_damaged, serve_page, user_name
from video_reasoning.tasks.cli.progress import print_some
from video_reasoning.tasks.errors import StoreError, UserError

if TYPE_CHECKING:
    from video_reasoning.tasks.handpick.items import Item, Source
    from video_reasoning.tasks.handpick.record import Decision, PickLog


Benchmark = Annotated[
    str, typer.Argument(help="blackswan, tvbench, causalvqa, or the folder of an audit.")
]
File = Annotated[Path, typer.Argument(help="The picks file (JSON Lines).")]
Out = Annotated[Path, typer.Option(help="The picks file (JSON Lines), appended to.")]
Old = Annotated[Path | None, typer.Option(hidden=True)]


def register(app: typer.Typer, panel: str) -> None:
    """Add `handpick` with its subcommands to a panel of `--help`."""
    group = typer.Typer(no_args_is_help=True, invoke_without_command=True)
    group.callback()(handpick)
    example = "Example: video-reasoning handpick"
    group.command(
        epilog=f"{example} serve tvbench --out picks.jsonl --annotator ana --sample 200 --seed 0"
    )(serve)
    group.command(epilog=f"{example} agreement tvbench picks.jsonl")(agreement)
    group.command(epilog=f"{example} install tvbench picks.jsonl")(install)
    group.command(epilog=f"{example} export tvbench picks.jsonl --out picks.csv")(export)
    group.command(name="import", epilog=f"{example} import tvbench picks.csv --out picks.jsonl")(
        import_
    )
    app.add_typer(group, name="handpick", rich_help_panel=panel)


def handpick(
    context: typer.Context,
    benchmark: Annotated[str | None, typer.Option(hidden=True)] = None,
    out: Old = None,
    annotator: Annotated[str | None, typer.Option(hidden=True)] = None,
    split: Annotated[str | None, typer.Option(hidden=True)] = None,
    sample: Annotated[int | None, typer.Option(hidden=True)] = None,
    seed: Annotated[int, typer.Option(hidden=True)] = 0,
    port: Annotated[int | None, typer.Option(hidden=True)] = None,
    open_page: Annotated[bool, typer.Option("--open", hidden=True)] = False,
    import_csv: Annotated[Path | None, typer.Option("--import", hidden=True)] = None,
    export_csv: Annotated[Path | None, typer.Option("--export", hidden=True)] = None,
    print_agreement: Annotated[bool, typer.Option("--agreement", hidden=True)] = False,
    put_into_store: Annotated[bool, typer.Option("--install", hidden=True)] = False,
    home: Old = None,
) -> None:
    """Pick the frame that tells most about each question's answer, on a local page."""
    if context.invoked_subcommand:
        return
    if benchmark is None or out is None:
        raise UserError("Name a subcommand; `video-reasoning handpick --help` lists them.")
    print(
        "video-reasoning: options of handpick have become subcommands, such as `handpick serve "
        f"{benchmark} --out {out}`; the options will go in the next version.",
        file=sys.stderr,
    )
    if import_csv is not None:
        import_(benchmark, import_csv, out, annotator, home)
    if export_csv is not None:
        export(benchmark, out, export_csv, home)
    if print_agreement:
        agreement(benchmark, out, home)
    if put_into_store:
        install(benchmark, out, annotator, home)
    if not (import_csv or export_csv or print_agreement or put_into_store):
        serve(benchmark, out, annotator, split, None, sample, seed, port, open_page, home)


def serve(
    benchmark: Benchmark,
    out: Out,
    annotator: Annotated[
        str | None, typer.Option(help="Who picks; default: your user name. One file takes many.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Split to pick for; default: the first prepared.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Only this task's questions.")] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Pick for a random sample of this size.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 0,
    port: Port = None,
    open_page: OpenPage = False,
    home: Home = None,
) -> None:
    """Pick the frame that tells most about each question's answer, on a local page.

    Every pick is saved at once, and the same command goes on where you stopped.
    """
    from video_reasoning.tasks.handpick.items import of_task
    from video_reasoning.tasks.handpick.items import sample as draw

    source = _source(benchmark, home)
    annotator = _cleaned(annotator)
    log = _log(out, source)
    items = source.load(split)
    items = items if task is None else of_task(items, task)
    items = items if sample is None else draw(items, sample, seed)
    _serve(items, log, source, annotator or user_name(), port, open_page)


def agreement(benchmark: Benchmark, file: File, home: Home = None) -> None:
    """Print how alike the annotators pick, and the items on which they differ."""
    _print_agreement(_log(file, _source(benchmark, home)))


def install(
    benchmark: Benchmark,
    file: File,
    annotator: Annotated[
        str | None, typer.Option(help="Only this person's picks; default: one of all.")
    ] = None,
    home: Home = None,
) -> None:
    """Put one pick per item where the tasks read it, or into the audit's folder."""
    source = _source(benchmark, home)
    _install(_log(file, source), source, _cleaned(annotator))


def export(
    benchmark: Benchmark,
    file: File,
    out: Annotated[Path, typer.Option(help="The CSV file to write.")],
    home: Home = None,
) -> None:
    """Write the decisions as a CSV file."""
    from video_reasoning.tasks.handpick.exchange import export_csv

    table = out.expanduser().absolute()
    written = export_csv(_log(file, _source(benchmark, home)).decisions.values(), table)
    print(f"{written:,} decisions written to {table}.")


def import_(
    benchmark: Benchmark,
    table: Annotated[Path, typer.Argument(help="A CSV file with the columns id and frame.")],
    out: Out,
    annotator: Annotated[
        str | None, typer.Option(help="Who picked, if the table has no column for it.")
    ] = None,
    home: Home = None,
) -> None:
    """Add the decisions of a CSV file to a picks file."""
    source = _source(benchmark, home)
    _import(table.expanduser(), _log(out, source), source, _cleaned(annotator))


def _source(benchmark: str, home: Path | None) -> Source:
    """Return a prepared benchmark, or an audit by its folder.

    Raises:
        StoreError: There is neither of this name.
    """
    from video_reasoning.tasks.handpick.audited import Audited
    from video_reasoning.tasks.handpick.items import Prepared

    folder = Path(benchmark).expanduser().absolute()
    if benchmark not in store.SPLITS and folder.is_dir():
        return Audited(folder)
    home = home and home.expanduser().absolute()
    try:
        store.benchmark_folder(benchmark, home)
    except StoreError as error:
        raise StoreError(f"{error} Nor is there a folder {folder}, of an audit.") from None
    return Prepared(benchmark, home)


def _cleaned(annotator: str | None) -> str | None:
    from video_reasoning.tasks.pages.journal import clean_annotator

    return None if annotator is None else clean_annotator(annotator)


def _log(file: Path, source: Source) -> PickLog:
    from video_reasoning.tasks.handpick.record import PickLog
    from video_reasoning.tasks.store.picks import PicksError

    path, name = file.expanduser().absolute(), source.name  # which an absent audit does not have
    if path.resolve() == source.picks.resolve():
        raise PicksError(f"{path} is the file that picks are installed in; name another one.")
    log = PickLog(path, name)
    print_damaged(log)
    return log


def _serve(
    items: Sequence[Item],
    log: PickLog,
    source: Source,
    annotator: str,
    port: int | None,
    open_page: bool,
) -> None:
    def app() -> Any:
        from video_reasoning.tasks.handpick.server import Workplace, create_app

        return create_app(Workplace(items, log, source, annotator))

    broken = sum(bool(item.problem) for item in items)
    print(f"{len(items):,} items of {source.name}, {annotator} picks, saved to {log.path}")
    if broken:
        print(f"{broken:,} of them have no video that can be shown.")
    try:
        serve_page(app, port, open_page)
    finally:
        log.refresh()
        print(f"\nSaved in {log.path}:")
        _print_progress(log, items)


def _print_progress(log: PickLog, items: Iterable[Item]) -> None:
    ours = {item.id for item in items}
    for annotator in log.annotators():
        decided = [found for name, found in log.of(annotator).items() if name in ours]
        skipped = sum(found.state == "skipped" for found in decided)
        print(
            f"  {annotator}: {len(decided) - skipped:,} picked and {skipped:,} skipped "
            f"of {len(ours):,}"
        )


def _import(path: Path, log: PickLog, source: Source, annotator: str | None) -> None:
    from video_reasoning.tasks.handpick.exchange import import_csv

    found = import_csv(path, source.known(), annotator)
    new = log.record(found.decisions, imported=True)
    known = len(found.decisions) - new
    print(f"{path}: {new:,} decisions added, {known:,} known already.")
    print_some(f"{len(found.problems):,} rows were left out", found.problems)


def _print_agreement(log: PickLog) -> None:
    from video_reasoning.tasks.handpick.agreement import agreements, differences

    pairs = agreements(log.decisions.values())
    if not pairs:
        print("No two annotators have decided on the same item yet.")
        return
    for pair in pairs:
        print(f"{pair.first} and {pair.second}: {pair.items:,} items that both picked a frame for")
        if pair.share is not None and pair.chance is not None:
            print(f"  same frame: {pair.share:.1%} ({pair.chance:.1%} if both picked blindly)")
            corrected = pair.corrected
            print(
                f"  corrected for chance: {corrected.value:.2f} "
                f"[{corrected.low:.2f}, {corrected.high:.2f}]"
            )
            apart = f"  mean distance: {pair.frames:.1f} frames"
            print(apart if pair.seconds is None else f"{apart}, {pair.seconds:.2f} s")
        if pair.one_skipped:
            print(f"  skipped by one of them: {pair.one_skipped:,}")
        if pair.other_video:
            print(f"  picked on different videos, not compared: {pair.other_video:,}")
    found = differences(log.decisions.values())
    print_some(f"{len(found):,} items on which annotators differ", [each.id for each in found])


def _install(log: PickLog, source: Source, annotator: str | None) -> None:
    from video_reasoning.tasks.handpick.exchange import install, plan
    from video_reasoning.tasks.store.picks import PicksError

    decisions: Iterable[Decision] = log.decisions.values()
    if annotator is not None:
        decisions = log.of(annotator).values()
        if not decisions:
            known = ", ".join(log.annotators()) or "nobody"
            raise PicksError(f"{log.path} has no decision of {annotator}; it has those of {known}.")
    done = plan(decisions, source)
    install(done)
    questions = len(source.known())
    print(f"{len(done.combined.picks):,} picks of {questions:,} questions written to {done.path}.")
    if source.installed:
        print(source.installed)
    if done.combined.automatic:
        print(f"{done.combined.automatic:,} automatic picks were left out: no person made them.")
    for ids, what in (
        (done.combined.skipped, "items were skipped more often than picked"),
        (done.combined.other_video, "items were picked on different videos and left out"),
        (done.changed, "items have another video now and were left out"),
        (done.unknown, "items are not known and were left out"),
    ):
        print_some(f"{len(ids):,} {what}", ids)
