"""The command ``lmms_eval``: the harness, with our tasks known.

It adds our task folder to ``--include_path`` (the user's own comes first), checks before anything
heavy is imported that the data of our tasks among those asked for is there and that the model can
be shown it, and exits with 1 if an evaluation failed, was not saved or was not answered (the
harness itself exits with 0; see :mod:`.outcome`). Everything else is handed through.
``python -m video_reasoning.tasks`` is the same command, for ``accelerate launch -m`` and
``torchrun -m``.

This module alone replaces a function of the harness: ``lmms_eval.__main__.cli_evaluate_single``,
for as long as it evaluates. If a version of the harness no longer calls it, the command fails.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from video_reasoning.tasks import outcome, registry
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.models import probed, quirks, responses
from video_reasoning.tasks.models.names import unknown_model

FAILED = 1
"""Exit code of a failed evaluation."""
UNUSABLE = 2
"""Exit code if nothing was run: missing data, no task named, a model that cannot be shown them, or
an unknown harness."""

_OTHERWISE = (
    'run `lmms-eval --include_path "$(video-reasoning tasks-path)" ...` instead, or install '
    "lmms-eval 0.7.3, which is known to work."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the harness; the entry point of ``lmms_eval``.

    Args:
        arguments: Command line without the program's name; None for the process's own.

    Returns:
        The exit code: 0, :data:`FAILED` or :data:`UNUSABLE`; 130 after Ctrl-C.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["eval"] and len(given) > 1:
        given = given[1:]
    own = _own_options(given)
    evaluates = bool(given) and given[0].startswith("-") and given not in (["-h"], ["--help"])
    before = sys.argv
    # The harness's parsers read sys.argv themselves.
    sys.argv = ["lmms_eval", *given]
    try:
        if not evaluates:
            return _dispatch(given)
        if _is_misspelled(given) or not _data_is_there(given) or _is_refused(given):
            return UNUSABLE
        return _evaluate(given)
    except KeyboardInterrupt:
        _tell("Interrupted.")
        return 130
    except UserError as error:
        _tell(str(error))
        return UNUSABLE
    finally:
        sys.argv = before
        for name in own:
            del os.environ[name]


def _own_options(given: list[str]) -> list[str]:
    """Take the options that the harness does not know out of a command line.

    Returns:
        The environment variables that stand for them from now on.
    """
    own = [name for option, name in responses.OPTIONS.items() if option in given]
    given[:] = [word for word in given if word not in responses.OPTIONS]
    os.environ.update(dict.fromkeys(own, "1"))
    return own


def requested_names(arguments: Sequence[str]) -> list[str]:
    """Return the names in ``--tasks``, on the command line or in a ``--config`` file."""
    return [name for run in _runs(arguments) for name in _names(run)]


def with_ours(include_path: Any) -> list[str]:
    """Return the user's include path or paths with ours last: the first of a name wins."""
    if isinstance(include_path, str):
        include_path = [include_path] if include_path else []
    ours = str(registry.tasks_path())
    return [*(path for path in include_path or [] if path != ours), ours]


