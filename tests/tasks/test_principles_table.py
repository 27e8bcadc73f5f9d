"""Kappa, tau and rho of a logged run, with intervals, who picked, and the paper beside."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.tasks.harness_logs import sample_line, write_run
from video_reasoning.metrics.principles import paper_value
from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.results import principles
from video_reasoning.tasks.results.principles import TASK, PrinciplesError, evaluate
from video_reasoning.tasks.store.picks import Pick, picks_file, write_picks

Scores = Mapping[str, Mapping[str, float | None]]

# Twenty questions about ten videos; q0..q9 need the order, q10..q19 are static. In order all are
# right but one, shuffled half of the first ten are, from one frame two of them.
TEMPORAL, STATIC = [f"q{n}" for n in range(10)], [f"q{n}" for n in range(10, 20)]
SCORES: dict[str, dict[str, float | None]] = {
    "ordered16": {**dict.fromkeys(TEMPORAL, 1.0), **dict.fromkeys(STATIC, 1.0), "q0": 0.0},
    "shuffled16": {**{q: float(n < 5) for n, q in enumerate(TEMPORAL)}, **dict.fromkeys(STATIC, 1)},
    "random1": {**{q: float(n < 2) for n, q in enumerate(TEMPORAL)}, **dict.fromkeys(STATIC, 1)},
    "handpicked1": {"q1": 1.0, "q2": 1.0, "q3": 1.0, "q10": 1.0},
}


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions that a run names are read only in the store."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))


def lines(scores: Scores) -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = []
    for condition, of_each in scores.items():
        for id_, score in of_each.items():
            item: dict[str, Any] = {
                "id": id_,
                "video": f"videos/{int(id_[1:]) // 2}.mp4",
                "condition": condition,
            }
            if score is not None:
                item["correct"] = score
            written.append(
                sample_line(
                    len(written),
                    id=id_,
                    status="missing" if score is None else "answered",
                    score=score,
                    accuracy=None,
                    **dict.fromkeys(("kappa_random", "tau", "rho"), item),
                )
            )
    return written


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": id_, "evidence": "temporal" if id_ in TEMPORAL else "static"}
        for id_ in (*TEMPORAL, *STATIC)
    ]
    path = store.questions_file("tvbench", "test", tmp_path / "store")
    path.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def run(folder: Path, questions: Path | None, scores: Scores = SCORES, **options: Any) -> Path:
    named = {} if questions is None else {TASK: questions}
    return write_run(folder / "results", {TASK: lines(scores)}, questions=named, **options)


def picks(tmp_path: Path, annotator: str) -> None:
    write_picks(
        picks_file("tvbench", tmp_path / "store"),
        [Pick(id_, 7, 40, annotator) for id_ in SCORES["handpicked1"]],
    )


def shown(found: principles.PrinciplesRun) -> str:
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(principles.render(found))
    return console.export_text()


def test_every_term_rests_on_its_questions(tmp_path: Path, questions: Path) -> None:
    picks(tmp_path, "ada")
    (found,) = evaluate([run(tmp_path, questions)])
    whole, temporal, static = found.parts
    assert [part.name for part in found.parts] == ["all", "temporal", "static"]
    measured = {name: estimate.value for name, estimate in whole.measures.items()}
    assert measured == pytest.approx(
        {
            "acc_ordered16": 19 / 20, "acc_shuffled16": 15 / 20, "acc_random1": 12 / 20,
            "acc_handpicked1": 1.0, "kappa_random": 19 / 12 - 1, "kappa_handpicked": 0.0,
            # Of q1, q2, q3 and q10 the random frame shows two.
            "tau": 19 / 15 - 1, "rho": 4 / 2 - 1,
        }
    )  # fmt: skip
    assert (whole.questions, whole.picked, whole.left_out) == (20, 4, 0)
    assert whole.measures["tau"].n == 20 and whole.measures["tau"].n_clusters == 10
    assert whole.measures["rho"].n == 4 and whole.measures["rho"].n_clusters == 3
    for estimate in whole.measures.values():
        assert estimate.low <= estimate.value <= estimate.high
    assert temporal.measures["kappa_random"].value == pytest.approx(9 / 2 - 1)
    tau = static.measures["tau"]
    # No question is won or lost by the order; five videos do not prove that none ever is.
    assert tau.value == 0.0 and tau.low < 0 < tau.high
    # All of the static answers are right: five videos do not prove that all always are.
    assert static.measures["acc_ordered16"].low == pytest.approx(0.5655, abs=1e-4)


def test_what_is_undefined_says_why(tmp_path: Path, questions: Path) -> None:
    never: dict[str, float | None] = dict.fromkeys(SCORES["random1"], 0.0)
    scores: Scores = {"ordered16": SCORES["ordered16"], "random1": never}
    (found,) = evaluate([run(tmp_path, questions, scores)])
    assert found.parts[0].undefined == {
        "kappa_random": "Acc random1 is 0",
        "kappa_handpicked": "no picks",
        "tau": "no shuffled16",
        "rho": "no picks",
    }
    text = shown(found)
    assert text.count("undefined") == 4 * len(found.parts)
    assert max(len(line) for line in text.splitlines()[1:20]) <= 80
    assert "Acc random1 is 0" in text
    measures = found.as_json()["parts"][0]["measures"]
    assert measures["kappa_random"]["value"] is None
    assert measures["kappa_random"]["undefined"] == "Acc random1 is 0"


def test_missing_and_left_out_questions_are_counted(tmp_path: Path, questions: Path) -> None:
    without = {id_: score for id_, score in SCORES["random1"].items() if id_ != "q5"}
    scores: Scores = {
        **SCORES,
        "shuffled16": {**SCORES["shuffled16"], "q4": None},
        "random1": without,
    }
    (found,) = evaluate([run(tmp_path, questions, scores)])
    whole = found.parts[0]
    assert whole.left_out == 2 and whole.measures["tau"].n == 18
    assert whole.missing == {"ordered16": 0, "shuffled16": 1, "random1": 0, "handpicked1": 0}
    assert "questions 20, with a pick 4, left out 2" in shown(found)
    assert "missing 1 (shuffled16 1)" in shown(found)


def test_automatic_picks_of_earlier_versions_do_not_count(tmp_path: Path, questions: Path) -> None:
    picks(tmp_path, "ada")
    results = run(tmp_path, questions)
    (found,) = evaluate([results])
    assert "Handpicked frames by: ada (4)." in shown(found)
    path = picks_file("tvbench", tmp_path / "store")
    path.write_text(path.read_text().replace('"ada"', '"automatic:clip"'))
    (found,) = evaluate([results])
    assert found.annotators == {}
    assert "automatic:clip is a model" in " ".join(shown(found).split())


def test_picks_that_have_gone_are_told(tmp_path: Path, questions: Path) -> None:
    (found,) = evaluate([run(tmp_path, questions)])
    assert found.annotators == {}
    assert "no longer has the picks of 4 of the 4 questions" in shown(found)


def test_the_papers_rows_stand_beside(tmp_path: Path, questions: Path) -> None:
    (found,) = evaluate([run(tmp_path, questions)])
    kappa = next(line for line in shown(found).splitlines() if "kappa random" in line)
    assert "58.3" in kappa and "78.0" in kappa
    assert paper_value("GPT-4o", "rho") == 4.9
    assert paper_value("GPT-4o", "tau") == 46.2


def test_what_a_language_model_read_and_a_limit_are_told(tmp_path: Path, questions: Path) -> None:
    results = run(tmp_path, questions, limit=20.0)
    log = next(results.parent.glob("*_samples_*.jsonl"))
    log.write_text(log.read_text().replace('"lone letter"', '"llm:reader"', 3))
    (found,) = evaluate([results])
    assert found.llm_extracted == 3
    assert "3 answers were read by a language model." in found.notes
    assert "The run was cut short with --limit 20." in found.notes


def test_a_run_whose_store_has_gone_has_no_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "empty"))
    (found,) = evaluate([run(tmp_path, None)])
    assert [part.name for part in found.parts] == ["all"]
    assert any(note.startswith("No parts by evidence") for note in found.notes)


def test_other_logs_are_refused(tmp_path: Path) -> None:
    write_run(tmp_path, {"tvbench_tomato_direction": [sample_line(0, id="q0")]})
    with pytest.raises(PrinciplesError, match="no run of tvbench_tomato_principles"):
        evaluate([tmp_path])
    with pytest.raises(PrinciplesError, match="has no answer under"):
        evaluate([tmp_path], task="tvbench_tomato_direction")


def test_the_command_prints_a_table_or_json(tmp_path: Path, questions: Path) -> None:
    results = run(tmp_path, questions)
    shown = CliRunner().invoke(app, ["principles", str(results)])
    assert shown.exit_code == 0, shown.output
    assert "kappa" in shown.output and "GPT-4o" in shown.output
    machine = CliRunner().invoke(app, ["principles", str(results.parent), "--format", "json"])
    (loaded,) = json.loads(machine.stdout)
    assert loaded["parts"][0]["measures"]["tau"]["value"] == pytest.approx(19 / 15 - 1)
    assert "Example:" in CliRunner().invoke(app, ["principles", "--help"]).output


def test_an_open_upper_end_is_no_number() -> None:
    assert principles._json_number(math.inf) == "infinity"
