"""Every command of the documentation can be typed: its options, tasks and models exist."""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.docs.commands import PAGES, ROOT, Block, Command, blocks, inline_commands
from video_reasoning.tasks import registry, store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.models import responses
from video_reasoning.tasks.models.names import unknown_model

ORDINARY = {
    ".",
    "accelerate",
    "cat",
    "cd",
    "cp",
    "dask",
    "done",
    "export",
    "for",
    "hf",
    "mkdir",
    "mv",
    "pip",
    "pip-audit",
    "python",
    "python3",
    "ray",
    "scontrol",
    "sleep",
    "srun",
    "tail",
    "head",
    "torchrun",
}
"""Programs of others, whose arguments are not looked at."""

PLACEHOLDERS = {"...", "NAME", "BENCHMARK", "$model"}
"""What stands for a name of the reader's choice."""

PROGRAM = typer.main.get_command(app)


def by_page(page: Path) -> tuple[list[Command], set[str]]:
    """A page's commands, and the names of tasks and benchmarks that it makes itself."""
    found = list(blocks(page))
    commands = [command for block in found for command in block.commands()]
    text = "\n".join(block.text for block in found)
    made = set(re.findall(r'^task: (\S+)|^BENCHMARK = "(\w+)"', text, re.MULTILINE))
    return [*commands, *inline_commands(page)], {name for pair in made for name in pair}


