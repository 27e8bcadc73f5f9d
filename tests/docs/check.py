"""`make docs-check`: the documentation's commands are run, and what they print is compared.

Each page has a folder of its own, in which its blocks are run one after the other, as a reader
would, with the sample benchmark as the data. A block is not run if it needs what is not here
(weights, a cluster, a server, people); the reasons are counted at the end. A note in front of a
block says what cannot be seen from it: ``<!-- check: not run: REASON -->`` or, in front of text
that no command prints, ``<!-- check: not printed -->``; in front of text that a command above the
last heading prints, ``<!-- check: printed -->``.

What a page shows must be printed, line by line and in this order; the page may leave lines out.
Output and errors are each in their order. Dates, paths and what follows an ellipsis are not
compared. A command whose shown output is an error must fail.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.commands import PAGES, ROOT, SHELL, Block, Command, blocks
from tests.harness.served import write_numbered
from video_reasoning.tasks import registry
from video_reasoning.tasks.models.manifests import CLASSES
from video_reasoning.tasks.pages.annotate.answers import AnswerLog
from video_reasoning.tasks.pages.annotate.questions import draw, load_questions
from video_reasoning.tasks.pages.annotate.server import Workplace
from video_reasoning.tasks.store.questions import read_table

OTHERS = {"accelerate", "dask", "hf", "pip", "pip-audit", "ray", "scontrol", "srun", "torchrun"}
RELEASES = {"BlackSwanSuite": "blackswan", "TOMATO": "tvbench"}
FOLLOWED = {
    "adding-a-benchmark": "tests/harness/test_adding_a_benchmark.py",
}
"""Pages that a test of their own follows."""

SERVING = re.compile(r"(view(?! .*--bundle)|handpick serve|annotate (answer|rate))\b")
SENTENCE = re.compile(r"(video-reasoning|lmms_eval): ")
"""How a command begins that ends with an error; a page that shows it means it."""
TIMEOUT = 1800.0


def reason(block: Block) -> str:
    """Why a block is not run; empty if it is."""
    if block.note.startswith("not run: "):
        return block.note.removeprefix("not run: ")
    return next(filter(None, map(_reason, block.commands())), "")


def _reason(command: Command) -> str:
    words = command.words
    program = words[0] if words else ""
    if program in OTHERS:
        return program
    if any("http://" in word for word in (*words, *command.values)):
        return "a server"
    if program == "make" and words[1:] != ("demo",):
        return "a make target of its own"
    if program == "python" and words[1:2] == ("-m",):
        return "a make target of its own"
    model = words[words.index("--model") + 1] if "--model" in words else ""
    if model and model not in {*CLASSES, "...", "$model"}:
        return "a model's weights"
    if any(re.fullmatch(r"\.\.\.|[A-Z_]{4,}", word) for word in words):
        return "a name of the reader's"
    if any(name.startswith("VIDEO_REASONING_JUDGE") for name in command.variables):
        return "a model's weights"
    if words[:2] == ("video-reasoning", "prepare") and "--source" not in words:
        return "the network"
    return "a command" if program.startswith("-") else ""


@dataclass
class Step:
    """A script of a page, what the page shows of its output, and both streams of that."""

    place: str
    script: str
    shown: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=lambda: ["", ""])


def steps(page: Path, left_out: Counter[str]) -> Iterator[Step]:
    """Yield what is run of a page, in order; count the reasons for which the rest is not."""
    last = earlier = None
    text = page.read_text(encoding="utf-8").splitlines()
    before = 0
    for block in blocks(page):
        earlier = last or earlier
        if any(line.startswith("#") for line in text[before : block.line - 1]):
            last = None
        before = block.line + block.text.count("\n") + 1
        runs = block.language in SHELL or block.has_prompts
        if runs and (why := reason(block)):
            left_out[why] += 1
            last = None
        elif runs:
            for script, shown in block.steps():
                last = Step(block.place, script, [shown] if shown else [])
                yield last
        elif block.language == "python" and "print(" in block.text and not block.note:
            values = re.findall(r"^print\(.*\) +# (.+)$", block.text, re.MULTILINE)
            script = f"python - <<'PYTHON'\n{block.text}PYTHON\n"
            last = Step(block.place, script, ["\n".join(values)] if values else [])
            yield last
        elif block.language in ("text", "") and (last or earlier):
            if block.note == "printed" and earlier:
                earlier.shown.append(block.text)
            elif last and not block.note:
                last.shown.append(block.text)


def run(found: Sequence[Step], folder: Path, environment: Mapping[str, str]) -> str:
    """Run the steps of a page in one shell, and note what each printed.

    Returns:
        What went wrong; empty if every command succeeded.
    """
    mark = "\x01"
    script = [
        "set -eo pipefail",
        'video-reasoning() { "$DOCS_PYTHON" -m tests.docs.check --typed "$@"; }',
        'make() { cat "$DOCS_DEMO"; }',
    ]
    for number, step in enumerate(found):
        fails = any(SENTENCE.match(line) for text in step.shown for line in text.splitlines())
        body = f"! {{ {step.script}\n}}" if fails else step.script
        script.append(f"printf '{mark}{number}{mark}' | tee /dev/stderr\n{body}")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        result = subprocess.run(
            ["bash", "-c", "\n".join(script)], cwd=folder, env=dict(environment),
            capture_output=True, timeout=TIMEOUT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"not done after {TIMEOUT:.0f} s"
    (folder / "stdout.log").write_bytes(result.stdout)
    (folder / "stderr.log").write_bytes(result.stderr)
    for place, stream in enumerate((result.stdout, result.stderr)):
        parts = stream.decode(errors="replace").split(mark)
        for number, printed in zip(parts[1::2], parts[2::2], strict=True):
            found[int(number)].printed[place] += printed
            last = found[int(number)].place
    tail = "\n    ".join(parts[-1].splitlines()[-8:])
    return f"{last}: exit code {result.returncode}\n    {tail}" if result.returncode else ""


def differences(step: Step) -> list[str]:
    """The lines that a page shows and that were not printed, each with its place."""
    found = []
    for shown in step.shown:
        left = [
            [_masked(line) for line in stream.replace("\r", "\n").splitlines()]
            for stream in step.printed
        ]
        for line in shown.splitlines():
            if not line.strip() or line.strip() == "...":
                continue
            wanted = _masked(line)
            for lines in left:
                places = (n for n, other in enumerate(lines) if _equal(wanted, other))
                if (place := next(places, None)) is not None:
                    del lines[: place + 1]
                    break
            else:
                found.append(f"{step.place}: not printed: {line}")
    return found


def _equal(wanted: str, printed: str) -> bool:
    start, ellipsis, _ = wanted.partition(" ...")
    return printed.startswith(start) if ellipsis else wanted == printed


def _masked(line: str) -> str:
    line = re.sub(r"\b\d{8}_\d{6}(?!\d)", "DATE", line.strip())
    line = re.sub(r"\bstore [0-9a-f]{6}\b", "store DIGEST", line)
    line = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line)
    line = re.sub(r"\b20\d\d-\d\d-\d\d \d\d:\d\d\b", "DATE", line)
    return re.sub(r"(?<![\w.:/])…?/[\w.+-]+(?:/[^/\s:,;]+)+", "PATH", line)


def typed(arguments: Sequence[str]) -> int:
    """Run our command as it was typed; a page is ended as soon as it can be opened."""
    command = [sys.executable, "-c", "from video_reasoning.tasks.cli.main import main; main()"]
    if not SERVING.match(" ".join(arguments)):
        return subprocess.run([*command, *arguments], check=False).returncode
    process = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
    for line in process.stdout or ():
        print(line, end="", flush=True)
        if line.startswith("Open http"):
            process.send_signal(signal.SIGTERM)
    return 0 if process.wait() in (0, 128 + signal.SIGTERM) else process.returncode


# What pages find in their folders


def prepared(work: Path) -> dict[str, str]:
    """Run `make demo` and the principles once, and return the environment of all pages."""
    demo, home = work / "demo", work / "home"
    environment = {
        **os.environ,
        "COLUMNS": "80",
        "DOCS_DEMO": str(work / "make-demo.log"),
        "DOCS_PYTHON": sys.executable,
        "HF_HOME": str(work / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "HOME": str(home),
        "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)]),
        "VIDEO_REASONING_HOME": str(demo / "store"),
    }
    if not (work / "ready").exists():
        target = ["make", "-C", str(ROOT), "-o", f"{sys.prefix}/.core", f"VENV={sys.prefix}"]
        with (work / "make-demo.log").open("wb") as log:
            subprocess.run(
                [*target, f"DEMO={demo}", "demo"], env=environment, stdout=log, check=True
            )
        for model, task, out in (
            ("sample_observer", "tvbench_tomato_principles", "results"),
            ("random_choice", "tvbench_tomato_principles", "results"),
            ("random_choice", "causalvqa_test", "test"),
        ):
            command = ["-m", "video_reasoning.tasks", "--model", model, "--log_samples"]
            options = ["--tasks", task, "--output_path", str(demo / out)]
            subprocess.run(
                [sys.executable, *command, *options], env=environment, check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        (home / "downloads").mkdir(parents=True)
        for name, benchmark in RELEASES.items():
            (home / "downloads" / name).symlink_to(demo / "releases" / benchmark)
        source = demo / "releases" / "causalvqa"
        shutil.make_archive(str(home / "downloads" / "CausalVQA"), "zip", source)
        (work / "ready").touch()
    return environment


def _video(folder: Path, work: Path) -> None:
    write_numbered(folder / "video.mp4", range(230))


def _test_split(folder: Path, work: Path) -> None:
    shutil.copytree(work / "demo" / "test", folder / "results", dirs_exist_ok=True)


def _demo(folder: Path, work: Path) -> None:
    (folder / "demo").symlink_to(work / "demo")


def simulate_people(folder: Path, work: Path) -> None:
    """Two simulated people have answered twenty questions of two tasks, and twelve by frames."""
    log = AnswerLog(folder / "answers.jsonl")
    store = work / "demo" / "store"
    rows = read_table(store / "blackswan" / "validation" / "questions.parquet").to_pylist()
    rows += read_table(store / "tvbench" / "test" / "questions.parquet").to_pylist()
    right = {row["id"]: row["answer"] for row in rows}
    for who, skill in (("ana", 0.8), ("ben", 0.7)):
        for name, size in PEOPLES.items():
            (task,) = registry.requested([name])
            questions = draw(load_questions(task, home=store), size, 0)
            place, chance = Workplace(questions, log, "", who), random.Random(who + name)
            log.record([
                place.answer(each, who, responses=(
                    right[each.id] if chance.random() < skill else chance.choice(each.choices),
                ))
                for each in questions
            ])  # fmt: skip


PEOPLES = {
    "blackswan_detective_mcq": 20,
    "blackswan_reporter_mcq": 20,
    "tvbench_tomato_direction": 12,
}
FIXTURES: Mapping[str, Callable[[Path, Path], None]] = {
    "README": _test_split,
    "annotate": simulate_people,
    "causalvqa": _test_split,
    "make-pairs": _demo,
    "reuse": _video,
}


def check(
    page: Path, work: Path, environment: Mapping[str, str], left_out: Counter[str]
) -> list[str]:
    """Run a page and return what does not hold, a sentence each."""
    found = list(steps(page, left_out))
    if not found:
        return []
    folder = work / "pages" / page.stem
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(work / "demo" / "results", folder / "results")
    store = work / "stores" / page.stem
    shutil.rmtree(store, ignore_errors=True)
    shutil.copytree(work / "demo" / "store", store, copy_function=os.link)
    if page.stem in FIXTURES:
        FIXTURES[page.stem](folder, work)
    begun = time.monotonic()
    failed = run(found, folder, {**environment, "VIDEO_REASONING_HOME": str(store)})
    lines = [line for step in found for line in differences(step)]
    shown = sum(len(step.shown) for step in found)
    verdict = "failed" if failed else f"{len(lines)} lines differ" if lines else "ok"
    took = f"{len(found)} blocks run in {time.monotonic() - begun:.0f} s"
    print(f"{page.name}: {took}, {shown} outputs compared: {verdict}", flush=True)
    return [failed] if failed else lines


def main() -> int:
    """Check the pages that are named, or all."""
    if sys.argv[1:2] == ["--typed"]:
        return typed(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="names such as audit; default: all")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "docs-check")
    options = parser.parse_args()
    work = options.work.absolute()
    work.mkdir(parents=True, exist_ok=True)
    environment = prepared(work)
    left_out: Counter[str] = Counter()
    problems = [
        problem
        for page in PAGES
        if page.parent.name != "reference"  # each command's own example
        and page.stem not in FOLLOWED
        and (not options.pages or page.stem in options.pages)
        for problem in check(page, work, environment, left_out)
    ]
    reasons = ", ".join(f"{why} {count}" for why, count in left_out.most_common())
    print(f"Blocks that were not run, by what they need: {reasons}.")
    print("\n".join(problems) if problems else "What the pages show is what is printed.")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
