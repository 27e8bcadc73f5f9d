"""Names of the harness's model classes, read without importing it, which takes ten seconds."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

from video_reasoning.tasks.errors import did_you_mean
from video_reasoning.tasks.models.manifests import CLASSES
from video_reasoning.tasks.registry import harness_folder

__all__ = ["unknown_model"]

_ENTRY_POINTS = "lmms_eval.models"
_OURS = "video_reasoning."


def unknown_model(name: str) -> str:
    """Say in one sentence that the harness has no such model, with the nearest names.

    Args:
        name: What ``--model`` says.

    Returns:
        The sentence; empty if there is such a model, or if that cannot be read from files because
        another plugin may bring it.
    """
    if imported := sys.modules.get("lmms_eval.models"):
        # Whoever has imported the harness may have registered models of their own.
        listed = getattr(imported, "list_available_models", None)
        names = listed(include_aliases=True) if listed else []
    else:
        names = _installed()
    if not names or name in names:
        return ""
    return f"The harness has no model {name}{did_you_mean(name, names)}"


def _installed() -> list[str]:
    """Return the names of the harness's models and ours; none if another plugin may bring more."""
    plugins = entry_points(group=_ENTRY_POINTS)
    harness = harness_folder()
    others = not all(plugin.value.startswith(_OURS) for plugin in plugins)
    if harness is None or others or os.environ.get("LMMS_EVAL_PLUGINS"):
        return []
    theirs = {*_names(harness / "models" / "__init__.py")}
    return sorted(theirs | {*CLASSES}) if theirs else []


def _names(source: Path) -> Iterator[str]:
    """Yield the ids of a module's dictionaries of models, and their aliases."""
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            aliases = (each for value in node.values for each in getattr(value, "elts", ()))
            for text in (*node.keys, *aliases):
                if isinstance(text, ast.Constant) and isinstance(text.value, str):
                    yield text.value
