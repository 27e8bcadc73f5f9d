"""Everything that knows the harness: task YAMLs, the store, models and commands."""
