"""Kappa, tau and rho of frames that did not reach the model: N/A, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tasks.harness_logs import write_run
from tests.tasks.test_principles import items
from tests.tasks.test_principles_table import lines
from video_reasoning.tasks.results.principles import TASK, evaluate
from video_reasoning.tasks.sight import Sight
from video_reasoning.tasks.tvbench import principles

SCORES: dict[str, list[float | None]] = {
    "ordered16": [1.0, 1.0, 0.0],
    "shuffled16": [1.0, 0.0, 0.0],
    "random1": [0.0, 0.0, 1.0],
    "handpicked1": [0.0, 1.0, 1.0],
}
ALL = ("kappa_random", "kappa_handpicked", "tau", "rho")


@pytest.mark.parametrize(
    ("sight", "differs"),
    [
        (Sight(16, 16, True), False),
        (Sight(16, 15), True),
        (Sight(16, 16, False), True),
        (Sight(16, None), False),
        (Sight(None, 12), False),
        (Sight(0, 16), True),
    ],
)
def test_what_differs(sight: Sight, differs: bool) -> None:
    assert sight.differs is differs


@pytest.mark.parametrize(
    ("lost", "left"),
    [
        (None, ALL),
        ("ordered16", ("rho",)),
        ("shuffled16", ("kappa_random", "kappa_handpicked", "rho")),
        ("handpicked1", ("kappa_random", "tau")),
    ],
)
def test_the_harness_table_has_no_ratio_of_lost_frames(
    lost: str | None, left: tuple[str, ...]
) -> None:
    rows = [
        {**row, **({"other_frames": True} if row["condition"] == lost else {})}
        for row in items(SCORES)
    ]
    table = {m["metric"]: m["aggregation"](rows) for m in principles.PRINCIPLES_METRICS[:8]}
    assert [name for name in ALL if table[name] is not None] == list(left)
    assert table["acc_ordered16"] is not None


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ({"frames_shown": 16, "frames_seen": 13.0, "frames_in_order": None}, "13 at least"),
        ({"frames_shown": 16, "frames_seen": 16.0, "frames_in_order": False}, "another order"),
        ({"frames_shown": 16, "frames_seen": 16.0, "frames_in_order": True}, None),
    ],
)
def test_the_principles_of_a_log_say_why(
    tmp_path: Path, frames: dict[str, Any], why: str | None
) -> None:
    scores = {name: dict(enumerate(values)) for name, values in SCORES.items()}
    written = lines({c: {f"q{n}": s for n, s in of.items()} for c, of in scores.items()})
    for line in written:
        if line["tau"]["condition"] == "shuffled16" and line["id"] == "q1":
            line.update(frames)
    (found,) = evaluate([write_run(tmp_path, {TASK: written}, questions={})])
    (part,) = found.parts
    assert ("tau" in part.undefined) is (why is not None)
    if why:
        assert (
            why in part.undefined["tau"] and "not as shown in 1 of 3 items" in part.undefined["tau"]
        )
    assert "kappa_random" not in part.undefined
