"""The command ``video-reasoning``: one module a subcommand."""
