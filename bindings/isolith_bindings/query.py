"""What a query may mean: its words, and for each the stems of the catalogue that it can stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from isolith_bindings.lexicon import ACTIONS, ALTERNATIVES, INTENTS, OBJECTS, SELF, SELF_MEANINGS, STOP_WORDS, Intent
from isolith_bindings.stemming import stem
from isolith_bindings.translations import translated
from isolith_bindings.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

MAX_WORDS = 24
"""Words of a query that are read; what comes after them adds little and costs time."""
_ALTERNATIVE, _JOINED, _PREFIX, _INSIDE, _TYPO = 0.7, 0.95, 0.8, 0.5, 0.8
_MIN_PREFIX, _MIN_INSIDE, _MIN_TYPO = 3, 5, 4
_ACTION_WEIGHT = 0.45
_IMPLIED_WEIGHT = 0.2
_MAX_GUESSES = 24
# `assign` and `assignee`, which have other stems.
_RELATED, _MIN_RELATED, _MAX_RELATED = 0.85, 4, 4


@dataclass(frozen=True)
class Term:
    """One word of a query. `meanings`: stems of the catalogue and how well each stands for it, from 0 to 1.

    `weight`: how much it says, next to the others. `rarity`: entries that hold one of its meanings.
    """

    meanings: Mapping[str, float]
    weight: float
    rarity: int
    implied: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """The words of a catalogue. `frequency`: entries by stem; `spoken`: by a word of a name as it is written.

    `begins`: the words that begin so; `like`: those that share letters with one.
    """

    entries: int
    connectors: AbstractSet[str]
    frequency: Mapping[str, int]
    spoken: Mapping[str, int]
    begins: Callable[[str], Iterable[str]]
    like: Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class Request:
    """A query as it is understood. `terms` in order, none for a query without words; `intent`: what is to be done.

    `connectors`: those that it names. `stems`: of all its words. `guessed`: no word says the intent.
    """

    terms: tuple[Term, ...]
    intent: Intent | None = None
    connectors: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    guessed: bool = False


def understand(query: str, vocabulary: Vocabulary) -> Request:
    """What a query asks for."""
    said = words(query)[:MAX_WORDS]
    unique = list(dict.fromkeys([word for word in said if word not in STOP_WORDS] or said))
    joined = _joined(unique, vocabulary)
    terms = [_term(word, vocabulary, joined.get(word)) for word in unique]
    told = _told(unique) or _told_otherwise(terms)
    intent = told or _guess(said)
    if terms and intent == "read" and told is None:
        terms.append(_implied(_reading(unique), vocabulary))
    if terms and SELF & set(said):
        terms.append(_implied(dict.fromkeys(SELF_MEANINGS, 1.0), vocabulary))
    connectors = frozenset(vocabulary.connectors & set(unique))
    return Request(tuple(terms), intent, connectors, tuple(map(stem, said)), guessed=told is None)


def _told(unique: list[str]) -> Intent | None:
    # With an `s` it is a thing: `runs of a workflow`, `page views`.
    return next((INTENTS[stem(word)] for word in unique if stem(word) in INTENTS and not word.endswith("s")), None)


def _told_otherwise(terms: list[Term]) -> Intent | None:
    """The intent of a word that nobody says as it is: with a typo, cut short, or of another language."""
    likely = (meaning for term in terms for meaning, quality in term.meanings.items() if quality == _TYPO)
    return next((INTENTS[meaning] for meaning in likely if meaning in INTENTS), None)


def _guess(said: list[str]) -> Intent | None:
    """The intent of a request in which no known word tells it."""
    if len(said) > 1 and said[0] not in STOP_WORDS and said[1] in OBJECTS:
        return "do"
    return "read" if said else None


def _reading(said: list[str]) -> dict[str, float]:
    """What may stand for a reading that nobody named; where several things are meant, a list first."""
    many = any(word.endswith("s") and not word.endswith("ss") for word in said)
    first, then = ("list", "get") if many else ("get", "list")
    return {first: 1.0, then: 0.8, "read": 0.8, "search": 0.6, "retriev": 0.8}


def _implied(meanings: Mapping[str, float], vocabulary: Vocabulary) -> Term:
    return Term(meanings, _IMPLIED_WEIGHT * _weight(1, vocabulary), 10**9, implied=True)


def _term(word: str, vocabulary: Vocabulary, joined: str | None) -> Term:
    base, frequency = stem(word), vocabulary.frequency
    meanings = _meanings(word, vocabulary)
    if joined:
        meanings[joined] = max(_JOINED, meanings.get(joined, 0.0))
    rarity = sum(frequency.get(meaning, 0) for meaning in meanings)
    weight = _weight(frequency.get(base) or rarity, vocabulary)
    if base in ACTIONS:
        weight = min(weight, _ACTION_WEIGHT * _weight(1, vocabulary))
    return Term(meanings, weight, rarity)


def _meanings(word: str, vocabulary: Vocabulary) -> dict[str, float]:
    base = stem(word)
    known = base in vocabulary.frequency
    meanings = {base: 1.0} if known else {}
    for other in ALTERNATIVES.get(base, ()):
        if other in vocabulary.frequency:
            meanings.setdefault(other, _ALTERNATIVE)
    if len(base) >= _MIN_RELATED:
        for other in vocabulary.begins(base):
            if len(other) <= len(base) + _MAX_RELATED:
                meanings.setdefault(stem(other), _RELATED)
    english = None if known else translated(word)
    if english is not None and english in vocabulary.frequency:
        return {english: _TYPO}
    for other, quality in () if known else islice(_guesses(word, vocabulary), _MAX_GUESSES):
        meanings.setdefault(stem(other), quality)
    return meanings


def _weight(frequency: int, vocabulary: Vocabulary) -> float:
    """How much a word says that so many entries hold: the fewer, the more."""
    return math.log(1 + (vocabulary.entries + 1) / (frequency + 1))


def _joined(said: list[str], vocabulary: Vocabulary) -> dict[str, str]:
    """`web hook` where the catalogue says `webhook`: the stem, for both words."""
    found: dict[str, str] = {}
    for one, other in pairwise(said):
        whole = stem(one + other)
        if whole in vocabulary.frequency:
            found[one] = found[other] = whole
    return found


def _guesses(word: str, vocabulary: Vocabulary) -> Iterable[tuple[str, float]]:
    """What an unknown word may be: the beginning of one, one with a typo, or a part of one."""
    found = False
    if len(word) >= _MIN_PREFIX:
        for other in vocabulary.begins(word):
            found = True
            yield other, _PREFIX
    if found or len(word) < _MIN_TYPO:
        return
    swapped = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)]
    alike = [other for other in swapped if other in vocabulary.spoken]
    near = [other for other in vocabulary.like(word) if other not in alike]
    alike += [
        other for other in near if _is_near(word, other) or (word.endswith("s") and _is_near(stem(word), stem(other)))
    ]
    yield from ((other, _TYPO) for other in alike)
    if not alike and len(word) >= _MIN_INSIDE:
        yield from (
            (other, _INSIDE) for other in near if word in other or (len(other) >= _MIN_INSIDE and other in word)
        )


def _is_near(word: str, other: str) -> bool:
    """Whether one may be the other with a typo."""
    allowed = 1 if len(word) < 8 else 2
    return distance(word, other, allowed) <= allowed


def distance(one: str, other: str, limit: int) -> int:
    """Letters to add, drop, change or swap with the next, to make one word the other; `limit` + 1 for more than it."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, last, row = row, before, [at]
        for to, against in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != against))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == against:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
