"""Small local stand-ins for the data of the harness's own video tasks, each in its own schema.

A task of a test includes the harness's YAML and names local data instead of a hub's; its
functions are the harness's own. Videos show their frames' numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from tests.preprocessing.conftest import write_video

N_FRAMES = 24
RATE = 4
"""Frames a second: the videos last six seconds."""

QUESTIONS = 4

APART = 40
"""How far apart the numbers of the frames of two videos are, in tasks that tell videos apart."""


@dataclass(frozen=True)
class StandIn:
    """One task of the harness over local data.

    Attributes:
        name: the task's name here.
        include: the harness's YAML, below its folder of tasks.
        rows: the documents.
        split: the split that the task asks.
        options: options of each question, 0 where its documents hold none that can be moved.
        more: what else the YAML sets.
    """

    name: str
    include: str
    rows: Sequence[Mapping[str, Any]]
    split: str = "test"
    options: int = 0
    more: Mapping[str, Any] | None = None
    runs: bool = True
    """Whether the task itself can be run over these data, beside its audit."""


def harness_tasks() -> Path:
    """The harness's folder of tasks."""
    import lmms_eval

    return Path(next(iter(lmms_eval.__path__))) / "tasks"


def _video(path: Path, first: int = 0) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_video(path, N_FRAMES, rate=RATE, first=first)
    # A box that players skip: no two of the files are the same, as clips are named by content.
    note = str(path).encode()
    with path.open("ab") as file:
        file.write((8 + len(note)).to_bytes(4, "big") + b"free" + note)
    return path.stem


def _videos(folder: Path, stem: str, apart: int = 0) -> list[str]:
    """Names of a video a question: the last two questions are about one video.

    The frames of the next video show numbers that are higher by `apart`.
    """
    names = [
        _video(folder / f"{stem}{number}.mp4", apart * number) for number in range(QUESTIONS - 1)
    ]
    return [*names, names[-1]]


COLORS = ("red", "green", "blue", "white")


def _options(number: int) -> list[str]:
    return [f"the {COLORS[(number + place) % 4]} cube" for place in range(4)]


