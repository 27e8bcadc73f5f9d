"""From a benchmark's release to the store."""
