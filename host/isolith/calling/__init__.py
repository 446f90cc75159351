"""The calls of one run: admitted, judged, asked about, made, answered."""
