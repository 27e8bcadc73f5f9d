"""Which frames arrive at a served model, read from the frames themselves.

The requests are those of the harness's own classes in chat form, on the way of a user: the
command, a prepared store, a server.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.harness.conftest import Run, run_harness
from tests.harness.served import Asked, Served, serve, write_numbered
from tests.tasks.releases import (
    blackswan_row,
    causalvqa_row,
    tvbench_question,
    write_blackswan,
    write_causalvqa,
    write_tvbench,
)
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.store.picks import Pick, picks_file, write_picks

pytestmark = [pytest.mark.harness, pytest.mark.slow]

QUESTIONS = 24
FRAMES = 100
PICKED = 61
TASKS = (
    "tvbench_tomato_principles,tvbench_tomato_direction_blind,"
    "causalvqa_debug,causalvqa_debug_single_frame,causalvqa_debug_blind,"
    "blackswan_detective_mcq_clips,blackswan_detective_mcq"
)
MODELS = {
    "openai": "model=served,max_frames_num=16,max_retries=1",
    "async_openai": "model=served,nframes=16,max_retries=1,num_cpus=2",
}


@pytest.fixture(scope="module")
def numbered_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 24 questions per benchmark whose frames name themselves."""
    folder = tmp_path_factory.mktemp("numbered")
    numbers, names = range(FRAMES), range(QUESTIONS)
    questions = {str(n): tvbench_question(question=f"Question {n}?") for n in names}
    write_tvbench(folder / "tvbench", questions, videos=False)
    write_numbered(folder / "tvbench/videos/object/0001-00.mp4", numbers)
    rows = [causalvqa_row(qid=f"q{n}", question=f"Question {n}?") for n in names]
    write_causalvqa(folder / "causalvqa", rows[:1])
    write_causalvqa(folder / "causalvqa", rows)
    write_numbered(folder / "causalvqa/debug/videos/clip_1.mp4", numbers)
    options = [[f"Question {n}?", "The chair breaks.", "The rope snaps."] for n in names]
    write_blackswan(
        folder / "blackswan", [blackswan_row(q_id=n, mcq_options=options[n]) for n in names]
    )
    for part, first in (("3_A_preevent", 0), ("3_B_event", 50), ("3_C_postevent", 100)):
        write_numbered(folder / f"blackswan/videos/{part}.mp4", range(first, first + 50))
    for benchmark in ("tvbench", "causalvqa", "blackswan"):
        prepare(benchmark, folder / benchmark, store_home=folder / "store")
    picks = [Pick(f"direction/{n}", PICKED, FRAMES, "the drawing") for n in names]
    write_picks(picks_file("tvbench", folder / "store"), picks)
    return folder / "store"


@pytest.fixture(scope="module", params=MODELS)
def asked(
    request: pytest.FixtureRequest, numbered_store: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Run, Served]]:
    """All tasks asked of a served model through one of the harness's classes."""
    with serve(lambda _: "The answer is A.") as served:
        run = run_harness(
            tmp_path_factory.mktemp("served"),
            "--model", request.param,
            "--model_args", f"{MODELS[request.param]},base_url={served.url},api_key=none",
            "--tasks", TASKS,
            home=numbered_store,
        )  # fmt: skip
        yield run, served


def by_question(requests: list[Asked], phrase: str) -> dict[int, list[Asked]]:
    """The requests whose prompt contains a phrase, by the number of their question."""
    found = defaultdict(list)
    for each in requests:
        if phrase in each.text:
            found[int(re.findall(r"Question (\d+)\?", each.text)[0])].append(each)
    assert sorted(found) == list(range(QUESTIONS)), phrase
    return found


def test_every_frame_of_every_condition_arrives(asked: tuple[Run, Served]) -> None:
    run, served = asked
    assert run.returncode == 0, run.output[-3000:]
    for question, requests in by_question(served.requests, "uniformly sampled").items():
        wanted = []
        for name in ("ordered16", "shuffled16", "random1", "handpicked1"):
            key = f"direction/{question}"
            shown = condition_indices(Condition.parse(name), FRAMES, key, PICKED)
            wanted.append((len(shown), list(shown)))
        got = [(int(re.findall(r"(\d+) separate", r.text)[0]), r.frames) for r in requests]
        assert sorted(got) == sorted(wanted)
    for sample in run.samples("tvbench_tomato_principles"):
        assert sample["frames_as"] == "images"


def test_nothing_arrives_where_a_question_is_asked_blind(asked: tuple[Run, Served]) -> None:
    run, served = asked
    for requests in by_question(served.requests, "Randomly guess").values():
        assert [each.images for each in requests] == [()]
    logged = run.samples("tvbench_tomato_direction_blind") + run.samples("causalvqa_debug_blind")
    assert {sample["frames_as"] for sample in logged} == {"nothing"}


def test_whole_videos_and_their_last_frames_arrive(asked: tuple[Run, Served]) -> None:
    run, served = asked
    even = np.linspace(0, FRAMES - 1, 16).round().astype(int).tolist()
    of_causalvqa = [each for each in served.requests if re.search("Drop it|fall", each.text)]
    for requests in by_question(of_causalvqa, "Question").values():
        # Two variants of each question, shown whole, as their last frame, and blind.
        assert sorted(each.frames for each in requests) == [
            [], [], even, even, [FRAMES - 1], [FRAMES - 1]
        ]  # fmt: skip
    assert {s["frames_as"] for s in run.samples("causalvqa_debug")} == {"clip"}
    assert {s["frames_as"] for s in run.samples("causalvqa_debug_single_frame")} == {"images"}


def test_both_clips_arrive_behind_their_sentences(asked: tuple[Run, Served]) -> None:
    _, served = asked
    even = np.linspace(0, 49, 16).round().astype(int)
    for (request,) in by_question(served.requests, "beginning of the video").values():
        assert request.frames == [*even.tolist(), *(100 + even).tolist()]
        second = request.text.index("Here is the end")
        assert [place > second for place in request.places] == [False] * 16 + [True] * 16


def test_the_hidden_middle_arrives_black(asked: tuple[Run, Served]) -> None:
    _, served = asked
    joined = [each for each in served.requests if "Here is the end" not in each.text]
    even = np.linspace(0, 149, 16).round().astype(int).tolist()
    # A black frame reads as 0; the event's own frames would be 50 to 99.
    expected = [0 if 50 <= number < 100 else number for number in even]
    for (request,) in by_question(joined, "hidden (black) frames").values():
        assert request.frames == expected
