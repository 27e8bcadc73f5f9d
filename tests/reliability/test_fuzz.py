"""A little of what check_fuzz does by the million, the same at every run."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.reliability import check_fuzz, random_input
from tests.reliability.random_input import TOKENS, StoreFiles
from video_reasoning.metrics import accuracy, intervals, paired
from video_reasoning.metrics.answers import parse_choice, parse_yes_no
from video_reasoning.tasks.causalvqa import release as causalvqa_release
from video_reasoning.tasks.release import records
from video_reasoning.tasks.release.records import OddRow

steady = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
soup = st.lists(st.sampled_from(TOKENS), max_size=15).map(" ".join)
texts = st.text(max_size=50) | soup
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", ["choice", "yes or no", "cells", "metrics", "files"])
def test_a_thousand_inputs_of_each_kind(kind: str) -> None:
    examples = 200 if kind in ("metrics", "files") else 1000
    tally = check_fuzz.run_chunk((kind, 1, 0, examples))
    assert (tally.tried, tally.losses) == (examples, [])


def test_a_loss_is_found_and_can_be_seen_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(rng: random.Random) -> int:
        if rng.random() < 0.5:
            raise ZeroDivisionError("half of them")
        return 1

    monkeypatch.setattr(random_input, "check_choice", fail)
    tally = check_fuzz.run_chunk(("choice", 1, 0, 40))
    assert 0 < tally.lost < 40
    name = tally.losses[0].partition("random.Random('")[2].partition("')")[0]
    with pytest.raises(ZeroDivisionError):
        fail(random.Random(name))


def test_more_than_linear_time_is_found() -> None:
    def square(text: str) -> int:
        return sum(text.count("xy", place) for place in range(0, len(text), 20))

    pattern = ("", "x", "")
    assert check_fuzz.measure("square", square, pattern).growth > check_fuzz.SLACK
    assert check_fuzz.measure("linear", lambda text: len(text.split()), pattern).growth < 2


def test_some_repeated_patterns_take_linear_time() -> None:
    chosen = list(check_fuzz.patterns(3, 12))
    assert [t for t in check_fuzz.run_patterns(chosen) if t.growth > 2 * check_fuzz.SLACK] == []


@steady
@given(texts, st.lists(texts, max_size=26))
def test_any_options_give_one_of_them_or_nothing(response: str, options: list[str]) -> None:
    answer = parse_choice(response, options)
    assert answer.value is None or ord(answer.value) - ord("A") in range(len(options))
    assert parse_choice(response, options) == answer
    assert parse_yes_no(response) == parse_yes_no(response)


@steady
@given(
    st.lists(texts, min_size=1, max_size=6), st.sampled_from(("|", " | ", " ", "||")), json_values
)
def test_any_cell_of_options_is_read_or_odd(entries: list[str], bar: str, answer: Any) -> None:
    written = bar.join(f"{number}. {entry}" for number, entry in enumerate(entries, start=1))
    try:
        options = records.parse_options(written)
        assert len(options) == len(set(options)) > 1
        letter = causalvqa_release.parse_answer(answer, options)
        assert letter == "" or ord(letter) - ord("A") in range(len(options))
    except OddRow as odd:
        assert str(odd)


@steady
@given(json_values)
def test_any_value_as_options_is_read_or_odd(value: Any) -> None:
    for written in (value, json.dumps(value), str(value)):
        try:
            assert len(records.texts(records.listed(written, "options"), "options", least=2)) > 1
        except OddRow as odd:
            assert str(odd)


@pytest.mark.parametrize("sign", ["[", "(", "{", "-"])
def test_cells_nested_without_end_are_odd(sign: str) -> None:
    deep = "[" + sign * 100_000 + "1]"
    with pytest.raises(OddRow):
        records.texts(records.listed(deep, "options"), "options", least=2)


def test_a_number_of_thousands_of_digits_is_no_option() -> None:
    with pytest.raises(OddRow, match="is not one of the 2 options"):
        causalvqa_release.parse_answer("1" * 5000, ["one", "two"])


scores = st.lists(st.sampled_from((0, 1, True, 0.0, None, math.nan)), max_size=20)


@steady
@given(scores, st.data())
def test_scores_give_a_share_or_nan(values: list[Any], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values)))
    shares = [
        accuracy.accuracy(values),
        paired.unpaired_accuracy(values),
        intervals.accuracy_interval(values, clusters=ids).value,
    ]
    assert all(math.isnan(share) or 0 <= share <= 1 for share in shares)


@steady
@given(st.lists(st.floats() | st.text(max_size=3) | st.integers(), min_size=1, max_size=5))
def test_what_is_no_score_is_an_error_with_its_place(values: list[Any]) -> None:
    odd = [value for value in values if value not in (0, 1) and value == value]
    if odd and not any(str(value).strip() in ("0", "1", "nan") for value in odd):
        with pytest.raises(ValueError, match=r"correct\[\d+\] is"):
            accuracy.accuracy(values)


def test_every_cut_of_every_file_is_read_or_refused(tmp_path: Path) -> None:
    files = StoreFiles(tmp_path)
    refused = {}
    for path, content, read in files.files:
        for end in range(0, len(content), max(1, len(content) // 60)):
            path.write_bytes(content[:end])
            refused[path.name, end] = random_input.read_or_refuse(path, read)
        path.write_bytes(content)
        read()
    damaged = [name for (name, _), it_was in refused.items() if it_was]
    whole = {"questions.parquet", "manifest.json", "20260101_000000_results.json"}
    assert all(it_was for (name, _), it_was in refused.items() if name in whole)
    # Of a file of lines the whole ones are read; a log is read even if there is none.
    assert set(damaged) == whole | {"picks.jsonl"} and len(damaged) >= 200
