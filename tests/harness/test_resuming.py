"""A killed evaluation goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.reliability.evaluations import Evaluation, Plan, asked

pytestmark = pytest.mark.harness


@pytest.fixture(scope="module")
def whole(sample_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """An uninterrupted evaluation by the harness alone."""
    folder = tmp_path_factory.mktemp("whole")
    evaluation = Evaluation(folder, sample_store)
    plan = Plan(folder / "asked", harness_alone=True)
    assert evaluation.run(plan) == 0, evaluation.output[-3000:]
    return evaluation


@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_evaluation_goes_on_and_ends_with_the_same_log(
    ranks: int, whole: Evaluation, sample_store: Path, tmp_path: Path
) -> None:
    killed = Evaluation(tmp_path, sample_store, ranks)
    plan = Plan(tmp_path / "asked")
    assert killed.run(Plan(plan.asked, kill_after=160 // ranks)) == -9
    done = sum(asked(plan).values())
    if ranks == 1:
        # 34 and 110 items, and 16 responses to 6 that get three each.
        assert killed.run(plan, "--partial") == 0, killed.output[-3000:]
        (results,) = (tmp_path / "results/partial").glob("*/all/*_results.json")
        sizes = [len(file.read_text().splitlines()) for file in results.parent.glob("*.jsonl")]
        assert sorted(sizes) == [5, 34, 110]
        (ended,) = (tmp_path / "results/partial").glob("*/tvbench_tomato_direction/*_results.json")
        (task,) = json.loads(ended.read_text())["results"]
        assert task == "tvbench_tomato_direction"
        assert sum(asked(plan).values()) == done
    assert killed.run(plan) == 0, killed.output[-3000:]
    assert killed.logged() == whole.logged()
    if ranks == 1:  # two processes aggregate the items in another order
        assert killed.metrics() == whole.metrics()
    assert killed.left() == []
    again = asked(plan) - asked(Plan(whole.folder / "asked"))
    # An item of three responses is a batch of its own.
    assert sum(again.values()) <= 3 * ranks
