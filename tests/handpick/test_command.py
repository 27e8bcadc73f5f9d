"""The command `video-reasoning handpick`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.handpick.stores import FRAMES, row, write_store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.handpick.record import Decision, PickLog
from video_reasoning.tasks.store.picks import read_picks

SERVE = "from video_reasoning.tasks.cli.app import app; app()"
"""The command alone, for a process of its own."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [*(row(n) for n in range(5)), row(5, problem="the video is broken.")]
    return write_store(tmp_path_factory.mktemp("store"), rows)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "picks.jsonl"


@pytest.fixture
def run(home: Path, out: Path) -> Any:
    def invoke(*arguments: object) -> Result:
        """A subcommand over the picks file; the later of two options wins."""
        name, *rest = map(str, arguments)
        file = ["--out", str(out)] if name in ("serve", "import") else [str(out)]
        fixed = ["handpick", name, "tvbench", *file, "--home", str(home)]
        if name == "import":
            fixed.insert(3, rest.pop(0))
        return CliRunner().invoke(app, [*fixed, *rest])

    return invoke


def pick(item: int, frame: int, annotator: str = "ana") -> Decision:
    return Decision(annotator, f"direction/{item}", frame, FRAMES, frame / 10)


def test_help_has_an_example(run: Any) -> None:
    result = run("serve", "--help")
    assert result.exit_code == 0
    assert "--sample 200 --seed 0" in " ".join(result.output.split())


def test_csv_in_and_out(run: Any, out: Path, tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("id,frame,annotator\ndirection/1,5,ana\ndirection/9,5,ana\n")
    result = run("import", table)
    assert result.exit_code == 0
    assert "1 decisions written" in run("export", "--out", tmp_path / "out.csv").output
    assert "1 decisions added, 0 known already" in result.output
    assert "1 rows were left out" in result.output and "direction/9" in result.output
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "annotator,id,frame,n_frames,seconds,skip",
        f"ana,direction/1,5,{FRAMES},,",
    ]
    before = out.read_bytes()
    assert "0 decisions added, 1 known already" in run("import", tmp_path / "out.csv").output
    assert out.read_bytes() == before


def test_agreement_is_printed(run: Any, out: Path) -> None:
    assert "No two annotators" in run("agreement").output
    PickLog(out, "tvbench").record([pick(1, 5, "ana [x]"), pick(1, 10, "ben")])
    printed = run("agreement").output
    assert printed.splitlines() == [
        "ana [x] and ben: 1 items that both picked a frame for",
        "  same frame: 0.0% (6.2% if both picked blindly)",
        "  corrected for chance: -0.07 [-0.07, 0.78]",
        "  mean distance: 5.0 frames, 0.50 s",
        "1 items on which annotators differ:",
        "  direction/1",
    ]


def test_install_writes_what_the_tasks_read(run: Any, out: Path, home: Path) -> None:
    log = PickLog(out, "tvbench")
    log.record([pick(1, 5), pick(1, 9, "ben"), pick(2, 7, "ben")])
    log.record([Decision("ana", "direction/3", skip="odd")])
    result = run("install")
    assert "2 picks of 6 questions written to" in result.output
    assert "1 items were skipped more often than picked" in result.output
    assert read_picks("tvbench", home) == {"direction/1": 5, "direction/2": 7}
    run("install", "--annotator", "ben")
    assert read_picks("tvbench", home) == {"direction/1": 9, "direction/2": 7}
    result = run("install", "--annotator", "cleo")
    assert isinstance(result.exception, UserError)
    assert "no decision of cleo; it has those of ana, ben" in str(result.exception)


def test_automatic_picks_of_earlier_versions_are_not_installed(
    run: Any, out: Path, home: Path
) -> None:
    log = PickLog(out, "tvbench")
    log.record([pick(1, 5, "automatic:clip"), pick(2, 5, "automatic:clip"), pick(1, 9)])
    output = run("install").output
    assert "2 automatic picks were left out: no person made them." in output
    assert read_picks("tvbench", home) == {"direction/1": 9}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["serve", "--annotator", "=x"], "not a name for an annotator"),
        (["serve", "--annotator", "automatic:x"], "not handpicked"),
        (["install"], "no pick to install"),
        (["import", "/nowhere.csv"], "cannot be read"),
        (["serve", "--split", "train"], "no split called 'train'"),
        (["serve", "--home", "/nowhere"], "No questions of tvbench in /nowhere"),
    ],
)
def test_mistakes_are_one_sentence(run: Any, arguments: list[str], reason: str) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, UserError)
    assert reason in str(result.exception) and "\n" not in str(result.exception)


def test_an_unknown_benchmark_is_one_sentence(out: Path) -> None:
    result = CliRunner().invoke(app, ["handpick", "agreement", "mmlu", str(out)])
    assert "no benchmark called 'mmlu'" in str(result.exception)


def test_the_options_of_the_previous_version_do_the_same(
    run: Any, out: Path, home: Path, tmp_path: Path
) -> None:
    PickLog(out, "tvbench").record([pick(1, 5), pick(1, 10, "ben")])
    old = ["handpick", "--benchmark", "tvbench", "--out", str(out), "--home", str(home)]
    options = ["--agreement", "--install", "--export", str(tmp_path / "old.csv")]
    result = CliRunner().invoke(app, [*old, *options])
    assert result.exit_code == 0
    assert result.stderr.startswith("video-reasoning: options of handpick have become subcommands")
    for name, option in (("agreement", ()), ("install", ())):
        assert run(name, *option).output in result.output
    assert "2 decisions written" in result.output
    assert isinstance(CliRunner().invoke(app, old[:3]).exception, UserError)


def test_damaged_lines_are_told(run: Any, out: Path) -> None:
    PickLog(out, "tvbench").record([pick(1, 5)])
    with out.open("a") as file:
        file.write("{torn\n")
    assert "1 lines cannot be read and are left out (2)" in run("agreement").output


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_page_is_served_until_it_is_told_to_end(home: Path, out: Path, ending: int) -> None:
    pytest.importorskip("fastapi", reason="needs the extra `handpick`")
    arguments = ["serve", "tvbench", "--out", str(out), "--annotator", "ana"]
    arguments += ["--home", str(home), "--port", "0", "--sample", "3", "--seed", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, "handpick", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        if "no video" in second:
            second = process.stdout.readline()
        assert first.startswith("3 items of tvbench, ana picks")
        assert second.startswith("Open http://127.0.0.1:")
        import httpx

        address = second.split()[1]
        page = httpx.get(address)
        token = page.text.split('name="page-token" content="')[1].split('"')[0]
        body = {"annotator": "ana", "item": 0, "position": 3}
        items = httpx.get(address + "api/session").json()["items"]
        body["item"] = [item["state"] for item in items].index("open")
        saved = httpx.post(address + "api/pick", json=body, headers={"x-page-token": token})
        assert saved.json()["decision"]["state"] == "picked"
        process.send_signal(ending)
        output, errors = process.communicate(timeout=20)
        assert errors == ""
        if ending == signal.SIGINT:
            assert process.returncode == 0
            assert "ana: 1 picked and 0 skipped of 3" in output
        assert json.loads(out.read_text())["annotator"] == "ana"
    finally:
        process.kill()
