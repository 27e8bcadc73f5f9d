"""Each video of the corpus by itself before every function that reads a video."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.reliability.corpus import Case
from tests.reliability.guard import Outcome, Tally, guarded
from tests.reliability.media import draw

GOOD_FRAMES = 20

Step = Callable[[Path, Path, Path], Any]


def _probe(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing.video import check, probe

    sentence = check(video)
    if sentence:
        from video_reasoning.preprocessing.video import VideoError

        raise VideoError(sentence)
    info = probe(video)
    assert info.width > 0 and info.height > 0 and info.fps > 0 and info.duration >= 0, info
    return None


def _verify(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing.video import verify

    info = verify(video)
    assert info.frames > 0 and info.duration >= 0, info
    return info.frames


def _conditions(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing import Condition, make_conditions
    from video_reasoning.preprocessing.video import verify

    names = ("ordered16", "shuffled16", "random1", "last1", "ordered8", "blind")
    requests = [(Condition.parse(name), "a question", None) for name in names]
    clips = make_conditions(video, requests, out / "clips")
    for clip in clips:
        if clip.path is not None:
            assert verify(clip.path).frames == max(2, len(clip.indices)), clip
    return clips[0].n_frames


def _handpicked(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing import Condition, make_conditions

    clip = make_conditions(video, [(Condition.parse("handpicked1"), "q", 0)], out / "clips")[0]
    return clip.n_frames


def _joins(place: int, blackout: bool) -> Step:
    def join(video: Path, good: Path, out: Path) -> Any:
        from video_reasoning.preprocessing.joining import join_parts
        from video_reasoning.preprocessing.video import verify

        parts: list[Path] = [good, good, good]
        parts[place] = video
        target = out / "joined.mp4"
        info = join_parts(parts[0], parts[1], parts[2], target, blackout=blackout)
        assert verify(target).frames == info.frames == sum(info.parts)
        return info.parts[place]

    return join


def _split(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing.split import split_video
    from video_reasoning.preprocessing.video import VideoError, verify

    record = split_video(video, [3.0, 3.1], out / "split", 1)
    if record.status == "split":
        for name in (record.files or {}).values():
            verify(out / "split" / name)
    elif not record.frames:
        raise VideoError(f"{video}: {record.reason}")
    return record.frames


def _frames(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.tasks.pages.frames import FrameCache

    return FrameCache().get(video).n_frames


def _player(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.preprocessing.video import verify
    from video_reasoning.tasks.pages.frames import Player

    player = Player()
    try:
        player.file(video)
        verify(player.file(video, convert=True)[0])
        return None
    finally:
        player.close()


def _pictures(video: Path, good: Path, out: Path) -> Any:
    from video_reasoning.tasks.report.gallery import frames_with

    assert frames_with(video, {}, "", 8)[1], "no pictures"
    return None


_PLAYER = "handpick: player"

STEPS: Mapping[str, Step] = {
    "probe and check": _probe,
    "prepare: decode": _verify,
    "conditions": _conditions,
    "handpicked frame": _handpicked,
    "join: first": _joins(0, False),
    "join: middle": _joins(1, False),
    "join: hidden middle": _joins(1, True),
    "join: last": _joins(2, False),
    "split": _split,
    "handpick: frames": _frames,
    _PLAYER: _player,
    "report: pictures": _pictures,
}
"""What reads a video, each by itself."""


def meet(video: Path, good: Path, user: int | None = None) -> dict[str, Outcome]:
    """Put one video before every step; what is lost is told for each step by itself."""
    together = _meet(video, good, STEPS, user)
    if together.loss or together.seconds > 30:
        return {
            name: _only(name, _meet(video, good, {name: step}, user))
            for name, step in STEPS.items()
        }
    return {name: _only(name, together) for name in STEPS}


def _only(name: str, outcome: Outcome) -> Outcome:
    return replace(outcome, value=(outcome.value or {}).get(name))


def _meet(video: Path, good: Path, steps: Mapping[str, Step], user: int | None) -> Outcome:
    """Put a video before some steps, all in one process."""
    with tempfile.TemporaryDirectory() as folder:
        if user is not None:
            Path(folder).chmod(0o777)

        def call() -> dict[str, tuple[str, Any]]:
            from video_reasoning.preprocessing.video import VideoError

            found: dict[str, tuple[str, Any]] = {}
            for number, (name, step) in enumerate(steps.items()):
                out = Path(folder) / str(number)
                out.mkdir()
                try:
                    found[name] = "read", step(video, good, out)
                except VideoError as error:
                    found[name] = "refused", str(error)
            return found

        return guarded(call, seconds=60 if len(steps) == 1 else 120, user=user)


def judge(case: Case, video: Path, found: Mapping[str, Outcome], tally: Tally) -> str:
    """Hold what became of a video against what must; returns "read" or "refused" or "lost"."""
    prepared = found["prepare: decode"]
    word, count = prepared.value or ("lost", None)
    for name, outcome in found.items():
        tally.met(case.family, f"{case.name} / {name}", outcome.loss or _fault(
            case, video, name, outcome.value, word, count))  # fmt: skip
    tally.fate(case.family, word)
    return str(word)


def _fault(
    case: Case, video: Path, name: str, value: tuple[str, Any], prepared: str, count: Any
) -> str:
    """Why an outcome is not what it should be, or nothing."""
    word, told = value
    if word == "refused":
        if str(video) not in told and video.name not in told:
            return f"the sentence does not name the video: {told}"
        if not told.endswith("."):
            return f"it is no sentence: {told!r}"
        if case.says and case.says not in told:
            return f"{case.says!r} is not in {told!r}"
    if case.fate == "read" and word != "read":
        return f"it must be read: {told}"
    if case.fate == "refused" and name == "prepare: decode" and word != "refused":
        return f"it must be refused, but {told} frames were read"
    if case.fate == "either" and "no clip can be encoded" in str(told):
        return ""
    # What prepare lets through is shown without a hitch; a browser may have to do without.
    if prepared == "read" and word != "read" and (case.fate, name) != ("either", _PLAYER):
        return f"prepare read it, but: {told}"
    if prepared == "read" and isinstance(told, int) and told != count:
        return f"{told} frames, where prepare found {count}"
    return ""


def good_video(folder: Path) -> Path:
    """The video that stands beside the others."""
    return draw(folder / "good.mp4", frames=GOOD_FRAMES, sound=True)
