"""Who is asked what, in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from tests.annotate import stores
from video_reasoning.tasks import store
from video_reasoning.tasks.pages.annotate.answers import (
    Answer,
    AnswerLog,
    check,
    spoilers,
)
from video_reasoning.tasks.pages.annotate.questions import (
    Question,
    draw,
    load_questions,
    order_for,
    tasks_named,
)
from video_reasoning.tasks.pages.journal import PageError

TEXT = "The ball rolls off the table and hits the floor"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("store")
    for benchmark in ("blackswan", "tvbench", "causalvqa"):
        stores.write(home, benchmark, getattr(stores, benchmark)(), videos=False)
    return home


@pytest.fixture(autouse=True)
def home(written: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.HOME_VARIABLE, str(written))
    return written


def asked(*names: str, show: str = "") -> list[Question]:
    return [each for task in tasks_named(names) for each in load_questions(task, show)]


def decide(question: Question, annotator: str = "ana", response: str = "A") -> Answer:
    return Answer(
        annotator, question.task, question.shown, question.id, question.digest, question.footage,
        question.level, question.pair, len(question.choices), (response,),
    )  # fmt: skip


def test_a_question_is_the_tasks_and_does_not_know_its_answer() -> None:
    assert not {"answer", "target", "references"} & {each.name for each in fields(Question)}
    mcq, yn, gen = (
        asked(f"blackswan_{name}")[1] for name in ("detective_mcq", "reporter_yn", "forecaster_gen")
    )
    assert (mcq.kind, mcq.choices) == ("choice", ("A", "B", "C"))
    assert mcq.options == ("First 1.", "Second 1.", "Third 1.") and mcq.shown == "video"
    assert (yn.kind, yn.choices, yn.hypothesis) == ("yes_no", ("yes", "no"), "It falls, 1.")
    assert (gen.kind, gen.choices, gen.responses) == ("text", (), 3)
    # The Reporter is asked for one response, and TVBench shows 16 frames unless told otherwise.
    assert asked("blackswan_reporter_gen")[0].responses == 1
    assert asked("tvbench_tomato_direction")[0].shown == "ordered16"
    assert asked("tvbench_tomato_direction", show="video")[0].shown == "video"
    assert asked("causalvqa_debug_blind")[0].shown == "blind"


@pytest.mark.parametrize(
    ("name", "show", "reason"),
    [
        ("tvbench_direction", "", "There is no task tvbench_direction"),
        ("blackswan_detective_mcq_clips", "", "name the task without _clips"),
        ("tvbench_tomato_principles", "", "a person remembers"),
        ("blackswan_detective_mcq_perception", "", "adds captions for models"),
        ("tvbench_tomato_direction", "all", "'all' is not a condition"),
        ("tvbench_tomato_direction", "handpicked1", "is for models"),
        ("causalvqa_test", "", "prepare causalvqa"),
    ],
)
def test_what_a_person_cannot_be_asked(name: str, show: str, reason: str) -> None:
    with pytest.raises(Exception, match=reason):
        asked(name, show=show)


def test_tasks_that_show_less_come_first() -> None:
    questions = asked("blackswan_reporter_mcq", "blackswan_gen", "blackswan_detective_mcq")
    order = [questions[place].task for place in order_for(questions, "ana", 0)]
    assert list(dict.fromkeys(order)) == [
        "blackswan_forecaster_gen", "blackswan_detective_gen", "blackswan_detective_mcq",
        "blackswan_reporter_gen", "blackswan_reporter_mcq",
    ]  # fmt: skip
    assert Counter(order) == dict.fromkeys(order, 4)  # the questions of a task stay together


def test_the_order_is_drawn_by_name_and_seed() -> None:
    questions = asked("tvbench_tomato_direction")
    orders = {(who, seed): order_for(questions, who, seed) for who in "ab" for seed in (0, 1)}
    assert all(sorted(order) == list(range(8)) for order in orders.values())
    assert len(set(map(tuple, orders.values()))) == 4
    assert order_for(list(reversed(questions)), "a", 0) == [7 - n for n in orders["a", 0]]


def test_each_person_is_asked_one_variant() -> None:
    questions = asked("causalvqa_debug")
    variants = Counter()
    for who in map(str, range(40)):
        ids = [questions[place].id for place in order_for(questions, who, 0)]
        assert sorted(id_.split("/")[0] for id_ in ids) == sorted(f"q{n}" for n in range(12))
        variants.update(id_.split("/")[1] for id_ in ids)
    assert abs(variants["1"] - variants["2"]) < 80  # 480 fair draws: four standard deviations


def test_a_larger_sample_contains_the_smaller_and_whole_pairs() -> None:
    questions = asked("causalvqa_debug")
    small, large = ({q.id for q in draw(questions, size, 0)} for size in (3, 7))
    assert small < large and len(small) == 6 and len(large) == 14
    assert {q.id for q in draw(questions, 7, 1)} != large
    assert len(draw(questions, 100, 0)) == 24


def test_who_has_seen_more_is_not_asked() -> None:
    detective, reporter = asked("blackswan_detective_mcq"), asked("blackswan_reporter_yn")
    found = spoilers(detective, [decide(reporter[2])])
    assert list(found) == [2] and "more of this video in blackswan_reporter_yn" in found[2]
    assert spoilers(reporter, [decide(each) for each in detective]) == {}
    frames, whole = (
        asked("tvbench_tomato_direction"),
        asked("tvbench_tomato_direction", show="video"),
    )
    # Two questions are about each video.
    assert set(spoilers(frames, [decide(whole[1])])) == {1, 5}
    variants = asked("causalvqa_debug")
    assert list(spoilers(variants, [decide(variants[3])])) == [2]


@pytest.mark.parametrize(
    ("task", "responses", "reason"),
    [
        ("blackswan_detective_mcq", ["D"], "must be one of A, B, C"),
        ("blackswan_detective_mcq", ["A", "B"], "must be one of"),
        ("blackswan_detective_yn", ["A"], "must be one of yes, no"),
        ("blackswan_detective_gen", [TEXT], "asks for 3 responses"),
        ("blackswan_reporter_gen", ["It falls."], "at least 8 words"),
        ("blackswan_reporter_gen", ["word " * 400], "1,500 characters at most"),
        ("blackswan_detective_gen", [TEXT, f"{TEXT} too", f" {TEXT.upper()} "], "must differ"),
    ],
)
def test_what_is_not_an_answer(task: str, responses: list[str], reason: str) -> None:
    with pytest.raises(PageError, match=reason):
        check(asked(task)[0], responses)


def test_the_file_takes_answers_back_and_survives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "new" / "answers.jsonl"
    log = AnswerLog(path)
    first, second, *_ = asked("tvbench_tomato_direction")
    log.record([decide(first), decide(first, "ben", "C")])
    log.record([decide(first, response="B"), decide(second)])
    assert log.undo("ana") is not None and log.undo("ana") == decide(first)
    with path.open("a") as file:
        file.write('{"annotator": "ana", "task": "tvb')
    again = AnswerLog(path)
    assert again.damaged == [7]
    again.record([decide(second, response="D")])
    states = {key[0]: found.responses for key, found in AnswerLog(path).decisions.items()}
    assert len(AnswerLog(path).decisions) == 3 and states == {"ana": ("D",), "ben": ("C",)}
    picks = tmp_path / "picks.jsonl"
    picks.write_text('{"annotator": "ana", "id": "direction/1", "frame": 3, "n_frames": 40}\n')
    with pytest.raises(PageError, match="is not a file of answers"):
        AnswerLog(picks)
