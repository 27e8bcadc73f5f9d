"""From hand-written logs to numbers, verdicts and lists of questions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.audit.logs import line, plan_of, write_rows, write_run
from video_reasoning.tasks.audit.evaluate import _Metric, evaluate
from video_reasoning.tasks.audit.findings import (
    aligned,
    evidence,
    find_questions,
    survivors,
    write_ids,
)
from video_reasoning.tasks.audit.plan import Plan
from video_reasoning.tasks.audit.result import Audit, AuditedQuestion, AuditResult, write_audit
from video_reasoning.tasks.audit.variants import AuditError, parse_all
from video_reasoning.tasks.audit.verdict import corrected

Scores = Mapping[str, Sequence[Any]]


def results_of(plan: Plan, folder: Path, logs: str = "runs", metric: str = "") -> list[AuditResult]:
    return list(evaluate(plan, folder / "tasks", folder / logs, metric=metric).results)


def run_of(folder: Path, plan: Plan, scores: Scores, **own: Any) -> list[AuditResult]:
    """Judges one task of which each condition's scores are given."""
    names = {v.name: plan.tasks[0].variant_name(v) for v in plan.variants}
    write_run(
        folder / "runs",
        {names[k]: [line(n, score) for n, score in enumerate(v)] for k, v in scores.items()},
        {names[k]: v for k, v in own.items()},
    )
    return results_of(plan, folder)


def spread(right: int, count: int = 200, shift: int = 0) -> list[float]:
    """Scores of which some are right, at places that a shift moves."""
    return [float((n * 7919 + shift) % count < right) for n in range(count)]


def some(ordered: int, shuffled: int, random: int, last: int, blind: int) -> Scores:
    counts = {
        "ordered16": ordered,
        "shuffled16": shuffled,
        "random1": random,
        "last1": last,
        "blind": blind,
    }
    return {name: spread(count, shift=0) for name, count in counts.items()}


def test_numbers_are_those_of_the_paper(tmp_path: Path) -> None:
    """Ten questions, counted by hand."""
    scores = {
        "ordered16": [1, 1, 1, 1, 1, 1, 0, 0, 0, 0],
        "shuffled16": [1, 1, 1, 0, 0, 0, 0, 0, 0, 1],
        "random1": [1, 1, 0, 0, 0, 0, 0, 0, 1, 0],
        "last1": [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        "blind": [0, 0, 0, 0, 0, 0, 0, 1, 0, 0],
    }
    (result,) = run_of(tmp_path, plan_of(tmp_path), scores)
    assert not result.refused and result.n == 10 and result.left_out == 0
    accuracies = {name: found.value for name, found in result.accuracies.items()}
    assert accuracies == pytest.approx(
        {"ordered16": 0.6, "shuffled16": 0.4, "random1": 0.3, "last1": 0.2, "blind": 0.1}
    )
    ratios = {name: found.value for name, found in result.ratios.items()}
    assert ratios == pytest.approx(
        {"tau": 0.5, "kappa_random1": 1.0, "kappa_last1": 2.0, "kappa_blind": 5.0}
    )
    assert result.chance == 0.25
    assert all(found.low <= found.value <= found.high for found in result.ratios.values())


def test_rho_is_over_the_questions_with_a_pick(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "random1", "handpicked1"), picks={"q1": 3, "q3": 5})
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    ordered, random, picked = names
    write_rows(tmp_path / "tasks", picked, [(1, "q1"), (3, "q3")])
    write_run(
        tmp_path / "runs",
        {
            ordered: [line(n, 1.0) for n in range(4)],
            random: [line(n, float(n in (0, 1))) for n in range(4)],
            picked: [line(0, 1.0, name="q1"), line(1, 1.0, name="q3")],
        },
    )
    (result,) = results_of(plan, tmp_path)
    assert result.n == 4 and result.accuracies["handpicked1"].n == 2
    assert result.ratios["rho"].value == pytest.approx(1.0)  # 2 of 2 against 1 of 2
    assert result.left_out == 0


