"""Faults of the harness that silently change what a model sees, worked around.

They are applied when the harness loads our models, which every run does, also a plain
``lmms-eval --include_path``. A private interface that has changed is reported in one sentence and
left alone. docs/upstream.md has the report of each fault, and says which test shows that its
workaround is no longer needed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from loguru import logger

from video_reasoning.tasks.models import quirks, resuming

__all__ = ["SEEN_IN", "apply"]

SEEN_IN = "0.7.3"
"""The newest version of lmms-eval in which every fault was seen."""

_ORIGINAL = "video_reasoning_original"
"""Attribute of a replaced function: what the harness itself has."""


def apply() -> list[str]:
    """Apply every workaround once; later calls change nothing.

    Returns:
        A sentence for each that could not be applied.
    """
    problems = [problem for fix in _FIXES if (problem := fix())]
    for problem in problems:
        logger.warning(problem)
    return problems


def _fresh_pictures() -> str:
    """Encode every PIL image of a chat message by itself.

    ``ChatMessages.encode_image`` keeps encoded images under ``id(image)``. The frames of a video
    die one by one while a message is built, Python uses their ids again, and an earlier frame's
    bytes are sent in place of a later one's. Files, whose keys are paths, stay cached.
    """
    sends = "frames of a video may be sent twice in place of others (openai, async_openai, vllm)"

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def encode_image(self: Any, image: Any, cache: Any = None, *rest: Any, **more: Any) -> Any:
            kept = cache if isinstance(image, str) else None
            return original(self, image, kept, *rest, **more)

        return encode_image

    known = ["self", "image", "cache"]
    return _replace("lmms_eval.protocol", "ChatMessages", "encode_image", known, replacement, sends)


def _note_form() -> str:
    """Remember which form of a model is loaded: a task's functions are not told."""
    loses = "qwen3_vl, llava_onevision1_5 and llava_hf are handed clips, as with --force_simple"

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def get_model_class(self: Any, model_name: str, *rest: Any, **more: Any) -> Any:
            found = original(self, model_name, *rest, **more)
            quirks.loaded(model_name, simple=bool(getattr(found, "is_simple", True)))
            # The registry is filled while the evaluator is being imported; now it is there.
            if problem := resuming.install():
                logger.warning(problem)
            return resuming.class_of(found)

        return get_model_class

    module, known = "lmms_eval.models.registry_v2", ["self", "model_name"]
    return _replace(module, "ModelRegistryV2", "get_model_class", known, replacement, loses)


def _note_arguments() -> str:
    """Remember the arguments of the model that is loaded: a task's functions are not told."""
    loses = "llava_vid gets clips of one frame a second, and internvl3 images"

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def create_from_arg_string(cls: Any, arg_string: str, *rest: Any, **more: Any) -> Any:
            if sentence := quirks.built(str(arg_string)):
                logger.warning(sentence)
            return original(cls, arg_string, *rest, **more)

        return create_from_arg_string

    known = ["cls", "arg_string"]
    return _replace(
        "lmms_eval.api.model", "lmms", "create_from_arg_string", known, replacement, loses
    )


def _tell_rate() -> str:
    """Give the rate of a list of frames to the reader of videos, which takes 2 a second for it.

    ``ChatVideoContent`` has no field for it, so the list itself carries it. Local models read the
    messages of ``to_hf_messages``; those that send images call ``fetch_video`` themselves.
    """
    loses = "qwen3_vl takes 16 frames for 8 seconds of video"
    if not find_spec("qwen_vl_utils"):
        return ""

    def rated(part: dict[str, Any]) -> dict[str, Any]:
        video = part.get("video")
        if not isinstance(video, quirks.RatedFrames):
            return part
        return {"sample_fps": video.rate, **part}

    def local(original: Callable[..., Any]) -> Callable[..., Any]:
        def to_hf_messages(self: Any, *rest: Any, **more: Any) -> Any:
            messages = original(self, *rest, **more)
            return [{**each, "content": [*map(rated, each["content"])]} for each in messages]

        return to_hf_messages

    def sent(original: Callable[..., Any]) -> Callable[..., Any]:
        def fetch_video(ele: dict[str, Any], *rest: Any, **more: Any) -> Any:
            return original(rated(ele), *rest, **more)

        return fetch_video

    module, known = "lmms_eval.protocol", ["self", "video_kwargs"]
    return _replace(module, "ChatMessages", "to_hf_messages", known, local, loses) or (
        _replace(module, "", "fetch_video", ["ele"], sent, loses)
    )


def _as_many_as_there_are() -> str:
    """Let the reader of videos take all frames of a video that has fewer than are asked for.

    ``qwen-vl-utils`` refuses such a video, and then falls back to a reader that torchvision does
    not have any more. Only the chat form of ``qwen2_5_vl`` looks at the video first.
    """
    loses = "chat forms crash on a video that has fewer frames than they ask for"
    if not find_spec("qwen_vl_utils"):
        return ""

    def replacement(original: Callable[..., Any]) -> Callable[..., Any]:
        def smart_nframes(ele: dict[str, Any], total_frames: int, *rest: Any, **more: Any) -> Any:
            if (ele.get("nframes") or 0) >= total_frames >= 2:
                ele = {**ele, "nframes": total_frames // 2 * 2}  # it takes even numbers only
            return original(ele, total_frames, *rest, **more)

        return smart_nframes

    module, known = "qwen_vl_utils.vision_process", ["ele", "total_frames"]
    return _replace(module, "", "smart_nframes", known, replacement, loses)


_FIXES = (_fresh_pictures, _note_form, _note_arguments, _tell_rate, _as_many_as_there_are)


def _replace(
    module: str,
    owner: str,
    name: str,
    known: list[str],
    replacement: Callable[[Callable[..., Any]], Callable[..., Any]],
    otherwise: str,
) -> str:
    """Replace another package's method or function once, if it still takes the known parameters.

    Returns:
        Why it was not replaced, in a sentence, or the empty text.
    """
    try:
        found = import_module(module)
        found = getattr(found, owner) if owner else found
        declared = inspect.getattr_static(found, name)
        original = getattr(declared, "__func__", declared)  # of a class method
        parameters = list(inspect.signature(original).parameters)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        reason = str(error)
    else:
        if hasattr(original, _ORIGINAL):
            return ""
        if parameters[: len(known)] == known:
            replaced = functools.wraps(original)(replacement(original))
            setattr(replaced, _ORIGINAL, original)
            of_class = isinstance(declared, classmethod)
            setattr(found, name, classmethod(replaced) if of_class else replaced)
            return ""
        reason = f"its parameters are {', '.join(parameters)}"
    return (
        f"The installed {owner or module}.{name} is not the one that lmms-eval {SEEN_IN} was "
        f"tried with ({reason}), so it is left as it is: {otherwise}."
    )
