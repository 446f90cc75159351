"""The gaps in a guest's heap, taken for good: what a script then allocates lies together, behind all there is.

Booting leaves free blocks all over the heap, and an allocator gives those out first: the few hundred blocks of a small
script lay in as many pages of the image, each of which had to be copied before it could be written.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isolith_runtime.image.boot import BootedGuest

_LARGEST, _SMALL, _STEP = 1 << 20, 4096, 8
"""Bytes: with blocks from the largest down every gap is filled, if those from the small size on come step by step."""
_FIELDS, _TOP = 10, 9
"""Of `struct mallinfo`; `keepcost`, its last one, is what the free block at the end of the heap has."""
_FOOT = 48
"""Bytes: dlmalloc keeps 40 behind the free block at the end; the used block before that is 16 or more."""


def fill(guest: BootedGuest) -> None:
    """Take every free block but the one at the end of the heap."""
    end = guest.call("sbrk", 0) - _free_at_end(guest) - _FOOT
    size = _LARGEST
    while size > 0:
        block = guest.call("malloc", size)
        if 0 < block < end:
            continue
        guest.call("free", block)
        size -= _STEP if size <= _SMALL else size // 16
    # Zeros in what is free there: the image does not carry what was freed.
    guest.call("free", guest.call("calloc", 1, _free_at_end(guest) - _FOOT))


def _free_at_end(guest: BootedGuest) -> int:
    """Bytes of the free block at the end of the heap."""
    place = guest.call("malloc", 4 * _FIELDS)
    guest.call("mallinfo", place)
    figures = struct.unpack(f"<{_FIELDS}I", guest.kernel.read(place, 4 * _FIELDS))
    guest.call("free", place)
    return int(figures[_TOP])
