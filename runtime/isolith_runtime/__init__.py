"""One isolate: code in, steps out. Knows wasm; knows no tool, no disk, no network."""
