"""The audit of our own tasks against what the tasks say themselves, over the sample."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.harness.audits import audit, judged

pytestmark = pytest.mark.harness


def test_the_other_tasks_of_ours_can_be_audited(sample_store: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    audit(
        out, sample_store, "--tasks", "blackswan_detective_mcq,causalvqa_debug",
        "--model", "random_choice",
        "--conditions", "original,ordered,blind,reordered", "--limit", "12", "--no-report",
        "--export-filtered", str(tmp_path / "kept.txt"),
    )  # fmt: skip
    _, results = judged(out)
    assert not [result.refused for result in results.values() if result.refused]
    for name, result in results.items():
        assert set(result.accuracies) == {"original", "ordered16", "blind", "reordered"}, name
        assert result.n == 12 * len(result.tasks), name
        assert result.accuracies["original"].value == pytest.approx(
            sum(item.scores["original"] for item in result.questions) / result.n
        )
    # CausalVQA's pairs, as the task counts them.
    pairs = results["causalvqa_debug"].groups[""]
    assert set(pairs) == {"original", "ordered16", "blind"}
    (logged,) = (out / "runs").rglob("*_results.json")
    metrics = json.loads(logged.read_text())["results"]
    for condition, found in pairs.items():
        own = metrics[f"audit_causalvqa_debug_{condition}"]
        assert found.n == 6 and found.value == pytest.approx(own["accuracy_paired,none"])
    assert (tmp_path / "kept.txt").read_text().count("\n") > 0
