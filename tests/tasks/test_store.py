"""The store finds data, and says in one sentence what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import StoreError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    return tmp_path


def test_home_is_the_variable_else_a_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, "~/data")
    assert store.home() == Path.home() / "data"
    monkeypatch.setenv(store.HOME_VARIABLE, "  ")
    assert "video-reasoning" in str(store.home())


def test_an_attribute_gives_the_data_of_a_split(home: Path) -> None:
    path = home / "causalvqa/debug/questions.parquet"
    path.parent.mkdir(parents=True)
    path.touch()
    assert store.causalvqa_debug == {"data_files": {"debug": str(path)}}


def test_missing_data_names_the_command_and_the_variable(home: Path) -> None:
    with pytest.raises(StoreError, match=r"video-reasoning prepare tvbench .*VIDEO_REASONING_HOME"):
        _ = store.tvbench_test
    assert str(home) in store.missing_data("tvbench", "test")


@pytest.mark.parametrize("name", ["tvbench_train", "other_test", "nothing", "__wrapped__"])
def test_other_attributes_are_not_there(name: str) -> None:
    assert not hasattr(store, name)


def test_unknown_names_list_the_known(home: Path) -> None:
    with pytest.raises(StoreError, match="blackswan, tvbench, causalvqa"):
        store.benchmark_folder("tvbnech")
    with pytest.raises(StoreError, match="its splits are debug, test"):
        store.questions_file("causalvqa", "validation")


def test_a_manifest_is_absent_whole_or_refused(home: Path) -> None:
    assert store.read_manifest("tvbench") is None
    path = store.manifest_file("tvbench")
    path.parent.mkdir()
    path.write_text(json.dumps({"benchmark": "tvbench"}))
    assert store.read_manifest("tvbench") == {"benchmark": "tvbench"}
    for content in ("{", "[]"):
        path.write_text(content)
        with pytest.raises(StoreError, match="prepare tvbench"):
            store.read_manifest("tvbench")


def test_doctor_shows_the_same_as_text_and_as_json(home: Path) -> None:
    """One benchmark is whole, one lacks its questions, one has a manifest that is none."""
    manifest = {"benchmark": "causalvqa", "videos": 1500, "source": "x.zip", "notes": [],
                "splits": {
        "debug": {"questions": 2, "tasks": {"mcq": 2}, "withheld": 0, "skipped": [],
                  "missing": [{"id": "q1", "reason": "no video"}]},
    }}  # fmt: skip
    for benchmark, content in (("causalvqa", manifest), ("tvbench", {"splits": []})):
        (home / benchmark).mkdir()
        (home / benchmark / "manifest.json").write_text(json.dumps(content))
    machine = CliRunner().invoke(app, ["doctor", "--format", "json"])
    person = CliRunner().invoke(app, ["doctor"])
    found = json.loads(machine.output)
    assert machine.exit_code == person.exit_code == 1 and found["sound"] is False
    assert found["store"]["folder"] == str(home)
    assert found["benchmarks"]["blackswan"] == {
        "manifest": None, "picks": 0, "picked_by": [], "faults": [],
    }  # fmt: skip
    assert found["benchmarks"]["causalvqa"]["manifest"] == manifest
    assert "causalvqa: 1,500 videos from x.zip\n  debug: 2 questions (mcq 2)" in person.output
    assert "      q1: no video" in person.output
    assert "blackswan: nothing prepared" in person.output
    for name in ("causalvqa", "tvbench"):
        (fault,) = found["benchmarks"][name]["faults"]
        assert f"{name}: {fault}\n" in person.output and fault.endswith("run `prepare` again.")
    assert set(found["packages"].values()) <= set(person.output.split())