def build(home: Path) -> list[StandIn]:
    """Writes the videos below a folder that is HF_HOME, and gives the tasks over them."""
    names = _videos(home / "mvbench_video/clevrer/video_validation", "mv")
    mvbench = StandIn(
        "probe_mvbench",
        "mvbench/mvbench_moving_direction.yaml",
        [
            {
                "video": f"{name}.mp4",
                "question": f"Which way does cube {number} go?",
                "candidates": _options(number),
                "answer": _options(number)[number % 3],
            }
            for number, name in enumerate(names)
        ],
        split="train",
        options=4,
    )
    names = _videos(home / "videomme/data", "vm")
    videomme = StandIn(
        "probe_videomme",
        "videomme/videomme.yaml",
        [
            {
                "video_id": f"00{number}",
                "videoID": name,
                "question_id": f"00{number}-1",
                "duration": "short",
                "domain": "Knowledge",
                "sub_category": "Astronomy",
                "task_type": "Action Recognition",
                "question": f"What happens in scene {number}?",
                "options": [
                    f"{letter}. {text}"
                    for letter, text in zip("ABCD", _options(number), strict=True)
                ],
                "answer": "ABCD"[number],
            }
            for number, name in enumerate(names)
        ],
        options=4,
    )
    names = _videos(home / "tempcompass/videos", "tc")
    tempcompass = [
        StandIn(
            "probe_tempcompass_mc",
            "tempcompass/tempcompass_mc.yaml",
            [
                {
                    "video_id": name,
                    "question": f"Where does ball {number} roll?\nA. left\nB. right\nC. nowhere",
                    "answer": ("A. left", "B. right")[number % 2],
                    "dim": ("direction", "speed")[number % 2],
                }
                for number, name in enumerate(names)
            ],
            options=3,
        ),
        StandIn(
            "probe_tempcompass_yes_no",
            "tempcompass/tempcompass_yes_no.yaml",
            [
                {
                    "video_id": name,
                    "question": f"Does ball {number} roll to the left?",
                    "answer": ("yes", "no")[number % 2],
                    "dim": ("direction", "order")[number % 2],
                }
                for number, name in enumerate(names)
            ],
        ),
    ]
    names = _videos(home / "egotempo", "ego")
    egotempo = StandIn(
        "probe_egotempo",
        "egotempo/egotempo.yaml",
        [
            {
                "question_id": f"ego-q{number}",
                "video": f"{name}_1.0_3.0",
                "clip_id": name,
                "question": f"What is picked up in part {number}?",
                "answer": ("the red cup", "the green cup")[number % 2],
                "question_type": "object",
            }
            for number, name in enumerate(names)
        ],
    )
    names = _videos(home / "egoschema/videos", "es")
    egoschema = StandIn(
        "probe_egoschema",
        "egoschema/egoschema_subset.yaml",
        [
            {
                "question_idx": str(number),
                "question": f"What is goal {number}?",
                "video_idx": name,
                "option": [f"{'ABCDE'[place]}. goal {place} of {number}" for place in range(5)],
                "answer": str(number),
            }
            for number, name in enumerate(names)
        ],
        options=5,
    )
    names = _videos(home / "mvp_mini/intphys", "mvp")
    mvp = StandIn(
        "mvp_probe",
        "mvp/mvp_mini_intuitive_physics.yaml",
        [
            {
                "video_id": f"pair{number // 2}_{number % 2}",
                "video_path": f"/intphys/{name}.mp4",
                "source": "intphys",
                "question": f"Does object {number // 2} vanish?",
                "candidates": str(["Yes, it does", "No, it stays"]),
                "answer": ("Yes, it does", "No, it stays")[number % 2],
            }
            for number, name in enumerate(names)
        ],
        split="mini",
        options=2,
    )
    return [
        mvbench,
        videomme,
        *tempcompass,
        egotempo,
        _hd_epic(home, "probe_hd_epic"),
        _lemonade(home, "probe_lemonade"),
        egoschema,
        mvp,
        _vinoground(home),
        _videomme_v2(home),
        *_others(home),
        _broken(home),
        *_own(home),
        *_controls(home),
    ]


def _hd_epic(home: Path, name: str, apart: int = 0, shown: int = 2) -> StandIn:
    folder = home / "hd_epic_videos"
    names = _videos(folder / "P01", f"P01-{name}-", apart)
    return StandIn(
        name,
        "hd_epic/gaze/hd_epic_gaze_gaze_estimation.yaml",
        [
            {
                "question_id": f"gaze_{number}" if known else f"other_{number}",
                "task_type": "gaze_gaze_estimation" if known else "recipe_recipe_recognition",
                "question": f"Where is the gaze in clip {number}?",
                "choices": _options(number),
                "correct_idx": number % 2,
                "video_ids": [video, names[0]][:shown],
                "input_labels": ["video 1", "video 2"][:shown],
                "start_times": [-1.0] * shown,
                "end_times": [-1.0] * shown,
                "video_dir": str(folder),
            }
            for number, video in enumerate(names)
            for known in (False, True)  # the task's process_docs keeps its own kind
        ],
        options=4,
    )


def _lemonade(home: Path, name: str, apart: int = 0) -> StandIn:
    folder = home / "lemonade_data"
    paths = [folder / f"{name}{number}_hololens.mp4" for number in range(QUESTIONS)]
    names = [
        _video(path, apart * number).removesuffix("_hololens") for number, path in enumerate(paths)
    ]
    return StandIn(
        name,
        "lemonade/lemonade.yaml",
        [
            {
                "QID": "Q1",  # the kind of question, the same for all
                "Clip": video,
                "Start": 2,
                "End": 21,
                "Question": f"What does person {number} do?",
                "Answers": str(_options(number)),
                "Correct Answer": "ABCD"[number],
                "Category": "action",
                "Subcategory": "hand",
                "Difficulty": "easy",
            }
            for number, video in enumerate(names)
        ],
        options=4,
    )


