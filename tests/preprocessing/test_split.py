from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import decord
import numpy as np
import pytest

from tests.preprocessing.conftest import turn, write_video
from video_reasoning.preprocessing import split
from video_reasoning.preprocessing.scenes import SceneFinder
from video_reasoning.preprocessing.split import (
    SplitRecord,
    event_time,
    find_videos,
    keep_scene,
    plan_event_time,
    plan_split,
    read_manifest,
    read_transition_times,
    split_folder,
    split_points,
    split_reason,
    split_video,
)
from video_reasoning.preprocessing.split import folder as whole_folder
from video_reasoning.preprocessing.split import video as one_video
from video_reasoning.preprocessing.video import open_video, verify

# ---------------------------------------------------------------- arithmetic


def test_points_of_the_paper_worked_by_hand() -> None:
    # D = 10, t = 5. V* lasts 9.66 and begins at 0.17.
    before, event, after = split_points(10.0, 5.0) or ()
    assert before == pytest.approx((0.17, 0.17 + 4.0))
    assert event == pytest.approx((4.17, 0.17 + 7.728))
    assert after == pytest.approx((7.898, 9.83))


def test_points_of_the_release_worked_by_hand() -> None:
    before, event, after = split_points(10.0, 5.0, "release") or ()
    assert before == pytest.approx((0.17, 4.0))
    assert event == pytest.approx((4.0, 8.0))
    assert after == pytest.approx((8.0, 9.83))


@pytest.mark.parametrize("variant", ["paper", "release"])
def test_parts_tile_the_trimmed_video(variant: split.Variant) -> None:
    for tenths in range(60, 300, 7):
        for share in (0.2, 0.5, 0.7):
            duration = tenths / 10
            points = split_points(duration, duration * share, variant)
            if points is None:
                continue
            before, event, after = points
            assert before[0] == pytest.approx(0.17)
            assert before[1] == event[0]
            assert event[1] == after[0]
            assert after[1] == pytest.approx(duration - 0.17)
            assert all(end - start >= 1 - 1e-6 for start, end in points)


def test_one_second_is_just_enough() -> None:
    # V_pre lasts 0.8 t: 1 s at t = 1.25.
    assert split_points(10, 1.25) is not None
    assert split_points(10, 1.24) is None
    assert split_reason(10, 1.24) == "V_pre would last 0.99 s, less than 1 s"
    # V_post lasts 0.2 (D - 0.34): 1 s at D = 5.34.
    assert split_points(5.34, 2) is not None
    assert split_reason(5.33, 2) == "V_post would last 1.00 s, less than 1 s"
    # V_main lasts 0.8 (9.66 - t): 1 s at t = 8.41.
    assert split_points(10, 8.41) is not None
    assert split_reason(10, 8.42) == "V_main would last 0.99 s, less than 1 s"
    assert split_reason(10, 5) == ""


def test_one_second_is_just_enough_as_released() -> None:
    # V_pre lasts 0.8 t - 0.17, V_post 0.2 D - 0.17.
    assert split_points(10, 1.4625, "release") is not None
    assert split_points(10, 1.45, "release") is None
    assert split_points(5.85, 2, "release") is not None
    assert split_points(5.84, 2, "release") is None
    assert split_reason(2.9, 1, "release") == "the video lasts 2.90 s, less than 3 s"


@pytest.mark.parametrize("numbers", [(0.0, 0.0), (0.2, 3.0), (3.0, 0.0), (8.0, 20.0)])
def test_hopeless_videos_have_a_reason(numbers: tuple[float, float]) -> None:
    for variant in ("paper", "release"):
        plan = plan_split(*numbers, variant)
        assert plan.points is None
        assert plan.reason


