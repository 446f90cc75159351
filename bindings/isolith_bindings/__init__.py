"""What a script may reach: connectors, names, discovery. The public names are those of `isolith`."""

__all__: list[str] = []
