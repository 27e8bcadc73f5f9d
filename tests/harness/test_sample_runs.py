"""Known answers: the sample benchmark through the whole harness."""

from __future__ import annotations

import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.harness.conftest import THREE_TASKS, Harness, Run
from tests.tasks.releases import write_video
from video_reasoning.tasks import registry
from video_reasoning.tasks.leaderboards.causalvqa import CausalVQA
from video_reasoning.tasks.leaderboards.predictions import collect

pytestmark = pytest.mark.harness

ANSWERABLE = {"temporal", "static", "moment"}


def accuracy(samples: list[dict[str, Any]], evidence: set[str]) -> tuple[int, float]:
    """Items and accuracy of the samples that need one of some kinds of evidence."""
    scores = [sample["score"] for sample in samples if sample["doc"]["evidence"] in evidence]
    return len(scores), sum(scores) / len(scores)


def chance(samples: list[dict[str, Any]]) -> float:
    return sum(1 / len(sample["doc"]["options"]) for sample in samples) / len(samples)


def within_three_errors(value: float, expected: float, count: int) -> bool:
    return abs(value - expected) <= 3 * (expected * (1 - expected) / count) ** 0.5


def test_the_observer_answers_what_can_be_seen_and_guesses_the_rest(
    harness: Harness, sample_store: Path
) -> None:
    run = harness("--model", "sample_observer", "--tasks", THREE_TASKS, home=sample_store)
    assert run.returncode == 0, run.output[-3000:]
    for task in THREE_TASKS.split(","):
        samples = run.samples(task)
        count, right = accuracy(samples, ANSWERABLE)
        assert count >= 10 and right >= 0.95, (task, count, right)
        unanswerable = [s for s in samples if s["doc"]["evidence"] not in ANSWERABLE]
        assert unanswerable, task
        guessed = sum(sample["score"] for sample in unanswerable) / len(unanswerable)
        assert within_three_errors(guessed, chance(unanswerable), len(unanswerable)), task
        assert all(sample["rule"] for sample in samples)
    results = run.results
    for task in THREE_TASKS.split(","):
        assert results[task]["missing_items"] == 0
        assert results[task]["skipped_rows"] == 0
        assert results[task]["unparsed_rate"] <= 0.05
    debug = run.samples("causalvqa_debug")
    pairs: dict[str, list[float]] = {}
    for sample in debug:
        pairs.setdefault(sample["doc"]["qid"], []).append(sample["score"])
    assert results["causalvqa_debug"]["accuracy_paired"] == pytest.approx(
        sum(all(scores) for scores in pairs.values()) / len(pairs)
    )
    assert results["causalvqa_debug"]["accuracy_unpaired"] == pytest.approx(
        sum(sample["score"] for sample in debug) / len(debug)
    )
    assert results["causalvqa_debug"]["accuracy_unpaired_stderr_clustered"] != "N/A"
    # The same run through the leaderboard's file gives the same numbers.
    predictions = collect("causalvqa", [run.folder], split="debug")
    predictions.require_complete()
    (file,) = CausalVQA().write(predictions, run.folder / "submission.jsonl")
    scores = CausalVQA().score(file, predictions.questions)
    for name in ("paired", "unpaired"):
        assert scores[f"accuracy_{name}"] == results["causalvqa_debug"][f"accuracy_{name}"]


@pytest.fixture
def random_choice(harness: Harness, sample_store: Path) -> Run:
    run = harness("--model", "random_choice", "--tasks", THREE_TASKS, home=sample_store)
    assert run.returncode == 0, run.output[-3000:]
    return run


