"""BlackSwanSuite's prompts, what is shown, and scoring of letters, yes and no."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import Dataset

from tests.harness.served import number_of, write_numbered
from tests.tasks.releases import write_video
from tests.tasks.yamls import aggregated, config
from video_reasoning.tasks import blackswan, media, registry, scoring
from video_reasoning.tasks.errors import StoreError

DOC: dict[str, Any] = {
    "split": "validation",
    "id": "detective_mcq/7",
    "task": "detective_mcq",
    "options": ["The dog jumps in.", "The chair {breaks}.", "The rope snaps."],
    "answer": "B",
    "hypothesis": "The table tips over.",
    "difficulty": "hard",
    "references": [],
    "video": "clips/joined.mp4",
    "video_before": "videos/3_A_preevent.mp4",
    "video_after": "videos/3_C_postevent.mp4",
    "problem": "",
    "p_preevent": "a dog on a pier.",
    "p_postevent": "a wet dog",
    "pc_comp": "the dog is wet at the end.",
}

OPTIONS = "A. The dog jumps in. B. The chair {breaks}. C. The rope snaps."
YES_NO = (
    "Hypothesis: The table tips over.\n"
    "Given the video clip, does this hypothesis hold? Answer yes or no."
)
DETECTIVE_GEN = "What happened in the missing frames (in black) of the video?"
DETECTIVE_MCQ = (
    "Select the description that indicates what happened in the hidden (black) frames of the "
    f"video: {OPTIONS}"
)
REPORTER_MCQ = (
    f"Select the description that correctly explains what happens in this video: {OPTIONS}"
)
LINES = "A. The dog jumps in.\nB. The chair {breaks}.\nC. The rope snaps."
RELEASED_DETECTIVE_MCQ = (
    "Which of the following descriptions indicate what happened in the hidden (black) frames of "
    "the video?"
)
RELEASED_REPORTER_MCQ = "Which of these descriptions correctly explains what happens in this video?"
REASON_FIRST = " Provide your answer as \n'Reason: reason in 10 words.\nAnswer: your answer'"
TWO_CLIPS = "Here is the beginning of the video:\nHere is the end of the video:\n"
CAPTIONED = (
    "Which of the following descriptions indicate what happened in the hidden (black) frames of "
    f"the video? {OPTIONS}"
)
PERCEIVED = (
    "The beginning of the video shows a dog on a pier. The end of the video shows a wet dog."
)

PROMPTS = {
    "forecaster_gen": "Describe what could happen next, by explaining the sequence of actions "
    "leading to the outcome.",
    "detective_gen": DETECTIVE_GEN,
    "detective_mcq": DETECTIVE_MCQ,
    "detective_yn": YES_NO,
    "reporter_gen": "Explain what is happening in the video.",
    "reporter_mcq": REPORTER_MCQ,
    "reporter_yn": YES_NO,
    "detective_gen_clips": TWO_CLIPS + DETECTIVE_GEN,
    "detective_mcq_clips": TWO_CLIPS + DETECTIVE_MCQ,
    "detective_yn_clips": TWO_CLIPS + YES_NO,
    **{
        f"{kind}_parts{m}": prompt
        for m in (5, 10)
        for kind, prompt in (
            (
                "forecaster_gen",
                "Describe what could happen next, by explaining the sequence of "
                "actions leading to the outcome.",
            ),
            ("detective_gen", TWO_CLIPS + DETECTIVE_GEN),
            ("detective_mcq", TWO_CLIPS + DETECTIVE_MCQ),
            ("detective_yn", TWO_CLIPS + YES_NO),
            ("reporter_gen", "Explain what is happening in the video."),
            ("reporter_mcq", REPORTER_MCQ),
            ("reporter_yn", YES_NO),
        )
    },
    "detective_mcq_cot": f"{RELEASED_DETECTIVE_MCQ}{REASON_FIRST} \n{LINES}",
    "reporter_mcq_cot": f"{RELEASED_REPORTER_MCQ}{REASON_FIRST}. \n{LINES}",
    "detective_mcq_perception": f"{PERCEIVED}\n{CAPTIONED}",
    "detective_mcq_perception_comprehension": (
        f"{PERCEIVED} The two parts differ in the following way: the dog is wet at the end.\n"
        f"{CAPTIONED}"
    ),
}
"""Task without its prefix -> the whole prompt."""


def of_kind(task: str) -> dict[str, Any]:
    """The document as a question of a task's kind."""
    return {**DOC, "task": "_".join(task.split("_")[:2])}


