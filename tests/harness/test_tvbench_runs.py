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

from tests.harness.audits import audit, judged
from tests.harness.conftest import Run, run_harness
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks import store
from video_reasoning.tasks.audit.evaluate import evaluate_questions
from video_reasoning.tasks.results.principles import TASK, evaluate
from video_reasoning.tasks.store.picks import Pick, picks_file, write_picks
from video_reasoning.tasks.store.questions import load_questions
from video_reasoning.tasks.tvbench.release import TASK_FILES

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
    write_picks(picks_file("tvbench", home), picks)
    return len(informative)


def about_zero(estimate: Estimate) -> bool:
    """Whether a ratio is within 0.1 of zero and its interval holds zero."""
    return abs(estimate.value) <= 0.1 and estimate.low <= 0 <= estimate.high


@pytest.fixture(scope="module")
def observed(sample_store: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, int]:
    """The run of the principles task, and how many questions one frame tells more about."""
    folder = tmp_path_factory.mktemp("principles")
    home = folder / "store"
    shutil.copytree(sample_store / "tvbench", home / "tvbench")
    moments = install_picks(home, sample_store.parent / "releases" / "tvbench")
    run = run_harness(folder, "--model", "sample_observer", "--tasks", TASK, home=home)
    return run, moments


@pytest.fixture(autouse=True)
def _sample_at_home(observed: tuple[Run, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """What reads the run in this process finds the store with the picks."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(observed[0].home))


def test_the_principles_come_out_as_drawn(observed: tuple[Run, int]) -> None:
    run, moments = observed
    assert run.returncode == 0, run.output[-3000:]
    (found,) = evaluate([run.folder])
    assert found.annotators == {"the drawing": found.parts[0].questions}
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


CONDITIONS = ("ordered16", "shuffled16", "random1", "handpicked1")


def test_an_audit_agrees_with_the_principles(observed: tuple[Run, int], tmp_path: Path) -> None:
    run, _ = observed
    home = run.home
    (principles,) = evaluate([run.folder])
    out = tmp_path / "audit"
    printed = audit(
        out, home, "--tasks", "tvbench_tomato", "--model", "sample_observer",
        "--conditions", "ordered,shuffled,random1,handpicked1", "--no-report",
    )  # fmt: skip
    plan, results = judged(out)
    whole = results["tvbench_tomato"]
    assert len(whole.tasks) == 6 and f"tvbench_tomato (6 tasks): {whole.n} questions" in printed

    # The same answers to the same questions under the same conditions.
    scores = {
        (sample["id"], sample["tau"]["condition"]): sample["score"] for sample in run.samples(TASK)
    }
    mine = {
        (item.id, name): score for item in whole.questions for name, score in item.scores.items()
    }
    assert mine == scores
    everything = next(part for part in principles.parts if part.name == "all")
    for name in CONDITIONS:
        assert whole.accuracies[name].value == everything.measures[f"acc_{name}"].value
    for name, theirs in (
        ("kappa_random1", "kappa_random"),
        ("kappa_handpicked1", "kappa_handpicked"),
        ("tau", "tau"),
        ("rho", "rho"),
    ):
        assert whole.ratios[name].value == pytest.approx(everything.measures[theirs].value)

    # Asked once for each question and condition, and nothing else.
    lines = sum(
        len(path.read_text().splitlines()) for path in (out / "runs").rglob("*_samples_*.jsonl")
    )
    assert lines == len(CONDITIONS) * len(whole.questions)

    # The temporal part passes; the static part is exposed, though 36 questions do not prove it.
    rows = load_questions(store.questions_file("tvbench", "test", home), ["id", "evidence"])
    evidence = {name: row["evidence"] for name, row in rows.items()}
    parts = {
        name: evaluate_questions(
            plan, whole, CONDITIONS, [item for item in whole.questions if evidence[item.id] == name]
        )
        for name in ("static", "temporal")
    }
    assert parts["static"].differences["random1"].value == 0
    assert parts["static"].verdict[0].startswith("Undecided: whether several frames are needed")
    assert parts["temporal"].verdict[0].startswith("Temporal: it takes several frames")
    found = [json.loads(line) for line in (out / "questions.jsonl").read_text().splitlines()]
    exposed = {entry["id"] for entry in found if "right with one random frame" in entry["reasons"]}
    static = {name for name, kind in evidence.items() if kind == "static"}
    assert static <= exposed
