"""How the benchmarks print what they measure: the figure, its aim, and whether it was reached."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

MEBIBYTE = 1 << 20


def figure(
    what: str, value: float, unit: str, *, least: float | None = None, most: float | None = None
) -> None:
    """Print one figure and how it stands to its aim.

    Args:
        what: What was measured.
        value: What came out.
        unit: Of the value.
        least: The aim, where more is better.
        most: The aim, where less is better.
    """
    line = f"{what:58} {_shown(value):>10} {unit:14}"
    aim = least if least is not None else most
    if aim is not None:
        reached = value >= aim if least is not None else value <= aim
        sign = ">=" if least is not None else "<="
        line += f" aim {sign} {_shown(aim):7} {value / aim:6.2f} of it, "
        line += "reached" if reached else "MISSED"
    print(line, flush=True)


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def peak_memory(*, children: bool = False) -> float:
    """Most memory that this process, or the largest of its ended children, ever held, in MiB."""
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / MEBIBYTE


def processor_time(*, children: bool = False) -> float:
    """Seconds of all processors that this process, or its ended children, took."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def machine() -> str:
    """Processors and how busy they are, for the figures' record."""
    import os

    load = os.getloadavg()[0]
    busy = "busy" if load > 0.5 * (os.cpu_count() or 1) else "quiet"
    model = "unknown processor"
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        names = [line for line in facts.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(": ")[2] if names else model
    return f"{os.cpu_count()} cores of {model}, load {load:.1f} before ({busy})"
