"""Audits as their files hold them: for the report, which may meet anything under that name."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.audit.evaluate import AuditResult
from video_reasoning.tasks.audit.output import RESULT
from video_reasoning.tasks.audit.variants import AuditError

__all__ = ["QUESTIONS", "Audit", "Listed", "read_audit", "read_listed"]

QUESTIONS = "questions.jsonl"
"""Name of the file beside an audit's numbers that lists the questions to look at."""


@dataclass(frozen=True)
class Audit:
    """One audit.

    Attributes:
        file: where its numbers were read.
        model: the model asked.
        model_args: its arguments.
        date: of the run.
        conditions: names of the conditions asked.
        frames: frames of the conditions that show several; 0 where the file does not say.
        seed: seed of what was drawn.
        limit: questions asked of each task; None for all.
        results: a result for each task and group, without its items.
    """

    file: Path
    model: str
    model_args: str
    date: str
    conditions: Sequence[str]
    frames: int
    seed: int
    limit: int | None
    results: Sequence[AuditResult]

    @property
    def folder(self) -> Path:
        """The audit's folder."""
        return self.file.parent

    def as_json(self) -> dict[str, Any]:
        """The audit for machines."""
        return {
            "file": str(self.file),
            "model": self.model,
            "model_args": self.model_args,
            "date": self.date,
            "conditions": list(self.conditions),
            "frames": self.frames,
            "seed": self.seed,
            "limit": self.limit,
            "tasks": [result.as_json() for result in self.results],
        }


@dataclass(frozen=True)
class Listed:
    """One question of an audit's list.

    Attributes:
        task: the audited task.
        id: the question's id.
        row: its place among the task's documents, from 0; -1 where that is not known.
        source: path of its video; empty where that is not known.
        shape: what the task shows, in words.
        prompt: what the model was sent.
        target: the right answer.
        reasons: what speaks against it.
        wrong_in_order: whether it is wrong with the frames in order.
        scores: condition -> 0..1, or None.
        responses: condition -> what the model said.
    """

    task: str
    id: str
    row: int
    source: str
    shape: str
    prompt: str
    target: str
    reasons: Sequence[str]
    wrong_in_order: bool
    scores: Mapping[str, float | None] = field(default_factory=dict)
    responses: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The id that the document itself has: a place is added to ids that repeat."""
        return self.id.removesuffix(f"#{self.row}")


def read_audit(path: Path) -> Audit:
    """Reads an audit's numbers.

    Args:
        path: its ``audit.json``.

    Raises:
        AuditError: if the file cannot be read or holds no audit.
    """
    try:
        content = json.loads(path.read_bytes())
        return Audit(
            file=path,
            model=_text(content["model"]),
            model_args=_text(content.get("model_args", "")),
            date=_text(content.get("date", "")),
            conditions=_texts(content["conditions"]),
            frames=_count(content.get("frames") or 0),
            seed=int(_real(content.get("seed") or 0)),
            limit=None if content.get("limit") is None else _count(content["limit"]),
            results=[_result(entry) for entry in _list(content["tasks"])],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise AuditError(
            f"{path} is no {RESULT} of video-reasoning, or is damaged ({_why(error)}); judge the "
            f"audit again with `video-reasoning audit --judge-only --out {path.parent}`."
        ) from error


def read_listed(folder: Path, most: int) -> tuple[dict[str, list[Listed]], dict[str, int], int]:
    """The questions that an audit lists, those with the most against them first.

    Args:
        folder: the audit's.
        most: how many of each task are kept.

    Returns:
        Task -> its first questions, task -> how many it has, and the number of unusable lines.
        Nothing where there is no list.
    """
    kept: dict[str, list[Listed]] = {}
    counts: dict[str, int] = {}
    odd = 0
    try:
        for line in _lines(folder / QUESTIONS):
            try:
                listed = _listed(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                odd += 1
                continue
            counts[listed.task] = counts.get(listed.task, 0) + 1
            of_task = kept.setdefault(listed.task, [])
            if len(of_task) < most:
                of_task.append(listed)
    except OSError:
        return kept, counts, odd
    return kept, counts, odd


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from (line for line in file if line.strip())


def _listed(content: Any) -> Listed:
    return Listed(
        task=_text(content["task"]),
        id=_text(content["id"]),
        row=_count(content["row"]) if content.get("row") is not None else -1,
        source=_text(content.get("source") or ""),
        shape=_text(content.get("shape") or ""),
        prompt=_text(content.get("prompt") or ""),
        target=_text(content.get("target") or ""),
        reasons=_texts(content["reasons"]),
        wrong_in_order=content.get("wrong_with_frames_in_order") is True,
        scores={
            _text(name): None if value is None else _real(value)
            for name, value in content["scores"].items()
        },
        responses={_text(name): _text(value) for name, value in content["responses"].items()},
    )


def _result(content: Any) -> AuditResult:
    def counts(name: str) -> dict[str, int]:
        return {_text(key): _count(value) for key, value in content.get(name, {}).items()}

    def estimates(name: str) -> dict[str, Estimate]:
        return {_text(key): _estimate(value) for key, value in content.get(name, {}).items()}

    return AuditResult(
        name=_text(content["name"]),
        tasks=tuple(_texts(content["tasks"])),
        metric=_text(content.get("metric") or ""),
        rule=_text(content.get("rule") or ""),
        own={
            _text(key): None if value is None else _real(value)
            for key, value in content.get("own", {}).items()
        },
        accuracies=estimates("accuracies"),
        ratios=estimates("ratios"),
        paired=estimates("paired"),
        chance=_open(content.get("chance")),
        n=_count(content.get("items", 0)),
        asked=counts("asked"),
        missing=counts("missing"),
        unparsed=counts("unparsed"),
        unscored=counts("unscored"),
        left_out=_count(content.get("left_out", 0)),
        shapes=counts("shapes"),
        verdict=_texts(content.get("verdict", [])),
        notes=_texts(content.get("notes", [])),
        refused=_text(content.get("refused") or ""),
    )


def _estimate(content: Any) -> Estimate:
    return Estimate(
        _open(content["value"]),
        _open(content["low"]),
        _open(content["high"]),
        _real(content["level"]),
        _count(content["items"]),
        _count(content["videos"]),
    )


def _open(value: Any) -> float:
    """A number as an estimate's JSON has it: null for NaN, "infinity" for an open end."""
    if value is None:
        return math.nan
    return math.inf if value == "infinity" else _real(value)


def _real(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{_short(value)} where a number belongs")
    return float(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{_short(value)} where a count belongs")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{_short(value)} where a text belongs")
    return value


def _texts(value: Any) -> list[str]:
    return [_text(entry) for entry in _list(value)]


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{_short(value)} where a list belongs")
    return value


def _short(value: Any) -> str:
    text = "".join(islice(repr(value), 60))
    return text if len(text) < 60 else f"{text}..."


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, RecursionError):
        return "it is nested without end"
    return str(error)
