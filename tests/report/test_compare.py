"""Two runs item by item."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.report.runs import (
    causal_lines,
    causal_questions,
    condition_lines,
    missing_line,
    sample_line,
    tomato_questions,
    write_run,
)
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.results.compare import CompareError, Comparison, as_json, compare, text

TASK = "tvbench_tomato_direction"
Answers = Callable[[int], str]


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "store"))


def lines(count: int, answers: Answers, videos: int = 0) -> list[dict[str, Any]]:
    """Lines of `count` questions whose right answer is A; the questions share `videos`."""
    questions = tomato_questions(count)
    if videos:
        for number, question in enumerate(questions):
            question["video"] = f"videos/{number % videos}.mp4"
    logged = condition_lines(questions, lambda q, _: answers(int(q["id"].split("/")[1])), ("",))
    for line in logged:
        line["accuracy"].pop("condition")
    return logged


def run(folder: Path, name: str, logged: list[dict[str, Any]], task: str = TASK) -> Path:
    write_run(folder / name, {task: logged}, model=name)
    return folder / name


def only(found: list[Comparison], measure: str = "accuracy") -> Comparison:
    chosen = [each for each in found if each.measure == measure]
    assert len(chosen) == 1
    return chosen[0]


def test_mcnemar_over_independent_questions(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(20, lambda n: "A" if n < 10 else "B"))
    b = run(tmp_path, "b", lines(20, lambda n: "A" if 2 <= n < 19 else "B"))
    found = only(compare(a, b))
    assert (found.n, found.n_clusters) == (20, 20)
    assert (found.only_a_right, found.only_b_right) == (2, 9)
    # 2 (C(11,0) + C(11,1) + C(11,2)) / 2^11, by hand.
    assert found.p == pytest.approx(2 * (1 + 11 + 55) / 2048)
    assert found.test == "McNemar" and found.different is False
    assert found.difference == pytest.approx(7 / 20)
    assert found.verdict.startswith("b is ahead of a by 35.0 points, which chance alone gives")
    assert "(95% interval " in found.verdict and "80% power" in found.verdict
    assert {flip.id for flip in found.flips} == {f"direction/{n}" for n in (0, 1, *range(10, 19))}
    assert [flip.better for flip in found.flips[:2]] == ["A", "A"]


def test_a_real_difference(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(20, lambda n: "B"))
    b = run(tmp_path, "b", lines(20, lambda n: "A" if n < 12 else "B"))
    found = only(compare(a, b))
    assert found.different is True and found.p == pytest.approx(2 / 2**12)
    assert found.verdict.startswith("b is better than a by 60.0 points, and the difference is real")
    assert found.low is not None and found.low > 0
    # The leader's difference and its interval have one sign, whichever run is named first.
    (other,) = compare(b, a)
    assert other.verdict == found.verdict


def test_a_run_against_itself(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(9, lambda n: "A" if n % 2 else "B"))
    found = only(compare(a, a))
    assert found.difference == 0 and found.different is False and not found.flips
    assert found.verdict.startswith("No difference")


def test_questions_that_share_videos_are_not_independent(tmp_path: Path) -> None:
    # Eight questions flip, but all are about two of the twelve videos.
    a = run(tmp_path, "a", lines(48, lambda n: "B", videos=12))
    b = run(tmp_path, "b", lines(48, lambda n: "A" if n % 12 < 2 else "B", videos=12))
    found = only(compare(a, b))
    assert found.n_clusters == 12 and found.only_b_right == 8
    assert found.p is not None and found.p > 0.05 and found.test == "bootstrap"
    assert found.different is False
    alone_a = run(tmp_path, "c", lines(48, lambda n: "B"))
    alone_b = run(tmp_path, "d", lines(48, lambda n: "A" if n % 12 < 2 else "B"))
    assert only(compare(alone_a, alone_b)).different is True


def test_different_items_are_refused(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(10, lambda n: "A"))
    b = run(tmp_path, "b", lines(8, lambda n: "A"))
    with pytest.raises(CompareError, match=r"8 are shared, 2 only the first.*--shared-only"):
        compare(a, b)
    found = only(compare(a, b, shared_only=True))
    assert (found.n, found.only_a_logged, found.only_b_logged) == (8, 2, 0)
    assert "2 of the first run and 0 of the second are left out" in text([found])


def test_one_id_with_another_answer_is_another_item(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(4, lambda n: "A"))
    other = lines(4, lambda n: "A")
    other[1]["target"] = "C"
    b = run(tmp_path, "b", other)
    with pytest.raises(CompareError, match="1 have one id and another right answer"):
        compare(a, b)
    assert only(compare(a, b, shared_only=True)).n == 3


def test_nothing_shared(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(2, lambda n: "A"))
    b = run(tmp_path, "b", lines(4, lambda n: "A")[2:])
    with pytest.raises(CompareError, match="share no item"):
        compare(a, b, shared_only=True)


def test_an_item_without_a_score_is_left_out(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(6, lambda n: "A"))
    logged = lines(6, lambda n: "A" if n else "B")
    logged[5] = missing_line(5, tomato_questions(6)[5])
    b = run(tmp_path, "b", logged)
    found = only(compare(a, b))
    assert (found.n, found.unscored) == (5, 1)


def test_pairs_and_items(tmp_path: Path) -> None:
    questions = causal_questions(6)
    a = run(tmp_path, "a", causal_lines(questions, lambda q: q["answer"]), "causalvqa_debug")
    b = run(tmp_path, "b", causal_lines(questions, lambda q: "A"), "causalvqa_debug")
    found = compare(a, b)
    paired, unpaired = only(found, "paired accuracy"), only(found)
    assert (paired.a, paired.b, paired.n) == (1.0, 0.0, 6)
    assert (unpaired.a, unpaired.b, unpaired.n) == (1.0, 0.5, 12)
    assert paired.test == "McNemar" and unpaired.test == "bootstrap"
    assert len(unpaired.flips) == 6


def test_conditions_are_compared_each_for_itself(tmp_path: Path) -> None:
    questions, names = tomato_questions(8), ("ordered16", "shuffled16")
    task = "tvbench_tomato_principles"
    a = run(tmp_path, "a", condition_lines(questions, lambda q, c: "A", names), task)
    b = run(
        tmp_path,
        "b",
        condition_lines(questions, lambda q, c: "A" if c == "ordered16" else "B", names),
        task,
    )
    found = {each.condition: each for each in compare(a, b)}
    assert found["ordered16"].difference == 0.0
    assert found["shuffled16"].difference == -1.0


def test_generation_scores(tmp_path: Path) -> None:
    def logged(shift: float) -> list[dict[str, Any]]:
        return [
            sample_line(
                number,
                status="",
                score=None,
                accuracy=None,
                bleu={"id": f"q{number}", "video": f"{number}", "score": number / 20 + shift},
            )
            for number in range(12)
        ]

    a = run(tmp_path, "a", logged(0.0), "blackswan_detective_gen")
    b = run(tmp_path, "b", logged(0.1), "blackswan_detective_gen")
    found = only(compare(a, b), "bleu")
    assert found.difference == pytest.approx(0.1)
    assert found.test == "bootstrap" and found.different is True and found.only_a_right is None


def test_two_tasks_over_the_same_questions(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    tasks = {TASK: lines(5, lambda n: "A"), f"{TASK}_blind": lines(5, lambda n: "B")}
    write_run(folder, tasks)
    found = only(compare(folder, folder, tasks=[f"{TASK}:{TASK}_blind"]))
    assert found.task == f"{TASK} / {TASK}_blind" and found.difference == -1.0
    with pytest.raises(CompareError, match="no logged run of 'absent'"):
        compare(folder, folder, tasks=["absent"])


def test_models_of_one_folder(tmp_path: Path) -> None:
    for date, model, answer in (
        ("20260101_000000", "one", "A"),
        ("20260102_000000", "two", "B"),
        ("20260103_000000", "three", "A"),
    ):
        logged = lines(12, lambda n, answer=answer: answer)
        write_run(tmp_path / "res", {TASK: logged}, model=model, date=date)
    found = compare(tmp_path / "res")
    assert [(each.name_a, each.name_b) for each in found] == [
        ("one", "two"),
        ("one", "three"),
        ("two", "three"),
    ]
    # Three comparisons, so that the smallest p counts three times (Holm).
    assert [each.different for each in found] == [True, False, True]
    assert found[0].p_corrected == pytest.approx(3 * 2 / 2**12)
    assert found[0].verdict.startswith("one is better than two by 100.0 points")
    assert "corrected for 3 comparisons" in found[0].verdict
    (chosen,) = compare(tmp_path / "res", models=["three", "two"])
    assert (chosen.name_a, chosen.name_b) == ("three", "two") and chosen.a == 1.0
    with pytest.raises(CompareError, match="no run of the model four; there are: one, two, three"):
        compare(tmp_path / "res", models=["one", "four"])
    with pytest.raises(CompareError, match=r"several models \(one, two, three\).*--models"):
        compare(tmp_path / "res", tmp_path / "res")
    with pytest.raises(CompareError, match="needs two runs; there are: two"):
        compare(tmp_path / "res", models=["two"])
    first = tmp_path / "res" / "20260101_000000_results.json"
    second = tmp_path / "res" / "20260102_000000_results.json"
    assert only(compare(first, second)).n == 12


def test_one_model_twice_is_told_apart(tmp_path: Path) -> None:
    for name, answer in (("a", "A"), ("b", "B")):
        logged = lines(12, lambda n, answer=answer: answer)
        write_run(tmp_path / name, {TASK: logged}, model="m")
    found = only(compare(tmp_path / "a", tmp_path / "b"))
    assert (found.name_a, found.name_b) == (str(tmp_path / "a"), str(tmp_path / "b"))


def test_what_is_real_alone_may_not_be_among_many(tmp_path: Path) -> None:
    questions, names = tomato_questions(8), ("ordered16", "shuffled16", "random1")
    task = "tvbench_tomato_principles"

    def weaker(question: dict[str, Any], condition: str) -> str:
        number = int(question["id"].split("/")[1])
        return "B" if condition == "ordered16" and number < 6 else "A"

    a = run(tmp_path, "a", condition_lines(questions, lambda q, c: "A", names), task)
    b = run(tmp_path, "b", condition_lines(questions, weaker, names), task)
    found = {each.condition: each for each in compare(a, b)}
    ordered = found["ordered16"]
    assert ordered.p == pytest.approx(2 / 2**6) and ordered.p_corrected == pytest.approx(6 / 2**6)
    assert ordered.different is False and "alone that would be real" in ordered.verdict
    assert found["random1"].verdict.startswith("No difference: a and b are level")


def test_another_level(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(12, lambda n: "A" if n < 9 else "B"))
    b = run(tmp_path, "b", lines(12, lambda n: "A" if n < 3 else "B"))
    usual, strict = only(compare(a, b)), only(compare(a, b, level=0.99))
    assert usual.difference == strict.difference and usual.p == strict.p
    assert usual.low is not None and usual.high is not None
    assert strict.low is not None and strict.high is not None
    assert strict.low < usual.low and usual.high < strict.high
    assert usual.p is not None and 0.01 < usual.p < 0.05
    assert usual.different and not strict.different
    assert "99% interval" in strict.verdict and "95%" not in text([strict])
    assert json.loads(as_json([strict]))["level"] == 0.99


def test_no_task_in_common(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(2, lambda n: "A"))
    b = run(tmp_path, "b", lines(2, lambda n: "A"), "other")
    with pytest.raises(CompareError, match="no logged task in common"):
        compare(a, b)


def test_other_prompts_are_said(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(3, lambda n: "A"))
    other = lines(3, lambda n: "A")
    other[0]["input"] += " Think first."
    b = run(tmp_path, "b", other)
    assert "1 of the items were asked with another prompt" in text(compare(a, b))


def test_command(tmp_path: Path) -> None:
    a = run(tmp_path, "a", lines(14, lambda n: "A"))
    b = run(tmp_path, "b", lines(14, lambda n: "B"))
    done = CliRunner().invoke(app, ["compare", str(a), str(b), "--flips", "3"])
    assert done.exit_code == 0, done.output
    assert "a is better than b by 100.0 points" in done.output and "... and 11 more" in done.output
    out = tmp_path / "c.json"
    done = CliRunner().invoke(
        app, ["compare", str(a), str(b), "--format", "json", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    content = json.loads(out.read_text(encoding="utf-8"))
    assert len(content["comparisons"][0]["flips"]) == 14
    assert json.loads(as_json(compare(a, b))) == content
