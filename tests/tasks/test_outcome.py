"""What a run left is compared with what it computed; see `video_reasoning.tasks.outcome`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tasks.test_launcher import stand_in
from video_reasoning.tasks import launcher, outcome

TASK = "tvbench_tomato_direction"


def computed(size: int = 40, **counts: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the harness returns for a run of one task."""
    metrics = {
        "accuracy,none": 0.5,
        "failed_items,none": 0,
        **{f"{k},none": v for k, v in counts.items()},
    }
    results = {
        "results": {TASK: metrics},
        "n-samples": {TASK: {"original": size, "effective": size}},
        "model_name_sanitized": "model",
        "date": "2026-11-22T10:00:00",
    }
    lines = [{"status": "answered", "problem": ""} for _ in range(size)]
    for line in lines[: counts.get("failed_items", 0)]:
        line.update(status="failed", problem="the request failed: quota")
    return results, {TASK: lines}


def save(folder: Path, results: dict[str, Any], samples: dict[str, Any]) -> tuple[Path, Path]:
    """The files that the harness writes."""
    begin = folder / "model" / "2026-11-22T10-00-00"
    begin.parent.mkdir(parents=True)
    results_file, log = Path(f"{begin}_results.json"), Path(f"{begin}_samples_{TASK}.jsonl")
    results_file.write_text(json.dumps(results))
    log.write_text("".join(json.dumps(line) + "\n" for line in samples[TASK]))
    return results_file, log


def evaluate(monkeypatch: pytest.MonkeyPatch, folder: Path, found: Any, tasks: str = TASK) -> int:
    """Our exit code for a harness that computes this."""

    def single(run: argparse.Namespace) -> Any:
        return found() if callable(found) else found

    def whole() -> None:
        run = argparse.Namespace(include_path=None, tasks=tasks, output_path=str(folder))
        module.cli_evaluate_single(run)

    module = stand_in(monkeypatch, cli_evaluate=whole, cli_evaluate_single=single)
    monkeypatch.setattr(launcher, "_data_is_there", lambda arguments: True)
    return launcher.main(["--tasks", tasks])


def test_a_run_that_was_saved_is_a_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results, samples = computed(failed_items=2, missing_items=3, empty_responses=35)
    save(tmp_path, results, samples)
    assert evaluate(monkeypatch, tmp_path, (results, samples)) == 0
    assert capsys.readouterr().err == ""


def spoil_results(results: Path, log: Path) -> None:
    results.unlink()


def tear_results(results: Path, log: Path) -> None:
    results.write_text(results.read_text()[:50])


def empty_results(results: Path, log: Path) -> None:
    results.write_text("")


def drop_log(results: Path, log: Path) -> None:
    log.unlink()


def cut_log(results: Path, log: Path) -> None:
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:10]))


def tear_last_line(results: Path, log: Path) -> None:
    log.write_text(log.read_text()[:-3])


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoil_results, "could not be saved as"),
        (tear_results, "could not be saved as"),
        (empty_results, "could not be saved as"),
        (drop_log, "has 0 of 40 lines"),
        (cut_log, "has 10 of 40 lines"),
        (tear_last_line, "has 39 of 40 lines"),
    ],
)
def test_what_could_not_be_saved_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Any,
    says: str,
) -> None:
    found = computed()
    spoil(*save(tmp_path, *found))
    assert evaluate(monkeypatch, tmp_path, found) == launcher.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"failed_items": 3}, f"3 of 40 requests of {TASK} failed (7.5%; at most 5.0%"),
        ({"missing_items": 40}, "None of the 40 videos could be shown"),
        ({"empty_responses": 40}, "All 40 responses are empty"),
        ({"missing_items": 4, "empty_responses": 36}, "max_new_tokens"),
    ],
)
def test_a_run_that_nobody_answered_is_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    counts: dict[str, int],
    says: str,
) -> None:
    found = computed(**counts)
    save(tmp_path, *found)
    assert evaluate(monkeypatch, tmp_path, found) == launcher.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert ("quota" in line) == ("failed_items" in counts)


def test_how_many_may_fail_is_the_users_choice(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = computed(failed_items=3)
    save(tmp_path, *found)
    monkeypatch.setenv(outcome.MAX_FAILED_VARIABLE, "0.1")
    assert evaluate(monkeypatch, tmp_path, found) == 0
    monkeypatch.setenv(outcome.MAX_FAILED_VARIABLE, "many")
    assert evaluate(monkeypatch, tmp_path, found) == launcher.UNUSABLE
    assert "VIDEO_REASONING_MAX_FAILED=many is not a share" in capsys.readouterr().err


@pytest.mark.parametrize(("tasks", "code"), [(TASK, launcher.FAILED), ("list", 0)])
def test_a_model_that_ends_the_process_has_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tasks: str, code: int
) -> None:
    assert evaluate(monkeypatch, tmp_path, lambda: sys.exit(0), tasks) == code


def test_the_main_process_speaks_for_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert evaluate(monkeypatch, tmp_path, (None, None)) == 0


def test_the_size_of_a_run_without_samples() -> None:
    results, _ = computed(size=40, failed_items=1)
    results["n-samples"][TASK]["effective"] = 0.3  # --limit 0.3
    (sentence,) = outcome.problems(None, (results, None))
    assert "1 of 12 requests" in sentence


def test_a_log_that_the_harness_never_writes_is_not_missed(tmp_path: Path) -> None:
    results, samples = computed()
    save(tmp_path, results, samples)
    assert not list(outcome.unsaved(tmp_path, results, {**samples, "theirs/odd name": [{}]}))
    assert list(outcome.unsaved(tmp_path, results, {**samples, "theirs": [{}]}))
