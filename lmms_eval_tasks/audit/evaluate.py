"""From the logs of an audit to its numbers and its verdict.

Accuracies, kappa, tau and rho are those of TVBench (TOMATO, section 3), all over the same
questions: those that the task scored under every condition that was run, except the conditions
that ask only some of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from loguru import logger

from video_reasoning.metrics.accuracy import guessing_accuracy, mean
from video_reasoning.metrics.audits import questions_needed, share_above_guessing
from video_reasoning.metrics.intervals import (
    Estimate,
    accuracy_interval,
    difference_interval,
    gain_interval,
)
from video_reasoning.metrics.shortcuts import CLASSES
from video_reasoning.tasks.audit.findings import evidence
from video_reasoning.tasks.audit.measures import Measures, classes_by_luck, classes_of
from video_reasoning.tasks.audit.notes import Note, read_documents, read_note, read_places
from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.audit.result import Audit, AuditedQuestion, AuditResult
from video_reasoning.tasks.audit.schemas import MARK, names_time
from video_reasoning.tasks.audit.scores import ALONE, COUNTED, EQUALS, TOPS
from video_reasoning.tasks.audit.variants import KINDS, AuditError, Variant, reference_of
from video_reasoning.tasks.audit.verdict import corrected, margins, verdict
from video_reasoning.tasks.results.items import frames_seen
from video_reasoning.tasks.results.logs import (
    LogError,
    OddLines,
    Run,
    Sample,
    find_runs,
    read_samples,
)
from video_reasoning.tasks.sight import Sight

__all__ = ["asked_questions", "evaluate", "evaluate_questions"]

_PERCENT = 100.0

_AGREES = 5e-3
"""How far the mean of the questions' scores may be from the task's own number, as a share."""


def evaluate(
    plan: Plan, folder: Path, logs: Path, *, metric: str = "", level: float = 0.95
) -> Audit:
    """Evaluate the newest run of an audit.

    Args:
        plan: The audit.
        folder: Folder of its generated tasks.
        logs: The run's ``--output_path``.
        metric: Which of a task's metrics says what is right; "" to find it.
        level: Coverage of the intervals, between 0 and 1.

    Returns:
        The audit, with a result for each task. If several tasks of one group were audited, the
        group has one before them.

    Raises:
        AuditError: If there is no run of the audit.
        LogError: If a log cannot be read.
    """
    run = _newest(plan, folder, logs)
    results, groups = [], dict[str, list[AuditResult]]()
    for task in plan.tasks:
        results.append(_evaluate_task(plan, task, run, folder, metric, level))
        if task.group and not results[-1].refused:
            groups.setdefault(task.group, []).append(results[-1])
    results = [
        replace(result, luck=[each.sentence for each in evidence([(plan, result)])])
        if not result.refused
        else result
        for result in results
    ]
    whole = [result for result in results if not result.refused]
    fixed = iter(corrected(whole, plan.variants))
    results = [result if result.refused else next(fixed) for result in results]
    together = [
        _evaluate_group(plan, group, members, level)
        for group, members in groups.items()
        if len(members) > 1
    ]
    refused = [AuditResult(name, (name,), refused=why) for name, why in plan.refused.items()]
    return Audit(
        model=run.label,
        conditions=tuple(
            variant.name
            for variant in plan.variants
            if any(task.variant_name(variant) in run.tasks for task in plan.tasks)
        ),
        results=[*together, *results, *refused],
        model_args=run.model_args,
        date=run.begun,
        frames=plan.frames,
        seed=plan.seed,
        limit=plan.limit,
        sample=plan.sample,
    )


def asked_questions(plan: Plan, folder: Path, logs: Path) -> dict[str, list[AuditedQuestion]]:
    """Read what the newest run of an audit asked, without scores.

    Args:
        plan: The audit.
        folder: Folder of its generated tasks.
        logs: The run's ``--output_path``.

    Returns:
        Task -> its questions, by their places, their ids as the documents have them; without
        tasks whose questions cannot be matched, of which a warning is logged.

    Raises:
        AuditError: If there is no run of the audit.
        LogError: If a log cannot be read.
    """
    run = _newest(plan, folder, logs)
    found = {}
    for task in plan.tasks:
        read = _read_all(plan, task, run, folder, [])
        try:
            _align(read, [])
        except AuditError as error:
            logger.warning(f"{task.name} is left out: {error}")
        else:
            found[task.name] = _questions(read, _Metric(""))
    return found


def _newest(plan: Plan, folder: Path, logs: Path) -> Run:
    """Return the newest run that fits a plan."""
    names = {task.variant_name(variant) for task in plan.tasks for variant in plan.asked(task)}
    runs = [run for run in find_runs([logs], every=True) if names & set(run.tasks)]
    fitting = [run for run in runs if not _differences(plan, run)]
    if not fitting:
        other = (
            f"; the newest one, of {runs[-1].begun}, is of another plan: "
            f"{', '.join(_differences(plan, runs[-1]))}"
            if runs
            else ""
        )
        raise AuditError(
            f"There is no run of this audit's tasks in {logs}{other}; run it again, or evaluate "
            f"them with --include_path {folder} --output_path {logs} --log_samples."
        )
    return fitting[-1]


def _differences(plan: Plan, run: Run) -> list[str]:
    """Return what a run was asked otherwise than a plan says, as far as the run says it."""
    found = []
    if "limit" in run.config and (limit := run.config["limit"]) != plan.limit:
        asked, wanted = (f"{n:g} questions" if n else "all questions" for n in (limit, plan.limit))
        found.append(f"its limit is {asked}, not {wanted}")
    for task in plan.tasks:
        for variant in plan.asked(task):
            known = run.tasks.get(task.variant_name(variant))
            metadata = known.config.get("metadata") if known else None
            parts = metadata if isinstance(metadata, list) else [metadata]
            for drawn in (
                part["audit"] for part in parts if isinstance(part, dict) and "audit" in part
            ):
                own = variant.condition.seed if variant.condition else plan.seed
                if drawn.get("seed", own) != own:
                    found.append(f"its seed is {drawn['seed'] - own + plan.seed}, not {plan.seed}")
                elif drawn.get("plan", plan.digest(task)) != plan.digest(task):
                    found.append(f"{task.name} was asked with other frames, options or picks")
    return list(dict.fromkeys(found))


def _evaluate_task(
    plan: Plan, task: AuditedTask, run: Run, folder: Path, metric: str, level: float
) -> AuditResult:
    """Evaluate one task; one whose questions have no score is refused with what was seen."""
    result = AuditResult(task.name, (task.name,), sample_benchmark=task.sample_benchmark)
    notes: list[str] = []
    logs = _read_all(plan, task, run, folder, notes)
    if not logs:
        return replace(result, notes=notes, refused="its run left no log")
    try:
        _align(logs, notes)
        chosen = _choose_metric(plan, task, logs, metric, notes)
    except AuditError as error:
        return replace(result, notes=notes, refused=str(error))
    questions = _questions(logs, chosen)
    _drop_unchanged(questions, plan.asked(task), logs, notes)
    _make_ids_unique(questions, notes)
    if any(variant.kind == "handpicked" for variant in plan.variants) and not task.picks:
        notes.append("No question has a handpicked frame: rho is not known.")
    result = replace(
        result,
        metric=chosen.name,
        rule=chosen.rule,
        own={name: log.own_number(chosen.name) for name, log in logs.items()},
        notes=notes,
    )
    return evaluate_questions(plan, result, list(logs), questions, level)


def _evaluate_group(
    plan: Plan, group: str, members: Sequence[AuditResult], level: float
) -> AuditResult:
    """Evaluate all questions of a group's tasks together."""
    questions = [question for member in members for question in member.questions]
    names = [v.name for v in plan.variants if any(v.name in q.scores for q in questions)]
    result = AuditResult(
        group,
        tuple(member.name for member in members),
        sample_benchmark=any(member.sample_benchmark for member in members),
        metric=", ".join(dict.fromkeys(member.metric for member in members)),
        rule=", ".join(dict.fromkeys(member.rule for member in members)),
    )
    return evaluate_questions(plan, result, names, questions, level)