def test_missing_and_unscored_items_are_counted_and_left_out_everywhere(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    ordered, blind = (plan.tasks[0].variant_name(v) for v in plan.variants)
    lines = [line(n, 1.0) for n in range(5)]
    lines[1] = line(1, 1.0, problem="the video is gone")
    lines[2] = line(2, None)
    write_run(tmp_path / "runs", {ordered: lines, blind: [line(n, 0.0) for n in range(4)]})
    (result,) = results_of(plan, tmp_path)
    assert result.n == 2 and result.left_out == 3
    assert result.asked == {"ordered16": 5, "blind": 4}
    assert result.missing == {"ordered16": 1, "blind": 0}
    assert result.unscored == {"ordered16": 1, "blind": 0}
    assert [question.id for question in result.questions] == [f"q{n}" for n in range(5)]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        (some(150, 148, 148, 149, 40), "Static"),
        (some(150, 80, 70, 75, 40), "Temporal"),
        (some(150, 148, 70, 75, 40), "bag of frames"),
        (some(120, 110, 118, 115, 120), "The text suffices"),
        (some(60, 58, 59, 57, 60), "no better with the video than without"),
        (some(0, 0, 0, 0, 0), "none of the 200 questions right"),
        ({name: found[:6] for name, found in some(150, 80, 70, 75, 40).items()}, "Undecided"),
    ],
)
def test_clear_cases_get_a_clear_verdict(tmp_path: Path, scores: Scores, expected: str) -> None:
    (result,) = run_of(tmp_path, plan_of(tmp_path), scores)
    assert expected in result.verdict[0]


def effects(ordered: float, shuffled: float, n: int, seed: int = 0) -> Scores:
    """Questions that two conditions mostly answer alike, as models do."""
    draw = np.random.default_rng(seed).random
    shares = {"ordered16": ordered, "shuffled16": shuffled, "random1": 0.4, "last1": 0.4}
    ability = draw(n)
    return {
        name: [float(x) for x in np.where(draw(n) < 0.7, ability, draw(n)) < share]
        for name, share in {**shares, "blind": 0.25}.items()
    }


def test_a_verdict_is_about_size_and_not_about_the_number_of_questions(tmp_path: Path) -> None:
    """MVBench's tau of 5.7 (3 points) is not "Temporal" at n = 4,000; TOMATO's 33 is."""
    heads = {}
    for name, (ordered, shuffled) in {"small": (0.6, 0.6 / 1.057), "large": (0.6, 0.45)}.items():
        scores = effects(ordered, shuffled, 4000)
        (result,) = run_of(tmp_path / name, plan_of(tmp_path / name), scores)
        heads[name] = result.verdict[0]
    assert heads["large"].startswith("Temporal") and not heads["small"].startswith("Temporal")
    (result,) = run_of(tmp_path / "few", plan_of(tmp_path / "few"), effects(0.6, 0.6, 300))
    text = " ".join(result.verdict)
    assert "points of accuracy" in text and "of what is above guessing" in text
    assert "would (80% power)" in text and result.needed["shuffled16"] > 300


def test_the_highest_score_is_looked_up_once_and_not_for_every_question() -> None:
    looks: list[int] = []

    class Scores(list[float]):
        def __iter__(self) -> Iterator[float]:
            looks.append(1)
            return super().__iter__()

    metric = _Metric("acc", values={"ordered16": Scores([0.0, 50.0, 100.0])})
    assert [metric.share(value) for value in (0.0, 50.0, 100.0)] == [0.0, 0.5, 1.0]
    assert len(looks) == 1


def test_chance_is_taken_off_beside_kappa(tmp_path: Path) -> None:
    """Two options, .58 against .50: 86% of the accuracy, and nothing above guessing."""
    names = [v.name for v in plan_of(tmp_path, ("ordered", "random1")).variants]
    lines = {
        plan_of(tmp_path).tasks[0].variant_name(v): [
            line(n, float(n % 50 < right), options=2) for n in range(1000)
        ]
        for v, right in zip(parse_all(names), (29, 25), strict=True)
    }
    write_run(tmp_path / "runs", lines)
    (result,) = results_of(plan_of(tmp_path, ("ordered", "random1")), tmp_path)
    assert result.kept["random1"].value == pytest.approx(0.0, abs=1e-9)
    assert "86% of its multi-frame accuracy" in result.verdict[1]
    assert "0% of what is above guessing" in result.verdict[1]
    assert not result.verdict[0].startswith("Static")


