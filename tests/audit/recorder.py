"""A model that writes down what it was shown, and the process in which audits run with it.

``python -m tests.audit.recorder FOLDER COMMANDS.json`` runs several commands one after another
in one process (the harness takes ten seconds to start): each is a list of words, the first
``audit`` or ``evaluate``. What the model was asked goes to ``FOLDER/asked.jsonl``, each decode of
a source to ``FOLDER/decodes.jsonl``, the exit codes to ``FOLDER/codes.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lmms_eval.models import MODEL_REGISTRY_V2
from lmms_eval.models.registry_v2 import ModelManifest

from tests.audit.recorder_frames import numbers_of
from tests.preprocessing.conftest import read_number
from tests.reliability import quick_yaml
from video_reasoning.preprocessing.frames import NumberedFrames
from video_reasoning.tasks import launcher
from video_reasoning.tasks.models.base import Query, WeightlessModel

FOLDER = Path(os.environ.get("RECORDER_FOLDER", "."))

_lock = threading.Lock()


def write(name: str, entry: Mapping[str, Any]) -> None:
    """Adds a line to one of the folder's files."""
    with _lock, (FOLDER / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def seen(visual: Any) -> dict[str, Any]:
    """What a visual shows, frame by frame."""
    if isinstance(visual, Mapping):
        inner = visual.get("path") or visual.get("url")
        return {**seen(inner), "times": [visual.get("video_start"), visual.get("video_end")]}
    if isinstance(visual, str):
        if visual.lower().endswith((".jpg", ".png")):
            return {"kind": "image file", "path": visual}
        try:
            return {"kind": "video", "path": visual, "frames": numbers_of(visual)}
        except Exception as error:
            return {"kind": "video", "path": visual, "error": repr(error)}
    if isinstance(visual, np.ndarray):
        grey = visual.mean(axis=-1) if visual.shape[-1] == 3 else visual
        return {"kind": "array", "frames": [read_number(frame) for frame in grey]}
    return {"kind": "image", "frames": [read_number(np.asarray(visual.convert("L")))]}


def respond_to(prompt: str, shown: Sequence[Mapping[str, Any]]) -> str:
    """An answer that depends on the prompt and on the frames seen, and on nothing else."""
    frames = [entry.get("frames", []) for entry in shown]
    drawn = hashlib.blake2b(json.dumps([prompt, frames]).encode(), digest_size=4).digest()
    number = int.from_bytes(drawn, "big")
    if "short phrase" in prompt:
        return ("the red cup", "the green cup", "a dog")[number % 3]
    if "yes or no" in prompt:
        return ("yes", "no")[number % 2]
    if "single word or phrase" in prompt and "Options" not in prompt:
        return ("2", "3", "4")[number % 3]
    return ("A", "B")[number % 2]


class Recorder(WeightlessModel):
    """Writes down what it is shown, and answers something that depends on it."""

    def respond(self, query: Query) -> str:
        shown = [seen(visual) for visual in query.visuals]
        text = respond_to(query.prompt, shown)
        write(
            "asked.jsonl",
            {
                "task": query.task,
                "doc_id": query.doc_id,
                "prompt": query.prompt,
                "shown": shown,
                "said": text,
                "repeat": query.repeat,
                "chat": not self.is_simple,
            },
        )
        return text

    def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
        found = []
        for request in requests:
            context, continuation, to_visual, doc_id, task, split = request.args
            shown = [seen(visual) for visual in to_visual(self.task_dict[task][split][doc_id])]
            said = respond_to(f"{context}{continuation}", shown)
            write(
                "asked.jsonl",
                {
                    "task": task,
                    "doc_id": doc_id,
                    "prompt": context,
                    "shown": shown,
                    "said": said,
                    "continuation": continuation,
                    "chat": False,
                },
            )
            digest = hashlib.blake2b(f"{context}{continuation}{shown}".encode(), digest_size=4)
            found.append((int.from_bytes(digest.digest(), "big") / 2**32, False))
        return found


class RecorderChat(Recorder):
    """The same for chat requests."""

    is_simple = False


def _watch_decodes() -> None:
    """Write down each decode of a source while tasks run; the report reads videos after that."""
    read, main = NumberedFrames.read, launcher.main
    running: list[bool] = []

    def watched(self: Any, choose: Any, make: Any) -> Any:
        numbers = sorted(choose(self.n_frames))
        if running:
            write("decodes.jsonl", {"source": str(self.path), "frames": numbers})
        return read(self, choose, make)

    def run(*arguments: Any) -> Any:
        running.append(True)
        try:
            return main(*arguments)
        finally:
            running.clear()

    NumberedFrames.read = watched  # type: ignore[method-assign]
    launcher.main = run


def _run(words: list[str]) -> int:
    from video_reasoning.tasks import launcher
    from video_reasoning.tasks.cli.main import main as command

    kind, *arguments = words
    if kind == "evaluate":
        return launcher.main(arguments)
    sys.argv = ["video-reasoning", *words]
    try:
        command()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def main() -> None:
    """Runs the commands."""
    quick_yaml.install()
    MODEL_REGISTRY_V2.register_manifest(
        ModelManifest(
            model_id="recorder",
            simple_class_path=f"{__name__}.Recorder"
            if __name__ != "__main__"
            else "tests.audit.recorder.Recorder",
        )
    )
    MODEL_REGISTRY_V2.register_manifest(
        ModelManifest(model_id="recorder_chat", chat_class_path="tests.audit.recorder.RecorderChat")
    )
    _watch_decodes()
    codes = []
    for words in json.loads(Path(sys.argv[1]).read_text()):
        try:
            codes.append(_run(words))
        except BaseException:
            traceback.print_exc()
            codes.append(99)
        (FOLDER / "codes.json").write_text(json.dumps(codes))


if __name__ == "__main__":
    main()
