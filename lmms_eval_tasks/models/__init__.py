"""Harness models that need no weights: sample_observer, random_choice, frequent_choice."""
