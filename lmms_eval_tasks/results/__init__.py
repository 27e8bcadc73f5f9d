"""All that reads a finished run."""