@pytest.mark.parametrize("numbers", [(math.nan, 1), (5, math.inf), (-1, 1), (5, -0.1)])
def test_what_is_no_time(numbers: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        split_points(*numbers)


def test_an_unknown_variant() -> None:
    with pytest.raises(ValueError, match="no variant 'other'"):
        split_points(10, 5, "other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("times", "paper", "release"),
    [
        ([3.0, 4.0, 5.0], 4.0, 3.0),
        ([4.0, 4.4, 4.2], 4.2, 4.2),
        ([4.0, -1.0, 4.2], 4.1, 4.1),
        ([0.05, 6.0], 3.025, 6.0),
        ([-1.0, -1.0], None, None),
        ([], None, None),
        ([math.nan, 5.0], 5.0, 5.0),
        # Deviations: 3.28; of the pairs 0.05, 3.45 and 3.5, the last first time is 9.0.
        ([8.9, 9.0, 2.0], None, 2.0),
        ([1.0, 20.0], None, None),
        ([0.5, 0.7, 12.0], None, 0.6),
        ([0.2, 0.9, 1.0, 2.6], 1.175, 2.6),
    ],
)
def test_event_time(times: list[float], paper: float | None, release: float | None) -> None:
    assert event_time(times) == (None if paper is None else pytest.approx(paper))
    assert event_time(times, "release") == (None if release is None else pytest.approx(release))


def test_event_times_that_are_missing_have_a_reason() -> None:
    assert plan_event_time([-1.0]).reason == "no annotator found the event"
    assert "disagree" in plan_event_time([1.0, 20.0]).reason
    assert "disagree" in plan_event_time([1.0, 20.0], "release").reason


def keep(changes: Sequence[float], time: float, variant: split.Variant = "paper") -> Any:
    kept = keep_scene(10.0, changes, time, variant)
    return kept.reason or (kept.begin, kept.end)


def test_scenes_of_the_paper() -> None:
    assert keep([], 5) == (0, 10)
    assert keep([1.0], 5) == (1, 10)
    assert keep([9.0], 5) == (0, 9)
    assert keep([1.0, 9.0], 5) == (1, 9)
    assert keep([1.0, 1.5], 5) == (1.5, 10)
    assert keep([8.6, 9.0], 5) == (0, 8.6)
    # More than 1.5 s is neither the beginning nor the end.
    assert keep([3.0], 5) == "the scene changes in the middle, at 3.00 s"
    assert keep([7.0], 5) == "the scene changes in the middle, at 7.00 s"
    assert keep([1.0, 2.0], 5) == "the scene changes in the middle, at 2.00 s"
    assert keep([1.0, 8.0], 5) == "the scene changes in the middle, at 8.00 s"
    # A light goes out at the event.
    assert keep([5.2], 5) == (0, 10)
    assert keep([1.0, 5.2], 5) == (1, 10)
    assert keep([1.0, 2.0, 9.0], 5) == "it has 4 scenes"


def test_scenes_of_the_release() -> None:
    assert keep([], 5, "release") == (0, 10)
    assert keep([1.4], 5, "release") == (1.4, 10)
    assert keep([8.6], 5, "release") == (0, 8.6)
    assert keep([5.4], 5, "release") == (0, 10)
    assert keep([3.0], 5, "release") == "the scene changes in the middle, at 3.00 s"
    # Short outer scenes do not count, but are not cut off either.
    assert keep([0.9, 9.5], 5, "release") == (0, 10)
    assert keep([0.9, 9.0], 5, "release") == (0, 9)
    assert keep([2.0, 4.0], 5, "release") == "it has 3 scenes of 1 s and more"


# ---------------------------------------------------------------- videos

COLOURS = [(150, 60, 40), (40, 120, 160), (60, 150, 50), (170, 160, 60)]


def scenes(*changes: int) -> Callable[[int, int, int], np.ndarray]:
    """Draw scenes of one colour, with the frame's number as 8 small squares on top."""

    def draw(number: int, width: int, height: int) -> np.ndarray:
        picture = np.empty((height, width, 3), np.uint8)
        picture[:] = COLOURS[sum(number >= change for change in changes)]
        picture[height // 2 :, (number // 4) % width] += 20  # something moves
        for bit in range(8):
            picture[:8, 8 * bit : 8 * bit + 8] = 220 if (number >> bit) & 1 else 20
        return picture

    return draw


def number_of(picture: np.ndarray) -> int:
    plane = picture[..., 0] if picture.ndim == 3 else picture
    return sum(int(plane[2:6, 8 * bit + 2 : 8 * bit + 6].mean() > 120) << bit for bit in range(8))


def numbers(path: Path) -> list[int]:
    with av.open(str(path)) as container:
        return [number_of(frame.to_ndarray(format="gray")) for frame in container.decode(video=0)]


def make(path: Path, n_frames: int = 200, *changes: int, **options: Any) -> Path:
    return write_video(path, n_frames, draw=scenes(*changes), **options)


def clips(out: Path, record: SplitRecord) -> dict[str, Path]:
    assert record.files is not None
    return {kind: out / name for kind, name in record.files.items()}


@pytest.mark.parametrize("variant", ["paper", "release"])
def test_cuts_are_frame_exact(tmp_path: Path, variant: split.Variant) -> None:
    source = make(tmp_path / "video.mp4", 200)  # 8 s
    record = split_video(source, [3.9, 4.1], tmp_path / "out", 3, variant=variant)
    assert record.status == "split", record.reason
    assert record.frames == 200
    assert record.duration == 8.0
    points = split_points(8.0, 4.0, variant)
    assert points is not None
    edges = [math.ceil(time * 25 - 1e-6) for time in (*(p[0] for p in points), points[2][1])]
    assert record.parts == tuple(itertools.pairwise(edges))
    found = clips(tmp_path / "out", record)
    assert {path.name for path in found.values()} == {
        "3_A_preevent.mp4",
        "3_B_event.mp4",
        "3_C_postevent.mp4",
        "3_D_merged.mp4",
        "3_E_merged.mp4",
    }
    parts = [numbers(found[kind]) for kind in ("preevent", "event", "postevent")]
    whole = list(range(edges[0], edges[3]))
    assert list(itertools.chain(*parts)) == whole
    assert [len(part) for part in parts] == [last - first for first, last in record.parts]
    assert numbers(found["merged"]) == whole
    assert (edges[0], edges[3]) == (5, 196)  # 0.17 s are 4.25 frames


def test_the_middle_is_black_and_nothing_else(tmp_path: Path) -> None:
    source = make(tmp_path / "video.mp4", 200)
    record = split_video(source, [4.0], tmp_path / "out", 1)
    blackout = clips(tmp_path / "out", record)["blackout"]
    (first, start), (_, end), (_, last) = record.parts
    with av.open(str(blackout)) as container:
        for number, frame in enumerate(container.decode(video=0), start=first):
            data = frame.to_ndarray()
            black = (data[:64] == 16).all() and (data[64:] == 128).all()
            assert black == (start <= number < end)
    assert number == last - 1


def test_every_reader_sees_every_frame_of_the_joined_clips(tmp_path: Path) -> None:
    source = make(tmp_path / "video.mp4", 200, audio=True)
    record = split_video(source, [4.0], tmp_path / "out", 1)
    found = clips(tmp_path / "out", record)
    whole = list(range(record.parts[0][0], record.parts[2][1]))
    hidden = range(*record.parts[1])
    for kind in ("merged", "blackout"):
        expected = [0 if kind == "blackout" and number in hidden else number for number in whole]
        path = str(found[kind])
        assert numbers(found[kind]) == expected
        reader = decord.VideoReader(path)
        assert [number_of(reader[n].asnumpy()) for n in range(len(reader))] == expected
        capture = cv2.VideoCapture(path)
        assert capture.get(cv2.CAP_PROP_FRAME_COUNT) == len(whole)
        assert [number_of(capture.read()[1]) for _ in whole] == expected
        assert not capture.read()[0]
        # Seeking across the cuts finds the same frames.
        again = decord.VideoReader(path)
        for place in (len(whole) - 1, record.parts[1][0], record.parts[0][1] - 6, 0):
            assert number_of(again[place].asnumpy()) == expected[place]
        assert verify(found[kind]).fps == 25


def test_sound_is_kept_but_not_where_it_would_tell(tmp_path: Path) -> None:
    source = make(tmp_path / "video.mp4", 200, audio=True)
    record = split_video(source, [4.0], tmp_path / "out", 1)
    assert record.has_audio
    seconds = {}
    pieces: dict[str, list[bytes]] = {}
    for kind, path in clips(tmp_path / "out", record).items():
        with av.open(str(path)) as container:
            if container.streams.audio:
                packets = [packet for packet in container.demux(audio=0) if packet.size]
                pieces[kind] = [bytes(packet) for packet in packets]
        with av.open(str(path)) as container:
            if container.streams.audio:
                total = sum(frame.samples for frame in container.decode(audio=0))
                seconds[kind] = total / 16000
    assert set(seconds) == {"preevent", "event", "postevent", "merged"}
    for kind, (first, last) in zip(("preevent", "event", "postevent"), record.parts, strict=True):
        assert seconds[kind] == pytest.approx((last - first) / 25, abs=0.15)
    assert pieces["preevent"] + pieces["event"] + pieces["postevent"] == pieces["merged"]


def test_extra_scenes_are_trimmed(tmp_path: Path) -> None:
    source = make(tmp_path / "video.mp4", 240, 30, 215)
    record = split_video(source, [4.5], tmp_path / "out", 1)
    assert record.scene_changes == (1.2, 8.6)
    assert record.kept == (1.2, 8.6)
    shown = numbers(clips(tmp_path / "out", record)["merged"])
    points = split_points(7.4, 4.5 - 1.2)
    assert points is not None
    assert shown[0] == math.ceil((1.2 + 0.17) * 25)
    assert shown[-1] == math.ceil((8.6 - 0.17) * 25 - 1e-6) - 1
    assert record.parts[0][1] == math.ceil((1.2 + points[0][1]) * 25 - 1e-6)
    assert len(record.notes) == 2


def test_too_many_scenes(tmp_path: Path) -> None:
    source = make(tmp_path / "video.mp4", 240, 40, 90, 190)
    record = split_video(source, [5.0], tmp_path / "out", 1)
    assert (record.status, record.reason) == ("discarded", "it has 4 scenes")
    assert not (tmp_path / "out").exists()


def test_scenes_are_those_of_pyscenedetect(
    real_clips: dict[str, Path], tmp_path: Path, numbered: Path
) -> None:
    from scenedetect import AdaptiveDetector, detect

    drawn = make(tmp_path / "drawn.mp4", 120, 33, 70)
    for path in (*real_clips.values(), drawn, numbered):
        expected = [
            scene[0].frame_num
            for scene in detect(str(path), AdaptiveDetector(window_width=5), start_in_scene=True)
        ]
        with open_video(path) as (container, stream):
            finder = SceneFinder(Fraction(25))
            for frame in container.decode(stream):
                finder.add(frame)
        assert [0, *finder.finish()] == expected


def test_large_videos_are_decoded_twice_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make(tmp_path / "video.mp4", 150)
    in_memory = split_video(source, [3.0], tmp_path / "one", 1)
    monkeypatch.setattr(one_video, "_KEPT_BYTES", 100_000)
    assert one_video._watch(source, Fraction(25))[2] is None
    assert split_video(source, [3.0], tmp_path / "two", 1) == in_memory
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_variable_frame_rate_keeps_times_and_frames(tmp_path: Path) -> None:
    steps = [40 if number % 3 else 90 for number in range(160)]
    times = [0, *np.cumsum(steps[:-1]).tolist()]
    source = make(tmp_path / "video.mp4", 160, times=times)
    record = split_video(source, [4.0], tmp_path / "out", 1)
    assert record.status == "split", record.reason
    assert "variable frame rate" in record.notes
    found = clips(tmp_path / "out", record)
    shown = numbers(found["merged"])
    assert shown == list(range(record.parts[0][0], record.parts[2][1]))
    parts = [numbers(found[kind]) for kind in ("preevent", "event", "postevent")]
    assert list(itertools.chain(*parts)) == shown
    for kind in ("merged", "blackout"):
        with av.open(str(found[kind])) as container:
            seconds = [float(frame.time) for frame in container.decode(video=0)]
        expected = [(times[number] - times[shown[0]]) / 1000 for number in shown]
        assert seconds == pytest.approx(expected, abs=0.002)


@pytest.mark.parametrize(
    ("name", "options", "note"),
    [
        ("odd.mkv", {"width": 97, "height": 65, "codec": "ffv1"}, "97x65 filled up to even sizes"),
        ("ten.mp4", {"codec": "libx265", "pixel_format": "yuv420p10le"}, "yuv420p10le to yuv420p"),
        ("vp9.webm", {"codec": "libvpx-vp9"}, ""),
        ("old.avi", {"codec": "mpeg4"}, ""),
        ("ntsc.mp4", {"rate": Fraction(30000, 1001)}, ""),
    ],
)
def test_other_sources(tmp_path: Path, name: str, options: dict[str, Any], note: str) -> None:
    encoder = {"deadline": "realtime", "cpu-used": "8"} if "vp9" in name else {}
    source = make(tmp_path / name, 200, options=encoder, **options)
    record = split_video(source, [3.5], tmp_path / "out", 1)
    assert record.status == "split", record.reason
    assert record.notes == ((note,) if note else ())
    found = clips(tmp_path / "out", record)
    whole = list(range(record.parts[0][0], record.parts[2][1]))
    assert numbers(found["merged"]) == whole
    info = verify(found["merged"])
    assert info.width % 2 == info.height % 2 == 0
    assert info.fps == options.get("rate", 25)
    assert info.pixel_format == "yuv420p"


def test_rotation_is_carried_out(tmp_path: Path) -> None:
    upright = make(tmp_path / "upright.mp4", 200)
    source = turn(upright, tmp_path / "turned.mp4", 90)
    record = split_video(source, [4.0], tmp_path / "out", 1)
    assert record.notes == ("rotated by 90 degrees",)
    path = clips(tmp_path / "out", record)["merged"]
    info = verify(path)
    assert (info.width, info.height, info.rotation) == (64, 96, 0)
    with av.open(str(path)) as container:
        first = next(container.decode(video=0)).to_ndarray(format="gray")
    assert number_of(np.rot90(first, -1)) == record.parts[0][0]


def test_quality(real_clips: dict[str, Path], tmp_path: Path) -> None:
    from skimage.metrics import structural_similarity

    source = real_clips["bigbuckbunny"]
    # The clip is too short for the rules: its parts are given.
    points = ((0.17, 1.7), (1.7, 3.6), (3.6, 5.1))
    first, last = split_at(source, points, tmp_path / "out")
    scores = []
    with av.open(str(source)) as old, av.open(str(tmp_path / "out" / "1_E_merged.mp4")) as new:
        kept = [f for n, f in enumerate(old.decode(video=0)) if n in range(first, last)]
        for number, (before, after) in enumerate(zip(kept, new.decode(video=0), strict=True)):
            if number % 40 == 20:
                pictures = (before.to_ndarray(format="gray"), after.to_ndarray(format="gray"))
                scores.append(structural_similarity(*pictures))
    assert min(scores) >= 0.98


def split_at(source: Path, points: split.Points, out: Path) -> tuple[int, int]:
    clock, _, frames = one_video._watch(source, Fraction(25))
    edges = [clock.first_frame(time) for time in (*(p[0] for p in points), points[2][1])]
    one_video._write(source, frames, clock, edges, Fraction(25), True, out, 1)
    return edges[0], edges[3]


def spoil_truncated(path: Path) -> str:
    make(path, 200)
    path.write_bytes(path.read_bytes()[:-3000])
    return "damaged or cut off"


def spoil_empty(path: Path) -> str:
    path.write_bytes(b"")
    return "is empty"


def spoil_text(path: Path) -> str:
    path.write_text("no video")
    return "cannot be decoded"


def spoil_one_frame(path: Path) -> str:
    make(path, 1)
    return "less than 1 s"


def spoil_short(path: Path) -> str:
    make(path, 60)
    return "less than 1 s"


def spoil_slow(path: Path) -> str:
    write_video(path, 3, draw=scenes(), rate=Fraction(1, 3))
    return "contains no frame at 0.333 frames a second"


SPOILERS = [
    spoil_truncated,
    spoil_empty,
    spoil_text,
    spoil_one_frame,
    spoil_short,
    spoil_slow,
]


@pytest.mark.parametrize("spoil", SPOILERS, ids=[spoil.__name__ for spoil in SPOILERS])
def test_faults_are_reasons(
    spoil: Callable[[Path], str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reason = spoil(tmp_path / "video.mp4")
    record = split_video(tmp_path / "video.mp4", [2.0], tmp_path / "out", 1)
    assert record.status == "discarded"
    assert reason in record.reason
    assert str(tmp_path) not in record.reason
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    assert capfd.readouterr() == ("", "")


# ---------------------------------------------------------------- folders


@pytest.fixture(scope="module")
def videos(media: Path) -> Path:
    folder = media / "oops"
    folder.mkdir()
    make(folder / "b good.mp4", 150)
    make(folder / "a (2017) best. of.mp4", 160, audio=True)
    make(folder / "c no time.mp4", 150)
    (folder / "d broken.mp4").write_text("no video")
    make(folder / "e nobody knows.mp4", 150)
    (folder / "notes.txt").write_text("not a video")
    (folder / ".hidden.mp4").write_text("not for us")
    return folder


TIMES = {
    "a (2017) best. of": {"t": [3.0, 3.2, -1.0], "n_notfound": 1},
    "b good": {"t": [3.1]},
    "d broken": {"t": [3.1]},
    "e nobody knows.mp4": {"t": [-1.0, -1.0]},
    "not here": {"t": [1.0]},
}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_folder(videos: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    records = split_folder(
        videos, TIMES, tmp_path / "out", progress=lambda r, done, of: seen.append((done, of))
    )
    assert [record.name for record in records] == [
        "a (2017) best. of.mp4",
        "b good.mp4",
        "c no time.mp4",
        "d broken.mp4",
        "e nobody knows.mp4",
    ]
    assert [record.index for record in records] == [1, 2, 3, 4, 5]
    assert [record.status for record in records] == ["split"] * 2 + ["discarded"] * 3
    assert [record.reason for record in records[2:]] == [
        "its event time is not annotated",
        "d broken.mp4 cannot be decoded: its data is damaged or cut off, or it is not a video.",
        "no annotator found the event",
    ]
    assert seen == [(number, 5) for number in range(1, 6)]
    names = sorted(content(tmp_path / "out"))
    assert len(names) == 11
    assert "1_A_preevent.mp4" in names
    assert "2_D_merged.mp4" in names
    lines = (tmp_path / "out" / "manifest.jsonl").read_text().splitlines()
    assert [json.loads(line)["index"] for line in lines] == [1, 2, 3, 4, 5]
    assert read_manifest(tmp_path / "out" / "manifest.jsonl") == records


def test_processes_and_order_change_nothing(videos: Path, tmp_path: Path) -> None:
    file = tmp_path / "transition_times.json"
    file.write_text("\ufeff" + json.dumps(dict(reversed(TIMES.items()))), encoding="utf-8")
    one = split_folder(videos, TIMES, tmp_path / "one")
    two = split_folder(videos, file, tmp_path / "two", workers=2)
    assert one == two
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_a_run_that_was_cut_off_goes_on(
    videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = split_folder(videos, TIMES, tmp_path / "whole")
    out = tmp_path / "out"

    def stop(record: SplitRecord, done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        split_folder(videos, TIMES, out, progress=stop)
    assert not (out / "manifest.jsonl").exists()
    journal = out / ".manifest.jsonl.journal"
    with journal.open("a") as stream:
        stream.write('{"name": "half a li')
    (out / ".2_A_preevent.mp4.part-00000000-1-00000000.mp4").touch()
    os.utime(out / ".2_A_preevent.mp4.part-00000000-1-00000000.mp4", (0, 0))
    calls = []
    original = whole_folder._split_job
    monkeypatch.setattr(
        whole_folder, "_split_job", lambda job: calls.append(job[3]) or original(job)
    )
    assert split_folder(videos, TIMES, out) == whole
    assert calls == [3, 4, 5]
    assert content(out) == content(tmp_path / "whole")


def test_nothing_is_done_twice_unless_something_changed(videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def redone(times: dict[str, Any] = TIMES, **options: Any) -> list[int]:
        before = {p.name: p.stat().st_mtime_ns for p in out.glob("*.mp4")} if out.exists() else {}
        split_folder(videos, times, out, **options)
        after = {p.name: p.stat().st_mtime_ns for p in out.glob("*.mp4")}
        return sorted({int(n.split("_")[0]) for n in after if before.get(n) != after[n]})

    assert redone() == [1, 2]
    assert redone() == []
    assert redone({**TIMES, "b good": {"t": [3.0]}}) == [2]
    assert redone() == [2]
    (out / "1_C_postevent.mp4").unlink()
    assert redone() == [1]
    assert redone(variant="release") == [1, 2]
    assert redone(variant="release", resume=False) == [1, 2]


def test_numbers_follow_the_names(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.mp4", "a.MP4", "deep/a.webm", "c.txt", ".x.mp4"):
        (tmp_path / name).touch()
    found = {
        number: path.relative_to(tmp_path).as_posix()
        for number, path in find_videos(tmp_path).items()
    }
    assert found == {1: "a.MP4", 2: "b.mp4", 3: "deep/a.webm"}


def test_folders_that_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a folder"):
        split_folder(tmp_path / "none", {}, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="contains no video"):
        split_folder(tmp_path, {}, tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "must map"),
        ('{"a": {"x": 1}}', "'a' has no list"),
        ('{"a": "12"}', "'a' has no list"),
        ('{"a": {"t": ["soon"]}}', "'a' is not a number"),
    ],
)
def test_times_that_cannot_be_read(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "times.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        read_transition_times(path)


def test_times_as_plain_lists() -> None:
    assert read_transition_times({"a": [1, 2.5], "b": {"t": []}}) == {"a": (1.0, 2.5), "b": ()}
