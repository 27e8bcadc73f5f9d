"""An audit from beginning to end: derive the tasks, run them, evaluate the logs, write files."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from loguru import logger
from pydantic import BeforeValidator, NonNegativeInt, TypeAdapter, ValidationError
from rich.console import Console

from video_reasoning.tasks import registry, store
from video_reasoning.tasks.audit.files import write_text
from video_reasoning.tasks.audit.plan import FILE, AuditedTask, Plan, read_plan, write_plan
from video_reasoning.tasks.audit.result import AuditedQuestion, AuditResult
from video_reasoning.tasks.audit.schemas import Grouping, OptionShape
from video_reasoning.tasks.audit.variants import AuditError, parse_all, redrawn, repeated
from video_reasoning.tasks.errors import StoreError, cause
from video_reasoning.tasks.store.picks import PicksError, read_installed
from video_reasoning.tasks.store.questions import of_sample_benchmark

__all__ = ["Request", "join_audits", "read_asked", "run_audit"]

TASKS = "tasks"
"""Folder of the generated tasks in an audit's folder."""

RUNS = "runs"
"""Folder of the evaluation's logs in an audit's folder."""

LOG = "harness.log"
"""File in an audit's folder with what the harness printed."""

_RESERVED = ("tasks", "model", "model_args", "limit", "include_path", "output_path", "offset")


@dataclass(frozen=True)
class Request:
    """What the user asks for; see ``video-reasoning audit --help``."""

    tasks: tuple[str, ...]
    model: str
    model_args: str
    frames: int
    conditions: tuple[str, ...]
    limit: int | None
    sample: int | None
    group_by: tuple[str, ...]
    include_path: tuple[Path, ...]
    out: Path
    picks: Path | None
    metric: str
    option_fields: tuple[str, ...]
    score_range: str
    seed: int
    level: float
    export_filtered: Path | None
    export_classes: Path | None
    votes: int | None
    repeats: int
    draws: int
    false_discovery_rate: float
    check: bool
    derive_only: bool
    judge_only: bool
    report: bool
    more: tuple[str, ...]
    given: frozenset[str] = frozenset()
    """Names of the options that the user gave, whatever their values."""


@dataclass(frozen=True)
class _Pick:
    """One line of a file of picks."""

    id: Annotated[str, BeforeValidator(str)]
    frame: NonNegativeInt


_PICK = TypeAdapter(_Pick)


def read_asked(folder: Path) -> tuple[Plan, dict[str, list[AuditedQuestion]]]:
    """Read an audit's plan, and the questions that its newest run asked, by task.

    Raises:
        AuditError: If the folder has no audit, or no run of it.
        LogError: If a log cannot be read.
    """
    from video_reasoning.tasks.audit.evaluate import asked_questions

    plan = read_plan(folder / TASKS / FILE)
    return plan, asked_questions(plan, folder / TASKS, folder / RUNS)


def run_audit(request: Request) -> int:
    """Run an audit.

    Returns:
        The exit code: 0, or that of the harness if its evaluation failed.

    Raises:
        AuditError: If the request cannot be carried out.
        StoreError: If data of our own tasks is missing.
        LogError: If the evaluation's logs cannot be read.
    """
    folder = request.out.absolute()
    tasks_folder = folder / TASKS
    if request.judge_only:
        _evaluate(request, _judged_plan(request, read_plan(tasks_folder / FILE)), folder)
        return 0
    plan = _plan(request)
    from video_reasoning.tasks.audit.derive import derive
    from video_reasoning.tasks.audit.preflight import preflight, table

    with contextlib.ExitStack() as stack:
        if request.check:  # an audit that may be there stays as it is
            tasks_folder = Path(stack.enter_context(TemporaryDirectory()))
        plan = derive(plan, tasks_folder)
        plan, checks = preflight(plan)
        write_plan(tasks_folder / FILE, plan)
    if os.environ.get("RANK", "0") == "0":
        Console(soft_wrap=True).print(table(plan, checks))
    if request.check:
        return 0 if plan.tasks else 1
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

    log = folder / LOG
    with _quiet(log):
        code = launcher.main(arguments)
    if os.environ.get("RANK", "0") != "0":
        return code  # one process of several reports
    print(f"What the harness printed is in {log}.")
    if code:
        print(
            f"video-reasoning: The evaluation failed (exit code {code}); nothing was judged. The "
            f"generated tasks are in {tasks_folder}.",
            file=sys.stderr,
        )
        return code
    _evaluate(request, plan, folder)
    return 0


