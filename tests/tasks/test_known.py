from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.tasks.harness_logs import judged_line, missing_line, write_run
from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.sample.known import ALPHA, check, show, within_chance

Question = dict[str, Any]
Answer = Callable[[Question], str | None]


def sound(paths: list[Path]) -> bool:
    """What `check-sample` prints and says of some runs."""
    found = check(paths)
    show(found, paths)
    return found.sound


def mcq(number: int, task: str, evidence: str, size: int = 3) -> Question:
    return {
        "id": f"{task}/{number}",
        "task": task,
        "question": "Which?",
        "options": [f"option {place}" for place in range(size)],
        "answer": "ABCDEF"[number % size],
        "evidence": evidence,
        "video": f"videos/{number}.mp4",
    }


def detective(count: int = 60) -> list[Question]:
    """Two thirds can be answered, a third happens where nobody may look."""
    kinds = ("temporal", "static", "hidden")
    return [mcq(number, "detective_mcq", kinds[number // 3 % 3]) for number in range(count)]


def pairs(count: int = 40) -> list[Question]:
    rows = []
    for number in range(count):
        evidence = "none" if number % 4 == 0 else "moment"
        for variant in (1, 2):
            row = mcq(number + 2 * variant, "planning", evidence, size=5)
            rows.append(
                {**row, "id": f"{number}/{variant}", "qid": str(number), "variant": variant}
            )
    return rows


def write(
    folder: Path, model: str, task: str, rows: list[Question], answer: Answer, **options: Any
) -> Path:
    """A store's questions and a run over them."""
    path = folder / f"{task}.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    lines = [
        judged_line(
            number, row, answer(row), qid=row.get("qid", ""), variant=str(row.get("variant", ""))
        )
        for number, row in enumerate(rows)
    ]
    write_run(folder / "out", {task: lines}, model=model, questions={task: path}, **options)
    return folder / "out"


def looks(row: Question) -> str:
    """Knows what it can see, and guesses the rest."""
    if row["evidence"] in ("temporal", "static", "moment"):
        return str(row["answer"])
    return guesses(row)


def guesses(row: Question) -> str:
    return random.Random(f"7 {row['id']}").choice("ABCDEF"[: len(row["options"])])


def knows(row: Question) -> str:
    return str(row["answer"])


@pytest.fixture(autouse=True)
def _no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "empty"))
    monkeypatch.setenv("COLUMNS", "160")


def test_binomial_range_is_scipys() -> None:
    from scipy.stats import binom

    for size, chance in ((10, 0.5), (40, 1 / 3), (200, 0.2)):
        least, most = within_chance([chance] * size)
        assert binom.cdf(least - 1, size, chance) <= ALPHA / 2 < binom.cdf(least, size, chance)
        assert binom.sf(most, size, chance) <= ALPHA / 2 < binom.sf(most - 1, size, chance)


def test_range_of_mixed_chances_worked_by_hand() -> None:
    # 0 right: 1/2 * 3/4 = 3/8; 1 right: 1/2 * 3/4 + 1/2 * 1/4 = 1/2; 2 right: 1/8.
    assert within_chance([0.5, 0.25], alpha=0.26) == (0, 1)  # the tail of 2 is 0.125 <= 0.13
    assert within_chance([0.5, 0.25], alpha=0.24) == (0, 2)
    assert within_chance([]) == (0, 0)


def test_an_observer_that_looks_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "a"
    write(folder, "sample_observer", "blackswan_detective_mcq", detective(), looks)
    write(folder, "sample_observer", "causalvqa_debug", pairs(), looks, date="20261122_080000")
    assert sound([folder / "out"])
    printed = capsys.readouterr().out
    assert "all answerable" in printed
    assert "answerable pairs" in printed
    assert "blackswan: all tasks" in printed
    assert "no:" not in printed
    assert "Everything came out as it must" in printed
    assert max(map(len, printed.splitlines())) <= 80
    done = CliRunner().invoke(app, ["check-sample", str(folder / "out"), "--format", "json"])
    content = json.loads(done.output)
    assert done.exit_code == 0 and content["sound"] and not content["faults"]
    rows = {(row["task"], row["evidence"]): row for row in content["models"]["sample_observer"]}
    known = rows["blackswan_detective_mcq", "all answerable"]
    assert (known["items"], known["accuracy"], known["verdict"]) == (42, 1.0, "ok")
    assert all(f"  {evidence} " in printed for _, evidence in rows)


def test_two_classes_with_one_checkpoint_are_both_shown(tmp_path: Path) -> None:
    for model, date in (("chat", "20261122_080000"), ("simple", "20261122_090000")):
        options = {"checkpoint": "org/model", "date": date}
        write(tmp_path, model, "blackswan_detective_mcq", detective(), looks, **options)
    done = CliRunner().invoke(app, ["check-sample", str(tmp_path / "out"), "--format", "json"])
    names = [f"org/model (pretrained=org/model) ({model})" for model in ("chat", "simple")]
    assert [*json.loads(done.output)["models"]] == names


def test_an_observer_that_knows_the_hidden_part_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = write(tmp_path, "sample_observer", "blackswan_detective_mcq", detective(), knows)
    assert not sound([out])
    assert "no: too high" in capsys.readouterr().out


def test_the_reporter_must_know_what_the_detective_cannot(tmp_path: Path) -> None:
    rows = [{**row, "task": "reporter_mcq"} for row in detective()]
    task = "blackswan_reporter_mcq"
    assert sound([write(tmp_path / "knows", "sample_observer", task, rows, knows)])
    assert not sound([write(tmp_path / "looks", "sample_observer", task, rows, looks)])


