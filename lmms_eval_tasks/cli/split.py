"""`video-reasoning split`: BlackSwanSuite's clips from whole videos (appendix B.1)."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from video_reasoning.tasks.cli.options import Address, EngineName, Workers
from video_reasoning.tasks.errors import UserError


class SplitError(UserError):
    """Videos or times that cannot be used."""


def split(
    videos: Annotated[Path, typer.Option(help="Folder of whole videos.")],
    transition_times: Annotated[
        Path, typer.Option(help='JSON: name -> {"t": [seconds, ...]}, an entry per annotator.')
    ],
    out: Annotated[Path, typer.Option(help="Folder to write clips and manifest.jsonl to.")],
    variant: Annotated[
        str, typer.Option(help="paper: algorithm 1; release: what made the published clips.")
    ] = "paper",
    workers: Workers = None,
    resume: Annotated[
        bool, typer.Option(help="Keep what a previous run did, or make everything again.")
    ] = True,
    engine: EngineName = "local",
    engine_address: Address = None,
) -> None:
    """Split videos around their unexpected event, frame-exact.

    Each video gives the three parts, the joined clip with the middle black, and the joined
    clip, named as in the releases. A video that the algorithm discards, or that cannot be
    decoded, is recorded in the manifest with the reason, and the rest is done. An interrupted
    run goes on where it stopped when it is run again.
    """
    from typing import cast, get_args

    from video_reasoning.preprocessing.files import Busy
    from video_reasoning.preprocessing.split import SplitRecord, Variant, split_folder
    from video_reasoning.preprocessing.workers import EngineError
    from video_reasoning.tasks.cli.progress import shown_progress

    if variant not in get_args(Variant):
        raise SplitError(
            f"There is no variant {variant!r}; the variants are {', '.join(get_args(Variant))}."
        )
    with shown_progress() as progress:

        def report(record: SplitRecord, done: int, total: int) -> None:
            progress("Splitting videos", done, total)

        try:
            records = split_folder(
                videos.expanduser(),
                transition_times.expanduser(),
                out.expanduser(),
                variant=cast(Variant, variant),
                workers=workers or os.cpu_count() or 1,
                resume=resume,
                progress=report,
                engine=engine,
                engine_address=engine_address,
                isolate=True,
            )
        except (ValueError, EngineError) as error:
            raise SplitError(str(error)) from error
        except Busy as error:
            raise SplitError(
                f"Another process is splitting into {out} ({error}); wait for it to end."
            ) from None
    kept = [record for record in records if record.status == "split"]
    print(f"{len(kept):,} of {len(records):,} videos split into {out}.")
    # A reason's own numbers differ from video to video; its first words say what it is.
    discarded = Counter(record.reason for record in records if record.status != "split")
    for reason, count in discarded.most_common(10):
        print(f"  discarded {count:,}: {reason}")
    if len(discarded) > 10:
        print(f"  ... and {len(discarded) - 10:,} more reasons; manifest.jsonl has all of them.")
    if not kept:
        raise SystemExit(1)
