"""All of BlackSwanSuite on the sample, through the whole harness, with known answers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.harness.conftest import Harness
from tests.metrics.test_models import clip_folder  # noqa: F401 - a fixture
from tests.tasks.test_blackswan_generation import Judge, judge  # noqa: F401 - a fixture
from video_reasoning.tasks.sample.known import check, within_chance

pytestmark = pytest.mark.harness

CLOSED = ("detective_mcq", "detective_yn", "reporter_mcq", "reporter_yn")
GENERATION = {"forecaster_gen": 3, "detective_gen": 3, "reporter_gen": 1}
VARIANTS = (
    "blackswan_detective_mcq_clips",
    "blackswan_reporter_mcq_cot",
    "blackswan_detective_yn_parts10",
)


def questions(home: Path, split: str = "validation") -> dict[str, dict[str, Any]]:
    rows = pq.read_table(home / f"blackswan/{split}/questions.parquet").to_pylist()
    return {row["id"]: row for row in rows}


def test_all_seven_tasks_with_known_answers(
    harness: Harness,
    sample_store: Path,
    tmp_path: Path,
    clip_folder: str,  # noqa: F811
    judge: Judge,  # noqa: F811
) -> None:
    judge.rate = _rating
    run = harness(
        "--model", "sample_observer", "--tasks", ",".join(("blackswan", *VARIANTS)),
        "--use_cache", str(tmp_path / "cache"),
        home=sample_store,
        VIDEO_REASONING_CLIP_MODEL=clip_folder,
        VIDEO_REASONING_JUDGE_URL=judge.url,
        VIDEO_REASONING_JUDGE_NAME="word-counter",
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    known = questions(sample_store)
    results = run.results

    # What can be seen is answered; the hidden middle is really hidden from the Detective, and
    # from nobody else.
    for task in (*(f"blackswan_{kind}" for kind in CLOSED), *VARIANTS):
        samples = run.samples(task)
        by_evidence: dict[str, list[float]] = {}
        for sample in samples:
            by_evidence.setdefault(known[sample["id"]]["evidence"], []).append(sample["score"])
        seen = by_evidence["temporal"] + by_evidence["static"] + by_evidence.get("moment", [])
        assert len(seen) >= 40 and sum(seen) / len(seen) >= 0.95, task
        assert ("hidden" in by_evidence) is ("detective" in task)
        if hidden := by_evidence.get("hidden"):
            chance = 0.5 if "_yn" in task else 1 / 3
            least, most = within_chance([chance] * len(hidden))
            assert len(hidden) >= 40 and least <= sum(hidden) <= most, (task, sum(hidden))
        assert results[task]["missing_items"] == results[task]["withheld_items"] == 0
    assert check([run.folder]).sound

    # Three sampled responses reach the metrics and differ, cache or no cache; every pair was
    # rated once.
    pairs = set()
    for kind, count in GENERATION.items():
        task = f"blackswan_{kind}"
        samples = run.samples(task)
        assert len(samples) == 40
        for sample in samples:
            item = sample["clip_score"]
            assert len(set(item["responses"])) == len(item["responses"]) == count
            assert item["references"] == known[item["id"]]["references"]
            pairs |= {(one, other) for one in item["responses"] for other in item["references"]}
        table = results[task]
        assert table["distinct_responses"] == count
        for metric, least, most in (
            ("clip_score", -1, 1), ("llm_match", 1, 5), ("bleu", 0, 1), ("rouge_l", 0, 1),
        ):  # fmt: skip
            scores = [sample[metric]["score"] for sample in samples]
            assert table[metric] == pytest.approx(sum(scores) / len(scores))
            assert least <= table[metric] <= most + 1e-6
        assert table["llm_match"] == pytest.approx(
            sum(_mean_rating(sample["llm_match"]) for sample in samples) / len(samples)
        )
        assert table["dropped_pairs"] == 0
    asked = {request["messages"][0]["content"] for request in judge.requests}
    assert len(asked) == len(pairs)

    # Groups weigh by questions.
    for kind in ("mcq", "yn"):
        weights = {
            who: len(run.samples(f"blackswan_{who}_{kind}")) for who in ("detective", "reporter")
        }
        wanted = sum(
            n * results[f"blackswan_{who}_{kind}"]["accuracy"] for who, n in weights.items()
        )
        assert results[f"blackswan_{kind}"]["accuracy"] == pytest.approx(
            wanted / sum(weights.values())
        )
    assert results["blackswan_gen"]["rouge_l"] == pytest.approx(
        sum(results[f"blackswan_{kind}"]["rouge_l"] for kind in GENERATION) / 3
    )
    assert results["blackswan"]["missing_items"] == 0


def _rating(words: int) -> int:
    return words % 5 + 1


def _mean_rating(item: dict[str, Any]) -> float:
    """What the judge's mean over a question's pairs must be: references do not matter to it."""
    ratings = [_rating(len(response.split())) for response in item["responses"]]
    return sum(ratings) / len(ratings)


def with_captions(sample_store: Path, home: Path, count: int) -> Path:
    """A copy of the sample's store in which some Detective-MCQ questions have captions."""
    shutil.copytree(sample_store / "blackswan", home / "blackswan", copy_function=os.link)
    path = home / "blackswan/validation/questions.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    detective = [row for row in rows if row["task"] == "detective_mcq"]
    for row in detective[:count]:
        row.update(p_preevent="a ball on a table", p_postevent="a ball on the floor.")
    path.unlink()  # a link to the sample's own
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    manifest = json.loads((home / "blackswan/manifest.json").read_text())
    manifest["splits"]["validation"]["captioned"] = {
        "detective_mcq_perception": count,
        "detective_mcq_perception_comprehension": 0,
    }
    (home / "blackswan/manifest.json").unlink()
    (home / "blackswan/manifest.json").write_text(json.dumps(manifest))
    return home


