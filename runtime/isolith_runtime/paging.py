"""Page faults taken ahead of time: which pages a script dirties whatever it does, and making them private at once.

Linux only, by `/proc/self/pagemap` and `MADV_POPULATE_WRITE` (Linux 5.14); elsewhere pages are touched one by one.
Nothing here changes what a page holds.
"""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = 4096
_POPULATE_WRITE = 23
_PRESENT, _FILE_BACKED = 1 << 63, 1 << 61
_PAGEMAP = Path("/proc/self/pagemap")

Run = tuple[int, int]
"""First page and the page behind the last one."""


def _load_madvise() -> Callable[[int, int, int], int] | None:
    if os.name != "posix":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, "madvise", None)
    if function is not None:
        function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return cast("Callable[[int, int, int], int] | None", function)


_madvise = _load_madvise()


def private_pages(base: int, size: int) -> list[int] | None:
    """The pages of a copy-on-write mapping that have been written, or None where that cannot be known."""
    try:
        with _PAGEMAP.open("rb", buffering=0) as pagemap:
            pagemap.seek(base // PAGE * 8)
            data = pagemap.read(size // PAGE * 8)
    except OSError:
        return None
    entries = struct.unpack(f"<{len(data) // 8}Q", data)
    return [page for page, entry in enumerate(entries) if entry & _PRESENT and not entry & _FILE_BACKED]


def runs(pages: list[int]) -> list[Run]:
    """Neighbouring pages together."""
    found: list[Run] = []
    for page in pages:
        if found and found[-1][1] == page:
            found[-1] = (found[-1][0], page + 1)
        else:
            found.append((page, page + 1))
    return found


def make_private(base: int, wanted: list[Run]) -> None:
    """Take the write faults of these pages now."""
    for first, end in wanted:
        address, size = base + first * PAGE, (end - first) * PAGE
        if _madvise is None or _madvise(address, size, _POPULATE_WRITE) != 0:
            for page in range(address, address + size, PAGE):
                ctypes.memmove(page, page, 1)
