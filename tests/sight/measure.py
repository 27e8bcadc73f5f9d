"""Measure which frames reach the harness's model classes, and write the table of the documentation.

    python -m tests.sight.measure [CLASS ...]

Each class is probed in a process of its own by the code of ``video-reasoning sight``. The result
is in ``lmms_eval_tasks/models/measured.json``, which ``lmms_eval`` reads too, and in
docs/running-models.md: the table, and what the command prints. With names, only those are measured
again.
"""

from __future__ import annotations

import importlib
import io
import json
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.harness import tiny_qwen
from tests.harness.served import serve
from tests.sight import stand_ins, tiny
from video_reasoning.tasks.cli import sight as command
from video_reasoning.tasks.models import probed, quirks
from video_reasoning.tasks.sight import asking, probes
from video_reasoning.tasks.sight.asking import Model
from video_reasoning.tasks.sight.probe import SERVED, Result, probe
from video_reasoning.tasks.sight.verdict import Row

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "running-models.md"
DATA = ROOT / "lmms_eval_tasks" / "models" / probed.MEASURED
SERVED_PROBES = 4
"""Questions of each kind for a served class; 1 if it is measured quickly."""
BEGIN = "<!-- measured: written by `python -m tests.sight.measure` -->"
END = "<!-- end of measured -->"

DEPTHS = {
    "model": "real model code with random weights",
    "processor": "the harness's class, with a stand-in for the checkpoint's own code",
    "request": "the images of the request, at a local server or at the package's call",
}


@dataclass(frozen=True)
class Entry:
    """A class in one form.

    Attributes:
        model: What ``--model`` says.
        depth: How far its input is followed; see :data:`DEPTHS`.
        arguments: What ``--model_args`` says; ``{url}`` is the local server.
        simple: Whether ``--force_simple`` is given.
        family: Architecture of its random weights, which become ``pretrained=``.
        stand_in: A function of :mod:`.stand_ins`.
        needs: Packages without which it is left out, and keeps what was measured before.
        printed: Whether the page shows what the command prints of it, and not a row of the table.
    """

    model: str
    depth: str
    arguments: str
    simple: bool = False
    family: str = ""
    stand_in: str = ""
    needs: tuple[str, ...] = ()
    printed: bool = False

    @property
    def name(self) -> str:
        return f"{self.model} --force_simple" if self.simple else self.model

    @property
    def plain(self) -> Entry:
        """Without the arguments that name a number of frames."""
        (known,) = (each for each in quirks.CLASSES if self.model in each.names)
        frames = known.arguments.split(",")
        kept = [each for each in self.arguments.split(",") if each not in frames]
        return replace(self, arguments=",".join(kept))

    @property
    def lacking(self) -> list[str]:
        """The packages that are not installed here."""
        return [each for each in self.needs if find_spec(each) is None]


_CPU = "device_map=cpu"
_EAGER = f"{_CPU},attn_implementation=eager"
_QWEN = f"{_EAGER},max_num_frames=16,min_pixels=784,max_pixels=50176"
_SERVER = "base_url={url},api_key=none,max_retries=1"

