"""The principles task: whole questions next to each other, one table from one list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from decord import VideoReader, cpu

from tests.tasks.releases import write_video
from video_reasoning.tasks import store, tvbench
from video_reasoning.tasks.store.picks import Pick, picks_file, write_picks
from video_reasoning.tasks.tvbench import principles


@pytest.fixture
def questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> datasets.Dataset:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    write_video(tmp_path / "tvbench/videos/a.mp4", frames=40)
    row = {
        "task": "direction", "question": "Which way?", "options": ["Up.", "Down."], "answer": "B",
        "video": "videos/a.mp4", "problem": "", "frames": 40,
    }  # fmt: skip
    return datasets.Dataset.from_list([{"id": f"direction/{n}", **row} for n in range(3)])


def test_documents_of_a_question_stand_together(questions: datasets.Dataset) -> None:
    write_picks(picks_file("tvbench"), [Pick("direction/1", 7, 40, "ada")])
    documents = principles.principles_docs(questions)
    assert [(d["id"][-1], d["condition"]) for d in documents] == [
        ("0", "ordered16"), ("0", "shuffled16"), ("0", "random1"),
        ("1", "ordered16"), ("1", "shuffled16"), ("1", "random1"), ("1", "handpicked1"),
        ("2", "ordered16"), ("2", "shuffled16"), ("2", "random1"),
    ]  # fmt: skip
    assert documents[6]["pick"] == 7


def test_each_condition_shows_its_frames_and_says_how_many(questions: datasets.Dataset) -> None:
    write_picks(picks_file("tvbench"), [Pick("direction/0", 7, 40, "ada")])
    shown = {}
    for document in principles.principles_docs(questions.select([0])):
        (path,) = principles.principles_visual(document)
        shown[document["condition"]] = VideoReader(path, ctx=cpu(0))[:].asnumpy()
        count = 16 if document["condition"].endswith("16") else 1
        assert f"with {count} separate frames" in tvbench.doc_to_text(document)
    source = VideoReader(str(store.benchmark_folder("tvbench") / "videos/a.mp4"), ctx=cpu(0))
    assert np.array_equal(shown["handpicked1"][0], source[7].asnumpy())
    assert np.array_equal(shown["ordered16"][-1], source[39].asnumpy())
    ordered, shuffled = shown["ordered16"], shown["shuffled16"]
    assert not np.array_equal(ordered, shuffled)
    assert sorted(f.tobytes() for f in ordered) == sorted(f.tobytes() for f in shuffled)


def items(correct: dict[str, list[float | None]]) -> list[dict[str, Any]]:
    return [
        {"id": f"q{number}", "condition": name, **({} if value is None else {"correct": value})}
        for name, values in correct.items()
        for number, value in enumerate(values)
    ]


def computed(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        metric["metric"]: metric["aggregation"](rows)
        for metric in principles.PRINCIPLES_METRICS
        if metric not in tvbench.tasks.COMMON
    }


def test_the_table_is_computed_from_one_list() -> None:
    # Four questions; the fourth lacks its shuffled clip and counts in no term.
    correct: dict[str, list[float | None]] = {
        "ordered16": [1.0, 1.0, 1.0, 1.0],
        "shuffled16": [1.0, 0.0, 1.0, None],
        "random1": [0.0, 0.0, 1.0, 1.0],
    }
    rows = [*items(correct), {"id": "q1", "condition": "handpicked1", "correct": 1.0}]
    table = computed(rows)
    assert table["acc_ordered16"] == 1.0
    assert table["kappa_random"] == pytest.approx(1.0 / (1 / 3) - 1)
    assert table["tau"] == pytest.approx(1.0 / (2 / 3) - 1)
    assert table["kappa_handpicked"] == pytest.approx(0.0)
    # Over the one question with a pick the random frame never was enough: no ratio.
    assert table["rho"] is None
    assert table["questions_all"] == 3
    assert table["questions_picked"] == 1
    assert table["questions_left_out"] == 1


def test_without_picks_the_other_terms_stand() -> None:
    rows = items({"ordered16": [1.0, 0.0], "shuffled16": [1.0, 0.0], "random1": [1.0, 0.0]})
    table = computed(rows)
    assert table["kappa_random"] == table["tau"] == 0.0
    assert table["rho"] is None
    assert table["acc_handpicked1"] is None
    assert table["questions_picked"] == 0


def test_a_missing_item_is_in_no_term(questions: datasets.Dataset) -> None:
    document = {**questions[0], "condition": "random1", "pick": -1, "problem": "cut short"}
    result = principles.process_principles_results(document, ["B"])
    assert result["status"] == "missing"
    assert "correct" not in result["kappa_random"]


@pytest.mark.parametrize(
    ("sweep", "frames"), [("frames", (1, 8, 16, 32)), ("few_frames", tuple(range(1, 9)))]
)
def test_the_sweep_counts_each_frame_count_alone(
    questions: datasets.Dataset, sweep: str, frames: tuple[int, ...]
) -> None:
    documents = getattr(principles, f"{sweep}_docs")(questions.select([0]))
    shown, results = [], []
    for place, document in enumerate(documents):
        (path,) = getattr(principles, f"{sweep}_visual")(document)
        # A clip contains a single frame twice.
        shown.append(
            max(1, len(VideoReader(path, ctx=cpu(0))) - (document["condition"] == "random1"))
        )
        answer = "BA"[place % 2]
        results.append(getattr(principles, f"process_{sweep}_results")(document, [answer]))
    assert tuple(shown) == frames
    table = {
        each["metric"]: each["aggregation"]([result[each["metric"]] for result in results])
        for each in getattr(principles, f"{sweep.upper()}_METRICS")
        if each["metric"].startswith("acc_")
    }
    assert list(table) == [f"acc_{document['condition']}" for document in documents]
    assert list(table.values()) == [1.0, 0.0] * (len(frames) // 2)


@pytest.mark.parametrize(
    ("condition", "frames", "short"),
    [
        ("ordered16", 15, 1),
        ("ordered16", 16, 0),
        ("ordered8", 15, 0),
        ("ordered32", 31, 1),
        ("blind", 5, 0),
        ("ordered16", 0, 0),
    ],
)
def test_a_video_is_short_for_its_own_condition(
    questions: datasets.Dataset, condition: str, frames: int, short: int
) -> None:
    document = {**questions[0], "frames": frames, "condition": condition}
    logged = tvbench.process_results(document, ["B"])
    assert tvbench.short_videos([logged["short_videos"]]) == short
