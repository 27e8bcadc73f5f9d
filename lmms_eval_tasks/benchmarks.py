"""The benchmarks: one record each, read by every room that treats them differently.

A record is plain data. What needs imports is given as a dotted name and imported by
:func:`resolve` when it is used, so that this module loads in no time.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Repository:
    """A data set repository on the Hugging Face Hub.

    Attributes:
        name: Owner and name.
        needed: Whether the release is useless without it; if not, it is skipped with a warning
            when it cannot be downloaded.
    """

    name: str
    needed: bool = True


@dataclass(frozen=True)
class Leaderboard:
    """The file that a leaderboard takes.

    Attributes:
        format: Dotted name of its file format, a subclass of ``leaderboards.predictions.Format``.
        tasks: Split -> the tasks whose answers make up the file; the first split is the default.
        instead: Split -> tasks that are read if none of ``tasks`` was run.
        kinds: Values of the questions' ``task`` column that the leaderboard asks for; none for
            all of them.
    """

    format: str
    tasks: Mapping[str, tuple[str, ...]]
    instead: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Benchmark:
    """What the rest of the package has to know about one benchmark.

    Attributes:
        name: Its name in the store and in commands; letters and digits, no underscore.
        title: What people call it.
        splits: Its splits.
        kinds: Values of the questions' ``task`` column, each with the columns that must be
            filled in for a task that asks only such questions (BlackSwanSuite's captions).
        reader: Dotted name of the module that reads a release: ``read(release) -> Parsed`` and
            its own ``COLUMNS``.
        breakdowns: Columns by which accuracies are broken down: texts, or yes and no.
        repositories: Where the Hub has the release; empty if it does not.
        elsewhere: A sentence on how to get a release that the Hub does not have.
        sample: Dotted name of the function ``build(folder) -> list[Video]`` that writes the
            sample release; empty if the benchmark is not part of the sample.
        leaderboard: The file that its leaderboard takes, or None.
        reveals: Beginnings of kinds, from those that show least of a video to those that show
            most: a person who has seen more of it cannot answer the others.
    """

    name: str
    title: str
    splits: tuple[str, ...]
    kinds: Mapping[str, tuple[str, ...]]
    reader: str
    breakdowns: tuple[str, ...] = ()
    repositories: tuple[Repository, ...] = ()
    elsewhere: str = ""
    sample: str = ""
    leaderboard: Leaderboard | None = None
    reveals: tuple[str, ...] = ()


def resolve(name: str) -> Any:
    """Import what a dotted name of a record stands for: a module, or an attribute of one.

    Raises:
        ImportError: There is no such module.
        AttributeError: The module has no such attribute.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


_CAUSALVQA_TYPES = ("anticipation", "counterfactual", "descriptive", "hypothetical", "planning")

_ALL = (
    Benchmark(
        name="blackswan",
        title="BlackSwanSuite",
        splits=("validation", "test"),
        kinds={
            "forecaster_gen": (),
            "detective_gen": (),
            "detective_mcq": (),
            "detective_mcq_perception": ("p_preevent", "p_postevent"),
            "detective_mcq_perception_comprehension": ("p_preevent", "p_postevent", "pc_comp"),
            "detective_yn": (),
            "reporter_gen": (),
            "reporter_mcq": (),
            "reporter_yn": (),
        },
        reader="video_reasoning.tasks.blackswan.release",
        breakdowns=("difficulty",),
        repositories=(
            Repository("UBC-ViL/BlackSwanSuite-MCQ"),
            Repository("UBC-ViL/BlackSwanSuite-YN"),
            Repository("UBC-ViL/BlackSwanSuite-Gen"),
        ),
        sample="video_reasoning.tasks.sample.blackswan.build",
        leaderboard=Leaderboard(
            format="video_reasoning.tasks.leaderboards.blackswan.BlackSwan",
            tasks={
                "test": ("blackswan_test_detective_mcq", "blackswan_test_reporter_mcq"),
                "validation": ("blackswan_detective_mcq", "blackswan_reporter_mcq"),
            },
            kinds=("detective_mcq", "reporter_mcq"),
        ),
        reveals=("forecaster", "detective", "reporter"),
    ),
    Benchmark(
        name="tvbench",
        title="TVBench (TOMATO)",
        splits=("test",),
        kinds=dict.fromkeys(
            (
                "rotation",
                "direction",
                "velocity_frequency",
                "shape_trend",
                "visual_cues",
                "action_count",
            ),
            (),
        ),
        reader="video_reasoning.tasks.tvbench.release",
        breakdowns=(
            "task",
            "demonstration_type",
            "counterfactual",
            "composite",
            "zoom",
            "first_person",
            "twin",
        ),
        # The first has the videos; the second has the questions with the columns of the authors'
        # own files (motion type, variations), which the first lacks.
        repositories=(Repository("lmms-eval/TOMATO"), Repository("yale-nlp/TOMATO", needed=False)),
        sample="video_reasoning.tasks.sample.tvbench.build",
    ),
    Benchmark(
        name="causalvqa",
        title="CausalVQA",
        splits=("debug", "test"),
        kinds=dict.fromkeys(_CAUSALVQA_TYPES, ()),
        reader="video_reasoning.tasks.causalvqa.release",
        breakdowns=("type", "difficulty"),
        elsewhere=(
            "CausalVQA is not on the Hub: sign the Ego-Exo4D license, download CausalVQA.zip with "
            "the Ego4D consortium's tools (docs/data.md), and run `video-reasoning prepare "
            "causalvqa --source CausalVQA.zip`."
        ),
        sample="video_reasoning.tasks.sample.causalvqa.build",
        leaderboard=Leaderboard(
            format="video_reasoning.tasks.leaderboards.causalvqa.CausalVQA",
            tasks={"test": ("causalvqa_test",), "debug": ("causalvqa_debug",)},
            instead={
                split: tuple(f"causalvqa_{split}_{kind}" for kind in _CAUSALVQA_TYPES)
                for split in ("test", "debug")
            },
        ),
    ),
)

BENCHMARKS: Mapping[str, Benchmark] = {benchmark.name: benchmark for benchmark in _ALL}
"""Name -> record, in the order in which reports list them."""
