"""What was run, on what, and what went wrong: the parts of a report that are not scores."""

# Greek letters as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from video_reasoning.metrics.accuracy import mean
from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.models import quirks
from video_reasoning.tasks.models.software import installed
from video_reasoning.tasks.results.items import TaskLog
from video_reasoning.tasks.results.logs import Run
from video_reasoning.tasks.results.numbers import TaskNumbers
from video_reasoning.tasks.results.signature import digest, signature
from video_reasoning.tasks.states import LEFT_OUT
from video_reasoning.tasks.store.picks import read_installed
from video_reasoning.tasks.store.text_files import loads, read_bytes

_CONFIG = (
    "model_backend",
    "batch_size",
    "device",
    "limit",
    "offset",
    "gen_kwargs",
    "random_seed",
    "numpy_seed",
    "torch_seed",
    "fewshot_seed",
)
_RESULTS = (
    "system_instruction",
    "chat_template_sha",
    "total_evaluation_time_seconds",
)
_MANIFEST = ("source", "revision", "revisions", "prepared_by", "authors_prompt", "videos")
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_FEW_VIDEOS = 10
_TOLERANCE = 1e-6
_COUNTED = (
    ("skipped rows", "Unreadable in the release, and so never asked", "row"),
    ("incomplete pairs", "Without a score for both variants, not in the paired accuracy", "pair"),
    ("left out questions", "Without one of the frame conditions, not in κ, τ and ρ", "question"),
    ("short videos", "Of fewer frames than asked for, so that some were shown twice", "item"),
    ("errors", "Not read because of an error", "response"),
)
"""Count, what a reader has to know of it, and what is counted."""


def software(run: Run) -> dict[str, str]:
    """Return the versions and GPUs that a run has recorded; empty for a run that has not.

    The results file's own `lmms_eval_version` is not a version: it names the commit of whatever
    repository the command was started in.
    """
    for result in run.tasks.values():
        metadata = result.config.get("metadata")
        recorded = metadata.get("software") if isinstance(metadata, Mapping) else None
        if isinstance(recorded, Mapping):
            return {str(name): _plain(value) for name, value in recorded.items()}
    return {}


def run_facts(run: Run) -> dict[str, str]:
    """Return model, arguments, versions and seeds of a run, as it has recorded them."""
    facts = {"model": run.model, "arguments": run.model_args or "none", "begun": run.begun}
    facts.update(software(run) or {"software": "versions and GPU were not recorded by the run"})
    if run.checkpoint:
        facts["checkpoint"] = run.checkpoint
    facts.update(_filled(run.config, _CONFIG))
    if run.results is None:
        facts["results file"] = f"none beside the sample logs in {run.folder}"
        return facts
    try:
        content = loads(read_bytes(run.results))
    except (OSError, ValueError):
        content = {}
    facts.update(_filled(content, _RESULTS))
    if "total_evaluation_time_seconds" in facts:
        seconds = facts.pop("total_evaluation_time_seconds")
        try:
            facts["seconds"] = f"{float(seconds):.0f}"
        except ValueError:
            facts["seconds"] = seconds
    facts["results file"] = str(run.results)
    return facts


def _filled(content: Mapping[str, Any], keys: Sequence[str]) -> dict[str, str]:
    """Those of some keys that say something, as text."""
    return {key: _plain(content[key]) for key in keys if content.get(key) not in _EMPTY}


def about(logs: Sequence[TaskLog]) -> list[str]:
    """Say what a report is of, in a few phrases: its first line."""
    runs = list({(log.run.folder, log.run.date): log.run for log in logs}.values())
    begun = sorted({run.begun for run in runs})
    said = [
        f"Models: {', '.join(dict.fromkeys(_with_arguments(run) for run in runs))}",
        f"begun {begun[0]}" + (f" to {begun[-1]}" if len(begun) > 1 else ""),
        *_versions(runs),
    ]
    seeds = dict.fromkeys(
        ", ".join(f"{name.removesuffix('_seed')} {value}" for name, value in found.items())
        for run in runs
        if (found := _filled(run.config, [name for name in _CONFIG if name.endswith("_seed")]))
    )
    return [*said, f"seeds: {' / '.join(seeds) or 'not recorded'}"]