@pytest.mark.parametrize("prefix", ["blackswan_", "blackswan_test_"])
@pytest.mark.parametrize("task", PROMPTS)
def test_every_tasks_prompt(prefix: str, task: str) -> None:
    assert config(prefix + task)["doc_to_text"](of_kind(task)) == PROMPTS[task]


RELEASED = {
    "forecaster_gen": "In one sentence, describe what could happen next, by explaining the "
    "sequence of actions leading to the outcome in one sentence.",
    "detective_gen": DETECTIVE_GEN,
    "detective_mcq": f"{RELEASED_DETECTIVE_MCQ}\n{LINES}",
    "detective_yn": YES_NO.replace("\n", "\n "),
    "reporter_gen": "What is happening in the video? Explain the video in 1-2 sentences.",
    "reporter_mcq": f"{RELEASED_REPORTER_MCQ}\n{LINES}",
    "reporter_yn": YES_NO.replace("\n", "\n "),
    "detective_mcq_cot": PROMPTS["detective_mcq_cot"],
    "reporter_mcq_cot": PROMPTS["reporter_mcq_cot"],
    "detective_mcq_perception": f"{PERCEIVED} {RELEASED_DETECTIVE_MCQ} \n{LINES}",
    "detective_mcq_perception_comprehension": (
        f"{PERCEIVED} The two parts differ in the following way: the dog is wet at the end. \n"
        f"{RELEASED_DETECTIVE_MCQ} \n{LINES}"
    ),
}
"""Task without its prefix -> the prompt of the authors' LLaVA-Video script."""


@pytest.mark.parametrize("task", PROMPTS)
def test_every_tasks_released_prompt(task: str) -> None:
    doc_to_text = config(f"blackswan_{task}")["doc_to_text"]
    released = {"prompt_style": "released"}
    document = of_kind(task)
    assert doc_to_text(document, lmms_eval_specific_kwargs={"other": 1}) == PROMPTS[task]
    if task.endswith(("_clips", "_parts5", "_parts10")):
        with pytest.raises(ValueError, match="several clips have no released prompt"):
            doc_to_text(document, released)
    else:
        assert doc_to_text(document, released) == RELEASED[task]
    with pytest.raises(ValueError, match="no prompt_style 'official'"):
        doc_to_text(document, {"prompt_style": "official"})


def test_there_are_no_other_tasks_and_both_splits_have_the_same() -> None:
    names = {name for name in registry.our_tasks() if name.startswith("blackswan")}
    groups = {"", "_mcq", "_yn", "_gen"}
    assert names == {
        *(f"blackswan{split}_{task}" for split in ("", "_test") for task in PROMPTS),
        *(f"blackswan{split}{group}" for split in ("", "_test") for group in groups),
    }
    for task in PROMPTS:
        ours, withheld = (config(f"blackswan{split}_{task}") for split in ("", "_test"))
        assert ours.pop("validation_split") == "validation"
        assert withheld.pop("test_split") == "test"
        different = {key for key in ours if ours[key] != withheld[key]}
        assert ours.keys() == withheld.keys() and different <= {
            "task", "dataset_kwargs", "metric_list",
        }  # fmt: skip
        names = [[metric["metric"] for metric in each["metric_list"]] for each in (ours, withheld)]
        assert names[0] == names[1]


@pytest.mark.parametrize("split", ["", "_test"])
def test_groups_hold_the_seven_tasks(split: str) -> None:
    prefix = f"blackswan{split}"
    plain = {f"{prefix}_{task}" for task in PROMPTS if task.count("_") == 1}
    assert len(plain) == 7
    inside = {task.name for task in registry.requested([prefix]) if not task.members}
    assert inside == plain
    for kind in ("mcq", "yn", "gen"):
        members = registry.our_tasks()[f"{prefix}_{kind}"].members
        assert set(members) == {name for name in plain if name.endswith(f"_{kind}")}
    # A group's metric must not be part of another metric's name: the harness looks for text.
    metrics = {m["metric"] for m in config(prefix)["aggregate_metric_list"]}
    logged = {m["metric"] for task in plain for m in config(task)["metric_list"]}
    assert metrics <= logged
    for name in metrics:
        assert [other for other in logged if name in other] == [name]


def test_sampling_is_on_for_generation_and_off_elsewhere() -> None:
    for task in PROMPTS:
        settings = config(f"blackswan_{task}")
        kwargs = settings["generation_kwargs"]
        generates = "_gen" in task
        assert kwargs["do_sample"] is generates and (kwargs["temperature"] > 0) is generates
        assert kwargs["until"] == []
        three = task.startswith(("forecaster_gen", "detective_gen"))
        assert settings.get("repeats", 1) == (3 if three else 1)
        if three:
            (pipeline,) = settings["filter_list"]
            assert pipeline["filter"] == [{"function": "take_first_k", "k": 3}]


