"""Writing an audit's files, and saying what is wrong with one that is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks.errors import cause


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, content: Any) -> None:
    """Write a file of JSON as a whole."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def reason(error: Exception) -> str:
    """Describe what is wrong with a file, on one line."""
    if not isinstance(error, ValidationError):
        return cause(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])
