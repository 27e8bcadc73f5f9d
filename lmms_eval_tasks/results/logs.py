"""Reading what the harness leaves in its `--output_path`.

A run writes `<date>_results.json` and, with `--log_samples`, one `<date>_samples_<task>.jsonl`
per task into `--output_path`, or into a folder there that is named after the checkpoint in
`--model_args`. All runs of models without a checkpoint share a folder, so a run's model is read
from its results file and not from its place.

A line of a sample log has no document. It has `doc_id` (place among the task's documents),
`target`, `filtered_resps`, `input` (the prompt) and all that the task's `process_results`
returned: for our tasks the keys of :mod:`video_reasoning.tasks.scoring`, and the metrics' items,
which contain the question's `id`.
"""

from __future__ import annotations

import glob
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from loguru import logger

from video_reasoning.tasks.errors import UserError, cause
from video_reasoning.tasks.store.text_files import is_regular, loads, read_bytes

_RESULTS = re.compile(r"^(?P<date>.+)_results\.json$")
_SAMPLES = re.compile(r"^(?P<date>\d{8}_\d{6}|[^_]+)_samples_(?P<task>.+)\.jsonl$")

_LINE_KEYS = frozenset({"doc_id", "target", "resps", "filtered_resps", "input"})
"""Keys of a line that have a field of their own in :class:`Sample`."""


class LogError(UserError):
    """A log that is absent or cannot be read."""


@dataclass(frozen=True)
class TaskResult:
    """What one run says of one task.

    Attributes:
        metrics: Metric -> value; None if the harness's table says N/A. A filter other than
            `none` is part of the name (`accuracy,strict`).
        errors: Metric -> its standard error: the clustered one if there is one, else that of the
            central limit theorem, else the harness's own. Metrics without any are absent.
        samples: The task's sample log, or None if the run has none.
        config: The task's configuration as the harness recorded it.
    """

    metrics: Mapping[str, float | None] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)
    samples: Path | None = None
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One evaluation.

    Attributes:
        model: The harness's name of the model, as given to `--model`.
        model_args: `--model_args` as one text, with `checkpoint` among them or empty.
        date: As in the file names, `YYYYMMDD_HHMMSS`.
        tasks: Task -> what the run says of it.
        config: The run's configuration (limit, seeds, batch size, ...).
        results: The results file, or None if only sample logs were found.
    """

    model: str
    model_args: str
    checkpoint: str
    date: str
    folder: Path
    tasks: Mapping[str, TaskResult]
    config: Mapping[str, Any] = field(default_factory=dict)
    results: Path | None = None

    @property
    def label(self) -> str:
        """The model's name in a table: its checkpoint, else the harness's name."""
        return self.checkpoint or self.model

    @property
    def limit(self) -> str:
        """``--limit`` as given, or the empty text; whatever a results file has there."""
        value = self.config.get("limit")
        return (f"{value:g}" if isinstance(value, (int, float)) else str(value)) if value else ""

    @property
    def begun(self) -> str:
        """When the run began, such as "2026-11-22 05:16 UTC".

        The harness names files by the clock of `--timezone`, Singapore's unless a user sets it.
        """
        zone = _mapping(self.config.get("resolved_cli_args")).get("timezone")
        try:
            local = datetime.strptime(self.date, "%Y%m%d_%H%M%S")
        except ValueError:
            return self.date
        try:
            known = local.replace(tzinfo=ZoneInfo(str(zone))) if zone else None
        except (ValueError, OSError, ZoneInfoNotFoundError):
            known = None
        if known is None:
            return f"{local:%Y-%m-%d %H:%M} (time zone {zone or 'not recorded'})"
        return f"{known.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"

    def samples(self, task: str) -> Path:
        """Return the sample log of a task.

        Raises:
            LogError: The run has none.
        """
        path = self.tasks[task].samples if task in self.tasks else None
        if path is None:
            raise LogError(
                f"The run of {self.label} from {self.date} in {self.folder} has no sample log "
                f"of {task}; run it again with --log_samples."
            )
        return path


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a sample log.

    Attributes:
        line: Its number in the file, from 1.
        start: Its first byte in the file, from 0.
        doc_id: Place of the document among the task's documents, from 0.
        id: The question's id, or the empty text if the log has none.
        target: The right answer as logged; empty if it is withheld.
        responses: The responses that were scored; several if several were sampled.
        prompt: The text that the model was sent.
        status: One of :mod:`video_reasoning.tasks.states`; empty for other people's tasks.
        choice: The letter, "yes" or "no" that was read from the response by `rule`, or None.
        score: 0..1, or None if nothing was scored.
        problem: Why a missing item is missing.
        values: Everything else in the line, such as the metrics' items.
    """

    line: int
    start: int
    doc_id: int
    id: str
    target: str
    responses: tuple[str, ...]
    prompt: str
    status: str
    choice: str | None
    rule: str
    score: float | None
    problem: str
    values: Mapping[str, Any]

    def group(self, name: str) -> str:
        """Return a key such as `qid` of the metrics' items, empty if none has it."""
        return _first(self.values, name)


