"""Our YAMLs: names that collide with nothing, functions that exist, no path of any machine."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tasks.yamls import config
from video_reasoning.tasks import registry, scoring, store
from video_reasoning.tasks.benchmarks import BENCHMARKS, resolve

YAMLS = sorted(registry.tasks_path().rglob("*.yaml"))


def test_every_task_is_found_with_the_data_it_needs() -> None:
    tasks = registry.our_tasks()
    assert {"blackswan_detective_mcq", "tvbench_tomato_direction", "causalvqa_debug"} <= set(tasks)
    for task in tasks.values():
        assert task.members or task.needs, f"{task.name} names no data"
        for benchmark, split in task.needs:
            assert split in store.SPLITS[benchmark]


def test_no_name_of_ours_is_the_harnesss() -> None:
    harness = Path(importlib.util.find_spec("lmms_eval").submodule_search_locations[0])  # type: ignore[union-attr,index]
    pattern = re.compile(r"^\s*-?\s*(?:task|group|tag):\s*[\"']?([\w.-]+)", re.MULTILINE)
    taken = set()
    for path in (harness / "tasks").rglob("*.yaml"):
        taken.update(pattern.findall(path.read_text(encoding="utf-8", errors="replace")))
    assert {
        "tvbench",
        "tomato",
        "tvbench_action_count",
    } <= taken  # the search finds what is known to be there
    assert len(taken) > 1000
    assert not taken & set(registry.our_tasks())


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.name)
def test_every_function_named_exists(path: Path) -> None:
    for name in re.findall(r"!function\s+(\S+)", path.read_text()):
        module, _, attribute = name.rpartition(".")
        if module == store.__name__:
            benchmark, _, split = attribute.partition("_")
            assert split in store.SPLITS[benchmark]
        else:
            value = resolve(name)
            assert callable(value) or (isinstance(value, (dict, list)) and value), name
            if isinstance(value, list):  # the harness changes it
                assert resolve(name) is not value and resolve(name)[0] is not value[0]


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.name)
def test_no_yaml_holds_a_path_or_a_placeholder(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"(^|[\s\"'])(/|~/|[A-Z]:\\)\w|TODO|FIXME|<[a-z_]+>|your_", text)


@pytest.mark.parametrize("task", registry.our_tasks().values(), ids=lambda task: task.name)
def test_metric_names_survive_the_harness(task: registry.OurTask) -> None:
    # The harness matches a group's metrics by substring, and prints none that starts with
    # "paired_".
    metrics = config(task.name).get("metric_list", [])
    names = [metric["metric"] for metric in metrics]
    assert names or task.members
    assert not [name for name in names if name.startswith("paired_")]
    for one, other in itertools.permutations(names, 2):
        assert one not in other
    for metric in metrics:
        assert isinstance(metric["higher_is_better"], bool) and callable(metric["aggregation"])


@pytest.mark.parametrize("task", registry.our_tasks().values(), ids=lambda task: task.name)
def test_each_yaml_is_small_and_versioned(task: registry.OurTask) -> None:
    assert len(task.path.read_text().splitlines()) <= 25
    assert task.path.stem == task.name
    assert config(task.name)["metadata"]["version"] == 1.1


@pytest.mark.parametrize(
    "task",
    [task for task in registry.our_tasks().values() if not task.members],
    ids=lambda task: task.name,
)
def test_the_registry_knows_what_a_task_asks_and_shows(task: registry.OurTask) -> None:
    loaded = config(task.name)
    ((benchmark, _),) = task.needs
    asked = getattr(loaded["process_docs"], "kinds", ())
    columns = BENCHMARKS[benchmark].kinds[task.selects] if task.selects else ()
    assert columns == getattr(loaded["process_docs"], "filled", ())
    assert asked == (("detective_mcq",) if columns else (task.selects,) if task.selects else ())
    assert task.condition == loaded.get("dataset_name", "")


def test_tasks_that_show_something_else_of_a_question_have_another_condition() -> None:
    """Frames are counted by benchmark, split, condition and question: two tasks in one run."""
    shown: dict[Any, set[Any]] = {}
    for task in registry.our_tasks().values():
        loaded = config(task.name)
        # Gold perception goes into the text; the frames are those of any question.
        asked = getattr(loaded.get("process_docs"), "kinds", ())
        shown.setdefault((task.needs, asked, task.condition), set()).add(
            loaded.get("doc_to_visual")
        )
    assert not {key: each for key, each in shown.items() if len(each) > 1}


DOCUMENT: dict[str, Any] = {
    "id": "1", "task": "direction", "question": "Which way?", "options": ["Up.", "Down."],
    "answer": "B", "video": "videos/a.mp4", "problem": "", "frames": 8, "split": "test",
    "pick": -1, "condition": "ordered16", "difficulty": "easy", "hypothesis": "It falls.",
    "references": ["It falls."], "video_before": "videos/a.mp4", "video_after": "videos/a.mp4",
    "qid": "1", "variant": 1, "type": "planning",
}  # fmt: skip
"""A document with the columns of every benchmark."""


@pytest.mark.parametrize(
    "task",
    [task for task in registry.our_tasks().values() if not task.members],
    ids=lambda task: task.name,
)
@pytest.mark.parametrize("response", ["B", ""])
def test_what_process_results_returns_is_what_the_metrics_are(
    task: registry.OurTask, response: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    loaded = config(task.name)
    returned = loaded["process_results"](DOCUMENT, [response])
    metrics = {metric["metric"] for metric in loaded["metric_list"]}
    assert metrics <= set(returned)
    assert set(returned) - metrics <= scoring.LOGGED


def test_patterns_and_groups_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in {
        "a.yaml": f"task: ours_a\ndataset_kwargs: !function {store.__name__}.tvbench_test\n",
        "b.yaml": "include: a.yaml\ntask: ours_b\n",
        "g.yaml": "group: ours\ntask: [ours_a, {task: ours_b}]\n",
    }.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(registry, "tasks_path", lambda: tmp_path)
    registry.our_tasks.cache_clear()
    try:
        assert [task.name for task in registry.requested(["ours"])] == ["ours", "ours_a", "ours_b"]
        assert {task.name for task in registry.requested(["ours_*"])} == {"ours_a", "ours_b"}
        assert registry.our_tasks()["ours_b"].needs == (("tvbench", "test"),)
        assert registry.requested(["someone_elses"]) == []
    finally:
        registry.our_tasks.cache_clear()


def test_yaml_loader_builds_plain_values_only() -> None:
    with pytest.raises(yaml.YAMLError):
        yaml.load("!!python/object/apply:os.system ['true']", registry._Loader)
