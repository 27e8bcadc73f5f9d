"""Rating free text: what is rated, the forms, the file, and the numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra `handpick`")

from fastapi.testclient import TestClient
from typer.testing import CliRunner

from tests.annotate import stores
from video_reasoning.tasks import store
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.pages.annotate.agreement import rated
from video_reasoning.tasks.pages.annotate.ratings import (
    FORMS,
    Rated,
    RatingLog,
    check,
    draw,
    from_references,
    from_runs,
    order_for,
)
from video_reasoning.tasks.pages.annotate.server import RatingPlace, create_app
from video_reasoning.tasks.pages.journal import PageError

VIDEOS = 6
MODELS = ("model_one", "model_two")
WHYS = {"correctness": "fits", "thoughtfulness": "deep", "detail": "rich", "entailment": "seen"}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models' runs: three responses to the Detective, one to the Reporter."""
    home = stores.write(tmp_path / "store", "blackswan", stores.blackswan(VIDEOS), videos=False)
    monkeypatch.setenv(store.HOME_VARIABLE, str(home))
    for model in MODELS:
        folder = tmp_path / "runs" / model
        folder.mkdir(parents=True)
        for part, n_responses in (("detective", 3), ("reporter", 1)):
            lines = [
                {
                    "doc_id": n, "id": f"{part}_gen/{n}", "target": "", "status": "answered",
                    "filtered_resps": texts, "clip_score": {"responses": texts, "references": [""]},
                    "bleu": {"score": 0.1},
                }
                for n in range(VIDEOS)
                for texts in [[f"{model} {part} {n} {k}." for k in range(n_responses)]]
            ]  # fmt: skip
            path = folder / f"20260101_000000_samples_blackswan_{part}_gen.jsonl"
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "runs"


def place(texts: list[Rated], path: Path) -> RatingPlace:
    return RatingPlace(texts, RatingLog(path), "evaluation", "ana")


def rate(where: RatingPlace, who: str, score: Any) -> None:
    """Rate every text with `score(place)`; the texts follow the video."""
    made = []
    for number, item in enumerate(where.items):
        values = dict.fromkeys(WHYS, score(number)) | {"entailment": 1}
        made.append(where.rating(item, who, ratings=values, reasons=WHYS))
    where.log.record(made)


def test_one_response_of_each_question_is_drawn(runs: Path) -> None:
    texts = from_runs([runs], [], 0)
    assert len(texts) == 2 * 2 * VIDEOS
    assert [t.text for t in from_runs([runs], [], 0)] == [t.text for t in texts]
    drawn = {t.text[-2] for t in texts if "detective" in t.task}
    assert drawn == {"0", "1", "2"} and len(from_runs([runs], ["blackswan_reporter_gen"], 0)) == 12
    few = draw(texts, 2, 0)
    # All texts about two videos: of both models and both tasks.
    assert len(few) == 8 and {t.model for t in few} == set(MODELS)
    with pytest.raises(PageError, match="has answers in free text"):
        from_runs([runs], ["blackswan_forecaster_gen"], 0)


def test_the_order_hides_the_writers(runs: Path) -> None:
    texts = from_runs([runs], [], 0)
    order = [texts[n] for n in order_for(texts, "ana", 0)]
    tasks = [t.task for t in order]
    assert tasks == sorted(tasks)  # the Detective's before the Reporter's, which show all
    models = [t.model for t in order]
    assert len(set(models[:6])) == 2 and order_for(texts, "ben", 0) != order_for(texts, "ana", 0)


def test_the_page_is_not_told_who_wrote_it(runs: Path, tmp_path: Path) -> None:
    texts = from_runs([runs], ["blackswan_reporter_gen"], 0)
    client = TestClient(
        create_app(place(texts, tmp_path / "r.jsonl")), base_url="http://127.0.0.1:8765"
    )
    session = client.get("/api/session").text
    shown = client.get("/api/items/0?annotator=ana").json()
    assert not any(model in session for model in MODELS)
    assert shown.pop("response") == texts[0].text
    assert not any(model in json.dumps(shown) for model in MODELS)
    assert [part["name"] for part in shown["form"]] == list(WHYS) and shown["reasons"]
    assert shown["form"][0]["labels"][4] == "Very likely correct"
    token = re.search(r'page-token" content="([^"]+)"', client.get("/").text)
    assert token
    body = {"annotator": "ana", "item": 0, "ratings": dict.fromkeys(WHYS, 1), "reasons": WHYS}
    sent = {"x-page-token": token[1], "content-type": "application/json"}
    saved = client.post("/api/rate", content=json.dumps(body), headers=sent).json()
    assert saved["decision"]["ratings"] == body["ratings"]
    (line,) = map(json.loads, (tmp_path / "r.jsonl").read_text().splitlines())
    assert line["model"] == texts[0].model and line["reasons"] == WHYS
    body["ratings"] = {"correctness": 3}
    refused = client.post("/api/rate", content=json.dumps(body), headers=sent)
    assert refused.status_code == 422
    assert refused.json()["detail"] == "Rate depth and thoughtfulness as well."


def test_a_rating_needs_its_reason() -> None:
    values = dict.fromkeys(WHYS, 1)
    with pytest.raises(PageError, match="Write why you rated level of detail so"):
        check("evaluation", values, {**WHYS, "detail": "  "})
    for odd in (0, 6, True):
        if odd is not True:
            with pytest.raises(PageError, match="Rate correctness"):
                check("evaluation", {**values, "correctness": odd}, WHYS)
    graded = {"correctness": 10, "thoughtfulness": 7, "grammar": 0}
    assert check("validation", graded, {}) == (graded, {})
    assert [len(c.values) for c in FORMS["validation"]] == [10, 10, 2]


def test_means_and_agreement(runs: Path, tmp_path: Path) -> None:
    texts = [t for t in from_runs([runs], ["blackswan_reporter_gen"], 0) if t.model == MODELS[0]]
    where = place(texts, tmp_path / "r.jsonl")
    rate(where, "ana", lambda n: 1 + n % 5)
    rate(where, "ben", lambda n: 1 + n % 5 if n else 3)
    correctness, _, _, entailment = rated(where.log.decisions.values())
    # 1..5 and 1; Ben gives the first 3 instead of 1, so that its mean is 2.
    assert correctness.mean.value == pytest.approx((2 + 2 + 3 + 4 + 5 + 1) / 6)
    assert correctness.people == 2 and correctness.twice == 6 and correctness.mean.n_clusters == 6
    assert 0.7 < correctness.alpha.value < 1 and entailment.mean.value == 1
    result = CliRunner().invoke(app, ["annotate", "ratings", str(tmp_path / "r.jsonl")])
    assert "blackswan_reporter_gen (evaluation), model_one: 6 texts, 2 people" in result.output
    assert "correctness     2.83 [" in result.output
    assert "alpha over 6 rated twice: undefined, all ratings are the same" in result.output
    again = RatingLog(tmp_path / "r.jsonl")
    assert again.undo("ben") is not None and len(again.decisions) == 11


def test_references_are_validated(runs: Path) -> None:
    texts = from_references(["blackswan_detective_gen", "blackswan_reporter_gen"])
    assert len(texts) == 2 * VIDEOS and {t.form for t in texts} == {"validation"}
    with pytest.raises(PageError, match="no references"):
        from_references(["blackswan_detective_mcq"])


def test_runs_or_references(runs: Path, tmp_path: Path) -> None:
    words = ["annotate", "rate", "--out", str(tmp_path / "r.jsonl")]
    result = CliRunner().invoke(app, words)
    assert "one of them" in str(result.exception)
