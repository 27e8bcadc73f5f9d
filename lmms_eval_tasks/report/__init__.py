"""A run's report: what was measured, how sure it is, how it compares, and what went wrong."""
