"""Write the reference pages from the code: `python -m tests.docs.reference`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from tests.docs.commands import ROOT
from video_reasoning.tasks import registry
from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.cli.environment import PREFIX, VARIABLES

FOLDER = ROOT / "docs" / "reference"
FACES: Mapping[str, tuple[str, str]] = {
    "video_reasoning.metrics": (
        "Answers in, numbers out. Loads neither the harness nor torch.",
        "",
    ),
    "video_reasoning.preprocessing": (
        "Videos in, clips out. Loads neither the harness nor torch.",
        "",
    ),
    "video_reasoning.tasks.registry": (
        "Our tasks, read from their YAMLs without the harness.",
        "config_of our_tasks requested tasks_path",
    ),
    "video_reasoning.tasks.store": (
        "Where prepared data is.",
        "benchmark_folder clips_folder home questions_file read_manifest",
    ),
    "video_reasoning.tasks.media": (
        "What a task shows; its YAML names it as `doc_to_visual`.",
        "excerpt_of show video_path",
    ),
    "video_reasoning.tasks.scoring": (
        "How a task scores; see [Adding a benchmark](../adding-a-benchmark.md).",
        "accuracy attributes belonging common_metrics judge letters metadata metric of_task scored",
    ),
}
"""Module -> what it is for, and its names; empty for all that it exports."""

WRITTEN = "<!-- Written by `python -m tests.docs.reference`. -->\n"


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    ruled = [header, tuple("---" for _ in header), *rows]
    return [f"| {' | '.join(map(_cell, row))} |" for row in ruled]


# Commands


def _leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every command that can be run, with its full name."""
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from _leaves(inner, f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path, command


def _default(parameter: Any) -> str:
    value = parameter.default
    shown = "" if value is None or callable(value) or value in ("", (), []) else f"{value}"
    if parameter.required:
        return "required"
    return "" if value is False or not isinstance(value, str | int | float | Path) else shown


def _parameter(parameter: Any) -> tuple[str, str, str]:
    if parameter.param_type_name == "argument":
        name = (parameter.metavar or parameter.name).upper() + (
            "..." if parameter.nargs == -1 else ""
        )
        return f"`{name}`", getattr(parameter, "help", "") or "", _default(parameter)
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return names, parameter.help or "", _default(parameter)


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in inspect.cleandoc(text).split("\n\n")]


def commands() -> str:
    """Every command with its options, as its ``--help`` shows them."""
    lines = [
        "# Commands",
        "",
        WRITTEN,
        "What each command's `--help` says. `lmms_eval` takes the options of the harness, and",
        "`--fresh` and `--partial` of its own ([interrupted evaluations](../interruptions.md)).",
        "",
    ]
    program = typer.main.get_command(app)
    for name, command in _leaves(program, "video-reasoning"):
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        typed = " ".join(_parameter(each)[0].strip("`") for each in arguments)
        lines += [f"## {name}", "", f"`{' '.join(filter(None, (name, typed)))} [OPTIONS]`", ""]
        for paragraph in _paragraphs(command.help or ""):
            lines += [paragraph, ""]
        shown = [each for each in command.params if not getattr(each, "hidden", False)]
        rows = [_parameter(each) for each in shown if each.name != "help"]
        lines += [*_table(("option", "meaning", "default"), rows), ""] if rows else []
        for example in _paragraphs(command.epilog or ""):
            lines += ["```sh", example.split(": ", 1)[1], "```", ""]
    return "\n".join(lines)


# Variables


def variables() -> str:
    """Every environment variable that is read."""
    rows = [(f"`{PREFIX}{each.name}`", each.meaning, each.default) for each in VARIABLES]
    return "\n".join(
        [
            "# Environment variables",
            "",
            WRITTEN,
            "`video-reasoning doctor` shows those that are set, and names that nothing reads.",
            "",
            *_table(("variable", "what it sets", "if it is not set"), rows),
            "",
            "Of others' variables, `HF_HOME` and `HF_HUB_OFFLINE` (the Hub's files), and",
            "`DASK_SCHEDULER_ADDRESS` and `RAY_ADDRESS` ([clusters](../scale.md)) are read.",
            "",
        ]
    )


# Tasks


def _resolved(value: Any) -> Any:
    """What a YAML's ``!function`` names, or the value itself."""
    if not isinstance(value, str):
        return value or []
    module, _, name = value.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _metrics(name: str) -> str:
    listed = _resolved(registry.config_of(name).get("metric_list"))
    return " ".join(f"`{each['metric']}`" for each in listed)


def tasks() -> str:
    """Every task and group, from the YAMLs."""
    lines = [
        "# Tasks",
        "",
        WRITTEN,
        "For `--tasks`, joined by commas. `frames` names what is shown of each video (`video`: as",
        "it is); [TVBench (TOMATO)](../tvbench.md) has the conditions, [Metrics](../metrics.md)",
        "the metrics.",
        "",
    ]
    ours = registry.our_tasks()
    for name, record in BENCHMARKS.items():
        mine = [each for each in ours.values() if name in each.path.parts]
        lines += [f"## {record.title}", "", "Groups:", ""]
        groups = [each for each in mine if each.members]
        lines += _table(
            ("group", "tasks"),
            [(f"`{g.name}`", ", ".join(f"`{member}`" for member in g.members)) for g in groups],
        )
        lines += ["", "Tasks, by the metrics that they report:", ""]
        single = sorted((each for each in mine if each.needs), key=lambda each: _metrics(each.name))
        for metrics, same in groupby(single, key=lambda each: _metrics(each.name)):
            rows = [
                (
                    f"`{each.name}`",
                    each.needs[0][1],
                    each.selects or "all",
                    each.condition or "video",
                )
                for each in sorted(same, key=lambda each: each.name)
            ]
            lines += [*_table(("task", "split", "questions", "frames"), rows), ""]
            lines += [f"Metrics: {metrics}", ""]
    return "\n".join(lines)


# Python


def _first_sentence(found: Any) -> str:
    text = " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split())
    text = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", text).replace("``", "`")
    return re.split(r"(?<=[.])\s", text)[0]


def _signature(name: str, found: Any) -> str:
    if inspect.isclass(found) or not callable(found):
        return f"`{name}`"
    given = inspect.signature(found).parameters.values()
    return f"`{name}({', '.join(each.name for each in given)})`"


def api() -> str:
    """The public names of the packages."""
    lines = ["# Python", "", WRITTEN]
    lines += ["What can be imported, and what each name is for. `help(name)` has the rest:"]
    lines += ["shapes, units, what is raised, and the paper's section.", ""]
    for module, (purpose, names) in FACES.items():
        face = importlib.import_module(module)
        rows = [
            (_signature(name, getattr(face, name)), _first_sentence(getattr(face, name)))
            for name in names.split() or sorted(face.__all__)
        ]
        lines += [f"## {module}", "", purpose, "", *_table(("name", "what it does"), rows), ""]
    return "\n".join(lines)


PAGES = {"commands": commands, "variables": variables, "tasks": tasks, "python": api}
"""Name of a page -> what writes it."""


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, write in PAGES.items():
        (FOLDER / f"{name}.md").write_text(f"{write().strip()}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
