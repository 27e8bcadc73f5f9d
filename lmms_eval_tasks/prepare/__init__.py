"""Preparing: from a release to the store."""
