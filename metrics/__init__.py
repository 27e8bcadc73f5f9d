"""Answers in, numbers out: plain functions that know neither the harness nor torch."""
