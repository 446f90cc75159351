"""C's heap gives back what a run made it take.

A freed block goes back to the system where it was a mapping of its own, or where it lies at the end of its heap and is
larger than a threshold. glibc raises both thresholds to the largest mapping ever freed, up to 32 and 64 MiB, and gives
each thread a heap: after one script that answers with 20 MB, every heap keeps up to 40 MB that nobody uses, and
`malloc_trim` leaves the end of all heaps but the first alone. Naming the thresholds fixes them (mallopt(3)).
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
    """Fix both thresholds, for the whole process; whether they are.

    Not where whoever started it has set them, and not where the C library is another one than glibc.
    """
    if sys.platform != "linux" or any(name in os.environ for name in _OWN):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):  # musl has neither heaps of threads nor thresholds that move
        return False
    return bool(library.mallopt(_MMAP_THRESHOLD, KEPT) and library.mallopt(_TRIM_THRESHOLD, KEPT))
