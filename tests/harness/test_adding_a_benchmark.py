"""The page on adding a benchmark, followed word by word in a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.harness.conftest import forked
from tests.tasks.releases import write_video
from video_reasoning.tasks import store

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "adding-a-benchmark.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`(lmms_eval_tasks/\S+)`[^\n]*:\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S))
PRINTED = re.findall(r"^```text\n(.*?)^```", PAGE, re.M | re.S)
COMMAND = ("video_reasoning.tasks.cli.main",)
HARNESS = ("-m", "video_reasoning.tasks")
RECORDS = "lmms_eval_tasks/benchmarks.py"

pytestmark = pytest.mark.harness


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with what the page says, and a release."""
    place = tmp_path_factory.mktemp("gestures")
    tasks = place / "lmms_eval_tasks"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "lmms_eval_tasks", tasks, ignore=ignored)
    names = place / "names" / "video_reasoning"
    names.mkdir(parents=True)
    (names / "tasks").symlink_to(tasks)
    for room in ("metrics", "preprocessing"):
        (names / room).symlink_to(ROOT / room)
    for name, content in FILES.items():
        if name != RECORDS:
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(content, encoding="utf-8")
    records = place / RECORDS
    known, end, rest = records.read_text(encoding="utf-8").partition(")\n\nBENCHMARKS:")
    records.write_text(known + FILES[RECORDS] + end + rest, encoding="utf-8")
    write_video(place / "release/videos/a.mp4")
    row = {"question": "What does the hand say?", "options": ["Yes.", "No."], "video": "a.mp4"}
    rows = [
        {**row, "answer": 1, "setting": "indoors"},
        {**row, "answer": 0, "setting": "outdoors"},
        {**row, "answer": 0, "video": "b.mp4"},
        {**row, "answer": 0, "options": ["Yes."]},
    ]
    (place / "release/questions.json").write_text(json.dumps(rows), encoding="utf-8")
    return place


def run(place: Path, *command: str) -> str:
    """What a command prints; it must succeed."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(place / "names"),
        store.HOME_VARIABLE: str(place / "store"),
        "HF_HOME": str(place / "hf"),
    }
    code, printed = forked("tests.harness.elsewhere", [*command], place, environment)
    errors = (place / "errors.txt").read_text(errors="replace")
    assert code == 0, f"{command}: {printed[-2000:]}{errors[-3000:]}"
    return printed


def test_a_benchmark_is_a_folder_a_record_and_a_page(place: Path) -> None:
    assert {Path(name).parts[1] for name in FILES} == {"benchmarks.py", "gestures"}
    prepared = run(place, *COMMAND, "prepare", "gestures", "--source", "release")
    counts, table = PRINTED
    # The sentences about single rows are the importers' own.
    assert counts.splitlines()[:2] == prepared.splitlines()[:2]
    assert len(counts.splitlines()) == len(prepared.splitlines()) - 1
    logged = ("--tasks", "gestures_choice", "--output_path", "results", "--log_samples")
    assert table in run(place, *HARNESS, "--model", "random_choice", *logged)
    run(place, *HARNESS, "--model", "frequent_choice", *logged)
    (digest,) = {json.loads((place / "store/gestures/manifest.json").read_text())["digest"][:6]}

    run(place, *COMMAND, "report", "results", "--out", "report.json")
    tasks = json.loads((place / "report.json").read_text())["tasks"]
    assert [task["benchmark"] for task in tasks] == ["gestures"] * 2
    groups = [number["group"] for number in tasks[0]["numbers"] if number["name"] == "accuracy"]
    assert {"setting": "indoors"} in groups and {"setting": "outdoors"} in groups
    run(place, *COMMAND, "report", "results", "--out", "report.html")
    page = (place / "report.html").read_text(encoding="utf-8")
    assert ">Gestures</h2>" in page and f"store {digest}" in page

    first, second = sorted((place / "results").rglob("*_results.json"))
    assert "gestures_choice" in run(place, *COMMAND, "compare", str(first), str(second))
    submit = ("submit", "gestures", "results", "--out", "predictions.json")
    run(place, *COMMAND, *submit, "--model", "random_choice", "--allow-incomplete")
    answers = json.loads((place / "predictions.json").read_text())
    assert set(answers) == {"0", "1"}
    assert "gestures" in run(place, *COMMAND, "doctor")