# What is shown


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))
    for name in (DOC["video"], DOC["video_before"], DOC["video_after"]):
        write_video(tmp_path / "blackswan" / name, frames=4)
    return tmp_path / "blackswan"


def test_one_video_by_default(home: Path) -> None:
    assert blackswan.doc_to_visual(DOC) == [str(home / "clips/joined.mp4")]


@pytest.mark.parametrize(
    ("messages", "question"),
    [
        (blackswan.detective_gen_messages, DETECTIVE_GEN),
        (blackswan.detective_mcq_messages, DETECTIVE_MCQ),
        (blackswan.detective_yn_messages, YES_NO),
    ],
)
def test_two_clips_stand_between_the_sentences(home: Path, messages: Any, question: str) -> None:
    (message,) = messages(DOC)
    assert message["role"] == "user"
    assert message["content"] == [
        {"type": "text", "text": "Here is the beginning of the video:\n"},
        {"type": "video", "url": str(home / "videos/3_A_preevent.mp4")},
        {"type": "text", "text": "\nHere is the end of the video:\n"},
        {"type": "video", "url": str(home / "videos/3_C_postevent.mp4")},
        {"type": "text", "text": f"\n{question}"},
    ]


def test_a_clip_that_is_missing_is_shown_as_missing(home: Path) -> None:
    (home / "videos/3_C_postevent.mp4").unlink()
    (message,) = blackswan.detective_mcq_messages(DOC)
    shown = {part["url"] for part in message["content"] if part["type"] == "video"}
    assert shown == {str(media.placeholder())}
    logged = blackswan.process_clips_results(DOC, ["B"])
    assert logged["status"] == "missing" and "3_C_postevent.mp4" in logged["problem"]
    # The task that shows the joined clip still has what it needs.
    assert blackswan.process_results(DOC, ["B"])["status"] == "answered"


PARTS = {"video_before": range(30), "video_event": range(100, 140), "video_after": range(200, 220)}
"""Column -> the frames of the part, which name themselves."""


@pytest.mark.parametrize("m", [5, 10])
@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("forecaster_gen", ["video_before"]),
        ("detective_mcq", ["video_before", "video_after"]),
        ("detective_gen", ["video_before", "video_after"]),
        ("reporter_yn", ["video_before", "video_event", "video_after"]),
        ("reporter_gen", ["video_before", "video_event", "video_after"]),
    ],
)
def test_frames_of_every_part_are_shown_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, columns: list[str], m: int
) -> None:
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(tmp_path))
    monkeypatch.setenv("VIDEO_REASONING_FRAMES_AS", "images")
    task = config(f"blackswan_{kind}_parts{m}")
    document = {**DOC, "id": f"{kind}/{m}", "task": kind, "condition": f"ordered{m}"}
    document["references"] = ["It snaps."]
    assert task["dataset_name"] == document["condition"]
    for column, frames in PARTS.items():
        document[column] = f"videos/{column}.mp4"
        write_numbered(tmp_path / "blackswan" / document[column], frames)
    (message,) = task["doc_to_messages"](document, None)
    content = message["content"]
    shown = [number_of(part["url"]) for part in content if part["type"] == "image"]
    assert shown == [
        PARTS[column][index]
        for column in columns
        for index in np.linspace(0, len(PARTS[column]) - 1, m).astype(int)
    ]
    sentences = [(n, part["text"]) for n, part in enumerate(content) if part["type"] == "text"]
    assert sentences.pop() == (len(content) - 1, f"\n{PROMPTS[kind]}")
    first, second = "Here is the beginning of the video:\n", "\nHere is the end of the video:\n"
    expected = [(0, first), (m + 1, second)] if kind.startswith("detective") else []
    assert sentences == expected
    # What was shown is what is counted, over all parts; a part that is lost is a missing item.
    logged = task["process_results"](document, ["B. Yes."])
    assert (logged["status"], logged["frames_shown"]) == ("answered", m * len(columns))
    (tmp_path / "blackswan" / document[columns[-1]]).write_bytes(b"")
    media._OUTCOMES.clear()
    logged = task["process_results"](document, ["B"])
    assert logged["status"] == "missing" and columns[-1] in logged["problem"]


def test_a_store_without_the_events_clips_is_prepared_again(home: Path) -> None:
    logged = blackswan.process_parts_results({**DOC, "task": "reporter_mcq"}, ["B"])
    assert logged["status"] == "missing" and "prepare blackswan" in logged["problem"]


