"""The texts most like one, as `difflib.get_close_matches` finds them, among thousands in a millisecond.

How alike two texts can be at most is told by the letters that both have; only the likeliest are compared in full.
"""

from __future__ import annotations

import difflib
from functools import lru_cache
from heapq import nlargest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_COMPARED = 100
"""In full, which takes a tenth of a millisecond: of a text that is like thousands, more is not worth it."""
_MAX_KEPT = 20_000
_MOST_TIMES = 8
_FIRST, _LAST = ord(" "), ord("~")
_ANY = (1 << (_LAST - _FIRST + 1) * _MOST_TIMES) - 1


def closest(wanted: str, known: Iterable[str], most: int, alike: float) -> list[str]:
    """Up to `most` of the known texts that are at least so much alike, more than 0 and up to 1, the best first.

    The same as `difflib.get_close_matches(wanted, known, most, alike)`, of the likeliest `MAX_COMPARED`.
    """
    found: list[tuple[float, str]] = []
    matcher: difflib.SequenceMatcher[str] = difflib.SequenceMatcher(b=wanted)
    for bound, text in sorted(_likely(wanted, known, alike), reverse=True)[:MAX_COMPARED]:
        if len(found) == most and found[-1][0] > bound:
            break
        matcher.set_seq1(text)
        ratio = matcher.ratio()
        if ratio >= alike:
            found = nlargest(most, [*found, (ratio, text)])
    return [text for _, text in found]


def _likely(wanted: str, known: Iterable[str], alike: float) -> list[tuple[float, str]]:
    """Those that may be so much alike, after how much that is at most: twice the letters of both, by all letters."""
    length, letters = len(wanted), _letters(wanted)
    likely: list[tuple[float, str]] = []
    for text in known:
        both = length + len(text)
        bound = 2.0 * (letters & _letters_of_known(text)).bit_count() / both if both else 1.0
        if bound >= alike:
            likely.append((bound, text))
    return likely


def _letters(text: str) -> int:
    """The letters of a text as a set of bits, one for each time that it has a letter; of any letters where it may."""
    bits = 0
    for letter in set(text):
        times, place = text.count(letter), ord(letter)
        if times > _MOST_TIMES or not _FIRST <= place <= _LAST:
            return _ANY
        bits |= ((1 << times) - 1) << (place - _FIRST) * _MOST_TIMES
    return bits


_letters_of_known = lru_cache(_MAX_KEPT)(_letters)
"""Of texts that are known, which are compared again and again; never of what a script says."""
