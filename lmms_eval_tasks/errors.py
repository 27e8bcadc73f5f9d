"""Errors that a user can fix. Each message says what is wrong, where, and what to do."""

__all__ = ["ReleaseError", "StoreError", "UserError"]


class UserError(Exception):
    """Base of these errors: the commands print the message alone and exit with 2."""


class StoreError(UserError):
    """Prepared data that is absent, unreadable or in use."""


class ReleaseError(UserError):
    """A benchmark's release that cannot be read."""