def _with_arguments(run: Run) -> str:
    return f"{run.label} ({run.model_args})" if run.model_args else run.label


def _versions(runs: Sequence[Run]) -> list[str]:
    """List the versions that the runs recorded: several of one package are separated by a slash."""
    recorded = [found for run in runs if (found := software(run))]
    names = dict.fromkeys(name for each in recorded for name in each)
    said = [
        f"{'GPU:' if name == 'gpu' else name} "
        + " / ".join(dict.fromkeys(each.get(name, "not recorded") for each in recorded))
        for name in names
    ]
    without = len(runs) - len(recorded)
    if without:
        which = f"{without} of {len(runs)} runs" if recorded else "the runs"
        here = ", ".join(f"{name} {found}" for name, found in installed().items())
        said.append(f"versions and GPU not recorded by {which}; installed here now: {here}")
    return said


def sample_note(asked: Sequence[tuple[str, bool]]) -> str:
    """Say that tasks ask the sample benchmark; empty if none does.

    Args:
        asked: Tasks, and whether each does.
    """
    tasks = list(dict.fromkeys(task for task, drawn in asked if drawn))
    if not tasks:
        return ""
    which = "" if all(drawn for _, drawn in asked) else f" in {', '.join(tasks)}"
    return (
        f"SAMPLE BENCHMARK{which}: drawn shapes with known answers, not the released benchmarks. "
        "These numbers say nothing about a model's video reasoning and cannot be compared with "
        "the papers', whose tables are left out."
    )


def task_facts(log: TaskLog) -> dict[str, str]:
    """Return how a task was asked: version, prompt, generation arguments, questions."""
    config = log.result.config
    metadata = config.get("metadata")
    facts = {"signature": signature(log)}
    if isinstance(metadata, Mapping):
        facts["task version"] = _plain(metadata.get("version", ""))
        facts["prompt variant"] = _plain(metadata.get("prompt", "")) or "the task's own"
    # How frames are handed over to every class is not a fact of this run.
    own = config.get("lmms_eval_specific_kwargs") != quirks.DELIVERY
    facts.update(_filled(config, ("lmms_eval_specific_kwargs",) if own else ()))
    facts.update(_filled(config, ("generation_kwargs", "repeats")))
    facts["sample log"] = str(log.log)
    if log.questions_file:
        facts["questions"] = str(log.questions_file)
        facts["questions' SHA-256"] = digest(log.questions_file)
    return facts


def store_facts(logs: Sequence[TaskLog]) -> dict[str, dict[str, str]]:
    """Map each benchmark's folder in a store to what its manifest says."""
    found: dict[str, dict[str, str]] = {}
    for log in logs:
        if log.folder is None or str(log.folder) in found:
            continue
        facts: dict[str, str] = {"benchmark": log.benchmark}
        try:
            manifest = store.read_manifest(log.benchmark, log.folder.parent) or {}
        except StoreError as error:
            manifest = {}
            facts["manifest"] = str(error)
        facts.update(_filled(manifest, _MANIFEST))
        for name, summary in (manifest.get("splits") or {}).items():
            facts[f"{name} split"] = (
                f"{summary.get('questions', 0):,} questions, "
                f"{summary.get('withheld', 0):,} without a public answer, "
                f"{len(summary.get('missing', [])):,} without a usable video, "
                f"{len(summary.get('skipped', [])):,} unreadable rows"
            )
        notes = manifest.get("notes") or []
        if notes:
            facts["notes"] = " ".join(map(str, notes))
        found[str(log.folder)] = facts
    return found


def problems(each: TaskNumbers) -> list[str]:
    """Say what a reader must know before the numbers of a task, a sentence each."""
    if not each.counts["items"]:
        return ["The log has no usable line."]
    sentences = [*_of_items(each), *_of_store(each.log), *_picks(each), *_of_numbers(each)]
    return [sentence.replace("  ", " ") for sentence in sentences]


