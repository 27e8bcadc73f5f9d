"""Clips that are made ahead of the model, and before a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import pytest

from tests.harness.served import number_of, write_numbered
from video_reasoning.preprocessing import children
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.wanted import Wanted, gathered
from video_reasoning.tasks import media, store
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.models import ahead, quirks, resuming
from video_reasoning.tasks.prepare import clips as prepared
from video_reasoning.tasks.tvbench import principles

FRAMES, QUESTIONS = 40, 6
CONDITIONS = ("ordered16", "shuffled16", "random1")
BROKEN = 3


class Task:
    """What the harness's requests are bound to: a task of ours."""

    config = SimpleNamespace(doc_to_visual=principles.principles_visual)

    def doc_to_visual(self, document: Any) -> Any:
        return principles.principles_visual(document, {})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Videos whose first frames name themselves 0, 1, 2, ..."""
    path = tmp_path_factory.mktemp("videos") / "v.mp4"
    videos = [
        write_numbered(path, range(number, FRAMES + number)).read_bytes()
        for number in range(QUESTIONS)
    ]
    videos[BROKEN] = videos[BROKEN][:900]
    return videos


@pytest.fixture
def run(written: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Requests of a run over a store with a broken video, and the model that is asked."""
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))
    monkeypatch.setenv(quirks.AHEAD_VARIABLE, "4")
    monkeypatch.setattr(quirks, "_loaded", [])
    for name in ("_HANDED", "_OUTCOMES", "_CLOCKS"):
        monkeypatch.setattr(media, name, {})
    videos = store.benchmark_folder("tvbench") / "videos"
    videos.mkdir(parents=True)
    documents = []
    for number in range(QUESTIONS):
        (videos / f"{number}.mp4").write_bytes(written[number])
        documents += [
            {"id": f"q{number}", "video": f"videos/{number}.mp4", "condition": name, "pick": -1}
            for name in CONDITIONS
        ]
    task = Task()
    instances = [
        SimpleNamespace(args=("", {}, task.doc_to_visual, place, "tvbench", "test"))
        for place in range(len(documents))
    ]
    yield SimpleNamespace(
        lm=SimpleNamespace(task_dict={"tvbench": {"test": documents}}),
        instances=instances,
        documents=documents,
        show=task.doc_to_visual,
        clips=store.clips_folder("tvbench"),
    )
    assert not [each for each in threading.enumerate() if each.name == "clips ahead"]


def numbers(path: str) -> list[int]:
    with av.open(path) as container:
        return [number_of(frame.to_image()) for frame in container.decode(video=0)]


def expected(document: dict[str, Any]) -> list[int]:
    indices = condition_indices(Condition.parse(document["condition"]), FRAMES, document["id"])
    indices = indices if len(indices) > 1 else indices * 2
    return [int(document["id"][1:]) + index for index in indices]


def wait_for(folder: Path, count: int) -> list[Path]:
    """Wait until so many clips are there."""
    for _ in range(600):
        if len(found := sorted(folder.glob("[!.]*.mp4"))) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{len(found)} of {count} clips are there")


def test_the_frames_of_an_audit_are_not_cut_into_tiles(run: Any) -> None:
    """As those of our own tasks; another's are left as they are."""
    seen = []
    run.lm.max_num = 12
    run.lm.generate_until = lambda requests: seen.append(run.lm.max_num)
    quirks.loaded("internvl3", simple=True)
    quirks.built("pretrained=x")
    with resuming._clips_ahead(run.lm):
        run.lm.generate_until(run.instances)
        run.lm.generate_until([*run.instances, SimpleNamespace(args=("", {}, print))])
    assert seen == [1, 12] and run.lm.max_num == 12


