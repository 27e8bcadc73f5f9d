"""Clips in a form that a browser plays, inside a page as long as they fit."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from loguru import logger

from video_reasoning.preprocessing.video import VideoError
from video_reasoning.tasks.pages.frames import Player
from video_reasoning.tasks.report.footage import Footage

MEGABYTE = 1 << 20
CLIPS = 16
"""Megabytes of clips in a page, at most, unless a user says otherwise."""

_SHARE = 8  # a clip takes at most this part of the whole
_WORTH = 4  # a file this many times larger than a clip may be is not worth converting


class Embedded:
    """Clips as ``data:`` addresses, up to a number of bytes in all.

    A clip that a browser cannot play is converted; whatever is made is in a temporary folder that
    is gone when the context ends.

    Args:
        megabytes: The most that all clips may take; 0 for none.
    """

    def __init__(self, megabytes: float = CLIPS) -> None:
        self.left = int(megabytes * MEGABYTE)
        self._most = self.left // _SHARE
        self._player = Player()

    def __enter__(self) -> Embedded:
        self._folder = tempfile.TemporaryDirectory(prefix="video-reasoning-")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._player.close()
        self._folder.cleanup()

    def addresses(self, shown: Footage) -> tuple[list[str], str]:
        """Return the clips of an item, and why there are none if there should be."""
        if not self._most:
            return [], ""
        try:
            return self._read(shown.playable(Path(self._folder.name)))
        except (VideoError, OSError, ValueError) as error:
            logger.warning(f"{shown.key}: no clip: {error}")
            return [], f"No clip: {error}"

    def _read(self, paths: Sequence[Path]) -> tuple[list[str], str]:
        size = sum(path.stat().st_size for path in paths)
        if size <= _WORTH * self._most:
            files = [self._player.file(path) for path in paths]
            size = sum(path.stat().st_size for path, _ in files)
            if size <= min(self._most, self.left):
                self.left -= size
                return [
                    f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"
                    for path, kind in files
                ], ""
        return [], (
            f"The clip ({size / MEGABYTE:.1f} MB) is not in this page: `video-reasoning view` "
            "plays it, and --clips sets how much a page may contain."
        )
