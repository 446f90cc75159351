"""The one descriptor that guest and host speak over, and the batch of frames that waits to cross.

A frame is a JSON list whose first item names it. A write carries one batch: a list of frames. What a read delivers
starts with its length, four bytes little-endian.
"""

from __future__ import annotations

import os
from typing import Any

from isolith_runtime.guest import codec

DESCRIPTOR = 4
_HEADER = 4
_MAX_PENDING, _MAX_SIZE = 1000, 1 << 20
"""Frames in a batch, and characters; with more it crosses at once, so that none is larger than the host takes."""

_buffer = bytearray(1 << 16)
_pending: list[str] = []
_size = 0
_PARKED = '["parked",null,null]'
_LONGEST = 1e9
"""Seconds: a timer of a script may be set to infinity, which no frame can say."""


def send(*frame: object) -> None:
    """Queue a frame of plain JSON parts; it crosses with the next `flush`."""
    send_text(codec.to_text(list(frame)))


def send_text(frame: str) -> None:
    """Queue a frame that is JSON text already."""
    global _size  # noqa: PLW0603 - there is one channel
    _pending.append(frame)
    _size += len(frame)
    if _size > _MAX_SIZE or len(_pending) >= _MAX_PENDING:
        flush()


def park(delay: float | None, line: int | None) -> None:
    """Say that nothing is ready until `delay` seconds have passed, or until an answer comes; cross with the rest.

    `line`: where the script waits for that time to pass.
    """
    where = "null" if line is None else line
    _pending.append(_PARKED if delay is None else f'["parked",{min(delay, _LONGEST)!r},{where}]')
    flush()


def flush() -> None:
    """Write what is queued, in one crossing."""
    global _size  # noqa: PLW0603
    if _pending:
        frames = _pending.copy()
        _pending.clear()  # first: what there is no memory to write must not be in the way of what says so
        _size = 0
        data = f"[{','.join(frames)}]".encode()
        os.write(DESCRIPTOR, data)


def receive() -> list[list[Any]]:
    """The next batch from the host; waits in the host while there is none."""
    got = os.readinto(DESCRIPTOR, _buffer)  # type: ignore[attr-defined]
    size = int.from_bytes(_buffer[:_HEADER], "little")
    data = _buffer[_HEADER:got]
    missing = size - len(data)
    try:
        while missing > 0:
            got = os.readinto(DESCRIPTOR, _buffer)  # type: ignore[attr-defined]
            missing -= got
            data += _buffer[:got]
    except MemoryError:
        while missing > 0:  # what is left would be taken for the next batch
            missing -= os.readinto(DESCRIPTOR, _buffer)  # type: ignore[attr-defined]
        raise
    frames: Any = codec.loads(data)
    return frames  # type: ignore[no-any-return] # the host writes lists only
