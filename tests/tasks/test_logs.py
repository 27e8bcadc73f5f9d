from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tasks.harness_logs import DATE, sample_line, write_run
from video_reasoning.tasks import store
from video_reasoning.tasks.errors import StoreError
from video_reasoning.tasks.results.items import gather, texts
from video_reasoning.tasks.results.logs import LogError, OddLines, find_runs, read_samples
from video_reasoning.tasks.results.questions import questions_of
from video_reasoning.tasks.store.questions import load_questions


def samples_file(folder: Path, task: str, date: str = DATE) -> Path:
    return folder / f"{date}_samples_{task}.jsonl"


def test_a_run_is_read_from_folder_results_file_and_sample_log(tmp_path: Path) -> None:
    results = write_run(tmp_path / "out", {"alpha": [sample_line(0)], "beta": [sample_line(0)]})
    whole, named = find_runs([tmp_path]), find_runs([results])
    assert whole == named
    (run,) = whole
    assert (run.model, run.checkpoint, run.label) == ("random_choice", "", "random_choice")
    assert run.date == DATE
    assert sorted(run.tasks) == ["alpha", "beta"]
    assert run.samples("alpha") == samples_file(results.parent, "alpha")

    (run,) = find_runs([samples_file(results.parent, "beta")])
    assert list(run.tasks) == ["beta"]
    assert run.model == "random_choice"


def test_the_checkpoint_names_the_model(tmp_path: Path) -> None:
    write_run(tmp_path, {"alpha": []}, model="llava_vid", checkpoint="some/llava-7b")
    (run,) = find_runs([tmp_path])
    assert (run.model, run.label) == ("llava_vid", "some/llava-7b")
    assert run.model_args == "pretrained=some/llava-7b"
    assert run.folder == tmp_path / "some__llava-7b"


def test_metrics_and_errors_of_tasks_but_not_of_groups(tmp_path: Path) -> None:
    entry = {
        "alias": " - alpha",
        "status,none": [],
        "status_stderr,none": [],
        "accuracy,none": 0.25,
        "accuracy_stderr,none": "N/A",
        "accuracy_stderr_clt,none": 0.2,
        "accuracy_stderr_clustered,none": 0.1,
        "accuracy,strict": 0.5,
        "accuracy_stderr_clt,strict": 0.3,
        "acc_hard,none": None,
        "acc_hard_stderr_clt,none": 0.4,
        "missing_items,none": 3,
        "missing_items_stderr,none": "N/A",
    }
    group = {"alias": "all", "accuracy,none": 0.5, "accuracy_stderr,none": "N/A"}
    write_run(tmp_path, {"alpha": []}, results={"alpha": entry, "all": group})
    (run,) = find_runs([tmp_path])
    assert run.tasks["alpha"].metrics == {
        "accuracy": 0.25,
        "accuracy,strict": 0.5,
        "acc_hard": None,
        "missing_items": 3,
    }
    # An N/A has no error, whatever the harness computed from the items.
    assert run.tasks["alpha"].errors == {"accuracy": 0.1, "accuracy,strict": 0.3}
    assert list(run.tasks) == ["alpha"]


def test_the_newest_run_of_a_model_and_task_counts(tmp_path: Path) -> None:
    old, new = "20260101_000000", "20260202_000000"
    results = write_run(tmp_path, {"alpha": [], "beta": []}, date=old)
    write_run(tmp_path, {"alpha": []}, date=new)
    write_run(tmp_path, {"alpha": []}, model="sample_observer", date="20250101_000000")
    seen = [(run.model, run.date, sorted(run.tasks)) for run in find_runs([tmp_path])]
    assert seen == [
        ("sample_observer", "20250101_000000", ["alpha"]),
        ("random_choice", old, ["beta"]),
        ("random_choice", new, ["alpha"]),
    ]
    assert [sorted(run.tasks) for run in find_runs([tmp_path], every=True)] == [
        ["alpha"],
        ["alpha", "beta"],
        ["alpha"],
    ]
    # Named beside its folder, the old run counts whole, and once.
    dated = {run.date: sorted(run.tasks) for run in find_runs([tmp_path, results])}
    assert dated[old] == ["alpha", "beta"]
    assert len(dated) == 3


