"""BlackSwanSuite's questions from three-step annotations (section 4.3).

Step 1: seeing V_pre, an annotator writes three hypotheses of what happens next. Step 2: seeing
V_post too, the annotator marks each as valid or not, and writes a new one for each that is not.
Step 3: seeing everything, the annotator marks the three that now count, and describes what
happens. From these come the questions of all seven tasks, in the release's layout, so that
``video-reasoning prepare blackswan`` reads them. The input's format is in
docs/build-questions.md.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

import yaml

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.errors import UserError, cause
from video_reasoning.tasks.release.records import OddRow, json_lines, name_of, text
from video_reasoning.tasks.store.text_files import loads, read_text, shortened

Variant = Literal["paper", "release"]

KINDS = ("MCQ", "YN", "Gen")
SPLITS: Mapping[str, str] = {"validation": "Val", "test": "Test"}
"""Split -> its word in the names of the release's files."""

MANIFEST = "build-questions.yaml"
"""What was built and what was left out; not a name that is taken for a table's."""

QUESTIONS: Mapping[str, str] = {
    "Forecaster Gen": "Describe what could happen next, by explaining the sequence of actions "
    "leading to the outcome.",
    "Detective Gen": "What happened in the missing frames (in black) of the video?",
    "Reporter Gen": "Explain what is happening in the video.",
    "Detective MCQ": "Select the description that indicates what happened in the hidden (black) "
    "frames of the video:",
    "Reporter MCQ": "Select the description that correctly explains what happens in this video:",
    "YN": "Given the video clip, does this hypothesis hold? Answer yes or no.",
}
"""The questions of appendix E, without the options and the hypothesis."""

_PARTS = {"preevent": "A_preevent", "event": "B_event", "postevent": "C_postevent"}
_SHOWN = {
    "Forecaster": ("preevent",),
    "Detective": ("preevent", "postevent"),
    "Reporter": ("preevent", "event", "postevent"),
}
_OPTIONS = 3
_HYPOTHESES = 3


class BuildError(UserError):
    """Annotations that cannot be read, or questions that cannot be written."""


@dataclass(frozen=True)
class Hypothesis:
    """One of an annotator's three hypotheses, through the three steps.

    Attributes:
        step1: The text written before V_post was seen.
        valid_in_step2: Whether it still held after V_post.
        step2: What was written in its place, empty if it held.
        valid_in_step3: Whether what counted after step 2 held after V_main.
    """

    step1: str
    valid_in_step2: bool
    step2: str
    valid_in_step3: bool

    @property
    def standing(self) -> str:
        """What the Detective believes after step 2."""
        return self.step1 if self.valid_in_step2 else self.step2


@dataclass(frozen=True)
class Annotation:
    """The annotation of one video.

    Attributes:
        video: The video's name; question ids begin with it.
        hypotheses: Three.
        description: What really happens, written in step 3.
        caption: A description of V_pre in the hypotheses' style, or empty.
        several_events: Whether the annotator saw more than one event.
        split: "validation" or "test".
        clips: File names of the three parts, by "preevent", "event" and "postevent".
    """

    video: str
    hypotheses: tuple[Hypothesis, ...]
    description: str
    caption: str
    several_events: bool
    split: str
    clips: Mapping[str, str]

    @property
    def difficulty(self) -> str:
        """How many of the Detective's hypotheses held to the end: none hard, one medium."""
        held = sum(hypothesis.valid_in_step3 for hypothesis in self.hypotheses)
        return ("hard", "medium", "easy")[min(held, 2)]


@dataclass(frozen=True)
class LeftOut:
    """Something that gave no question: whose video, what, and why."""

    video: str
    what: str
    reason: str


@dataclass
class Built:
    """The questions of all tasks.

    Attributes:
        seed: What the order of the options was drawn with.
        variant: Which rule the multiple-choice questions follow.
        rows: (kind, split) -> rows as in the release, kinds "MCQ", "YN" and "Gen".
        left_out: Everything that gave no question.
        videos: How many annotations there were.
    """

    seed: int
    variant: Variant = "paper"
    rows: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    videos: int = 0

    def counts(self) -> Counter[str]:
        """Questions per task, such as "Detective MCQ"."""
        return Counter(
            f"{row['task']} {kind}" for (kind, _), rows in self.rows.items() for row in rows
        )