def test_random_choice_is_at_chance_and_two_processes_agree(
    random_choice: Run, sample_store: Path, tmp_path: Path, harness: Harness
) -> None:
    for task in THREE_TASKS.split(","):
        samples = random_choice.samples(task)
        right = sum(sample["score"] for sample in samples) / len(samples)
        assert within_three_errors(right, chance(samples), len(samples)), (task, right)
    alone = {task: random_choice.results[task] for task in THREE_TASKS.split(",")}
    choices = {
        task: {s["doc"]["id"]: s["choice"] for s in random_choice.samples(task)} for task in alone
    }
    shutil.rmtree(random_choice.folder)
    # What `accelerate launch` starts on several GPUs; on CPUs it would start one process only.
    both = harness(
        "--model", "random_choice", "--tasks", THREE_TASKS, "--verbosity", "INFO",
        home=sample_store, ranks=2,
    )  # fmt: skip
    assert both.returncode == 0, both.output[-3000:]
    assert "on rank 1" in both.output
    for task, metrics in alone.items():
        samples = both.samples(task)
        assert {s["doc"]["id"]: s["choice"] for s in samples} == choices[task]
        for name, value in metrics.items():
            if "_stderr" not in name and name not in ("alias", " "):
                assert both.results[task][name] == pytest.approx(value), (task, name)


def test_broken_missing_and_odd_items_are_counted_and_the_run_goes_on(
    harness: Harness, sample_store: Path, tmp_path: Path
) -> None:
    home = tmp_path / "store"
    shutil.copytree(sample_store / "causalvqa", home / "causalvqa")
    questions = pq.read_table(home / "causalvqa/debug/questions.parquet").to_pylist()
    videos = list(dict.fromkeys(row["video"] for row in questions))
    gone, broken = (home / "causalvqa" / video for video in videos[:2])
    gone.unlink()
    broken.chmod(broken.stat().st_mode | stat.S_IWUSR)
    broken.unlink()
    broken.write_bytes(b"this is no video")
    expected = sum(row["video"] in videos[:2] for row in questions)
    run = harness("--model", "sample_observer", "--tasks", "causalvqa_debug", home=home)
    assert run.returncode == 0, run.output[-3000:]
    results = run.results["causalvqa_debug"]
    assert results["missing_items"] == expected
    assert results["incomplete_pairs"] == 0
    missing = [s for s in run.samples("causalvqa_debug") if s["status"] == "missing"]
    assert len(missing) == expected
    assert all(sample["problem"] for sample in missing)
    assert "shown as missing" in run.output


OF_EIGHT_FRAMES = {
    "my_configuration": "dataset_name: ordered8\n",
    "my_keywords": "lmms_eval_specific_kwargs:\n  default:\n    condition: ordered8\n",
}


