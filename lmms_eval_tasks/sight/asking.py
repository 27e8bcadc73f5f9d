"""Asking a model the questions of a probe, through the harness as a user starts it.

Private to the harness and used here only: ``create_from_arg_string`` and ``generate_until`` of a
model class. ``generate_until`` is asked the questions that the harness gives it, as in a run, and
again one by one if that fails or if it is not clear whose pictures were caught.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from video_reasoning.tasks import launcher, states, store
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.sight import caught, probes, watch
from video_reasoning.tasks.sight.caught import Catch
from video_reasoning.tasks.sight.probes import Probe
from video_reasoning.tasks.sight.seen import LEDGER, Span

ANSWER_TOKENS = 16
"""Tokens of an answer, which nobody reads; some services take no fewer."""
INTERRUPTED = 130
"""Exit code of the harness's command after Ctrl-C."""
_LONGEST = 300
"""Characters of a cause; the rest of it is left out."""


@dataclass(frozen=True)
class Model:
    """A model as the harness is told it.

    Attributes:
        name: What ``--model`` says.
        arguments: What ``--model_args`` says.
        simple: Whether ``--force_simple`` is given.
        device: What ``--device`` says; empty for the harness's choice.
    """

    name: str
    arguments: str = ""
    simple: bool = False
    device: str = ""

    def words(self) -> list[str]:
        """Return the options of the command ``lmms_eval``."""
        given = ["--model", self.name]
        given += ["--model_args", self.arguments] if self.arguments else []
        given += ["--force_simple"] if self.simple else []
        return given + (["--device", self.device] if self.device else [])


@dataclass(frozen=True)
class Asked:
    """One question and what went to the model for it.

    Attributes:
        probe: How it was shown.
        kind: Which frames its video has.
        expected: The numbers of its frames; None for whole videos.
        how: Where the pictures were caught; empty if nothing was.
        known: Whether what was caught are whole pictures of this question.
        caught: What was caught.
        failure: Why there is no answer; empty if there is one.
        counted: What ``frames_seen`` of a run says.
    """

    probe: Probe
    kind: str
    expected: list[int] | None
    how: str = ""
    known: bool = False
    caught: Catch = field(default_factory=Catch)
    failure: str = ""
    counted: int | None = None