@pytest.mark.parametrize("task", ["detective_mcq_clips", "reporter_mcq_parts5"])
def test_tasks_of_several_clips_refuse_models_without_chat_messages(home: Path, task: str) -> None:
    visual = config(f"blackswan_{task}")["doc_to_visual"]
    with pytest.raises(blackswan.ClipsError, match="use a chat model"):
        visual(DOC)


# Scoring


def test_accuracy_by_difficulty_with_unparsed_and_missing(home: Path) -> None:
    docs = [
        {**DOC, "difficulty": "easy"},  # right
        {**DOC, "difficulty": "easy"},  # wrong
        {**DOC, "difficulty": "hard"},  # names no option: wrong, and counted
        {**DOC, "difficulty": "hard", "problem": "cut short"},  # missing: left out, and counted
    ]
    responses = ["The answer is B.", "(A)", "I cannot tell.", "B"]
    logged = [
        blackswan.process_results(doc, [response])
        for doc, response in zip(docs, responses, strict=True)
    ]
    assert [each["status"] for each in logged] == ["answered", "answered", "unparsed", "missing"]
    table = aggregated("blackswan_detective_mcq", logged)
    assert table["accuracy"] == pytest.approx(1 / 3)
    assert table["acc_easy"] == pytest.approx(1 / 2)
    assert table["acc_medium"] is None
    assert table["acc_hard"] == 0.0
    assert table["acc_not_hard"] == pytest.approx(1 / 2)
    assert table["hard_delta"] == pytest.approx(-1 / 2)
    assert table["unparsed_rate"] == pytest.approx(1 / 3)
    assert table["missing_items"] == 1
    assert table["withheld_items"] == 0


@pytest.mark.parametrize(
    ("response", "score"), [("Yes, it does.", 1.0), ("No.", 0.0), ("Not sure", 0.0)]
)
def test_yes_and_no(home: Path, response: str, score: float) -> None:
    doc = {**DOC, "task": "detective_yn", "options": [], "answer": "yes"}
    logged = blackswan.process_results(doc, [response])
    assert logged["score"] == score


def test_withheld_answers_are_counted_and_there_is_no_accuracy(home: Path) -> None:
    doc = {**DOC, "answer": ""}
    logged = [blackswan.process_results(doc, [text]) for text in ("B", "I cannot tell.")]
    assert logged[0]["choice"] == "B" and logged[0]["status"] == "withheld"
    table = aggregated("blackswan_test_detective_mcq", logged)
    assert table["accuracy"] is table["acc_hard"] is table["hard_delta"] is None
    assert table["withheld_items"] == 2
    assert table["unparsed_rate"] == 0.5
    # The group's accuracy is then N/A as well, and its counts add up.
    assert scoring.weighted([None, None], [2, 3], True) is None
    assert scoring.total([2, 3], [2, 3], True) == 5


def test_captions_select_the_questions() -> None:
    both = {"p_preevent": "a", "p_postevent": "b"}
    rows = [
        {"id": "1", "task": "detective_mcq", **both, "pc_comp": "c"},
        {"id": "2", "task": "detective_mcq", **both, "pc_comp": ""},
        {"id": "3", "task": "detective_mcq", "p_preevent": "a", "p_postevent": "", "pc_comp": "c"},
        {"id": "4", "task": "reporter_mcq", **both, "pc_comp": "c"},
    ]
    dataset = Dataset.from_list(rows)
    assert blackswan.detective_mcq_perception(dataset)["id"] == ["1", "2"]
    assert blackswan.detective_mcq_perception_comprehension(dataset)["id"] == ["1"]


@pytest.mark.parametrize("columns", [[], ["p_preevent"]])
def test_a_store_without_captions_is_one_sentence(columns: list[str]) -> None:
    rows = [{"task": "detective_mcq", **dict.fromkeys(columns, "x")}]
    with pytest.raises(StoreError, match="--captions FILE"):
        blackswan.detective_mcq_perception(Dataset.from_list(rows))


def test_how_many_questions_have_no_captions(home: Path) -> None:
    summary = {
        "tasks": {"detective_mcq": 10},
        "captioned": {"detective_mcq_perception": 4, "detective_mcq_perception_comprehension": 1},
    }
    manifest = {"splits": {"validation": summary}}
    (home / "manifest.json").write_text(json.dumps(manifest))
    logged = [blackswan.process_captioned_results(DOC, ["B"])] * 4
    for task, count in (("perception", 6), ("perception_comprehension", 9)):
        table = aggregated(f"blackswan_detective_mcq_{task}", logged)
        assert table["captionless_items"] == count
        assert table["accuracy"] == 1.0
