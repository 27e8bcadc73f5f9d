"""Broken and odd videos, each written by a function; nothing of them is kept as a file.

`CASES` is the table: a name, the family it belongs to, what has to become of it, and the function
that writes it. `write` makes them all. What has to become of a case:

- ``read``: it is decoded, and every command shows it like any other video.
- ``refused``: it is left out and reported, with a sentence that holds the case's words.
- ``either``: nothing says whether it must be read (a decoder may or may not notice); but all
  commands must agree that it is shown, or that it is not.
"""

from __future__ import annotations

import io
import os
import random
import socket
import struct
import wave
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

import av
import numpy as np

from tests.reliability.media import (
    MDHD,
    MVHD,
    STBL,
    TKHD,
    Unavailable,
    boxes,
    draw,
    durations,
    hum,
    number,
    packets,
    patch,
    remux,
    turned,
)

__all__ = ["CASES", "Case", "Unavailable", "write"]

Fate = Literal["read", "refused", "either"]


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes:
        name: what it is called in tables; also its file's name unless `file` says otherwise.
        family: what kind of fault it stands for.
        fate: what has to become of it.
        make: writes it to the path that it is given.
        says: words that the sentence of a refusal holds.
        file: name of the file, where the name is the point.
    """

    name: str
    family: str
    fate: Fate
    make: Callable[[Path], object]
    says: str = ""
    file: bytes = b""

    @property
    def needs_user(self) -> bool:
        """Whether it stands for a fault that the superuser does not meet."""
        return self.name == "no permission"

    def path(self, folder: Path) -> Path:
        """Where the case lies in a folder."""
        return folder / os.fsdecode(self.file or self.name.encode() + b".mp4")


CASES: list[Case] = []


def case(
    name: str, family: str, fate: Fate, says: str = "", file: bytes = b""
) -> Callable[[Callable[[Path], object]], Callable[[Path], object]]:
    """Add the function below to the table."""

    def add(make: Callable[[Path], object]) -> Callable[[Path], object]:
        CASES.append(Case(name, family, fate, make, says, file))
        return make

    return add


def add(name: str, family: str, fate: Fate, make: Callable[[Path], object], says: str = "") -> None:
    """Add a function to the table."""
    CASES.append(Case(name, family, fate, make, says))


def write(folder: Path, cases: Sequence[Case] = ()) -> tuple[dict[str, Path], dict[str, str]]:
    """Write cases into a folder.

    Returns:
        Name -> path of what was written, and name -> why it could not be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written, skipped = {}, {}
    for each in cases or CASES:
        path = each.path(folder)
        try:
            each.make(path)
        except (Unavailable, av.error.EncoderNotFoundError, PermissionError) as error:
            skipped[each.name] = str(error)
        else:
            written[each.name] = path
    return written, skipped


# --- cut off ------------------------------------------------------------------------------------


def _cut(share: float, **options: object) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        data = draw(path, **options).read_bytes()  # type: ignore[arg-type]
        path.write_bytes(data[: int(len(data) * share)])

    return make


for _tenth in range(1, 10):
    add(f"cut at {10 * _tenth}%", "cut off", "refused",
        _cut(_tenth / 10, header_first=True, frames=200, key_interval=50), "")  # fmt: skip
add("cut, header at the end", "cut off", "refused", _cut(0.9), "cut off")
add("cut by one byte", "cut off", "refused", lambda p: p.write_bytes(
    draw(p, header_first=True).read_bytes()[:-1]), "")  # fmt: skip
for _form in ("matroska", "webm", "avi", "mpegts", "flv"):
    _codec = {"webm": "libvpx", "mpegts": "mpeg2video", "flv": "flv"}.get(_form, "libx264")
    add(f"cut {_form}", "cut off", "either", _cut(0.5, codec=_codec, form=_form,
        rate=25 if _codec == "mpeg2video" else 10))  # fmt: skip
add("cut fragments", "cut off", "either",
    _cut(0.5, muxer={"movflags": "frag_keyframe+empty_moov"}))  # fmt: skip
add("cut gif", "cut off", "either", _cut(0.5, codec="gif", form="gif", pixels="rgb8"))


# --- no video at all ----------------------------------------------------------------------------


