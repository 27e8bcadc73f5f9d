"""What is known of a task before a model is asked."""

from __future__ import annotations

import urllib.request
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.audit.logs import plan_of
from video_reasoning.tasks.audit.plan import AuditedTask
from video_reasoning.tasks.audit.preflight import Check, check_documents, preflight, table

DOCUMENTS = [
    {"id": n, "question": text, "options": ["up", "down", "left"], "answer": "AB"[n % 2]}
    for n, text in enumerate(["Where to?", "What is at 01:05?", "What after 3 seconds?", "Who?"])
]


def ask_server(items: list[Any]) -> float:
    with urllib.request.urlopen("http://judge.example.invalid") as reply:
        return float(reply.read())


def check(score: Any, *metrics: dict[str, Any], folder: Path = Path()) -> Check:
    """Check a task over the four documents."""
    config = {"process_results": score, "metric_list": list(metrics) or [{"metric": "acc"}]}
    return check_documents(
        config, DOCUMENTS, lambda d: d["answer"], lambda d: d["question"], plan_of(folder)
    )


def test_what_a_sound_task_shows() -> None:
    found = check(lambda d, r: {"acc": float(r[0] == d["answer"])})
    assert not found.refused and found.ranges == {"acc": (0.0, 1.0)}
    assert (found.looked_at, found.options, found.timed) == (4, 4, 2)
    assert found.score == "acc by number, 0 to 1"


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (lambda d, r: {"acc": 5.0 if r[0] == d["answer"] else 1.0}, (1.0, 5.0)),  # Likert
        (lambda d, r: {"acc": 100 * (r[0] == d["answer"])}, (0.0, 100.0)),
        (lambda d, r: {"acc": 0.3 * (r[0] == d["answer"])}, None),  # a part, of what?
        (lambda d, r: {"acc": 0.0}, None),
    ],
)
def test_ranges_of_scores(score: Any, expected: Any) -> None:
    assert check(score).ranges.get("acc") == expected


@pytest.mark.parametrize("target", [[1.0, 3.5], [[1.0, 3.5]]])
def test_a_span_of_time_is_tried_as_people_write_it(target: Any) -> None:
    config = {
        "process_results": lambda d, r: {"iou": float(r[0].startswith("1.0 - 3.5"))},
        "metric_list": [{"metric": "iou"}],
    }
    found = check_documents(config, DOCUMENTS, lambda d: target, str, plan_of(Path()))
    assert found.ranges == {"iou": (0.0, 1.0)}


def test_a_task_that_weighs_its_choices_is_tried_with_likelihoods() -> None:
    def score(document: Any, results: Any) -> dict[str, float]:
        likelihoods = [likelihood for likelihood, _ in results]
        best = likelihoods.index(max(likelihoods))
        return {"acc": float("ABC"[best] == document["answer"])}

    config = {
        "process_results": score,
        "metric_list": [{"metric": "acc"}],
        "output_type": "multiple_choice",
        "doc_to_choice": "options",
    }
    found = check_documents(config, DOCUMENTS, lambda d: d["answer"], str, plan_of(Path()))
    assert found.ranges == {"acc": (0.0, 1.0)}


def test_a_range_that_was_not_seen_is_asked_for() -> None:
    assert check(lambda d, r: {"acc": 0.0}).score.endswith("give it with --score-range")
    declared = {"process_results": lambda d, r: {"acc": 0.0}, "metric_list": [{"metric": "acc"}]}
    plan = plan_of(Path(), score_range=(0, 5))
    found = check_documents(declared, DOCUMENTS, lambda d: d["answer"], str, plan)
    assert found.score == "acc by number"


def test_what_is_refused_before_it_is_asked() -> None:
    no_score = check(lambda d, r: {"acc": {"said": r[0]}})
    assert "no score for each question" in no_score.refused and "said" in no_score.refused
    sent = check(lambda d, r: {"acc": {"q": r[0]}}, {"metric": "acc", "aggregation": ask_server})
    assert "submission" in sent.refused and "server" in sent.refused


def test_a_score_that_says_what_was_answered_is_refused() -> None:
    """Whether a model said yes is not whether it is right."""
    documents = [{"id": n, "question": "Does it?", "label": ("Yes", "No")[n % 2]} for n in range(4)]
    said = {"metric_list": [{"metric": "acc"}]}
    said_yes = {**said, "process_results": lambda d, r: {"acc": float(r[0] == "Yes")}}
    found = check_documents(said_yes, documents, lambda d: d["label"], str, plan_of(Path()))
    assert "a wrong answer scores above the right one" in found.refused
    right = {**said, "process_results": lambda d, r: {"acc": float(r[0] == d["label"])}}
    found = check_documents(right, documents, lambda d: d["label"], str, plan_of(Path()))
    assert not found.refused and found.ranges == {"acc": (0.0, 1.0)}


def test_what_an_empty_answer_scores_says_nothing_of_a_task() -> None:
    """Some tasks guess a letter if they find none."""
    assert not check(lambda d, r: {"acc": float(r[0] == "" or r[0] == "(A)")}).refused


def test_a_judge_is_not_asked() -> None:
    found = check(lambda d, r: {"acc": ask_server([])})
    assert found.judged and "judge.example.invalid" in found.score and not found.refused


def test_scoring_that_fails_on_trials_is_left_to_the_run() -> None:
    found = check(lambda d, r: {"acc": 1 / 0})
    assert not found.refused and "ZeroDivisionError" in found.score


def test_a_task_whose_data_are_absent_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "video_reasoning.tasks.audit.preflight"
    monkeypatch.setattr(f"{module}.load_config", lambda path: {"task": path.stem})

    class Loaded:
        eval_docs_no_media = DOCUMENTS

        def doc_to_target(self, document: Any) -> Any:
            return document["answer"]

        doc_to_text = doc_to_target

    def load(config: dict[str, Any]) -> Any:
        if config["task"] == "b":
            raise FileNotFoundError("no such dataset")
        return Loaded()

    monkeypatch.setattr(f"{module}.load_task", load)
    plan, checks = preflight(plan_of(tmp_path, tasks=("a", "b")))
    assert [task.name for task in plan.tasks] == ["a"] and checks["a"].questions == 4
    assert plan.refused == {"b": "its data cannot be loaded: no such dataset"}
    assert isinstance(plan.tasks[0], AuditedTask) and table(plan, checks).row_count == 2
    # A table in a file or a narrow terminal still has the whole names.
    long = plan_of(tmp_path, tasks=("a_task_with_a_long_name_of_its_own" * 2,))
    shown = Console(width=60, file=StringIO())
    shown.print(table(long, {long.tasks[0].name: checks["a"]}))
    assert "…" not in shown.file.getvalue()
