"""Releases as the official loaders see them: all of it is read, and nothing is guessed."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tasks.releases import (
    blackswan_row,
    causalvqa_row,
    tvbench_question,
    write_blackswan,
    write_causalvqa,
    write_tvbench,
    write_video,
)
from video_reasoning.tasks import store
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.release.records import OddRow, listed
from video_reasoning.tasks.release.source import Release

YN = "BlackSwanSuite_YN_Val.jsonl"
GEN = "BlackSwanSuite_Gen_Val.jsonl"
PARTS = ("1_A_preevent", "1_B_event", "1_C_postevent")


def run(benchmark: str, source: Path, home: Path) -> dict[str, Any]:
    return prepare(benchmark, source, store_home=home, workers=1)


def questions(home: Path, benchmark: str, split: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        store.questions_file(benchmark, split, home)
    ).to_pylist()
    return rows


def without_answers(**changes: Any) -> dict[str, Any]:
    row = {name: value for name, value in blackswan_row().items() if not name.startswith("mcq")}
    return {**row, **changes}


def yes_no(**changes: Any) -> dict[str, Any]:
    return without_answers(hypothesis="It tips over.", **changes)


# Clips


@pytest.mark.parametrize("archived", [False, True])
def test_a_debug_question_never_gets_the_test_splits_clip(tmp_path: Path, archived: bool) -> None:
    root = write_causalvqa(tmp_path / "r", [causalvqa_row(renamed_video="0000.mp4")])
    write_causalvqa(root, [causalvqa_row(renamed_video="0000.mp4")], "test")
    (root / "debug/videos/0000.mp4").unlink()
    if archived:
        shutil.make_archive(str(root / "test"), "zip", root / "test")
        shutil.rmtree(root / "test")
    run("causalvqa", root, tmp_path / "s")
    for item in questions(tmp_path / "s", "causalvqa", "debug"):
        assert "the release has no debug/videos/0000.mp4" in item["problem"]
        assert "another set or split" in item["problem"]
    for item in questions(tmp_path / "s", "causalvqa", "test"):
        assert item["problem"] == ""


@pytest.mark.parametrize("both", [False, True])
def test_a_clip_in_a_common_folder_is_taken_if_one_split_names_it(
    tmp_path: Path, both: bool
) -> None:
    root = write_causalvqa(tmp_path / "r", [causalvqa_row(renamed_video="0000.mp4")])
    write_causalvqa(root, [causalvqa_row(renamed_video="0000.mp4" if both else "1.mp4")], "test")
    (root / "debug/videos").rename(root / "videos")
    (root / "test/videos/0000.mp4").unlink(missing_ok=True)
    manifest = run("causalvqa", root, tmp_path / "s")
    item = questions(tmp_path / "s", "causalvqa", "debug")[0]
    if both:
        assert "could be another split's" in item["problem"]
        assert manifest["found_elsewhere"] == {}
    else:
        assert item["problem"] == ""
        assert manifest["found_elsewhere"] == {"debug/videos/0000.mp4": "videos/0000.mp4"}
        assert any("1 clips were taken from another folder" in note for note in manifest["notes"])


def test_two_clips_of_one_name_in_folders_of_a_split(tmp_path: Path) -> None:
    """The official importer appends the whole of ``renamed_video`` to the split's folder."""
    rows = [causalvqa_row(qid=name, renamed_video=f"{name}/x.mp4") for name in ("a", "b")]
    run("causalvqa", write_causalvqa(tmp_path / "r", rows), tmp_path / "s")
    items = questions(tmp_path / "s", "causalvqa", "debug")
    assert [item["video"] for item in items[::2]] == [f"videos/debug/{n}/x.mp4" for n in "ab"]


