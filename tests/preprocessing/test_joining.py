from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import cv2
import decord
import numpy as np
import pytest

from tests.preprocessing.conftest import read_number, write_video
from video_reasoning.preprocessing.joining import _join, is_joined, join_parts, joined_name
from video_reasoning.preprocessing.video import VideoError, verify


@pytest.fixture(scope="module")
def parts(media: Path) -> tuple[Path, Path, Path]:
    """60 frames in three parts that show 0..19, 20..44 and 45..59."""
    folder = media / "parts"
    folder.mkdir()
    return (
        write_video(folder / "a.mp4", 20, first=0, audio=True),
        write_video(folder / "b.mp4", 25, first=20, audio=True),
        write_video(folder / "c.mp4", 15, first=45, audio=True),
    )


def planes(path: Path) -> list[list[np.ndarray]]:
    result = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            data = frame.to_ndarray()
            height = frame.height
            result.append([data[:height], data[height:]])
    return result


def is_black(picture: list[np.ndarray]) -> bool:
    return bool((picture[0] == 16).all() and (picture[1] == 128).all())


@pytest.mark.parametrize("as_number", [False, True])
def test_the_middle_is_really_black(
    parts: tuple[Path, Path, Path], tmp_path: Path, as_number: bool
) -> None:
    before, middle, after = parts
    target = tmp_path / "joined.mp4"
    info = join_parts(before, 25 if as_number else middle, after, target, blackout=True)
    assert (info.frames, info.parts, info.black) == (60, (20, 25, 15), (20, 45))
    assert (info.width, info.height, info.fps) == (96, 64, 25)
    assert info.notes == ()
    assert not info.has_audio
    pictures = planes(target)
    assert [is_black(picture) for picture in pictures] == [False] * 20 + [True] * 25 + [False] * 15
    shown = [read_number(picture[0]) for picture in pictures]
    assert shown[:20] == list(range(20))
    assert shown[45:] == list(range(45, 60))
    facts = verify(target)
    assert (facts.frames, facts.fps, facts.pixel_format) == (60, 25, "yuv420p")
    assert not facts.has_audio


def test_black_is_black_in_real_pictures(real_clips: dict[str, Path], tmp_path: Path) -> None:
    clip = real_clips["bikes"]
    info = join_parts(clip, 40, clip, tmp_path / "joined.mp4", blackout=True)
    assert info.frames == 540
    pictures = planes(tmp_path / "joined.mp4")
    assert [number for number, picture in enumerate(pictures) if is_black(picture)] == list(
        range(250, 290)
    )


