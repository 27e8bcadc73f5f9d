"""The annotation files: layout, counts, and that every text can be read back."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import av
import pytest

from video_reasoning.tasks.sample import blackswan, causalvqa, tvbench
from video_reasoning.tasks.sample.drawing import write_video
from video_reasoning.tasks.sample.wording import (
    CAUSALVQA_ANSWERS,
    CAUSALVQA_QUESTIONS,
    CLAIMS,
    TVBENCH_ANSWERS,
    TVBENCH_QUESTIONS,
    Phrasebook,
)


def jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", tvbench.FILES)
def test_tvbench_file(releases: Path, name: str) -> None:
    rows = json.loads((releases / "tvbench" / "data" / f"{name}.json").read_text("utf-8"))
    assert len(rows) >= 24
    assert Counter(row["evidence"] for row in rows.values()) == {
        "temporal": 12,
        "static": 6,
        "moment": 4,
        "none": 12,
    }
    assert len({row["answer"] for row in rows.values()}) >= 4
    for row in rows.values():
        options = row["options"]
        assert 2 <= len(options) <= 7
        assert 0 <= row["answer"] < len(options)
        assert set(row["variation"]) == {"counterfactual", "composite", "zoom", "first_person"}
        assert row["demonstration_type"] in ("human", "object", "simulated")
        assert TVBENCH_QUESTIONS.read(row["question"]) is not None
        readings = [TVBENCH_ANSWERS.read(option) for option in options]
        assert None not in readings
        assert len({reading.key for reading in readings if reading}) == len(options)
        assert ("informative_frame" in row) == (row["evidence"] == "moment")


def test_every_variation_and_demonstration_type_occurs(releases: Path) -> None:
    rows = [
        row
        for path in (releases / "tvbench" / "data").iterdir()
        for row in json.loads(path.read_text("utf-8")).values()
    ]
    for name in ("counterfactual", "composite", "zoom", "first_person"):
        assert {row["variation"][name] for row in rows} == {0, 1}
    assert {row["demonstration_type"] for row in rows} == {"human", "object", "simulated"}


def test_blackswan_rows(releases: Path) -> None:
    root = releases / "blackswan"
    kinds = Counter()
    ids = []
    for kind in ("MCQ", "YN", "Gen"):
        for split in ("Val", "Test"):
            for row in jsonl(root / f"BlackSwanSuite_{kind}_{split}.jsonl"):
                ids.append(row["q_id"])
                labels = {"mcq_gt_option", "yn_gt", "gt_ref_ans"} & set(row)
                assert len(labels) == (split == "Val")
                shown = [bool(row[f"{part}event_file_name"]) for part in ("pre", "", "post")]
                assert (
                    shown
                    == {
                        "Forecaster": [True, False, False],
                        "Detective": [True, False, True],
                        "Reporter": [True, True, True],
                    }[row["task"]]
                )
                if split == "Val":
                    kinds[row["task"], kind] += 1
                texts = row.get("mcq_options", [row["hypothesis"]] if kind == "YN" else [])
                assert all(CLAIMS.read(text) for text in texts)
    assert len(ids) == len(set(ids))
    assert set(kinds) == {
        ("Forecaster", "Gen"),
        *((task, kind) for task in ("Detective", "Reporter") for kind in ("MCQ", "YN", "Gen")),
    }
    assert kinds["Forecaster", "Gen"] == 40


def test_blackswan_labels_are_spread(releases: Path) -> None:
    rows = jsonl(releases / "blackswan" / "BlackSwanSuite_MCQ_Val.jsonl")
    for task, evidence in (("Detective", "temporal"), ("Detective", "hidden")):
        places = Counter(
            row["mcq_gt_option"]
            for row in rows
            if (row["task"], row["evidence"]) == (task, evidence)
        )
        assert max(places.values()) - min(places.values()) <= 1
    hidden = [
        row["yn_gt"]
        for row in jsonl(releases / "blackswan" / "BlackSwanSuite_YN_Val.jsonl")
        if row["evidence"] == "hidden"
    ]
    assert Counter(hidden) == {"yes": 40, "no": 40}


def test_causalvqa_pairs(releases: Path) -> None:
    rows = table(releases / "causalvqa" / "debug" / "debug_metadata.csv")
    assert len(rows) == 55
    assert len({(row["type"], row["difficulty"]) for row in rows}) == 15
    for row in rows:
        assert CAUSALVQA_QUESTIONS.read(row["question"]) is not None
        keys, right = [], []
        for variant in ("1", "2"):
            parts = row[f"choices{variant}"].split("|")
            assert [part.split(". ", 1)[0] for part in parts] == ["1", "2", "3", "4", "5"]
            texts = [part.split(". ", 1)[1] for part in parts]
            readings = [CAUSALVQA_ANSWERS.read(text) for text in texts]
            keys.append({reading.key for reading in readings if reading})
            right.append(texts[int(row[f"correct{variant}"]) - 1])
        assert right[0] == right[1]
        assert keys[0] == keys[1]
        assert len(keys[0]) == 5
        assert row["choices1"] != row["choices2"]
    withheld = table(releases / "causalvqa" / "test" / "test_metadata.csv")
    assert len(withheld) == 15
    assert all(row["correct1"] == row["correct2"] == "" for row in withheld)


def test_annotations_are_the_same_each_time(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        for build in (tvbench.build, blackswan.build, causalvqa.build):
            build(tmp_path / folder / build.__module__)
    files = sorted(path for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 14
    for path in files:
        twin = tmp_path / "two" / path.relative_to(tmp_path / "one")
        assert path.read_bytes() == twin.read_bytes()


def test_videos_are_h264_of_the_promised_kind(releases: Path) -> None:
    paths = sorted(releases.rglob("*.mp4"))
    assert len(paths) > 30
    for path in paths:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            assert stream.codec_context.name == "h264"
            assert (stream.width, stream.height) == (320, 240)
            assert stream.average_rate == 25
            least = 25 if "event" in path.name else 50
            assert least <= stream.frames <= 250


def test_a_video_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    video = blackswan.build(tmp_path)[0]
    contents = []
    for _ in range(2):
        write_video(video)
        contents.append([path.read_bytes() for path, _, _ in video.cuts])
    assert contents[0] == contents[1]


def test_parts_put_end_to_end_leave_no_frame_out(tmp_path: Path) -> None:
    for video in blackswan.build(tmp_path):
        bounds = [(begin, end) for _, begin, end in video.cuts]
        assert bounds[0][0] == 4  # 0.17 s at 25 frames a second, to the frame
        assert bounds[0][1] == bounds[1][0]
        assert bounds[1][1] == bounds[2][0]
        assert bounds[2][1] == video.frames - 4
        assert all(end - begin >= 25 for begin, end in bounds)


@pytest.mark.parametrize("book", [TVBENCH_ANSWERS, CAUSALVQA_ANSWERS, CLAIMS])
def test_every_wording_reads_as_what_it_means(book: Phrasebook) -> None:
    for meaning, wordings in book.phrases.items():
        for number in range(len(wordings)):
            text = book.write(meaning, number, a="red", b="blue")
            reading = book.read(f"  {text.upper()}")
            assert reading is not None
            assert reading.meaning == meaning
    assert book.read("something that nobody wrote") is None