@pytest.mark.parametrize("row", [
    {"preevent_file_name": "oops_val_v1/1_A_preevent.mp4",
     "postevent_file_name": "oops_val_v1/1_C_postevent.mp4"},
    {"preevent_file_name": "", "postevent_file_name": "", "set_id": "oops_val_v1", "index": 1},
])  # fmt: skip
def test_a_row_never_gets_another_sets_clip(tmp_path: Path, row: dict[str, Any]) -> None:
    root = write_blackswan(
        tmp_path / "r", [blackswan_row(**row)], parts=PARTS, folder="oops_val_v2"
    )
    manifest = run("blackswan", root, tmp_path / "s")
    (missing,) = manifest["splits"]["validation"]["missing"]
    assert "the release has no oops_val_v1/1_A_preevent.mp4" in missing["reason"]
    assert "oops_val_v2/1_A_preevent.mp4 is in the folder of another set" in missing["reason"]


@pytest.mark.parametrize(
    ("folder", "taken"),
    [("test/videos", False), ("BlackSwanSuite-YN/videos", True), ("oops_val_v2", True)],
)
def test_a_clip_from_elsewhere_is_taken_where_it_can_be_no_other(
    tmp_path: Path, folder: str, taken: bool
) -> None:
    write_blackswan(tmp_path / "r/BlackSwanSuite-MCQ", [blackswan_row()], parts=())
    write_blackswan(tmp_path / "r", [], "unused.txt", folder=folder)
    manifest = run("blackswan", tmp_path / "r", tmp_path / "s")
    assert len(manifest["splits"]["validation"]["missing"]) == (0 if taken else 1)
    found = {
        f"videos/3_{part}.mp4": f"{folder}/3_{part}.mp4" for part in ("A_preevent", "C_postevent")
    }
    assert manifest["found_elsewhere"] == (found if taken else {})


def test_a_data_set_with_clips_does_not_get_another_data_sets(tmp_path: Path) -> None:
    rows = [blackswan_row(), blackswan_row(q_id=8, preevent_file_name="videos/9_A_preevent.mp4")]
    write_blackswan(tmp_path / "r/BlackSwanSuite-MCQ", rows)
    write_video(tmp_path / "r/BlackSwanSuite-YN/videos/9_A_preevent.mp4")
    manifest = run("blackswan", tmp_path / "r", tmp_path / "s")
    (missing,) = manifest["splits"]["validation"]["missing"]
    assert missing["id"] == "detective_mcq/8" and "another set or split" in missing["reason"]


def test_a_length_is_derived_only_if_the_parts_are_there(tmp_path: Path) -> None:
    root = write_blackswan(tmp_path / "r", [blackswan_row()], parts=())
    manifest = run("blackswan", root, tmp_path / "s")
    assert len(manifest["splits"]["validation"]["missing"]) == 1
    assert not any("derived" in note for note in manifest["notes"])


# Answers


@pytest.mark.parametrize(
    ("row", "name", "columns"),
    [
        ({**without_answers(mcq_options=["x", "y", "z"]), "gt_answers": 1},
         "BlackSwanSuite_MCQ_Val.jsonl", "mcq_gt_option, mcq_label.*it has q_id, .*gt_answers"),
        (yes_no(yn_label="yes"), YN, "yn_gt, .*it has q_id, .*yn_label"),
        (without_answers(gt_answer=["It fell."]), GEN, "gt_ref_ans, .*it has q_id, .*gt_answer"),
        (blackswan_row(mcq_gt_option=None), "BlackSwanSuite_MCQ_Val.jsonl", "mcq_gt_option"),
    ],
)  # fmt: skip
def test_a_validation_table_without_an_answer_is_refused(
    tmp_path: Path, row: dict[str, Any], name: str, columns: str
) -> None:
    source = write_blackswan(tmp_path / "r", [row], name)
    with pytest.raises(ReleaseError, match=f"has no answer to any of its 1 questions.*{columns}"):
        run("blackswan", source, tmp_path / "s")


def test_a_debug_split_without_an_answer_is_refused(tmp_path: Path) -> None:
    root = write_causalvqa(tmp_path / "r", [causalvqa_row()])
    path = root / "debug/debug_metadata.csv"
    path.write_text(path.read_text().replace("correct", "right"))
    with pytest.raises(ReleaseError, match=r"no answer to any .*it has qid, .*right1"):
        run("causalvqa", root, tmp_path / "s")