def test_withheld_answers_captions_and_no_judge(
    harness: Harness, sample_store: Path, tmp_path: Path
) -> None:
    home = with_captions(sample_store, tmp_path / "store", count=5)
    run = harness(
        "--model", "random_choice", "--tasks", "blackswan_test,blackswan_detective_mcq_perception",
        home=home,
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    results = run.results
    asked = len(questions(home, "test"))
    assert results["blackswan_test"]["withheld_items"] == asked
    for name in ("accuracy", "clip_score", "llm_match", "bleu", "rouge_l"):
        assert results["blackswan_test"][name] in (None, "N/A")
    for kind in CLOSED:
        assert results[f"blackswan_test_{kind}"]["accuracy"] in (None, "N/A")
        assert all(sample["choice"] for sample in run.samples(f"blackswan_test_{kind}"))
    captioned = run.samples("blackswan_detective_mcq_perception")
    assert len(captioned) == 5
    assert captioned[0]["input"].startswith(
        "The beginning of the video shows a ball on a table. The end of the video shows a ball on "
        "the floor.\nWhich of the following descriptions indicate what happened in the hidden"
    )
    total = sum(row["task"] == "detective_mcq" for row in questions(home).values())
    assert results["blackswan_detective_mcq_perception"]["captionless_items"] == total - 5
    # No line about models: without references there is nothing to score.
    assert "Traceback" not in run.output


def test_captions_that_are_lacking_are_said_before_the_harness_starts(
    harness: Harness, sample_store: Path
) -> None:
    run = harness(
        "--model", "random_choice", "--tasks", "blackswan_detective_mcq_perception",
        home=sample_store,
    )  # fmt: skip
    assert run.returncode == 2
    assert run.output.startswith("lmms_eval: blackswan_detective_mcq_perception has no questions")
    assert "--captions FILE" in run.output and len(run.output.strip().splitlines()) == 1
