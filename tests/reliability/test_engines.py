"""The same work on dask and ray clusters: real schedulers and workers, on this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reliability import poison
from tests.reliability.runs import (
    COMMAND,
    hidden,
    run,
    tree,
    write_event_videos,
    write_release,
)
from video_reasoning.preprocessing import children, clusters
from video_reasoning.preprocessing.split import folder as split
from video_reasoning.preprocessing.split import split_folder
from video_reasoning.preprocessing.workers import EngineError, Lost, Workers
from video_reasoning.tasks.prepare import build as preparing
from video_reasoning.tasks.prepare.build import prepare


def end_worker() -> None:
    """Kills the worker of the cluster whose child this is."""
    parent = Path(f"/proc/{os.getppid()}/cmdline").read_text()
    assert "multiprocessing" in parent or "ray::" in parent
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def kill_worker_once(job: tuple[int, str]) -> int:
    """The third item takes a worker of the cluster along, the first time it is done."""
    number, marker = job
    if number == 3 and not Path(marker).exists():
        Path(marker).touch()
        end_worker()
    return number


def kill_worker_always(number: int) -> int:
    if number == 2:
        end_worker()
    return number


def full(number: int) -> int:
    if number == 2:
        raise OSError(28, "No space left on device", "/somewhere")
    return number


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        # An item may meet two deaths of workers; starting them anew takes seconds.
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        children.deaf(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as found,
    ):
        yield found


def test_a_missing_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters.importlib.util, "find_spec", lambda name: None)
    for engine, package, name in (
        ("dask", "distributed", "'dask[distributed]'"),
        ("ray", "ray", "ray"),
    ):
        with pytest.raises(EngineError) as raised, Workers(2, engine):
            pass
        assert f"needs {package}, which is not installed" in str(raised.value)
        assert str(raised.value).endswith(f"pip install {name}")
    ended = "The engine 'local' has no address"
    with pytest.raises(EngineError, match=ended):
        Workers(2, "local", "tcp://127.0.0.1:1")


@pytest.fixture(scope="module")
def ray() -> Iterator[None]:
    """One cluster for all tests that ask for it, so that each need not start its own."""
    pytest.importorskip("ray")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(Workers(2, "ray"))
        except EngineError:  # a busy machine takes longer than ray waits
            stack.enter_context(Workers(2, "ray"))
        yield


@pytest.fixture(params=["dask", "ray"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An engine with two real workers on this machine."""
    found = request.getfixturevalue("cluster" if request.param == "dask" else "ray")
    if request.param == "dask":
        # As where a batch script sets it.
        monkeypatch.setitem(_config(), "scheduler-address", found.scheduler_address)
    return str(request.param)


@pytest.mark.cluster
def test_prepare_on_a_cluster_writes_the_same_store(tmp_path: Path, engine: str) -> None:
    source = write_release(tmp_path / "release", stems=4)
    prepare("blackswan", source, store_home=tmp_path / "local", workers=2)
    prepare("blackswan", source, store_home=tmp_path / "there", engine=engine)
    assert tree(tmp_path / "there") == tree(tmp_path / "local")
    assert len([name for name in tree(tmp_path / "there") if "/clips/" in name]) == 4
    assert hidden(tmp_path / "there") == []


@pytest.mark.cluster
def test_split_on_a_cluster_writes_the_same_clips(tmp_path: Path, engine: str) -> None:
    times = write_event_videos(tmp_path / "falls", 4)
    here = split_folder(tmp_path / "falls", times, tmp_path / "local", workers=2)
    there = split_folder(tmp_path / "falls", times, tmp_path / "there", engine=engine)
    assert here == there
    assert tree(tmp_path / "there") == tree(tmp_path / "local")
    assert hidden(tmp_path / "there") == []


