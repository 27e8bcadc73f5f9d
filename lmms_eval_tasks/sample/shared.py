"""What the three builders of the sample share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.sample.wording import COLORS

DIFFICULTIES = ("easy", "medium", "hard")

VECTORS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
"""Direction -> x and y of one step in the picture, y downwards."""


def seeded(seed: int) -> tuple[np.random.Generator, list[str]]:
    """Return a generator, and all colors in a drawn order."""
    rng = np.random.default_rng(seed)
    colors = list(COLORS)
    rng.shuffle(colors)
    return rng, colors


def write_text(path: Path, text: str) -> None:
    """Write a file of the release; line ends are those of the text on every system."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")