def read_annotations(path: Path) -> Iterator[tuple[str, object]]:
    """Read annotations from a JSON list or from JSON Lines.

    Yields:
        Where each is in the file, and what it is (a text says why it is unreadable).

    Raises:
        BuildError: If the file cannot be read.
    """
    try:
        content = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"The annotations {path} cannot be read ({cause(error)}).") from error
    if path.suffix.lower() == ".jsonl":
        yield from json_lines(content)
        return
    try:
        entries = loads(content)
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{path} is not readable JSON ({error}).") from error
    if not isinstance(entries, list):
        raise BuildError(f"{path} is not a list of annotations.")
    yield from ((f"entry {number}", entry) for number, entry in enumerate(entries, start=1))


def build_questions(
    annotations: Iterable[tuple[str, object]], *, seed: int = 0, variant: Variant = "paper"
) -> Built:
    """Turn annotations into questions (section 4.3).

    - Forecaster Gen: the references are the three hypotheses of step 1. Detective Gen: those
      that count after step 2. Reporter Gen: the description.
    - Detective MCQ: right are the hypotheses that count after step 2, distractors those of
      step 1 that step 2 has refuted.
    - Reporter MCQ: right are the description and the standing hypotheses that held in step 3,
      distractors the standing ones that did not.
    - With ``variant="release"``, as in the authors' script, right are only the hypotheses that
      were newly written in step 2, and for the Reporter only the description; a video none of
      whose hypotheses was refuted in step 2 gives no multiple-choice question.
    - Each right answer is asked with each pair of distractors; a single distractor is paired
      with the caption of V_pre.
    - Detective Y/N: each hypothesis of step 1 with its mark of step 2. Reporter Y/N: each that
      was newly written in step 2, with its mark of step 3.

    Texts are taken as they are, but for white space at both ends. The result depends on the
    annotations and the seed alone; ids and options not even on the annotations' order.

    Args:
        annotations: As given by :func:`read_annotations`.
        seed: For the order of the options; see :func:`option_order`.
        variant: ``paper`` for the sentences of section 4.3, ``release`` for the authors' script.

    Returns:
        The questions, and what was left out and why. An annotation that cannot be used, or is
        flagged as having several events, gives no question; missing distractors cost only the
        questions that need them.

    Raises:
        BuildError: There is no such variant.
    """
    if variant not in get_args(Variant):
        raise BuildError(f"There is no variant '{variant}': use 'paper' or 'release'.")
    built = Built(seed, variant)
    seen: set[str] = set()
    for place, entry in annotations:
        built.videos += 1
        name = place
        try:
            if not isinstance(entry, dict):
                raise OddRow(entry if isinstance(entry, str) else "it is not an object")
            name = str(entry.get("video") or place)
            annotation = _annotation(entry)
            if annotation.video in seen:
                raise OddRow("duplicate video")
            seen.add(annotation.video)
            if annotation.several_events:
                raise OddRow("it is flagged as having several events")
        except OddRow as reason:
            left = LeftOut(shortened(name), "the video", shortened(reason, 400))
            built.left_out.append(left)
            continue
        _ask(annotation, built)
    return built


def option_order(question_id: str, seed: int, count: int = _OPTIONS) -> list[int]:
    """Return the order in which options are shown: the same on every machine.

    Args:
        question_id: Id of the question.
        seed: Another seed gives another order.
        count: Number of options.

    Returns:
        The options' places before shuffling (0 is the right one), in the order shown: sorted by
        the SHA-256 of seed, id and place.
    """

    def digest(place: int) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{question_id}\x1f{place}".encode()).digest()

    return sorted(range(count), key=digest)


