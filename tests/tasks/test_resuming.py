"""What is kept of an evaluation, and what is asked again."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import socket
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from video_reasoning.tasks import media, sight, store
from video_reasoning.tasks.models import responses, resuming
from video_reasoning.tasks.models.responses import Journal
from video_reasoning.tasks.states import NO_RESPONSE

TASK = "tvbench_tomato_direction"


def record(text: str) -> dict[str, Any]:
    return {"response": text}


def test_a_torn_last_line_loses_only_itself(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first.add([("aa", record("one")), ("bb", record("two"))])
    first.add([("cc", record("three"))])
    (file,) = tmp_path.iterdir()
    for size in range(file.stat().st_size - 1, 0, -1):
        os.truncate(file, size)
        whole = file.read_bytes().count(b"\n")
        again = Journal(tmp_path)
        assert len(again) == whole
        again.add([("dd", record("four"))])
        assert Journal(tmp_path)["dd"]["response"] == "four"
        (other,) = set(tmp_path.iterdir()) - {file}
        other.unlink()


def test_the_last_record_of_a_key_counts_and_other_files_are_passed_over(tmp_path: Path) -> None:
    one, two = Journal(tmp_path, 0), Journal(tmp_path, 1)
    one.add([("aa", record("old"))])
    os.utime(tmp_path / next(tmp_path.iterdir()), (1, 1))
    two.add([("aa", record("new"))])
    (tmp_path / "x.jsonl").write_bytes(b'\xff\n[1]\n{"key": 3}\n{"key": "zz"}\nnull\n')
    found = Journal(tmp_path)
    assert (len(found), found["aa"]["response"]) == (1, "new")
    one.close()
    assert "aa" not in one


def test_a_fast_model_does_not_wait_for_the_disk_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []
    clock = [0.0]
    monkeypatch.setattr(os, "fsync", waits.append)
    monkeypatch.setattr(responses, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    journal = Journal(tmp_path)
    for number in range(250):
        journal.add([(f"{number:04x}", record("one"))])
        clock[0] += 0.01
    assert len(waits) == 3
    # What a killed process has written is there all the same.
    assert len(Journal(tmp_path)) == 250


@dataclass
class Instance:
    """A request as the harness makes it."""

    args: tuple[Any, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    task_name: str = TASK
    request_type: str = "generate_until"

    @property
    def doc_id(self) -> int:
        return int(self.args[3])


class Task:
    """A task as the harness loads it."""

    def __init__(self, condition: str = "ordered16") -> None:
        self.condition = condition

    def dump_config(self) -> dict[str, Any]:
        return {"task": TASK, "dataset_name": self.condition, "metadata": {"store": "3f2a91"}}


class Model:
    """Answers with the number of requests so far."""

    def __init__(self, documents: Sequence[Mapping[str, Any]], batch_size: int = 1) -> None:
        self.task_dict = {TASK: {"test": documents}}
        self.batch_size = batch_size
        self.asked: list[list[int]] = []
        self.answer: Callable[[int], Any] = lambda number: f"answer {number}"
        self.number = 0

    def generate_until(self, requests: Sequence[Instance]) -> list[Any]:
        self.asked.append([request.doc_id for request in requests])
        found = []
        for _ in requests:
            found.append(self.answer(self.number))
            self.number += 1
        return found


def instance(n: int, prompt: str = "Which way?", **generation: Any) -> Instance:
    return Instance((prompt, {"temperature": 0, **generation}, None, n, TASK, "test"))


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "store"))
    folder = tmp_path / "store/tvbench/videos"
    folder.mkdir(parents=True)
    found = []
    for n in range(6):
        (folder / f"{n}.mp4").write_bytes(bytes([n]) * 9)
        found.append({"id": f"q{n}", "video": f"videos/{n}.mp4", "question": "Which way?"})
    return found


def answers(
    model: Model, folder: Path, instances: list[Instance], task: Task | None = None
) -> list[Any]:
    """Answers by a process of its own."""
    journal = Journal(folder)
    keeper = resuming._Keeper(model, {TASK: task or Task()}, journal)
    model.asked = []
    return keeper.answer(model.generate_until, instances)


def test_what_was_answered_is_not_asked_again(
    documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model, instances = Model(documents), [instance(n) for n in range(6)]
    first = answers(model, tmp_path / "kept", instances[:4])
    assert model.asked == [[0], [1], [2], [3]]
    again = answers(model, tmp_path / "kept", instances)
    assert model.asked == [[4], [5]]
    assert again[:4] == first and again[4:] == ["answer 4", "answer 5"]


def _other_video(documents: list[dict[str, Any]], home: Path) -> None:
    (home / "tvbench/videos/2.mp4").write_bytes(b"another one")


def _other_question(documents: list[dict[str, Any]], home: Path) -> None:
    documents[2]["question"] = "Which other way?"


def _video_gone(documents: list[dict[str, Any]], home: Path) -> None:
    (home / "tvbench/videos/2.mp4").unlink()


@pytest.mark.parametrize("change", [_other_video, _other_question, _video_gone])
def test_a_changed_item_is_asked_again(
    change: Callable[..., None], documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model, instances = Model(documents), [instance(n) for n in range(6)]
    answers(model, tmp_path / "kept", instances)
    change(documents, tmp_path / "store")
    assert answers(model, tmp_path / "kept", instances)[2] == "answer 6"
    assert model.asked == [[2]]


@pytest.mark.parametrize(
    ("prompt", "generation", "condition"),
    [
        ("What?", {}, "ordered16"),
        ("Which way?", {"max_new_tokens": 2048}, "ordered16"),
        ("Which way?", {}, "shuffled16"),
    ],
)
def test_another_prompt_or_condition_or_argument_asks_again(
    prompt: str, generation: Any, condition: str, documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model = Model(documents)
    answers(model, tmp_path / "kept", [instance(0), instance(1)])
    other = [instance(0, prompt, **generation), instance(1)]
    answers(model, tmp_path / "kept", other, Task(condition))
    assert model.asked == ([[0]] if condition == "ordered16" else [[0], [1]])


def test_sampled_responses_are_kept_by_their_number(
    documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model = Model(documents)
    one, two = instance(0, temperature=1.0), instance(1, temperature=1.0)
    first = answers(model, tmp_path / "kept", [one] * 3)
    assert len(set(first)) == 3 and model.asked == [[0, 0, 0]]
    assert answers(model, tmp_path / "kept", [one] * 3 + [two] * 3)[:3] == first
    assert model.asked == [[1, 1, 1]]


def test_the_same_batches_are_asked_after_a_kill_as_without_one(
    documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model, instances = Model(documents, batch_size=2), [instance(n) for n in range(6)]
    answers(model, tmp_path / "kept", instances[:3])
    assert model.asked == [[0, 1], [2]]
    (file,) = (tmp_path / "kept").iterdir()
    os.truncate(file, file.stat().st_size - 1)
    answers(model, tmp_path / "kept", instances)
    assert model.asked == [[2, 3], [4, 5]]


@pytest.mark.parametrize(
    "response", ["", None, "[LMMS_EVAL_REQUEST_FAILED after 5 retries] timed out"]
)
def test_failed_and_empty_responses_are_asked_again_by_the_next_process_only(
    response: Any, documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model, instances = Model(documents), [instance(n) for n in range(3)]
    model.answer = lambda number: response if number == 1 else f"answer {number}"
    keeper = resuming._Keeper(model, {TASK: Task()}, Journal(tmp_path / "kept"))
    assert keeper.answer(model.generate_until, instances)[1] == response
    # The harness asks a second time for the numbers of all tasks together.
    assert keeper.answer(model.generate_until, instances)[1] == response
    assert model.asked == [[0], [1], [2]]
    answers(model, tmp_path / "kept", instances)
    assert model.asked == [[1]]


def test_an_item_shown_as_missing_is_asked_again(
    documents: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, instances = Model(documents), [instance(n) for n in range(2)]
    path = tmp_path / "store/tvbench/videos/1.mp4"
    monkeypatch.setitem(media._OUTCOMES, (path, "q1"), "the disk is full")
    answers(model, tmp_path / "kept", instances)
    answers(model, tmp_path / "kept", instances)
    assert model.asked == [[1]]


def test_too_few_responses_leave_the_others_to_be_asked(
    documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model, instances = Model(documents, batch_size=3), [instance(n) for n in range(3)]
    journal = Journal(tmp_path / "kept")
    keeper = resuming._Keeper(model, {TASK: Task()}, journal)
    found = keeper.answer(lambda requests: model.generate_until(requests)[:2], instances)
    assert found == ["answer 0", "answer 1", NO_RESPONSE]
    assert len(journal) == 2


def test_other_peoples_requests_are_asked_as_the_harness_asks_them(
    documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    model = Model(documents)
    others = [Instance(("?", {}, None, n, "mme", "test"), task_name="mme") for n in range(3)]
    mixed = [others[0], instance(0), others[1], instance(1), others[2]]
    found = answers(model, tmp_path / "kept", mixed)
    assert found == ["answer 0", "answer 3", "answer 1", "answer 4", "answer 2"]
    assert model.asked == [[0, 1, 2], [0], [1]]
    answers(model, tmp_path / "kept", mixed)
    assert model.asked == [[0, 1, 2]]


def test_how_an_item_was_shown_is_known_after_a_kill(
    documents: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = sight.Sight(16, 12, True)
    monkeypatch.setattr(sight, "sight_of", lambda benchmark, document: seen)
    document = {**documents[0], "id": "seen before a kill"}
    monkeypatch.setattr(media, "_HANDED", {("tvbench", document["id"], ""): "images"})
    answers(Model([document]), tmp_path / "kept", [instance(0)])
    monkeypatch.undo()
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "store"))
    assert media.handed_over("tvbench", document) == ""
    answers(Model([document]), tmp_path / "kept", [instance(0)])
    assert media.handed_over("tvbench", document) == "images"
    assert sight.sight_of("tvbench", document) == seen


def test_a_disk_that_takes_no_more_ends_nothing(
    documents: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    model, instances = Model(documents), [instance(n) for n in range(4)]
    keeper = resuming._Keeper(model, {TASK: Task()}, Journal(tmp_path / "kept"))
    keeper.answer(model.generate_until, instances[:2])
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        expected = [f"answer {n}" for n in range(4)]
        assert keeper.answer(model.generate_until, instances) == expected
        assert keeper.answer(model.generate_until, instances) == expected
    assert model.asked == [[0], [1], [2], [3]]


def test_models_whose_processes_go_in_step_are_called_equally_often(
    documents: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, instances = Model(documents), [instance(n) for n in range(4)]
    padding = Instance(instances[3].args, {"__padding_only__": True})
    first = answers(model, tmp_path / "kept", [*instances, padding])
    assert model.asked == [[0], [1], [2], [3], [3]]
    answers(model, tmp_path / "kept", [*instances, padding])
    assert model.asked == []
    monkeypatch.setattr(resuming, "_in_step", lambda lm: True)
    monkeypatch.setattr(
        resuming,
        "_everywhere",
        lambda mine: [a or b for a, b in zip(mine, [0, 1, 0, 0, 1], strict=True)],
    )
    again = answers(model, tmp_path / "kept", [*instances, padding])
    assert model.asked == [[1], [3]]
    assert [again[n] for n in (0, 2, 3)] == [first[n] for n in (0, 2, 3)]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"batch_size": 8}, 8),
        ({"batch_size": "auto"}, 1),
        ({"batch_size": 1, "batch_size_per_gpu": 64}, 64),
        ({"batch_size": 1, "num_concurrent": 16}, 64),
        ({"batch_size": 1, "num_cpus": 1}, 1),
    ],
)
def test_a_batch_is_what_a_model_takes_at_a_time(settings: dict[str, Any], expected: int) -> None:
    assert resuming._batch_size(argparse.Namespace(**settings), 1000) == expected


def command(**options: Any) -> argparse.Namespace:
    given = {"model": "m", "tasks": TASK, "model_args": "", "limit": None, "output_path": "out"}
    return argparse.Namespace(**{**given, **options})


def test_a_command_is_known_by_what_it_asks_of_which_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "weights").write_bytes(b"1")
    given = f"pretrained={checkpoint},api_key=1"
    name = responses.name_of(command(model_args=given))
    same = [
        command(model_args=f"api_key=2,pretrained={checkpoint}"),
        command(model_args={"pretrained": checkpoint}),
        command(model_args=given, output_path="elsewhere", batch_size=4, verbosity="DEBUG"),
        command(model_args=given, tasks=f"{TASK},{TASK}"),  # as the launcher may name it
    ]
    assert {responses.name_of(each) for each in same} == {name}
    others = [
        command(model_args=given, **{option: "other"})
        for option in ("model", "tasks", "limit", "seed", "system_instruction")
    ]
    others.append(command(model_args=f"{given},max_frames_num=8"))
    assert name not in {responses.name_of(each) for each in others}
    for variable in ("VIDEO_REASONING_FRAMES_AS", "VIDEO_REASONING_CLOCK"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "other")
            assert responses.name_of(command(model_args=given)) != name
    (checkpoint / "weights").write_bytes(b"22")
    assert responses.name_of(command(model_args=given)) != name


@pytest.mark.parametrize("saved", [True, False])
def test_what_is_kept_goes_when_the_results_are_saved(saved: bool, tmp_path: Path) -> None:
    run = command(output_path=str(tmp_path))
    folders = [responses.folder_of(run, name) for name in (".responses", "partial")]
    for folder in folders:
        folder.mkdir(parents=True)
    responses.finish(run, saved=saved)
    assert [folder.parent.exists() for folder in folders] == [not saved] * 2


@pytest.mark.parametrize("saved", [True, False])
def test_plain_lmms_eval_removes_at_its_end_what_is_kept(saved: bool, tmp_path: Path) -> None:
    run = command(output_path=str(tmp_path))
    Journal(responses.folder_of(run, ".responses")).add([("aa", record("one"))])
    (tmp_path / "old_results.json").touch()
    os.utime(tmp_path / "old_results.json", (1, 1))
    responses.folder_of(run, "partial").mkdir(parents=True)
    (responses.folder_of(run, "partial") / "new_results.json").touch()
    responses.ended.append((run, 10.0))
    if saved:
        (tmp_path / "new_results.json").touch()
    responses._finish_at_exit()
    assert (tmp_path / ".responses").exists() != saved
    assert responses.ended == []


@pytest.mark.parametrize("fresh", [True, False])
def test_a_fresh_run_forgets_what_is_kept(
    fresh: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = command(output_path=str(tmp_path))
    Journal(responses.folder_of(run, ".responses")).add([("aa", record("one"))])
    if fresh:
        monkeypatch.setenv(responses.FRESH_VARIABLE, "1")
    assert resuming._open(run).found == (not fresh)
    assert ("--fresh starts over" in capsys.readouterr().err) != fresh


def test_a_task_scored_by_a_model_has_its_results_at_the_end_of_the_run() -> None:
    def task(*names: str) -> Any:
        metrics = [{"metric": name} for name in names]
        return types.SimpleNamespace(dump_config=lambda: {"metric_list": metrics})

    tasks = {"closed": task("accuracy"), "open": task("bleu", "clip_score")}
    assert list(resuming._scored_without_a_model(tasks)) == ["closed"]


def test_a_version_without_the_known_evaluate_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def evaluate(lm: Any, task_dict: Any) -> None: ...

    evaluator = types.SimpleNamespace(evaluate=evaluate)
    monkeypatch.setattr(resuming, "import_module", lambda name: evaluator)
    assert "does not take bootstrap_iters, cli_args, limit, offset" in resuming.install()
    assert evaluator.evaluate is evaluate


PATIENCE, SLOW = 4.0, 7.0
"""Seconds after which the processes give each other up, and that one of them takes longer."""


def _rank(rank: int, port: int, patient: bool, folder: Path) -> None:
    """What the harness does on each rank: the requests, then a barrier."""
    import torch.distributed as dist

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    patience = timedelta(seconds=PATIENCE)
    dist.init_process_group("gloo", rank=rank, world_size=2, timeout=patience)
    documents = [{"id": f"q{n}", "video": ""} for n in range(2)]
    keeper = resuming._Keeper(Model(documents), {TASK: Task()}, None)

    def answer_slowly(requests: list[Any]) -> list[str]:
        time.sleep(SLOW / 2 if rank == 1 else 0)  # its clips are not made yet
        return ["A"] * len(requests)

    if not patient:
        resuming._patient_group = lambda: None
    generate_until = resuming._in_batches(answer_slowly, keeper)
    assert generate_until([instance(0), instance(1)]) == ["A", "A"]
    dist.barrier()
    (folder / str(rank)).touch()


@pytest.mark.parametrize("patient", [True, False])
def test_processes_wait_for_one_that_makes_all_clips(patient: bool, tmp_path: Path) -> None:
    import torch.distributed  # noqa: F401 - so that both processes start at once

    context = multiprocessing.get_context("fork")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [
        context.Process(target=_rank, args=(rank, port, patient, tmp_path)) for rank in range(2)
    ]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join(120)
    assert all(each.exitcode == 0 for each in ranks) == patient
    assert len(list(tmp_path.iterdir())) == 2 * patient