def test_runs_of_two_folders_stand_side_by_side(tmp_path: Path) -> None:
    write_run(tmp_path / "before", {"alpha": []}, date="20260101_000000")
    write_run(tmp_path / "after", {"alpha": []}, date="20260202_000000")
    assert len(find_runs([tmp_path / "before", tmp_path / "after"])) == 2
    assert len(find_runs([tmp_path])) == 1


def test_sample_logs_without_results_are_found(tmp_path: Path) -> None:
    write_run(tmp_path / "tiny", {"alpha": [sample_line(0)]}).unlink()
    (run,) = find_runs([tmp_path])
    assert (run.model, run.results, list(run.tasks)) == ("tiny", None, ["alpha"])
    assert find_runs([samples_file(tmp_path / "tiny", "alpha")])[0].tasks == run.tasks


def test_an_unreadable_results_file_hurts_only_its_own_run(tmp_path: Path) -> None:
    write_run(tmp_path, {"alpha": []})
    torn = tmp_path / "20260101_000000_results.json"
    torn.write_text('{"results": {"al', encoding="utf-8")
    assert [run.date for run in find_runs([tmp_path])] == [DATE]
    with pytest.raises(LogError, match="cannot be read"):
        find_runs([torn])
    torn.write_text("[]", encoding="utf-8")
    with pytest.raises(LogError, match="not a results file"):
        find_runs([torn])


def test_paths_that_are_no_logs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="does not exist"):
        find_runs([tmp_path / "nowhere"])
    (tmp_path / "notes.json").write_text("{}", encoding="utf-8")
    with pytest.raises(LogError, match="neither a results file"):
        find_runs([tmp_path / "notes.json"])
    assert find_runs([tmp_path]) == []


def test_a_run_without_sample_logs_says_what_to_do(tmp_path: Path) -> None:
    results = write_run(tmp_path, {"alpha": []})
    samples_file(tmp_path, "alpha").unlink()
    (run,) = find_runs([results])
    with pytest.raises(LogError, match="--log_samples"):
        run.samples("alpha")


def test_a_sample_has_what_the_task_logged(tmp_path: Path) -> None:
    item = {"id": "q7/1", "qid": "q7", "variant": 1}
    line = sample_line(
        3, accuracy=item, accuracy_unpaired=item, score=0.0, choice=None, status="unparsed"
    )
    write_run(tmp_path, {"alpha": [line]})
    (sample,) = read_samples(samples_file(tmp_path, "alpha"))
    assert (sample.line, sample.doc_id, sample.id, sample.target) == (1, 3, "q7/1", "A")
    assert (sample.status, sample.choice, sample.score) == ("unparsed", None, 0.0)
    assert sample.responses == ("A",)
    assert sample.prompt.startswith("Which?")
    assert (sample.group("qid"), sample.group("variant"), sample.group("type")) == ("q7", "1", "")


def test_several_responses_and_a_withheld_score(tmp_path: Path) -> None:
    line = sample_line(0, filtered_resps=[["one", "two"], "three"], score=None, target="")
    write_run(tmp_path, {"alpha": [line]})
    (sample,) = read_samples(samples_file(tmp_path, "alpha"))
    assert sample.responses == ("one", "two", "three")
    assert sample.score is None


def test_torn_and_odd_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "20260101_000000_samples_alpha.jsonl"
    good = [json.dumps(sample_line(n), ensure_ascii=False) for n in range(3)]
    lines = [
        good[0].encode(),
        b"",
        good[1].encode()[:40],  # cut short
        '"é"'.encode()[:2],  # cut within a letter
        b"[1, 2]",
        b'{"doc_id": "0", "filtered_resps": "A"}',
        b'{"doc_id": 9}',
        good[0].encode(),  # the same document again
        good[1].encode(),
        json.dumps(sample_line(2, input="a\u2028b"), ensure_ascii=False).encode(),
    ]
    path.write_bytes(b"\n".join(lines))
    odd = OddLines()
    samples = list(read_samples(path, odd))
    assert [sample.doc_id for sample in samples] == [0, 1, 2]
    assert samples[2].prompt == "a\u2028b"
    assert odd.count == 6
    sentence = odd.sentence(path)
    assert "line 3: it is not readable JSON" in sentence
    assert "line 6: it has no doc_id" in sentence
    assert "line 7: it has no responses" in sentence
    assert "and 1 more" in sentence
    assert OddLines().sentence(path) == ""