def write_questions(built: Built, out: Path) -> list[Path]:
    """Write the tables of the release's layout and the record of what was built.

    Tables of an earlier build in the folder are replaced, or removed if nothing is left for
    them.

    Args:
        built: The questions.
        out: The folder, made if it is missing.

    Returns:
        The files written, the record last.

    Raises:
        BuildError: If there are no questions, or the folder has tables of another origin.
    """
    if not any(built.rows.values()):
        reasons = "; ".join(f"{left.video}: {left.reason}" for left in built.left_out[:3])
        raise BuildError(f"No annotation gives a question ({reasons or 'there are none'}).")
    files = {
        (kind, split): out / f"BlackSwanSuite_{kind}_{word}.jsonl"
        for kind in KINDS
        for split, word in SPLITS.items()
    }
    foreign = [path for path in files.values() if path.exists()]
    if foreign and not (out / MANIFEST).exists():
        raise BuildError(
            f"{foreign[0]} was not written by build-questions (there is no {MANIFEST} beside "
            "it); name another folder, so that a release is not overwritten."
        )
    written = []
    for key, path in files.items():
        rows = built.rows.get(key, [])
        if rows:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            written.append(_write(path, "".join(lines)))
        else:
            path.unlink(missing_ok=True)
    manifest = {
        "seed": built.seed,
        "variant": built.variant,
        "videos": built.videos,
        "questions": dict(sorted(built.counts().items())),
        "left_out": [vars(left) for left in built.left_out],
    }
    content = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=100)
    written.append(_write(out / MANIFEST, content))
    return written


def _write(target: Path, content: str) -> Path:
    with atomic_path(target) as temporary:
        temporary.write_text(content, encoding="utf-8")
    return target


def _annotation(entry: Mapping[str, Any]) -> Annotation:
    video = name_of({"video": _text(entry, "video")}, "video")
    if PurePosixPath(video).name != video or "\\" in video:
        raise OddRow(f"video {video!r} is a path, not a name")
    hypotheses = entry.get("hypotheses")
    if not isinstance(hypotheses, list) or len(hypotheses) != _HYPOTHESES:
        raise OddRow(f"hypotheses is not a list of {_HYPOTHESES}")
    split = _text(entry, "split", default="validation")
    if split not in SPLITS:
        raise OddRow(f"split is {split!r}, not validation or test")
    clips = entry.get("clips", {})
    if not isinstance(clips, dict) or not clips.keys() <= _PARTS.keys():
        raise OddRow(f"clips is not an object with {', '.join(_PARTS)}")
    return Annotation(
        video=video,
        hypotheses=tuple(
            _hypothesis(number, given) for number, given in enumerate(hypotheses, start=1)
        ),
        description=_text(entry, "description"),
        caption=_text(entry, "caption", default=""),
        several_events=_mark(entry, "several_events", default=False),
        split=split,
        clips={
            part: _text(clips, part, default=f"{video}_{suffix}.mp4")
            for part, suffix in _PARTS.items()
        },
    )


def _hypothesis(number: int, given: object) -> Hypothesis:
    if not isinstance(given, dict):
        raise OddRow(f"hypothesis {number} is not an object")
    try:
        valid = _mark(given, "valid_in_step2")
        if valid and _text(given, "step2", default=""):
            raise OddRow("step2 rewrites what was valid")
        return Hypothesis(
            step1=_text(given, "step1"),
            valid_in_step2=valid,
            step2="" if valid else _text(given, "step2"),
            valid_in_step3=_mark(given, "valid_in_step3"),
        )
    except OddRow as reason:
        raise OddRow(f"hypothesis {number}: {reason}") from None


def _text(entry: Mapping[str, Any], name: str, *, default: str | None = None) -> str:
    if isinstance(entry.get(name), (bool, float)):
        raise OddRow(f"{name} is not a text")
    return text(entry, name, default=default)


def _mark(entry: Mapping[str, Any], name: str, *, default: bool | None = None) -> bool:
    value = entry.get(name, default)
    if isinstance(value, bool):
        return value
    raise OddRow(
        f"{name} is missing" if value is None else f"{name} is {value!r}, not true or false"
    )


