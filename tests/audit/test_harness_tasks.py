"""Audits of the harness's own video tasks, over local stand-ins for their data.

The tasks' functions are the harness's; the model writes down what it is shown.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.audit.conftest import CHAT, FRAMES, PICK, Audited
from tests.audit.standins import APART, COLORS, N_FRAMES, QUESTIONS
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.audit.plan import AuditedTask, read_plan
from video_reasoning.tasks.audit.run import read_asked
from video_reasoning.tasks.audit.variants import parse

pytestmark = pytest.mark.harness

VIDEOS = (
    "probe_mvbench",
    "probe_videomme",
    "probe_tempcompass_mc",
    "probe_tempcompass_yes_no",
    "probe_egoschema",
    "mvp_probe",
    "probe_perception",
    "probe_tvbench",
    "probe_tomato",
    "probe_vitatecs",
)
"""Tasks that show one whole video."""

IMAGES = ("probe_lemonade", "probe_longvideo", "probe_vsibench", "probe_osi")
"""Tasks that show frames that they read themselves."""

EVERY = (*VIDEOS, *IMAGES, "probe_egotempo", "probe_hd_epic")

RUNS = [(False, name) for name in EVERY] + [(True, name) for name in CHAT]

CONTROLS = [(False, "control_video"), (False, "control_frames"), (True, "control_chat")]


def variant_name(task: str, condition: str) -> str:
    named = parse(condition, FRAMES)
    return AuditedTask(task, None, "").variant_name(named)  # type: ignore[arg-type]


def shown(audited: Audited, chat: bool, task: str, condition: str) -> dict[int, list[Any]]:
    """Document -> frames of each visual that the model was shown."""
    lines = audited.asked.get((chat, variant_name(task, condition)), [])
    return {line["doc_id"]: [entry["frames"] for entry in line["shown"]] for line in lines}


def prompts(audited: Audited, chat: bool, task: str, condition: str) -> dict[int, str]:
    lines = audited.asked.get((chat, variant_name(task, condition)), [])
    return {line["doc_id"]: line["prompt"] for line in lines}


def rows_of(audited: Audited, chat: bool, task: str, condition: str) -> list[int]:
    """Rows of the questions that a condition asks some of."""
    folder = audited.folder / ("audit_chat" if chat else "audit") / "tasks"
    path = folder / f"{variant_name(task, condition)}.rows.json"
    return [row for row, _ in json.loads(path.read_text())["rows"]]


def test_all_commands_end_well(audited: Audited) -> None:
    assert audited.codes == [0] * 6, audited.output[-4000:]


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_the_original_is_unchanged(audited: Audited, chat: bool, task: str) -> None:
    end = "_chat" if chat else ""
    own, own_lines = audited.logged(f"own{end}", task)
    name = variant_name(task, "original")
    metrics, lines = audited.logged(f"audit{end}/runs", name)
    numbers = {key: value for key, value in own.items() if isinstance(value, (int, float))}
    assert numbers, "the task has a number"
    assert {key: metrics.get(key) for key in numbers} == numbers
    assert [line["filtered_resps"] for line in lines] == [
        line["filtered_resps"] for line in own_lines
    ]
    assert [line["input"] for line in lines] == [line["input"] for line in own_lines]
    asked = [(line["prompt"], line["shown"]) for line in audited.asked[chat, name]]
    assert asked == [(line["prompt"], line["shown"]) for line in audited.asked[chat, task]]


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_each_condition_shows_its_frames(audited: Audited, chat: bool, task: str) -> None:
    """Frames are those of the sampling rule, from what the task itself shows."""
    original = shown(audited, chat, task, "original")
    assert len(original) == QUESTIONS
    images = task in IMAGES
    n_videos = 2 if task == "probe_hd_epic" else 1
    reordered = False
    for row, given in original.items():
        if images:
            source = [frame for frames in given for frame in frames]
        elif task == "probe_egotempo":
            source = list(range(4, 12))  # seconds 1 to 3 at 4 frames a second
        else:
            source = list(range(N_FRAMES))
            assert given == [source] * n_videos
        ordered = [source[place] for place in uniform_indices(len(source), FRAMES)]

        def clips(frames: list[int]) -> list[list[int]]:
            if images:
                return [[frame] for frame in frames]
            # A clip of one frame holds it twice.
            return [frames if len(frames) > 1 else frames * 2] * n_videos

        assert shown(audited, chat, task, "ordered")[row] == clips(ordered)
        assert shown(audited, chat, task, "last1")[row] == clips(source[-1:])
        assert shown(audited, chat, task, "blind")[row] == []
        for frames in shown(audited, chat, task, "random1")[row]:
            assert len(set(frames)) == 1 and set(frames) <= set(source)
        for frames in shown(audited, chat, task, "shuffled")[row] if not images else []:
            assert sorted(frames) == ordered
            reordered = reordered or frames != ordered
        if images:
            flat = [
                frame for frames in shown(audited, chat, task, "shuffled")[row] for frame in frames
            ]
            assert sorted(flat) == ordered
            reordered = reordered or flat != ordered
    assert reordered, "the frames of at least one question stand in another order"


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_a_handpicked_frame_is_shown_where_there_is_one(
    audited: Audited, chat: bool, task: str
) -> None:
    rows = rows_of(audited, chat, task, "handpicked1")
    result = audited.audit(chat)[task]
    if not rows:
        assert result["accuracies"]["handpicked1"]["items"] == 0
        return
    if task == "probe_hd_epic":  # which of the two videos is meant, no pick says
        assert result["missing"]["handpicked1"] == len(rows)
        return
    assert result["accuracies"]["handpicked1"]["items"] == len(rows)
    original = shown(audited, chat, task, "original")
    for place, frames in shown(audited, chat, task, "handpicked1").items():
        given = original[rows[place]]
        expected = given[PICK] if task in IMAGES else [PICK]
        assert {frame for clip in frames for frame in clip} == set(expected)


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_prompts_stay_the_tasks_own(audited: Audited, chat: bool, task: str) -> None:
    """Only marks of pictures change, which models count, and the order of options."""
    original = prompts(audited, chat, task, "original")
    for condition in ("ordered", "shuffled", "random1", "last1", "blind"):
        asked = prompts(audited, chat, task, condition)
        visuals = shown(audited, chat, task, condition)
        assert asked.keys() == original.keys()
        for row, prompt in asked.items():
            without = prompt.replace("<image>", "").split()
            assert without == original[row].replace("<image>", "").split()
            if "<image>" in original[row]:
                assert prompt.count("<image>") == len(visuals[row])
            else:
                assert prompt == original[row]


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_options_in_another_order(audited: Audited, chat: bool, task: str) -> None:
    rows = rows_of(audited, chat, task, "reordered")
    if not audited.standins[task].options:
        assert rows == []
        return
    assert rows == list(range(QUESTIONS))
    ordered = prompts(audited, chat, task, "ordered")
    moved = prompts(audited, chat, task, "reordered")
    assert shown(audited, chat, task, "reordered").keys() == ordered.keys()
    differ = 0
    for row, prompt in moved.items():
        # The same words, in another order.
        assert sorted("".join(ch if ch.isalnum() else " " for ch in prompt).split()) == sorted(
            "".join(ch if ch.isalnum() else " " for ch in ordered[row]).split()
        )
        differ += prompt != ordered[row]
    assert differ >= QUESTIONS - 1


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_the_model_is_asked_no_more_than_it_must(audited: Audited, chat: bool, task: str) -> None:
    for condition in ("original", "ordered", "shuffled", "random1", "last1", "blind"):
        assert len(audited.asked[chat, variant_name(task, condition)]) == QUESTIONS
    for condition in ("handpicked1", "reordered"):
        asked = len(audited.asked[chat, variant_name(task, condition)])
        # The harness fails on a task without documents: one is asked, and not judged.
        assert asked == max(1, len(rows_of(audited, chat, task, condition)))


@pytest.mark.parametrize(("chat", "task"), CONTROLS)
def test_controls_reach_the_model(audited: Audited, chat: bool, task: str) -> None:
    """Frames show numbers that name their video too; a black one shows 0."""

    def frames(condition: str) -> dict[int, list[list[int]]]:
        """Document -> frames of each video; of pictures, one after another."""
        each = shown(audited, chat, task, condition)
        if task != "control_frames":
            return each
        return {row: [[frame for (frame,) in given]] for row, given in each.items()}

    ordered = frames("ordered")
    single = {row: [clip[0] for clip in each] for row, each in frames("random1").items()}
    assert len(ordered) == QUESTIONS and all(
        len(set(clip[0])) == FRAMES for clip in ordered.values()
    )
    assert frames("reversed") == {
        row: [clip[::-1] for clip in each] for row, each in ordered.items()
    }
    assert frames("frozen") == {
        row: [[frame] * FRAMES for frame in each] for row, each in single.items()
    }
    assert frames("black") == {row: [[0] * FRAMES] * len(each) for row, each in ordered.items()}
    videos = {row: each[0][0] // APART for row, each in ordered.items()}
    assert len(set(videos.values())) > 2
    for row, other in frames("swapped").items():
        assert other in ordered.values() and other[0][0] // APART != videos[row]
    assert frames("rotated1") == ordered


@pytest.mark.parametrize(("chat", "task"), CONTROLS)
def test_options_reach_the_model_alone_and_rotated(audited: Audited, chat: bool, task: str) -> None:
    ordered, alone = (prompts(audited, chat, task, name) for name in ("ordered", "options"))
    assert all(not each for each in shown(audited, chat, task, "options").values())
    column = "Question" if task == "control_frames" else "question"
    asked = {str(row[column]) for row in audited.standins[task].rows}
    for row, prompt in alone.items():
        (question,) = [each for each in asked if each in ordered[row]]
        assert prompt == ordered[row].replace(question, "").lstrip()
    turns = [prompts(audited, chat, task, f"rotated{turn}") for turn in (1, 2, 3)]
    for row, prompt in ordered.items():
        texts = ("Down", "Up", "Left", "Right") if task == "control_video" else COLORS
        options = sorted(texts, key=prompt.index)
        for turn, turned in enumerate(turns, start=1):
            found = sorted(options, key=turned[row].index)
            assert found == options[turn:] + options[:turn]


def test_all_conditions_of_a_question_come_from_one_decode(audited: Audited) -> None:
    """Nor does the audit as a chat decode anything that the other did."""
    decodes = Counter(line["source"] for line in audited.lines("decodes.jsonl"))
    questions: Counter[str] = Counter()
    for task in (*VIDEOS, "probe_egotempo", "probe_hd_epic"):
        for line in audited.asked[False, variant_name(task, "original")]:
            questions.update(entry["path"] for entry in line["shown"])
    assert {source: decodes[source] for source in questions} == dict(questions)


@pytest.mark.parametrize(("chat", "task"), RUNS)
def test_the_judgement_rests_on_the_tasks_own_scores(
    audited: Audited, chat: bool, task: str
) -> None:
    result = audited.audit(chat)[task]
    assert result["refused"] is None and result["items"] == QUESTIONS and not result["left_out"]
    for condition in ("original", "ordered4", "shuffled4", "random1", "last1", "blind"):
        assert result["asked"][condition] == QUESTIONS
        own = result["own"][condition]
        accuracy = result["accuracies"][condition]["value"]
        if task != "probe_vsibench":  # its number is a mean over kinds of questions
            assert own in (
                pytest.approx(accuracy, abs=5e-4),
                pytest.approx(100 * accuracy, abs=5e-2),
            )
    assert result["verdict"]
    assert any("means over questions" in note for note in result["notes"]) == (
        task == "probe_vsibench"
    )


def test_the_metric_is_one_over_all_items(audited: Audited) -> None:
    results = audited.audit(False)
    assert results["probe_tempcompass_mc"]["metric"] == "avg_accuracy"
    assert results["mvp_probe"]["metric"] == "single_accuracy"
    assert results["probe_egoschema"]["rule"] == "aggregation over the one item"
    assert results["probe_lemonade"]["rule"] == "aggregation over the one item"
    assert results["probe_videomme"]["rule"] == "key score"
    assert results["probe_tvbench"]["rule"] == "number"


def test_questions_about_one_video_are_drawn_together(audited: Audited) -> None:
    results = audited.audit(False)
    for task in EVERY:
        expected = QUESTIONS if task == "probe_lemonade" else QUESTIONS - 1
        if task == "probe_hd_epic":
            expected = QUESTIONS - 1
        assert results[task]["accuracies"]["ordered4"]["videos"] == expected, task


def test_a_group_is_judged_as_a_whole_too(audited: Audited) -> None:
    group = audited.audit(False)["probe_tempcompass"]
    assert group["tasks"] == ["probe_tempcompass_mc", "probe_tempcompass_yes_no"]
    assert group["items"] == 2 * QUESTIONS and group["metric"] == "avg_accuracy"


CONDITIONS = ("original", "ordered4", "shuffled4", "random1", "last1", "blind")


def test_pairs_and_videos_count_as_the_tasks_count_them(audited: Audited) -> None:
    """The numbers of MVP's own pairs; Video-MME-v2's four questions about one video."""
    found = audited.audit(False)["mvp_probe"]["groups"][""]
    assert set(found) == set(CONDITIONS)
    for condition, estimate in found.items():
        metrics, _ = audited.logged("audit/runs", variant_name("mvp_probe", condition))
        assert estimate["items"] == QUESTIONS // 2
        assert 100 * estimate["value"] == metrics["pair_accuracy,none"]
    result = audited.audit(False)["videomme_v2_probe"]
    (video,) = result["groups"].values()
    assert result["guessed_groups"] == {"": pytest.approx(8**-QUESTIONS)}
    assert rows_of(audited, False, "videomme_v2_probe", "reordered") == list(range(QUESTIONS))
    for condition, estimate in video.items():
        asked = audited.asked[False, variant_name("videomme_v2_probe", condition)]
        right = [line["said"] == "AB"[line["doc_id"] % 2] for line in asked]
        assert (estimate["items"], estimate["value"]) == (1, float(all(right)))


def test_vinogrounds_text_video_and_group(audited: Audited) -> None:
    """Its documents have no key and its metric no score for each question: both are declared."""
    result, rows = (
        audited.audit(False)["vinoground_probe"],
        audited.standins["vinoground_probe"].rows,
    )
    assert result["refused"] is None and result["items"] == len(rows) == 2 * QUESTIONS
    assert set(result["groups"]) == {"text", "video", "group"}
    for condition in CONDITIONS:
        right: dict[tuple[str, str], bool] = {}
        asked = audited.asked[False, variant_name("vinoground_probe", condition)]
        for line in asked:
            number, _, kind = rows[line["doc_id"]]["index"].split("_")
            for name in (kind, "group"):
                hit = line["said"] == rows[line["doc_id"]]["answer"]
                right[name, number] = right.get((name, number), True) and hit
        hits = [line["said"] == rows[line["doc_id"]]["answer"] for line in asked]
        assert result["accuracies"][condition]["value"] == sum(hits) / len(hits)
        for name in ("text", "video", "group"):
            (first, second) = (right[name, number] for number in "01")
            found = result["groups"][name][condition]
            assert (found["items"], found["value"]) == (2, (first + second) / 2)


def test_videos_that_cannot_be_shown_are_missing_and_the_rest_is_scored(audited: Audited) -> None:
    result = audited.audit(False)["probe_broken"]
    assert result["refused"] is None
    assert result["items"] == 2 and result["left_out"] == 3
    for condition in ("ordered4", "shuffled4", "random1", "last1"):
        assert result["missing"][condition] == 3
    # The task itself notices only what is gone.
    assert result["missing"]["original"] == 1
    assert "gone.mp4 does not exist" in audited.output


def test_functions_that_fail_do_not_end_the_run(audited: Audited) -> None:
    result = audited.audit(False)["probe_failing"]
    assert result["refused"] is None and result["metric"] == "right"
    assert result["items"] == 2 and result["left_out"] == 2
    assert result["missing"]["ordered4"] == 2
    assert "ValueError('no such label')" in audited.output
    assert "no judge" in audited.output and "no table" in audited.output
    assert any("share an id" in note for note in result["notes"])


def test_a_task_of_an_odd_name_and_without_functions_for_scoring(audited: Audited) -> None:
    result = audited.audit(False)["probe/odd name"]
    assert result["refused"] is None
    assert result["metric"] == "exact_match" and result["items"] == QUESTIONS
    # The harness scores it, but what could not be shown is known all the same.
    assert result["missing"]["ordered4"] == 1 and result["left_out"] == 1
    assert result["accuracies"]["ordered4"]["videos"] == QUESTIONS


def test_what_survives_is_written(audited: Audited) -> None:
    lines = [line.split("\t") for line in (audited.folder / "kept.txt").read_text().splitlines()]
    # Ids repeat in one of the tasks: the place in the dataset follows.
    assert all(len(line) == 3 and line[2].isdigit() for line in lines)
    kept = {task: {name for other, name, _ in lines if other == task} for task, *_ in lines}
    assert kept and set(kept) <= set(audited.audit(False))
    for row in audited.standins["probe_tomato"].rows:
        right = False
        for condition in ("shuffled", "random1", "last1", "blind"):
            for line in audited.asked[False, variant_name("probe_tomato", condition)]:
                if audited.standins["probe_tomato"].rows[line["doc_id"]]["id"] == row["id"]:
                    right = right or line["said"] == "ABCD"[row["answer"]]
        # One answer does not tell a leak from luck, but what is right nowhere surely survives.
        assert right or row["id"] in kept["probe_tomato"]


def test_what_was_asked_is_read_for_handpicking(audited: Audited) -> None:
    plan, asked = read_asked(audited.folder / "audit")
    assert [task.name for task in plan.tasks] == list(asked)
    for task in VIDEOS:
        originals = audited.asked[False, variant_name(task, "original")]
        assert [(each.prompt, each.source, each.shape) for each in asked[task]] == [
            (line["prompt"], line["shown"][0]["path"], "1 video")
            for line in sorted(originals, key=lambda line: line["doc_id"])
        ]
    assert {each.shape for each in asked["probe_egotempo"]} == {"1 video with times"}


def test_the_plan_can_be_read_back(audited: Audited) -> None:
    plan = read_plan(audited.folder / "audit/tasks/plan.json")
    assert (
        plan.frames == FRAMES and plan.find(variant_name("probe_osi", "blind"))[1].kind == "blind"
    )
    assert all(task.yaml.is_absolute() for task in plan.tasks)
