"""Tiny releases in the benchmarks' own layouts, for the tests of `prepare`."""

from __future__ import annotations

import csv
import json
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np


def write_video(
    path: Path, frames: int = 12, rate: int = 10, size: tuple[int, int] = (64, 48)
) -> Path:
    """A small H.264 video whose brightness grows with the frame's number; the same bytes always."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_video(path.suffix, frames, rate, size))
    return path


@cache
def _video(suffix: str, frames: int, rate: int, size: tuple[int, int]) -> bytes:
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        with av.open(file.name, "w") as container:
            stream = container.add_stream("libx264", rate=Fraction(rate))
            stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
            for number in range(frames):
                level = 40 + (number * 13) % 200
                picture = np.full((size[1], size[0], 3), level, dtype=np.uint8)
                for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                    container.mux(packet)
            for packet in stream.encode():
                container.mux(packet)
        return Path(file.name).read_bytes()


def tvbench_question(**changes: Any) -> dict[str, Any]:
    """One question as the authors' files have it."""
    return {
        "question": "Which way does the kite drift?",
        "options": ["Up.", "Down.", "Left.", "It stays."],
        "answer": 2,
        "key": "0001-00",
        "video_source_url": "",
        "motion_type": "direction",
        "variation": {"counterfactual": 0, "composite": 0, "zoom": 1, "first_person": 0},
        "demonstration_type": "object",
        "note": "",
        **changes,
    }


def write_tvbench(root: Path, questions: dict[str, Any], *, videos: bool = True) -> Path:
    """`questions` under direction.json, and the videos that they name."""
    data = root / "data"
    data.mkdir(parents=True, exist_ok=True)
    (data / "direction.json").write_text(json.dumps(questions), encoding="utf-8")
    if videos:
        for row in questions.values():
            if isinstance(row, dict) and row.get("key") and row.get("demonstration_type"):
                write_video(root / "videos" / row["demonstration_type"] / f"{row['key']}.mp4")
    return root


CAUSALVQA_COLUMNS = (
    "qid", "type", "question", "choices1", "correct1", "choices2", "correct2", "difficulty",
    "renamed_video",
)  # fmt: skip


def causalvqa_row(**changes: str) -> dict[str, str]:
    """One question as the metadata has it."""
    return {
        "qid": "q1",
        "type": "Anticipation",
        "question": "What is the person about to do with the mug?",
        "choices1": "1. Fill it|2. Drop it|3. Wash it|4. Dry it|5. Hide it",
        "correct1": "3",
        "choices2": "1. Wash it|2. Pour it full|3. Let it fall|4. Rub it dry|5. Put it away",
        "correct2": "1",
        "difficulty": "Med",
        "renamed_video": "clip_1.mp4",
        **changes,
    }


def write_causalvqa(root: Path, rows: list[dict[str, str]], split: str = "debug") -> Path:
    """The metadata of one split and the videos that it names."""
    folder = root / split
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{split}_metadata.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, CAUSALVQA_COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    for row in rows:
        if row["renamed_video"]:
            write_video(folder / "videos" / row["renamed_video"])
    return root


def blackswan_row(**changes: Any) -> dict[str, Any]:
    """One Detective question of the hub's MCQ data set."""
    return {
        "q_id": 7,
        "task": "Detective",
        "difficulty": "hard",
        "default_question": "Select the description ...",
        "mcq_options": ["The dog jumps in.", "The chair breaks.", "The rope snaps."],
        "mcq_gt_option": 1,
        "preevent_file_name": "videos/3_A_preevent.mp4",
        "event_file_name": "",
        "postevent_file_name": "videos/3_C_postevent.mp4",
        **changes,
    }


def write_blackswan(
    root: Path,
    rows: list[Any],
    name: str = "BlackSwanSuite_MCQ_Val.jsonl",
    *,
    parts: tuple[str, ...] = ("3_A_preevent", "3_B_event", "3_C_postevent"),
    folder: str = "videos",
) -> Path:
    """A table of the hub's layout, and clips of 10, 14 and 12 frames."""
    root.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (root / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    lengths = {"A": 10, "B": 14, "C": 12}
    for part in parts:
        write_video(root / folder / f"{part}.mp4", lengths[part.split("_")[1]])
    return root
