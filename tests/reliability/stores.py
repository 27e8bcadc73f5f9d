"""All broken videos and rows in whole releases, beside good ones, through whole commands."""

from __future__ import annotations

import csv
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.harness.conftest import forked
from tests.reliability import texts
from tests.reliability.corpus import Case
from tests.reliability.guard import Outcome, Tally, command, guarded
from tests.tasks import releases

GOOD = 3
BENCHMARKS = {"tvbench": "test", "causalvqa": "debug", "blackswan": "validation"}
TASKS = (
    "tvbench_tomato_direction",
    "causalvqa_debug",
    "blackswan_detective_mcq",
    "blackswan_reporter_mcq",
)

_LOST = {
    "tvbench": {"name: spaces", "name: backslash", "name: upper case"},
    "causalvqa": {"name: spaces", "name: backslash"},
    "blackswan": {"name: backslash"},
}
"""Names that annotations cannot hold: cells are stripped, a backslash parts folders, and TVBench's
name no suffix, which is always ``.mp4``."""

_NO_TEXT = {"name: no UTF-8"}
"""A name that is no text cannot stand in a file of text."""


def place(source: Path, target: Path) -> None:
    """Put what lies at a path, whatever it is, under another one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() and source.is_file():
        target.symlink_to(source.resolve())
    elif source.is_symlink():
        target.symlink_to(source.readlink())
    elif source.is_dir():
        target.mkdir()
    elif source.is_fifo():
        os.mkfifo(target)
    else:
        target.hardlink_to(source)


def _blackswan(name: str, task: str, before: str, middle: str, after: str) -> dict[str, Any]:
    return releases.blackswan_row(
        q_id=name, task=task, preevent_file_name=f"videos/{before}",
        event_file_name=f"videos/{middle}" if middle else "",
        postevent_file_name=f"videos/{after}")  # fmt: skip


def lay_out(folder: Path, videos: Mapping[str, Path]) -> None:
    """Write the three releases with good items and one or two for each video.

    Args:
        folder: gets a folder a benchmark.
        videos: name of the case -> its file; none for a release that is good throughout.
    """
    names = {name: path.name for name, path in videos.items()}
    rows = {f"good{n}": releases.tvbench_question(key=f"good{n}") for n in range(GOOD)}
    releases.write_tvbench(folder / "tvbench", rows)
    rows |= {
        name: releases.tvbench_question(key=os.fsdecode(os.fsencode(file))[:-4])
        for name, file in names.items()
    }
    (folder / "tvbench/data/direction.json").write_text(json.dumps(rows), encoding="utf-8")

    questions = [
        releases.causalvqa_row(qid=f"good{n}", renamed_video=f"good{n}.mp4") for n in range(GOOD)
    ]
    releases.write_causalvqa(folder / "causalvqa", questions)
    table = folder / "causalvqa/debug/debug_metadata.csv"
    with table.open("a", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, releases.CAUSALVQA_COLUMNS)
        writer.writerows(
            releases.causalvqa_row(qid=name, renamed_video=file) for name, file in names.items()
        )

    parts = [f"good{n}_{part}" for n in range(GOOD) for part in "ABC"]
    good = [
        _blackswan(f"good{n}", task, f"good{n}_A.mp4", middle, f"good{n}_C.mp4")
        for n in range(GOOD)
        for task, middle in (("Detective", ""), ("Reporter", f"good{n}_B.mp4"))
    ]
    # Every second one is the beginning of what a Detective sees, the others a Reporter's middle.
    bad = [
        _blackswan(name, "Reporter", "good0_A.mp4", file, "good0_C.mp4")
        if number % 2
        else _blackswan(name, "Detective", file, "", "good0_C.mp4")
        for number, (name, file) in enumerate(names.items())
    ]
    releases.write_blackswan(folder / "blackswan", good + bad, parts=tuple(parts))
    homes = ("tvbench/videos/object", "causalvqa/debug/videos", "blackswan/videos")
    for path in videos.values():
        for home in homes:
            place(path, folder / home / path.name)


def prepare_all(folder: Path, tally: Tally, what: str) -> dict[str, Outcome]:
    """Prepare the three benchmarks of a folder of releases into its store."""
    found = {}
    for benchmark in BENCHMARKS:
        found[benchmark] = command(
            "prepare", benchmark, "--source", folder / benchmark, "--workers", "2",
            home=folder / "store", seconds=400)  # fmt: skip
        loss = found[benchmark].loss
        if not loss and found[benchmark].code:
            loss = f"exit code {found[benchmark].code}: {found[benchmark].output[-500:]}"
        tally.met("releases", f"{what}: prepare {benchmark}", loss)
    return found


def rows_of(store: Path, benchmark: str) -> dict[str, dict[str, Any]]:
    """The questions of a benchmark by id."""
    path = store / benchmark / BENCHMARKS[benchmark] / "questions.parquet"
    return {row["id"]: row for row in pq.read_table(path).to_pylist()}


def verdicts(videos: Mapping[str, Path]) -> dict[str, str]:
    """What `verify` says of each video, in one process: "read" or "refused"."""

    def look() -> dict[str, str]:
        from video_reasoning.preprocessing.video import VideoError, verify

        found = {}
        for name, path in videos.items():
            try:
                verify(path)
            except VideoError:
                found[name] = "refused"
            else:
                found[name] = "read"
        return found

    outcome = guarded(look, seconds=300)
    if outcome.loss:
        raise RuntimeError(outcome.loss)
    result: dict[str, str] = outcome.value
    return result


def check_prepared(
    clean: Path, mixed: Path, cases: Mapping[str, Case], fates: Mapping[str, str], tally: Tally
) -> None:
    """Hold the store with the broken videos against the one without."""
    for benchmark in BENCHMARKS:
        with tally.expecting("releases", f"good items of {benchmark} unchanged"):
            before, after = rows_of(clean, benchmark), rows_of(mixed, benchmark)
            assert before, "there are no good items"
            for name, row in before.items():
                assert after[name] == row, f"{name}: {row} became {after[name]}"
                assert not row["problem"], row["problem"]
            for clip in sorted((clean / benchmark / "clips").glob("*.mp4")):
                made = mixed / benchmark / "clips" / clip.name
                assert made.read_bytes() == clip.read_bytes(), clip.name
        manifest = json.loads((mixed / benchmark / "manifest.json").read_text())
        summary = manifest["splits"][BENCHMARKS[benchmark]]
        told = {entry["id"]: entry["reason"] for entry in summary["missing"]}
        skipped = {entry["row"]: entry["reason"] for entry in summary["skipped"]}
        for name, case in cases.items():
            with tally.expecting(case.family, f"{name} / prepare {benchmark}"):
                mine = [key for key in after if name in key.split("/")]
                if name in _NO_TEXT and not mine:
                    assert any(name in row for row in skipped) or benchmark == "causalvqa", skipped
                    continue
                assert mine, f"{name} is not in the questions"
                lost = name in _NO_TEXT or name in _LOST[benchmark]
                refused = fates[name] == "refused" or lost
                for key in mine:
                    if "no clip can be encoded" in after[key]["problem"]:
                        refused = True  # it can be decoded, but gives a clip no rate
                    assert bool(after[key]["problem"]) == refused, after[key]["problem"] or key
                    assert (key in told) == refused, key
                    if refused:
                        assert str(mixed) not in told[key], told[key]


def check_split(folder: Path, videos: Mapping[str, Path], tally: Tally) -> None:
    """Split a folder with everything, and one with the good videos alone."""
    from tests.reliability.media import draw

    folder.mkdir(parents=True)
    good = {f"good{n}": draw(folder / f"good{n}.mp4") for n in range(GOOD)}
    results: dict[str, dict[str, Any]] = {}
    for kind, shown in (("clean", good), ("mixed", {**good, **videos})):
        films = folder / kind
        for path in shown.values():
            place(path, films / path.name)
        times = {os.fsdecode(os.fsencode(path.name)): {"t": [3.0, 3.1]} for path in shown.values()}
        (folder / "times.json").write_text(json.dumps(times))
        outcome = command(
            "split",
            "--videos",
            films,
            "--transition-times",
            folder / "times.json",
            "--out",
            folder / f"{kind}-clips",
            "--workers",
            "2",
            seconds=400,
        )
        loss = outcome.loss or (outcome.output[-500:] if outcome.code else "")
        tally.met("folders", f"split, {kind}", loss)
        lines = (folder / f"{kind}-clips/manifest.jsonl").read_text().splitlines()
        results[kind] = {entry["name"]: entry for entry in map(json.loads, lines)}
    with tally.expecting("folders", "split: good videos unchanged"):
        for name, record in results["clean"].items():
            other = results["mixed"][name]
            assert record["status"] == "split", record["reason"]
            for key in ("status", "reason", "parts", "points", "notes", "source_id"):
                assert record[key] == other[key], (name, key, record[key], other[key])
            for part, file in record["files"].items():
                one = folder / "clean-clips" / file
                assert one.read_bytes() == (
                    folder / "mixed-clips" / other["files"][part]).read_bytes(), file  # fmt: skip
    for name, path in videos.items():
        with tally.expecting("folders", f"split: {name} in the manifest"):
            record = results["mixed"][path.name]
            assert record["status"] == "split" or record["reason"], record
            assert str(folder) not in record["reason"], record["reason"]


def check_page(store: Path, tally: Tally) -> None:
    """The handpick page over every item of every benchmark."""

    def look() -> dict[str, list[tuple[str, str, int, str]]]:
        import asyncio

        import httpx

        from video_reasoning.tasks.handpick.items import Prepared, load_items
        from video_reasoning.tasks.handpick.record import PickLog
        from video_reasoning.tasks.handpick.server import Workplace, create_app

        async def ask(workplace: Workplace, items: Any) -> list[tuple[str, str, int, str]]:
            answers = []
            transport = httpx.ASGITransport(create_app(workplace))
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8765", timeout=60
            ) as page:
                for number, item in enumerate(items):
                    for address in (f"/api/items/{number}?annotator=ana", f"/frames/{number}/0",
                                    f"/video/{number}", f"/video/{number}?convert=1"):  # fmt: skip
                        got = await page.get(address)
                        told = got.text if "json" in got.headers["content-type"] else ""
                        answers.append((item.id, address, got.status_code, told))
            return answers

        found = {}
        for benchmark in BENCHMARKS:
            items = load_items(benchmark, None, store)
            log = PickLog(store / f"{benchmark}-page.jsonl", benchmark)
            workplace = Workplace(items, log, Prepared(benchmark), "ana")
            found[benchmark] = asyncio.run(ask(workplace, items))
            workplace.close()
        return found

    outcome = guarded(look, seconds=500)
    tally.met("stores", "handpick page", outcome.loss)
    for benchmark, answers in (outcome.value or {}).items():
        bad = {row["id"]: bool(row["problem"]) for row in rows_of(store, benchmark).values()}
        for name, address, status, told in answers:
            loss = ""
            if status not in (200, 404) or (status == 404 and len(told) < 20):
                loss = f"status {status}: {told}"
            elif not bad[name] and status != 200 and "convert" not in address:
                loss = f"its video is good, but: {told}"
            tally.met("stores", f"handpick {benchmark} {name} {address}", loss)


def check_values(folder: Path, tally: Tally) -> None:
    """Every field of a row of each benchmark with every odd value, beside good rows."""
    folder.mkdir(parents=True)
    lay_out(folder, {})
    data = folder / "tvbench/data/direction.json"
    rows = json.loads(data.read_text())
    model = releases.tvbench_question(key="good0")
    for name, row in texts.variants(model, ""):
        rows[name] = row
    data.write_text(json.dumps(rows), encoding="utf-8")
    counts = {"tvbench": len(rows) - GOOD}

    table = folder / "causalvqa/debug/debug_metadata.csv"
    made = [row for _, row in texts.variants(releases.causalvqa_row(renamed_video="good0.mp4"),
                                             "qid")]  # fmt: skip
    with table.open("a", newline="", encoding="utf-8", errors="replace") as file:
        writer = csv.DictWriter(file, releases.CAUSALVQA_COLUMNS, restval="")
        writer.writerows(texts.flat(row) for row in made)
    counts["causalvqa"] = len(made)

    lines = folder / "blackswan/BlackSwanSuite_MCQ_Val.jsonl"
    model = _blackswan("odd", "Reporter", "good0_A.mp4", "good0_B.mp4", "good0_C.mp4")
    made = [row for _, row in texts.variants(model, "q_id")]
    with lines.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in made)
    counts["blackswan"] = len(made)

    found = prepare_all(folder, tally, "odd rows")
    clean = folder / "clean"
    lay_out(clean, {})
    prepare_all(clean, tally, "good rows")
    for benchmark, count in counts.items():
        with tally.expecting("rows", f"{benchmark}: good rows unchanged"):
            before, after = (
                rows_of(clean / "store", benchmark),
                rows_of(folder / "store", benchmark),
            )
            assert all(after[name] == row for name, row in before.items())
            manifest = json.loads((folder / f"store/{benchmark}/manifest.json").read_text())
            skipped = manifest["splits"][BENCHMARKS[benchmark]]["skipped"]
            each = 2 if benchmark == "causalvqa" else 1
            assert len(after) - len(before) + each * len(skipped) >= each * count, (
                len(after), len(before), len(skipped), count)  # fmt: skip
            assert len(found[benchmark].output) < 20_000, len(found[benchmark].output)
            longest = max((len(entry["reason"]) for entry in skipped), default=0)
            assert longest < 1000, longest
            tally.fates.setdefault("rows", {})
            for word, n in (("refused", len(skipped)), ("read", count - len(skipped))):
                tally.fates["rows"][word] = tally.fates["rows"].get(word, 0) + n
        tally.met("rows", f"{benchmark}: all rows", count=count)


def evaluate(store: Path, out: Path, model: str, cache: Path) -> tuple[int, str]:
    """Run the harness over everything in a store; its exit code, and what it prints."""
    environment = {**os.environ, "VIDEO_REASONING_HOME": str(store), "HF_HUB_OFFLINE": "1",
                   "XDG_CACHE_HOME": str(cache), "HF_HOME": str(cache / "hf")}  # fmt: skip
    words = ["--model", model, "--tasks", ",".join(TASKS), "--output_path", str(out),
             "--log_samples", "--verbosity", "WARNING"]  # fmt: skip
    return forked("video_reasoning.tasks.launcher", words, cache, environment)


def logged(out: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Task -> id -> line of the sample log."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in out.rglob("*_samples_*.jsonl"):
        task = path.stem.split("_samples_")[1]
        for text in path.read_text(encoding="utf-8").split("\n"):
            if text.strip():
                line = json.loads(text)
                items = [each for each in line.values() if isinstance(each, dict) and "id" in each]
                found.setdefault(task, {})[str(items[0]["id"])] = line
    return found


def forget_problems(store: Path) -> None:
    """Take the problems out of the questions, as if the videos had been damaged afterwards."""
    for benchmark, split in BENCHMARKS.items():
        path = store / benchmark / split / "questions.parquet"
        questions = pq.read_table(path)
        rows = questions.to_pylist()
        for row in rows:
            row["problem"] = ""
        import pyarrow as pa

        pq.write_table(pa.Table.from_pylist(rows, schema=questions.schema), path)


def check_runs(clean: Path, mixed: Path, folder: Path, tally: Tally) -> None:
    """Evaluate a model on a good store, on one with broken videos, and on one damaged later."""
    later = folder / "later"
    shutil.copytree(
        mixed,
        later,
        copy_function=os.link,
        symlinks=True,
        ignore=lambda top, names: [n for n in names if (Path(top) / n).is_fifo()],
    )
    for benchmark, split in BENCHMARKS.items():
        path = later / benchmark / split / "questions.parquet"
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    forget_problems(later)
    cache = folder / "cache"
    cache.mkdir(parents=True)
    lines = {}
    for name, store in (("clean", clean), ("mixed", mixed), ("later", later)):
        code, output = evaluate(store, folder / name, "random_choice", cache)
        loss = ""
        if code or "Traceback" in output:
            loss = f"exit code {code}: {output[output.find('Traceback') :][:1500]}"
        tally.met("evaluations", f"random_choice, {name}", loss)
        lines[name] = logged(folder / name)
    for name in ("mixed", "later"):
        for task in TASKS:
            with tally.expecting("evaluations", f"{name}: {task}, good items unchanged"):
                assert lines["clean"][task], "nothing was logged"
                for key, line in lines["clean"][task].items():
                    other = lines[name][task][key]
                    for field in ("choice", "score", "status"):
                        assert other[field] == line[field], (key, field, line[field], other[field])
            benchmark = next(each for each in BENCHMARKS if task.startswith(each))
            for key, row in rows_of(mixed, benchmark).items():
                line = lines[name].get(task, {}).get(key)
                if line is None:
                    continue
                missing = line["status"] == "missing"
                loss = ""
                if name == "mixed" and missing != bool(row["problem"]):
                    loss = f"status {line['status']}, problem {row['problem']!r}"
                if missing and not line["problem"]:
                    loss = "missing without a reason"
                tally.met("evaluations", f"{name}: {key}", loss)
    for arguments in (("report", folder / "mixed", "--out", folder / "report.html"),
                      ("report", folder / "later", "--out", folder / "later.html"),
                      ("compare", folder / "mixed", folder / "clean", "--shared-only"),
                      ("principles", folder / "mixed"), ("check-sample", folder / "mixed"),
                      ("doctor",)):  # fmt: skip
        outcome = command(*arguments, home=mixed, seconds=200)
        tally.met("evaluations", f"{arguments[0]} over the runs", outcome.loss)
