"""What was run, on what, and what went wrong: the parts of a report that are not scores."""

# Greek letters as the papers print them:
# ruff: noqa: RUF001

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError, UserError
from video_reasoning.tasks.results.items import TaskLog
from video_reasoning.tasks.results.logs import Run
from video_reasoning.tasks.results.numbers import TaskNumbers
from video_reasoning.tasks.store.picks import read_installed
from video_reasoning.tasks.store.text_files import is_regular, loads, read_bytes

__all__ = ["problems", "run_facts", "store_facts", "task_facts"]

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
    "lmms_eval_version",
    "transformers_version",
    "git_hash",
    "system_instruction",
    "chat_template_sha",
    "total_evaluation_time_seconds",
)
_FEW_VIDEOS = 10
_TOLERANCE = 1e-6


def run_facts(run: Run) -> dict[str, str]:
    """Model, arguments, versions and seeds of a run, as its results file has them."""
    facts = {"model": run.model, "arguments": run.model_args or "none", "date": run.date}
    if run.checkpoint:
        facts["checkpoint"] = run.checkpoint
    for key in _CONFIG:
        value = run.config.get(key)
        if value not in (None, "", [], {}):
            facts[key] = _plain(value)
    if run.results is None:
        facts["results file"] = f"none beside the sample logs in {run.folder}"
        return facts
    try:
        content = loads(read_bytes(run.results))
    except (OSError, ValueError, RecursionError):
        content = {}
    for key in _RESULTS:
        value = content.get(key)
        if value not in (None, "", [], {}):
            facts[key] = _plain(value)
    if "total_evaluation_time_seconds" in facts:
        seconds = facts.pop("total_evaluation_time_seconds")
        try:
            facts["seconds"] = f"{float(seconds):.0f}"
        except ValueError:
            facts["seconds"] = seconds
    facts["results file"] = str(run.results)
    return facts


def task_facts(log: TaskLog) -> dict[str, str]:
    """How a task was asked: version, prompt variant, generation arguments, questions."""
    config = log.result.config
    metadata = config.get("metadata")
    facts = {}
    if isinstance(metadata, Mapping):
        facts["task version"] = _plain(metadata.get("version", ""))
        facts["prompt variant"] = _plain(metadata.get("prompt", "")) or "the task's own"
    for key in ("lmms_eval_specific_kwargs", "generation_kwargs", "repeats"):
        if config.get(key) not in (None, "", {}):
            facts[key] = _plain(config[key])
    facts["sample log"] = str(log.log)
    if log.questions_file:
        facts["questions"] = str(log.questions_file)
        facts["questions' SHA-256"] = _digest(log.questions_file)
    return facts


def store_facts(logs: Sequence[TaskLog]) -> dict[str, dict[str, str]]:
    """Folder of a benchmark in a store -> what its manifest says."""
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
        for key in ("source", "revision", "revisions", "prepared_by", "authors_prompt", "videos"):
            if manifest.get(key) not in (None, "", {}, []):
                facts[key] = _plain(manifest[key])
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
    """What a reader must know before the numbers of a task, a sentence each."""
    log, counts = each.log, each.counts
    n = counts["items"]
    sentences = []
    if not n:
        return ["The log has no usable line."]
    limit = log.run.config.get("limit")
    if limit:
        sentences.append(f"Run with --limit {limit:g}: the numbers are of a part of the questions.")
    if counts["missing"]:
        reasons = Counter(item.problem for item in log.items if item.status == "missing")
        listed = "; ".join(
            f"{_one_line(text)} ({count:,})" for text, count in reasons.most_common(3)
        )
        sentences.append(
            f"{counts['missing']:,} of {n:,} items had no video to show and are in no accuracy: "
            f"{listed}."
        )
    asked = n - counts["missing"]
    if counts["unparsed"]:
        sentences.append(
            f"{counts['unparsed']:,} of {asked:,} responses ({counts['unparsed'] / asked:.1%}) "
            "name no option; they count as wrong."
        )
    if counts["withheld"]:
        sentences.append(f"{counts['withheld']:,} of {n:,} items have no public answer: no score.")
    if counts.get("skipped rows"):
        rows = _some(counts["skipped rows"], "row")
        sentences.append(f"Unreadable in the release, and so never asked: {rows}.")
    if counts["odd lines"]:
        sentences.append(log.odd.sentence(log.log))
    if counts.get("incomplete pairs") and counts["withheld"] < n:
        pairs = _some(counts["incomplete pairs"], "pair")
        sentences.append(f"Without a score for both variants, not in the paired accuracy: {pairs}.")
    if counts.get("left out questions"):
        questions = _some(counts["left out questions"], "question")
        sentences.append(f"Without one of the frame conditions, not in κ, τ and ρ: {questions}.")
    if counts["short videos"]:
        items = _some(counts["short videos"], "item")
        sentences.append(f"Of fewer frames than asked for, so that some were shown twice: {items}.")
    failed = sum(count for rule, count in each.rules.items() if rule.startswith("error"))
    if failed:
        sentences.append(f"Not read because of an error: {_some(failed, 'response')}.")
    if log.problem:
        sentences.append(f"No questions beside the log, so no frames and no options: {log.problem}")
    if log.changed:
        questions = _some(len(log.changed), "question")
        sentences.append(
            f"{log.questions_file} has changed since the run: {questions} asked in other words "
            "than it has now. Options, frames and what only the store knows are "
            "left out."
        )
    strangers = sum(item.id not in log.questions for item in log.items) if log.questions else 0
    if strangers:
        sentences.append(
            f"Not among the questions in {log.questions_file}: {_some(strangers, 'item')}."
        )
    sentences += _picks(each)
    whole = next((number for number in each.numbers if not number.group), None)
    if whole and whole.value is not None and 0 < whole.n_clusters < _FEW_VIDEOS:
        sentences.append(
            f"All items fall into {whole.n_clusters} videos: intervals over so few are rough."
        )
    for number in each.numbers:
        if number.harness is not None and number.value is not None:
            difference = abs(number.harness - number.value)
            if difference > _TOLERANCE:
                group = " ".join(f"{key} {value}" for key, value in number.group.items())
                sentences.append(
                    f"The harness's table has {number.harness:.4f} for {number.name} {group}"
                    f"{number.condition}, the log gives {number.value:.4f}: log and table are not "
                    "of one run, or the log is incomplete."
                )
    return [sentence.replace("  ", " ") for sentence in sentences]


def _some(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _picks(each: TaskNumbers) -> list[str]:
    log = each.log
    rho = each.find("rho")
    if rho is None or log.folder is None:
        return []
    if not each.counts.get("questions with a pick"):
        return ["No handpicked frames in the run: ρ and the handpicked κ are not measured."]
    try:
        read_installed(log.benchmark, log.folder.parent)
    except UserError as error:
        return [str(error)]
    return []


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _one_line(text: str, most: int = 160) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= most else line[: most - 1] + "…"


def _digest(path: Path) -> str:
    if not is_regular(path):
        return "unreadable"
    try:
        with path.open("rb") as file:
            digest = hashlib.sha256()
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    except OSError:
        return "unreadable"
    return digest.hexdigest()
