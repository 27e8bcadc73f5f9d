"""What must come out of runs over the sample benchmark, compared with what did.

Each of the sample's questions says what settles it (its ``evidence``). So it is known in
advance which ones ``sample_observer``, which really looks, must answer, and which ones nobody
can: those at chance prove that the tasks hide what they say they hide, and ``random_choice`` at
chance everywhere that the scoring gives nothing away.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from video_reasoning.metrics.accuracy import finite, mean
from video_reasoning.metrics.paired import expected_by_guessing
from video_reasoning.tasks import registry
from video_reasoning.tasks.results.items import Item, read_task
from video_reasoning.tasks.results.logs import Run, find_runs

LEAST = 0.95  # accuracy that `sample_observer` must reach on what can be answered, 0..1
ALPHA = 0.001
"""How often a model that guesses may fail a test against chance: about 3.3 standard errors."""

OBSERVER, RANDOM = "sample_observer", "random_choice"

_UNSCORED = ("missing", "failed", "unparsed")

SEEN = frozenset({"temporal", "static", "moment"})
"""Evidence that whoever sees the whole clip has; the hidden part counts for Reporters too."""


@dataclass(frozen=True)
class _Answer:
    """One logged answer to one question of the sample.

    ``kind`` is the kind of question; ``chance`` is what guessing gives, 0..1; ``score`` None
    if nothing was scored; ``variant`` separates the variants of one question, whose guesses may
    be the same guess.
    """

    id: str
    kind: str
    label: str
    answerable: bool
    chance: float
    score: float | None
    status: str
    qid: str
    variant: str


@dataclass
class _Row:
    """A line of the table: some items, and what is expected of them."""

    task: str
    label: str
    items: Sequence[_Answer]
    expected: str = ""
    verdict: str = ""

    @property
    def scored(self) -> list[_Answer]:
        return [item for item in self.items if item.score is not None]

    def count(self, status: str) -> int:
        return sum(item.status == status for item in self.items)

    def cells(self) -> list[str]:
        return [
            f"  {self.label}",
            f"{len(self.items):,}",
            *("n/a" if value is None else f"{value:.3f}" for value in self.values),
            self.expected.removeprefix("chance: "),
            f"[bold red]{self.verdict}[/]" if self.against else self.verdict,
        ]

    @property
    def against(self) -> bool:
        """Whether this is not as it must be."""
        return self.verdict.startswith("no")

    @property
    def values(self) -> tuple[float | None, float | None]:
        """The accuracy, and what guessing gives."""
        value = mean(item.score for item in self.items)
        return finite(value), finite(mean(item.chance for item in self.scored))

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        counts = {status: self.count(status) for status in _UNSCORED}
        accuracy, chance = self.values
        return {
            "task": self.task,
            "evidence": self.label,
            "items": len(self.items),
            **counts,
            "accuracy": accuracy,
            "chance": chance,
            "expected": self.expected,
            "verdict": self.verdict,
        }

    def unscored(self) -> str:
        """Say which of the items have no score; the empty text if all do."""
        counts = {status: self.count(status) for status in _UNSCORED}
        found = ", ".join(f"{count:,} {status}" for status, count in counts.items() if count)
        return f"{self.task}, {self.label}: {found}." if found else ""


def within_chance(chances: Sequence[float], alpha: float = ALPHA) -> tuple[int, int]:
    """Return how many right answers a guesser gives, for all but extreme luck.

    The exact distribution of the number of right answers among independent guesses, each with
    its own chance (binomial if all are equal), without the tails of at most ``alpha``/2.

    Args:
        chances: Chance of each guess to be right, 0..1.
        alpha: Probability that is cut off, both tails together.

    Returns:
        The least and the greatest number that a guesser is allowed.

    Example:
        >>> within_chance([0.5] * 10, alpha=0.05)
        (2, 8)
    """
    import numpy as np

    distribution = np.ones(1)
    for chance in chances:
        distribution = np.convolve(distribution, [1.0 - chance, chance])
    below = np.cumsum(distribution)  # of this many or fewer
    above = np.cumsum(distribution[::-1])[::-1]  # of this many or more
    allowed = np.flatnonzero((below > alpha / 2) & (above > alpha / 2))
    return int(allowed[0]), int(allowed[-1])


@dataclass
class Checked:
    """What runs over the sample gave beside what they must give.

    Attributes:
        models: Each run's name with its rows, of all tasks.
        faults: What is wrong with the logs, a sentence each.
    """

    models: dict[str, list[_Row]]
    faults: list[str]

    @property
    def sound(self) -> bool:
        """Whether there was a run over the sample and no verdict is against it."""
        rows = [row for each in self.models.values() for row in each]
        return bool(rows) and not self.faults and not any(row.against for row in rows)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        models = {name: [row.as_json() for row in rows] for name, rows in self.models.items()}
        return {"sound": self.sound, "faults": self.faults, "models": models}


def check(results: Sequence[Path]) -> Checked:
    """Compare what runs over the sample gave with what they must give.

    ``sample_observer`` must answer at least :data:`LEAST` of what can be answered (per task, and
    of CausalVQA's pairs) and be at chance on the rest; ``random_choice`` must be at chance on
    everything. ``frequent_choice`` and other models are shown without a verdict: the most
    frequent letter is right more often than chance by construction. The same goes for tasks
    that show less than the whole clip (blind, single frame, ...), except for ``random_choice``.

    Args:
        results: Output folders of the harness, results files or sample logs.

    Raises:
        UserError: If a path is not a log of the harness.
    """
    faults: list[str] = []
    models: dict[tuple[str, str], list[_Row]] = {}
    for run in find_runs(results):
        name = run.label + (f" ({run.model_args})" if run.model_args else "")
        for task in sorted(run.tasks):
            if run.tasks[task].samples is None:
                continue
            items, found = _items(run, task)
            faults += [f"{task} ({run.label}): {fault}" for fault in found]
            if items:
                models.setdefault((run.model, name), []).extend(_rows(run.model, task, items))
    names = Counter(name for _, name in models)  # two classes may have one checkpoint
    return Checked(
        {
            name if names[name] == 1 else f"{name} ({model})": [*rows, *_pooled(model, rows)]
            for (model, name), rows in models.items()
        },
        faults,
    )


def show(found: Checked, results: Sequence[Path]) -> None:
    """Print a table of each model, and whether everything came out as it must."""
    from rich.console import Console

    console = Console()
    for fault in found.faults:
        console.print(fault, markup=False, highlight=False)
    for name, rows in found.models.items():
        console.print(_table(name, rows))
        for sentence in filter(None, (row.unscored() for row in rows)):
            console.print(sentence, markup=False, highlight=False)
        console.print()
    if not found.models:
        console.print(
            f"No run over the sample benchmark in {', '.join(map(str, results))}: write it with "
            "`video-reasoning sample --out demo`, run its tasks with --log_samples and "
            "--output_path, and name that folder.",
            markup=False,
            highlight=False,
        )
    else:
        verdicts = Counter(
            row.verdict.partition(":")[0] for rows in found.models.values() for row in rows
        )
        console.print(_closing(verdicts["ok"], verdicts["no"], found.sound), highlight=False)


def _closing(n_ok: int, n_against: int, sound: bool) -> str:
    if not sound:
        return f"Not everything came out as it must; verdicts that say no: {n_against}."
    if not n_ok:
        return f"No verdict: only {OBSERVER} and {RANDOM} have results that are known in advance."
    return f"Everything came out as it must: {n_ok} verdicts, all ok."


def _items(run: Run, task: str) -> tuple[list[_Answer], list[str]]:
    """Return the answers to questions of the sample, and a sentence for each fault of the log."""
    log = read_task(run, task, check=False)
    if log.problem:
        return [], [log.problem] if task in registry.our_tasks() else []
    if not log.sample:
        return [], []
    known = [item for item in log.items if item.target == (item.question.get("answer") or "")]
    # Free text is right or wrong by degrees.
    items = [_answer(item) for item in known if not item.question["task"].endswith("_gen")]
    faults = [log.odd.sentence(log.log)] if log.odd.count else []
    strangers = len(log.items) - len(known)
    if strangers and items:
        faults.append(
            f"{strangers} of the answers are to other questions than the prepared ones; "
            "run the tasks again."
        )
    return items, faults


def _answer(item: Item) -> _Answer:
    kind = str(item.question["task"])
    evidence = str(item.question.get("evidence") or "not said")
    return _Answer(
        id=item.id,
        kind=kind,
        label=evidence + (f", {item.condition}" if item.condition else ""),
        answerable=evidence in SEEN or (evidence == "hidden" and kind.startswith("reporter")),
        chance=expected_by_guessing(item.n_options or 2).unpaired,
        score=item.score,
        status=item.status,
        qid=item.groups.get("qid", ""),
        variant=item.groups.get("variant", ""),
    )


def _shows_all(task: str, kind: str) -> bool:
    """Tell whether a task shows the clip as the benchmark means it, with the plain prompt."""
    return task in {
        "tvbench_tomato",
        f"tvbench_tomato_{kind}",
        *(f"blackswan_{split}{kind}{view}" for split in ("", "test_") for view in ("", "_clips")),
        *(f"causalvqa_{split}{part}" for split in ("debug", "test") for part in ("", f"_{kind}")),
    }


def _rows(model: str, task: str, items: Sequence[_Answer]) -> list[_Row]:
    """Return the rows of one task, each with its verdict."""
    rows = []
    whole = all(_shows_all(task, kind) for kind in {item.kind for item in items})
    for label in sorted({item.label for item in items}):
        row = _Row(task, label, [item for item in items if item.label == label])
        if model == RANDOM or (model == OBSERVER and whole and not row.items[0].answerable):
            _expect_chance(row, by_variant=model == OBSERVER)
        rows.append(row)
    answerable = [item for item in items if item.answerable]
    if model == OBSERVER and whole and answerable:
        row = _Row(task, "all answerable", answerable)
        _expect_known(row)
        rows.append(row)
    pairs = _pairs(answerable)
    if pairs:
        row = _Row(task, "answerable pairs", pairs)
        if model == OBSERVER and whole:
            _expect_known(row)
        elif model == RANDOM:
            _expect_chance(row, by_variant=False)
        rows.append(row)
    return rows


def _pairs(items: Iterable[_Answer]) -> list[_Answer]:
    """Return one item per question with two scored variants: right if both are."""
    groups: dict[str, list[_Answer]] = {}
    for item in items:
        if item.qid and item.score is not None:
            groups.setdefault(item.qid, []).append(item)
    return [
        replace(
            group[0],
            id=qid,
            label="pairs",
            chance=math.prod(item.chance for item in group),
            score=min(item.score or 0.0 for item in group),
            status="answered",
            variant="",
        )
        for qid, group in groups.items()
        if len(group) == 2
    ]


def _pooled(model: str, rows: Sequence[_Row]) -> list[_Row]:
    """Pool what cannot be known over all tasks: each alone may have too few items to tell."""
    pools: dict[str, dict[tuple[str, str], _Answer]] = {}
    for row in rows:
        if row.expected.startswith("chance") and row.label != "answerable pairs":
            pool = pools.setdefault(row.task.partition("_")[0], {})
            pool.update({(item.id, item.label): item for item in row.scored})
    pooled = []
    for benchmark, pool in pools.items():
        if pool:
            row = _Row(f"{benchmark}: all tasks", "all at chance", list(pool.values()))
            _expect_chance(row, by_variant=model == OBSERVER)
            pooled.append(row)
    return pooled


def _expect_known(row: _Row) -> None:
    row.expected = f"at least {LEAST:.2f}"
    if row.count("missing"):
        row.verdict = "no: videos are missing"
    elif row.scored:
        value = mean(item.score for item in row.items)
        row.verdict = "ok" if value >= LEAST else "no: too low"
    else:
        row.verdict = _unscored(row)


def _expect_chance(row: _Row, *, by_variant: bool) -> None:
    """Compare a row with chance; the variants each for themselves, together at ALPHA."""
    row.expected = "chance"
    if not row.scored:
        row.verdict = _unscored(row)
        return
    parts: dict[str, list[_Answer]] = {}
    for item in row.scored:
        parts.setdefault(item.variant if by_variant else "", []).append(item)
    ranges, verdicts = [], set()
    for _, part in sorted(parts.items()):
        total, right = len(part), round(sum(item.score or 0.0 for item in part))
        least, most = within_chance([item.chance for item in part], ALPHA / len(parts))
        ranges.append(f"{least / total:.2f} to {most / total:.2f}")
        if not least <= right <= most:
            verdicts.add("no: too high" if right > most else "no: too low")
        elif (least, most) != (0, total):
            verdicts.add("ok")
    row.expected = "chance: " + "; ".join(dict.fromkeys(ranges))
    row.verdict = min(verdicts, default="too few")  # a "no" is before "ok"


def _unscored(row: _Row) -> str:
    return "withheld" if row.count("withheld") else "no: nothing was scored"


def _table(name: str, rows: Sequence[_Row]) -> Any:
    """Return the rows below their tasks, in at most 80 columns."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=name,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("task, evidence", max_width=28, overflow="fold")
    for column in ("items", "accuracy", "chance"):
        table.add_column(column, justify="right")
    table.add_column("expected", max_width=14)
    table.add_column("verdict", max_width=13)
    previous = ""
    for row in rows:
        if row.task != previous:
            if previous:
                table.add_section()
            table.add_row(row.task)
        table.add_row(*row.cells())
        previous = row.task
    return table
