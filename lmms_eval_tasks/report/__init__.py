"""A run's report: what was measured, how certain it is, how it compares, and what went wrong."""