def _ask(annotation: Annotation, built: Built) -> None:
    """Write all questions about one video."""
    hypotheses = annotation.hypotheses
    standing = [hypothesis.standing for hypothesis in hypotheses]
    first = [hypothesis.step1 for hypothesis in hypotheses]
    _row(built, annotation, "Gen", "Forecaster", 1, gt_ref_ans=first)
    _row(built, annotation, "Gen", "Detective", 1, gt_ref_ans=standing)
    _row(built, annotation, "Gen", "Reporter", 1, gt_ref_ans=[annotation.description])

    refuted = [hypothesis.step1 for hypothesis in hypotheses if not hypothesis.valid_in_step2]
    rewritten = [hypothesis.step2 for hypothesis in hypotheses if not hypothesis.valid_in_step2]
    released = built.variant == "release"
    right = rewritten if released else standing
    _mcq(built, annotation, "Detective", right, refuted, "invalidated in step 2")
    held = [hypothesis.standing for hypothesis in hypotheses if hypothesis.valid_in_step3]
    refuted = [hypothesis.standing for hypothesis in hypotheses if not hypothesis.valid_in_step3]
    right = [annotation.description, *([] if released else held)]
    if released and not rewritten:
        reason = "no hypothesis was invalidated in step 2, and the release then asks nothing"
        built.left_out.append(LeftOut(annotation.video, "Reporter MCQ", reason))
    else:
        _mcq(built, annotation, "Reporter", right, refuted, "invalidated in step 3")

    marks = [(hypothesis.step1, hypothesis.valid_in_step2) for hypothesis in hypotheses]
    _yes_no(built, annotation, "Detective", marks)
    marks = [
        (hypothesis.step2, hypothesis.valid_in_step3)
        for hypothesis in hypotheses
        if not hypothesis.valid_in_step2
    ]
    _yes_no(built, annotation, "Reporter", marks)


def _row(
    built: Built, annotation: Annotation, kind: str, task: str, number: int, **columns: Any
) -> None:
    """Add a row; what the task may not see has no file name, as in the release."""
    question = QUESTIONS.get(f"{task} {kind}") or QUESTIONS[kind]
    built.rows.setdefault((kind, annotation.split), []).append(
        {
            "q_id": _id(annotation, kind, task, number),
            "task": task,
            "difficulty": annotation.difficulty,
            "default_question": question,
            **columns,
            **{
                f"{part}_file_name": annotation.clips[part] if part in _SHOWN[task] else ""
                for part in _PARTS
            },
        }
    )


def _id(annotation: Annotation, kind: str, task: str, number: int) -> str:
    return f"{annotation.video}_{task.lower()}_{kind.lower()}_{number}"


def _yes_no(
    built: Built, annotation: Annotation, task: str, marks: Iterable[tuple[str, bool]]
) -> None:
    for number, (hypothesis, holds) in enumerate(marks, start=1):
        label = "yes" if holds else "no"
        _row(built, annotation, "YN", task, number, hypothesis=hypothesis, yn_gt=label)


def _mcq(
    built: Built,
    annotation: Annotation,
    task: str,
    right: Sequence[str],
    refuted: Sequence[str],
    refutation: str,
) -> None:
    """One question per right answer and pair of distractors."""

    def leave_out(what: str, reason: str) -> None:
        built.left_out.append(LeftOut(annotation.video, what, shortened(reason, 400)))

    distractors = list(refuted)
    if len(distractors) == 1 and annotation.caption:
        distractors.append(annotation.caption)
    if len(distractors) < _OPTIONS - 1:
        how = "one hypothesis" if distractors else "no hypothesis"
        lacking = " and there is no caption" if distractors else ""
        leave_out(f"{task} MCQ", f"{how} was {refutation}{lacking}")
        return
    pairs = list(itertools.combinations(distractors, _OPTIONS - 1))
    for number, (answer, pair) in enumerate(itertools.product(right, pairs), start=1):
        options = [answer, *pair]
        if len({option.casefold() for option in options}) < _OPTIONS:
            leave_out(
                f"{task} MCQ {number}", f"two of its options are the same: {_repeated(options)!r}"
            )
            continue
        order = option_order(_id(annotation, "MCQ", task, number), built.seed)
        columns: dict[str, Any] = {"mcq_options": [options[place] for place in order]}
        columns |= {"mcq_gt_option": order.index(0), "option_order": order}
        _row(built, annotation, "MCQ", task, number, **columns)


def _repeated(options: Sequence[str]) -> str:
    counts = Counter(option.casefold() for option in options)
    return next(option for option in options if counts[option.casefold()] > 1)
