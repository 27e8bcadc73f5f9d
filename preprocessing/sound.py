"""Sound tracks, copied without being encoded again if an MP4 file can contain them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.error

# As the decoders are called.
_COPIED = ("aac", "mp3", "mp3float", "ac3", "eac3")


@dataclass(frozen=True)
class _Piece:
    data: bytes
    time: int
    duration: int


@dataclass(frozen=True)
class Sound:
    """A sound track as packets of some 20 ms each.

    They have the coding of a stream (PyAV), and times from the beginning of the video, in units of
    `time_base` seconds.
    """

    template: Any
    time_base: Fraction
    pieces: tuple[_Piece, ...]

    @classmethod
    def read(cls, path: Path, begin: Fraction) -> Sound | None:
        """Read the first sound track of a video file, or None if it has none that can be read.

        The moment `begin`, in seconds of the file's clock, becomes time 0.
        """
        container = None
        try:
            container = av.open(str(path.absolute()), metadata_errors="ignore")
            if not container.streams.audio:
                container.close()
                return None
            stream = container.streams.audio[0]
            name = stream.codec_context.name if stream.codec_context else ""
            if name not in _COPIED:
                original = container
                container = _as_aac(original, stream)
                original.close()
                stream = container.streams.audio[0]
            time_base = Fraction(stream.time_base or 1)
            pieces = [
                _Piece(bytes(packet), packet.pts, packet.duration or 0)
                for packet in container.demux(stream)
                if packet.size and packet.pts is not None and not packet.is_discard
            ]
        except (av.error.FFmpegError, ValueError, OSError):
            pieces = []
        if not pieces:
            if container is not None:
                container.close()
            return None
        shift = round(begin / time_base)
        moved = tuple(_Piece(piece.data, piece.time - shift, piece.duration) for piece in pieces)
        return cls(stream, time_base, moved)

    def close(self) -> None:
        """Free the stream; tracks that were cut from this one or joined to it end with it."""
        self.template.container.close()

    def cut(self, begin: Fraction, end: Fraction) -> Sound | None:
        """Return what begins from `begin` to before `end` (seconds), its times from `begin`.

        Neighboring cuts contain every packet once: a cut is exact to one packet.
        """
        first, last = begin / self.time_base, end / self.time_base
        shift = round(first)
        pieces = tuple(
            _Piece(piece.data, max(0, piece.time - shift), piece.duration)
            for piece in self.pieces
            if first <= piece.time < last
        )
        return Sound(self.template, self.time_base, pieces) if pieces else None

    def then(self, other: Sound, begin: Fraction) -> Sound | None:
        """Return this track followed by another from `begin` (seconds); None if coded otherwise."""
        if _coding(self.template) != _coding(other.template):
            return None
        shift = round(begin / self.time_base)
        scale = other.time_base / self.time_base
        later = tuple(
            _Piece(piece.data, round(piece.time * scale) + shift, round(piece.duration * scale))
            for piece in other.pieces
        )
        # A track may last a little longer than its pictures; packets must not overtake others.
        kept = tuple(piece for piece in self.pieces if piece.time < later[0].time)
        return Sound(self.template, self.time_base, kept + later)

    def add_to(self, container: Any) -> Any:
        """Add an empty track of this coding to a container that is open for writing."""
        return container.add_stream_from_template(self.template, opaque=True)

    def write(self, container: Any, track: Any) -> None:
        """Write the packets into the track that `add_to` made."""
        for piece in self.pieces:
            packet = av.Packet(piece.data)
            packet.stream = track
            packet.pts = packet.dts = piece.time
            packet.duration = piece.duration
            packet.time_base = self.time_base
            container.mux(packet)


def join(tracks: Sequence[Sound | None], begins: Sequence[Fraction]) -> Sound | None:
    """Put tracks one after the other, each from its time in seconds.

    None if a part has no sound, or the codings differ.
    """
    result: Sound | None = None
    for number, (track, begin) in enumerate(zip(tracks, begins, strict=True)):
        if track is None:
            return None
        result = track if number == 0 else result.then(track, begin) if result else None
        if result is None:
            return None
    return result


def _coding(stream: Any) -> tuple[Any, ...]:
    context = stream.codec_context
    return (context.name, context.sample_rate, context.layout.name, bytes(context.extradata or b""))


def _as_aac(container: Any, stream: Any) -> Any:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as target:
        layout = "mono" if stream.codec_context.channels == 1 else "stereo"
        rate = stream.codec_context.sample_rate
        rate = rate if rate in (16000, 22050, 24000, 32000, 44100, 48000) else 44100
        track: Any = target.add_stream("aac", rate=rate, layout=layout)
        resampler = av.AudioResampler(format="fltp", layout=layout, rate=rate)
        for frame in container.decode(stream):
            for piece in resampler.resample(frame):
                target.mux(track.encode(piece))
        for piece in resampler.resample(None):
            target.mux(track.encode(piece))
        target.mux(track.encode())
    file.seek(0)
    return av.open(file)
