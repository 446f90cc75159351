"""The one descriptor that guest and host speak over, and the batch of frames that waits to cross.

A frame is a JSON list whose first item names it. A write carries one batch: a list of frames. What a read delivers
starts with its length, four bytes little-endian.
"""

from __future__ import annotations

import os

from isolith_runtime.guest import codec

_DESCRIPTOR = 4
_HEADER = 4

_buffer = bytearray(1 << 16)
_pending: list[str] = []
_PARKED = '["parked",null]'


def send(*frame: object) -> None:
    """Queue a frame of plain JSON parts; it crosses with the next `flush`."""
    _pending.append(codec.to_text(list(frame)))


def park(delay: float | None) -> None:
    """Say that nothing is ready until `delay` seconds have passed, or until an answer comes; cross with what is queued."""
    _pending.append(_PARKED if delay is None else f'["parked",{delay!r}]')
    flush()


def flush(*last: object) -> None:
    """Write what is queued, and `last` behind it, in one crossing."""
    if last:
        send(*last)
    if _pending:
        data = f"[{','.join(_pending)}]".encode()
        _pending.clear()
        os.write(_DESCRIPTOR, data)


def receive() -> list[list[object]]:
    """The next batch from the host; waits in the host while there is none."""
    got = os.readinto(_DESCRIPTOR, _buffer)  # type: ignore[attr-defined]
    size = int.from_bytes(_buffer[:_HEADER], "little")
    data = _buffer[_HEADER:got]
    while len(data) < size:
        got = os.readinto(_DESCRIPTOR, _buffer)  # type: ignore[attr-defined]
        data += _buffer[:got]
    return codec.loads(data)  # type: ignore[return-value]