def _plan(request: Request) -> Plan:
    """Return what is asked, from the request, the harness's tasks and the picks."""
    if not request.tasks or not (request.model or request.check):
        absent = "--tasks" if not request.tasks else "--model"
        raise AuditError(
            f"{absent} is missing; for example: video-reasoning audit --tasks mvbench --model "
            "llava_vid --model_args pretrained=...,max_frames_num=16"
        )
    words = [word.partition("=")[0] for word in request.more]
    for name in _RESERVED:
        if f"--{name}" in words:
            raise AuditError(f"--{name} is given twice, or is the audit's own to set.")
    if request.limit is not None and request.sample is not None:
        raise AuditError("--limit and --sample exclude each other; give one of them.")
    for path in request.include_path:
        if not path.is_dir():
            raise AuditError(f"--include_path {path} is not a folder; no task is read from it.")
    variants = parse_all(request.conditions, request.frames, request.seed)
    names = dict.fromkeys([*repeated(variants, request.repeats), *redrawn(variants, request.draws)])
    variants = parse_all(list(names), request.frames, request.seed)
    for text in request.option_fields:
        OptionShape.parse(text)
    for text in request.group_by:
        Grouping.parse(text)
    given_picks = _read_picks(request.picks) if request.picks else None
    problems = registry.missing_data(request.tasks)
    if problems:
        raise StoreError(" ".join(problems))
    from video_reasoning.tasks.audit.derive import find_tasks

    tasks, refused = find_tasks(request.tasks, request.include_path)
    return Plan(
        conditions=tuple(variant.name for variant in variants),
        tasks=tuple(_with_data(task, given_picks) for task in tasks),
        clips=store.home() / "audit" / "clips",
        frames=request.frames,
        seed=request.seed,
        limit=request.limit,
        sample=request.sample,
        group_by=request.group_by,
        option_fields=request.option_fields,
        score_range=_range(request.score_range),
        refused=refused,
    )


def _judged_plan(request: Request, plan: Plan) -> Plan:
    """Return the part of a plan to judge.

    Raises:
        AuditError: If the request names what was not asked.
    """
    wanted = {
        "conditions": tuple(v.name for v in parse_all(request.conditions, request.frames)),
        **{name: getattr(request, name) for name in ("frames", "seed", "limit", "sample")},
    }
    for name, value in wanted.items():
        asked = getattr(plan, name)
        if name in request.given and value != asked:
            said = ", ".join(asked) if isinstance(asked, tuple) else asked
            raise AuditError(
                f"--judge-only judges what was asked, and --{name} was "
                f"{'not given' if said is None else said}; leave out --{name}, or run the audit "
                "again without --judge-only."
            )
    known = {task.name for task in plan.tasks} | {task.group for task in plan.tasks}
    for name in request.tasks:
        if name not in known | plan.refused.keys():
            raise AuditError(
                f"The audit in {request.out} has no task '{name}'; it has "
                f"{', '.join(task.name for task in plan.tasks)}."
            )
    if request.tasks:
        named = set(request.tasks)
        tasks = tuple(t for t in plan.tasks if {t.name, t.group} & named)
        refused = {name: why for name, why in plan.refused.items() if name in named}
        plan = replace(plan, tasks=tasks, refused=refused)
    if "score_range" in request.given:
        plan = replace(plan, score_range=_range(request.score_range))
    return plan


def _range(text: str) -> tuple[float, float] | None:
    """Read ``LOWEST,HIGHEST``; None for the empty text.

    Raises:
        AuditError: If the text is not of that form.
    """
    if not text:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high < math.inf:
        raise AuditError(
            f"--score-range '{text}' is not understood; write the lowest and the highest score, "
            "for example 0,5."
        )
    return low, high