def _data(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a.mp4", b"x" * 1000)


_HTML = b"<!DOCTYPE html><html><head><title>404</title></head><body>Not found</body></html>\n"
_LFS = (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d7a" * 16
        + b"\nsize 123456\n")  # fmt: skip
for _name, _content in {
    "no bytes": b"",
    "one byte": b"\x00",
    "text": b"This is no video.\n" * 40,
    "web page": _HTML,
    "LFS pointer": _LFS,
    "JSON": b'{"error": "rate limited"}',
    "random bytes": random.Random(7).randbytes(20_000),
    "zeros": bytes(65536),
    "ones": b"\xff" * 65536,
    "playlist": b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/passwd\n",
    "list of files": b"ffconcat version 1.0\nfile '/etc/passwd'\n",
    "subtitles": b"1\n00:00:00,000 --> 00:00:02,000\nHello\n\n",
    "drawing": b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>',
    "PDF": b"%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n",
    "escape codes": b"\x1b[31mred\x1b[0m\r\n" * 50,
    "script": b"#!/bin/sh\ntouch /tmp/never\n",
}.items():
    add(_name, "no video", "refused", _data(_content), "empty" if not _content else "")
add("archive", "no video", "refused", _zip)


# --- boxes --------------------------------------------------------------------------------------


def _box(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content


_FTYP = _box(b"ftyp", b"isom\x00\x00\x02\x00isomiso2mp41")


def _without(*names: bytes) -> Callable[[Path], object]:
    """A video some of whose boxes are called otherwise, so that readers pass over them."""

    def make(path: Path) -> None:
        data = draw(path).read_bytes()
        for name in names:
            data = data.replace(name, b"skip")
        path.write_bytes(data)

    return make


def _nested(path: Path) -> None:
    content = b""
    for _ in range(5000):
        content = _box(b"moov", content)
    path.write_bytes(_FTYP + content)


add("only a file type", "boxes", "refused", _data(_FTYP))
add("empty header", "boxes", "refused", _data(_FTYP + _box(b"moov")))
add(
    "header without tracks",
    "boxes",
    "refused",
    _data(_FTYP + _box(b"moov", _box(b"mvhd", bytes(100))) + _box(b"mdat", bytes(500))),
)
add("only data", "boxes", "refused", _data(_FTYP + _box(b"mdat", bytes(5000))))
add("headers in headers", "boxes", "refused", _nested)
add("box of 4 GiB", "boxes", "refused", _data(_FTYP + b"\xff\xff\xff\xffmoov" + bytes(99)))
add("no sample table", "boxes", "refused", _without(b"stbl"))
add("no sample sizes", "boxes", "refused", _without(b"stsz"))
add("no chunk offsets", "boxes", "refused", _without(b"stco"))
add("no decoder setup", "boxes", "refused", _without(b"avcC"))
add("unknown codec", "boxes", "refused", _without(b"avc1"))
add("two headers", "boxes", "either", lambda p: p.write_bytes(
    draw(p).read_bytes() + p.read_bytes()[p.read_bytes().index(b"moov") - 4 :]))  # fmt: skip
add("garbage behind", "boxes", "read", lambda p: p.write_bytes(
    draw(p).read_bytes() + random.Random(3).randbytes(3000)))  # fmt: skip
add("garbage before", "boxes", "either", lambda p: p.write_bytes(
    random.Random(3).randbytes(700) + draw(p).read_bytes()))  # fmt: skip
add("two billion samples", "boxes", "refused", lambda p: patch(
    draw(p), [((*STBL, "stsz"), 8, number(0x7FFFFFFF))]))  # fmt: skip
add("two billion times", "boxes", "either", lambda p: patch(
    draw(p), [((*STBL, "stts"), 8, number(0x7FFFFFFF))]))  # fmt: skip
add("offsets outside", "boxes", "refused", lambda p: patch(
    draw(p), [((*STBL, "stco"), 8, number(0x7FFFFFF0))]))  # fmt: skip
add("header at the front", "boxes", "read", lambda p: draw(p, header_first=True))
add("header at the end", "boxes", "read", draw)
add("fragments", "boxes", "read", lambda p: draw(
    p, muxer={"movflags": "frag_keyframe+empty_moov+default_base_moof"}))  # fmt: skip


# --- streams ------------------------------------------------------------------------------------


def _waves(path: Path) -> None:
    with path.open("wb") as file, wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(16000))


add("only sound", "streams", "refused", hum, "no video stream")
add("only sound, MP3", "streams", "refused", lambda p: hum(p, "libmp3lame", "mp3"), "no video")
add("only sound, WAV", "streams", "refused", _waves, "no video stream")
add("sound with a cover", "streams", "refused", lambda p: hum(p, cover=True), "no video stream")
add("handler unknown", "streams", "either", _without(b"vide"))
add("with sound", "streams", "read", lambda p: draw(p, sound=True))
add("two video streams", "streams", "read", lambda p: draw(p, second=True))
add("no packets", "streams", "refused", lambda p: remux(
    draw(p), p, lambda n, packet: False, "matroska"))  # fmt: skip


# --- length -------------------------------------------------------------------------------------

add("one frame", "length", "read", lambda p: draw(p, frames=1))
add("two frames", "length", "read", lambda p: draw(p, frames=2))
add("3,000 frames", "length", "read", lambda p: draw(p, frames=3000, size=(16, 16)))
add("no duration", "length", "read", lambda p: durations(draw(p), 0))
add("duration too long", "length", "read", lambda p: durations(draw(p), 900_000_000))
add("duration too short", "length", "read", lambda p: durations(draw(p), 1))
add("endless duration", "length", "read", lambda p: durations(draw(p), 0xFFFFFFFF))
add("no time scale", "length", "either", lambda p: patch(
    draw(p), [(MVHD, 12, number(0)), (MDHD, 12, number(0))]))  # fmt: skip
add("huge time scale", "length", "read", lambda p: patch(draw(p), [(MDHD, 12, number(1 << 30))]))
add("frames of no length", "length", "either", lambda p: patch(
    draw(p), [((*STBL, "stts"), 12, number(0))]))  # fmt: skip
add("frames of months", "length", "either", lambda p: patch(
    draw(p), [((*STBL, "stts"), 12, number(0x7FFFFFFF))]))  # fmt: skip
add("one frame a second", "length", "read", lambda p: draw(p, rate=1))
add("one frame a minute", "length", "read", lambda p: draw(p, rate=Fraction(1, 60)))
add("1,000 frames a second", "length", "read", lambda p: draw(p, rate=1000))


# --- times --------------------------------------------------------------------------------------

_MS = Fraction(1, 1000)


def _moved(change: Callable[[int, int], int], form: str = "mp4",
           muxer: dict[str, str] | None = None) -> Callable[[Path], object]:  # fmt: skip
    """A video whose frames have other times, put in after encoding."""

    def make(path: Path) -> None:
        draw(path, options={"bf": "0"})

        def move(place: int, packet: object) -> bool:
            packet.pts = packet.dts = change(place, packet.pts)  # type: ignore[attr-defined]
            return True

        remux(path, path, move, form, muxer)

    return make


add("variable rate", "times", "read", lambda p: draw(
    p, times=lambda n: 100 * n + (n * n * 7) % 60, time_base=_MS))  # fmt: skip
add("a pause of a minute", "times", "read", lambda p: draw(
    p, times=lambda n: 100 * n + (60_000 if n > 30 else 0), time_base=_MS))  # fmt: skip
add("a pause of a month", "times", "either", lambda p: draw(
    p, times=lambda n: 100 * n + (2_600_000_000 if n > 30 else 0), time_base=_MS,
    form="matroska"))  # fmt: skip
add("begins late", "times", "read", lambda p: draw(
    p, times=lambda n: 100 * n + 7000, time_base=_MS))  # fmt: skip
add("negative times", "times", "read",
    _moved(lambda n, t: t - 10 * 1024, muxer={"avoid_negative_ts": "disabled"}))  # fmt: skip
add("negative times, Matroska", "times", "either",
    _moved(lambda n, t: t - 10 * 1024, "matroska", {"avoid_negative_ts": "disabled"}))  # fmt: skip
add("huge times", "times", "either", _moved(lambda n, t: t + (1 << 40), "nut"))
add(
    "times run backwards",
    "times",
    "either",
    lambda p: patch(
        draw(p, options={"bf": "2", "b-pyramid": "none"}), [((*STBL, "ctts"), 12, number(5000))]
    ),
)
add("all times the same", "times", "either", lambda p: patch(
    draw(p, options={"bf": "0"}), [((*STBL, "stts"), 12, number(0))]))  # fmt: skip


@case("each time twice", "times", "read")
def _twice(path: Path) -> None:
    draw(path, times=lambda n: 100 * n + n % 2 * 40, time_base=_MS, options={"bf": "0"})
    data = bytearray(path.read_bytes())
    begin, _ = next(boxes(bytes(data), *STBL, "stts"))
    for place in range(struct.unpack(">I", data[begin + 4 : begin + 8])[0]):
        at = begin + 8 + 8 * place + 4
        long = struct.unpack(">I", data[at : at + 4])[0]
        data[at : at + 4] = number(0 if place % 2 else long)
    path.write_bytes(bytes(data))


def _edited(*edits: tuple[int, int, int]) -> Callable[[Path], object]:
    """A video with an edit list: lengths (ms), media times and rates."""

    def make(path: Path) -> None:
        data = draw(path, muxer={"use_editlist": "0"}).read_bytes()
        content = bytes(4) + number(len(edits))
        content += b"".join(number(a) + number(b) + number(c) for a, b, c in edits)
        box = _box(b"edts", _box(b"elst", content))
        at = data.index(b"mdia") - 4
        grown = bytearray(data[:at] + box + data[at:])
        for name in (b"moov", b"trak"):
            place = bytes(grown).index(name) - 4
            size = struct.unpack(">I", grown[place : place + 4])[0]
            grown[place : place + 4] = number(size + len(box))
        path.write_bytes(bytes(grown))

    return make


add("edit list, late start", "edit lists", "read", _edited((2000, -1, 65536), (7000, 0, 65536)))
add("edit list, first half hidden", "edit lists", "read", _edited((3500, 35840, 65536)))
add("edit list, all hidden", "edit lists", "either", _edited((7000, 10**8, 65536)))
add("edit list, no length", "edit lists", "either", _edited((0, 0, 65536)))
add("edit list, same twice", "edit lists", "either",
    _edited((3000, 0, 65536), (3000, 0, 65536)))  # fmt: skip
add("edit list, slow", "edit lists", "either", _edited((7000, 0, 32768)))
add("edit list, 1,000 edits", "edit lists", "either", _edited(*[(7, 70, 65536)] * 1000))


# --- frames that depend on others ---------------------------------------------------------------


def _only(wanted: Callable[[int, bool], bool]) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        draw(path, frames=100, key_interval=25)
        remux(path, path, lambda n, packet: wanted(n, packet.is_keyframe))

    return make


add("no first key frame", "key frames", "either", _only(lambda n, key: n > 0))
add("no first second", "key frames", "either", _only(lambda n, key: n > 12))
add("no key frame", "key frames", "either", _only(lambda n, key: not key))
add("only key frames", "key frames", "read", _only(lambda n, key: key))
add("every third frame lost", "key frames", "either", _only(lambda n, key: key or n % 3 > 0))
add("B frames", "key frames", "read", lambda p: draw(p, options={"bf": "3"}))
add("open groups", "key frames", "read", lambda p: draw(
    p, options={"bf": "3", "x264-params": "open-gop=1"}))  # fmt: skip
add("gradual refresh", "key frames", "read", lambda p: draw(
    p, key_interval=1000, options={"x264-params": "intra-refresh=1:bframes=0"}))  # fmt: skip


# --- shape --------------------------------------------------------------------------------------

_ONE = 65536
_W = 1 << 30
add("turned by 90", "shape", "read", lambda p: turned(draw(p), (0, _ONE, 0, -_ONE, 0, 0, 0, 0, _W)))
add("turned by 180", "shape", "read", lambda p: turned(
    draw(p), (-_ONE, 0, 0, 0, -_ONE, 0, 0, 0, _W)))  # fmt: skip
add("turned by 270", "shape", "read", lambda p: turned(
    draw(p), (0, -_ONE, 0, _ONE, 0, 0, 0, 0, _W)))  # fmt: skip
add("turned by 45", "shape", "read", lambda p: turned(
    draw(p), (46341, 46341, 0, -46341, 46341, 0, 0, 0, _W)))  # fmt: skip
add("matrix of zeros", "shape", "read", lambda p: turned(draw(p), (0,) * 9))
add("1x1, GIF", "shape", "read", lambda p: draw(p, "gif", form="gif", size=(1, 1), pixels="rgb8"))
add("1x1, PNG", "shape", "read", lambda p: draw(p, "png", form="mov", size=(1, 1), pixels="rgb24"))
add("1x1, FFV1", "shape", "read", lambda p: draw(
    p, "ffv1", form="matroska", size=(1, 1), pixels="yuv444p"))  # fmt: skip
add("2x2", "shape", "read", lambda p: draw(p, size=(2, 2)))
add("63x47", "shape", "read", lambda p: draw(p, size=(63, 47), pixels="yuv444p"))
add("1x99", "shape", "read", lambda p: draw(p, size=(1, 99), pixels="yuv444p"))
add("4096x2", "shape", "read", lambda p: draw(p, size=(4096, 2)))
add("2x4096", "shape", "read", lambda p: draw(p, size=(2, 4096)))
add("8K", "shape", "read", lambda p: draw(
    p, size=(7680, 4320), frames=2, options={"preset": "ultrafast"},
    draws=lambda n, w, h: np.full((h, w, 3), 90, np.uint8)))  # fmt: skip
add("8K in the header only", "shape", "either", lambda p: patch(draw(p), [
    (TKHD, 76, number(7680 << 16) + number(4320 << 16)),
    ((*STBL, "stsd"), 8 + 32, struct.pack(">HH", 7680, 4320))]))  # fmt: skip
add("0x0 in the header", "shape", "either", lambda p: patch(draw(p), [
    (TKHD, 76, bytes(8)), ((*STBL, "stsd"), 8 + 32, bytes(4))]))  # fmt: skip
add("wide pixels", "shape", "read", lambda p: draw(p, options={"x264-params": "sar=4/3"}))


def _gif(width: int, height: int) -> bytes:
    """A GIF of two frames that claims a large screen."""
    frame = (b"\x21\xf9\x04\x04\x0a\x00\x00\x00" + b"\x2c" + bytes(4)
             + struct.pack("<HH", 1, 1) + b"\x00\x02\x02\x44\x01\x00")  # fmt: skip
    head = b"GIF89a" + struct.pack("<HH", width, height) + b"\x80\x00\x00" + b"\xff\x00\x00" * 2
    return head + frame * 2 + b";"


def _png(width: int, height: int) -> bytes:
    """A picture of one colour: a few kilobytes that unpack to gigabytes."""
    import zlib

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(width + 1)) for _ in range(height)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


