"""The numbers of docs/tvbench.md: two baselines over the real questions, without a video."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from video_reasoning.metrics.published import published
from video_reasoning.tasks import scoring, store, tvbench
from video_reasoning.tasks.models.base import Query, WeightlessModel
from video_reasoning.tasks.models.baselines import FrequentChoice, RandomChoice
from video_reasoning.tasks.prepare.build import prepare

REPOSITORY = Path(__file__).resolve().parents[2]
ANNOTATIONS = REPOSITORY.parent / "shared" / "reference" / "tomato"
PAGE = REPOSITORY / "docs" / "tvbench.md"
TASKS = published("tvbench").tables["accuracy"].columns[:-1]

needs_annotations = pytest.mark.skipif(
    not ANNOTATIONS.is_dir(), reason="TVBench's real annotation files are not beside the checkout"
)

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    home = tmp_path_factory.mktemp("real")
    manifest = prepare("tvbench", ANNOTATIONS, store_home=home)
    assert len(manifest["splits"]["test"]["missing"]) == 1484
    read = pq.read_table(store.questions_file("tvbench", "test", home)).to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(store.HOME_VARIABLE, str(home))
        yield {task: [row for row in read if row["task"] == task] for task in TASKS}


def answered(model: WeightlessModel, rows: Rows) -> list[float]:
    """Accuracy x100 of each task, then over all questions."""
    model.task_dict = {f"tvbench_tomato_{t}_blind": {"test": rows[t]} for t in TASKS}
    items: dict[str, list[dict[str, Any]]] = {}
    for task in TASKS:
        for place, row in enumerate(rows[task]):
            prompt = tvbench.doc_to_text(row, {"condition": "blind"})
            query = Query(prompt, (), f"tvbench_tomato_{task}_blind", "test", place, 0)
            result = tvbench.process_results({**row, "condition": "blind"}, [model.respond(query)])
            assert result["status"] == "answered"
            items.setdefault(task, []).append(result["accuracy"])
    every = [item for task in TASKS for item in items[task]]
    assert sum("score" in item for item in every) == 1484
    shares = [scoring.accuracy(some) for some in (*items.values(), every)]
    return [round(100 * share, 1) for share in shares if share is not None]


def documented(name: str) -> list[float]:
    """A row of the page's table of baselines."""
    (line,) = (line for line in PAGE.read_text().splitlines() if line.startswith(f"| {name} |"))
    return [float(number) for number in re.findall(r"\d+\.\d", line)]


@needs_annotations
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("`random_choice`, seed 42", lambda: RandomChoice(seed=42)),
        ("`random_choice`, `generator=python`", lambda: RandomChoice(generator="python")),
        ("`frequent_choice`", FrequentChoice),
    ],
)
def test_the_page_says_what_comes_out(
    rows: Rows, name: str, build: Callable[[], WeightlessModel]
) -> None:
    assert answered(build(), rows) == documented(name)


@needs_annotations
def test_pythons_generator_gives_the_papers_random_choice(rows: Rows) -> None:
    printed = [22.0, 17.6, 22.9, 17.9, 18.6, 13.4, 18.5]
    assert answered(RandomChoice(seed=42, generator="python"), rows) == printed
    assert list(published("tvbench").tables["accuracy"].rows["Random Choice (42)"]) == printed


@needs_annotations
def test_what_fits_the_papers_frequent_choice(rows: Rows) -> None:
    """A alone in two tasks, the mean of A and B in three, that of A, B and C in one."""
    fits = dict.fromkeys(TASKS, "AB") | {
        "shape_trend": "A", "action_count": "A", "velocity_frequency": "ABC"
    }  # fmt: skip
    shares = {
        task: sum(row["answer"] in fits[task] for row in rows[task])
        / len(rows[task])
        / len(fits[task])
        for task in TASKS
    }
    printed = published("tvbench").tables["accuracy"].rows["Frequent Choice"]
    assert [round(100 * share + 1e-9, 1) for share in shares.values()] == list(printed[:-1])


def test_pythons_generator_is_for_tvbench() -> None:
    with pytest.raises(ValueError, match="no generator 'numpy'"):
        RandomChoice(generator="numpy")


@needs_annotations
def test_what_needs_the_video_has_no_accuracy_without_it(rows: Rows) -> None:
    result = tvbench.process_results(rows["direction"][0], ["A"])
    assert result["status"] == "missing"
    assert scoring.accuracy([result["accuracy"]]) is None


@pytest.mark.parametrize("model", ["Random Choice (42)", "Frequent Choice"])
def test_the_papers_rows_stand_beside(model: str) -> None:
    printed = published("tvbench").tables["accuracy"].rows[model]
    assert documented(f"paper, {model}") == list(printed)
