"""What commands show: how far work has come, what a store contains, and lists cut short."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from video_reasoning.tasks.errors import UserError

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, how much of it is done, and how much there is."""


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Show a progress bar per step on a terminal; elsewhere a line when a step is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=console, disable=not console.is_terminal) as bars:
        shown: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if done == 0 or step not in shown:
                shown[step] = bars.add_task(step, total=total)
            bars.update(shown[step], completed=done, total=total)
            if not console.is_terminal and done == total:
                console.print(f"{step}: {total:,}", highlight=False)

        yield show


def some(
    title: str, sentences: Sequence[str], *, indent: str = "", file: str = "", most: int = 10
) -> Iterator[str]:
    """Yield a title and at most so many sentences below it; nothing if there are none.

    The file, if one is named, has all of them.
    """
    if not sentences:
        return
    yield f"{indent}{title}:"
    for sentence in sentences[:most]:
        yield f"{indent}  {sentence}"
    if len(sentences) > most:
        everything = f" (all are in {file})" if file else ""
        yield f"{indent}  ... and {len(sentences) - most:,} more{everything}"


def print_some(title: str, sentences: Sequence[str], **more: Any) -> None:
    """Print what `some` yields."""
    for line in some(title, sentences, **more):
        print(line)


def write(target: Path, text: str) -> None:
    """Write a file that appears whole or not at all, and say so.

    Raises:
        UserError: The place is a folder.
    """
    from video_reasoning.preprocessing.files import atomic_path

    if target.is_dir():
        raise UserError(f"{target} is a folder; name a file in it.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))
    print(f"Written to {target}.")


def manifest_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Say what a benchmark's part of the store contains and lacks."""
    yield f"{manifest['benchmark']}: {manifest['videos']:,} videos from {manifest['source']}"
    for name, summary in manifest["splits"].items():
        tasks = ", ".join(f"{task} {count}" for task, count in summary["tasks"].items())
        yield f"  {name}: {summary['questions']:,} questions ({tasks})"
        if summary["withheld"]:
            yield f"    {summary['withheld']:,} without a published answer"
        for what, key, entries in (
            ("without a usable video", "id", summary["missing"]),
            ("rows skipped", "row", summary["skipped"]),
        ):
            sentences = [f"{entry[key]}: {entry['reason']}" for entry in entries]
            title = f"{len(entries)} {what}"
            yield from some(title, sentences, indent="    ", file="manifest.json")
    for note in manifest["notes"]:
        yield f"  note: {note}"
