"""An audit's results, and the files that they are written to and read from."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    NonNegativeInt,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
)

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.audit.files import reason, write_json, write_text
from video_reasoning.tasks.audit.variants import AuditError
from video_reasoning.tasks.results.items import Seen
from video_reasoning.tasks.sight import Sight

__all__ = [
    "QUESTIONS",
    "RESULT",
    "Audit",
    "AuditResult",
    "AuditedQuestion",
    "Finding",
    "LetterUse",
    "Measure",
    "read_audit",
    "read_findings",
    "write_audit",
    "write_findings",
]

RESULT = "audit.json"
"""Name of the file with an audit's numbers; the report looks for it."""

QUESTIONS = "questions.jsonl"
"""Name of the file beside it that lists the questions to look at."""


def _written(number: float) -> float | str | None:
    """Return a number in JSON, which has neither NaN nor infinity."""
    if math.isnan(number):
        return None
    return "infinity" if math.isinf(number) else number


def _read(value: Any) -> Any:
    return math.nan if value is None else math.inf if value == "infinity" else value


def _estimate_written(found: Estimate) -> dict[str, Any]:
    return {
        "value": _written(found.value),
        "low": _written(found.low),
        "high": _written(found.high),
        "level": found.level,
        "items": found.n,
        "videos": found.n_clusters,
    }


def _estimate_read(content: Any) -> Any:
    if not isinstance(content, Mapping):
        return content
    names = {"items": "n", "videos": "n_clusters"}
    return {names.get(name, name): _read(value) for name, value in content.items()}


_Number = Annotated[float, BeforeValidator(_read), PlainSerializer(_written)]
_Estimate = Annotated[Estimate, BeforeValidator(_estimate_read), PlainSerializer(_estimate_written)]
_Optional = Annotated[
    str, BeforeValidator(lambda text: text or ""), PlainSerializer(lambda text: text or None)
]
_Counts = Mapping[str, NonNegativeInt]

Measure = Literal["visual gain", "blind gap", "shortcut", "flips", "draws differ", "all rotations"]
"""What an audit measures besides accuracies and ratios (`metrics.shortcuts`)."""


@dataclass(frozen=True)
class LetterUse:
    """How often a letter is chosen with the frames in order, over all rotations that were asked.

    Attributes:
        chosen: Share of the responses that choose it, 0..1.
        right: Share of the questions whose right option it is, 0..1.
        excess: The first less the second.
    """

    chosen: _Number
    right: _Number
    excess: _Estimate


@dataclass(slots=True)
class AuditedQuestion:
    """One question of an audited task.

    Attributes:
        row: Its place among the task's documents, from 0.
        id: Its id.
        video: The video it is about.
        key: What its draws depend on; "" for its id.
        prompt: What the model was sent.
        target: The right answer as logged.
        options: How many options it has; 0 if they were not found.
        shape: What the task shows, in words; "" if that is not known.
        source: Path of the video's file; "" if the task names none that a condition read.
        scores: Condition -> 0..1; None if it was not scored.
        responses: Condition -> what the model said.
        problems: Condition -> why it could not be shown or scored.
        unparsed: Conditions under which the response names no option, for tasks that say so.
        sights: Condition -> what reached the model.
        letters: Condition -> the letter chosen and the right one, if both are known.
        groups: What its groups of questions are called -> the group that it is in.
    """

    row: int
    id: str
    video: str
    key: _Optional = ""
    prompt: str = ""
    target: str = ""
    options: Annotated[int, Field(exclude=True)] = 0
    shape: _Optional = ""
    source: _Optional = ""
    scores: dict[str, float | None] = field(default_factory=dict)
    responses: dict[str, str] = field(default_factory=dict)
    problems: Annotated[dict[str, str], Field(exclude=True)] = field(default_factory=dict)
    unparsed: Annotated[set[str], Field(exclude=True)] = field(default_factory=set)
    sights: Annotated[dict[str, Sight], Field(exclude=True)] = field(default_factory=dict)
    letters: Annotated[dict[str, tuple[str, str]], Field(exclude=True)] = field(
        default_factory=dict
    )
    groups: Annotated[dict[str, str], Field(exclude=True)] = field(default_factory=dict)

    @property
    def own_id(self) -> str:
        """Its id as the user's data have it, without the place that is added if ids repeat."""
        return self.id.removesuffix(f"#{self.row}")

    def score(self, condition: str) -> float:
        """Return the score under a condition; NaN if it has none."""
        found = self.scores.get(condition)
        return math.nan if found is None else found


