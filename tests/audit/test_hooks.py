"""The functions of a generated task, called as the harness calls them."""

from __future__ import annotations

import inspect
import io
import json
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pytest
from loguru import logger
from PIL import Image

from tests.audit.recorder_frames import numbers_of
from tests.preprocessing.conftest import numbered_frame, write_video
from tests.sight.test_requests import messages
from video_reasoning.tasks.audit.hooks import Hooks
from video_reasoning.tasks.audit.notes import AUDIT
from video_reasoning.tasks.audit.plan import AuditedTask, Plan
from video_reasoning.tasks.sight import requests, watch
from video_reasoning.tasks.sight.seen import Ledger

CONDITIONS = (
    *("original", "ordered", "random1", "last1", "handpicked1", "blind", "reordered"),
    *("reversed", "frozen", "black", "swapped", "options", "rotated2", "rotated1", "random1d2"),
)

UTILS = """
import sys
from PIL import Image

def doc_to_visual(doc, lmms_eval_specific_kwargs=None):
    if doc["path"] == "exit":
        sys.exit("no video here")
    if doc["path"] == "raise":
        raise FileNotFoundError("gone")
    return doc["path"]

def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return doc["question"] + (lmms_eval_specific_kwargs or {}).get("end", "")

def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    return [{"role": "user", "content": [
        {"type": "video", "url": doc_to_visual(doc)},
        {"type": "text", "text": doc_to_text(doc, lmms_eval_specific_kwargs)},
    ]}]

def process_docs(dataset):
    return dataset.filter(lambda row: row["keep"])

def process_results(doc, results, full_docs=None):
    doc["said"] = results[0]
    if results[0] == "raise":
        raise ValueError("no label")
    if results[0] == "exit":
        sys.exit("no judge")
    if results[0] == "list":
        return [{"acc": 1.0}]
    return {"acc": float(results[0] == doc["answer"]), "full": 1.0 if full_docs else 0.0}

def aggregate(items, args):
    if items == ["dial"]:
        __import__("so" "cket").create_connection(("validation.example.invalid", 80))
    if not items:
        raise RuntimeError("nothing")
    if items == ["exit"]:
        sys.exit("no")
    return args.output_path
"""

YAML = """
task: cubes
test_split: test
output_type: generate_until
process_docs: !function hook_utils.process_docs
doc_to_visual: !function hook_utils.doc_to_visual
doc_to_text: !function hook_utils.doc_to_text
doc_to_messages: !function hook_utils.doc_to_messages
process_results: !function hook_utils.process_results
metric_list:
  - {metric: acc, aggregation: !function hook_utils.aggregate}
"""


@pytest.fixture
def video(tmp_path: Path) -> str:
    return str(write_video(tmp_path / "v.mp4", 20, rate=5))


@pytest.fixture
def hooks(tmp_path: Path) -> dict[str, Hooks]:
    (tmp_path / "hook_utils.py").write_text(UTILS)
    (tmp_path / "cubes.yaml").write_text(YAML)
    # Another name for each test: what was shown is remembered for a process.
    task = AuditedTask(f"cubes{tmp_path.name}", tmp_path / "cubes.yaml", "", {}, {"q1": 4, "q3": 5})
    plan = Plan(CONDITIONS, (task,), tmp_path / "clips", 4)
    return {variant.kind: Hooks(plan, task, variant, tmp_path) for variant in plan.variants}


