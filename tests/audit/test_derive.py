"""Which tasks a name stands for, and what is generated for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.reliability import quick_yaml
from video_reasoning.tasks.audit.derive import derive, find_tasks
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.variants import AuditError

# The harness reads each of its two thousand YAMLs to find a task.
pytestmark = pytest.mark.harness

UTILS = """
def doc_to_visual(doc):
    return [doc["video"]]

def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"]

def process_results(doc, results):
    return {"acc": 1.0}

class Task:
    pass
"""

TASK: dict[str, Any] = {
    "dataset_path": "json",
    "test_split": "test",
    "output_type": "generate_until",
    "doc_to_target": "answer",
}

FUNCTIONS = (
    "doc_to_visual: !function derive_utils.doc_to_visual\n"
    "doc_to_text: !function derive_utils.doc_to_text\n"
    "process_results: !function derive_utils.process_results\n"
    "metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]\n"
)

GROUPS: list[dict[str, Any]] = [
    {
        "group": "probe_group",
        "task": [
            "probe_one",
            {"task": "probe_two", "num_fewshot": 2, "fewshot_config": {"sampler": "first_n"}},
            {"group": "inner", "task": ["probe_tagged"]},
            "probe_absent",
        ],
        "metadata": {"version": 1.0},
    },
    {"group": "probe_other", "task": ["probe_one", {"task": "probe_two", "num_fewshot": 3}]},
]


@pytest.fixture(autouse=True)
def _quick_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "full_load", yaml.full_load)  # taken back afterwards
    quick_yaml.install()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("derive")
    (root / "derive_utils.py").write_text(UTILS)
    tasks: Mapping[str, dict[str, Any]] = {
        "probe_one": {},
        "probe_two": {"task_alias": "Two"},
        "probe_tagged": {"tag": ["probe_tag"]},
        "probe_old": {"group": "probe_tag"},
        "probe_rounds": {"output_type": "generate_until_multi_round"},
        "probe_image": {"doc_to_visual": "image"},
        "probe_blind": {"doc_to_visual": None},
        "probe_no_split": {"test_split": None},
        "probe_examples": {"num_fewshot": 2},
    }
    for name, changes in tasks.items():
        content = {"task": name, **TASK, **changes}
        functions = FUNCTIONS
        if "doc_to_visual" in changes:
            functions = functions.split("\n", 1)[1]
        (root / f"{name}.yaml").write_text(yaml.safe_dump(content) + functions)
    (root / "probe_broken.yaml").write_text(
        yaml.safe_dump({"task": "probe_broken", **TASK})
        + "doc_to_visual: !function derive_utils.no_such_function\n"
    )
    (root / "home_utils.py").write_text("import os\nroot = os.environ['PROBE_HOME']\n")
    (root / "probe_home.yaml").write_text(
        yaml.safe_dump({"task": "probe_home", **TASK})
        + "doc_to_visual: !function home_utils.doc_to_visual\n"
    )
    (root / "probe_class.yaml").write_text(
        "task: probe_class\nclass: !function derive_utils.Task\n"
    )
    for number, group in enumerate(GROUPS):
        (root / f"_group{number}.yaml").write_text(yaml.safe_dump(group))
    return root


def plan_with(tasks: Any, refused: Mapping[str, str], root: Path) -> Plan:
    conditions = ("original", "ordered16", "blind", "reordered")
    return Plan(conditions, tuple(tasks), root / "clips", 16, refused=refused)


def test_names_groups_tags_and_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    relative = Path(os.path.relpath(folder))  # as a user names it
    names = ["probe_group", "probe_other", "probe_tag", "probe_class", "probe_o*"]
    tasks, refused = find_tasks(names, [relative])
    assert {task.name for task in tasks} == {"probe_one", "probe_two", "probe_tagged", "probe_old"}
    by_name = {task.name: task for task in tasks}
    assert all(task.yaml.is_absolute() and task.yaml.is_file() for task in tasks)
    assert by_name["probe_two"].overrides["num_fewshot"] == 2
    assert by_name["probe_one"].group == "probe_group"
    assert "no YAML defines it" in refused["probe_absent"]
    assert "Python class" in refused["probe_class"]
    assert "twice with different settings" in refused["probe_two of probe_other"]


def test_a_name_that_stands_for_nothing(folder: Path) -> None:
    with pytest.raises(AuditError, match="did you mean probe_one"):
        find_tasks(["probe_onne"], [folder])


def test_a_name_that_the_harness_has_too(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"task": "tomato", **TASK}))
    with pytest.raises(AuditError, match="give it a name of its own"):
        find_tasks(["tomato"], [tmp_path])


def test_what_is_generated(folder: Path, tmp_path: Path) -> None:
    from lmms_eval.utils import load_yaml_config

    names = [
        "probe_one",
        "probe_two",
        "probe_tagged",
        "probe_old",
        "probe_rounds",
        "probe_image",
        "probe_blind",
        "probe_no_split",
        "probe_broken",
        "probe_examples",
        "probe_home",
    ]
    tasks, refused = find_tasks(names, [folder])
    out = tmp_path / "tasks"
    out.mkdir()
    (out / "audit_old_blind.yaml").write_text("task: audit_old_blind\n")
    plan = derive(plan_with(tasks, refused, tmp_path), out)
    assert {task.name for task in plan.tasks} == {
        "probe_one",
        "probe_two",
        "probe_tagged",
        "probe_old",
    }
    reasons = plan.refused
    assert "several rounds" in reasons["probe_rounds"]
    assert "single image" in reasons["probe_image"]
    assert "shows nothing" in reasons["probe_blind"]
    assert "no test or validation split" in reasons["probe_no_split"]
    assert "cannot be loaded" in reasons["probe_broken"]
    assert "2 examples (num_fewshot)" in reasons["probe_examples"]
    assert "environment variable PROBE_HOME, which is not set" in reasons["probe_home"]
    assert not (out / "audit_old_blind.yaml").exists()
    for task in plan.tasks:
        for variant in plan.variants:
            path = out / f"{task.variant_name(variant)}.yaml"
            config = load_yaml_config(str(path), mode="full")
            assert config["task"] == path.stem
            assert not config.get("tag") and not config.get("group")
            assert config["doc_to_visual"].__func__.__qualname__ == "Hooks.doc_to_visual"
            assert config["metric_list"][0]["aggregation"] == "mean"
            assert config["test_split"] == "test" and config["doc_to_target"] == "answer"
            assert ("process_docs" in config) == (variant.kind in ("ordered", "reordered"))
    two = load_yaml_config(str(out / "audit_probe_two_blind.yaml"), mode="full")
    assert two["task_alias"] == "audit_probe_two_blind"
    # Responses to other frames are not to come from the harness's cache.
    assert two["metadata"]["audit"] == {"seed": 0, "plan": plan.digest(plan.tasks[1])}
    assert plan.digest(plan.tasks[1]) != replace(plan, seed=7).digest(plan.tasks[1])
    original = load_yaml_config(str(out / "audit_probe_two_original.yaml"), mode="full")
    assert "metadata" not in original
