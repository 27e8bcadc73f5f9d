"""The command `lmms_eval`, which also writes what Qwen3-VL is told, a prompt a line, to TOLD."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from video_reasoning.tasks import launcher


def main() -> int:
    """Reads the prompts off the processor, which puts the times in."""
    from transformers import Qwen3VLProcessor

    call = Qwen3VLProcessor.__call__

    def told(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = call(self, *args, **kwargs)
        with Path(os.environ["TOLD"]).open("a", encoding="utf-8") as file:
            text = self.tokenizer.decode(made["input_ids"][0])
            file.write(text.replace("\n", " ") + "\n")
        return made

    Qwen3VLProcessor.__call__ = told
    return launcher.main()
