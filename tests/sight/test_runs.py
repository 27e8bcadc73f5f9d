"""`frames_seen` of whole runs: what is shown, what is broken, and what a server receives."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.harness.conftest import Run, forked, run_harness
from tests.sight.server import serving

pytestmark = pytest.mark.harness

PRINCIPLES = "tvbench_tomato_principles"
BLIND = "tvbench_tomato_direction_blind"
SHOWN = {"ordered16": 16, "shuffled16": 16, "random1": 1}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.harness.tiny_qwen import write

    return write(tmp_path_factory.mktemp("sight") / "tiny-qwen")


def qwen(model: Path, limit: int, tasks: str = PRINCIPLES) -> tuple[str, ...]:
    arguments = (
        f"pretrained={model},device_map=cpu,max_num_frames=16,min_pixels=784,max_pixels=50176,"
        "attn_implementation=eager"
    )
    return (
        "--model", "qwen2_5_vl", "--model_args", arguments, "--device", "cpu",
        "--tasks", tasks, "--limit", str(limit), "--gen_kwargs", "max_new_tokens=2",
    )  # fmt: skip


def seen(run: Run, task: str = PRINCIPLES) -> list[tuple[str, Any, Any, Any]]:
    """Condition, frames shown and seen, and whether in order, of each sample."""
    return [
        (
            sample["tau"]["condition"] if task == PRINCIPLES else "blind",
            sample["frames_shown"],
            sample["frames_seen"],
            sample["frames_in_order"],
        )
        for sample in run.samples(task)
    ]


def changed(module: str, words: Sequence[str], home: Path, folder: Path, **more: str) -> Run:
    """Runs the command with something of the harness changed by a module."""
    variables = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        "VIDEO_REASONING_HOME": str(home), "HF_HOME": str(folder / "hf"),
        "OMP_NUM_THREADS": "1", "FORCE_QWENVL_VIDEO_READER": "decord", **more,
    }  # fmt: skip
    results = folder / "results"
    said = forked(
        module, [*words, "--output_path", str(results), "--log_samples"], folder, variables
    )
    return Run(*said, results, home)


@pytest.fixture
def harness(tmp_path: Path, sample_store: Path) -> Any:
    def run(*words: str, **environment: str) -> Run:
        environment = {"FORCE_QWENVL_VIDEO_READER": "decord", **environment}
        done = run_harness(tmp_path, *words, home=sample_store, **environment)
        assert done.returncode == 0, done.output[-3000:]
        return done

    return run


@pytest.mark.slow
def test_a_right_delivery_is_seen_as_shown(harness: Any, tiny: Path) -> None:
    run = harness(*qwen(tiny, 6, f"{PRINCIPLES},{BLIND}"))
    for condition, shown, got, ordered in seen(run):
        assert shown == got == SHOWN[condition], (condition, shown, got)
        assert ordered is (True if shown > 1 else None)
    assert all(each[1:] == (0, 0, None) for each in seen(run, BLIND))
    assert run.results[PRINCIPLES]["frames_seen"] == 11
    assert run.results[BLIND]["frames_seen"] == 0
    assert "the model did not get" not in run.output


@pytest.mark.slow
def test_qwen3_vl_sees_all_frames_at_the_sources_times(sample_store: Path, tmp_path: Path) -> None:
    from tests.harness.tiny_qwen import write_qwen3

    model, told = write_qwen3(tmp_path / "tiny-qwen3"), tmp_path / "told.txt"
    words = (
        "--model", "qwen3_vl", "--device", "cpu", "--tasks", f"{PRINCIPLES},{BLIND}",
        "--model_args", f"pretrained={model},device_map=cpu,max_num_frames=16,"
        "min_pixels=784,max_pixels=50176",
        "--limit", "6", "--gen_kwargs", "max_new_tokens=2",
    )  # fmt: skip
    run = changed("tests.sight.told", words, sample_store, tmp_path, TOLD=str(told))
    assert run.returncode == 0, run.output[-3000:]
    for condition, shown, got, ordered in seen(run):
        assert shown == got == SHOWN[condition], (condition, shown, got)
        assert ordered is (True if shown > 1 else None)
    samples = run.samples(PRINCIPLES)
    assert {(s["frames_as"], s["clock"]) for s in samples} == {("frames", "source")}
    assert {s["clock"] for s in run.samples(BLIND)} == {"none"}
    assert all(each[1:] == (0, 0, None) for each in seen(run, BLIND))
    lines = told.read_text(encoding="utf-8").splitlines()
    marks = [[float(mark) for mark in re.findall(r"<([\d.]+) seconds>", line)] for line in lines]
    # Two frames have one mark between them; a single frame is taken twice.
    assert {len(each) for each in marks} == {0, 1, 8}
    lengths = [float(sample["doc"]["seconds"]) for sample in samples]
    for each in (each for each in marks if len(each) == 8):
        last = each[-1] * 15 / 14.5
        assert each == sorted(each) and min(abs(last - length) for length in lengths) < 0.25, each


def test_a_broken_delivery_is_noticed(tiny: Path, sample_store: Path, tmp_path: Path) -> None:
    """One of three clips lost a frame, one has two swapped, one is every other frame."""
    ways = "dropped,swapped,resampled"
    run = changed("tests.sight.broken", qwen(tiny, 9), sample_store, tmp_path, BROKEN=ways)
    assert run.returncode == 0, run.output[-3000:]
    several = [(got, order) for _, shown, got, order in seen(run) if shown == 16]
    assert Counter(got for got, _ in several) == {15: 2, 16: 2, 8: 2}
    assert {order for got, order in several if got == 16} == {False}
    assert [rest for _, *rest in seen(run) if rest[0] == 1] == [[1, 1, None]] * 3
    assert run.results[PRINCIPLES]["kappa_random"] is None
    assert "kappa_random is N/A: the model did not get the frames that were shown" in run.output


@pytest.mark.slow
def test_it_can_be_turned_off(harness: Any, tiny: Path) -> None:
    run = harness(*qwen(tiny, 1), VIDEO_REASONING_SIGHT="off")
    assert all(each[1:] == (None, None, None) for each in seen(run))
    assert run.results[PRINCIPLES]["frames_seen"] is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        ("openai", "model_version=m,max_frames_num=16"),
        ("async_openai", "model=m,nframes=16"),
        ("openai --force_simple", "model_version=m,max_frames_num=16"),
    ],
)
def test_a_servers_requests_are_counted(harness: Any, model: str, arguments: str) -> None:
    """The server reads which images arrive; the run's own count has to say the same."""
    task = "tvbench_tomato_direction"
    with serving() as (address, arrived):
        run = harness(
            "--model", *model.split(), "--model_args", f"{arguments},base_url={address},api_key=k",
            "--tasks", f"{task},{BLIND}", "--limit", "6",
            OPENAI_API_KEY="k", OPENAI_API_BASE=address,
        )  # fmt: skip
    sent = dict(arrived)
    assert len(sent) == 12
    for sample in (*run.samples(task), *run.samples(BLIND)):
        (images,) = (images for text, images in sent.items() if sample["input"] in text)
        different = len(set(images))
        assert sample["frames_seen"] == different, (sample["id"], different)
        assert different <= sample["frames_shown"] <= 16
