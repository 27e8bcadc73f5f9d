"""Small logs as the harness (0.7.3) writes them, for the tests that read such logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DATE = "20261122_070404"


def sample_line(doc_id: int, **changes: Any) -> dict[str, Any]:
    """One line of a sample log, with the keys in the harness's order and no document."""
    item = {"id": f"q{doc_id}", "video": f"videos/{doc_id}.mp4", "score": 1.0}
    line = {
        "doc_id": doc_id,
        "target": "A",
        "filtered_resps": "A",
        "token_counts": [None],
        "doc_hash": "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
        "status": "answered",
        "choice": "A",
        "rule": "lone letter",
        "score": 1.0,
        "problem": "",
        "unparsed_rate": 0.0,
        "missing_items": {"missing": False},
        "accuracy": item,
        "input": "Which?\nA. one B. two C. three",
    }
    return {**line, **changes}


def judged_line(
    doc_id: int, question: Mapping[str, Any], choice: str | None, **groups: str
) -> dict[str, Any]:
    """The line of a question of the store that was answered with `choice` (None: unparsed)."""
    answer = str(question["answer"])
    status = "unparsed" if choice is None else "answered" if answer else "withheld"
    score = float(choice == answer) if answer else None
    item = {"id": question["id"], "video": question.get("video", ""), **groups}
    if score is not None:
        item["score"] = score
    return sample_line(
        doc_id,
        target=answer,
        filtered_resps=choice or "I cannot tell.",
        status=status,
        choice=choice,
        score=score,
        unparsed_rate=float(choice is None),
        accuracy=item,
    )


def missing_line(doc_id: int, question: Mapping[str, Any], **groups: str) -> dict[str, Any]:
    """The line of a question whose video could not be shown."""
    item = {"id": question["id"], "video": question.get("video", ""), **groups}
    return sample_line(
        doc_id,
        target=str(question["answer"]),
        status="missing",
        score=None,
        problem="the release holds no clip.mp4",
        unparsed_rate=None,
        missing_items={"missing": True},
        accuracy=item,
    )


def write_run(
    folder: Path,
    tasks: Mapping[str, Iterable[Mapping[str, Any]]],
    *,
    model: str = "random_choice",
    checkpoint: str = "",
    date: str = DATE,
    questions: Mapping[str, Path] | None = None,
    results: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = None,
) -> Path:
    """The files of one run with --log_samples; gives the results file."""
    target = folder / checkpoint.replace("/", "__") if checkpoint else folder
    target.mkdir(parents=True, exist_ok=True)
    entry = {"alias": "task", "status,none": [], "status_stderr,none": []}
    configs = {
        task: {
            "task": task,
            "dataset_path": "parquet",
            "dataset_kwargs": {"data_files": {"test": str((questions or {}).get(task, "gone"))}},
            "doc_to_text": "<function txt at 0x7f579eed3600>",
        }
        for task in tasks
    }
    content = {
        "results": {**dict.fromkeys(tasks, entry), **(results or {})},
        "group_subtasks": {},
        "configs": configs,
        "versions": dict.fromkeys(tasks, 1.0),
        "n-shot": dict.fromkeys(tasks, 0),
        "config": {
            "model": model,
            "model_args": f"pretrained={checkpoint}" if checkpoint else "",
            "limit": limit,
        },
        "date": date,
        "model_source": model,
        "model_name": checkpoint,
    }
    path = target / f"{date}_results.json"
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False), encoding="utf-8")
    for task, lines in tasks.items():
        with (target / f"{date}_samples_{task}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return path
