"""Every table that a command prints has its whole words in 80 and in 120 columns."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from tests.docs.commands import ROOT
from video_reasoning.metrics.intervals import Estimate
from video_reasoning.tasks.audit import output, preflight
from video_reasoning.tasks.audit.result import AuditResult
from video_reasoning.tasks.cli import doctor, score
from video_reasoning.tasks.results import principles
from video_reasoning.tasks.sample import known

TASK = "blackswan_test_detective_mcq_perception_comprehension"
"""The longest of our names."""
WIDE = Estimate(9.99, -1.0, 99.99, 0.95, 1484, 1417)


def sample() -> Any:
    items = [SimpleNamespace(score=True, chance=0.333, status="answered")] * 1484
    rows = [
        known._Row(TASK, "all answerable", items, "chance: 0.10 to 0.57; 0.20 to 0.60", "ok"),
        known._Row(TASK, "answerable pairs", items, "at least 0.95", "no: too high"),
    ]
    return known._table("sample_observer", rows)


def audit() -> Any:
    names = ("ordered16", "shuffled16", "handpicked1", "reordered")
    result = AuditResult(
        TASK, (TASK,), metric="accuracy", rule="number", n=1484, chance=0.25,
        missing=dict.fromkeys(names, 1484), accuracies=dict.fromkeys(names, WIDE),
        ratios={"kappa_handpicked1": WIDE, "tau": WIDE}, paired={"reordered": WIDE},
    )  # fmt: skip
    return output._table(result)


def joined() -> Any:
    labels = ("Qwen2.5-VL-7B-Instruct", "2 of 3 models", "  of guessing models")
    return output.classes_table(dict.fromkeys(labels, ["1,484"] * 6))


def preflighted() -> Any:
    check = preflight.Check(questions=1484, score="number", looked_at=20, options=20, timed=20)
    plan = SimpleNamespace(refused={f"{TASK}_2": "its data cannot be loaded: no such dataset"})
    return preflight.table(plan, {TASK: check})


def scores() -> Any:
    entry = {"value": 0.1234, "stderr": 0.0123, "questions": 1484, "dropped_pairs": 120}
    log = SimpleNamespace(task=TASK, run=SimpleNamespace(label="Qwen2.5-VL-7B-Instruct"))
    names = ("clip_score", "llm_match", "bleu", "rouge_l")
    found = SimpleNamespace(log=log, metrics=dict.fromkeys(names, entry), left_out=1484)
    return score._table([found])


def ratios() -> Any:
    measures = dict.fromkeys(principles.MEASURES, WIDE)
    part = SimpleNamespace(
        name=principles.ALL, measures=measures, undefined={"rho": "Acc handpicked1 is 0"}
    )
    run = SimpleNamespace(
        label="Qwen2.5-VL-7B-Instruct", model_args="", begun="2026-11-22 10:54 UTC"
    )
    found = SimpleNamespace(run=run, parts=[part], annotators={}, notes=[], log=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(principles, "signature", lambda _: "signature")
        patch.setattr(principles, "_counts", lambda _: "counts")
        return principles.render(found)


def installed() -> Any:
    packages = {"lmms-eval-video-reasoning": "0.2.0", "opencv-python-headless": None}
    found = {"python": "3.12.11", "packages": packages, "optional": {"distributed": None}}
    return doctor.table(found)


TABLES: dict[str, Callable[[], Any]] = {
    "check-sample": sample,
    "audit": audit,
    "audit --check": preflighted,
    "audit join": joined,
    "doctor": installed,
    "score": scores,
    "principles": ratios,
}


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits(name: str, width: int) -> None:
    console = Console(width=width, file=io.StringIO())
    console.print(TABLES[name]())
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= width
    assert "…" not in printed
    # Nothing is lost by being broken over lines: a wide terminal shows the same characters.
    wide = Console(width=400, file=io.StringIO())
    wide.print(TABLES[name]())
    assert letters(printed) == letters(wide.file.getvalue())


def letters(text: str) -> list[str]:
    """The characters of a table without its rules and spaces, in any order."""
    return sorted(each for each in text if each.isalnum())


def test_no_table_is_forgotten() -> None:
    """A command with a new table of rich's is added above; sight has a test of its own."""
    elsewhere = {"cli/sight.py"}
    folder = ROOT / "lmms_eval_tasks"
    found = {
        str(Path(file).relative_to(folder))
        for file in folder.rglob("*.py")
        if " Table(" in file.read_text(encoding="utf-8")
    }
    assert found - elsewhere == {
        "audit/output.py", "audit/preflight.py", "cli/doctor.py", "cli/score.py",
        "results/principles.py", "sample/known.py",
    }  # fmt: skip
