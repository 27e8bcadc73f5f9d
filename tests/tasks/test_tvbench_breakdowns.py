"""The whole of TVBench broken down: variations, who is shown, and real and simulated twins."""

from __future__ import annotations

import copy
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tasks.releases import tvbench_question, write_tvbench
from video_reasoning.tasks import scoring
from video_reasoning.tasks.release.source import Release
from video_reasoning.tasks.tvbench import release, tasks

ANNOTATIONS = Path(__file__).resolve().parents[3] / "shared" / "reference" / "tomato"
NOTE = "Ada moving her hand"


def person(key: str, **changes: Any) -> dict[str, Any]:
    return tvbench_question(key=key, demonstration_type="human", note=NOTE, **changes)


def simulated(key: str, **changes: Any) -> dict[str, Any]:
    note = f"synthetic human; {NOTE}"
    return tvbench_question(key=key, demonstration_type="simulated", note=note, **changes)


def read(source: Path, scratch: Path) -> Any:
    return release.read(Release(source, scratch))


@pytest.mark.parametrize(
    ("questions", "twins"),
    [
        # The answer is the same, in another place.
        (
            [person("1-0"), simulated("1-1", options=["Left.", "Up."], answer=0)],
            ["twin_real", "twin_simulated"],
        ),
        # Two of a kind: which is whose twin does not matter for either side's accuracy.
        (
            [person("1-0"), person("1-1"), simulated("1-2"), simulated("1-3")],
            ["twin_real"] * 2 + ["twin_simulated"] * 2,
        ),
        # Three answers and two recordings part them.
        (
            [person("1-0"), person("2-0"), person("1-1", answer=1), simulated("1-2")],
            ["twin_real", "", "", "twin_simulated"],
        ),
        # Which of two is the twin cannot be known.
        ([person("1-0"), person("1-1"), simulated("1-2")], ["", "", ""]),
        ([simulated("1-0")], [""]),
        ([person("1-0")], [""]),
    ],
)
def test_twins_are_marked_only_if_they_are_known(
    tmp_path: Path, questions: list[dict[str, Any]], twins: list[str]
) -> None:
    rows = {str(n): row for n, row in enumerate(questions)}
    parsed = read(write_tvbench(tmp_path / "r", rows, videos=False), tmp_path)
    assert [item.values["twin"] for item in parsed.items] == twins
    unknown = (
        sum(row["demonstration_type"] == "simulated" for row in questions) if not any(twins) else 0
    )
    notes = [note for note in parsed.notes if "no twin" in note]
    assert [note.split()[0] for note in notes] == ([str(unknown)] if unknown else [])


@pytest.mark.skipif(not ANNOTATIONS.is_dir(), reason="TVBench's real annotation files are absent")
def test_the_real_questions_have_101_pairs_of_twins(tmp_path: Path) -> None:
    shutil.copytree(ANNOTATIONS, tmp_path / "data")
    parsed = read(tmp_path, tmp_path)
    twins = Counter((item.values["twin"], item.values["task"]) for item in parsed.items)
    for side in tasks.TWINS:
        found = {task: n for (twin, task), n in twins.items() if twin == side}
        # Five reasoning types (section 6.2).
        assert found == {
            "action_count": 21, "direction": 31, "rotation": 4, "shape_trend": 35,
            "velocity_frequency": 10,
        }  # fmt: skip
    counts = {name: sum(item.values[name] for item in parsed.items) for name in tasks.VARIATIONS}
    assert counts == {"counterfactual": 100, "composite": 490, "zoom": 307, "first_person": 80}
    assert not any("twin" in note for note in parsed.notes)


def document(**changes: Any) -> dict[str, Any]:
    row = {
        "id": "direction/1", "task": "direction", "question": "?", "options": ["a", "b"],
        "answer": "A", "video": "videos/a.mp4", "problem": "", "condition": "blind",
        "demonstration_type": "human", "twin": "",
        **dict.fromkeys(tasks.VARIATIONS, False),
    }  # fmt: skip
    return {**row, **changes}


@pytest.mark.parametrize(
    ("changes", "inside", "outside"),
    [
        ({"zoom": True}, "acc_zoom", "acc_not_zoom"),
        ({"zoom": False}, "acc_not_zoom", "acc_zoom"),
        ({"twin": "twin_real"}, "acc_twin_real", "acc_twin_simulated"),
        ({"twin": ""}, "acc_human", "acc_twin_real"),
        # The Hub's table of all tasks has no variations: neither True nor False.
        ({"zoom": None}, "accuracy", "acc_not_zoom"),
    ],
)
def test_a_question_counts_in_its_breakdowns(
    changes: dict[str, Any], inside: str, outside: str
) -> None:
    found = tasks.process_results(document(**changes), ["A"])
    assert found[inside]["score"] == 1.0 and not found[outside]


def test_what_a_release_does_not_say_is_not_false(tmp_path: Path) -> None:
    row = tvbench_question()
    del row["variation"]["zoom"]
    parsed = read(write_tvbench(tmp_path / "r", {"1": row}, videos=False), tmp_path)
    assert parsed.items[0].values["zoom"] is None
    assert parsed.items[0].values["composite"] is False


def test_a_group_weighs_parts_by_their_own_items() -> None:
    # 3 of 4 in one task, 0 of 1 in another whose other nine documents are not of the part.
    first = scoring.accuracy([{"score": 1.0}] * 3 + [{"score": 0.0}])
    second = scoring.accuracy([{"score": 0.0}, *[scoring.NOT_COUNTED] * 9])
    assert scoring.weighted([first, second, None], [4, 10, 5], True) == pytest.approx(3 / 5)
    # A count of documents would give 3/14; numbers without items weigh as the harness says.
    assert scoring.weighted([0.75, 0.0], [4, 10], True) == pytest.approx(3 / 14)
    copied = copy.deepcopy(first)
    assert copied == 0.75 and copied.n == 4 and json.dumps(copied) == "0.75"