def _tvbench(home: Path, name: str, apart: int = 0) -> StandIn:
    names = _videos(home / "tvbench", name, apart)
    return StandIn(
        name,
        "tvbench/tvbench_moving_direction.yaml",
        [
            {
                "video": f"{video}.mp4",
                "question": f"Where does the sphere of {number} move?",
                "candidates": ["Down.", "Up.", "Left.", "Right."],
                "answer": ("Down.", "Up.", "Left.")[number % 3],
            }
            for number, video in enumerate(names)
        ],
        split="train",
        options=4,
    )


def _controls(home: Path) -> list[StandIn]:
    """Tasks whose frames name their video too: a video, frames, and messages of its own."""
    made = (
        _tvbench(home, "control_video", apart=APART),
        _lemonade(home, "control_frames", apart=APART),
        _hd_epic(home, "control_chat", apart=APART, shown=1),
    )
    return [replace(each, runs=False) for each in made]


def _vinoground(home: Path) -> StandIn:
    folder = home / "vinoground"
    texts, videos, rows = [], [], []
    for place in range(QUESTIONS):
        index = f"{place // 2}_{('pos', 'neg')[place % 2]}"
        _video(folder / f"vinoground_videos/{index}.mp4")
        _video(folder / f"vinoground_videos_concated/{index}.mp4")
        text = {"idx": index, "question": f"Which caption fits {index}?", "GT": "AB"[place % 2]}
        texts.append({**text, "video_name": f"vinoground_videos/{index}.mp4"})
        videos.append({**text, "video_name": f"vinoground_videos_concated/{index}.mp4"})
        rows += [
            {"index": f"{index}_{kind}", "major": "action", "minor": None, "answer": text["GT"]}
            for kind in ("text", "video")
        ]
    (folder / "vinoground_videos/vinoground_textscore.json").write_text(json.dumps(texts))
    (folder / "vinoground_videos_concated/vinoground_videoscore.json").write_text(
        json.dumps(videos)
    )
    return StandIn(
        "vinoground_probe", "vinoground/vinoground.yaml", rows, split="lmmseval", runs=False
    )


def _videomme_v2(home: Path) -> StandIn:
    name = _video(home / "videomme_v2/v2.mp4")
    rows = [
        {
            "video_id": name,
            "question_id": f"{name}-{number}",
            "group_type": "relevance",
            "group_structure": "[1, 2, 3, 4]",
            "level": None,
            "second_head": None,
            "third_head": None,
            "question": f"What happens in part {number}?",
            "options": "\n".join(f"{letter}. act {letter}" for letter in "ABCDEFGH"),
            "answer": "AB"[number % 2],
        }
        for number in range(QUESTIONS)
    ]
    return StandIn("videomme_v2_probe", "videomme_v2/videomme_v2.yaml", rows, options=8, runs=False)


