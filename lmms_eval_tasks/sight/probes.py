"""The questions of a probe: a small store of the three benchmarks whose frames name themselves.

The benchmarks' own tasks are asked over it, so that a model is handed what it is handed in a run.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.sight import naming

RATE = 8
"""Frames a second of every probe video."""
FRAMES = 80
"""Frames of a whole video, numbered from 1 on: 10 s."""
PART = 24
"""Frames of each part of a video around an event: 3 s."""
FIRST_PART = 1 + FRAMES
"""Number of the first part's first frame; the hidden middle and the end follow."""

NAMED, LADDER = "named", "ladder"


@dataclass(frozen=True)
class Probe:
    """One way of showing something.

    Attributes:
        name: What the table calls it.
        task: The task that shows it.
        benchmark: Whose task that is.
        condition: The condition of its documents; empty for whole videos.
        clips: How many videos are handed over.
        shown: What is shown, in words; ``{n}`` is the number of frames that are asked for.
    """

    name: str
    task: str
    benchmark: str
    condition: str = ""
    clips: int = 1
    shown: str = ""

    def expected(self, document: Mapping[str, Any]) -> list[int] | None:
        """Return the numbers of the frames that a document shows; None for whole videos."""
        if not self.condition:
            return None
        condition = Condition.parse(self.condition)
        return [1 + n for n in condition_indices(condition, FRAMES, str(document["id"]))]


_PRINCIPLES = "tvbench_tomato_principles"
PROBES = (
    Probe("ordered16", _PRINCIPLES, "tvbench", "ordered16", shown="16"),
    Probe("shuffled16", _PRINCIPLES, "tvbench", "shuffled16", shown="16"),
    Probe("random1", _PRINCIPLES, "tvbench", "random1", shown="1"),
    Probe("last1", "causalvqa_debug_single_frame", "causalvqa", "last1", shown="1"),
    Probe("blind", "tvbench_tomato_direction_blind", "tvbench", "blind", shown="0"),
    Probe("whole video", "causalvqa_debug", "causalvqa", shown=f"{{n}} of {FRAMES}"),
    Probe("two clips", "blackswan_detective_mcq_clips", "blackswan", clips=2, shown="{n} of each"),
    Probe("hidden middle", "blackswan_detective_mcq", "blackswan", shown="{n}, some black"),
)
"""In the order of the table."""


def write_store(folder: Path, kinds: Sequence[str]) -> None:
    """Write one question of each benchmark for each kind of frame that is named.

    Args:
        folder: Where ``releases`` and ``store`` are made.
        kinds: :data:`NAMED` or :data:`LADDER`, for each question.
    """
    releases, numbered = folder / "releases", dict(enumerate(kinds))
    for kind in sorted(set(kinds)):
        _write_videos(releases, kind)
    for name, text in (
        ("tvbench/data/direction.json", json.dumps(_tvbench(numbered))),
        ("blackswan/BlackSwanSuite_MCQ_Val.jsonl", "\n".join(_blackswan(numbered)) + "\n"),
    ):
        (releases / name).parent.mkdir(parents=True, exist_ok=True)
        (releases / name).write_text(text, encoding="utf-8")
    with (releases / "causalvqa/debug/debug_metadata.csv").open("w", newline="") as file:
        rows = [_causalvqa(number, kind) for number, kind in numbered.items()]
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    for benchmark in ("tvbench", "causalvqa", "blackswan"):
        prepare(benchmark, releases / benchmark, store_home=folder / "store", workers=1)


def kind_of(document: Mapping[str, Any]) -> str:
    """Return which kind of frames a document's video has: its name says it."""
    names = f"{document.get('video')} {document.get('video_before')}"
    return LADDER if LADDER in names else NAMED


def _write_videos(releases: Path, kind: str) -> None:
    def write(path: str, first: int, frames: int) -> None:
        if kind == LADDER:
            # The parts of a video are a ladder of their own.
            start = first - (1 if first < FIRST_PART else FIRST_PART)
            pictures = [naming.draw_gray(start + n) for n in range(frames)]
        else:
            pictures = [naming.draw(first + n) for n in range(frames)]
        naming.write_video(releases / path, pictures, RATE)

    write(f"tvbench/videos/object/{kind}-00.mp4", 1, FRAMES)
    write(f"causalvqa/debug/videos/{kind}.mp4", 1, FRAMES)
    for n, part in enumerate(("A_preevent", "B_event", "C_postevent")):
        write(f"blackswan/videos/{kind}_{part}.mp4", FIRST_PART + n * PART, PART)


_OPTIONS = ("The first.", "The second.", "The third.", "None of these.")


def _tvbench(kinds: Mapping[int, str]) -> dict[str, Any]:
    return {
        str(number): {
            "question": f"Which of these is question {number}?",
            "options": _OPTIONS,
            "answer": 0,
            "key": f"{kind}-00",
            "video_source_url": "",
            "motion_type": "direction",
            "variation": dict.fromkeys(("counterfactual", "composite", "zoom", "first_person"), 0),
            "demonstration_type": "object",
            "note": "",
        }
        for number, kind in kinds.items()
    }


def _causalvqa(number: int, kind: str) -> dict[str, str]:
    options = "|".join(f"{n}. {text}" for n, text in enumerate((*_OPTIONS, "All."), start=1))
    return {
        "qid": f"q{number}",
        "type": "Anticipation",
        "question": f"Which of these is question {number}?",
        "choices1": options,
        "correct1": "1",
        "choices2": options,
        "correct2": "1",
        "difficulty": "Med",
        "renamed_video": f"{kind}.mp4",
    }


def _blackswan(kinds: Mapping[int, str]) -> list[str]:
    return [
        json.dumps(
            {
                "q_id": number,
                "task": "Detective",
                "difficulty": "hard",
                "default_question": "Select the description of what happened.",
                "mcq_options": _OPTIONS[:3],
                "mcq_gt_option": 0,
                "preevent_file_name": f"videos/{kind}_A_preevent.mp4",
                "event_file_name": "",
                "postevent_file_name": f"videos/{kind}_C_postevent.mp4",
            }
        )
        for number, kind in kinds.items()
    ]
