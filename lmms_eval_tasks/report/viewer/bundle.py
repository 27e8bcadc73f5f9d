"""The viewer as a folder of files that opens from disk or from any web server."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from video_reasoning.tasks.report.footage import NoFootage
from video_reasoning.tasks.report.viewer.collection import Collection, Entry, Media
from video_reasoning.tasks.results.items import ReportError

PACKAGE = "video_reasoning.tasks.report.viewer"
FILES = ("view.css", "view.js")
ITEMS = "items.js"
"""The data, as a script: a page that was opened from disk may load no other kind of file."""

MEGABYTE = 1 << 20


@dataclass
class Bundle:
    """What was written.

    Attributes:
        items: Number of items.
        clips: Clips written, each once.
        size: Bytes that they take.
        left_out: Items whose clip or picture was left out: there was no room for it.
        unseen: Items of which nothing can be shown.
    """

    items: int = 0
    clips: int = 0
    size: int = 0
    left_out: int = 0
    unseen: int = 0
    media: list[dict[str, Any]] = field(default_factory=list)


def write_bundle(
    paths: Iterable[Path],
    target: Path,
    *,
    megabytes: float,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Bundle:
    """Write the page, its data and its clips into a folder.

    The folder appears whole or not at all; one that a bundle was written to before is replaced.

    Args:
        paths: Output folders of the harness, results files or sample logs.
        target: The folder.
        megabytes: The most that the clips may take.
        progress: Called with the number of items whose clips are there, and with that of all.

    Raises:
        ReportError: There is nothing to show, or the folder has other files.
    """
    if target.exists() and not (target / ITEMS).is_file():
        raise ReportError(f"{target} exists and is not a bundle of this command; name another.")
    state = Collection(paths).state()
    if state.problem:
        raise ReportError(state.problem)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        found = _write_media(state.entries, made, int(megabytes * MEGABYTE), progress)
        content = json.dumps({**state.content, "media": found.media}, ensure_ascii=False)
        (made / ITEMS).write_bytes(
            f"window.VIEW = {content};\n".encode("utf-8", "backslashreplace")
        )
        for name in FILES:
            (made / name).write_bytes((files(PACKAGE) / name).read_bytes())
        page = (
            (files(PACKAGE) / "view.html")
            .read_text(encoding="utf-8")
            .replace(
                '<script src="view.js"', f'<script src="{ITEMS}"></script>\n<script src="view.js"'
            )
        )
        (made / "index.html").write_text(page, encoding="utf-8")
        made.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        made.replace(target)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    found.items = len(state.entries)
    return found


def _write_media(
    entries: Sequence[Entry], folder: Path, room: int, progress: Callable[[int, int], None]
) -> Bundle:
    """Write what each item shows: its clips, or the picture of a single frame."""
    done = Bundle()
    media = Media()
    known: dict[object, dict[str, Any]] = {}
    (folder / "media").mkdir()
    try:
        for number, entry in enumerate(entries):
            progress(number, len(entries))
            try:
                shown = media.shown(entry)
            except NoFootage as reason:
                done.unseen += 1
                done.media.append({"problem": str(reason)})
                continue
            # A video as it is does not depend on the question.
            key = shown if shown.condition else shown.videos
            if key not in known:
                known[key] = _of_item(media, entry, folder / "media", room - done.size, done)
            done.left_out += "room" in known[key]
            done.media.append(known[key])
    finally:
        media.close()
    progress(len(entries), len(entries))
    return done


def _of_item(media: Media, entry: Entry, folder: Path, room: int, done: Bundle) -> dict[str, Any]:
    try:
        clips = [media.playable(path) for path in media.clips(entry)]
        stills, caption = ([], "") if clips else media.stills(entry)
    except NoFootage as reason:
        return {"problem": str(reason)}
    contents = [(path.read_bytes(), kind) for path, kind in clips]
    contents += [(data, "image/jpeg") for _, data in stills]
    new = [each for each in contents if not (folder / _name(*each)).exists()]
    size = sum(len(data) for data, _ in new)
    if size > room:
        return {"problem": "The clip was left out of this bundle: there was no room.", "room": 1}
    for data, kind in new:
        (folder / _name(data, kind)).write_bytes(data)
    done.size += size
    done.clips += sum(kind.startswith("video") for _, kind in new)
    places = [f"{folder.name}/{_name(*each)}" for each in contents]
    named = [(name, place) for (name, _), place in zip(stills, places[len(clips) :], strict=True)]
    return {"clips": places[: len(clips)], "stills": named, "caption": caption}


def _name(data: bytes, kind: str) -> str:
    ending = {"image/jpeg": "jpg", "video/webm": "webm"}.get(kind, "mp4")
    return f"{hashlib.sha256(data).hexdigest()[:24]}.{ending}"
