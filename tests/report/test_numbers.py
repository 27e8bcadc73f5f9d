"""Items and numbers: what is counted, what is left out, and where a number comes from."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tests.report.runs import (
    causal_lines,
    causal_questions,
    condition_lines,
    judged_line,
    missing_line,
    sample_line,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.metrics.intervals import difference_interval
from video_reasoning.tasks.report import facts
from video_reasoning.tasks.report.tables import paper_tables, run_names
from video_reasoning.tasks.results.compare import compare
from video_reasoning.tasks.results.items import ReportError, gather
from video_reasoning.tasks.results.numbers import measure
from video_reasoning.tasks.results.principles import evaluate
from video_reasoning.tasks.results.signature import signature

CONDITIONS = ("ordered16", "shuffled16", "random1")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "store"
    home.mkdir()
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(home))
    return home


def test_pairs_and_items_are_counted_apart(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(6)
    file = write_questions(store, "causalvqa", "debug", questions)
    # Right in both variants of pairs 0 and 1, in the first of 2 and 3, in none of 4 and 5.
    right = {"q0/1", "q0/2", "q1/1", "q1/2", "q2/1", "q3/1"}
    lines = causal_lines(questions, lambda q: q["answer"] if q["id"] in right else "C")
    write_run(tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file})
    found = measure(gather([tmp_path / "res"])[0])
    paired, unpaired = found.find("paired accuracy"), found.find("accuracy")
    assert paired is not None and unpaired is not None
    assert (paired.value, paired.n, paired.n_clusters) == (pytest.approx(2 / 6), 6, 6)
    assert (unpaired.value, unpaired.n, unpaired.n_clusters) == (pytest.approx(6 / 12), 12, 6)
    assert found.paired["at least one right"] == pytest.approx(4 / 6)
    assert found.chance == pytest.approx(0.2)
    assert found.chance_paired == pytest.approx(0.04)
    planning = found.find("paired accuracy", {"type": "planning"})
    assert planning is not None and (planning.value, planning.n) == (pytest.approx(1 / 3), 3)
    reasoning = found.find("paired accuracy", {"type": "reasoning"})
    assert reasoning is not None and reasoning.n == 3
    assert paired.task == "causalvqa_debug"
    assert Path(paired.file).name.endswith("_samples_causalvqa_debug.jsonl")


def test_missing_and_unparsed(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(3)
    file = write_questions(store, "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: None if q["id"] == "q0/1" else q["answer"])
    groups = {key: str(questions[5][key]) for key in ("qid", "variant", "type", "difficulty")}
    lines[5] = {**missing_line(5, questions[5], **groups), "input": lines[5]["input"]}
    write_run(
        tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file}, limit=6
    )
    found = measure(gather([tmp_path / "res"])[0])
    accuracy, paired = found.find("accuracy"), found.find("paired accuracy")
    assert accuracy is not None and paired is not None
    assert (accuracy.value, accuracy.n) == (pytest.approx(4 / 5), 5)
    assert (paired.value, paired.n) == (pytest.approx(1 / 2), 2)
    assert found.counts["missing"] == 1 and found.counts["unparsed"] == 1
    assert found.counts["incomplete pairs"] == 1
    said = " ".join(facts.problems(found))
    assert "1 of 6 items had no video to show" in said and "the release holds no clip.mp4" in said
    assert "1 of 5 responses (20.0%) name no option" in said
    assert "--limit 6" in said
    assert "not in the paired accuracy: 1 pair." in said


def test_failed_requests_are_out_of_the_accuracy_and_named(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(3)
    file = write_questions(store, "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: q["answer"])
    failed = {"status": "failed", "choice": None, "rule": "", "score": None, "problem": "no quota"}
    lines[5] |= failed
    write_run(
        tmp_path / "res",
        {"causalvqa_debug": lines},
        questions={"causalvqa_debug": file},
        limit="a text",
    )
    found = measure(gather([tmp_path / "res"])[0])
    accuracy = found.find("accuracy")
    assert accuracy is not None and (accuracy.value, accuracy.n) == (1.0, 5)
    assert (found.counts["failed"], found.counts["unparsed"]) == (1, 0)
    said = " ".join(facts.problems(found))
    assert "1 of 6 requests failed and are in no accuracy: no quota (1)." in said
    assert "name no option" not in said
    assert "--limit a text" in said


def test_principles_are_ratios_over_shared_questions(tmp_path: Path, store: Path) -> None:
    questions = tomato_questions(20)
    file = write_questions(store, "tvbench", "test", questions)

    def choose(question: dict[str, object], condition: str) -> str:
        number = int(str(question["id"]).split("/")[1])
        right = {"ordered16": 16, "shuffled16": 10, "random1": 8}[condition]
        return "A" if number < right else "B"

    task = "tvbench_tomato_principles"
    lines = condition_lines(questions, choose, CONDITIONS)
    write_run(tmp_path / "res", {task: lines}, questions={task: file})
    logs = gather([tmp_path / "res"])
    found = measure(logs[0])
    tau, kappa, rho = (found.find(name) for name in ("tau", "kappa_random", "rho"))
    assert tau is not None and kappa is not None and rho is not None
    assert tau.value == pytest.approx(16 / 10 - 1)
    assert kappa.value == pytest.approx(16 / 8 - 1)
    assert tau.low is not None and tau.high is not None and tau.low < 0.6 < tau.high
    assert rho.value is None and rho.n == 0
    grids = {grid.key: grid for grid in paper_tables([found], run_names(logs))}
    row = grids["tvbench-principles"].rows[0]
    assert [cell.text for cell in row.cells] == [
        "40.0", "–", "50.0", "80.0", "100.0", "–", "60.0", "–",
    ]  # fmt: skip
    assert "No handpicked frames" in " ".join(facts.problems(found))
    accuracy = grids["tvbench-accuracy"]
    place = list(accuracy.head).index("Direction")
    printed = {row.label: row.cells[place].value for row in accuracy.rows}
    assert printed["GPT-4o"] == 45.2
    assert printed["random_choice, 16 in order (principles)"] == pytest.approx(80.0)
    assert "Direction has 20 here and 403 in the paper" in accuracy.warnings[0]


def test_a_difference_from_the_harness_is_said(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(4)
    file = write_questions(store, "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: q["answer"])
    tasks = {"causalvqa_debug": lines}

    def said(value: float, folder: str) -> str:
        results = {"causalvqa_debug": {"accuracy_paired,none": value}}
        write_run(tmp_path / folder, tasks, questions={"causalvqa_debug": file}, results=results)
        return " ".join(facts.problems(measure(gather([tmp_path / folder])[0])))

    assert "The harness's table" not in said(1.0, "same")
    assert "The harness's table has 0.7500 for paired accuracy" in said(0.75, "other")


def test_another_store_is_noticed(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(4)
    lines = causal_lines(questions, lambda q: q["answer"])
    changed = [dict(question) for question in questions]
    changed[3]["options"] = ["quite", "other", "options", "than", "before"]
    file = write_questions(store, "causalvqa", "debug", changed)
    write_run(tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file})
    log = gather([tmp_path / "res"])[0]
    assert log.changed == {questions[3]["id"]}
    assert not log.questions, "none of a changed store's questions may be shown"
    found = measure(log)
    assert any(
        "has changed since the run: 1 question" in sentence for sentence in facts.problems(found)
    )
    number = found.find("accuracy", {"difficulty": "easy"})
    assert number is not None and number.n == 4, "groups come from the log"


def test_another_answer_in_the_store_is_noticed(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(4)
    lines = causal_lines(questions, lambda q: q["answer"])
    changed = [dict(question) for question in questions]
    changed[2]["answer"] = "A" if changed[2]["answer"] != "A" else "B"
    file = write_questions(store, "causalvqa", "debug", changed)
    write_run(tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file})
    assert gather([tmp_path / "res"])[0].changed == {questions[2]["id"]}


def test_without_a_store(tmp_path: Path, store: Path) -> None:
    lines = causal_lines(causal_questions(3), lambda q: q["answer"])
    write_run(tmp_path / "res", {"causalvqa_debug": lines})
    found = measure(gather([tmp_path / "res"])[0])
    number = found.find("paired accuracy")
    assert number is not None and number.value == 1.0
    assert any("No questions beside the log" in text for text in facts.problems(found))


def test_withheld_answers_are_no_zero(tmp_path: Path, store: Path) -> None:
    questions = [{**question, "answer": ""} for question in causal_questions(2)]
    file = write_questions(store, "causalvqa", "test", questions)
    lines = causal_lines(questions, lambda q: "A")
    write_run(tmp_path / "res", {"causalvqa_test": lines}, questions={"causalvqa_test": file})
    found = measure(gather([tmp_path / "res"])[0])
    number = found.find("paired accuracy")
    assert number is not None and number.value is None and number.n == 0
    assert found.counts["withheld"] == 4


def test_generation_scores(tmp_path: Path, store: Path) -> None:
    lines = [
        sample_line(
            number,
            status="",
            score=None,
            rule="",
            accuracy=None,
            bleu={"id": f"q{number}", "video": f"{number}.mp4", "score": number / 10},
        )
        for number in range(5)
    ]
    results = {"blackswan_detective_gen": {"bleu,none": 0.2, "llm_match,none": 3.5}}
    write_run(tmp_path / "res", {"blackswan_detective_gen": lines}, results=results)
    logs = gather([tmp_path / "res"])
    found = measure(logs[0])
    bleu, match = found.find("bleu"), found.find("llm_match")
    assert bleu is not None and bleu.value == pytest.approx(0.2) and bleu.n == 5
    assert match is not None and match.value == 3.5 and match.low is None
    grid = paper_tables([found], run_names(logs))[0]
    row = dict(zip(grid.head, grid.rows[0].cells, strict=True))
    assert row["Detective BLEU ×100"].text == "20.0"
    assert row["Detective LLM-Match"].text == "3.50"


def test_one_log_has_one_interval(tmp_path: Path, store: Path) -> None:
    """Report and principles' table print one interval, compare one difference with either side."""
    questions = tomato_questions(30)
    for number, question in enumerate(questions):
        question["video"] = f"videos/{number // 2}.mp4"
    file = write_questions(store, "tvbench", "test", questions)
    task = "tvbench_tomato_principles"

    def choose(question: dict[str, object], condition: str) -> str:
        number = int(str(question["id"]).split("/")[1])
        return "A" if number % 7 < CONDITIONS.index(condition) + 3 else "B"

    lines = condition_lines(questions, choose, CONDITIONS)
    out = write_run(tmp_path / "res", {task: lines}, questions={task: file})
    found = measure(gather([out])[0])
    (table,) = evaluate([out])
    measures = table.parts[0].measures
    for name, estimate in measures.items():
        condition = name.removeprefix("acc_")
        numbers = [found.find(name)] if condition == name else [
            found.find("shared accuracy", condition=condition),
            found.find("accuracy", condition=condition),
        ]  # fmt: skip
        for number in numbers:
            assert number is not None, name
            assert (number.n, number.n_clusters) == (estimate.n, estimate.n_clusters)
            if number.value is not None:
                assert (number.value, number.low, number.high) == (
                    estimate.value, estimate.low, estimate.high,
                ), name  # fmt: skip
    for each in compare(out, out):
        assert each.a == each.b == measures[f"acc_{each.condition}"].value
        scores = [item.score or 0.0 for item in found.log.conditions()[each.condition]]
        videos = [item.video for item in found.log.conditions()[each.condition]]
        same = difference_interval(scores, scores, videos)
        assert (each.low, each.high) == (same.low, same.high)


