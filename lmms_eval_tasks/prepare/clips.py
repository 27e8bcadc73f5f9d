"""All clips that a run needs, made before it: a GPU then waits for none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.clips import make_wanted
from video_reasoning.preprocessing.conditions import CLOCKS
from video_reasoning.preprocessing.files import remove_leftovers
from video_reasoning.preprocessing.wanted import Wanted
from video_reasoning.preprocessing.workers import EngineError, Lost, Workers
from video_reasoning.tasks import registry, store
from video_reasoning.tasks.audit.derive import find_tasks
from video_reasoning.tasks.audit.harness import load_config, load_task
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.models import quirks
from video_reasoning.tasks.models.ahead import clips_of
from video_reasoning.tasks.models.names import unknown_model
from video_reasoning.tasks.prepare.build import Progress

__all__ = ["MadeClips", "make_clips"]


@dataclass(frozen=True)
class MadeClips:
    """What became of the clips of some tasks.

    Attributes:
        questions: Questions of the tasks, each under each of its conditions.
        clips: Clips that they need.
        videos: Videos that these are made of.
        problems: Video -> why some of its clips cannot be made, in sentences.
        refused: Task -> why it was not looked at.
    """

    questions: int
    clips: int
    videos: int
    problems: Mapping[Path, Sequence[str]]
    refused: Mapping[str, str]


def make_clips(
    tasks: Sequence[str],
    *,
    model: str = "",
    model_args: str = "",
    simple: bool = False,
    include_path: Sequence[Path] = (),
    limit: int | None = None,
    workers: int | None = None,
    engine: str = "local",
    engine_address: str | None = None,
    progress: Progress | None = None,
) -> MadeClips:
    """Make the clips of all questions of some tasks that are not there yet.

    Args:
        tasks: As for ``--tasks``: ours, and those that an audit has derived from any other.
        model: The harness's name of the model, which decides how frames are handed over; without
            it clips of both clocks are made.
        model_args: As for the harness.
        simple: Whether the run has ``--force_simple``.
        include_path: Folders of tasks besides the harness's and ours.
        limit: Only the first questions of each task.
        workers: Number of processes; None for one per core.
        engine: "local", "dask" or "ray", see :mod:`video_reasoning.preprocessing.workers`.
        engine_address: The cluster's address.
        progress: Called as the work goes on.

    Returns:
        What was made, and what could not be.

    Raises:
        AuditError: A name stands for no task.
        StoreError: Data of our tasks is missing.
        UserError: The engine cannot be used.
        OSError: A clip cannot be written, e.g. because the disk is full; what was made is kept.
    """
    if missing := registry.missing_data(tasks):
        raise StoreError(" ".join(missing))
    report = progress or (lambda step, done, total: None)
    if model:
        if reason := unknown_model(model):
            raise UserError(reason)
        quirks.loaded(model, simple=simple)
        quirks.built(model_args)
    found, refused = find_tasks(tasks, include_path)
    questions, videos = 0, dict[Path, dict[Wanted, None]]()
    for number, task in enumerate(found):
        report("Looking at tasks", number, len(found))
        loaded = load_task({**load_config(task.yaml), **task.overrides}, model)
        for wanted in _of_questions(loaded, limit):
            questions += 1
            for each in wanted:
                for one in _clocks(each, model):
                    videos.setdefault(one.source, {})[one] = None
    report("Looking at tasks", len(found), len(found))
    for folder in {each.clips for wanted in videos.values() for each in wanted}:
        remove_leftovers(folder)
    try:
        team = Workers(workers, engine, engine_address, shared=store.home())
        with team:
            problems = _make(team, [list(each) for each in videos.values()], report)
    except EngineError as error:
        raise UserError(str(error)) from error
    clips = {
        replace(each, key=_draw(each), together=()) for some in videos.values() for each in some
    }
    return MadeClips(questions, len(clips), len(videos), problems, refused)


def _draw(wanted: Wanted) -> str:
    """Return what the frames of a clip are drawn by; questions share clips that are not drawn."""
    return wanted.key if wanted.condition.is_drawn else ""


def _of_questions(task: Any, limit: int | None) -> Iterator[list[Wanted]]:
    """Give the clips of each question of a task, for simple models and for those that chat."""
    names = ("doc_to_messages", "doc_to_visual")
    ways = [getattr(task, name) for name in names if callable(getattr(task.config, name))]
    for number, document in enumerate(task.eval_docs):
        if number == limit:
            break
        found = (each for show in ways for each in clips_of(show, document))
        yield list(dict.fromkeys(found))


def _clocks(wanted: Wanted, model: str) -> list[Wanted]:
    if model or quirks.clock_by_user():
        return [wanted]
    return [replace(wanted, clock=clock) for clock in CLOCKS]


def _make(
    team: Workers, jobs: Sequence[Sequence[Wanted]], report: Progress
) -> dict[Path, Sequence[str]]:
    problems: dict[Path, Sequence[str]] = {}
    report("Making clips, videos", 0, len(jobs))
    for done, (place, outcome) in enumerate(team.each(make_wanted, jobs), 1):
        reasons = (outcome.reason,) if isinstance(outcome, Lost) else outcome
        if reasons:
            problems[jobs[place][0].source] = reasons
        report("Making clips, videos", done, len(jobs))
    return problems