# Reading the logs


@dataclass(frozen=True, slots=True)
class _Answer:
    """One line of a log, without the values that were read from it."""

    sample: Sample
    note: Note
    scores: Mapping[str, tuple[float | None, str]]

    @property
    def problem(self) -> str:
        return self.note.problem or self.sample.problem or ""


@dataclass
class _Log:
    """What the log of one variant says.

    Attributes:
        answers: Row among the task's own documents -> what was answered.
        own: Metric -> the task's own aggregated number.
        partial: Whether only some of the documents were asked.
    """

    answers: dict[int, _Answer] = field(default_factory=dict)
    own: Mapping[str, float | None] = field(default_factory=dict)
    partial: bool = False

    def own_number(self, metric: str) -> float | None:
        """Return the task's own number, under the first filter if there are several."""
        names = [name for name in self.own if name == metric or name.startswith(f"{metric},")]
        return self.own[names[0]] if names else None


def _read_all(
    plan: Plan, task: AuditedTask, run: Run, folder: Path, notes: list[str]
) -> dict[str, _Log]:
    """Read the logs of a task's variants; a note says which cannot be read."""
    logs = {}
    for variant in plan.asked(task):
        try:
            placed = variant.partial or plan.sample is not None
            logs[variant.name] = _read(task, variant, run, folder, notes, placed)
        except LogError as error:
            notes.append(str(error))
    return logs


