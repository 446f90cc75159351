"""What JSON text of a guest would cost to read, found without reading it: how much it holds, how deep, how long.

Two bytes of text make a list of a hundred bytes here, and a value that is too deep for the stack of whoever walks it
is worse than none.
"""

from __future__ import annotations

import re
from itertools import accumulate

from isolith_runtime.errors import ProtocolError
from isolith_runtime.guest.codec import MAX_CONTAINERS, MAX_DEPTH, MAX_NODES, MAX_TEXT_DEPTH

MOST = 2 * MAX_CONTAINERS
"""In one batch: a value, and what was queued before it."""

_TEXT = re.compile(rb'"[^"]*+"')
# A guest's encoder writes such characters as themselves: their escapes are how half a pair would get in.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*+\\u[dD][89a-fA-F]")
_NOT_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_STEPS = [0] * 256
for _bracket, _step in ((b"[", 1), (b"{", 1), (b"]", -1), (b"}", -1)):
    _STEPS[_bracket[0]] = _step


def check(batch: bytes) -> bool:
    """Raises ProtocolError for text that is not worth reading; whether a value may be more than an encoder takes."""
    if (b"\\ud" in batch or b"\\uD" in batch) and _SURROGATE.search(batch):
        raise ProtocolError("a batch holds text that may not be Unicode")
    many = batch.count(b",") > MAX_NODES
    if _openings(batch) <= MAX_DEPTH:
        return many  # at most so many are open together
    brackets = _brackets(batch)
    openings = _openings(brackets)
    if openings > MOST:
        raise ProtocolError(f"a batch of more than {MOST:,} lists and mappings")
    deepest = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if deepest > MAX_TEXT_DEPTH:
        raise ProtocolError(f"a batch that is nested more than {MAX_TEXT_DEPTH} deep")
    return many or deepest > MAX_DEPTH or openings > MAX_CONTAINERS


def _brackets(batch: bytes) -> bytes:
    """The brackets that are not inside of texts."""
    if b"\\" in batch:
        batch = batch.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes side by side are an empty text, or two texts that may as well be one.
    return _TEXT.sub(b"", batch.translate(None, _NOT_MARKS).replace(b'""', b""))


LARGE = 256 * 1024
"""Bytes; less than that is read in no time that matters."""

_BYTE_NS, _DIGIT_NS = 5, 40
_MARKS_NS = {b",": 70, b'":': 1000, b"[": 450, b"{": 450, b'{"$': 1500, b".": 300, b"\\": 80, b"\\u": 170}


def cost_ns(batch: bytes) -> int:
    """About how many nanoseconds of CPU it takes to read it on a slow machine.

    What an honest guest writes took it longer to write: its Python runs at half the speed of the host's.
    """
    digits = len(batch) - len(batch.translate(None, b"0123456789"))
    marks = sum(batch.count(mark) * each for mark, each in _MARKS_NS.items())
    return len(batch) * _BYTE_NS + digits * _DIGIT_NS + marks


def weight(batch: bytes) -> int:
    """About how many bytes the host holds of it, once it is read."""
    return len(batch) + batch.count(b",") * _ITEM_BYTES + _openings(batch) * _CONTAINER_BYTES


_ITEM_BYTES, _CONTAINER_BYTES = 40, 100


def _openings(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")
