"""A library to preload, in which `flock` answers as network file systems without locks do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_SOURCE = r"""
#include <errno.h>
#include <stdlib.h>
int flock(int descriptor, int operation) {
    (void)descriptor; (void)operation;
    errno = atoi(getenv("FLOCK_ERRNO"));
    return -1;
}
"""


def environment(folder: Path, number: int) -> dict[str, str] | None:
    """Return the environment of a command in which every `flock` fails.

    Args:
        folder: Where the library is built, once.
        number: The error's number, such as `errno.ENOLCK`.

    Returns:
        This process's environment with the library preloaded, or None without a C compiler.
    """
    compiler = shutil.which("cc")
    if compiler is None or os.uname().sysname != "Linux":
        return None
    library = folder / "no_flock.so"
    if not library.exists():
        source = folder / "no_flock.c"
        source.write_text(_SOURCE, encoding="ascii")
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    return {**os.environ, "LD_PRELOAD": str(library), "FLOCK_ERRNO": str(number)}
