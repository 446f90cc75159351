"""How well an entry answers a query, from 0 to 1: how much of the query it holds, and where, and how little else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isolith_bindings.entries import SUMMARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isolith_bindings.entries import Entry
    from isolith_bindings.lexicon import Intent
    from isolith_bindings.query import Request, Term

_OTHER_WORDS, _IN_WORDS = 0.4, 0.9
_DEPRECATED = 0.7
_ELSEWHERE = 0.75
_SAME, _UNSAID, _NEAR, _FAR = 1.0, 0.92, 0.88, 0.7
_FAR_FROM_A_GUESS = 0.85
_NEARBY = frozenset({frozenset({"create", "update"}), frozenset({"create", "do"}), frozenset({"update", "do"})})


def score(entry: Entry, request: Request, weights: Mapping[str, float]) -> float:
    """From 0 to 1. `weights`: how much each stem of the catalogue says."""
    if request.stems == entry.name:
        return 1.0
    wanted = held = 0.0
    met: set[str] = set()
    for term in request.terms:
        wanted += term.weight
        held += term.weight * _holds(entry, term, met)
    if not wanted:
        return 0.0
    brevity = max(_share(entry.name, met, weights), _IN_WORDS * _share(entry.said, met, weights))
    found = held / wanted * (1 - _OTHER_WORDS + _OTHER_WORDS * brevity)
    elsewhere = bool(request.connectors) and entry.connector not in request.connectors
    found *= _ELSEWHERE if elsewhere else 1.0
    return found * _fits(entry.does, request) * (_DEPRECATED if entry.deprecated else 1.0)


def _fits(does: Intent | None, request: Request) -> float:
    """Whether it does what is wanted: who asks for `create` is not helped by `delete`."""
    wanted = request.intent
    if does is None or wanted is None:
        return _UNSAID
    if does == wanted:
        return _SAME
    far = _FAR_FROM_A_GUESS if request.guessed else _FAR
    return _NEAR if frozenset({does, wanted}) in _NEARBY else far


def _share(words: tuple[str, ...], met: set[str], weights: Mapping[str, float]) -> float:
    """How much of some words was asked for."""
    total = sum([weights[word] for word in words])
    return sum([weights[word] for word in words if word in met]) / total if total else 0.0


def _holds(entry: Entry, term: Term, met: set[str]) -> float:
    """How well one term is held: its best meaning in the best place. What the name or the summary holds is added to `met`."""
    best = 0.0
    places = entry.places
    for meaning, quality in term.meanings.items():
        place = places.get(meaning)
        if place is not None:
            if place >= SUMMARY:
                met.add(meaning)
            best = max(best, quality * place)
    return best
