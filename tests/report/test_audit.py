"""Audits in the report: every number is there, and nothing that a file holds breaks the page."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.report.audits import NAMES, change, grouped, item, result, write_audit
from tests.report.runs import (
    FRAMES,
    causal_lines,
    causal_questions,
    grey,
    write_questions,
    write_run,
    write_video,
)
from tests.report.test_page import NASTY, Parsed, shade
from video_reasoning.metrics.published import published
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.audit.result import Audit, read_audit, read_findings
from video_reasoning.tasks.audit.variants import AuditError, condition_label, is_variant
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.report.audits import PAPER_BENCHMARKS
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.markdown import markdown
from video_reasoning.tasks.report.page import environment, page
from video_reasoning.tasks.report.plots import Line, Point, gains
from video_reasoning.tasks.results.compare import compare
from video_reasoning.tasks.results.items import ReportError, gather

RIGHT = ("ordered16", "random1", "blind")


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "store"
    home.mkdir()
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(home))
    return home


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    """An audit of two tasks, one of them refused."""
    video = tmp_path / "videos" / "0.mp4"
    write_video(video)
    items = [item(0, RIGHT, str(video)), item(1, ("random1",)), item(2, ("ordered16",))]
    refused = result("pictures", accuracies={}, ratios={}, refused="it shows a single image")
    return write_audit(tmp_path / "audit", [result("moves", items), refused])


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    results = [result("moves", chance=math.nan), result("odd", own={"ordered16": None})]
    folder = write_audit(tmp_path / "audit", results, model_args="pretrained=x")
    audit = read_audit(folder / "audit.json")
    assert audit.as_json()["tasks"] == Audit("", (), results).as_json()["tasks"]
    assert (audit.model, audit.model_args, audit.frames) == ("some_model", "pretrained=x", 16)
    assert list(audit.conditions) == list(NAMES)


def test_the_page_has_every_number(audited: Path) -> None:
    parsed = Parsed(page(build([audited])))
    assert not parsed.open
    for text in (
        "It takes several frames, but in any order.",
        "80% is there with one frame.",
        "62.5",
        "51.0 to 74.0",
        "25.0",
        "2.1 to 51.3",
        "-5.0 to ∞",
        "undefined",
        "right in both orders",
        "40 questions scored under every condition, 5 left out",
        "1 video (38), 2 videos (2)",
        "pictures: it shows a single image",
        "Questions to look at (2)",
        "right blind",
        "wrong with the frames in order",
    ):
        assert text in parsed.text, text
    for name in NAMES:
        assert condition_label(name) in parsed.text


def test_counts_stand_in_the_row_of_their_condition(audited: Path) -> None:
    lines = markdown(build([audited], most_examples=0)).split("\n")
    rows = {line.split(" | ")[0].strip("| "): line for line in lines if line.startswith("| ")}
    assert rows["1 random frame"].endswith(
        "| 50.0 (38.0 to 62.0) | 40 | 20 | 40 | 3 | 0 | 0 | – | – |"
    )
    assert rows["last frame"].endswith("| 40 | 0 | 2 | 0 | – | – |")
    assert rows["no frame"].endswith("| 40 | 0 | 0 | 7 | – | – |")
    assert rows["κ (no frame)"] == "| κ (no frame) | undefined | 40 |"
    assert "- **pictures**: it shows a single image" in lines


def test_the_paper_stands_beside(audited: Path) -> None:
    report = build([audited])
    assert report.audit is not None and report.audit.grid is not None
    rows = {row.label: [cell.text for cell in row.cells] for row in report.audit.grid.rows}
    assert rows["moves, some_model"] == [
        *("50.0", "55.0", "60.0", "62.5", "25.0", "–", "4.2", "10.0"),
    ]
    assert rows["MVBench, GPT-4o"] == [
        *("47.1", "59.8", "59.8", "62.3", "32.3", "4.1", "4.1", "27.1"),
    ]
    assert rows["ReXTime, Qwen2-VL-72B"][6] == "–", "the paper prints no tau there"
    assert len(rows) == 1 + 2 * len(PAPER_BENCHMARKS)
    tables = published("tvbench").tables
    assert tables["frame_order_sensitivity"].value("GPT-4o", "TempCompass/tau") == 21.2
    assert rows["TempCompass, GPT-4o"][6] == "21.2"


def test_the_paper_does_not_stand_beside_the_sample_benchmark(tmp_path: Path) -> None:
    drawn = result("tvbench_tomato_direction", sample_benchmark=True)
    report = build([write_audit(tmp_path / "alone", [drawn])])
    assert report.audit is not None and report.audit.grid is None
    assert report.sample.startswith("SAMPLE BENCHMARK: drawn shapes with known answers")
    assert report.sample in Parsed(page(report)).text
    report = build([write_audit(tmp_path / "both", [drawn, result("moves")])])
    assert report.audit is not None and report.audit.grid is not None
    assert [row.label for row in report.audit.grid.rows if row.kind == "run"] == [
        "moves, some_model"
    ]
    assert report.sample.startswith("SAMPLE BENCHMARK in tvbench_tomato_direction: drawn")
    released = result("tvbench_tomato_direction")  # a later audit of the same task
    write_audit(tmp_path / "both" / "later", [released])
    assert "in tvbench_tomato_direction: drawn" in build([tmp_path / "both"]).sample


def test_json_has_the_audit(audited: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = CliRunner().invoke(app, ["report", str(audited), "--out", str(out)])
    assert done.exit_code == 0, done.output

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    content = json.loads(out.read_text(encoding="utf-8"), parse_constant=refuse)
    (audit,) = content["audits"]
    assert audit["file"] == str(audited / "audit.json")
    assert audit["questions_to_look_at"] == {"moves": 2}
    first = audit["tasks"][0]
    assert first["ratios"]["kappa_last1"]["high"] == "infinity"
    assert first["ratios"]["kappa_blind"]["value"] is None
    assert content["tasks"] == [] and content["tables"][0]["key"] == "audit-paper"


def test_variants_are_no_tasks_of_their_own(audited: Path, tmp_path: Path) -> None:
    questions = causal_questions(3)
    file = write_questions(tmp_path / "store", "causalvqa", "debug", questions)
    write_run(
        audited / "more",
        {"causalvqa_debug": causal_lines(questions, lambda q: "A")},
        model="other",
        questions={"causalvqa_debug": file},
    )
    report = build([audited])
    assert list(report.tasks) == ["causalvqa_debug"]
    assert report.as_json()["tables"][0]["key"] == "audit-paper"
    text = Parsed(page(report)).text
    assert "some_model (audit)" in text and "audit_moves" not in text
    assert "audit\\_moves" not in markdown(report)


@pytest.mark.parametrize("name", ["runs", "audit.json"])
def test_the_logs_and_the_file_stand_for_the_audit(audited: Path, name: str) -> None:
    report = build([audited / name])
    assert not report.found
    assert report.audit is not None
    assert [audit.folder for audit in report.audit.audits] == [audited]


def test_a_variant_that_is_named_itself_is_a_task(audited: Path) -> None:
    (log,) = (audited / "runs").glob("*_samples_audit_moves_blind.jsonl")
    assert list(build([log]).tasks) == ["audit_moves_blind"]


@pytest.mark.parametrize(
    ("task", "is_one"),
    [
        ("audit_moves_ordered16", True),
        ("audit_moves_reordered2", True),
        ("audit_a_blind", True),
        ("audit_moves", False),
        ("my_audit_blind", False),
        ("tvbench_tomato_blind", False),
    ],
)
def test_names_of_variants(task: str, is_one: bool) -> None:
    assert is_variant(task) == is_one


def test_logs_that_nobody_judged_are_told_of(audited: Path, tmp_path: Path) -> None:
    (audited / "audit.json").unlink()
    with pytest.raises(ReportError, match="--judge-only"):
        build([audited])
    questions = causal_questions(2)
    file = write_questions(tmp_path / "store", "causalvqa", "debug", questions)
    write_run(
        audited / "more",
        {"causalvqa_debug": causal_lines(questions, lambda q: "A")},
        questions={"causalvqa_debug": file},
    )
    report = build([audited])
    assert list(report.tasks) == ["causalvqa_debug"]
    assert "--judge-only" in Parsed(page(report)).text
    assert "--judge-only" in markdown(report).replace("\\", "")


NO_AUDITS = {
    "empty": b"",
    "not JSON": b"\xff\xfe{",
    "a list": b"[]",
    "another tool's": b'{"auditReportVersion": 2, "vulnerabilities": {}}',
    "nested": b"[" * 100_000,
    "a number of many digits": b'{"model": ' + b"9" * 10_000 + b"}",
    "tasks of another kind": b'{"model": "m", "conditions": [], "tasks": [1]}',
    "a text for a number": (
        b'{"model": "m", "conditions": [], "tasks": [{"name": "t", "tasks": ["t"], '
        b'"accuracies": {"blind": {"value": "<b>", "low": 0, "high": 1, "level": 0.95, '
        b'"items": 1, "videos": 1}}}]}'
    ),
    "a list for a mapping": (
        b'{"model": "m", "conditions": [], "tasks": [{"name": "t", "tasks": [], "asked": []}]}'
    ),
}


@pytest.mark.parametrize("content", NO_AUDITS.values(), ids=NO_AUDITS)
def test_a_file_that_is_no_audit_is_a_warning(
    audited: Path, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "audit.json").write_bytes(content)
    with pytest.raises(AuditError, match=r"is not an audit\.json of video-reasoning"):
        read_audit(tmp_path / "foreign" / "audit.json")
    report = build([audited, tmp_path / "foreign"], most_examples=0)
    assert report.audit is not None and len(report.audit.audits) == 1
    (problem,) = report.audit.problems
    assert str(tmp_path / "foreign") in problem and "--judge-only" in problem
    assert "damaged" in markdown(report)
    with pytest.raises(ReportError):
        build([tmp_path / "foreign"])


def test_odd_lines_of_the_list_are_counted(audited: Path) -> None:
    with (audited / "questions.jsonl").open("ab") as file:
        file.write(b'{"task": 1}\n\xff\n[]\n{"torn": \n\n')
    kept, counts, odd = read_findings(audited, 1)
    assert [each.id for each in kept["moves"]] == ["q0"]
    assert (counts, odd) == ({"moves": 2}, 4)
    assert "4 unusable lines" in Parsed(page(build([audited]))).text


def test_without_list_plan_and_logs(tmp_path: Path) -> None:
    folder = write_audit(tmp_path / "audit", [result("moves", [item(0, RIGHT)])], logs=False)
    (folder / "questions.jsonl").unlink()
    text = Parsed(page(build([folder]))).text
    assert "62.5" in text and "Questions to look at" not in text


def test_frames_are_those_that_were_shown(audited: Path) -> None:
    report = build([audited])
    assert report.audit is not None
    first, second = (
        next(each for each in chosen if each.listed.id == name)
        for chosen in report.audit.examples.values()
        for name in ("q0", "q1")
    )
    seen = condition_indices(Condition.parse("random1"), FRAMES, "q0")
    assert [shade(frame.uri) for frame in first.singles] == pytest.approx(
        [grey(seen[0]), grey(FRAMES - 1)], abs=4
    )
    assert [shade(frame.uri) for frame in first.frames] == pytest.approx(
        [grey(index) for index in uniform_indices(FRAMES, 8)], abs=4
    )
    assert not second.singles and "does not name a video file" in second.caption


@pytest.mark.parametrize(("key", "drawn_by"), [("", "same"), ("a document", "a document")])
def test_an_id_that_repeats_is_not_drawn_by_its_place(
    tmp_path: Path, key: str, drawn_by: str
) -> None:
    write_video(tmp_path / "0.mp4")
    repeated = item(3, RIGHT, str(tmp_path / "0.mp4"), key=key)
    repeated.id = "same#3"
    report = build([write_audit(tmp_path / "audit", [result("moves", [repeated])])])
    assert report.audit is not None
    ((example,),) = report.audit.examples.values()
    seen = condition_indices(Condition.parse("random1"), FRAMES, drawn_by)
    assert shade(example.singles[0].uri) == pytest.approx(grey(seen[0]), abs=4)


@pytest.mark.parametrize("kind", ["gone", "text", "folder"])
def test_a_video_that_cannot_be_read_is_a_caption(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "video.mp4"
    if kind == "text":
        path.write_text("no video", encoding="utf-8")
    elif kind == "folder":
        path.mkdir()
    folder = write_audit(tmp_path / "audit", [result("moves", [item(0, RIGHT, str(path))])])
    assert "No pictures: " in Parsed(page(build([folder]))).text


def test_no_examples_are_no_pictures(audited: Path) -> None:
    report = build([audited], most_examples=0)
    assert report.audit is not None and not report.audit.examples
    assert "<img" not in page(report).partition("Questions to look at")[2]


def test_text_is_shown_as_text(tmp_path: Path) -> None:
    nasty = NASTY.replace("\x00", "")
    items = [
        item(
            0,
            RIGHT,
            f"/gone/{nasty}",
            prompt=nasty,
            target=nasty,
            shape=nasty,
            responses=dict.fromkeys(NAMES, nasty),
        )
    ]
    named = result(
        nasty, items, metric=nasty, rule=nasty, verdict=[nasty, nasty], notes=[nasty], shapes={}
    )
    refused = result(f"other{nasty}", refused=nasty, notes=[nasty])
    folder = write_audit(tmp_path / "audit", [named, refused], model=nasty, logs=False)
    change(folder, model=nasty, model_args=nasty, conditions=[nasty])
    report = build([folder])
    parsed = Parsed(page(report))
    assert not parsed.open
    names = [name for name, _ in parsed.elements]
    assert names.count("script") == 1 and not {"iframe", "b"} & set(names)
    assert parsed.text.count('<script>alert("x")</script>') > 10
    for name, attributes in parsed.elements:
        assert not any(key.startswith("on") for key in attributes), (name, attributes)
        for key in ("src", "href"):
            value = attributes.get(key)
            assert value is None or value.startswith(("#", "data:image/")), (name, value)
    assert "<script>" not in markdown(report)


def test_links_lead_somewhere(audited: Path, tmp_path: Path) -> None:
    other = write_audit(tmp_path / "other", [result("moves")], model="other")
    parsed = Parsed(page(build([audited, other])))
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [str(attributes["href"]) for name, attributes in parsed.elements if name == "a"]
    assert "#audit" in links and {link.removeprefix("#") for link in links} <= set(ids)


def test_several_audits_stand_beside_each_other(tmp_path: Path) -> None:
    for place, model in enumerate(("one", "two", "two")):
        write_audit(
            tmp_path / "all" / str(place), [result("moves")], model=model, date=f"2026112{place}"
        )
    report = build([tmp_path / "all"])
    assert report.audit is not None and report.audit.grid is not None
    assert list(report.audit.names.values()) == ["one", "two (20261121)", "two (20261122)"]
    labels = [row.label for row in report.audit.grid.rows][:3]
    assert labels == [f"moves, {name}" for name in report.audit.names.values()]
    assert [len(each) for each in report.audit.top.values()] == [3]
    twice = build([tmp_path / "all", tmp_path / "all" / "0"])
    assert twice.audit is not None and len(twice.audit.audits) == 3


def test_a_group_stands_for_its_tasks(tmp_path: Path) -> None:
    results = [*grouped("bench", ["bench_a", "bench_b"]), result("alone")]
    report = build([write_audit(tmp_path / "audit", results)])
    assert report.audit is not None and report.audit.grid is not None
    assert list(report.audit.top) == ["bench", "alone"]
    labels = [row.label for row in report.audit.grid.rows if row.kind == "run"]
    assert labels == ["bench, some_model", "alone, some_model"]
    parsed = Parsed(page(report))
    assert "bench_a: It takes several frames" in parsed.text
    assert "2 tasks together" in parsed.text
    written = markdown(report)
    assert "#### bench\\_a" in written and "### alone\n" in written


def test_a_long_verdict_is_short_in_the_overview(tmp_path: Path) -> None:
    long = "Undecided: no better than blind, so that it shows nothing. Audit again."
    folder = write_audit(tmp_path / "audit", [result("moves", verdict=[long])])
    overview, _, rest = Parsed(page(build([folder]))).text.partition("Beside the paper")
    assert "no better than blind." in overview and "so that" not in overview
    assert long in rest


def test_audits_that_say_nothing(tmp_path: Path) -> None:
    refused = result("pictures", refused="it shows a single image")
    empty = result("none", accuracies={}, ratios={}, paired={}, n=0, verdict=["No verdict."])
    only_refused = write_audit(tmp_path / "a", [refused], logs=False)
    nothing = write_audit(tmp_path / "b", [empty], logs=False)
    for folder in (only_refused, nothing):
        report = build([folder])
        assert Parsed(page(report)).text and markdown(report)
    assert "No verdict." in page(build([nothing]))


def test_scores_of_variants_are_found_in_their_logs(audited: Path) -> None:
    logs = {log.task: log for log in gather([audited])}
    assert set(logs) == {f"audit_moves_{name}" for name in NAMES}
    assert [each.score for each in logs["audit_moves_random1"].items] == [1.0, 1.0, 0.0, 0.0]
    blind = logs["audit_moves_blind"].items
    assert (blind[3].status, blind[3].score) == ("missing", None)
    assert blind[3].problem == "its video is not there"


def test_two_audits_can_be_compared(audited: Path, tmp_path: Path) -> None:
    other = write_audit(tmp_path / "other", [result("moves")], model="other")
    found = {each.task: each for each in compare(audited, other)}
    assert found["audit_moves_random1"].n == 4
    assert found["audit_moves_random1"].difference == 0
    (within,) = compare(audited, audited, tasks=["audit_moves_ordered16:audit_moves_blind"])
    assert (within.n, within.unscored) == (3, 1)


def test_gains_beyond_the_axis_have_an_arrow() -> None:
    plot = gains(
        "gain",
        [
            Line("open <b>", [Point(0, 20.0, -5.0, math.inf), Point(1, 900.0, 30.0, 4000.0)]),
            Line("paper", models=[None, -9.7]),
        ],
        ("GPT-4o", "Qwen2-VL-72B"),
    )
    drawn = str(environment().get_template("chart.jinja").module.figure(plot))
    assert "inf" not in drawn and "nan" not in drawn and drawn.count(" more") == 2
    assert "20.0, 900.0" in plot.description and "-9.7" in plot.description
    assert "open &lt;b&gt;" in drawn