@pytest.mark.parametrize(
    ("asked", "kept"),
    [(("ordered16",), [""]), (("ordered16", "random1"), ["ordered16", "random1"])],
)
def test_the_only_way_of_a_task_is_not_a_condition(
    tmp_path: Path, store: Path, asked: tuple[str, ...], kept: list[str]
) -> None:
    lines = condition_lines(tomato_questions(3), lambda question, condition: "A", asked)
    results = write_run(tmp_path / "res", {"mine": lines})
    content = json.loads(results.read_text(encoding="utf-8"))
    content["configs"]["mine"]["lmms_eval_specific_kwargs"] = {"condition": "ordered16"}
    results.write_text(json.dumps(content), encoding="utf-8")
    assert list(gather([tmp_path / "res"])[0].conditions()) == kept


def test_every_number_has_a_signature(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(2)
    file = write_questions(store, "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: q["answer"])
    lines[0]["rule"] = "llm:reader"
    write_run(tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file})
    (log,) = gather([tmp_path / "res"])
    log.result.config["metadata"] = {"version": 1.0, "prompt": "cot"}  # type: ignore[index]
    start = hashlib.sha256(file.read_bytes()).hexdigest()[:6]
    said = signature(log)
    assert said == f"causalvqa_debug|v1.0|prompt cot|rules+reader|store {start}"
    assert measure(log).as_json()["signature"] == said
    assert paper_tables([measure(log)], run_names([log]))[0].signatures == [said]
    assert signature(log, "ordered16").startswith(
        "causalvqa_debug|v1.0|prompt cot|ordered16|seed0|"
    )


def test_nothing_logged(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="--log_samples"):
        gather([tmp_path])


def test_runs_are_told_apart(tmp_path: Path, store: Path) -> None:
    line = judged_line(0, causal_questions(1)[0], "A")
    for checkpoint, date in (("a/b", "20260101_000000"), ("c/d", "20260102_000000")):
        write_run(tmp_path, {"mine": [line]}, checkpoint=checkpoint, date=date)
    write_run(tmp_path / "again", {"mine": [line]}, checkpoint="a/b", date="20260103_000000")
    names = run_names(gather([tmp_path, tmp_path / "again"]))
    assert len(set(names.values())) == len(names)