def test_few_videos_are_warned_of_and_tasks_are_corrected_for_their_number(tmp_path: Path) -> None:
    scores = {name: found[:12] for name, found in some(150, 80, 70, 75, 40).items()}
    (few,) = run_of(tmp_path, plan_of(tmp_path), scores)
    assert any(sentence.startswith("Caution: 12 videos") for sentence in few.verdict)
    (one,) = run_of(tmp_path / "one", plan_of(tmp_path / "one"), effects(0.6, 0.45, 180, 3))
    assert one.verdict[0].startswith("Temporal") and not one.verdict[1].startswith("By itself")
    many = corrected([one] * 400, parse_all([*effects(0.6, 0.45, 1)]))
    assert not many[0].verdict[0].startswith("Temporal")


def test_few_items_that_all_agree_prove_nothing(tmp_path: Path) -> None:
    """A bootstrap of equal items has no width; four questions are still only four."""
    scores = {
        "ordered16": [1, 1, 1, 0],
        "shuffled16": [1, 1, 1, 0],
        "random1": [1, 1, 1, 0],
        "last1": [1, 1, 1, 0],
        "blind": [0, 0, 0, 0],
    }
    (result,) = run_of(tmp_path, plan_of(tmp_path), scores)
    kappa, tau = result.ratios["kappa_random1"], result.ratios["tau"]
    assert kappa.value == tau.value == 0
    assert kappa.low < -0.4 and kappa.high > 0.4 and tau.high > 0.4
    assert not result.verdict[0].startswith("Static")


