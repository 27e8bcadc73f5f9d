"""One response becomes one record: right, wrong, unparsed, missing or withheld."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.tasks.releases import write_video
from video_reasoning.preprocessing.video import verify
from video_reasoning.tasks import blackswan, causalvqa, media, scoring, store, tvbench


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
        (None, "unparsed", 0.0),
        (["C"], "answered", 1.0),
    ],
)
def test_a_response_is_judged(
    document: dict[str, Any], response: Any, status: str, score: float
) -> None:
    judged = scoring.judge("tvbench", document, [response])
    assert (judged["status"], judged["score"]) == (status, score)


def test_no_response_at_all_is_unparsed(document: dict[str, Any]) -> None:
    assert scoring.judge("tvbench", document, [])["status"] == "unparsed"


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
    assert judged["status"] == "unparsed"
    assert judged["rule"].startswith("error")


def test_what_is_shown_for_a_missing_video_is_black_and_readable(
    document: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document["video"] = "videos/gone.mp4"
    (shown,) = tvbench.doc_to_visual(document)
    assert verify(Path(shown)).frames == media.PLACEHOLDER_FRAMES


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


def test_blackswan_prompt_is_the_papers(document: dict[str, Any]) -> None:
    assert blackswan.detective_mcq_text(document) == (
        "Select the description that indicates what happened in the hidden (black) frames of "
        "the video: A. Up. B. Down. C. Left."
    )


def test_causalvqa_prompt_lists_options_and_asks_for_the_format(document: dict[str, Any]) -> None:
    lines = causalvqa.doc_to_text(document).splitlines()
    assert lines[0] == document["question"]
    assert lines[1:4] == ["(A) Up.", "(B) Down.", "(C) Left."]
    assert lines[-1] == "Your Answer Letter: X END"
    assert "(A to C)" in lines[-2]


def items(*scores: tuple[str, float | None]) -> list[dict[str, Any]]:
    return [{"qid": qid, **({} if score is None else {"score": score})} for qid, score in scores]


def test_pairs_need_both_variants() -> None:
    # q1: both right; q2: one right; q3: its second variant has no video.
    rows = items(("q1", 1.0), ("q1", 1.0), ("q2", 1.0), ("q2", 0.0), ("q3", 1.0), ("q3", None))
    assert causalvqa.accuracy_paired(rows) == 0.5
    assert scoring.accuracy(rows) == 4 / 5
    assert causalvqa.incomplete_pairs(rows) == 1
    assert causalvqa.accuracy_paired(rows[::-1]) == 0.5  # ranks may hand them over in any order


def test_nothing_to_average_is_not_zero() -> None:
    assert scoring.accuracy([]) is None
    assert scoring.unparsed_rate([None, None]) is None
    assert causalvqa.accuracy_paired(items(("q1", 1.0))) is None
    assert blackswan.acc_hard([{"score": 1.0, "difficulty": "easy"}]) is None


def test_difficulties_are_kept_apart() -> None:
    rows = [
        {"score": 1.0, "difficulty": "easy"},
        {"score": 0.0, "difficulty": "easy"},
        {"score": 1.0, "difficulty": "hard"},
        {"difficulty": "hard"},
    ]
    assert blackswan.acc_easy(rows) == 0.5
    assert blackswan.acc_hard(rows) == 1.0
