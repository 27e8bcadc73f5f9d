"""Real questions and real footage through `prepare` and the whole harness."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.harness.conftest import THREE_TASKS, Harness
from tests.real_footage.build import write_releases
from tests.tasks.releases import write_video
from video_reasoning.tasks import store
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.tvbench.release import PUBLISHED_QUESTIONS

pytestmark = pytest.mark.harness

ANNOTATIONS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "tomato"


@pytest.fixture(scope="module")
def footage_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the questions over real footage."""
    out = tmp_path_factory.mktemp("footage")
    write_releases(out / "releases")
    for benchmark in store.SPLITS:
        manifest = prepare(benchmark, out / "releases" / benchmark, store_home=out / "store")
        for summary in manifest["splits"].values():
            assert summary["missing"] == [] and summary["skipped"] == []
    return out / "store"


def test_real_footage_runs_like_the_sample(harness: Harness, footage_store: Path) -> None:
    run = harness("--model", "random_choice", "--tasks", THREE_TASKS, home=footage_store)
    assert run.returncode == 0, run.output[-3000:]
    for task in THREE_TASKS.split(","):
        results = run.results[task]
        samples = run.samples(task)
        assert len(samples) >= 2
        assert results["missing_items"] == results["skipped_rows"] == 0
        assert all(sample["status"] == "answered" for sample in samples)
        assert all(sample["doc"]["options"][0] in sample["input"] for sample in samples)


def test_a_real_models_code_reads_our_clips_and_prompts(
    harness: Harness, footage_store: Path, tmp_path: Path
) -> None:
    from tests.harness.tiny_qwen import write

    model = write(tmp_path / "tiny-qwen")
    arguments = (
        f"pretrained={model},device_map=cpu,max_num_frames=16,min_pixels=784,max_pixels=50176,"
        "attn_implementation=eager"
    )
    run = harness(
        "--model", "qwen2_5_vl", "--model_args", arguments, "--device", "cpu",
        "--tasks", THREE_TASKS, "--limit", "4", "--gen_kwargs", "max_new_tokens=8",
        home=footage_store, FORCE_QWENVL_VIDEO_READER="decord",
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    for task in THREE_TASKS.split(","):
        samples = run.samples(task)
        assert 2 <= len(samples) <= 4
        assert run.results[task]["missing_items"] == 0
        # What it says means nothing, but it must say it of sixteen frames, not of none.
        assert all(sample["status"] in ("answered", "unparsed") for sample in samples)


@pytest.mark.skipif(
    not ANNOTATIONS.is_dir(), reason="TVBench's real annotation files are not beside the checkout"
)
def test_all_real_tvbench_questions(harness: Harness, tmp_path: Path) -> None:
    release = tmp_path / "TOMATO"
    (release / "data").mkdir(parents=True)
    stand_in = write_video(tmp_path / "stand-in.mp4", frames=20)
    for path in ANNOTATIONS.glob("*.json"):
        (release / "data" / path.name).write_bytes(path.read_bytes())
        for row in json.loads(path.read_text()).values():
            video = release / "videos" / row["demonstration_type"] / f"{row['key']}.mp4"
            video.parent.mkdir(parents=True, exist_ok=True)
            if not video.exists():
                os.link(stand_in, video)
    manifest = prepare("tvbench", release, store_home=tmp_path / "store")
    summary = manifest["splits"]["test"]
    assert summary["tasks"] == dict(sorted(PUBLISHED_QUESTIONS.items()))
    assert summary["missing"] == [] and summary["skipped"] == []
    assert manifest["notes"] == ["1,397 distinct videos, the paper has 1,417."]

    run = harness(
        "--model", "random_choice", "--model_args", "seed=42", "--tasks", "tvbench_tomato",
        home=tmp_path / "store",
    )  # fmt: skip
    assert run.returncode == 0, run.output[-3000:]
    samples = [
        sample for task in PUBLISHED_QUESTIONS for sample in run.samples(f"tvbench_tomato_{task}")
    ]
    assert len(samples) == 1484
    assert all(sample["status"] == "answered" for sample in samples)
    chance = sum(1 / len(sample["doc"]["options"]) for sample in samples) / 1484
    right = sum(sample["score"] for sample in samples) / 1484
    assert abs(right - chance) < 3 * (chance * (1 - chance) / 1484) ** 0.5
    # The group weighs questions, not tasks; so do its breakdowns, over the parts' own questions.
    found = run.results["tvbench_tomato"]
    assert found["accuracy"] == pytest.approx(right)
    for column, value, metric, n in (
        ("demonstration_type", "human", "acc_human", 595),
        ("counterfactual", True, "acc_counterfactual", 100),
        ("counterfactual", False, "acc_not_counterfactual", 1384),
        ("first_person", True, "acc_first_person", 80),
        ("twin", "twin_real", "acc_twin_real", 101),
        ("twin", "twin_simulated", "acc_twin_simulated", 101),
    ):
        scores = [sample["score"] for sample in samples if sample["doc"][column] == value]
        assert (len(scores), found[metric]) == (n, pytest.approx(sum(scores) / n))
