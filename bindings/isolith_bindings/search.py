"""Finding by words: `postings` chooses what fits, in memory, and `ranking` puts it in order.

The index follows its connectors: before each search what has changed in them is read
anew, and what has not is left. `refresh` does the same ahead of time, on any thread.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

from isolith_bindings.connector import Connector, Method, offered
from isolith_bindings.entries import (
    Entry,
    Kind,
    SearchResult,
    Snippet,
    connector_entry,
    excluded_entry,
    method_entry,
    snippet_entry,
)
from isolith_bindings.policy import ungoverned
from isolith_bindings.postings import Postings, row_of
from isolith_bindings.provenance import is_native
from isolith_bindings.query import Term, Vocabulary, understand
from isolith_bindings.ranking import Weights, score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


__all__ = ["SNIPPETS", "Hit", "Kind", "Scope", "SearchIndex", "SearchPage", "SearchResult", "Snippet", "exact"]

SNIPPETS = "snippets"
"""What stands in the place of a connector for reviewed scripts."""
MAX_CANDIDATES = 120
"""Entries that are put in order for one query: those that hold most of it."""
_MAX_BEGUN = 12
_WORTH = 0.1
"""What scores less than this share of the best is not shown."""


@dataclass(frozen=True)
class SearchPage:
    """One page of results, best first. `next` is the offset of the next page, None behind the last one."""

    results: list[SearchResult]
    remaining: int
    next: int | None


@dataclass(frozen=True)
class Scope:
    """What a search is about: one connector or all, one kind or all."""

    connector: str | None = None
    kind: Kind | None = None

    def holds(self, entry: Entry) -> bool:
        """Whether an entry belongs to it."""
        return self.connector in {None, entry.connector} and self.kind in {None, entry.result.kind}


_ALL = Scope()


class Hit(NamedTuple):
    """A result and its score, which is written into it when it is shown."""

    score: float
    result: SearchResult
    method: Method | None

    @classmethod
    def of(cls, score: float, entry: Entry) -> Hit:
        """The result of an entry."""
        return cls(score, entry.result, entry.method)

    def shown(self) -> SearchResult:
        """The result with its score, and the signature of a method."""
        signature = self.result.signature if self.method is None else self.method.signature
        return replace(self.result, score=round(self.score, 3), signature=signature)


_Source = tuple[object, ...]
"""What the entries of a connector are made of: as long as it is equal, so are they."""


@dataclass(frozen=True)
class _Maker:
    """How an entry is made: as long as two are equal, so are their entries."""

    make: Callable[..., Entry]
    of: tuple[object, ...]
    outside: bool = False

    def __call__(self) -> Entry:
        return self.make(*self.of, outside=True) if self.outside else self.make(*self.of)


class SearchIndex:
    """Everything that can be found, by words. Safe for threads; one search at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, _Source] = {}
        self._rows: dict[tuple[str, str], tuple[int, _Maker]] = {}
        self._entries: dict[int, Entry] = {}
        self._postings = Postings()
        self._frequency: Counter[str] = Counter()
        self._spoken: Counter[str] = Counter()
        self._weights = Weights(self._frequency)
        self._sorted: list[str] | None = None
        self._next = 1

    def refresh(self, connectors: Iterable[Connector], snippets: Iterable[Snippet] = ()) -> None:
        """Read what has changed. 10,000 methods at once take some seconds, a single one no time."""
        with self._lock:
            self._refresh(connectors, snippets)

    def find(
        self, query: str, connectors: Iterable[Connector], snippets: Iterable[Snippet] = (), scope: Scope = _ALL
    ) -> list[Hit]:
        """All that fits, best first; all there is by path, where the query has no words."""
        with self._lock:
            self._refresh(connectors, snippets)
            request = understand(query, self._vocabulary())
            if not request.terms:
                return sorted(
                    (Hit.of(0.0, entry) for entry in self._entries.values() if scope.holds(entry)), key=_order
                )
            weights = self._weights
            return _best(
                [Hit.of(score(entry, request, weights), entry) for entry in self._candidates(request.terms, scope)]
            )

    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(
            len(self._entries), self._known.keys(), self._frequency, self._spoken, self._begins, self._postings.like
        )

    def _candidates(self, terms: tuple[Term, ...], scope: Scope) -> Iterator[Entry]:
        """What holds most of the words of the query."""
        explicit = [term for term in terms if term.meanings and not term.implied]
        entries = self._entries

        def fits(row: int) -> bool:
            return scope.holds(entries[row])

        rows = self._postings.best(explicit, len(entries), MAX_CANDIDATES, None if scope == _ALL else fits)
        return (entries[row] for row in rows)

    def _begins(self, beginning: str) -> list[str]:
        """The shortest words that begin so."""
        if self._sorted is None:
            self._sorted = sorted(self._spoken)
        first = bisect_left(self._sorted, beginning)
        last = bisect_left(self._sorted, beginning + "\U0010ffff", first)
        return sorted(self._sorted[first:last], key=len)[:_MAX_BEGUN]

    # Keeping up with the connectors.

    def _refresh(self, connectors: Iterable[Connector], snippets: Iterable[Snippet]) -> None:
        scripts = tuple(snippets)
        sources: dict[str, _Source] = {SNIPPETS: scripts} if scripts else {}
        seen = {connector.name: connector for connector in connectors}
        for name, connector in seen.items():
            # A policy never decides otherwise of the same method: to look behind it is quick, whatever it governs. And
            # equal parts are mostly the same objects.
            methods = tuple(ungoverned(connector).methods.values())
            sources[name] = (connector, connector.description, methods, tuple(connector.excluded.items()))
        for name in [name for name in self._known if name not in sources]:
            self._replace(name, {})
            del self._known[name]
        for name, source in sources.items():
            if self._known.get(name) != source:
                self._replace(name, _of_connector(seen[name]) if name in seen else _of_snippets(source))
                self._known[name] = source

    def _replace(self, connector: str, now: Mapping[str, _Maker]) -> None:
        """Take out what is gone or changed, put in what is new or changed."""
        try:
            with self._postings.changing():
                for key in [key for key in self._rows if key[0] == connector]:
                    row, maker = self._rows[key]
                    if now.get(key[1]) != maker:
                        self._remove(row)
                        del self._rows[key]
                for path, maker in now.items():
                    if (connector, path) not in self._rows:
                        self._rows[connector, path] = (self._insert(maker()), maker)
        finally:
            self._weights.clear()
            self._sorted = None

    def _insert(self, entry: Entry) -> int:
        row, self._next = row_of(len(entry.name), self._next), self._next + 1
        self._postings.add(row, entry.places)
        self._entries[row] = entry
        self._frequency.update(entry.places.keys())
        for word in entry.spoken:
            if not self._spoken[word]:
                self._postings.learn(word)
            self._spoken[word] += 1
        return row

    def _remove(self, row: int) -> None:
        entry = self._entries.pop(row)
        self._postings.remove(row, entry.places)
        for word in entry.places:
            self._frequency[word] -= 1
            if not self._frequency[word]:
                del self._frequency[word]
        for word in entry.spoken:
            self._spoken[word] -= 1
            if not self._spoken[word]:
                del self._spoken[word]
                self._postings.forget(word)


