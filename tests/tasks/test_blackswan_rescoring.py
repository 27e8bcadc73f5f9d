"""`video-reasoning score`: generation metrics from the log of a finished run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.metrics.test_models import clip_folder  # noqa: F401 - a fixture
from tests.tasks.harness_logs import DATE, sample_line, write_run
from tests.tasks.test_blackswan_generation import QUESTIONS, Judge, judge, no_models  # noqa: F401
from video_reasoning.metrics.generation import bleu, rouge_l
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.llm import text_scorers
from video_reasoning.tasks.results.generation import score_runs

TASK = "blackswan_detective_gen"


def line(number: int, responses: list[str], references: list[str]) -> dict[str, Any]:
    item = {"id": f"detective_gen/{number}", "video": "v.mp4",
            "responses": responses, "references": references}  # fmt: skip
    scored = {"clip_score": item, "llm_match": item, "score": None, "choice": None}
    return sample_line(number, id=item["id"], target="", filtered_resps=responses, **scored)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A run of two questions with references, and one whose video was missing."""
    lines = [line(number, *question) for number, question in enumerate(QUESTIONS)]
    missing = {**line(2, [], []), "status": "missing", "filtered_resps": ["a", "b", "c"]}
    closed = [sample_line(0)]
    write_run(
        tmp_path / "results",
        {TASK: [*lines, missing], "blackswan_detective_mcq": closed},
        model="llava_vid",
        checkpoint="lab/model",
    )
    return tmp_path / "results"


def written(results: Path) -> dict[str, dict[str, Any]]:
    (path,) = results.rglob(f"{DATE}_scores_{TASK}.jsonl")
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    return {entry["id"]: entry for entry in lines}


def test_a_judge_that_came_later(results: Path, judge: Judge) -> None:  # noqa: F811
    (scores,) = score_runs([results], ["llm_match"])
    # The numbers of the task layer's own test: 2.5 and 3, three pairs outside 1..5.
    entry = scores.metrics["llm_match"]
    assert entry["value"] == pytest.approx(2.75)
    assert entry["dropped_pairs"] == 3
    assert entry["questions"] == 2
    # Standard error of 2.5 and 3: the deviation 0.5 / sqrt(2), over sqrt(2).
    assert entry["stderr"] == pytest.approx(0.25)
    assert entry["model"] == f"word-counter at {judge.url}, temperature 0"
    assert scores.left_out == 1
    lines = written(results)
    assert lines["detective_gen/0"]["llm_match"]["pairs"] == [[None, None], [3, 3], [2, 2]]
    summary = json.loads(next(results.rglob(f"{DATE}_scores.json")).read_text())
    assert summary["tasks"][TASK]["llm_match"] == entry
    assert "secret-key" not in json.dumps(summary) + json.dumps(lines)


def test_the_plain_metrics_need_no_model(results: Path) -> None:
    (scores,) = score_runs([results])
    for name, metric in (("bleu", bleu), ("rouge_l", rouge_l)):
        wanted = sum(metric(*question) for question in QUESTIONS) / len(QUESTIONS)
        assert scores.metrics[name]["value"] == pytest.approx(wanted)
    assert set(scores.problems) == {"clip_score", "llm_match"}
    assert "no judge is set up" in scores.problems["llm_match"]


def test_clip_score_agrees_with_the_runs_own(
    results: Path,
    clip_folder: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(text_scorers.CLIP_VARIABLE, clip_folder)
    (scores,) = score_runs([results], ["clip_score"])
    matrices = text_scorers.pair_scores("clip_score", text_scorers.as_questions(QUESTIONS))
    assert scores.metrics["clip_score"]["value"] == pytest.approx(
        sum(matrix.max() for matrix in matrices) / 2
    )
    assert scores.metrics["clip_score"]["model"] == clip_folder


def test_what_is_known_is_not_asked_again(
    results: Path,
    judge: Judge,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    score_runs([results], ["llm_match"])
    asked = len(judge.requests)
    text_scorers.forget_models()
    (scores,) = score_runs([results], ["llm_match", "bleu"])
    assert len(judge.requests) == asked == 9
    assert scores.metrics["llm_match"]["value"] == pytest.approx(2.75)
    # Both metrics stand in the files, each kept when the other is written.
    assert set(written(results)["detective_gen/0"]) == {"id", "llm_match", "bleu"}
    # Another judge, or the wish, is a reason to ask again.
    monkeypatch.setenv(text_scorers.JUDGE_NAME_VARIABLE, "another")
    score_runs([results], ["llm_match"])
    assert len(judge.requests) == 2 * asked
    text_scorers.forget_models()
    score_runs([results], ["llm_match"], again=True)
    assert len(judge.requests) == 3 * asked


def test_an_interrupted_run_goes_on_where_it_stopped(
    results: Path,
    judge: Judge,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from video_reasoning.tasks.results import generation

    monkeypatch.setitem(generation._CHUNK, "llm_match", 1)

    def stop(step: str, done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_runs([results], ["llm_match"], progress=stop)
    assert list(written(results)) == ["detective_gen/0"]
    asked = len(judge.requests)
    score_runs([results], ["llm_match"])
    assert len(judge.requests) == 9 > asked


def test_torn_scores_are_computed_again(results: Path) -> None:
    score_runs([results], ["bleu"])
    (path,) = results.rglob(f"{DATE}_scores_{TASK}.jsonl")
    path.write_text(path.read_text()[:-40])
    next(results.rglob(f"{DATE}_scores.json")).write_text("{torn")
    (scores,) = score_runs([results], ["bleu"])
    assert scores.metrics["bleu"]["questions"] == 2
    assert len(written(results)) == 2


def test_all_responses_withheld_have_no_score(tmp_path: Path) -> None:
    write_run(tmp_path, {"blackswan_test_reporter_gen": [line(0, [], [])]})
    (scores,) = score_runs([tmp_path], ["bleu"])
    assert scores.metrics["bleu"]["value"] is None and scores.left_out == 1


def test_logs_without_generation_say_so(tmp_path: Path) -> None:
    write_run(tmp_path, {"blackswan_detective_mcq": [sample_line(0)]})
    with pytest.raises(UserError, match="No generation task was logged in"):
        score_runs([tmp_path])


def test_an_unknown_metric_is_named(results: Path) -> None:
    with pytest.raises(UserError, match="no metric 'meteor'; the metrics are clip_score"):
        score_runs([results], ["meteor"])


def test_the_command(results: Path, judge: Judge) -> None:  # noqa: F811
    result = CliRunner().invoke(app, ["score", str(results), "--metric", "llm_match"])
    assert result.exit_code == 0, result.output
    assert "2.7500 ± 0.2500" in result.output and "lab/model" in result.output
    assert f"{DATE}_scores.json" in result.output


def test_the_command_without_a_judge(results: Path) -> None:
    result = CliRunner().invoke(app, ["score", str(results)])
    assert result.exit_code == 0, result.output
    assert "llm_match is not computed: no judge is set up" in result.output
    # Asked for by name it is an error, in one sentence.
    result = CliRunner().invoke(app, ["score", str(results), "--metric", "llm_match"])
    assert result.exit_code != 0
    assert "no judge is set up" in str(result.exception)