def document(path: str, number: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": f"q{number}", "path": path, "question": "Where?", "answer": "A", **more}


def test_a_text_becomes_a_list_and_the_clip(hooks: dict[str, Hooks], video: str) -> None:
    assert hooks["original"].doc_to_visual(document(video)) == [video]
    (clip,) = hooks["ordered"].doc_to_visual(document(video))
    assert numbers_of(clip) == [0, 6, 12, 19]
    assert hooks["blind"].doc_to_visual(document(video)) == []


def test_the_harness_sees_two_parameters(hooks: dict[str, Hooks]) -> None:
    """It hands on a task's settings only to functions of two."""
    for name in ("doc_to_visual", "doc_to_messages", "doc_to_text"):
        assert len(inspect.signature(getattr(hooks["ordered"], name)).parameters) == 2


@pytest.mark.parametrize("path", ["exit", "raise", "/nowhere/v.mp4"])
def test_a_video_that_cannot_be_shown_is_missing(hooks: dict[str, Hooks], path: str) -> None:
    shown = hooks["ordered"].doc_to_visual(document(path))
    assert len(shown) == 1 and Path(shown[0]).exists()
    logged = hooks["ordered"].process_results(document(path), ["A"])[AUDIT]
    assert logged["problem"]
    # Another question with the same id is not, and nor is this one where it can be shown again.
    other = hooks["ordered"].process_results(document(path, question="When?"), ["A"])[AUDIT]
    assert "problem" not in other and other["unseen"]


def test_chat_messages(hooks: dict[str, Hooks], video: str) -> None:
    (message,) = hooks["ordered"].doc_to_messages(document(video), {"end": " Say A."})
    assert message["content"][1] == {"type": "text", "text": "Where? Say A."}
    assert numbers_of(message["content"][0]["url"]) == [0, 6, 12, 19]
    (blind,) = hooks["blind"].doc_to_messages(document(video))
    assert [part["type"] for part in blind["content"]] == ["text"]
    (missing,) = hooks["ordered"].doc_to_messages(document("/nowhere/v.mp4"))
    assert [part["type"] for part in missing["content"]] == ["video", "text"]
    assert hooks["original"].doc_to_messages(document(video))[0]["content"][0]["url"] == video


def test_scores_and_what_an_audit_needs(hooks: dict[str, Hooks], video: str) -> None:
    given = document(video, options=["up", "down", "left"])
    hooks["ordered"].doc_to_visual(given)
    returned = hooks["ordered"].process_results(given, ["A"], full_docs=[given])
    assert returned["acc"] == 1.0 and returned["full"] == 1.0
    assert returned[AUDIT] == {
        "id": "q0",
        "video": video,
        "shape": "1 video",
        "scores": {"acc": [1.0, "number"]},
        "options": 3,
        "right": "A",
        "chosen": "A",
        "frames_shown": 4,
    }


@pytest.mark.parametrize(
    ("variant", "arrives", "expected"),
    [
        ("ordered", (0, 1, 2, 3), (4, 4, None)),
        ("ordered", (0, 1, 1, 3), (4, 3, None)),
        ("blind", (), (0, 0, None)),
        ("original", (0, 1, 2), (None, 3, None)),
    ],
)
def test_what_the_model_saw_is_counted(
    hooks: dict[str, Hooks],
    video: str,
    monkeypatch: pytest.MonkeyPatch,
    variant: str,
    arrives: tuple[int, ...],
    expected: tuple[Any, ...],
) -> None:
    ledger = Ledger()
    for module in (requests, watch):
        monkeypatch.setattr(module, "LEDGER", ledger)
    given = document(video)
    hooks[variant].doc_to_visual(given)
    requests._create(None, messages=messages(*arrives))
    logged = hooks[variant].process_results(given, ["A"])[AUDIT]
    names = ("frames_shown", "frames_seen", "frames_in_order")
    assert tuple(logged.get(name) for name in names) == expected
    assert "said" not in given  # the task writes into its document; the next repeat sees none of it


@pytest.mark.parametrize("response", ["raise", "exit", "list"])
def test_scoring_that_fails_is_recorded(hooks: dict[str, Hooks], video: str, response: str) -> None:
    returned = hooks["ordered"].process_results(document(video), [response])
    assert set(returned) == {AUDIT} and "process_results failed" in returned[AUDIT]["problem"]


def test_aggregations(hooks: dict[str, Hooks], tmp_path: Path) -> None:
    aggregation = hooks["ordered"].aggregation_0
    assert list(inspect.signature(aggregation).parameters) == ["items", "args"]
    folder = aggregation([1.0], args=Namespace(output_path=str(tmp_path)))
    assert folder != str(tmp_path) and Path(folder).is_dir()  # a submission file of its own
    assert aggregation([], args=Namespace(output_path=None)) is None
    assert aggregation(["exit"], args=Namespace(output_path=None)) is None
    lines: list[str] = []
    sink = logger.add(lines.append, format="{message}")
    assert aggregation(["dial"], args=Namespace(output_path=None)) is None
    logger.remove(sink)
    assert "tried to reach validation.example.invalid" in lines[0]
    with pytest.raises(AttributeError):
        _ = hooks["ordered"].no_such_thing


def rows(video: str) -> datasets.Dataset:
    entries = [
        {**document(video, number, options=["up", "down", "left"]), "keep": number != 2}
        for number in range(5)
    ]
    for entry, answer in zip(entries, ["A", "B", "C", "A", "C"], strict=True):
        entry["answer"] = answer
    return datasets.Dataset.from_list(entries, split="test")


def asked(hooks: Hooks, folder: Path) -> Any:
    (path,) = folder.glob(f"audit_*_{hooks._variant.name}.rows.json")
    return json.loads(path.read_text())["rows"]


def test_handpicked_asks_what_has_a_pick(
    hooks: dict[str, Hooks], video: str, tmp_path: Path
) -> None:
    chosen = hooks["handpicked"].process_docs(rows(video))
    assert chosen["id"] == ["q1", "q3"]
    # Rows among the documents that the task itself keeps.
    assert asked(hooks["handpicked"], tmp_path) == [[1, "q1"], [2, "q3"]]
    assert hooks["ordered"].process_docs(rows(video))["id"] == ["q0", "q1", "q3", "q4"]
    double = rows(video).map(lambda row: {**row, "id": "q1"})
    assert len(hooks["handpicked"].process_docs(double)) == 1  # asked, and not judged
    assert asked(hooks["handpicked"], tmp_path) == []


def test_reordered_documents_keep_their_right_answers(
    hooks: dict[str, Hooks], video: str, tmp_path: Path
) -> None:
    given = hooks["ordered"].process_docs(rows(video))
    moved = hooks["reordered"].process_docs(rows(video))
    assert moved.features == given.features
    assert asked(hooks["reordered"], tmp_path) == [[n, name] for n, name in enumerate(given["id"])]
    changed = 0
    for before, after in zip(given, moved, strict=True):
        assert sorted(after["options"]) == sorted(before["options"])
        right = before["options"]["ABC".index(before["answer"])]
        assert after["options"]["ABC".index(after["answer"])] == right
        changed += before["options"] != after["options"]
    assert changed
    assert hooks["reordered"].process_docs(rows(video))["options"] == moved["options"]


def test_rotated_options(hooks: dict[str, Hooks], video: str, tmp_path: Path) -> None:
    given = hooks["ordered"].process_docs(rows(video))
    turned = hooks["rotated"].process_docs(rows(video))  # by one place
    for before, after in zip(given, turned, strict=True):
        assert after["options"] == [*before["options"][1:], before["options"][0]]
        right = before["options"]["ABC".index(before["answer"])]
        assert after["options"]["ABC".index(after["answer"])] == right
    # Two rotations are asked, which are not all of four options: none of them is.
    more = rows(video).map(lambda row: {"options": [*row["options"], "right"]})
    hooks["rotated"].process_docs(more)
    assert asked(hooks["rotated"], tmp_path) == []


def test_a_random_sample(hooks: dict[str, Hooks], video: str, tmp_path: Path) -> None:
    entries = [{**document(video, n, options=["up", "down"]), "keep": True} for n in range(30)]
    entries = [{**entry, "pair": f"p{n // 3}_{n}"} for n, entry in enumerate(entries)]
    given = datasets.Dataset.from_list(entries, split="test")

    def drawn(kind: str, data: Any = given, **plan: Any) -> list[str]:
        own = hooks[kind]._plan
        hook = Hooks(replace(own, **plan), hooks[kind]._task, hooks[kind]._variant, tmp_path)
        found = hook.process_docs(data)
        return [each["id"] for each in found]

    ten = drawn("ordered", sample=10)
    assert len(ten) == 10 and ten == sorted(ten, key=lambda name: int(name[1:]))
    assert asked(hooks["ordered"], tmp_path) == [[int(name[1:]), name] for name in ten]
    assert drawn("original", sample=10) == drawn("blind", sample=10) == ten
    assert drawn("reordered", sample=10) == ten
    assert asked(hooks["reordered"], tmp_path) == [[int(name[1:]), name] for name in ten]
    # A larger sample has the smaller one; another seed and another order of the data.
    assert set(ten) < set(drawn("ordered", sample=20))
    assert ten != drawn("ordered", sample=10, seed=1)
    turned = given.select(range(29, -1, -1))
    assert set(drawn("ordered", turned, sample=10)) == set(ten)
    whole = drawn("ordered", sample=10, group_by=("pair:_",))
    assert len(whole) == 12
    assert {int(name[1:]) // 3 * 3 + n for name in whole for n in range(3)} == {
        int(name[1:]) for name in whole
    }


def test_options_alone(hooks: dict[str, Hooks], video: str, tmp_path: Path) -> None:
    given = hooks["options"].process_docs(rows(video))
    assert given["question"] == [""] * 4 and given["options"] == [["up", "down", "left"]] * 4
    assert hooks["options"].doc_to_visual(given[0]) == []
    listed = rows(video).map(lambda row: {"question": "Where?\nA. up\nB. down"})
    plain = hooks["options"].process_docs(listed.remove_columns("options"))
    assert set(plain["question"]) == {"A. up\nB. down"}


def test_another_video_is_never_the_same(hooks: dict[str, Hooks], tmp_path: Path) -> None:
    """Three videos with two questions each; the frames of each video name it."""
    videos = [
        str(write_video(tmp_path / f"{n}.mp4", 20, rate=5, first=20 * n + 1)) for n in range(3)
    ]
    entries = [{**document(videos[number // 2], number), "keep": True} for number in range(6)]
    given = datasets.Dataset.from_list(entries, split="test")
    hook = hooks["swapped"]
    assert hook.process_docs(given)["id"] == given["id"]
    seen = {}
    for entry in given:
        frames = numbers_of(hook.doc_to_visual(entry)[0])
        (message,) = hook.doc_to_messages(entry)
        assert numbers_of(message["content"][0]["url"]) == frames
        seen[entry["id"]] = (frames[0] - 1) // 20
        assert frames == [20 * seen[entry["id"]] + 1 + n for n in (0, 6, 12, 19)]
        logged = hook.process_results(entry, ["A"])[AUDIT]
        assert logged["video"] == entry["path"] and "problem" not in logged
    assert all(number // 2 != seen[f"q{number}"] for number in range(6))
    assert len(set(seen.values())) > 1
    # If all are about one video, no other can be shown.
    hook.process_docs(given.select([0, 1]))
    hook.doc_to_visual(given[0])
    assert (
        "no question about another video" in hook.process_results(given[0], ["A"])[AUDIT]["problem"]
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("reversed", [19, 12, 6, 0]), ("frozen", None), ("black", [0, 0, 0, 0])],
)
def test_frames_of_the_controls(
    hooks: dict[str, Hooks], video: str, kind: str, expected: list[int] | None
) -> None:
    shown = numbers_of(hooks[kind].doc_to_visual(document(video))[0])
    single = numbers_of(hooks["random"].doc_to_visual(document(video))[0])[:1]
    assert shown == (single * 4 if expected is None else expected)


def test_other_draws_show_other_frames(hooks: dict[str, Hooks], video: str) -> None:
    def drawn(kind: str) -> list[int]:
        entries = [document(video, number) for number in range(8)]
        return [numbers_of(hooks[kind].doc_to_visual(each)[0])[0] for each in entries]

    assert sum(a != b for a, b in zip(drawn("random"), drawn("draw"), strict=True)) >= 5


def test_questions_that_share_an_id_are_drawn_separately(
    hooks: dict[str, Hooks], video: str
) -> None:
    entries = [
        {**row, "id": "Q1", "question": f"Where, {number}?", "keep": True}
        for number, row in enumerate(rows(video).to_list() * 2)
    ]
    given = datasets.Dataset.from_list(entries, split="test")
    assert hooks["random"].process_docs(given)["id"] == ["Q1"] * len(entries)
    shown = [numbers_of(hooks["random"].doc_to_visual(entry)[0])[0] for entry in entries]
    assert len(set(shown)) > 2
    moved = hooks["reordered"].process_docs(given)
    assert len(moved) == len(entries) and len(set(map(tuple, moved["options"]))) > 2
    returned = hooks["random"].process_results(entries[0], ["A"])
    assert returned[AUDIT]["id"] == "Q1" and returned[AUDIT]["key"]


def test_repeats_ask_each_order_of_the_options_once(
    hooks: dict[str, Hooks], video: str, tmp_path: Path
) -> None:
    ordered = hooks["ordered"]
    plan = replace(ordered._plan, conditions=("blind", "blindx1", "blindx2", "random1x1"))
    task = plan.tasks[0]
    first, second, frame = (Hooks(plan, task, v, tmp_path) for v in plan.variants[1:])
    given = rows(video)
    moved = first.process_docs(given)
    assert moved[0]["options"] != given[0]["options"]
    assert first.doc_to_visual(moved[0]) == []
    assert "<video>" not in first.doc_to_text({**moved[0], "question": "<video>\nWhere?"})
    assert len(frame.doc_to_visual(moved[0])) == 1
    two = given.map(
        lambda row: {"options": row["options"][:2], "answer": "AB"[row["answer"] == "B"]}
    )
    first.process_docs(two)
    assert len(asked(first, tmp_path)) == 4
    second.process_docs(two)  # two options have one other order, which was asked
    assert asked(second, tmp_path) == []


def test_documents_with_pictures_are_reordered_too(hooks: dict[str, Hooks], video: str) -> None:
    file = io.BytesIO()
    Image.fromarray(numbered_frame(1, 16, 16)).save(file, "PNG")
    picture = {"bytes": file.getvalue(), "path": None}
    entries = [{**row, "picture": picture} for row in rows(video)]
    given = datasets.Dataset.from_list(entries, split="test")
    given = given.cast_column("picture", datasets.Image())
    moved = hooks["reordered"].process_docs(given)
    assert moved[0]["picture"].size == (16, 16) and len(moved) == 4


def test_examples_to_learn_from_stay(hooks: dict[str, Hooks], video: str) -> None:
    train = datasets.Dataset.from_list(rows(video).to_list(), split="train")
    assert len(hooks["handpicked"].process_docs(train)) == 4


def test_marks_of_pictures_are_as_many_as_pictures(hooks: dict[str, Hooks], video: str) -> None:
    frames = [Image.fromarray(numbered_frame(number, 32, 32)) for number in range(6)]
    text = "0<image>\n1<image>\n2<image>\n3<image>\n4<image>\n5<image>\nWhich?"
    given = {**document(""), "path": frames, "question": text}
    for kind, count in (("ordered", 4), ("last", 1), ("random", 1), ("blind", 0), ("original", 6)):
        prompt = hooks[kind].doc_to_text(given, {"end": "!"})
        assert prompt.count("<image>") == count == len(hooks[kind].doc_to_visual(given))
        assert prompt.replace("<image>\n", "") == "012345Which?!"
    one = {**document(video), "question": "<video>\nWhich?"}
    assert hooks["ordered"].doc_to_text(one) == "<video>\nWhich?"
    assert hooks["blind"].doc_to_text(one) == "Which?"
