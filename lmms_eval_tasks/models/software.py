"""The software and the GPUs of an evaluation, which it records with each task of ours."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections import Counter
from functools import cache
from importlib.metadata import PackageNotFoundError, version

__all__ = ["PACKAGES", "gpus", "installed", "software", "version_of"]

PACKAGES = ("lmms-eval", "lmms-eval-video-reasoning", "torch", "transformers")
"""Distributions whose versions can change a number."""

_SECONDS = 20  # that a driver may take to name its devices


def version_of(distribution: str) -> str | None:
    """Return the version of a distribution that is installed here, or None."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def installed() -> dict[str, str]:
    """Return distribution -> its version here, or "not installed"."""
    return {name: version_of(name) or "not installed" for name in PACKAGES}


@cache
def gpus() -> str:
    """Name the GPUs of this machine, such as "2 x NVIDIA H200".

    The driver is asked, not torch: that would start CUDA in a process that may have to fork.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return "none found"
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "the driver did not answer"
    names = Counter(filter(None, map(str.strip, done.stdout.splitlines())))
    return (
        ", ".join(f"{n} x {name}" if n > 1 else name for name, n in names.items()) or "none found"
    )


def software() -> dict[str, str]:
    """Return what a run records: the versions that can change a number, and the GPUs."""
    return {**installed(), "python": platform.python_version(), "gpu": gpus()}
