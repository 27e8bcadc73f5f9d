"""What the generated tasks of an audit call: the task's own functions, with other visuals.

Beside each generated YAML is a module of a few lines that binds a :class:`Hooks` to it, so that a
plain ``lmms-eval --include_path`` runs the tasks as well. The harness calls the task's functions
from several threads, and executes that module each time the YAML names it: a :class:`Hooks` has
no state, and what was shown is remembered in this module.
"""

from __future__ import annotations

import copy
import functools
import inspect
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from loguru import logger

from video_reasoning.metrics.answers import extract_choice
from video_reasoning.preprocessing.sampling import random_index, uniform_indices
from video_reasoning.preprocessing.wanted import is_gathering
from video_reasoning.tasks import sight
from video_reasoning.tasks.audit.harness import load_config
from video_reasoning.tasks.audit.network import NetworkBlockedError, blocked_network, sends
from video_reasoning.tasks.audit.notes import (
    AUDIT,
    Note,
    add_problem,
    write_documents,
    write_places,
)
from video_reasoning.tasks.audit.plan import FILE, AuditedTask, Plan, read_plan
from video_reasoning.tasks.audit.schemas import (
    MARK,
    Options,
    OptionShape,
    document_key,
    drawn_rows,
    find_shape,
    item_id,
    letter,
    video_name,
)
from video_reasoning.tasks.audit.scores import Metric, metrics_of, read_scores
from video_reasoning.tasks.audit.variants import Variant
from video_reasoning.tasks.audit.visuals import (
    NotShownError,
    Shower,
    Shown,
    described,
    kind_of,
    placeholder_for,
    sources_of,
    visuals_of,
)
from video_reasoning.tasks.media import WHOLE, clock_for, in_form

__all__ = ["Hooks"]

Result = TypeVar("Result")

_MOST_REMEMBERED = 1_000_000

_shown: dict[tuple[str, str], tuple[str, str]] = {}
_failed: dict[tuple[str, str], str] = {}
# Variant and document -> shape and source of what this process showed, or why it could not. A
# process scores what it has shown, and finds it here. Documents and not ids, which may repeat.


_documents: dict[str, Sequence[Mapping[str, Any]]] = {}
"""Generated task that shows other questions' videos -> the documents that they are taken from."""

_TRIES = 50
"""Documents that are drawn for another video before all are looked through."""

_repeated: dict[str, frozenset[str]] = {}
"""Generated task -> ids that several of its documents have, noted when they are loaded."""