def test_both_cuts_are_key_frames_and_there_is_one_a_second(
    parts: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    join_parts(*parts, tmp_path / "joined.mp4", blackout=True)
    with av.open(str(tmp_path / "joined.mp4")) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    keys = [number for number, packet in enumerate(packets) if packet.is_keyframe]
    assert {0, 20, 45} <= set(keys)
    assert max(np.diff([*keys, 60])) <= 25
    assert [packet.pts for packet in packets] == [packet.dts for packet in packets]


def test_every_reader_sees_every_frame(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "joined.mp4"
    info = join_parts(*parts, target, blackout=False)
    assert info.frames == 60
    assert info.has_audio
    expected = list(range(60))
    assert [read_number(picture[0]) for picture in planes(target)] == expected
    reader = decord.VideoReader(str(target))
    assert [read_number(reader[n].asnumpy()[..., 0]) for n in range(len(reader))] == expected
    capture = cv2.VideoCapture(str(target))
    assert [read_number(capture.read()[1][..., 0]) for _ in range(60)] == expected
    assert not capture.read()[0]
    facts = verify(target)
    assert facts.has_audio
    with av.open(str(target)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    assert samples / 16000 == pytest.approx(60 / 25, abs=0.15)


def test_quality(real_clips: dict[str, Path], tmp_path: Path) -> None:
    from skimage.metrics import structural_similarity

    for name in ("bikes", "bigbuckbunny"):
        target = tmp_path / f"{name}.mp4"
        _join([real_clips[name]], real_clips[name], target, hidden=None)
        scores = []
        with av.open(str(real_clips[name])) as source, av.open(str(target)) as result:
            pairs = zip(source.decode(video=0), result.decode(video=0), strict=True)
            for number, (old, new) in enumerate(pairs):
                if number % 60 == 30:
                    pictures = (old.to_ndarray(format="gray"), new.to_ndarray(format="gray"))
                    scores.append(structural_similarity(*pictures))
        assert min(scores) >= 0.98


def test_parts_that_differ_are_fitted_and_noted(tmp_path: Path) -> None:
    before = write_video(tmp_path / "a.mp4", 10, width=128, height=64)
    middle = write_video(tmp_path / "b.mp4", 10, width=96, height=96, first=10)
    after = write_video(tmp_path / "c.mp4", 10, width=96, height=96, first=20, rate=30)
    info = join_parts(before, middle, after, tmp_path / "joined.mp4", blackout=False)
    assert (info.width, info.height, info.frames, info.fps) == (96, 96, 30, 25)
    assert info.notes == (
        "a.mp4: 128x64 scaled to 96x96",
        "c.mp4: 30 played at 25 frames a second",
    )
    pictures = planes(tmp_path / "joined.mp4")
    # 128x64 fits into 96x96 as 96x48: 24 black rows above and below.
    first = pictures[9][0]
    assert first[:22].mean() == pytest.approx(16, abs=2)
    assert first[74:].mean() == pytest.approx(16, abs=2)
    assert read_number(first[24:72]) == 9
    assert [read_number(picture[0]) for picture in pictures[10:]] == list(range(10, 30))


@pytest.mark.parametrize("blackout", [False, True])
def test_a_part_of_a_variable_rate_keeps_its_times(
    parts: tuple[Path, Path, Path], tmp_path: Path, blackout: bool
) -> None:
    times = [0, 40, 80, 1080, 1120, 4000, 4040, 4440]
    middle = write_video(tmp_path / "b.mkv", 8, first=20, times=times, audio=True)
    target = tmp_path / "joined.mp4"
    info = join_parts(parts[0], middle, parts[2], target, blackout=blackout)
    assert info.parts == (20, 8, 15)
    note = "b.mkv: its frames keep their times, of a variable rate"
    assert (note in info.notes) is not blackout
    with av.open(str(target)) as container:
        seconds = [float(frame.time) for frame in container.decode(video=0)]
    begin = 20 / float(info.fps)
    assert seconds[:20] == pytest.approx([number / float(info.fps) for number in range(20)])
    assert seconds[20:28] == pytest.approx([begin + time / 1000 for time in times], abs=0.002)
    steps = np.diff(seconds[28:])
    assert steps == pytest.approx(np.full(14, 1 / float(info.fps)), abs=0.001)


def test_a_frame_that_was_dropped_is_not_a_variable_rate(tmp_path: Path) -> None:
    times = [40 * number for number in (*range(10), *range(11, 21))]
    part = write_video(tmp_path / "a.mkv", 20, times=times)
    join_parts(part, part, part, tmp_path / "joined.mp4", blackout=False)
    with av.open(str(tmp_path / "joined.mp4")) as container:
        seconds = [float(frame.time) for frame in container.decode(video=0)]
    assert len(set(np.diff(seconds).round(6).tolist())) == 1


def test_what_readers_may_show_otherwise_is_noted(tmp_path: Path) -> None:
    part = write_video(tmp_path / "a.mp4", 5, options={"x264-params": "sar=4/3"})
    info = join_parts(part, 2, part, tmp_path / "joined.mp4", blackout=True)
    assert info.notes == ("a.mp4: pixels of 4:3 shown as squares",) * 2


def test_a_rotated_part(rotated: Callable[[int], Path], tmp_path: Path) -> None:
    info = join_parts(rotated(90), 5, rotated(90), tmp_path / "joined.mp4", blackout=True)
    assert (info.width, info.height) == (64, 96)
    assert info.notes == ("turned90.mp4: rotated by 90 degrees",) * 2
    first = planes(tmp_path / "joined.mp4")[77][0]
    # Turned counterclockwise, what was above is on the left.
    assert read_number(np.rot90(first, -1)) == 77


def test_odd_sizes_full_range_and_high_rates(tmp_path: Path) -> None:
    part = write_video(
        tmp_path / "a.mkv", 9, width=97, height=65, codec="ffv1", rate=Fraction(60000, 1001)
    )
    info = join_parts(part, 3, part, tmp_path / "joined.mp4", blackout=True)
    assert (info.width, info.height, info.frames) == (98, 66, 21)
    assert verify(tmp_path / "joined.mp4").fps == Fraction(60000, 1001)
    full = write_video(tmp_path / "b.mkv", 3, codec="mjpeg", pixel_format="yuvj420p")
    info = _join([full], full, tmp_path / "full.mp4", hidden=None)
    assert info.notes == ("b.mkv: full range to limited range",)
    [old, new] = [planes(path)[1][0].mean() for path in (full, tmp_path / "full.mp4")]
    assert new == pytest.approx(16 + old * 219 / 255, abs=1.5)


def test_none_hidden(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    before, _, after = parts
    info = join_parts(before, 0, after, tmp_path / "joined.mp4", blackout=True)
    assert (info.frames, info.black) == (35, (20, 20))
    with pytest.raises(ValueError, match="negative"):
        join_parts(before, -1, after, tmp_path / "x.mp4", blackout=True)
    with pytest.raises(ValueError, match="needs the middle"):
        join_parts(before, 5, after, tmp_path / "x.mp4", blackout=False)


def test_a_broken_part_leaves_nothing(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_text("no video")
    with pytest.raises(VideoError, match=r"broken\.mp4"):
        join_parts(parts[0], parts[1], broken, tmp_path / "out" / "joined.mp4", blackout=True)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_the_same_parts_give_the_same_bytes(parts: tuple[Path, Path, Path], tmp_path: Path) -> None:
    for name in ("first.mp4", "second.mp4"):
        join_parts(*parts, tmp_path / name, blackout=True)
    assert (tmp_path / "first.mp4").read_bytes() == (tmp_path / "second.mp4").read_bytes()


def test_names() -> None:
    names = {
        joined_name(["a", "b", "c"]),
        joined_name(["a", "b", "c"], black_frames=0),
        joined_name(["a", "c"], black_frames=7),
        joined_name(["a", "c"], black_frames=8),
        joined_name(["c", "b", "a"]),
    }
    assert len(names) == 5
    assert all(name.endswith(".mp4") for name in names)
    assert joined_name(["a", "b"]) == joined_name(["a", "b"])


def test_a_joined_clip_is_known_by_its_encoded_frames(tmp_path: Path) -> None:
    from tests.reliability.runs import draw_video
    from video_reasoning.preprocessing.split import split_video

    out = tmp_path / "out"
    falls = [draw_video(tmp_path / f"{seed}.mp4", 150, seed=seed) for seed in (1, 2)]
    for number, fall in enumerate(falls, start=1):
        assert split_video(fall, [2.5], out, number).status == "split"

    def clip(number: int, name: str) -> Path:
        return out / f"{number}_{name}.mp4"

    before, middle, after = (clip(1, name) for name in ("A_preevent", "B_event", "C_postevent"))
    hidden, shown = clip(1, "D_merged"), clip(1, "E_merged")
    count = len(planes(middle))
    assert is_joined(hidden, before, middle, after, blackout=True)
    assert is_joined(hidden, before, count, after, blackout=True)
    assert is_joined(shown, before, middle, after, blackout=False)
    # Nothing else will do: another length, another video's part, the other clip, our own encoding.
    assert not is_joined(hidden, before, count + 1, after, blackout=True)
    assert not is_joined(hidden, before, middle, clip(2, "C_postevent"), blackout=True)
    assert not is_joined(hidden, before, middle, after, blackout=False)
    assert not is_joined(shown, before, middle, after, blackout=True)
    join_parts(before, middle, after, own := tmp_path / "own.mp4", blackout=True)
    assert not is_joined(own, before, middle, after, blackout=True)
    own.write_bytes(b"none")
    assert not is_joined(own, before, middle, after, blackout=True)
