"""What JSON text of a guest would cost to read, found without reading it: how much it holds, and how deep.

Two bytes of text make a list of a hundred bytes here, and a value that is too deep for the stack of whoever walks it
is worse than none.
"""

from __future__ import annotations

import re
from itertools import accumulate

from isolith_runtime.errors import ProtocolError
from isolith_runtime.guest.codec import MAX_CONTAINERS, MAX_TEXT_DEPTH

_MOST = 2 * MAX_CONTAINERS
"""In one batch: a value, and what was queued before it."""

_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# A guest's encoder writes such characters as themselves: their escapes are how half a pair would get in.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*+\\u[dD][89a-fA-F]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = [0] * 256
for _bracket, _step in ((b"[", 1), (b"{", 1), (b"]", -1), (b"}", -1)):
    _STEPS[_bracket[0]] = _step


def check(batch: bytes) -> None:
    """Raises ProtocolError for text that is not worth reading."""
    if b"\\" in batch and _SURROGATE.search(batch):
        raise ProtocolError("a batch holds text that may not be Unicode")
    if _openings(batch) <= MAX_TEXT_DEPTH:
        return  # at most so many are open together
    brackets = _TEXT.sub(b"", batch).translate(None, _NOT_BRACKETS)
    if _openings(brackets) > _MOST:
        raise ProtocolError(f"a batch of more than {_MOST:,} lists and mappings")
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_TEXT_DEPTH:
        raise ProtocolError(f"a batch that is nested more than {MAX_TEXT_DEPTH} deep")


def _openings(text: bytes) -> int:
    return text.count(b"[") + text.count(b"{")