def _read(
    task: AuditedTask, variant: Variant, run: Run, folder: Path, notes: list[str], placed: bool
) -> _Log:
    """Read one variant's log, whose documents are some of the task's if they are `placed`."""
    name = task.variant_name(variant)
    path = run.samples(name)
    log = _Log(own=run.tasks[name].metrics, partial=variant.partial)
    places = read_places(folder, name) if placed else None
    documents = read_documents(folder, name)
    odd = OddLines()
    for sample in read_samples(path, odd):
        row, note = sample.doc_id, read_note(sample.values)
        if row < len(documents):
            note = documents[row]
        if places is not None:
            if row >= len(places):
                continue  # asked only so that the harness has a document
            row, known = places[row]
            note = replace(note, id=known)
        scores = _scores(sample, note, log.own)
        log.answers[row] = _Answer(replace(sample, values={}), note, scores)
    unseen = sum(answer.note.unseen for answer in log.answers.values())
    if unseen:
        notes.append(
            f"{unseen:,} responses under {variant.name} come from a cache: whether their videos "
            "could be shown was not seen."
        )
    filters = {metric.rpartition(",")[2] for metric in log.own if "," in metric}
    if len(filters) > 1 and odd.count == (len(filters) - 1) * len(log.answers):
        several = (
            f"The task reads responses in several ways ({', '.join(sorted(filters))}); here the "
            "first counts."
        )
        notes += [several] if several not in notes else []
    elif odd.count:
        notes.append(odd.sentence(path))
    return log


def _scores(
    sample: Sample, note: Note, own: Mapping[str, float | None]
) -> Mapping[str, tuple[float | None, str]]:
    """Metric -> the score as the metric counts, and how it was read."""
    if note.scores is not None:
        return note.scores
    # The harness's own metrics: a number each.
    return {
        name: (float(value), "number")
        for name, value in sample.values.items()
        if isinstance(value, (int, float)) and name in own
    }


def _align(logs: Mapping[str, _Log], notes: list[str]) -> None:
    """Put the questions into one order, for a task that shuffles them for every condition.

    Raises:
        AuditError: If that cannot be done.
    """
    reference = next((log.answers for log in logs.values() if log.answers), {})
    places = {answer.note.id: row for row, answer in reference.items()}
    for name, log in logs.items():
        if all(
            not answer.note.id or row not in reference or answer.note.id == reference[row].note.id
            for row, answer in log.answers.items()
        ):
            continue
        ids = {answer.note.id for answer in log.answers.values()}
        if len(places) < len(reference) or len(ids) < len(log.answers):
            raise AuditError(
                "its documents come in another order under every condition, and their ids repeat, "
                "so that they cannot be matched"
            )
        spare = max(places.values()) + 1
        log.answers = {
            places.get(answer.note.id, spare + row): answer for row, answer in log.answers.items()
        }
        notes.append(
            f"The task's documents come in another order under {name}; they are matched by their "
            "ids."
        )


