"""What identifies a number: a number that cannot be cited cannot be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from video_reasoning.tasks.llm import extractor
from video_reasoning.tasks.results.items import TaskLog
from video_reasoning.tasks.results.logs import condition_of
from video_reasoning.tasks.store.text_files import is_regular

__all__ = ["condition_of", "digest", "signature"]


def signature(log: TaskLog, condition: str = "") -> str:
    """Return one line that identifies the numbers of a logged task.

    Task, version and prompt, frame condition and its seed, what read the responses ("rules", or
    the language model that helped), and the digest of the store that the run logged (of the
    questions as they are now, for logs without one), such as
    `tvbench_tomato_principles|v1.0|ordered16|seed0|rules|store 3f2a91`.

    Args:
        log: The task.
        condition: The frames shown; empty for all of the task's, or if it has one way only.
    """
    metadata = log.result.config.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    version = metadata.get("version")
    models = {
        item.rule.removeprefix(extractor.FOUND)
        for item in log.items
        if item.rule.startswith(extractor.FOUND)
    }
    shown = condition or "+".join(name for name in log.conditions() if name)
    shown = shown or condition_of(log.result.config)
    audit = metadata.get("audit")
    seed = audit.get("seed", 0) if isinstance(audit, Mapping) else 0
    store = metadata.get("store") or (
        digest(log.questions_file)[:6] if log.questions_file and not log.changed else "unknown"
    )
    parts = [
        log.task,
        f"v{version}" if version not in (None, "") else "no version",
        f"prompt {metadata['prompt']}" if metadata.get("prompt") else "",
        shown,
        f"seed{seed}" if shown else "",
        "+".join(["rules", *sorted(models)]),
        f"store {store}",
    ]
    return "|".join(part for part in parts if part)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, "unreadable" if it cannot be read."""
    if not is_regular(path):
        return "unreadable"
    try:
        return _digest(path, path.stat().st_mtime_ns)
    except OSError:
        return "unreadable"


@lru_cache(maxsize=32)
def _digest(path: Path, changed: int) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()
