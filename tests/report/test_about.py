"""The report's first line: what it is of, when it was run and with which software."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.report.runs import causal_lines, causal_questions, write_questions, write_run
from video_reasoning.tasks import scoring
from video_reasoning.tasks.report.build import Report, build
from video_reasoning.tasks.report.markdown import markdown
from video_reasoning.tasks.report.page import page


def written(tmp_path: Path, *, evidence: str = "", **config: Any) -> Path:
    """A run whose results file has what the harness writes of its clock and of its version."""
    questions = causal_questions(4)
    for question in questions:
        question["evidence"] = evidence
    file = write_questions(tmp_path / "store", "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: "A")
    path = write_run(
        tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file}
    )
    content = json.loads(path.read_text())
    content |= {"lmms_eval_version": "main@2e8be4c", "git_hash": "2e8be4c"}
    content["config"] |= {"random_seed": 0, "torch_seed": 1234, **config}
    content["configs"]["causalvqa_debug"]["metadata"] = config.get("metadata", {})
    path.write_text(json.dumps(content))
    return tmp_path / "res"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))


def every_format(report: Report) -> list[str]:
    plain = json.dumps(report.as_json(), ensure_ascii=False)
    return [page(report), markdown(report).replace("\\", ""), plain]


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("Asia/Singapore", "2026-11-21 23:04 UTC"),
        ("UTC", "2026-11-22 07:04 UTC"),
        ("Moon/Tycho", "2026-11-22 07:04 (time zone Moon/Tycho)"),
        (None, "2026-11-22 07:04 (time zone not recorded)"),
    ],
)
def test_dates_are_in_utc_or_say_that_they_are_not(
    tmp_path: Path, zone: str | None, shown: str
) -> None:
    arguments = {"timezone": zone} if zone else {}
    report = build([written(tmp_path, resolved_cli_args=arguments)], most_examples=0)
    for text in every_format(report):
        assert f"begun {shown}" in text
    (_, entries, _) = report.runs[0]
    assert entries["begun"] == shown


def test_versions_are_those_that_the_run_recorded(tmp_path: Path) -> None:
    recorded = {"lmms-eval": "9.8.7", "torch": "6.5", "gpu": "2 x Some GPU"}
    report = build([written(tmp_path, metadata={"software": recorded})], most_examples=0)
    for text in every_format(report):
        for said in ("lmms-eval 9.8.7", "torch 6.5", "GPU: 2 x Some GPU", "torch 1234"):
            assert said in text
        assert "2e8be4c" not in text


def test_versions_that_no_run_recorded_are_said_to_be_those_of_here(tmp_path: Path) -> None:
    report = build([written(tmp_path)], most_examples=0)
    for text in every_format(report):
        here = f"not recorded by the runs; installed here now: lmms-eval {version('lmms-eval')}"
        assert here in text
        assert "2e8be4c" not in text


def test_a_task_records_its_software() -> None:
    software = scoring.metadata("causalvqa", 1.0)["software"]
    assert software["lmms-eval"] == version("lmms-eval")
    assert software["torch"] == version("torch")
    assert software["gpu"]


@pytest.mark.parametrize("evidence", ["temporal", ""])
def test_the_sample_is_named_and_stands_beside_no_paper(tmp_path: Path, evidence: str) -> None:
    report = build([written(tmp_path, evidence=evidence)], most_examples=0)
    assert bool(report.grids) is (evidence == "")
    for text in every_format(report):
        assert ("SAMPLE BENCHMARK" in text) is (evidence != "")
        assert ("Gemini" in text) is (evidence == "")
