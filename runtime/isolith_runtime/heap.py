"""C's heap gives back what a run made it take.

A freed block goes back to the system where it was a mapping of its own, or where it lies at the end of its heap and is
larger than a threshold. glibc raises both thresholds to the largest mapping ever freed, up to 32 and 64 MiB, and gives
each thread a heap: after one script that answers with 20 MB, every heap keeps up to 40 MB that nobody uses, and
`malloc_trim` leaves the end of all heaps but the first alone. Naming the thresholds fixes them (mallopt(3)). What is
free between blocks that are used, only `malloc_trim` gives back.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys

KEPT = 1 << 20
"""Bytes that a heap may keep at its end, and from which on a block is a mapping of its own: to fill a megabyte costs
more than to map it."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_OWN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES")


@functools.cache
def bound() -> bool:
    """Fix both thresholds, for the whole process; whether they are. Not where whoever started it has set them."""
    library = _glibc()
    if library is None or any(name in os.environ for name in _OWN):
        return False
    return bool(library.mallopt(_MMAP_THRESHOLD, KEPT) and library.mallopt(_TRIM_THRESHOLD, KEPT))


def give_back() -> None:
    """Give free pages back to the system, those between blocks too; takes milliseconds, without Python's lock."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, where it is glibc: musl has neither heaps of threads nor thresholds that move."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "gnu_get_libc_version") else None
