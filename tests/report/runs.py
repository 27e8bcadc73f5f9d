"""A small store with a video whose frame k is grey 8 * k, and logs of runs over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.tasks.harness_logs import judged_line, missing_line, sample_line, write_run

FRAMES = 24

__all__ = ["FRAMES", "Line", "judged_line", "missing_line", "sample_line", "write_run"]

Line = dict[str, Any]


def grey(frame: int) -> int:
    """The grey of a frame."""
    return 8 * frame + 20


def write_video(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(FRAMES):
            picture = np.full((48, 64, 3), grey(number), dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


def write_questions(home: Path, benchmark: str, split: str, rows: Sequence[Line]) -> Path:
    """A part of a store; gives its questions file."""
    path = home / benchmark / split / "questions.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    for name in {row["video"] for row in rows if not row["problem"]}:
        if not (home / benchmark / name).exists():
            write_video(home / benchmark / name)
    return path


def causal_questions(pairs: int, videos: int | None = None) -> list[Line]:
    """Pairs of CausalVQA's debug split; the right answer is A, then B."""
    return [
        {
            "id": f"q{pair}/{variant}",
            "qid": f"q{pair}",
            "variant": variant,
            "task": "planning" if pair % 2 else "descriptive",
            "type": "planning" if pair % 2 else "descriptive",
            "difficulty": ("easy", "medium", "hard")[pair % 3],
            "question": f"What comes next in {pair}?",
            "options": [f"first of {pair}", f"second of {pair}", "third", "fourth", "fifth"],
            "answer": "AB"[variant - 1],
            "video": f"videos/{pair % (videos or pairs)}.mp4",
            "problem": "",
            "frames": FRAMES,
        }
        for pair in range(pairs)
        for variant in (1, 2)
    ]


def tomato_questions(count: int) -> list[Line]:
    """Questions of TVBench's direction; the right answer is A."""
    return [
        {
            "id": f"direction/{number}",
            "task": "direction",
            "question": f"Where to, {number}?",
            "options": ["left", "right", "up", "down"],
            "answer": "A",
            "video": f"videos/{number}.mp4",
            "problem": "",
            "frames": FRAMES,
            "demonstration_type": "human" if number % 2 else "object",
            "counterfactual": number == 0,
            "composite": False,
            "zoom": False,
            "first_person": False,
        }
        for number in range(count)
    ]


def prompt(question: Mapping[str, Any]) -> str:
    return question["question"] + "\n" + "\n".join(question["options"])


def causal_lines(questions: Sequence[Line], choose: Callable[[Line], str | None]) -> list[Line]:
    """What a run over CausalVQA logs when it answers as told."""
    lines = []
    for number, question in enumerate(questions):
        groups = {key: str(question[key]) for key in ("qid", "variant", "type", "difficulty")}
        line = judged_line(number, question, choose(question), **groups)
        lines.append({**line, "input": prompt(question)})
    return lines


def condition_lines(
    questions: Sequence[Line], choose: Callable[[Line, str], str | None], conditions: Sequence[str]
) -> list[Line]:
    """What a run over several frame conditions logs."""
    return list(each_condition_line(questions, choose, conditions))


def each_condition_line(
    questions: Sequence[Line], choose: Callable[[Line, str], str | None], conditions: Sequence[str]
) -> Iterator[Line]:
    """The same, one line at a time."""
    for number, (question, condition) in enumerate(product(questions, conditions)):
        line = judged_line(number, question, choose(question, condition), condition=condition)
        yield {**line, "input": prompt(question)}
