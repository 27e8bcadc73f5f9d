"""The entry point of ``video-reasoning``, which hears Ctrl-C before anything is imported."""

from __future__ import annotations

import io
import sys

from video_reasoning.tasks.cli import interrupts
from video_reasoning.tasks.errors import UserError


def main() -> None:
    """Entry point: one sentence and exit code 2 for what a user can mend, 130 for Ctrl-C.

    SIGTERM, by which a batch system takes a machine back, gives 143.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A file's name may hold bytes that are no text; printing it must not end a command.
            stream.reconfigure(errors="backslashreplace")
    with interrupts.heard() as signals:
        # A word in front of the command's name can only be an option of the program's own.
        command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
        try:
            from video_reasoning.tasks.cli.app import app

            app()
        except BaseException as error:
            if isinstance(error, SystemExit) and not error.code:
                raise
            # Whatever a library made of the interrupt, it was one.
            if signals.number:
                _fail(f"{signals.sentence} {interrupts.kept(command)}", 128 + signals.number)
            if isinstance(error, UserError):
                _fail(str(error))
            if isinstance(error, KeyboardInterrupt):
                _fail(f"interrupted. {interrupts.kept(command)}", 130)
            if isinstance(error, OSError):
                sentence = interrupts.storage_problem(error)
                if interrupts.is_storage_problem(error):
                    sentence += f" {interrupts.kept(command)}"
                _fail(sentence)
            if isinstance(error, MemoryError):
                _fail(f"there is not enough memory. {interrupts.kept(command)}")
            raise


def _fail(sentence: str, code: int = 2) -> None:
    print(f"video-reasoning: {sentence}", file=sys.stderr)
    raise SystemExit(code)
