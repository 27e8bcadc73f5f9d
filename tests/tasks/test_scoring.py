"""One response becomes one record: right, wrong, unparsed, missing, failed or withheld."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import pytest

from tests.tasks.releases import write_video
from video_reasoning.preprocessing.video import VideoError, verify
from video_reasoning.tasks import blackswan, causalvqa, media, scoring, store, tvbench
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.states import NO_RESPONSE, FirstResponse, failure


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path))
    write_video(tmp_path / "tvbench/videos/a.mp4", frames=24)
    return {
        "id": "direction/1",
        "task": "direction",
        "question": "Which way does the kite drift?",
        "options": ["Up.", "Down.", "Left."],
        "answer": "C",
        "video": "videos/a.mp4",
        "problem": "",
    }


@pytest.mark.parametrize(
    ("response", "status", "score"),
    [
        ("The answer is C.", "answered", 1.0),
        ("B", "answered", 0.0),
        ("I cannot tell.", "unparsed", 0.0),
        ("", "unparsed", 0.0),
        (None, "failed", None),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] A server error (B) occurred", "failed", None),
        ("Video ['/a/b.mp4'] can not load, check the source", "failed", None),
        ("I see: Video x can not load, check the source. But C.", "answered", 1.0),
        (["C"], "answered", 1.0),
    ],
)
def test_a_response_is_judged(
    document: dict[str, Any], response: Any, status: str, score: float | None
) -> None:
    judged = scoring.judge("tvbench", document, [response])
    assert (judged["status"], judged["score"]) == (status, score)


def test_no_response_at_all_is_failed(document: dict[str, Any]) -> None:
    assert scoring.judge("tvbench", document, [])["status"] == "failed"


@pytest.mark.parametrize("module", [tvbench, causalvqa, blackswan])
def test_a_failed_request_is_in_no_number_but_its_own(
    document: dict[str, Any], module: Any, tmp_path: Path
) -> None:
    benchmark = tmp_path / module.__name__.rpartition(".")[2]
    if not benchmark.exists():
        benchmark.symlink_to(tmp_path / "tvbench")
    document |= {"qid": "1", "variant": "0", "type": "planning", "difficulty": "hard"}
    rows = [
        module.process_results(document, [text])
        for text in ("C", "[LMMS_EVAL_REQUEST_FAILED after 5 retries] C", "", None)
    ]
    table = {each["metric"]: each["aggregation"] for each in module.METRICS}
    values = {
        name: table[name]([row[name] for row in rows])
        for name in ("failed_items", "empty_responses", "missing_items", "unparsed_rate")
    }
    assert values == {
        "failed_items": 2,
        "empty_responses": 1,
        "missing_items": 0,
        "unparsed_rate": 0.5,
    }
    accuracy = next(name for name in ("accuracy", "accuracy_unpaired") if name in table)
    assert table[accuracy]([row[accuracy] for row in rows]) == 0.5
    assert "REQUEST_FAILED" in rows[1]["problem"]


def test_a_response_that_never_came_is_not_an_empty_one() -> None:
    found = FirstResponse().apply([["a", "b"], [""], [], [None]], None)
    assert found == ["a", "", NO_RESPONSE, NO_RESPONSE]
    assert not failure(["a"]) and not failure([""]) and failure([NO_RESPONSE])


def test_a_missing_video_has_no_score(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "tvbench/videos/a.mp4").unlink()
    result = tvbench.process_results(document, ["C"])
    assert result["status"] == "missing"
    assert result["score"] is None
    assert "score" not in result["accuracy"]
    assert result["unparsed_rate"] is None
    assert scoring.missing_items([result["missing_items"]]) == 1


def test_a_withheld_answer_has_no_score(document: dict[str, Any]) -> None:
    result = tvbench.process_results({**document, "answer": ""}, ["B"])
    assert (result["status"], result["choice"], result["score"]) == ("withheld", "B", None)
    assert scoring.accuracy([result["accuracy"]]) is None


def test_scoring_never_raises(document: dict[str, Any]) -> None:
    broken = {**document, "options": 5}
    judged = scoring.judge("tvbench", broken, ["C"])
    assert (judged["status"], judged["score"]) == ("failed", None)
    assert judged["rule"].startswith("error")


def test_what_is_shown_for_a_missing_video_is_black_and_readable(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document["video"] = "videos/gone.mp4"
    (shown,) = tvbench.doc_to_visual(document)
    assert verify(Path(shown)).frames == media.PLACEHOLDER_FRAMES


@pytest.mark.parametrize("absolute", [True, False])
def test_a_video_outside_the_store_is_missing(
    document: dict[str, Any], tmp_path: Path, absolute: bool
) -> None:
    outside = write_video(tmp_path / "private.mp4", frames=24) or tmp_path / "private.mp4"
    document["video"] = str(outside) if absolute else "../private.mp4"
    for condition in (None, {"condition": "ordered8"}):
        assert tvbench.doc_to_visual(document, condition) == [str(media.placeholder())]
    assert media.problem("tvbench", document) == "its video is outside the store"


def test_what_prepare_found_is_believed(document: dict[str, Any]) -> None:
    document["problem"] = "cut short"
    assert media.problem("tvbench", document) == "cut short"
    assert media.show("tvbench", document) == [str(media.placeholder())]


def test_tvbench_shows_sixteen_frames_and_says_so(document: dict[str, Any]) -> None:
    (shown,) = tvbench.doc_to_visual(document, {"condition": "ordered16"})
    assert verify(Path(shown)).frames == 16
    assert "provided with 16 separate frames" in tvbench.doc_to_text(document)
    (shown,) = tvbench.doc_to_visual(document, {"condition": "ordered8"})
    assert verify(Path(shown)).frames == 8
    assert "with 8 separate frames" in tvbench.doc_to_text(document, {"condition": "ordered8"})


def test_tvbench_prompt_is_the_papers(document: dict[str, Any]) -> None:
    assert tvbench.doc_to_text(document) == (
        "You will be provided with 16 separate frames uniformly sampled from a video, the frames "
        "are provided in chronological order of the video. Analyze these frames and provide the "
        "answer to the question about the video content. Answer the multiple-choice question "
        "about the video content.\n"
        "You must use these frames to answer the multiple-choice question; do not rely on any "
        "external knowledge or commonsense.\n"
        "<question> Which way does the kite drift? </question>\n"
        "<options> {'A': 'Up.', 'B': 'Down.', 'C': 'Left.'} </options>\n"
        "Even if the information in these separate frames is not enough to answer the question, "
        "PLEASE TRY YOUR BEST TO GUESS AN ANSWER WHICH YOU THINK WOULD BE THE MOST POSSIBLE ONE "
        "BASED ON THE QUESTION.\n"
        "DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.'"
    )


def test_causalvqa_prompt_lists_options_and_asks_for_the_format(document: dict[str, Any]) -> None:
    lines = causalvqa.doc_to_text(document).splitlines()
    assert lines[0] == document["question"]
    assert lines[1:4] == ["(A) Up.", "(B) Down.", "(C) Left."]
    assert lines[-1] == "Your Answer Letter: X END"
    assert "(A to C)" in lines[-2]


def items(*scores: tuple[str, float | None]) -> list[dict[str, Any]]:
    return [{"qid": qid, **({} if score is None else {"correct": score})} for qid, score in scores]


def test_pairs_need_both_variants() -> None:
    # q1: both right; q2: one right; q3: its second variant has no video.
    rows = items(("q1", 1.0), ("q1", 1.0), ("q2", 1.0), ("q2", 0.0), ("q3", 1.0), ("q3", None))
    assert causalvqa.accuracy_paired([*rows, scoring.NOT_COUNTED]) == 0.5
    assert causalvqa.incomplete_pairs(rows) == 1
    assert causalvqa.accuracy_paired(rows[::-1]) == 0.5  # ranks may hand them over in any order


def test_nothing_to_average_is_not_zero() -> None:
    assert scoring.accuracy([]) is None
    assert scoring.unparsed_rate([None, None]) is None
    assert causalvqa.accuracy_paired(items(("q1", 1.0))) is None


def test_breakdowns_rest_on_their_own_items_only(document: dict[str, Any]) -> None:
    result = tvbench.process_results(
        {**document, "demonstration_type": "human", "zoom": True}, ["C"]
    )
    assert result["acc_human"]["score"] == result["acc_zoom"]["score"] == 1.0
    assert "score" not in result["acc_object"] and "score" not in result["acc_composite"]
    assert scoring.accuracy([result["acc_object"]]) is None


def test_a_paired_accuracy_gets_no_standard_error_of_the_unpaired(
    document: dict[str, Any],
) -> None:
    row = {**document, "qid": "q1", "variant": 1, "type": "planning", "difficulty": "easy"}
    result = causalvqa.process_results({**row, "condition": "blind"}, ["C"])
    # The harness computes standard errors wherever an item has a "score".
    assert "score" in result["accuracy_unpaired"] and "score" in result["acc_unpaired_easy"]
    assert "score" not in result["accuracy_paired"] and "score" not in result["acc_paired_easy"]
    assert result["accuracy_paired"]["correct"] == result["acc_paired_reasoning"]["correct"]
    assert result["acc_paired_hard"] == {}


def test_a_fault_found_when_the_clip_is_made_is_missing_too(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise VideoError("a.mp4 breaks off after frame 7.")

    monkeypatch.setattr(media, "_OUTCOMES", {})
    assert tvbench.process_results(document, ["C"])["status"] == "answered"
    monkeypatch.setattr(media, "clip_for", fail)
    assert tvbench.doc_to_visual(document) == [str(media.placeholder())]
    result = tvbench.process_results(document, ["C"])
    assert (result["status"], result["problem"]) == ("missing", "a.mp4 breaks off after frame 7.")


@pytest.mark.parametrize("benchmark", [tvbench, causalvqa])
@pytest.mark.parametrize(("condition", "status"), [("blind", "answered"), ("last1", "missing")])
def test_only_what_is_asked_blind_needs_no_video(
    document: dict[str, Any], tmp_path: Path, benchmark: Any, condition: str, status: str
) -> None:
    (tmp_path / "tvbench/videos/a.mp4").unlink()
    pair = {"qid": "q1", "variant": 1, "type": "planning", "difficulty": "easy"}
    result = benchmark.process_results({**document, **pair, "condition": condition}, ["C"])
    assert result["status"] == status


def test_documents_say_their_split_and_condition(tmp_path: Path) -> None:
    file = tmp_path / "questions.parquet"
    datasets.Dataset.from_dict({"task": ["direction", "rotation"]}).to_parquet(str(file))
    files = {"data_files": {"debug": str(file)}, "cache_dir": str(tmp_path / "cache")}
    for name, condition in ((None, None), ("ordered8", "ordered8")):
        dataset = datasets.load_dataset("parquet", name=name, **files)["debug"]
        (document,) = tvbench.direction(dataset)
        assert (document["split"], document.get("condition")) == ("debug", condition)
    prepared = datasets.Dataset.from_dict({"task": ["direction"], "split": ["test"]})
    assert tvbench.all_questions(prepared)["split"] == ["test"]
    with pytest.raises(StoreError, match="no questions of shape_trend"):
        tvbench.shape_trend(prepared)


def test_a_condition_in_the_yamls_settings_wins() -> None:
    settings = {"condition": "ordered8"}
    assert scoring.named_condition({"condition": "blind"}, settings, "video") == "ordered8"
    assert scoring.named_condition({"condition": "blind"}, None, "video") == "blind"
    assert scoring.named_condition({}, {}, "video") == "video"


def test_a_skipped_row_of_an_unknown_task_counts_for_every_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"task": ""}, {"task": "direction"}, {"task": "rotation"}, {"reason": "half a row"}]
    monkeypatch.setattr(scoring.store, "split_summary", lambda *_: {"skipped": rows})
    item = {"benchmark": "tvbench", "split": "test", "task": "direction"}
    assert scoring.skipped_rows([item, item]) == 3
    assert scoring.skipped_rows([item | {"task": "velocity"}]) == 2


def test_skipped_rows_of_an_unknown_split_are_not_zero() -> None:
    assert scoring.skipped_rows([{"benchmark": "blackswan", "split": "", "task": ""}]) is None


def test_what_a_module_offers_to_yamls_is_made_again() -> None:
    find = scoring.attributes("here", LIST=[{"metric": "a"}], made=lambda: [1])
    assert find("LIST") == [{"metric": "a"}] and find("LIST")[0] is not find("LIST")[0]
    assert find("made") == [1]
    with pytest.raises(AttributeError, match="'here' has no attribute 'other'"):
        find("other")
