"""Running `video-reasoning audit` in a process that has the harness imported."""

from __future__ import annotations

import os
from pathlib import Path

from tests.harness.conftest import forked
from video_reasoning.tasks.audit.evaluate import evaluate
from video_reasoning.tasks.audit.plan import Plan, read_plan
from video_reasoning.tasks.audit.result import AuditResult


def audit(out: Path, home: Path, *arguments: str) -> str:
    """Runs `video-reasoning audit`; gives what it prints."""
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        "VIDEO_REASONING_HOME": str(home),
        "HF_HOME": str(out.parent / "hf"),
        "OMP_NUM_THREADS": "1",
    }
    words = ["audit", "--out", str(out), *arguments]
    code, printed = forked("video_reasoning.tasks.cli.main", words, out.parent, environment)
    assert code == 0 and "Traceback" not in printed, printed[-3000:]
    return printed


def judged(out: Path) -> tuple[Plan, dict[str, AuditResult]]:
    plan = read_plan(out / "tasks" / "plan.json")
    audit = evaluate(plan, out / "tasks", out / "runs")
    return plan, {result.name: result for result in audit.results}