@dataclass(frozen=True)
class AuditResult:
    """The audit of one task, or of a group of tasks together.

    Attributes:
        name: The task or group.
        tasks: The tasks that it is made of; one for a task.
        refused: Why there is no audit, or "".
        sample_benchmark: Whether questions are the sample benchmark's, whose videos are drawn.
        metric: The metric that says which questions are right.
        rule: How a question's score was read from it.
        n: Questions scored under every condition, the partial ones aside.
        left_out: Questions that lack a condition.
        chance: Accuracy of guessing among the options; NaN if their number is not known.
        graded: Whether questions have scores between wrong and right.
        asked: Condition -> questions asked.
        missing: Condition -> questions that could not be shown.
        unparsed: Condition -> responses that name no option, for tasks that say so.
        unscored: Condition -> questions that the task did not score.
        shapes: What the task shows -> for how many questions.
        seen: Condition -> what reached the model.
        own: Condition -> the task's own aggregated number.
        accuracies: Condition -> accuracy, 0..1, over the shared questions.
        ratios: ``kappa_random1``, ``kappa_last1``, ``kappa_handpicked1``, ``kappa_blind``,
            ``tau`` and ``rho``, as ratios; those that can be computed.
        differences: Condition -> accuracy that it loses against all frames in order, -1..1.
        kept: Condition -> share of what is above guessing that it leaves.
        needed: Condition -> questions that would settle whether its loss matters.
        paired: For each other order of options, the share of questions right in both orders.
        measures: Measure -> condition -> a share; those that can be computed. The condition is ""
            for a measure over several.
        letters: Letter -> how often it is chosen.
        classes: What questions need -> how many; without those of which that is not known.
        guessed_classes: What questions need -> how many it would be if every answer was a guess.
        timed: Questions whose prompts name a time.
        untimed: Condition that cannot keep the times -> what it costs without those questions.
        groups: What groups are called ("" for groups without a name) -> condition -> share of
            them that is right as a whole.
        guessed_groups: What groups are called -> the share that guessing gets right; without those
            of which that is not known.
        verdict: Sentences.
        luck: How many questions are right without what they claim to need, and how many of them
            by luck; a sentence each.
        notes: What a reader has to know besides.
        questions: The questions, by their place; they are not in the file.
    """

    name: str
    tasks: tuple[str, ...]
    refused: _Optional = ""
    sample_benchmark: bool = False
    metric: str = ""
    rule: str = ""
    n: Annotated[NonNegativeInt, Field(alias="items")] = 0
    left_out: NonNegativeInt = 0
    chance: _Number = math.nan
    graded: bool = False
    asked: _Counts = field(default_factory=dict)
    missing: _Counts = field(default_factory=dict)
    unparsed: _Counts = field(default_factory=dict)
    unscored: _Counts = field(default_factory=dict)
    shapes: _Counts = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)
    own: Mapping[str, float | None] = field(default_factory=dict)
    accuracies: Mapping[str, _Estimate] = field(default_factory=dict)
    ratios: Mapping[str, _Estimate] = field(default_factory=dict)
    differences: Mapping[str, _Estimate] = field(default_factory=dict)
    kept: Mapping[str, _Estimate] = field(default_factory=dict)
    needed: Mapping[str, _Number] = field(default_factory=dict)
    paired: Mapping[str, _Estimate] = field(default_factory=dict)
    measures: Mapping[Measure, Mapping[str, _Estimate]] = field(default_factory=dict)
    letters: Mapping[str, LetterUse] = field(default_factory=dict)
    classes: _Counts = field(default_factory=dict)
    guessed_classes: Mapping[str, _Number] = field(default_factory=dict)
    timed: NonNegativeInt = 0
    untimed: Mapping[str, _Estimate] = field(default_factory=dict)
    groups: Mapping[str, Mapping[str, _Estimate]] = field(default_factory=dict)
    guessed_groups: Mapping[str, _Number] = field(default_factory=dict)
    verdict: Sequence[str] = ()
    luck: Sequence[str] = ()
    notes: Sequence[str] = ()
    questions: Annotated[Sequence[AuditedQuestion], Field(exclude=True)] = ()

    @property
    def further(self) -> dict[str, Estimate]:
        """Name -> the measures, the groups that are right and the letters' excess.

        Letters only if the options were rotated, or one is surely chosen too often or too seldom.
        """
        excess = {f"letter {name} excess": used.excess for name, used in self.letters.items()}
        biased = any(each.low > 0 or each.high < 0 for each in excess.values())
        return {
            **{
                f"{measure} {name}".strip(): found
                for measure, by_condition in self.measures.items()
                for name, found in by_condition.items()
            },
            **{
                " ".join(filter(None, ("groups", kind, name))): found
                for kind, by_condition in self.groups.items()
                for name, found in by_condition.items()
            },
            **(excess if biased or "all rotations" in self.measures else {}),
        }


