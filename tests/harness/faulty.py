"""`lmms_eval` with a fault, which the variable FAULT names, in `random_choice` or on the disk."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

from video_reasoning.tasks import launcher
from video_reasoning.tasks.models.baselines import RandomChoice


def main() -> int:
    """Runs the launcher with the fault."""
    fault = os.environ["FAULT"]
    answer, open_file = RandomChoice.generate_until, Path.open
    asked: list[Any] = []

    def generate_until(self: RandomChoice, requests: list[Any]) -> list[str]:
        responses = answer(self, requests)
        if fault == "exits":
            sys.exit(0)
        if fault == "stops":
            asked.extend(requests)
            return responses[: max(0, 31 - len(asked) + len(requests))]
        return responses

    def open_(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if "w" in mode and path.name.endswith("_results.json"):
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return open_file(path, mode, *arguments, **options)

    RandomChoice.generate_until = generate_until  # type: ignore[method-assign]
    if fault == "full":
        Path.open = open_  # type: ignore[method-assign,assignment]
    return launcher.main()
