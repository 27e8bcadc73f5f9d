"""Fixtures that several folders of tests share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

os.environ["HF_HUB_OFFLINE"] = "1"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A background shell and nohup ignore Ctrl-C, and so would every process that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    "harness/test_sample_runs.py",
    "audit/test_harness_tasks.py",
    "harness/test_tvbench_runs.py",
    "harness/test_blackswan_runs.py",
    "sight/test_measured.py",
    "reliability/test_faults.py",
    "reliability/test_engines.py",
    "handpick/test_browser.py",
    "metrics/test_answers.py",
    "harness/test_audit_runs.py",
    "harness/test_real_input.py",
)
"""Files that take longest, first: two processes that share the files out end at the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; xdist hands them out in this order, if it does not reorder."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all test processes of this run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def sample_store(shared_folder: Path) -> Path:
    """The store of the sample benchmark, written once for all test processes of this run."""
    from video_reasoning.tasks.prepare.build import prepare
    from video_reasoning.tasks.sample import write_releases

    out = shared_folder / "sample-benchmark"
    with FileLock(f"{out}.lock"):
        if not (out / "ready").exists():
            write_releases(out, workers=2)
            for benchmark in ("blackswan", "tvbench", "causalvqa"):
                prepare(benchmark, out / "releases" / benchmark, store_home=out / "store")
            (out / "ready").touch()
    return out / "store"


@pytest.fixture
def sample_home(sample_store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sample's store, as VIDEO_REASONING_HOME."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(sample_store))
    yield sample_store
