"""What the commands with a page share: who works on it, and serving it."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from video_reasoning.tasks.pages.journal import Journal


def user_name() -> str:
    """Return the user's name if the system knows one that will do."""
    from video_reasoning.tasks.pages.journal import PageError, clean_annotator

    try:
        return clean_annotator(getpass.getuser())
    except (PageError, KeyError, OSError, ImportError):
        return "annotator"


def print_damaged(log: Journal[Any]) -> None:
    """Say which lines of a file cannot be read."""
    if log.damaged:
        lines = ", ".join(map(str, log.damaged[:10])) + (", ..." if len(log.damaged) > 10 else "")
        print(
            f"{log.path}: {len(log.damaged)} lines cannot be read and are left out ({lines}).",
            file=sys.stderr,
        )


def serve_page(make: Callable[[], Any], port: int | None, open_page: bool) -> None:
    """Serve a page until Ctrl-C.

    Args:
        make: Makes the application.
        port: The port wanted, or None.
        open_page: Whether to open it in a browser.

    Raises:
        PageError: The page cannot be served.
    """
    from video_reasoning.tasks.pages.server import ADDRESS, open_socket, serve

    bound = open_socket(port)
    address = f"http://{ADDRESS}:{bound.getsockname()[1]}/"
    print(f"Open {address} in a browser; Ctrl-C here ends it.", flush=True)
    if open_page:
        import webbrowser

        webbrowser.open(address)
    with suppress(KeyboardInterrupt):
        serve(make(), bound)
