"""The principles task through the whole harness, on questions whose principles are known.

The sample observer really looks. So on questions that need the order it must gain from many
frames and lose by shuffling; on questions that every frame answers neither may matter; and where
one frame tells, the frame that a person would pick must beat a random one, and nowhere else.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.harness.conftest import Harness
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks import store
from video_reasoning.tasks.picks import Pick, write_picks
from video_reasoning.tasks.prepare.tvbench import TASK_FILES
from video_reasoning.tasks.principles_table import TASK, evaluate

pytestmark = pytest.mark.harness

ANYWHERE = 8
"""Which of the 16 frames is picked where none tells more than the others."""


def install_picks(home: Path, release: Path) -> int:
    """Picks the informative frame of every question; gives how many questions have one."""
    informative = {}
    for task, file in TASK_FILES.items():
        for number, row in json.loads((release / "data" / file).read_text()).items():
            if "informative_frame" in row:
                informative[f"{task}/{number}"] = row["informative_frame"]
    picks = []
    for row in pq.read_table(store.questions_file("tvbench", "test", home)).to_pylist():
        place = informative.get(row["id"], ANYWHERE)
        frame = uniform_indices(row["frames"], 16)[place]
        picks.append(Pick(row["id"], frame, row["frames"], "the drawing"))
    write_picks("tvbench", picks, home)
    return len(informative)


def about_zero(estimate: Estimate) -> bool:
    """Whether a ratio is within 0.1 of zero and its interval holds zero."""
    return abs(estimate.value) <= 0.1 and estimate.low <= 0 <= estimate.high


def test_the_principles_come_out_as_drawn(
    harness: Harness, sample_store: Path, tmp_path: Path
) -> None:
    home = tmp_path / "store"
    shutil.copytree(sample_store / "tvbench", home / "tvbench")
    moments = install_picks(home, sample_store.parent / "releases" / "tvbench")
    run = harness("--model", "sample_observer", "--tasks", TASK, home=home)
    assert run.returncode == 0, run.output[-3000:]
    (found,) = evaluate([run.folder])
    assert found.annotators == {"the drawing": found.parts[0].questions} and not found.automatic
    parts = {part.name: part for part in found.parts}
    assert set(parts) == {"all", "temporal", "static", "moment", "none"}
    for part in parts.values():
        assert part.left_out == 0 and sum(part.missing.values()) == 0
        assert part.picked == part.questions

    temporal = parts["temporal"].measures
    assert temporal["kappa_random"].value > 1.0 and temporal["kappa_random"].low > 0.5
    assert temporal["tau"].value > 0.5 and temporal["tau"].low > 0.25
    assert parts["moment"].questions == moments
    moment = parts["moment"].measures["rho"]
    assert moment.value > 0.5 and moment.low > 0.25
    assert about_zero(parts["static"].measures["kappa_random"])
    assert about_zero(parts["static"].measures["tau"])
    for name in ("temporal", "static", "none"):
        assert about_zero(parts[name].measures["rho"]), name

    # The harness's table is computed from the same list of answers.
    table = run.results[TASK]
    for name in ("kappa_random", "kappa_handpicked", "tau", "rho", "acc_ordered16"):
        assert table[name] == pytest.approx(parts["all"].measures[name].value), name
    assert table["llm_extracted"] == 0
