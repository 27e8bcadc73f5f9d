"""What enters a local model: the arguments of ``generate``, and the first layer of its vision part.

Private to other packages and used here only: ``GenerationMixin.generate`` of transformers, the
names and layouts of its pixel arguments, and how patch embeddings are built.
"""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from video_reasoning.tasks.sight import caught
from video_reasoning.tasks.sight.clips import GRID
from video_reasoning.tasks.sight.seen import Picture, Span, guarded, replace_once

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


@dataclass(frozen=True)
class _Group:
    """Pictures that came together.

    Attributes:
        rows: Shape (n, values) or (n, colors, height, width): all that there is of each picture.
        whole: Each picture as a whole, shape (n, colors, height, width), if ``rows`` is not that.
    """

    rows: Any
    whole: Any = None

    @property
    def look(self) -> Any:
        return self.rows if self.whole is None else self.whole


def install() -> None:
    """Watch every model that is loaded. Costs nothing once it is done."""
    generation = sys.modules.get("transformers.generation.utils")
    if generation is not None:
        replace_once(generation.GenerationMixin, "generate", _generate)
        caught.watch_texts()
    if not _State.scans and "torch" in sys.modules:
        _hook_towers()


# generate


@guarded
def _generate(model: Any, *args: Any, **kwargs: Any) -> None:
    span = caught.asking()
    if span is None:
        return
    given = {name: kwargs[name] for name in _PIXELS if kwargs.get(name) is not None}
    if given:
        groups = [_groups(name, value, model, kwargs) for name, value in given.items()]
        readable = [group for group in groups if group is not None]
        whole = len(readable) == len(groups)
        found = [picture for group in readable for picture in _pictures(group, span.detailed)]
        span.observe(found if whole else None, "generate")
        _keep(span, readable if whole else None, given, kwargs)
    elif kwargs.get("inputs_embeds") is not None:
        # What was seen went in before; the vision tower has told.
        if not _State.towers:
            _hook_towers()
        elif _State.fired:
            span.observe([], span.how or "tower")
    else:
        span.observe(None if _foreign(kwargs) else [], "generate")


def _keep(
    span: Span,
    groups: Sequence[Sequence[_Group]] | None,
    given: Mapping[str, Any],
    kwargs: Mapping[str, Any],
) -> None:
    """Keep for a probe what is in the arguments."""
    kept = caught.catch(span)
    if kept is None:
        return
    if groups is not None:
        looks = [group.look for part in groups for group in part]
    else:
        looks = [
            each
            for value in given.values()
            for each in (value if isinstance(value, (list, tuple)) else [value])
        ]
    caught.tensors(span, "generate", looks, known=groups is not None)
    steps, grid = kwargs.get("second_per_grid_ts"), kwargs.get("video_grid_thw")
    if steps is not None and grid is not None:
        pairs = zip(steps, grid.tolist(), strict=False)
        kept.seconds = [float(step) * place[0] for step, place in pairs]


def _foreign(kwargs: Mapping[str, Any]) -> bool:
    """Whether pictures may be among the arguments under another name."""
    return any(
        getattr(value, "ndim", 0) >= 3 and not any(part in name for part in _HARMLESS)
        for name, value in kwargs.items()
    )


def _groups(name: str, value: Any, model: Any, kwargs: Mapping[str, Any]) -> list[_Group] | None:
    """Return the pictures in one pixel argument, in order, or None if its layout is not known."""
    if isinstance(value, (list, tuple)):
        parts = [_groups(name, each, model, kwargs) for each in value]
        known = [part for part in parts if part is not None]
        return [group for part in known for group in part] if len(known) == len(parts) else None
    kind = getattr(getattr(model, "config", None), "model_type", "")
    grid = kwargs.get("image_grid_thw" if name == "pixel_values" else "video_grid_thw")
    if value.ndim == 2:
        frames = None if grid is None else _patched(value, grid.tolist(), model)
        # A single picture fills all frames of its patches.
        still = name == "pixel_values"
        return frames and [_Group(each[:1] if still else each) for each in frames]
    if value.ndim == 3:
        return [_Group(value[None] if value.shape[0] == 3 else value)]
    if value.ndim == 4:
        return _rows(value, kind, model, kwargs)
    if value.ndim == 5 and kind in _TILED_PICTURES and name == "pixel_values":
        # The first tile is the whole picture made small.
        return [_Group(value.flatten(1), value[:, 0])]
    if value.ndim == 5 and name != "pixel_values":
        frames = value if value.shape[2] == 3 else value.transpose(1, 2)
        return [_Group(frames.flatten(0, 1))]
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
    side = math.isqrt(rows.shape[1] // (3 * depth))
    if sum(t * h * w for t, h, w in grid) != len(rows) or rows.shape[1] != 3 * depth * side**2:
        return None
    found, start = [], 0
    for t, h, w in grid:
        part = rows[start : start + t * h * w]
        start += t * h * w
        if h % merge or w % merge:
            return None
        split = part.reshape(t, h // merge, w // merge, merge, merge, 3, depth, side, -1)
        # (time, frame in patch, color, down, down in patch, across, across in patch)
        frames = split.permute(0, 6, 5, 1, 3, 7, 2, 4, 8)
        found.append(frames.reshape(t * depth, 3, h * side, -1))
    return found


def _rows(value: Any, kind: str, model: Any, kwargs: Mapping[str, Any]) -> list[_Group] | None:
    """Return the pictures of (n, colors, height, width), whose rows may be tiles of pictures."""
    if kind not in _TILED_ROWS or len(value) == 1:
        return [_Group(value)]
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
        found.append(_Group(tiles.flatten()[None], tiles[-1:]) if len(tiles) > 1 else _Group(tiles))
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


def _pictures(groups: Sequence[_Group], detailed: bool) -> list[Picture]:
    """Return a digest of each picture, and its cells if its order is checked."""
    import torch

    if not groups:
        return []
    digests = torch.cat([_digests(group.rows) for group in groups]).tolist()
    cells = [
        row
        for group in groups
        for row in (_cells(group.look) if detailed else [()] * len(group.rows))
    ]
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
    span = caught.asking()
    if span is None or (span.how == "generate" and span.pictures):
        return
    found = _entered(layer, args[0])
    span.observe(None if found is None else _pictures([found], span.detailed), "tower")
    looks = [args[0] if found is None else found.look]
    caught.tensors(span, "tower", looks, known=found is not None)


def _entered(layer: Any, given: Any) -> _Group | None:
    """Return the pictures that enter a layer; None if they come as patches."""
    import torch

    if isinstance(layer, torch.nn.Linear):
        return _Group(given) if given.ndim == 3 else None
    if given.shape[-1] <= layer.kernel_size[-1]:
        return None
    if given.ndim == 5:
        given = given.transpose(1, 2).flatten(0, 1)
    return _Group(given if given.ndim == 4 else given[None])