def _of_connector(connector: Connector) -> dict[str, _Maker]:
    name, excluded, outside = connector.name, connector.excluded.items(), not is_native(connector)
    found = {name: _Maker(connector_entry, (name, connector.description), outside)}
    found |= {f"{name}.{m.name}": _Maker(method_entry, (name, m), outside) for m in offered(connector).values()}
    found |= {f"{name}[{text!r}]": _Maker(excluded_entry, (name, text, reason)) for text, reason in excluded}
    return found


def _of_snippets(source: _Source) -> dict[str, _Maker]:
    snippets = cast("tuple[Snippet, ...]", source)
    return {f"{SNIPPETS}.{snippet.name}": _Maker(snippet_entry, (snippet,)) for snippet in snippets}


def exact(connector: Connector, method: Method | None, scope: Scope) -> list[Hit]:
    """The one result for a connector or a method, where it is within the scope."""
    outside = not is_native(connector)
    if method is None:
        entry = connector_entry(connector.name, connector.description, outside=outside)
    else:
        entry = method_entry(connector.name, method, outside=outside)
    return [Hit.of(1.0, entry)] if scope.holds(entry) else []


def _order(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.result.path


def _best(hits: list[Hit]) -> list[Hit]:
    least = max((hit.score for hit in hits), default=0.0) * _WORTH
    return sorted((hit for hit in hits if hit.score > 0 and hit.score >= least), key=_order)
