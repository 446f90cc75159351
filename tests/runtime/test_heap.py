"""What a large block made C's heap take goes back to the system, whatever was freed before."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

SCRIPT = """
import ctypes
import sys

class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("heap", "b", "c", "mappings", *"efghij")]

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
library.mallinfo2.restype = Mallinfo
if "bound" in sys.argv:
    from isolith_runtime import heap
    sys.stdout.write(f"{heap.bound()} ")
library.free(library.malloc(20 << 20))  # by which glibc raises both thresholds
before = library.mallinfo2()
block = library.malloc(8 << 20)
mapped = library.mallinfo2().mappings - before.mappings
library.free(block)
kept = library.mallinfo2().heap - before.heap
sys.stdout.write(f"{mapped} {kept > 4 << 20}")
"""

FRAGMENTS = """
import ctypes
from pathlib import Path
from isolith_runtime import heap

def resident():
    [line] = [line for line in Path("/proc/self/smaps_rollup").read_text().splitlines() if line.startswith("Anonymous:")]
    return int(line.split()[1]) << 10

library = ctypes.CDLL(None)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
before = resident()
blocks = [library.malloc(64 << 10) for _ in range(400)]
for block in blocks:
    ctypes.memset(block, 1, 64 << 10)
for block in blocks[:-1]:  # the last one keeps the end of the heap where it is
    library.free(block)
held = resident()
heap.give_back()
print(before, held, resident())
"""

HAS_ACCOUNT = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallinfo2")

pytestmark = pytest.mark.skipif(not HAS_ACCOUNT, reason="another C library than glibc")


def found(*arguments: str, **environment: str) -> str:
    """Whether it is bound; then how many mappings a block of 8 MiB was, and whether it is kept."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_a_large_block_goes_back() -> None:
    assert found("bound") == "True 1 False"


def test_it_would_not_if_the_thresholds_moved() -> None:
    assert found() == "0 True"


def test_whoever_has_set_this_is_left_alone() -> None:
    thresholds = {"MALLOC_TRIM_THRESHOLD_": str(64 << 20), "MALLOC_MMAP_THRESHOLD_": str(16 << 20)}
    assert found("bound", **thresholds) == "False 0 True"


def test_what_is_free_between_blocks_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", FRAGMENTS], capture_output=True, text=True, check=True)
    before, held, after = map(int, done.stdout.split())
    assert held - before > 16 << 20
    assert after - before < 8 << 20
