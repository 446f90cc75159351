"""The page of the runtime that says what is trusted and what is enforced where says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from isolith.run.allowance import MAX_UNTAKEN
from isolith_runtime import engine, heap, json_bounds, limits, protocol
from isolith_runtime.guest import codec
from isolith_runtime.inputs import RESOLUTION_NS

README = (Path(__file__).parents[2] / "runtime" / "README.md").read_text()
PAGE = " ".join(README.partition("## What is trusted, what is enforced where")[2].partition("\n## ")[0].split())
MIB = 1024 * 1024
SAYS = [
    "**Not trusted:** everything in the guest, its bootstrap included",
    "**Trusted:** wasmtime and this package; the compiled image",
    "Isolith does not protect from a bug in wasmtime or the processor",
    f"looked at every {engine.TICK_S * 1000:g} ms near a limit",
    f"(every {engine.TICK_S * engine.MOST_TICKS * 1000:g} ms far from one)",
    f"{limits.GRACE_MS} ms of CPU later it is stopped",
    f"the wasm stack ({engine.WASM_STACK // MIB} MiB)",
    f"before the thread's ({engine.THREAD_STACK // MIB} MiB)",
    f"two thresholds for the process at {heap.KEPT // MIB} MiB",
    f"more than {protocol.MAX_FRAMES:,} frames or {json_bounds.MOST:,} lists and mappings",
    f"deeper than {codec.MAX_TEXT_DEPTH} or a value than {codec.MAX_DEPTH}",
    f"Decimals of more than {codec.MAX_DIGITS:,} digits or with their point {codec.MAX_POINT:,} away",
    f"{MAX_UNTAKEN // MIB} MiB of answers to take",
    f"Values are nested at most {codec.MAX_DEPTH} deep",
    f"the clock moves in steps of {RESOLUTION_NS // 1_000_000} ms",
    "whether a call happened, and whether a person said no, the host alone says",
]


@pytest.mark.parametrize("words", SAYS)
def test_the_page_says_what_the_code_does(words: str) -> None:
    assert words in PAGE
