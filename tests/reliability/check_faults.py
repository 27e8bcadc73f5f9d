"""Broken and odd inputs before every command: what was tried, and what was lost.

Run as ``python -m tests.reliability.check_faults``. A traceback, a crash, a hang, a fault that is
not told of, or a good item beside a bad one that comes out otherwise counts as a loss; with any
loss the script ends with an error.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.reliability import alone, inputs, stores, texts
from tests.reliability.corpus import CASES, write
from tests.reliability.guard import Tally, command, guarded


def imports() -> None:
    """Import what the commands import, so that forked processes need not."""
    for name in _IMPORTED:
        importlib.import_module(name)


_IMPORTED = (
    "cv2", "nltk.translate.bleu_score", "pandas", "PIL.Image",
    "pyarrow.parquet", "pyarrow.pandas_compat", "rich.console", "rich.progress", "rich.table",
    "rouge_score.rouge_scorer", "scenedetect", "scipy.stats", "httpx",
    "video_reasoning.metrics.models", "video_reasoning.preprocessing.split",
    "video_reasoning.tasks.blackswan.annotations", "video_reasoning.tasks.cli.app",
    "video_reasoning.tasks.results.compare", "video_reasoning.tasks.handpick.exchange",
    "video_reasoning.tasks.handpick.server", "video_reasoning.tasks.prepare",
    "video_reasoning.tasks.report.build", "video_reasoning.tasks.report.page",
    "video_reasoning.tasks.results.generation", "video_reasoning.tasks.sample.known",
    "video_reasoning.tasks.leaderboards.predictions",
)  # fmt: skip


def check_alone(folder: Path, tally: Tally, only: str = "") -> None:
    """Each video by itself before each function that reads one."""
    cases = [case for case in CASES if only in case.name]
    made = guarded(lambda: (write(folder / "videos", cases), alone.good_video(folder)), seconds=300)
    if made.loss:
        raise RuntimeError(made.loss)
    (written, skipped), good = made.value
    for case in cases:
        if case.name not in written:
            tally.fate(case.family, "skipped")
            print(f"skipped: {case.name}: {skipped[case.name]}")
            continue
        video = written[case.name]
        found = alone.meet(
            video, good, user=NOBODY if case.needs_user and os.geteuid() == 0 else None
        )
        alone.judge(case, video, found, tally)


def check_values(folder: Path, tally: Tally, only: str = "") -> None:
    """Each field of a row of each benchmark with each odd value."""
    stores.check_values(folder / "values", tally)


def check_stores(folder: Path, tally: Tally, only: str = "") -> None:
    """All videos in whole releases beside good ones: prepare, split, the page, evaluations."""
    cases = {case.name: case for case in CASES if only in case.name and not case.needs_user}
    made = guarded(lambda: write(folder / "videos", list(cases.values())), seconds=300)
    if made.loss:
        raise RuntimeError(made.loss)
    videos, _ = made.value
    fates = stores.verdicts(videos)
    clean, mixed = folder / "clean", folder / "mixed"
    stores.lay_out(clean, {})
    stores.lay_out(mixed, videos)
    for place in (clean, mixed):
        stores.prepare_all(place, tally, place.name)
    known = {name: cases[name] for name in videos}
    stores.check_prepared(clean / "store", mixed / "store", known, fates, tally)
    stores.check_split(folder / "films", videos, tally)
    stores.check_page(mixed / "store", tally)
    stores.check_runs(clean / "store", mixed / "store", folder / "runs", tally)


NOBODY = 65534


def check_texts(folder: Path, tally: Tally, only: str = "", every: int = 1) -> None:
    """Each file that a command reads, with each fault, or each N-th of them."""
    good = folder / "good"
    made = guarded(lambda: inputs.build(good), seconds=300)
    if made.loss:
        raise RuntimeError(made.loss)
    for place, each in enumerate(inputs.INPUTS):
        for number, fault in enumerate(texts.FAULTS):
            what = f"{each.name} / {fault}"
            if only not in what or (number + place) % every:
                continue
            here = folder / "copy"
            shutil.rmtree(here, ignore_errors=True)
            inputs.copied(good, here)
            texts.spoil(here / each.file, fault)
            arguments = [word.replace("{}", str(here)) for word in each.arguments]
            outcome = command(*arguments, home=here / "store")
            loss = outcome.loss
            if not loss and len(outcome.output) > 20_000:
                loss = f"{len(outcome.output):,} characters were printed"
            if not loss and outcome.code == 2 and not _is_sentence(outcome.output):
                loss = f"no sentence: {outcome.output[-300:]!r}"
            tally.met("text files", what, loss)
            tally.fate("text files", "read" if outcome.code == 0 else "refused")


def _is_sentence(output: str) -> bool:
    last = output.strip().splitlines()[-1]
    return last.endswith((".", "│", "╯")) and len(last) < 2000


STAGES: Mapping[str, Callable[[Path, Tally, str], None]] = {
    "alone": check_alone,
    "texts": check_texts,
    "values": check_values,
    "stores": check_stores,
}


def main() -> None:
    """Run the stages, print the table, and exit with an error on any loss."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", choices=[*STAGES], action="append", help="default: all")
    parser.add_argument("--only", default="", help="cases whose names hold this text")
    parser.add_argument("--every", type=int, default=1, help="each N-th of the text faults")
    given = parser.parse_args()
    imports()
    tally = Tally()
    for name in given.stage or STAGES:
        began, before = time.monotonic(), len(tally.losses)
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            Path(folder).chmod(0o755)  # one case is met as another user
            stage = STAGES[name]
            if name == "texts":
                check_texts(Path(folder), tally, given.only, given.every)
            else:
                stage(Path(folder), tally, given.only)
        print(f"{name}: {time.monotonic() - began:.0f} s, {len(tally.losses) - before} losses")
    for family, count in tally.tried.items():
        words = ", ".join(f"{n} {word}" for word, n in sorted(tally.fates.get(family, {}).items()))
        print(f"  {family}: {words}; {count:,} meetings")
    print(f"{sum(tally.tried.values()):,} meetings, {len(tally.losses)} losses")
    sys.exit(1 if tally.losses else 0)


if __name__ == "__main__":
    main()