def _with_data(task: AuditedTask, given: Mapping[str, int] | None) -> AuditedTask:
    """Return the task with what the store says of it, and with the user's picks if any are given.

    Raises:
        StoreError: Its questions cannot be read.
    """
    ours = registry.our_tasks().get(task.name)
    if ours is not None:
        files = [store.questions_file(*part) for part in ours.needs]
        task = replace(task, sample_benchmark=any(map(of_sample_benchmark, files)))
    if given is not None:
        return replace(task, picks=given)
    if ours is None or not ours.needs:
        return task
    try:
        picks = read_installed(ours.needs[0][0])
    except PicksError as error:
        logger.warning(str(error))
        return task
    return replace(task, picks={name: pick.frame for name, pick in picks.items()})


def _read_picks(path: Path) -> dict[str, int]:
    """Read a file of picks: lines of JSON with ``id`` and ``frame``.

    Raises:
        AuditError: If it cannot be read.
    """
    picks: dict[str, int] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError) as error:
        raise AuditError(f"The picks {path} cannot be read ({cause(error)}).") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            pick = _PICK.validate_json(line, strict=True)
        except ValidationError:
            raise AuditError(
                f'Line {number} of {path} is not a pick; a line reads {{"id": "q1", "frame": 12}}.'
            ) from None
        picks[pick.id] = pick.frame
    if not picks:
        raise AuditError(f"The file of picks {path} is empty.")
    return picks


def _arguments(request: Request, plan: Plan, folder: Path) -> list[str]:
    """Return the command line for the harness."""
    names = [task.variant_name(variant) for task in plan.tasks for variant in plan.asked(task)]
    arguments = ["--model", request.model]
    if request.model_args:
        arguments += ["--model_args", request.model_args]
    arguments += ["--tasks", ",".join(names), "--include_path", str(folder / TASKS)]
    arguments += ["--output_path", str(folder / RUNS), "--log_samples"]
    if request.limit is not None:
        arguments += ["--limit", str(request.limit)]
    if not any(word.partition("=")[0] == "--verbosity" for word in request.more):
        arguments += ["--verbosity", "WARNING"]
    return [*arguments, *request.more]


