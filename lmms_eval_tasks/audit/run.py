"""An audit from beginning to end: derive, evaluate, judge, write."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.audit.plan import FILE, AuditedTask, Plan, read_plan
from video_reasoning.tasks.audit.variants import DEFAULT, FRAMES, AuditError, parse_all
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.store.picks import PicksError, read_installed

__all__ = ["Request", "run_audit"]

TASKS = "tasks"
"""Folder of the generated tasks in an audit's folder."""

RUNS = "runs"
"""Folder of the evaluation's logs in an audit's folder."""

_RESERVED = (
    "--tasks",
    "--model",
    "--model_args",
    "--limit",
    "--include_path",
    "--output_path",
    "--offset",
)


@dataclass(frozen=True)
class Request:
    """What the user asks for; see ``video-reasoning audit --help``."""

    tasks: tuple[str, ...] = ()
    model: str = ""
    model_args: str = ""
    frames: int = FRAMES
    conditions: tuple[str, ...] = DEFAULT
    limit: int | None = None
    include_path: tuple[Path, ...] = ()
    out: Path = Path("audit")
    picks: Path | None = None
    metric: str = ""
    option_fields: tuple[str, ...] = ()
    seed: int = 0
    level: float = 0.95
    export_filtered: Path | None = None
    derive_only: bool = False
    judge_only: bool = False
    report: bool = True
    more: tuple[str, ...] = ()


def run_audit(request: Request) -> int:
    """Runs an audit.

    Returns:
        The exit code: 0, or the evaluation's own where it failed.

    Raises:
        AuditError: if the request cannot be carried out.
        StoreError: if data of our own tasks is missing.
        LogError: if the evaluation's logs cannot be read.
    """
    if not 0 < request.level < 1:
        raise AuditError(
            f"The level {request.level} is not between 0 and 1; the usual one is 0.95."
        )
    folder = request.out.absolute()
    tasks_folder = folder / TASKS
    if request.judge_only:
        _judge(request, read_plan(tasks_folder / FILE), folder)
        return 0
    plan = _plan(request)
    from video_reasoning.tasks.audit.derive import derive

    plan = derive(plan, tasks_folder)
    if not plan.tasks:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in plan.refused.items())
        raise AuditError(f"None of the tasks can be audited ({reasons}).")
    arguments = _arguments(request, plan, folder)
    if request.derive_only:
        print(f"The audit's tasks are in {tasks_folder}. Run them, on as many GPUs as you like:\n")
        print(f"  accelerate launch -m video_reasoning.tasks {shlex.join(arguments)}\n")
        print(f"and then:\n\n  video-reasoning audit --judge-only --out {shlex.quote(str(folder))}")
        return 0
    from video_reasoning.tasks import launcher

    code = launcher.main(arguments)
    if code:
        _tell(
            f"The evaluation failed (exit code {code}); nothing was judged. The generated tasks "
            f"are in {tasks_folder}."
        )
        return code
    if _is_first():
        _judge(request, plan, folder)
    return 0


def _plan(request: Request) -> Plan:
    """What is asked, from the request, the harness's tasks and the picks."""
    if not request.tasks or not request.model:
        absent = "--tasks" if not request.tasks else "--model"
        raise AuditError(
            f"{absent} is missing; for example: video-reasoning audit --tasks mvbench --model "
            "llava_vid --model_args pretrained=...,max_frames_num=16"
        )
    reserved = [word.partition("=")[0] for word in request.more]
    given = [name for name in _RESERVED if name in reserved]
    if given:
        raise AuditError(f"{given[0]} is given twice, or is the audit's own to set.")
    for path in request.include_path:
        if not path.is_dir():
            raise AuditError(f"--include_path {path} is not a folder; no task is read from it.")
    variants = parse_all(request.conditions, request.frames, request.seed)
    from video_reasoning.tasks.audit.schemas import OptionShape

    for text in request.option_fields:
        OptionShape.parse(text)
    given_picks = _read_picks(request.picks) if request.picks else None
    problems = registry.missing_data(request.tasks)
    if problems:
        raise StoreError(" ".join(problems))
    from video_reasoning.tasks.audit.derive import find_tasks

    tasks, refused = find_tasks(request.tasks, request.include_path)
    return Plan(
        variants=tuple(variants),
        tasks=tuple(_with_picks(task, given_picks) for task in tasks),
        clips=store.home() / "audit" / "clips",
        frames=request.frames,
        seed=request.seed,
        limit=request.limit,
        option_fields=request.option_fields,
        refused=refused,
    )