def test_the_frames_are_those_that_the_question_shows(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(quirks.AHEAD_VARIABLE, "10")
    made: list[str] = []
    with ahead.ahead_of(run.lm, run.instances):
        run.show(run.documents[0])
        wait_for(run.clips, 3 * 3)
        before = set(run.clips.glob("[!.]*.mp4"))
        for document in run.documents[3:9]:
            made += run.show(document)
        assert set(map(Path, made)) <= before
    for document, path in zip(run.documents[3:9], made, strict=True):
        assert numbers(path) == expected(document)


def test_it_stays_as_far_ahead_as_it_was_asked_to(run: Any) -> None:
    with ahead.ahead_of(run.lm, run.instances):
        run.show(run.documents[0])
        wait_for(run.clips, 6)
        time.sleep(0.3)
        # Of question 0 two clips are not asked for yet, of question 1 two are looked at.
        assert len(list(run.clips.glob("[!.]*.mp4"))) == 6


def test_off(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(quirks.AHEAD_VARIABLE, "0")
    monkeypatch.setattr(ahead, "_Ahead", None)
    with ahead.ahead_of(run.lm, run.instances):
        run.show(run.documents[0])
    assert len(list(run.clips.glob("[!.]*.mp4"))) == 3


def test_nothing_starts_if_the_clips_are_there(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [each for each in run.documents if each["id"] != f"q{BROKEN}"]
    first = [run.show(each) for each in documents]
    monkeypatch.setattr(ahead._Ahead, "_start", None)
    with ahead.ahead_of(run.lm, run.instances):
        assert [run.show(each) for each in documents] == first


@pytest.mark.parametrize("fault", ["dies", "raises", "cannot start"])
def test_a_failure_ahead_changes_nothing(
    run: Any, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "dies":
        monkeypatch.setattr(children, "_BOOT", "import os, signal; os.kill(os.getpid(), 9)")
    elif fault == "raises":
        monkeypatch.setattr(ahead, "make_wanted", os.listdir)  # a list is not a path
    else:
        monkeypatch.setattr(ahead, "Children", lambda: SimpleNamespace(stop=int, close=int))
    with ahead.ahead_of(run.lm, run.instances):
        shown = [run.show(each)[0] for each in run.documents]
    for document, path in zip(run.documents, shown, strict=True):
        if document["id"] == f"q{BROKEN}":
            assert path == str(media.placeholder())
        else:
            assert numbers(path) == expected(document)


def test_what_was_looked_at_ahead_is_not_noted_as_shown(run: Any) -> None:
    for document in run.documents:
        assert ahead.clips_of(run.show, document)
    assert not media._HANDED and not media._OUTCOMES and not media._CLOCKS
    assert not run.clips.exists() or not list(run.clips.iterdir())


def test_only_this_thread_gathers(run: Any) -> None:
    with gathered() as found:
        thread = threading.Thread(target=run.show, args=(run.documents[0],))
        thread.start()
        thread.join()
        assert found == []
        run.show(run.documents[1])
    assert [type(each) for each in found] == [Wanted]
    assert len(list(run.clips.glob("[!.]*.mp4"))) == 3


@pytest.mark.parametrize("value", ["-1", "many"])
def test_a_number_is_wanted(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(quirks.AHEAD_VARIABLE, value)
    with pytest.raises(UserError, match=quirks.AHEAD_VARIABLE):
        quirks.ahead_by_user()


_RUN = """
import subprocess, sys, time
from types import SimpleNamespace
from tests.reliability import poison
from tests.tasks.test_ahead import Task
from video_reasoning.preprocessing import children
from video_reasoning.tasks.models import ahead

def started(*args, **kwargs):
    child = popen(*args, **kwargs)
    print(child.pid, flush=True)
    return child

popen, children.subprocess.Popen = subprocess.Popen, started
ahead.make_wanted = poison.wait_long
documents = [
    {"id": f"q{n}", "video": f"videos/{n}.mp4", "condition": "random1", "pick": -1}
    for n in range(6)
]
show = Task().doc_to_visual
instances = [SimpleNamespace(args=("", {}, show, n, "t", "s")) for n in range(6)]
with ahead.ahead_of(SimpleNamespace(task_dict={"t": {"s": documents}}), instances):
    show(documents[0])
    time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [0, signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left(run: Any, number: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN, "60" if number else "0.5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.send_signal(number)
    assert process.wait(60) == -number
    for _ in range(200):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.05)
    raise AssertionError("the process that makes clips has outlived the run")


def test_clips_before_a_run(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the harness's tasks replaced by one; tests/harness/test_clips.py has the real ones."""
    task = SimpleNamespace(
        config=SimpleNamespace(doc_to_messages=None, doc_to_visual=run.show),
        doc_to_visual=run.show,
        eval_docs=run.documents,
    )
    found = [SimpleNamespace(name="t", yaml=Path("t.yaml"), overrides={})]
    monkeypatch.setattr(prepared, "find_tasks", lambda names, folders: (found, {}))
    monkeypatch.setattr(prepared, "load_config", lambda path: {})
    monkeypatch.setattr(prepared, "load_task", lambda config, model: task)
    steps: list[tuple[str, int, int]] = []
    made = prepared.make_clips(["t"], workers=2, progress=lambda *step: steps.append(step))
    broken = run.clips.parent / "videos" / f"{BROKEN}.mp4"
    assert list(made.problems) == [broken] and "cannot be decoded" in made.problems[broken][0]
    assert (made.questions, made.clips, made.videos) == (18, 36, QUESTIONS)
    assert len(list(run.clips.glob("[!.]*.mp4"))) == 2 * 3 * (QUESTIONS - 1)
    assert steps[-1] == ("Making clips, videos", QUESTIONS, QUESTIONS)

    monkeypatch.setattr(ahead._Ahead, "_start", None)
    with ahead.ahead_of(run.lm, run.instances[: 3 * BROKEN]):
        for document in run.documents[: 3 * BROKEN]:
            assert numbers(*run.show(document)) == expected(document)


_RANK = """
import sys
from pathlib import Path
from types import SimpleNamespace
from tests.tasks.test_ahead import CONDITIONS, QUESTIONS, Task
from video_reasoning.tasks.models import ahead

documents = [
    {"id": f"q{n}", "video": f"videos/{n}.mp4", "condition": name, "pick": -1}
    for n in range(QUESTIONS)
    for name in CONDITIONS
]
show = Task().doc_to_visual
instances = [SimpleNamespace(args=("", {}, show, n, "t", "s")) for n in range(len(documents))]
with ahead.ahead_of(SimpleNamespace(task_dict={"t": {"s": documents}}), instances):
    for document in documents:
        (path,) = show(document)
        print(path, Path(path).stat().st_ino, flush=True)
"""


def test_two_ranks_ask_the_same_questions(run: Any) -> None:
    """Nobody waits forever, and each clip is made once: it stays the same file."""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", _RANK],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "LOCAL_WORLD_SIZE": "2",
            },
        )
        for _ in range(2)
    ]
    first, second = (rank.communicate(timeout=120)[0].splitlines() for rank in ranks)
    assert first == second and len(first) == len(run.documents)
    for document, line in zip(run.documents, first, strict=True):
        path, number = line.rsplit(maxsplit=1)
        assert Path(path).stat().st_ino == int(number)
        if document["id"] != f"q{BROKEN}":
            assert numbers(path) == expected(document)
    assert len(list(run.clips.glob("*.mp4"))) == 3 * (QUESTIONS - 1)
    assert not [*run.clips.glob(".*.lock"), *run.clips.glob(".*.mp4")]