@pytest.mark.parametrize(
    ("columns", "answer"),
    [
        ({"yn_options": ["yes", "no"], "yn_gt_option": 0}, "yes"),
        ({"yn_options": ["yes", "no"], "yn_gt_option": 1}, "no"),
        ({"yn_options": ["No", "Yes"], "yn_gt_option": "1"}, "yes"),
        ({"yn_options": '["Yes", "No"]', "yn_gt_option": 1.0}, "no"),
        ({"yn_options": ["no", "yes"], "yn_gt": 1}, "yes"),
        ({"yn_gt": "Yes."}, "yes"),
        ({"yn_gt": True, "yn_gt_ans": "yes"}, "yes"),
    ],
)
def test_an_index_counts_with_its_options(
    tmp_path: Path, columns: dict[str, Any], answer: str
) -> None:
    run("blackswan", write_blackswan(tmp_path / "r", [yes_no(**columns)], YN), tmp_path / "s")
    assert questions(tmp_path / "s", "blackswan", "validation")[0]["answer"] == answer


@pytest.mark.parametrize(
    ("row", "name", "reason"),
    [
        (yes_no(yn_gt_option=0), YN, "could be a truth value .* or the place of one of"),
        (yes_no(yn_gt=1), YN, "yn_gt is 1, which could be a truth value"),
        (yes_no(yn_gt="1.0"), YN, "could be a truth value"),
        (yes_no(yn_options=["yes", "no"], yn_gt=1), YN, "could be a truth value"),
        (yes_no(yn_gt="yes", label="no"), YN, "its answers disagree: yn_gt is 'yes', label is"),
        (without_answers(options=["x", "y", "z"], answer=1), "BlackSwanSuite_MCQ_Val.jsonl",
         "answer is 1, which could count the options from 0 or from 1"),
    ],
)  # fmt: skip
def test_an_answer_that_could_be_read_in_two_ways_is_refused(
    tmp_path: Path, row: dict[str, Any], name: str, reason: str
) -> None:
    with pytest.raises(ReleaseError, match=reason):
        run("blackswan", write_blackswan(tmp_path / "r", [row], name), tmp_path / "s")


@pytest.mark.parametrize("answer", ["B", "b", "y"])
def test_an_answer_may_be_a_letter_or_the_options_text(tmp_path: Path, answer: str) -> None:
    row = without_answers(options=["x", "y", "z"], answer=answer)
    run("blackswan", write_blackswan(tmp_path / "r", [row]), tmp_path / "s")
    assert questions(tmp_path / "s", "blackswan", "validation")[0]["answer"] == "B"


