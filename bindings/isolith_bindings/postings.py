"""Which entries a query is about, and which words a word with a typo may be: both are asked of SQLite's FTS5.

The database is in memory and holds nothing of any execution: the one exception to the rule that SQL is written in the
journal only. Two tables hold the stems of every entry: `named` those of its name, its connector and the first line that
is said of it, `held` all of them. FTS5 is asked for what holds all words of the query, then for what holds all but the
least of them, and so on until there is enough. It is not asked for an order: its `bm25` reads every match, 3 to 6 ms
where a word is in 2,000 entries; here reading ends where there is enough. Rows come by their number, so an entry with a
short name, which is more often what is meant by a single word, has a low one (`row_of`).
"""

from __future__ import annotations

import sqlite3
import weakref
from contextlib import contextmanager
from heapq import nlargest
from typing import TYPE_CHECKING, TypeAlias

from isolith_bindings.entries import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from isolith_bindings.query import Term

Combination: TypeAlias = tuple[int, ...]
"""Words of a query that are asked for together, by their places."""

MOST_TERMS = 8
"""Words of a query that choose: those that say most."""
MOST_QUERIES = 16
"""Combinations of them that are asked for at most, those that say most first."""
MOST_PAIRS, _ENOUGH = 8, 20
"""Where that finds less than enough: pairs of words, and then each by itself."""
_COMMON, _FEW = 0.4, 600
"""A word that is in more than this share of the entries, and in more than a few, chooses only with all others."""
_LONGEST_NAME = 50
_SEQUENCE_BITS = 40

# No order, no positions, no copy of the text; every character beyond ASCII belongs to a word, as the stems have it.
_SCHEMA = """
    CREATE VIRTUAL TABLE named USING fts5(stems, content='', detail=none, tokenize='ascii');
    CREATE VIRTUAL TABLE held USING fts5(stems, content='', detail=none, tokenize='ascii');
    CREATE VIRTUAL TABLE spoken USING fts5(word, tokenize='trigram');
"""
_INSERT = {
    "named": "INSERT INTO named(rowid, stems) VALUES (?, ?)",
    "held": "INSERT INTO held(rowid, stems) VALUES (?, ?)",
}
_DELETE = {
    "named": "INSERT INTO named(named, rowid, stems) VALUES ('delete', ?, ?)",
    "held": "INSERT INTO held(held, rowid, stems) VALUES ('delete', ?, ?)",
}
_ASK = {"named": "SELECT rowid FROM named(?)", "held": "SELECT rowid FROM held(?)"}
_LIKE = "SELECT word FROM spoken WHERE spoken MATCH ? ORDER BY rank, rowid LIMIT 60"


def row_of(name_length: int, sequence: int) -> int:
    """The number of an entry: those of shorter names, in words, are lower."""
    return min(name_length, _LONGEST_NAME) << _SEQUENCE_BITS | sequence


class Postings:
    """By stem, the entries that hold it, and the words that are spoken of. For any thread, one at a time."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        # Not at the end of the process: then a thread may still be writing to it, and nothing of it is kept anyway.
        weakref.finalize(self, self._database.close).atexit = False
        self._database.executescript(_SCHEMA)

    @contextmanager
    def changing(self) -> Generator[None]:
        """Many changes are written together. What went before an error stays."""
        self._database.execute("BEGIN")
        try:
            yield
        finally:
            self._database.execute("COMMIT")

    def add(self, row: int, places: Mapping[str, float]) -> None:
        """An entry is there under a number. `places`: its stems, each with what a match in its best place is worth."""
        for table, stems in _texts(places).items():
            self._database.execute(_INSERT[table], (row, stems))

    def remove(self, row: int, places: Mapping[str, float]) -> None:
        """It is there no more; `places` as they were added."""
        for table, stems in _texts(places).items():
            self._database.execute(_DELETE[table], (row, stems))

    def best(self, terms: Sequence[Term], entries: int, most: int, fits: Callable[[int], bool] | None) -> list[int]:
        """The numbers of those that hold most of the terms, at most `most`; `fits` says which may be among them."""
        asked = sorted(terms, key=lambda term: -term.weight)[:MOST_TERMS]
        found: dict[int, None] = {}
        for combinations, enough in zip(_combinations(asked, entries), (most, _ENOUGH, 1), strict=True):
            if len(found) >= min(enough, most):
                break
            # One that holds more comes again among those that hold less.
            for row in self._rows(asked, combinations):
                if fits is None or fits(row):
                    found[row] = None
                    if len(found) >= most:
                        break
        return list(found)

    def learn(self, word: str) -> None:
        """A word is spoken of, as it is written."""
        self._database.execute("INSERT INTO spoken(word) VALUES (?)", (word,))

    def forget(self, word: str) -> None:
        """It is no more."""
        self._database.execute("DELETE FROM spoken WHERE word = ?", (word,))

    def like(self, word: str) -> list[str]:
        """The words that share most letters with one, by three in a row."""
        parts = dict.fromkeys(f'"{word[at : at + 3]}"' for at in range(len(word) - 2))
        return [found for (found,) in self._database.execute(_LIKE, (" OR ".join(parts),))]

    def _rows(self, terms: Sequence[Term], combinations: Iterable[Combination]) -> Iterator[int]:
        said, meant = [_as_said(term) for term in terms], [_any_of(term) for term in terms]
        for chosen in combinations:
            # What many words have in common are few entries. Of those with a single word, what is called so is first.
            for table in ("named", "held") if len(chosen) == 1 else ("held",):
                # What holds the words as they are said is before what others may be meant by: `star`, `start`.
                for groups in (said, meant):
                    asked = " AND ".join(groups[at] for at in chosen)
                    yield from (row for (row,) in self._database.execute(_ASK[table], (asked,)))


def _combinations(terms: Sequence[Term], entries: int) -> tuple[Iterable[Combination], ...]:
    """What is asked for: what weighs most; pairs and single words; the common ones, for where nothing else is found."""
    common = [at for at, term in enumerate(terms) if term.rarity > max(_FEW, _COMMON * entries)]
    rare = [at for at in range(len(terms)) if at not in common]
    weighed: list[tuple[float, Combination]] = [(0.0, ())]
    for at in rare:
        weighed += [(weight + terms[at].weight, (*chosen, at)) for weight, chosen in weighed]
    heaviest = [chosen for _, chosen in nlargest(MOST_QUERIES, weighed[1:])]
    pairs = [chosen for _, chosen in nlargest(MOST_PAIRS, (each for each in weighed if len(each[1]) == 2))]
    every = [tuple(range(len(terms)))] if common else []
    lesser = [chosen for chosen in (*pairs, *((at,) for at in rare)) if chosen not in heaviest]
    return [*every, *heaviest], lesser, [(at,) for at in common]


def _any_of(term: Term) -> str:
    """A word in any of its meanings, as FTS5 is asked for it. A stem is letters and digits."""
    return "(" + " OR ".join(f'"{meaning}"' for meaning in term.meanings) + ")"


def _as_said(term: Term) -> str:
    """The same in those of its meanings that are the best."""
    best = max(term.meanings.values())
    return "(" + " OR ".join(f'"{meaning}"' for meaning, quality in term.meanings.items() if quality == best) + ")"


def _texts(places: Mapping[str, float]) -> dict[str, str]:
    named = " ".join(stem for stem, place in places.items() if place >= SUMMARY)
    return {"named": named, "held": " ".join(places)}
