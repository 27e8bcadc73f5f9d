"""Which model classes were measured, by the project or by a user's probe.

The project's measurements are in :data:`MEASURED`, written by ``tests/sight/measure.py``. A user's
are in ``sight.json`` beside the store's benchmarks. Light to import: the launcher asks it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from video_reasoning.preprocessing.files import atomic_path
from video_reasoning.tasks import store
from video_reasoning.tasks.models import quirks
from video_reasoning.tasks.models.manifests import CLASSES

MEASURED = "measured.json"
"""The file of the project's measurements, beside this module."""
REMEMBERED = "sight.json"
"""The file of a user's probes, in the store."""


@lru_cache(maxsize=1)
def measured() -> list[dict[str, Any]]:
    """Return the rows of the measured table."""
    text = files("video_reasoning.tasks.models").joinpath(MEASURED).read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)["rows"]
    return found


def remembered() -> dict[str, Any]:
    """Return the user's probes by model and form; nothing if there are none."""
    try:
        found = json.loads((store.home() / REMEMBERED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remember(
    model: str, form: str, exact: bool, versions: Mapping[str, str], *, forced: bool = False
) -> Path | None:
    """Note that a model was probed; the arguments, which may hold a key, are not kept.

    Args:
        model: What ``--model`` said.
        form: The form of its class that the harness took: chat or simple.
        exact: Whether everything arrived as it was shown.
        versions: Of what it was probed with.
        forced: Whether ``--force_simple`` was given.

    Returns:
        The file, or None if the store cannot be written to.
    """
    path = store.home() / REMEMBERED
    entry = {"model": model, "form": form, "forced": forced, "exact": exact, **versions}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(path) as temporary:
            probed = {**remembered(), f"{model} ({form})": entry}
            temporary.write_text(json.dumps(probed, indent=1) + "\n", encoding="utf-8")
    except OSError:
        return None
    return path


def unprobed(model: str, *, simple: bool) -> str:
    """Say in a sentence that nobody knows what a model class sees, or return the empty text.

    Args:
        model: What ``--model`` says.
        simple: Whether ``--force_simple`` was given.
    """
    if not model or model in CLASSES or _is_known(model, simple):
        return ""
    flag = " --force_simple" if simple else ""
    return (
        f"which frames reach {model}{flag} was never measured; run `video-reasoning sight --model "
        f"{model}{flag} --model_args ...` with the same arguments to see it."
    )


def _is_known(model: str, simple: bool) -> bool:
    """Tell whether the form of a class that the harness takes was measured."""
    known = next((each for each in quirks.CLASSES if model in each.names), None)
    names = known.names if known else (model,)
    own = [each for each in remembered().values() if each.get("model") in names]
    if known is not None:
        taken = "chat" if known.chat and not (simple and known.simple) else "simple"
        own += [row for row in measured() if row["model"] in names]
        return any(each.get("form") == taken for each in own)
    # Of another class only a probe says which forms it has. The same flag takes the same form;
    # without it a chat form is preferred, and with it a simple one.
    preferred = "simple" if simple else "chat"
    return any(each.get("forced") is simple or each.get("form") == preferred for each in own)