def _known(arguments: Sequence[str]) -> argparse.Namespace:
    """Return those of the harness's options that matter here."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tasks")
    parser.add_argument("--config")
    parser.add_argument("--include_path")
    parser.add_argument("--model", default="")
    parser.add_argument("--model_args", default="")
    parser.add_argument("--force_simple", action="store_true")
    parser.add_argument("--power_analysis", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    return parser.parse_known_args(list(arguments))[0]


def _runs(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Return the options of each run, on the command line or in a ``--config`` file."""
    known = _known(arguments)
    if not known.config or known.tasks:
        return [vars(known)]
    try:
        loaded = yaml.safe_load(Path(known.config).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return []  # a file that is unreadable is the harness's business
    runs = loaded if isinstance(loaded, list) else [loaded]
    return [{**vars(known), **run} for run in runs if isinstance(run, dict)]


def _names(run: Mapping[str, Any]) -> list[str]:
    return [name for name in str(run.get("tasks") or "").split(",") if name]


def _is_misspelled(arguments: Sequence[str]) -> bool:
    """Tell whether nothing has the name of a task or model, and print the nearest names."""
    sentences = []
    for run in _runs(arguments):
        if run.get("tasks") not in outcome.LISTS:
            folders = run.get("include_path") or []
            folders = [folders] if isinstance(folders, str) else folders
            sentences += registry.unknown(_names(run), folders)
            sentences += [unknown_model(str(run["model"]))] if run.get("model") else []
    found = [sentence for sentence in dict.fromkeys(sentences) if sentence]
    for sentence in found:
        _tell(sentence)
    return bool(found)


def _is_refused(arguments: Sequence[str]) -> bool:
    """Tell whether a model cannot be shown what a task of ours shows, and print why."""
    quirks.named_by_user()
    quirks.clock_by_user()
    quirks.ahead_by_user()
    for run in _runs(arguments):
        tasks = [task for task in registry.requested(_names(run)) if task.needs]
        blind = [task.condition == "blind" for task in tasks]
        given = run.get("model_args") or ""
        if isinstance(given, Mapping):
            given = ",".join(f"{name}={value}" for name, value in given.items())
        model, simple = str(run.get("model") or ""), bool(run.get("force_simple"))
        form = quirks.form_of(model, simple=simple, arguments=str(given))
        reason = quirks.refusal(
            model, simple=simple, arguments=str(given), video=not all(blind), blind=any(blind)
        )
        if reason:
            _tell(reason)
            return True
        if tasks and (sentence := probed.unprobed(model, simple=simple)):
            _tell(sentence)
        if form.repeat > 1:
            # A task's functions are not told the model's arguments.
            os.environ.setdefault(quirks.VARIABLE, "clip")
    return False


def _data_is_there(arguments: Sequence[str]) -> bool:
    """Tell whether the requested tasks can be asked, and print what is missing."""
    try:
        names = requested_names(arguments)
        problems = registry.missing_data(names)
        warnings = registry.losses(names) if not problems else []
    except StoreError as error:
        problems, warnings = [str(error)], []
    for sentence in problems or warnings:
        _tell(sentence)
    return not problems


def _evaluate(arguments: Sequence[str]) -> int:
    """Run the harness's evaluation with every run in it watched."""
    harness = _internals("lmms_eval.__main__", "cli_evaluate", "cli_evaluate_single")
    evaluate_single = harness.cli_evaluate_single
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_MININTERVAL", "30")  # a line now and then instead of a bar
    outcome.max_failed()  # a value that cannot be read is refused before anything is asked
    partial = bool(os.environ.get(responses.PARTIAL_VARIABLE))
    quiet = _is_quiet(arguments)
    if quiet:
        sys.argv += ["--verbosity", "WARNING"]
    code, calls = 0, 0

    def watched(run: argparse.Namespace) -> Any:
        nonlocal code, calls
        calls += 1
        _check_include_path(run.include_path)
        run.include_path = with_ours(run.include_path)
        # The harness takes a folder that happens to be called like a task for one of YAML files,
        # and asks what is in it in the wrong form. Path.is_dir fails if there are many names.
        folder = os.path.isdir(run.tasks or "")  # noqa: PTH112
        if folder and registry.is_defined(run.tasks, run.include_path):
            run.tasks = f"{run.tasks},{run.tasks}"
        if run.tasks is None:
            code = UNUSABLE
        kept = copy(run)  # its options name what is kept
        if partial and (reason := responses.nothing_kept(run)):
            _tell(reason)
            raise SystemExit(UNUSABLE)
        try:
            with (
                _noted(run.output_path) if quiet else nullcontext(),
                responses.partial(run) if partial else nullcontext(),
            ):
                found = evaluate_single(run)
        except SystemExit as stop:
            if not stop.code and run.tasks is not None and run.tasks not in outcome.LISTS:
                _tell(outcome.NO_RESULTS)
                code = FAILED
            raise
        except Exception:
            # The harness prints the traceback, goes on to the next run and exits with 0.
            code = FAILED
            raise
        problems = outcome.problems(run.output_path, found)
        for sentence in problems:
            _tell(sentence)
            code = FAILED
        responses.finish(kept, saved=not problems and not partial)
        return found

    harness.cli_evaluate_single = watched
    try:
        harness.cli_evaluate()
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise
    finally:
        harness.cli_evaluate_single = evaluate_single
    known = _known(arguments)
    if not calls and requested_names(arguments) and not (known.help or known.power_analysis):
        raise UserError(
            "The harness ended without calling cli_evaluate_single, through which this command "
            f"adds its tasks and sees failures: nothing it printed can be trusted; {_OTHERWISE}"
        )
    return code


def _is_quiet(arguments: Sequence[str]) -> bool:
    """Tell whether the harness's notes are to stay off the screen: nobody asked for them."""
    known = _known(arguments)
    asked = any(word.partition("=")[0] == "--verbosity" for word in arguments)
    return not (asked or known.config or known.tasks in outcome.LISTS)


@contextmanager
def _noted(output_path: str | None) -> Iterator[None]:
    """Write the harness's notes to a file beside a run's results, and name it if there are some.

    Only the first process does, if anything is saved; that nothing can be written there is said
    when the results are saved.
    """
    if not output_path or os.environ.get("RANK", "0") != "0":
        yield
        return
    from loguru import logger

    file = Path(output_path) / "harness.log"
    sink = None
    with suppress(OSError):
        sink = logger.add(file, level="INFO", delay=True)
    try:
        yield
    finally:
        with suppress(OSError, ValueError):  # the harness may have removed all sinks
            if sink is not None:
                logger.remove(sink)
        if sink is not None and file.is_file():
            _tell(f"What the harness noted on its way is in {file}.")


def _check_include_path(include_path: Any) -> None:
    """Report what the harness passes over in silence: a folder that does not exist."""
    for path in [include_path] if isinstance(include_path, str) else include_path or []:
        if not Path(path).is_dir():
            raise ValueError(f"--include_path {path} is not a folder; no task is read from it.")


def _dispatch(arguments: list[str]) -> int:
    """Hand a subcommand (``tasks``, ``models``, ``ui``, ...) to the harness."""
    harness = _internals("lmms_eval.cli.dispatch", "main")
    if arguments[:1] == ["tasks"] and not any(a.startswith("--include_path") for a in arguments):
        sys.argv += ["--include_path", str(registry.tasks_path())]
    harness.main()
    return 0


def _internals(name: str, *functions: str) -> Any:
    """Import a private module of the harness.

    Raises:
        UserError: If the installed version has no such module, or not these functions in it.
    """
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        module = None
    if not all(hasattr(module, function) for function in functions):
        raise UserError(
            f"The installed lmms-eval has no {name} with {' and '.join(functions)}: {_OTHERWISE}"
        )
    return module


def _tell(sentence: str) -> None:
    """Print one sentence, once, however many processes were launched."""
    if os.environ.get("RANK", "0") == "0":
        print(f"lmms_eval: {sentence}", file=sys.stderr)