add("GIF of 65535x65535", "shape", "refused", _data(_gif(65535, 65535)))
add("GIF of 16000x16000", "shape", "refused", _data(_gif(16000, 16000)), "too large")
add("PNG of 15000x15000", "shape", "refused", lambda p: p.write_bytes(_png(15000, 15000)),
    "too large")  # fmt: skip


@case("size changes", "shape", "read")
def _size_changes(path: Path) -> None:
    parts = [draw(path, size=size, form="h264", frames=35).read_bytes()
             for size in ((64, 48), (96, 64))]  # fmt: skip
    path.write_bytes(b"".join(parts))


# --- codecs and containers ----------------------------------------------------------------------

for _name, _options in {
    "H.264, 10 bits": {"pixels": "yuv420p10le"},
    "H.264, 4:2:2": {"pixels": "yuv422p"},
    "H.264, 4:4:4": {"pixels": "yuv444p"},
    "H.264, full range": {"pixels": "yuvj420p"},
    "H.264, grey": {"pixels": "gray"},
    "H.264, interlaced": {"options": {"x264-params": "interlaced=1"}},
    "H.264, bare": {"form": "h264"},
    "H.264, MPEG-TS": {"form": "mpegts"},
    "H.264, Matroska": {"form": "matroska"},
    "H.264, FLV": {"form": "flv"},
    "HEVC": {"codec": "libx265", "options": {"x265-params": "log-level=none"}},
    "HEVC, 10 bits": {"codec": "libx265", "pixels": "yuv420p10le",
                      "options": {"x265-params": "log-level=none"}},
    "HEVC, bare": {"codec": "libx265", "form": "hevc",
                   "options": {"x265-params": "log-level=none"}},
    "VP8": {"codec": "libvpx", "form": "webm"},
    "VP9": {"codec": "libvpx-vp9", "form": "webm"},
    "VP9 in MP4": {"codec": "libvpx-vp9"},
    "VP9 with transparency": {"codec": "libvpx-vp9", "form": "webm", "pixels": "yuva420p"},
    "AV1": {"codec": "libsvtav1", "options": {"preset": "12"}},
    "AV1 in WebM": {"codec": "libsvtav1", "form": "webm", "options": {"preset": "12"}},
    "AV1, 10 bits": {"codec": "libsvtav1", "pixels": "yuv420p10le", "options": {"preset": "12"}},
    "MPEG-4 in AVI": {"codec": "mpeg4", "form": "avi"},
    "MPEG-2": {"codec": "mpeg2video", "form": "mpegts", "rate": 25},
    "MPEG-1 program": {"codec": "mpeg1video", "form": "mpeg", "rate": 25},
    "Motion JPEG": {"codec": "mjpeg", "form": "avi", "pixels": "yuvj420p"},
    "ProRes": {"codec": "prores_ks", "form": "mov", "pixels": "yuv422p10le"},
    "FFV1": {"codec": "ffv1", "form": "matroska"},
    "Flash": {"codec": "flv", "form": "flv"},
    "Windows Media": {"codec": "wmv2", "form": "asf"},
    "H.263": {"codec": "h263", "form": "3gp", "size": (128, 96)},
    "RLE with transparency": {"codec": "qtrle", "form": "mov", "pixels": "argb"},
    "raw": {"codec": "rawvideo", "form": "avi"},
    "GIF": {"codec": "gif", "form": "gif", "pixels": "rgb8"},
    "animated PNG": {"codec": "apng", "form": "apng", "pixels": "rgb24"},
    "16-bit grey": {"codec": "ffv1", "form": "matroska", "pixels": "gray16le"},
}.items():  # fmt: skip
    add(_name, "codecs", "read", lambda p, options=_options: draw(p, **options))  # type: ignore[misc]
