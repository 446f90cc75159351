"""The HTTP API: `/v1`, health and metrics, over the same `CodeMode` as every other door."""
