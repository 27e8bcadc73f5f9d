"""Part of the sample, drawn once: all annotations, a few videos of each benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from video_reasoning.tasks.sample import blackswan, causalvqa, tvbench
from video_reasoning.tasks.sample.drawing import write_video


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("sample") / "releases"
    videos = [video for n, video in enumerate(tvbench.build(root / "tvbench")) if n % 5 == 0]
    videos += blackswan.build(root / "blackswan")[:5]
    videos += causalvqa.build(root / "causalvqa")[:40:4]
    for video in videos:
        write_video(video)
    yield root
