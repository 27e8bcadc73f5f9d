from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from video_reasoning.tasks.blackswan import release as blackswan_release
from video_reasoning.tasks.blackswan.annotations import (
    MANIFEST,
    BuildError,
    Built,
    build_questions,
    option_order,
    read_annotations,
    write_questions,
)
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.release.source import Release

DOCS = Path(__file__).parents[2] / "docs" / "build-questions.md"
Marks = tuple[bool, bool]


def annotation(video: str, marks: list[Marks], **changes: Any) -> dict[str, Any]:
    """Three hypotheses with their marks of step 2 and of step 3."""
    hypotheses = []
    for number, (second, third) in enumerate(marks, start=1):
        hypothesis = {"step1": f"first idea {number}", "valid_in_step2": second}
        if not second:
            hypothesis["step2"] = f"second idea {number}"
        hypotheses.append({**hypothesis, "valid_in_step3": third})
    return {
        "video": video,
        "hypotheses": hypotheses,
        "description": "what happened",
        **changes,
    }


def build(*entries: Any, seed: int = 0, variant: Any = "paper") -> Built:
    numbered = ((f"entry {n}", entry) for n, entry in enumerate(entries))
    return build_questions(numbered, seed=seed, variant=variant)


def mcqs(built: Built, task: str) -> list[tuple[str, set[str]]]:
    """The right option and the distractors of each multiple-choice question."""
    rows = [row for row in built.rows.get(("MCQ", "validation"), []) if row["task"] == task]
    return [
        (
            row["mcq_options"][row["mcq_gt_option"]],
            set(row["mcq_options"]) - {row["mcq_options"][row["mcq_gt_option"]]},
        )
        for row in rows
    ]


def yes_no(built: Built, task: str) -> list[tuple[str, str]]:
    rows = built.rows[("YN", "validation")]
    return [(row["hypothesis"], row["yn_gt"]) for row in rows if row["task"] == task]


def references(built: Built) -> dict[str, list[str]]:
    return {row["task"]: row["gt_ref_ans"] for row in built.rows[("Gen", "validation")]}


def test_a_video_worked_by_hand() -> None:
    # 1 held twice; 2 and 3 were rewritten in step 2, and both new ones fell in step 3.
    built = build(annotation("v", [(True, True), (False, False), (False, False)]))
    distractors = {"first idea 2", "first idea 3"}
    assert mcqs(built, "Detective") == [
        ("first idea 1", distractors),
        ("second idea 2", distractors),
        ("second idea 3", distractors),
    ]
    distractors = {"second idea 2", "second idea 3"}
    assert mcqs(built, "Reporter") == [
        ("what happened", distractors),
        ("first idea 1", distractors),
    ]
    assert yes_no(built, "Detective") == [
        ("first idea 1", "yes"),
        ("first idea 2", "no"),
        ("first idea 3", "no"),
    ]
    assert yes_no(built, "Reporter") == [("second idea 2", "no"), ("second idea 3", "no")]
    assert references(built) == {
        "Forecaster": ["first idea 1", "first idea 2", "first idea 3"],
        "Detective": ["first idea 1", "second idea 2", "second idea 3"],
        "Reporter": ["what happened"],
    }
    assert not built.left_out


def test_three_refuted_hypotheses_give_all_pairs_for_each_right_answer() -> None:
    built = build(annotation("v", [(False, True), (False, True), (False, False)]))
    pairs = [{f"first idea {a}", f"first idea {b}"} for a, b in ((1, 2), (1, 3), (2, 3))]
    assert mcqs(built, "Detective") == [
        (f"second idea {number}", pair) for number in (1, 2, 3) for pair in pairs
    ]


def test_a_caption_stands_in_for_the_second_distractor_only() -> None:
    one = [(False, False), (True, True), (True, True)]
    built = build(annotation("v", one, caption="a quiet room"))
    for task in ("Detective", "Reporter"):
        assert all("a quiet room" in wrong for _, wrong in mcqs(built, task))
    assert len(mcqs(built, "Detective")) == 3
    # The description and the two that held, each with the one that did not.
    assert [right for right, _ in mcqs(built, "Reporter")] == [
        "what happened",
        "first idea 2",
        "first idea 3",
    ]
    two = build(
        annotation("v", [(False, False), (False, False), (True, True)], caption="a quiet room")
    )
    assert "a quiet room" not in {option for _, wrong in mcqs(two, "Detective") for option in wrong}