def _with_picks(task: AuditedTask, given: Mapping[str, int] | None) -> AuditedTask:
    """The task with its picks: the user's, or those that the store has for a task of ours."""
    from dataclasses import replace

    if given is not None:
        return replace(task, picks=given, annotators=("--picks",))
    ours = registry.our_tasks().get(task.name)
    if ours is None or not ours.needs:
        return task
    try:
        picks = read_installed(ours.needs[0][0])
    except PicksError as error:
        logger.warning(str(error))
        return task
    return replace(
        task,
        picks={name: pick.frame for name, pick in picks.items()},
        annotators=tuple(dict.fromkeys(pick.annotator for pick in picks.values())),
    )


def _read_picks(path: Path) -> dict[str, int]:
    """The picks of a file: lines of JSON with ``id`` and ``frame``.

    Raises:
        AuditError: if it cannot be read.
    """
    picks: dict[str, int] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise AuditError(f"The picks {path} cannot be read ({error}).") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            name, frame = str(entry["id"]), entry["frame"]
        except (ValueError, KeyError, TypeError, RecursionError):
            name, frame = "", None
        if not name or type(frame) is not int or frame < 0:
            raise AuditError(
                f'Line {number} of {path} is no pick; a line reads {{"id": "q1", "frame": 12}}.'
            )
        picks[name] = frame
    if not picks:
        raise AuditError(f"The picks {path} hold no line.")
    return picks


def _arguments(request: Request, plan: Plan, folder: Path) -> list[str]:
    """The command line for the harness."""
    names = [task.variant_name(variant) for task in plan.tasks for variant in plan.asked(task)]
    arguments = ["--model", request.model]
    if request.model_args:
        arguments += ["--model_args", request.model_args]
    arguments += ["--tasks", ",".join(names), "--include_path", str(folder / TASKS)]
    arguments += ["--output_path", str(folder / RUNS), "--log_samples"]
    if request.limit is not None:
        arguments += ["--limit", str(request.limit)]
    return [*arguments, *request.more]


def _judge(request: Request, plan: Plan, folder: Path) -> None:
    """Judges the newest run, prints the audit and writes its files."""
    from rich.console import Console

    from video_reasoning.tasks.audit.evaluate import judge
    from video_reasoning.tasks.audit.findings import findings, survivors, write_ids
    from video_reasoning.tasks.audit.output import render, write

    run, results = judge(
        plan, folder / TASKS, folder / RUNS, metric=request.metric, level=request.level
    )
    found = findings(plan, results)
    write(folder, plan, run, results, found)
    print()
    Console(soft_wrap=True).print(render(plan, run, results))
    if request.export_filtered is not None:
        kept = survivors(plan, results)
        write_ids(request.export_filtered, kept)
        count = sum(len(names) for names in kept.values())
        asked = sum(len(result.items) for result in results if len(result.tasks) == 1)
        print(f"{count:,} of {asked:,} questions survive; their ids: {request.export_filtered}")
    if request.report:
        _write_report(folder)
    print(
        f"Numbers and verdict: {folder / 'audit.md'}; {len(found):,} questions to look at: "
        f"{folder / 'questions.jsonl'}"
    )


def _write_report(folder: Path) -> None:
    from video_reasoning.preprocessing.files import atomic_path
    from video_reasoning.tasks.report.build import build
    from video_reasoning.tasks.report.page import page

    text = page(build([folder]))
    with atomic_path(folder / "report.html") as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _is_first() -> bool:
    return os.environ.get("RANK", "0") == "0"


def _tell(sentence: str) -> None:
    if _is_first():
        import sys

        print(f"video-reasoning: {sentence}", file=sys.stderr)