@pytest.mark.parametrize(
    ("written", "references"),
    [
        (json.dumps(["The man falls.", "The dog barks."]), ["The man falls.", "The dog barks."]),
        ("['The man falls.', \"It's wet.\"]", ["The man falls.", "It's wet."]),
        ("The man falls.", ["The man falls."]),
    ],
)
def test_lists_of_references_in_a_csv_file_are_lists(
    tmp_path: Path, written: str, references: list[str]
) -> None:
    row = without_answers(gt_ref_ans=written)
    source = write_blackswan(tmp_path / "r", [], "unused.txt")
    with (source / "BlackSwanSuite_Gen_Val.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    run("blackswan", source, tmp_path / "s")
    assert questions(tmp_path / "s", "blackswan", "validation")[0]["references"] == references


@pytest.mark.parametrize("written", ["['The man falls.' 'The dog barks.']", "[The man falls]"])
def test_brackets_that_may_be_a_list_are_refused(written: str) -> None:
    with pytest.raises(OddRow, match="could be one text in brackets or a list"):
        listed(written, "references")


# Layouts


def test_the_authors_own_rows(tmp_path: Path) -> None:
    """As the inference scripts read them: numbered tasks, no id of a question, folders of sets."""
    rows: list[dict[str, Any]] = []
    for index in (1, 2):
        video = {"set_id": "oops_val_v2", "id": f"v{index}", "index": index,
                 "preevent": f"{index}_A_preevent.mp4", "event": f"{index}_B_event.mp4",
                 "postevent": f"{index}_C_postevent.mp4"}  # fmt: skip
        for number, (task, label) in enumerate([(1, 2), (1, 0), (2, 1)]):
            options = [f"{index}{number}{n}" for n in "xyz"]
            rows.append({**video, "mcq_task": task, "mcq_id": number, "mcq_options": options,
                         "mcq_label": label})  # fmt: skip
            rows.append({**video, "def_task": task, "def_id": number, "exp": f"{index}{number}",
                         "def_label": "yes" if label else "no"})  # fmt: skip
    root = write_blackswan(tmp_path / "r", [], "unused.txt", parts=PARTS, folder="oops_val_v2")
    write_blackswan(root, [], "unused.txt", folder="oops_val_v2",
                    parts=("2_A_preevent", "2_B_event", "2_C_postevent"))  # fmt: skip
    for name, column in (("mcq_list_val.json", "mcq_task"), ("def_list_val.json", "def_task")):
        (root / name).write_text(json.dumps([row for row in rows if column in row]))
    manifest = run("blackswan", root, tmp_path / "s")
    summary = manifest["splits"]["validation"]
    assert (summary["questions"], summary["missing"], summary["skipped"]) == (12, [], [])

    def official(row: dict[str, Any]) -> tuple[Any, ...]:
        task = {1: "detective", 2: "reporter"}[row.get("mcq_task") or row.get("def_task")]
        video = f"videos/{row['set_id']}/{row['index']}_A_preevent.mp4"
        if "mcq_task" in row:
            return f"{task}_mcq", video, row["mcq_options"][row["mcq_label"]]
        return f"{task}_yn", video, row["exp"], row["def_label"]

    def ours(item: dict[str, Any]) -> tuple[Any, ...]:
        if item["options"]:
            right = item["options"]["ABC".index(item["answer"])]
            return item["task"], item["video_before"], right
        return item["task"], item["video_before"], item["hypothesis"], item["answer"]

    items = questions(tmp_path / "s", "blackswan", "validation")
    assert sorted(map(ours, items)) == sorted(map(official, rows))


def test_a_parquet_table_beside_another_is_read(tmp_path: Path) -> None:
    root = write_blackswan(tmp_path / "r", [blackswan_row()])
    rows = [blackswan_row(), blackswan_row(q_id=8, mcq_gt_option=2)]
    (root / "data").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), root / "data/validation-00000-of-00001.parquet")
    manifest = run("blackswan", root, tmp_path / "s")
    items = questions(tmp_path / "s", "blackswan", "validation")
    assert {item["question_id"]: item["answer"] for item in items} == {"7": "B", "8": "C"}
    assert any(note.startswith("1 rows repeat another") for note in manifest["notes"])


@pytest.mark.parametrize("name", ["videos.zip.001", "videos.tar.gz.aa", "videos.7z", "v.z01"])
def test_archives_that_are_not_unpacked_are_named(tmp_path: Path, name: str) -> None:
    root = write_blackswan(tmp_path / "r", [blackswan_row()])
    (root / name).write_bytes(b"a part")
    manifest = run("blackswan", root, tmp_path / "s")
    (note,) = (note for note in manifest["notes"] if note.startswith("Not unpacked"))
    assert name in note and "join split archives" in note


@pytest.mark.parametrize("benchmark", ["causalvqa", "tvbench"])
def test_tables_that_are_not_read_are_named(tmp_path: Path, benchmark: str) -> None:
    if benchmark == "causalvqa":
        root = write_causalvqa(tmp_path / "r", [causalvqa_row()])
    else:
        root = write_tvbench(tmp_path / "r", {"1": tvbench_question()})
    (root / "more.parquet").write_bytes(b"")
    manifest = run(benchmark, root, tmp_path / "s")
    assert "Not read, because nothing is known of them: more.parquet." in manifest["notes"]


