"""How well an entry answers a query, from 0 to 1: how much of the query it holds, and where, and how little else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.entries import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from isolith_bindings.entries import Entry
    from isolith_bindings.lexicon import Intent
    from isolith_bindings.query import Request

_OTHER_WORDS, _IN_WORDS = 0.4, 0.8
_DEPRECATED = 0.7
_ELSEWHERE = 0.75
_SAME, _UNSAID, _NEAR, _FAR = 1.0, 0.92, 0.88, 0.7
_FAR_FROM_A_GUESS = 0.85
_NEARBY = frozenset({frozenset({"create", "update"}), frozenset({"create", "do"}), frozenset({"update", "do"})})


class Weights(dict[str, float]):
    """How much each stem of a catalogue says: the fewer entries hold it, the more."""

    def __init__(self, frequency: Mapping[str, int]) -> None:
        super().__init__()
        self._frequency = frequency
        self._totals: dict[tuple[str, ...], float] = {}

    def __missing__(self, word: str) -> float:
        weight: float = (1 + self._frequency.get(word, 0)) ** -0.25
        self[word] = weight
        return weight

    def share(self, words: tuple[str, ...], met: Iterable[str]) -> float:
        """How much of some words those are that were met."""
        total = self._totals.get(words)
        if total is None:
            total = self._totals[words] = sum(self[word] for word in words)
        return sum([self[word] * words.count(word) for word in met]) / total if total else 0.0

    def clear(self) -> None:
        """Forget everything, for the frequencies have changed."""
        super().clear()
        self._totals.clear()


def score(entry: Entry, request: Request, weights: Weights) -> float:
    """From 0 to 1."""
    if request.stems == entry.name:
        return 1.0
    held, met = _held(entry, request)
    if not held:
        return 0.0
    brevity = max(weights.share(entry.name, met), _IN_WORDS * weights.share(entry.said, met))
    found = held * (1 - _OTHER_WORDS + _OTHER_WORDS * brevity)
    if request.connectors and entry.connector not in request.connectors:
        found *= _ELSEWHERE
    if entry.deprecated:
        found *= _DEPRECATED
    return found * _fits(entry.does, request)


def _held(entry: Entry, request: Request) -> tuple[float, list[str]]:
    """How much of the query is held, each term by its best meaning in the best place; what name or summary hold of it.

    This is the inner loop of a search: it is run for some hundred entries.
    """
    wanted = held = 0.0
    met: dict[str, None] = {}
    places = entry.places
    for term in request.terms:
        wanted += term.weight
        best = 0.0
        for meaning, quality in term.meanings.items():
            place = places.get(meaning)
            if place is not None:
                if place >= SUMMARY:
                    met[meaning] = None
                best = max(best, quality * place)
        held += term.weight * best
    return held / wanted if wanted else 0.0, list(met)


def _fits(does: Intent | None, request: Request) -> float:
    """Whether it does what is wanted: who asks for `create` is not helped by `delete`."""
    wanted = request.intent
    if does is None or wanted is None:
        return _UNSAID
    if does == wanted:
        return _SAME
    far = _FAR_FROM_A_GUESS if request.guessed else _FAR
    return _NEAR if frozenset({does, wanted}) in _NEARBY else far