def test_an_observer_below_95_percent_fails(tmp_path: Path) -> None:
    rows = [row for row in detective() if row["evidence"] != "hidden"]  # 42 questions

    def wrong(count: int) -> Answer:
        missed = {row["id"] for row in rows[:count]}
        return lambda row: None if row["id"] in missed else str(row["answer"])

    assert len(rows) == 42
    task = "blackswan_detective_mcq"
    assert sound([write(tmp_path / "two", "sample_observer", task, rows, wrong(2))])  # 0.952
    assert not sound([write(tmp_path / "three", "sample_observer", task, rows, wrong(3))])  # 0.929


def test_pairs_must_be_right_as_pairs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 2 of 60 items wrong is 0.967, but 2 of 30 pairs is 0.933.
    missed = {"1/1", "2/2"}
    out = write(
        tmp_path,
        "sample_observer",
        "causalvqa_debug",
        pairs(),
        lambda row: None if row["id"] in missed else looks(row),
    )
    assert not sound([out])
    lines = capsys.readouterr().out.splitlines()
    assert any("all answerable" in line and "0.967" in line and "ok" in line for line in lines)
    assert any("pairs" in line and "0.933" in line and "no: too low" in line for line in lines)


def test_variants_that_are_guessed_alike_do_not_count_twice(tmp_path: Path) -> None:
    # The same guess for both variants doubles the variance; each variant stands for itself.
    rows = [row for row in pairs(100) if row["evidence"] == "none"]
    lucky = {str(number) for number in range(0, 44, 4)}  # 11 of 25
    out = write(
        tmp_path,
        "sample_observer",
        "causalvqa_debug",
        rows,
        lambda row: str(row["answer"]) if row["qid"] in lucky else None,
    )
    assert within_chance([0.2] * 50)[1] < 22 <= 2 * within_chance([0.2] * 25, ALPHA / 2)[1]
    assert sound([out])


def test_guessing_passes_and_a_cue_fails_for_random_choice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "g", "random_choice", "causalvqa_debug", pairs(200), guesses)
    assert sound([tmp_path / "g" / "out"])
    assert "0.040" in capsys.readouterr().out  # the chance of a pair
    assert not sound([write(tmp_path / "k", "random_choice", "causalvqa_debug", pairs(), knows)])


def test_other_models_are_shown_without_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "frequent_choice", "blackswan_detective_mcq", detective(), knows)
    write(
        tmp_path,
        "llava_vid",
        "blackswan_detective_mcq",
        detective(),
        guesses,
        checkpoint="some/llava",
        date="20270101_000000",
    )
    assert sound([tmp_path / "out"])
    printed = capsys.readouterr().out
    assert "frequent_choice" in printed
    assert "some/llava" in printed
    assert "ok" not in printed


def test_partial_views_have_no_verdict_for_the_observer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = write(tmp_path, "sample_observer", "causalvqa_debug_blind", pairs(), guesses)
    assert sound([out])
    assert "all answerable" not in capsys.readouterr().out


def test_missing_and_unparsed_items_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row for row in detective() if row["evidence"] != "hidden"]
    task = "blackswan_detective_mcq"
    path = tmp_path / "q.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    lines = [judged_line(number, row, str(row["answer"])) for number, row in enumerate(rows)]
    lines[0] = judged_line(0, rows[0], None)
    lines[1] = missing_line(1, rows[1])
    write_run(tmp_path / "out", {task: lines}, model="sample_observer", questions={task: path})
    assert not sound([tmp_path / "out"])
    printed = capsys.readouterr().out
    (total,) = (line for line in printed.splitlines() if line.startswith("  all answerable"))
    assert total.split()[2:4] == ["42", "0.976"]
    assert "no: videos" in total
    assert f"{task}, all answerable: 1 missing, 1 unparsed." in printed
    assert "Not everything came out as it must; verdicts that say no: 1." in printed


def test_runs_over_anything_else_are_not_taken_for_the_sample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "evidence": ""} for row in detective()]
    out = write(tmp_path, "sample_observer", "blackswan_detective_mcq", rows, knows)
    assert not sound([out])
    assert "No run over the sample benchmark" in capsys.readouterr().out


def test_a_log_of_other_questions_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = "blackswan_detective_mcq"
    out = write(tmp_path, "sample_observer", task, detective(), looks)
    changed = [{**row, "answer": "B" if row["answer"] == "A" else "A"} for row in detective()[:2]]
    pq.write_table(pa.Table.from_pylist(changed + detective()[2:]), tmp_path / f"{task}.parquet")
    assert not sound([out])
    assert "2 of the answers are to other questions" in capsys.readouterr().out


def test_withheld_answers_are_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{**row, "answer": ""} for row in pairs()]
    assert sound([write(tmp_path, "sample_observer", "causalvqa_test", rows, lambda row: "A")])
    assert "withheld" in capsys.readouterr().out


def test_free_text_is_left_to_its_own_metrics(tmp_path: Path) -> None:
    rows = [
        {**row, "task": "detective_gen", "options": [], "answer": "", "id": f"detective_gen/{n}"}
        for n, row in enumerate(detective(6))
    ]
    assert not sound(
        [write(tmp_path, "sample_observer", "blackswan_detective_gen", rows, looks_at)]
    )


def looks_at(row: Question) -> str:
    return "The ball falls off the table."


@pytest.fixture(autouse=True)
def _store_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))
