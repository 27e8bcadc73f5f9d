"""A killed evaluation goes on."""

from __future__ import annotations

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


def test_a_killed_evaluation_goes_on_and_ends_with_the_same_log(
    whole: Evaluation, sample_store: Path, tmp_path: Path
) -> None:
    killed = Evaluation(tmp_path, sample_store)
    for responses in (20, 60):
        assert killed.run(Plan(tmp_path / "asked", kill_after=responses)) == -9
    assert killed.run(Plan(tmp_path / "asked")) == 0, killed.output[-3000:]
    assert killed.logged() == whole.logged()
    assert killed.metrics() == whole.metrics()
    assert killed.left() == []
    assert asked(Plan(tmp_path / "asked")) == asked(Plan(whole.folder / "asked"))