add("still picture, PNG", "codecs", "either", lambda p: p.write_bytes(_png(64, 48)))


# --- damage in the middle -----------------------------------------------------------------------


def _flipped(seed: int, count: int, where: tuple[float, float]) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        data = bytearray(draw(path, header_first=True, frames=120).read_bytes())
        chance = random.Random(seed)
        for _ in range(count):
            place = int(len(data) * chance.uniform(*where))
            data[place] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(data))

    return make


for _seed in range(4):
    add(f"flipped bits, data {_seed}", "damage", "either", _flipped(_seed, 40, (0.5, 0.999)))
for _seed in range(4):
    add(f"flipped bits, header {_seed}", "damage", "either", _flipped(_seed, 30, (0.0, 0.3)))
for _form, _codec in (("matroska", "libx264"), ("webm", "libvpx-vp9"), ("avi", "mpeg4"),
                      ("mpegts", "mpeg2video"), ("gif", "gif")):  # fmt: skip

    def _spoil(path: Path, form: str = _form, codec: str = _codec) -> None:
        data = bytearray(draw(path, codec, form=form, pixels="rgb8" if form == "gif" else "yuv420p",
                              rate=25 if form == "mpegts" else 10).read_bytes())  # fmt: skip
        chance = random.Random(5)
        for _ in range(60):
            data[chance.randrange(len(data) // 3, len(data))] = chance.randrange(256)
        path.write_bytes(bytes(data))

    add(f"spoiled {_form}", "damage", "either", _spoil)


def _changed(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(
        change(draw(path, header_first=True, frames=150).read_bytes())
    )  # fmt: skip


add("zeros in the middle", "damage", "either", _changed(
    lambda d: d[: len(d) * 6 // 10] + bytes(len(d) // 10) + d[len(d) * 7 // 10 :]))  # fmt: skip
add("bytes missing in the middle", "damage", "refused", _changed(
    lambda d: d[: len(d) * 7 // 10] + d[len(d) * 7 // 10 + 300 :]))  # fmt: skip
add("line ends changed", "damage", "either", _changed(lambda d: d.replace(b"\n", b"\r\n")))
add("as if UTF-8 text", "damage", "either", _changed(
    lambda d: d.decode("utf-8", "replace").encode()))  # fmt: skip
add("halves swapped", "damage", "refused", _changed(
    lambda d: d[len(d) // 2 :] + d[: len(d) // 2]))  # fmt: skip


@case("setup of 8192x4352", "damage", "either")
def _sps(path: Path) -> None:
    """The frames of a small video behind the decoder setup of a huge one."""
    large = path.with_suffix(".large")
    draw(large, size=(8192, 4352), frames=1, options={"preset": "ultrafast"},
         draws=lambda n, w, h: np.full((h, w, 3), 90, np.uint8))  # fmt: skip
    setup = large.read_bytes()
    large.unlink()
    begin = setup.index(b"avcC") - 4
    size = struct.unpack(">I", setup[begin : begin + 4])[0]
    data = draw(path).read_bytes()
    old = data.index(b"avcC") - 4
    old_size = struct.unpack(">I", data[old : old + 4])[0]
    grown = bytearray(data[:old] + setup[begin : begin + size] + data[old + old_size :])
    for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"):
        place = bytes(grown).index(name) - 4
        length = struct.unpack(">I", grown[place : place + 4])[0]
        grown[place : place + 4] = number(length + size - old_size)
    path.write_bytes(bytes(grown))


@case("another video's setup", "damage", "either")
def _other_setup(path: Path) -> None:
    other = draw(path.with_suffix(".other"), size=(96, 64), options={"x264-params": "cabac=0"})
    held, coded = packets(other)
    kept = io.BytesIO()
    with av.open(kept, "w", format="mp4") as out:
        first, _ = packets(draw(path))
        stream = out.add_stream_from_template(first.streams.video[0], opaque=True)
        for packet in coded:
            packet.stream = stream
            out.mux(packet)
        first.close()
    held.close()
    other.unlink()
    path.write_bytes(kept.getvalue())


# --- what is no file ----------------------------------------------------------------------------


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _listens(path: Path) -> None:
    # A socket's path must be short: it is made next to it and moved.
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as bound:
        try:
            os.chdir(path.parent)
            bound.bind(path.name)
        finally:
            os.chdir(here)


def _locked(path: Path) -> None:
    draw(path).chmod(0)


add("folder", "no file", "refused", lambda p: p.mkdir(), "folder")
add("dangling link", "no file", "refused", lambda p: p.symlink_to("nowhere.mp4"), "exist")
add("link loop", "no file", "refused", lambda p: p.symlink_to(p.name), "")
add("link to a folder", "no file", "refused", lambda p: p.symlink_to("."), "folder")
add("pipe", "no file", "refused", _pipe, "regular")
add("socket", "no file", "refused", _listens, "regular")
add("link to a device", "no file", "refused", lambda p: p.symlink_to("/dev/zero"), "regular")
add("no permission", "no file", "refused", _locked, "ermission")


@case("link to a good video", "no file", "read")
def _linked(path: Path) -> None:
    draw(path.with_name("target of a link.data"))
    path.symlink_to("target of a link.data")


# --- names --------------------------------------------------------------------------------------

for _name, _file in {
    "spaces": b"  two  words .mp4",
    "quotes": b'it\'s "quoted" `here`.mp4',
    "newline": b"two\nlines.mp4",
    "leading dash": b"-rf.mp4",
    "option": b"--help.mp4",
    "Arabic": "قطة تقفز.mp4".encode(),
    "Chinese": "猫跳.mp4".encode(),
    "Hindi": "बिल्ली.mp4".encode(),
    "emoji": "🐈‍⬛💥.mp4".encode(),
    "accents apart": "Cafe\u0301.mp4".encode(),
    "right to left mark": "a\u202egpj.mp4".encode(),
    "very long": b"long-" * 50 + b".mp4",
    "no UTF-8": b"caf\xe9-\xff\xfe.mp4",
    "shell": b"$(touch hacked);`id`|&&.mp4",
    "pattern": b"[ab]*?{c,d}.mp4",
    "protocol": b"http:a,b.mp4",
    "concat protocol": b"concat:x|y.mp4",
    "number pattern": b"frame%04d.mp4",
    "markup": b"[bold red]x[bold].mp4",
    "tags": b"<script>alert(1)<&>.mp4",
    "escape sequence": b"\x1b[2J\x1b[31mred.mp4",
    "backslash": b"a\\b.mp4",
    "tab": b"a\tb.mp4",
    "upper case": b"SHOUT.MP4",
    "dots": b"a..b...mp4.mp4",
    "format fields": b"{0} {name} %s %n.mp4",
    "one letter": b"x.mp4",
}.items():
    CASES.append(Case(f"name: {_name}", "names", "read", draw, file=_file))

assert len({each.name for each in CASES}) == len(CASES)
