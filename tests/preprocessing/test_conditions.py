from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import decord
import numpy as np
import pytest

from tests.preprocessing.conftest import numbered_frame, read_number, write_video
from video_reasoning.preprocessing import clips as clips_module
from video_reasoning.preprocessing import files, frames
from video_reasoning.preprocessing.clips import Request, clip_for, make_conditions
from video_reasoning.preprocessing.conditions import (
    Clock,
    Condition,
    condition_indices,
    condition_times,
)
from video_reasoning.preprocessing.lossless import Bank
from video_reasoning.preprocessing.pictures import Converter
from video_reasoning.preprocessing.sampling import random_index, shuffled_order, uniform_indices
from video_reasoning.preprocessing.video import VideoError, open_video, verify

NAMES = ("ordered16", "shuffled16", "random1", "handpicked1", "last1", "blind")


def with_decord(path: Path) -> list[np.ndarray]:
    reader = decord.VideoReader(str(path))
    return [reader[number].asnumpy() for number in range(len(reader))]


def with_pyav(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def with_opencv(path: Path) -> list[np.ndarray]:
    capture = cv2.VideoCapture(str(path))
    frames = []
    while True:
        there, frame = capture.read()
        if not there:
            return frames
        frames.append(frame)


READERS = [with_decord, with_pyav, with_opencv]


def luma(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]


@pytest.mark.parametrize("name", NAMES)
def test_names_read_back(name: str) -> None:
    assert Condition.parse(name).name == name
    assert Condition.parse(name, seed=3).seed == 3


@pytest.mark.parametrize(
    "text", ["", "ordered", "ordered0", "random2", "last4", "blind1", "front1"]
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(ValueError, match="condition"):
        Condition.parse(text)


def test_indices() -> None:
    def show(name: str, pick: int | None = None, seed: int = 0) -> list[int]:
        return condition_indices(Condition.parse(name, seed), 100, "key", pick)

    ordered = uniform_indices(100, 16)
    assert show("ordered16") == ordered
    assert show("shuffled16") == [ordered[place] for place in shuffled_order(16, "key")]
    assert show("shuffled16", seed=1) != show("shuffled16")
    assert show("random1") == [random_index(100, "key")]
    assert show("last1") == [99]
    assert show("handpicked1", 41) == [41]
    assert show("blind") == []
    assert show("reversed16") == ordered[::-1] and show("black16") == ordered
    assert show("frozen16") == show("random1") * 16


@pytest.mark.parametrize("pick", [None, -1, 100])
def test_a_pick_must_be_there(pick: int | None) -> None:
    with pytest.raises(ValueError, match="picked"):
        condition_indices(Condition.parse("handpicked1"), 100, "key", pick)


def request_all(pick: int = 37) -> list[Request]:
    return [(Condition.parse(name), "question 7", pick) for name in NAMES]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["bikes", "bigbuckbunny", "carphone"])
def test_frames_read_back_bit_for_bit(
    reader: Callable[[Path], list[np.ndarray]],
    name: str,
    real_clips: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.getbasetemp() / "conditions"
    source = real_clips[name]
    frames = reader(source)
    made = make_conditions(source, request_all(), folder)
    for clip in made:
        assert clip.n_frames == len(frames)
        if clip.path is None:
            assert clip.condition.name == "blind"
            continue
        indices = clip.indices if len(clip.indices) > 1 else clip.indices * 2
        read = reader(clip.path)
        assert len(read) == len(indices)
        for number, picture in zip(indices, read, strict=True):
            np.testing.assert_array_equal(picture, frames[number])
    by_name = {clip.condition.name: clip for clip in made}
    ordered, other = by_name["ordered16"].indices, by_name["shuffled16"].indices
    assert sorted(other) == list(ordered)
    assert other != ordered


@pytest.mark.parametrize(
    ("name", "clock", "frames", "rate", "duration"),
    [
        ("ordered16", "second", 16, 1, 16),
        ("random1", "second", 2, 1, 2),
        ("ordered16", "source", 16, 15 / 3.96, 16 * 3.96 / 15),
        # Shown twice in the time of one frame, so that any reader accepts the clip.
        ("random1", "source", 2, 50, 0.04),
    ],
)
def test_a_clip_has_the_rate_of_its_clock_and_only_key_frames(
    numbered: Path,
    tmp_path: Path,
    name: str,
    clock: Clock,
    frames: int,
    rate: float,
    duration: float,
) -> None:
    path = clip_for(numbered, Condition.parse(name), "key", tmp_path, clock=clock)
    assert path is not None and (path.stem.endswith("-source-v2") is (clock == "source"))
    info = verify(path)
    assert info.frames == frames
    assert float(info.fps) == pytest.approx(rate)
    assert info.duration == pytest.approx(duration, abs=1e-4)
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        assert all(packet.is_keyframe for packet in packets)
    reader = decord.VideoReader(str(path))
    assert len(reader) == frames and reader.get_avg_fps() == pytest.approx(rate)
    assert reader.get_key_indices() == list(range(frames))


@pytest.mark.parametrize("rate", [Fraction(24000, 1001), 25, Fraction(1, 60), "variable"])
def test_a_clip_keeps_the_sources_times(rate: Fraction | int | str, tmp_path: Path) -> None:
    times = np.cumsum([10 + 7 * (number % 5) for number in range(60)]).tolist()
    given = {"times": times} if rate == "variable" else {"rate": rate}
    source = write_video(tmp_path / "v.mp4", 60, **given)
    own = frames.NumberedFrames(source).seconds

    def shown(path: Path | None) -> list[float]:
        with av.open(str(path)) as container:
            return [frame.time for frame in container.decode(video=0)]

    made = make_conditions(source, request_all(), tmp_path / "clips")
    for clip in made[:-1]:
        first, *others = shown(clip.path)
        expected = [own[index] for index in sorted(clip.indices)]
        if len(expected) == 1:
            # An MP4 file keeps its beginning in milliseconds.
            assert first == pytest.approx(expected[0], abs=1e-3)
            assert [first] < others < [first + own[-1] / 30]
        else:
            assert [first, *others] == pytest.approx(expected, abs=1e-4)
    # What readers that know only the mean rate take for the times: within a frame.
    path, last = made[0].path, len(own) - 1
    if rate != "variable":
        fps = decord.VideoReader(str(path)).get_avg_fps()
        for place, index in enumerate(made[0].indices):
            assert abs(place / fps - own[index]) <= own[-1] / last + 1e-3


@pytest.mark.parametrize("span", [None, (1.0, 3.0)])
def test_reversed_frozen_and_black_frames_last_as_long_as_those_in_order(
    numbered: Path, tmp_path: Path, span: tuple[float, float] | None
) -> None:
    names = ("ordered4", "reversed4", "frozen4", "black4")
    requests = [(Condition.parse(name), "question 7", None) for name in names]
    shown, times = {}, {}
    for clip in make_conditions(numbered, requests, tmp_path, span=span):
        pictures = luma(clip.path or Path())
        shown[clip.condition.kind] = [read_number(picture) for picture in pictures]
        with av.open(str(clip.path)) as container:
            times[clip.condition.kind] = [frame.time for frame in container.decode(video=0)]
    assert {tuple(each) for each in times.values()} == {tuple(times["ordered"])}
    assert shown["reversed"] == shown["ordered"][::-1] and len(set(shown["ordered"])) == 4
    assert len(set(shown["frozen"])) == 1 and pictures[0].shape == luma(numbered)[0].shape
    assert {int(picture.max()) for picture in pictures} == {0}


def test_a_part_begins_at_its_first_frame(numbered: Path, tmp_path: Path) -> None:
    span, found = (1.0, 3.0), {}
    requests: list[Request] = [(Condition.parse(n), "q", 80) for n in ("ordered16", "handpicked1")]
    for clip in make_conditions(numbered, requests, tmp_path, span=span):
        with av.open(str(clip.path)) as container:
            found[clip.condition.kind] = [frame.time for frame in container.decode(video=0)]
    assert found["ordered"][0] == 0 and found["ordered"][-1] == pytest.approx(1.96)
    assert found["handpicked"][0] == pytest.approx(80 / 25)  # a frame of the whole video


def test_frames_that_are_shown_again_divide_their_time() -> None:
    times = condition_times([2, 0, 0, 1, 2, 2], [0.0, 1.0, 2.0])
    assert times == pytest.approx([0, 0.5, 1, 2, 2 + 1 / 3, 2 + 2 / 3, 2 + 2 / 3 + (2 + 2 / 3) / 5])
    assert condition_times([0, 0], [0.0]) == [0, 0.5, 1]


def test_times_that_stand_still_are_put_in_order(tmp_path: Path) -> None:
    source, clip = write_video(tmp_path / "v.mp4", 3), tmp_path / "clip.mp4"
    with Bank() as bank:
        numbers = list(frames.NumberedFrames(source).read(range, bank.add).values())
        bank.finish()
        bank.write(numbers, clip, [0.0, 0.0, 0.0, 0.0])
    assert [read_number(picture) for picture in luma(clip)] == [0, 1, 2]


def test_any_frame_can_be_sought(numbered: Path, tmp_path: Path) -> None:
    path = clip_for(numbered, Condition.parse("shuffled16"), "key", tmp_path)
    expected = condition_indices(Condition.parse("shuffled16"), 100, "key")
    reader = decord.VideoReader(str(path))
    capture = cv2.VideoCapture(str(path))
    for place in (15, 3, 8, 0, 14):
        assert read_number(reader[place].asnumpy()[..., 0]) == expected[place]
        capture.set(cv2.CAP_PROP_POS_FRAMES, place)
        assert read_number(capture.read()[1][..., 0]) == expected[place]


def test_neighbouring_key_frames_have_different_numbers(numbered: Path, tmp_path: Path) -> None:
    for name in ("ordered16", "shuffled16", "random1"):
        path = clip_for(numbered, Condition.parse(name), "key", tmp_path)
        with av.open(str(path)) as container:
            data = [bytes(packet) for packet in container.demux(video=0) if packet.size]
        # The byte after the two that begin a key frame's slice ends in the number's code.
        codes = [packet[packet.index(b"\x65\x88") + 2] & 7 for packet in data]
        assert codes == [0b010, 0b011] * (len(codes) // 2)


def test_bytes_do_not_depend_on_what_else_is_made(numbered: Path, tmp_path: Path) -> None:
    together = make_conditions(numbered, request_all(), tmp_path / "together")
    for request, clip in zip(request_all(), together, strict=True):
        [alone] = make_conditions(numbered, [request], tmp_path / "alone")
        if clip.path is not None and alone.path is not None:
            assert alone.path.name == clip.path.name
            assert alone.path.read_bytes() == clip.path.read_bytes()


def test_made_once(numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make_conditions(numbered, request_all(), tmp_path)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(stamps) == 5
    monkeypatch.setattr(frames.NumberedFrames, "read", None)
    assert make_conditions(numbered, request_all(), tmp_path) == first
    copy = tmp_path.parent / "other name.mp4"
    copy.write_bytes(numbered.read_bytes())
    assert make_conditions(copy, request_all(), tmp_path) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == stamps


def test_a_clip_that_is_there_is_found_by_its_name(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, folder = tmp_path / "v.mp4", tmp_path / "clips"
    source.write_bytes(numbered.read_bytes())
    monkeypatch.setattr(files, "_SETTLED_NS", 0)
    conditions = [condition for condition, _, _ in request_all()]

    def ask() -> list[Path | None]:
        return [clip_for(source, each, "q", folder, pick=37) for each in conditions]

    first = clip_for(source, conditions[0], "q", folder, pick=37, together=conditions)
    made = ask()
    assert made[0] == first and made[-1] is None
    # Another process: nothing is kept in memory, and the video must not be opened.
    files._content_id.cache_clear()
    for module, name in ((files, "content_id"), (clips_module, "NumberedFrames")):
        monkeypatch.setattr(module, name, None)
    assert ask() == made


@pytest.mark.parametrize("restart", [False, True])
def test_a_changed_video_has_another_clip(
    tmp_path: Path, restart: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SETTLED_NS", 0)
    condition = Condition.parse("last1")
    source = write_video(tmp_path / "v.mp4", 12)
    (tmp_path / "clips").mkdir()
    before = clip_for(source, condition, "q", tmp_path / "clips")
    assert before is not None and len(list((tmp_path / "clips").glob(".*.id"))) == 1
    status = source.stat()
    changed = bytearray(write_video(tmp_path / "w.mp4", 12, first=40).read_bytes())
    source.write_bytes(bytes(changed[: status.st_size]).ljust(status.st_size, b"\0"))
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))  # as some tools of copying do
    assert source.stat().st_size == status.st_size
    if restart:
        files._content_id.cache_clear()
    assert clip_for(source, condition, "q", tmp_path / "clips", make=False) is None


@pytest.mark.parametrize("spoiled", ["", "12 ", "x" * 200, "\xff"])
def test_a_spoiled_note_is_not_believed(
    numbered: Path, tmp_path: Path, spoiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_SETTLED_NS", 0)
    expected = files.content_id(numbered)
    assert files.noted_content_id(numbered, [tmp_path], write=True) == expected
    [note] = tmp_path.iterdir()
    for text in (spoiled, note.read_text()[:-1]):
        note.write_text(text, encoding="latin-1")
        assert files.noted_content_id(numbered, [tmp_path]) == expected


def test_a_file_changed_a_moment_ago_is_not_noted(tmp_path: Path) -> None:
    source = tmp_path / "v.mp4"
    source.write_bytes(b"new")
    files.noted_content_id(source, [tmp_path], write=True)
    assert list(tmp_path.iterdir()) == [source]


def test_one_decode_makes_all(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    decode = frames.NumberedFrames._decode
    monkeypatch.setattr(
        frames.NumberedFrames, "_decode", lambda *args: calls.append(1) or decode(*args)
    )
    monkeypatch.setattr(frames.NumberedFrames, "recount", None)
    make_conditions(numbered, request_all(), tmp_path)
    assert len(calls) == 1


def test_blind_needs_no_readable_video(tmp_path: Path) -> None:
    assert clip_for(tmp_path / "none.mp4", Condition.parse("blind"), "key", tmp_path) is None


def test_fewer_frames_than_asked(tmp_path: Path) -> None:
    source = write_video(tmp_path / "short.mp4", 5)
    [ordered, shuffled, one] = make_conditions(
        source,
        [(Condition.parse(name), "key", None) for name in ("ordered16", "shuffled16", "random1")],
        tmp_path / "clips",
    )
    assert (len(ordered.indices), len(shuffled.indices), len(one.indices)) == (16, 16, 1)
    assert set(ordered.indices) == set(range(5))
    for clip in (ordered, shuffled):
        assert clip.path is not None
        assert [read_number(picture) for picture in luma(clip.path)] == list(clip.indices)
    assert shuffled.indices != ordered.indices


def test_one_frame(tmp_path: Path) -> None:
    source = write_video(tmp_path / "one.mp4", 1, first=9)
    for clip in make_conditions(source, request_all(pick=0), tmp_path / "clips"):
        if clip.path is not None:
            assert {read_number(picture) for picture in luma(clip.path)} == {9}


@pytest.mark.parametrize(
    ("name", "options", "conversion"),
    [
        ("odd.mkv", {"width": 97, "height": 65, "codec": "ffv1"}, "97x65 filled up to even sizes"),
        ("tiny.mkv", {"width": 1, "height": 9, "codec": "ffv1"}, "1x9 filled up to even sizes"),
        ("ten.mp4", {"codec": "libx265", "pixel_format": "yuv420p10le"}, "yuv420p10le to yuv420p"),
        ("full.mp4", {"pixel_format": "yuv444p"}, "yuv444p to yuv420p"),
        ("range.mkv", {"codec": "mjpeg", "pixel_format": "yuvj420p"}, ""),
        ("vp9.webm", {"codec": "libvpx-vp9"}, ""),
        ("mpeg4.avi", {"codec": "mpeg4"}, ""),
        ("moving.gif", {"codec": "gif", "pixel_format": "gray"}, "bgra to yuv420p"),
    ],
)
def test_other_sources(
    tmp_path: Path, name: str, options: dict[str, object], conversion: str
) -> None:
    source = write_video(tmp_path / name, 40, options={}, **options)  # type: ignore[arg-type]
    with open_video(source) as (container, stream):
        first = next(container.decode(stream))
        assert ", ".join(Converter(first, keep_range=True).changes) == conversion
    clips = make_conditions(source, request_all(), tmp_path / "clips")
    for clip in clips:
        assert clip.n_frames == 40
        if clip.path is None:
            continue
        info = verify(clip.path)
        assert info.width % 2 == info.height % 2 == 0
        pictures = luma(clip.path)
        indices = clip.indices if len(clip.indices) > 1 else clip.indices * 2
        height = options.get("height", 64)
        if height != 9:  # too small to hold eight bands
            numbers = [read_number(picture[:height]) for picture in pictures]
            assert numbers == list(indices)
    again = make_conditions(source, request_all(), tmp_path / "again")
    for clip, other in zip(clips, again, strict=True):
        if clip.path is not None and other.path is not None:
            assert clip.path.read_bytes() == other.path.read_bytes()


def test_variable_rate_and_b_frames_are_found_by_time(tmp_path: Path) -> None:
    times = np.cumsum([10 + 7 * (number % 5) for number in range(60)]).tolist()
    source = write_video(
        tmp_path / "vfr.mp4", 60, times=times, options={"bf": "3", "b-pyramid": "normal"}
    )
    video = frames.NumberedFrames(source)
    assert video._times is not None
    assert video.seconds == pytest.approx([(time - times[0]) / 1000 for time in times])
    for clip in make_conditions(source, request_all(), tmp_path / "clips"):
        if clip.path is not None:
            assert {read_number(picture) for picture in luma(clip.path)} == set(clip.indices)


def test_a_wrong_index_is_corrected(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = frames.NumberedFrames.__init__

    def mistaken(video: frames.NumberedFrames, path: Path) -> None:
        begin(video, path)
        video._times = list(range(-1, -121, -1))
        video.seconds = [0.0] * 120

    monkeypatch.setattr(frames.NumberedFrames, "__init__", mistaken)
    [clip] = make_conditions(numbered, [(Condition.parse("last1"), "key", None)], tmp_path)
    assert clip.n_frames == 100
    assert clip.indices == (99,)
    assert clip.path is not None
    assert read_number(luma(clip.path)[0]) == 99


def test_a_folder_that_cannot_be_written(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixed = Path("/sys/kernel")
    if not fixed.is_dir():
        pytest.skip("needs a folder that nobody can write to")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    condition = Condition.parse("random1")
    first = clip_for(numbered, condition, "key", fixed)
    assert first is not None and first.is_relative_to(tmp_path)
    assert clip_for(numbered, condition, "key", fixed) == first


def test_clips_on_a_read_only_store_are_used(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    condition = Condition.parse("random1")
    made = clip_for(numbered, condition, "key", tmp_path / "store")
    monkeypatch.setattr(clips_module, "_writable_folder", lambda _: tmp_path / "cache")
    assert clip_for(numbered, condition, "key", tmp_path / "store") == made


def test_a_full_disk_is_an_error_and_leaves_nothing(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: object) -> int:
        path.touch()
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        make_conditions(numbered, request_all(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_clips_do_not_go_elsewhere_when_the_disk_is_full(
    numbered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    with pytest.raises(OSError, match="No space left"):
        clip_for(numbered, Condition.parse("random1"), "key", tmp_path / "clips")
    assert not list(tmp_path.rglob("*.mp4"))


def test_faults_are_one_sentence(tmp_path: Path) -> None:
    source = tmp_path / "text.mp4"
    with pytest.raises(VideoError, match="does not exist"):
        clip_for(source, Condition.parse("last1"), "key", tmp_path)
    source.write_text("no video")
    with pytest.raises(VideoError, match="cannot be decoded"):
        clip_for(source, Condition.parse("last1"), "key", tmp_path)


def _make(source: Path, folder: Path) -> list[bytes]:
    made = make_conditions(source, request_all(), folder)
    return [clip.path.read_bytes() for clip in made if clip.path is not None]


def test_many_processes_on_one_folder(numbered: Path, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(4) as pool:
        results = pool.starmap(_make, [(numbered, tmp_path / "clips")] * 8)
    assert all(result == results[0] for result in results)
    assert len(list((tmp_path / "clips").iterdir())) == 5


def test_rotation_is_carried_out(tmp_path: Path, rotated: Callable[[int], Path]) -> None:
    upright = with_opencv(rotated(0))
    for angle in (90, 180, 270):
        source = rotated(angle)
        expected = with_opencv(source)
        [clip] = make_conditions(source, [(Condition.parse("ordered4"), "key", None)], tmp_path)
        assert clip.path is not None
        for number, picture in zip(clip.indices, with_opencv(clip.path), strict=True):
            assert picture.shape == expected[number].shape
            np.testing.assert_allclose(
                picture.astype(float), expected[number].astype(float), atol=12
            )
    assert upright[0].shape == (64, 96, 3)


def test_the_pictures_of_numbers_can_be_told_apart() -> None:
    numbers = [read_number(numbered_frame(number, 96, 64)) for number in range(256)]
    assert numbers == list(range(256))


@pytest.mark.parametrize("certain", [True, False])
def test_a_span_takes_its_frames_from_a_part(
    numbered: Path, tmp_path: Path, certain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not certain:
        monkeypatch.setattr(frames, "_ONE_PACKET_A_FRAME", ())
    requests = [(Condition.parse(name), "key", 3) for name in ("ordered4", "last1", "handpicked1")]
    with av.open(str(numbered)) as container:
        rate = float(container.streams.video[0].average_rate)
    made = make_conditions(numbered, requests, tmp_path, span=(10 / rate, 30 / rate))
    assert [clip.indices for clip in made] == [
        tuple(10 + index for index in uniform_indices(20, 4)),
        (29,),
        (3,),  # a pick is a frame of the whole video
    ]
    assert [read_number(frame) for frame in luma(made[0].path)] == list(made[0].indices)
    whole = make_conditions(numbered, requests, tmp_path)
    assert whole[0].path != made[0].path
    assert whole[2].path == made[2].path


def test_a_span_without_a_frame(numbered: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"No frame of .* is between 900 and 901 seconds"):
        make_conditions(numbered, [(Condition.parse("last1"), "", None)], tmp_path, span=(900, 901))
