"""Reading back which frames a clip shows."""

from __future__ import annotations

import av

from tests.preprocessing.conftest import read_number


def numbers_of(path: str) -> list[int]:
    """The frame numbers that a video of numbered frames shows."""
    with av.open(path) as container:
        return [read_number(frame.to_ndarray(format="gray")) for frame in container.decode(video=0)]