def _of_items(each: TaskNumbers) -> Iterator[str]:
    log, counts = each.log, each.counts
    n = counts["items"]
    if log.run.limit:
        yield f"Run with --limit {log.run.limit}: the numbers are of a part of the questions."
    if counts["missing"]:
        reasons = Counter(item.problem for item in log.items if item.status == "missing")
        listed = "; ".join(
            f"{_one_line(text)} ({count:,})" for text, count in reasons.most_common(3)
        )
        yield (
            f"{counts['missing']:,} of {n:,} items had no video to show and are in no accuracy: "
            f"{listed}."
        )
    if counts["failed"]:
        reasons = Counter(item.problem for item in log.items if item.status == "failed")
        text, count = reasons.most_common(1)[0]
        yield (
            f"{counts['failed']:,} of {n:,} requests failed and are in no accuracy: "
            f"{_one_line(text)} ({count:,})."
        )
    asked = n - counts["missing"] - counts["failed"]
    if counts["unparsed"]:
        rate = unparsed_rate(each)
        yield (
            f"{counts['unparsed']:,} of {asked:,} responses ({rate:.1%}) name no option; they "
            "count as wrong."
        )
    for condition, seen in each.frames.items():
        if seen.differ:
            of = f" under {condition}" if condition else ""
            yield (
                f"The model did not get the frames that were shown{of} in {seen.differ:,} of "
                f"{seen.items:,} items; frames seen: {seen.text}."
            )
    if counts["withheld"]:
        yield f"{counts['withheld']:,} of {n:,} items have no public answer: no score."
    if counts["odd lines"]:
        yield log.odd.sentence(log.log)
    known = {**counts, "errors": sum(c for r, c in each.rules.items() if r.startswith("error"))}
    if counts["withheld"] == n:
        known["incomplete pairs"] = 0
    for name, sentence, noun in _COUNTED:
        if known.get(name):
            yield f"{sentence}: {_some(known[name], noun)}."


def unparsed_rate(each: TaskNumbers) -> float:
    """Return the share of the responses that name no option, 0..1."""
    return mean(item.status == "unparsed" for item in each.log.items if item.status not in LEFT_OUT)


def _of_store(log: TaskLog) -> Iterator[str]:
    if log.problem:
        yield f"No questions beside the log, so no frames and no options: {log.problem}"
    if log.changed:
        questions = _some(len(log.changed), "question")
        yield (
            f"{log.questions_file} has changed since the run: {questions} "
            "asked in other words than it has now. Options, frames and what only the store knows "
            "are left out."
        )
    strangers = sum(item.id not in log.questions for item in log.items) if log.questions else 0
    if strangers:
        yield f"Not among the questions in {log.questions_file}: {_some(strangers, 'item')}."


def _of_numbers(each: TaskNumbers) -> Iterator[str]:
    whole = next((number for number in each.numbers if not number.group), None)
    if whole and whole.value is not None and 0 < whole.n_clusters < _FEW_VIDEOS:
        yield f"All items fall into {whole.n_clusters} videos: intervals over so few are rough."
    for number in each.numbers:
        if number.harness is None or number.value is None:
            continue
        if abs(number.harness - number.value) > _TOLERANCE:
            group = " ".join(f"{key} {value}" for key, value in number.group.items())
            yield (
                f"The harness's table has {number.harness:.4f} for {number.name} {group}"
                f"{number.condition}, the log gives {number.value:.4f}: log and table are not of "
                "one run, or the log is incomplete."
            )


def _some(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _picks(each: TaskNumbers) -> Iterator[str]:
    log = each.log
    if each.find("rho") is None or log.folder is None:
        return
    if not each.counts.get("questions with a pick"):
        yield "No handpicked frames in the run: ρ and the handpicked κ are not measured."
        return
    try:
        read_installed(log.benchmark, log.folder.parent)
    except UserError as error:
        yield str(error)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _one_line(text: str, most: int = 160) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= most else line[: most - 1] + "…"