@dataclass
class OddLines:
    """How many lines of a sample log could not be used, and why, for the first `SHOWN`."""

    SHOWN = 5

    count: int = 0
    reasons: list[str] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        """Record one line."""
        self.count += 1
        if len(self.reasons) < self.SHOWN:
            self.reasons.append(f"line {line}: {reason}")

    def sentence(self, path: Path) -> str:
        """Say what was left out; empty if all was used."""
        if not self.count:
            return ""
        more = self.count - len(self.reasons)
        listed = "; ".join(self.reasons) + (f"; and {more} more" if more else "")
        return f"{self.count} of the lines of {path} were left out ({listed})."


def condition_of(config: Mapping[str, Any]) -> str:
    """Return the frames that a task shows of every video; empty if it shows videos as they are.

    In the recorded configuration, `lmms_eval_specific_kwargs` wins over `dataset_name`.
    """
    settings = _mapping(config.get("lmms_eval_specific_kwargs"))
    default = _mapping(settings.get("default"))
    name = settings.get("condition") or default.get("condition") or config.get("dataset_name")
    return "" if name in (None, "video", "clips") else str(name)


def find_runs(paths: Iterable[Path], *, every: bool = False) -> list[Run]:
    """Find the runs under some paths, oldest first.

    Of several runs of one model (with the same arguments) and one task below one of the folders
    the newest counts: older runs lose that task, and vanish once they have none. A run or log
    that is named itself always counts.

    Args:
        paths: Output folders, folders in them, results files or sample logs.
        every: Whether to keep the older runs of a task as well.

    Returns:
        The runs of all paths, none twice. A path may have none.

    Raises:
        LogError: A path does not exist, is not a log of the harness, or names a results file
            that cannot be read. Unreadable files in a folder are passed over with a warning.
    """
    runs: list[Run] = []
    for path in paths:
        if path.is_dir():
            below = _in_folder(path)
            runs.extend(below if every else _newest(below))
        elif not path.is_file():
            raise LogError(f"{path} does not exist; name an --output_path of the harness.")
        elif _RESULTS.match(path.name):
            runs.append(_from_results(path))
        elif match := _SAMPLES.match(path.name):
            runs.append(_from_samples(path, match["date"], match["task"]))
        else:
            raise LogError(
                f"{path} is neither a results file (..._results.json) nor a sample log "
                "(..._samples_<task>.jsonl) of the harness."
            )
    merged: dict[tuple[Path, str], Run] = {}
    for run in runs:
        key = (run.folder.resolve(), run.date)
        same = merged.get(key, run)
        merged[key] = replace(same, tasks={**same.tasks, **run.tasks})
    return sorted(merged.values(), key=lambda run: run.date)


