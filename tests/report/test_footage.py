"""What the examples of a report show of tasks with several parts of a video."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.harness.served import number_of, write_numbered
from tests.report.runs import judged_line, prompt, write_questions, write_run
from video_reasoning.tasks.report.footage import condition_shown, footage
from video_reasoning.tasks.results.items import gather

PARTS = {"video_before": range(30), "video_event": range(100, 140), "video_after": range(200, 220)}


@pytest.mark.parametrize(
    ("kind", "columns"),
    [("reporter_mcq", list(PARTS)), ("detective_mcq", ["video_before", "video_after"])],
)
def test_frames_of_every_part_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, columns: list[str]
) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))
    question: dict[str, Any] = {
        "id": f"{kind}/1", "task": kind, "question": "What?", "options": ["a", "b", "c"],
        "answer": "A", "video": "videos/joined.mp4", "problem": "", "frames": 90,
        **{name: f"videos/{name}.mp4" if name in columns else "" for name in PARTS},
    }  # fmt: skip
    for name in columns:
        write_numbered(tmp_path / "store/blackswan" / question[name], PARTS[name])
    file = write_questions(tmp_path / "store", "blackswan", "validation", [question])
    task = f"blackswan_{kind}_parts5"
    line = judged_line(0, question, "A") | {"input": prompt(question)}
    write_run(tmp_path / "res", {task: [line]}, questions={task: file})
    (log,) = gather([tmp_path / "res"])
    (item,) = log.items
    shown = footage(log, item.question, item.id, condition_shown(log, item))
    stills = shown.stills(number_of)
    assert [still.picture for still in stills] == [
        PARTS[name][index]
        for name in columns
        for index in np.linspace(0, len(PARTS[name]) - 1, 5).astype(int)
    ]
    assert [still.video for still in stills] == [name for name in columns for _ in range(5)]
    assert shown.caption(len(stills)).startswith(f"The {5 * len(columns)} frames that the model")
    assert len(shown.playable(tmp_path / "clips")) == len(columns)
