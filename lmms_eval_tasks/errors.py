"""Errors that a user can fix. Each message says what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["ReleaseError", "StoreError", "UserError", "cause", "did_you_mean"]


class UserError(Exception):
    """Base of these errors: the commands print the message alone and exit with 2."""


class StoreError(UserError):
    """Prepared data that is absent, unreadable or in use."""


class ReleaseError(UserError):
    """A benchmark's release that cannot be read."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the names nearest to it, or a period."""
    close = difflib.get_close_matches(name, list(names), n=3)
    return f"; did you mean {', '.join(close)}?" if close else "."


def cause(error: Exception) -> str:
    """Return why something failed, in words: of an `OSError` without its number and its path."""
    return (getattr(error, "strerror", None) or str(error)).rstrip(".")