def _in_folder(folder: Path) -> list[Run]:
    """Every run anywhere below a folder."""
    runs: list[Run] = []
    claimed: set[Path] = set()
    for path in sorted(folder.rglob("*_results.json")):
        try:
            run = _from_results(path)
        except LogError as error:
            logger.warning(str(error))
            continue
        claimed.update(result.samples for result in run.tasks.values() if result.samples)
        runs.append(run)
    orphans: dict[tuple[Path, str], dict[str, TaskResult]] = {}
    for path in sorted(folder.rglob("*_samples_*.jsonl")):
        match = _SAMPLES.match(path.name)
        if match and path not in claimed and is_regular(path):
            tasks = orphans.setdefault((path.parent, match["date"]), {})
            tasks[match["task"]] = TaskResult(samples=path)
    runs.extend(
        Run(parent.name, "", "", date, parent, tasks) for (parent, date), tasks in orphans.items()
    )
    return runs


def _newest(runs: Sequence[Run]) -> list[Run]:
    """Leave each task to the newest run of its model."""

    def key(run: Run, task: str) -> tuple[str, ...]:
        return run.model, run.checkpoint, run.model_args, task

    ordered = sorted(runs, key=lambda run: run.date)
    newest = {key(run, task): run for run in ordered for task in run.tasks}
    kept = [
        replace(
            run, tasks={t: result for t, result in run.tasks.items() if newest[key(run, t)] is run}
        )
        for run in runs
    ]
    return [run for run in kept if run.tasks]


def _from_results(path: Path) -> Run:
    try:
        content = loads(read_bytes(path))
    except (OSError, ValueError, RecursionError) as error:
        raise LogError(
            f"The results file {path} cannot be read ({cause(error)}); "
            "name another run's, or run the evaluation again."
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("results"), dict):
        raise LogError(f"{path} is not a results file of the harness: it has no results.")
    match = _RESULTS.match(path.name)
    date = match["date"] if match else str(content.get("date") or "")
    configs, config = _mapping(content.get("configs")), _mapping(content.get("config"))
    logs = {
        found["task"]: log
        for log in path.parent.glob(f"{glob.escape(date)}_samples_*.jsonl")
        if (found := _SAMPLES.match(log.name)) and found["date"] == date and is_regular(log)
    }
    tasks = {}
    for name, entry in content["results"].items():
        if name in configs:  # otherwise a group of tasks
            metrics, errors = _metrics(_mapping(entry))
            tasks[name] = TaskResult(metrics, errors, logs.get(name), _mapping(configs[name]))
    for name, log in logs.items():
        tasks.setdefault(name, TaskResult(samples=log, config=_mapping(configs.get(name))))
    arguments = config.get("model_args") or ""
    return Run(
        model=str(config.get("model") or content.get("model_source") or path.parent.name),
        model_args=_arguments(arguments),
        checkpoint=str(content.get("model_name") or ""),
        date=date,
        folder=path.parent,
        tasks=tasks,
        config=config,
        results=path,
    )


def _from_samples(path: Path, date: str, task: str) -> Run:
    """Return the run of one sample log, with what the results file beside it says."""
    beside = path.parent / f"{date}_results.json"
    if beside.is_file():
        run = _from_results(beside)
        return replace(run, tasks={task: run.tasks[task]})
    tasks = {task: TaskResult(samples=path)}
    return Run(path.parent.name, "", "", date, path.parent, tasks)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _arguments(given: object) -> str:
    if isinstance(given, Mapping):
        return ",".join(f"{name}={value}" for name, value in given.items())
    return str(given)


def _number(value: object) -> float | None:
    """Return a finite number, or None for N/A, null, an empty list and the like."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def _metrics(entry: Mapping[str, Any]) -> tuple[dict[str, float | None], dict[str, float]]:
    """Metrics and their standard errors from a task's entry in the results file."""
    metrics: dict[str, float | None] = {}
    errors: dict[str, float] = {}
    ranks = ("_stderr", "_stderr_clt", "_stderr_clustered")  # the last one present counts
    for key, value in entry.items():
        name, comma, filtered = key.rpartition(",")
        # The harness lists every key that a task logs; only metrics have a number or null.
        if not comma or isinstance(value, (list, dict)):
            continue
        suffix = "" if filtered == "none" else f",{filtered}"
        if not name.endswith(ranks):
            metrics[name + suffix] = _number(value)
    for rank in ranks:
        for metric in metrics:
            name, comma, filtered = metric.rpartition(",")
            stem, filtered = (name, filtered) if comma else (metric, "none")
            error = _number(entry.get(f"{stem}{rank},{filtered}"))
            if error is not None and metrics[metric] is not None:
                errors[metric] = error
    return metrics, errors


