"""What a release is: its source, its rows, the hub."""