class Hooks:
    """The functions of one generated task.

    Args:
        plan: The audit.
        task: The audited task.
        variant: How its questions are asked.
        folder: Folder of the generated tasks.
    """

    def __init__(self, plan: Plan, task: AuditedTask, variant: Variant, folder: Path) -> None:
        self._plan = plan
        self._task = task
        self._variant = variant
        self._name = task.variant_name(variant)
        self._config: dict[str, Any] = {**_original(task.yaml), **task.overrides}
        self._folder = folder

    @classmethod
    def of(cls, module: str) -> Hooks:
        """Return the hooks of a generated module, whose stem names task and variant."""
        path = Path(module)
        plan = read_plan(path.with_name(FILE))
        task, variant = plan.find(path.stem)
        return cls(plan, task, variant, path.parent)

    def doc_to_visual(
        self, document: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None
    ) -> list[Any]:
        """Return the task's visuals under the variant's condition."""
        given: Any = None
        try:
            with sight.silent():
                given = self._given(document, lmms_eval_specific_kwargs)
            if self._variant.condition is None:
                self._note(document, given)
                return given if isinstance(given, list) else [given]
            specific = lmms_eval_specific_kwargs
            shown = self._shown(document, given, specific)
            visuals = in_form(shown.visuals, specific, self._variant.condition)
        except (Exception, SystemExit) as error:
            return self._not_shown(document, error, given)
        self._remember(document, shown.shape, shown.source, shown.visuals)
        return visuals

    def doc_to_messages(
        self, document: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None
    ) -> Any:
        """Return the task's chat messages, with their video parts under the variant's condition."""
        messages: Any = None
        try:
            with sight.silent():
                messages = self._messages(document, lmms_eval_specific_kwargs)
            if self._variant.condition is None:
                self._note(document, visuals_of(messages))
                return messages
            specific = lmms_eval_specific_kwargs
            shower, given = self._shower(specific), visuals_of(messages)
            if self._variant.kind == "swapped":
                show = partial(shower.replace, messages)
                replaced, shown = self._instead(
                    document, given, specific, self._visuals_of_messages, show
                )
                shape, source = described(given)
                shown = replace(shown, shape=shape, source=source)
            else:
                replaced, shown = shower.replace(messages, given, *self._draw(document))
        except (Exception, SystemExit) as error:
            return _with_placeholder(messages, self._not_shown(document, error, None))
        self._remember(document, shown.shape, shown.source, shown.visuals)
        return replaced

    def doc_to_text(
        self, document: Mapping[str, Any], lmms_eval_specific_kwargs: Any = None
    ) -> Any:
        """Return the task's prompt, with as many marks of pictures in it as pictures are shown.

        Some tasks put ``<image>`` into the text for every frame, and models count them.
        """
        shown = self._with_condition(document)
        if shown is not document and isinstance(lmms_eval_specific_kwargs, Mapping):
            # A condition in the task's YAML would win over the variant's.
            lmms_eval_specific_kwargs = {**lmms_eval_specific_kwargs, "condition": ""}
        specific = [] if lmms_eval_specific_kwargs is None else [lmms_eval_specific_kwargs]
        text = self._config["doc_to_text"](shown, *specific)
        marks = len(MARK.findall(text)) if isinstance(text, str) else 0
        if self._variant.condition is None or not marks:
            return text
        if self._variant.base_kind == "blind":
            return MARK.sub("", text)
        if marks == 1 or "<video>" in text:
            return text
        return _with_marks(text, self._n_images(document, lmms_eval_specific_kwargs, marks))

    def _n_images(self, document: Mapping[str, Any], specific: Any, marks: int) -> int:
        """How many pictures are shown of a task whose text marks several."""
        try:
            with sight.silent():
                given = self._given(document, specific)
            shown = self._shown(document, given, specific)
        except KeyError:
            # The prompt is written from a document without its pictures, so that a task that
            # keeps them there cannot show them yet.
            condition = self._variant.condition
            return min(marks, condition.m) if condition else marks
        except (Exception, SystemExit):
            return 1  # the placeholder
        return min(marks, len([visual for visual in shown.visuals if kind_of(visual) != "sound"]))

    def process_docs(self, dataset: Any) -> Any:
        """Return the documents to ask: with a pick, or with options that can be reordered."""
        own = self._config.get("process_docs")
        split = str(getattr(dataset, "split", None) or "")
        dataset = own(dataset) if callable(own) else dataset
        asked = self._config.get("test_split") or self._config.get("validation_split")
        if split and split != asked:
            return dataset  # examples to learn from stay as they are
        counts = Counter(item_id(document) for document in _plain(dataset))
        _repeated[self._name] = frozenset(name for name, count in counts.items() if count > 1)
        places: Sequence[int] = range(len(dataset))
        if self._plan.sample is not None:
            groups, seed = self._plan.groups(self._task), self._plan.seed
            drawn = drawn_rows([*_plain(dataset)], self._plan.sample, seed, groups)
            dataset, places = _selected(dataset, drawn), drawn
        if self._variant.kind == "swapped":
            _documents[self._name] = dataset
        if self._variant.kind == "handpicked":
            dataset = self._picked(dataset, places)
        elif self._variant.order or self._variant.kind == "options":
            dataset = self._changed(dataset, places)
        elif self._plan.sample is not None:
            named = zip(places, map(item_id, _plain(dataset)), strict=True)
            write_places(self._folder, self._name, list(named))
        if not callable(self._config.get("process_results")):
            # The harness scores the responses itself and does not call the audit then: what the
            # evaluation has to know about the documents is noted here.
            rows = [(item_id(row), video_name(row), document_key(row)) for row in _plain(dataset)]
            write_documents(self._folder, self._name, rows)
        return dataset

    def _picked(self, dataset: Any, places: Sequence[int]) -> Any:
        """Return the documents with a pick."""
        ids = [item_id(document) for document in _plain(dataset)]
        repeated = _repeated[self._name]
        if double := repeated & self._task.picks.keys():
            logger.warning(
                f"{self._name}: {len(double):,} picks name more than one question each "
                f"({', '.join(sorted(double)[:3])}, ...); those are left out."
            )
        picked = self._task.picks.keys() - repeated
        rows = [row for row, name in enumerate(ids) if name in picked]
        return self._chosen(dataset, rows, ids, places)

    def process_results(
        self, document: Mapping[str, Any], results: Sequence[Any], **more: Any
    ) -> dict[str, Any]:
        """Return what the task's own function returns, and under ``audit`` what the audit needs."""
        name, place = item_id(document), (self._name, document_key(document))
        shown, problem = _shown.get(place), _failed.get(place, "")
        saw = sight.Sight() if problem else sight.sight_of(self._name, self._asked(document))
        frames: dict[str, Any] = {
            "frames_shown": saw.shown,
            "frames_seen": saw.seen,
            "frames_in_order": saw.ordered,
        }
        note = Note(
            id=name,
            video=_video(document, shown[1] if shown else ""),
            groups={
                rule.name: group
                for rule in self._plan.groups(self._task)
                if (group := rule.of(document))
            },
            key=place[1] if name in _repeated.get(self._name, ()) else "",
            shape=shown[0] if shown else "",
            # Scored as the task scores it, but marked: what was shown was a placeholder.
            problem=problem,
            unseen=not shown and not problem,  # answered from a cache, or by another process
            **frames,
        )
        try:
            # A copy: some tasks write into the document, which is scored once for each repeat.
            returned = self._config["process_results"](dict(document), results, **more)
            if not isinstance(returned, Mapping):
                raise TypeError(f"it returned a {type(returned).__name__}, not a dict of metrics")
        except (Exception, SystemExit) as error:
            # The harness would retry it and then drop the whole run.
            logger.error(f"{self._name} {name}: the task could not score a response: {error!r}")
            failed = f"the task's process_results failed with {error!r}"
            return {AUDIT: replace(note, problem=problem or failed).as_logged()}
        scores = read_scores(returned, self._metrics, str(self._config.get("score_key", "score")))
        shape = self._shape([document])
        options = shape.read(document) if shape else None
        note = replace(
            note,
            scores={metric: (score.value, score.rule) for metric, score in scores.items()},
            options=len(options.texts) if options else 0,
            right=letter(options.right) if options else "",
            chosen=_chosen_of(results, options),
        )
        # A task that counts them itself knows only the video that its frames were taken from.
        counted = {name: value for name, value in frames.items() if name in returned}
        return {**returned, **counted, AUDIT: note.as_logged()}

    def aggregation(self, number: int) -> Callable[..., Any]:
        """Return the task's aggregation of a metric, as one that no answers can break."""
        own = self._config["metric_list"][number]["aggregation"]

        @functools.wraps(own)
        def aggregation(items: Any, *arguments: Any, **named: Any) -> Any:
            if "args" in named:
                # Each variant writes its submission file for itself.
                named["args"] = self._own_folder(named["args"])
            if means := sends(own):
                logger.warning(
                    f"{self._name}: the aggregation {own.__name__} is not run, as it sends the "
                    f"answers to a server ({means})."
                )
                return None
            try:
                with blocked_network():
                    return own(items, *arguments, **named)
            except NetworkBlockedError as error:
                logger.error(
                    f"{self._name}: the aggregation {own.__name__} was stopped: {error}; an audit "
                    "sends no answers anywhere."
                )
            except (Exception, SystemExit) as error:
                logger.error(f"{self._name}: the task's aggregation failed: {error!r}")
            return None

        return aggregation

    def __getattr__(self, name: str) -> Any:
        # The YAML names an attribute of a module: aggregation_0, aggregation_1, ...
        stem, _, number = name.rpartition("_")
        if stem == "aggregation" and number.isdigit():
            return self.aggregation(int(number))
        raise AttributeError(name)

    def _shower(self, specific: Any) -> Shower:
        if self._variant.condition is None:
            raise ValueError(f"{self._variant.name} has no condition")
        # Changed documents may have other draws.
        changed = self._variant.order or self._variant.kind == "options"
        variants = [self._variant] if changed else self._plan.variants
        together = tuple(v.condition for v in variants if v.condition is not None)
        clock = clock_for(specific, together)
        return Shower(self._variant.condition, together, self._plan.clips, clock)

    def _shown(self, document: Mapping[str, Any], given: Any, specific: Any) -> Shown:
        """Return what is shown of a document, or of another one in its place."""
        shower = self._shower(specific)
        if self._variant.kind != "swapped":
            return shower.show(given, *self._draw(document))
        shown = self._instead(document, given, specific, self._given, shower.show)
        shape, source = described(given)
        return replace(shown, shape=shape, source=source)

    def _instead(
        self,
        document: Mapping[str, Any],
        given: Any,
        specific: Any,
        read: Callable[[Mapping[str, Any], Any], Any],
        show: Callable[[Any, str, int | None], Result],
    ) -> Result:
        """Show the video of another document that is asked, never the document's own.

        Args:
            document: The document asked.
            given: Its visuals.
            specific: The task's settings.
            read: From a document to its visuals.
            show: From visuals, the key of their draws and a pick to what is shown.

        Raises:
            NotShownError: No other can be shown.
        """
        documents = _documents.get(self._name, ())
        n_asked = min(len(documents), self._plan.limit or len(documents))
        own, name, key = sources_of(given), video_name(document), document_key(document)
        seed = self._variant.condition.seed if self._variant.condition else 0
        drawn = (
            random_index(n_asked, f"{key}\x00swapped{number}", seed)
            for number in range(_TRIES if n_asked else 0)
        )
        for row in chain(drawn, range(n_asked)):
            other = documents[row]
            others_name = video_name(other)
            if name and others_name == name:
                continue
            try:
                with sight.silent():
                    visuals = read(other, specific)
                # Pictures of two videos may begin alike; their names tell them apart.
                known = name and others_name and not any(map(os.path.isabs, own))
                if known or not sources_of(visuals) & own:
                    return show(visuals, *self._draw(other))
            except (Exception, SystemExit):  # whatever is wrong with it: the next one will do
                continue
        raise NotShownError("no question about another video can be shown")

    def _visuals_of_messages(self, document: Mapping[str, Any], specific: Any) -> Any:
        return visuals_of(self._messages(document, specific))

    def _draw(self, document: Mapping[str, Any]) -> tuple[str, int | None]:
        """Return what a document's draws depend on, and its handpicked frame."""
        return self._draw_key(document), self._task.picks.get(item_id(document))

    def _draw_key(self, document: Mapping[str, Any]) -> str:
        """Return the question's id, or a name of the document if other questions have it too."""
        name = item_id(document)
        return document_key(document) if name in _repeated.get(self._name, ()) else name

    @property
    def _metrics(self) -> list[Metric]:
        return metrics_of(self._config)

    def _given(self, document: Mapping[str, Any], specific: Any) -> Any:
        """Return the task's own visuals, from its function called as the harness calls it."""
        own = self._config.get("doc_to_visual")
        if self._variant.condition is not None:
            # Frames are chosen from the whole video, not from those that the task has chosen.
            own = getattr(own, WHOLE, own)
        if not callable(own):
            return own
        if specific is not None and len(inspect.signature(own).parameters) == 2:
            return own(document, specific)
        return own(document)

    def _with_condition(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the document with the condition in it, for a task whose prompt depends on that."""
        if self._variant.condition and hasattr(self._config.get("doc_to_visual"), WHOLE):
            return {**document, "condition": self._variant.condition.name}
        return document

    def _messages(self, document: Mapping[str, Any], specific: Any) -> Any:
        own = self._config["doc_to_messages"]
        parameters = inspect.signature(own).parameters
        takes = (
            "lmms_eval_specific_kwargs" in parameters
            or len(parameters) == 2
            or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
        )
        if specific is not None and takes:
            return own(document, lmms_eval_specific_kwargs=specific)
        return own(document)

    def _note(self, document: Mapping[str, Any], given: Any) -> None:
        """Remember what the task itself shows."""
        visuals = given if isinstance(given, list) else [given]
        try:
            self._remember(document, *described(given), visuals)
        except NotShownError:
            self._remember(document, visuals=visuals)

    def _remember(
        self,
        document: Mapping[str, Any],
        shape: str = "",
        source: str = "",
        visuals: Sequence[Any] = (),
    ) -> None:
        if is_gathering():
            return
        condition, kinds = self._variant.condition, [kind_of(visual) for visual in visuals]
        known = condition and (not condition.m or kinds == ["video"])
        frames = condition.m if condition and known else None
        if condition and known and condition.kind in ("frozen", "black"):
            frames = 1  # different ones
        sight.note(self._name, self._asked(document), frames, visuals)
        place = self._name, document_key(document)
        if len(_shown) < _MOST_REMEMBERED:
            _shown[place] = shape, source
        _failed.pop(place, None)

    def _not_shown(
        self, document: Mapping[str, Any], error: BaseException, given: Any
    ) -> list[Any]:
        if is_gathering():
            return []
        place = self._name, document_key(document)
        reason = str(error) if isinstance(error, NotShownError) else f"the task failed: {error!r}"
        if place not in _failed:
            logger.warning(f"{self._name} {item_id(document)}: shown as missing: {reason}")
            if not callable(self._config.get("process_results")):
                add_problem(self._folder, self._name, place[1], reason)
        _failed[place] = reason
        _shown.pop(place, None)
        sight.note(self._name, self._asked(document), None, ())
        if self._variant.base_kind == "blind":
            return []
        try:
            return placeholder_for(given)
        except Exception:
            return placeholder_for(None)

    def _asked(self, document: Mapping[str, Any]) -> dict[str, str]:
        """Return what names a document where the frames that reach the model are counted."""
        return {"id": document_key(document), "condition": self._variant.name}

    def _own_folder(self, arguments: Any) -> Any:
        folder = getattr(arguments, "output_path", None)
        if not folder:
            return arguments
        own = copy.copy(arguments)
        own.output_path = str(Path(folder) / "submissions" / self._name)
        Path(own.output_path).mkdir(parents=True, exist_ok=True)
        return own

    def _shape(self, documents: Sequence[Mapping[str, Any]]) -> OptionShape | None:
        declared = [OptionShape.parse(text) for text in self._plan.option_fields]
        return find_shape(documents, declared)

    def _changed(self, dataset: Any, places: Sequence[int]) -> Any:
        """Return the documents that can be changed as the variant says, changed.

        Their options are put in another order, or their question is left out.
        """
        plain = _plain(dataset)
        documents = [dict(row) for row in plain]
        shape = self._shape(documents)
        if shape is None:
            logger.warning(
                f"{self._name}: no options are found among {', '.join(dataset.column_names)}; name "
                "them with --option-fields."
            )
            return self._chosen(dataset, [], [], places)
        changes: dict[int, dict[str, Any]] = {}
        for row, document in enumerate(documents):
            if self._variant.kind == "options":
                change = shape.without_question(document)
            else:
                order = self._order(shape.read(document), self._draw_key(document))
                change = shape.reorder(document, order) if order else None
            if change:
                changes[row] = change
        ids = [item_id(document) for document in documents]
        chosen = self._chosen(dataset, list(changes), ids, places)
        for name in dict.fromkeys(name for change in changes.values() for name in change):
            feature = dataset.features[name]
            column = [
                changes[row].get(name, documents[row][name]) for row in list(changes)[: len(chosen)]
            ]
            if column:
                chosen = chosen.remove_columns(name).add_column(name, column)
                chosen = chosen.cast_column(name, feature)
        return chosen

    def _order(self, options: Options | None, key: str) -> list[int] | None:
        """Return the other order of a question's options; None if it is not to be asked."""
        number, kind = self._variant.order, self._variant.kind
        if options is None:
            return None
        if kind == "rotated":
            asked = sum(variant.kind == kind for variant in self._plan.asked(self._task))
            # A question counts only if every rotation is asked.
            return options.rotated(number) if len(options.movable) <= asked + 1 else None
        seed = self._variant.condition.seed if self._variant.condition else 0
        orders = [options.order(key, each, seed) for each in range(1, number + 1)]
        order = orders.pop()
        # An order that was asked before says nothing more.
        return order if kind == "reordered" or order not in orders else None

    def _chosen(
        self, dataset: Any, rows: Sequence[int], ids: Sequence[str], places: Sequence[int]
    ) -> Any:
        """Return some of the documents, and a note for the evaluation of which they are.

        Args:
            dataset: The documents.
            rows: Those to ask.
            ids: The id of each document.
            places: The place of each among the task's own documents.
        """
        if self._plan.limit is not None:
            # The limit means the same questions under every condition.
            rows = [row for row in rows if row < self._plan.limit]
        write_places(self._folder, self._name, [(places[row], ids[row]) for row in rows])
        # The harness fails on a task without documents: one is asked, and does not count.
        return _selected(dataset, list(rows) or [0])


def _selected(dataset: Any, rows: Sequence[int]) -> Any:
    """Return some of the documents; some tasks give a list of them."""
    return dataset.select(rows) if hasattr(dataset, "select") else [dataset[row] for row in rows]


def _chosen_of(results: Sequence[Any], options: Options | None) -> str:
    """Return the letter of the option that a response chooses, or the empty text."""
    if options is None or not letter(len(options.texts) - 1) or not results:
        return ""
    said = results[0]
    return (extract_choice(said, options.texts) or "") if isinstance(said, str) else ""


_original = lru_cache(maxsize=256)(load_config)


def _video(document: Mapping[str, Any], source: str) -> str:
    """Return the video that a document is about: the file shown if it is one, or what it names."""
    named = video_name(document)
    if source.startswith("frames-"):
        return named or source
    return source or named or document_key(document)


def _plain(dataset: Any) -> Any:
    """Return a dataset without the columns that would decode pictures, sound or video."""
    media = [
        name
        # Some tasks give a list, which has no features.
        for name, feature in (getattr(dataset, "features", None) or {}).items()
        if type(feature).__name__ in ("Image", "Video", "Audio")
        or type(getattr(feature, "feature", None)).__name__ in ("Image", "Video", "Audio")
    ]
    return dataset.remove_columns(media) if media else dataset


def _with_marks(text: str, count: int) -> str:
    """Return the text with some of its marks of pictures, at equal distances."""
    marks = list(MARK.finditer(text))
    kept = set(uniform_indices(len(marks), count)) if count else set()
    parts, end = [], 0
    for number, mark in enumerate(marks):
        parts.append(text[end : mark.end() if number in kept else mark.start()])
        end = mark.end()
    return "".join([*parts, text[end:]])


def _with_placeholder(messages: Any, visuals: Sequence[Any]) -> Any:
    """Messages that can be sent where the task's own cannot: their text and a placeholder."""
    texts = [
        part
        for message in messages or []
        if isinstance(message, Mapping) and isinstance(message.get("content"), list)
        for part in message["content"]
        if isinstance(part, Mapping) and part.get("type") == "text"
    ]
    shown = [
        {"type": "video" if isinstance(visual, str) else "image", "url": visual}
        for visual in visuals
    ]
    content = [*shown, *(texts or [{"type": "text", "text": ""}])]
    return [{"role": "user", "content": content}]
