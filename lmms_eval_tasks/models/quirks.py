"""How frames are handed to each model class of the harness, and what a class cannot show.

The same frames can be handed over in three ways, and a class that reads one of them exactly may
crash on another, or silently show less. What is written here was measured with frames that name
themselves, in lmms-eval 0.7.3 (docs/running-models.md). A class gets the same form under all
conditions of a table, because another input is another result.

==========  =====================================================================
clip        the path of a video file
images      one PIL image per frame
frames      one video, given as a list of PIL images, with its rate
==========  =====================================================================

A user overrides it with ``frames_as`` in a YAML's ``lmms_eval_specific_kwargs``, or with the
environment variable :data:`VARIABLE`.

A class that takes the frames of a clip by their number gets the clip on the source's clock. One
that samples by time (one or two frames a second) would then lose frames, so it gets them one a
second: all frames are worth more than true times. ``clock`` in the same settings, or
:data:`CLOCK_VARIABLE`, overrides that.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from video_reasoning.preprocessing.conditions import CLOCKS, Clock
from video_reasoning.tasks.errors import UserError

__all__ = [
    "AHEAD_VARIABLE",
    "CLASSES",
    "CLOCK_VARIABLE",
    "DELIVERY",
    "FRAMES_AS",
    "VARIABLE",
    "WHOLE_FRAMES",
    "Form",
    "FramesAs",
    "ModelClass",
    "RatedFrames",
    "advice",
    "ahead_by_user",
    "built",
    "clock_by_user",
    "form_for",
    "form_of",
    "loaded",
    "named_by_user",
    "refusal",
    "untiled",
    "whole_frames",
]

FramesAs = Literal["clip", "images", "frames"]
FRAMES_AS: tuple[FramesAs, ...] = get_args(FramesAs)

VARIABLE = "VIDEO_REASONING_FRAMES_AS"
"""Names the form for every model and task of a run: ``clip``, ``images`` or ``frames``."""

CLOCK_VARIABLE = "VIDEO_REASONING_CLOCK"
"""Names the clock of every clip of a run: ``source`` or ``second``."""

AHEAD_VARIABLE = "VIDEO_REASONING_AHEAD"
"""How many clips to make ahead of the model; 0 for none."""

AHEAD = 32

WHOLE_FRAMES = 16
"""How many frames of a whole video are handed over if it is not a clip, at equal intervals; a YAML
can name another number as ``whole_frames``."""

DELIVERY: dict[str, Any]
"""``lmms_eval_specific_kwargs`` of our YAMLs, made again at each access."""


@dataclass(frozen=True)
class Form:
    """What one form (chat or simple) of a model class is handed.

    Attributes:
        frames_as: How the frames of a condition are handed over.
        whole_as: How a whole video is handed over.
        repeat: How often a clip contains each frame, for samplers that would skip some.
        clock: When a clip shows its frames.
        lowest_rate: Frames a second of a clip that it cannot read any more, nor any lower rate.
        by_rate: Whether it takes as many frames a second of a clip as the argument ``fps`` says.
        video: Whether it can be shown a video at all.
        blind: Whether it answers a question without any visual.
    """

    frames_as: FramesAs = "clip"
    whole_as: FramesAs = "clip"
    repeat: int = 1
    clock: Clock = "second"
    lowest_rate: float = 0.0
    by_rate: bool = False
    video: bool = True
    blind: bool = True


class RatedFrames(list[Any]):
    """The frames of a video, as PIL images, with their mean rate.

    Attributes:
        rate: Frames a second.
    """

    def __init__(self, frames: Iterable[Any], rate: float) -> None:
        """Keep the frames and their rate."""
        super().__init__(frames)
        self.rate = rate


_CLIP = Form()  # also of classes that are not known: they may sample by time
_BY_NUMBER = Form(clock="source")
_BY_RATE = Form(by_rate=True)
_FRAMES = Form("frames", clock="source")
_IMAGES = Form("images", clock="source")
_NONE = Form(video=False, blind=False)
_EVERY_FRAME = 100.0  # Frames a second: 16 frames of a video of 0.16 s have as many.
_MIDDLES = 3  # The middles of n equal parts of a clip: of n frames the last is lost, of 3n none.


@dataclass(frozen=True)
class ModelClass:
    """A model class of the harness.

    Attributes:
        names: Every name that ``--model`` takes for it.
        arguments: What makes it show 16 frames, for ``--model_args``.
        chat: Its chat form, which the harness takes if there is one.
        simple: Its other form, which ``--force_simple`` takes.
        instead: What to use for that which it cannot show.
        reader: A package without which it reads no video file.
        tiles: The argument that says into how many tiles it cuts a single image.
    """

    names: tuple[str, ...]
    arguments: str = ""
    chat: Form | None = None
    simple: Form | None = None
    instead: str = ""
    reader: str = ""
    tiles: str = ""

    def form(self, *, simple: bool) -> Form:
        """Return the form that the harness takes."""
        preferred, other = (self.simple, self.chat) if simple else (self.chat, self.simple)
        return preferred or other or _CLIP


_SERVED = "a server of your own (vLLM) with --model openai"

CLASSES = (
    # The simple forms of Qwen's classes take two frames a second first, but for qwen3_vl's.
    ModelClass(("qwen2_5_vl",), "max_num_frames=16", chat=_BY_NUMBER, simple=_CLIP),
    ModelClass(("qwen2_vl",), "max_num_frames=16", simple=_CLIP),
    # The chat forms of qwen3_vl and llava_onevision1_5 ask for an exact number of frames, which a
    # clip of fewer does not have.
    ModelClass(("qwen3_vl",), "max_num_frames=16", chat=_FRAMES, simple=_BY_NUMBER),
    # The same code, but it takes 2 frames a second of a file, or as many as `fps` says.
    ModelClass(("qwen3_5",), "max_num_frames=16,fps=100", chat=_FRAMES, simple=_BY_RATE),
    ModelClass(("llava_onevision1_5",), "max_num_frames=16", chat=_FRAMES, simple=_CLIP),
    # These send images in any case, and their chat forms ask for an exact number too.
    ModelClass(
        ("openai", "openai_compatible", "openai_compatible_chat"),
        "max_frames_num=16",
        chat=_IMAGES,
        simple=_IMAGES,
    ),
    ModelClass(
        ("async_openai", "async_openai_compatible", "async_openai_compatible_chat"),
        "nframes=16",
        chat=_IMAGES,
    ),
    ModelClass(("litellm", "litellm_chat", "litellm_compatible"), "max_frames_num=16", _IMAGES),
    ModelClass(("vllm",), "nframes=16,max_frame_num=16", chat=_IMAGES, simple=_IMAGES),
    # Refuses a clip with fewer frames than it asks for, and reads files with torchcodec only.
    ModelClass(
        ("internvl_hf",),
        "num_frames=16,max_patches=1",
        chat=replace(_IMAGES, whole_as="images"),
    ),
    # Chat: crashes on every video. Both: without a visual it crashes, or sends the previous
    # question's input again.
    ModelClass(
        ("llava_hf",),
        "max_frames_num=16",
        chat=replace(_IMAGES, whole_as="images", blind=False),
        simple=replace(_BY_NUMBER, blind=False),
        instead=_SERVED,
    ),
    ModelClass(("gemma3",), "max_num_frames=16", simple=_IMAGES),
    ModelClass(("gemma4",), "max_num_frames=16", simple=_BY_NUMBER, reader="torchcodec"),
    ModelClass(("llava_onevision",), "conv_template=qwen_1_5,max_frames_num=16", simple=_BY_NUMBER),
    # Opens the first visual without asking whether there is one. Takes one frame a second, or 16 by
    # their number with force_sample: see `form_of`.
    ModelClass(
        ("llava_vid",),
        "conv_template=qwen_1_5,max_frames_num=16,force_sample=True",
        simple=Form(blind=False),
        instead="llava_onevision",
    ),
    # modality=image, the default: reads no video file. modality=video: see `form_of`.
    ModelClass(
        ("internvl2",), simple=replace(_IMAGES, whole_as="images"), instead="modality=image"
    ),
    # Fewer images are cut into more tiles: a single frame would be another input than 16.
    ModelClass(
        ("internvl3", "internvl3_5"),
        simple=replace(_IMAGES, whole_as="images"),
        instead="modality=image",
        tiles="max_num",
    ),
    ModelClass(("huggingface",), chat=_NONE, instead=f"{_SERVED}, or its family's own class"),
    ModelClass(("video_llava",), simple=_NONE, instead="llava_vid or llava_onevision"),
    ModelClass(("minicpm_v",), simple=_NONE, instead=_SERVED),
)

_BY_NAME: Mapping[str, ModelClass] = {name: each for each in CLASSES for name in each.names}
_INTERNVL = ("internvl2", "internvl3", "internvl3_5")
_SENDS_TIMES = ("vllm", *(name for name in _BY_NAME if name.startswith("async_openai")))
"""Classes that write the time before each frame of a video if ``is_qwen3_vl=True`` is given."""
_BLIND_TO_VIDEO = ("llava", "llava_next")
"""``model_type`` of the checkpoints whose videos ``llava_hf`` drops without an error."""

_Name = TypeVar("_Name", bound=str)

_loaded: list[tuple[str, bool, str]] = []


def loaded(model: str, *, simple: bool) -> None:
    """Remember which model class the harness has loaded in this process, and in which form."""
    _loaded[:] = [(model, simple, "")]


def built(arguments: str) -> str:
    """Remember the arguments that the harness builds the loaded class with.

    Returns:
        What to tell the user about them, see :func:`advice`.
    """
    if not _loaded:
        return ""
    model, simple, _ = _loaded[0]
    _loaded[:] = [(model, simple, arguments)]
    return advice(model, arguments)


@contextmanager
def untiled(model: Any) -> Iterator[None]:
    """Let a model leave each frame in one piece, unless its arguments say into how many tiles.

    Args:
        model: The harness's model that is loaded.
    """
    name, _, arguments = _loaded[0] if _loaded else ("", True, "")
    tiles = _BY_NAME[name].tiles if name in _BY_NAME else ""
    if not tiles or tiles in _read(arguments) or not hasattr(model, tiles):
        yield
        return
    before = getattr(model, tiles)
    setattr(model, tiles, 1)
    try:
        yield
    finally:
        setattr(model, tiles, before)


def form_of(model: str, *, simple: bool = False, arguments: str = "") -> Form:
    """Return what a model class is handed; a clip of one frame a second if it is not known.

    Args:
        model: What ``--model`` says.
        simple: Whether ``--force_simple`` was given.
        arguments: What ``--model_args`` says.
    """
    given = _read(arguments)
    if model in _INTERNVL and given.get("modality") == "video":
        return replace(_BY_NUMBER, repeat=_MIDDLES, blind=False)
    found = _BY_NAME.get(model)
    form = found.form(simple=simple) if found else _CLIP
    if model == "llava_vid" and given.get("force_sample", "").lower() == "true":
        # It rounds the rate of every clip first, and divides by it.
        return replace(form, clock="source", lowest_rate=0.5)
    if form.frames_as == "clip" and "fps" in given:
        all_taken = (form.by_rate or form.clock == "source") and _takes_all(given["fps"])
        return replace(form, clock="source" if all_taken else "second")
    return form


def _takes_all(rate: str) -> bool:
    """Whether so many frames a second are more than any clip has, whatever its clock."""
    try:
        return float(rate) >= _EVERY_FRAME
    except ValueError:
        return False


def form_for(settings: Mapping[str, Any] | None) -> Form:
    """Return what the model at hand is handed.

    Args:
        settings: ``lmms_eval_specific_kwargs`` as the harness gives it to a task's functions. If
            they do not say it, the class that the harness has loaded does.

    Raises:
        UserError: A user named an unknown form.
    """
    settings = settings or {}
    model, simple, arguments = _loaded[0] if _loaded else ("", True, "")
    kinds = ("simple", "chat") if simple else ("chat", "simple")
    own = next((settings[kind] for kind in kinds if kind in settings), None)
    form = form_of(model, simple=simple, arguments=arguments)
    if model not in _BY_NAME and isinstance(own, Mapping):
        form = Form(**own)
    if named := named_by_user(settings):
        # The only classes that would skip frames of a clip are handed images otherwise.
        repeat = _MIDDLES if model in _INTERNVL else form.repeat
        clock = form.clock if named == "clip" else "source"
        form = Form(named, named, repeat, clock, form.lowest_rate)
    if clock_named := clock_by_user(settings):
        form = replace(form, clock=clock_named, lowest_rate=0.0)
    return form


def named_by_user(settings: Mapping[str, Any] | None = None) -> FramesAs | None:
    """Return the form that a user asks for, if one does.

    Raises:
        UserError: It is not one of :data:`FRAMES_AS`.
    """
    return _named("frames_as", settings, VARIABLE, FRAMES_AS)


def clock_by_user(settings: Mapping[str, Any] | None = None) -> Clock | None:
    """Return the clock that a user asks for, if one does.

    Raises:
        UserError: It is neither ``source`` nor ``second``.
    """
    return _named("clock", settings, CLOCK_VARIABLE, CLOCKS)


def ahead_by_user() -> int:
    """Return how many clips to make ahead of the model.

    Raises:
        UserError: The environment variable is not a number.
    """
    text = os.environ.get(AHEAD_VARIABLE, "").strip() or str(AHEAD)
    if not text.isdecimal():
        raise UserError(
            f"{AHEAD_VARIABLE} is {text!r}; it has to be how many clips to make ahead of the "
            "model, 0 for none."
        )
    return int(text)


def _named(
    key: str, settings: Mapping[str, Any] | None, variable: str, known: tuple[_Name, ...]
) -> _Name | None:
    """Return what a YAML or, otherwise, the environment names."""
    named = (settings or {}).get(key) or os.environ.get(variable)
    if named and named not in known:
        raise UserError(f"{key} is {named!r}; it has to be one of {', '.join(known)}.")
    return named or None


def whole_frames(settings: Mapping[str, Any] | None) -> int:
    """Return how many frames of a whole video are handed over if it is not a clip."""
    return int((settings or {}).get("whole_frames") or WHOLE_FRAMES)


def refusal(
    model: str,
    *,
    simple: bool = False,
    arguments: str = "",
    video: bool = True,
    blind: bool = False,
) -> str:
    """Say in one sentence why a class cannot be given a task, or return the empty text.

    Args:
        model: What ``--model`` says.
        simple: Whether ``--force_simple`` was given.
        arguments: What ``--model_args`` says.
        video: Whether a task shows videos.
        blind: Whether a task asks questions without a video.
    """
    form, found = form_of(model, simple=simple, arguments=arguments), _BY_NAME.get(model)
    instead = found.instead if found else ""
    if video and not form.video:
        return f"{model} cannot be shown a video by lmms-eval 0.7.3; use {instead}."
    as_clip = (named_by_user() or form.frames_as) == "clip"
    if video and as_clip and found and found.reader and not find_spec(found.reader):
        return (
            f"{model} reads videos with {found.reader}, which is not installed; run `pip install "
            f"{found.reader}`, or set {VARIABLE}=images."
        )
    if (video and as_clip and model == "llava_hf") and (
        kind := _checkpoint_type(arguments)
    ) in _BLIND_TO_VIDEO:
        return (
            f"llava_hf drops every video without an error if the checkpoint is of the type "
            f"{kind}; leave out --force_simple and {VARIABLE}, so that it gets images."
        )
    if blind and not form.blind:
        return (
            f"{model} cannot ask a question without a video in lmms-eval 0.7.3 (it crashes, or "
            f"shows the previous question's frames); use {instead} for the blind tasks."
        )
    return ""


def advice(model: str, arguments: str = "") -> str:
    """Return one sentence on what a model is not told without a further argument, or nothing.

    Args:
        model: What ``--model`` says.
        arguments: What ``--model_args`` says.
    """
    given = _read(arguments)
    if model not in _SENDS_TIMES or given.get("is_qwen3_vl", "").lower() == "true":
        return ""
    name = given.get("model") or given.get("model_version") or ""
    if not re.search(r"qwen[-_.]?3", name, re.IGNORECASE):
        return ""
    return (
        f"{model} sends the frames of whole videos to {name} without their times, which a Qwen3 "
        "model is trained with; add is_qwen3_vl=True to --model_args if it takes them."
    )


def _read(arguments: str) -> dict[str, str]:
    """Return the arguments of ``--model_args``."""
    parts = (part.partition("=") for part in arguments.split(","))
    return {name.strip(): value.strip() for name, _, value in parts}


def _checkpoint_type(arguments: str) -> str:
    """Return ``model_type`` of a checkpoint in a folder or in the Hub's cache, if it is there."""
    name = _read(arguments).get("pretrained") or "llava-hf/llava-1.5-7b-hf"
    path: Any = Path(name) / "config.json"
    if not path.is_file():
        try:
            from huggingface_hub import try_to_load_from_cache

            path = try_to_load_from_cache(name, "config.json")
        except (ImportError, ValueError):
            return ""
    try:
        return str(json.loads(Path(path).read_text(encoding="utf-8")).get("model_type", ""))
    except (OSError, ValueError, TypeError, AttributeError):
        return ""


def _delivery() -> dict[str, Any]:
    """Return each class's forms under each of its names, in what differs from a plain clip.

    The harness takes the entry whose name is literally what ``--model`` says instead of
    ``default``.
    """
    entries: dict[str, Any] = {"default": {}}
    for each in CLASSES:
        entry = {
            kind: {key: value for key, value in asdict(form).items() if value != plain[key]}
            for kind, form in (("chat", each.chat), ("simple", each.simple))
            if form is not None
            for plain in (asdict(_CLIP),)
        }
        entries |= {name: dict(entry) for name in each.names}
    return entries


def __getattr__(name: str) -> Any:
    if name == "DELIVERY":
        return _delivery()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
