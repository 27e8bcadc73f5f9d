"""The page: text stays text, nothing is fetched, and the frames are those that were shown."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from tests.preprocessing.conftest import turn, write_video
from tests.report.runs import (
    FRAMES,
    causal_lines,
    causal_questions,
    condition_lines,
    grey,
    missing_line,
    tomato_questions,
    write_questions,
    write_run,
)
from video_reasoning.preprocessing.conditions import Condition, condition_indices
from video_reasoning.preprocessing.frames import count_frames
from video_reasoning.preprocessing.sampling import uniform_indices
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.errors import UserError
from video_reasoning.tasks.report.build import build
from video_reasoning.tasks.report.gallery import KINDS, LEAST_PER_TASK, examples
from video_reasoning.tasks.report.markdown import markdown
from video_reasoning.tasks.report.page import page
from video_reasoning.tasks.report.player import MEGABYTE, Embedded
from video_reasoning.tasks.results.items import gather

NASTY = '</pre><script>alert("x")</script><img src=x onerror=alert(1)> & @half@ \x00'
PRINCIPLES = ("ordered16", "shuffled16", "random1")


class Parsed(HTMLParser):
    """Elements, addresses and text of a page."""

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("img", "meta", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "store"
    home.mkdir()
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(home))
    return home


@pytest.fixture
def results(tmp_path: Path, store: Path) -> Path:
    """A run with right, wrong, unparsed and missing items, in which everything is nasty."""
    questions = causal_questions(8)
    for question in questions:
        question["question"] += NASTY.replace("\x00", "")
        question["options"][2] = "<b>third</b>"
    file = write_questions(store, "causalvqa", "debug", questions)

    def choose(question: dict[str, Any]) -> str | None:
        if question["variant"] == 1:
            return "A"
        return None if question["difficulty"] == "easy" else "C"

    lines = causal_lines(questions, choose)
    for line in lines:
        line["filtered_resps"] = f"{line['filtered_resps']} {NASTY}"
    groups = {key: str(questions[0][key]) for key in ("qid", "variant", "type", "difficulty")}
    problem = "<script>no such file</script>"
    lines[0] = {**missing_line(0, questions[0], **groups), "problem": problem}
    lines[0]["input"] = ""
    write_run(
        tmp_path / "res",
        {"causalvqa_debug": lines},
        model="<script>model</script>",
        questions={"causalvqa_debug": file},
    )
    for log in (tmp_path / "res").glob("*.jsonl"):  # half a letter, as JSON can hold it
        written = log.read_text(encoding="utf-8").replace("@half@ \\u0000", "\\ud800 \\u0000")
        log.write_text(written, encoding="utf-8")
    return tmp_path / "res"


def test_text_is_shown_as_text(results: Path) -> None:
    report = build([results])
    parsed = Parsed(page(report))
    assert not parsed.open
    names = [name for name, _ in parsed.elements]
    assert names.count("script") == 1 and "b" not in names and "iframe" not in names
    assert '<script>alert("x")</script>' in parsed.text
    assert "<b>third</b>" in parsed.text
    assert "<script>model</script>" in parsed.text
    assert "<script>no such file</script>" in parsed.text
    for name, attributes in parsed.elements:
        assert not any(key.startswith("on") for key in attributes), (name, attributes)


def test_commands_in_sentences_are_set_as_code(results: Path) -> None:
    written = page(build([results], most_examples=1))
    words = re.sub(r"<(script|style|pre)\b.*?</\1>|href=\"data:[^\"]*\"", "", written, flags=re.S)
    assert "<code>video-reasoning compare</code>" in words and "`video-reasoning" not in words


def test_only_our_script_may_run(results: Path) -> None:
    written = page(build([results]))
    (policy,) = re.findall(r"script-src '(sha256-[^']+)'", written)
    (script,) = re.findall(r"<script>(.*?)</script>", written, re.DOTALL)
    digest = hashlib.sha256(script.encode()).digest()
    assert policy == f"sha256-{base64.b64encode(digest).decode()}"
    assert script.startswith('"use strict"')


def test_nothing_is_fetched(results: Path) -> None:
    parsed = Parsed(page(build([results])))
    for name, attributes in parsed.elements:
        for key in ("src", "href", "srcset", "action", "data"):
            value = attributes.get(key)
            if value is not None:
                inside = ("#", "data:image/", "data:video/mp4", "data:text/csv")
                assert value.startswith(inside), (name, value[:80])
    policy = [dict(a)["content"] for n, a in parsed.elements if "http-equiv" in dict(a)]
    assert "default-src 'none'" in str(policy[0])


def test_links_lead_somewhere(results: Path) -> None:
    parsed = Parsed(page(build([results])))
    ids = [attributes["id"] for _, attributes in parsed.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for name, attributes in parsed.elements:
        if name == "a" and "download" not in attributes:
            assert str(attributes["href"]).removeprefix("#") in ids


def test_the_page_is_written_whatever_a_response_holds(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report.html"
    done = CliRunner().invoke(app, ["report", str(results), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert "\x00" not in out.read_text(encoding="utf-8")


def test_every_kind_of_example_is_there(results: Path) -> None:
    report = build([results])
    chosen = report.examples["causalvqa_debug"]
    assert len(chosen) == 12
    assert {each.verdicts[0].kind for each in chosen} == set(KINDS)
    by_kind = [each.verdicts[0].kind for each in chosen]
    assert by_kind == sorted(by_kind, key=KINDS.index)
    for each in chosen:
        assert bool(each.frames) == (each.verdicts[0].kind != "missing")


def test_no_file_outside_the_store_is_shown(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = causal_questions(2)
    own = write_questions(store, "causalvqa", "debug", questions)
    foreign = tmp_path / "foreign"
    for question in questions:
        question["video"] = str(own.parent.parent / question["video"])
    file = write_questions(foreign, "causalvqa", "debug", questions)
    lines = causal_lines(questions, lambda q: q["answer"])
    write_run(tmp_path / "res", {"causalvqa_debug": lines}, questions={"causalvqa_debug": file})
    # The questions that a results file names are not read unless they are in the store.
    (log,) = gather([tmp_path / "res"])
    assert log.questions_file == own
    # Whoever takes that store for the own one does not show what it names elsewhere.
    monkeypatch.setenv("VIDEO_REASONING_HOME", str(foreign))
    (log,) = gather([tmp_path / "res"])
    assert log.questions_file == file
    with Embedded() as clips:
        shown = [each for each in examples([log], 1, 10, clips) if each.frames or each.clips]
    assert shown == []


def test_many_tasks_have_fewer_examples(results: Path) -> None:
    logs = gather([results])
    with Embedded(0) as clips:
        assert len(examples(logs, 1000, 12, clips)) == LEAST_PER_TASK
        assert examples(logs, 1, 0, clips) == []


def shade(uri: str) -> float:
    picture = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    return float(np.asarray(picture.convert("L")).mean())


def test_frames_are_those_of_the_condition(tmp_path: Path, store: Path) -> None:
    questions = tomato_questions(2)
    file = write_questions(store, "tvbench", "test", questions)
    task = "tvbench_tomato_principles"
    lines = condition_lines(questions, lambda q, c: "A", PRINCIPLES)
    write_run(tmp_path / "res", {task: lines}, questions={task: file})
    chosen = build([tmp_path / "res"]).examples[task]
    assert {each.condition for each in chosen} == set(PRINCIPLES)
    for each in chosen:
        expected = condition_indices(Condition.parse(each.condition), FRAMES, each.id)
        assert [shade(frame.uri) for frame in each.frames] == pytest.approx(
            [grey(index) for index in expected], abs=4
        )
        assert [frame.name for frame in each.frames] == [
            f"frame {index} of {FRAMES}, {index / 8:.2f} s" for index in expected
        ]
    assert not (store / "tvbench" / "clips").exists(), "a report writes nothing into a store"


def test_clips_play_in_the_page_up_to_a_limit(tmp_path: Path, store: Path) -> None:
    questions = tomato_questions(3)
    file = write_questions(store, "tvbench", "test", questions)
    task = "tvbench_tomato_principles"
    lines = condition_lines(questions, lambda q, c: "A", PRINCIPLES)
    write_run(tmp_path / "res", {task: lines}, questions={task: file})
    chosen = build([tmp_path / "res"]).examples[task]
    for each in chosen:  # one frame is not a clip
        assert len(each.clips) == (0 if each.condition == "random1" else 1), each.condition
    sizes = [
        len(base64.b64decode(each.clips[0].partition(",")[2])) for each in chosen if each.clips
    ]
    shuffled = next(each.clips[0] for each in chosen if each.condition == "shuffled16")
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(base64.b64decode(shuffled.partition(",")[2]))
    expected = condition_indices(Condition.parse("shuffled16"), FRAMES, chosen[-1].id)
    assert count_frames(clip) == len(expected)
    limited = build([tmp_path / "res"], megabytes=8 * max(sizes) / MEGABYTE / 2).examples[task]
    notes = [each.clip_note for each in limited if each.condition != "random1"]
    assert any("not in this page" in note for note in notes)
    assert not any(each.clips for each in build([tmp_path / "res"], megabytes=0).examples[task])
    assert not (store / "tvbench" / "clips").exists(), "a report writes nothing into a store"


def test_frames_of_a_turned_video_are_upright(tmp_path: Path, store: Path) -> None:
    questions = tomato_questions(1)
    file = write_questions(store, "tvbench", "test", questions)
    video = store / "tvbench" / str(questions[0]["video"])
    video.unlink(missing_ok=True)
    turn(write_video(tmp_path / "plain.mp4", FRAMES), video, 90)
    task = "tvbench_tomato_principles"
    lines = condition_lines(questions, lambda q, c: "A", PRINCIPLES)
    write_run(tmp_path / "res", {task: lines}, questions={task: file})
    for each in build([tmp_path / "res"]).examples[task]:
        assert each.frames
        for frame in each.frames:
            picture = Image.open(io.BytesIO(base64.b64decode(frame.uri.partition(",")[2])))
            assert picture.size == (64, 96)


def test_frames_of_a_whole_video_are_called_so(results: Path) -> None:
    chosen = [each for each in build([results]).examples["causalvqa_debug"] if each.frames]
    expected = uniform_indices(FRAMES, 8)
    for each in chosen:
        assert "its own sampler decided" in each.caption
        assert [shade(frame.uri) for frame in each.frames] == pytest.approx(
            [grey(index) for index in expected], abs=4
        )


def test_two_runs_share_an_example(tmp_path: Path, store: Path) -> None:
    questions = causal_questions(3)
    file = write_questions(store, "causalvqa", "debug", questions)
    for model, letter in (("one", "A"), ("two", "B")):
        write_run(
            tmp_path / model,
            {"causalvqa_debug": causal_lines(questions, lambda q, letter=letter: letter)},
            model=model,
            questions={"causalvqa_debug": file},
        )
    report = build([tmp_path / "one", tmp_path / "two"])
    assert list(report.names.values()) == ["one", "two"]
    for each in report.examples["causalvqa_debug"]:
        assert [verdict.item.choice for verdict in each.verdicts] == ["A", "B"]
    table = next(grid for grid in report.grids if grid.key == "causalvqa-unpaired-debug")
    assert list(table.head)[:4] == ["n", "one", "two", "Guessing"]
    assert table.rows[-1].cells[1].text == "50.0"


def test_json_has_every_number_with_task_and_file(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    done = CliRunner().invoke(app, ["report", str(results), "--out", str(out)])
    assert done.exit_code == 0, done.output

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    content = json.loads(out.read_text(encoding="utf-8"), parse_constant=refuse)
    numbers = [number for task in content["tasks"] for number in task["numbers"]]
    assert {number["name"] for number in numbers} == {"accuracy", "paired accuracy"}
    for number in numbers:
        assert number["task"] == "causalvqa_debug"
        assert Path(number["file"]).is_file()
        assert number["method"] and number["n"] >= 0
    cells = [
        cell["number"]
        for table in content["tables"]
        for row in table["rows"]
        for cell in row["cells"]
        if cell["number"]
    ]
    assert cells and all(Path(number["file"]).is_file() for number in cells)
    assert content["problems"] and content["runs"][0]["model"] == "<script>model</script>"


def test_markdown_escapes_what_comes_from_logs(results: Path) -> None:
    written = markdown(build([results], most_examples=0))
    assert "<script>" not in written
    (row,) = [line for line in written.split("\n") if line.startswith("| causalvqa\\_debug, ")]
    assert row.count("|") == 11


@pytest.mark.parametrize("name", ["report.docx", "report.txt"])
def test_an_unknown_format_is_refused(results: Path, tmp_path: Path, name: str) -> None:
    done = CliRunner().invoke(app, ["report", str(results), "--out", str(tmp_path / name)])
    assert isinstance(done.exception, UserError)
    assert "html, md, json, csv" in str(done.exception)
