"""What the harness is told about our models (entry point group ``lmms_eval.models``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

__all__ = ["CLASSES", "manifests"]

CLASSES = {
    "sample_observer": "video_reasoning.tasks.sample.observer.model.SampleObserver",
    "random_choice": "video_reasoning.tasks.models.baselines.RandomChoice",
    "frequent_choice": "video_reasoning.tasks.models.baselines.FrequentChoice",
}
"""``--model`` -> its class; the chat form has ``Chat`` behind the name."""


def manifests() -> list[ModelManifest]:
    """Announce the models to the harness (entry point group ``lmms_eval.models``).

    Every run of the harness calls this, so that its faults are worked around here.

    Returns:
        One manifest per model, each with a simple and a chat class; the classes
        themselves are imported only when the harness asks for one by name.
    """
    from lmms_eval.models.registry_v2 import ModelManifest

    from video_reasoning.tasks.models import workarounds  # heavy, and names are asked for earlier

    workarounds.apply()
    return [
        ModelManifest(
            model_id=name,
            simple_class_path=path,
            chat_class_path=f"{path}Chat",
        )
        for name, path in CLASSES.items()
    ]
