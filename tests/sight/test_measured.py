"""The measured table, and what docs/running-models.md says beside it."""

from __future__ import annotations

import ast
import json
import os
import re
from pathlib import Path
from typing import Any

import lmms_eval.models
import pytest

from tests.harness.conftest import forked
from tests.sight import measure
from video_reasoning.tasks.models import probed, quirks
from video_reasoning.tasks.sight import probes

DATA = json.loads(measure.DATA.read_text(encoding="utf-8"))
PAGE = measure.PAGE.read_text(encoding="utf-8")
OURS = {"sample_observer", "random_choice", "frequent_choice"}
NAMES = {name: each for each in quirks.CLASSES for name in each.names}
ROWS = {(row["model"], row["form"]): row for row in probed.measured()}


def test_the_page_has_the_table_of_the_data() -> None:
    written = PAGE.partition(measure.BEGIN)[2].partition(measure.END)[0]
    assert written.strip() == measure.table(DATA).strip(), "run python -m tests.sight.measure"
    forms = {(each.model, "simple" if each.simple else None) for each in measure.ENTRIES}
    assert {model for model, _ in forms} == {model for model, _ in ROWS}
    assert len(ROWS) == len(measure.ENTRIES)


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: f"{row['model']}-{row['form']}")
def test_what_arrives_is_what_the_classes_table_says(row: dict[str, Any]) -> None:
    bad = {each["condition"] for each in row["rows"] if each["problem"]}
    assert not bad
    assert {each["condition"] for each in row["rows"]} | set(row["refused"]) == {
        each.name for each in probes.PROBES
    }
    assert ("two clips" in row["refused"]) is (row["form"] == "simple")
    assert row["model"] in NAMES
    form = quirks.form_of(row["model"], simple=row["form"] == "simple")
    assert ("blind" in row["refused"]) is not form.blind


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: f"{row['model']}-{row['form']}")
def test_a_run_counts_what_is_shown(row: dict[str, Any]) -> None:
    for each in row["rows"]:
        if each["shown"].isdecimal():
            assert {*each["frames_seen"]} == {*each["seen"]} == {int(each["shown"])}
        else:
            # A black frame is one that arrived, but none of the video's.
            black = each["condition"] == "hidden middle"
            assert each["frames_seen"] == [n + black for n in each["seen"]]


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: f"{row['model']}-{row['form']}")
def test_no_argument_is_needed_for_the_frames_of_a_condition(row: dict[str, Any]) -> None:
    """Nor does a whole video or a clip of it crash, whatever number of frames is the default."""
    assert row["plain"].keys() == {each["condition"] for each in row["rows"]}
    for each in row["rows"]:
        counted = row["plain"][each["condition"]]
        assert counted == each["shown"] if each["shown"].isdecimal() else counted.isdecimal()


def test_what_the_command_prints_is_on_the_page() -> None:
    said = [measure.printed(each) for each in DATA["printed"]]
    assert [each.split()[0] for each in said] == [each.model for each in measure.PRINTED]
    shown = re.findall(r"(?ms)^```\n(\w+ \((?:chat|simple)\)\ncondition .*?)\n```$", PAGE)
    assert sorted(shown) == sorted(said), "run python -m tests.sight.measure"


def test_what_the_page_says_of_whole_videos() -> None:
    chosen = {
        key: next(each["order"] for each in row["rows"] if each["condition"] == "whole video")
        for key, row in ROWS.items()
    }
    (sentence,) = re.findall(r"(?m)^- Of a whole video, .*?(?=^- |\n\n)", PAGE, re.DOTALL)
    uneven = {f"{model} ({form})" for (model, form), order in chosen.items() if order == "uneven"}
    assert {*re.findall(r"`(\w+)` (\(\w+\))", sentence)} == {tuple(each.split()) for each in uneven}
    assert {*chosen.values()} == {"even", "uneven"}


def test_every_class_is_measured_or_said_not_to_be() -> None:
    shown = {each.names[0] for each in quirks.CLASSES if each.form(simple=False).video}
    # Names that share a class share what was measured.
    measured = {model for model, _ in ROWS} | set(measure.NOT_MEASURED)
    assert shown <= measured
    assert not set(measure.NOT_MEASURED) & {model for model, _ in ROWS}


# The rest of the page


def parameters(model: str) -> set[str]:
    """What the harness's class takes, read from its source: some cannot be imported here."""
    folder = Path(lmms_eval.models.__file__).parent
    aliases = {
        alias: name for name, others in lmms_eval.models.MODEL_ALIASES.items() for alias in others
    }
    name = aliases.get(model, model)
    files = [
        folder / kind / f"{each}.py"
        for kind in ("chat", "simple")
        for each in (name, *BASES.get(name, ()))
    ]
    found = set()
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                found |= {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    return found - {"self"}


BASES = {"litellm": ("openai",), "internvl3_5": ("internvl3",), "qwen3_5": ("qwen3_vl",)}
"""Classes whose parameters are those of another."""


def given() -> list[tuple[str, str]]:
    """Each class on the page, with an argument that the page gives it."""
    found = [
        (name, key) for name, each in NAMES.items() for key in re.findall(r"(\w+)=", each.arguments)
    ]
    for command in re.findall(r"--model (?:[^\n]|\\\n)+", PAGE):
        model = command.split()[1]
        if model == "NAME":  # any
            continue
        words = re.search(r"--model_args\s+(\S+)", command)
        found += [(model, key) for key in re.findall(r"(\w+)=", words[1] if words else "")]
    return sorted(set(found))


@pytest.mark.parametrize(("model", "argument"), given())
def test_the_arguments_on_the_page_exist(model: str, argument: str) -> None:
    assert model in NAMES
    assert argument in parameters(model)


def test_the_classes_on_the_page_exist() -> None:
    known_names = set(NAMES) | OURS | set(measure.NOT_MEASURED) | {model for model, _ in ROWS}
    harness = set(lmms_eval.models.list_available_models(include_aliases=True))
    named = {word for word in re.findall(r"`([a-z][a-z0-9_]*)`", PAGE) if word in harness}
    # One is said not to read videos, the other is a type of checkpoints.
    assert named - known_names <= {"internvl", "llava"}
    assert known_names - OURS <= harness


@pytest.mark.harness
def test_a_dozen_classes_are_still_so(tmp_path: Path) -> None:
    """Measured again: the table's rows of a dozen classes, and what a run counts of each."""
    out = tmp_path / "found.json"
    code, printed = forked(
        "tests.sight.measure", ["--out", str(out), *measure.QUICK], tmp_path, dict(os.environ)
    )
    assert code == 0, printed[-3000:]
    found = json.loads(out.read_text())
    assert [each.get("model") for each in found] == [*measure.QUICK], printed[-3000:]
    entries = {each.name: each for each in measure.ENTRIES}
    for each in found:
        row, old = measure.row_of(entries[each["model"]], each), ROWS[each["model"], each["form"]]
        assert row["refused"] == old["refused"]
        for new, before in zip(row["rows"], old["rows"], strict=True):
            assert once(new) == once(before), (row["model"], new["condition"])


def once(row: dict[str, Any]) -> dict[str, Any]:
    """What came of each question, however many there were."""
    return {**row, "probes": 0, **{key: {*row[key]} for key in ("seen", "frames_seen")}}
