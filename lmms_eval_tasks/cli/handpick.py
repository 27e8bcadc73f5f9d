"""``video-reasoning handpick``: pick the most informative frame of each question's video."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from video_reasoning.tasks import store
from video_reasoning.tasks.cli.options import Home, OpenPage, Port
from video_reasoning.tasks.cli.pages import print_damaged, serve_page, user_name
from video_reasoning.tasks.cli.progress import print_some

if TYPE_CHECKING:
    from video_reasoning.tasks.handpick.items import Item
    from video_reasoning.tasks.handpick.record import Decision, PickLog


def handpick(
    benchmark: Annotated[str, typer.Option(help="blackswan, tvbench or causalvqa.")],
    out: Annotated[Path, typer.Option(help="The picks file (JSON Lines), appended to.")],
    annotator: Annotated[
        str | None, typer.Option(help="Who picks; default: your user name. One file takes many.")
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Split to pick for; default: the first prepared.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Pick for a random sample of this size.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed draws another sample.")] = 0,
    port: Port = None,
    open_page: OpenPage = False,
    import_csv: Annotated[
        Path | None, typer.Option("--import", help="Add the decisions of a CSV file.")
    ] = None,
    export_csv: Annotated[
        Path | None, typer.Option("--export", help="Write the decisions as a CSV file.")
    ] = None,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="Print how alike the annotators pick.")
    ] = False,
    install: Annotated[
        bool,
        typer.Option(
            "--install",
            help="Put one pick per item into the store, for the tasks; with --annotator, theirs.",
        ),
    ] = False,
    home: Home = None,
) -> None:
    """Pick the frame that tells most about each question's answer, on a local page.

    Every pick is saved at once, and the same command goes on where you stopped. With --import,
    --export, --agreement or --install it does that instead, in this order, and shows no page.
    """
    from video_reasoning.tasks.handpick.exchange import export_csv as write_csv
    from video_reasoning.tasks.handpick.items import load_items
    from video_reasoning.tasks.handpick.items import sample as draw
    from video_reasoning.tasks.handpick.record import PickLog
    from video_reasoning.tasks.pages.journal import clean_annotator

    home = home and home.expanduser().absolute()
    store.benchmark_folder(benchmark, home)
    if annotator is not None:
        annotator = clean_annotator(annotator)
    log = PickLog(out.expanduser().absolute(), benchmark)
    print_damaged(log)
    if import_csv is not None:
        _import(import_csv.expanduser(), log, benchmark, annotator, home)
    if export_csv is not None:
        table = export_csv.expanduser().absolute()
        print(f"{write_csv(log.decisions.values(), table):,} decisions written to {table}.")
    if agreement:
        _print_agreement(log)
    if install:
        _install(log, benchmark, annotator, home)
    if not (import_csv or export_csv or agreement or install):
        items = load_items(benchmark, split, home)
        items = items if sample is None else draw(items, sample, seed)
        _serve(items, log, benchmark, annotator or user_name(), port, open_page, home)


def _serve(
    items: Sequence[Item],
    log: PickLog,
    benchmark: str,
    annotator: str,
    port: int | None,
    open_page: bool,
    home: Path | None,
) -> None:
    def app() -> Any:
        from video_reasoning.tasks.handpick.server import Workplace, create_app

        return create_app(Workplace(items, log, benchmark, annotator, home))

    broken = sum(bool(item.problem) for item in items)
    print(f"{len(items):,} items of {benchmark}, {annotator} picks, saved to {log.path}")
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


def _import(
    path: Path, log: PickLog, benchmark: str, annotator: str | None, home: Path | None
) -> None:
    from video_reasoning.tasks.handpick.exchange import import_csv
    from video_reasoning.tasks.handpick.items import known_ids

    found = import_csv(path, known_ids(benchmark, home), annotator)
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


def _install(log: PickLog, benchmark: str, annotator: str | None, home: Path | None) -> None:
    from video_reasoning.tasks.handpick.exchange import install, plan
    from video_reasoning.tasks.handpick.items import known_ids
    from video_reasoning.tasks.store.picks import PicksError

    decisions: Iterable[Decision] = log.decisions.values()
    if annotator is not None:
        decisions = log.of(annotator).values()
        if not decisions:
            known = ", ".join(log.annotators()) or "nobody"
            raise PicksError(f"{log.path} has no decision of {annotator}; it has those of {known}.")
    items = known_ids(benchmark, home)
    done = plan(decisions, benchmark, items, home)
    install(done, benchmark, home)
    print(f"{len(done.combined.picks):,} picks of {len(items):,} questions written to {done.path}.")
    if done.combined.automatic:
        print(f"{done.combined.automatic:,} automatic picks were left out: no person made them.")
    for ids, what in (
        (done.combined.skipped, "items were skipped more often than picked"),
        (done.combined.other_video, "items were picked on different videos and left out"),
        (done.changed, "items have another video in the store now and were left out"),
        (done.unknown, "items are not in the store and were left out"),
    ):
        print_some(f"{len(ids):,} {what}", ids)
