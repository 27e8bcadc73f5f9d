"""A killed evaluation goes on: responses are kept as they come.

The harness's own response cache cannot do it: it hands a model all requests in one call, and
stores the responses when that call has come back. So ``lmms_eval.evaluator.evaluate`` is replaced
here, and nothing else of the harness: while it runs, the model's ``generate_until`` gets one batch
at a time, and each batch's responses are written to ``<output_path>/.responses`` before the next
one is asked. The same command finds them there.

Only requests of this package's own tasks are kept, since what they show is known: a key is made of
the task, the item, its prompt, its generation arguments, which of several sampled responses it is,
and the content of its videos. A folder is named after the command: the model and its arguments,
the checkpoint's files, the tasks, the seeds, and the versions of the packages. What failed, what
is empty and what was asked without its video is not kept.

If a run has several tasks, the results of each are written to ``<output_path>/partial`` when it
ends, unless a model scores its responses. Both folders are removed when the run's own results have
been saved.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import inspect
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import cache
from importlib import import_module
from itertools import starmap
from pathlib import Path
from typing import Any, get_args

from loguru import logger

from video_reasoning.preprocessing.files import noted_content_id
from video_reasoning.tasks import media, registry, sight, store
from video_reasoning.tasks.llm.text_scorers import Kind
from video_reasoning.tasks.models import quirks, responses
from video_reasoning.tasks.models.ahead import ahead_of, all_ours
from video_reasoning.tasks.models.responses import (
    FRESH_VARIABLE,
    OF_COMMAND,
    PARTIAL,
    RESPONSES,
    Journal,
    digest,
    folder_of,
)
from video_reasoning.tasks.states import NO_RESPONSE, failure

__all__ = ["class_of", "install"]

SEEN_IN = "0.7.3"
"""The newest version of lmms-eval whose ``evaluate`` this was tried with."""

_PARAMETERS = frozenset({"lm", "task_dict", "limit", "offset", "bootstrap_iters", "cli_args"})
# What is read of evaluate's arguments.

_OF_TASK = (
    *("dataset_name", "process_docs", "doc_to_visual", "doc_to_text", "doc_to_messages"),
    "lmms_eval_specific_kwargs",
)
# Entries of a YAML that change what a model is asked or what it answers.

_FOLDERS = ("videos/", "clips/")
"""How the paths of the store begin."""


_WHOLE = frozenset({"BatchGPT4"})
"""Classes that send all requests as one job, for hours: theirs are not parted."""
_CALLS_AT_ONCE = 4
"""Requests of a batch, per request that an API model sends at a time: a batch waits for its
slowest."""
_IN_STEP = frozenset({"FSDP", "DEEPSPEED", "MEGATRON_LM", "TP"})
"""Kinds of parallel models whose processes have to call them equally often."""
_PATIENCE = timedelta(days=30)

Ask = Callable[[list[Any]], Sequence[Any]]

# What is kept of a request


@dataclass(frozen=True)
class _Request:
    """One request of the harness.

    Attributes:
        instance: As the harness has it.
        key: What its response is kept under; empty for other people's tasks.
        padding: Whether it is only asked so that all processes ask equally many.
    """

    instance: Any
    key: str
    padding: bool


class _Keeper:
    """Asks a model for what is not known yet, batch by batch.

    Args:
        lm: The harness's model.
        tasks: Name -> task, those of ours.
        journal: Where responses are kept; None if the run has no folder.
    """

    def __init__(self, lm: Any, tasks: Mapping[str, Any], journal: Journal | None) -> None:
        self._lm = lm
        self._journal = journal
        self._keeps = journal is not None
        self._unkept: dict[str, Any] = {}
        self._asked: set[str] = set()
        self._ways = {name: _way(task) for name, task in tasks.items()}
        self._contents = cache(_content)

    def answer(self, ask: Ask, instances: Sequence[Any]) -> list[Any]:
        """Return the response to each request; for a model's ``generate_until``."""
        requests = self.requests(instances)
        # A model may return too few responses.
        found: list[Any] = [NO_RESPONSE if request.key else None for request in requests]
        others = [n for n, request in enumerate(requests) if not request.key]
        batches = _batches(requests, _batch_size(self._lm, len(requests)))
        pending = self._pending(requests, batches)
        coming = [n for batch, waits in zip(batches, pending, strict=True) if waits for n in batch]
        with (
            ahead_of(self._lm, [instances[n] for n in (*others, *coming)]),
            _bar(self._lm, pending) as asked,
        ):
            if others:
                theirs = [instances[n] for n in others]
                with _untiled(self._lm, theirs):
                    _put(found, others, ask(theirs))
            for batch, is_pending in zip(batches, pending, strict=True):
                parts = [requests[n] for n in batch]
                if is_pending:
                    _put(found, batch, self._ask(ask, parts, alone=len(batches) == 1))
                    asked()
                else:
                    _put(found, batch, [self._known(request) for request in parts])
        return found

    def requests(self, instances: Sequence[Any]) -> list[_Request]:
        """Find the key of each request; one that is sampled comes several times."""
        from tqdm import tqdm

        counts: Counter[str] = Counter()
        requests = []
        before, item = None, ""
        # Every video is read once to know its content, unless a note of it is in the store.
        for instance in tqdm(instances, desc="Looking for responses", delay=3):
            if instance is not before:
                before, item = instance, self._key(instance)
            counts[item] += 1
            key = item and digest([item, counts[item] - 1])
            padding = bool((instance.metadata or {}).get("__padding_only__"))
            requests.append(_Request(instance, key, padding))
        return requests

    def is_known(self, request: _Request) -> bool:
        """Tell whether there is a response."""
        if request.key in self._unkept:
            return True
        return self._journal is not None and request.key in self._journal

    def _key(self, instance: Any) -> str:
        """Return what names a request, whichever of its responses is meant; empty for others'."""
        if instance.task_name not in self._ways or instance.request_type != "generate_until":
            return ""
        benchmark, document = self._about(instance)
        generation = next((part for part in instance.args if isinstance(part, dict)), {})
        asked = [self._ways[instance.task_name], instance.doc_id, instance.args[0], generation]
        return digest([asked, document, [*starmap(self._contents, _videos(benchmark, document))]])

    def _about(self, instance: Any) -> tuple[str, dict[str, Any]]:
        """Return the benchmark and the document of a request."""
        (*_, doc_id, task, split) = instance.args
        benchmark = registry.our_tasks()[instance.task_name].needs[0][0]
        return benchmark, dict(self._lm.task_dict[task][split][doc_id])

    def _pending(self, requests: Sequence[_Request], batches: list[list[int]]) -> list[bool]:
        """Tell which batches are asked: those of which a response is not known."""
        unknown = [
            bool(request.key) and not request.padding and not self.is_known(request)
            for request in requests
        ]
        some = any(unknown)
        pending = [
            any(unknown[n] or (some and requests[n].padding) for n in batch) for batch in batches
        ]
        return _everywhere(pending) if _in_step(self._lm) else pending

    def _ask(self, ask: Ask, batch: Sequence[_Request], *, alone: bool) -> Sequence[Any]:
        instances = [request.instance for request in batch]
        questions = len({*map(id, instances)})
        quiet = contextlib.nullcontext() if alone else _quiet()
        with quiet, sight.watching(questions), _untiled(self._lm, instances):
            responses = ask(instances)
        kept = []
        for request, response in zip(batch, responses, strict=False):
            if request.padding:
                continue
            self._asked.add(request.key)
            record = self._record(request, response) if self._keeps else None
            if record is None:
                self._unkept[request.key] = response
            else:
                kept.append((request.key, record))
        self._keep(kept)
        return responses

    def _keep(self, records: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        if self._journal is None:
            return
        try:
            self._journal.add(records)
        except OSError as error:
            logger.warning(
                f"Responses cannot be kept in {self._journal.folder} any more ({error}): if this "
                "run is killed, the others are asked for again."
            )
            self._unkept |= {key: _response(record) for key, record in records}
            self._keeps = False

    def _record(self, request: _Request, response: Any) -> dict[str, Any] | None:
        """Return what is kept of a response, with what this process knows of how it was asked.

        Returns:
            None for what has to be asked again: a response that failed or is empty, and one to
            a placeholder.
        """
        from lmms_eval.api.instance import unwrap_generation_output

        text, tokens = unwrap_generation_output("" if response is None else response)
        if not isinstance(text, str) or not text.strip() or failure([text]):
            return None
        benchmark, document = self._about(request.instance)
        if any(media.failed_to_show(path, document) for path, _ in _videos(benchmark, document)):
            return None
        return {
            "task": request.instance.task_name,
            "id": document.get("id"),
            "response": text,
            "tokens": None if tokens is None else tokens.to_dict(),
            "handed": media.handed_over(benchmark, document),
            "clock": media.clock_of(benchmark, document),
            "sight": asdict(sight.sight_of(benchmark, document)),
        }

    def _known(self, request: _Request) -> Any:
        if request.key in self._unkept:
            return self._unkept[request.key]
        if self._journal is None or request.key not in self._journal:
            return ""  # padding, whose response nobody reads
        record = self._journal[request.key]
        if request.key not in self._asked:
            # Let this process know what an earlier one knew of how the item was asked.
            benchmark, document = self._about(request.instance)
            media.remember(benchmark, document, record["handed"], record.get("clock", ""))
            sight.remember(benchmark, document, sight.Sight(**record["sight"]))
        return _response(record)


def _put(found: list[Any], places: Sequence[int], responses: Sequence[Any]) -> None:
    """Put responses in their places, as many as there are."""
    for place, response in zip(places, responses, strict=False):
        found[place] = response


def _batches(requests: Sequence[_Request], size: int) -> list[list[int]]:
    """Part the requests of ours; the responses to one item stay together.

    All of them are parted, whatever is known: the same batches are asked after a kill as without
    one, so that a model whose responses depend on their batch says the same.
    """
    batches: list[list[int]] = []
    before = None
    for n, request in enumerate(requests):
        if not request.key:
            continue
        if not batches or (len(batches[-1]) >= size and request.instance is not before):
            batches.append([])
        batches[-1].append(n)
        before = request.instance
    return batches


def _way(task: Any) -> str:
    """Return a digest of what a task's YAML says about how its items are asked."""
    config = task.dump_config()
    metadata = config.get("metadata")
    metadata = dict(metadata) if isinstance(metadata, Mapping) else {}
    metadata.pop("store", None)  # of all questions; each item's own is in its key
    return digest([config.get("task"), metadata, {name: config.get(name) for name in _OF_TASK}])


def _videos(benchmark: str, document: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Return the files of the store that a document names, each with its benchmark."""
    folder = store.benchmark_folder(benchmark)
    names = (value for value in document.values() if isinstance(value, str))
    return [(folder / name, benchmark) for name in names if name.startswith(_FOLDERS)]


def _content(path: Path, benchmark: str) -> str:
    """Return the content id of a video; empty if it cannot be read."""
    try:
        return noted_content_id(path, [store.clips_folder(benchmark)], write=True)
    except OSError:
        return ""


def _response(record: Mapping[str, Any]) -> Any:
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    text, tokens = record["response"], record["tokens"]
    return text if tokens is None else GenerationResult(text, TokenCounts(**tokens))


# The model


def _batch_size(lm: Any, n_requests: int) -> int:
    """Return how many requests a model is handed at a time."""
    if type(lm).__name__ in _WHOLE:
        return max(n_requests, 1)
    adaptive = getattr(lm, "adaptive_config", None)
    at_once = [getattr(lm, name, 0) for name in ("num_concurrent", "num_cpus")]
    if getattr(lm, "adaptive_concurrency", False):
        at_once.append(getattr(adaptive, "max_concurrency", 0))
    sizes = [_CALLS_AT_ONCE * each for each in at_once if isinstance(each, int) and each > 1]
    sizes += [each for name in ("batch_size", "batch_size_per_gpu") for each in [_whole(lm, name)]]
    return max(1, *sizes)


def _whole(lm: Any, name: str) -> int:
    try:
        return int(getattr(lm, name, 1))
    except (TypeError, ValueError, NotImplementedError):
        return 1  # "auto"


def _in_step(lm: Any) -> bool:
    """Tell whether all processes have to call a model equally often."""
    kind = getattr(getattr(lm, "accelerator", None), "distributed_type", None)
    return _distributed() and (
        str(getattr(kind, "value", kind)) in _IN_STEP or hasattr(lm, "_run_tp_synced")
    )


def _distributed() -> bool:
    import torch.distributed as dist

    return bool(dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1)


def _everywhere(pending: list[bool]) -> list[bool]:
    """Return what is pending in any of the processes."""
    import torch.distributed as dist

    ranks: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(ranks, pending)
    return [any(rank[n] for rank in ranks if n < len(rank)) for n in range(len(pending))]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep a model from showing a bar, and a summary of its speed, for every batch."""
    from tqdm import tqdm

    metrics = "lmms_eval.models.model_utils.gen_metrics"
    original = tqdm.__init__

    @functools.wraps(original)
    def hidden(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **{**kwargs, "disable": True})

    tqdm.__init__ = hidden
    logger.disable(metrics)
    try:
        yield
    finally:
        tqdm.__init__ = original
        logger.enable(metrics)


@contextlib.contextmanager
def _bar(lm: Any, pending: Sequence[bool]) -> Iterator[Callable[[], object]]:
    """Show one bar for all batches, if there are several."""
    from tqdm import tqdm

    disable = len(pending) < 2 or not any(pending) or getattr(lm, "rank", 0) != 0
    with tqdm(total=sum(pending), desc="Model Responding", disable=disable) as bar:
        yield bar.update


# The harness


def install() -> str:
    """Replace ``lmms_eval.evaluator.evaluate``, once.

    Returns:
        Why it was not replaced, in a sentence, or the empty text.
    """
    try:
        evaluator: Any = import_module("lmms_eval.evaluator")
        original = evaluator.evaluate
        missing = _PARAMETERS - inspect.signature(original).parameters.keys()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        problem = str(error)
    else:
        if getattr(original, "resumes", False):
            return ""
        if not missing:
            evaluator.evaluate = _replacement(original)
            return ""
        problem = f"it does not take {', '.join(sorted(missing))}"
    return (
        f"The installed lmms-eval's evaluate is not the one of {SEEN_IN} ({problem}), so it is "
        "left as it is: an evaluation that is killed starts from nothing."
    )


def _replacement(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        given = dict(inspect.signature(original).bind(*args, **kwargs).arguments)
        leaves = dict(_leaves(given["task_dict"]))
        ours = {name: task for name, task in leaves.items() if name in registry.our_tasks()}
        if not ours or given.get("cli_args") is None:
            with _clips_ahead(given["lm"]):
                return original(*args, **kwargs)
        if responses.kept_only:
            return _evaluate_kept(original, given, ours, responses.kept_only[0])
        return _evaluate_all(original, given, leaves, ours)

    evaluate.resumes = True  # type: ignore[attr-defined]
    return evaluate


def _leaves(task_dict: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Give the tasks of a run, those in groups too."""
    for name, task in task_dict.items():
        if isinstance(task, dict):
            yield from _leaves(task)
        elif hasattr(task, "dump_config"):
            yield str(name), task


def _evaluate_all(
    original: Callable[..., Any],
    given: dict[str, Any],
    leaves: Mapping[str, Any],
    ours: Mapping[str, Any],
) -> Any:
    """Evaluate the tasks one after the other, then all together from the responses."""
    run, lm, began = given["cli_args"], given["lm"], time.time()
    journal = _open(run) if run.output_path else None
    keeper = _Keeper(lm, ours, journal)
    try:
        with _replaced(lm, "generate_until", _in_batches(lm.generate_until, keeper)):
            if journal is not None and len(leaves) > 1:
                for name, task in _scored_without_a_model(ours).items():
                    _write_results(run, name, _evaluate_one(original, given, name, task))
            found = original(**given)
    finally:
        if journal is not None:
            journal.close()
    if journal is not None:
        responses.ended.append((run, began))
    return found


def _scored_without_a_model(tasks: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the tasks whose responses a model scores: not while another one is loaded."""
    by_a_model = get_args(Kind)
    return {
        name: task
        for name, task in tasks.items()
        if not any(each["metric"] in by_a_model for each in task.dump_config()["metric_list"])
    }


def _in_batches(ask: Ask, keeper: _Keeper) -> Ask:
    """Return a ``generate_until`` with a keeper between the harness and the model."""
    patient = _patient_group()

    def generate_until(requests: list[Any]) -> list[Any]:
        found = keeper.answer(ask, requests)
        if patient is not None:
            import torch.distributed as dist

            dist.barrier(group=patient)
        return found

    return generate_until


@contextlib.contextmanager
def _clips_ahead(lm: Any) -> Iterator[None]:
    """Make clips ahead of a model that is asked as the harness asks it."""

    def with_clips(ask: Ask) -> Ask:
        def asked(requests: list[Any]) -> Sequence[Any]:
            with ahead_of(lm, requests), _untiled(lm, requests):
                return ask(requests)

        return asked

    with contextlib.ExitStack() as stack:
        for name in ("generate_until", "loglikelihood"):
            if hasattr(lm, name):
                stack.enter_context(_replaced(lm, name, with_clips(getattr(lm, name))))
        yield


def _untiled(lm: Any, instances: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Let a model leave frames in one piece, if it is asked nothing but what this package shows."""
    return quirks.untiled(lm) if all_ours(instances) else contextlib.nullcontext()


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Give an object another method while the body runs."""
    setattr(owner, name, value)
    try:
        yield
    finally:
        delattr(owner, name)


def _open(run: argparse.Namespace) -> Journal:
    """Open the journal of a run, and say what is in it."""
    folder, rank = folder_of(run, RESPONSES), int(os.environ.get("RANK", "0"))
    if rank == 0:
        shutil.rmtree(folder_of(run, PARTIAL), ignore_errors=True)
        if os.environ.get(FRESH_VARIABLE):
            shutil.rmtree(folder, ignore_errors=True)
    if _distributed():
        import torch.distributed as dist

        dist.barrier()
    journal = Journal(folder, rank)
    if journal.found and rank == 0:
        print(
            f"lmms_eval: {journal.found:,} responses of an evaluation that did not come to its "
            f"end are kept in {folder.parent} and are not asked for again, unless the items have "
            "changed; --fresh starts over.",
            file=sys.stderr,
        )
    return journal


def _patient_group() -> Any:
    """Return a group of all processes in which waiting for the slowest one is no failure."""
    if not _distributed():
        return None
    import torch.distributed as dist

    try:
        return dist.new_group(backend="gloo", timeout=_PATIENCE)
    except (RuntimeError, ValueError) as error:
        logger.warning(f"Processes wait for each other as long as the harness lets them: {error}")
        return None


def _evaluate_one(
    original: Callable[..., Any], given: Mapping[str, Any], name: str, task: Any
) -> Any:
    """Evaluate one of several tasks; the model stays loaded for the others."""
    logger.info(f"Asking {name}")
    with _replaced(given["lm"], "clean", lambda: None):
        return original(**{**given, "task_dict": {name: task}, "bootstrap_iters": 0})


def _write_results(run: argparse.Namespace, name: str, found: Any) -> None:
    """Write the results of a task that has ended where those of the run will not be."""
    if found is None:
        return  # not the main process
    from lmms_eval.loggers import EvaluationTracker
    from lmms_eval.utils import get_datetime_str

    evaluator = import_module("lmms_eval.evaluator")
    redacted = evaluator._redact_eval_config_secrets(
        {option: getattr(run, option, None) for option in (*OF_COMMAND, "model_args")}
    )
    date = get_datetime_str()
    tracker = EvaluationTracker(output_path=str(folder_of(run, PARTIAL) / name))
    tracker.general_config_tracker.log_experiment_args(
        run.model, str(redacted["model_args"]), "", "", fewshot_as_multiturn=False
    )
    samples = found.pop("samples", None)
    tracker.save_results_aggregated({**found, "config": redacted, "date": date}, samples, date)
    if samples and run.log_samples:
        tracker.save_results_samples(name, samples[name])


def _evaluate_kept(
    original: Callable[..., Any], given: dict[str, Any], ours: Mapping[str, Any], folder: Path
) -> Any:
    """Evaluate the items whose responses are kept; tasks without any are left out."""
    lm, journal = given["lm"], Journal(folder)
    keeper = _Keeper(lm, ours, journal)
    for task in ours.values():
        task.build_all_requests = _only_known(task, keeper)
    begun = {record["task"] for record in journal.records()}
    tasks = {name: task for name, task in ours.items() if name in begun}
    with _replaced(lm, "generate_until", lambda requests: keeper.answer(_nobody, requests)):
        return original(**{**given, "task_dict": tasks})


def _only_known(task: Any, keeper: _Keeper) -> Callable[..., None]:
    """Return a task's ``build_all_requests`` that leaves out what is not known."""
    build = task.build_all_requests

    def build_all_requests(*args: Any, **kwargs: Any) -> None:
        build(*args, **kwargs)
        task._instances = [
            instance
            for instance in task._instances
            if all(map(keeper.is_known, keeper.requests([instance] * instance.repeats)))
        ]

    return build_all_requests


def _nobody(requests: list[Any]) -> list[Any]:
    raise RuntimeError(f"{len(requests):,} responses are not kept, and no model is loaded.")


def class_of(found: Any) -> Any:
    """Return a model's class; one that loads nothing if results are wanted from what is kept."""
    if not responses.kept_only:
        return found
    from lmms_eval.api.model import lmms

    methods = {name: lambda self, requests: _nobody(requests) for name in lmms.__abstractmethods__}
    methods["__init__"] = lambda self, **given: lmms.__init__(self)
    return type("Kept", (lmms,), {**methods, "is_simple": getattr(found, "is_simple", True)})
