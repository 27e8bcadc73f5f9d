"""A command of another copy of the package, in a process that has the harness imported."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from pathlib import Path


def main() -> int:
    """Runs a module as `python -m` does, or a module's `main`, from the first folder of PYTHONPATH.

    The arguments are `-m MODULE`, or the module of a `main`, and what the command is given. What it
    prints on standard error goes to a file, so that only its output is in the other one.
    """
    folder = os.environ["PYTHONPATH"].split(os.pathsep)[0]
    for name in [name for name in sys.modules if name.split(".")[0] == "video_reasoning"]:
        del sys.modules[name]
    sys.path.insert(0, folder)
    with Path("errors.txt").open("wb") as errors:
        os.dup2(errors.fileno(), 2)
    as_program, (module, *words) = sys.argv[1] == "-m", [w for w in sys.argv[1:] if w != "-m"]
    sys.argv = [module, *words]
    tasks = importlib.import_module("video_reasoning.tasks")
    assert Path(tasks.__path__[0]).is_relative_to(folder), tasks.__path__
    if as_program:
        runpy.run_module(module, run_name="__main__")
        return 0
    return int(importlib.import_module(module).main() or 0)