def test_tvbench_as_a_folder_of_each_task(tmp_path: Path) -> None:
    for task in ("rotation", "count"):
        (tmp_path / "r" / task).mkdir(parents=True)
        table = pa.Table.from_pylist([tvbench_question(question=f"{task}?")])
        pq.write_table(table, tmp_path / "r" / task / "test-00000-of-00001.parquet")
    write_video(tmp_path / "r/videos/object/0001-00.mp4")
    run("tvbench", tmp_path / "r", tmp_path / "s")
    items = questions(tmp_path / "s", "tvbench", "test")
    assert [(item["id"], item["question"], item["problem"]) for item in items] == [
        ("rotation/0", "rotation?", ""),
        ("action_count/0", "count?", ""),
    ]


def test_tvbench_as_the_authors_loader_reads_it(tmp_path: Path) -> None:
    """A file of each type, by id; a letter for each option; a folder for who is shown."""
    files = ("rotation", "direction", "velocity&frequency", "shape&trend", "visual_cues", "count")
    kinds, wanted = ("human", "object", "simulated"), []
    data = tmp_path / "TOMATO/data"
    data.mkdir(parents=True)
    stand_in = write_video(tmp_path / "stand-in.mp4")
    for place, name in enumerate(files):
        rows = {}
        for number, kind in ((place * 7, kinds[place % 3]), (1000 + place, kinds[place // 3])):
            options = [f"{name} {n}" for n in range(2 + place)]
            answer = number % len(options)
            key = f"{place:04}-{number:02}"
            rows[str(number)] = tvbench_question(
                question=f"{name}, {number}?", options=options, answer=answer, key=key,
                demonstration_type=kind,
            )  # fmt: skip
            letters = {chr(ord("A") + n): option for n, option in enumerate(options)}
            right = chr(ord("A") + answer)
            wanted.append((str(number), f"{name}, {number}?", letters, right, f"{kind}/{key}.mp4"))
            video = tmp_path / "TOMATO/videos" / kind / f"{key}.mp4"
            video.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(stand_in, video)
        (data / f"{name}.json").write_text(json.dumps(rows))
    run("tvbench", tmp_path / "TOMATO", tmp_path / "s")
    items = questions(tmp_path / "s", "tvbench", "test")
    found = [
        (
            item["id"].partition("/")[2],
            item["question"],
            {chr(ord("A") + n): option for n, option in enumerate(item["options"])},
            item["answer"],
            item["video"].removeprefix("videos/"),
        )
        for item in items
    ]
    assert found == wanted and not any(item["problem"] for item in items)


def test_causalvqa_as_the_official_importer_reads_it(tmp_path: Path) -> None:
    """Options between bars behind two characters and a space; answers by that number."""
    rows = [
        causalvqa_row(
            qid=f"q{number}",
            choices1="|".join(
                f"{n}. The person counts to {n + 1}. Then stops" for n in range(1, 6)
            ),
            correct1=str(number),
            choices2="| ".join(f"{n}) {n}. floor, or {n + 1}: all" for n in range(1, 6)),
            correct2=str(6 - number),
            renamed_video=f"{number:04}.mp4",
        )
        for number in range(1, 6)
    ]
    run("causalvqa", write_causalvqa(tmp_path / "CausalVQA/data", rows), tmp_path / "s")
    items = questions(tmp_path / "s", "causalvqa", "debug")
    for item in items:
        row = rows[int(item["qid"][1]) - 1]
        pieces = [piece.strip() for piece in row[f"choices{item['variant']}"].split("|")]
        assert item["options"] == [piece[3:] for piece in pieces]
        right = [piece[0] for piece in pieces].index(row[f"correct{item['variant']}"])
        assert item["answer"] == "ABCDE"[right] and item["problem"] == ""
    assert len(items) == 10


def test_an_archive_unpacked_beside_itself_counts_once(tmp_path: Path) -> None:
    root = write_causalvqa(tmp_path / "r", [causalvqa_row()])
    shutil.make_archive(str(tmp_path / "CausalVQA"), "zip", root)
    shutil.move(tmp_path / "CausalVQA.zip", root)
    release = Release(root, tmp_path / "scratch")
    assert len(release.videos()) == len(release.annotations(".csv")) == 1