def test_a_users_own_yaml_may_include_ours(
    harness: Harness, sample_store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    ours = registry.tasks_path() / "tvbench" / "tvbench_tomato_direction.yaml"
    for task, named in OF_EIGHT_FRAMES.items():
        (folder / f"{task}.yaml").write_text(f"include: {ours}\ntask: {task}\n{named}")
    run = harness(
        "--model", "sample_observer", "--tasks", ",".join(OF_EIGHT_FRAMES), "--limit", "4",
        "--include_path", str(folder), home=sample_store,
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    for task in OF_EIGHT_FRAMES:
        samples = run.samples(task)
        assert len(samples) == 4
        assert "provided with 8 separate frames" in samples[0]["input"]


def test_a_failed_evaluation_exits_with_one(harness: Harness, sample_store: Path) -> None:
    run = harness(
        "--model", "qwen2_vl", "--model_args", "pretrained=nobody/absent",
        "--tasks", "causalvqa_debug", home=sample_store,
    )  # fmt: skip
    assert run.returncode == 1
    assert "Error during evaluation" in run.output


PIPELINE = """
import sys
from importlib.metadata import entry_points
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.tasks import TaskManager
from video_reasoning.tasks.registry import tasks_path

results = simple_evaluate(
    model="sample_observer",
    tasks=["tvbench_tomato_direction"],
    task_manager=TaskManager(include_path=str(tasks_path()), include_defaults=False),
    limit=6,
    force_simple=True,
)
print("ACCURACY", results["results"]["tvbench_tomato_direction"]["accuracy,none"])
print("SAMPLES", len(results["samples"]["tvbench_tomato_direction"]))
(own,) = entry_points(group="console_scripts", name="lmms-eval")
sys.argv[0] = "lmms-eval"
sys.exit(own.load()())
"""


def test_our_tasks_in_someone_elses_pipeline_and_under_the_harnesss_own_command(
    harness: Harness, sample_store: Path
) -> None:
    """In a process that never runs our launcher: the include path is all it takes."""
    run = harness(
        "--model", "frequent_choice", "--tasks", "causalvqa_debug", "--limit", "8",
        "--include_path", str(registry.tasks_path()),
        home=sample_store, launcher=(sys.executable, "-c", PIPELINE),
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    assert len(run.samples("causalvqa_debug")) == 8
    assert "SAMPLES 6" in run.output
    value = float(run.output.split("ACCURACY ")[1].split()[0])
    assert 0 <= value <= 1


def test_new_data_under_the_same_name_is_not_answered_from_a_cache(
    harness: Harness, sample_store: Path, tmp_path: Path
) -> None:
    home = tmp_path / "store"
    shutil.copytree(sample_store / "causalvqa", home / "causalvqa")
    path = home / "causalvqa/debug/questions.parquet"
    table = pq.read_table(path)
    for rows in (8, 4):
        pq.write_table(table.slice(0, rows), path)
        run = harness("--model", "random_choice", "--tasks", "causalvqa_debug", home=home)
        assert run.returncode == 0, run.output[-3000:]
        assert len(run.samples("causalvqa_debug")) == rows
        shutil.rmtree(run.folder)


def test_a_video_that_a_model_chokes_on_is_only_one_item(tmp_path: Path) -> None:
    # The placeholder and the smallest clips must be readable the way llava_vid reads them.
    from video_reasoning.tasks import media

    write_video(tmp_path / "tiny.mp4", frames=2)
    for path in (media.placeholder(), tmp_path / "tiny.mp4"):
        assert len(llava_vid_frames(path, 16)) >= 1


def llava_vid_frames(path: Path, most: int, *, force: bool = False, fps: int = 1) -> list[Any]:
    """The frames that the harness's llava_vid takes: one a second unless that is too many."""
    import numpy as np
    from decord import VideoReader, cpu

    reader = VideoReader(str(path), ctx=cpu(0), num_threads=1)
    rate = max(1, round(reader.get_avg_fps() / fps))
    taken = list(range(0, len(reader), rate))
    if len(taken) > most or force:
        taken = np.linspace(0, len(reader) - 1, most, dtype=int).tolist()
    return list(reader.get_batch(taken).asnumpy())


def test_llava_vid_takes_exactly_the_sixteen_frames(sample_home: Path) -> None:
    import numpy as np
    from decord import VideoReader, cpu

    from video_reasoning.preprocessing.sampling import uniform_indices
    from video_reasoning.tasks import tvbench

    rows = pq.read_table(sample_home / "tvbench/test/questions.parquet").slice(0, 3).to_pylist()
    for row in rows:
        (clip,) = tvbench.doc_to_visual(row)
        frames = llava_vid_frames(Path(clip), 16)
        source = VideoReader(str(sample_home / "tvbench" / row["video"]), ctx=cpu(0))
        wanted = source.get_batch(uniform_indices(len(source), 16)).asnumpy()
        assert np.array_equal(np.stack(frames), wanted)


@pytest.mark.parametrize(
    ("fault", "code", "says"),
    [
        ("exits", 1, "ended the process before there were results"),
        ("stops", 1, "3 of 34 requests of tvbench_tomato_direction failed"),
        ("full", 1, "could not be saved as"),
    ],
)
def test_a_run_that_failed_says_so(
    harness: Harness, sample_store: Path, fault: str, code: int, says: str
) -> None:
    run = harness(
        "--model", "random_choice", "--tasks", "tvbench_tomato_direction", home=sample_store,
        module="tests.harness.faulty", FAULT=fault,
    )  # fmt: skip
    assert run.returncode == code, run.output[-3000:]
    assert says in run.output
    if fault == "stops":
        results = run.results["tvbench_tomato_direction"]
        samples = run.samples("tvbench_tomato_direction")
        failed = [sample for sample in samples if sample["status"] == "failed"]
        assert len(failed) == results["failed_items"] == 3
        scores = [sample["score"] for sample in samples if sample["status"] != "failed"]
        assert results["accuracy"] == pytest.approx(sum(scores) / len(scores))
        assert results["unparsed_rate"] == 0
