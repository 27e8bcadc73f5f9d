"""Running `video-reasoning audit` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from video_reasoning.tasks.audit.evaluate import evaluate
from video_reasoning.tasks.audit.plan import Plan, read_plan
from video_reasoning.tasks.audit.result import AuditResult


def audit(out: Path, home: Path, *arguments: str) -> str:
    """Runs `video-reasoning audit`; gives what it prints."""
    program = "from video_reasoning.tasks.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "audit", "--out", str(out), *arguments],
        env={
            **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
            "VIDEO_REASONING_HOME": str(home),
            "HF_HOME": str(out.parent / "hf"),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    return done.stdout


def judged(out: Path) -> tuple[Plan, dict[str, AuditResult]]:
    plan = read_plan(out / "tasks" / "plan.json")
    audit = evaluate(plan, out / "tasks", out / "runs")
    return plan, {result.name: result for result in audit.results}
