"""A small store with questions of all three benchmarks, as `prepare` writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.tasks.releases import write_video
from video_reasoning.tasks import store

_SPLITS = {"blackswan": "validation", "tvbench": "test", "causalvqa": "debug"}


def _row(id_: str, task: str, video: str, **more: Any) -> dict[str, Any]:
    options = more.pop("options", [])
    return {
        "id": id_, "task": task, "question": f"What about {id_}?", "options": options,
        "answer": "A" if options else "", "video": f"videos/{video}.mp4", "problem": "",
        "frames": 40, "seconds": 4.0, "evidence": "", **more,
    }  # fmt: skip


def blackswan(videos: int = 4) -> list[dict[str, Any]]:
    """Every form of question about each video, the Reporter's about all of it."""
    rows = []
    for n in range(videos):
        before = {"video_before": f"videos/{n}_pre.mp4", "difficulty": "easy", "hypothesis": ""}
        for part in ("forecaster", "detective", "reporter"):
            if part != "forecaster":
                options = [f"First {n}.", f"Second {n}.", f"Third {n}."]
                name = f"{part}_mcq"
                rows.append(_row(f"{name}/{n}", name, f"{n}_{part}", options=options, **before))
                name = f"{part}_yn"
                stated = {**before, "hypothesis": f"It falls, {n}.", "answer": "yes"}
                rows.append(_row(f"{name}/{n}", name, f"{n}_{part}", **stated))
            name = f"{part}_gen"
            texts = {**before, "references": [f"The ball {n} falls off the table."]}
            rows.append(_row(f"{name}/{n}", name, f"{n}_{part}", **texts))
    return rows


def tvbench(questions: int = 8) -> list[dict[str, Any]]:
    """Questions about the direction of something, of four options each."""
    return [
        _row(f"direction/{n}", "direction", str(n % 4), options=["Up.", "Down.", "Left.", "Right."])
        for n in range(questions)
    ]


def causalvqa(pairs: int = 12) -> list[dict[str, Any]]:
    """Questions with two variants each."""
    return [
        _row(
            f"q{n}/{variant}", "planning", str(n % 4), options=[f"{x}{variant}" for x in "abcde"],
            qid=f"q{n}", variant=variant, type="planning", difficulty="easy",
        )
        for n in range(pairs) for variant in (1, 2)
    ]  # fmt: skip


def write(home: Path, benchmark: str, rows: list[dict[str, Any]], *, videos: bool = True) -> Path:
    """Write the questions, and a small video for each that they name."""
    path = store.questions_file(benchmark, _SPLITS[benchmark], home)
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = dict.fromkeys(name for row in rows for name in row)
    filled = [{name: row.get(name) for name in columns} for row in rows]
    pq.write_table(pa.Table.from_pylist(filled), path)
    for name in {row["video"] for row in rows if videos and not row["problem"]}:
        write_video(home / benchmark / name, 40, size=(160, 96))
    return home
