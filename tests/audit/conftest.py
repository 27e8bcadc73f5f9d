"""One audit of many tasks of the harness, run once for all test processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from tests.audit.standins import StandIn, build, write_tasks

CONDITIONS = "original,ordered,shuffled,random1,last1,handpicked1,blind,reordered"
FRAMES = 4
PICK = 3

CONTROLS = "original,ordered,random1,reversed,frozen,black,swapped,options"
CONTROLS += ",rotated1,rotated2,rotated3"

CHAT = ("probe_mvbench", "probe_egotempo", "probe_hd_epic", "probe_vsibench", "probe_osi")
"""Tasks that are asked as chats too: three write their own messages."""


@dataclass(frozen=True)
class Audited:
    """What the audits and the runs of the tasks themselves left."""

    folder: Path
    standins: Mapping[str, StandIn]
    codes: list[int]
    output: str

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The lines of a file of the recorder's."""
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    @cached_property
    def asked(self) -> dict[tuple[bool, str], list[dict[str, Any]]]:
        """Whether as a chat, and the harness's task -> what the model was asked, in order."""
        found: dict[tuple[bool, str], list[dict[str, Any]]] = {}
        for line in self.lines("asked.jsonl"):
            found.setdefault((line["chat"], line["task"]), []).append(line)
        return found

    def audit(self, chat: bool) -> dict[str, dict[str, Any]]:
        """Task -> its part of an audit's results."""
        path = self.folder / ("audit_chat" if chat else "audit") / "audit.json"
        return {task["name"]: task for task in json.loads(path.read_text())["tasks"]}

    def logged(self, folder: str, task: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A task's metrics and its lines in the sample log, by document."""
        (results,) = (self.folder / folder).rglob("*_results.json")
        metrics = json.loads(results.read_text())["results"][task]
        (samples,) = (self.folder / folder).rglob(f"*_samples_{task}.jsonl")
        lines = [json.loads(line) for line in samples.read_text().splitlines()]
        return metrics, sorted(lines, key=lambda line: line["doc_id"])


def _ids(standins: Mapping[str, StandIn]) -> list[str]:
    """Ids of the second and third question of each task."""
    return [
        str(row[name])
        for standin in standins.values()
        for row in list(standin.rows)[1:3]
        for name in ("id", "question_id")
        if name in row
    ]


@pytest.fixture(scope="session")
def audited(shared_folder: Path) -> Audited:
    """The tasks audited and run, as simple requests and some as chats."""
    root = shared_folder / "audited"
    described = root / "standins.json"
    with FileLock(f"{root}.lock"):
        if not described.exists():
            standins = build(root / "hf")
            write_tasks(root / "tasks", root / "data", standins)
            picks = _ids({standin.name: standin for standin in standins})
            lines = [json.dumps({"id": name, "frame": PICK}) + "\n" for name in picks]
            (root / "picks.jsonl").write_text("".join(lines))
            _run(root, standins)
            described.write_text(json.dumps([vars(standin) for standin in standins]))
    loaded = [StandIn(**entry) for entry in json.loads(described.read_text())]
    return Audited(
        root,
        {standin.name: standin for standin in loaded},
        json.loads((root / "codes.json").read_text()),
        "".join(
            path.read_text(errors="replace")
            for path in (root / "output.txt", *sorted(root.glob("audit*/harness.log")))
        ),
    )


def _run(root: Path, standins: list[StandIn]) -> None:
    names = [s.name for s in standins if not s.name.startswith(("probe_tempcompass", "control"))]
    own = [s.name for s in standins if s.runs]
    commands = []
    for model, end, audits, runs in (
        ("recorder", "", ["probe_tempcompass", *names], own),
        ("recorder_chat", "_chat", CHAT, CHAT),
    ):
        common = ["--model", model, "--include_path", str(root / "tasks")]
        audit = ["--conditions", CONDITIONS, "--frames", str(FRAMES)]
        audit += ["--picks", str(root / "picks.jsonl"), "--out", str(root / f"audit{end}")]
        audit += ["--export-filtered", str(root / f"kept{end}.txt")]
        commands.append(["audit", "--tasks", ",".join(audits), *common, *audit])
        out = ["--output_path", str(root / f"own{end}"), "--log_samples"]
        commands.append(["evaluate", "--tasks", ",".join(runs), *common, *out])
    for model, end, audits in (
        ("recorder", "", ["control_video", "control_frames"]),
        ("recorder_chat", "_chat", ["control_chat"]),
    ):
        words = ["--model", model, "--include_path", str(root / "tasks"), "--no-report"]
        words += ["--conditions", CONTROLS, "--frames", str(FRAMES)]
        words += ["--out", str(root / f"audit_controls{end}")]
        commands.append(["audit", "--tasks", ",".join(audits), *words])
    (root / "commands.json").write_text(json.dumps(commands))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    project = str(Path(__file__).parents[2])
    with (root / "output.txt").open("w") as output:
        subprocess.run(
            [sys.executable, "-m", "tests.audit.recorder", str(root / "commands.json")],
            env={
                **environment,
                "HF_HOME": str(root / "hf"),
                "RECORDER_FOLDER": str(root),
                "VIDEO_REASONING_HOME": str(root / "store"),
                "OMP_NUM_THREADS": "1",
                # Whose decodes are recorded are those of this process.
                "VIDEO_REASONING_AHEAD": "0",
                "PYTHONPATH": os.pathsep.join(
                    [project, *environment.get("PYTHONPATH", "").split()]
                ),
            },
            cwd=root,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=900,
            check=False,
        )