def read_samples(path: Path, odd: OddLines | None = None) -> Iterator[Sample]:
    """Read a sample log line by line; only one line is in memory at a time.

    A line that is torn, is not a sample, or repeats a document (two runs that began in the same
    second write into one file) is left out and counted.

    Args:
        path: The sample log.
        odd: Filled with the lines that were left out; None to log a warning at the end.

    Yields:
        The samples, in the order of the file.

    Raises:
        LogError: The file cannot be read.
    """
    left_out = OddLines() if odd is None else odd
    seen: set[int] = set()
    end = 0
    try:
        with path.open("rb") as file:  # bytes: only "\n" ends a line, and a torn letter is odd
            for number, line in enumerate(file, start=1):
                start, end = end, end + len(line)
                if not line.strip():
                    continue
                try:
                    sample = _sample(number, start, loads(line))
                except (ValueError, RecursionError) as error:
                    left_out.add(number, _reason(error))
                    continue
                if sample.doc_id in seen:
                    left_out.add(number, f"duplicate document {sample.doc_id}")
                    continue
                seen.add(sample.doc_id)
                yield sample
    except OSError as error:
        raise LogError(f"The sample log {path} cannot be read ({cause(error)}).") from error
    if odd is None and left_out.count:
        logger.warning(left_out.sentence(path))


def _reason(error: Exception) -> str:
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return "it is not readable JSON, perhaps cut short"
    return str(error)


def lines_at(path: Path, starts: Iterable[int]) -> Iterator[dict[str, Any]]:
    """Read the lines of a sample log that begin at some bytes, each a sample when it was read.

    Raises:
        LogError: The file cannot be read, or has changed.
    """
    try:
        with path.open("rb") as file:
            for start in starts:
                file.seek(start)
                content = loads(file.readline())
                if not isinstance(content, dict) or "filtered_resps" not in content:
                    raise ValueError("it has changed")
                yield content
    except (OSError, ValueError) as error:
        raise LogError(f"The sample log {path} cannot be read ({cause(error)}).") from error


def responses_of(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the responses of a line that were scored."""
    return tuple(_flat(content["filtered_resps"]))


def _sample(number: int, start: int, content: object) -> Sample:
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    doc_id = content.get("doc_id")
    if isinstance(doc_id, bool) or not isinstance(doc_id, int):
        raise ValueError("it has no doc_id")
    if "filtered_resps" not in content:
        raise ValueError("it has no responses")
    values = {key: value for key, value in content.items() if key not in _LINE_KEYS}
    choice = content.get("choice")
    return Sample(
        line=number,
        start=start,
        doc_id=doc_id,
        id=_first(values, "id"),
        target=_text(content.get("target")),
        responses=responses_of(content),
        prompt=_text(content.get("input")),
        status=_text(content.get("status")),
        choice=choice if isinstance(choice, str) and choice else None,
        rule=_text(content.get("rule")),
        score=_number(content.get("score")),
        problem=_text(content.get("problem")),
        values=values,
    )


def _first(values: Mapping[str, Any], name: str) -> str:
    """Return a key of the line itself or of the first metric's item that has it, as text."""
    for item in (values, *values.values()):
        if isinstance(item, dict) and item.get(name) is not None:
            return str(item[name])
    return ""


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _flat(responses: object) -> Iterator[str]:
    if isinstance(responses, list):
        for response in responses:
            yield from _flat(response)
    else:
        yield _text(responses)


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """Read JSON Lines, leaving out what cannot be read; nothing if there is no such file."""
    if not is_regular(path):
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                content = loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(content, dict):
                yield content