@contextlib.contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """Let what the harness prints and warns of go to a file; its progress stays visible."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as stream, contextlib.redirect_stdout(stream):
        try:
            yield
        finally:
            # The harness's logger writes to the standard output that it found.
            logger.remove()
            logger.add(sys.stderr, level="WARNING")


def _evaluate(request: Request, plan: Plan, folder: Path) -> None:
    """Evaluate the newest run, print the audit and write its files."""
    from video_reasoning.tasks.audit.evaluate import evaluate
    from video_reasoning.tasks.audit.findings import find_questions, write_classes
    from video_reasoning.tasks.audit.output import markdown, render
    from video_reasoning.tasks.audit.result import QUESTIONS, RESULT, write_audit, write_findings

    audit = evaluate(
        plan, folder / TASKS, folder / RUNS, metric=request.metric, level=request.level
    )
    findings = find_questions(plan, audit.results)
    write_audit(folder / RESULT, audit)
    write_findings(folder / QUESTIONS, findings)
    write_text(folder / "audit.md", markdown(audit, findings))
    print()
    Console(soft_wrap=True).print(render(audit))
    if request.export_filtered is not None:
        _export(request, [(plan, audit.results)])
    if request.export_classes is not None:
        write_classes(request.export_classes, [(plan, audit.results)], 1)
        print(f"The class of each question: {request.export_classes}")
    if request.report:
        from video_reasoning.tasks.report.build import build
        from video_reasoning.tasks.report.page import page

        write_text(folder / "report.html", page(build([folder])))
    print(
        f"Numbers and verdict: {folder / 'audit.md'}; {len(findings):,} questions to look at: "
        f"{folder / QUESTIONS}"
    )


def _export(request: Request, audits: Sequence[tuple[Plan, Sequence[AuditResult]]]) -> None:
    """Write the ids of the questions that survive."""
    from video_reasoning.tasks.audit.findings import survivors, write_ids

    if request.export_filtered is None:
        return
    kept = survivors(audits, request.false_discovery_rate)
    places = write_ids(request.export_filtered, kept)
    count = sum(len(names) for names in kept.values())
    asked = sum(len(result.questions) for result in audits[0][1] if len(result.tasks) == 1)
    what = "ids and places in the dataset (ids repeat)" if places else "ids"
    print(
        f"{count:,} of {asked:,} questions survive (at most {request.false_discovery_rate:.0%} of "
        f"the others are expected to be innocent); their {what}: {request.export_filtered}"
    )


def join_audits(request: Request, folders: Sequence[Path]) -> int:
    """Join several models' audits of the same tasks: which questions are right in k of m?

    Args:
        request: Level, metric, votes, files for the survivors' ids and for the classes, and rate of
            false discoveries.
        folders: The audits' folders.

    Raises:
        AuditError: If there are fewer than two, they have no task in common, or more votes are
            asked for than there are.
    """
    from video_reasoning.tasks.audit.evaluate import evaluate
    from video_reasoning.tasks.audit.findings import aligned, evidence, write_classes

    if len(folders) < 2:
        raise AuditError("audit join takes the folders of two audits or more.")
    votes = request.votes or len(folders) // 2 + 1
    if votes > len(folders):
        raise AuditError(f"--votes {votes} is more than the {len(folders)} audits given.")
    plans = [read_plan(folder / TASKS / FILE) for folder in folders]
    models: list[str] = []
    by_name: list[dict[str, AuditResult]] = []
    for plan, folder in zip(plans, folders, strict=True):
        found = evaluate(
            *(plan, folder / TASKS, folder / RUNS), metric=request.metric, level=request.level
        )
        models.append(found.model)
        by_name.append(
            {
                each.name: _bare(each)
                for each in found.results
                if len(each.tasks) == 1 and not each.refused
            }
        )
    names = [name for name in by_name[0] if all(name in each for each in by_name)]
    if not names:
        raise AuditError("The audits have no audited task in common.")
    print(f"{len(folders)} audits: {', '.join(models)}")
    joined: list[list[AuditResult]] = [[] for _ in folders]
    for name in names:
        results, dropped = aligned([each[name] for each in by_name])
        for each, result in zip(joined, results, strict=True):
            each.append(result)
        left = f" ({dropped:,} others are not in all)" if dropped else ""
        print(f"\n{name}: {len(results[0].questions):,} questions{left}")
        for gathered in evidence(list(zip(plans, results, strict=True))):
            print(f"  {gathered.sentence}")
        _print_classes(plans, results, models, votes)
    if request.export_classes is not None:
        write_classes(request.export_classes, list(zip(plans, joined, strict=True)), votes)
        print(f"The class of each question: {request.export_classes}")
    _export(request, list(zip(plans, joined, strict=True)))
    return 0


def _bare(result: AuditResult) -> AuditResult:
    """Leave out what was said and sent: it would be in memory for all models at once."""
    questions = [
        AuditedQuestion(each.row, each.id, "", options=each.options, scores=each.scores)
        for each in result.questions
    ]
    return replace(result, questions=questions)


def _print_classes(
    plans: Sequence[Plan], results: Sequence[AuditResult], models: Sequence[str], votes: int
) -> None:
    """Print how many questions are in each class, by each model and by enough of them."""
    from video_reasoning.metrics.shortcuts import CLASSES
    from video_reasoning.tasks.audit.measures import classes_by_luck, classes_of
    from video_reasoning.tasks.audit.output import classes_table

    each = [(plan.variants, result.questions) for plan, result in zip(plans, results, strict=True)]
    rows = {model: classes_of([one], 1) for model, one in zip(models, each, strict=True)}
    rows[f"{votes} of {len(models)} models"] = classes_of(each, votes)
    counts = {
        label: [f"{found.count(name):,}" for name in (*CLASSES, None)]
        for label, found in rows.items()
    }
    if guessed := classes_by_luck(each, votes):
        counts["  of guessing models"] = [*(f"{guessed[name]:,.0f}" for name in CLASSES), ""]
    Console().print(classes_table(counts))
