"""`video-reasoning clips`: what it makes before a run is what the run asks for."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.harness.audits import audit
from tests.harness.conftest import _main, _server, forked
from video_reasoning.preprocessing.clips import clip_for
from video_reasoning.tasks import store
from video_reasoning.tasks.models import quirks
from video_reasoning.tasks.models.ahead import clips_of
from video_reasoning.tasks.tvbench import principles

pytestmark = pytest.mark.harness

TASK, COMMAND = "tvbench_tomato_principles", "video_reasoning.tasks.cli.main"


@pytest.fixture
def home(sample_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample's store without clips of conditions; one video is broken."""
    copy = tmp_path / "home"
    for source in sample_store.rglob("*"):
        target = copy / source.relative_to(sample_store)
        if source.is_file() and target.relative_to(copy).parts[:2] != ("tvbench", "clips"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    broken = min((copy / "tvbench" / "videos").rglob("*.mp4"))
    broken.write_bytes(broken.read_bytes()[:1000])
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(copy))
    return copy


def test_interrupted_and_run_again_it_makes_what_the_run_shows(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = home / "tvbench" / "clips"
    words = ["clips", "--tasks", TASK, "--model", "qwen2_5_vl", "--workers", "1"]
    output = tmp_path / "interrupted.txt"
    process = _server().Process(
        target=_main, args=(COMMAND, words, tmp_path, dict(os.environ), output)
    )
    process.start()
    while process.is_alive() and not list(clips.glob("[!.]*.mp4")):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    process.join(60)
    said = output.read_text()
    assert process.exitcode == 143, said
    assert "Clips made so far are kept; run the same command again to go on." in said
    some = {path: path.stat().st_mtime_ns for path in clips.glob("[!.]*.mp4")}

    code, printed = forked(COMMAND, words, tmp_path, dict(os.environ))
    assert code == 0 and "cannot be made, of 1 video" in printed, printed
    assert not list(clips.glob(".*part*"))
    assert all(path.stat().st_mtime_ns == time for path, time in some.items())
    made = set(clips.glob("[!.]*.mp4"))
    assert len(made) > len(some)

    monkeypatch.setattr(quirks, "_loaded", [("qwen2_5_vl", False, "")])
    rows = pq.read_table(store.questions_file("tvbench", "test")).to_pylist()
    wanted = [
        each
        for row in rows
        for name in ("ordered16", "shuffled16", "random1")
        for each in clips_of(principles.principles_visual, {**row, "condition": name, "pick": -1})
    ]
    found = [
        clip_for(each.source, each.condition, each.key, each.clips, make=False, clock=each.clock)
        for each in wanted
    ]
    broken = min((home / "tvbench" / "videos").rglob("*.mp4"))
    assert [each is None for each in found] == [each.source == broken for each in wanted]
    assert {each for each in found if each} == made


def test_clips_of_an_audit(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "audit"
    conditions = ("--conditions", "ordered,shuffled,blind", "--frames", "4")
    words = ("--tasks", "causalvqa_debug", "--model", "random_choice", "--derive-only")
    audit(out, home, *words, *conditions)
    code, printed = forked(
        COMMAND,
        ["clips", "--tasks", "audit_*", "--include_path", str(out / "tasks"), "--limit", "5"],
        tmp_path,
        dict(os.environ),
    )
    assert code == 0, printed
    # Without a model, of both clocks; of every question two conditions show something.
    clips = list((home / "audit" / "clips").glob("[!.]*.mp4"))
    assert clips and f"15 questions need {len(clips)} clips;" in printed, printed