@dataclass
class _Run:
    """The questions of one run of the harness."""

    catches: Mapping[Span, Catch]
    form: str = ""
    cause: str = ""
    found: list[Asked] = field(default_factory=list)
    earlier: set[Span] = field(default_factory=set)

    def building(self, build: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that finds or builds a model, which then notes why it failed."""

        def built(*args: Any, **kwargs: Any) -> Any:
            try:
                return build(*args, **kwargs)
            except Exception as error:
                self.cause = f"{type(error).__name__}: {error}"
                raise

        return built

    def wrap(self, generate: Callable[..., Any]) -> Callable[..., Any]:
        """Return ``generate_until`` of a class, which then notes what each question got."""

        def generate_until(model: Any, requests: Sequence[Any], *rest: Any, **more: Any) -> Any:
            self.form = "simple" if getattr(model, "is_simple", True) else "chat"
            everything = list(requests)
            # The task refuses simple classes, which cannot know which clip is which.
            most = 1 if self.form == "simple" else 2
            requests = [each for each in everything if _document(model, each)[0].clips <= most]
            try:
                answers = list(generate(model, requests, *rest, **more))
            except Exception:
                answers = [None] * len(requests)
            spans = [self._span(*_document(model, each)) for each in requests]
            counted = [_counted(*_document(model, each)) for each in requests]
            for place, request in enumerate(requests):
                failure, span = "", spans[place]
                if answers[place] is None or span is None or not span.told:
                    try:
                        with caught.singly():
                            (answers[place],) = generate(model, [request], *rest, **more)
                    except Exception as error:
                        failure = f"{type(error).__name__}: {error}"
                    span = self._span(*_document(model, request)) or span
                probe, document = _document(model, request)
                self._note(probe, document, span, answers[place], failure, counted[place])
            given = {id(each): answer for each, answer in zip(requests, answers, strict=True)}
            return [given.get(id(each)) or "" for each in everything]

        return generate_until

    def _span(self, probe: Probe, document: Mapping[str, Any]) -> Span | None:
        """Return what was caught of a question since this was called for it before."""
        key = watch.key_of(probe.benchmark, document)
        found = [
            span for span in LEDGER.spans(key) for question in span.questions if question.key == key
        ]
        new = [span for span in found if span not in self.earlier]
        self.earlier.update(found)
        return new[-1] if new else None

    def _note(
        self,
        probe: Probe,
        document: Mapping[str, Any],
        span: Span | None,
        answer: Any,
        failure: str,
        counted: int | None,
    ) -> None:
        self.found.append(
            Asked(
                probe,
                probes.kind_of(document),
                probe.expected(document),
                how=span.how if span else "",
                known=bool(span and span.told),
                caught=self.catches.get(span, Catch()) if span else Catch(),
                failure=failure or states.failure([answer]),
                counted=counted,
            )
        )


def _counted(probe: Probe, document: Mapping[str, Any]) -> int | None:
    """Return ``frames_seen`` of a document, as a run would log it."""
    return watch.sight_of(probe.benchmark, document).seen


def _document(model: Any, request: Any) -> tuple[Probe, Mapping[str, Any]]:
    document = model.task_dict[request.task_name][request.args[-1]][request.doc_id]
    (probe,) = (
        each
        for each in probes.PROBES
        if each.task == request.task_name and each.condition in ("", document.get("condition"))
    )
    return probe, document


def ask(
    model: Model,
    shown: Sequence[Probe],
    kinds: Sequence[str],
    heard: Callable[[int], None] = lambda questions: None,
    store_home: Path | None = None,
) -> tuple[list[Asked], str]:
    """Ask a model the questions of some probes.

    Args:
        model: The model.
        shown: The probes.
        kinds: Which frames the videos have, one question for each.
        heard: Called with the number of questions of which something was caught.
        store_home: A store that :func:`probes.write_store` wrote; None for a new one.

    Returns:
        What was asked, and the form of the class that the harness took: chat or simple.

    Raises:
        UserError: The model could not be loaded, or nothing was asked of it.
    """
    with tempfile.TemporaryDirectory(prefix="sight-") as folder:
        place = Path(folder)
        log, home = place / "log.txt", store_home or place / "store"
        count = iter(range(1, sys.maxsize))
        with (
            _silenced(log),
            _environment(**{store.HOME_VARIABLE: str(home), watch.VARIABLE: "on"}),
            caught.catching(lambda: heard(next(count))) as spans,
        ):
            if store_home is None:
                probes.write_store(place, kinds)
            run = _Run(spans)
            with _wrapped(run):
                words = [
                    *model.words(),
                    *("--tasks", ",".join(dict.fromkeys(each.task for each in shown))),
                    *("--batch_size", "1", "--gen_kwargs", f"max_new_tokens={ANSWER_TOKENS}"),
                    *("--output_path", str(place / "results")),
                ]
                with suppress(SystemExit):
                    if launcher.main(words) == INTERRUPTED:
                        raise KeyboardInterrupt
        if not run.found:
            raise UserError(_why_nothing_was_asked(model, run.cause, log))
    return run.found, run.form


def _why_nothing_was_asked(model: Model, cause: str, log: Path) -> str:
    """Say in one sentence why a model answered no question."""
    if cause:
        return f"{model.name} does not load with these arguments: {_first_sentence(cause)}"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    printed = [line.strip() for line in lines if line.strip()] or ["nothing"]
    own = [line for line in printed if line.startswith("lmms_eval: ")]
    last = (own or printed)[-1].removeprefix("lmms_eval: ")
    return f"{model.name} was not asked anything; the harness printed last: {_first_sentence(last)}"


def _first_sentence(text: str) -> str:
    first = re.split(r"(?<=[.!?])\s|\n", text.strip(), maxsplit=1)[0].rstrip(" .:")
    return f"{first[:_LONGEST]}..." if len(first) > _LONGEST else f"{first}."


@contextmanager
def _wrapped(run: _Run) -> Iterator[None]:
    """Wrap the class that the harness loads, until the block is left."""
    registry = import_module("lmms_eval.models.registry_v2").ModelRegistryV2
    load = registry.get_model_class
    wrapped: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, value: Any) -> None:
        wrapped.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, value)

    def get_model_class(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = run.building(load)(self, *args, **kwargs)
        if found not in [owner for owner, _, _ in wrapped]:
            replace(found, "generate_until", run.wrap(found.generate_until))
            build = run.building(found.create_from_arg_string)
            replace(found, "create_from_arg_string", staticmethod(build))
        return found

    registry.get_model_class = get_model_class
    try:
        yield
    finally:
        registry.get_model_class = load
        for owner, name, own in wrapped:
            if own is None:
                delattr(owner, name)
            else:
                setattr(owner, name, own)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _silenced(log: Path) -> Iterator[None]:
    """Send what this process prints to a file, what libraries print included."""
    kept = [os.dup(number) for number in (1, 2)]
    sys.stdout.flush()
    sys.stderr.flush()
    with log.open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
