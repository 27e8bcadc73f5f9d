"""Subcommands of ``video-reasoning`` that live in modules of their own."""
