"""BlackSwanSuite's releases in every layout that is read, and captions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.tasks.releases import blackswan_row, tvbench_question, write_blackswan, write_tvbench
from tests.tasks.releases import write_video as draw
from video_reasoning.preprocessing.video import verify
from video_reasoning.tasks import registry, store
from video_reasoning.tasks.blackswan import captions
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare.build import prepare

EVENT = {"event_file_name": "videos/3_B_event.mp4"}


def run(source: Path, home: Path, **options: Any) -> dict[str, Any]:
    return prepare("blackswan", source, store_home=home, workers=1, **options)


def questions(home: Path, split: str = "validation") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        store.questions_file("blackswan", split, home)
    ).to_pylist()
    return rows


def frames(home: Path, item: dict[str, Any]) -> int:
    return verify(home / "blackswan" / item["video"]).frames


def yes_no_row(**changes: Any) -> dict[str, Any]:
    row = {k: v for k, v in blackswan_row().items() if not k.startswith("mcq")}
    return {**row, "hypothesis": "It tips over.", "yn_gt": "yes", **changes}


def gen_row(task: str, **changes: Any) -> dict[str, Any]:
    row = {k: v for k, v in blackswan_row(task=task).items() if not k.startswith("mcq")}
    return {**row, "gt_ref_ans": ["It fell.", "It slipped."], **changes}


def test_the_hubs_layout_of_all_three_kinds(tmp_path: Path) -> None:
    """Three data sets side by side, clips by preevent_, event_ and postevent_file_name."""
    for kind, rows in {
        "MCQ": [blackswan_row(), blackswan_row(q_id=8, task="Reporter", **EVENT)],
        "YN": [yes_no_row(), yes_no_row(q_id=8, task="Reporter", **EVENT)],
        "Gen": [
            gen_row("Forecaster", q_id=1, postevent_file_name=""),
            gen_row("Detective", q_id=2),
            gen_row("Reporter", q_id=3, **EVENT),
        ],
    }.items():
        folder = tmp_path / "r" / f"BlackSwanSuite-{kind}"
        write_blackswan(folder, rows, f"BlackSwanSuite_{kind}_Val.jsonl")
    manifest = run(tmp_path / "r", tmp_path / "s")
    items = {item["task"]: item for item in questions(tmp_path / "s")}
    shown = {task: frames(tmp_path / "s", item) for task, item in items.items()}
    # 10 frames before, 14 of the event, 12 after.
    assert shown == {
        "forecaster_gen": 10,
        **dict.fromkeys(("detective_mcq", "detective_yn", "detective_gen"), 36),
        **dict.fromkeys(("reporter_mcq", "reporter_yn", "reporter_gen"), 36),
    }
    assert items["detective_mcq"]["video"] != items["reporter_mcq"]["video"]
    assert manifest["videos"] == 3
    assert manifest["splits"]["validation"]["missing"] == []


def test_the_authors_layout_with_numbered_sets(tmp_path: Path) -> None:
    """Rows that name set_id and index, or set_id and file names; the clips in a folder per set."""
    rows = [
        {"q_id": "a", "task": "Detective", "set_id": "oops_val_v2", "index": 3,
         "mcq_options": ["x", "y", "z"], "mcq_gt_option": 0},
        {"q_id": "b", "task": "Reporter", "set_id": "oops_val_v2", "index": 3,
         "preevent": "3_A_preevent.mp4", "event": "3_B_event.mp4",
         "postevent": "3_C_postevent.mp4", "mcq_options": ["x", "y", "z"], "mcq_gt_option": 2},
    ]  # fmt: skip
    source = write_blackswan(tmp_path / "r", rows, folder="clips/oops_val_v2")
    run(source, tmp_path / "s")
    detective, reporter = questions(tmp_path / "s")
    assert frames(tmp_path / "s", detective) == frames(tmp_path / "s", reporter) == 36
    assert detective["video_before"] == "videos/oops_val_v2/3_A_preevent.mp4"


def test_two_data_sets_may_give_one_name_to_different_videos(tmp_path: Path) -> None:
    write_blackswan(tmp_path / "r/BlackSwanSuite-MCQ", [blackswan_row()])
    other = write_blackswan(
        tmp_path / "r/BlackSwanSuite-YN", [yes_no_row()], "BlackSwanSuite_YN_Val.jsonl"
    )
    (other / "videos/3_A_preevent.mp4").unlink()
    draw(other / "videos/3_A_preevent.mp4", frames=20)
    run(tmp_path / "r", tmp_path / "s")
    mcq, yes_no = questions(tmp_path / "s")
    assert frames(tmp_path / "s", mcq) == 10 + 14 + 12
    assert frames(tmp_path / "s", yes_no) == 20 + 14 + 12
    assert yes_no["video_before"] == "videos/BlackSwanSuite-YN/3_A_preevent.mp4"


def test_clips_in_an_archive_of_each_data_set(tmp_path: Path) -> None:
    for kind, row, length in (("MCQ", blackswan_row(), 10), ("YN", yes_no_row(), 20)):
        folder = write_blackswan(
            tmp_path / f"r/BlackSwanSuite-{kind}", [row], f"BlackSwanSuite_{kind}_Val.jsonl"
        )
        (folder / "videos/3_A_preevent.mp4").unlink()
        draw(folder / "videos/3_A_preevent.mp4", frames=length)
        shutil.make_archive(str(folder / "videos"), "zip", folder, "videos")
        shutil.rmtree(folder / "videos")
    run(tmp_path / "r", tmp_path / "s")
    mcq, yes_no = questions(tmp_path / "s")
    assert (frames(tmp_path / "s", mcq), frames(tmp_path / "s", yes_no)) == (36, 46)


def test_parts_in_folders_of_their_own(tmp_path: Path) -> None:
    row = blackswan_row(
        preevent_file_name="preevent/0003.mp4", postevent_file_name="postevent/0003.mp4"
    )
    source = write_blackswan(tmp_path / "r", [row], parts=())
    for part, length in (("preevent", 10), ("event", 14), ("postevent", 12)):
        draw(source / part / "0003.mp4", frames=length)
    run(source, tmp_path / "s")
    (item,) = questions(tmp_path / "s")
    assert frames(tmp_path / "s", item) == 36


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_tables_in_other_formats(tmp_path: Path, suffix: str) -> None:
    row = blackswan_row()
    source = write_blackswan(tmp_path / "r", [row], name="unused.txt")
    table = source / f"BlackSwanSuite_MCQ_Val.{suffix}"
    if suffix == "json":
        table.write_text(json.dumps([row]))
    else:
        cells = [json.dumps(v) if isinstance(v, list) else str(v) for v in row.values()]
        quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
        table.write_text(",".join(row) + "\n" + ",".join(quoted) + "\n")
    run(source, tmp_path / "s")
    (item,) = questions(tmp_path / "s")
    assert item["options"] == row["mcq_options"] and item["answer"] == "B"


@pytest.mark.parametrize("label", ["yes", "Yes", "TRUE", "valid", True])
def test_labels_of_yes(tmp_path: Path, label: object) -> None:
    source = write_blackswan(
        tmp_path / "r", [yes_no_row(yn_gt=label)], "BlackSwanSuite_YN_Val.jsonl"
    )
    run(source, tmp_path / "s")
    assert questions(tmp_path / "s")[0]["answer"] == "yes"


@pytest.mark.parametrize(
    ("row", "name", "reason"),
    [
        (yes_no_row(yn_gt="maybe"), "BlackSwanSuite_YN_Val.jsonl", "neither yes nor no"),
        (yes_no_row(hypothesis=""), "BlackSwanSuite_YN_Val.jsonl", "hypothesis is missing"),
        (gen_row("Juror"), "BlackSwanSuite_Gen_Val.jsonl", "no task juror_gen"),
        (gen_row("Forecaster", gt_ref_ans=[""]), "BlackSwanSuite_Gen_Val.jsonl", "empty or nested"),
        (gen_row("Detective", postevent_file_name=""), "BlackSwanSuite_Gen_Val.jsonl",
         "no clip for the end"),
        (blackswan_row(task="Forecaster"), "BlackSwanSuite_MCQ_Val.jsonl", "no task forecaster"),
        (blackswan_row(mcq_options="x, y"), "BlackSwanSuite_MCQ_Val.jsonl", "not a list"),
    ],
)  # fmt: skip
def test_an_odd_row_says_why(tmp_path: Path, row: dict[str, Any], name: str, reason: str) -> None:
    source = write_blackswan(tmp_path / "r", [row], name)
    with pytest.raises(ReleaseError, match=reason):
        run(source, tmp_path / "s")


def test_a_reporter_without_the_event_says_so(tmp_path: Path) -> None:
    row = blackswan_row(task="Reporter")
    source = write_blackswan(tmp_path / "r", [row], parts=("3_A_preevent", "3_C_postevent"))
    with pytest.raises(ReleaseError, match="names no clip for the event"):
        run(source, tmp_path / "s")


def test_a_broken_clip_is_named_and_the_rest_is_done(tmp_path: Path) -> None:
    rows = [blackswan_row(), blackswan_row(q_id=8, postevent_file_name="videos/9_C_postevent.mp4")]
    source = write_blackswan(tmp_path / "r", rows)
    (source / "videos/9_C_postevent.mp4").write_bytes(b"this is no video")
    manifest = run(source, tmp_path / "s")
    (missing,) = manifest["splits"]["validation"]["missing"]
    assert missing["id"] == "detective_mcq/8" and "9_C_postevent.mp4" in missing["reason"]


def test_a_table_of_no_known_kind_is_noted(tmp_path: Path) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row()])
    (source / "notes.jsonl").write_text('{"text": "hello"}\n')
    manifest = run(source, tmp_path / "s")
    assert any(note.startswith("notes.jsonl was left out") for note in manifest["notes"])


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    draw(tmp_path / "r/videos/3_A_preevent.mp4")
    with pytest.raises(ReleaseError, match=r"has no BlackSwanSuite table such as"):
        run(tmp_path / "r", tmp_path / "s")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe{}", "is not UTF-8"), (b"[1", "not readable JSON"), (b"7", "not a list")],
)
def test_an_unreadable_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row()])
    (source / "BlackSwanSuite_MCQ_Test.json").write_bytes(content)
    with pytest.raises(ReleaseError, match=message):
        run(source, tmp_path / "s")


# Captions


def write_captions(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


BOTH = {"p_preevent": "a dog on a pier", "p_postevent": "a wet dog"}


def test_captions_are_stored_with_the_questions(tmp_path: Path) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row(), blackswan_row(q_id=8)])
    file = write_captions(
        tmp_path / "c.jsonl",
        {"question_id": 7, **BOTH, "pc_comp": "the dog is wet"},
        {"id": "detective_mcq/8", **BOTH},
        {"id": "99", **BOTH},
        {"p_preevent": "whose?"},
        "{broken",
    )
    manifest = run(source, tmp_path / "s", captions=file)
    first, second = questions(tmp_path / "s")
    assert first["p_preevent"] == "a dog on a pier" and first["pc_comp"] == "the dog is wet"
    assert second["p_postevent"] == "a wet dog" and second["pc_comp"] == ""
    assert manifest["splits"]["validation"]["captioned"] == {
        "detective_mcq_perception": 2,
        "detective_mcq_perception_comprehension": 1,
    }
    notes = "\n".join(manifest["notes"])
    assert "2 detective_mcq questions have captions from c.jsonl." in notes
    assert "Captions of no detective_mcq question: 99." in notes
    assert "2 lines of c.jsonl were left out: line 4: it has no id" in notes
    # Preparing again without the file keeps them.
    manifest = run(source, tmp_path / "s")
    assert manifest["splits"]["validation"]["captioned"]["detective_mcq_perception"] == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "it is not an object"),
        ({"question_id": "7"}, "it has none of p_preevent"),
        ({"question_id": "7", "p_preevent": ["x"]}, "p_preevent is not a text"),
        ({"question_id": "7", "p_preevent": "  "}, "it has none of p_preevent"),
        ({"question_id": True, "p_preevent": "x"}, "it has no id"),
        ("", "has no captions; a line is an object such as"),
    ],
)
def test_captions_that_cannot_be_read(tmp_path: Path, line: Any, reason: str) -> None:
    with pytest.raises(ReleaseError, match="has no captions") as refused:
        captions.read_captions(write_captions(tmp_path / "c.jsonl", line))
    assert reason in str(refused.value)


def test_a_file_of_captions_that_is_not_there(tmp_path: Path) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row()])
    with pytest.raises(ReleaseError, match=r"The captions .*none\.jsonl cannot be read"):
        run(source, tmp_path / "s", captions=tmp_path / "none.jsonl")


def test_captions_are_for_blackswan(tmp_path: Path) -> None:
    source = write_tvbench(tmp_path / "r", {"1": tvbench_question()}, videos=False)
    file = write_captions(tmp_path / "c.jsonl", {"id": "1", **BOTH})
    with pytest.raises(ReleaseError, match="tvbench has no use for"):
        prepare("tvbench", source, store_home=tmp_path / "s", captions=file)


def test_a_store_without_captions_says_so_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_blackswan(tmp_path / "r", [blackswan_row()])
    run(source, tmp_path / "s")
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path / "s"))
    (sentence,) = registry.missing_data(["blackswan_detective_mcq_perception"])
    assert sentence.startswith("blackswan_detective_mcq_perception has no questions: none has")
    assert "--captions FILE" in sentence
    file = write_captions(tmp_path / "c.jsonl", {"question_id": 7, **BOTH})
    run(source, tmp_path / "s", captions=file)
    assert registry.missing_data(["blackswan_detective_mcq_perception"]) == []
    (sentence,) = registry.missing_data(["blackswan_detective_mcq_perception_comprehension"])
    assert "pc_comp" in sentence


@pytest.mark.parametrize("merged", ["clips", "clips_merged"])
def test_joined_clips_of_the_release_are_taken_if_they_are_certain(
    tmp_path: Path, merged: str
) -> None:
    from tests.reliability.runs import write_event_videos
    from video_reasoning.preprocessing.split import split_folder

    release = tmp_path / "release"
    times = write_event_videos(tmp_path / "falls", 2)
    assert len(split_folder(tmp_path / "falls", times, release / "clips")) == 2
    (release / merged).mkdir(exist_ok=True)
    for name in ("1_D_merged.mp4", "1_E_merged.mp4", "2_D_merged.mp4"):
        (release / "clips" / name).rename(release / merged / name)
    # Of another video: a name is not enough.
    (release / merged / "2_D_merged.mp4").write_bytes(
        (release / merged / "1_D_merged.mp4").read_bytes()
    )
    rows = []
    for number, task in ((1, "Detective"), (1, "Reporter"), (2, "Detective")):
        names = {
            f"{part}_file_name": f"clips/{number}_{suffix}.mp4"
            for part, suffix in (
                ("preevent", "A_preevent"),
                ("event", "B_event"),
                ("postevent", "C_postevent"),
            )
        }
        rows.append(blackswan_row(q_id=len(rows), task=task, **names))
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (release / "BlackSwanSuite_MCQ_Val.jsonl").write_text(lines)
    manifest = run(release, tmp_path / "home")
    assert manifest["splits"]["validation"]["missing"] == []
    shown = [
        (tmp_path / "home/blackswan" / item["video"]).read_bytes()
        for item in questions(tmp_path / "home")
    ]
    assert shown[0] == (release / merged / "1_D_merged.mp4").read_bytes()
    assert shown[1] == (release / merged / "1_E_merged.mp4").read_bytes()
    assert shown[2] != shown[0]