ENTRIES = (
    Entry("qwen2_5_vl", "model", _QWEN, family="qwen2_5_vl"),
    Entry("qwen2_5_vl", "model", _QWEN, simple=True, family="qwen2_5_vl"),
    Entry(
        "qwen2_vl",
        "model",
        f"{_CPU},max_num_frames=16,min_pixels=784,max_pixels=50176",
        family="qwen2_vl",
    ),
    Entry("qwen3_vl", "model", _QWEN, family="qwen3_vl"),
    Entry("qwen3_vl", "model", _QWEN, simple=True, family="qwen3_vl"),
    Entry("qwen3_5", "model", f"{_QWEN},fps=100", family="qwen3_5"),
    Entry("qwen3_5", "model", f"{_QWEN},fps=100", simple=True, family="qwen3_5"),
    Entry("llava_hf", "model", f"{_CPU},max_frames_num=16", family="llava_onevision"),
    Entry("llava_hf", "model", f"{_CPU},max_frames_num=16", simple=True, family="llava_onevision"),
    Entry("internvl_hf", "model", f"{_CPU},num_frames=16,max_patches=1", family="internvl"),
    Entry("gemma3", "model", f"{_EAGER},max_num_frames=16", family="gemma3"),
    Entry(
        "gemma4",
        "model",
        f"{_EAGER},max_num_frames=16,max_soft_tokens=70",
        family="gemma4",
        needs=("torchcodec",),
    ),
    Entry(
        "llava_onevision1_5", "processor", _QWEN, family="qwen2_5_vl", stand_in="llava_onevision1_5"
    ),
    Entry(
        "llava_onevision1_5",
        "processor",
        _QWEN,
        simple=True,
        family="qwen2_5_vl",
        stand_in="llava_onevision1_5",
    ),
    Entry("internvl2", "processor", "", family="internvl", stand_in="internvl"),
    Entry("internvl3", "processor", "", family="internvl", stand_in="internvl"),
    Entry("internvl3_5", "processor", "", family="internvl", stand_in="internvl"),
    Entry("openai", "request", f"model=m,max_frames_num=16,{_SERVER}"),
    Entry("openai", "request", f"model=m,max_frames_num=16,{_SERVER}", simple=True),
    Entry("async_openai", "request", f"model=m,nframes=16,{_SERVER}"),
    Entry("vllm", "request", "model=m,nframes=16,max_frame_num=16", stand_in="vllm"),
    Entry("vllm", "request", "model=m,max_frame_num=16", simple=True, stand_in="vllm"),
    Entry("litellm", "request", f"model=m,max_frames_num=16,{_SERVER}", stand_in="litellm"),
)

_BY_NAME = {each.name: each for each in ENTRIES}
PRINTED = (
    replace(_BY_NAME["qwen2_5_vl"], printed=True),
    replace(_BY_NAME["openai"].plain, printed=True),
)
"""Of which the page shows what ``video-reasoning sight`` prints."""

QUICK = (
    "qwen2_5_vl", "qwen2_vl", "qwen3_vl", "llava_hf", "internvl_hf", "gemma3",
    "llava_onevision1_5", "internvl2", "openai", "async_openai", "vllm", "litellm",
)  # fmt: skip
"""The dozen that a test measures again: a form of each class that can be had without more."""

_LLAVA = "needs the package llava (LLaVA-NeXT), which is not on PyPI"
_REMOTE = "needs a checkpoint's own code"
_OMNI = (
    "needs the packages qwen-omni-utils and librosa, and a GPU: it sends its input there, whatever "
    "`--device` says"
)
NOT_MEASURED = {
    "llava_onevision": _LLAVA,
    "llava_vid": _LLAVA,
    "llava_onevision2": _REMOTE,
    "videollama3": _REMOTE,
    "phi4_multimodal": f"{_REMOTE} and the package soundfile",
    "minicpm_o": f"{_REMOTE} and the package soundfile",
    "qwen2_5_omni": _OMNI,
    "qwen3_omni": _OMNI,
    "sglang": "needs the package sglang, and a GPU",
    "gemini": "uploads the video; the service samples it",
}
"""Why the table lacks a class."""


def measure(
    entries: Sequence[Entry], folder: Path, *, quickly: bool
) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Probe classes, each in a process of its own.

    Args:
        entries: The classes.
        folder: Where to write.
        quickly: Whether to ask little, and not to probe them again without the arguments that
            name a number of frames.

    Yields:
        What came of each, with what a run counts without arguments under ``plain``.
    """
    _share(entries, folder, 1 if quickly else SERVED_PROBES)
    for entry in entries:
        start = time.monotonic()
        found = _measure(entry, folder)
        if not quickly and "error" not in found:
            same = entry.plain == entry
            rows = found["rows"] if same else _measure(entry.plain, folder).get("rows", [])
            found["plain"] = {each["condition"]: _counted(each) for each in rows}
        said = found.get("error") or ("exact" if found["exact"] else "not exact")
        print(f"{entry.name}: {said}, {time.monotonic() - start:.0f} s", file=sys.stderr)
        yield entry, found


def row_of(entry: Entry, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the table."""
    depth = ", ".join((entry.depth, *(f"`{each}`" for each in entry.needs)))
    kept = {key: found[key] for key in ("model", "form")}
    refused = sorted(found["refused"])  # which; the sentences are the code's
    rest = {"rows": found["rows"], "plain": found.get("plain", {})}
    return {**kept, "depth": depth, **rest, "refused": refused}


