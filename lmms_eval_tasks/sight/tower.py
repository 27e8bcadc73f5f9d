"""What enters a local model: the arguments of ``generate``, and the first layer of its vision part.

Private to other packages and used here only: ``GenerationMixin.generate`` of transformers, the
names and layouts of its pixel arguments, and how patch embeddings are built.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from video_reasoning.tasks.sight.clips import GRID
from video_reasoning.tasks.sight.seen import LEDGER, Picture, Span, guarded, replace_once

AT_ONCE = 1 << 26
"""Values that are digested at once."""
SCANS = 3
"""How often a process looks for vision towers."""

_PIXELS = ("pixel_values", "pixel_values_videos", "pixel_values_images", "images", "video_values")
_TILED_PICTURES = frozenset({"llava_next", "llava_next_video", "llava_onevision"})
_TILED_ROWS = frozenset({"internvl"})
_HARMLESS = ("attention_mask", "input_features", "audio", "position", "cache", "sizes")


class _State:
    scans = 0
    towers = 0
    fired = False


def install() -> None:
    """Watch every model that is loaded. Costs nothing once it is done."""
    generation = sys.modules.get("transformers.generation.utils")
    if generation is not None:
        replace_once(generation.GenerationMixin, "generate", _generate)
    if not _State.scans and "torch" in sys.modules:
        _hook_towers()


# generate


@guarded
def _generate(model: Any, *args: Any, **kwargs: Any) -> None:
    span = LEDGER.current()
    if span is None:
        return
    given = {name: kwargs[name] for name in _PIXELS if kwargs.get(name) is not None}
    if given:
        groups = [_groups(name, value, model, kwargs) for name, value in given.items()]
        readable = [group for group in groups if group is not None]
        whole = len(readable) == len(groups)
        found = [picture for group in readable for picture in _pictures(group, span.detailed)]
        span.observe(found if whole else None, "generate")
    elif kwargs.get("inputs_embeds") is not None:
        # What was seen went in before; the vision tower has told.
        if not _State.towers:
            _hook_towers()
        elif _State.fired:
            span.observe([], span.how or "tower")
    else:
        span.observe(None if _foreign(kwargs) else [], "generate")


def _foreign(kwargs: Mapping[str, Any]) -> bool:
    """Whether pictures may be among the arguments under another name."""
    return any(
        getattr(value, "ndim", 0) >= 3 and not any(part in name for part in _HARMLESS)
        for name, value in kwargs.items()
    )


def _groups(name: str, value: Any, model: Any, kwargs: Mapping[str, Any]) -> list[Any] | None:
    """Return what one pixel argument holds, in order.

    Returns:
        Tensors of (n, values) or (n, colors, height, width), one row per picture, or None if
        the layout is not known.
    """
    if isinstance(value, (list, tuple)):
        parts = [_groups(name, each, model, kwargs) for each in value]
        known = [part for part in parts if part is not None]
        return [tensor for part in known for tensor in part] if len(known) == len(parts) else None
    kind = getattr(getattr(model, "config", None), "model_type", "")
    grid = kwargs.get("image_grid_thw" if name == "pixel_values" else "video_grid_thw")
    if value.ndim == 2:
        frames = None if grid is None else _patched(value, grid.tolist(), model)
        # A single picture fills all frames of its patches.
        still = frames is not None and name == "pixel_values"
        return [each[:1] for each in frames] if still and frames else frames
    if value.ndim == 3:
        return [value[None] if value.shape[0] == 3 else value]
    if value.ndim == 4:
        return _rows(value, kind, model, kwargs)
    if value.ndim == 5 and kind in _TILED_PICTURES and name == "pixel_values":
        return [value.flatten(1)]
    if value.ndim == 5 and name != "pixel_values":
        frames = value if value.shape[2] == 3 else value.transpose(1, 2)
        return [frames.flatten(0, 1)]
    return None


def _patched(rows: Any, grid: Sequence[Sequence[int]], model: Any) -> list[Any] | None:
    """Return the frames of Qwen's layout: rows of patches, two frames in each.

    Args:
        rows: Shape (patches, colors * frames * height * width of a patch).
        grid: Patches in time, down and across, for each picture or video.
        model: Its configuration has the frames of a patch and the patches that are merged.
    """
    vision = getattr(model.config, "vision_config", None)
    depth = getattr(vision, "temporal_patch_size", 2)
    merge = getattr(vision, "spatial_merge_size", 2)
    if sum(t * h * w for t, h, w in grid) != len(rows) or rows.shape[1] % (3 * depth):
        return None
    found, start = [], 0
    for t, h, w in grid:
        part = rows[start : start + t * h * w]
        start += t * h * w
        if h % merge or w % merge:
            return None
        split = part.reshape(t, h // merge, w // merge, merge, merge, 3, depth, -1)
        # (time, frame in patch, color, down, across, pixels of a patch)
        found.append(split.permute(0, 6, 5, 1, 3, 2, 4, 7).reshape(t * depth, 3, h, -1))
    return found


def _rows(value: Any, kind: str, model: Any, kwargs: Mapping[str, Any]) -> list[Any] | None:
    """Return the pictures of (n, colors, height, width), whose rows may be tiles of pictures."""
    if kind not in _TILED_ROWS or len(value) == 1:
        return [value]
    tokens = kwargs.get("input_ids")
    marks = {getattr(model.config, name, None) for name in ("image_token_id", "video_token_id")} - {
        None
    }
    runs = [] if tokens is None or len(tokens) != 1 else list(_runs(tokens[0].tolist(), marks))
    if not runs or sum(runs) % len(value):
        return None
    each = sum(runs) // len(value)
    if any(run % each for run in runs):
        return None
    found, start = [], 0
    for run in runs:
        tiles = value[start : start + run // each]
        start += len(tiles)
        # The last tile is the whole picture made small.
        found.append(tiles.flatten()[None] if len(tiles) > 1 else tiles)
    return found


def _runs(tokens: Sequence[int], marks: set[Any]) -> Iterator[int]:
    """Yield the lengths of the runs of marks."""
    length = 0
    for token in (*tokens, None):
        if token in marks:
            length += 1
        elif length:
            yield length
            length = 0


# Pictures


def _pictures(groups: Sequence[Any], detailed: bool) -> list[Picture]:
    """Return a digest of each picture, and its cells if its order is checked."""
    import torch

    if not groups:
        return []
    digests = torch.cat([_digests(group) for group in groups]).tolist()
    cells = [row for group in groups for row in (_cells(group) if detailed else [()] * len(group))]
    return [Picture(digest, tuple(row)) for digest, row in zip(digests, cells, strict=True)]


def _digests(pictures: Any) -> Any:
    """Return one integer per row: a sum of all its bits, weighed at random, modulo 2^64."""
    import torch

    flat = pictures.detach().reshape(len(pictures), -1)
    size = max(1, AT_ONCE // max(1, flat.shape[1]))
    found = []
    for start in range(0, len(flat), size):
        part = flat[start : start + size].contiguous()
        words = 8 // part.element_size()
        if part.shape[1] % words:
            part = torch.nn.functional.pad(part, (0, -part.shape[1] % words))
        if part.storage_offset() % words:
            part = part.clone()
        bits = part.view(torch.int64)
        mixed = (bits ^ (bits >> 29)) * _weights(bits.shape[1], str(bits.device))
        found.append(mixed.sum(1))
    return torch.cat(found)


@lru_cache(maxsize=4)
def _weights(size: int, device: str) -> Any:
    """Return odd 64-bit weights, the same in every process."""
    import torch

    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(-(1 << 62), 1 << 62, (size,), generator=generator)
    return (drawn * 2 + 1).to(device)


def _cells(pictures: Any) -> list[list[float]]:
    """Return the mean of each color in 4x4 parts of each picture; empty if it is not laid out."""
    import torch

    if pictures.ndim != 4 or pictures.shape[1] != 3 or min(pictures.shape[2:]) < GRID:
        return [[]] * len(pictures)
    pooled = torch.nn.functional.adaptive_avg_pool2d(pictures.detach().float(), GRID)
    rows: list[list[float]] = pooled.flatten(1).tolist()
    return rows


# Vision towers


@guarded
def _hook_towers() -> None:
    """Put a hook on the first layer of every vision tower that is loaded.

    It is found once, among all modules of the process; only it is hooked, so that nothing else
    of a forward pass costs anything.
    """
    if _State.scans >= SCANS:
        return
    _State.scans += 1
    import torch

    for each in gc.get_objects():
        kind = type(each)
        if not issubclass(kind, torch.nn.Module) or "_modules" not in each.__dict__:
            continue
        for name, layer in each._modules.items():
            if _is_first(layer, name, kind.__name__) and not hasattr(layer, "_sight"):
                layer._sight = True
                layer.register_forward_pre_hook(_entering)
                _State.towers += 1


def _is_first(layer: Any, name: str, owner: str) -> bool:
    """Whether a layer makes features of pixels: three input channels, or patches of them."""
    import torch

    if isinstance(layer, (torch.nn.Conv2d, torch.nn.Conv3d)):
        return bool(layer.in_channels == 3)
    if not isinstance(layer, torch.nn.Linear):
        return False
    named = any(part in f"{owner}.{name}".lower() for part in ("patch", "unfold"))
    sides = {3 * depth * side * side for side in range(4, 65) for depth in (1, 2)}
    return named and layer.in_features in sides


@guarded
def _entering(layer: Any, args: tuple[Any, ...]) -> None:
    """Note what enters a vision tower."""
    _State.fired = True
    span = LEDGER.current()
    if span is None or (span.how == "generate" and span.pictures):
        return
    span.observe(_entered(layer, args[0], span), "tower")


def _entered(layer: Any, given: Any, span: Span) -> list[Picture] | None:
    """Return the pictures that enter a layer; None if they come as patches."""
    import torch

    if isinstance(layer, torch.nn.Linear):
        return _pictures([given], span.detailed) if given.ndim == 3 else None
    if given.shape[-1] <= layer.kernel_size[-1]:
        return None
    if given.ndim == 5:
        given = given.transpose(1, 2).flatten(0, 1)
    return _pictures([given if given.ndim == 4 else given[None]], span.detailed)
