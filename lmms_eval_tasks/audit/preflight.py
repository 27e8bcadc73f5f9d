"""What an audit checks before a model is loaded: can each task be audited at all?

A task's documents are loaded, and a few right and wrong answers to the first of them are scored as
the task scores a model's. That shows whether a question has a score, and its range; nothing is
asked, and nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from loguru import logger
from rich import box
from rich.table import Table

from video_reasoning.tasks.audit.harness import load_config, load_task
from video_reasoning.tasks.audit.network import (
    NetworkBlockedError,
    blocked_network,
    sends,
    writes_submission,
)
from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.audit.schemas import OptionShape, find_shape, letter, names_time
from video_reasoning.tasks.audit.scores import TOPS, Metric, metrics_of, read_scores

__all__ = ["UNKNOWN_RANGE", "Check", "check_documents", "preflight", "table"]

_LOOKED_AT = 200
"""Documents whose options and times are looked at."""

_TRIED = 4
"""Documents whose scoring is tried."""

_UPSIDE_DOWN = "a wrong answer scores above the right one"
"""In place of how a metric is read that does not say what is right."""

_WRONG = ("", "I do not know.")
"""Answers that no question has."""

_MOST_GRADES = 10
"""Highest whole number that is taken for the top of a scale."""

UNKNOWN_RANGE = "; its range was not seen, give it with --score-range"
"""End of how a score is read, if no answer that was tried shows its lowest and highest."""


@dataclass(frozen=True)
class Check:
    """What is known of a task before anything is asked.

    Attributes:
        refused: Why it cannot be audited, or "".
        questions: Its documents.
        score: How a question's score is read, in words.
        ranges: Metric -> lowest and highest score, as seen.
        judged: Whether scoring asks a server, such as a judge.
        looked_at: Documents that were looked at.
        options: Those of them whose options were found.
        timed: Those of them whose prompt names a time.
        movable: Options of a question that can be put in another order, at most.
    """

    refused: str = ""
    questions: int = 0
    score: str = ""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judged: bool = False
    looked_at: int = 0
    options: int = 0
    timed: int = 0
    movable: int = 0


def preflight(plan: Plan) -> tuple[Plan, dict[str, Check]]:
    """Check every task of a plan.

    Returns:
        The plan with the ranges of scores that were seen, and without the tasks that cannot be
        audited, which are in `refused`; and what was found of each task.
    """
    tasks, checks, refused = [], dict[str, Check](), dict(plan.refused)
    for task in plan.tasks:
        check = checks[task.name] = _check(plan, task)
        if check.refused:
            refused[task.name] = check.refused
            logger.warning(f"{task.name} is not audited: {check.refused}.")
        else:
            seen = replace(task, ranges=check.ranges, judged=check.judged)
            tasks.append(replace(seen, movable=check.movable))
    return replace(plan, tasks=tuple(tasks), refused=refused), checks


def _check(plan: Plan, task: AuditedTask) -> Check:
    config = {**load_config(task.yaml), **task.overrides}
    try:
        loaded = load_task(dict(config))
        documents = loaded.eval_docs_no_media
        first = list(islice(documents, _LOOKED_AT))
    except (Exception, SystemExit) as error:  # whatever a task does when its data are loaded
        said = " ".join(str(error).split()) or repr(error)
        return Check(refused=f"its data cannot be loaded: {said}")
    for rule in plan.groups(task) if plan.group_by else ():
        if first and rule.column not in first[0]:
            return Check(
                refused=f"its documents have no column '{rule.column}' (--group-by); they have "
                f"{', '.join(first[0])}"
            )
    found = check_documents(config, first, loaded.doc_to_target, loaded.doc_to_text, plan)
    return replace(found, questions=len(documents))


def check_documents(
    config: Mapping[str, Any],
    documents: Sequence[Mapping[str, Any]],
    target_of: Callable[[Any], Any],
    text_of: Callable[[Any], Any],
    plan: Plan,
) -> Check:
    """Check a task by some of its documents.

    Args:
        config: The task's configuration.
        documents: Documents without their pictures.
        target_of: From a document to its right answer.
        text_of: From a document to its prompt.
        plan: The audit.
    """
    shape = find_shape(documents, [OptionShape.parse(text) for text in plan.option_fields])
    read = [options for each in documents if (options := shape.read(each))] if shape else []
    check = Check(
        looked_at=len(documents),
        options=len(read),
        movable=max((len(options.movable) for options in read), default=0),
        timed=sum(_names_time(text_of, document) for document in documents),
    )
    score = config.get("process_results")
    if not callable(score):
        return replace(check, score="by the harness")
    metrics = metrics_of(config)
    if senders := [m for m in metrics if m.aggregation and sends(m.aggregation)]:
        metrics = [metric for metric in metrics if metric not in senders]
        if not metrics:
            return replace(check, refused=_submission(senders, "sends the answers to a server"))
    trials = _Trials(metrics, str(config.get("score_key", "score")))
    for document in documents[:_TRIED]:
        tried: list[list[Any]] = [[text] for text in _answers(target_of, shape, document)]
        trials.run(score, document, _likelihoods(config, document) or tried)
        trials.compare(tried[0][0])
    found = replace(check, **trials.outcome())
    if trials.values and not found.ranges and plan.score_range is None:
        return replace(found, score=f"{found.score}{UNKNOWN_RANGE}")
    return found


@dataclass
class _Trials:
    """Answers that were scored as the task scores a model's.

    Attributes:
        metrics: The task's metrics that say what is right.
        score_key: The task's name for a question's score.
        values: Metric -> scores seen.
        rules: Metric -> how they were read, or what was seen instead.
        failures: What the task failed with.
        blocked: What was tried to be reached.
        latest: Answer -> metric -> score, of the document that was tried last.
    """

    metrics: Sequence[Metric]
    score_key: str
    values: dict[str, list[float]] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    blocked: str = ""
    latest: dict[str, dict[str, float]] = field(default_factory=dict)

    def compare(self, right: str) -> None:
        """Leave out metrics in which "no" scores above a right "yes", or the other way around."""
        opposite = _opposite(right)
        wrong = self.latest.get(opposite, {}) if opposite else {}
        for name, value in wrong.items():
            if value > self.latest.get(right, {}).get(name, 0):
                self.rules[name] = _UPSIDE_DOWN

    def run(self, score: Any, document: Mapping[str, Any], answers: Iterable[list[Any]]) -> None:
        """Score some answers to a document, each as the harness hands it over."""
        self.latest = {}
        for answer in answers:
            try:
                with blocked_network():
                    returned = score(dict(document), answer)
                found = read_scores(returned, self.metrics, self.score_key)
            except NetworkBlockedError as error:
                self.blocked = str(error)
                continue
            except (Exception, SystemExit) as error:
                self.failures.append(repr(error))
                continue
            for name, each in found.items():
                self.rules.setdefault(name, each.rule)
                if each.value is not None:
                    if self.rules[name] != _UPSIDE_DOWN:
                        self.rules[name] = each.rule
                    self.values.setdefault(name, []).append(each.value)
                    self.latest.setdefault(str(answer[0]), {})[name] = each.value

    def outcome(self) -> dict[str, Any]:
        """Return what is known of the scores, as the fields of a check."""
        for name in [name for name, rule in self.rules.items() if rule == _UPSIDE_DOWN]:
            self.values.pop(name, None)
        if self.values:
            ranges = {
                name: ends
                for name, each in self.values.items()
                if (ends := _range(each)) is not None
            }
            words = [
                f"{name} by {self.rules[name]}"
                + (", {:g} to {:g}".format(*ranges[name]) if name in ranges else "")
                for name in self.values
            ]
            return {"ranges": ranges, "score": words[0]}
        if self.blocked:
            return {"judged": True, "score": f"by a server: {self.blocked}"}
        if self.failures and not self.rules:
            # Made for a model's answers; what is returned for those is seen when they are there.
            return {"score": f"not tried: {self.failures[0]}"}
        if not self.rules:
            seen = "it returned no metric"
        else:
            seen = "; ".join(f"{name}: {rule}" for name, rule in self.rules.items())
        writers = [m for m in self.metrics if m.aggregation and writes_submission(m.aggregation)]
        if writers and len(writers) == len(self.metrics):
            return {"refused": _submission(writers, "writes a file for a server")}
        return {
            "refused": "the task has no score for each question; have its process_results return "
            f"one ({seen})"
        }


def _submission(metrics: Sequence[Metric], what: str) -> str:
    names = ", ".join(metric.name for metric in metrics)
    return f"its answers are for a submission, and it has no score of its own ({names} {what})"


def _range(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the ends of a scale that some scores show; None if they do not."""
    low, high = min(values), max(values)
    if not low < high:
        return None
    if high in TOPS:
        return 0.0, high
    whole = low.is_integer() and high.is_integer()
    return (low, high) if whole and high <= _MOST_GRADES else None


