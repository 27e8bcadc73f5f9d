"""Every file that a command reads, and the command that reads it, for `texts` to spoil."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.reliability.media import draw
from tests.tasks import releases
from tests.tasks.harness_logs import DATE, judged_line, missing_line, write_run

TASKS = ("tvbench_tomato_direction", "causalvqa_debug", "blackswan_detective_mcq")


@dataclass(frozen=True)
class Input:
    """A file and what reads it.

    Attributes:
        name: for tables.
        file: the file that is spoiled, below the folder that `Scene` prepares.
        arguments: of ``video-reasoning``; ``{}`` stands for the folder.
    """

    name: str
    file: str
    arguments: tuple[str, ...]


def _annotation(name: str) -> dict[str, Any]:
    hypotheses = [
        {"step1": f"The {thing} falls.", "valid_in_step2": False, "valid_in_step3": True,
         "step2": f"The {thing} breaks."}
        for thing in ("cup", "lamp", "chair")
    ]  # fmt: skip
    return {"video": name, "hypotheses": hypotheses, "description": "A cat pushes the cup."}


def build(folder: Path) -> None:
    """Write everything good: releases, a store, runs over it, picks and captions."""
    from video_reasoning.tasks.prepare.build import prepare

    tvbench = folder / "tvbench"
    rows = {str(n): releases.tvbench_question(key=f"000{n}-00") for n in range(3)}
    releases.write_tvbench(tvbench, rows)
    hub = folder / "hub"
    (hub / "data").mkdir(parents=True)
    shutil.copytree(tvbench / "videos", hub / "videos")
    pq.write_table(pa.Table.from_pylist(list(rows.values())), hub / "data/direction-0.parquet")
    questions = [
        releases.causalvqa_row(qid=f"q{n}", renamed_video=f"clip_{n}.mp4") for n in range(3)
    ]
    releases.write_causalvqa(folder / "causalvqa", questions)
    releases.write_blackswan(
        folder / "blackswan", [releases.blackswan_row(q_id=n) for n in range(3)]
    )
    for name in ("blackswan-json", "blackswan-csv"):
        shutil.copytree(folder / "blackswan/videos", folder / name / "videos")
    table = [releases.blackswan_row(q_id=n) for n in range(3)]
    (folder / "blackswan-json/BlackSwanSuite_MCQ_Val.json").write_text(json.dumps(table))
    with (folder / "blackswan-csv/BlackSwanSuite_MCQ_Val.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows({**row, "mcq_options": json.dumps(row["mcq_options"])} for row in table)
    captions = {"p_preevent": "a dog", "p_postevent": "a wet dog", "pc_comp": "it is wet now"}
    _lines(folder / "captions.jsonl", [{"question_id": str(n), **captions} for n in range(3)])
    store = folder / "store"
    for benchmark in ("tvbench", "causalvqa", "blackswan"):
        prepare(benchmark, folder / benchmark, store_home=store, workers=1)

    # Texts are what is broken here: without videos nothing has to be decoded each time.
    for release in ("tvbench", "causalvqa", "blackswan", "hub", "blackswan-json", "blackswan-csv"):
        for video in (folder / release).rglob("*.mp4"):
            video.unlink()

    (folder / "films").mkdir()
    draw(folder / "films/one.mp4", frames=2)
    (folder / "times.json").write_text(json.dumps({"one": {"t": [3.0, 3.1]}, "two": {"t": [3.0]}}))
    made = [_annotation(f"film{n}") for n in range(2)]
    (folder / "mine.json").write_text(json.dumps(made))
    _lines(folder / "mine.jsonl", made)
    ids = list(questions_of(store, "tvbench", "test"))
    (folder / "picks.csv").write_text(
        "annotator,id,frame,n_frames\n" + "".join(f"ana,{name},3,12\n" for name in ids)
    )
    _lines(folder / "log.jsonl", [{"format": 1, "benchmark": "tvbench"}] + [
        {"annotator": "ana", "id": name, "frame": 3, "n_frames": 12, "seconds": 0.3}
        for name in ids])  # fmt: skip
    checkout = folder / "checkout/tasks"
    checkout.mkdir(parents=True)
    (checkout / "_default_template_yaml").write_text(
        'lmms_eval_specific_kwargs:\n  default:\n    pre_prompt: ""\n    post_prompt: "Letter."\n'
    )
    for number in (1, 2):
        runs(folder / f"run{number}", store, model=f"model{number}")


def questions_of(store: Path, benchmark: str, split: str) -> dict[str, dict[str, Any]]:
    """The questions of a store, by id."""
    rows = pq.read_table(store / benchmark / split / "questions.parquet").to_pylist()
    return {row["id"]: row for row in rows}


def runs(folder: Path, store: Path, model: str) -> None:
    """The logs of a run over the three benchmarks, and over a generation task."""
    tasks: dict[str, Sequence[Mapping[str, Any]]] = {}
    files = {}
    places = (("tvbench", "test"), ("causalvqa", "debug"), ("blackswan", "validation"))
    for task, (benchmark, split) in zip(TASKS, places, strict=True):
        files[task] = store / benchmark / split / "questions.parquet"
        lines = []
        for number, (name, row) in enumerate(questions_of(store, benchmark, split).items()):
            groups = {key: str(row[key]) for key in ("qid", "variant") if key in row}
            choice = "A" if model.endswith("1") else row["answer"]
            line = judged_line(number, row, choice, **groups)
            lines.append(missing_line(number, row, **groups) if number == 1 else line)
            lines[-1]["input"] = f"{row['question']} {' '.join(row['options'])}"
            assert lines[-1]["accuracy"]["id"] == name
        tasks[task] = lines
    item = {"id": "g", "responses": ["a dog runs"], "references": ["the dog runs away"]}
    tasks["blackswan_forecaster_gen"] = [
        {"doc_id": number, "target": "", "filtered_resps": ["a dog runs"], "input": "What next?",
         "status": "answered", "clip_score": {**item, "id": f"forecaster_gen/{number}"}}
        for number in range(2)
    ]  # fmt: skip
    write_run(folder, tasks, model=model, questions=files)
    _lines(folder / f"{DATE}_scores_blackswan_forecaster_gen.jsonl", [
        {"id": "forecaster_gen/0", "bleu": {"value": 0.5, "pairs": [[0.5]], "model": "", "of": ""}}
    ])  # fmt: skip


def _lines(path: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


_PREPARE = ("--home", "{}/new", "--workers", "1")
_RESULTS = f"run1/{DATE}_results.json"
_LOGS = tuple(f"run1/{DATE}_samples_{task}.jsonl" for task in TASKS)
_GENERATED = f"run1/{DATE}_samples_blackswan_forecaster_gen.jsonl"
_READERS: Mapping[str, tuple[str, ...]] = {
    "report": ("report", "{}/run1", "{}/run2", "--out", "{}/report.html"),
    "report, Markdown": ("report", "{}/run1", "--out", "{}/report.md"),
    "report, JSON": ("report", "{}/run1", "--out", "{}/report.json"),
    "compare": ("compare", "{}/run1", "{}/run2", "--shared-only"),
    "compare, JSON": ("compare", "{}/run2", "{}/run1", "--format", "json"),
    "score": ("score", "{}/run1", "--metric", "bleu"),
    "principles": ("principles", "{}/run1"),
    "submit causalvqa": ("submit", "causalvqa", "{}/run1", "--split", "debug", "--out",
                         "{}/sent.jsonl", "--allow-incomplete"),
    "submit blackswan": ("submit", "blackswan", "{}/run1", "--split", "validation", "--out",
                         "{}/sent.json", "--allow-incomplete"),
    "check-sample": ("check-sample", "{}/run1"),
}  # fmt: skip

INPUTS: list[Input] = [
    Input("prepare tvbench", "tvbench/data/direction.json",
          ("prepare", "tvbench", "--source", "{}/tvbench", *_PREPARE)),
    Input("prepare tvbench, hub", "hub/data/direction-0.parquet",
          ("prepare", "tvbench", "--source", "{}/hub", *_PREPARE)),
    Input("prepare causalvqa", "causalvqa/debug/debug_metadata.csv",
          ("prepare", "causalvqa", "--source", "{}/causalvqa", *_PREPARE)),
    Input("prepare causalvqa, prompt", "checkout/tasks/_default_template_yaml",
          ("prepare", "causalvqa", "--source", "{}/causalvqa", "--repository", "{}/checkout",
           *_PREPARE)),
    *(Input(f"prepare {name}", f"{name}/BlackSwanSuite_MCQ_Val.{kind}",
            ("prepare", "blackswan", "--source", f"{{}}/{name}", *_PREPARE))
      for name, kind in (("blackswan", "jsonl"), ("blackswan-json", "json"),
                         ("blackswan-csv", "csv"))),
    Input("prepare blackswan, captions", "captions.jsonl",
          ("prepare", "blackswan", "--source", "{}/blackswan", "--captions", "{}/captions.jsonl",
           *_PREPARE)),
    Input("split", "times.json", ("split", "--videos", "{}/films", "--transition-times",
          "{}/times.json", "--out", "{}/cut", "--workers", "1")),
    Input("build-questions", "mine.json",
          ("build-questions", "--annotations", "{}/mine.json", "--out", "{}/built")),
    Input("build-questions, lines", "mine.jsonl",
          ("build-questions", "--annotations", "{}/mine.jsonl", "--out", "{}/built")),
    Input("handpick, CSV", "picks.csv", ("handpick", "import", "tvbench", "{}/picks.csv",
          "--out", "{}/new.jsonl", "--home", "{}/store")),
    Input("handpick, picks", "log.jsonl", ("handpick", "agreement", "tvbench", "{}/log.jsonl",
          "--home", "{}/store")),
    Input("handpick, export", "log.jsonl", ("handpick", "export", "tvbench", "{}/log.jsonl",
          "--out", "{}/out.csv", "--home", "{}/store")),
    Input("handpick, install", "log.jsonl", ("handpick", "install", "tvbench", "{}/log.jsonl",
          "--home", "{}/store")),
    Input("handpick, questions", "store/tvbench/test/questions.parquet",
          ("handpick", "import", "tvbench", "{}/picks.csv", "--out", "{}/new.jsonl",
           "--home", "{}/store")),
    Input("doctor, manifest", "store/tvbench/manifest.json", ("doctor", "--home", "{}/store")),
    Input("doctor, questions", "store/tvbench/test/questions.parquet",
          ("doctor", "--home", "{}/store")),
    *(Input(f"{name}, results", _RESULTS, arguments) for name, arguments in _READERS.items()),
    *(Input(f"{name}, log", next(log for log in (*_LOGS, _GENERATED) if (
            "causalvqa" in log if "causalvqa" in name else
            "detective" in log if "blackswan" in name else
            "gen" in log if name == "score" else "tvbench" in log)), arguments)
      for name, arguments in _READERS.items() if ", " not in name),
    Input("report, scores", f"run1/{DATE}_scores_blackswan_forecaster_gen.jsonl",
          _READERS["report"]),
    Input("score, scores", f"run1/{DATE}_scores_blackswan_forecaster_gen.jsonl",
          _READERS["score"]),
    Input("report, questions", "store/tvbench/test/questions.parquet", _READERS["report"]),
    Input("submit, questions", "store/causalvqa/debug/questions.parquet",
          _READERS["submit causalvqa"]),
]  # fmt: skip
"""Every file that a command reads."""


def copied(good: Path, folder: Path) -> None:
    """A copy of what `build` made, whose run names the copy's store."""
    shutil.copytree(good, folder, symlinks=True, copy_function=_link)
    for results in folder.glob("run*/*_results.json"):
        text = results.read_text(encoding="utf-8").replace(str(good), str(folder))
        results.unlink()
        results.write_text(text, encoding="utf-8")


def _link(source: str, target: str) -> None:
    # Videos are only read; whatever else is copied, because it will be changed.
    if source.endswith(".mp4"):
        Path(target).hardlink_to(source)
    else:
        shutil.copyfile(source, target)


Changed = Callable[[Path], None]