def _others(home: Path) -> list[StandIn]:
    names = _videos(home / "perceptiontest_val/videos", "pt")
    perception = StandIn(
        "probe_perception",
        "perceptiontest/val/perceptiontest_mc.yaml",
        [
            {
                "video_name": name,
                "question_id": str(number),
                "question": f"How many objects were shown in {number}?",
                "options": [f"{number + place} objects" for place in range(3)],
                "answer_id": str(number % 3),
                "area": "memory",
                "reasoning": "descriptive",
                "tag": ["counting"],
            }
            for number, name in enumerate(names)
        ],
        split="validation",
        options=3,
    )
    folder = home / "datasets/longvideobench"
    names = _videos(folder / "videos", "lvb")
    (folder / "subtitles").mkdir()
    for name in names:
        said = [{"start": "00:00:01.0", "end": "00:00:03.0", "line": f"Hello from {name}"}]
        (folder / f"subtitles/{name}.json").write_text(json.dumps(said))
    long_video = StandIn(
        "probe_longvideo",
        "longvideobench/longvideobench_val_i.yaml",
        [
            {
                "id": f"lvb_{number}",
                "video_id": name,
                "video_path": f"{name}.mp4",
                "subtitle_path": f"{name}.json",
                "question": f"What was said before scene {number}?",
                # A question has up to five options; the others are "N/A".
                **{
                    f"option{place}": f"words {place} of {number}"
                    if place < 4 - number % 2
                    else "N/A"
                    for place in range(5)
                },
                "correct_choice": number % 3,
                "duration": N_FRAMES / RATE,
                "duration_group": 15,
                "question_category": "T2E",
                "starting_timestamp_for_subtitles": 0.0,
            }
            for number, name in enumerate(names)
        ],
        split="validation",
        options=4,
    )
    names = _videos(home / "vsibench/arkitscenes", "vsi")
    vsibench = StandIn(
        "probe_vsibench",
        "vsibench/multi_image_input/vsibench_multiimage.yaml",
        [
            {
                "id": number,
                "dataset": "arkitscenes",
                "scene_name": name,
                "question_type": kind,
                "question": f"Which is closest to table {number}?",
                "options": [
                    f"{letter}. {text}"
                    for letter, text in zip("ABCD", _options(number), strict=True)
                ],
                "ground_truth": "ABCD"[number % 2],
            }
            for number, (name, kind) in enumerate(
                zip(
                    names,
                    (
                        "object_rel_direction_easy",
                        "object_rel_direction_medium",
                        "object_rel_direction_hard",
                        "object_rel_distance",
                    ),
                    strict=True,
                )
            )
        ],
        options=4,
    )
    names = _videos(home / "osi_bench/videos", "osi")
    osi_bench = StandIn(
        "probe_osi",
        "osi_bench/osi_bench_frames.yaml",
        [
            {
                "id": f"osi{number}",
                "file_name": f"{name}.mp4",
                "video": name,
                "video_length": N_FRAMES / RATE,
                "category": "relative_distance",
                "question_type": "mcq",
                "question": f"Which is nearer in {number}?",
                "options": [
                    f"{letter}. {text}"
                    for letter, text in zip("ABCD", _options(number), strict=True)
                ],
                "answer": "ABCD"[number % 2],
            }
            for number, name in enumerate(names)
        ],
        options=4,
    )
    names = _videos(home / "TOMATO/videos", "tom")
    tomato = StandIn(
        "probe_tomato",
        "tomato/tomato.yaml",
        [
            {
                "id": f"tomato_{number}",
                "video_path": f"videos/{name}.mp4",
                "question": f"How does the light of {number} change?",
                "options": _options(number),
                "answer": number,
                "reason_type": "direction",
                "demonstration_type": "object",
            }
            for number, name in enumerate(names)
        ],
        options=4,
    )
    names = _videos(home / "vitatecs/MSRVTT", "vit")
    vitatecs = StandIn(
        "probe_vitatecs",
        "vitatecs/vitatecs_direction.yaml",
        [
            {
                "src_dataset": "MSRVTT",
                "video_name": f"{name}.mp4",
                "caption": f"a man walks to the left in place {number}",
                "counterfactual": f"a man walks to the right in place {number}",
                "aspect": "Direction",
            }
            for number, name in enumerate(names)
        ],
    )
    return [
        perception,
        long_video,
        vsibench,
        osi_bench,
        _tvbench(home, "probe_tvbench"),
        tomato,
        vitatecs,
    ]


