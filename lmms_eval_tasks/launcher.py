"""The command ``lmms_eval``: the harness, with our tasks known.

It adds our task folder to ``--include_path`` (the user's own comes first), checks that the data
of the tasks of ours that are asked for is there before anything heavy is imported, and exits
with 1 where an evaluation failed (the harness itself exits with 0). Everything else is handed
through. ``python -m video_reasoning.tasks`` is the same command, for ``accelerate launch -m``
and ``torchrun -m``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from video_reasoning.tasks import registry
from video_reasoning.tasks.errors import StoreError

FAILED = 1
"""Exit code of a failed evaluation."""
UNUSABLE = 2
"""Exit code where nothing was run: missing data, or no task named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the harness; the entry point of ``lmms_eval``.

    Args:
        arguments: command line without the program's name; None for the process's own.

    Returns:
        The exit code: 0, :data:`FAILED` or :data:`UNUSABLE`.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["eval"] and len(given) > 1:
        given = given[1:]
    evaluates = bool(given) and given[0].startswith("-") and given not in (["-h"], ["--help"])
    if evaluates:
        try:
            names = requested_names(given)
            problems = registry.missing_data(names)
            warnings = registry.losses(names) if not problems else []
        except StoreError as error:
            problems, warnings = [str(error)], []
        for sentence in problems or warnings:
            _tell(sentence)
        if problems:
            return UNUSABLE
    # The harness's parsers read sys.argv themselves.
    sys.argv = ["lmms_eval", *given]
    try:
        return _evaluate() if evaluates else _dispatch(given)
    except KeyboardInterrupt:
        _tell("Interrupted.")
        return 130


def requested_names(arguments: Sequence[str]) -> list[str]:
    """The names in ``--tasks``, on the command line or in a ``--config`` file."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tasks")
    parser.add_argument("--config")
    known, _ = parser.parse_known_args(list(arguments))
    values = [known.tasks]
    if known.config and not known.tasks:
        values = _configured(Path(known.config))
    return [name for value in values if value for name in value.split(",") if name]


def _configured(path: Path) -> list[str]:
    """``tasks`` of each run in a config file; a file that cannot be read is the harness's."""
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return []
    runs = loaded if isinstance(loaded, list) else [loaded]
    return [str(run["tasks"]) for run in runs if isinstance(run, dict) and run.get("tasks")]


def with_ours(include_path: Any) -> list[str]:
    """The user's include path or paths, and ours behind: the first of a name wins."""
    if not include_path:
        theirs = []
    elif isinstance(include_path, str):
        theirs = [include_path]
    else:
        theirs = list(include_path)
    ours = str(registry.tasks_path())
    return [*(path for path in theirs if path != ours), ours]


def _evaluate() -> int:
    """Runs the harness's evaluation with every run in it watched."""
    import lmms_eval.__main__ as harness

    evaluate_single = harness.cli_evaluate_single
    code = 0

    def watched(run: argparse.Namespace) -> Any:
        nonlocal code
        _check_include_path(run.include_path)
        run.include_path = with_ours(run.include_path)
        if run.tasks is None:
            code = UNUSABLE
        try:
            return evaluate_single(run)
        except Exception:
            # The harness prints the traceback, goes on to the next run and exits with 0.
            code = FAILED
            raise

    harness.cli_evaluate_single = watched
    try:
        harness.cli_evaluate()
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    finally:
        harness.cli_evaluate_single = evaluate_single
    return code


def _check_include_path(include_path: Any) -> None:
    """Says what the harness keeps to itself: a folder that is not there."""
    for path in [include_path] if isinstance(include_path, str) else include_path or []:
        if not Path(path).is_dir():
            raise ValueError(f"--include_path {path} is not a folder; no task is read from it.")


def _dispatch(arguments: list[str]) -> int:
    """Hands a subcommand (``tasks``, ``models``, ``ui``, ...) to the harness."""
    from lmms_eval.cli.dispatch import main as dispatch

    if arguments[:1] == ["tasks"] and not any(a.startswith("--include_path") for a in arguments):
        sys.argv += ["--include_path", str(registry.tasks_path())]
    dispatch()
    return 0


def _tell(sentence: str) -> None:
    """Prints one sentence, once, however many processes were launched."""
    if os.environ.get("RANK", "0") == "0":
        print(f"lmms_eval: {sentence}", file=sys.stderr)
