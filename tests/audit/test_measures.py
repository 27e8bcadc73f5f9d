"""What an audit measures besides accuracies, over logs with known answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.audit.logs import line, plan_of, write_rows, write_run
from tests.audit.test_plan import request
from video_reasoning.tasks.audit.evaluate import evaluate
from video_reasoning.tasks.audit.measures import classes_of
from video_reasoning.tasks.audit.plan import Plan, write_plan
from video_reasoning.tasks.audit.result import (
    Audit,
    AuditedQuestion,
    AuditResult,
    read_audit,
    write_audit,
)
from video_reasoning.tasks.audit.run import join_audits
from video_reasoning.tasks.audit.variants import AuditError, parse_all


def judged(
    folder: Path,
    scores: Mapping[str, Sequence[float | None]],
    more: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    **plan: Any,
) -> tuple[Plan, AuditResult]:
    """Judges one task of which each condition's scores are given, and more of each line."""
    made = plan_of(folder, tuple(scores), **plan)
    lines = {}
    for variant in made.variants:
        name, entries = made.tasks[0].variant_name(variant), []
        for row, score in enumerate(scores[variant.name]):
            if score is None:
                continue
            entry = line(row, score)
            extra = (more or {}).get(variant.name, [{}] * (row + 1))[row]
            entry["input"] = extra.get("input", entry["input"])
            entry["audit"].update({k: v for k, v in extra.items() if k != "input"})
            entries.append((row, entry))
        if variant.partial:
            write_rows(folder / "tasks", name, [(row, f"q{row}") for row, _ in entries])
            for place, (_, entry) in enumerate(entries):
                entry["doc_id"] = place
        lines[name] = [entry for _, entry in entries]
    write_run(folder / "runs", lines)
    audit = evaluate(made, folder / "tasks", folder / "runs")
    write_audit(folder / "audit.json", Audit("m", made.conditions, audit.results))
    (again,) = read_audit(folder / "audit.json").results  # what is written is read back
    (found,) = audit.results
    assert {name: each.value for name, each in again.further.items()} == {
        name: each.value for name, each in found.further.items()
    }
    assert again.letters.keys() == found.letters.keys()
    return made, found


def test_gains_gaps_shortcuts_and_flips(tmp_path: Path) -> None:
    right = {
        "ordered16": [1.0] * 60 + [0.0] * 40,
        "shuffled16": [0.0] * 20 + [1.0] * 60 + [0.0] * 20,  # as accurate, other questions
        "random1": [1.0] * 40 + [0.0] * 60,
        "blind": [1.0] * 30 + [0.0] * 70,
    }
    _, result = judged(tmp_path, right)
    found = {name: each.value for name, each in result.further.items()}
    assert found["visual gain"] == pytest.approx(0.30)
    assert found["blind gap"] == pytest.approx(0.05)  # four options
    assert found["shortcut blind"] == pytest.approx(0.05 / 0.75)
    assert found["shortcut random1"] == pytest.approx(0.15 / 0.75)
    assert found["flips shuffled16"] == pytest.approx(0.40) and found["flips blind"] == 0.30
    for each in result.further.values():
        assert each.low <= each.value <= each.high and each.n == 100
    assert any("40% of the questions change between right" in text for text in result.verdict)
    assert not any("change between" in text for text in result.verdict if "random frame" in text)


def test_controls_cost_points_and_count_as_shortcuts(tmp_path: Path) -> None:
    right = {
        "ordered16": [1.0] * 80 + [0.0] * 20,
        "reversed16": [1.0] * 30 + [0.0] * 70,
        "swapped16": [1.0] * 78 + [0.0] * 22,
        "options": [1.0] * 50 + [None] * 50,
    }
    still = [{"input": "Question?" if row < 40 else f"Question {row}?"} for row in range(100)]
    plan, result = judged(tmp_path, right, {"options": still})
    text = "\n".join(result.verdict)
    assert "Reversing the frames: it costs 50.0 points of accuracy" in text
    assert "Another question's video: it costs 2.0 points" in text and "78% are right" in text
    # Ten prompts still had the question.
    assert result.accuracies["options"].n == 40 and "10 prompts under options" in result.notes[0]
    assert any("right with another question's video" in each for each in result.luck)
    assert plan.variants[2].kind == "swapped"


def test_all_rotations_and_letters(tmp_path: Path) -> None:
    """A model that knows 10 of 40 questions and says A to all others."""
    known = [row < 10 for row in range(40)]
    place = [row % 4 for row in range(40)]  # of the right option, from 0
    scores: dict[str, list[float | None]] = {}
    more = {}
    for turn, name in enumerate(("ordered16", "rotated1", "rotated2", "rotated3")):
        right = ["ABCD"[(each - turn) % 4] for each in place]
        chosen = [letter if sure else "A" for letter, sure in zip(right, known, strict=True)]
        scores[name] = [float(a == b) for a, b in zip(chosen, right, strict=True)]
        more[name] = [{"chosen": a, "right": b} for a, b in zip(chosen, right, strict=True)]
    scores["rotated3"][39] = None  # as one that has three options
    _, result = judged(tmp_path, scores, more)
    assert result.further["all rotations"].value == pytest.approx(0.25)
    assert result.letters["A"].chosen == pytest.approx(1.0 - 0.1875, abs=0.01)
    assert result.letters["A"].excess.low > 0.3 and result.letters["D"].excess.high < 0
    assert any(text.startswith("Letters: A is chosen 81%") for text in result.verdict)