@pytest.mark.cluster
def test_a_decoder_that_dies_on_a_cluster_is_recorded(
    tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = write_event_videos(tmp_path / "falls", 3)
    monkeypatch.setattr(split, "_split_job", poison.split_one)
    records = split_folder(tmp_path / "falls", times, tmp_path / "cut", engine=engine)
    assert [record.status for record in records] == ["split", "discarded", "split"]
    assert "died (SIGABRT), twice" in records[1].reason


@pytest.mark.cluster
def test_a_worker_of_ray_that_is_killed_loses_its_item_only(tmp_path: Path, ray: None) -> None:
    jobs = [(number, str(tmp_path / "killed")) for number in range(8)]
    with Workers(engine="ray") as team:
        found = dict(team.each(kill_worker_once, jobs))
        assert found == {number: number for number in range(8)}
        found = dict(team.each(kill_worker_always, range(4)))
    assert found.pop(2) == Lost("the process that worked on it died, twice")
    assert found == {0: 0, 1: 1, 3: 3}


@pytest.mark.cluster
def test_a_worker_that_is_killed_does_not_end_the_run(tmp_path: Path, cluster: Any) -> None:
    jobs = [(number, str(tmp_path / "killed")) for number in range(8)]
    with Workers(engine="dask", address=cluster.scheduler_address) as team:
        found = dict(team.each(kill_worker_once, jobs))
    assert (tmp_path / "killed").exists()
    assert found == {number: number for number in range(8)}


@pytest.mark.cluster
def test_an_item_that_kills_every_worker_is_given_up(cluster: Any) -> None:
    with Workers(engine="dask", address=cluster.scheduler_address) as team:
        found = dict(team.each(kill_worker_always, range(4)))
    lost = found.pop(2)
    assert isinstance(lost, Lost) and "died" in lost.reason
    assert found == {0: 0, 1: 1, 3: 3}


@pytest.mark.cluster
def test_a_fault_of_the_place_ends_the_run(cluster: Any) -> None:
    with (
        Workers(engine="dask", address=cluster.scheduler_address) as team,
        pytest.raises(OSError, match="/somewhere") as raised,
    ):
        list(team.each(full, range(5)))
    assert raised.value.errno == 28


@pytest.mark.cluster
def test_a_folder_that_workers_do_not_see_is_refused(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_SEEN_TRIES", 1)
    with Workers(engine="dask", address=cluster.scheduler_address, shared=tmp_path) as team:
        for file in tmp_path.iterdir():
            file.unlink()  # what another machine's folder of that name looks like
        with pytest.raises(EngineError, match=f"{socket.gethostname()} does not see {tmp_path}"):
            list(team.each(abs, [1, 2]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.cluster
def test_no_scheduler_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    source = write_release(tmp_path / "release", stems=1)
    given = ["--source", source, "--home", tmp_path / "home", "--engine", "dask"]
    ended = run(
        [*COMMAND, "prepare", "blackswan", *given, "--engine-address", "tcp://127.0.0.1:9"],
        tmp_path / "log",
        DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="1s",
    )
    assert ended.code == 2 and "Traceback" not in ended.output
    assert "No dask scheduler with workers answers at tcp://127.0.0.1:9" in ended.output


@pytest.mark.cluster
def test_a_cluster_of_its_own_listens_to_this_machine_alone(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    del distributed
    before = _listening_elsewhere()  # of other tests: ray's driver
    with clusters._dask(1, None) as started:
        information = started.client.scheduler_info()
        addresses = [information["address"], *information["workers"]]
        assert all("127.0.0.1" in address for address in addresses)
        assert sorted(started.replies(abs, [(-1,), (-2,)])) == [(0, 1), (1, 2)]
        assert _listening_elsewhere() == before


def _listening_elsewhere() -> list[str]:
    """Sockets of this process that listen on other addresses than loopback."""
    own = set()
    for file in Path("/proc/self/fd").iterdir():
        try:
            own.add(str(file.readlink()))
        except OSError:
            continue
    found = []
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "00000000000000000000000001000000")):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            listens = words[3] == "0A" and f"socket:[{words[9]}]" in own
            if listens and not words[1].startswith(loopback):
                found.append(words[1])
    return found


def _config() -> dict[str, Any]:
    dask = pytest.importorskip("dask")
    config: dict[str, Any] = dask.config.config
    return config


def test_jobs_of_prepare_can_be_sent(tmp_path: Path) -> None:
    """Workers find the functions by name, in modules that import little."""
    import pickle
    import subprocess
    import sys

    for function in (preparing.check_video, preparing.join_clip, split._split_job):
        assert pickle.loads(pickle.dumps(function)) is function
    jobs = "video_reasoning.tasks.prepare.jobs"
    code = f"import sys, {jobs}; print({{'pyarrow', 'typer'}} & set(sys.modules))"
    line = [sys.executable, "-c", code]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "set()\n"
