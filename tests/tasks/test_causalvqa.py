"""CausalVQA's tasks: the paper's aggregates, consistency, and whose prompt is used."""

from __future__ import annotations

import ast
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tasks.releases import causalvqa_row, write_causalvqa
from video_reasoning.metrics.published import published
from video_reasoning.tasks import causalvqa, scoring, store
from video_reasoning.tasks.causalvqa import prompt
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.prepare.build import prepare

CHECKOUT = os.environ.get(prompt.REPOSITORY_VARIABLE, "")

TABLES = published("causalvqa").tables
AGGREGATES = {
    "anticipation": {"anticipation"},
    "counterfactual": {"counterfactual"},
    "descriptive": {"descriptive"},
    "hypothetical": {"hypothetical"},
    "planning": {"planning"},
    "reasoning": set(causalvqa.REASONING),
    "all": set(causalvqa.TYPES),
}


STRATA = [
    f"{kind}/{difficulty}" for kind in causalvqa.TYPES for difficulty in causalvqa.DIFFICULTIES
]


def answered(model: str, kind: str, types: set[str]) -> list[dict[str, Any]]:
    """Items with which a model has the printed accuracies in the paper's strata of some types.

    Human accuracies are means over many people, which no whole number of questions gives: there
    each question counts with the share of people that was right.
    """
    table, items = TABLES[kind], []
    for stratum in (stratum for stratum in STRATA if stratum.split("/")[0] in types):
        share, count = table.value(model, stratum), table.count(stratum)
        assert share is not None and count is not None
        right = round(share / 100 * count)
        for number in range(count):
            value = share / 100 if model == "Human" else float(number < right)
            items += [{"qid": f"{stratum}/{number}", "value": value}] * (
                2 if kind == "paired" else 1
            )
    return items


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("kind", ["paired", "unpaired"])
def test_the_tasks_aggregations_give_the_papers_tables(kind: str, aggregate: str) -> None:
    assert len(TABLES[kind].rows) == 7
    for model in TABLES[kind].rows:
        printed = TABLES[kind].value(model, aggregate)
        items = answered(model, kind, AGGREGATES[aggregate])
        if kind == "unpaired" or model == "Human":
            value = scoring.accuracy({"score": item["value"]} for item in items)
        else:
            value = causalvqa.accuracy_paired(
                [{"qid": item["qid"], "correct": item["value"]} for item in items]
            )
        assert value is not None
        # The paper rounded its strata: that leaves up to 0.06 points.
        assert 100 * value == pytest.approx(printed, abs=0.06), (model, aggregate)


def test_consistency_is_about_the_options_text() -> None:
    items = [
        {"qid": "same", "text": "Wash it"},
        {"qid": "same", "text": "Wash it"},
        {"qid": "other", "text": "Wash it"},
        {"qid": "other", "text": "Drop it"},
        {"qid": "silent", "text": None},
        {"qid": "silent", "text": None},
        {"qid": "alone", "text": "Dry it"},
    ]
    assert causalvqa.consistency(items) == pytest.approx(1 / 3)
    assert causalvqa.consistency(items[-1:]) is None


# The prompt


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A checkout with a template like the authors', in words of this test."""
    path = tmp_path / "checkout" / prompt.TEMPLATE
    path.parent.mkdir(parents=True)
    path.write_text(
        "dataset_path: !function utils.path\n"
        "lmms_eval_specific_kwargs:\n"
        "  default:\n"
        '    pre_prompt: ""\n'
        '    post_prompt: "\\nPick one. Your Answer Letter: <A-E> END"\n'
    )
    return tmp_path / "checkout"


@pytest.fixture
def no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "store"))
    monkeypatch.delenv(prompt.REPOSITORY_VARIABLE, raising=False)
    return tmp_path / "store"


OPTIONS = {"A": "Up", "B": "Down"}


@pytest.mark.parametrize(
    ("shown", "opening"),
    [("video", "Watch the whole video"), ("last", "only the last frame"), ("blind", "not shown")],
)
def test_our_prompt_says_what_is_shown(no_store: Path, shown: str, opening: str) -> None:
    text = prompt.build("Where?", OPTIONS, shown)
    assert text.startswith("Where?\n(A) Up\n(B) Down\n")
    assert opening in text
    assert text.endswith("\nYour Answer Letter: X END")
    assert prompt.name() == prompt.OURS


def test_the_authors_prompt_is_taken_from_a_checkout(
    no_store: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(prompt.REPOSITORY_VARIABLE, str(repository))
    text = prompt.build("Where?", OPTIONS, "video")
    assert text == (
        "Question:Where?\nOption:\n(A) Up\n(B) Down\n\nPick one. Your Answer Letter: <A-E> END"
    )
    assert prompt.name().startswith("authors' (")
    assert causalvqa.metadata["prompt"] == prompt.name()


@pytest.mark.skipif(
    not CHECKOUT, reason=f"{prompt.REPOSITORY_VARIABLE} does not name the authors' repository"
)
def test_the_authors_prompt_is_what_their_code_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Character by character, on as many drawn items as the test split has."""
    monkeypatch.setenv(prompt.REPOSITORY_VARIABLE, CHECKOUT)
    code = (Path(CHECKOUT) / "tasks/utils.py").read_text()
    (function,) = (
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef) and node.name == "causalvqa_doc_to_text"
    )
    theirs: dict[str, Any] = {}
    exec(compile(ast.Module([function], []), "utils.py", "exec"), theirs)
    template = yaml.load((Path(CHECKOUT) / prompt.TEMPLATE).read_text(), prompt._Loader)
    settings = template["lmms_eval_specific_kwargs"]["default"]
    rng = random.Random(7)
    signs = "ab {}%(),.:?!'\"\u00e9\u4e00\n"
    for _ in range(793 * 2):
        question, *options = ("".join(rng.choices(signs, k=rng.randint(1, 30))) for _ in range(6))
        document = {"question": question, "choices": list(zip("ABCDE", options, strict=True))}
        expected = theirs["causalvqa_doc_to_text"](document, settings)
        assert prompt.build(question, dict(document["choices"]), "video") == expected


def test_the_authors_prompt_may_lie_in_the_store(no_store: Path) -> None:
    path = store.manifest_file("causalvqa")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"authors_prompt": "\nTheirs."}))
    assert prompt.build("Where?", OPTIONS, "video").endswith("\nTheirs.")


def test_a_checkout_without_the_prompt_is_refused(tmp_path: Path, repository: Path) -> None:
    with pytest.raises(prompt.PromptError, match="cannot be read"):
        prompt.read(tmp_path / "elsewhere")
    (repository / prompt.TEMPLATE).write_text("dataset_path: x\n")
    prompt.read.cache_clear()
    with pytest.raises(prompt.PromptError, match="has no post_prompt"):
        prompt.read(repository)


def test_prepare_keeps_the_authors_prompt_in_the_store(
    no_store: Path, repository: Path, tmp_path: Path
) -> None:
    source = write_causalvqa(tmp_path / "r", [causalvqa_row()])
    prompt.read.cache_clear()
    prepare("causalvqa", source, repository=repository, workers=1)
    assert prompt.build("Where?", OPTIONS, "video").endswith("Your Answer Letter: <A-E> END")
    with pytest.raises(ReleaseError, match="not for tvbench"):
        prepare("tvbench", source, repository=repository)