def test_the_room_for_what_was_not_seen_shrinks(tmp_path: Path) -> None:
    high = []
    for count in (20, 200, 2000):
        scores = {name: spread(count // 2, count) for name in ("ordered16", "random1")}
        plan = plan_of(tmp_path / str(count), ("ordered", "random1"))
        (result,) = run_of(tmp_path / str(count), plan, scores)
        high.append(result.ratios["kappa_random1"].high)
    assert high[0] > high[1] > high[2] and high[2] < 0.01


def test_a_metric_over_all_items_is_preferred(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    lines = {}
    for name in names:
        lines[name] = [
            line(
                n,
                None,
                metrics={
                    f"kind{n % 2}": [float(n < 3), "key rating"],
                    "pairs": [float(n < 3), "key rating"],
                    "all": [float(n < 3), "key rating"],
                },
            )
            for n in range(6)
        ]
    own = {"kind0,none": 2 / 3, "kind1,none": 1 / 3, "pairs,none": 1 / 3, "all,none": 50.0}
    write_run(tmp_path / "runs", lines, dict.fromkeys(names, own))
    (result,) = results_of(plan, tmp_path)
    assert result.metric == "all" and result.n == 6 and not result.notes
    (named,) = results_of(plan, tmp_path, metric="pairs")
    assert named.metric == "pairs" and "means over questions" in named.notes[0]
    (absent,) = results_of(plan, tmp_path, metric="f1")
    assert "no metric 'f1'" in absent.refused


@pytest.mark.parametrize(
    ("metrics", "own", "reason"),
    [
        ({"acc": [None, "saw a dict with index, pred"]}, {}, "a dict with index, pred"),
        ({"acc": [4.0, "number"]}, {"acc,none": 4.0}, "values up to 4"),
        ({"acc": [1.0, "pred equals answer"]}, {"acc,none": 0.25}, "is not its number"),
        ({}, {}, "no metric at all"),
    ],
)
def test_no_score_is_said_and_not_guessed(
    tmp_path: Path, metrics: dict[str, Any], own: dict[str, Any], reason: str
) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    lines = [line(n, None, metrics=metrics) for n in range(3)]
    write_run(tmp_path / "runs", dict.fromkeys(names, lines), dict.fromkeys(names, own))
    (result,) = results_of(plan, tmp_path)
    assert reason in result.refused


def scored(folder: Path, value: Any, rule: str, own: float | None, **plan: Any) -> AuditResult:
    """Judge three questions, the first of which has a value and the others 0."""
    task = plan.pop("task", {})
    made = plan_of(folder, ("ordered", "blind"), **plan)
    made = replace(made, tasks=(replace(made.tasks[0], **task),))
    names = [made.tasks[0].variant_name(v) for v in made.variants]
    lines = [line(n, None, metrics={"acc": [value if n < 1 else 0.0, rule]}) for n in range(3)]
    numbers = {name: {"acc,none": own} for name in names}
    write_run(folder / "runs", dict.fromkeys(names, lines), numbers)
    (result,) = results_of(made, folder)
    return result


def test_a_macro_average_over_one_item_is_not_a_score(tmp_path: Path) -> None:
    alone = "aggregation over the one item"
    assert "gives one question 14.3" in scored(tmp_path, 14.3, alone, 4.8).refused
    compared = scored(tmp_path, 1.0, "pred equals answer, as its aggregation counts", 4.8)
    assert not compared.refused and compared.accuracies["ordered16"].value == pytest.approx(1 / 3)
    assert "weight or pair" in compared.notes[0]
    known = scored(tmp_path, 100.0, alone, 33.3, task={"ranges": {"acc": (0.0, 100.0)}})
    assert known.accuracies["ordered16"].value == pytest.approx(1 / 3)


def test_a_likert_score_of_a_weak_model_is_a_share_of_its_range(tmp_path: Path) -> None:
    """All scores 0 or 1 of 5: not "all right"."""
    assert scored(tmp_path, 1.0, "number", 1 / 3).accuracies["ordered16"].value > 0.3
    judged = scored(tmp_path, 1.0, "number", 1 / 3, task={"judged": True})
    assert "--score-range" in judged.refused
    probed = scored(tmp_path, 1.0, "number", 1 / 3, task={"ranges": {"acc": (0.0, 5.0)}})
    declared = scored(tmp_path, 1.0, "number", 1 / 3, score_range=(0.0, 5.0))
    for result in (probed, declared):
        assert result.accuracies["ordered16"].value == pytest.approx(1 / 15) and result.graded
        assert "go from 0 to 5" in result.notes[0] and len(result.notes) == 1
        assert "mean score" in " ".join(result.verdict) and math.isnan(result.chance)
    outside = scored(tmp_path, 7.0, "number", 7 / 3, score_range=(0.0, 5.0))
    assert "outside 0 to 5" in outside.refused


def test_a_task_without_a_number_of_its_own(tmp_path: Path) -> None:
    result = scored(tmp_path, 1.0, "key correct", None)
    assert result.notes == [
        "The task reports no number of its own for acc; all numbers here are means over questions."
    ]


def test_percent_scores_are_shares(tmp_path: Path) -> None:
    scores = {"ordered16": [100, 0, 100, 100], "blind": [0, 0, 0, 0]}
    (result,) = run_of(tmp_path, plan_of(tmp_path, ("ordered", "blind")), scores)
    assert result.accuracies["ordered16"].value == 0.75 and not result.notes


def test_documents_in_another_order_are_matched_by_id(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    ordered, blind = (plan.tasks[0].variant_name(v) for v in plan.variants)
    right = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (1.0, 1.0)}
    lines = {
        ordered: [line(n, right[name][0], name=name) for n, name in enumerate("abc")],
        blind: [line(n, right[name][1], name=name) for n, name in enumerate("cab")],
    }
    write_run(tmp_path / "runs", lines)
    (result,) = results_of(plan, tmp_path)
    assert {
        question.id: (question.scores["ordered16"], question.scores["blind"])
        for question in result.questions
    } == (right)
    assert any("matched by their ids" in note for note in result.notes)
    lines[blind] = [line(n, 1.0, name="a") for n in range(3)]
    write_run(tmp_path / "runs", lines)
    (result,) = results_of(plan, tmp_path)
    assert "their ids repeat" in result.refused


def test_ids_that_repeat_are_told_apart(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    lines = [line(n, 1.0, name="Q1" if n < 2 else "Q2") for n in range(3)]
    write_run(tmp_path / "runs", dict.fromkeys(names, lines))
    (result,) = results_of(plan, tmp_path)
    assert [question.id for question in result.questions] == ["Q1#0", "Q1#1", "Q2"]
    assert "2 questions share an id" in result.notes[0]


def test_of_several_filters_the_first_counts(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    strict = [line(n, float(n < 1)) for n in range(4)]
    loose = [line(n, float(n < 3)) for n in range(4)]
    own = {"acc,strict": 0.25, "acc,loose": 0.75}
    write_run(
        tmp_path / "runs",
        {name: [*strict, *loose] for name in names},
        dict.fromkeys(names, own),
    )
    for path in (tmp_path / "runs").glob("*_results.json"):
        content = json.loads(path.read_text())
        for name in names:
            del content["results"][name]["acc,none"]
        path.write_text(json.dumps(content))
    (result,) = results_of(plan, tmp_path)
    assert result.accuracies["ordered16"].value == 0.25 and result.own["ordered16"] == 0.25
    assert [note for note in result.notes if "several ways" in note] == result.notes


def test_questions_of_one_video_are_drawn_together(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    for folder, per_video in (("each", 1), ("ten", 10)):
        lines = [line(n, float(n % 20 < 10), video=f"v{n // per_video}") for n in range(100)]
        write_run(tmp_path / folder, dict.fromkeys(names, lines))
    found = [results_of(plan, tmp_path, folder)[0] for folder in ("each", "ten")]
    widths = [r.accuracies["ordered16"].high - r.accuracies["ordered16"].low for r in found]
    assert widths[1] > 1.5 * widths[0]


def test_both_orders_of_options(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "reordered"))
    ordered, moved = (plan.tasks[0].variant_name(v) for v in plan.variants)
    write_rows(tmp_path / "tasks", moved, [(0, "q0"), (2, "q2"), (3, "q3")])
    write_run(
        tmp_path / "runs",
        {
            ordered: [line(n, float(n != 3)) for n in range(4)],
            moved: [line(0, 1.0), line(1, 0.0, name="q2"), line(2, 1.0, name="q3")],
        },
    )
    (result,) = results_of(plan, tmp_path)
    assert result.accuracies["reordered"].value == pytest.approx(2 / 3)
    assert result.paired["reordered"].value == pytest.approx(1 / 3)
    assert result.paired["reordered"].n == 3


def test_no_run_and_no_log(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    (tmp_path / "runs").mkdir()
    with pytest.raises(AuditError, match="no run of this audit"):
        results_of(plan, tmp_path)
    scores = {"ordered16": [1.0, 0.0]}
    (result,) = run_of(tmp_path, plan, scores)
    assert not result.refused
    for log in (tmp_path / "runs").glob("*_samples_*"):
        log.unlink()
    (result,) = results_of(plan, tmp_path)
    assert "no log" in result.refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seed": 7}, "its seed is 0, not 7"),
        ({"limit": None}, "its limit is 3 questions, not all questions"),
        ({"option_fields": ("options=a,answer=b",)}, "other frames, options or picks"),
    ],
)
def test_a_run_of_another_plan_is_not_judged(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"), limit=3)
    names = [plan.tasks[0].variant_name(v) for v in plan.variants]
    write_run(tmp_path / "runs", {name: [line(n, 1.0) for n in range(3)] for name in names})
    for path in (tmp_path / "runs").glob("*_results.json"):
        content = json.loads(path.read_text())
        drawn = {"audit": {"seed": 0, "plan": plan.digest(plan.tasks[0])}}
        content["configs"] = {name: {"task": name, "metadata": drawn} for name in names}
        content["config"]["limit"] = 3.0
        path.write_text(json.dumps(content))
    assert results_of(plan, tmp_path)[0].n == 3
    with pytest.raises(AuditError, match=said):
        results_of(replace(plan, **change), tmp_path)


def test_findings_and_survivors(tmp_path: Path) -> None:
    scores = {
        "ordered16": [1, 1, 1, 0, 1],
        "shuffled16": [0, 0, 0, 0, 0],
        "random1": [0, 1, 0, 0, 0],
        "last1": [0, 1, 0, 0, 0],
        "blind": [0, 0, 1, 1, 0],
    }
    plan = plan_of(tmp_path)
    results = run_of(tmp_path, plan, scores)
    found = find_questions(plan, results)
    # Wrong with all frames is nothing against a question: luck is wrong in order too.
    assert {one.id for one in found} == {"q1", "q2", "q3"}
    by_id = {one.id: one for one in found}
    assert by_id["q3"].wrong_in_order and by_id["q3"].reasons == ("right blind",)
    assert by_id["q2"].posterior == by_id["q3"].posterior < 0.9
    assert by_id["q1"].reasons == ("right with one random frame", "right with the last frame alone")
    assert any("2 of 5 questions are right blind at least once; luck" in n for n in results[0].luck)
    kept = {"cubes": [q for q in survivors([(plan, results)])["cubes"] if q.id in ("q0", "q4")]}
    assert not write_ids(tmp_path / "deep/kept.txt", kept)
    assert (tmp_path / "deep/kept.txt").read_text() == "q0\nq4\n"
    write_ids(tmp_path / "two.txt", {**kept, "other": [AuditedQuestion(7, "x", "v")]})
    assert (tmp_path / "two.txt").read_text() == "cubes\tq0\ncubes\tq4\nother\tx\n"
    # Ids as the user's data have them, also if they repeat.
    assert write_ids(tmp_path / "ids.txt", {"cubes": [AuditedQuestion(7, "x#7", "v")]})
    assert (tmp_path / "ids.txt").read_text() == "x\t7\n"


def repeated_run(folder: Path, times: int, seed: int, leaky: int = 40) -> tuple[Plan, AuditResult]:
    """200 questions of four options, the first of which the text gives away, for one model."""
    draw = np.random.default_rng(seed).random
    names = ("ordered", "blind", *(f"blindx{n}" for n in range(1, times)))
    plan = plan_of(folder, names)
    lines = {}
    for variant in plan.variants:
        name = plan.tasks[0].variant_name(variant)
        share = [
            1.0 if variant.kind == "ordered" else 0.95 if n < leaky else 0.25 for n in range(200)
        ]
        lines[name] = [line(n, float(draw() < each)) for n, each in enumerate(share)]
        if variant.partial:
            write_rows(folder / "tasks", name, [(n, f"q{n}") for n in range(200)])
    write_run(folder / "runs", lines)
    (result,) = results_of(plan, folder)
    return plan, result


def test_repeats_tell_leaks_from_luck(tmp_path: Path) -> None:
    once = repeated_run(tmp_path / "once", 1, 0)
    assert len(survivors([(once[0], [once[1]])])["cubes"]) == 200  # nothing is sure
    plan, result = repeated_run(tmp_path / "six", 6, 0)
    kept = {question.row for question in survivors([(plan, [result])])["cubes"]}
    assert len(kept & set(range(40))) <= 6 and len(kept & set(range(40, 200))) >= 155
    first = find_questions(plan, [result])[0]
    assert first.row < 40 and first.posterior > 0.95 and "right blind (6 of 6)" in first.reasons
    assert any("asked up to 6 times; luck explains about 1" in note for note in result.luck)


def test_several_models_tell_leaks_from_luck(tmp_path: Path) -> None:
    audits = [repeated_run(tmp_path / str(n), 2, n) for n in range(3)]
    results, dropped = aligned([result for _, result in audits])
    assert not dropped
    joined = [(plan, [result]) for (plan, _), result in zip(audits, results, strict=True)]
    kept = {question.row for question in survivors(joined)["cubes"]}
    assert len(kept & set(range(40))) <= 6 and len(kept & set(range(40, 200))) >= 150


def test_a_condition_that_was_not_asked_is_no_evidence(tmp_path: Path) -> None:
    """Without picks it neither makes a sentence nor takes a share of the false discoveries."""
    plan, result = repeated_run(tmp_path, 4, 1)
    more = replace(plan, conditions=(*plan.conditions, "handpicked1"))
    assert [each.sentence for each in evidence([(more, result)])] == list(result.luck)
    assert survivors([(more, [result])]) == survivors([(plan, [result])])


def test_a_question_that_a_condition_lacks_does_not_survive(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, ("ordered", "blind"))
    results = run_of(tmp_path, plan, {"ordered16": [1, 1], "blind": [0, None]})
    assert [question.id for question in survivors([(plan, results)])["cubes"]] == ["q0"]


def test_results_for_machines_hold_no_nan(tmp_path: Path) -> None:
    scores = {"ordered16": [1, 1], "random1": [0, 0], "blind": [0, 0]}
    (result,) = run_of(tmp_path, plan_of(tmp_path, ("ordered", "random1", "blind")), scores)
    assert math.isnan(result.ratios["kappa_random1"].value)
    write_audit(tmp_path / "audit.json", Audit("m", (), [result]))
    (content,) = json.loads((tmp_path / "audit.json").read_text(), parse_constant=pytest.fail)[
        "tasks"
    ]
    assert content["ratios"]["kappa_random1"]["value"] is None and "questions" not in content