def test_reading_keeps_one_line_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "20260101_000000_samples_alpha.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(20_000):
            file.write(json.dumps(sample_line(number, input="x" * 500)) + "\n")
    tracemalloc.start()
    assert sum(sample.score or 0 for sample in read_samples(path)) == 20_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 5


@pytest.mark.harness
@pytest.mark.parametrize("checkpoint", ["", "some/llava-7b"])
def test_what_the_harness_itself_writes_is_read(tmp_path: Path, checkpoint: str) -> None:
    from lmms_eval.loggers.evaluation_tracker import EvaluationTracker

    arguments = f"pretrained={checkpoint}" if checkpoint else ""
    tracker = EvaluationTracker(output_path=str(tmp_path))
    tracker.general_config_tracker.log_experiment_args(
        model_source="llava_vid",
        model_args=arguments,
        system_instruction="",
        chat_template="",
        fewshot_as_multiturn=False,
    )
    # As the evaluator hands it over: documents and arguments are there, and the tracker drops
    # them; responses are wrapped in a list per request.
    line = sample_line(0, doc={"id": "q0"}, arguments=["Which?", {"until": []}])
    line |= {"resps": [["A"]], "filtered_resps": ["A"]}
    samples = {"alpha": [line]}
    results = {
        "results": {"alpha": {"alias": "alpha", "accuracy,none": 0.5, "score,none": []}},
        "configs": {"alpha": {"task": "alpha"}},
        "config": {"model": "llava_vid", "model_args": arguments},
        "date": DATE,
    }
    tracker.save_results_aggregated(results=results, samples=samples, datetime_str=DATE)
    tracker.save_results_samples(task_name="alpha", samples=samples["alpha"])

    (run,) = find_runs([tmp_path])
    assert (run.model, run.checkpoint, run.date) == ("llava_vid", checkpoint, DATE)
    assert run.tasks["alpha"].metrics == {"accuracy": 0.5}
    (sample,) = read_samples(run.samples("alpha"))
    assert (sample.id, sample.responses, sample.prompt) == ("q0", ("A",), "Which?")
    assert "doc" not in sample.values


def write_questions(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_questions_are_those_of_the_run_else_the_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(store.HOME_VARIABLE, str(tmp_path / "store"))
    (tmp_path / "store").mkdir()
    recorded = write_questions(
        tmp_path / "store" / "q.parquet", [{"id": "a", "answer": "A", "extra": 1}]
    )
    task = "causalvqa_debug"
    write_run(tmp_path / "here", {task: []}, questions={task: recorded})
    write_run(tmp_path / "elsewhere", {task: [], "unknown": []})
    (here,), (elsewhere,) = find_runs([tmp_path / "here"]), find_runs([tmp_path / "elsewhere"])
    assert questions_of(here, task) == recorded
    with pytest.raises(StoreError, match="No data for causalvqa"):
        questions_of(elsewhere, task)
    with pytest.raises(StoreError, match="no task of that name"):
        questions_of(elsewhere, "unknown")
    own = write_questions(store.questions_file("causalvqa", "debug"), [{"id": "a"}])
    assert questions_of(elsewhere, task) == own
    loaded = load_questions(recorded, ["id", "answer", "evidence"])
    assert loaded == {"a": {"id": "a", "answer": "A"}}


def test_damaged_questions_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "q.parquet"
    path.write_bytes(b"not parquet")
    with pytest.raises(StoreError, match="cannot be read"):
        load_questions(path)
    with pytest.raises(StoreError, match="cannot be read"):
        load_questions(tmp_path / "gone.parquet")
    with pytest.raises(StoreError, match="has no ids"):
        load_questions(write_questions(path, [{"answer": "A"}]))


def test_responses_are_not_kept_in_memory(tmp_path: Path) -> None:
    """They are read again where somebody looks at them."""
    taken = []
    for name, length in (("short", 10), ("long", 2_900)):
        lines = [sample_line(n, filtered_resps=[f"{n}" + "é" * length]) for n in range(300)]
        write_run(tmp_path / name, {"t": lines})
        gather([tmp_path / name])  # what is imported at first use is not counted
        tracemalloc.start()
        (log,) = gather([tmp_path / name])
        taken.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert list(texts(log.log, log.items[7:9])) == ["7" + "é" * length, "8" + "é" * length]
    assert taken[1] < taken[0] + 50_000
    log.log.write_bytes(b"{}\n" * 9)
    with pytest.raises(LogError, match="cannot be read"):
        list(texts(log.log, log.items[:1]))
