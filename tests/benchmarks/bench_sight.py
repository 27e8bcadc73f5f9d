"""What counting the frames of a question costs, against the forward pass of a 7B model.

Run: python -m tests.benchmarks.bench_sight [--repeats N] [--device cuda]

16 frames of 448 x 448 in the layouts of three families go through what a run puts before
``generate``. The forward pass is the operations of such a model (about 2,048 tokens of 7e9
parameters and 8,192 patches of 0.67e9, two each) at the rate at which the same device multiplies
matrices: float32 on the processor, with as many threads, and bfloat16 on a GPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from tests.benchmarks.figures import figure, machine
from video_reasoning.tasks.sight import tower
from video_reasoning.tasks.sight.seen import LEDGER, Question

SHARE = 1.0
"""Percent of a forward pass that the count may take."""
FRAMES, SIDE = 16, 448
OPERATIONS = 2 * (2048 * 7e9 + 8192 * 0.67e9)
MATRIX = {"cpu": 2048, "cuda": 8192}


def model(kind: str) -> Any:
    vision = SimpleNamespace(temporal_patch_size=2, spatial_merge_size=2)
    return SimpleNamespace(config=SimpleNamespace(model_type=kind, vision_config=vision))


def wait(device: str) -> None:
    """Wait until a GPU has done what it was given."""
    if device == "cuda":
        torch.cuda.synchronize()


def layouts(device: str, kind: torch.dtype) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The pixels of 16 frames as the families' processors lay them out."""
    down = SIDE // 14
    grid = torch.tensor([[FRAMES // 2, down, down]])
    rows = torch.rand(int(grid.prod()), 3 * 2 * 14 * 14, device=device, dtype=kind)
    pictures = torch.rand(FRAMES, 3, SIDE, SIDE, device=device, dtype=kind)
    tokens = torch.zeros(1, 4)
    return {
        "Qwen2.5-VL, rows of patches": (
            model("qwen2_5_vl"),
            {"input_ids": tokens, "pixel_values_videos": rows, "video_grid_thw": grid},
        ),
        "Gemma 3, pictures": (model("gemma3"), {"pixel_values": pictures}),
        "LLaVA-OneVision, a video": (
            model("llava_onevision"),
            {"pixel_values_videos": pictures[None]},
        ),
    }


def best(work: Callable[[], Any], repeats: int, device: str) -> float:
    """Least seconds of the repeats."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        wait(device)
        found.append(time.perf_counter() - start)
    return min(found)


def counted(name: str, of: Any, given: dict[str, Any], repeats: int, *, detailed: bool) -> float:
    """Seconds that one question's count takes."""
    numbers = iter(range(10**6))

    def ask() -> float:
        key = ("tvbench", "test", name, str(next(numbers)))
        LEDGER.asked(Question(key, FRAMES, ()))
        span = LEDGER.current()
        assert span is not None
        span.detailed = detailed
        start = time.perf_counter()
        tower._generate(of, **given)
        took = time.perf_counter() - start
        assert len({picture.digest for picture in span.pictures}) == FRAMES, name
        return took

    return min(ask() for _ in range(repeats))


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--device", choices=MATRIX, default="cpu")
    given = parser.parse_args()
    repeats, device, side = given.repeats, given.device, MATRIX[given.device]
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    print(machine())
    square = torch.rand(side, side, device=device, dtype=kind)
    rate = 2 * side**3 / best(lambda: square @ square, repeats, device)
    forward = OPERATIONS / rate
    figure(f"matrix multiplication, {kind}", rate / 1e9, "GFLOP/s")
    figure("forward pass of a 7B model at that rate", forward, "s")
    for name, (of, pixels) in layouts(device, kind).items():
        for words, detailed in (("count", False), ("count and order", True)):
            took = counted(name, of, pixels, repeats, detailed=detailed)
            figure(f"{name}: {words}", 1000 * took, "ms")
            figure(f"{name}: {words}, of a forward pass", 100 * took / forward, "%", most=SHARE)


if __name__ == "__main__":
    main()