def test_without_detective_distractors_the_reporters_questions_stay() -> None:
    built = build(
        annotation("v", [(True, False), (True, False), (True, False)], caption="a quiet room")
    )
    assert mcqs(built, "Detective") == []
    assert [right for right, _ in mcqs(built, "Reporter")] == ["what happened"] * 3
    (left,) = built.left_out
    assert (left.video, left.what) == ("v", "Detective MCQ")
    assert left.reason == "no hypothesis was invalidated in step 2"
    # Nothing was newly written in step 2, so there is no Reporter Y/N; the others are there.
    assert yes_no(built, "Reporter") == []
    assert len(yes_no(built, "Detective")) == 3


def test_one_distractor_without_a_caption_is_too_few() -> None:
    built = build(annotation("v", [(False, False), (True, True), (True, True)]))
    assert ("MCQ", "validation") not in built.rows
    assert [(left.what, left.reason) for left in built.left_out] == [
        (
            f"{task} MCQ",
            f"one hypothesis was invalidated in step {step} and there is no caption",
        )
        for task, step in (("Detective", 2), ("Reporter", 3))
    ]


@pytest.mark.parametrize(
    ("third", "difficulty"),
    [
        ((True, True, True), "easy"),
        ((True, False, True), "easy"),
        ((False, True, False), "medium"),
        ((False, False, False), "hard"),
    ],
)
def test_difficulty_counts_what_held_to_the_end(third: tuple[bool, ...], difficulty: str) -> None:
    marks = list(zip((True, False, False), third, strict=True))
    built = build(annotation("v", marks))
    rows = [row for table in built.rows.values() for row in table]
    assert {row["difficulty"] for row in rows} == {difficulty}


def test_what_a_task_may_not_see_has_no_file_name() -> None:
    clips = {"event": "other/place.mp4"}
    built = build(annotation("v", [(True, False), (False, False), (False, False)], clips=clips))
    files = {
        row["task"]: [row[f"{part}_file_name"] for part in ("preevent", "event", "postevent")]
        for table in built.rows.values()
        for row in table
    }
    assert files == {
        "Forecaster": ["v_A_preevent.mp4", "", ""],
        "Detective": ["v_A_preevent.mp4", "", "v_C_postevent.mp4"],
        "Reporter": ["v_A_preevent.mp4", "other/place.mp4", "v_C_postevent.mp4"],
    }


def test_texts_are_kept_as_they_are_written() -> None:
    odd = annotation("v", [(False, False), (False, False), (True, True)])
    odd["hypotheses"][0]["step1"] = "  The man's \u2018friend\u2019 isn't \"there\"\u2028yet. "
    built = build(odd)
    kept = "The man's \u2018friend\u2019 isn't \"there\"\u2028yet."
    assert yes_no(built, "Detective")[0] == (kept, "no")
    assert all(kept in wrong for _, wrong in mcqs(built, "Detective"))


def test_options_that_read_the_same_are_left_out() -> None:
    twin = annotation("v", [(False, False), (False, False), (True, True)])
    twin["hypotheses"][0]["step2"] = "First Idea 2"  # also a distractor of the Detective
    built = build(twin)
    assert [right for right, _ in mcqs(built, "Detective")] == ["second idea 2", "first idea 3"]
    (left,) = built.left_out
    assert left.what == "Detective MCQ 1"
    assert "two of its options are the same: 'First Idea 2'" in left.reason


GOOD: list[Marks] = [(True, False), (False, False), (False, False)]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (annotation("v", GOOD, several_events=True), "flagged as having several events"),
        (annotation("v", GOOD[:2]), "hypotheses is not a list of 3"),
        (annotation("v", GOOD, description=" "), "description is missing"),
        (annotation("v", GOOD, split="train"), "split is 'train'"),
        (annotation("a/v", GOOD), "is a path, not a name"),
        (annotation("v", GOOD, clips={"middle": "x.mp4"}), "clips is not an object"),
        (annotation("v", GOOD, several_events="no"), "several_events is 'no', not true or false"),
        (annotation("v", GOOD, caption=["a"]), "caption is not a text"),
        (
            annotation("v", GOOD, hypotheses=[*annotation("v", GOOD)["hypotheses"][:2], "x"]),
            "hypothesis 3 is not an object",
        ),
        ({"hypotheses": []}, "video is missing"),
        ("it is not readable JSON (...)", "it is not readable JSON"),
        ([1], "it is not an object"),
    ],
)
def test_annotations_that_cannot_be_used_are_listed_and_the_rest_is_built(
    entry: Any, reason: str
) -> None:
    built = build(entry, annotation("good", GOOD))
    assert built.videos == 2
    (left,) = built.left_out
    assert left.what == "the video"
    assert reason in left.reason
    assert {row["q_id"].split("_")[0] for row in built.rows[("YN", "validation")]} == {"good"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"valid_in_step2": None}, "hypothesis 2: valid_in_step2 is missing"),
        ({"valid_in_step3": 1}, "hypothesis 2: valid_in_step3 is 1, not true or false"),
        ({"step2": ""}, "hypothesis 2: step2 is missing"),
        ({"step1": None}, "hypothesis 2: step1 is missing"),
        ({"valid_in_step2": True}, "hypothesis 2: step2 rewrites what was valid"),
    ],
)
def test_hypotheses_that_cannot_be_used_are_named(changes: dict[str, Any], reason: str) -> None:
    entry = annotation("v", GOOD)
    entry["hypotheses"][1].update(changes)
    (left,) = build(entry).left_out
    assert left.reason == reason