def _broken(home: Path) -> StandIn:
    """A task of which some videos are gone, and some are no videos."""
    names = [_video(home / f"videomme/data/whole{number}.mp4") for number in range(2)]
    (home / "videomme/data/noise.mp4").write_bytes(bytes(range(256)) * 40)
    (home / "videomme/data/empty.mp4").touch()
    row = {
        "duration": "short",
        "domain": "Knowledge",
        "sub_category": "Astronomy",
        "task_type": "Action Recognition",
        "options": ["A. up", "B. down", "C. left", "D. right"],
        "answer": "A",
    }
    return StandIn(
        "probe_broken",
        "videomme/videomme.yaml",
        [
            {**row, "videoID": name, "question_id": name, "question": f"What does {name} show?"}
            # The task calls sys.exit where a video is not there.
            for name in (names[0], "gone", "noise", "empty", names[1])
        ],
        options=4,
        runs=False,
    )


_OWN = """
import sys

def doc_to_visual(doc):
    return doc["path"]  # a text, as some tasks return it

def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"] + lmms_eval_specific_kwargs["post_prompt"]

def process_results(doc, results):
    doc["said"] = results[0]  # a document that is written into
    if doc["question"].startswith("Raise"):
        raise ValueError("no such label")
    if doc["question"].startswith("Exit"):
        sys.exit("no judge")
    return {"right": float(results[0] == doc["answer"]), "half": {"said": results[0]}}

def aggregate_half(items):
    raise RuntimeError("no table")
"""


def _own(home: Path) -> list[StandIn]:
    """Tasks of a user: one whose functions fail, and one without functions for scoring."""
    names = [_video(home / f"own/own{number}.mp4") for number in range(QUESTIONS)]
    (home / "own_tasks").mkdir()
    (home / "own_tasks/own_utils.py").write_text(_OWN)
    base = {
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_target": "answer",
        "lmms_eval_specific_kwargs": {"default": {"post_prompt": " Say A or B."}},
        "tag": "probe_own_tag",
    }
    text = yaml.safe_dump(base) + (
        "doc_to_visual: !function own_utils.doc_to_visual\n"
        "doc_to_text: !function own_utils.doc_to_text\n"
    )
    metrics = (
        "process_results: !function own_utils.process_results\n"
        "metric_list:\n"
        "  - {metric: half, aggregation: !function own_utils.aggregate_half}\n"
        "  - {metric: right, aggregation: mean, higher_is_better: true}\n"
    )
    plain = "metric_list:\n  - {metric: exact_match, aggregation: mean, higher_is_better: true}\n"
    (home / "own_tasks/_failing").write_text(text + metrics)
    (home / "own_tasks/_plain").write_text(text + plain)
    rows = [
        {
            "id": "same",  # an id that repeats
            "path": str(home / f"own/{name}.mp4"),
            "question": f"{start} {number}?",
            "answer": "AB"[number % 2],
        }
        for number, (name, start) in enumerate(
            zip(names, ("What is", "Raise", "Exit", "Who is"), strict=True)
        )
    ]
    include = str(home / "own_tasks")
    gone = {**rows[0], "path": str(home / "own/gone.mp4")}
    return [
        StandIn("probe_failing", f"{include}/_failing", rows, runs=False),
        StandIn("probe/odd name", f"{include}/_plain", [*rows, gone]),
    ]


def write_tasks(folder: Path, data: Path, standins: Sequence[StandIn]) -> None:
    """Writes the YAMLs over the stand-ins' rows, and a group of some of them."""
    folder.mkdir(parents=True, exist_ok=True)
    data.mkdir(parents=True, exist_ok=True)
    for standin in standins:
        stem = standin.name.replace("/", "_").replace(" ", "_")
        rows = data / f"{stem}.jsonl"
        rows.write_text("".join(json.dumps(row) + "\n" for row in standin.rows))
        content = {
            "include": str(harness_tasks() / standin.include),
            "task": standin.name,
            "dataset_path": "json",
            "dataset_name": None,
            "dataset_kwargs": {"data_files": {standin.split: str(rows)}},
            **(standin.more or {}),
        }
        (folder / f"{stem}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    group = {
        "group": "probe_tempcompass",
        "task": ["probe_tempcompass_mc", "probe_tempcompass_yes_no"],
    }
    (folder / "_probe_tempcompass.yaml").write_text(yaml.safe_dump(group, sort_keys=False))
