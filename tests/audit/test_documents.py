"""Options, answers, ids and videos in documents of any schema."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from video_reasoning.tasks.audit.schemas import (
    Grouping,
    Options,
    OptionShape,
    declared_groups,
    document_key,
    find_shape,
    item_id,
    video_name,
)
from video_reasoning.tasks.audit.variants import AuditError

Documents = list[dict[str, Any]]

TEXTS = ("a cat", "a dog", "a cow", "a hen")


def documents(**columns: list[Any]) -> Documents:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


SHAPES: dict[str, tuple[Documents, str]] = {
    "a list and the right text": (
        documents(candidates=[list(TEXTS)] * 3, answer=[TEXTS[0], TEXTS[2], TEXTS[1]]),
        "options=candidates,answer=answer",
    ),
    "labelled options and a letter": (
        documents(
            options=[[f"{a}. {t}" for a, t in zip("ABCD", TEXTS, strict=True)]] * 3,
            answer=["A", "C", "B"],
        ),
        "options=options,answer=answer",
    ),
    "options in brackets and a letter in brackets": (
        documents(
            options=[[f"({a}) {t}" for a, t in zip("ABCD", TEXTS, strict=True)]] * 3,
            answer=["(A)", "(C)", "(B)"],
        ),
        "options=options,answer=answer",
    ),
    "a number from 0": (
        documents(choices=[list(TEXTS)] * 3, correct_idx=[0, 2, 1]),
        "options=choices,answer=correct_idx",
    ),
    "a number from 1": (
        documents(choices=[list(TEXTS)] * 4, answer=[1, 3, 2, 4]),
        "options=choices,answer=answer,first=1",
    ),
    "a number as text": (
        documents(option=[list(TEXTS)] * 3, answer=["0", "3", "1"]),
        "options=option,answer=answer",
    ),
    "a column each": (
        documents(
            a0=["w", "w"], a1=["x", "x"], a2=["y", "y"], a3=["z", "z"], a4=["v", "v"], answer=[0, 4]
        ),
        "options=a0+a1+a2+a3+a4,answer=answer",
    ),
    "a column each, not all used": (
        documents(
            option0=["w", "w"],
            option1=["x", "x"],
            option2=["y", "y"],
            option3=["N/A", "z"],
            option4=["N/A", "N/A"],
            correct_choice=[2, 3],
        ),
        "options=option0+option1+option2+option3+option4,answer=correct_choice",
    ),
    "a list that Python printed": (
        documents(candidates=[str(list(TEXTS))] * 2, answer=[TEXTS[0], TEXTS[2]]),
        "options=candidates,answer=answer",
    ),
    "a list in JSON": (
        documents(options=['["up", "down"]'] * 2, answer=["up", "down"]),
        "options=options,answer=answer",
    ),
    "lines of a column of their own": (
        documents(
            question=["Which?", "Who?", "What?"],
            options=["\n".join(f"{a}. {t}" for a, t in zip("ABCD", TEXTS, strict=True))] * 3,
            answer=["A", "C", "B"],
        ),
        "question=options,answer=answer",
    ),
    "lines of the question": (
        documents(question=["What?\nA. up\nB. down\nC. left"] * 2, answer=["A. up", "C. left"]),
        "question=question,answer=answer",
    ),
    "a list that the question repeats": (
        documents(
            question=["What?\nA. up\nB. down"] * 2, options=[["up", "down"]] * 2, answer=["B", "A"]
        ),
        "options=options,question=question,answer=answer",
    ),
    "columns in another spelling": (
        documents(Answers=[str(list(TEXTS))] * 2, **{"Correct Answer": ["B", "D"]}),
        "options=Answers,answer=Correct Answer",
    ),
    "a column each, named by its letter": (
        documents(A=["w", "w"], B=["x", "x"], C=["y", "y"], D=["z", "z"], answer=["D", "B"]),
        "options=A+B+C+D,answer=answer",
    ),
    "options that are numbers": (
        documents(options=[[3, 5, 4], [7, 6, 9]], answer=[5, 7]),
        "options=options,answer=answer",
    ),
    "numbers as texts, and not places": (
        documents(
            candidates=[["3", "1", "2", "0"], ["5", "4", "1", "2"], ["0", "1", "2", "3"]],
            answer=["1", "4", "3"],
        ),
        "options=candidates,answer=answer",
    ),
    "places as texts, and not numbers among the options": (
        documents(candidates=[["2", "3", "4", "5"]] * 4, answer=["0", "1", "2", "3"]),
        "options=candidates,answer=answer",
    ),
    "a dict of options, some of which a question lacks (SciVideoBench, MMVU, Video-Holmes)": (
        documents(
            options=[{"A": "w", "B": "x", "C": "y", "D": None}, {"A": "w", "B": "x", "C": "y"}],
            answer=["C", "A"],
        ),
        "options=options,answer=answer",
    ),
    "a dict as text": (
        documents(
            choices=['{"A": "up", "B": "down"}', "{'A': 'up', 'B': 'down'}"], answer=["B"] * 2
        ),
        "options=choices,answer=answer",
    ),
    "the place of the key (CinePile)": (
        documents(
            choices=[list(TEXTS)] * 2,
            answer_key=[TEXTS[1], TEXTS[3]],
            answer_key_position=[1, 3],
        ),
        "options=choices,answer=answer_key+answer_key_position",
    ),
    "two columns with the answer": (
        documents(options=[list(TEXTS)] * 2, answer=[TEXTS[1], TEXTS[3]], answer_idx=[1, 3]),
        "options=options,answer=answer+answer_idx",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_found_and_the_right_answer_stays_right(name: str) -> None:
    given, expected = SHAPES[name]
    shape = find_shape(given)
    assert shape is not None and replace(shape, readings=()) == OptionShape.parse(expected)
    moved = 0
    for number, document in enumerate(given):
        question = shape.read(document)
        assert question is not None
        order = question.order(f"q{number}", 1, 0)
        assert order is not None and sorted(order) == list(range(len(question.texts)))
        changed = {**document, **shape.reorder(document, order)}
        assert changed.keys() == document.keys()
        assert {key: type(value) for key, value in changed.items()} == {
            key: type(value) for key, value in document.items()
        }
        after = shape.read(changed)
        assert after is not None and after.labels == question.labels
        assert after.texts == tuple(question.texts[option] for option in order)
        assert after.texts[after.right] == question.texts[question.right]
        back = [order.index(place) for place in range(len(order))]
        assert {**changed, **shape.reorder(changed, back)} == document
        moved += order != list(range(len(order)))
    assert moved


@pytest.mark.parametrize(
    "given",
    [
        documents(question=["Is it red?", "Is it blue?"], answer=["yes", "no"]),
        documents(options=[["up", "up"], ["down", "down"]], answer=["up", "down"]),
        documents(options=[["up"], ["down"]], answer=["up", "down"]),
        documents(options=[["up", "down"]] * 2, answer=["left", None]),
        documents(options=[["up", "down"]] * 2, answer=[True, False]),
        documents(options=[["up", ""], ["down", ""]], answer=["up", "down"]),
        documents(options=[None, None], answer=["A", "B"]),
        documents(options=["no list [", "{}"], answer=["A", "B"]),
        [],
    ],
)
def test_what_has_no_options_is_left_alone(given: Documents) -> None:
    assert find_shape(given) is None


def test_a_declared_shape_comes_first() -> None:
    given = documents(left=["up", "up"], right=["down", "down"], truth_is=["b", "a"])
    assert find_shape(given) is None
    shape = find_shape(given, [OptionShape.parse("options=left+right,answer=truth_is")])
    assert shape is not None
    assert shape.reorder(given[0], [1, 0]) == {"left": "down", "right": "up", "truth_is": "a"}


@pytest.mark.parametrize("text", ["", "options=a", "answer=b", "options=a,answer=b,first=2", "x"])
def test_declared_shapes_that_are_none(text: str) -> None:
    with pytest.raises(AuditError, match="is not understood"):
        OptionShape.parse(text)


def test_options_about_all_others_stay() -> None:
    question = Options(("up", "down", "left", "None of the above"), ("",) * 4, 0)
    for number in range(1, 6):
        order = question.order(f"q{number}", number, 0)
        assert order is not None and order[3] == 3
    assert Options(("up", "None of the above"), ("", ""), 0).order("q", 1, 0) is None


@pytest.mark.parametrize("text", ["Both A and B", "A and C", "only (A) or (B)", "options 1, 2"])
def test_options_that_name_others_by_letter_are_not_moved(text: str) -> None:
    assert Options(("up", "down", "left", text), ("",) * 4, 0).order("q", 1, 0) is None


@pytest.mark.parametrize("text", ["A man and a dog", "both hands", "a cat and a cow"])
def test_options_that_only_sound_so_are_moved(text: str) -> None:
    assert Options(("up", "down", "left", text), ("",) * 4, 0).order("q", 1, 0) is not None


def test_the_order_is_the_same_in_every_process() -> None:
    code = (
        "from video_reasoning.tasks.audit.schemas import Options; "
        "q = Options(tuple('abcdef'), ('',) * 6, 0); "
        "print([q.order(f'k{n}', 1, 3) for n in range(5)])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    question = Options(tuple("abcdef"), ("",) * 6, 0)
    assert found.stdout.strip() == str([question.order(f"k{n}", 1, 3) for n in range(5)])
    assert question.order("k0", 1, 3) != question.order("k0", 2, 3)


def test_ids() -> None:
    assert item_id({"question_id": "q7", "index": 3}) == "q7"
    assert item_id({"id": 0}) == "0"
    assert item_id({"QID": "Q1"}) == "Q1"
    assert item_id({"id": "  ", "idx": 4}) == "4"
    assert item_id({"id": True, "question": "?"}) == item_id({"question": "?", "id": True})
    first, second = {"question": "?", "video": "a"}, {"question": "?", "video": "b"}
    assert item_id(first) != item_id(second)
    # Pictures are taken out of documents before they are scored.
    assert item_id({**first, "frames": [object()], "image": object()}) == item_id(first)
    assert document_key({"id": 1, "video": "a"}) != document_key({"id": 1, "video": "b"})


def test_video_names() -> None:
    assert video_name({"videoID": "x", "clip_id": "y"}) == "x"
    assert video_name({"Clip": "c"}) == "c"
    assert video_name({"video": object(), "scene_name": "s"}) == "s"
    assert video_name({"question": "?"}) == ""


def test_the_question_is_left_out_beside_options_as_text() -> None:
    given, _ = SHAPES["lines of a column of their own"]
    shape = find_shape(given)
    assert shape is not None and shape.without_question(given[0]) == {"question": ""}
    given, _ = SHAPES["lines of the question"]
    shape = find_shape(given)
    assert shape is not None
    (changed,) = (shape.without_question(given[0]) or {}).values()
    assert changed == "\n".join(given[0]["question"].split("\n")[1:])


@pytest.mark.parametrize(
    ("rule", "name", "groups"),
    [
        ("pair", "", ["a_b_1", "", "7"]),
        ("pair:_", "", ["a_b", "", "7"]),
        (r"both=pair/(\w)_(\w)_", "both", ["a b", "", ""]),
        ("x=pair/[ab]_", "x", ["a_", "", ""]),
        (r"pair/(?=a)\w", "", ["a", "", ""]),
        ("pair:=", "", ["a_b_1", "", "7"]),
    ],
)
def test_groups_of_questions(rule: str, name: str, groups: list[str]) -> None:
    found = Grouping.parse(rule)
    assert found.name == name
    assert [found.of(each) for each in ({"pair": "a_b_1"}, {"other": 1}, {"pair": 7})] == groups


@pytest.mark.parametrize("rule", ["", "=", "x=", ":_", "pair/(", "a=/b"])
def test_groups_that_are_not_understood(rule: str) -> None:
    with pytest.raises(AuditError, match=r"--group-by .* is not understood"):
        Grouping.parse(rule)


def test_groups_of_known_tasks() -> None:
    assert declared_groups("causalvqa_debug") == ("qid",) and declared_groups("mvpx") == ()
    (whole, text, video) = map(Grouping.parse, declared_groups("vinoground"))
    found = [{"index": f"{n}_{sign}_{kind}"} for n in (3, 40) for sign in ("pos", "neg")
             for kind in ("text", "video")]  # fmt: skip
    assert [whole.of(each) for each in found] == ["3"] * 4 + ["40"] * 4
    assert [text.of(each) for each in found] == ["3", "", "3", "", "40", "", "40", ""]
    assert [video.of(each) for each in found] == ["", "3", "", "3", "", "40", "", "40"]
