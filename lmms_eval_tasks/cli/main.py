"""The entry point of `video-reasoning`, which hears Ctrl-C before anything is imported."""

from __future__ import annotations

import io
import sys

from video_reasoning.tasks.cli import interrupts
from video_reasoning.tasks.errors import UserError


def main() -> None:
    """Run the command: one sentence and exit code 2 for what a user can fix, 130 for Ctrl-C.

    SIGTERM, by which a batch system takes a machine back, gives 143.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A file's name may contain bytes that are not text; printing it must not end a command.
            stream.reconfigure(errors="backslashreplace")
    # A word in front of the command's name can only be an option of the program's own.
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    kept = interrupts.kept(command)
    with interrupts.heard() as signals:
        try:
            from video_reasoning.tasks.cli.app import app

            app()
        except BaseException as error:
            if isinstance(error, SystemExit) and not error.code:
                raise
            # Whatever a library made of the interrupt, it was one.
            if signals.number:
                _fail(f"{signals.sentence} {kept}", 128 + signals.number)
            if isinstance(error, KeyboardInterrupt):
                _fail(f"interrupted. {kept}", 130)
            if (sentence := _sentence(error, kept)) is None:
                raise
            _fail(sentence)


def _sentence(error: BaseException, kept: str) -> str | None:
    """Say what a user can fix, or None for what is our fault."""
    if isinstance(error, UserError):
        return str(error)
    if isinstance(error, OSError):
        sentence = interrupts.storage_problem(error)
        return f"{sentence} {kept}" if interrupts.is_storage_problem(error) else sentence
    return f"there is not enough memory. {kept}" if isinstance(error, MemoryError) else None


def _fail(sentence: str, code: int = 2) -> None:
    print(f"video-reasoning: {sentence}", file=sys.stderr)
    raise SystemExit(code)