def _answers(
    target_of: Callable[[Any], Any], shape: OptionShape | None, document: Mapping[str, Any]
) -> list[str]:
    """Return right and wrong answers to a document, in the forms that a model may give them."""
    answers: list[str] = []
    try:
        target = target_of(document)
        answers += [str(each) for each in (target if isinstance(target, list) else [target])]
        answers += [str(target), *filter(None, map(_opposite, answers))]
        answers += [f"{start} - {end} seconds" for start, end in _spans(target)]
    except (Exception, SystemExit):
        pass
    if options := shape.read(document) if shape else None:
        places = (options.right, (options.right + 1) % len(options.texts))
        letters = [letter(place) for place in places]
        answers += [*letters, f"({letters[0]})", *(options.texts[place] for place in places)]
    return list(dict.fromkeys([*answers, *_WRONG]))


def _opposite(answer: str) -> str:
    """Return "no" for "yes" and "yes" for "no", as it is written; "" for other answers."""
    words = {"yes": "no", "Yes": "No", "YES": "NO"}
    return {**words, **{no: yes for yes, no in words.items()}}.get(answer, "")


def _likelihoods(
    config: Mapping[str, Any], document: Mapping[str, Any]
) -> list[list[tuple[float, bool]]]:
    """Return what a model gives a task that weighs its choices: each is the likeliest once."""
    if config.get("output_type") != "multiple_choice":
        return []
    try:
        choices = config.get("doc_to_choice")
        listed = choices(document) if callable(choices) else document.get(str(choices), choices)
        places = range(len(listed))
    except (Exception, SystemExit):
        return []
    return [[(float(place == best) - 1, place == best) for place in places] for best in places]


