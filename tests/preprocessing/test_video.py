from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import pytest

from tests.preprocessing.conftest import numbered_frame, write_video
from video_reasoning.preprocessing.video import VideoError, check, probe, verify


def test_facts(numbered: Path) -> None:
    info = verify(numbered)
    assert (info.width, info.height, info.frames, info.fps) == (96, 64, 100, 25)
    assert info.duration == pytest.approx(4.0)
    assert (info.codec, info.pixel_format, info.rotation) == ("h264", "yuv420p", 0)
    assert not info.has_audio
    assert probe(numbered) == info
    assert check(numbered) == ""


def test_real_clips_are_counted_exactly(real_clips: dict[str, Path]) -> None:
    counts = {name: verify(path).frames for name, path in real_clips.items()}
    # As OpenCV reads them one by one.
    assert counts == {"bikes": 250, "bigbuckbunny": 132, "carphone": 120}


def test_sound_and_odd_rates(media: Path) -> None:
    path = write_video(media / "sound.mp4", 30, rate=Fraction(30000, 1001), audio=True)
    info = verify(path)
    assert info.has_audio
    assert info.fps == Fraction(30000, 1001)
    assert info.frames == 30


def remux(source: Path, target: Path, **options: str) -> Path:
    with av.open(str(source)) as old, av.open(str(target), "w", options=options) as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.size:
                packet.stream = stream
                new.mux(packet)
    return target


@pytest.mark.parametrize("suffix", [".mkv", ".webm"])
@pytest.mark.parametrize("part", [0.3, 0.8, 0.999])
def test_a_cut_matroska_is_refused(media: Path, suffix: str, part: float) -> None:
    codec = {".mkv": "libx264", ".webm": "libvpx-vp9"}[suffix]
    whole = media / f"whole{suffix}"
    if not whole.exists():
        write_video(whole, 60, codec=codec, options={"g": "5"})
    assert verify(whole).frames == 60
    data = whole.read_bytes()
    cut = media / f"cut{part}{suffix}"
    cut.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(VideoError, match=r"truncated|cut off|does not contain"):
        verify(cut)


def test_a_matroska_stream_may_not_know_its_end(media: Path, numbered: Path) -> None:
    live = remux(numbered, media / "live.mkv", live="1")
    assert verify(live).frames == 100


def test_the_rate_of_dv_is_not_its_clock(media: Path) -> None:
    path = write_video(media / "dv.avi", 25, width=720, height=576, codec="dvvideo", options={})
    assert probe(path).fps == 25


def two_streams(path: Path, default: int) -> Path:
    """Two video streams, the second larger and longer; one of them is the default."""
    with av.open(str(path), "w") as container:
        for place, width in enumerate((64, 128)):
            stream: Any = container.add_stream("libx264", rate=25)
            stream.width, stream.height, stream.disposition = width, 64, int(place == default)
        for stream, n_frames in zip(container.streams.video, (10, 60), strict=True):
            for number in range(n_frames):
                picture = numbered_frame(number, stream.width, 64)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, "gray")))
            container.mux(stream.encode())
    return path


@pytest.mark.parametrize("suffix", [".mkv", ".mp4"])
def test_of_two_streams_the_first_is_shown_or_none(tmp_path: Path, suffix: str) -> None:
    info = verify(two_streams(tmp_path / f"first{suffix}", 0))
    assert (info.frames, info.width) == (10, 64)
    assert info.notes == ("2 video streams, of which the first is shown",)
    with pytest.raises(VideoError, match="readers differ in which they show"):
        probe(two_streams(tmp_path / f"second{suffix}", 1))


@pytest.mark.parametrize(("transfer", "curve"), [("smpte2084", "PQ"), ("arib-std-b67", "HLG")])
def test_what_readers_may_show_otherwise_is_noted(
    tmp_path: Path, transfer: str, curve: str
) -> None:
    options = {"x264-params": f"transfer={transfer}:sar=4/3"}
    path = write_video(tmp_path / "video.mp4", 5, options=options)
    assert probe(path).notes == verify(path).notes
    assert verify(path).notes == (
        f"HDR ({curve}) that is not tone-mapped",
        "pixels of 4:3 shown as squares",
    )