@dataclass(frozen=True)
class Audit:
    """One audit.

    Attributes:
        model: The model asked.
        model_args: Its arguments.
        date: Of the run.
        conditions: Names of the conditions asked.
        frames: Frames of the conditions that show several; 0 if the file does not say.
        seed: Seed of the draws.
        limit: Questions asked of each task; None for all.
        sample: Questions drawn from each task; None for all.
        results: A result for each task and group.
        file: The file that it was read from.
    """

    model: str
    conditions: tuple[str, ...]
    results: Annotated[Sequence[AuditResult], Field(alias="tasks")]
    model_args: str = ""
    date: str = ""
    frames: NonNegativeInt = 0
    seed: int = 0
    limit: NonNegativeInt | None = None
    sample: NonNegativeInt | None = None
    file: Path = Path()

    @property
    def folder(self) -> Path:
        """The audit's folder."""
        return self.file.parent

    def as_json(self) -> dict[str, Any]:
        """Return the audit for machines, without the questions."""
        return dict(_AUDIT.dump_python(self, mode="json", by_alias=True))


@dataclass(kw_only=True, slots=True)
class Finding(AuditedQuestion):
    """A question that is right under a condition that should leave it unanswerable.

    Attributes:
        task: The audited task.
        reasons: What is against it.
        posterior: The chance that it can be answered without what it claims to need, 0..1.
        wrong_in_order: Whether it is wrong with the frames in order.
    """

    task: str
    reasons: tuple[str, ...]
    posterior: float = 0.0
    wrong_in_order: Annotated[bool, Field(alias="wrong_with_frames_in_order")]

    @property
    def draw_key(self) -> str:
        """What the question's draws depend on: its key, else its id as the document has it."""
        return self.key or self.own_id


_AUDIT = TypeAdapter(Audit)
_FINDING = TypeAdapter(Finding)


def write_audit(path: Path, audit: Audit) -> None:
    """Write an audit's numbers."""
    content = audit.as_json()
    del content["file"]
    write_json(path, content)


def read_audit(path: Path) -> Audit:
    """Read an audit's numbers.

    Args:
        path: Its ``audit.json``.

    Raises:
        AuditError: If the file cannot be read or does not contain an audit.
    """
    try:
        audit = _AUDIT.validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError) as error:
        raise AuditError(
            f"{path} is not an {RESULT} of video-reasoning, or is damaged ({reason(error)}); judge "
            f"the audit again with `video-reasoning audit --judge-only --out {path.parent}`."
        ) from error
    return replace(audit, file=path)


def write_findings(path: Path, findings: Iterable[Finding]) -> None:
    """Write the questions to look at, one a line."""
    lines = (_FINDING.dump_python(found, mode="json", by_alias=True) for found in findings)
    write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def read_findings(folder: Path, most: int) -> tuple[dict[str, list[Finding]], dict[str, int], int]:
    """Read the questions to look at, those with the most against them first.

    Args:
        folder: The audit's.
        most: How many of each task are kept.

    Returns:
        Task -> its first questions, task -> how many it has, and the number of unusable lines.
        Nothing if there is no list.
    """
    kept: dict[str, list[Finding]] = {}
    counts: Counter[str] = Counter()
    odd = 0
    with contextlib.suppress(OSError), (folder / QUESTIONS).open("rb") as file:
        for line in filter(bytes.strip, file):
            try:
                found = _FINDING.validate_json(line, strict=True)
            except ValidationError:
                odd += 1
                continue
            counts[found.task] += 1
            of_task = kept.setdefault(found.task, [])
            if len(of_task) < most:
                of_task.append(found)
    return kept, counts, odd
