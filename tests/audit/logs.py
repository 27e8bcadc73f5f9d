"""Hand-written logs of an audit, with known answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.audit.variants import parse_all

DATE = "20261122_101112"


def plan_of(
    folder: Path,
    conditions: Sequence[str] = ("ordered", "shuffled", "random1", "last1", "blind"),
    tasks: Sequence[str] = ("cubes",),
    picks: Mapping[str, int] | None = None,
    **more: Any,
) -> Plan:
    """A plan with tasks that lie nowhere."""
    audited = [
        AuditedTask(name, folder / f"{name}.yaml", more.pop("group", ""), {}, picks or {})
        for name in tasks
    ]
    names = tuple(variant.name for variant in parse_all(conditions))
    return Plan(names, tuple(audited), folder / "clips", 16, **more)


def line(
    doc_id: int,
    score: Any,
    *,
    name: str | None = None,
    video: str | None = None,
    options: int = 4,
    metrics: Mapping[str, Any] | None = None,
    **audited: Any,
) -> dict[str, Any]:
    """One line of a sample log, as an audited task leaves it."""
    scores = {"acc": [score, "number"]} if metrics is None else dict(metrics)
    return {
        "doc_id": doc_id,
        "target": "A",
        "filtered_resps": "A" if score else "B",
        "input": f"Question {doc_id}?",
        "audit": {
            "id": f"q{doc_id}" if name is None else name,
            "video": f"v{doc_id}" if video is None else video,
            "shape": "1 video",
            "options": options,
            "scores": scores,
            **audited,
        },
    }


def write_run(
    logs: Path,
    lines: Mapping[str, Sequence[Mapping[str, Any]]],
    own: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Writes a run: generated task -> its lines; the task's own number is the lines' mean."""
    logs.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    for task, entries in lines.items():
        scores = [entry["audit"]["scores"].get("acc", [None])[0] for entry in entries]
        known = [score for score in scores if score is not None]
        results[task] = {"acc,none": sum(known) / len(known)} if known else {"acc,none": None}
        results[task].update((own or {}).get(task, {}))
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (logs / f"{DATE}_samples_{task}.jsonl").write_text(text)
    content = {
        "results": results,
        "configs": {task: {"task": task} for task in results},
        "config": {"model": "hand", "model_args": ""},
    }
    (logs / f"{DATE}_results.json").write_text(json.dumps(content))


def write_rows(folder: Path, task: str, rows: Sequence[tuple[int, str]]) -> None:
    """Writes which questions a condition asked."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{task}.rows.json").write_text(json.dumps({"rows": rows}))
