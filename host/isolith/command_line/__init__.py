"""The command `isolith`."""
