"""Hand-made audits: the files that ``video-reasoning audit`` leaves, without the harness."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.report.runs import sample_line, write_run
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.audit import result as files
from video_reasoning.tasks.audit.findings import find_questions
from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.audit.result import Audit, AuditedQuestion, AuditResult
from video_reasoning.tasks.audit.variants import parse_all

CONDITIONS = ("ordered", "shuffled", "random1", "last1", "handpicked1", "blind", "reordered")
VARIANTS = parse_all(CONDITIONS)
NAMES = tuple(variant.name for variant in VARIANTS)
DATE = "20261122_070404"


def estimate(value: float, low: float, high: float, n: int = 40, videos: int = 20) -> Estimate:
    return Estimate(value, low, high, 0.95, n, videos)


def item(row: int, right: Sequence[str], source: str = "", **changes: Any) -> AuditedQuestion:
    """A question that is right under some conditions."""
    scores: dict[str, float | None] = {name: float(name in right) for name in NAMES}
    values: dict[str, Any] = {
        "prompt": f"Where to, {row}?\nA. left\nB. right",
        "target": "A",
        "options": 2,
        "shape": "1 video",
        "source": source,
        "scores": scores,
        "responses": {name: "A" if name in right else "B" for name in NAMES},
    }
    return AuditedQuestion(row, f"q{row}", f"videos/{row}.mp4", **{**values, **changes})


def result(name: str, items: Sequence[AuditedQuestion] = (), **changes: Any) -> AuditResult:
    """The audit of a task with fixed numbers."""
    counts = dict.fromkeys(NAMES, 40)
    values: dict[str, Any] = {
        "tasks": (name,),
        "metric": "accuracy",
        "rule": "number",
        "own": {"ordered16": 0.625},
        "accuracies": {
            "ordered16": estimate(0.625, 0.51, 0.74),
            "shuffled16": estimate(0.6, 0.48, 0.71),
            "random1": estimate(0.5, 0.38, 0.62),
            "last1": estimate(0.475, 0.36, 0.59),
            "handpicked1": estimate(0.55, 0.4, 0.7, 20, 10),
            "blind": estimate(0.3, 0.2, 0.41),
            "reordered": estimate(0.6125, 0.5, 0.72, 36, 18),
        },
        "ratios": {
            "kappa_random1": estimate(0.25, 0.021, 0.513),
            "kappa_last1": estimate(0.3158, -0.05, math.inf),
            "kappa_blind": estimate(math.nan, math.nan, math.nan),
            "tau": estimate(0.0417, -0.021, 0.107),
            "rho": estimate(0.1, -0.2, 0.4, 20, 10),
        },
        "paired": {"reordered": estimate(0.5, 0.39, 0.61, 36, 18)},
        "chance": 0.5,
        "n": 40,
        "asked": counts,
        "missing": {**dict.fromkeys(NAMES, 0), "random1": 3},
        "unparsed": {**dict.fromkeys(NAMES, 0), "blind": 7},
        "unscored": {**dict.fromkeys(NAMES, 0), "last1": 2},
        "left_out": 5,
        "shapes": {"1 video": 38, "2 videos": 2},
        "questions": items,
        "verdict": ["It takes several frames, but in any order.", "80% is there with one frame."],
    }
    return AuditResult(name, **{**values, **changes})


def write_audit(
    folder: Path,
    results: Sequence[AuditResult],
    *,
    model: str = "some_model",
    model_args: str = "",
    date: str = DATE,
    groups: Mapping[str, str] | None = None,
    logs: bool = True,
) -> Path:
    """An audit's folder: its numbers, its questions and the logs of its variants."""
    tasks = [each for each in results if len(each.tasks) == 1 and not each.refused]
    plan = Plan(
        conditions=NAMES,
        tasks=tuple(AuditedTask(each.name, Path("gone.yaml")) for each in tasks),
        clips=folder / "clips",
        frames=16,
        refused={each.name: each.refused for each in results if each.refused},
    )
    folder.mkdir(parents=True, exist_ok=True)
    audit = Audit(model, NAMES, results, model_args, date, frames=16)
    files.write_audit(folder / files.RESULT, audit)
    files.write_findings(folder / files.QUESTIONS, find_questions(plan, results))
    if logs:
        write_run(
            folder / "runs",
            {
                task.variant_name(variant): variant_lines(variant.name)
                for task in plan.tasks
                for variant in plan.variants
            },
            model=model,
            date=date,
        )
    return folder


def variant_lines(condition: str, right: Sequence[int] = (0, 1)) -> list[dict[str, Any]]:
    """The log of one variant of a task of the harness, whose lines have no score of their own."""
    lines = []
    for number in range(4):
        audited = {
            "id": f"q{number}",
            "video": f"/videos/{number}.mp4",
            "scores": {"match": [float(number in right), "key correct"]},
        }
        line = sample_line(number, audit=audited, match={"correct": number in right})
        for name in ("score", "choice", "rule", "status", "problem", "accuracy", "missing_items"):
            del line[name]
        lines.append(line)
    if condition == "blind":
        lines[3]["audit"]["problem"] = "its video is not there"
    return lines


def change(folder: Path, **changes: Any) -> None:
    """Changes what an audit's file says."""
    path = folder / "audit.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, **changes}), encoding="utf-8")


def grouped(group: str, names: Sequence[str]) -> list[AuditResult]:
    """A group and its tasks."""
    members = [result(name) for name in names]
    return [replace(result(group), tasks=tuple(names)), *members]