def test_draws(tmp_path: Path) -> None:
    scores = {
        "ordered16": [1.0] * 20,
        "random1": [1.0] * 10 + [0.0] * 10,
        "random1d2": [1.0] * 5 + [0.0] * 15,
        "random1d3": [1.0] * 10 + [1.0] + [0.0] * 9,
    }
    _, result = judged(tmp_path, scores)
    assert result.further["draws differ random1"].value == pytest.approx(0.3)
    assert any("in some draws of random1" in text for text in result.verdict)
    assert not any("asked up to" in each for each in result.luck)  # draws are not new orders


def question(**scores: float) -> AuditedQuestion:
    return AuditedQuestion(0, "q", "v", scores=dict(scores))


def test_classes_by_one_model_and_by_several(tmp_path: Path) -> None:
    names = ("ordered16", "shuffled16", "random1", "last1", "blind")
    rows = {
        "text suffices": (1, 1, 1, 1, 1),
        "static": (1, 1, 0, 1, 0),
        "order-free": (1, 1, 0, 0, 0),
        "temporal": (1, 0, 0, 0, 0),
        "open": (0, 0, 0, 0, 0),
    }
    columns = zip(*rows.values(), strict=True)
    scores = {name: [float(x) for x in each] for name, each in zip(names, columns, strict=True)}
    _, result = judged(tmp_path, scores)
    assert list(result.classes) == list(rows) and set(result.classes.values()) == {1}
    assert sum(result.guessed_classes.values()) == pytest.approx(5)
    variants = parse_all(names)
    knows, guesses = (
        question(**dict(zip(names, rows["temporal"], strict=True))),
        question(**dict.fromkeys(names, 1.0)),
    )
    models = [(variants, [each]) for each in (knows, knows, guesses)]
    assert classes_of(models, 1) == ["text suffices"] and classes_of(models, 2) == ["temporal"]
    # With its options in other orders it is right blind only once of three times.
    again = parse_all((*names, "blindx1", "blindx2"))
    lucky = question(**{**guesses.scores, "blindx1": 0.0, "blindx2": 0.0})  # type: ignore[dict-item]
    assert classes_of([(again, [lucky])], 1) == ["static"]
    assert classes_of([(parse_all(["ordered"]), [question(ordered16=1.0)])], 1) == [None]


def test_questions_that_name_times_are_counted_apart(tmp_path: Path) -> None:
    timed = [{"input": f"What happens at 0:{row:02}?" if row < 20 else "?"} for row in range(60)]
    scores = {"ordered16": [1.0] * 60, "shuffled16": [0.0] * 20 + [1.0] * 30 + [0.0] * 10}
    _, result = judged(tmp_path, scores, dict.fromkeys(scores, timed))
    assert result.timed == 20
    assert result.untimed["shuffled16"].value == pytest.approx(0.25)
    assert result.differences["shuffled16"].value == pytest.approx(0.5)
    assert any("20 of 60 questions name times" in text for text in result.verdict)


def test_groups_are_right_as_a_whole(tmp_path: Path) -> None:
    """Twenty pairs; one has lost a question, and what is left of it is no group."""
    pairs = [
        {"groups": {"": f"p{row // 2}"}, "video": f"v{row // 4}", "options": 2} for row in range(40)
    ]
    scores: dict[str, list[float | None]] = {
        "ordered16": [1.0] * 22 + [0.0, 1.0] * 9,
        "blind": [1.0, 0.0] * 19 + [None, 1.0],
    }
    _, result = judged(tmp_path, scores, dict.fromkeys(scores, pairs))
    found = result.groups[""]["ordered16"]
    assert (found.n, found.n_clusters) == (19, 10) and found.value == pytest.approx(11 / 19)
    assert result.groups[""]["blind"].value == 0 and result.guessed_groups[""] == pytest.approx(
        0.25
    )
    said = "58% of 19 groups are right as a whole, 0% blind, 25% by guessing."
    assert said in result.verdict


def test_a_random_sample_keeps_the_places_of_its_questions(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"), sample=2)
    lines = {}
    for variant in plan.variants:
        name = plan.tasks[0].variant_name(variant)
        lines[name] = [line(0, 1.0, name="same"), line(1, 0.0, name="same")]
        write_rows(tmp_path / "tasks", name, [(7, "same"), (30, "same")])
    write_run(tmp_path / "runs", lines)
    audit = evaluate(plan, tmp_path / "tasks", tmp_path / "runs")
    (result,) = audit.results
    assert [each.id for each in result.questions] == ["same#7", "same#30"] and audit.sample == 2
    assert any("drawn at random (--sample 2, seed 0)" in note for note in result.notes)


def test_joined_audits_print_and_write_the_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("ordered16", "shuffled16", "random1", "blind")
    answers = {"a": ([1, 0, 0, 0], [1, 1, 0, 0]), "b": ([1, 0, 0, 0], [1, 1, 1, 0])}
    for model, rows in answers.items():
        columns = [[float(row[place]) for row in rows] for place in range(4)]
        plan, _ = judged(tmp_path / model, dict(zip(names, columns, strict=True)))
        write_plan(tmp_path / model / "tasks" / "plan.json", plan)
    out = tmp_path / "classes.jsonl"
    asked = request(tmp_path, export_classes=out, votes=2)
    assert join_audits(asked, [tmp_path / "a", tmp_path / "b"]) == 0
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["2", "of", "2", "models", "0", "0", "1", "1", "0", "0"] in printed
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(each["id"], each["class"]) for each in found] == [
        ("q0", "temporal"),
        ("q1", "order-free"),
    ]
    assert found[1]["by_model"] == ["order-free", "static"]
    with pytest.raises(AuditError, match="--votes 3 is more than the 2 audits"):
        join_audits(request(tmp_path, votes=3), [tmp_path / "a", tmp_path / "b"])
