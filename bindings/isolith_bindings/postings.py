"""Which entries hold a word, and where: what a search looks at is chosen by it.

An entry is worth what it holds of a query, each of its words by its best meaning in the best place. That is counted for
every entry that holds one of the query's rare words; only the best are then put in order, by all that `ranking` knows.
SQLite's own `bm25` would choose as well, at ten times the cost: two passes over every match, 3 to 6 ms for 2,000.
"""

from __future__ import annotations

from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from isolith_bindings.query import Term

_COMMON = 0.2
"""Words that are in more than this share of the entries choose no candidates, where rarer ones do."""
_MIN_ROWS = 600
_worth = itemgetter(1)


class Postings:
    """By stem, the entries that hold it, each with what a match in its best place is worth. About 14 MB for 10,000."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[int, float]] = {}

    def add(self, row: int, places: Mapping[str, float]) -> None:
        """An entry is there under a number."""
        for word, place in places.items():
            self._rows.setdefault(word, {})[row] = place

    def remove(self, row: int, words: Iterable[str]) -> None:
        """It is there no more."""
        for word in words:
            rows = self._rows[word]
            del rows[row]
            if not rows:
                del self._rows[word]

    def best(self, terms: Sequence[Term], entries: int, most: int, fits: Callable[[int], bool] | None) -> list[int]:
        """The numbers of those that hold most of the terms, at most `most`; `fits` says which may be among them."""
        ordered = sorted(terms, key=lambda term: term.rarity)
        rare = _rare(ordered, entries)
        held: dict[int, float] = {}
        for term in ordered[:rare]:
            for row, worth in self._holding(term).items():
                held[row] = held.get(row, 0.0) + worth * term.weight
        if fits is not None:
            held = {row: worth for row, worth in held.items() if fits(row)}
        for term in ordered[rare:]:
            for row, worth in self._holding(term, held).items():
                held[row] += worth * term.weight
        return [row for row, _ in nlargest(most, held.items(), key=_worth)]

    def _holding(self, term: Term, among: Mapping[int, object] | None = None) -> Mapping[int, float]:
        """What holds a word in any of its meanings, and how well."""
        found: dict[int, float] = {}
        for meaning, quality in term.meanings.items():
            rows = self._rows.get(meaning, {})
            for row in rows if among is None else rows.keys() & among.keys():
                worth = quality * rows[row]
                if worth > found.get(row, 0.0):
                    found[row] = worth
        return found


def _rare(ordered: Sequence[Term], entries: int) -> int:
    """How many of the words choose: the rarest, and others for as long as few entries hold them."""
    room, rare = max(_MIN_ROWS, int(entries * _COMMON)), 1
    while rare < len(ordered) and (room := room - ordered[rare].rarity) > 0:
        rare += 1
    return rare