def _spans(target: Any) -> list[tuple[float, float]]:
    """Return the spans of time that are a right answer, start and end of each."""
    given = target if isinstance(target, (list, tuple)) else []
    spans = given if all(isinstance(each, (list, tuple)) for each in given) else [given]
    return [
        (span[0], span[1])
        for span in spans
        if len(span) == 2 and all(isinstance(end, (int, float)) for end in span)
    ]


def _names_time(text_of: Callable[[Any], Any], document: Mapping[str, Any]) -> bool:
    try:
        return names_time(str(text_of(document)))
    except (Exception, SystemExit):
        return False  # it writes its prompt from more than the document


def table(plan: Plan, checks: Mapping[str, Check]) -> Table:
    """Show what was found of each task."""
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("task", "questions", "options found", "times named", "score"):
        left = name in ("task", "score")
        shown.add_column(name, justify="left" if left else "right", overflow="fold")
    for name, check in checks.items():
        if not check.refused:
            of = f" of {check.looked_at:,}"
            counts = (f"{check.options:,}{of}", f"{check.timed:,}{of}")
            shown.add_row(name, f"{check.questions:,}", *counts, check.score)
    for name, reason in plan.refused.items():
        shown.add_row(name, "", "", "", f"not audited: {reason}")
    return shown