def test_a_video_counts_once() -> None:
    built = build(annotation("v", GOOD), annotation("v", GOOD))
    assert [(left.video, left.reason) for left in built.left_out] == [("v", "duplicate video")]
    assert built.counts()["Reporter Gen"] == 1


def test_ids_and_options_depend_on_annotation_and_seed_alone() -> None:
    entries = [annotation(f"v{number}", GOOD) for number in range(30)]

    def by_id(built: Built) -> dict[str, Any]:
        return {row["q_id"]: row for table in built.rows.values() for row in table}

    first = by_id(build(*entries))
    assert len(first) == sum(build(*entries).counts().values())
    assert by_id(build(*reversed(entries))) == first
    assert by_id(build(*entries[3:4])).items() <= first.items()
    assert by_id(build(*entries, seed=1)) != first
    places = Counter(row["mcq_gt_option"] for row in first.values() if "mcq_options" in row)
    asked = sum(places.values())
    # A third each, within 4 standard errors.
    assert all(abs(places[place] - asked / 3) < 4 * (asked * 2 / 9) ** 0.5 for place in range(3))


def test_the_order_is_the_same_everywhere() -> None:
    # By sha256sum: 590af266... for place 0, f41e6718... for place 1, 8a9f212a... for place 2.
    assert option_order("v_detective_mcq_1", 0) == [0, 2, 1]
    assert sorted(option_order("v_detective_mcq_1", 7, count=5)) == [0, 1, 2, 3, 4]


def test_prepare_reads_what_is_written(tmp_path: Path) -> None:
    entries = [
        annotation("v1", [(True, True), (False, False), (False, False)]),
        annotation("v2", [(False, True), (False, True), (False, True)], split="test"),
    ]
    built = build(*entries)
    files = write_questions(built, tmp_path / "release")
    assert [file.name for file in files] == [
        "BlackSwanSuite_MCQ_Val.jsonl",
        "BlackSwanSuite_MCQ_Test.jsonl",
        "BlackSwanSuite_YN_Val.jsonl",
        "BlackSwanSuite_YN_Test.jsonl",
        "BlackSwanSuite_Gen_Val.jsonl",
        "BlackSwanSuite_Gen_Test.jsonl",
        MANIFEST,
    ]
    parsed = blackswan_release.read(Release(tmp_path / "release", tmp_path / "scratch"))
    assert not parsed.skipped
    assert not parsed.notes
    assert Counter((item.split, item.values["task"]) for item in parsed.items) == {
        ("validation", "detective_mcq"): 3,
        ("validation", "reporter_mcq"): 2,
        ("validation", "detective_yn"): 3,
        ("validation", "reporter_yn"): 2,
        ("validation", "forecaster_gen"): 1,
        ("validation", "detective_gen"): 1,
        ("validation", "reporter_gen"): 1,
        ("test", "detective_mcq"): 9,
        ("test", "detective_yn"): 3,
        ("test", "reporter_yn"): 3,
        ("test", "forecaster_gen"): 1,
        ("test", "detective_gen"): 1,
        ("test", "reporter_gen"): 1,
    }
    items = {item.values["id"]: item.values for item in parsed.items}
    row = items["detective_mcq/v1_detective_mcq_2"]
    assert row["options"]["ABC".index(row["answer"])] == "second idea 2"
    assert (row["difficulty"], row["video_before"]) == ("medium", "videos/v1_A_preevent.mp4")
    assert items["reporter_yn/v1_reporter_yn_1"]["answer"] == "no"
    assert items["reporter_gen/v1_reporter_gen_1"]["references"] == ["what happened"]

    manifest = yaml.safe_load(files[-1].read_text(encoding="utf-8"))
    assert manifest["seed"] == 0
    assert manifest["questions"]["Detective MCQ"] == 12
    assert manifest["left_out"] == [
        {
            "video": "v2",
            "what": "Reporter MCQ",
            "reason": "no hypothesis was invalidated in step 3",
        }
    ]