@cache
def harness_options() -> set[str]:
    """The options of the harness's evaluation, read without importing it."""
    folder = registry.harness_folder()
    assert folder is not None
    tree = ast.parse((folder / "__main__.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    added = [call for call in calls if getattr(call.func, "attr", "") == "add_argument"]
    words = [node.value for call in added for node in call.args if isinstance(node, ast.Constant)]
    assert "--log_samples" in words
    return {*words, *responses.OPTIONS, "-h", "--help"}


@cache
def make_targets() -> set[str]:
    """The targets of the Makefile."""
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@cache
def unknown_task(name: str) -> bool:
    """Whether neither we nor the harness have a task."""
    return bool(registry.unknown([name]))


def named(words: list[str], option: str) -> list[str]:
    """The values of an option that are joined by commas, without placeholders."""
    values = [value for name, value in itertools.pairwise(words) if name == option]
    names = [name for value in values for name in value.split(",")]
    return [name for name in names if name not in PLACEHOLDERS]


def harness_problems(words: list[str], made: set[str]) -> list[str]:
    """What is wrong with the arguments of an evaluation."""
    options = [word for word in words if word.startswith("-")]
    found = [f"{word} is not an option" for word in options if word not in harness_options()]
    tasks = {*named(words, "--tasks")} - made - {"list"}
    found += [f"no task {name}" for name in sorted(tasks) if unknown_task(name)]
    found += [sentence for name in named(words, "--model") if (sentence := unknown_model(name))]
    return found


def our_problems(words: list[str], made: set[str]) -> list[str]:
    """What is wrong with the arguments of `video-reasoning`."""
    command, path, rest = PROGRAM, "video-reasoning", list(words)
    while subcommands := getattr(command, "commands", {}):
        if not rest or rest[0] in BARE or rest[0] in made | PLACEHOLDERS:
            return []
        if rest[0] not in subcommands:
            return [f"{path} has no {rest[0]}"]
        path, command, rest = f"{path} {rest[0]}", subcommands[rest[0]], rest[1:]
    if command.name == "prepare" and rest and rest[0] not in {*store.SPLITS, *made, *PLACEHOLDERS}:
        return [f"there is no benchmark {rest[0]}"]
    asked = [word for word in rest if word != "--help"]
    lenient = not any(word.startswith("-") for word in asked)  # a command named in a sentence
    try:
        parsed = command.make_context(command.name, asked, resilient_parsing=lenient)
    except Exception as error:  # typer brings a click of its own, or does not
        return [error.format_message()]
    if command.name == "audit":
        return harness_problems([*rest_of_audit(parsed), *pairs(rest)], made)
    if command.name != "sight":
        return []
    return [sentence for name in named(rest, "--model") if (sentence := unknown_model(name))]


BARE = {"--help", "--version"}


def pairs(words: list[str]) -> list[str]:
    """The tasks and the model of an audit, as for the harness."""
    return [
        word
        for name, value in itertools.pairwise(words)
        if name in ("--tasks", "--model")
        for word in (name, value)
    ]


def rest_of_audit(context: Any) -> list[str]:
    """What an audit hands to the harness."""
    return [word for word in context.args if word.startswith("-")]


def options_problems(words: list[str]) -> list[str]:
    """What is wrong with options shown without their command."""
    known = set()
    todo = [PROGRAM]
    while todo:
        command = todo.pop()
        known |= {option for each in command.params for option in each.opts}
        todo += getattr(command, "commands", {}).values()
    return [f"no command has {word}" for word in words if word[0] == "-" and word not in known]


def problems(command: Command, made: set[str] = frozenset()) -> list[str]:
    """What is wrong with a command, a sentence each."""
    words = list(command.words)
    if not words or "=" in words[0] or words[0] == "}":
        return []
    if "video_reasoning.tasks" in words:
        return harness_problems(words[words.index("video_reasoning.tasks") + 1 :], made)
    program, *rest = words
    if program in ("lmms_eval", "lmms-eval"):
        return harness_problems(rest, made) if rest[:1] and rest[0][0] == "-" else []
    if program == "video-reasoning":
        return our_problems(rest, made)
    if program == "make":
        return [f"make has no {name}" for name in rest if name not in make_targets()]
    if program == "python" and rest[:1] == ["-m"]:
        file = ROOT / f"{rest[1].replace('.', '/')}.py"
        return [] if file.exists() else [f"there is no {rest[1]}"]
    if program.startswith("-"):
        return options_problems(words)
    return [] if program in ORDINARY else [f"{program} is not a known program"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_can_be_typed(page: Path) -> None:
    commands, made = by_page(page)
    found = [f"{command}\n  {what}" for command in commands for what in problems(command, made)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("video-reasoning reprot results", "no reprot"),
        ("video-reasoning report results --fromat json", "--fromat"),
        ("video-reasoning annotate agree answers.jsonl", "no agree"),
        ("video-reasoning view --port many results", "--port"),
        ("video-reasoning prepare tomato --source x", "tomato"),
        ("video-reasoning sight --model qwen2_5_v1 --model_args x=1", "qwen2_5_v1"),
        ("video-reasoning audit --tasks mvbnch --model qwen2_5_vl", "mvbnch"),
        ("video-reasoning audit --tasks mvbench --model qwen2_5_vl --bach_size 1", "--bach_size"),
        ("lmms_eval --tasks causalvqa_debgu --model random_choice", "causalvqa_debgu"),
        ("lmms_eval --tasks causalvqa_debug --model random_choise", "random_choise"),
        ("lmms_eval --tasks causalvqa_debug --log_sample", "--log_sample "),
        ("srun torchrun -m video_reasoning.tasks --tasks causalvqa_debgu", "causalvqa_debgu"),
        ("for m in a; do\n  lmms_eval --model $m \\\n --taks x\ndone", "--taks"),
        ('lmms-eval --include_path "$(video-reasoning task-path)"', "task-path"),
        ("make demos", "demos"),
        ("python -m tests.benchmarks.bench_condition", "bench_condition"),
        ("--option-field options=a", "--option-field "),
        ("video_reasoning view results", "video_reasoning"),
    ],
)
def test_what_is_mistyped_is_found(script: str, sentence: str) -> None:
    block = Block(ROOT / "README.md", 1, "sh", script)
    found = [f"{what} " for command in block.commands() for what in problems(command)]
    assert sentence in "".join(found)


def test_a_block_is_read_as_a_shell_reads_it() -> None:
    script = (
        "A=1 B='x y' one --flag  # two\ncat > file <<'EOF'\nnot a command\nEOF\n"
        'three | four && i=$((i + 1)); five "$(six seven)" \\\n  eight 2>log\n'
    )
    commands = list(Block(ROOT / "README.md", 1, "sh", script).commands())
    assert [shlex.join(each.words) for each in commands if each.words] == [
        "six seven", "one --flag", "cat", "three", "four", "five INNER eight",
    ]  # fmt: skip
    assert commands[1].variables == ("A", "B")
    shown = Block(ROOT / "README.md", 1, "console", "$ one \\\n  two\nprinted\n$ three\n")
    assert list(shown.steps()) == [("one \\\n  two\n", "printed\n"), ("three\n", "")]
