from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from video_reasoning.tasks.models import manifests
from video_reasoning.tasks.models.baselines import (
    FrequentChoice,
    FrequentChoiceChat,
    RandomChoice,
    RandomChoiceChat,
    document_choices,
    option_letters,
)


def ask(model: Any, documents: list[dict[str, Any]], prompt: str, **generation: Any) -> list[str]:
    model.task_dict = {"task": {"test": documents}}

    def visual(doc: dict[str, Any]) -> list[str]:
        raise AssertionError("a baseline must not resolve the video")

    requests = []
    for index in range(len(documents)):
        if model.is_simple:
            args = (prompt, dict(generation), visual, index, "task", "test")
        else:
            args = (prompt, visual, dict(generation), index, "task", "test")
        requests.append(SimpleNamespace(args=args))
    return model.generate_until(requests)


def test_manifests_name_a_simple_and_a_chat_class_each() -> None:
    import importlib

    for manifest in manifests():
        if manifest.model_id == "sample_observer":
            continue
        for path, simple in (
            (manifest.simple_class_path, True),
            (manifest.chat_class_path, False),
        ):
            assert path is not None
            module, name = path.rsplit(".", 1)
            assert getattr(importlib.import_module(module), name).is_simple is simple


@pytest.mark.parametrize(
    ("prompt", "letters"),
    [
        ("Select: A. A person walks. B. It falls. C. Nothing.", "ABC"),
        ("Q?\n(A) one\n(B) two\n(C) three\n(D) four\n(E) five\nanswer", "ABCDE"),
        ("<options> {'A': 'Left.', 'B': \"It's right.\"} </options>", "AB"),
        ("Explain what is happening in the video.", ""),
        ("A. alone", ""),
    ],
)
def test_option_letters(prompt: str, letters: str) -> None:
    assert "".join(option_letters(prompt)) == letters


def test_choices_come_from_the_document_first() -> None:
    assert document_choices({"options": ["x", "y", "z"]}, "A. x B. y") == ["A", "B", "C"]
    assert document_choices({"options": ["yes", "no"]}, "") == ["yes", "no"]
    assert document_choices({"options": []}, "does this hold? Answer yes or no.") == ["yes", "no"]


@pytest.mark.parametrize("cls", [RandomChoice, RandomChoiceChat])
def test_random_choice_is_near_uniform_and_repeats_itself(cls: type) -> None:
    documents = [{"options": ["a", "b", "c", "d"]} for _ in range(2000)]
    first = ask(cls(), documents, "question")
    counts = Counter(first)
    assert set(counts) == set("ABCD")
    # 500 expected each, standard deviation 19: five of them on either side.
    assert all(400 < count < 600 for count in counts.values())
    assert first == ask(cls(), documents, "question")
    assert first != ask(cls(seed=1), documents, "question")
    assert first[:5] == ask(cls(), documents[:5], "question")


def test_simple_and_chat_agree() -> None:
    documents = [{"options": ["a", "b", "c"]} for _ in range(50)]
    assert ask(RandomChoice(), documents, "q") == ask(RandomChoiceChat(), documents, "q")


@pytest.mark.parametrize("cls", [FrequentChoice, FrequentChoiceChat])
def test_frequent_choice(cls: type) -> None:
    documents = [{"options": ["a", "b"], "answer": answer} for answer in "BABBA"]
    assert set(ask(cls(), documents, "q")) == {"B"}
    assert set(ask(cls(), [{"options": [], "answer": "no"}], "answer yes or no")) == {"no"}
    withheld = [{"options": ["a", "b"], "answer": ""}]
    assert ask(cls(), withheld, "q") == ["A"]


def test_sampled_responses_differ_and_greedy_ones_do_not() -> None:
    model = RandomChoice()
    model.task_dict = {"task": {"test": [{"options": []}]}}
    for generation, distinct in (({"do_sample": True}, 3), ({"temperature": 0}, 1)):
        request = SimpleNamespace(args=("Describe it.", generation, None, 0, "task", "test"))
        assert len(set(model.generate_until([request] * 3))) == distinct


def test_unknown_model_argument_is_named() -> None:
    with pytest.raises(ValueError, match="colour"):
        RandomChoice(colour="red")