def test_writing_again_replaces_own_tables_and_no_others(tmp_path: Path) -> None:
    write_questions(build(annotation("v", GOOD), annotation("w", GOOD, split="test")), tmp_path)
    write_questions(build(annotation("v", GOOD)), tmp_path)
    assert not list(tmp_path.glob("*_Test.jsonl"))
    (tmp_path / MANIFEST).unlink()
    with pytest.raises(BuildError, match="not written by build-questions"):
        write_questions(build(annotation("v", GOOD)), tmp_path)
    with pytest.raises(BuildError, match="v: it is flagged"):
        write_questions(build(annotation("v", GOOD, several_events=True)), tmp_path / "new")


def test_both_file_forms_and_torn_lines(tmp_path: Path) -> None:
    listed, lines = tmp_path / "a.json", tmp_path / "a.jsonl"
    entries = [annotation("v\u2028", GOOD), annotation("w", GOOD)]
    listed.write_text(json.dumps(entries), encoding="utf-8")
    written = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    lines.write_text("\ufeff" + written + '\n\n{"video": "x', encoding="utf-8")
    assert [entry for _, entry in read_annotations(listed)] == entries
    *read, torn = read_annotations(lines)
    assert [entry for _, entry in read] == entries
    assert torn[0] == "line 4"
    assert "not readable JSON" in str(torn[1])
    for content, message in (("{", "not readable JSON"), ("{}", "is not a list")):
        listed.write_text(content, encoding="utf-8")
        with pytest.raises(BuildError, match=message):
            list(read_annotations(listed))
    with pytest.raises(BuildError, match="cannot be read"):
        list(read_annotations(tmp_path / "gone.json"))


def test_the_documented_example_builds_what_the_page_says(tmp_path: Path) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    annotations = tmp_path / "annotations.jsonl"
    annotations.write_text(json.dumps(json.loads(example)), encoding="utf-8")
    arguments = ["build-questions", "--annotations", str(annotations), "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "left out" not in done.output
    counts = yaml.safe_load((tmp_path / "o" / MANIFEST).read_text(encoding="utf-8"))["questions"]
    assert counts == {
        "Detective Gen": 1,
        "Detective MCQ": 3,
        "Detective YN": 3,
        "Forecaster Gen": 1,
        "Reporter Gen": 1,
        "Reporter MCQ": 2,
        "Reporter YN": 2,
    }
    row = json.loads(
        (tmp_path / "o" / "BlackSwanSuite_MCQ_Val.jsonl").read_text(encoding="utf-8").split("\n")[0]
    )
    assert row["difficulty"] == "medium"
    # Nothing can be asked without the clips, so a script does not go on to a GPU.
    home = ["--home", str(tmp_path / "store")]
    done = CliRunner().invoke(app, ["prepare", "blackswan", "--source", str(tmp_path / "o"), *home])
    assert done.exit_code == 1
    assert "no question of" in done.stderr and "can be asked" in done.stderr


@pytest.mark.parametrize("variant", ["paper", "release"])
@pytest.mark.parametrize("caption", ["", "a caption"])
def test_how_many_questions_each_variant_gives(variant: str, caption: str) -> None:
    """Over all marks: by how many were refuted in step 2 and, of those that stood, in step 3."""

    def pairs(refuted: int) -> int:
        return {0: 0, 1: 1 if caption else 0, 2: 1, 3: 3}[refuted]

    for marks in itertools.product(itertools.product((False, True), repeat=2), repeat=3):
        second = sum(not held for held, _ in marks)
        third = sum(not held for _, held in marks)
        counts = build(annotation("v", list(marks), caption=caption), variant=variant).counts()
        if variant == "paper":
            expected = (3 * pairs(second), (1 + 3 - third) * pairs(third))
        else:
            expected = (second * pairs(second), pairs(third) if second else 0)
        assert (counts["Detective MCQ"], counts["Reporter MCQ"]) == expected
        assert (counts["Detective YN"], counts["Reporter YN"]) == (3, second)


def test_the_releases_rule_takes_only_what_was_written_new() -> None:
    built = build(
        annotation("v", [(False, True), (True, False), (False, False)]), variant="release"
    )
    refuted = {"first idea 1", "first idea 3"}
    assert mcqs(built, "Detective") == [("second idea 1", refuted), ("second idea 3", refuted)]
    assert mcqs(built, "Reporter") == [("what happened", {"first idea 2", "second idea 3"})]
    with pytest.raises(BuildError, match="no variant 'other'"):
        build(variant="other")