def _questions(logs: Mapping[str, _Log], metric: _Metric) -> list[AuditedQuestion]:
    """One entry for each question, with what was said under every condition."""
    questions: dict[int, AuditedQuestion] = {}
    # All of the task's documents first: the others are some of them.
    for name, log in sorted(logs.items(), key=lambda pair: pair[1].partial):
        for row, answer in log.answers.items():
            sample, note = answer.sample, answer.note
            known = note.id or str(row)
            question = questions.setdefault(row, AuditedQuestion(row, known, note.video or known))
            question.prompt = question.prompt or sample.prompt
            question.target = question.target or sample.target
            question.key = question.key or note.key
            question.shape = question.shape or note.shape
            if note.shape and Path(note.video).is_absolute():
                question.source = question.source or note.video
            question.options = question.options or note.options
            question.sights[name] = Sight(note.frames_shown, note.frames_seen, note.frames_in_order)
            if note.chosen and note.right:
                question.letters[name] = (note.chosen, note.right)
            question.groups = question.groups or dict(note.groups)
            if sample.status == "unparsed":
                question.unparsed.add(name)
            value, _ = answer.scores.get(metric.name, (None, ""))
            scored = value is not None and not answer.problem
            question.scores[name] = metric.share(value) if scored and value is not None else None
            question.responses[name] = sample.responses[0] if sample.responses else ""
            if answer.problem:
                question.problems[name] = answer.problem
    return [questions[row] for row in sorted(questions)]


def _drop_unchanged(
    questions: Sequence[AuditedQuestion],
    variants: Iterable[Variant],
    logs: Mapping[str, _Log],
    notes: list[str],
) -> None:
    """Leave out the answers to prompts that still have the question they were to be without."""
    for variant in variants:
        if variant.kind != "options" or variant.name not in logs:
            continue
        answers = logs[variant.name].answers
        same = [
            question
            for question in questions
            if question.row in answers
            and MARK.sub("", answers[question.row].sample.prompt) == MARK.sub("", question.prompt)
        ]
        for question in same:
            question.scores[variant.name] = None
        if same:
            notes.append(
                f"{len(same):,} prompts under {variant.name} still have the question, which the "
                "task writes from another column; they do not count."
            )


def _make_ids_unique(questions: Sequence[AuditedQuestion], notes: list[str]) -> None:
    """Add the row to ids that repeat."""
    counts = Counter(question.id for question in questions)
    repeated = [question for question in questions if counts[question.id] > 1]
    for question in repeated:
        question.id = f"{question.id}#{question.row}"
    if repeated:
        notes.append(
            f"{len(repeated):,} questions share an id with another; their place in the dataset is "
            f"added, as in {repeated[0].id}."
        )


# Choosing the metric