def _share(entries: Sequence[Entry], folder: Path, served: int) -> None:
    """Do once what every process needs: imports, the probes' videos, random weights."""
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
    os.environ["FORCE_QWENVL_VIDEO_READER"] = "decord"  # is read when the package is imported
    for module in (
        "tests.reliability.warm",
        "lmms_eval.evaluator",
        "qwen_vl_utils",
        "decord",
    ):
        importlib.import_module(module)
    # Processes that are forked have no threads of this one's, for which they would wait.
    importlib.import_module("torch").set_num_threads(1)
    probes.write_store(folder / "local", [probes.NAMED, probes.LADDER])
    probes.write_store(folder / "served", [probes.NAMED] * served)
    for family in sorted({each.family for each in entries} - {""}):
        write = tiny_qwen.write if family == "qwen2_5_vl" else partial(tiny.write, family)
        write(folder / family)


def _measure(entry: Entry, folder: Path) -> dict[str, Any]:
    place = Path(tempfile.mkdtemp(dir=folder))
    with serve(lambda _: "A") as served:
        arguments = entry.arguments.format(url=served.url)
        variables = {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": served.url}
        if entry.family:
            arguments = ",".join(filter(None, [f"pretrained={folder / entry.family}", arguments]))
        model = Model(entry.model, arguments, entry.simple, "cpu")
        given = (model, entry.stand_in, folder, place, variables)
        process = multiprocessing.get_context("fork").Process(target=_probe, args=given)
        process.start()
        process.join(timeout=900)
        if process.exitcode is None:
            process.kill()
    if not (place / "row.json").is_file():
        printed = (place / "output.txt").read_text(errors="replace")
        return {"error": printed[-2000:]}
    found: dict[str, Any] = json.loads((place / "row.json").read_text())
    return found


def _probe(
    model: Model, stand_in: str, folder: Path, place: Path, variables: Mapping[str, str]
) -> None:
    """Probe one class in this process."""
    os.environ |= variables
    with (place / "output.txt").open("wb") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    # Renews torch's threads; two threads of a loader that do so at once fail now and then.
    importlib.import_module("torch").set_num_threads(1)
    asking.ANSWER_TOKENS = 1
    if stand_in:
        getattr(stand_ins, stand_in)()
    home = folder / ("served" if model.name in SERVED else "local") / "store"
    found = probe(model, store_home=home).as_json()
    (place / "row.json").write_text(json.dumps(found))


# The page


def printed(found: Mapping[str, Any]) -> str:
    """Return what ``video-reasoning sight`` prints of what came of a probe."""
    rows = tuple(Row(**each) for each in found["rows"])
    refused, advice = dict(found["refused"]), tuple(found["advice"])
    with redirect_stdout(io.StringIO()) as stream:
        command.show(Result(Model(found["model"]), found["form"], rows, refused, advice))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def table(data: Mapping[str, Any]) -> str:
    """The part of docs/running-models.md between the marks."""
    names = [each.name for each in probes.PROBES]
    versions = f"lmms-eval {data['lmms_eval']} and transformers {data['transformers']}"
    head = (
        f"`--model` (form) | depth | {' | '.join(names)} | time told of 16 frames, of the video | "
        "`frames_seen` of a run"
    )
    lines = [
        f"Measured with {versions}, over a video of 80 frames in 10 s.",
        "",
        f"| {head} |",
        f"|---|---|{'---|' * len(names)}---|---|",
    ]
    notes: dict[str, int] = {}
    for row in data["rows"]:
        own = {each["condition"]: each for each in row["rows"]}
        cells = [_cell(own.get(name), name in row["refused"], notes) for name in names]
        times = [own.get(name, {}).get("time") or "none" for name in ("ordered16", "whole video")]
        told = "none" if set(times) == {"none"} else ", ".join(times)
        counted = ", ".join(_counted(own[name]) if name in own else "-" for name in names)
        lines.append(
            f"| `{row['model']}` ({row['form']}) | {row['depth']} | {' | '.join(cells)} | {told} | "
            f"{counted} |"
        )
    lines += [""] * bool(notes) + [f"{number}. {sentence}" for sentence, number in notes.items()]
    lines += ["", *(f"- {name}: {meaning}." for name, meaning in DEPTHS.items())]
    lines += ["- A package behind the depth was installed besides."]
    lines += ["", "Not measured:", ""]
    lines += [f"- `{name}`: {reason}." for name, reason in data["not_measured"].items()]
    return "\n".join(lines)


def _cell(row: Mapping[str, Any] | None, refused: bool, notes: dict[str, int]) -> str:
    if row is None:
        return "refused" if refused else "-"
    if row["problem"]:
        number = notes.setdefault(_sentence(row["problem"]), len(notes) + 1)
        return f"**no** ({number})"
    seen = max(each for each in row["seen"] if each is not None)
    copies = f" (in {row['pictures']})" if row["pictures"] > seen else ""
    spacing = f", {row['order']}" if row["condition"] == "whole video" else ""
    return f"{seen}{copies}{spacing}"


def _counted(row: Mapping[str, Any]) -> str:
    known = sorted({each for each in row["frames_seen"] if each is not None})
    return "..".join([*map(str, known), *(["N/A"] if None in row["frames_seen"] else [])])


def _sentence(text: str) -> str:
    text = text.partition(". ")[0].partition(" (")[0].replace("|", "\\|").replace("<", "\\<")
    text = text[0].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def write_page(data: Mapping[str, Any]) -> None:
    """Replace the table on the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    text = f"{before}{BEGIN}\n\n{table(data)}\n\n{END}{after}"
    for found in data["printed"]:
        # A block of the page begins with the first line that the command prints.
        said = printed(found)
        begin = re.escape(said.partition("\n")[0])
        text = re.sub(rf"(?ms)^```\n{begin}\n.*?^```$", lambda _: f"```\n{said}\n```", text)  # noqa: B023
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure the classes that are named, or all."""
    words = sys.argv[1:]
    out = Path(words[1]) if words[:1] == ["--out"] else None
    names = words[2:] if out else words
    known = ENTRIES if out else (*ENTRIES, *PRINTED)
    chosen = [each for each in known if not names or each.name in names]
    for each in [each for each in chosen if each.lacking]:
        chosen.remove(each)
        print(f"{each.name}: left out, {', '.join(each.lacking)} is missing", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="measure-") as folder:
        rows = []
        for entry, found in measure(chosen, Path(folder), quickly=out is not None):
            rows.append(found)
            if out:
                out.write_text(json.dumps(rows), encoding="utf-8")
            elif "error" not in found:
                save(entry, found)


def save(entry: Entry, found: Mapping[str, Any]) -> None:
    """Put what came of a probe into the data and on the page, in place of what was there."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    rows, said = data["rows"], data.get("printed", [])
    if entry.printed:
        said = [*(each for each in said if each["model"] != entry.model), found]
    else:
        own = row_of(entry, found)
        known = {(each["model"], each["form"]): each for each in [*rows, own]}
        rows = [each for key, each in known.items() if key[0] in _ORDER]
    data = {
        "lmms_eval": version("lmms-eval"),
        "transformers": version("transformers"),
        "rows": sorted(rows, key=lambda each: (_ORDER.index(each["model"]), each["form"])),
        "printed": said,
        "not_measured": NOT_MEASURED,
    }
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    write_page(data)


_ORDER = [each.model for each in ENTRIES]


if __name__ == "__main__":
    main()
