"""Conditions by name, and the plan of an audit in its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.audit.logs import plan_of
from video_reasoning.tasks.audit.plan import AuditedTask, Plan, read_plan, write_plan
from video_reasoning.tasks.audit.run import Request, run_audit
from video_reasoning.tasks.audit.variants import (
    DEFAULT,
    AuditError,
    is_variant,
    parse,
    parse_all,
    redrawn,
    repeated,
)


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("ordered", "ordered16", "ordered"),
        ("ordered8", "ordered8", "ordered"),
        ("shuffled", "shuffled16", "shuffled"),
        (" random1 ", "random1", "random"),
        ("last1", "last1", "last"),
        ("blind", "blind", "blind"),
        ("original", "original", "original"),
        ("ordered-all-frames", "original", "original"),
        ("reordered", "reordered", "reordered"),
        ("reordered2", "reordered2", "reordered"),
        ("blindx2", "blindx2", "repeat"),
        ("random1x1", "random1x1", "repeat"),
        ("reversed", "reversed16", "reversed"),
        ("frozen8", "frozen8", "frozen"),
        ("black", "black16", "black"),
        ("swapped", "swapped16", "swapped"),
        ("options", "options", "options"),
        ("rotated3", "rotated3", "rotated"),
        ("random1d2", "random1d2", "draw"),
        ("shuffledd10", "shuffled16d10", "draw"),
    ],
)
def test_conditions(text: str, name: str, kind: str) -> None:
    variant = parse(text, 16)
    assert (variant.name, variant.kind) == (name, kind)
    assert parse(variant.name, 16) == variant
    assert is_variant(AuditedTask("cubes", Path("t.yaml")).variant_name(variant))
    assert variant.label and "{" not in variant.label


@pytest.mark.parametrize(
    "text",
    ["", "random2", "upside-down", "reordered0", "ordered0", "rotated0", "random1d1", "blindd2"],
)
def test_names_that_are_none(text: str) -> None:
    with pytest.raises(AuditError, match="is not a condition"):
        parse(text)


def test_conditions_together() -> None:
    assert [v.name for v in parse_all(DEFAULT, 8)][:2] == ["ordered8", "shuffled8"]
    assert len(parse_all(["blind", "blind"])) == 1
    for names, frames in ((["ordered8", "ordered16"], 16), ([], 16), (["blind"], 1)):
        with pytest.raises(AuditError):
            parse_all(names, frames)


def test_conditions_asked_several_times() -> None:
    names = repeated(parse_all(["ordered", "shuffled", "random1", "blind"]), 3)
    again = ("random1x1", "random1x2", "blindx1", "blindx2")
    assert names == ("ordered16", "shuffled16", "random1", "blind", *again)
    assert [v.order for v in parse_all(names)] == [0, 0, 0, 0, 1, 2, 1, 2]
    assert is_variant("audit_cubes_blindx2") and parse("blindx2").label.startswith("no frame")


def test_sets_and_draws() -> None:
    names = [v.name for v in parse_all(["default", "controls"], 4)]
    controls = ["reversed4", "frozen4", "black4", "swapped4", "options"]
    assert names == [*(v.name for v in parse_all(DEFAULT, 4)), *controls]
    assert [v.name for v in parse_all(["circular"])][:2] == ["ordered16", "rotated1"]
    drawn = redrawn(parse_all(["ordered", "shuffled8", "random1", "blind"]), 3)
    assert drawn[4:] == ("shuffled8d2", "shuffled8d3", "random1d2", "random1d3")
    seeds = [v.condition.seed for v in parse_all(drawn, seed=5) if v.condition]
    assert seeds == [5, 5, 5, 5, 6, 7, 6, 7]


def test_a_plan_is_read_back(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered8", "original", "reordered2"), ("a", "b/c"), {"q": 3})
    write_plan(tmp_path / "plan.json", plan)
    assert read_plan(tmp_path / "plan.json") == plan
    earlier = json.loads((tmp_path / "plan.json").read_text())
    for text, groups in (("", ()), ("qid", ("qid",))):
        (tmp_path / "plan.json").write_text(json.dumps({**earlier, "group_by": text}))
        assert read_plan(tmp_path / "plan.json").group_by == groups
    with pytest.raises(AuditError, match="no audit in"):
        read_plan(tmp_path / "absent/plan.json")
    for text in ("{", "[]", "{}", '{"frames": 3}'):
        (tmp_path / "plan.json").write_text(text)
        with pytest.raises(AuditError, match="cannot be read"):
            read_plan(tmp_path / "plan.json")


def test_names_of_files_are_safe_and_never_the_same() -> None:
    variant = parse("blind")
    names = ["a", "a b", "a/b", "a_b", "a.b", "a,b", "ä b", "x" * 400, "x" * 401]
    found = [AuditedTask(name, Path("t.yaml")).variant_name(variant) for name in names]
    assert len(set(found)) == len(names)
    for name in found:
        assert name.replace("_", "").replace("-", "").isalnum() and len(name) < 200
        # The harness splits a function's name at its dots.
        assert "." not in name and name.isascii()
    assert found[0] == "audit_a_blind"


def test_a_thousand_tasks_are_found_at_once() -> None:
    variants = parse_all(DEFAULT)
    tasks = tuple(AuditedTask(f"task{n}", Path("t.yaml")) for n in range(1000))
    plan = Plan(DEFAULT, tasks, Path("clips"), 16)
    for task in tasks:
        for variant in variants:
            assert plan.find(task.variant_name(variant)) == (task, variant)
    with pytest.raises(AuditError, match="derive it again"):
        plan.find("audit_other_blind")


def test_handpicked_is_asked_only_where_there_are_picks(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "handpicked1"))
    assert [v.kind for v in plan.asked(plan.tasks[0])] == ["ordered"]
    plan = plan_of(tmp_path, ("ordered", "handpicked1"), picks={"q": 0})
    assert [v.kind for v in plan.asked(plan.tasks[0])] == ["ordered", "handpicked"]


def request(folder: Path, *given: str, **options: Any) -> Request:
    """A request to judge an audit, as the command makes it."""
    values: dict[str, Any] = {
        **dict.fromkeys(("tasks", "include_path", "option_fields", "group_by", "more"), ()),
        **dict.fromkeys(("model", "model_args", "metric", "score_range"), ""),
        **dict.fromkeys(("limit", "sample", "picks", "export_filtered", "export_classes", "votes")),
        **{"frames": 16, "conditions": DEFAULT, "seed": 0, "level": 0.95, "report": False},
        **{
            "check": False,
            "repeats": 1,
            "draws": 1,
            "false_discovery_rate": 0.1,
            "derive_only": False,
            "judge_only": True,
            "out": folder,
            "given": frozenset(given),
        },
    }
    return Request(**{**values, **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tasks": ("nosuch",)}, "has no task 'nosuch'; it has a, b"),
        ({"conditions": ("ordered", "blind")}, "--conditions was ordered16, shuffled16, random1"),
        ({"seed": 7}, "--seed was 0; leave out --seed"),
        ({"limit": 3}, "--limit was not given"),
    ],
)
def test_judging_says_what_was_not_asked(
    tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    write_plan(tmp_path / "tasks" / "plan.json", plan_of(tmp_path, tasks=("a", "b")))
    (tmp_path / "runs").mkdir()
    with pytest.raises(AuditError, match=said):
        run_audit(request(tmp_path, *options, **options))
    with pytest.raises(AuditError, match="no run of this audit"):  # nothing else is wrong
        run_audit(request(tmp_path, tasks=("b",)))