@dataclass
class _Metric:
    """A metric of a task, as its log shows it.

    Attributes:
        name: The metric.
        rules: How its scores were read -> how often.
        values: Condition -> scores.
        range: Lowest and highest score of a question, as declared or seen on trials.
        judged: Whether a judge gives the scores, whose highest is not seen without asking it.
        shown: Whether a question that could be shown has a score.
        agrees: Whether the means of the scores are the task's own numbers.
        reported: Whether the task reports a number of its own.
    """

    name: str
    rules: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[float]] = field(default_factory=dict)
    range: tuple[float, float] | None = None
    judged: bool = False
    shown: bool = False
    agrees: bool = False
    reported: bool = False

    @property
    def n_scored(self) -> int:
        return sum(map(len, self.values.values()))

    @cached_property
    def highest(self) -> float:
        """The highest of all scores, once all have been collected."""
        return max(map(max, self.values.values()), default=math.nan)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score of a question."""
        return self.range or (0.0, _PERCENT if self.highest > 1 else 1.0)

    def share(self, value: float) -> float:
        """Return a score as a share of its range, 0..1."""
        low, high = self.ends
        return (value - low) / (high - low)

    @property
    def rule(self) -> str:
        return ", ".join(rule for rule, _ in self.rules.most_common() if rule != "nothing")

    def fault(self) -> str:
        """Why it does not say which questions are right, or ""."""
        if math.isnan(self.highest):
            return " and ".join(rule for rule, _ in self.rules.most_common(2))
        if not self.shown:
            return "scores only for questions that could not be shown"
        seen = {value for values in self.values.values() for value in values}
        if self.range is not None:
            low, high = self.range
            outside = not low <= min(seen) <= self.highest <= high
            return f"values outside {low:g} to {high:g}" if outside else ""
        if self.judged:
            return (
                "scores of a judge, whose highest is not known; give it, for example with "
                "--score-range 0,5"
            )
        if self.rules[ALONE] and not (self.highest in TOPS and seen <= {0.0, self.highest}):
            return (
                f"an aggregation that gives one question {self.highest:g} at most, so that it is "
                "not known what a right one gets"
            )
        if 1 < self.highest <= 10 or self.highest > _PERCENT:
            return (
                f"values up to {self.highest:g}, which are not shares of right; give the lowest "
                "and highest with --score-range"
            )
        compared = any(EQUALS in rule and COUNTED not in rule for rule in self.rules)
        if compared and not self.agrees:
            return "answers beside their keys, whose comparison is not its number"
        return ""


def _choose_metric(
    plan: Plan, task: AuditedTask, logs: Mapping[str, _Log], wanted: str, notes: list[str]
) -> _Metric:
    """Choose the metric that says what is right.

    Of the metrics with the most scored questions, the first whose mean is the task's own number;
    else the first of them, with a note.

    Raises:
        AuditError: If no metric has a score for each question.
    """
    seen = _metrics(logs)
    for metric in seen.values():
        metric.range = plan.score_range or _fitting(task.ranges.get(metric.name), metric)
        metric.judged = task.judged
        metric.agrees = all(
            _agrees(metric, metric.values.get(name, []), log.own_number(metric.name))
            for name, log in logs.items()
            if log.answers  # one question is asked if a condition has none
        )
        metric.reported = any(log.own_number(metric.name) is not None for log in logs.values())
    if wanted and wanted not in seen:
        raise AuditError(
            f"its questions have no metric '{wanted}'; they have {', '.join(seen) or 'none'}"
        )
    candidates = [seen[wanted]] if wanted else list(seen.values())
    usable = [metric for metric in candidates if not metric.fault()]
    if not usable:
        odd = "; ".join(f"{metric.name}: {metric.fault()}" for metric in candidates)
        raise AuditError(
            "the task has no score for each question; name a metric with --metric, or have its "
            f"process_results return one ({odd or 'it returned no metric at all'})"
        )
    # A metric over all questions before one over some, such as those of one kind.
    chosen = max(usable, key=lambda metric: (metric.n_scored, metric.agrees))
    low, high = chosen.ends
    if (low, high) not in ((0, 1), (0, _PERCENT)):
        notes.append(
            f"The scores of {chosen.name} go from {low:g} to {high:g}; here they are shares of "
            "that."
        )
    if not chosen.reported:
        notes.append(
            f"The task reports no number of its own for {chosen.name}; all numbers here are means "
            "over questions."
        )
    elif not chosen.agrees:
        notes.append(
            f"The mean of the questions' scores is not the task's own {chosen.name}, which may "
            "weight or pair them; all numbers here are means over questions."
        )
    return chosen


def _metrics(logs: Mapping[str, _Log]) -> dict[str, _Metric]:
    """Return the metrics that the logs have values of."""
    seen: dict[str, _Metric] = {}
    for name, log in logs.items():
        for answer in log.answers.values():
            for key, (value, rule) in answer.scores.items():
                metric = seen.setdefault(key, _Metric(key))
                metric.rules[rule] += 1
                if value is not None:
                    metric.shown = metric.shown or not answer.problem
                    metric.values.setdefault(name, []).append(value)
    return seen


def _fitting(seen: tuple[float, float] | None, metric: _Metric) -> tuple[float, float] | None:
    """Return a range that trials showed, unless scores are outside of it."""
    values = [value for values in metric.values.values() for value in values]
    return seen if seen and all(seen[0] <= value <= seen[1] for value in values) else None


def _agrees(metric: _Metric, scores: Sequence[float], own: float | None) -> bool:
    """Whether the mean of some scores is the number that the task itself reports."""
    if own is None or not scores:
        return own is None and not scores
    average = mean(scores)
    share = metric.share(average)
    return min(abs(average - own), abs(share - own), abs(share - own / _PERCENT)) < _AGREES


# Numbers


def evaluate_questions(
    plan: Plan,
    result: AuditResult,
    conditions: Sequence[str],
    questions: Sequence[AuditedQuestion],
    level: float = 0.95,
) -> AuditResult:
    """Compute the numbers over some questions, and the verdict.

    Args:
        plan: The audit.
        result: Name, tasks, metric and notes of the result.
        conditions: The conditions under which the questions were asked.
        questions: The questions.
        level: Coverage of the intervals, between 0 and 1.
    """
    variants = [variant for variant in plan.variants if variant.name in conditions]
    whole = [variant.name for variant in variants if not variant.partial]
    shared = _scored(questions, whole)
    by_kind = {variant.kind: variant for variant in variants if not variant.order}
    reference = reference_of(variants)
    numbers = _Numbers(shared, level)
    notes = [*result.notes]
    if questions and not shared:
        notes.append("No question was scored under every condition.")
    if plan.limit:
        notes.append(f"Only the first {plan.limit:,} questions of a task were asked.")
    if plan.sample:
        notes.append(
            f"{len(questions):,} questions were drawn at random (--sample {plan.sample}, seed "
            f"{plan.seed})."
        )
    options = [question.options for question in shared]
    graded = any(0 < score < 1 for q in shared for score in q.scores.values() if score is not None)
    result = replace(
        result,
        n=len(shared),
        left_out=len(questions) - len(shared),
        graded=graded,
        # Guessing gets an option right, but no known part of a grade.
        chance=guessing_accuracy(options) if all(options) and not graded else math.nan,
        asked=_counted(conditions, (q.scores for q in questions)),
        missing=_counted(conditions, (q.problems for q in questions)),
        unparsed=_counted(conditions, (q.unparsed for q in questions)),
        unscored=_counted(conditions, (_unscored(question) for question in questions)),
        shapes=dict(Counter(question.shape for question in questions if question.shape)),
        seen={
            name: frames_seen(q.sights[name] for q in questions if name in q.sights)
            for name in conditions
        },
        accuracies={name: numbers.accuracy(name) for name in conditions},
        ratios=numbers.ratios(by_kind),
        paired={
            variant.name: numbers.accuracy(variant.name, reference.name)
            for variant in variants
            if reference and variant.role == "options"
        },
        notes=notes,
        questions=questions,
    )
    if reference:
        result = replace(result, **numbers.effects(reference, by_kind.values(), result))
    measures = Measures(shared, variants, result.chance, level)
    result = replace(
        result,
        measures=measures.all(),
        groups=measures.groups(questions),
        guessed_groups=measures.guessed_groups(),
        letters=measures.letters(),
        **_classes(variants, shared),
        **numbers.timed(reference, by_kind.values()),
    )
    return replace(result, verdict=verdict(result, variants))


def _classes(variants: Sequence[Variant], questions: Sequence[AuditedQuestion]) -> dict[str, Any]:
    """Count what the questions need, and what guessing would make of it."""
    models = [(variants, questions)]
    classes = [each for each in classes_of(models, 1) if each is not None]
    if not classes:
        return {}
    counts = {name: classes.count(name) for name in CLASSES}
    return {"classes": counts, "guessed_classes": classes_by_luck(models, 1)}


def _counted(conditions: Sequence[str], found: Iterable[Iterable[str]]) -> dict[str, int]:
    """Condition -> how many of some collections it is in."""
    counts = Counter(condition for each in found for condition in each)
    return {condition: counts[condition] for condition in conditions}


def _unscored(question: AuditedQuestion) -> list[str]:
    return [
        name
        for name, score in question.scores.items()
        if score is None and name not in question.problems
    ]


def _scored(
    questions: Sequence[AuditedQuestion], conditions: Sequence[str]
) -> list[AuditedQuestion]:
    """Return the questions with a score under every one of some conditions."""
    return [q for q in questions if all(q.scores.get(name) is not None for name in conditions)]


@dataclass(frozen=True)
class _Numbers:
    """Numbers over some questions, with intervals over their videos."""

    questions: Sequence[AuditedQuestion]
    level: float

    @property
    def _videos(self) -> list[str]:
        return [question.video for question in self.questions]

    def _scores(self, condition: str) -> list[float]:
        return [question.score(condition) for question in self.questions]

    def accuracy(self, *conditions: str) -> Estimate:
        """Estimate the share of questions that are right under every one of some conditions.

        Of a graded question the lowest score counts.
        """
        scores = [min(each) for each in zip(*map(self._scores, conditions), strict=True)]
        return accuracy_interval(scores, self._videos, level=self.level)

    def gain(self, above: Variant, below: Variant) -> Estimate:
        """Estimate the relative gain of one condition over another."""
        scores = self._scores(above.name), self._scores(below.name)
        return gain_interval(*scores, self._videos, level=self.level)

    def effects(
        self, reference: Variant, variants: Iterable[Variant], result: AuditResult
    ) -> dict[str, Any]:
        """Estimate what each condition loses against the reference, in points and as a share."""
        whole = self._scores(reference.name)
        chance = 0.0 if math.isnan(result.chance) else result.chance
        found: dict[str, dict[str, Any]] = {"differences": {}, "kept": {}, "needed": {}}
        for variant in variants:
            if variant.role not in ("frame", "blind", "order", "control"):
                continue
            scores = self._scores(variant.name)
            lost = difference_interval(scores, whole, self._videos, level=self.level)
            found["differences"][variant.name] = lost
            if not math.isnan(result.chance) and not variant.partial:
                found["kept"][variant.name] = share_above_guessing(
                    whole, scores, chance, self._videos, level=self.level
                )
            if lost.n and lost.n == len(whole):
                sizes = margins(result, result.accuracies[reference.name].value)
                distances = (lost.value - sizes.matters, sizes.negligible - lost.value)
                found["needed"][variant.name] = min(
                    questions_needed(whole, scores, self._videos, distance, level=self.level)
                    for distance in distances
                )
        return found

    def timed(self, reference: Variant | None, variants: Iterable[Variant]) -> dict[str, Any]:
        """Count the questions that name times, and estimate without them what loses the times."""
        rest = [each for each in self.questions if not names_time(each.prompt)]
        found: dict[str, Any] = {"timed": len(self.questions) - len(rest), "untimed": {}}
        if reference and rest and found["timed"]:
            others = replace(self, questions=rest)
            for variant in variants:
                if KINDS[variant.kind].untimed:
                    found["untimed"][variant.name] = difference_interval(
                        others._scores(variant.name),
                        others._scores(reference.name),
                        others._videos,
                        level=self.level,
                    )
        return found

    def ratios(self, by_kind: Mapping[str, Variant]) -> dict[str, Estimate]:
        """Estimate kappa, tau and rho, as far as their conditions were asked."""
        ratios = {}
        reference = reference_of(by_kind.values())
        for variant in (by_kind[kind] for kind in KINDS if kind in by_kind):
            if reference and variant.role in ("frame", "blind", "order"):
                measure = "tau" if variant.role == "order" else f"kappa_{variant.name}"
                ratios[measure] = self.gain(reference, variant)
        if "handpicked" in by_kind and "random" in by_kind:
            ratios["rho"] = self.gain(by_kind["handpicked"], by_kind["random"])
        return ratios
