"""Pairs of variants from any questions: paraphrased, reordered, filtered, and read again."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.harness.served import Asked, Served, serve
from tests.metrics.test_models import llama_folder  # noqa: F401 - a fixture
from tests.tasks.harness_logs import judged_line, write_run
from tests.tasks.releases import write_video
from video_reasoning.tasks.causalvqa.pairs import Plan, QuestionsError, make_pairs
from video_reasoning.tasks.causalvqa.pairs import make as making
from video_reasoning.tasks.cli.app import app
from video_reasoning.tasks.llm import chat
from video_reasoning.tasks.llm.chat import ChatError
from video_reasoning.tasks.prepare.build import prepare
from video_reasoning.tasks.release.questions import read_questions

VERBS = ("fills", "drops", "washes", "dries")


def question(number: int) -> dict[str, Any]:
    """A question whose right answer is the second of four options."""
    return {
        "id": f"q{number}",
        "type": "descriptive",
        "question": f"What happens to mug {number}?",
        "options": [f"Someone {verb} mug {number}." for verb in VERBS],
        "answer": "B",
        "video": f"{number % 2}.mp4",
    }


def respond(asked: Asked) -> str:
    """Puts distractors in other words; guesses blind the mugs with even numbers."""
    number = int(re.findall(r"mug (\d+)", asked.text)[-1])
    if distractors := re.search(r"Distractors: (.*)", asked.text):
        texts = [text.strip() for text in distractors[1].split("|")]
        if number == 3 and "could not be used" not in asked.text:
            return "Synonym Distractors: only one END"
        if number == 4:
            return "I will not."
        texts = [text.replace("Someone", "A person") for text in texts]
        return f'Sure!\nSynonym Distractors: "{"| ".join(texts)}" END'
    options = re.search(r"Possible Answers: (.*) Remember", asked.text)
    assert options
    right = next(text for text in options[1].split("|") if "Someone drops" in text)
    place = int(right.partition(".")[0])
    if number % 2:
        return "I cannot see it."
    return (
        f'A. Your Answer: "{right}" END\nB. Your Answer Number: "{place}" END\nC. Rationale: "" END'
    )


@pytest.fixture
def served() -> Iterator[Served]:
    with serve(respond) as server:
        yield server


def quiet(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]


def test_pairs_are_made_filtered_and_read_by_prepare(tmp_path: Path, served: Served) -> None:
    rows = table(tmp_path / "q.jsonl", [question(number) for number in range(6)])
    out, model = tmp_path / "out", f"llama@{served.url}"
    made = make_pairs(Plan(rows, out, paraphrase=model, blind=(model,)), quiet)

    # Mug 3 needs a second attempt, mug 4 gets no paraphrase; even ones are answered blind.
    assert [pair.question.id for pair in made.pairs] == ["q0", "q1", "q2", "q3", "q5"]
    assert dict(made.left_out)["q4"].startswith("no paraphrase in 3 attempts")
    assert set(made.out) == {"q0", "q2"}
    assert made.blind[model] == {"unparsed": 6, "pairs": 5, "right_on_both": 2}
    for first, second in zip(lines(out)[::2], lines(out)[1::2], strict=True):
        assert (first["variant"], second["variant"]) == (1, 2) and first["qid"] == second["qid"]
        place = [ord(each["answer"]) - ord("A") for each in (first, second)]
        texts = [each["options"][at] for each, at in zip((first, second), place, strict=True)]
        assert texts[0] == texts[1] and texts[0].startswith("Someone drops")
        others = [text for text in second["options"] if text != texts[1]]
        assert all(text.startswith("A person") for text in others)
        # In other words, each once; and in another order.
        again = [text.replace("A person", "Someone") for text in second["options"]]
        assert sorted(again) == sorted(first["options"]) and again != first["options"]

    for number in range(2):
        write_video(out / f"debug/videos/{number}.mp4")
    manifest = prepare("causalvqa", out, store_home=tmp_path / "store")
    assert manifest["splits"]["debug"]["skipped"] == manifest["splits"]["debug"]["missing"] == []
    read = pq.read_table(tmp_path / "store/causalvqa/debug/questions.parquet").to_pylist()
    known = {line["id"]: line for line in lines(out) if not line["out"]}
    assert [row["id"] for row in read] == list(known)
    for row in read:
        wanted = known[row["id"]]
        assert {name: row[name] for name in ("question", "options", "answer", "variant")} == {
            name: wanted[name] for name in ("question", "options", "answer", "variant")
        }


def test_every_reply_is_kept_and_none_is_asked_for_twice(tmp_path: Path, served: Served) -> None:
    rows = table(tmp_path / "q.jsonl", [question(number) for number in range(4)])
    model = f"llama@{served.url}"
    plan = Plan(rows, tmp_path / "out", paraphrase=model, blind=(model,))
    make_pairs(plan, quiet)
    asked = [each.text for each in served.requests]
    kept = [json.loads(line) for line in (plan.out / making.JOURNAL).read_text().splitlines()]
    assert sorted(entry["prompt"] for entry in kept) == sorted(asked)
    assert all(entry["reply"] and entry["model"] == model for entry in kept)
    written = {path.name: path.read_bytes() for path in plan.out.rglob("*.*") if path.is_file()}

    # A journal cut short in a line, as a kill leaves it, costs that reply alone.
    whole = (plan.out / making.JOURNAL).read_bytes()
    (plan.out / making.JOURNAL).write_bytes(whole[:-20])
    make_pairs(plan, quiet)
    assert len(served.requests) == len(asked) + 1
    for name in ("pairs.jsonl", "debug_metadata.csv", "manifest.json"):
        assert next(plan.out.rglob(name)).read_bytes() == written[name]


def test_a_server_that_is_gone_leaves_what_it_said(tmp_path: Path, served: Served) -> None:
    rows = table(tmp_path / "q.jsonl", [question(1)])
    out = tmp_path / "out"
    gone = "llama@http://127.0.0.1:9/v1"
    with pytest.raises(ChatError, match=r"llama at http://127\.0\.0\.1:9/v1 does not answer"):
        make_pairs(Plan(rows, out, paraphrase=f"llama@{served.url}", blind=(gone,)), quiet)
    assert len((out / making.JOURNAL).read_text().splitlines()) == 1
    assert not (out / "pairs.jsonl").exists()
    with pytest.raises(ChatError, match="is not MODEL@URL"):
        make_pairs(Plan(rows, out, blind=("llama@localhost",)), quiet)


@pytest.mark.parametrize(
    ("models", "least", "out"),
    [
        # Right on both variants in one log, in both, or in none.
        ({"one": "q0/1 q0/2 q1/1 q2/2"}, 1, {"q0"}),
        ({"one": "q0/1 q0/2 q1/1 q1/2", "two": "q1/1 q1/2 q2/1"}, 1, {"q0", "q1"}),
        ({"one": "q0/1 q0/2 q1/1 q1/2", "two": "q1/1 q1/2 q2/1"}, 2, {"q1"}),
        # Each variant by another model is not both by one.
        ({"one": "q0/1", "two": "q0/2"}, 1, set()),
    ],
)
def test_blind_logs_take_pairs_out(
    tmp_path: Path, models: dict[str, str], least: int, out: set[str]
) -> None:
    rows = table(tmp_path / "q.jsonl", [question(number) for number in range(3)])
    make_pairs(Plan(rows, tmp_path / "out"), quiet)
    for model, right in models.items():
        write_blind(tmp_path / model, tmp_path / "out", right.split(), model)
    plan = Plan(rows, tmp_path / "out", logs=tuple(tmp_path / name for name in models), least=least)
    assert set(make_pairs(plan, quiet).out) == out


def write_blind(
    folder: Path, out: Path, right: list[str], model: str, condition: str = "blind"
) -> None:
    logged = [
        judged_line(
            number, line, line["answer"] if line["id"] in right else "D" * (line["answer"] != "D"),
            qid=line["qid"], variant=str(line["variant"]),
        )
        for number, line in enumerate(lines(out))
    ]  # fmt: skip
    task = "causalvqa_debug_blind"
    path = write_run(folder, {task: logged}, model=model)
    content = json.loads(path.read_text())
    content["configs"][task]["dataset_name"] = condition
    path.write_text(json.dumps(content))


def test_logs_of_other_pairs_or_with_a_video_are_refused(tmp_path: Path) -> None:
    rows = table(tmp_path / "q.jsonl", [question(number) for number in range(3)])
    make_pairs(Plan(rows, tmp_path / "out"), quiet)
    write_blind(tmp_path / "run", tmp_path / "out", [], "one")
    logs = (tmp_path / "run",)
    for seed in range(1, 20):
        if not make_pairs(Plan(rows, tmp_path / "b", seed=seed), quiet).pairs[0].answer:
            break
    with pytest.raises(QuestionsError, match="another right answer to q0/2"):
        make_pairs(Plan(rows, tmp_path / "out", logs=logs, seed=seed), quiet)
    other = table(tmp_path / "r.jsonl", [question(9)])
    with pytest.raises(QuestionsError, match="none of these pairs"):
        make_pairs(Plan(other, tmp_path / "c", logs=logs), quiet)
    write_blind(tmp_path / "run", tmp_path / "out", [], "one", condition="last1")
    with pytest.raises(QuestionsError, match="is not of a blind task"):
        make_pairs(Plan(rows, tmp_path / "out", logs=logs), quiet)


def test_people_make_the_difficulty(tmp_path: Path) -> None:
    rows = table(tmp_path / "q.jsonl", [question(number) for number in range(6)])
    plan = Plan(rows, tmp_path / "out", responses=tmp_path / "people.csv")
    make_pairs(Plan(rows, plan.out), quiet)
    # Of 15 people for each variant: how many are right.
    counts = {
        "q0": (14, 13),
        "q1": (13, 13),
        "q2": (15, 5),
        "q3": (7, 7),
        "q4": (4, 6),
        "q5": (5, 5),
    }
    with (tmp_path / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["qid", "variant", "choice", "person"])
        writer.writerow(["q0", "1", "Z", "typo"])
        for line in lines(plan.out):
            right = counts[line["qid"]][line["variant"] - 1]
            others = [letter for letter in "ABCD" if letter != line["answer"]]
            chosen = [line["answer"]] * right + [others[n % 3] for n in range(15 - right)]
            writer.writerows([line["qid"], line["variant"], c.lower(), "x"] for c in chosen)
    made = make_pairs(plan, quiet)
    # q2: 5 of 15 and 10 others spread over three, at most 4 each; 20 of 30 is hard.
    # q4 and q5: another answer is as frequent, or too few agree (10 of 30).
    levels = {"q0": "easy", "q1": "medium", "q2": "hard", "q3": "hard", "q4": "", "q5": ""}
    assert made.difficulty == levels
    assert made.out == {
        "q4": "people do not choose the right answer most often in variant 1",
        "q5": "people agree less than in hard questions",
    }
    assert made.differ == ["q2"]
    assert [where for where, _ in made.left_out] == ["people.csv row 1"]
    sheet = list(csv.DictReader((plan.out / making.METADATA).open()))
    assert [row["difficulty"] for row in sheet] == ["easy", "medium", "hard", "hard"]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows in the layout that a file's name asks for."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps({row.pop("id"): row for row in rows}))
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    else:
        table(path, rows)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"answer": "Someone drops mug {n}."},
        # TOMATO's files and BlackSwanSuite's columns count from 0, CausalVQA's from 1.
        {"mcq_gt_option": 1, "answer": None},
        {
            "choices1": "1. fills|2. drops|3. dries",
            "correct1": "2.0",
            "options": None,
            "answer": None,
        },
    ],
)
def test_questions_are_read_from_any_table(
    tmp_path: Path, kind: str, changes: dict[str, Any]
) -> None:
    rows = []
    for number in range(2):
        row = {**question(number), **changes}
        row = {name: value for name, value in row.items() if value is not None}
        if "answer" in row:
            row["answer"] = row["answer"].format(n=number)
        if kind == "csv" and "options" in row:
            row["options"] = json.dumps(row["options"])
        rows.append(row)
    found = read_questions(write(tmp_path / f"q.{kind}", rows))
    assert [each.id for each in found.questions] == ["q0", "q1"] and not found.skipped
    for each in found.questions:
        assert "drops" in each.options[each.answer] and each.video.endswith(".mp4")


@pytest.mark.parametrize(
    ("answers", "count_from", "places"),
    [
        ([0, 3], None, [0, 3]),
        ([1, 4], None, [0, 3]),
        ([1, 3], 0, [1, 3]),
        ([1, 3], 1, [0, 2]),
        ([1, 3], None, "could count options from 0 or from 1"),
        ([0, 4], None, "has 0 and line 2 the number of options"),
    ],
)
def test_numbers_of_answers_count_from_what_the_file_shows(
    tmp_path: Path, answers: list[int], count_from: int | None, places: Any
) -> None:
    rows = [question(n) | {"answer": answer} for n, answer in enumerate(answers)]
    path = table(tmp_path / "q.jsonl", rows)
    if isinstance(places, str):
        with pytest.raises(QuestionsError, match=places):
            read_questions(path, count_from)
    else:
        found = read_questions(path, count_from).questions
        assert [each.answer for each in found] == places


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": ""}, "no answer"),
        ({"answer": "E"}, "is not one of its 4 options"),
        ({"options": ["1", "2", "3"], "answer": "2"}, "could be the option or its number"),
        ({"options": ["one", "one"]}, "two of its options are the same"),
        ({"options": ["one"]}, "fewer than 2"),
        ({"video": ""}, "video is missing"),
        ({"id": "q0"}, "duplicate id q0"),
        ({"options": ["a|b", "c"]}, "does not fit CausalVQA's layout"),
    ],
)
def test_what_is_not_a_question_is_left_out_with_its_reason(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    rows = table(tmp_path / "q.jsonl", [question(0), question(1) | changes])
    made = make_pairs(Plan(rows, tmp_path / "out"), quiet)
    assert [pair.question.id for pair in made.pairs] == ["q0"]
    ((_, said),) = made.left_out
    assert reason in said


def test_types_that_causalvqa_does_not_have_are_named_by_the_user(tmp_path: Path) -> None:
    rows = table(tmp_path / "q.jsonl", [question(0) | {"type": "rotation"}])
    with pytest.raises(QuestionsError, match="--type"):
        make_pairs(Plan(rows, tmp_path / "out"), quiet)
    assert len(make_pairs(Plan(rows, tmp_path / "out", type="planning"), quiet).pairs) == 1


def test_a_local_model_is_asked_like_a_server(
    tmp_path: Path,
    llama_folder: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chat, "MOST_TOKENS", 4)
    path = tmp_path / "replies.jsonl"
    model = chat.named(llama_folder)
    assert isinstance(model, chat.LocalModel)
    with chat.replies(path) as replies:
        first = replies.ask(model, "Test", ["Which?", "Why?", "Which?"])
    assert len(path.read_text().splitlines()) == 2
    assert all(isinstance(reply, str) for reply in first) and first[0] == first[2]
    # What is kept needs no model at all.
    with chat.replies(path) as replies:
        assert (
            replies.ask(chat.LocalModel(llama_folder, _pipeline=None), "T", ["Why?"]) == first[1:2]
        )
    with chat.replies(path) as replies, pytest.raises(ChatError, match="cannot be loaded"):
        replies.ask(chat.named(str(tmp_path / "absent")), "Test", ["Which?"])


def test_the_command_prints_what_became_of_the_questions(tmp_path: Path) -> None:
    rows = table(tmp_path / "q.jsonl", [*(question(n) for n in range(3)), {"id": "odd"}])
    arguments = ["make-pairs", str(rows), "--out", str(tmp_path / "out"), "--type", "Planning"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    printed = result.stdout.splitlines()
    assert printed[:3] == [
        "3 pairs, 3 kept.",
        "  1 left out:",
        "    line 4: it has no options",
    ]
    assert printed[3:] == [
        f"Written to {tmp_path / 'out' / name}." for name in ("pairs.jsonl", making.METADATA)
    ]
    sheet = list(csv.DictReader((tmp_path / "out" / making.METADATA).open()))
    assert {row["type"] for row in sheet} == {"planning"}