def test_recordings_put_end_to_end_are_read(tmp_path: Path) -> None:
    pieces = [
        write_video(tmp_path / f"{first}.ts", 30, first=first, options={"g": "10"}).read_bytes()
        for first in (0, 30)
    ]
    path = tmp_path / "both.ts"
    path.write_bytes(b"".join(pieces))
    info = verify(path)
    assert (info.frames, info.duration) == (60, pytest.approx(2.4))
    assert info.notes == ("times that begin again",)
    # A tenth of the first recording is missing: the counters jump, but time goes on.
    place = len(pieces[0]) // 188 // 2 * 188
    path.write_bytes(pieces[0][:place] + pieces[0][place + len(pieces[0]) // 1880 * 188 :])
    with pytest.raises(VideoError, match="truncated or damaged"):
        verify(path)


@pytest.mark.parametrize(
    ("suffix", "codec"), [(".webm", "libvpx-vp9"), (".mkv", "libx264"), (".mp4", "libx264")]
)
def test_a_hole_of_zeros_is_found(tmp_path: Path, suffix: str, codec: str) -> None:
    path = write_video(
        tmp_path / f"whole{suffix}", 90, width=320, height=240, codec=codec, options={"g": "15"}
    )
    assert verify(path).frames == 90
    data = path.read_bytes()
    for tenth in range(2, 9):
        place = len(data) * tenth // 10
        path.write_bytes(data[:place] + bytes(1000) + data[place + 1000 :])
        with pytest.raises(VideoError, match="damaged"):
            verify(path)


def nothing(path: Path, _: Path) -> None:
    del path


def empty(path: Path, _: Path) -> None:
    path.write_bytes(b"")


def text(path: Path, _: Path) -> None:
    path.write_text("this is no video\n" * 50)


def ansi(path: Path, _: Path) -> None:
    path.write_text("\x1b[31mthis is no video\x1b[0m\n" * 50)


def playlist(path: Path, source: Path) -> None:
    path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:4,\n{source}\n#EXT-X-ENDLIST\n")


def concat(path: Path, source: Path) -> None:
    path.write_text(f"ffconcat version 1.0\nfile {source}\n")


def folder(path: Path, _: Path) -> None:
    path.mkdir()


def loop(path: Path, _: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path, _: Path) -> None:
    os.mkfifo(path)


def headless(path: Path, source: Path) -> None:
    path.write_bytes(source.read_bytes()[: source.stat().st_size // 2])


def sound_only(path: Path, _: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=16000, layout="mono")
        frame = av.AudioFrame(format="fltp", layout="mono", samples=1024)
        frame.planes[0].update(bytes(4096))
        frame.sample_rate = 16000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())


BROKEN = [
    (nothing, "does not exist"),
    (empty, "is empty"),
    (text, "cannot be decoded"),
    (ansi, "cannot be decoded"),
    (playlist, "cannot be decoded"),
    (concat, "cannot be decoded"),
    (folder, "is a folder"),
    (loop, "cannot be read"),
    (pipe, "not a regular file"),
    (headless, "damaged or cut off"),
    (sound_only, "no video stream"),
]


@pytest.mark.parametrize(("spoil", "reason"), BROKEN, ids=[spoil.__name__ for spoil, _ in BROKEN])
def test_every_fault_is_one_sentence(
    spoil: Callable[[Path, Path], None],
    reason: str,
    numbered: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "broken: 50%d.mp4"
    spoil(path, numbered)
    for read in (probe, verify):
        with pytest.raises(VideoError) as caught:
            read(path)
        message = str(caught.value)
        assert str(path) in message
        assert reason in message
        assert message.endswith(".")
        assert "\n" not in message
        assert caught.value.__cause__ is None
    assert check(path) == message
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("tenth", range(1, 10))
def test_truncation_is_found_wherever_it_is(numbered: Path, tmp_path: Path, tenth: int) -> None:
    whole = remux(numbered, tmp_path / "whole.mp4", movflags="faststart")
    assert verify(whole).frames == 100
    data = whole.read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(data[: len(data) * tenth // 10])
    with pytest.raises(VideoError):
        verify(cut)


def test_damage_inside_is_found(real_clips: dict[str, Path], tmp_path: Path) -> None:
    data = bytearray(real_clips["bikes"].read_bytes())
    middle = len(data) // 2
    data[middle : middle + 4000] = bytes(4000)
    path = tmp_path / "damaged.mp4"
    path.write_bytes(data)
    assert check(path) == ""
    with pytest.raises(VideoError):
        verify(path)


def test_check_sees_a_file_that_comes_and_changes(numbered: Path, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    assert "does not exist" in check(path)
    path.write_bytes(numbered.read_bytes())
    assert check(path) == ""
    path.write_text("now it is a text")
    assert "cannot be decoded" in check(path)


@pytest.mark.parametrize(
    ("name", "codec", "pixel_format"),
    [
        ("ten.mp4", "libx265", "yuv420p10le"),
        ("vp9.webm", "libvpx-vp9", "yuv420p"),
        ("raw.avi", "mpeg4", "yuv420p"),
        ("picture.gif", "gif", "rgb8"),
    ],
)
def test_other_codecs(tmp_path: Path, name: str, codec: str, pixel_format: str) -> None:
    path = write_video(tmp_path / name, 12, codec=codec, pixel_format=pixel_format, options={})
    info = verify(path)
    assert info.frames == 12
    assert (info.width, info.height) == (96, 64)
