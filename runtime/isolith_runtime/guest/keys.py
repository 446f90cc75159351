"""Keys that were chosen to be slow: whoever fills a table with them compares them with each other."""

from __future__ import annotations

import collections
import decimal

FLOOD = "a set or a dict has too many keys of one hash"
"""Not always what a script means to do: -1 and -2 have one hash, and so have all points whose coordinates they are."""

_MAX_EQUAL = 64
"""Keys of one hash. Points of few dimensions have as many: -1 and -2 have the same."""
_MAX_EQUAL_DECIMALS = 8
"""The same where one of them is a Decimal, which makes a Decimal of each number that it is compared with. Points of
three dimensions have as many."""
_MAX_BITS = 4096
"""To make a Decimal of an integer takes time that grows with the square of it."""


def is_flood(keys: list[object]) -> bool:
    """Whether a table of these keys takes longer to fill than their number tells. Raises TypeError for what is none."""
    hashes = list(map(hash, keys))
    if len(set(hashes)) == len(hashes):
        return False
    count = collections.Counter(hashes)
    most = max(count.values())
    alike = (key for key, found in zip(keys, hashes, strict=True) if count[found] > 1)
    return most > _MAX_EQUAL or any(_is_slow(key, most) for key in alike)


def _is_slow(key: object, equal: int) -> bool:
    if isinstance(key, (tuple, frozenset)):
        return any(_is_slow(part, equal) for part in key)
    if isinstance(key, decimal.Decimal):
        return equal > _MAX_EQUAL_DECIMALS
    return isinstance(key, int) and key.bit_length() > _MAX_BITS
