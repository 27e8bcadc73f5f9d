"""From a release to the store."""
